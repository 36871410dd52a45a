"""A function made ready to run: per region a flat list of steps, plus what must be known about the whole kernel.

A step is one op with everything looked up: the bound method to call, the values it reads and defines, and the values
that die with it, so that memory is given back as early as possible. Building takes microseconds per op and is done
once per `Program`; the program must be built anew when a pass has changed the function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from tritium.backends.interp.options import LineKey, is_traced
from tritium.backends.interp.pointers import Pointer, addresses
from tritium.backends.interp.spinning import Spin, find_spins
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.types import PointerType
from tritium.ops.base import TileOp

# Ops that take pointers with base and offset apart (see `pointers`); all others get plain addresses.
_TAKES_POINTERS = frozenset({"tile.load", "tile.store", "tile.if", "tile.for", "tile.while"})
_MOVES_AXES = frozenset({"tile.broadcast", "tile.expand_dims"})


class Step(NamedTuple):
    """One op of a region.

    call      the op's `eval` (machine False) or `execute` (machine True: called with the machine first)
    operands  what to read, results what to define, dead what nobody reads after this step
    """

    call: Callable[..., Any]
    machine: bool
    operands: tuple[Value, ...]
    results: tuple[Value, ...]
    dead: tuple[Value, ...]
    op: Op


class RegionPlan(NamedTuple):
    """A region as steps; `yields` are the operands of its terminator."""

    args: tuple[Value, ...]
    steps: tuple[Step, ...]
    yields: tuple[Value, ...]


class Program:
    """What `run` needs of a function.

    plans        per region (of any depth) its steps
    raw          pointer values that come from integers or from memory rather than from an argument
    spins        per ``while`` that may wait for another program instance, what its progress depends on
    largest      elements of the largest value of one program instance
    alone        whether instances run one by one: machine IR has shared memory of its own for each
    """

    def __init__(
        self,
        function: Function,
        *,
        trace_lines: frozenset[LineKey] = frozenset(),
        keep_values: bool = False,
    ) -> None:
        self.function = function
        self.trace_lines = trace_lines
        regions = list(_regions(function.body))
        ops = [op for region in regions for op in region.ops]
        self.keep_values = keep_values or bool(trace_lines) or any(op.name == "tile.breakpoint" for op in ops)
        self.plans: dict[Region, RegionPlan] = {}
        free: dict[Region, set[Value]] = {}
        for region in reversed(regions):  # inner regions first
            self.plans[region] = self._plan(region, free)
        self.raw = _raw_pointers(function, ops)
        self.alone = any(op.name.startswith("gpu.") for op in ops)
        self.spins: dict[Op, Spin] = find_spins(ops)
        values = (v for r in regions for v in (*r.args, *(x for op in r.ops for x in op.results)))
        self.largest = max((v.type.numel for v in values), default=1)

    def _plan(self, region: Region, free: dict[Region, set[Value]]) -> RegionPlan:
        end = region.terminator
        yields = tuple(end.operands) if end is not None else ()
        body = region.ops[:-1] if end is not None else region.ops
        used: set[Value] = set(yields)  # by what comes after, walking backwards
        steps: list[Step] = []
        defined: set[Value] = set(region.args)
        for op in body:
            defined.update(op.results)
        for op in reversed(body):
            reads = set(op.operands)
            for nested in op.regions:
                reads |= free[nested]
            dead = [v for v in reads if v in defined and v not in used]
            dead += [r for r in op.results if r not in used]
            used |= reads
            call, machine = _callable(op)
            if is_traced(op, self.trace_lines):
                steps.append(Step(_tracing(op), True, (), (), (), op))
            steps.append(
                Step(
                    call,
                    machine,
                    tuple(op.operands),
                    tuple(op.results),
                    () if self.keep_values else tuple(dead),
                    op,
                )
            )
        free[region] = used - defined
        return RegionPlan(tuple(region.args), tuple(reversed(steps)), yields)


def _regions(body: Region) -> Iterator[Region]:
    """`body` and all regions in it, outer before inner. Not recursive: elif chains nest hundreds deep."""
    waiting = [body]
    while waiting:
        region = waiting.pop()
        yield region
        for op in region.ops:
            waiting.extend(op.regions)


def _tracing(op: Op) -> Callable[..., Any]:
    return lambda m: m.trace(op)


def _callable(op: Op) -> tuple[Callable[..., Any], bool]:
    assert isinstance(op, TileOp)
    if op.name == "tile.addptr":
        size = op.results[0].type.scalar.element_ty.itemsize  # type: ignore[union-attr]
        return lambda m, ptr, offset: m.move_pointer(ptr, offset, size), True
    machine = type(op).execute is not TileOp.execute
    call: Callable[..., Any] = op.execute if machine else op.eval
    if not op.operands and not machine:
        return _once(call), False
    takes_pointer = any(isinstance(v.type.scalar, PointerType) for v in op.operands)
    if not takes_pointer or op.name in _TAKES_POINTERS:
        return call, machine
    if op.name in _MOVES_AXES:
        return lambda x: x.mapped(call) if isinstance(x, Pointer) else call(x), False
    return lambda *args: call(*map(addresses, args)), machine


def _once(evaluate: Callable[[], Any]) -> Callable[[], Any]:
    """A constant is computed at its first use. That it stays the same array lets what is known about it be kept."""
    kept: list[Any] = []

    def value() -> Any:
        if not kept:
            kept.append(evaluate())
        return kept[0]

    return value


def _raw_pointers(function: Function, ops: Iterable[Op]) -> set[Value]:
    """Pointers whose address is computed from integers or read from memory.

    Flow through regions is followed by position: what an op with regions passes to region arguments and gets back
    from yields. Conservative: an op that mixes both kinds gives a raw pointer.
    """
    raw: set[Value] = set()
    pointer_ops = [op for op in ops if any(_is_pointer(v) for v in (*op.operands, *op.results)) or op.regions]
    changed = True
    while changed:
        before = len(raw)
        for op in pointer_ops:
            sources = [v for v in op.operands if _is_pointer(v)]
            if op.regions:
                _flow_through_regions(op, raw)
            elif not sources or op.name == "tile.load" or any(v in raw for v in sources):
                raw.update(r for r in op.results if _is_pointer(r))
        changed = len(raw) != before
    return raw


def _flow_through_regions(op: Op, raw: set[Value]) -> None:
    yields = [v for r in op.regions if r.terminator is not None for v in r.terminator.operands]
    if any(v in raw for v in (*op.operands, *yields)):
        raw.update(r for r in op.results if _is_pointer(r))
        raw.update(a for region in op.regions for a in region.args if _is_pointer(a))


def _is_pointer(v: Value) -> bool:
    return isinstance(v.type.scalar, PointerType)
