"""Scans along rows and columns: sums, products, running maxima, linear recurrences, with a carried total."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, integers, is_float, normals, placed, poisoned
from .protocol import Args, Case, Launch
from .rounding import narrow, tolerance, wide


@triton.jit
def cumsum_rows(x_ptr, out_ptr, M, N, ROWS: tl.constexpr, COLS: tl.constexpr, REVERSE: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=inside, other=0)
    total = tl.cumsum(x, axis=1, reverse=REVERSE)
    tl.store(out_ptr + rows[:, None] * N + cols[None, :], total, mask=inside)


@triton.jit
def cumsum_long(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carried = 0.0
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=0.0)
        tl.store(out_ptr + row * N + cols, tl.cumsum(x, axis=0) + carried, mask=cols < N)
        carried += tl.sum(x, axis=0)


@triton.jit
def decay_and_add(gain_a, value_a, gain_b, value_b):
    return gain_a * gain_b, value_a * gain_b + value_b


@triton.jit
def linear_recurrence(
    gain_ptr, x_ptr, out_ptr, M, N, ROWS: tl.constexpr, COLS: tl.constexpr, REVERSE: tl.constexpr
):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, COLS)
    at = rows[:, None] * N + cols[None, :]
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    gain = tl.load(gain_ptr + at, mask=inside, other=1.0)
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    _, state = tl.associative_scan((gain, x), 1, decay_and_add, reverse=REVERSE)
    tl.store(out_ptr + at, state, mask=inside)


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def running_max_columns(x_ptr, out_ptr, M, N, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.arange(0, ROWS)
    cols = tl.program_id(0) * COLS + tl.arange(0, COLS)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=inside, other=-float("inf"))
    tl.store(out_ptr + rows[:, None] * N + cols[None, :], tl.associative_scan(x, 0, larger), mask=inside)


@triton.jit
def cumprod_rows(x_ptr, out_ptr, N, BLOCK: tl.constexpr, REVERSE: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=1)
    tl.store(out_ptr + row * N + cols, tl.cumprod(x, axis=0, reverse=REVERSE), mask=cols < N)


SUM_TYPES = {"i8": "i32", "i16": "i32", "u8": "u32", "bf16": "f32"}


def _rows(m: int, n: int, dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        kind = DTYPES[dtype]
        exact = dtype in ("f16", "bf16")  # small integers, exact in half precision in any order
        values = integers(rng, (m, n), np.int8, -2, 2).astype(kind) if exact else None
        if values is None:
            values = (
                normals(rng, (m, n), kind)
                if is_float(kind)
                else integers(rng, (m, n), kind, 0, np.iinfo(kind).max)
            )
        out = poisoned((m, n), DTYPES[SUM_TYPES.get(dtype, dtype)])
        return Launch({"x_ptr": placed(values), "out_ptr": out, "M": m, "N": n}, (triton.cdiv(m, 2),))

    return make


def _flipped(x: np.ndarray, reverse: bool) -> np.ndarray:
    return x[:, ::-1] if reverse else x


def _cumsum(args: Args) -> dict[str, np.ndarray]:
    x, kind, reverse = args["x_ptr"], args["out_ptr"].dtype, args.get("REVERSE", False)
    numbers = _flipped(wide(x) if is_float(x.dtype) else x.astype(kind), reverse)
    total = np.cumsum(numbers, axis=1, dtype=numbers.dtype)
    return {"out_ptr": np.ascontiguousarray(narrow(_flipped(total, reverse), kind))}


def _recurrence(m: int, n: int):
    def make(rng: np.random.Generator) -> Launch:
        gain = placed(rng.uniform(0.2, 1.1, (m, n)).astype(np.float32))
        x = placed(normals(rng, (m, n), np.float32))
        args = {"gain_ptr": gain, "x_ptr": x, "out_ptr": poisoned((m, n), x.dtype), "M": m, "N": n}
        return Launch(args, (triton.cdiv(m, 2),))

    return make


def _recurrence_reference(args: Args) -> dict[str, np.ndarray]:
    gain, x = (_flipped(wide(args[name]), args["REVERSE"]) for name in ("gain_ptr", "x_ptr"))
    state, out = np.zeros(len(x)), np.empty_like(x)
    for t in range(x.shape[1]):
        state = gain[:, t] * state + x[:, t]
        out[:, t] = state
    return {"out_ptr": narrow(np.ascontiguousarray(_flipped(out, args["REVERSE"])), np.float32)}


def _matrix(m: int, n: int, cols: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, (m, n), np.float32))
        return Launch(
            {"x_ptr": x, "out_ptr": poisoned((m, n), x.dtype), "M": m, "N": n}, (triton.cdiv(n, cols),)
        )

    return make


def _one_row(m: int, n: int, dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        if is_float(DTYPES[dtype]):
            x = placed((1 + 0.1 * rng.standard_normal((m, n))).astype(DTYPES[dtype]))
        else:
            x = placed(integers(rng, (m, n), DTYPES[dtype], 1, 100))
        return Launch({"x_ptr": x, "out_ptr": poisoned((m, n), x.dtype), "N": n}, (m,))

    return make


def _cumprod(args: Args) -> dict[str, np.ndarray]:
    x, reverse = args["x_ptr"], args["REVERSE"]
    numbers = _flipped(wide(x) if is_float(x.dtype) else x, reverse)
    total = np.cumprod(numbers, axis=1, dtype=numbers.dtype)
    return {"out_ptr": np.ascontiguousarray(narrow(_flipped(total, reverse), x.dtype))}


def _cases() -> list[Case]:
    cases = []
    for m, n, dtype in (
        (1, 1, "f32"),
        (3, 24, "f32"),
        (5, 97, "f32"),
        (2, 50, "f64"),
        (3, 40, "f16"),
        (3, 40, "bf16"),
        (4, 61, "i32"),
        (3, 100, "i8"),
        (3, 100, "u8"),
        (2, 33, "u64"),
    ):
        for reverse in (False, True):
            name = f"scans/cumsum_rows/{dtype}-{m}x{n}{'-reverse' if reverse else ''}"
            sizes = {"ROWS": 2, "COLS": triton.next_power_of_2(n), "REVERSE": reverse}
            bounds = tolerance(DTYPES[dtype], terms=n) if dtype in ("f32", "f64") else {}
            cases.append(Case(name, cumsum_rows, _rows(m, n, dtype), _cumsum, **bounds, constexprs=sizes))
    for m, n in ((1, 1), (2, 40), (3, 1009)):
        name, bounds = f"scans/cumsum_long/{m}x{n}", tolerance(np.float32, terms=n)
        cases.append(
            Case(name, cumsum_long, _one_row(m, n, "f32"), _cumsum, **bounds, constexprs={"BLOCK": 32})
        )
    for m, n in ((1, 1), (3, 24), (4, 61), (2, 512)):
        for reverse in (False, True):
            name = f"scans/linear_recurrence/{m}x{n}{'-reverse' if reverse else ''}"
            sizes = {"ROWS": 2, "COLS": triton.next_power_of_2(n), "REVERSE": reverse}
            bounds = {"rtol": 1e-5, "atol": 2e-5}
            make, reference = _recurrence(m, n), _recurrence_reference
            cases.append(Case(name, linear_recurrence, make, reference, **bounds, constexprs=sizes))
    for m, n in ((1, 1), (24, 40), (37, 13)):
        wanted = lambda args: {"out_ptr": np.maximum.accumulate(args["x_ptr"], axis=0)}
        sizes = {"ROWS": triton.next_power_of_2(m), "COLS": 8}
        name = f"scans/running_max_columns/{m}x{n}"
        cases.append(Case(name, running_max_columns, _matrix(m, n, 8), wanted, constexprs=sizes))
    for m, n, dtype, reverse in (
        (1, 1, "f32", False),
        (3, 40, "f32", True),
        (2, 23, "i32", False),
        (2, 24, "i64", True),
    ):
        name = f"scans/cumprod_rows/{dtype}-{m}x{n}{'-reverse' if reverse else ''}"
        bounds = {"rtol": 1e-5} if dtype == "f32" else {}
        sizes = {"BLOCK": triton.next_power_of_2(n), "REVERSE": reverse}
        cases.append(Case(name, cumprod_rows, _one_row(m, n, dtype), _cumprod, **bounds, constexprs=sizes))
    return cases


CASES = _cases()
