"""Combine regions: what `tile.reduce` and `tile.scan` apply to two groups of scalars, and how they walk an axis.

A combine region takes 2n scalars, the n values of the left group and then those of the right, and yields n. Its
left argument always stands for elements before those of the right one, so operators need not commute.

Floating-point results depend on the order of evaluation, so it is fixed (`tritium.numerics.reduce_order`) and depends
on the region alone, not on how it is run: one commutative op folds halves onto each other, anything else combines
neighbours, and a scan combines neighbours, scans the pairs and fills in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tritium.ir.core import Op, Region
from tritium.ir.types import DType, Type
from tritium.numerics.reduce_order import tree_reduce, tree_scan
from tritium.ops.base import BATCH_AXES, Array, TileOp, TypeRuleError
from tritium.ops.control import Yield
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.semantic import Semantic, describe, is_number
from tritium.ops.surface import Surface

Arrays = tuple[Array, ...]
Combine = Callable[..., Any]
RunRegion = Callable[[Region, Sequence[Array]], Sequence[Array]]

_EXACT = {
    "tile.add": np.add,
    "tile.mul": np.multiply,
    "tile.and": np.bitwise_and,
    "tile.or": np.bitwise_or,
    "tile.xor": np.bitwise_xor,
    "tile.maximum": np.maximum,
    "tile.minimum": np.minimum,
}
"""Integer operators whose result does not depend on the order, as NumPy ufuncs. NumPy wraps as the language does."""


# ---- building ---------------------------------------------------------------------------------------------------


def combine_region(s: Semantic, fn: Any, types: Sequence[Type], function: str) -> Region:
    """The region of the user's jit function `fn`, which combines two groups of `types`."""
    return region_of(s, lambda *args: invoke(s, fn, args), types, function)


def invoke(s: Semantic, fn: Any, args: Sequence[Tensor]) -> Any:
    """Call the user's jit function, or a function of the language such as tl.maximum, on scalars."""
    called = unwrap(fn)
    return called(s, *args) if isinstance(called, Surface) else s.call(called, args)


def region_of(s: Semantic, body: Callable[..., Any], types: Sequence[Type], function: str) -> Region:
    """The region in which ``body(*left, *right)`` gives the handles of the combined group."""

    def checked(*args: Tensor) -> list[Tensor]:
        out = unwrap(body(*args))
        values = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(values) != len(types):
            s.fail(
                "TRI0612",
                function=f"tl.{function}",
                problem=f"returns {len(values)} values, not {len(types)}",
            )
        return [_of_type(s, v, t, function) for v, t in zip(values, types, strict=True)]

    names = (
        ["left", "right"] if len(types) == 1 else [f"{side}{i}" for side in "ab" for i in range(len(types))]
    )
    return s.region([*types, *types], checked, names)


def _of_type(s: Semantic, value: Any, ty: Type, function: str) -> Tensor:
    if is_number(value):
        return s.cast(s.to_tensor(value), ty.scalar)
    found = s.to_tensor(value, "the result of the combine function")
    if found.type != ty:
        s.fail("TRI0612", function=f"tl.{function}", problem=f"turns {ty} into {describe(found)}")
    return found


def check_combine(name: str, inputs: Sequence[Any], axis: int, combine: Region) -> tuple[int, ...]:
    """The type rule that reductions and scans share; gives the shape of the inputs."""
    if not inputs:
        raise TypeRuleError(f"{name} needs an input")
    dims = inputs[0].type.shape
    if any(v.type.shape != dims for v in inputs):
        raise TypeRuleError(f"the inputs of {name} differ in shape")
    if not 0 <= axis < len(dims):
        raise TypeRuleError(f"{name} has no axis {axis} in {inputs[0].type}")
    scalars = [v.type.scalar for v in inputs]
    if [a.type for a in combine.args] != [*scalars, *scalars]:
        raise TypeRuleError(f"the combine region of {name} takes two of each element type")
    end = combine.ops[-1] if combine.ops else None
    if not isinstance(end, Yield) or [v.type for v in end.operands] != scalars:
        raise TypeRuleError(f"the combine region of {name} yields one of each element type")
    return dims


