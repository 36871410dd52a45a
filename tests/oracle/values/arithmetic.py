"""Arithmetic, comparisons, bits, minima and math functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .model import NUMPY, Array, ValueCase, array, elementwise, pairs

INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NAN, INF = float("nan"), float("inf")


def _limits(dtype: str) -> tuple[int, int]:
    info = np.iinfo(NUMPY[dtype])
    return int(info.min), int(info.max)


def _wrapped(dtype: str, values: list[int]) -> Array:
    bits = NUMPY[dtype].itemsize * 8
    low, _ = _limits(dtype)
    data = tuple((v - low) % (1 << bits) + low for v in values)
    return Array(dtype, data, (len(data),))


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def integer_cases() -> list[ValueCase]:
    """Division, remainder, overflow, shifts and bits for every integer dtype."""
    cases = []
    for dtype in INTS:
        low, high = _limits(dtype)
        values = [7, 1, 2, 3, high, high // 2, low + 1, -7 if low else 11]
        x, y = pairs(dtype, values)
        usable = [(a, b if b else 5) for a, b in zip(x.data, y.data, strict=True)]
        y = array(dtype, np.array([b for _, b in usable], dtype=object))
        quotient = [_truncated(a, b) for a, b in usable]
        rest = [a - _truncated(a, b) * b for a, b in usable]
        cases.append(
            elementwise(
                f"integer_division_{dtype}",
                {"x": x, "y": y},
                [("x // y", _wrapped(dtype, quotient)), ("x % y", _wrapped(dtype, rest))],
            )
        )
        sums = [("x + y", [a + b for a, b in usable]), ("x - y", [a - b for a, b in usable])]
        sums += [
            ("x * y", [a * b for a, b in usable]),
            ("-x", [-a for a, _ in usable]),
            ("~x", [~a for a, _ in usable]),
        ]
        sums += [("x & y", [a & b for a, b in usable]), ("x | y", [a | b for a, b in usable])]
        sums += [("x ^ y", [a ^ b for a, b in usable])]
        sums += [
            ("tl.maximum(x, y)", [max(p) for p in usable]),
            ("tl.minimum(x, y)", [min(p) for p in usable]),
        ]
        sums += [
            ("tl.abs(x)", [abs(a) for a, _ in usable]),
            ("tl.where(x > y, x, y)", [max(p) for p in usable]),
        ]
        results = [(text, _wrapped(dtype, data)) for text, data in sums]
        cases.append(elementwise(f"integer_arithmetic_{dtype}", {"x": x, "y": y}, results))
        bits = NUMPY[dtype].itemsize * 8
        counts = array(dtype, [0, 1, 2, 3, bits - 1, bits - 2, bits // 2, 1] * 8)
        shifts = [
            ("x << n", _wrapped(dtype, [a << n for a, n in zip(x.data, counts.data, strict=True)])),
            ("x >> n", _wrapped(dtype, [a >> n for a, n in zip(x.data, counts.data, strict=True)])),
        ]
        cases.append(elementwise(f"shifts_{dtype}", {"x": x, "n": counts}, shifts))
        compare = [(f"x {op} y", [fn(a, b) for a, b in usable]) for op, fn in _COMPARISONS.items()]
        flags = [(text, Array("int1", tuple(data), (64,))) for text, data in compare]
        cases.append(elementwise(f"integer_comparisons_{dtype}", {"x": x, "y": y}, flags))
    return cases


_COMPARISONS: dict[str, Any] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def mixed_cases() -> list[ValueCase]:
    """Operands of two dtypes are converted before the operation."""
    i = array("int32", [-1, 1, 5, -7, 2147483647, -2147483648, 0, 3])
    u = array("uint32", [1, 1, 7, 3, 2147483648, 4294967295, 9, 3])
    wrap = [(a + b) % 2**32 for a, b in zip(i.data, u.data, strict=True)]
    less = [(a % 2**32) < b for a, b in zip(i.data, u.data, strict=True)]
    small = array("int8", [-1, 1, 5, -7, 127, -128, 0, 3])
    usmall = array("uint8", [1, 1, 7, 3, 128, 255, 9, 3])
    mixed = [(a + b) % 256 for a, b in zip(small.data, usmall.data, strict=True)]
    wide = [a + b for a, b in zip(i.data, small.data, strict=True)]
    half = array("fp16", [0.1, 1.0, 2048.0, 65504.0, -3.3, 0.0, 1e-7, 5.5])
    halves = half.numpy()
    brain = array("bf16", [0.1, 1.0, 256.0, 3e38, -3.3, 0.0, 1e-30, 5.5])
    weak16 = _quiet(lambda: halves * np.float16(1.1))
    return [
        elementwise(
            "signed_and_unsigned",
            {"i": i, "u": u},
            [("i + u", array("uint32", wrap)), ("i < u", Array("int1", tuple(less), (8,)))],
        ),
        elementwise("int8_and_uint8", {"a": small, "b": usmall}, [("a + b", array("uint8", mixed))]),
        elementwise("int8_and_int32", {"a": small, "b": i}, [("a + b", _wrapped("int32", wide))]),
        elementwise(
            "half_with_literals",
            {"h": half},
            [
                ("h * 1.1", array("fp16", weak16)),
                ("h + 1", array("fp16", (halves + np.float16(1)).astype(np.float16))),
                ("h / 2", array("fp32", halves.astype(np.float32) / np.float32(2))),
                ("tl.maximum(h, 0.3)", array("fp32", np.maximum(halves.astype(np.float32), np.float32(0.3)))),
            ],
        ),
        ValueCase(
            name="half_with_an_assigned_literal",
            source=(
                "@triton.jit\ndef kernel(h_ptr, o0, N: tl.constexpr):\n    i = tl.arange(0, N)\n    s = 1.1\n"
                "    tl.store(o0 + i, tl.load(h_ptr + i) * s)\n"
            ),
            arguments={"h_ptr": half, "o0": array("fp32", np.zeros(8))},
            expected={"o0": array("fp32", halves.astype(np.float32) * np.float32(1.1))},
            constexprs={"N": 8},
        ),
        elementwise(
            "bf16_arithmetic",
            {"b": brain},
            [
                ("b + b", array("bf16", _quiet(lambda: brain.numpy() + brain.numpy()))),
                ("b * 1.5", array("bf16", _quiet(lambda: brain.numpy() * np.float32(1.5)))),
                ("b + 1.0", array("bf16", brain.numpy() + np.float32(1.0))),
                ("b * b", array("bf16", _quiet(lambda: brain.numpy() * brain.numpy()))),
            ],
        ),
    ]


def _quiet(compute: Any) -> Any:
    with np.errstate(all="ignore"):
        return compute()


def float_cases() -> list[ValueCase]:
    """Special values: NaN, infinities, signed zeros."""
    cases = []
    values = [0.0, -0.0, 1.5, -2.25, INF, -INF, NAN, 7.0]
    for dtype in ("fp32", "fp64", "fp16", "bf16"):
        x, y = pairs(dtype, values)
        a, b = x.numpy(), y.numpy()
        flags = [
            (f"x {op} y", array("int1", [bool(fn(p, q)) for p, q in zip(a, b, strict=True)]))
            for op, fn in _COMPARISONS.items()
        ]
        cases.append(elementwise(f"float_comparisons_{dtype}", {"x": x, "y": y}, flags))
        work = np.float32 if dtype in ("fp16", "bf16") else a.dtype.type
        a_wide, b_wide = a.astype(work), b.astype(work)
        total, product, difference = _quiet(lambda: (a + b, a * b, a - b))
        results = [
            ("x + y", array(dtype, total)),
            ("x - y", array(dtype, difference)),
            ("x * y", array(dtype, product)),
            ("-x", array(dtype, _quiet(lambda: np.zeros_like(a) - a))),
            ("tl.abs(x)", array(dtype, np.abs(a))),
            ("tl.where(x < y, x, y)", array(dtype, np.where(a < b, a, b))),
        ]
        cases.append(elementwise(f"float_arithmetic_{dtype}", {"x": x, "y": y}, results))
        wide = "fp32" if dtype in ("fp16", "bf16") else dtype
        quotient = _quiet(lambda: a_wide / b_wide)
        divided = [("x / y", array(wide, quotient))]
        cases.append(elementwise(f"float_division_{dtype}", {"x": x, "y": y}, divided, rtol=1e-6))
        x, y = pairs(dtype, [7.5, -7.5, 2.0, -2.0, 0.0, NAN, 3.25, 100.0])  # inf % inf is inf on a GPU
        rest = np.array([_fmod(p, q) for p, q in zip(x.numpy(), y.numpy(), strict=True)], dtype=work)
        remainder = [("x % y", array(wide, rest))]
        cases.append(elementwise(f"float_remainder_{dtype}", {"x": x, "y": y}, remainder, rtol=1e-6))
    return cases


def _fmod(a: float, b: float) -> float:
    try:
        return math.fmod(a, b)
    except ValueError:
        return NAN


def nan_cases() -> list[ValueCase]:
    """Minima and maxima drop a NaN unless told to keep it; a zero's sign is not compared."""
    values = [1.0, -1.0, 3.5, INF, -INF, NAN, 2.0, 0.5]
    cases = []
    for dtype in ("fp32", "fp16", "bf16", "fp64"):
        x, y = pairs(dtype, values)
        a, b = x.numpy(), y.numpy()
        keep = "propagate_nan=tl.PropagateNan.ALL"
        results = [
            ("tl.maximum(x, y)", array(dtype, np.fmax(a, b))),
            ("tl.minimum(x, y)", array(dtype, np.fmin(a, b))),
            (f"tl.maximum(x, y, {keep})", array(dtype, np.maximum(a, b))),
            (f"tl.minimum(x, y, {keep})", array(dtype, np.minimum(a, b))),
            ("tl.minimum(tl.maximum(x, y), x)", array(dtype, np.fmin(np.fmax(a, b), a))),
        ]
        cases.append(elementwise(f"minima_{dtype}", {"x": x, "y": y}, results))
    x = array("fp32", [0.5, -1.0, 3.0, NAN, INF, -INF, 0.0, 1.0])
    low, high = array("fp32", [0.0] * 8), array("fp32", [1.0] * 8)
    dropped = np.fmin(np.fmax(x.numpy(), np.float32(0)), np.float32(1))
    kept = np.minimum(np.maximum(x.numpy(), np.float32(0)), np.float32(1))
    clamps = [
        ("tl.clamp(x, a, b)", array("fp32", dropped)),
        ("tl.clamp(x, 0.0, 1.0)", array("fp32", dropped)),
        ("tl.clamp(x, a, b, propagate_nan=tl.PropagateNan.ALL)", array("fp32", kept)),
    ]
    cases.append(elementwise("clamp", {"x": x, "a": low, "b": high}, clamps))
    return cases


