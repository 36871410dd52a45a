"""Shapes, reductions, scans, sorting, gathering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .model import Array, ValueCase, array, blank

_RNG = np.random.default_rng(20)
F = array("fp32", _RNG.permutation(32).astype(np.float32) - 7.5, (4, 8))
I = array("int32", _RNG.integers(-50, 50, 32), (4, 8))
FN, IN = F.numpy(), I.numpy()


def tile_case(
    name: str, outputs: Sequence[tuple[str, Array]], setup: str = "", prelude: str = "", **options: Any
) -> ValueCase:
    """A case over `f` (fp32) and `k` (int32), tiles of 4 x 8; each expression is stored row major."""
    lines = ["rows = tl.arange(0, 4)[:, None]", "cols = tl.arange(0, 8)[None, :]"]
    lines += [
        "f = tl.load(f_ptr + rows * 8 + cols)",
        "k = tl.load(k_ptr + rows * 8 + cols)",
        *setup.splitlines(),
    ]
    expected = {}
    for index, (expression, result) in enumerate(outputs):
        out = f"o{index}"
        expected[out] = result
        offset = " + ".join(_offset(axis, result.shape) for axis in range(len(result.shape))) or "0"
        lines.append(f"tl.store({out} + {offset}, {expression})")
    body = "\n".join(f"    {line}" for line in lines)
    source = f"{prelude}@triton.jit\ndef kernel(f_ptr, k_ptr, {', '.join(expected)}):\n{body}\n"
    arguments: dict[str, Any] = {"f_ptr": F, "k_ptr": I}
    return ValueCase(
        name, source, arguments | {k: blank(v) for k, v in expected.items()}, expected, **options
    )


def _offset(axis: int, shape: tuple[int, ...]) -> str:
    stride = int(np.prod(shape[axis + 1 :], dtype=np.int64))
    index = ", ".join(":" if a == axis else "None" for a in range(len(shape)))
    return f"tl.arange(0, {shape[axis]})[{index}] * {stride}"


def f32(values: Any) -> Array:
    """An fp32 array."""
    return array("fp32", np.asarray(values, dtype=np.float32))


def i32(values: Any) -> Array:
    """An int32 array."""
    return array("int32", np.asarray(values))


def shapes() -> list[ValueCase]:
    """Element order of every op that moves elements."""
    vector = np.arange(8)
    joined = np.stack([FN, -FN], axis=-1)
    return [
        tile_case(
            "reshape_order",
            [
                ("f.reshape(8, 4)", f32(FN.reshape(8, 4))),
                ("tl.reshape(f, (2, 2, 8))", f32(FN.reshape(2, 2, 8))),
                ("tl.ravel(f)", f32(FN.reshape(32))),
            ],
        ),
        tile_case(
            "transpose_order",
            [
                ("tl.trans(f)", f32(FN.T)),
                ("f.T", f32(FN.T)),
                ("tl.permute(f.reshape(4, 2, 4), (2, 0, 1))", f32(FN.reshape(4, 2, 4).transpose(2, 0, 1))),
                ("tl.trans(f.reshape(2, 2, 8), 1, 2, 0)", f32(FN.reshape(2, 2, 8).transpose(1, 2, 0))),
                ("tl.trans(f.reshape(2, 2, 8))", f32(FN.reshape(2, 2, 8).swapaxes(1, 2))),
            ],
        ),
        tile_case(
            "join_order",
            [
                ("tl.join(f, -f)", f32(joined)),
                ("tl.interleave(f, -f)", f32(joined.reshape(4, 16))),
                ("lo", f32(FN.reshape(4, 4, 2)[..., 0])),
                ("hi", f32(FN.reshape(4, 4, 2)[..., 1])),
            ],
            setup="lo, hi = tl.split(f.reshape(4, 4, 2))",
        ),
        tile_case(
            "broadcast_order",
            [
                ("rows * 10 + cols", i32(np.arange(4)[:, None] * 10 + vector)),
                ("tl.broadcast_to(rows, (4, 8))", i32(np.broadcast_to(np.arange(4)[:, None], (4, 8)))),
                ("f + tl.arange(0, 8)", f32(FN + vector.astype(np.float32))),
                ("tl.where(cols < 3, f, 0.0)", f32(np.where(vector < 3, FN, 0))),
                ("tl.expand_dims(f, 1)", f32(FN[:, None, :])),
            ],
        ),
        tile_case(
            "flip_order",
            [
                ("tl.flip(f, 1)", f32(FN[:, ::-1])),
                ("tl.flip(f, 0)", f32(FN[::-1])),
                ("tl.flip(k, -1)", i32(IN[:, ::-1])),
            ],
        ),
        tile_case(
            "cat_order_is_free",
            [("tl.sort(tl.cat(tl.arange(0, 8), tl.arange(8, 16), can_reorder=True))", i32(np.arange(16)))],
        ),
        tile_case(
            "gather",
            [
                ("tl.gather(f, (k + 50) % 8, 1)", f32(np.take_along_axis(FN, (IN + 50) % 8, 1))),
                ("tl.gather(f, (k + 50) % 4, 0)", f32(np.take_along_axis(FN, (IN + 50) % 4, 0))),
                ("tl.gather(tl.arange(0, 8) * 3, 7 - tl.arange(0, 8), 0)", i32(np.arange(8)[::-1] * 3)),
            ],
        ),
    ]


def reductions() -> list[ValueCase]:
    """Reductions along each axis and over all."""
    ties = np.array([[1, 3, 3, 2, 3, 0, 1, 1]] * 4, dtype=np.float32)
    return [
        tile_case(
            "sums",
            [
                ("tl.sum(f, 1)", f32(FN.sum(1))),
                ("tl.sum(f, 0)", f32(FN.sum(0))),
                ("tl.sum(f)", f32(FN.sum())),
                ("tl.sum(f, 1, keep_dims=True)", f32(FN.sum(1, keepdims=True))),
                ("tl.sum(k, -1)", i32(IN.sum(1))),
                ("tl.sum(k > 0, 1)", array("uint32", (IN > 0).sum(1))),
                ("tl.sum(k.to(tl.int8), 0)", i32(IN.sum(0))),
                ("tl.sum(f.reshape(2, 2, 8), 1)", f32(FN.reshape(2, 2, 8).sum(1))),
            ],
        ),
        tile_case(
            "narrow_sums_wrap_in_int32",
            [
                ("tl.sum(tl.full((8,), 100, tl.int8), 0)", i32(800)),
                ("tl.sum(tl.full((8,), 200, tl.uint8), 0)", array("uint32", 1600)),
                ("tl.sum(tl.full((8,), 100, tl.int8), 0, dtype=tl.int8)", array("int8", 32)),
            ],
        ),
        tile_case(
            "half_sums_stay_half",
            [
                ("tl.sum(tl.full((4,), 2048.0, tl.float16), 0)", array("fp16", 8192.0)),
                ("tl.sum(tl.full((64,), 2048.0, tl.float16), 0)", array("fp16", float("inf"))),
                ("tl.sum(tl.full((64,), 2048.0, tl.float16), 0, dtype=tl.float32)", f32(131072.0)),
            ],
        ),
        tile_case(
            "maxima",
            [
                ("tl.max(f, 1)", f32(FN.max(1))),
                ("tl.min(f, 0)", f32(FN.min(0))),
                ("tl.max(k)", i32(IN.max())),
                ("tl.min(k, 1, keep_dims=True)", i32(IN.min(1, keepdims=True))),
                ("tl.max(f.to(tl.float16), 1)", f32(FN.max(1))),
            ],
        ),
        tile_case(
            "maxima_drop_nan",
            [
                ("tl.max(g, 1)", f32(np.nanmax(np.where(FN > 20, np.nan, FN), 1))),
                ("tl.min(g, 1)", f32(np.nanmin(np.where(FN > 20, np.nan, FN), 1))),
                ("tl.sum(g, 1)", f32(np.where(FN > 20, np.nan, FN).sum(1))),
            ],
            setup='g = tl.where(f > 20.0, float("nan"), f)',
        ),
        tile_case(
            "arg_maxima",
            [
                ("tl.argmax(f, 1)", i32(FN.argmax(1))),
                ("tl.argmin(f, 0)", i32(FN.argmin(0))),
                ("tl.argmax(k, 1, keep_dims=True)", i32(IN.argmax(1, keepdims=True))),
                ("v", f32(FN.max(1))),
                ("i", i32(FN.argmax(1))),
            ],
            setup="v, i = tl.max(f, 1, return_indices=True)",
        ),
        tile_case(
            "arg_maxima_of_ties",
            [("tl.argmax(t, 1)", i32(ties.argmax(1))), ("tl.argmin(t, 1)", i32(ties.argmin(1)))],
            setup="t = tl.where(cols == 0, 1, tl.where((cols == 1) | (cols == 2) | (cols == 4), 3,"
            " tl.where(cols == 3, 2, tl.where(cols == 5, 0, 1)))) + rows * 0.0",
        ),
        tile_case(
            "bit_reductions",
            [
                ("tl.xor_sum(k, 1)", i32(np.bitwise_xor.reduce(IN, 1))),
                ("tl.xor_sum(k)", i32(np.bitwise_xor.reduce(IN.reshape(-1)))),
                ("tl.reduce_or(k, 0)", i32(np.bitwise_or.reduce(IN, 0))),
            ],
        ),
        tile_case(
            "own_reductions",
            [
                ("tl.reduce(k, 1, absolute_max)", i32(np.abs(IN).max(1))),
                ("v", f32(FN.max(1))),
                ("i", i32(FN.argmax(1))),
            ],
            setup="v, i = tl.reduce((f, tl.broadcast_to(cols, (4, 8))), 1, larger)",
            prelude=_COMBINES,
        ),
    ]


_COMBINES = """@triton.jit
def absolute_max(a, b):
    return tl.maximum(tl.abs(a), tl.abs(b))

