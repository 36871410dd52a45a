"""Typed SSA with structured regions: Value, Op, Region, Function.

A `Function` owns one body `Region`. A region is a straight list of ops with arguments; control flow is an
op with regions (``tile.for``, ``tile.while``, ``tile.if``), so there are no blocks to order and no phi nodes.
This module knows no op by name. What an op *is* (fields, type rule, effects, meaning) is its class in
`tritium.ops`; here is only how ops are linked, walked, moved, cloned and replaced.

Worked example, ``y = x + x`` in a kernel with one argument::

    Function "k", body Region(args=[%x: f32])
      Add     operands=[%x, %x]   results=[%0: f32]     %x.uses == {(add, 0), (add, 1)}
      Return  operands=[]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from tritium.errors import Loc
from tritium.ir.types import Type


class Value:
    """One SSA value: the result of an op or the argument of a region."""

    __slots__ = ("index", "name", "owner", "type", "uses")

    def __init__(self, ty: Type, owner: Op | Region, index: int, name: str = "") -> None:
        self.type = ty
        self.owner = owner
        self.index = index
        self.name = name  # a hint for the printer: the kernel's variable name
        self.uses: dict[tuple[Op, int], None] = {}  # insertion ordered, so that rewriting is deterministic

    @property
    def defining_op(self) -> Op | None:
        return self.owner if isinstance(self.owner, Op) else None

    def replace_uses_with(self, new: Value) -> None:
        """Make every user of this value use `new` instead."""
        if new is self:
            return
        for op, i in list(self.uses):
            op.set_operand(i, new)
        if not new.name:
            new.name = self.name

    def __repr__(self) -> str:
        return f"%{self.name or '?'}: {getattr(self.type, 'text', self.type)}"


_NEAR = 32
"""How far from where it stood last an op is looked for before the whole region is counted through."""


class Region:
    """A list of ops with arguments; the last op is a terminator where the owner's rule asks for one."""

    __slots__ = ("args", "ops", "parent")

    def __init__(self, parent: Op | Function | None = None) -> None:
        self.args: list[Value] = []
        self.ops: list[Op] = []
        self.parent = parent

    def add_arg(self, ty: Type, name: str = "") -> Value:
        value = Value(ty, self, len(self.args), name)
        self.args.append(value)
        return value

    def append(self, op: Op) -> Op:
        op.parent = self
        op.place = len(self.ops)
        self.ops.append(op)
        return op

    def insert(self, index: int, op: Op) -> Op:
        op.parent = self
        op.place = index
        self.ops.insert(index, op)
        return op

    def insert_before(self, anchor: Op, op: Op) -> Op:
        return self.insert(self.index(anchor), op)

    def remove(self, op: Op) -> None:
        """Take `op` out of the list; its operands stay as they are."""
        del self.ops[self.index(op)]
        op.parent = None

    def index(self, op: Op) -> int:
        """Where `op` stands. ValueError if it is not in this region.

        Kernels unrolled at compile time have regions of ten thousand ops, and passes insert and remove one at a time:
        a search from the front for each would make compile time quadratic. So every op remembers about where it stood.
        """
        ops = self.ops
        if op.parent is self:
            about = op.place
            if about < len(ops) and ops[about] is op:
                return about
            for i in range(max(0, about - _NEAR), min(len(ops), about + _NEAR + 1)):
                if ops[i] is op:
                    op.place = i
                    return i
            op.place = len(ops)
            for i, other in enumerate(ops):
                other.place = i
            if op.place < len(ops):
                return op.place
        raise ValueError(f"{op!r} is not in {self!r}")

    @property
    def terminator(self) -> Op | None:
        return self.ops[-1] if self.ops and self.ops[-1].is_terminator else None

    def walk(self) -> Iterator[Op]:
        """Every op in it, outer before inner, in order. Safe against changes to ops already passed."""
        for op in list(self.ops):
            yield op
            for region in op.regions:
                yield from region.walk()

    def __repr__(self) -> str:
        return f"<region of {self.parent!r}: {len(self.ops)} ops>"


