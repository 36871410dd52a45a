"""What is wrong with a kernel before it runs: masks that decide nothing, accumulators that start anew in every trip."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritium.analysis.access import TileAccess
from tritium.errors import Loc
from tritium.errors.location import source_line
from tritium.ir.core import Op, Region, Value
from tritium.ir.types import DType
from tritium.ops.base import Effect, TileOp
from tritium.ops.control import For, While
from tritium.ops.create import ProgramId
from tritium.ops.facts import Atom, Bound, Poly, Trip, Unknown
from tritium.sanitizer.context import KernelFacts
from tritium.sanitizer.findings import Finding, Related

_MASK_OPS = frozenset({"tile.and", "tile.broadcast", "tile.expand_dims"})


def findings_of(facts: KernelFacts, kernel: str) -> list[Finding]:
    """All structural findings of a kernel."""
    found = [*_idle_masks(facts), *_decided_masks(facts), *_reset_accumulators(facts)]
    for finding in found:
        finding.kernel = kernel
    return found


# ---- masks ----------------------------------------------------------------------------------------------


def _idle_masks(facts: KernelFacts) -> Iterator[Finding]:
    """Conditions about one axis whose index moves with other things than the index of the access along that axis."""
    for op, access in facts.accesses.accesses.items():
        if not access.affine:
            continue
        rank = len(access.shape)
        for tile, axis in enumerate(access.axes):
            moving = _moving(axis.index) | _left_over(access, axis.stride)
            if not axis.stride.terms or not moving:
                continue
            for bound in axis.bounds:
                compared = _moving(bound.left - bound.right)
                if compared and not compared & moving and bound.op is not None:
                    yield _idle(facts, op, access, tile, rank, bound)


def _left_over(access: TileAccess, stride: Poly) -> set[Atom]:
    """Program ids and trips that move the access by this stride, and that no condition of its mask compares."""
    found: set[Atom] = set()
    for monomial, coefficient in access.offset.terms.items() if access.offset is not None else ():
        share = Poly({monomial: coefficient}).divided_by(stride)
        if share is not None and len(share.atoms()) == 1:
            found |= _moving(share)
    return found


def _moving(poly: Poly) -> set[Atom]:
    """The program ids and loop trips in a polynomial. What is read from memory may stand for any of them."""
    return {
        a
        for a in poly.atoms()
        if isinstance(a, Trip) or (isinstance(a, Unknown) and isinstance(a.value.defining_op, ProgramId))
    }


def _idle(facts: KernelFacts, op: Op, access: TileAccess, tile: int, rank: int, bound: Bound) -> Finding:
    index = facts.names.of_index(access.axes[tile].index, tile, rank)[0]
    array = access.base.name if access.base is not None else None
    by = f"`{index}`" if index else "another index"
    text = f"this condition says nothing about the access to `{array}`: along axis {tile} of the tile that goes by {by}"
    assert bound.op is not None
    return Finding("idle-mask", text, loc=bound.op.loc, related=[Related("the access is here", op.loc)])


def _decided_masks(facts: KernelFacts) -> Iterator[Finding]:
    """Masks that are false everywhere, and comparisons that are true everywhere.

    Only where that follows from literals, or from conditions that exclude each other: what an argument of this launch
    decides may come out otherwise in the next.
    """
    for op in facts.function.walk():
        mask = getattr(op, "mask", None) if isinstance(op, TileOp) and not op.regions else None
        if mask is None or not isinstance(mask, Value):
            continue
        parts = [p for p in _parts(mask) if isinstance(p.owner, Op) and _of_literals(p.owner)]
        if _contradicts(facts.values[mask].bounds) or any(facts.values[p].hi == 0 for p in parts):
            writes = bool(op.effects() & (Effect.WRITE | Effect.ATOMIC))  # type: ignore[union-attr]
            kind, what = ("unreachable-store", "store") if writes else ("dead-mask", "load")
            text = f"the mask of this {what} is false everywhere, so it never touches memory"
            yield Finding(kind, text, loc=op.loc)
            continue
        for part in parts:
            if facts.values[part].lo == 1 and isinstance(part.owner, Op):
                text = "this condition is true everywhere: it masks nothing"
                related = [Related("the access is here", op.loc)]
                yield Finding("dead-mask", text, loc=part.owner.loc, related=related)


def _contradicts(bounds: tuple[Bound, ...]) -> bool:
    """Whether two conditions of a mask exclude each other, whatever the arguments are: ``x < n`` and ``n <= x``.

    Not where one side is a number: that may be an argument which this launch was compiled for.
    """
    strict = {(b.left, b.right) for b in bounds if b.relation == "<" and b.left.atoms() and b.right.atoms()}
    weak = {(b.left, b.right) for b in bounds if b.relation in ("<", "<=")}
    return any((right, left) in weak for left, right in strict)


def _parts(mask: Value) -> Iterator[Value]:
    """The comparisons that a mask is made of."""
    waiting = [mask]
    seen: set[Value] = set()
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        if isinstance(owner, Op) and owner.name in _MASK_OPS:
            waiting.extend(owner.operands)
        else:
            yield value


def _of_literals(op: Op) -> bool:
    """Whether a comparison depends on nothing but literals of the source: other values may differ in other launches."""
    tree = _expression(op.loc)
    if not isinstance(tree, ast.Compare) or not isinstance(tree.comparators[0], ast.Constant):
        return False
    return _only_literals(op.operands[0], set()) and _only_literals(op.operands[1], set())


def _only_literals(value: Value, seen: set[Value]) -> bool:
    if value in seen:
        return True
    seen.add(value)
    owner = value.owner
    if isinstance(owner, Region) or owner.regions:
        return False
    if owner.name == "tile.arange":
        call = _expression(owner.loc)
        return isinstance(call, ast.Call) and all(isinstance(a, ast.Constant) for a in call.args)
    if owner.name == "tile.constant":
        return True
    return bool(owner.operands) and all(_only_literals(v, seen) for v in owner.operands)


def _expression(loc: Loc | None) -> ast.expr | None:
    """The source of a place on one line, parsed."""
    text = source_line(loc.file, loc.line) if loc is not None else None
    if loc is None or text is None or (loc.end_line or loc.line) != loc.line:
        return None
    try:
        return ast.parse(text[loc.col : loc.end_col].strip(), mode="eval").body
    except SyntaxError:
        return None


# ---- accumulators ---------------------------------------------------------------------------------------


def _reset_accumulators(facts: KernelFacts) -> Iterator[Finding]:
    """Values that a loop hands on without reading them, made of a tile of zeros that is created in the loop."""
    for op in facts.function.walk():
        if not isinstance(op, (For, While)):
            continue
        shift = 1 if isinstance(op, For) else 0
        for i, result in enumerate(op.results):
            args = [r.args[i + (shift if r is op.body else 0)] for r in op.regions]
            if not result.uses or any(a.uses for a in args):
                continue
            out = op.body.ops[-1].operands[i]
            zeros = _zeros_under(out, op.body)
            if zeros is not None and isinstance(out.owner, Op):
                name = out.name or result.name
                called = f"`{name}`" if name else "this accumulator"
                yield Finding(
                    "accumulator-reset",
                    f"{called} is created anew in every trip of the loop, so only what the last trip adds is left",
                    loc=zeros.loc,
                    related=[
                        Related("the sum is handed on here", out.owner.loc),
                        Related("of this loop", op.loc),
                    ],
                    mend="create the accumulator before the loop",
                )


def _zeros_under(value: Value, body: Region) -> Op | None:
    """The tile of zeros, created in `body`, that `value` is added up on; None if it is no such sum."""
    added = False
    while True:
        owner = value.owner
        if not isinstance(owner, Op) or owner.parent is not body:
            return None
        if owner.name == "tile.constant":
            is_tile = bool(owner.results[0].type.shape) and isinstance(owner.results[0].type.scalar, DType)
            return owner if added and is_tile and owner.attrs["value"] == 0 else None
        if owner.name == "tile.dot" and len(owner.operands) == 3:
            value, added = owner.operands[2], True
        elif owner.name == "tile.add":
            starts = [v for v in owner.operands if _is_zeros(v, body)]
            value, added = (starts[0] if starts else owner.operands[0]), True
        else:
            return None


def _is_zeros(value: Value, body: Region) -> bool:
    owner = value.owner
    return isinstance(owner, Op) and owner.parent is body and owner.name == "tile.constant"
