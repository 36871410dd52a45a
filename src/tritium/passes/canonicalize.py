"""Simplify to one standard form: identities, constant branches, loops that do not loop, masks that say nothing.

Pre:   any tile IR. Post: no rule below applies anywhere.

::

    tile.add(%x, 0) -> %x                        a unit, from the op's traits; floats only where exact
    tile.mul(%i, 0) -> 0                         an absorbing element; integers only (NaN, infinities, -0)
    tile.if(true) { A } { B } -> A
    tile.for(0, 1, 1) { A } -> A                 one trip; no trip gives the initial values
    tile.load(%p, true, %o) -> tile.load(%p)

Algebra is read from the op classes' traits (`unit`, `float_unit`, `absorbing`, `idempotent`, `commutative`,
`only_converts`), so a new op gets its rules by declaring them.
"""

from __future__ import annotations

from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.match import Record
from tritium.ir.rewrite import ERASED, Replacement, Rewriter, RewriteSet
from tritium.ir.types import DType, Type
from tritium.ops.base import TileOp
from tritium.ops.compare import Compare
from tritium.ops.control import For, If, Poison, While
from tritium.ops.create import Constant
from tritium.ops.memory import Load, Store
from tritium.ops.select import Select
from tritium.ops.shape import Broadcast
from tritium.passes.fold_constants import RULES as FOLD
from tritium.passes.fold_constants import constant_of, is_constant

RULES = RewriteSet("canonicalize")
RULES.on_all.extend(FOLD.on_all)


def run(function: Function, record: Record | None = None) -> bool:
    """Apply the rules to a fixpoint. Whether anything changed."""
    fired = RULES.apply(function)
    if record is not None:
        for name, times in fired.items():
            record.plan("canonicalize", name if times == 1 else f"{name} ({times} times)")
    return bool(fired)


def _is_float(ty: Type) -> bool:
    scalar = ty.scalar
    return isinstance(scalar, DType) and scalar.is_floating()


@RULES.rule(name="x op unit is x")
def drop_unit(op: TileOp, r: Rewriter) -> Replacement:
    if len(op.operands) != 2 or len(op.results) != 1:
        return None
    x, y = op.operands
    unit = op.float_unit if _is_float(x.type) else op.unit
    if unit is None or x.type != op.result.type:
        return None
    if is_constant(y, unit):
        return x
    return y if op.commutative and y.type == op.result.type and is_constant(x, unit) else None


@RULES.rule(name="x op absorbing is absorbing")
def absorb(op: TileOp, r: Rewriter) -> Replacement:
    if op.absorbing is None or len(op.operands) != 2 or _is_float(op.operands[0].type):
        return None
    for v in op.operands if op.commutative else op.operands[1:]:
        if is_constant(v, op.absorbing) and v.type == op.result.type:
            return v
    return None


@RULES.rule(name="x op x is x")
def drop_repeated(op: TileOp, r: Rewriter) -> Replacement:
    if op.idempotent and len(op.operands) == 2 and op.operands[0] is op.operands[1]:
        return op.operands[0]
    return None


@RULES.rule(name="conversion to the same type")
def drop_conversion(op: TileOp, r: Rewriter) -> Replacement:
    return op.operands[0] if op.only_converts and op.operands[0].type == op.results[0].type else None


@RULES.rule(Broadcast, name="broadcast of a broadcast")
def merge_broadcasts(op: Broadcast, r: Rewriter) -> Replacement:
    inner = op.x.owner
    if not isinstance(inner, Broadcast):
        return None
    rank_kept = not inner.x.type.shape or len(inner.x.type.shape) == len(op.shape)
    return r.emit(Broadcast, inner.x, shape=op.shape) if rank_kept else None


@RULES.rule(Compare, name="comparison of a value with itself")
def compare_with_itself(op: Compare, r: Rewriter) -> Replacement:
    if op.x is not op.y or op.is_float:  # a NaN is unequal to itself
        return None
    return r.emit(Constant, value=op.relation in ("==", "<=", ">="), type=op.result.type)


@RULES.rule(Select, name="choice that is known")
def choose(op: Select, r: Rewriter) -> Replacement:
    if op.x is op.y:
        return op.x
    known = constant_of(op.condition)
    return None if known is None else op.x if known else op.y


