"""Signatures in Triton's notation."""

from __future__ import annotations

from collections import namedtuple

import pytest

from tests.frontend.compiling import define
from tritium.errors import TritiumError
from tritium.frontend import Constant, DescriptorOf, RunTime, Signature, TupleOf, lower_kernel, parse_type
from tritium.ir.types import PointerType, float16, float32, int1, int8, int32, pointer, uint64


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i32", int32),
        ("u1", int1),
        ("u64", uint64),
        ("fp16", float16),
        ("*fp32", pointer(float32)),
        ("**i8", pointer(pointer(int8))),
        ("*ki8", pointer(int8, const=True)),
        (int32, int32),
    ],
)
def test_types(text: object, expected: object) -> None:
    assert parse_type(text) is expected  # type: ignore[arg-type]


def test_a_pointer_to_constant_data_says_so() -> None:
    found = parse_type("*kfp32")
    assert isinstance(found, PointerType) and found.is_const()


@pytest.mark.parametrize("text", ["f33", "*", "int", "", "tensordesc"])
def test_texts_that_are_no_types(text: str) -> None:
    with pytest.raises(ValueError, match="no type"):
        parse_type(text)


def test_a_signature_with_constants_facts_and_tuples() -> None:
    pair = namedtuple("pair", ("a", "b"))
    found = Signature.parse(
        ["x", "n", "t", "d", "W"],
        {
            "x": "*fp32",
            "n": "i32",
            "t": pair("i32", ("fp32", "constexpr")),
            "d": "tensordesc<fp16[32, 64]>",
            "W": "constexpr",
        },
        {(4,): 8, (2, 1, 1): None},
        {(0,): [("tt.divisibility", 16)]},
    )
    assert dict(found.arguments) == {
        "x": RunTime(pointer(float32), (("divisibility", 16),)),
        "n": RunTime(int32),
        "t": TupleOf((RunTime(int32), TupleOf((RunTime(float32), Constant(None)))), pair),
        "d": DescriptorOf(float16, (32, 64)),
        "W": Constant(8),
    }


def test_a_constant_without_a_value() -> None:
    with pytest.raises(KeyError, match="missing"):
        Signature.parse(["W"], {"W": "constexpr"})


@pytest.mark.parametrize(
    ("given", "word"), [({}, "missing"), ({"out": Constant(1), "extra": Constant(1)}, "unknown")]
)
def test_a_signature_that_does_not_fit_the_kernel(given: dict[str, Constant], word: str) -> None:
    kernel = define("@jit\ndef kernel(out):\n    pass\n")
    with pytest.raises(TritiumError, match=word) as caught:
        lower_kernel(kernel.source, Signature.of(given))
    assert caught.value.code == "TRI0601"
