"""Layer norm backward: programs add weight gradients into shared rows under a spin lock."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import normals, placed, poisoned
from .protocol import Args, Case, Launch
from .rounding import narrow, tolerance, wide


@triton.jit
def layernorm_backward_rows(
    x_ptr,
    w_ptr,
    dy_ptr,
    mean_ptr,
    rstd_ptr,
    dx_ptr,
    dw_partial_ptr,
    db_partial_ptr,
    lock_ptr,
    used_ptr,
    row_stride,
    N,
    SLOTS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < N
    x = tl.load(x_ptr + row * row_stride + cols, mask=inside, other=0.0)
    dy = tl.load(dy_ptr + row * row_stride + cols, mask=inside, other=0.0)
    w = tl.load(w_ptr + cols, mask=inside, other=0.0)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    normal = tl.where(inside, (x - mean) * rstd, 0.0)
    scaled = w * dy
    along = tl.sum(normal * scaled, axis=0) / N
    offset = tl.sum(scaled, axis=0) / N
    tl.store(dx_ptr + row * row_stride + cols, (scaled - normal * along - offset) * rstd, mask=inside)

    slot = row % SLOTS
    dw = dy * normal
    db = dy
    dw_ptrs = dw_partial_ptr + slot * N + cols
    db_ptrs = db_partial_ptr + slot * N + cols
    while tl.atomic_cas(lock_ptr + slot, 0, 1) == 1:
        pass
    used = tl.load(used_ptr + slot)
    if used == 0:
        tl.atomic_xchg(used_ptr + slot, 1)
    else:
        dw += tl.load(dw_ptrs, mask=inside)
        db += tl.load(db_ptrs, mask=inside)
    tl.store(dw_ptrs, dw, mask=inside)
    tl.store(db_ptrs, db, mask=inside)
    # Every lane's store must land before another program can take the lock.
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr + slot, 0)


@triton.jit
def sum_slots(partial_ptr, out_ptr, slots, N, ROWS: tl.constexpr, COLS: tl.constexpr):
    cols = tl.program_id(0) * COLS + tl.arange(0, COLS)
    total = tl.zeros((ROWS, COLS), dtype=tl.float32)
    for start in range(0, slots, ROWS):
        rows = start + tl.arange(0, ROWS)
        inside = (rows[:, None] < slots) & (cols[None, :] < N)
        total += tl.load(partial_ptr + rows[:, None] * N + cols[None, :], mask=inside, other=0.0)
    tl.store(out_ptr + cols, tl.sum(total, axis=0), mask=cols < N)


def _rows(m: int, n: int, slots: int):
    def make(rng: np.random.Generator) -> Launch:
        x, dy, w = (placed(normals(rng, s, np.float32)) for s in ((m, n), (m, n), n))
        args: Args = {"x_ptr": x, "w_ptr": w, "dy_ptr": dy, "mean_ptr": placed(x.mean(axis=1))}
        args |= {"rstd_ptr": placed(1 / np.sqrt(x.var(axis=1) + np.float32(1e-5)))}
        args |= {"dx_ptr": poisoned((m, n), np.float32)}
        args |= {f"d{name}_partial_ptr": poisoned((slots, n), np.float32) for name in "wb"}
        args |= {"lock_ptr": placed(np.zeros(slots, np.int32)), "used_ptr": placed(np.zeros(slots, np.int32))}
        return Launch(args | {"row_stride": n, "N": n}, (m,))

    return make


def _rows_reference(args: Args) -> dict[str, np.ndarray]:
    x, w, dy, mean, rstd = (wide(args[f"{name}_ptr"]) for name in ("x", "w", "dy", "mean", "rstd"))
    normal = (x - mean[:, None]) * rstd[:, None]
    scaled = w * dy
    along = (normal * scaled).mean(axis=1, keepdims=True)
    dx = (scaled - normal * along - scaled.mean(axis=1, keepdims=True)) * rstd[:, None]
    out = {"dx_ptr": narrow(dx, np.float32), "lock_ptr": args["lock_ptr"], "used_ptr": args["used_ptr"]}
    out |= {name: args[name] for name in ("dw_partial_ptr", "db_partial_ptr")}
    for slot in range(min(args["SLOTS"], len(x))):
        out["dw_partial_ptr"][slot] = (dy * normal)[slot :: args["SLOTS"]].sum(axis=0)
        out["db_partial_ptr"][slot] = dy[slot :: args["SLOTS"]].sum(axis=0)
        out["used_ptr"][slot] = 1
    return out


def _slots(slots: int, n: int):
    def make(rng: np.random.Generator) -> Launch:
        partial = placed(normals(rng, (slots, n), np.float32))
        args = {"partial_ptr": partial, "out_ptr": poisoned(n, np.float32), "slots": slots, "N": n}
        return Launch(args, (triton.cdiv(n, 32),))

    return make


CASES = [
    Case(
        f"layernorm_backward/layernorm_backward_rows/{m}x{n}-{slots}",
        layernorm_backward_rows,
        _rows(m, n, slots),
        _rows_reference,
        **tolerance(np.float32, terms=n, scale=8),
        constexprs={"SLOTS": slots, "BLOCK": triton.next_power_of_2(n)},
        tags=frozenset({"atomic", "spin", *(["large"] if m > 100 else [])}),
    )
    for m, n, slots in ((1, 1, 1), (2, 24, 4), (13, 97, 4), (256, 501, 8))
]
CASES += [
    Case(
        f"layernorm_backward/sum_slots/{slots}x{n}",
        sum_slots,
        _slots(slots, n),
        lambda args: {"out_ptr": narrow(wide(args["partial_ptr"]).sum(axis=0), np.float32)},
        **tolerance(np.float32, terms=slots),
        constexprs={"ROWS": 4, "COLS": 32},
    )
    for slots, n in ((1, 1), (7, 40), (64, 101))
]
