"""Row softmax: one block per row, a running maximum over blocks, several rows per tile."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, element_strides, normals, placed, poisoned
from .protocol import Args, Case, Launch
from .rounding import narrow, tolerance, wide


@triton.jit
def softmax_one_block(x_ptr, out_ptr, N, x_row, out_row, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + cols, mask=cols < N, other=-float("inf")).to(tl.float32)
    weights = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_row + cols, weights / tl.sum(weights, axis=0), mask=cols < N)


@triton.jit
def softmax_online(x_ptr, out_ptr, N, x_row, out_row, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    source = x_ptr + row * x_row
    peak = -float("inf")
    total = 0.0
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(source + cols, mask=cols < N, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(peak, tl.max(x, axis=0))
        total = total * tl.exp(peak - higher) + tl.sum(tl.exp(x - higher), axis=0)
        peak = higher
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(source + cols, mask=cols < N, other=0.0).to(tl.float32)
        tl.store(out_ptr + row * out_row + cols, tl.exp(x - peak) / total, mask=cols < N)


@triton.jit
def softmax_tile(x_ptr, out_ptr, M, N, x_row, out_row, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    cols = tl.arange(0, COLS)[None, :]
    inside = (rows < M) & (cols < N)
    x = tl.load(x_ptr + rows * x_row + cols, mask=inside, other=-float("inf"))
    x = tl.where(rows < M, x, 0.0)
    tl.store(out_ptr + rows * out_row + cols, tl.softmax(x, dim=1, keep_dims=True), mask=inside)


@triton.jit
def softmax_backward(y_ptr, dy_ptr, dx_ptr, N, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    at = row * row_stride + cols
    y = tl.load(y_ptr + at, mask=cols < N, other=0.0)
    dy = tl.load(dy_ptr + at, mask=cols < N, other=0.0)
    inner = tl.sum(y * dy, axis=0)
    tl.store(dx_ptr + at, y * (dy - inner), mask=cols < N)


def row_softmax(x: np.ndarray) -> np.ndarray:
    """Softmax over the last axis in float64."""
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _reference(args: Args) -> dict[str, np.ndarray]:
    return {"out_ptr": narrow(row_softmax(wide(args["x_ptr"])), args["out_ptr"].dtype)}


def _backward_reference(args: Args) -> dict[str, np.ndarray]:
    y, dy = wide(args["y_ptr"]), wide(args["dy_ptr"])
    dx = y * (dy - (y * dy).sum(axis=1, keepdims=True))
    return {"dx_ptr": narrow(dx, args["dx_ptr"].dtype)}


def _make(m: int, n: int, dtype: str, pad: int = 0, masked: bool = False, rows: int = 1):
    def make(rng: np.random.Generator) -> Launch:
        values = normals(rng, (m, n), DTYPES[dtype], scale=4)
        if masked:
            values[rng.random((m, n)) < 0.4] = -np.inf
            values[:, n // 2] = 0
        x, out = placed(values, (n + pad, 1)), poisoned((m, n), values.dtype, (n + 2 * pad, 1))
        args = {"x_ptr": x, "out_ptr": out, "N": n}
        args |= {"x_row": element_strides(x)[0], "out_row": element_strides(out)[0]}
        if rows > 1:
            args["M"] = m
        return Launch(args, (triton.cdiv(m, rows),))

    return make


def _backward(m: int, n: int):
    def make(rng: np.random.Generator) -> Launch:
        y = placed(row_softmax(rng.standard_normal((m, n))).astype(np.float32))
        dy = placed(normals(rng, (m, n), np.float32))
        args = {"y_ptr": y, "dy_ptr": dy, "dx_ptr": poisoned((m, n), np.float32), "N": n, "row_stride": n}
        return Launch(args, (m,))

    return make


def _limits(dtype: str) -> dict[str, float]:
    # The exponent's argument is off by up to one fp32 unit of about 16, which the exponential passes on.
    return {"rtol": tolerance(DTYPES[dtype])["rtol"] + 5e-6, "atol": 1e-7}


def _one_block(m: int, n: int, dtype: str, label: str = "", **how) -> Case:
    name = f"softmax/softmax_one_block/{dtype}-{m}x{n}{label}"
    block = {"BLOCK": triton.next_power_of_2(n)}
    tags = frozenset({"large"} if m * n > 50_000 else ())
    make = _make(m, n, dtype, **how)
    return Case(name, softmax_one_block, make, _reference, **_limits(dtype), constexprs=block, tags=tags)


def _online(m: int, n: int, dtype: str, block: int, label: str = "", **how) -> Case:
    name = f"softmax/softmax_online/{dtype}-{m}x{n}{label}"
    tags = frozenset({"large"} if m * n > 50_000 else ())
    make = _make(m, n, dtype, **how)
    return Case(
        name, softmax_online, make, _reference, **_limits(dtype), constexprs={"BLOCK": block}, tags=tags
    )


CASES = [_one_block(m, n, "f32") for m, n in ((1, 1), (3, 24), (7, 97), (5, 40), (2, 1000))]
CASES += [
    _one_block(4, 97, "f16"),
    _one_block(4, 97, "bf16"),
    _one_block(6, 50, "f32", "-padded-rows", pad=14),
    _one_block(6, 64, "f32", "-masked", masked=True),
    _one_block(128, 781, "f32"),
]
CASES += [_online(m, n, "f32", 32) for m, n in ((1, 1), (3, 24), (5, 97), (2, 1000))]
CASES += [_online(3, 130, "bf16", 64), _online(4, 70, "f32", 16, "-masked-padded", masked=True, pad=6)]
CASES += [_online(16, 5003, "f32", 256)]
CASES += [
    Case(
        f"softmax/softmax_tile/f32-{m}x{n}",
        softmax_tile,
        _make(m, n, "f32", rows=4),
        _reference,
        **_limits("f32"),
        constexprs={"ROWS": 4, "COLS": triton.next_power_of_2(n)},
    )
    for m, n in ((1, 1), (7, 24), (13, 61))
]
CASES += [
    Case(
        f"softmax/softmax_backward/f32-{m}x{n}",
        softmax_backward,
        _backward(m, n),
        _backward_reference,
        **tolerance(np.float32, terms=8),
        constexprs={"BLOCK": triton.next_power_of_2(n)},
    )
    for m, n in ((1, 1), (5, 24), (3, 509))
]