def math_cases() -> list[ValueCase]:
    """Functions: exact where the operation is exact, with a tolerance where the hardware approximates."""
    x = array("fp32", np.linspace(0.1, 9.7, 64))
    a = x.numpy().astype(np.float64)
    y = array("fp32", np.linspace(-3.0, 3.3, 64))
    b = y.numpy().astype(np.float64)
    erf = np.array([math.erf(v) for v in b])
    close = [
        ("tl.exp(y)", np.exp(b)),
        ("tl.exp2(y)", np.exp2(b)),
        ("tl.log(x)", np.log(a)),
        ("tl.log2(x)", np.log2(a)),
        ("tl.sqrt(x)", np.sqrt(a)),
        ("tl.rsqrt(x)", 1 / np.sqrt(a)),
        ("tl.sin(y)", np.sin(b)),
        ("tl.cos(y)", np.cos(b)),
        ("tl.erf(y)", erf),
        ("tl.sigmoid(y)", 1 / (1 + np.exp(-b))),
        ("x / y", a / b),
    ]
    exact = [
        ("tl.floor(y)", np.floor(b)),
        ("tl.ceil(y)", np.ceil(b)),
        ("tl.sqrt_rn(x)", np.sqrt(x.numpy())),
        ("tl.div_rn(x, y)", x.numpy() / y.numpy()),
        ("tl.fma(x, y, x)", (a * b + a).astype(np.float32)),
        ("tl.abs(y)", np.abs(b)),
    ]
    xd, yd = array("fp64", np.linspace(0.1, 9.7, 16)), array("fp64", np.linspace(-3.0, 3.3, 16))
    c, d = xd.numpy(), yd.numpy()
    doubles = [
        ("tl.exp(y)", np.exp(d)),
        ("tl.log(x)", np.log(c)),
        ("tl.sqrt(x)", np.sqrt(c)),
        ("tl.sin(y)", np.sin(d)),
        ("tl.erf(y)", np.array([math.erf(v) for v in d])),
        ("x / y", c / d),
    ]
    return [
        elementwise("math_close", {"x": x, "y": y}, [(t, array("fp32", v)) for t, v in close], rtol=4e-5),
        elementwise("math_exact", {"x": x, "y": y}, [(t, array("fp32", v)) for t, v in exact]),
        elementwise(
            "math_double", {"x": xd, "y": yd}, [(t, array("fp64", v)) for t, v in doubles], rtol=1e-12
        ),
        _int1(),
        _umulhi(),
        _true_division(),
        _cdiv(),
    ]


