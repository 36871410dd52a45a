"""Tensor cores: asynchronous copies to shared memory, fragments from it, and `mma.sync`.

Every address is one of the thread's own, computed once in the function's head with the swizzle in it, changed by numbers
known here: a step along a row flips bits, a step across rows adds bytes. That this gives the same as the formula is
checked for every thread when the code is written; where it does not, the formula itself is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from tritium.backends.cuda import memory
from tritium.backends.cuda.groups import Group, Statement
from tritium.backends.cuda.memory import all_of
from tritium.backends.cuda.registers import Computed, Coordinate, Fragments, Index, Local, Uniform
from tritium.ir.core import Op, Value
from tritium.ir.types import SharedType, float32
from tritium.layout import Swizzle
from tritium.ops.arithmetic import Add, Mul, Sub
from tritium.ops.base import Array
from tritium.ops.bitwise import And
from tritium.ops.emit import Expr, binary
from tritium.ops.facts import Axis, Unknown
from tritium.ops.gpu_async import CommitCopies, CopyAsync, WaitCopies
from tritium.ops.gpu_layout import RegisterLayout, parse_layout
from tritium.ops.gpu_mma import (
    OPERANDS,
    STEP_BYTES,
    LoadFragments,
    Mma,
    SliceFragments,
    lane_places,
    warp_tile_of,
)

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter

Term = tuple[int, int, int]
"""(stride, count, bytes): ``thread / stride % count`` times that many bytes."""


class ThreadBytes:
    """Where in a stage of a buffer each thread points: variables of the function's head, and places apart from them."""

    def __init__(self, e: Emitter, buffer: Value, terms: Sequence[Term]) -> None:
        ty = buffer.type
        assert isinstance(ty, SharedType)
        self.e = e
        self.swizzle = Swizzle(*ty.swizzle) if ty.swizzle else None
        thread = np.arange(e.threads)
        self.linear = sum(
            (thread // stride % count * size for stride, count, size in terms), np.zeros(e.threads, np.int64)
        )
        key = ("bytes", buffer, tuple(terms))
        found = e.coordinates.get(key)
        if found is None:
            found = e.coordinates[key] = self._declared(e.buffers[buffer], terms)
        self.name = found

    def _declared(self, buffer: str, terms: Sequence[Term]) -> Expr:
        e = self.e
        e.used.add("names")
        name = e.names.fresh(f"{buffer}_lane")
        parts: list[str] = []
        for stride, count, size in terms:
            part = "threadIdx.x" if stride == 1 else f"threadIdx.x / {stride}"
            part += f" % {count}" if stride * count < e.threads else ""
            parts.append(f"({part}) * {size}" if part != "threadIdx.x" else f"{part} * {size}")
        e.head.line(f"u32 {name} = {' + '.join(parts) or '0'};")
        if self.swizzle is not None:
            e.head.line(f"{name} ^= {name} >> {self.swizzle.shift} & {self.swizzle.mask};")
        return Expr(name)

    def moved(self, along: int, across: int) -> Expr:
        """The place `along` bytes further in its row and `across` bytes further over whole rows."""
        there = self._swizzled(self.linear + along + across)
        here = self._swizzled(self.linear)
        if np.array_equal(here + along + across, there):
            return _plus(self.name, along + across)
        if np.array_equal((here ^ along) + across, there):
            return _plus(binary("^", self.name, Expr(str(along))), across)
        assert self.swizzle is not None
        self.e.used.add("swizzled")
        fields = f"{self.swizzle.shift}, {self.swizzle.mask}"  # the swizzle undoes itself
        plain = Expr(f"swizzled<{fields}>({self.name})")
        return Expr(f"swizzled<{fields}>({_plus(plain, along + across)})")

    def _swizzled(self, at: Array) -> Array:
        return self.swizzle.apply(at) if self.swizzle is not None else at


def _plus(x: Expr, number: int) -> Expr:
    return binary("+", x, Expr(str(number))) if number else x


def stage_address(e: Emitter, buffer: Value, stage: Value | None) -> Expr:
    """The address in shared memory, as a number, of a stage of `buffer`."""
    ty = buffer.type
    assert isinstance(ty, SharedType)
    key = ("address", buffer)
    found = e.coordinates.get(key)
    if found is None:
        e.used.add("shared_address")
        name = e.names.fresh(f"{e.buffers[buffer]}_at")
        e.head.line(f"u32 {name} = shared_address({e.buffers[buffer]});")
        found = e.coordinates[key] = Expr(name)
    if stage is None or e.scalar(stage) == "0":
        return found
    size = ty.stage_size * ty.element.itemsize
    return binary("+", found, binary("*", e.scalar(stage), Expr(str(size))))


# ---- copies --------------------------------------------------------------------------------------------


def copy_async(e: Emitter, op: Op) -> None:
    assert isinstance(op, CopyAsync)
    layout = parse_layout(op.across)
    ty = op.buffer.type
    assert isinstance(ty, SharedType)
    steps = tuple(op.vector if a == op.axis else 1 for a in range(len(layout.axes)))
    group = Group(layout, steps, stores=True, straight=True)
    e.groups.append(group)
    conditions = _conditions(op.mask)
    for v in (op.ptr, *conditions):
        e.need(v, group)
    group.ops.add(op)
    # Stage, pointers and what all masks have in common are written before the group, behind what it needs.
    e.w.at(op.loc)
    e.flush_before(group)
    every = list(product(*(range(0, n, s) for n, s in zip(layout.register_shape, steps, strict=True))))
    common, apart = _common(e, conditions, every)
    to = e.names.fresh("to")
    e.w.line(f"u32 {to} = {stage_address(e, op.buffer, op.stage)};")
    wanted = e.names.fresh("wanted")
    e.w.line(f"bool {wanted} = {all_of(common) if common else 'true'};")
    place = ThreadBytes(e, op.buffer, _thread_bytes(layout, ty))
    pointers = _Pointers(e, op, layout, every)
    size = ty.element.itemsize
    e.used.add("copy_async")

    def write(index: Coordinate) -> list[str]:
        moves = [
            axis.register_offset(int(index[a])) * ty.strides[a] * size for a, axis in enumerate(layout.axes)
        ]
        at = place.moved(moves[op.axis], sum(moves) - moves[op.axis])
        mask = all_of([*(e.text(v, index) for v in apart), Expr(wanted)])
        move, source = pointers.at(index)
        go = f"copy_async<{op.vector * size}>({to} + {at.within(12)}, {source}, {mask});"
        limits = [*memory.first_of_replicas(e, layout), *memory.inside(e, layout, index)]
        return [*move, f"if ({all_of(limits)}) {go}" if limits else go]

    group.statements.append(Statement(op.loc, layout.register_shape, write))
    e.flush()


def _thread_bytes(layout: RegisterLayout, ty: SharedType) -> list[Term]:
    """Where the threads' first elements lie in a stage, without a swizzle."""
    size = ty.element.itemsize
    return [
        (stride, count, step * ty.strides[a] * size)
        for a, axis in enumerate(layout.axes)
        for stride, count, step in axis.thread_terms()
        if count > 1
    ]


def _conditions(mask: Value | None) -> list[Value]:
    """The values that must all be true where `mask` is."""
    if mask is None:
        return []
    op = mask.defining_op
    if isinstance(op, And):
        return [*_conditions(op.x), *_conditions(op.y)]
    return [mask]


def _common(
    e: Emitter, conditions: Sequence[Value], every: Sequence[Coordinate]
) -> tuple[list[Expr], list[Value]]:
    """Conditions that read the same for all registers, as text, and the others."""
    common: list[Expr] = []
    apart: list[Value] = []
    for v in conditions:
        texts = {e.text(v, index) for index in every}
        if len(texts) == 1:
            common.append(next(iter(texts)))
        else:
            apart.append(v)
    return common, apart


class _Pointers:
    """The addresses that one thread copies from: the first one, moved by the same bytes each time where that is so."""

    def __init__(
        self, e: Emitter, op: CopyAsync, layout: RegisterLayout, every: Sequence[Coordinate]
    ) -> None:
        self.e = e
        self.pointer = op.ptr
        self.name = ""
        self.steps: dict[Coordinate, str] = {}
        strides = [_bytes_along(e, op.ptr, a) for a in range(len(layout.axes))]
        places = [
            tuple(axis.register_offset(int(i)) for axis, i in zip(layout.axes, c, strict=True)) for c in every
        ]
        moves = [tuple(y - x for x, y in zip(p, q, strict=True)) for p, q in pairwise(places)]
        if not moves or any(n and strides[a] is None for m in moves for a, n in enumerate(m)):
            return
        self.name = e.names.fresh("from")
        e.used.add("names")
        first = memory.address(e, op.ptr, every[0])
        e.w.line(f"const char* {self.name} = (const char*)({first});")
        names: dict[tuple[int, ...], str] = {}
        for index, move in zip(every[1:], moves, strict=True):
            if move not in names:
                names[move] = e.names.fresh(f"{self.name}_step")
                parts = [f"i64({n}) * {strides[a]}" for a, n in enumerate(move) if n]
                e.w.line(f"const i64 {names[move]} = {' + '.join(parts)};")
            self.steps[index] = names[move]

    def at(self, index: Coordinate) -> tuple[list[str], str]:
        """(statements that come first, the address) for the register at `index`; to be asked in order."""
        if not self.name:
            return [], memory.address(self.e, self.pointer, index)
        step = self.steps.get(index)
        return ([f"{self.name} = moved({self.name}, {step});"] if step else []), self.name


def _bytes_along(e: Emitter, pointer: Value, axis: int) -> str | None:
    """C++ of the bytes between neighbours of a pointer tile along `axis`, if scalars at hand give it.

    Not where an operation behind the addresses has to wrap: a plain index that does would name no memory anyway.
    """
    facts = e.facts[pointer]
    if any(e.may_wrap(w.op) or not isinstance(w.op, (Add, Sub, Mul)) for w in facts.wraps):
        return None
    poly = facts.poly
    stride = poly.coefficient(Axis(axis)) if poly is not None else None
    if (
        poly is None
        or stride is None
        or stride.axes()
        or any(axis in a.axes for a in poly.atoms() if isinstance(a, Unknown))
    ):
        return None
    parts: list[str] = []
    for monomial, number in stride.terms.items():
        factors = [f"i64({number})"]
        for atom in monomial:
            held = e.held.get(atom.value) if isinstance(atom, Unknown) else None
            if not isinstance(held, Uniform):
                return None
            factors.append(f"i64({held.text})")
        parts.append(" * ".join(factors))
    return f"({' + '.join(parts)})" if parts else "0"


def commit_copies(e: Emitter, op: Op) -> None:
    assert isinstance(op, CommitCopies)
    e.flush()
    e.w.at(op.loc)
    e.used.add("copy_async")
    e.w.line("commit_copies();")


def wait_copies(e: Emitter, op: Op) -> None:
    assert isinstance(op, WaitCopies)
    e.flush()
    e.w.at(op.loc)
    e.used.add("copy_async")
    e.w.line(f"wait_copies<{op.pending}>();")


# ---- fragments -----------------------------------------------------------------------------------------


def load_fragments(e: Emitter, op: Op) -> None:
    assert isinstance(op, LoadFragments)
    e.flush()
    e.w.at(op.loc)
    warps = op.warps()
    size = op.element.itemsize
    steps = op.depth * size // STEP_BYTES
    count = warps.high if op.side == "a" else warps.wide
    held = Fragments(e.names.of(op.result), op.side, steps, count)
    e.held[op.result] = held
    e.used.add("names")
    e.w.line(f"{held.declaration()};")
    if op.how == "elements":
        _by_element(e, op, held, warps.operand(op.side, op.depth, size))
    else:
        _by_instruction(e, op, held)


def _by_instruction(e: Emitter, op: LoadFragments, held: Fragments) -> None:
    warps, size = op.warps(), op.element.itemsize
    transposed = op.how == "ldmatrix.trans"
    ty = op.buffer.type
    assert isinstance(ty, SharedType)
    places = lane_places(warps, op.side, size, transposed)
    line_bytes, depth_bytes = (s * size for s in (ty.strides if op.side == "a" else ty.strides[::-1]))
    terms = [
        (stride, count, line * line_bytes + depth * depth_bytes)
        for stride, count, (line, depth) in places.terms
    ]
    place = ThreadBytes(e, op.buffer, terms)
    base = stage_address(e, op.buffer, op.stage)
    form = "_trans" if transposed else ""
    e.used.add("ldmatrix")
    e.w.line("{")
    e.w.line(f"  u32 from = {base};")
    for step in range(op.depth * size // STEP_BYTES):
        for i in range(places.instructions):
            line = i * places.lines * line_bytes
            depth = (op.at + step * (STEP_BYTES // size)) * depth_bytes
            along, across = (line, depth) if transposed else (depth, line)
            at = f"from + {place.moved(along, across).within(12)}"
            if op.side == "a":
                cells, kind = [f"{held.name}[{step * warps.high + i}]"], "4"
                targets = ", ".join(f"{c}[{r}]" for c in cells for r in range(4))
            else:
                first = step * warps.wide + 2 * i
                kind = "4" if 2 * i + 1 < warps.wide else "2"
                targets = ", ".join(f"{held.name}[{first + r // 2}][{r % 2}]" for r in range(int(kind)))
            e.w.line(f"  ldmatrix{form}_x{kind}({at}, {targets});")
    e.w.line("}")


def _by_element(e: Emitter, op: LoadFragments, held: Fragments, layout: RegisterLayout) -> None:
    """Each register packed from elements that are read one by one."""
    ty = op.buffer.type
    assert isinstance(ty, SharedType)
    size = ty.element.itemsize
    base = stage_address(e, op.buffer, op.stage)
    place = ThreadBytes(e, op.buffer, _thread_bytes(layout, ty))
    along = 1 if op.side == "a" else 0
    e.used.add("read_shared")
    e.w.line("{")
    e.w.line(f"  u32 from = {base};")
    lines, depths = layout.axes[1 - along].registers, layout.axes[along].registers
    each = 4 // size
    for line in range(lines):
        for depth in range(0, depths, each):
            reads: list[str] = []
            for h in range(each):
                moves = [0, 0]
                moves[along] = (
                    (layout.axes[along].register_offset(depth + h) + op.at) * ty.strides[along] * size
                )
                moves[1 - along] = layout.axes[1 - along].register_offset(line) * ty.strides[1 - along] * size
                fast = ty.order[0]
                at = f"from + {place.moved(moves[fast], moves[1 - fast]).within(12)}"
                read = f"read_shared_{8 * size}({at})"
                reads.append(read if not h else f"{read} << {8 * size * h}")
            e.w.line(f"  {held.register(line, depth // each)} = {' | '.join(reads)};")
    e.w.line("}")


def slice_fragments(e: Emitter, op: Op) -> None:
    assert isinstance(op, SliceFragments)
    e.settle(op.x)
    e.flush()
    first = next(i for i in range(e.layout(op.x).axes[1].registers) if _at(e.layout(op.x), i) == op.at)
    source = e.held[op.x]
    e.held[op.result] = Computed(lambda index: source.at((index[0], _later(index[1], first))))


def _at(layout: RegisterLayout, register: int) -> int:
    return layout.axes[1].register_offset(register)


def _later(index: Index, by: int) -> Index:
    return index + by if isinstance(index, int) else binary("+", index, Expr(str(by)))


# ---- products ------------------------------------------------------------------------------------------


def mma(e: Emitter, op: Op) -> None:
    assert isinstance(op, Mma)
    for v in (op.a, op.b, op.acc):
        if v is not None and not isinstance(e.held.get(v), Fragments):
            e.settle(v)
    e.flush()
    e.w.at(op.loc)
    layout = e.layout(op.result)
    warps = warp_tile_of(layout)
    assert warps is not None
    a, b = (_packed(e, v, side) for v, side in ((op.a, "a"), (op.b, "b")))
    local = accumulator(e, op, op.acc, layout)
    size = op.a.type.scalar.itemsize
    names = [OPERANDS[v.type.scalar] for v in (op.a, op.b)]  # type: ignore[index]
    function = f"mma_{'_'.join(names)}" if op.a.type.scalar is not float32 else f"mma_{op.precision}"
    e.used.add(function)
    for step in range(op.a.type.shape[1] * size // STEP_BYTES):
        e.w.pragma("unroll")
        with e.w.block(f"for (int i = 0; i < {warps.high}; ++i)"):
            e.w.pragma("unroll")
            with e.w.block(f"for (int j = 0; j < {warps.wide}; ++j)"):
                rows = [_doubled("i", 0, warps.high), _doubled("i", 1, warps.high)]
                columns = [_doubled("j", 0, warps.wide), _doubled("j", 1, warps.wide)]
                cells = [local.at((r, c)) for r in rows for c in columns]
                x, y = (f"{f.name}[{_plus(Expr(v), step * n)}]" for f, v, n in (
                    (a, "i", warps.high), (b, "j", warps.wide)))  # fmt: skip
                e.w.line(f"{function}({', '.join(cells)}, {x}, {y});")


def _doubled(variable: str, more: int, count: int) -> Index:
    if count == 1:
        return more
    return _plus(Expr(f"2 * {variable}", 12), more)


def accumulator(e: Emitter, op: Mma, acc: Value | None, layout: RegisterLayout) -> Local:
    """Registers of the result, set to `acc` or zero."""
    held = e.held.get(acc) if acc is not None else None
    if acc is not None and isinstance(held, Local) and held.is_array and len(e.users(acc)) == 1:
        e.held[op.result] = held  # nobody else reads the old sums
        return held
    local = e.local(op.result, layout)
    group = Group(layout, (1, 1))
    zero = e.literal(0, op.out)
    group.statements.append(
        Statement(op.loc, local.shape, lambda index: [e.text(acc, index) if acc is not None else zero], local)
    )
    group.write(e.w, e.users, e.spelled)
    return local


def _packed(e: Emitter, value: Value, side: str) -> Fragments:
    """The operand as 32-bit registers; a tile that was computed is packed first."""
    held = e.held[value]
    if isinstance(held, Fragments):
        return held
    layout = e.layout(value)
    size = value.type.scalar.itemsize
    rows, columns = layout.register_shape
    lines, depths = (rows, columns) if side == "a" else (columns, rows)
    each = 4 // size
    count = lines // 2 if side == "a" else lines
    made = Fragments(e.names.fresh(f"{value.name or side}_packed"), side, depths // (each * 2), count)
    e.used.update(("names", "bits_as"))
    e.w.line(f"{made.declaration()};")
    for line in range(lines):
        for depth in range(depths // each):
            parts: list[str] = []
            for h in range(each):
                index = (line, depth * each + h) if side == "a" else (depth * each + h, line)
                word = f"u32(bits_as<u{8 * size}>({held.at(index)}))"
                parts.append(word if not h else f"{word} << {8 * size * h}")
            e.w.line(f"{made.register(line, depth)} = {' | '.join(parts)};")
    return made
