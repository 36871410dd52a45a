"""Loops left in the middle: ``break``, ``continue`` and ``return`` inside loops, which Triton refuses."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import integers, normals, placed, poisoned
from .protocol import Args, Case, Launch
from .rounding import narrow, tolerance, wide


@triton.jit
def collatz(x_ptr, steps_ptr, limit):
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    steps = 0
    for _ in range(limit):
        if x == 1:
            break
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    tl.store(steps_ptr + pid, steps)


@triton.jit
def collatz_while_true(x_ptr, steps_ptr):
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    steps = 0
    while True:
        if x == 1:
            break
        steps += 1
        x = x // 2 if x % 2 == 0 else 3 * x + 1
    tl.store(steps_ptr + pid, steps)


@triton.jit
def sum_positive_until_zero(x_ptr, out_ptr, n):
    row = tl.program_id(0)
    total = 0
    for i in range(n):
        value = tl.load(x_ptr + row * n + i)
        if value == 0:
            break
        if value < 0:
            continue
        total += value
    tl.store(out_ptr + row, total)


@triton.jit
def skip_dead_blocks(x_ptr, live_ptr, out_ptr, blocks, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for block in range(blocks):
        if tl.load(live_ptr + block) == 0:
            continue
        total += tl.load(x_ptr + block * BLOCK + tl.arange(0, BLOCK))
    tl.store(out_ptr + tl.arange(0, BLOCK), total)


@triton.jit
def find_pair(x_ptr, out_ptr, n, target):
    row = tl.program_id(0)
    for i in range(n):
        a = tl.load(x_ptr + row * n + i)
        for j in range(i + 1, n):
            if a + tl.load(x_ptr + row * n + j) == target:
                tl.store(out_ptr + row * 2, i)
                tl.store(out_ptr + row * 2 + 1, j)
                return
    tl.store(out_ptr + row * 2, -1)
    tl.store(out_ptr + row * 2 + 1, -1)


@triton.jit
def break_inner_only(x_ptr, out_ptr, rows, n):
    best = 0
    for row in range(rows):
        run = 0
        for i in range(n):
            if tl.load(x_ptr + row * n + i) <= 0:
                break
            run += 1
        if run <= best:
            continue
        best = run
    tl.store(out_ptr, best)


def _starts(rng: np.random.Generator) -> Launch:
    x = placed(np.array([1, 2, 3, 6, 7, 27, 97, 871], np.int32))
    return Launch({"x_ptr": x, "steps_ptr": poisoned(8, np.int32), "limit": 1000}, (8,))


def _starts_unbounded(rng: np.random.Generator) -> Launch:
    launch = _starts(rng)
    del launch.args["limit"]
    return launch


def _collatz(args: Args) -> dict[str, np.ndarray]:
    steps = []
    for x in args["x_ptr"].tolist():
        count = 0
        while x != 1:
            x, count = (x // 2 if x % 2 == 0 else 3 * x + 1), count + 1
        steps.append(count)
    return {"steps_ptr": np.array(steps, np.int32)}


def _rows(rows: int, n: int, low: int, high: int, out: int, **scalars: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(integers(rng, (rows, n), np.int32, low, high))
        args = {"x_ptr": x, "out_ptr": poisoned(rows * out, np.int32), "n": n, **scalars}
        return Launch(args, (rows,))

    return make


def _until_zero(args: Args) -> dict[str, np.ndarray]:
    out = args["out_ptr"]
    for row, values in enumerate(args["x_ptr"].tolist()):
        head = values[: values.index(0)] if 0 in values else values
        out[row] = sum(v for v in head if v > 0)
    return {"out_ptr": out}


def _blocks(blocks: int, size: int):
    def make(rng: np.random.Generator) -> Launch:
        x = normals(rng, (blocks, size), np.float32)
        live = integers(rng, blocks, np.int32, 0, 1)
        x[live == 0] = np.nan
        out = poisoned(size, x.dtype)
        return Launch({"x_ptr": placed(x), "live_ptr": placed(live), "out_ptr": out, "blocks": blocks})

    return make


def _live_sum(args: Args) -> dict[str, np.ndarray]:
    return {"out_ptr": narrow(wide(args["x_ptr"])[args["live_ptr"] != 0].sum(axis=0), np.float32)}


def _pairs(args: Args) -> dict[str, np.ndarray]:
    n, found = args["n"], []
    for row in args["x_ptr"].tolist():
        hits = [(i, j) for i in range(n) for j in range(i + 1, n) if row[i] + row[j] == args["target"]]
        found += hits[0] if hits else (-1, -1)
    return {"out_ptr": np.array(found, np.int32)}


def _runs(rows: int, n: int, low: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(integers(rng, (rows, n), np.int32, low, 9))
        return Launch({"x_ptr": x, "out_ptr": poisoned(1, np.int32), "rows": rows, "n": n})

    return make


def _longest(args: Args) -> dict[str, np.ndarray]:
    runs = [0]
    for row in args["x_ptr"] > 0:
        runs.append(len(row) if row.all() else int(np.argmin(row)))
    return {"out_ptr": np.array([max(runs)], np.int32)}


def _case(kernel, label: object, make, reference, constexprs=None, **bounds: float) -> Case:
    name = f"loop_exits/{kernel.__name__}/{label}"
    return Case(
        name, kernel, make, reference, **bounds, constexprs=constexprs or {}, tags=frozenset({"extension"})
    )


CASES = [
    _case(collatz, "starts", _starts, _collatz),
    _case(collatz_while_true, "starts", _starts_unbounded, _collatz),
]
CASES += [
    _case(sum_positive_until_zero, f"{rows}x{n}", _rows(rows, n, -5, 5, 1), _until_zero)
    for rows, n in ((1, 1), (7, 24), (13, 5))
]
CASES += [
    _case(
        skip_dead_blocks,
        f"{blocks}x{size}",
        _blocks(blocks, size),
        _live_sum,
        {"BLOCK": size},
        **tolerance(np.float32, blocks),
    )
    for blocks, size in ((1, 16), (24, 32), (7, 64))
]
CASES += [
    _case(find_pair, f"{rows}x{n}", _rows(rows, n, -20, 20, 2, target=11), _pairs)
    for rows, n in ((1, 1), (9, 7), (5, 24))
]
CASES += [
    _case(break_inner_only, f"{r}x{n}from{low}", _runs(r, n, low), _longest)
    for r, n, low in ((5, 7, -2), (3, 5, 1))
]