def _int1() -> ValueCase:
    x = array("int32", np.arange(8))
    t, u = np.arange(8) > 2, np.arange(8) > 1
    results = [
        ("(x > 2) + (x > 1)", t ^ u),
        ("(x > 2) - (x > 1)", t ^ u),
        ("(x > 2) * (x > 1)", t & u),
        ("-(x > 2)", t),
        ("~(x > 2)", ~t),
        ("(x > 2) < (x > 1)", ~t & u),
        ("tl.maximum(x > 2, x > 1)", t | u),
        ("tl.where(x > 2, x > 1, x > 5)", np.where(t, u, x.numpy() > 5)),
    ]
    return elementwise("int1_arithmetic", {"x": x}, [(text, array("int1", value)) for text, value in results])


def _umulhi() -> ValueCase:
    values = [0, 1, 2, 4294967295, 2147483648, 65536, 305419896, 3735928559]
    x, y = pairs("uint32", values)
    high = [a * b >> 32 for a, b in zip(x.data, y.data, strict=True)]
    return elementwise("umulhi", {"x": x, "y": y}, [("tl.umulhi(x, y)", array("uint32", high))])


def _true_division() -> ValueCase:
    x, y = pairs("int64", [1, -7, 3, 10, 2**53 + 1, 255, -2, 1000])
    result = x.numpy().astype(np.float32) / y.numpy().astype(np.float32)
    return elementwise(
        "integer_true_division", {"x": x, "y": y}, [("x / y", array("fp32", result))], rtol=1e-6
    )


def _cdiv() -> ValueCase:
    x, y = pairs("int32", [1, 7, 8, 9, -7, -8, 2, 16])
    result = [_truncated(a + b - 1, b) for a, b in zip(x.data, y.data, strict=True)]
    return elementwise("ceiling_division", {"x": x, "y": y}, [("tl.cdiv(x, y)", array("int32", result))])


CASES = [*integer_cases(), *mixed_cases(), *float_cases(), *nan_cases(), *math_cases()]
