"""Proof or refutation, from a small run, that no int32 offset wraps around when sizes are as large as assumed.

The run shows how sizes, strides and grid hang together (`tritium.sanitizer.sizes`); the assumption replaces some
arguments by large values. Each int32 operation that an address is computed with is a polynomial in program ids, loop trips,
tile coordinates and arguments (`tritium.ops.facts`). Its extreme values over the lanes that are live under the mask decide:
inside int32 is a proof, an attained value outside of it a refutation, anything else is undecided and the report says why.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tritium.analysis.access import TileAccess
from tritium.ir.core import Op, Value
from tritium.ir.types import int32
from tritium.ops.compare import Compare
from tritium.ops.control import For, If, While
from tritium.ops.create import ProgramId
from tritium.ops.facts import Atom, Axis, Bound, Poly, Trip, Unknown
from tritium.sanitizer.context import Launch
from tritium.sanitizer.findings import Finding, Related
from tritium.sanitizer.flow import passed_from
from tritium.sanitizer.sizes import Sizes, argument_name, sizes_of

LOW, HIGH = -(1 << 31), (1 << 31) - 1
Range = tuple[int, int]

_CARRIED = ("tile.cast", "tile.select", "tile.hint")
_JOINED = ("tile.and", "tile.or", "tile.xor")
_THROUGH = frozenset({"tile.addptr", "tile.add", "tile.sub", "tile.mul", "tile.shl", *_CARRIED, *_JOINED})
_MOST_CORNERS = 4096


class Undecided(Exception):
    """Something that the assumptions say nothing about; the message is a clause."""


@dataclass(frozen=True, slots=True)
class Capped:
    """An index that the mask keeps below a limit, as one variable of a polynomial."""

    name: str
    poly: Poly
    low: int
    high: int


def examine(launch: Launch, assume: Mapping[str, int]) -> None:
    """Prove or refute for the kernel of a launch, and add the proof or the finding to the session."""
    known = {n: v for n, v in assume.items() if n in launch.scalars}
    fixed = [n for n in assume if n in launch.constants]
    if not known and not fixed:
        return
    sizes = sizes_of(launch, known)
    reasons = [f"`{n}` is a compile-time value of this run" for n in fixed if n not in known]
    refuted = False
    checked: set[tuple[Op, Op, bool]] = set()
    for op, access, step, axes, masked in _all_steps(launch):
        if (op, step, masked) not in checked and _may_wrap(launch, step):
            checked.add((op, step, masked))
            try:
                wrapped = _wraps(launch, sizes, access, step, axes, masked)
            except Undecided as why:
                line = f" in line {step.loc.line}" if step.loc is not None else ""
                reasons.append(f"the index{line} depends on {why}")
                continue
            if wrapped is not None:
                refuted = True
                _refute(launch, sizes, op, step, *wrapped)
    _conclude(launch, sizes, refuted, list(dict.fromkeys(reasons)))


def _conclude(launch: Launch, sizes: Sizes, refuted: bool, reasons: Sequence[str]) -> None:
    given = ", ".join(f"{n} = {v}" for n, v in sizes.assumed.items())
    taken = f"; taking {', '.join(sizes.taken)}" if sizes.taken else ""
    if refuted:
        verdict, text = "refuted", f"an int32 offset of `{launch.name}` wraps around with {given}{taken}"
    elif reasons:
        verdict, text = "undecided", f"`{launch.name}` with {given}: {'; '.join(reasons)}{taken}"
    else:
        verdict, text = "proved", f"no int32 offset of `{launch.name}` wraps around with {given}{taken}"
    proof: dict[str, Any] = {
        "kernel": launch.name,
        "verdict": verdict,
        "message": text,
        "assumptions": dict(sizes.assumed),
        "taken": list(sizes.taken),
        "reasons": list(reasons),
    }
    launch.session.add_proof(proof)


def _refute(launch: Launch, sizes: Sizes, op: Op, step: Op, value: int, witness: Mapping[str, int]) -> None:
    where = ", ".join(f"{n} = {v}" for n, v in witness.items())
    name = launch.access(op).base
    array = f" of `{name.name}`" if name is not None and name.name else ""
    finding = Finding(
        "offset-overflow",
        f"with {where} this int32 result is {value}, outside of int32; it becomes part of an address{array}",
        launch.name,
        step.loc,
        mend="cast one operand with .to(tl.int64)",
        measures={"value": float(value)},
    )
    finding.related = [Related("the access is here", op.loc)]
    launch.session.add(finding)


# ---- which operations ---------------------------------------------------------------------------------


def _all_steps(launch: Launch) -> Iterator[tuple[Op, TileAccess, Op, tuple[int | None, ...], bool]]:
    """(access op, access, int32 operation, its axes, whether the mask bounds its lanes) for addresses and masks.

    A mask decides for all lanes: an index that wraps around on its way to a comparison may come out as one that is let
    through.
    """
    for op, access in launch.facts.accesses.accesses.items():
        mask: Value | None = getattr(op, "mask", None)
        if mask is not None:
            yield from ((op, access, step, axes, False) for step, axes in _steps_of(mask))
        yield from ((op, access, step, axes, True) for step, axes in _steps_of(op.operands[0]))


def _steps_of(start: Value) -> Iterator[tuple[Op, tuple[int | None, ...]]]:
    """The int32 operations that an address or a mask is computed with; for each axis of theirs the access's own."""
    waiting: list[tuple[Value, tuple[int | None, ...]]] = [(start, tuple(range(len(start.type.shape))))]
    seen: set[tuple[Value, tuple[int | None, ...]]] = set()
    while waiting:
        item = waiting.pop()
        if item in seen:
            continue
        seen.add(item)
        value, axes = item
        owner = value.owner
        if not isinstance(owner, Op) or isinstance(owner, (For, While, If)):
            waiting.extend((v, axes) for v in passed_from(value))
        elif owner.name == "tile.expand_dims":
            at = owner.attrs["axis"]
            waiting.append((owner.operands[0], axes[:at] + axes[at + 1 :]))
        elif owner.name == "tile.broadcast":
            source = owner.operands[0]
            waiting.append((source, axes[len(axes) - len(source.type.shape) :] if source.type.shape else ()))
        elif owner.name in _THROUGH or isinstance(owner, Compare):
            scalar = value.type.scalar
            if scalar is int32 and owner.name not in _CARRIED:
                yield owner, axes
            waiting.extend((v, axes if v.type.shape else ()) for v in owner.operands)


