"""Casts between every pair of types, with rounding and, where Tritium fixes it, saturation."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, any_values, is_float, normals, placed, poisoned, specials
from .protocol import Args, Case, Launch
from .rounding import narrow, wide

STANDARD = [name for name in DTYPES if name not in ("e4m3", "e5m2")]
FLOATS = ["f16", "bf16", "f32", "f64"]


@triton.jit
def cast_to_all(
    x_ptr,
    bool_ptr,
    i8_ptr,
    i16_ptr,
    i32_ptr,
    i64_ptr,
    u8_ptr,
    u16_ptr,
    u32_ptr,
    u64_ptr,
    f16_ptr,
    bf16_ptr,
    f32_ptr,
    f64_ptr,
    n,
    BLOCK: tl.constexpr,
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside)
    tl.store(bool_ptr + at, x.to(tl.int1), mask=inside)
    tl.store(i8_ptr + at, x.to(tl.int8), mask=inside)
    tl.store(i16_ptr + at, x.to(tl.int16), mask=inside)
    tl.store(i32_ptr + at, x.to(tl.int32), mask=inside)
    tl.store(i64_ptr + at, x.to(tl.int64), mask=inside)
    tl.store(u8_ptr + at, x.to(tl.uint8), mask=inside)
    tl.store(u16_ptr + at, x.to(tl.uint16), mask=inside)
    tl.store(u32_ptr + at, x.to(tl.uint32), mask=inside)
    tl.store(u64_ptr + at, x.to(tl.uint64), mask=inside)
    tl.store(f16_ptr + at, x.to(tl.float16), mask=inside)
    tl.store(bf16_ptr + at, x.to(tl.bfloat16), mask=inside)
    tl.store(f32_ptr + at, x.to(tl.float32), mask=inside)
    tl.store(f64_ptr + at, x.to(tl.float64), mask=inside)


@triton.jit
def cast(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside)
    tl.store(out_ptr + at, x.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def store_converts(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def reinterpret_bits(x_ptr, bits_ptr, back_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    bits = x.to(bits_ptr.dtype.element_ty, bitcast=True)
    tl.store(bits_ptr + at, bits, mask=at < n)
    tl.store(back_ptr + at, (bits ^ 1).to(x.dtype, bitcast=True), mask=at < n)


def saturate(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """float64 to an integer type: toward zero, out of range to the nearest end, NaN to 0."""
    info = np.iinfo(dtype)
    inside = (x > float(info.min) - 1) & (x < float(info.max) + (1 if info.bits < 64 else 0))
    out = np.where(inside, x, 0.0).astype(dtype)
    out[~inside & (x > 0)] = info.max
    out[~inside & (x < 0)] = info.min
    return out


def convert(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The values of ``x`` in ``dtype``; ints wrap, floats round to nearest even."""
    if dtype == np.bool_:
        return (wide(x) != 0) if is_float(x.dtype) else x != 0
    if is_float(x.dtype):
        return narrow(wide(x), dtype) if is_float(dtype) else saturate(wide(x), dtype)
    if dtype in (np.float32, np.float64) or not is_float(dtype):
        return x.astype(dtype)
    return narrow(wide(x), dtype)


def _all_reference(args: Args) -> dict[str, np.ndarray]:
    return {f"{name}_ptr": convert(args["x_ptr"], DTYPES[name]) for name in STANDARD}


def _reference(args: Args) -> dict[str, np.ndarray]:
    return {"out_ptr": convert(args["x_ptr"], args["out_ptr"].dtype)}


def _bits_reference(args: Args) -> dict[str, np.ndarray]:
    bits = args["x_ptr"].view(args["bits_ptr"].dtype)
    return {"bits_ptr": bits, "back_ptr": (bits ^ 1).view(args["x_ptr"].dtype)}


def _small(rng: np.random.Generator, name: str) -> np.ndarray:
    """Values that every type of ``cast_to_all`` can hold, with fractions for floats."""
    dtype = DTYPES[name]
    if not is_float(dtype):
        return any_values(rng, 150, dtype)
    return np.concatenate([rng.uniform(0, 127, 140), [0.0, 0.5, 0.999, 1.0, 1.5, 2.5, 126.99]]).astype(dtype)


def _signed(rng: np.random.Generator, name: str) -> np.ndarray:
    return np.concatenate([rng.uniform(-127, 127, 90), [-0.0, -0.5, -1.0, -126.99]]).astype(DTYPES[name])


def _whole_range(rng: np.random.Generator, name: str) -> np.ndarray:
    dtype = DTYPES[name]
    edges = [
        float(e) for b in (7, 8, 15, 16, 31, 32, 63, 64) for e in (2.0**b, -(2.0**b), 2.0**b - 1, 2.0**b + 1)
    ]
    with np.errstate(all="ignore"):
        return np.concatenate([specials(dtype), np.array(edges).astype(dtype)])


