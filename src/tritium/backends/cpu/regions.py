"""Combine regions and mapped bodies: code on scalars, written in place for one element or for all lanes at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tritium.backends.cpu import nest, pull
from tritium.backends.cpu.code import V
from tritium.ir.core import Region
from tritium.ops import control

if TYPE_CHECKING:
    from tritium.backends.cpu.lower import Lowering


def is_lanewise(region: Region) -> bool:
    """Whether the region can run on many lanes at once: no loops in it."""
    return not any(isinstance(op, (control.For, control.While)) for op in region.walk())


def inline(k: Lowering, region: Region, args: Sequence[V]) -> list[V]:
    """The values that `region` yields for `args`, whose lanes may be several if `is_lanewise`."""
    k.env.update(zip(region.args, args, strict=True))
    several = any(a.lanes > 1 for a in args)
    for op in region.ops:
        if op.is_terminator:
            return [k.env[v] for v in op.operands]
        if several and isinstance(op, control.If):
            _choose(k, op)
        else:
            k.op(op)
    raise AssertionError("a combine region ends in tile.yield")


def _choose(k: Lowering, op: control.If) -> None:
    """Both branches, then a selection per lane: nothing in them can trap."""
    condition = k.env[op.condition]
    arms = [inline_branch(k, r) for r in (op.then_region, op.else_region)]
    for r, x, y in zip(op.results, *arms, strict=True):
        k.env[r] = k.e.select(condition, x, y)


def inline_branch(k: Lowering, region: Region) -> list[V]:
    for op in region.ops:
        if op.is_terminator:
            return [k.env[v] for v in op.operands]
        if isinstance(op, control.If):
            _choose(k, op)
        else:
            k.op(op)
    raise AssertionError("a branch ends in tile.yield")


def map_elements(k: Lowering, op: Any) -> None:
    """`tile.map_elementwise` into kept tiles."""
    shape, pack = op.inputs[0].type.shape, op.pack
    used = [r for r in op.results if r.uses]
    for r in used:
        k.buffers[r] = k.allocate(r.type.scalar, shape)

    def at_once(at: list[V]) -> None:
        out = inline(k, op.body, [pull.element(k, v, at) for v in op.inputs])
        for r in used:
            pull.write(k, k.buffers[r], at, out[r.index], max(i.lanes for i in at))

    if pack == 1 and is_lanewise(op.body):
        nest.versions(k, lambda: nest.over(k, shape, at_once))
        return

    def packed(at: list[V]) -> None:
        e = k.e
        places = [pull.unravel(k, e.add(e.mul(at[0], e.index(pack)), e.index(i)), shape) for i in range(pack)]
        args = [pull.element(k, v, place) for v in op.inputs for place in places]
        out = inline(k, op.body, args)
        for r in used:
            for i, place in enumerate(places):
                pull.write(k, k.buffers[r], place, out[r.index * pack + i], 1)

    outer, k.mode = k.mode, nest.Mode(1)
    floor, k.e.floor = k.e.floor, k.e.top
    nest.over(k, (op.inputs[0].type.numel // pack,), packed)
    k.mode, k.e.floor = outer, floor
