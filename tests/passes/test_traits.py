"""What ops declare about their algebra holds for every format and every pair of edge values: passes believe it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.ops.edges import edge_values, pairs, same_bits
from tritium.ir.core import Function
from tritium.ir.types import DTYPES, DType, tile
from tritium.numerics.cast import cast as cast_array
from tritium.ops.base import BATCH_AXES, REGISTRY, TileOp
from tritium.ops.elementwise import Elementwise
from tritium.ops.storage import storage_dtype


def instances() -> list[tuple[str, TileOp, DType]]:
    """Every op with two operands of one type, in each of its formats."""
    found: list[tuple[str, TileOp, DType]] = []
    for name, cls in REGISTRY.items():
        if not issubclass(cls, Elementwise) or len(cls.operand_fields) != 2:
            continue
        for ty in DTYPES.values():
            if ty.text not in cls.formats:
                continue
            function = Function("k")
            values = [function.add_arg(tile(ty, (4,)), n) for n in "xy"]
            for attrs in ({}, {"propagate_nan": True}) if hasattr(cls, "propagate_nan") else ({},):
                found.append((f"{name}-{ty.text}{'-nan' if attrs else ''}", cls(*values, **attrs), ty))
    return found


ALL = instances()


def where(holds: Callable[[TileOp, DType], Any]) -> Any:
    """The parameters of a test of the ops for which something is declared."""
    chosen = [pytest.param(op, ty, id=name) for name, op, ty in ALL if holds(op, ty)]
    return pytest.mark.parametrize("op, ty", chosen)


def unit_of(op: TileOp, ty: DType) -> float | None:
    return op.float_unit if ty.is_floating() else op.unit


def run(op: TileOp, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    shape = (1,) * BATCH_AXES + (-1,)
    with np.errstate(all="ignore"):
        return op.eval(x.reshape(shape), y.reshape(shape)).reshape(-1)


def number(value: float, ty: DType) -> np.ndarray[Any, Any]:
    if ty.is_int():
        return np.array([value], storage_dtype(ty))
    return cast_array(np.array([value], np.float64), "f64", ty.text)


def filled(value: float, ty: DType, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.repeat(number(value, ty), like.size)


@where(lambda op, ty: unit_of(op, ty) is not None)
def test_unit(op: TileOp, ty: DType) -> None:
    unit = unit_of(op, ty)
    assert unit is not None
    x = edge_values(ty)
    assert same_bits(run(op, x, filled(unit, ty, x)), x)
    if op.commutative:
        assert same_bits(run(op, filled(unit, ty, x), x), x)


@where(lambda op, ty: op.absorbing is not None and ty.is_int())
def test_absorbing(op: TileOp, ty: DType) -> None:
    assert op.absorbing is not None
    x = edge_values(ty)
    zero = filled(op.absorbing, ty, x)
    assert same_bits(run(op, x, zero), zero)
    if op.commutative:
        assert same_bits(run(op, zero, x), zero)


@where(lambda op, ty: op.idempotent)
def test_idempotent(op: TileOp, ty: DType) -> None:
    x = edge_values(ty)
    assert same_bits(run(op, x, x), x)


@where(lambda op, ty: op.commutative)
def test_commutative(op: TileOp, ty: DType) -> None:
    x, y = pairs(edge_values(ty), edge_values(ty))
    assert same_bits(run(op, x, y), run(op, y, x))


@where(lambda op, ty: op.associative and ty.is_int())
def test_associative_on_integers(op: TileOp, ty: DType) -> None:
    x, y = pairs(edge_values(ty), edge_values(ty))
    for z in edge_values(ty):
        last = np.repeat(np.array([z]), x.size)
        assert same_bits(run(op, run(op, x, y), last), run(op, x, run(op, y, last)))


def test_the_traits_are_there_to_be_tested() -> None:
    cells = [(op, ty) for _, op, ty in ALL]
    assert sum(op.unit is not None for op, ty in cells if ty.is_int()) > 80
    assert sum(op.float_unit is not None for op, ty in cells if ty.is_floating()) > 12
    assert sum(op.absorbing is not None for op, ty in cells if ty.is_int()) > 40
    assert sum(op.idempotent for op, _ in cells) > 20 and sum(op.commutative for op, _ in cells) > 60