def _ties(rng: np.random.Generator, name: str) -> np.ndarray:
    """Values halfway between neighbours of the narrower types, one float64 step off them, and both overflows."""
    steps = [2.0**-b for b in (3, 4, 8, 9, 11, 12, 24, 25)]
    around = [1 + s * k for s in steps for k in (0.5, 1.0, 1.5)]
    nudged = [np.nextafter(v, to) for v in around for to in (0.0, 2.0)]
    large = [65504.0, 65519.99, 65520.0, 3.4e38, 3.3895e38, 3.4028236e38, 1e-8, 2.0**-25, 6e-39, 1e-45]
    values = np.array(around + nudged + large)
    with np.errstate(all="ignore"):
        return np.concatenate([values, -values]).astype(DTYPES[name])


def _fp8_range(rng: np.random.Generator, name: str) -> np.ndarray:
    limit = 448.0
    values = [rng.uniform(-limit, limit, 100), rng.standard_normal(100) * 0.01, [0.0, -0.0, np.nan]]
    ties = np.array([1.0625, 1.1875, 1.125, 1.375, 240.0, 2.0**-9, 2.0**-10, 3 * 2.0**-10, 1.0625001])
    with np.errstate(all="ignore"):
        return np.concatenate([*values, ties, -ties]).astype(DTYPES[name])


def _to_all(values, name: str):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(values(rng, name))
        outputs = {f"{target}_ptr": poisoned(x.shape, DTYPES[target]) for target in STANDARD}
        return Launch({"x_ptr": x, **outputs, "n": x.size}, (triton.cdiv(x.size, 64),))

    return make


def _to_one(values, source: str, target: str):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(values(rng, source))
        out = poisoned(x.shape, DTYPES[target])
        return Launch({"x_ptr": x, "out_ptr": out, "n": x.size}, (triton.cdiv(x.size, 64),))

    return make


def _every_code(rng: np.random.Generator, name: str) -> np.ndarray:
    return np.arange(256, dtype=np.uint8).view(DTYPES[name])


def _bitcast(name: str, bits: str):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, 77, DTYPES[name]))
        args = {
            "x_ptr": x,
            "bits_ptr": poisoned(77, DTYPES[bits]),
            "back_ptr": poisoned(77, x.dtype),
            "n": 77,
        }
        return Launch(args, (2,))

    return make


def _one(label: str, values, source: str, target: str, *tags: str, kernel=cast) -> Case:
    fp8 = {"fp8"} if {"e4m3", "e5m2"} & {source, target} else set()
    name = f"casts/{kernel.__name__}/{label}-{source}-to-{target}"
    make = _to_one(values, source, target)
    return Case(name, kernel, make, _reference, constexprs={"BLOCK": 64}, tags=frozenset({*tags, *fp8}))


CASES = [
    Case(
        f"casts/cast_to_all/{name}",
        cast_to_all,
        _to_all(_small, name),
        _all_reference,
        constexprs={"BLOCK": 64},
    )
    for name in STANDARD
]
CASES += [
    Case(
        f"casts/cast_to_all/saturating-{name}",
        cast_to_all,
        _to_all(_whole_range, name),
        _all_reference,
        constexprs={"BLOCK": 64},
        tags=frozenset({"defined-here"}),
    )
    for name in FLOATS
]
CASES += [_one("negative", _signed, s, t) for s in FLOATS for t in ("i8", "i32", "i64")]
CASES += [_one("ties", _ties, s, t) for s, t in (("f32", "f16"), ("f32", "bf16"), ("f64", "f32"))]
CASES += [_one("ties", _ties, "f64", t) for t in ("f16", "bf16")]
CASES += [_one("range", _fp8_range, s, t) for s in ("f16", "bf16", "f32") for t in ("e4m3", "e5m2")]
CASES += [_one("codes", _every_code, s, t) for s in ("e4m3", "e5m2") for t in ("f16", "bf16", "f32")]
CASES += [
    _one("implicit", _small, s, t, kernel=store_converts)
    for s, t in (("f32", "f16"), ("i32", "f32"), ("f32", "i32"), ("i64", "i8"), ("bf16", "f32"))
]
CASES += [
    Case(
        f"casts/reinterpret_bits/{name}-as-{bits}",
        reinterpret_bits,
        _bitcast(name, bits),
        _bits_reference,
        constexprs={"BLOCK": 64},
    )
    for name, bits in (("f32", "u32"), ("f16", "i16"), ("bf16", "u16"), ("f64", "i64"))
]
