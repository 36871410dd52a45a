"""Every elementwise op in every format: what it returns fits its type rule, lazily repeated axes change nothing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tritium.ops
from ops.edges import edge_values, same_bits
from ops.emulate import NUMBERS, check_array
from tritium.ir.core import Region
from tritium.ir.types import DType, dtype_named, int1, int32, tile
from tritium.numerics.formats import FORMATS
from tritium.ops.arithmetic import IntDiv
from tritium.ops.base import REGISTRY, TypeRuleError
from tritium.ops.bitwise import And
from tritium.ops.cast import Bitcast, Cast
from tritium.ops.compare import Compare
from tritium.ops.elementwise import Elementwise
from tritium.ops.select import Select
from tritium.ops.storage import constant

assert tritium.ops

ELEMENTWISE = [cls for cls in REGISTRY.values() if issubclass(cls, Elementwise)]
CASES = [(cls, text) for cls in ELEMENTWISE for text in cls.formats]
DIMS = (3, 4)
LAZY = [(1, 1, 1, 3, 4), (2, 1, 1, 1, 4), (1, 1, 2, 3, 1)]


def sample(ty: DType, shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).choice(edge_values(ty), shape)


def build(cls, types, **attrs):
    region = Region()
    return cls(*(region.add_arg(tile(ty, DIMS)) for ty in types), **attrs)


def check(op, inputs: list[np.ndarray]) -> None:
    """Evaluate on lazy and on full arrays."""
    whole = np.broadcast_shapes(*(x.shape for x in inputs))
    kept = [x.copy() for x in inputs]
    lazy = op.eval(*inputs)
    for before, after in zip(kept, inputs, strict=True):
        assert before.tobytes() == after.tobytes(), "an operand was changed"
    check_array(op, op.result, lazy)
    full = op.eval(*(np.ascontiguousarray(np.broadcast_to(x, whole)) for x in inputs))
    assert same_bits(np.broadcast_to(lazy, whole), np.broadcast_to(full, whole))


@pytest.mark.parametrize(("cls", "text"), CASES, ids=[f"{c.name[5:]}-{t}" for c, t in CASES])
def test_results_fit_the_type_rule(cls, text):
    ty = dtype_named(text)
    n = len(cls.operand_fields)
    op = build(cls, [ty] * n)
    assert op.result.type == tile(int1 if issubclass(cls, Compare) else ty, DIMS)
    check(op, [sample(ty, shape, i) for i, shape in zip(range(n), itertools.cycle(LAZY))])


@pytest.mark.parametrize("source", NUMBERS, ids=lambda t: t.text)
@pytest.mark.parametrize("target", NUMBERS, ids=lambda t: t.text)
def test_casts_fit_the_type_rule(source, target):
    for rounding in ("rtne", "rtz"):
        op = build(Cast, [source], to=target, rounding=rounding)
        assert op.result.type == tile(target, DIMS)
        check(op, [sample(source, LAZY[1], 1)])
    if source.primitive_bitwidth == target.primitive_bitwidth:
        op = build(Bitcast, [source], to=target)
        assert op.result.type == tile(target, DIMS)
        check(op, [sample(source, LAZY[2], 2)])
    else:
        with pytest.raises(TypeRuleError):
            build(Bitcast, [source], to=target)


@pytest.mark.parametrize("ty", NUMBERS, ids=lambda t: t.text)
def test_selection_fits_the_type_rule(ty):
    op = build(Select, [int1, ty, ty])
    check(op, [sample(int1, LAZY[2], 0), sample(ty, LAZY[0], 1), sample(ty, LAZY[1], 2)])


@pytest.mark.parametrize("cls", ELEMENTWISE, ids=lambda c: c.name[5:])
def test_other_formats_and_mixed_types_are_refused(cls):
    n = len(cls.operand_fields)
    for text in set(FORMATS) - set(cls.formats):
        with pytest.raises(TypeRuleError, match="computes in"):
            build(cls, [dtype_named(text)] * n)
    first = dtype_named(cls.formats[0])
    with pytest.raises(TypeRuleError):
        region = Region()
        cls(
            *(region.add_arg(tile(first, (3, i + 1))) for i in range(n - 1)),
            region.add_arg(tritium.ir.types.pointer(first)),
        )


@pytest.mark.parametrize("cls", ELEMENTWISE, ids=lambda c: c.name[5:])
def test_algebraic_traits_hold(cls):
    """unit, absorbing, idempotent and commutative are true of every edge value, to the bit."""
    if len(cls.operand_fields) != 2:
        return
    for text in cls.formats:
        ty = dtype_named(text)
        op = build(cls, [ty, ty])
        x = edge_values(ty).reshape(1, 1, 1, -1)
        if not issubclass(cls, Compare):
            check_number(op, x, op.float_unit if ty.is_floating() else op.unit, lambda x, u: x)
            check_number(
                op, x, None if ty.is_floating() else op.absorbing, lambda x, a: np.broadcast_to(a, x.shape)
            )
            if cls.idempotent:
                assert same_bits(op.eval(x, x), x)
        if cls.commutative:
            y = x.reshape(1, 1, 1, -1, 1)
            assert same_bits(op.eval(x[..., None, :], y), op.eval(y, x[..., None, :]))


def check_number(op, x, number, want) -> None:
    if number is None:
        return
    u = constant(number, tile(op.operands[0].type.scalar, (1,)))
    assert same_bits(op.eval(x, u), want(x, u))
    if op.commutative:
        assert same_bits(op.eval(u, x), want(x, u))


@pytest.mark.parametrize("text", ["i1", "i8", "i16", "u8", "u16"])
def test_associative_integer_ops_are(text):
    ty = dtype_named(text)
    v = edge_values(ty)
    x, y, z = (v.reshape(tuple(-1 if i == axis else 1 for i in range(6))) for axis in (3, 4, 5))
    for cls in ELEMENTWISE:
        if cls.associative and text in cls.formats:
            op = build(cls, [ty, ty])
            assert same_bits(op.eval(op.eval(x, y), z), op.eval(x, op.eval(y, z))), cls.name


@pytest.mark.parametrize("text", FORMATS)
def test_comparisons_state_their_relatives(text):
    ty = dtype_named(text)
    v = edge_values(ty)
    x, y = v.reshape(1, 1, 1, -1, 1), v.reshape(1, 1, 1, 1, -1)
    with np.errstate(all="ignore"):
        ordered = ~((x != x) | (y != y)) if text != "f8e4b15" else np.ones((1, 1, 1, v.size, v.size), bool)
    for cls in [c for c in ELEMENTWISE if issubclass(c, Compare)]:
        here = build(cls, [ty, ty]).eval(x, y)
        assert np.array_equal(here, build(cls.swapped, [ty, ty]).eval(y, x))
        assert np.array_equal(here[ordered], ~build(cls.negated, [ty, ty]).eval(x, y)[ordered])


def test_traits_that_depend_on_the_format():
    assert build(And, [int32, int32]).unit == -1
    assert build(And, [int1, int1]).unit == 1
    assert build(IntDiv, [int32, int32]).unit == 1
