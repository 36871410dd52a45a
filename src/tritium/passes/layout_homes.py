"""The layouts that values have by themselves: what anchors decide and what follows from them, walking forwards.

Part of `tritium.passes.assign_layouts`, which says what layouts are for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import permutations

from tritium.analysis.value_facts import ValueFacts
from tritium.analysis.vectors import vectors_of
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.types import PointerType
from tritium.ops.atomic import AtomicCas, AtomicRmw
from tritium.ops.base import TileOp
from tritium.ops.control import For, If, Poison, While
from tritium.ops.create import Arange, Constant
from tritium.ops.dot import Dot
from tritium.ops.gpu_layout import RegisterLayout, strided
from tritium.ops.gpu_mma import warp_tile_of
from tritium.ops.math import Unary
from tritium.ops.memory import Load
from tritium.ops.reduce import Reduce
from tritium.ops.scan import Scan
from tritium.passes.layout_policy import WARP, LayoutPolicy, scan_home

FREE = (Arange, Constant, Poison)
"""Ops whose result can be had in any layout at once."""


SECTOR = 32
"""Bytes that memory moves at once."""
EXCHANGED = 32 * 1024
"""Bytes of the largest tile that goes through shared memory only to be stored along lines of memory."""


class Homes:
    """The layout a value has by itself, walking forwards: what anchors decide and what follows from them."""

    def __init__(self, function: Function, policy: LayoutPolicy) -> None:
        self.policy = policy
        self.facts = ValueFacts(function)
        self.home: dict[Value, RegisterLayout] = {}
        self.cheap: set[Value] = set(function.args)
        self.known: dict[tuple[int, ...], list[RegisterLayout]] = defaultdict(list)
        self.reduced: dict[Op, RegisterLayout] = {}
        self.reasons: list[tuple[Value, RegisterLayout, str, Op]] = []
        for op in function.walk():
            if isinstance(op, Dot):
                self._learn(policy.dot(op))
        self._region(function.body)

    def __getitem__(self, value: Value) -> RegisterLayout | None:
        return self.home.get(value)

    def default(self, shape: tuple[int, ...]) -> RegisterLayout:
        """A layout for a tile that nothing says anything about: one that is in use, else rows of threads."""
        if self.known[shape]:
            return self.known[shape][0]
        return self._learn(self.policy.memory(shape, tuple(reversed(range(len(shape)))), 1))

    def memory(self, op: Op) -> RegisterLayout:
        """The layout that suits the addresses of a load or store."""
        pointer: Value = op.operands[0]
        found = vectors_of(self.facts, pointer, getattr(op, "mask", None))
        run = self.policy.run(op) if found.contiguous else 1
        return self._learn(self.policy.memory(pointer.type.shape, found.order, max(found.count, run)))

    def scatters(self, op: Op, layout: RegisterLayout) -> bool:
        """Whether the threads of a warp, holding a tile in `layout`, store pieces of sectors along other lines of memory."""
        pointer: Value = op.operands[0]
        found = vectors_of(self.facts, pointer, None)
        scalar = pointer.type.scalar
        assert isinstance(scalar, PointerType)
        size = scalar.element_ty.itemsize
        if (
            warp_tile_of(layout)
            is not None  # the buffer would cost a dot the second block on a multiprocessor
            or not found.contiguous
            or len(layout.axes) < 2
            or layout.registers * layout.threads * size > EXCHANGED
        ):
            return False
        run = 1
        for d in layout.axes[found.order[0]].digits:
            if (d.is_thread and d.stride * d.count > WARP) or (not d.is_thread and run > 1):
                break
            run *= d.count
        return run * size < min(SECTOR, layout.shape[found.order[0]] * size)

    def _learn(self, layout: RegisterLayout) -> RegisterLayout:
        if layout not in self.known[layout.shape]:
            self.known[layout.shape].append(layout)
        return layout

    def _set(self, value: Value, layout: RegisterLayout, why: str, op: Op) -> None:
        if value not in self.home:
            self.reasons.append((value, layout, why, op))
        self.home[value] = layout

    def _region(self, region: Region) -> None:
        for op in region.ops:
            if isinstance(op, (For, While)):
                self._loop(op)
            elif isinstance(op, If):
                self._if(op)
            else:
                self._op(op)

    def _op(self, op: Op) -> None:
        assert isinstance(op, TileOp)
        if isinstance(op, Dot):
            layout = self.policy.dot(op)
            self._set(op.result, self._learn(layout), "the register tile of a dot", op)
        elif isinstance(op, Load) and op.result.type.shape:
            self._set(op.result, self.memory(op), "follows the addresses of a load", op)
        elif isinstance(op, (AtomicRmw, AtomicCas)) and op.result.type.shape:
            self._set(op.result, self.memory(op), "follows the addresses of an atomic", op)
        elif isinstance(op, Reduce):
            source = next((self.home[v] for v in op.inputs if v in self.home), None)
            source = source or self.default(op.inputs[0].type.shape)
            self.reduced[op] = source
            for r in op.results:
                if r.type.shape:
                    self._set(r, source.drop(op.axis), "what a reduction leaves of its operand's layout", op)
        elif isinstance(op, Scan):
            source = next((self.home[v] for v in op.inputs if v in self.home), None)
            layout = scan_home(source, op.inputs[0].type.shape, op.axis, self.policy.threads)
            why = "that of its operand" if layout == source else "runs of neighbours along the axis of a scan"
            for r in op.results:
                self._set(r, layout, why, op)
        else:
            self._follow(op)

    def _follow(self, op: TileOp) -> None:
        """Cheapness, and the home that the operands' homes lead to."""
        simple = op.is_pure and not op.regions and not isinstance(op, Unary)
        if not op.results:
            return
        ty = op.results[0].type
        shapeless = not ty.shape and not any(v.type.shape for v in op.operands)
        simple = simple and (shapeless or isinstance(op, FREE) or is_transparent(op))
        if simple and all(v in self.cheap for v in op.operands):
            self.cheap.update(op.results)
        if not ty.shape or isinstance(op, FREE):
            return
        for i, v in enumerate(op.operands):
            if v not in self.home:
                continue
            for candidate in self._candidates(self.home[v], ty.shape):
                if candidate.shape == ty.shape and op.operand_layout(candidate, i) == self.home[v]:
                    for r in op.results:
                        self._set(r, candidate, "that of its operand", op)
                    return

    def _candidates(self, layout: RegisterLayout, shape: tuple[int, ...]) -> Iterable[RegisterLayout]:
        """Layouts of `shape` that a value in `layout` could turn into."""
        if layout.shape == shape:
            yield layout
        yield from self.known[shape]
        rank = len(layout.shape)
        if rank + 1 == len(shape):
            yield from (layout.insert(a) for a in range(rank + 1) if shape[a] == 1)
        if rank == len(shape) and rank > 1:
            yield from (layout.permute(order) for order in permutations(range(rank)))

    # ---- control flow --------------------------------------------------------------------------------

    def _if(self, op: If) -> None:
        for region in op.regions:
            self._region(region)
        for i, r in enumerate(op.results):
            yields = [region.ops[-1].operands[i] for region in op.regions]
            found = next((self.home[v] for v in yields if v in self.home), None)
            if r.type.shape:
                self._set(r, found or self.default(r.type.shape), "what its branches give", op)

    def _loop(self, op: For | While) -> None:
        shift = len(op.body.args) - len(op.results)
        for i, init in enumerate(op.inits):
            found = self._read_through(op.body.args[i + shift]) or self.home.get(init)
            if found is not None:
                for region in op.regions:
                    self._carry(op, region, i, found)
        self.cheap.update(op.body.args[:shift])
        for region in op.regions:
            self._region(region)
        settled = True
        for i, r in enumerate(op.results):
            if not r.type.shape or r in self.home:
                continue
            out = op.body.ops[-1].operands[i]
            layout = (
                self.home.get(out) or self.home.get(op.body.args[i + shift]) or self.default(r.type.shape)
            )
            self._set(r, layout, "carried through a loop", op)
            for region in op.regions:
                settled &= not self._carry(op, region, i, layout)
        if not settled:  # what the carried values are held in is known only now
            for region in op.regions:
                self._region(region)

    def _read_through(self, pointer: Value) -> RegisterLayout | None:
        """The layout of a load whose addresses are made of `pointer`, a carried tile of them."""
        if not pointer.type.shape or not isinstance(pointer.type.scalar, PointerType):
            return None
        work, seen = [pointer], {pointer}
        while work:
            for user, _ in work.pop().uses:
                if isinstance(user, Load) and user.result.type.shape == pointer.type.shape:
                    return self.memory(user)
                for r in user.results if isinstance(user, TileOp) and not user.regions else ():
                    if r not in seen and r.type.shape == pointer.type.shape:
                        seen.add(r)
                        work.append(r)
        return None

    def _carry(self, op: For | While, region: Region, i: int, layout: RegisterLayout) -> bool:
        arg = region.args[i + len(region.args) - len(op.results)]
        new = self.home.get(arg) != layout
        self.home[arg] = layout
        return new


def is_transparent(op: TileOp) -> bool:
    """Whether the op passes layouts on: every tile operand has a layout for any layout of the result."""
    shape = op.results[0].type.shape
    if not shape:
        return False
    trial = strided(shape, (1,) * len(shape), 1)
    return all(op.operand_layout(trial, i) is not None for i, v in enumerate(op.operands) if v.type.shape)
