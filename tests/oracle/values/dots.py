"""Matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from .model import Array, ValueCase, array, blank

_RNG = np.random.default_rng(21)


def dots() -> list[ValueCase]:
    """Products of small integers are exact in every format."""
    cases = []
    for dtype, result in (
        ("fp16", "fp32"),
        ("bf16", "fp32"),
        ("fp32", "fp32"),
        ("int8", "int32"),
        ("fp64", "fp64"),
    ):
        k = 32 if dtype == "int8" else 16
        a, b = _RNG.integers(-4, 5, (16, k)), _RNG.integers(-4, 5, (k, 16))
        cases.append(_dot(f"dot_{dtype}", array(dtype, a), array(dtype, b), array(result, a @ b), k))
    a, b = _RNG.integers(-4, 5, (16, 32)), _RNG.integers(-4, 5, (32, 16))
    for dtype in ("fp8e5", "fp8e4nv"):
        cases.append(_dot(f"dot_{dtype}", array(dtype, a), array(dtype, b), array("fp32", a @ b), 32))
    a, b, c = _RNG.integers(-4, 5, (16, 16)), _RNG.integers(-4, 5, (16, 16)), _RNG.integers(-4, 5, (16, 16))
    cases.append(
        _dot(
            "dot_half_result",
            array("fp16", a),
            array("fp16", b),
            array("fp16", a @ b),
            16,
            ", out_dtype=tl.float16",
        )
    )
    with_acc = ", acc=tl.load(c_ptr + m * 16 + n)"
    cases.append(
        _dot(
            "dot_with_acc",
            array("fp16", a),
            array("fp16", b),
            array("fp32", a @ b + c),
            16,
            with_acc,
            array("fp32", c),
        )
    )
    precise = (
        _RNG.standard_normal((16, 16)).astype(np.float32),
        _RNG.standard_normal((16, 16)).astype(np.float32),
    )
    product = precise[0].astype(np.float64) @ precise[1].astype(np.float64)
    cases.append(
        _dot(
            "dot_ieee",
            array("fp32", precise[0]),
            array("fp32", precise[1]),
            array("fp32", product),
            16,
            ', input_precision="ieee"',
            rtol=2e-5,
        )
    )
    return [*cases, _batched_dot()]


def _dot(
    name: str,
    a: Array,
    b: Array,
    result: Array,
    k: int,
    tail: str = "",
    acc: Array | None = None,
    **options: Any,
) -> ValueCase:
    extra = ", c_ptr" if acc else ""
    source = f"""@triton.jit
def kernel(a_ptr, b_ptr, o{extra}):
    m = tl.arange(0, 16)[:, None]
    n = tl.arange(0, 16)[None, :]
    a = tl.load(a_ptr + m * {k} + tl.arange(0, {k})[None, :])
    b = tl.load(b_ptr + tl.arange(0, {k})[:, None] * 16 + n)
    tl.store(o + m * 16 + n, tl.dot(a, b{tail}))
"""
    arguments: dict[str, Any] = {"a_ptr": a, "b_ptr": b, "o": blank(result)} | ({"c_ptr": acc} if acc else {})
    return ValueCase(name, source, arguments, {"o": result}, **options)


def _batched_dot() -> ValueCase:
    a, b = _RNG.integers(-4, 5, (2, 16, 16)), _RNG.integers(-4, 5, (2, 16, 16))
    source = """@triton.jit
def kernel(a_ptr, b_ptr, o):
    batch = tl.arange(0, 2)[:, None, None] * 256
    at = batch + tl.arange(0, 16)[None, :, None] * 16 + tl.arange(0, 16)[None, None, :]
    tl.store(o + at, tl.dot(tl.load(a_ptr + at), tl.load(b_ptr + at)))
"""
    result = array("fp32", a @ b)
    arguments = {"a_ptr": array("fp16", a), "b_ptr": array("fp16", b), "o": blank(result)}
    return ValueCase("dot_batched", source, arguments, {"o": result})


CASES = dots()
