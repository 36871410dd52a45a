"""Which tile values are computed where they are asked for, and which are kept in scratch memory.

A value is *materialised* when it must be (something reads it at computed places, it lives across a loop, memory that
it was loaded from changes before it is used) or when computing it again costs more than keeping it. Everything else
is *fused*: it exists only inside the loops of its consumers.
"""

from __future__ import annotations

from tritium.analysis.access import AccessAnalysis
from tritium.analysis.alias import AliasAnalysis
from tritium.ir.core import Function, Op, Region, Value
from tritium.ops import arithmetic, cast, control, create, hints, index, join, math, memory, reshape, shape
from tritium.ops.atomic import AtomicCas, AtomicRmw
from tritium.ops.base import Effect, TileOp
from tritium.ops.debug import ExpectZero
from tritium.ops.dot import Dot
from tritium.ops.gather import Gather
from tritium.ops.histogram import Histogram
from tritium.ops.libdevice import LibraryCall
from tritium.ops.map import MapElementwise
from tritium.ops.random import Philox
from tritium.ops.reduce import Reduce
from tritium.ops.scan import Scan
from tritium.ops.select import Select
from tritium.ops.sort import Sort

ALWAYS = (Dot, Reduce, Scan, Sort, Histogram, AtomicRmw, AtomicCas, join.Cat,
          MapElementwise, control.For, control.While, control.If)  # fmt: skip
"""Ops whose tile results live in scratch memory."""

MOVES = (
    *(shape.Broadcast, shape.ExpandDims, shape.Permute, shape.Flip, index.Slice, reshape.Reshape),
    *(hints.Hint, ExpectZero, join.Split),
)
"""Ops that only say which element of their operand is meant."""

SEVERAL = "several ops use it"
LOAD_WEIGHT = 4
NEAR_LOAD_WEIGHT = 3
"""Of a load of neighbours: reading the array again is as cheap as reading a copy."""

CHEAP = 3
"""A fused value of at most this weight is computed again for each use."""

_HEAVY: dict[type[Op], int] = {
    math.Exp: 20, math.Exp2: 16, math.Log: 25, math.Log2: 25, math.Sin: 40, math.Cos: 40, math.Sqrt: 10,
    math.Rsqrt: 15, math.Erf: 40, arithmetic.Div: 8, arithmetic.IntDiv: 12, arithmetic.Rem: 14,
    Philox: 80, LibraryCall: 60, MapElementwise: 40, join.Join: 4, Gather: 6,
}  # fmt: skip


def is_reshape_of_ones(op: reshape.Reshape) -> bool:
    """Whether only axes of extent 1 come or go."""
    return [d for d in op.x.type.shape if d > 1] == [d for d in op.shape if d > 1]


