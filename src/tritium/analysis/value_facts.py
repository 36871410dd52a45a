"""Facts of every value of a function: runs the ops' ``facts`` facets forward, through loops and branches.

A carried value that grows by the same amount every trip (an advancing pointer, a counter) is recognised and gets a
polynomial in the loop's trip number::

    for k in range(0, K, 32):          k        0 + 32*trip
        ... a_ptrs ...                 a_ptrs   init + (32*stride_ak)*trip
        a_ptrs += 32 * stride_ak

The body is looked at twice: once with the carried values unknown, to see what they grow by, once with the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.types import DType, PointerType
from tritium.ops.base import TileOp
from tritium.ops.control import For, If, While
from tritium.ops.facts import NOTHING, Axis, Facts, Poly, Trip, Unknown, join, merge_wraps, of_type, opaque


class ValueFacts:
    """``facts[value]`` for one function; see `tritium.ops.facts` for what they say."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self._facts: dict[Value, Facts] = {}
        for arg, promised in zip(function.args, function.arg_attrs, strict=True):
            self._facts[arg] = _argument(arg, promised)
        self._region(function.body)

    def __getitem__(self, value: Value) -> Facts:
        return self._facts.get(value, NOTHING)

    def _region(self, region: Region) -> None:
        for op in region.ops:
            if isinstance(op, For):
                self._for(op)
            elif isinstance(op, While):
                self._while(op)
            elif isinstance(op, If):
                self._if(op)
            elif op.results:
                self._op(op)

    def _op(self, op: Op) -> None:
        assert isinstance(op, TileOp)
        if len(op.results) == 1 and not op.regions:
            found = op.facts(*(self[v] for v in op.operands))
            if found is not None:
                self._facts[op.results[0]] = found if found.poly is not None else opaque(op.results[0], found)
                return
        for r in op.results:
            self._facts[r] = _unknown(r)

    # ---- control flow --------------------------------------------------------------------------------

    def _if(self, op: If) -> None:
        for region in op.regions:
            self._region(region)
        for i, r in enumerate(op.results):
            a, b = (self[region.ops[-1].operands[i]] for region in op.regions)
            both = join(a, b)
            self._facts[r] = both if both.poly is not None else opaque(r, both)

    def _while(self, op: While) -> None:
        self._carry(op, op.inits, [op.cond, op.body], 0)

    def _for(self, op: For) -> None:
        self._facts[op.body.args[0]] = self._induction(op)
        self._carry(op, op.inits, [op.body], 1)

    def _induction(self, op: For) -> Facts:
        lower, upper, step = self[op.lower], self[op.upper], self[op.step]
        iv = op.body.args[0]
        poly = None
        if lower.poly is not None and step.poly is not None:
            poly = lower.poly + step.poly * Poly.atom(Trip(op))
        lo, hi = of_type(iv.type)
        if step.constant is not None and step.constant > 0:
            lo = lower.lo if lower.lo is not None else lo
            hi = upper.hi - 1 if upper.hi is not None else hi
        elif step.constant is not None and step.constant < 0:
            hi = lower.hi if lower.hi is not None else hi
            lo = upper.lo + 1 if upper.lo is not None else lo
        divisibility = _gcd(lower.divisibility, step.divisibility)
        return Facts(lo, hi, divisibility, poly, wraps=merge_wraps(lower.wraps, step.wraps))

    def _carry(self, op: For | While, inits: Sequence[Value], regions: list[Region], shift: int) -> None:
        body = regions[-1]
        args = [r.args[shift:] for r in regions]
        for copies in zip(*args, strict=True):
            for arg in copies:
                self._facts[arg] = _unknown(copies[-1])
        for region in regions:
            self._region(region)
        found: list[Facts] = []
        for init, arg, out in zip(inits, args[-1], body.ops[-1].operands, strict=True):
            found.append(self._growth(op, init, arg, out))
        if any(f.poly is not None for f in found):
            for copies, facts in zip(zip(*args, strict=True), found, strict=True):
                if facts.poly is not None:
                    for arg in copies:
                        self._facts[arg] = facts
            for region in regions:
                self._region(region)
        for r in op.results:
            self._facts[r] = _unknown(r)

    def _growth(self, op: For | While, init: Value, arg: Value, out: Value) -> Facts:
        """Facts of a carried value that grows by an invariant amount each trip, else nothing."""
        start, end = self[init], self[out]
        if start.poly is None or end.poly is None:
            return NOTHING
        step = end.poly - Poly.atom(_atom(arg))
        if any(not _invariant(a, op) for a in step.atoms()):
            return NOTHING
        low, high = of_type(arg.type)
        poly = start.poly + step * Poly.atom(Trip(op))
        divisibility = _gcd(start.divisibility, _content(step))
        return Facts(low, high, divisibility, poly, wraps=merge_wraps(start.wraps, end.wraps))


def _argument(arg: Value, promised: dict[str, object]) -> Facts:
    lo, hi = of_type(arg.type)
    if isinstance(arg.type, PointerType):
        lo, hi = 0, None
    given = promised.get("divisibility", 1)
    return opaque(arg, Facts(lo, hi, given if isinstance(given, int) else 1))


def _unknown(value: Value) -> Facts:
    scalar = value.type.scalar
    if isinstance(scalar, DType) and not scalar.is_int():
        return NOTHING
    lo, hi = of_type(value.type)
    return opaque(value, Facts(lo, hi))


def _atom(value: Value) -> Unknown:
    return Unknown(value, tuple(range(len(value.type.shape))))


def _invariant(atom: Axis | Trip | Unknown, loop: Op) -> bool:
    """Whether `atom` is the same in every trip of `loop`."""
    if isinstance(atom, Axis):
        return True
    if isinstance(atom, Trip):
        return atom.loop is not loop and not any(atom.loop.is_inside(r) for r in loop.regions)
    here = atom.value.owner
    region = here if isinstance(here, Region) else here.parent
    while region is not None:
        holder = region.parent
        if holder is loop:
            return False
        region = holder.parent if isinstance(holder, Op) else None
    return True


def _content(poly: Poly) -> int:
    """The largest number that divides every coefficient."""
    out = 0
    for c in poly.terms.values():
        out = _gcd(out, abs(c))
    return out


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def with_poly(facts: Facts, poly: Poly | None) -> Facts:
    """`facts` with another polynomial."""
    return replace(facts, poly=poly)