def check_isolated(name: str, region: Region) -> None:
    """The rule that `region` uses no value from outside: it runs on other shapes than the code around it."""
    known = set(region.args)
    for op in region.walk():
        known.update(op.results)
        for nested in op.regions:
            known.update(nested.args)
    for op in region.walk():
        if any(v not in known for v in op.operands):
            raise TypeRuleError(f"the region of {name} uses a value from outside, in {op.name}")


# ---- recognising ------------------------------------------------------------------------------------------------


def single_op(combine: Region) -> TileOp | None:
    """The only op of a region that computes ``op(left, right)``, else None."""
    if len(combine.args) != 2 or len(combine.ops) != 2:
        return None
    op, end = combine.ops
    if op.regions or end.operands != op.results or op.operands != combine.args:
        return None
    return op if isinstance(op, TileOp) and op.is_pure else None


def region_key(region: Region) -> tuple[Any, ...] | None:
    """A straight-line region without captures as a hashable value: equal keys compute the same."""
    numbers = {value: i for i, value in enumerate(region.args)}
    key: list[Any] = [tuple(a.type for a in region.args)]
    for op in region.ops:
        if op.regions or any(v not in numbers for v in op.operands):
            return None
        key.append((op.name, tuple(op.attrs.items()), tuple(numbers[v] for v in op.operands)))
        for result in op.results:
            numbers[result] = len(numbers)
    return tuple(key)


# ---- evaluating -------------------------------------------------------------------------------------------------


def evaluate_region(region: Region, args: Sequence[Array]) -> list[Array]:
    """A straight-line region of pure ops on arrays of scalars. TypeRuleError where it is more than that."""
    values = dict(zip(region.args, args, strict=True))
    for op in region.ops:
        if op.is_terminator:
            return [values[v] for v in op.operands]
        out = _evaluate(op, [values[v] for v in op.operands])
        results = out if isinstance(out, tuple) else (out,)
        values.update(zip(op.results, results, strict=True))
    raise TypeRuleError("a combine region ends in tile.yield")


def _evaluate(op: Op, args: Sequence[Array]) -> Any:
    if not isinstance(op, TileOp) or op.regions:
        raise TypeRuleError(f"{op.name} has no value outside a machine")
    return op.eval(*args)


def combiner(region: Region, run: RunRegion) -> Combine:
    """`region` as a function of arrays of one shape; `run` is used where no shorter way is known."""
    op = single_op(region)
    if op is not None:
        return op.eval
    count = len(region.args) // 2

    def combine(*args: Array) -> Sequence[Array]:
        # A region may yield a constant, whose array is smaller than those it was given.
        shape = args[0].shape
        return [r if r.shape == shape else np.broadcast_to(r, shape) for r in run(region, args)[:count]]

    return combine


def exact_ufunc(region: Region) -> Any:
    """The ufunc that reduces and accumulates exactly as `region` does, in any order, else None."""
    op = single_op(region)
    scalar = region.args[0].type.scalar
    if op is None or not isinstance(scalar, DType) or not scalar.is_int():
        return None
    if scalar.is_bool():  # int1 adds and multiplies modulo 2
        return {"tile.add": np.logical_xor, "tile.mul": np.logical_and}.get(op.name, _EXACT.get(op.name))
    return _EXACT.get(op.name)


def aligned(args: Sequence[Array], axis: int, extent: int) -> Arrays:
    """The inputs with one shape, in which the tile's `axis` has its true extent; other axes stay as they are."""
    at = BATCH_AXES + axis
    shape = list(np.broadcast_shapes(*(x.shape for x in args)))
    shape[at] = extent
    return tuple(np.broadcast_to(x, shape) for x in args)


def reduce_axis(args: Arrays, axis: int, region: Region, run: RunRegion) -> Arrays:
    """`args` reduced along array axis `axis`, which goes away, in the order that the module text gives."""
    op = single_op(region)
    order = "halves" if op is not None and op.commutative else "adjacent"
    return tree_reduce(args, axis, combiner(region, run), order)


def scan_axis(args: Arrays, axis: int, region: Region, run: RunRegion, reverse: bool) -> Arrays:
    """The running combinations of `args` along array axis `axis`."""
    return tree_scan(args, axis, combiner(region, run), reverse)


__all__ = [
    "aligned",
    "check_combine",
    "check_isolated",
    "combine_region",
    "evaluate_region",
    "exact_ufunc",
    "invoke",
    "reduce_axis",
    "region_key",
    "region_of",
    "scan_axis",
    "single_op",
]
