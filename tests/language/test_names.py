"""Names of the language that are no operations: types and what they answer, Python's functions, tuples, aggregates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from docs.generators.kernels import run
from docs.generators.language import language
from tritium.errors import CompilationError

RECORDED = json.loads((Path(__file__).parent / "data" / "dtypes.json").read_text(encoding="utf-8"))

# What each expression of docs/generators/language.txt gives, by Python's and NumPy's rules and IEEE's formats.
EXPRESSIONS = {
    "descriptor.shape": "2", "descriptor.strides": "4", "descriptor.block_shape": "(1, 4)", "descriptor.dtype": "fp32",
    "descriptor.block_type": "<[1, 4], fp32>", "tl.PropagateNan": "nan", "print": "None",
    "tl.target_info.current_target": "True", "tl.target_info.is_cuda": "False", "tl.target_info.is_hip": "False",
    "tl.target_info.cuda_capability_geq": "False", "tl.target_info.is_hip_cdna3": "False",
    "tl.target_info.is_hip_cdna4": "False", "tl.target_info.is_hip_gfx1250": "False",
    "range": "6", "len": "3", "int": "2", "float": "inf", "isinstance": "True", "getattr": "4", "hasattr": "True",
    "list": "(1, 2)", "zip": "((1, 3), (2, 4))", "enumerate": "((0, 5), (1, 6))",
    "tl.int1": "[True, True]", **{f"tl.int{n}": "[-1, -1]" for n in (8, 16, 32, 64)},
    "tl.uint8": "[255, 255]", "tl.uint16": "[65535, 65535]", "tl.uint32": "[7, 7]", "tl.uint64": "[7, 7]",
    "tl.float16": "[0.1, 0.1]", "tl.bfloat16": "[0.100098, 0.100098]", "tl.float32": "[0.1, 0.1]", "tl.float64": "[0.1, 0.1]",
    "tl.float8e5": "[0.09375, 0.09375]", "tl.float8e5b16": "[0.09375, 0.09375]", "tl.float8e4nv": "[0.101562, 0.101562]",
    "tl.float8e4b8": "[0.101562, 0.101562]", "tl.float8e4b15": "[0.1015625, 0.1015625]", "tl.void": "0",
    "tl.pi32_t": "True", "tl.dtype": "True", "tl.pointer_type": "True", "tl.block_type": "True", "tl.tuple_type": "False",
    "tl.constexpr_type": "True", "tl.tensor_descriptor_type": "True", "tl.constexpr": "4", "tl.tensor": "True",
    "tl.tuple": "(1, 2)", "tl.slice": "False", "tl.constexpr_function": "3", "tl.core.get_int_dtype": "uint16",
    "tl.standard._log2": "5", "dtype.primitive_bitwidth": "16", "dtype.itemsize": "2", "dtype.is_floating": "True",
    "dtype.is_int": "False", "dtype.is_int_signed": "True", "dtype.is_int_unsigned": "True", "dtype.is_bool": "True",
    "dtype.is_fp16": "True", "dtype.is_bf16": "False", "dtype.is_fp32": "False", "dtype.is_fp64": "False",
    "dtype.is_fp8": "False", "dtype.is_ptr": "True", "dtype.is_block": "True", "dtype.scalar": "int32",
    "dtype.element_ty": "fp32", "dtype.name": "'fp16'", "dtype.mangle": "'u8'", "dtype.fp_mantissa_width": "10",
    "dtype.exponent_bias": "15", "x.dtype": "int32", "x.shape": "(4,)", "x.numel": "4", "x.type": "<[4], int32>",
    "triton.cdiv": "4", "triton.next_power_of_2": "8", "(a, b)": "(1, 2)", "a + b of tuples": "(1, 2, 3)",
    "a * n of tuples": "(1, 2, 1, 2)", "a == b of tuples": "True", "a[i] of tuples": "5", "a[i:j] of tuples": "(5, 6)",
}  # fmt: skip
BY_NAME = {name.text: name for name in language() if name.expression}


@pytest.mark.parametrize("text", BY_NAME)
def test_expressions(text: str) -> None:
    memory = {"x": np.arange(8, dtype=np.float32), "i": np.arange(8, dtype=np.int32)}
    ran = run([f"show(results, {BY_NAME[text].expression})"], memory)
    assert ran.shown[0].text() == EXPRESSIONS[text]


@pytest.mark.parametrize("name", RECORDED)
def test_types_answer_as_triton_does(name: str) -> None:
    ty, recorded = getattr(tl, name), dict(RECORDED[name])
    assert str(ty) == recorded.pop("str")
    assert repr(ty).replace("tritium", "triton") == recorded.pop("repr")
    if name == "int1":  # Triton says 0, but its arrays have a byte for each
        assert recorded.pop("itemsize") == 0 and ty.itemsize == 1
    for question, answer in recorded.items():
        got = getattr(ty, question)
        assert (got() if callable(got) else got) == answer, question


def test_types_are_themselves() -> None:
    every = [getattr(tl, name) for name in RECORDED]
    assert len(set(every)) == len(every)
    assert all((a == b) == (a is b) for a in every for b in every)
    assert tl.dtype("fp32") is tl.float32 and tl.dtype("int1") is tl.int1
    with pytest.raises(ValueError, match="no type"):
        tl.dtype("fp12")
    assert tl.core.get_int_dtype(64, True) is tl.int64
    with pytest.raises(ValueError, match="24 bits"):
        tl.core.get_int_dtype(24, True)


class Span(NamedTuple):
    low: Any
    high: Any


@triton.jit
def _width(span):
    return span.high - span.low


@triton.jit
def _tuples(x, out, pair, N: tl.constexpr):
    lanes = tl.arange(0, N)
    a, (b, c) = tl.load(x + lanes), (1, 2.5)
    whole = (a, b) + (c,)  # noqa: RUF005
    span = Span(whole[1], high=whole[-1])
    low, high = pair
    for k in range(3):
        span = Span(span.low - k, span.high + low)
    if tl.program_id(0) == 0:
        whole = (a * high, b, c)
    tl.store(out + lanes, whole[0] + _width(span))


def test_tuples_go_through_loops_branches_and_calls() -> None:
    x, out = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    _tuples[(1,)](x, out, (2, 3.0), N=5)
    low, high = 1 - (0 + 1 + 2), 2.5 + 3 * 2
    np.testing.assert_array_equal(out, x * 3 + np.float32(high - low))


@triton.aggregate
class Stripe:
    start: tl.tensor
    step: tl.constexpr

    @triton.jit
    def lanes(self, N: tl.constexpr):
        return self.start + tl.arange(0, N) * self.step


Older = tl.core._aggregate(type("Older", (), {"__annotations__": {"x": tl.tensor}, "__module__": __name__}))


@triton.constexpr_function
def _half(n: int) -> int:
    return n // 2


@tl.core.builtin
def _twice(x: Any, _semantic: Any = None) -> Any:
    return tl.add(x, x, _semantic=_semantic)


@tl.core.must_use_result("nothing else happens")
@tl.core.builtin
def _pure(x: Any, _semantic: Any = None) -> Any:
    return tl.add(x, tl.core._unwrap_if_constexpr(1), _semantic=_semantic)


@triton.jit
def _structures(x: tl.const, out, N: tl.constexpr):
    stripe = Stripe(tl.program_id(0) * N, _half(4))
    older = Older(tl.load(x + stripe.lanes(N)))
    tl.store(out + tl.arange(0, N), _pure(_twice(older.x)))


def test_aggregates_and_functions_that_programs_add() -> None:
    x, out = np.arange(10, dtype=np.float32), np.zeros(5, np.float32)
    _structures[(1,)](x, out, N=5)
    np.testing.assert_array_equal(out, 2 * x[::2] + 1)
    assert tl.core.is_builtin(_twice) and tl.core.is_builtin(tl.sum) and not tl.core.is_builtin(_half)
    assert _half(9) == 4


@triton.jit
def _forgotten(x):
    _pure(tl.load(x))


@triton.jit
def _writes_const(x: tl.const):
    tl.store(x, 1.0)


@pytest.mark.parametrize(("kernel", "text"), [(_forgotten, "nothing else happens"), (_writes_const, "const")])
def test_what_marks_promise_is_checked(kernel: Any, text: str) -> None:
    with pytest.raises(CompilationError, match=text):
        kernel[(1,)](np.zeros(1, np.float32))


@triton.jit
def _condition(out, n):
    total = 0
    while tl.condition(total < n, disable_licm=True):
        total += 3
    tl.store(out, total)


def test_marked_conditions_are_conditions() -> None:
    out = np.zeros(1, np.int32)
    for n in (0, 1, 3, 10):
        _condition[(1,)](out, n)
        assert out[0] == -(-n // 3) * 3


def test_handles_are_values_of_tile_ir() -> None:
    seen: Mapping[str, Any] = {}

    @tl.core.builtin
    def look(x: Any, _semantic: Any = None) -> Any:
        nonlocal seen
        seen = {"handle": x.handle, "value": x.value}
        return x

    globals()["_look"] = look
    out = np.zeros(4, np.int32)
    _looks[(1,)](out)
    assert seen["handle"] is seen["value"] and str(seen["handle"].type) == "<[4], int32>"
    assert out.tolist() == [0, 1, 2, 3]


@triton.jit
def _looks(out):
    lanes = tl.arange(0, 4)
    tl.store(out + lanes, _look(lanes))  # noqa: F821
