"""Facts of every value of a function: runs the ops' ``facts`` facets forward, through loops and branches.

A carried value that grows by the same amount every trip (an advancing pointer, a counter) is recognised and gets a
polynomial in the loop's trip number::

    for k in range(0, K, 32):          k        0 + 32*trip
        ... a_ptrs ...                 a_ptrs   init + (32*stride_ak)*trip
        a_ptrs += 32 * stride_ak

The body of a loop is looked at twice: once with the carried values unknown, to see what they grow by, once with the
answer. The first look leaves loops nested in it alone: nothing that it asks for depends on them. A carried value of a
``while`` goes by the argument of the body also where the condition sees it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.types import PointerType
from tritium.ops.base import TileOp
from tritium.ops.control import For, If, While
from tritium.ops.facts import (
    NOTHING,
    Atom,
    Axis,
    Facts,
    Poly,
    Trip,
    Unknown,
    despite_wraps,
    element_of,
    join,
    merge_wraps,
    of_type,
    opaque,
    settled,
)


class ValueFacts:
    """``facts[value]`` for one function; see `tritium.ops.facts` for what they say.

    assumed   what arguments are taken to be multiples of, beyond what is promised of them
    """

    def __init__(self, function: Function, assumed: Mapping[Value, int] | None = None) -> None:
        self.function = function
        self._facts: dict[Value, Facts] = {}
        for arg, promised in zip(function.args, function.arg_attrs, strict=True):
            more = {"divisibility": assumed[arg]} if assumed and arg in assumed else {}
            self._facts[arg] = _argument(arg, {**promised, **more})
        self._region(function.body)

    def __getitem__(self, value: Value) -> Facts:
        return self._facts.get(value, NOTHING)

    def _region(self, region: Region, *, loops: bool = True) -> None:
        """Facts of what `region` computes; without `loops`, those inside of loops nested in it are left out."""
        for op in region.ops:
            if isinstance(op, If):
                self._if(op, loops)
            elif not isinstance(op, (For, While)):
                self._op(op)
            else:
                if loops:
                    self._loop(op)
                for r in op.results:
                    self._facts[r] = settled(r, None)

    def _op(self, op: Op) -> None:
        assert isinstance(op, TileOp)
        known = op.facts(*(self[v] for v in op.operands)) if len(op.results) == 1 and not op.regions else None
        for r in op.results:
            self._facts[r] = settled(r, known)

    # ---- control flow --------------------------------------------------------------------------------

    def _if(self, op: If, loops: bool) -> None:
        for region in op.regions:
            self._region(region, loops=loops)
        for i, r in enumerate(op.results):
            a, b = (self[region.ops[-1].operands[i]] for region in op.regions)
            self._facts[r] = settled(r, join(a, b))

    def _loop(self, op: For | While) -> None:
        if isinstance(op, For):
            self._facts[op.body.args[0]] = self._induction(op)
            carried = [[arg] for arg in op.body.args[1:]]
        else:
            carried = [list(pair) for pair in zip(op.body.args, op.cond.args, strict=True)]
        self._carry(op, op.inits, carried)
        for region in op.regions:
            self._region(region)

    def _induction(self, op: For) -> Facts:
        """``lower, lower + step, ...``, which ends before `upper` and so never wraps."""
        lower, upper, step = self[op.lower], self[op.upper], self[op.step]
        iv = op.body.args[0]
        poly = None
        if lower.poly is not None and step.poly is not None:
            poly = lower.poly + step.poly * Poly.atom(Trip(op))
        lo, hi = of_type(iv.type)
        if step.lo is not None and step.lo >= 0:
            lo = lower.lo if lower.lo is not None else lo
            hi = upper.hi - 1 if upper.hi is not None else hi
        elif step.hi is not None and step.hi <= 0:
            hi = lower.hi if lower.hi is not None else hi
            lo = upper.lo + 1 if upper.lo is not None else lo
        divisibility = math.gcd(lower.divisibility, step.divisibility)
        return settled(iv, Facts(lo, hi, divisibility, poly, wraps=merge_wraps(lower.wraps, step.wraps)))

    def _carry(self, op: For | While, inits: Sequence[Value], carried: list[list[Value]]) -> None:
        """Facts of the carried values, each of which has a copy in every region of the loop, the body's first."""
        for copies in carried:
            unknown = settled(copies[0], None)
            for arg in copies:
                self._facts[arg] = unknown
        for region in op.regions:
            self._region(region, loops=False)
        ends = op.body.ops[-1].operands
        found = [self._growth(op, i, c[0], e) for i, c, e in zip(inits, carried, ends, strict=True)]
        for copies, facts in zip(carried, found, strict=True):
            if facts is not None:
                for arg in copies:
                    self._facts[arg] = facts

    def _growth(self, op: For | While, init: Value, arg: Value, out: Value) -> Facts | None:
        """Facts of a carried value that grows by an invariant amount each trip, else None."""
        start, end = self[init], self[out]
        if start.poly is None or end.poly is None:
            return None
        step = end.poly - Poly.atom(element_of(arg))
        if any(varies_in(a, op) for a in step.atoms()):
            return None
        wraps = merge_wraps(start.wraps, end.wraps)
        divisibility = math.gcd(start.divisibility, self._divisor(step))
        origin = math.gcd(start.origin, self._divisor(step.place_axes(lambda _: None)))
        if wraps:
            divisibility, origin = despite_wraps(divisibility, wraps), despite_wraps(origin, wraps)
        poly = start.poly + step * Poly.atom(Trip(op))
        return settled(arg, Facts(None, None, divisibility, poly, wraps=wraps, origin=origin))

    def _divisor(self, poly: Poly) -> int:
        """A number that divides the polynomial whatever its atoms are; 0 if it is zero."""
        out = 0
        for monomial, coefficient in poly.terms.items():
            known = abs(coefficient)
            for atom in monomial:
                known *= self[atom.value].divisibility if isinstance(atom, Unknown) else 1
            out = math.gcd(out, known)
        return out


def _argument(arg: Value, promised: dict[str, object]) -> Facts:
    given = promised.get("divisibility", 1)
    divisibility = given if isinstance(given, int) else 1
    if isinstance(arg.type, PointerType):
        return opaque(arg, Facts(0, None, divisibility, origin=divisibility))
    return settled(arg, Facts(divisibility=divisibility))


def varies_in(atom: Atom, loop: Op) -> bool:
    """Whether `atom` may differ between the trips of `loop`."""
    if isinstance(atom, Axis):
        return False
    if isinstance(atom, Trip):
        return atom.loop is loop or any(atom.loop.is_inside(r) for r in loop.regions)
    owner = atom.value.owner
    region = owner if isinstance(owner, Region) else owner.parent
    while region is not None:
        holder = region.parent
        if holder is loop:
            return True
        region = holder.parent if isinstance(holder, Op) else None
    return False