# ---- control flow ------------------------------------------------------------------------------------


def _inline(region: Region, op: Op, args: list[Value], r: Rewriter) -> list[Value]:
    """Move the region's ops in front of `op`, its arguments standing for `args`; gives what it yields."""
    for arg, value in zip(region.args, args, strict=True):
        r.replace(arg, value)
    *body, end = region.ops
    for inner in body:
        inner.move_before(op)
    return list(end.operands)


@RULES.rule(If, name="branch on a constant")
def choose_branch(op: If, r: Rewriter) -> Replacement:
    known = constant_of(op.condition)
    if known is None:
        return None
    return _inline(op.then_region if known else op.else_region, op, [], r) or ERASED


@RULES.rule(If, name="both branches yield the same value")
def share_yields(op: If, r: Rewriter) -> Replacement:
    pairs = zip(op.results, op.then_region.ops[-1].operands, op.else_region.ops[-1].operands, strict=True)
    for result, then, other in pairs:
        same = then is other or _same_constant(then, other)
        if same and result.uses:
            outside = then if not _is_in(then, op) else _copy_constant(then, r)
            if outside is not None:
                r.replace(result, outside)
    return None


def _same_constant(a: Value, b: Value) -> bool:
    x, y = constant_of(a), constant_of(b)
    return x is not None and y is not None and a.type == b.type and type(x) is type(y) and is_constant(a, y)


def _is_in(value: Value, op: Op) -> bool:
    region = value.owner.parent if isinstance(value.owner, Op) else value.owner
    return region in op.regions


def _copy_constant(value: Value, r: Rewriter) -> Value | None:
    known = constant_of(value)
    return None if known is None else r.emit(Constant, value=known, type=value.type)


def trip_count(op: For) -> int | None:
    """How often a loop with constant bounds runs, or None if a bound is not constant."""
    lower, upper, step = (constant_of(v) for v in (op.lower, op.upper, op.step))
    if lower is None or upper is None or not step:
        return None
    distance, stride = int(upper) - int(lower), int(step)
    return max(0, -(-distance // stride))


@RULES.rule(For, name="loop of at most one trip")
def unroll_trivial(op: For, r: Rewriter) -> Replacement:
    trips = trip_count(op)
    if trips == 0:
        return list(op.inits) or ERASED
    if trips == 1:
        return _inline(op.body, op, [op.lower, *op.inits], r) or ERASED
    return None


@RULES.rule(For, name="carried value that never changes")
def free_invariant(op: For, r: Rewriter) -> Replacement:
    carried = zip(op.results, op.inits, op.body.args[1:], op.body.ops[-1].operands, strict=True)
    for result, init, arg, out in list(carried):
        if out is arg or out is init:
            r.replace(arg, init)
            r.replace(result, init)
    return None


@RULES.rule(While, name="carried value that never changes")
def free_invariant_while(op: While, r: Rewriter) -> Replacement:
    carried = zip(op.results, op.inits, op.cond.args, op.body.args, op.body.ops[-1].operands, strict=True)
    for result, init, tested, arg, out in list(carried):
        if out is arg or out is init:
            for v in (tested, arg, result):
                r.replace(v, init)
    return None


@RULES.rule(While, name="loop whose condition starts false")
def drop_while(op: While, r: Rewriter) -> Replacement:
    (test,) = op.cond.ops[-1].operands
    if constant_of(test) is not False:
        return None
    inits = list(op.inits)
    _inline(op.cond, op, inits, r)  # the condition itself is computed once, and may have effects
    return inits or ERASED


# ---- masks -------------------------------------------------------------------------------------------


@RULES.rule(Load, name="mask of a load is constant")
def simplify_load(op: Load, r: Rewriter) -> Replacement:
    known = constant_of(op.mask) if op.mask is not None else None
    if known is None:
        return None
    if known:
        return r.emit(Load, op.ptr, None, None, **op.attrs)
    return op.other if op.other is not None else r.emit(Poison, type=op.result.type)


@RULES.rule(Store, name="mask of a store is constant")
def simplify_store(op: Store, r: Rewriter) -> Replacement:
    known = constant_of(op.mask) if op.mask is not None else None
    if known is None:
        return None
    if known:
        op.set_operands([op.ptr, op.value], (1, 1, 0))
        r.rewritten(op)
        return None
    return ERASED