def _may_wrap(launch: Launch, step: Op) -> bool:
    return any(w.op is step for w in launch.facts.values[step.results[0]].wraps)


# ---- extremes -----------------------------------------------------------------------------------------


def _wraps(
    launch: Launch, sizes: Sizes, access: TileAccess, step: Op, axes: Sequence[int | None], masked: bool
) -> tuple[int, dict[str, int]] | None:
    """A value outside of int32 that a live lane of `step` takes, with the variables' values; None if there is none.

    Raises Undecided.
    """
    poly = launch.facts.values[step.results[0]].poly
    if poly is None or any(isinstance(a, Unknown) and a.value is step.results[0] for a in poly.atoms()):
        raise Undecided("a value that is no polynomial of sizes and indices")
    poly = poly.place_axes(lambda a: axes[a] if a < len(axes) else None)
    caps, rest = _capped(launch, sizes, access, poly) if masked else ([], poly)
    box = {a: _range(launch, sizes, access, a) for a in _atoms(rest, caps)}
    exact = _independent(rest, caps)
    worst = _extremes(rest, caps, box)
    for value, witness in worst:
        if not LOW <= value <= HIGH:
            if not exact:
                raise Undecided("indices that the mask ties together")
            named = {_shown(launch, a): v for a, v in witness.items() if not isinstance(a, Axis)}
            return value, {**named, **_used_arguments(sizes, poly)}
    return None


def _used_arguments(sizes: Sizes, poly: Poly) -> dict[str, int]:
    found: dict[str, int] = {}
    for atom in poly.atoms():
        name = argument_name(Poly.atom(atom))
        if name is not None and name in sizes.values:
            found[name] = sizes.values[name]
    return found


def _capped(
    launch: Launch, sizes: Sizes, access: TileAccess, poly: Poly
) -> tuple[list[tuple[Poly, Capped]], Poly]:
    """The polynomial as a sum of factor * index, for indices that the mask bounds, and a rest."""
    caps: list[tuple[Poly, Capped]] = []
    for d in sorted(poly.axes()):
        factor = poly.coefficient(Axis(d))
        if factor is None or factor.axes():
            continue
        for bound in access.axes[d].bounds if d < len(access.axes) else ():
            index = bound.left
            if bound.relation not in ("<", "<=") or index.coefficient(Axis(d)) != Poly.constant(1):
                continue
            remaining = poly - factor * index
            if d in remaining.axes() or len(remaining.terms) > len(poly.terms):
                continue
            name = launch.facts.names.of_index(index, d, len(access.shape))[0] or f"the index along axis {d}"
            cap = _limit(launch, sizes, access, bound, name)
            caps.append((factor, cap))
            poly = remaining
            break
    return caps, poly


def _limit(launch: Launch, sizes: Sizes, access: TileAccess, bound: Bound, name: str) -> Capped:
    left = _interval(launch, sizes, access, bound.left)
    right = _interval(launch, sizes, access, bound.right)
    high = right[1] - (1 if bound.relation == "<" else 0)
    return Capped(name, bound.left, left[0], min(left[1], high))


def _interval(launch: Launch, sizes: Sizes, access: TileAccess, poly: Poly) -> Range:
    low = high = 0
    for monomial, coefficient in poly.terms.items():
        a, b = coefficient, coefficient
        for atom in monomial:
            c, d = _range(launch, sizes, access, atom)
            corners = (a * c, a * d, b * c, b * d)
            a, b = min(corners), max(corners)
        low, high = low + min(a, b), high + max(a, b)
    return low, high