class Plan:
    """``value in plan.kept`` for one function.

    kept     materialised values
    reasons  why, by value, as a phrase for reports
    """

    def __init__(self, function: Function, distinct: bool) -> None:
        self.function = function
        self.distinct = distinct
        pointers = [i for i, a in enumerate(function.args) if _is_pointer(a)]
        self.alias = AliasAnalysis(function, pointers if distinct else ())
        self.access = AccessAnalysis(function)
        self.kept: dict[Value, None] = {}
        self.reasons: dict[Value, str] = {}
        self.weights: dict[Value, int] = {}
        self._region(function.body)

    def _region(self, region: Region) -> None:
        for op in region.ops:
            for nested in op.regions:
                if not isinstance(op, (Reduce, Scan, MapElementwise)):
                    self._region(nested)
            for r in op.results:
                if r.type.shape:
                    self._value(op, r)

    def _keep(self, value: Value, why: str) -> None:
        self.kept[value] = None
        self.reasons[value] = why
        self.weights[value] = 1

    def _value(self, op: Op, r: Value) -> None:
        if isinstance(op, ALWAYS):
            self._keep(r, "it is the result of an op that needs all its elements")
            return
        weight = self._weight(op)
        self.weights[r] = weight
        if not r.uses:
            return
        if any(_needs_memory(user, at) for user, at in r.uses):
            self._keep(r, "its elements are read at computed places")
        elif isinstance(op, memory.Load) and (why := self._cannot_wait(op)):
            self._keep(r, why)
        elif weight > CHEAP:
            outer = [u for u, _ in r.uses if u.parent is not op.parent]
            if outer:
                self._keep(r, "a loop or branch uses it")
            elif len(r.uses) > 1:
                self._keep(r, SEVERAL)
            elif weight > 2 * LOAD_WEIGHT and any(_expands(u) for u, _ in r.uses):
                self._keep(r, "it is spread over an axis")

    def _weight(self, op: Op) -> int:
        if isinstance(op, (create.Constant, create.Arange, control.Poison)):
            return 0
        inner = sum(self.weights.get(v, 1 if v.type.shape else 0) for v in op.operands)
        if isinstance(op, memory.Load):
            return inner + (NEAR_LOAD_WEIGHT if self._of_neighbours(op) else LOAD_WEIGHT)
        if isinstance(op, MOVES):
            return inner
        if isinstance(op, (memory.AddPtr, arithmetic.Add, arithmetic.Sub, arithmetic.Mul)) and not _is_float(
            op
        ):
            return inner  # address arithmetic mostly folds away
        if isinstance(op, cast.Cast | Select):
            return inner + 1
        return inner + _HEAVY.get(type(op), 0 if not _is_float(op) else 2)

    def _of_neighbours(self, load: memory.Load) -> bool:
        access = self.access.accesses.get(load)
        return access is not None and access.affine and bool(access.axes) and access.axes[-1].contiguous

    # ---- loads that are fused into a later consumer ------------------------------------------------------

    def _cannot_wait(self, load: memory.Load) -> str:
        """Why the load cannot happen where its value is used; "" if it can."""
        if load.volatile:
            return "it is volatile"
        roots = self.consumers(load.result)
        if any(r.parent is not load.parent for r in roots):
            return "a loop or branch uses it"
        if not roots:
            return ""
        assert load.parent is not None
        ops = load.parent.ops
        start = ops.index(load)
        last = max(ops.index(r) for r in roots)
        for op in ops[start + 1 : last + 1]:
            if self.disturbs(op, load) and not (op in roots and self._same_place(op, load)):
                return "memory may change before its value is used"
        return ""

    def consumers(self, value: Value) -> list[Op]:
        """The ops that `value` is computed for in the end: each walks over it in a nest of its own."""
        found: dict[Op, None] = {}
        work, seen = [value], {value}
        while work:
            for user, _ in work.pop().uses:
                tiles = user.results and user.results[0].type.shape
                if not tiles or isinstance(user, (*ALWAYS, control.Yield)) or user.regions:
                    found[user] = None
                    continue
                for r in user.results:
                    if r not in seen:
                        seen.add(r)
                        work.append(r)
        return list(found)

    def serves_only(self, value: Value, op: Op) -> bool:
        """Whether `value` would be kept for uses in the nest of `op` alone, which computes it once anyway."""
        return self.reasons.get(value) == SEVERAL and self.consumers(value) == [op]

    def disturbs(self, op: Op, load: memory.Load) -> bool:
        for inner in op.walk():
            assert isinstance(inner, TileOp)
            if inner.regions:
                continue
            effects = inner.effects()
            if effects & Effect.BARRIER or effects & Effect.VOLATILE:
                return True
            writes = effects & (Effect.WRITE | Effect.ATOMIC)
            if writes and (not inner.operands or self.alias.may_overlap(inner.operands[0], load.ptr)):
                return True
        return False

    def _same_place(self, op: Op, load: memory.Load) -> bool:
        """Whether the store `op` writes each element just where `load` read it, and no two lanes meet."""
        if not isinstance(op, memory.Store) or op.ptr is not load.ptr:
            return False
        if not self.elementwise_path(op.value, load.result):
            return False
        return self.injective(op)

    def elementwise_path(self, value: Value, load: Value) -> bool:
        """Whether every element of `value` depends on the same element of `load` alone."""
        if value is load:
            return True
        op = value.defining_op
        if op is None or isinstance(op, (memory.Load, *ALWAYS)) or not value.type.shape:
            return True
        if isinstance(op, (*MOVES, Gather, join.Join)) or op.regions:
            return not any(self.reaches(v, load) for v in op.operands)
        return all(self.elementwise_path(v, load) for v in op.operands)

    def reaches(self, value: Value, load: Value) -> bool:
        if value is load:
            return True
        op = value.defining_op
        if op is None or op.regions or isinstance(op, ALWAYS):
            return False
        return any(self.reaches(v, load) for v in op.operands)

    def injective(self, op: Op) -> bool:
        """Whether no two lanes of an access share an address."""
        access = self.access.accesses.get(op)
        if access is None or not access.affine:
            return False
        strides = []
        for axis in access.axes:
            stride = axis.stride.as_constant
            if axis.extent == 1:
                continue
            if stride is None or stride == 0:
                return False
            strides.append((abs(stride), axis.extent))
        reach = 0
        for stride, extent in sorted(strides):
            if stride <= reach:
                return False
            reach += stride * (extent - 1)
        return True


def _is_pointer(v: Value) -> bool:
    from tritium.ir.types import PointerType

    return isinstance(v.type.scalar, PointerType)


def _is_float(op: Op) -> bool:
    scalar = op.operands[0].type.scalar if op.operands else None
    return bool(scalar is not None and not _is_pointer(op.operands[0]) and scalar.is_floating())  # type: ignore[union-attr]


def _expands(op: Op) -> bool:
    return isinstance(op, shape.Broadcast) and bool(op.x.type.shape)


def _needs_memory(op: Op, at: int) -> bool:
    if isinstance(op, reshape.Reshape):
        return bool(op.result.type.shape) and not is_reshape_of_ones(op)
    if isinstance(op, Gather):
        return at == 0
    return isinstance(op, (index.Extract, Sort))
