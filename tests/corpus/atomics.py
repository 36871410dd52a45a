"""Atomic operations: every kind, masks, duplicate addresses, returned values."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, any_values, integers, is_float, placed, poisoned
from .protocol import Args, Case, Launch


@triton.jit
def atomic_extremes(cell_ptr, x_ptr, max_ptr, min_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    cell = tl.load(cell_ptr + at, mask=inside, other=0)
    x = tl.load(x_ptr + at, mask=inside)
    tl.atomic_max(max_ptr + cell, x, mask=inside)
    tl.atomic_min(min_ptr + cell, x, mask=inside)


@triton.jit
def atomic_bits(cell_ptr, x_ptr, and_ptr, or_ptr, xor_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    cell = tl.load(cell_ptr + at, mask=inside, other=0)
    x = tl.load(x_ptr + at, mask=inside, other=0)
    tl.atomic_and(and_ptr + cell, x, mask=inside)
    tl.atomic_or(or_ptr + cell, x, mask=inside)
    tl.atomic_xor(xor_ptr + cell, x, mask=inside)


@triton.jit
def tickets(counter_ptr, ticket_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    mine = tl.atomic_add(counter_ptr + at * 0, 1, mask=inside, sem="relaxed")
    tl.store(ticket_ptr + at, mine, mask=inside)


@triton.jit
def pass_along(slot_ptr, received_ptr):
    pid = tl.program_id(0)
    received = tl.atomic_xchg(slot_ptr, pid + 1)
    tl.store(received_ptr + pid, received)


@triton.jit
def compare_and_swap(x_ptr, old_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    expected = at % 4
    old = tl.atomic_cas(x_ptr + at, expected, expected + 100)
    tl.store(old_ptr + at, old)


@triton.jit
def claim_first(owner_ptr, winner_ptr):
    pid = tl.program_id(0)
    before = tl.atomic_cas(owner_ptr, -1, pid)
    tl.store(winner_ptr + pid, (before == -1).to(tl.int32))


@triton.jit
def atomic_maximum_with_cas(x_ptr, out_ptr):
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    seen = tl.load(out_ptr)
    done = False
    while not done:
        wanted = tl.maximum(seen, x)
        old = tl.atomic_cas(out_ptr, seen, wanted)
        done = old == seen
        seen = old


def _extremes(n: int, cells: int, dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        kind = DTYPES[dtype]
        values = rng.standard_normal(n).astype(kind) if is_float(kind) else any_values(rng, n, kind)
        lowest, highest = (-np.inf, np.inf) if is_float(kind) else (np.iinfo(kind).min, np.iinfo(kind).max)
        args: Args = {"cell_ptr": placed(integers(rng, n, np.int32, 0, cells - 1)), "x_ptr": placed(values)}
        args |= {
            "max_ptr": placed(np.full(cells, lowest, kind)),
            "min_ptr": placed(np.full(cells, highest, kind)),
        }
        return Launch(args | {"n": n}, (triton.cdiv(n, 32),))

    return make


def _extremes_reference(args: Args) -> dict[str, np.ndarray]:
    np.maximum.at(args["max_ptr"], args["cell_ptr"], args["x_ptr"])
    np.minimum.at(args["min_ptr"], args["cell_ptr"], args["x_ptr"])
    return {name: args[name] for name in ("max_ptr", "min_ptr")}


def _bits(n: int, cells: int, dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        kind = DTYPES[dtype]
        args: Args = {"cell_ptr": placed(integers(rng, n, np.int32, 0, cells - 1))}
        args |= {"x_ptr": placed(any_values(rng, n, kind)), "n": n}
        args |= {f"{name}_ptr": placed(any_values(rng, cells, kind)) for name in ("and", "or", "xor")}
        return Launch(args, (triton.cdiv(n, 32),))

    return make


def _bits_reference(args: Args) -> dict[str, np.ndarray]:
    for name, fold in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        fold.at(args[f"{name}_ptr"], args["cell_ptr"], args["x_ptr"])
    return {f"{name}_ptr": args[f"{name}_ptr"] for name in ("and", "or", "xor")}


def _tickets(n: int):
    def make(rng: np.random.Generator) -> Launch:
        counter = placed(np.zeros(1, np.int32))
        args = {"counter_ptr": counter, "ticket_ptr": poisoned(n, np.int32), "n": n}
        return Launch(args, (triton.cdiv(n, 32),), scratch=frozenset({"ticket_ptr"}))

    return make


def _every_ticket_once(before: Args, after: Args) -> None:
    assert sorted(after["ticket_ptr"].tolist()) == list(range(after["n"]))


def _slots(programs: int):
    def make(rng: np.random.Generator) -> Launch:
        args = {"slot_ptr": placed(np.zeros(1, np.int32)), "received_ptr": poisoned(programs, np.int32)}
        return Launch(args, (programs,), scratch=frozenset({"slot_ptr", "received_ptr"}))

    return make


def _nothing_lost(before: Args, after: Args) -> None:
    passed = after["received_ptr"].tolist() + after["slot_ptr"].tolist()
    assert sorted(passed) == list(range(len(passed))), passed


def _swap(dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(integers(rng, 64, DTYPES[dtype], 0, 3))
        return Launch({"x_ptr": x, "old_ptr": poisoned(64, x.dtype), "n": 64})

    return make


def _swapped(args: Args) -> dict[str, np.ndarray]:
    x, expected = args["x_ptr"], (np.arange(64) % 4).astype(args["x_ptr"].dtype)
    return {"x_ptr": np.where(x == expected, expected + 100, x).astype(x.dtype), "old_ptr": x}


def _claims(programs: int):
    def make(rng: np.random.Generator) -> Launch:
        args = {"owner_ptr": placed(np.full(1, -1, np.int32)), "winner_ptr": poisoned(programs, np.int32)}
        return Launch(args, (programs,), scratch=frozenset({"owner_ptr", "winner_ptr"}))

    return make


def _one_winner(before: Args, after: Args) -> None:
    winners = np.flatnonzero(after["winner_ptr"])
    assert set(after["winner_ptr"].tolist()) <= {0, 1}
    assert winners.tolist() == after["owner_ptr"].tolist()


def _contest(n: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(integers(rng, n, np.int32, -1000, 1000))
        return Launch({"x_ptr": x, "out_ptr": placed(np.full(1, -(2**31), np.int32))}, (n,))

    return make


def _case(
    kernel, label: object, make, reference, constexprs=None, check=None, tags: tuple[str, ...] = ()
) -> Case:
    name = f"atomics/{kernel.__name__}/{label}"
    marks = frozenset({"atomic", *tags})
    return Case(name, kernel, make, reference, constexprs=constexprs or {}, tags=marks, check=check)


BLOCK = {"BLOCK": 32}
CASES = [
    _case(
        atomic_extremes, f"{dtype}-{n}-into-{cells}", _extremes(n, cells, dtype), _extremes_reference, BLOCK
    )
    for n, cells, dtype in (
        (1, 1, "i32"),
        (131, 3, "i32"),
        (131, 3, "u32"),
        (97, 5, "i64"),
        (97, 5, "u64"),
        (200, 3, "f32"),
        (200, 24, "f64"),
    )
]
CASES += [
    _case(atomic_bits, f"{dtype}-{n}-into-{cells}", _bits(n, cells, dtype), _bits_reference, BLOCK)
    for n, cells, dtype in ((1, 1, "i32"), (101, 3, "i32"), (101, 7, "u32"), (40, 2, "i64"))
]
CASES += [
    _case(
        tickets,
        n,
        _tickets(n),
        lambda args: {"counter_ptr": np.array([args["n"]], np.int32)},
        BLOCK,
        _every_ticket_once,
    )
    for n in (1, 24, 97)
]
CASES += [_case(pass_along, n, _slots(n), lambda args: {}, None, _nothing_lost) for n in (1, 13)]
CASES += [_case(compare_and_swap, t, _swap(t), _swapped, {"BLOCK": 64}) for t in ("i32",)]
CASES += [_case(claim_first, n, _claims(n), lambda args: {}, None, _one_winner) for n in (1, 17)]
CASES += [
    _case(
        atomic_maximum_with_cas,
        n,
        _contest(n),
        lambda args: {"out_ptr": args["x_ptr"].max().reshape(1)},
        tags=("spin",),
    )
    for n in (1, 24)
]