@triton.jit
def larger(a, i, b, j):
    pick = a > b
    return tl.where(pick, a, b), tl.where(pick, i, j)

@triton.jit
def compose(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2

"""


def scans() -> list[ValueCase]:
    """Inclusive scans, also backwards and of pairs."""
    small = (IN % 3).astype(np.int32)
    first, second = np.ones((4, 8), np.int32), np.zeros((4, 8), np.int32)
    for row in range(4):
        a, b = 1, 0
        for col in range(8):
            a, b = a * int(small[row, col]), int(small[row, col]) * b + int(IN[row, col])
            first[row, col], second[row, col] = a, b
    return [
        tile_case(
            "cumulative_sums",
            [
                ("tl.cumsum(f, 1)", f32(FN.cumsum(1))),
                ("tl.cumsum(f, 0)", f32(FN.cumsum(0))),
                ("tl.cumsum(k, 1, reverse=True)", i32(IN[:, ::-1].cumsum(1)[:, ::-1])),
                ("tl.cumsum(k, 0, reverse=True)", i32(IN[::-1].cumsum(0)[::-1])),
                ("tl.cumsum(k.to(tl.int8), 1)", i32(IN.cumsum(1))),
                ("tl.cumprod(s, 1)", i32(small.cumprod(1))),
                ("tl.cumsum(k > 0, 1)", array("uint32", (IN > 0).cumsum(1))),
            ],
            setup="s = tl.where(k % 3 < 0, k % 3 + 3, k % 3)",
        ),
        tile_case(
            "narrow_products_wrap",
            [("tl.cumprod(tl.full((4,), 7, tl.int8), 0)", array("int8", [7, 49, 87, 97]))],
        ),
        tile_case(
            "scan_of_pairs",
            [("a", i32(first)), ("b", i32(second))],
            setup="s = tl.where(k % 3 < 0, k % 3 + 3, k % 3)\na, b = tl.associative_scan((s, k), 1, compose)",
            prelude=_COMBINES,
        ),
        tile_case(
            "running_maximum",
            [
                (
                    "tl.associative_scan(k, 1, absolute_max)",
                    i32(np.maximum.accumulate(np.abs(np.where(np.arange(8) > 0, IN, np.abs(IN))), 1)),
                )
            ],
            setup="k = tl.abs(k)",
            prelude=_COMBINES,
        ),
    ]


def sorting() -> list[ValueCase]:
    """Sorting, top values, histograms."""
    counts = np.bincount((IN.reshape(-1) + 50) % 16, minlength=16)
    masked = np.bincount(((IN + 50) % 16)[:, :4].reshape(-1), minlength=16)
    return [
        tile_case(
            "sorting",
            [
                ("tl.sort(f)", f32(np.sort(FN, 1))),
                ("tl.sort(k, descending=True)", i32(-np.sort(-IN, 1))),
                ("tl.sort(tl.ravel(f))", f32(np.sort(FN.reshape(-1)))),
                ("tl.topk(f, 2)", f32(-np.sort(-FN, 1)[:, :2])),
                ("tl.sort(k.to(tl.int8), 1)", array("int8", np.sort(IN, 1))),
            ],
        ),
        tile_case(
            "histograms",
            [
                ("tl.histogram(tl.ravel((k + 50) % 16), 16)", i32(counts)),
                (
                    "tl.histogram(tl.ravel((k + 50) % 16), 16, mask=tl.ravel((cols < 4) & (rows >= 0)))",
                    i32(masked),
                ),
            ],
        ),
    ]


def softmaxes() -> list[ValueCase]:
    """softmax along axis 0 by default."""

    def softmax(values: np.ndarray, axis: int) -> np.ndarray:
        e = np.exp(values.astype(np.float64) - values.max(axis, keepdims=True))
        return e / e.sum(axis, keepdims=True)

    return [
        tile_case(
            "softmax",
            [
                ("tl.softmax(f)", f32(softmax(FN, 0))),
                ("tl.softmax(f, 1, keep_dims=True)", f32(softmax(FN, 1))),
            ],
            rtol=1e-5,
        )
    ]


CASES = [*shapes(), *reductions(), *scans(), *sorting(), *softmaxes()]
