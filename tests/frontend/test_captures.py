"""Names that kernels take from outside: rules, what is recorded, and when a kernel must be compiled again."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tritium.language as tl
from tests.frontend.compiling import define, lowered, run
from tritium.errors import TritiumError
from tritium.frontend import JitCallable
from tritium.ops.handles import constexpr

TEXT = "@jit\ndef kernel(out):\n    tl.store(out, GAIN)\n"


def globals_of(kernel: JitCallable) -> dict[str, Any]:
    return kernel.fn.__globals__


def test_a_constexpr_global_is_read_and_recorded() -> None:
    kernel = define(TEXT, GAIN=constexpr(3))
    result = lowered(kernel)
    assert run(result.function)[0] == 3
    recorded = {c.path: c.value for c in result.captures}
    assert recorded["GAIN"].value == 3
    assert all(c.unchanged() for c in result.captures)
    globals_of(kernel)["GAIN"] = constexpr(3)  # another object with the same value
    assert all(c.unchanged() for c in result.captures)
    globals_of(kernel)["GAIN"] = constexpr(4)
    assert [c.path for c in result.captures if not c.unchanged()] == ["GAIN"]
    assert run(lowered(kernel).function)[0] == 4


def test_the_cache_key_follows_captured_values() -> None:
    kernel = define(TEXT, GAIN=constexpr(3))
    key = kernel.cache_key
    assert not kernel.refresh()
    globals_of(kernel)["GAIN"] = constexpr(4)
    assert kernel.refresh() and kernel.cache_key != key
    globals_of(kernel)["GAIN"] = constexpr(3)
    assert kernel.refresh() and kernel.cache_key == key


def test_the_cache_key_follows_helpers_and_what_they_capture() -> None:
    text = "@jit\ndef helper(v):\n    return v {op} BIAS\n\n@jit\ndef kernel(out):\n    tl.store(out, helper(1))\n"
    keys = {define(text.format(op=op), BIAS=constexpr(b)).cache_key for op in "+-" for b in (1, 1.0, True)}
    assert len(keys) == 6
    kernel = define(text.format(op="+"), BIAS=constexpr(1))
    key = kernel.cache_key
    globals_of(kernel)["BIAS"] = constexpr(2)
    assert kernel.refresh() and kernel.cache_key != key
    key = kernel.cache_key
    globals_of(kernel)["helper"] = define(text.format(op="-"), "helper", BIAS=constexpr(2))
    assert kernel.refresh() and kernel.cache_key != key


def test_functions_that_call_each_other_have_a_key() -> None:
    kernel = define(
        "@jit\ndef a(v):\n    return b(v)\n@jit\ndef b(v):\n    return a(v)\n@jit\ndef kernel(out):\n    a(1)\n"
    )
    assert len(kernel.cache_key) == 64


def test_an_outer_variable_wins_against_a_global() -> None:
    text = """
        def make(GAIN):
            @jit
            def kernel(out):
                tl.store(out, GAIN)
            return kernel
    """
    make = define(text, "make", GAIN=constexpr(3))
    assert [run(lowered(make(constexpr(v))).function)[0] for v in (7, 8)] == [7, 8]
    assert make(constexpr(7)).cache_key != make(constexpr(8)).cache_key


def test_attributes_of_modules_are_recorded() -> None:
    module = ModuleType("settings")
    module.WIDTH = constexpr(4)  # type: ignore[attr-defined]
    kernel = define("@jit\ndef kernel(out):\n    tl.store(out, settings.WIDTH)\n", settings=module)
    result = lowered(kernel)
    key = kernel.cache_key
    module.WIDTH = constexpr(5)  # type: ignore[attr-defined]
    assert [c.path for c in result.captures if not c.unchanged()] == ["settings.WIDTH"]
    assert kernel.refresh() and kernel.cache_key != key


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (3, "TRI0305"),
        (2.5, "TRI0305"),
        ("text", "TRI0305"),
        ((1, 2), "TRI0305"),
        (np.zeros(3), "TRI0309"),
        ({"a": 1}, "TRI0309"),
        (SimpleNamespace(), "TRI0309"),
    ],
)
def test_plain_values_are_refused(value: object, code: str) -> None:
    with pytest.raises(TritiumError) as caught:
        lowered(define(TEXT, GAIN=value))
    assert caught.value.code == code and "GAIN" in caught.value.message


def test_plain_values_are_read_where_that_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", "1")
    kernel = define(TEXT, GAIN=3)
    assert run(lowered(kernel).function)[0] == 3
    key = kernel.cache_key
    globals_of(kernel)["GAIN"] = 4
    assert kernel.refresh() and kernel.cache_key != key


@pytest.mark.parametrize(
    "value", [None, tl.float32, (constexpr(1), None), tl.sum, tl.tensor, constexpr("x"), np]
)
def test_what_may_be_named(value: object) -> None:
    lowered(define("@jit\ndef kernel(out):\n    v = GAIN\n", GAIN=value))


def test_default_values_may_be_globals() -> None:
    kernel = define(
        "WIDTH = 4\n@jit\ndef helper(a, w=WIDTH):\n    return a + w\n@jit\ndef kernel(out):\n    tl.store(out, helper(1))\n"
    )
    assert run(lowered(kernel).function)[0] == 5


def test_a_name_of_a_local_is_not_looked_up_outside() -> None:
    text = "@jit\ndef kernel(out):\n    tl.store(out, GAIN)\n    GAIN = 1\n"
    with pytest.raises(TritiumError) as caught:
        lowered(define(text, GAIN=constexpr(3)))
    assert caught.value.code == "TRI0310"
