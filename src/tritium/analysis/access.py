"""How loads and stores address memory: the analysis every backend and the sanitizer build on.

Each load, store and atomic becomes a `TileAccess`: base argument, and per tile axis an index, a stride and the bounds
that the mask puts on the index. Worked example, the A tile of a matmul::

    rows = pid_m * 64 + tl.arange(0, 64)
    ks = k0 + tl.arange(0, 32)
    a = tl.load(a_ptr + rows[:, None] * stride_am + ks[None, :] * stride_ak,
                mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0)

    load a_ptr[64x32 f32] line 12
      axis 0: index d0 + 64*pid_m     stride stride_am    bounds  d0 + 64*pid_m < M
      axis 1: index d1 + 32*trip      stride stride_ak    bounds  d1 + 32*trip < K
      base offset 0, other 0.0

What could not be understood is said in `unknown`, never guessed. Strides and offsets are in elements. `wraps` lists
the operations that would have to overflow for the description to be wrong; `alignment` holds even then.

An index is the tile coordinate plus whatever else the mask compares along with it, so ``ks < K`` with pointers that were
computed once, and ``offs < K - k * 32`` with pointers that advance, come out as the same index and the same bound. An
axis without a mask takes what shares its stride.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tritium.analysis.alias import AliasAnalysis, AliasClass
from tritium.analysis.value_facts import ValueFacts
from tritium.ir.core import Function, Op, Value
from tritium.ir.types import PointerType
from tritium.ops.base import Effect, TileOp
from tritium.ops.create import Constant
from tritium.ops.facts import Axis, Bound, Facts, Monomial, Poly, Trip, Unknown, power_of_two


@dataclass(frozen=True, slots=True)
class AxisAccess:
    """One axis of a tile access.

    index    the position along the array's axis, as far as it can be told apart; contains d<axis>
    stride   elements between neighbouring positions: 0 for a broadcast axis
    bounds   what the mask demands of this axis alone, with `index` on one side where that can be had
    linear   whether neighbours along the tile axis are neighbours in the array; else `index` is looked up or wrapped
    modulo   (x, m) where the index is ``x % m``
    """

    extent: int
    index: Poly
    stride: Poly
    bounds: tuple[Bound, ...]
    linear: bool = True
    modulo: tuple[Poly, Poly] | None = None

    @property
    def contiguous(self) -> bool:
        return self.linear and self.stride.as_constant == 1


@dataclass(frozen=True, slots=True)
class TileAccess:
    """One memory access of the kernel; see the module text.

    base        the pointer the address starts from, an argument as a rule, or None
    axes        one entry per tile axis, or () where the address is no sum over the axes
    offset      what remains of the element offset when the axes are taken out
    mask_rest   mask conditions that concern several axes or none
    mask_exact  whether the bounds say everything about the mask
    other       the literal that masked lanes read, None if there is no `other`, or the value
    alignment   bytes that the address of element (0, 0, ...) is known to be a multiple of, a power of two
    unknown     sentences on what could not be understood
    """

    op: Op
    kind: str
    base: Value | None
    alias: AliasClass
    element_bytes: int
    shape: tuple[int, ...]
    axes: tuple[AxisAccess, ...]
    offset: Poly | None
    mask_rest: tuple[Bound, ...]
    mask_exact: bool
    masked: bool
    other: bool | int | float | Value | None
    alignment: int
    unknown: tuple[str, ...]
    wraps: tuple[Op, ...]

    @property
    def affine(self) -> bool:
        """Whether the address is understood as base + sum of linear index times stride."""
        known = self.base is not None and len(self.axes) == len(self.shape) and self.offset is not None
        return known and all(a.linear for a in self.axes)

    def describe(self) -> str:
        """The readable dump."""
        where = f" line {self.op.loc.line}" if self.op.loc else ""
        name = (self.base.name or "?") if self.base is not None else "an unknown pointer"
        shape = "x".join(map(str, self.shape)) or "scalar"
        lines = [f"{self.kind} {name}[{shape}, {self.element_bytes}-byte elements]{where}"]
        for i, axis in enumerate(self.axes):
            bounds = " and ".join(map(str, axis.bounds)) or "none"
            index = f"({axis.modulo[0]}) % ({axis.modulo[1]})" if axis.modulo else str(axis.index)
            how = "" if axis.linear else "  (not linear)"
            lines.append(f"  axis {i}: index {index}  stride {axis.stride}  bounds {bounds}{how}")
        if self.offset is not None:
            lines.append(f"  base offset {self.offset}, aligned to {self.alignment} bytes")
        if self.masked:
            rest = " and ".join(map(str, self.mask_rest))
            exact = "" if self.mask_exact else " (the mask has further conditions)"
            if rest or exact:
                lines.append(f"  further mask: {rest or 'none understood'}{exact}")
            if self.kind == "load":
                lines.append(f"  other {'undefined' if self.other is None else self.other}")
        lines += [f"  not understood: {u}" for u in self.unknown]
        if self.wraps:
            wrapped = ", ".join(map(str, sorted({op.loc.line for op in self.wraps if op.loc})))
            lines.append("  if no integer overflows" + (f" in line {wrapped}" if wrapped else ""))
        return "\n".join(lines)


_KINDS = {Effect.READ: "load", Effect.WRITE: "store"}


class AccessAnalysis:
    """All memory accesses of a function, in program order; ``analysis[op]`` for one."""

    def __init__(self, function: Function, facts: ValueFacts | None = None) -> None:
        self.function = function
        self.facts = facts or ValueFacts(function)
        self.alias = AliasAnalysis(function)
        self.accesses: dict[Op, TileAccess] = {}
        for op in function.walk():
            if isinstance(op, TileOp) and not op.regions and op.operands:
                pointer = op.operands[0]
                if op.effects() & (Effect.READ | Effect.WRITE | Effect.ATOMIC) and _is_pointer(pointer):
                    self.accesses[op] = self._access(op, pointer)

    def __getitem__(self, op: Op) -> TileAccess:
        return self.accesses[op]

    def describe(self) -> str:
        """The dump of all accesses."""
        return "\n".join(a.describe() for a in self.accesses.values()) + "\n"

    def _access(self, op: TileOp, pointer: Value) -> TileAccess:
        facts = self.facts[pointer]
        scalar = pointer.type.scalar
        assert isinstance(scalar, PointerType)
        size = scalar.element_ty.itemsize
        shape = pointer.type.shape
        unknown: list[str] = []
        alias = self.alias.class_of(pointer)
        base, offset = self._base(facts, size, unknown)
        mask = getattr(op, "mask", None)
        known_mask = self.facts[mask] if mask is not None else None
        bounds = known_mask.bounds if known_mask is not None else ()
        axes, rest = self._split_axes(offset, shape, bounds, unknown) if offset is not None else ((), None)
        masks = tuple(b for b in bounds if not axes or len(b.axes()) != 1)
        exact = known_mask is None or known_mask.exact
        if not exact:
            unknown.append("part of the mask")
        return TileAccess(
            op=op,
            kind="atomic"
            if op.effects() & Effect.ATOMIC
            else _KINDS.get(op.effects() & ~Effect.VOLATILE, "access"),
            base=base,
            alias=alias,
            element_bytes=size,
            shape=shape,
            axes=axes,
            offset=rest,
            mask_rest=masks,
            mask_exact=exact,
            masked=mask is not None,
            other=_other(op),
            alignment=power_of_two(facts.origin) or 1 << 30,
            unknown=tuple(unknown),
            wraps=tuple(
                dict.fromkeys(w.op for w in (*facts.wraps, *(known_mask.wraps if known_mask else ())))
            ),
        )

    def _base(self, facts: Facts, size: int, unknown: list[str]) -> tuple[Value | None, Poly | None]:
        """The base argument of an address polynomial (bytes), and the rest in elements."""
        if facts.poly is None:
            unknown.append("the address")
            return None, None
        bases = [
            a
            for a in facts.poly.atoms()
            if isinstance(a, Unknown) and not a.axes and isinstance(a.value.type, PointerType)
        ]
        if len(bases) != 1 or facts.poly.coefficient(bases[0]) != Poly.constant(1):
            unknown.append("which array the address comes from")
            return None, None
        elements = facts.poly.without(bases[0]).divided_by(Poly.constant(size))
        if elements is None:
            unknown.append(f"an offset that is no multiple of the element size, {size} bytes")
        return bases[0].value, elements

    def _split_axes(
        self, offset: Poly, shape: tuple[int, ...], bounds: tuple[Bound, ...], unknown: list[str]
    ) -> tuple[tuple[AxisAccess, ...], Poly | None]:
        """Take an element offset apart into one index and stride per tile axis, and a rest."""
        moving: list[tuple[Poly, Poly, bool, tuple[Poly, Poly] | None]] = []  # index, stride, linear, modulo
        rest = offset
        for axis in range(len(shape)):
            found = self._along(offset, axis)
            if found is None:
                unknown.append(f"how the offset depends on axis {axis}")
                return (), None
            moving.append(found)
            rest = rest - found[0] * found[1]
        if rest.axes():
            unknown.append("an offset that is no sum over the axes")
            return (), None
        made: list[AxisAccess | None] = [None] * len(shape)
        for axis in sorted(range(len(shape)), key=lambda a: moving[a][1].as_constant is not None):
            index, stride, linear, modulo = moving[axis]
            own = tuple(b for b in bounds if b.axes() == {axis})
            if linear:
                start = _start(axis, stride, rest, own)
                index, rest = index + start, rest - stride * start
                own = tuple(_about(index, axis, b) for b in own)
            made[axis] = AxisAccess(shape[axis], index, stride, own, linear, modulo)
        return tuple(a for a in made if a is not None), rest

    def _along(self, offset: Poly, axis: int) -> tuple[Poly, Poly, bool, tuple[Poly, Poly] | None] | None:
        """What moves along `axis`: its coordinate, or one value looked up by it; with its stride."""
        coordinate = Axis(axis)
        looked_up = [a for a in offset.atoms() if isinstance(a, Unknown) and axis in a.moving]
        if not looked_up:
            stride = offset.coefficient(coordinate)
            return None if stride is None or stride.axes() else (Poly.atom(coordinate), stride, True, None)
        (atom, *more) = looked_up
        stride = offset.coefficient(atom)
        tangled = more or atom.moving != {axis} or any(coordinate in m for m in offset.terms)
        if tangled or stride is None or stride.axes():
            return None
        modulo = self.facts[atom.value].modulo
        if modulo is not None:
            x, m = (p.place_axes(lambda i: atom.axes[i]) for p in modulo)
            return Poly.atom(atom), stride, False, (x, m)
        return Poly.atom(atom), stride, False, None


def _is_pointer(value: Value) -> bool:
    return isinstance(value.type.scalar, PointerType)


def _other(op: Op) -> bool | int | float | Value | None:
    other: Value | None = getattr(op, "other", None)
    if other is None:
        return None
    return other.owner.value if isinstance(other.owner, Constant) else other


def _start(axis: int, stride: Poly, rest: Poly, bounds: tuple[Bound, ...]) -> Poly:
    """Which part of the rest, counted in strides, belongs to this axis's index besides the tile coordinate."""
    if not stride.terms:
        return Poly({})
    shares: dict[Monomial, int] = {}
    for monomial, coefficient in rest.terms.items():
        part = Poly({monomial: coefficient}).divided_by(stride)
        if part is not None:
            shares.update(part.terms)
    if bounds:
        return Poly({m: c for m, c in shares.items() if any(_compared(axis, m, c, b) for b in bounds)})
    if stride.as_constant == 1:  # everything is a multiple of 1: products are the positions along other axes
        return Poly({m: c for m, c in shares.items() if len(m) <= 1})
    return Poly(shares) if stride.as_constant is None else Poly({})


def _compared(axis: int, monomial: Monomial, coefficient: int, bound: Bound) -> bool:
    """Whether `bound` compares ``d<axis> + coefficient*monomial``: written so, or with the term on the other side.

    What does not move from trip to trip or program to program is a limit where it stands on the other side.
    """
    for side, other in ((bound.left, bound.right), (bound.right, bound.left)):
        sign = side.terms.get((Axis(axis),))
        if sign not in (1, -1):
            continue
        if side.terms.get(monomial) == sign * coefficient:
            return True
        moves = any(isinstance(a, Trip) or (isinstance(a, Unknown) and a.value.defining_op) for a in monomial)
        if moves and other.terms.get(monomial) == -sign * coefficient:
            return True
    return False


def _about(index: Poly, axis: int, bound: Bound) -> Bound:
    """The same condition with `index` alone on one side, if it compares the coordinate of `axis` once."""
    gap = bound.right - bound.left
    sign = gap.coefficient(Axis(axis))
    if sign is None or sign.as_constant not in (1, -1):
        return bound
    if sign.as_constant == -1:
        return replace(bound, left=index, right=gap + index)
    return replace(bound, left=index - gap, right=index)
