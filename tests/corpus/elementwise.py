"""Elementwise kernels over a 1-D grid: add, copy, fill, saxpy, clamp."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, any_values, is_float, normals, placed, poisoned
from .protocol import Args, Case, Launch
from .rounding import narrow, tolerance, wide


@triton.jit
def vector_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, x + y, mask=inside)


@triton.jit
def vector_add_int64_offsets(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * BLOCK
    offsets = start + tl.arange(0, BLOCK).to(tl.int64)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside, other=0)
    y = tl.load(y_ptr + offsets, mask=inside, other=0)
    tl.store(out_ptr + offsets, x + y, mask=inside)


@triton.jit
def copy(src_ptr, dst_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(dst_ptr + offsets, tl.load(src_ptr + offsets, mask=inside), mask=inside)


@triton.jit
def fill(out_ptr, value, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, value, mask=offsets < n)


@triton.jit
def saxpy(x_ptr, y_ptr, a, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(y_ptr + offsets, a * x + y, mask=inside)


@triton.jit
def where_and_clamp(x_ptr, picked_ptr, capped_ptr, clamped_ptr, kept_ptr, low, high, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0)
    tl.store(picked_ptr + offsets, tl.where(x > low, x, low), mask=inside)
    tl.store(capped_ptr + offsets, tl.minimum(tl.maximum(x, low), high), mask=inside)
    number = tl.where(x == x, x, 0.0)
    tl.store(clamped_ptr + offsets, tl.clamp(number, low, high), mask=inside)
    kept = tl.clamp(x, low, high, propagate_nan=tl.PropagateNan.ALL)
    tl.store(kept_ptr + offsets, kept, mask=inside)


@triton.jit
def scalar_arguments(out_ptr, wide_ptr, small, one, big, negative, flag, real):
    tl.store(out_ptr + 0, small * 2)
    tl.store(out_ptr + 1, one + 1)
    tl.store(out_ptr + 2, negative // 2)
    tl.store(out_ptr + 3, (real * 4.0).to(tl.int32))
    if flag:
        tl.store(out_ptr + 4, 11)
    else:
        tl.store(out_ptr + 4, 22)
    tl.store(wide_ptr + 0, big + 1)
    tl.store(wide_ptr + 1, big // small)


def _sum(args: Args) -> dict[str, np.ndarray]:
    x, y, dtype = args["x_ptr"], args["y_ptr"], args["out_ptr"].dtype
    total = narrow(wide(x) + wide(y), dtype) if is_float(dtype) else x + y
    return {"out_ptr": total}


def _pair(n: int, dtype: str, block: int, offset: int = 0):
    def make(rng: np.random.Generator) -> Launch:
        x, y = (placed(any_values(rng, n, DTYPES[dtype]), offset=offset) for _ in range(2))
        out = poisoned(n, DTYPES[dtype], offset=offset)
        return Launch({"x_ptr": x, "y_ptr": y, "out_ptr": out, "n": n}, (triton.cdiv(n, block),))

    return make


def _copy(n: int, dtype: str, block: int):
    def make(rng: np.random.Generator) -> Launch:
        src = placed(any_values(rng, n, DTYPES[dtype]))
        return Launch({"src_ptr": src, "dst_ptr": poisoned(n, src.dtype), "n": n}, (triton.cdiv(n, block),))

    return make


def _fill(n: int, dtype: str, value: int | float, block: int):
    def make(rng: np.random.Generator) -> Launch:
        return Launch(
            {"out_ptr": poisoned(n, DTYPES[dtype]), "value": value, "n": n}, (triton.cdiv(n, block),)
        )

    return make


def _filled(args: Args) -> dict[str, np.ndarray]:
    out, value = args["out_ptr"], args["value"]
    if is_float(out.dtype) and isinstance(value, float):
        value = np.float32(value)
    out[...] = narrow(np.float64(value), out.dtype) if is_float(out.dtype) else value
    return {"out_ptr": out}


def _saxpy(n: int, dtype: str, a: float, block: int):
    def make(rng: np.random.Generator) -> Launch:
        x, y = (placed(normals(rng, n, DTYPES[dtype])) for _ in range(2))
        return Launch({"x_ptr": x, "y_ptr": y, "a": a, "n": n}, (triton.cdiv(n, block),))

    return make


def _saxpy_reference(args: Args) -> dict[str, np.ndarray]:
    value = np.float64(np.float32(args["a"])) * wide(args["x_ptr"]) + wide(args["y_ptr"])
    return {"y_ptr": narrow(value, args["y_ptr"].dtype)}


def _clamp(n: int, block: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(any_values(rng, n, np.float32))
        outputs = {f"{name}_ptr": poisoned(n, x.dtype) for name in ("picked", "capped", "clamped", "kept")}
        args = {"x_ptr": x, **outputs, "low": -0.75, "high": 1.5, "n": n}
        return Launch(args, (triton.cdiv(n, block),))

    return make


def _clamp_reference(args: Args) -> dict[str, np.ndarray]:
    x, low, high = args["x_ptr"], np.float32(args["low"]), np.float32(args["high"])
    return {
        "picked_ptr": np.where(x > low, x, low),
        "capped_ptr": np.fmin(np.fmax(x, low), high),
        "clamped_ptr": np.clip(np.where(np.isnan(x), np.float32(0), x), low, high),
        "kept_ptr": np.clip(x, low, high),
    }


def _scalars(rng: np.random.Generator) -> Launch:
    outputs = {"out_ptr": poisoned(5, np.int32), "wide_ptr": poisoned(2, np.int64)}
    scalars = {"small": 48, "one": 1, "big": 2**40 + 3, "negative": -7, "flag": True, "real": 2.5}
    return Launch(outputs | scalars)


def _scalars_reference(args: Args) -> dict[str, np.ndarray]:
    # -7 // 2 is -3: division of run-time integers truncates toward zero.
    out = np.array([96, 2, -3, 10, 11], np.int32)
    big = args["big"]
    return {"out_ptr": out, "wide_ptr": np.array([big + 1, big // args["small"]], np.int64)}


def _adds() -> list[Case]:
    spec = [(n, "f32", 128) for n in (1, 24, 97, 1000)]
    spec += [
        (97, d, 64) for d in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f64")
    ]
    cases = [
        Case(f"elementwise/vector_add/{d}-{n}", vector_add, _pair(n, d, b), _sum, constexprs={"BLOCK": b})
        for n, d, b in spec
    ]
    shifted = _pair(1000, "f32", 256, offset=3)
    large = _pair(1_000_003, "f32", 1024)
    cases.append(
        Case("elementwise/vector_add/misaligned", vector_add, shifted, _sum, constexprs={"BLOCK": 256})
    )
    cases.append(
        Case(
            "elementwise/vector_add/large",
            vector_add,
            large,
            _sum,
            constexprs={"BLOCK": 1024},
            tags=frozenset({"large"}),
        )
    )
    for n, dtype in ((1, "f32"), (40, "i32"), (1003, "f64")):
        name = f"elementwise/vector_add_int64_offsets/{dtype}-{n}"
        make = _pair(n, dtype, 128)
        cases.append(Case(name, vector_add_int64_offsets, make, _sum, constexprs={"BLOCK": 128}))
    return cases


def _others() -> list[Case]:
    cases = [
        Case(
            f"elementwise/copy/{dtype}-{n}",
            copy,
            _copy(n, dtype, 64),
            lambda args: {"dst_ptr": args["src_ptr"]},
            constexprs={"BLOCK": 64},
            tags=frozenset({"fp8"} if dtype in ("e4m3", "e5m2") else ()),
        )
        for n, dtype in [(1, "f32"), (24, "f16"), *((131, d) for d in DTYPES)]
    ]
    fills = [("f32", 2.5), ("f16", 1e-3), ("bf16", 3), ("i8", -5), ("i64", 2**40), ("u8", 200), ("f64", 0.1)]
    cases += [
        Case(
            f"elementwise/fill/{dtype}", fill, _fill(77, dtype, value, 32), _filled, constexprs={"BLOCK": 32}
        )
        for dtype, value in fills
    ]
    cases += [
        Case(
            f"elementwise/saxpy/{dtype}-{n}",
            saxpy,
            _saxpy(n, dtype, a, 128),
            _saxpy_reference,
            constexprs={"BLOCK": 128},
            **tolerance(DTYPES[dtype], scale=4),
        )
        for n, dtype, a in ((1, "f32", 2.0), (40, "f32", -0.1), (997, "f32", 0.0), (997, "f64", 1e-3))
    ]
    cases += [
        Case(f"elementwise/where_and_clamp/{n}", where_and_clamp, _clamp(n, 128), _clamp_reference,
             constexprs={"BLOCK": 128}, rtol=1e-7, atol=0.0)
        for n in (1, 24, 1001)
    ]  # fmt: skip
    cases.append(Case("elementwise/scalar_arguments/all", scalar_arguments, _scalars, _scalars_reference))
    return cases


CASES = _adds() + _others()
