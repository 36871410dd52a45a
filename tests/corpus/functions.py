"""Helper functions, tuples, functions as arguments, compile-time globals, heuristics, autotuning, grids."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import integers, normals, placed, poisoned
from .protocol import Args, Case, Launch
from .rounding import narrow, tolerance, wide

GAIN = tl.constexpr(3)
OFFSETS_PER_STEP: tl.constexpr = tl.constexpr(4)


@triton.jit
def mean_and_spread(x, count):
    mean = tl.sum(x, axis=0) / count
    return mean, tl.max(x, axis=0) - tl.min(x, axis=0)


@triton.jit
def row_statistics(x_ptr, mean_ptr, spread_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * BLOCK + tl.arange(0, BLOCK))
    mean, spread = mean_and_spread(x, BLOCK)
    tl.store(mean_ptr + row, mean)
    tl.store(spread_ptr + row, spread)


@triton.jit
def square(x):
    return x * x


@triton.jit
def scaled(x, factor=2.0):
    return x * factor


@triton.jit
def apply_twice(fn: tl.constexpr, x):
    return fn(fn(x))


@triton.jit
def map_rows(x_ptr, out_ptr, n, FN: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, apply_twice(FN, x), mask=at < n)


@triton.jit
def tile_offsets(pid, STEP: tl.constexpr, BLOCK: tl.constexpr):
    return pid * BLOCK * STEP + tl.arange(0, BLOCK) * STEP


@triton.jit
def global_constants(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tile_offsets(tl.program_id(0), OFFSETS_PER_STEP, BLOCK)
    for step in tl.static_range(OFFSETS_PER_STEP):
        inside = at + step < n
        x = tl.load(x_ptr + at + step, mask=inside)
        tl.store(out_ptr + at + step, x * GAIN, mask=inside)


@triton.jit
def default_arguments(x_ptr, out_ptr, n, factor=3, shift: tl.constexpr = 1, BLOCK: tl.constexpr = 32):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    tl.store(out_ptr + at, scaled(x.to(tl.float32)) + scaled(x.to(tl.float32), factor) + shift, mask=at < n)


@triton.jit
def absolute_or_zero(x, KEEP: tl.constexpr):
    if KEEP:
        return tl.abs(x)
    else:
        return tl.zeros_like(x)


@triton.jit
def returns_in_branches(x_ptr, kept_ptr, dropped_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(kept_ptr + at, absolute_or_zero(x, True))
    tl.store(dropped_ptr + at, absolute_or_zero(x, False))


@triton.jit
def tuple_arguments(pointers, scales, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.load(pointers[0] + at) * scales[0]
    total += tl.load(pointers[1] + at) * scales[1]
    tl.store(out_ptr + at, total)


@triton.heuristics(
    {
        "BLOCK": lambda args: triton.next_power_of_2(args["n"]),
        "EVEN": lambda args: args["n"] == triton.next_power_of_2(args["n"]),
    }
)
@triton.jit
def sum_with_heuristics(x_ptr, out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if EVEN:
        x = tl.load(x_ptr + at)
    else:
        x = tl.load(x_ptr + at, mask=at < n, other=0)
    tl.store(out_ptr, tl.sum(x, axis=0))


@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}, num_warps=1), triton.Config({"BLOCK": 256}, num_warps=4)], key=["n"]
)
@triton.jit
def autotuned_increment(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) + 1, mask=at < n)


@triton.jit
def program_ids(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    at = (x * tl.num_programs(1) + y) * tl.num_programs(2) + z
    tl.store(out_ptr + at, x * 10000 + y * 100 + z)


def _statistics(rows: int, n: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, (rows, n), np.float32))
        return Launch(
            {"x_ptr": x, "mean_ptr": poisoned(rows, x.dtype), "spread_ptr": poisoned(rows, x.dtype)}, (rows,)
        )

    return make


def _statistics_reference(args: Args) -> dict[str, np.ndarray]:
    x = wide(args["x_ptr"])
    spread = x.max(axis=1) - x.min(axis=1)
    return {"mean_ptr": narrow(x.mean(axis=1), np.float32), "spread_ptr": narrow(spread, np.float32)}


def _vector(n: int, kind: type, grid: int, **extra: object):
    def make(rng: np.random.Generator) -> Launch:
        values = normals(rng, n, kind) if kind is np.float32 else integers(rng, n, kind, -1000, 1000)
        args = {"x_ptr": placed(values), "out_ptr": poisoned(n, kind), "n": n, **extra}
        return Launch(args, (triton.cdiv(n, grid),))

    return make


def _defaults(n: int, **extra: object):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(integers(rng, n, np.int32, -9, 9))
        args = {"x_ptr": x, "out_ptr": poisoned(n, np.float32), "n": n, **extra}
        return Launch(args, lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),))

    return make


def _defaults_reference(args: Args) -> dict[str, np.ndarray]:
    x = args["x_ptr"].astype(np.float32)
    return {"out_ptr": x * 2 + x * np.float32(args.get("factor", 3)) + np.float32(args.get("shift", 1))}


def _branches(rng: np.random.Generator) -> Launch:
    x = placed(normals(rng, 32, np.float32))
    return Launch({"x_ptr": x, "kept_ptr": poisoned(32, x.dtype), "dropped_ptr": poisoned(32, x.dtype)})


def _tuples(rng: np.random.Generator) -> Launch:
    x, y = placed(integers(rng, 16, np.int32, -9, 9)), placed(integers(rng, 16, np.int32, -9, 9))
    return Launch({"pointers": (x, y), "scales": (3, 5), "out_ptr": poisoned(16, np.int32)})


def _tuples_reference(args: Args) -> dict[str, np.ndarray]:
    x, y = args["pointers.0"], args["pointers.1"]
    return {"out_ptr": x * args["scales"][0] + y * args["scales"][1]}


def _total(n: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(integers(rng, n, np.int32, -99, 99))
        return Launch({"x_ptr": x, "out_ptr": poisoned(1, np.int32), "n": n})

    return make


def _increment(n: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(integers(rng, n, np.int32, -99, 99))
        return Launch({"x_ptr": x, "n": n}, lambda meta: (triton.cdiv(n, meta["BLOCK"]),))

    return make


def _ids(*grid: int):
    return lambda rng: Launch({"out_ptr": poisoned(max(1, int(np.prod(grid))), np.int32)}, grid)


def _ids_reference(grid: tuple[int, ...]):
    def reference(args: Args) -> dict[str, np.ndarray]:
        x, y, z = np.indices((*grid, 1, 1)[:3])
        ids = (x * 10000 + y * 100 + z).astype(np.int32).reshape(-1)
        return {"out_ptr": ids if ids.size else args["out_ptr"]}

    return reference


def _case(
    kernel, label: object, make, reference, constexprs=None, tags: tuple[str, ...] = (), **bounds: float
) -> Case:
    fn = getattr(kernel, "fn", kernel)
    name = f"functions/{getattr(kernel, '__name__', None) or fn.__name__}/{label}"
    return Case(name, kernel, make, reference, **bounds, constexprs=constexprs or {}, tags=frozenset(tags))


CASES = [
    _case(
        row_statistics,
        f"{m}x{n}",
        _statistics(m, n),
        _statistics_reference,
        {"BLOCK": n},
        **tolerance(np.float32, n),
    )
    for m, n in ((1, 1), (7, 64))
]
CASES += [
    _case(
        map_rows,
        f"{label}-{n}",
        _vector(n, np.float32, 16),
        lambda args, power=power, factor=factor: {
            "out_ptr": narrow(wide(args["x_ptr"]) ** power * factor, np.float32)
        },
        {"FN": fn, "BLOCK": 16},
        rtol=1e-6,
    )
    for n in (1, 40)
    for label, fn, power, factor in (("square", square, 4, 1), ("scaled", scaled, 1, 4))
]
CASES += [
    _case(
        global_constants,
        n,
        _vector(n, np.int32, 64),
        lambda args: {"out_ptr": args["x_ptr"] * 3},
        {"BLOCK": 16},
    )
    for n in (1, 24, 131)
]
CASES += [
    _case(default_arguments, "all-default", _defaults(40), _defaults_reference),
    _case(
        default_arguments, "named", _defaults(97, factor=-2), _defaults_reference, {"shift": 7, "BLOCK": 64}
    ),
    _case(
        returns_in_branches,
        "both",
        _branches,
        lambda args: {"kept_ptr": np.abs(args["x_ptr"]), "dropped_ptr": np.zeros_like(args["x_ptr"])},
        {"BLOCK": 32},
    ),
    _case(tuple_arguments, "pointers", _tuples, _tuples_reference, {"BLOCK": 16}),
]
CASES += [
    _case(
        sum_with_heuristics,
        n,
        _total(n),
        lambda args: {"out_ptr": args["x_ptr"].sum(dtype=np.int32).reshape(1)},
    )
    for n in (1, 24, 64)
]
CASES += [
    _case(autotuned_increment, n, _increment(n), lambda args: {"x_ptr": args["x_ptr"] + 1}) for n in (1, 1000)
]
CASES += [
    _case(program_ids, "x".join(map(str, grid)), _ids(*grid), _ids_reference(grid))
    for grid in ((1,), (5,), (3, 4), (2, 3, 5), (1, 1, 7), (3, 0, 2))
]
