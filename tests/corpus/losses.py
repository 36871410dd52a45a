"""Cross entropy over long rows: loss in one sweep, then the gradient written over the logits."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, integers, normals, placed, poisoned
from .protocol import Args, Case, Launch
from .rounding import narrow, tolerance, wide


@triton.jit
def cross_entropy(
    logits_ptr, target_ptr, loss_ptr, classes, row_stride, scale, IGNORE: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * row_stride
    target = tl.load(target_ptr + row)
    if target == IGNORE:
        for start in range(0, classes, BLOCK):
            cols = start + tl.arange(0, BLOCK)
            tl.store(logits_ptr + cols, 0.0, mask=cols < classes)
        tl.store(loss_ptr + row, 0.0)
        return
    peak = -float("inf")
    total = 0.0
    for start in range(0, classes, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + cols, mask=cols < classes, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(peak, tl.max(x))
        total = total * tl.exp(peak - higher) + tl.sum(tl.exp(x - higher))
        peak = higher
    chosen = tl.load(logits_ptr + target).to(tl.float32)
    tl.store(loss_ptr + row, peak + tl.log(total) - chosen)
    # The gradient overwrites the logits, so every lane must have read its target first.
    tl.debug_barrier()
    for start in range(0, classes, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + cols, mask=cols < classes, other=-float("inf")).to(tl.float32)
        probability = tl.exp(x - peak) / total
        gradient = tl.where(cols == target, probability - 1.0, probability) * scale
        tl.store(logits_ptr + cols, gradient, mask=cols < classes)


def _make(rows: int, classes: int, dtype: str, ignored: bool):
    def make(rng: np.random.Generator) -> Launch:
        logits = placed(normals(rng, (rows, classes), DTYPES[dtype], scale=3), (classes + 5, 1))
        targets = integers(rng, rows, np.int64, 0, classes - 1)
        if ignored:
            targets[::2] = -100
        args: Args = {
            "logits_ptr": logits,
            "target_ptr": placed(targets),
            "loss_ptr": poisoned(rows, np.float32),
        }
        args |= {"classes": classes, "row_stride": classes + 5, "scale": 1 / rows}
        return Launch(args, (rows,))

    return make


def _reference(args: Args) -> dict[str, np.ndarray]:
    x, target = wide(args["logits_ptr"]), args["target_ptr"]
    counted = target != args["IGNORE"]
    rows = np.flatnonzero(counted)
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    total = weights.sum(axis=1, keepdims=True)
    loss = np.zeros(len(x))
    loss[rows] = (x.max(axis=1) + np.log(total[:, 0]))[rows] - x[rows, target[rows]]
    gradient = weights / total
    gradient[rows, target[rows]] -= 1
    gradient[~counted] = 0
    return {
        "loss_ptr": narrow(loss, np.float32),
        "logits_ptr": narrow(gradient * np.float64(np.float32(args["scale"])), args["logits_ptr"].dtype),
    }


CASES = [
    Case(
        f"losses/cross_entropy/{dtype}-{rows}x{classes}{'-ignored' if ignored else ''}",
        cross_entropy,
        _make(rows, classes, dtype, ignored),
        _reference,
        rtol=tolerance(DTYPES[dtype])["rtol"] + 1e-5,
        atol=2e-6,
        constexprs={"IGNORE": -100, "BLOCK": 64},
        tags=frozenset({"large"} if classes > 10_000 else ()),
    )
    for rows, classes, dtype, ignored in (
        (1, 1, "f32", False),
        (5, 24, "f32", True),
        (4, 97, "f32", False),
        (3, 200, "f16", True),
        (3, 200, "bf16", False),
        (8, 20_011, "f32", True),
    )
]