class Op:
    """One operation. Subclasses (in `tritium.ops`) declare fields and facets; see `tritium.ops.base`.

    operands   the SSA inputs in field order; optional ones may be absent (`segments` says how many per field)
    attrs      compile-time facts, by field name
    regions    nested code, in field order
    results    the SSA outputs, types given by the class's type rule
    """

    __slots__ = ("attrs", "loc", "operands", "parent", "place", "regions", "results", "segments")

    name: ClassVar[str] = "op"
    is_terminator: ClassVar[bool] = False

    operands: list[Value]
    attrs: dict[str, Any]
    regions: list[Region]
    results: list[Value]
    segments: tuple[int, ...]
    loc: Loc | None
    parent: Region | None
    place: int  # about where it stands in its region; only `Region.index` makes it exact

    @property
    def result(self) -> Value:
        """The only result."""
        (only,) = self.results
        return only

    def set_operand(self, index: int, value: Value) -> None:
        old = self.operands[index]
        old.uses.pop((self, index), None)
        self.operands[index] = value
        value.uses[(self, index)] = None

    def set_operands(self, values: Sequence[Value], segments: tuple[int, ...] | None = None) -> None:
        """Replace the whole operand list."""
        for i, old in enumerate(self.operands):
            old.uses.pop((self, i), None)
        self.operands = list(values)
        for i, value in enumerate(self.operands):
            value.uses[(self, i)] = None
        if segments is not None:
            self.segments = segments

    def drop_uses(self) -> None:
        """Forget all operands, here and in nested regions, whose ops no longer belong anywhere: for an op that is
        about to be thrown away."""
        for i, old in enumerate(self.operands):
            old.uses.pop((self, i), None)
        self.operands = []
        for region in self.regions:
            for op in region.ops:
                op.drop_uses()
                op.parent = None

    def erase(self) -> None:
        """Remove from its region. Its results must have no uses left."""
        used = [r for r in self.results if r.uses]
        if used:
            raise ValueError(f"{self.name} is erased while {used[0]!r} is still used")
        self.drop_uses()
        if self.parent is not None:
            self.parent.remove(self)

    def move_before(self, anchor: Op) -> None:
        """Take the op out of its region and put it in front of `anchor`."""
        if self.parent is not None:
            self.parent.remove(self)
        assert anchor.parent is not None
        anchor.parent.insert_before(anchor, self)

    def replace_with(self, values: Sequence[Value]) -> None:
        """Let `values` stand for the results, then erase."""
        for old, new in zip(self.results, values, strict=True):
            old.replace_uses_with(new)
        self.erase()

    def parent_op(self) -> Op | None:
        owner = self.parent.parent if self.parent is not None else None
        return owner if isinstance(owner, Op) else None

    def is_inside(self, region: Region) -> bool:
        here = self.parent
        while here is not None:
            if here is region:
                return True
            owner = here.parent
            here = owner.parent if isinstance(owner, Op) else None
        return False

    def walk(self) -> Iterator[Op]:
        """This op, then everything nested in it."""
        yield self
        for region in self.regions:
            yield from region.walk()

    def clone(self, mapping: dict[Value, Value]) -> Op:
        """A detached deep copy; operands go through `mapping`, which gains the copies' results."""
        new = object.__new__(type(self))
        new.attrs = dict(self.attrs)
        new.segments = self.segments
        new.loc = self.loc
        new.parent = None
        new.operands = []
        new.set_operands([mapping.get(v, v) for v in self.operands])
        new.results = [Value(r.type, new, i, r.name) for i, r in enumerate(self.results)]
        new.regions = [clone_region(r, mapping, new) for r in self.regions]
        mapping.update(zip(self.results, new.results, strict=True))
        return new

    def __repr__(self) -> str:
        where = f" at {self.loc.line}" if self.loc else ""
        return f"<{self.name}{where}>"


def clone_region(region: Region, mapping: dict[Value, Value], parent: Op | Function | None) -> Region:
    """A deep copy of `region`; `mapping` gains its arguments and results."""
    new = Region(parent)
    for arg in region.args:
        mapping[arg] = new.add_arg(arg.type, arg.name)
    for op in region.ops:
        new.append(op.clone(mapping))
    return new


class Function:
    """A kernel in tile IR: a name, a body whose arguments are the run-time parameters, facts on them.

    arg_attrs[i]   facts promised at launch for argument i, such as ``{"divisibility": 16}``
    attrs          facts on the whole kernel, such as ``{"num_warps": 4}``
    """

    def __init__(self, name: str, loc: Loc | None = None) -> None:
        self.name = name
        self.loc = loc
        self.body = Region(self)
        self.arg_attrs: list[dict[str, Any]] = []
        self.attrs: dict[str, Any] = {}

    @property
    def args(self) -> list[Value]:
        return self.body.args

    def add_arg(self, ty: Type, name: str, **attrs: Any) -> Value:
        self.arg_attrs.append(attrs)
        return self.body.add_arg(ty, name)

    def walk(self) -> Iterator[Op]:
        return self.body.walk()

    def find(self, wanted: type[Op] | Callable[[Op], bool]) -> list[Op]:
        """All ops of a class, or that a predicate accepts."""
        if isinstance(wanted, type):
            return [op for op in self.walk() if isinstance(op, wanted)]
        return [op for op in self.walk() if wanted(op)]

    def clone(self) -> Function:
        new = Function(self.name, self.loc)
        new.attrs = dict(self.attrs)
        new.arg_attrs = [dict(a) for a in self.arg_attrs]
        new.body = clone_region(self.body, {}, new)
        return new

    def __repr__(self) -> str:
        return f"<function @{self.name}>"
