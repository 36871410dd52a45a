"""Every elementwise op in every format, on the edge values of the format: bit for bit what the interpreter gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.ops.edges import edge_values, pairs, same_bits
from tritium.ir.types import DTYPES, DType
from tritium.ops import arithmetic, bitwise, compare, math, minmax, select
from tritium.ops.base import TileOp
from tritium.ops.cast import Bitcast, Cast
from tritium.ops.random import Philox

from .native import both, elementwise

FORMATS = {d.text: d for d in DTYPES.values() if d.primitive_bitwidth}
BINARY: tuple[type[TileOp], ...] = (
    *(arithmetic.Add, arithmetic.Sub, arithmetic.Mul, arithmetic.Div, arithmetic.IntDiv, arithmetic.Rem),
    *(bitwise.And, bitwise.Or, bitwise.Xor, bitwise.Shl, bitwise.Shr, minmax.Minimum, minmax.Maximum),
    *(
        compare.Equal,
        compare.NotEqual,
        compare.Less,
        compare.LessEqual,
        compare.Greater,
        compare.GreaterEqual,
    ),
)
EXACT_UNARY: tuple[type[TileOp], ...] = (math.Abs, math.Floor, math.Ceil, math.Sqrt)


def _computes(cls: Any, ty: DType) -> bool:
    return ty.text in cls.formats


def _agree(make: Callable[..., TileOp], types: list[DType], inputs: list[np.ndarray]) -> None:
    extent = inputs[0].size
    function = elementwise(make, types, extent)
    stores = [op for op in function.body.ops if op.name == "tile.store"]
    outputs = [(op.operands[1].type, extent) for op in stores]
    native, reference = both(function, inputs, outputs)
    for have, want in zip(native, reference, strict=True):
        if not same_bits(have, want):
            wrong = [i for i in range(extent) if not same_bits(have[i : i + 1], want[i : i + 1])]
            at = wrong[0]
            given = [str(x[at]) for x in inputs]
            raise AssertionError(f"{len(wrong)} of {extent}: {given} gives {have[at]}, expected {want[at]}")


CASES = [(cls, ty) for cls in BINARY for ty in FORMATS.values() if _computes(cls, ty)]


@pytest.mark.parametrize(("cls", "ty"), CASES, ids=[f"{c.name[5:]}-{t.text}" for c, t in CASES])
def test_binary(cls: type[TileOp], ty: DType) -> None:
    edges = edge_values(ty)
    x, y = pairs(edges, edges if edges.size < 64 else edges[::5])
    _agree(cls, [ty, ty], [x[:5001], y[:5001]])


@pytest.mark.parametrize("ty", FORMATS.values(), ids=str)
@pytest.mark.parametrize("cls", [minmax.Minimum, minmax.Maximum], ids=["min", "max"])
def test_extremum_with_nan(cls: type[TileOp], ty: DType) -> None:
    edges = edge_values(ty)
    x, y = pairs(edges, edges if edges.size < 64 else edges[::5])
    _agree(lambda a, b: cls(a, b, propagate_nan=True), [ty, ty], [x[:5001], y[:5001]])


UNARY_CASES = [(cls, ty) for cls in EXACT_UNARY for ty in FORMATS.values() if _computes(cls, ty)]


@pytest.mark.parametrize(("cls", "ty"), UNARY_CASES, ids=[f"{c.name[5:]}-{t.text}" for c, t in UNARY_CASES])
def test_unary(cls: type[TileOp], ty: DType) -> None:
    _agree(cls, [ty], [np.tile(edge_values(ty), 3)])


FLOATS = [t for t in FORMATS.values() if t.is_floating()]


@pytest.mark.parametrize("ty", FLOATS, ids=str)
def test_fma(ty: DType) -> None:
    edges = edge_values(ty)[:: 1 if ty.primitive_bitwidth > 8 else 9]
    x, y = pairs(edges, edges)
    z = np.resize(edges, x.size * 3)
    _agree(arithmetic.Fma, [ty, ty, ty], [np.tile(x, 3), np.tile(y, 3), z])


@pytest.mark.parametrize("ty", FORMATS.values(), ids=str)
def test_clamp_and_select(ty: DType) -> None:
    edges = edge_values(ty)[:: 1 if ty.primitive_bitwidth > 8 else 11]
    x, y = pairs(edges, edges)
    z = np.resize(edges[::-1], x.size)
    if ty.is_floating():
        _agree(minmax.Clamp, [ty, ty, ty], [x, y, z])
    chosen = np.resize(np.array([True, False, False]), x.size)
    _agree(select.Select, [FORMATS["i1"], ty, ty], [chosen, x, y])


CASTS = [(a, b, r) for a in FORMATS.values() for b in FORMATS.values() for r in ("rtne", "rtz")
         if r == "rtne" or (a.is_floating() and b.is_floating() and b.primitive_bitwidth < a.primitive_bitwidth)]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "target", "rounding"), CASTS, ids=[f"{a.text}-{b.text}-{r}" for a, b, r in CASTS]
)
def test_cast(source: DType, target: DType, rounding: str) -> None:
    x = edge_values(source)
    if (source.is_floating() and target.primitive_bitwidth < source.primitive_bitwidth) or target.is_int():
        x = np.concatenate([x, _between(source, target)])
    _agree(lambda v: Cast(v, to=target, rounding=rounding), [source], [x])


def _between(source: DType, target: DType) -> np.ndarray:
    """Numbers of `source` on, between and next to the edge values of `target`."""
    if not source.is_floating() or source.primitive_bitwidth < 32:
        return edge_values(source)
    from tritium.numerics.cast import cast

    fmt = "f64" if source.text == "f64" else "f32"
    with np.errstate(all="ignore"):
        near = cast(edge_values(target), target.text, fmt)
        near = near[np.isfinite(near)]
        middle = (near[:, None] / 2 + near[None, :] / 2).reshape(-1)[:4000]
        return np.concatenate([near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf), middle])


BITCASTS = [(a, b) for a in FORMATS.values() for b in FORMATS.values()
            if a.primitive_bitwidth == b.primitive_bitwidth]  # fmt: skip


@pytest.mark.parametrize(("source", "target"), BITCASTS, ids=[f"{a.text}-{b.text}" for a, b in BITCASTS])
def test_bitcast(source: DType, target: DType) -> None:
    _agree(lambda v: Bitcast(v, to=target), [source], [edge_values(source)])


@pytest.mark.parametrize("name", ["u32", "u64"])
def test_philox(name: str) -> None:
    ty = FORMATS[name]
    rng = np.random.default_rng(5)
    words = [
        rng.integers(0, 2**ty.primitive_bitwidth - 1, 77, dtype=f"u{ty.primitive_bitwidth // 8}")
        for _ in range(6)
    ]
    _agree(Philox, [ty] * 6, words)


@pytest.mark.parametrize("name", ["u32", "u64"])
def test_high_product(name: str) -> None:
    ty = FORMATS[name]
    x, y = pairs(edge_values(ty), edge_values(ty))
    _agree(arithmetic.UMulHi, [ty, ty], [x, y])
