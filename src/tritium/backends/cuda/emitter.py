"""Machine IR to the statements of one CUDA C++ function: the implementation of `tritium.ops.emit.CudaEmitter`.

Scalars become C++ locals as they come. Tile values are registers: see `groups` for when their loops are written and
`registers` for what an element is called. Bodies of the harder ops are in `memory`, `shared`, `reductions`, `control`.
"""

from __future__ import annotations

from typing import Any

from tritium.analysis.alias import AliasAnalysis
from tritium.analysis.value_facts import ValueFacts
from tritium.analysis.vectors import mask_is_uniform
from tritium.backends.cuda import (
    assembly,
    atomics,
    control,
    dots,
    library,
    memory,
    reductions,
    scans,
    selection,
    shared,
    sorting,
    tensor,
)
from tritium.backends.cuda.atomics import communicates
from tritium.backends.cuda.expressions import Expressions
from tritium.backends.cuda.groups import Group, Statement
from tritium.backends.cuda.names import Names
from tritium.backends.cuda.registers import Computed, Coordinate, Held, Local, Numbers, Uniform, View
from tritium.backends.cuda.shared import STATIC_LIMIT
from tritium.backends.cuda.types import is_struct
from tritium.backends.cuda.wrapping import wrapping_ops
from tritium.backends.cuda.writer import Writer
from tritium.errors import make_error
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.types import DType
from tritium.ops.arithmetic import Fma
from tritium.ops.base import TileOp
from tritium.ops.compare import Compare
from tritium.ops.create import Constant
from tritium.ops.debug import ExpectZero
from tritium.ops.elementwise import Elementwise
from tritium.ops.emit import Expr
from tritium.ops.gpu_layout import RegisterLayout, layout_of, parse_layout
from tritium.ops.gpu_shared import CopyToShared, DotFma, SharedAlloc
from tritium.ops.hints import Hint
from tritium.ops.math import Unary
from tritium.ops.memory import Load
from tritium.ops.reshape import Reshape
from tritium.ops.shape import Broadcast, ExpandDims, Permute
from tritium.passes.lower_to_machine import shared_bytes

_AXES = "ijkl"