def _range(launch: Launch, sizes: Sizes, access: TileAccess, atom: Atom) -> Range:
    """The values of an atom with the assumed sizes. Raises Undecided."""
    if isinstance(atom, Axis):
        return 0, access.shape[atom.axis] - 1
    if isinstance(atom, Trip):
        return 0, _most_trips(launch, sizes, access, atom.loop)
    op = atom.value.defining_op
    name = atom.value.name
    if op is None:
        if name in sizes.open:
            raise Undecided(sizes.open[name])
        if name in sizes.values:
            return sizes.values[name], sizes.values[name]
        raise Undecided(f"`{name}`" if name else "a value that a loop carries")
    if isinstance(op, ProgramId):
        extent = sizes.grid[op.axis]
        if extent is None:
            raise Undecided(f"program_id({op.axis}), whose range does not follow from the sizes")
        return 0, max(extent - 1, 0)
    if op.name == "tile.num_programs":
        extent = sizes.grid[op.attrs["axis"]]
        if extent is not None:
            return extent, extent
    facts = launch.facts.values[atom.value]
    if facts.lo is not None and facts.hi is not None and facts.lo > -(1 << 30) and facts.hi < 1 << 30:
        return facts.lo, facts.hi
    what = f"`{name}`" if name else f"a result of {op.name.removeprefix('tile.')}"
    source = ", which is read from memory" if op.name == "tile.load" else ""
    raise Undecided(f"{what}{source}")


def _most_trips(launch: Launch, sizes: Sizes, access: TileAccess, loop: Op) -> int:
    if not isinstance(loop, For):
        raise Undecided("how often a while loop runs")
    facts = launch.facts.values
    polys = [facts[v].poly for v in (loop.lower, loop.upper, loop.step)]
    if any(p is None for p in polys):
        raise Undecided("how often a loop runs")
    lower, upper, step = (_interval(launch, sizes, access, p) for p in polys if p is not None)
    if step[0] <= 0:
        raise Undecided("a loop that counts down")
    return max(-(-(upper[1] - lower[0]) // step[0]) - 1, 0)


def _atoms(rest: Poly, caps: Sequence[tuple[Poly, Capped]]) -> list[Atom]:
    found = set(rest.atoms())
    for factor, _ in caps:
        found |= factor.atoms()
    return sorted(found, key=str)


def _independent(rest: Poly, caps: Sequence[tuple[Poly, Capped]]) -> bool:
    """Whether the capped indices and the other atoms take their extremes independently of each other."""
    inside: set[Atom] = set()
    for _, cap in caps:
        varying = {a for a in cap.poly.atoms() if _varies(a)}
        if varying & inside:
            return False
        inside |= varying
    outside = {a for a in _atoms(rest, caps) if _varies(a)}
    return not outside & inside


def _varies(atom: Atom) -> bool:
    return not isinstance(atom, Unknown) or atom.value.defining_op is not None


def _extremes(
    rest: Poly, caps: Sequence[tuple[Poly, Capped]], box: Mapping[Atom, Range]
) -> list[tuple[int, dict[Any, int]]]:
    """Lowest and highest value at the corners of the box, where a multilinear polynomial has its extremes.

    Raises Undecided where an atom occurs to a power, or there are too many.
    """
    for poly in (rest, *(f for f, _ in caps)):
        if any(len(set(m)) != len(m) for m in poly.terms if any(box[a][0] != box[a][1] for a in m)):
            raise Undecided("a square of an index")
    free = [a for a, (low, high) in box.items() if low != high]
    if 2 ** (len(free) + len(caps)) > _MOST_CORNERS:
        raise Undecided("too many indices at once")
    values = {a: low for a, (low, _) in box.items()}
    lowest: tuple[int, dict[Any, int]] | None = None
    highest: tuple[int, dict[Any, int]] | None = None
    for corner in itertools.product(*(box[a] for a in free), *((c.low, c.high) for _, c in caps)):
        values.update(zip(free, corner, strict=False))
        tops = corner[len(free) :]
        total = _at(rest, values) + sum(_at(f, values) * x for (f, _), x in zip(caps, tops, strict=True))
        witness: dict[Any, int] = {a: values[a] for a in free}
        witness |= {c: x for (_, c), x in zip(caps, tops, strict=True)}
        if lowest is None or total < lowest[0]:
            lowest = total, witness
        if highest is None or total > highest[0]:
            highest = total, witness
    return [x for x in (highest, lowest) if x is not None]


def _at(poly: Poly, values: Mapping[Atom, int]) -> int:
    total = 0
    for monomial, coefficient in poly.terms.items():
        product = coefficient
        for atom in monomial:
            product *= values[atom]
        total += product
    return total


def _shown(launch: Launch, term: Any) -> str:
    if isinstance(term, Capped):
        return term.name
    if isinstance(term, Trip):
        return f"trip {term.loop.loc.line}" if term.loop.loc is not None else "trip"
    return str(term)
