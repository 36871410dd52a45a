"""Run-time bounds of index tiles, as scalars: what decides between the versions of a nest.

`Ranges.of` gives the smallest and largest element of an integer tile built from ``arange`` and scalars by +, - and *, as
mathematical integers in i64, together with the conditions under which they are right. A comparison of two such tiles is
true everywhere if the bounds say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritium.backends.cpu.code import INT_BITS, V
from tritium.ir.core import Value
from tritium.ir.types import DType
from tritium.ops import arithmetic, bitwise, cast, compare, create, hints, memory, reshape, shape

if TYPE_CHECKING:
    from tritium.backends.cpu.lower import Lowering

Pair = tuple[V, V]
_PASSED = (shape.Broadcast, shape.ExpandDims, shape.Permute, shape.Flip, hints.Hint)


class Ranges:
    """Bounds of one function's index tiles; everything is emitted in front of the nest that asks."""

    def __init__(self, k: Lowering) -> None:
        self.k = k

    def known(self, value: Value, depth: int = 0) -> bool:
        """Whether `value` has bounds that can be computed without its elements."""
        scalar = value.type.scalar
        if not isinstance(scalar, DType) or not scalar.is_int() or scalar.is_bool() or depth > 24:
            return False
        if not value.type.shape:
            return value in self.k.env
        op = value.defining_op
        if value in self.k.buffers or op is None:
            return False
        if isinstance(op, create.Arange):
            return True
        if isinstance(op, create.Constant):
            return True
        if isinstance(op, _PASSED) or (isinstance(op, cast.Cast) and _widens(op)):
            return self.known(op.operands[0], depth + 1)
        if isinstance(op, (arithmetic.Add, arithmetic.Sub, arithmetic.Mul)):
            return INT_BITS[self._kind(value)] >= 32 and all(self.known(v, depth + 1) for v in op.operands)
        return False

    def _kind(self, value: Value) -> str:
        from tritium.backends.cpu.formats import held_as

        return held_as(value.type.scalar)

    def of(self, value: Value) -> tuple[V, V, V]:
        """(smallest, largest, condition) of a `known` value; the bounds are those of the exact integers."""
        e = self.k.e
        found = self.k.lookup(("range", value))
        if found is None:
            found = self._of(value)
            level = max(x.level for x in found)
            e.stack[level].memo["range", value] = found
        return found

    def _of(self, value: Value) -> tuple[V, V, V]:
        e, yes = self.k.e, self.k.e.const(1, "i1")
        if not value.type.shape:
            wide = self._wide(self.k.env[value], value)
            return wide, wide, yes
        op = value.defining_op
        if isinstance(op, create.Arange):
            return e.index(op.start), e.index(op.end - 1), yes
        if isinstance(op, create.Constant):
            return e.index(int(op.value)), e.index(int(op.value)), yes
        assert op is not None
        if isinstance(op, cast.Cast):
            lo, hi, fine = self.of(op.x)
            return lo, hi, e.both(fine, self.fits(op.x))
        if isinstance(op, _PASSED):
            return self.of(op.operands[0])
        return self._computed(op)

    def _computed(self, op: object) -> tuple[V, V, V]:
        e = self.k.e
        assert isinstance(op, (arithmetic.Add, arithmetic.Sub, arithmetic.Mul))
        (a_lo, a_hi, a_fine), (b_lo, b_hi, b_fine) = self.of(op.x), self.of(op.y)
        fine = e.both(a_fine, b_fine)
        if isinstance(op, arithmetic.Mul):
            # Operands within 32 bits: no product leaves 64.
            fine = e.both(fine, e.both(self._within(a_lo, a_hi, 33), self._within(b_lo, b_hi, 31)))
            if b_lo is b_hi or a_lo is a_hi:
                (lo, hi), one = ((a_lo, a_hi), b_lo) if b_lo is b_hi else ((b_lo, b_hi), a_lo)
                p, q = e.mul(lo, one), e.mul(hi, one)
                return (*self._ordered(p, q, one), fine)
            corners = [e.mul(x, y) for x in (a_lo, a_hi) for y in (b_lo, b_hi)]
            lo, hi = corners[0], corners[0]
            for c in corners[1:]:
                lo, hi = e.intrinsic("smin", lo, c), e.intrinsic("smax", hi, c)
            return lo, hi, fine
        for lo, hi in ((a_lo, a_hi), (b_lo, b_hi)):
            fine = e.both(fine, self._within(lo, hi, 62))
        if isinstance(op, arithmetic.Add):
            return e.add(a_lo, b_lo), e.add(a_hi, b_hi), fine
        return e.sub(a_lo, b_hi), e.sub(a_hi, b_lo), fine

    def _ordered(self, p: V, q: V, factor: V) -> Pair:
        e = self.k.e
        if factor.const is not None:
            return (p, q) if factor.const >= 0 else (q, p)
        if p is q:
            return p, q
        return e.intrinsic("smin", p, q), e.intrinsic("smax", p, q)

    def _within(self, lo: V, hi: V, bits: int) -> V:
        e = self.k.e
        low = e.compare("sge", lo, e.index(-(1 << bits)))
        return e.both(low, e.compare("sle", hi, e.index((1 << bits) - 1)))

    def _wide(self, x: V, value: Value) -> V:
        scalar = value.type.scalar
        assert isinstance(scalar, DType)
        return self.k.e.convert("sext" if scalar.is_int_signed() else "zext", x, "i64")

    def fits(self, value: Value) -> V:
        """Whether no element of `value` wrapped around: its bounds lie in the range of its type."""
        e = self.k.e
        lo, hi, fine = self.of(value)
        scalar = value.type.scalar
        assert isinstance(scalar, DType)
        if scalar.primitive_bitwidth == 64:
            return fine
        low, high = scalar.get_int_min_value(), scalar.get_int_max_value()
        inside = e.both(e.compare("sge", lo, e.index(low)), e.compare("sle", hi, e.index(high)))
        return e.both(fine, inside)

    # ---- masks ---------------------------------------------------------------------------------------

    def decidable(self, mask: Value) -> bool:
        """Whether `all_true` can say something about `mask`."""
        if not mask.type.shape:
            return mask in self.k.env
        op = mask.defining_op
        if mask in self.k.buffers or op is None:
            return False
        if isinstance(op, (*_PASSED, reshape.Reshape)):
            return self.decidable(op.operands[0])
        if isinstance(op, bitwise.And):
            return all(self.decidable(v) for v in op.operands)
        if isinstance(op, (compare.Less, compare.LessEqual, compare.Greater, compare.GreaterEqual)):
            return all(self.known(v) and self._orders(v) for v in op.operands)
        return isinstance(op, create.Constant)

    def _orders(self, v: Value) -> bool:
        scalar = v.type.scalar
        return isinstance(scalar, DType) and (scalar.is_int_signed() or scalar.primitive_bitwidth < 64)

    def all_true(self, mask: Value) -> V:
        """A condition under which every element of `mask` is true."""
        e = self.k.e
        if not mask.type.shape:
            return self.k.env[mask]
        op = mask.defining_op
        assert op is not None
        if isinstance(op, create.Constant):
            return e.const(bool(op.value), "i1")
        if isinstance(op, bitwise.And):
            return e.both(self.all_true(op.x), self.all_true(op.y))
        if isinstance(op, (*_PASSED, reshape.Reshape)):
            return self.all_true(op.operands[0])
        x, y = op.operands
        if isinstance(op, (compare.Greater, compare.GreaterEqual)):
            x, y = y, x
        strict = isinstance(op, (compare.Less, compare.Greater))
        holds = e.compare("slt" if strict else "sle", self.of(x)[1], self.of(y)[0])
        return e.both(holds, e.both(self.fits(x), self.fits(y)))


def _widens(op: cast.Cast) -> bool:
    source, target = op.x.type.scalar, op.to
    if not isinstance(source, DType) or not isinstance(target, DType) or not target.is_int():
        return False
    if not source.is_int() or source.is_bool():
        return False
    if target.primitive_bitwidth <= source.primitive_bitwidth:
        return False
    return source.is_int_unsigned() or target.is_int_signed()


__all__ = ["Ranges", "memory"]