class Emitter(Expressions):
    """One function's body. `head` holds what stands at its beginning: coordinates of the thread, shared arrays;
    `functions` device functions that stand before it, `declared` what it calls of the device library.

    spelled    the seed documents' spelling: every register a variable of its own, every op its own lines
    unrolled   whether the loops over a dot's reduction are
    """

    def __init__(self, function: Function, spelled: bool, unrolled: bool = True) -> None:
        facts = ValueFacts(function)
        super().__init__(facts, wrapping_ops(function, facts))
        self.function = function
        self.spelled = spelled
        self.unrolled = unrolled
        self.threads: int = function.attrs["threads"]
        self.communicates = communicates(function)
        self.alias_classes = AliasAnalysis(function)
        self.names = Names(function)
        self.functions: list[str] = []
        self.declared: dict[str, str] = {}
        self.head = Writer()
        self.w = Writer()
        self.held: dict[Value, Held] = {}
        self.deferred: dict[Value, Op] = {}
        self.groups: list[Group] = []
        self.placed: dict[Value, Group] = {}
        self.coordinates: dict[tuple[Any, ...], Expr] = {}
        self.coordinate_hints = _coordinate_hints(function)
        self.buffers: dict[Value, str] = {}
        self.dynamic = shared_bytes(function) > STATIC_LIMIT
        self.arena = ""  # the bytes that several buffers are parts of
        self.shared_end = 0
        self._users: dict[Value, set[Op]] = {}
        self.loads: list[Op] = []  # accesses since the last barrier
        self.stores: list[Op] = []

    # ---- walking -------------------------------------------------------------------------------------

    def region(self, region: Region) -> None:
        """The ops of a region with its terminator."""
        for op in region.ops:
            assert isinstance(op, TileOp)
            op.emit_cuda(self)

    # ---- values --------------------------------------------------------------------------------------

    def layout(self, value: Value) -> RegisterLayout:
        found = layout_of(value)
        if found is None:
            op = value.defining_op
            raise make_error(
                "TRI0904", op.loc if op else None, stage="assign_layouts", problem=f"{value!r} has no layout"
            )
        return found

    def text(self, value: Value, index: Coordinate = ()) -> Expr:
        """The element of a value whose registers are at hand."""
        return self.held[value].at(index)

    def scalar(self, value: Value) -> Expr:
        return self.text(value, ())

    def users(self, value: Value) -> set[Op]:
        """The ops that read `value`, looking through those that only rename registers."""
        found = self._users.get(value)
        if found is None:
            found = set()
            for user, _ in value.uses:
                found |= self.users(user.result) if _renames(user) else {user}
            self._users[value] = found
        return found

    def thread_coordinate(self, layout: RegisterLayout, axis: int) -> Expr:
        """A thread's own part of the coordinate along an axis: a variable of the function's head."""
        terms = _terms(layout, axis)
        if not terms:
            return Expr("0")
        found = self.coordinates.get(terms)
        if found is None:
            name = self.names.fresh(self.coordinate_hints.get(terms) or f"tile_{_AXES[axis]}")
            self.head.line(f"int {name} = {_thread_text(terms, self.threads)};")
            found = self.coordinates[terms] = Expr(name)
        return found

    def local(self, value: Value, layout: RegisterLayout, name: str = "") -> Local:
        """A new variable (or array) for the registers of a tile value."""
        scalar = value.type.scalar
        shape = layout.register_shape
        name = name or (self.names.of_registers(value, shape) if self.spelled else self.names.of(value))
        made = Local(name, self.type(scalar), shape, self.spelled)  # type: ignore[arg-type]
        self.held[value] = made
        return made

    # ---- elementwise -----------------------------------------------------------------------------------

    def elementwise(self, op: Op) -> None:
        if op.result.type.shape:
            self.deferred[op.result] = op
            return
        text = self.element(op, ())
        if self._inlines(op):
            self.held[op.result] = Uniform(text)
            return
        self.w.at(op.loc)
        self.define_scalar(op.result, text)

    def define_scalar(self, value: Value, text: Expr) -> None:
        name = self.names.of(value)
        self.w.line(f"{self.type(value.type.scalar)} {name} = {text};")  # type: ignore[arg-type]
        self.held[value] = Uniform(Expr(name))

    def element(self, op: Op, index: Coordinate) -> Expr:
        """The C++ of one element of an elementwise op."""
        assert isinstance(op, TileOp)
        if index and not self.spelled and isinstance(op, Compare):
            index = self._first_of_run(op, index)
        return self.applied(op, [self.text(v, index) for v in op.operands])

    def _first_of_run(self, op: Compare, index: Coordinate) -> Coordinate:
        """The register that is asked for all of a vector, where coordinates compared with a number are known to agree."""
        if not any(_is_number(v) for v in op.operands):
            return index
        out = list(index)
        for axis, side in enumerate(self.layout(op.result).axes):
            run = side.vector
            if run > 1 and mask_is_uniform(self.facts, op.result, axis, run):
                at = out[axis]
                out[axis] = (
                    at - at % run if isinstance(at, int) else Expr(f"{at.within(14)} / {run} * {run}", 5)
                )
        return tuple(out)

    def applied(self, op: TileOp, operands: list[Expr]) -> Expr:
        """An elementwise op on C++ operands. Narrow floats are computed in fp32 and rounded, which is exact enough: one
        operation on them has at most half the digits that fp32 holds. A fused one has more."""
        if not isinstance(op, Elementwise):
            return op.cuda(self, *operands)
        scalar = op.results[0].type.scalar
        assert isinstance(scalar, DType)
        if isinstance(op, Fma) and is_struct(scalar):
            return self.helper(f"fma_{op.format}", *operands)
        wide = [self.widened(x, v.type.scalar) for x, v in zip(operands, op.operands, strict=True)]  # type: ignore[arg-type]
        out = op.cuda(self, *wide)
        return self.helper(f"to_{scalar.text}", out) if is_struct(scalar) else out

    def _inlines(self, op: Op) -> bool:
        """Whether an unnamed value of one use is written where it is used."""
        value = op.result
        if value.name or isinstance(op, Unary) or (self.spelled and value.type.shape):
            return False
        users = self.users(value)
        return len(users) == 1 and sum(1 for _ in value.uses) == 1 and next(iter(users)).parent is op.parent

    def constant(self, op: Op) -> None:
        value = op.value if isinstance(op, Constant) else 0  # type: ignore[attr-defined]
        scalar = op.result.type.scalar
        text = self.literal(value, scalar)  # type: ignore[arg-type]
        self.held[op.result] = Uniform(text)

    def arange(self, op: Op) -> None:
        layout = self.layout(op.result)
        thread = self.thread_coordinate(layout, 0)
        self.held[op.result] = Numbers(thread, layout.axes[0], op.start)  # type: ignore[attr-defined]

    def grid(self, op: Op, member: str, axis: int) -> None:
        self.w.at(op.loc)
        name = self.names.of(
            op.result, op.result.name or f"{'pid' if member == 'blockIdx' else 'programs'}_{'xyz'[axis]}"
        )
        self.w.line(f"int {name} = {member}.{'xyz'[axis]};")
        self.held[op.result] = Uniform(Expr(name))

    def alias(self, op: Op) -> None:
        base = op.operands[0]
        if not op.result.type.shape:
            self.held[op.result] = self.held[base]
            return
        if self.spelled and isinstance(op, ExpandDims):  # the raw coordinates get registers of the new shape
            self.deferred[op.result] = op
            return
        self.held[op.result] = View(lambda: self.held[base], _pick(op))

    def reshape(self, op: Op) -> None:
        assert isinstance(op, Reshape)
        moved = op.moved_axes()
        if moved is None:
            self.unsupported(op, " where elements change places")
        self.held[op.result] = View(lambda: self.held[op.x], _pick(op))
        if not op.result.type.shape:  # scalars are written as they come
            self.settle(op.x)
            self.flush()

    # ---- placing ---------------------------------------------------------------------------------------

    def need(self, value: Value, group: Group | None = None) -> None:
        """Make the registers of `value` known: in `group` if it walks the same ones, else in a group in front of it."""
        if not value.type.shape:
            return
        if value in self.held:
            op = value.defining_op
            if op is not None and _renames(op):
                self.need(op.operands[0], group)
            return
        op = self.deferred.pop(value)
        assert isinstance(op, TileOp)
        if group is not None and self._inlines(op):
            for v in op.operands:
                self.need(v, group)
            group.ops.add(op)
            self.placed[value] = group
            self.held[value] = Computed(lambda index: self.element(op, index))
            return
        layout = self.layout(value)
        home = self._home(op, layout, group)
        for v in op.operands:
            self.need(v, home)
        local = self.local(value, layout)
        element = self._copied if isinstance(op, ExpandDims) else self.element
        home.statements.append(
            Statement(op.loc, local.shape, lambda index: [element(op, index)], local, value)
        )
        home.ops.add(op)
        self.placed[value] = home

    def _copied(self, op: Any, index: Coordinate) -> Expr:
        return self.text(op.x, tuple(i for a, i in enumerate(index) if a != op.axis))

    def _home(self, op: Op, layout: RegisterLayout, group: Group | None) -> Group:
        """A group for registers of `layout`: `group` itself, or one before it that fits, or a new one there."""
        made = Group(layout, tuple(1 for _ in layout.axes))
        at = len(self.groups) if group is None else self.groups.index(group)
        if group is not None and group.key == made.key:
            return group
        earliest = max((self._floor(v) for v in op.operands), default=0)
        for earlier in reversed(self.groups[max(earliest, 0) : at]):
            if earlier.key == made.key and not earlier.stores:
                return earlier
        self.groups.insert(at, made)
        return made

    def _floor(self, value: Value) -> int:
        """The first group in which everything that `value` is made of is known; -1 if that is before all groups."""
        op = value.defining_op
        group = self.placed.get(value)
        if group is not None:
            return self.groups.index(group) if group in self.groups else -1
        if op is None or not (value in self.deferred or _renames(op)):
            return -1
        return max((self._floor(v) for v in op.operands if v.type.shape), default=-1)

    def group_for(
        self, layout: RegisterLayout, *, stores: bool = False, steps: tuple[int, ...] = ()
    ) -> Group:
        """The group that a load or store joins: the last one if it walks the same registers and keeps the order."""
        made = Group(layout, steps or tuple(1 for _ in layout.axes), stores=stores, loads=not stores)
        if not stores and any(g.stores for g in self.groups):
            self.flush()
        last = self.groups[-1] if self.groups else None
        if last is not None and last.key == made.key and not (stores and last.loads):
            last.stores |= stores
            last.loads |= not stores
            return last
        self.groups.append(made)
        return made

    def flush(self) -> None:
        """Write all groups; what comes next is ordered after them."""
        groups, self.groups = self.groups, []
        for g in groups:
            g.write(self.w, self.users, self.spelled)

    def flush_before(self, group: Group) -> None:
        """Write all groups but the last one, `group`."""
        assert self.groups[-1] is group
        self.groups.pop()
        self.flush()
        self.groups.append(group)

    def settle(self, value: Value) -> None:
        """Have the registers of `value` in variables before something that no loop of registers can hold."""
        if value.type.shape:
            self.need(value)

    def settle_for(self, region: Region) -> None:
        """Everything from outside that a nested region reads gets its registers now, in front of it."""
        for op in region.walk():
            for v in op.operands:
                if v in self.deferred:
                    self.need(v)
                elif (renamed := v.defining_op) is not None and _renames(renamed):
                    self._settle_renamed(renamed)

    def _settle_renamed(self, op: Op) -> None:
        base = op.operands[0]
        if base in self.deferred:
            self.need(base)
        elif (inner := base.defining_op) is not None and _renames(inner):
            self._settle_renamed(inner)

    # ---- verbs whose bodies are elsewhere ------------------------------------------------------------

    def barrier(self, op: Op) -> None:
        memory.barrier(self, op)

    def load(self, op: Op) -> None:
        memory.load(self, op)

    def store(self, op: Op) -> None:
        memory.store(self, op)

    def atomic(self, op: Op) -> None:
        atomics.atomic(self, op)

    def shared_alloc(self, op: Op) -> None:
        shared.shared_alloc(self, op)

    def shared_store(self, op: Op) -> None:
        shared.shared_store(self, op)

    def shared_load(self, op: Op) -> None:
        shared.shared_load(self, op)

    def shared_view(self, op: Op) -> None:
        shared.shared_view(self, op)

    def shared_gather(self, op: Op) -> None:
        shared.shared_gather(self, op)

    def copy_to_shared(self, op: Op) -> None:
        shared.copy_to_shared(self, op)

    def dot_fma(self, op: Op) -> None:
        dots.dot_fma(self, op)

    def copy_async(self, op: Op) -> None:
        tensor.copy_async(self, op)

    def commit_copies(self, op: Op) -> None:
        tensor.commit_copies(self, op)

    def wait_copies(self, op: Op) -> None:
        tensor.wait_copies(self, op)

    def load_fragments(self, op: Op) -> None:
        tensor.load_fragments(self, op)

    def slice_fragments(self, op: Op) -> None:
        tensor.slice_fragments(self, op)

    def mma(self, op: Op) -> None:
        tensor.mma(self, op)

    def reduce(self, op: Op) -> None:
        reductions.reduce(self, op)

    def reduce_groups(self, op: Op) -> None:
        reductions.reduce_groups(self, op)

    def scan_chunks(self, op: Op) -> None:
        scans.scan_chunks(self, op)

    def store_totals(self, op: Op) -> None:
        scans.store_totals(self, op)

    def add_carries(self, op: Op) -> None:
        scans.add_carries(self, op)

    def rank(self, op: Op) -> None:
        sorting.rank(self, op)

    def top_groups(self, op: Op) -> None:
        selection.top_groups(self, op)

    def sort_lines(self, op: Op) -> None:
        sorting.sort_lines(self, op)

    def shared_scatter(self, op: Op) -> None:
        sorting.shared_scatter(self, op)

    def shared_count(self, op: Op) -> None:
        sorting.shared_count(self, op)

    def library(self, op: Op, *x: Expr) -> Expr:
        return library.call_library(self, op, *x)

    def inline_asm(self, op: Op) -> None:
        assembly.inline_asm(self, op)

    def device_register(self, op: Op) -> None:
        assembly.device_register(self, op)

    def grid_dependency(self, op: Op) -> None:
        assembly.grid_dependency(self, op)

    def philox(self, op: Op) -> None:
        library.philox(self, op)

    def map_elements(self, op: Op) -> None:
        library.map_elements(self, op)

    def assertion(self, op: Op) -> None:
        library.assertion(self, op)

    def print_values(self, op: Op) -> None:
        library.print_values(self, op)

    def finish(self, op: Op) -> None:
        control.finish(self, op)

    def run_if(self, op: Op) -> None:
        control.run_if(self, op)

    def run_for(self, op: Op) -> None:
        control.run_for(self, op)

    def run_while(self, op: Op) -> None:
        control.run_while(self, op)


