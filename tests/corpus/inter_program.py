"""Programs that depend on each other: look-back scan, last-block reduction, a queue of work items."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import integers, normals, placed, poisoned
from .protocol import Args, Case, Launch
from .rounding import narrow, tolerance, wide

EMPTY = tl.constexpr(0)
HAS_TOTAL = tl.constexpr(1)
HAS_PREFIX = tl.constexpr(2)


@triton.jit
def look_back_scan(x_ptr, out_ptr, state_ptr, total_ptr, prefix_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    total = tl.sum(x, axis=0)
    # A total must be visible before the state that announces it: a release after the store.
    tl.store(total_ptr + pid, total)
    tl.debug_barrier()
    tl.atomic_xchg(state_ptr + pid, HAS_TOTAL, sem="release")
    before = total * 0
    previous = pid - 1
    while previous >= 0:
        state = tl.atomic_add(state_ptr + previous, 0, sem="acquire")
        while state == EMPTY:
            state = tl.atomic_add(state_ptr + previous, 0, sem="acquire")
        if state == HAS_PREFIX:
            before += tl.load(prefix_ptr + previous, volatile=True)
            previous = -1
        else:
            before += tl.load(total_ptr + previous, volatile=True)
            previous -= 1
    tl.store(prefix_ptr + pid, before + total)
    tl.debug_barrier()
    tl.atomic_xchg(state_ptr + pid, HAS_PREFIX, sem="release")
    tl.store(out_ptr + at, tl.cumsum(x, axis=0) + before, mask=at < n)


@triton.jit
def last_block_sum(x_ptr, partial_ptr, counter_ptr, out_ptr, n, BLOCK: tl.constexpr, PARTIALS: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(partial_ptr + pid, tl.sum(x, axis=0))
    tl.debug_barrier()
    finished = tl.atomic_add(counter_ptr, 1)
    if finished == tl.num_programs(0) - 1:
        slots = tl.arange(0, PARTIALS)
        partial = tl.load(partial_ptr + slots, mask=slots < tl.num_programs(0), other=0.0, volatile=True)
        tl.store(out_ptr, tl.sum(partial, axis=0))
        tl.atomic_xchg(counter_ptr, 0)


@triton.jit
def work_queue(x_ptr, out_ptr, next_ptr, items, BLOCK: tl.constexpr):
    item = tl.atomic_add(next_ptr, 1)
    while item < items:
        at = item * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + at, tl.load(x_ptr + at) * 2)
        item = tl.atomic_add(next_ptr, 1)


@triton.jit
def neighbour_waits(x_ptr, flag_ptr, out_ptr):
    pid = tl.program_id(0)
    carried = tl.load(x_ptr + pid)
    if pid > 0:
        while tl.atomic_add(flag_ptr + pid - 1, 0, sem="acquire") == 0:
            pass
        carried += tl.load(out_ptr + pid - 1, volatile=True)
    tl.store(out_ptr + pid, carried)
    tl.debug_barrier()
    tl.atomic_xchg(flag_ptr + pid, 1, sem="release")


def _scan(n: int, block: int):
    def make(rng: np.random.Generator) -> Launch:
        programs = triton.cdiv(n, block)
        x = placed(integers(rng, n, np.int32, -1000, 1000))
        args: Args = {"x_ptr": x, "out_ptr": poisoned(n, np.int32), "n": n}
        args |= {f"{name}_ptr": poisoned(programs, np.int32) for name in ("total", "prefix")}
        args["state_ptr"] = placed(np.zeros(programs, np.int32))
        return Launch(args, (programs,))

    return make


def _scan_reference(args: Args) -> dict[str, np.ndarray]:
    x, block = args["x_ptr"], args["BLOCK"]
    totals = np.array([x[i : i + block].sum() for i in range(0, len(x), block)], np.int32)
    return {
        "out_ptr": np.cumsum(x, dtype=np.int32),
        "total_ptr": totals,
        "prefix_ptr": np.cumsum(totals, dtype=np.int32),
        "state_ptr": np.full_like(totals, 2),
    }


def _sum(n: int, block: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, n, np.float32))
        partial = poisoned(triton.cdiv(n, block), x.dtype)
        args = {"x_ptr": x, "partial_ptr": partial, "counter_ptr": placed(np.zeros(1, np.int32)), "n": n}
        return Launch(args | {"out_ptr": poisoned(1, x.dtype)}, partial.shape)

    return make


def _sum_reference(args: Args) -> dict[str, np.ndarray]:
    x, block = wide(args["x_ptr"]), args["BLOCK"]
    partial = np.array([x[i : i + block].sum() for i in range(0, len(x), block)])
    return {
        "partial_ptr": narrow(partial, np.float32),
        "out_ptr": narrow(x.sum().reshape(1), np.float32),
        "counter_ptr": args["counter_ptr"],
    }


def _queue(items: int, programs: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(integers(rng, items * 16, np.int32, -1000, 1000))
        args = {"x_ptr": x, "out_ptr": poisoned(x.shape, x.dtype), "next_ptr": placed(np.zeros(1, np.int32))}
        return Launch(args | {"items": items}, (programs,))

    return make


def _queue_reference(programs: int):
    def reference(args: Args) -> dict[str, np.ndarray]:
        taken = np.array([args["items"] + programs], np.int32)
        return {"out_ptr": args["x_ptr"] * 2, "next_ptr": taken}

    return reference


def _chain(programs: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(integers(rng, programs, np.int32, -1000, 1000))
        args = {
            "x_ptr": x,
            "flag_ptr": placed(np.zeros(programs, np.int32)),
            "out_ptr": poisoned(programs, x.dtype),
        }
        return Launch(args, (programs,))

    return make


def _chain_reference(args: Args) -> dict[str, np.ndarray]:
    return {"out_ptr": np.cumsum(args["x_ptr"], dtype=np.int32), "flag_ptr": np.ones_like(args["flag_ptr"])}


SPIN = frozenset({"atomic", "spin"})
CASES = [
    Case(
        f"inter_program/look_back_scan/{n}",
        look_back_scan,
        _scan(n, block),
        _scan_reference,
        constexprs={"BLOCK": block},
        tags=SPIN | ({"large"} if n > 10_000 else set()),
    )
    for n, block in ((1, 16), (97, 16), (1000, 32), (100_003, 512))
]
CASES += [
    Case(
        f"inter_program/last_block_sum/{n}",
        last_block_sum,
        _sum(n, 32),
        _sum_reference,
        **tolerance(np.float32, terms=n),
        constexprs={"BLOCK": 32, "PARTIALS": triton.next_power_of_2(triton.cdiv(n, 32))},
        tags=frozenset({"atomic"}),
    )
    for n in (1, 40, 1009)
]
CASES += [
    Case(
        f"inter_program/work_queue/{items}-{programs}",
        work_queue,
        _queue(items, programs),
        _queue_reference(programs),
        constexprs={"BLOCK": 16},
        tags=frozenset({"atomic"}),
    )
    for items, programs in ((1, 1), (24, 5), (3, 7))
]
CASES += [
    Case(f"inter_program/neighbour_waits/{n}", neighbour_waits, _chain(n), _chain_reference, tags=SPIN)
    for n in (1, 24)
]