def _renames(op: Op) -> bool:
    return isinstance(op, (Broadcast, ExpandDims, Permute, Reshape, Hint, ExpectZero)) and bool(
        op.results[0].type.shape
    )


def _pick(op: Op) -> tuple[int | None, ...]:
    if isinstance(op, Broadcast):
        if not op.x.type.shape:
            return ()
        return tuple(None if a in op.stretched else a for a in range(len(op.x.type.shape)))
    if isinstance(op, ExpandDims):
        return tuple(a + (a >= op.axis) for a in range(len(op.x.type.shape)))
    if isinstance(op, Reshape):
        moved = op.moved_axes() or ()
        return tuple(moved.index(a) if a in moved else None for a in range(len(op.x.type.shape)))
    if isinstance(op, Permute):
        return tuple(op.order.index(a) for a in range(len(op.order)))
    return tuple(range(len(op.operands[0].type.shape)))


def _terms(layout: RegisterLayout, axis: int) -> tuple[tuple[int, int, int], ...]:
    """What of the thread's number a coordinate is made of."""
    return tuple(t for t in layout.axes[axis].thread_terms() if t[1] > 1)


def _coordinate_hints(function: Function) -> dict[tuple[Any, ...], str]:
    """Names for the coordinates of threads: ``tile_i`` in the tile of a dot, ``a_i`` in one that goes to shared memory
    as ``a``, ``x_i`` in one loaded as ``x``."""
    found: dict[tuple[Any, ...], str] = {}
    named: list[tuple[str, RegisterLayout]] = []
    for op in function.walk():
        if isinstance(op, DotFma):
            layout = layout_of(op.result)
            named[:0] = [("tile", layout)] if layout else []
        elif isinstance(op, CopyToShared):
            buffer = op.buffer.defining_op
            assert isinstance(buffer, SharedAlloc)
            named.append((buffer.label.removeprefix("shared_"), parse_layout(op.across)))
        elif isinstance(op, Load) and len(op.result.type.shape) > 1:
            layout = layout_of(op.result)
            named += [(op.result.name or "tile", layout)] if layout else []
    for name, layout in named:
        for axis in range(len(layout.axes)):
            terms = _terms(layout, axis)
            if terms:
                found.setdefault(terms, f"{name}_{_AXES[axis]}")
    return found


def _thread_text(terms: tuple[tuple[int, int, int], ...], threads: int) -> str:
    parts: list[str] = []
    for stride, count, step in terms:
        text = "threadIdx.x" if stride == 1 else f"threadIdx.x / {stride}"
        if stride * count < threads:
            text += f" % {count}"
        parts.append(
            text if step == 1 else f"{text} * {step}" if text == "threadIdx.x" else f"({text}) * {step}"
        )
    return " + ".join(parts)


def _is_number(value: Value) -> bool:
    """Whether all elements of `value` are one scalar."""
    op = value.defining_op
    return (
        not value.type.shape
        or isinstance(op, Constant)
        or (isinstance(op, Broadcast) and not op.operands[0].type.shape)
    )
