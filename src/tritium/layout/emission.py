"""Closed forms: the code that computes a layout's outputs from run-time values of its inputs.

The vocabulary is a protocol, so the same walk writes C, LLVM IR or plain integers. `CText` writes C:

>>> from tritium.layout.digits import Layout
>>> c = Layout.of("reg: 2 -> col 1, 2 -> row 8; lane: 4 -> col 2, 8 -> row 1", {"row": 16, "col": 8})
>>> c.emit_index(CText(), {"reg": 3, "lane": "lane"})
{'row': '(lane >> 2) + 8', 'col': '(lane & 3) * 2 + 1'}
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from tritium.layout.faults import LayoutError

if TYPE_CHECKING:
    from tritium.layout.digits import Layout
    from tritium.layout.swizzle import Swizzle

T = TypeVar("T")


class IndexEmitter(Protocol[T]):
    """The eight verbs of index arithmetic on non-negative integers; constants are Python integers."""

    def constant(self, value: int) -> T: ...
    def add(self, x: T, y: T) -> T: ...
    def multiply(self, x: T, factor: int) -> T: ...
    def divide(self, x: T, divisor: int) -> T: ...
    def remainder(self, x: T, divisor: int) -> T: ...
    def shift_right(self, x: T, bits: int) -> T: ...
    def mask(self, x: T, bits: int) -> T: ...
    def xor(self, x: T, y: T) -> T: ...


class Code(str):
    """C text of an expression, with the precedence of its outermost operator (higher binds tighter)."""

    precedence: int

    def __new__(cls, text: str, precedence: int) -> Code:
        code = super().__new__(cls, text)
        code.precedence = precedence
        return code


_ATOM, _PRODUCT, _SUM, _SHIFT, _AND, _XOR, _ANY = 20, 12, 11, 10, 7, 6, 0
_NAME = re.compile(r"[A-Za-z_]\w*(\.\w+|\[\w+\])*|\d+")


class CText:
    """Writes C expressions with no more parentheses than compilers want to see.

    Names and numbers given as text stand bare, any other text is put in parentheses. Operators that C
    compilers warn about when mixed (shifts and bitwise ones) get parentheses although C does not need them.
    """

    def _operand(self, text: str, precedence: int) -> str:
        own = text.precedence if isinstance(text, Code) else _ATOM if _NAME.fullmatch(text) else _ANY
        bare = own == _ATOM or (precedence >= _SUM and own >= precedence)
        return text if bare else f"({text})"

    def _binary(self, x: str, operator: str, y: str, precedence: int) -> Code:
        left, right = self._operand(x, precedence), self._operand(y, precedence + 1)
        return Code(f"{left} {operator} {right}", precedence)

    def constant(self, value: int) -> str:
        return Code(str(value), _ATOM)

    def add(self, x: str, y: str) -> str:
        return self._binary(x, "+", y, _SUM)

    def multiply(self, x: str, factor: int) -> str:
        return self._binary(x, "*", str(factor), _PRODUCT)

    def divide(self, x: str, divisor: int) -> str:
        return self._binary(x, "/", str(divisor), _PRODUCT)

    def remainder(self, x: str, divisor: int) -> str:
        return self._binary(x, "%", str(divisor), _PRODUCT)

    def shift_right(self, x: str, bits: int) -> str:
        return self._binary(x, ">>", str(bits), _SHIFT)

    def mask(self, x: str, bits: int) -> str:
        return self._binary(x, "&", str(bits), _AND)

    def xor(self, x: str, y: str) -> str:
        return self._binary(x, "^", y, _XOR)


class _Run(NamedTuple):
    """Neighbouring digits of one input that act on one output as a single digit."""

    stride: int
    extent: int
    step: int


def emit_index(layout: Layout, emit: IndexEmitter[T], axis_values: Mapping[str, int | T]) -> dict[str, T]:
    """See `Layout.emit_index`."""
    fixed: dict[str, int] = {}
    variable: dict[str, T] = {}
    for axis in layout.inputs:
        extent = layout.extent(axis)
        if axis not in axis_values and extent > 1:
            raise LayoutError(f"The index needs a value of {axis}, which has extent {extent}.")
        value = axis_values.get(axis, 0)
        if not isinstance(value, int):
            variable[axis] = value
        elif 0 <= value < extent:
            fixed[axis] = value
        else:
            raise LayoutError(f"{axis} is {value}, and it must be in 0...{extent - 1}.")
    return {output: _emit_output(layout, emit, output, fixed, variable) for output in layout.outputs}


class _Term(NamedTuple):
    """A run of an input whose value is only known at run time."""

    axis: str
    extent: int
    run: _Run

    @property
    def most(self) -> int:
        return (self.run.extent - 1) * self.run.step


def _emit_output(
    layout: Layout, emit: IndexEmitter[T], output: str, fixed: Mapping[str, int], variable: Mapping[str, T]
) -> T:
    offset = 0
    terms: list[_Term] = []
    for axis in layout.inputs:
        extent = layout.extent(axis)
        for run in _runs(layout, axis, output):
            if axis in fixed:
                offset += fixed[axis] // run.stride % run.extent * run.step
            else:
                terms.append(_Term(axis, extent, run))
    terms.sort(key=lambda term: -term.run.step)
    if layout.swizzle is not None and terms:
        return _emit_swizzled(emit, variable, terms, offset, layout.swizzle)
    return _sum(emit, variable, terms, layout.swizzle.apply(offset) if layout.swizzle else offset)


def _sum(emit: IndexEmitter[T], variable: Mapping[str, T], terms: Sequence[_Term], offset: int) -> T:
    if not terms:
        return emit.constant(offset)
    codes = [_emit_run(emit, variable[term.axis], term.run, term.extent) for term in terms]
    total = codes[0]
    for code in codes[1:]:
        total = emit.add(total, code)
    return emit.add(total, emit.constant(offset)) if offset else total


def _runs(layout: Layout, axis: str, output: str) -> list[_Run]:
    runs: list[_Run] = []
    stride = 1
    for digit in layout.digits_of(axis):
        step = digit.steps.get(output, 0)
        last = runs[-1] if runs else None
        if last and last.stride * last.extent == stride and step == last.step * last.extent:
            runs[-1] = _Run(last.stride, last.extent * digit.extent, last.step)
        elif step:
            runs.append(_Run(stride, digit.extent, step))
        stride *= digit.extent
    return runs


def _emit_run(emit: IndexEmitter[T], value: T, run: _Run, extent: int) -> T:
    """`value / stride % extent * step`, without what changes nothing."""
    top = run.stride * run.extent == extent
    if run.step == run.stride and _power_of_two(run.stride) and _power_of_two(run.extent) and not top:
        return emit.mask(value, run.stride * (run.extent - 1))
    if run.stride > 1:
        value = (
            emit.shift_right(value, run.stride.bit_length() - 1)
            if _power_of_two(run.stride)
            else emit.divide(value, run.stride)
        )
    if not top:
        value = (
            emit.mask(value, run.extent - 1)
            if _power_of_two(run.extent)
            else emit.remainder(value, run.extent)
        )
    return value if run.step == 1 else emit.multiply(value, run.step)


def _emit_swizzled(
    emit: IndexEmitter[T], variable: Mapping[str, T], terms: Sequence[_Term], offset: int, swizzle: Swizzle
) -> T:
    """Code of the swizzled address; where rows and columns can be told apart, only the column is XORed.

    Bits that change lie below `edge`, the bits they are XORed with above it. If no sum below `edge` carries
    across it, the address is `high + (low ^ pattern(high))`, and the pattern stays the same while only the
    column advances.
    """
    edge = 1 << (swizzle.base + swizzle.bits)
    low = [term for term in terms if term.most < edge]
    high = [term for term in terms if term.most >= edge]
    carries = sum(term.most for term in low) + offset % edge >= edge
    if carries or any(term.run.step % edge for term in high):
        # Multiples of the period neither take part in the XOR nor carry into it: they are added afterwards.
        above = offset - offset % swizzle.period
        address = _sum(emit, variable, terms, offset - above)
        moved = emit.mask(emit.shift_right(address, swizzle.shift), swizzle.mask)
        address = emit.xor(address, moved)
        return emit.add(address, emit.constant(above)) if above else address
    pattern = [term for term in high if term.run.step % swizzle.period]
    known = offset % swizzle.period // edge * edge
    if not pattern:
        known = known >> swizzle.shift & swizzle.mask
        if low and known:
            inside = emit.xor(_sum(emit, variable, low, offset % edge), emit.constant(known))
        else:
            return _sum(emit, variable, [*high, *low], offset - offset % edge + (offset % edge ^ known))
    else:
        inside = _emit_pattern(emit, variable, pattern, known, swizzle)
        if low or offset % edge:
            inside = emit.xor(_sum(emit, variable, low, offset % edge), inside)
    if not high and offset < edge:
        return inside
    return emit.add(_sum(emit, variable, high, offset - offset % edge), inside)


def _emit_pattern(
    emit: IndexEmitter[T], variable: Mapping[str, T], terms: Sequence[_Term], known: int, swizzle: Swizzle
) -> T:
    """The bits to XOR with: those of the sum that lie `shift` above the ones that change."""
    unit = 1 << swizzle.shift
    if known % unit or any(term.run.step % unit for term in terms):
        return emit.mask(emit.shift_right(_sum(emit, variable, terms, known), swizzle.shift), swizzle.mask)
    shifted = [term._replace(run=term.run._replace(step=term.run.step // unit)) for term in terms]
    return emit.mask(_sum(emit, variable, shifted, known // unit), swizzle.mask)


def _power_of_two(value: int) -> bool:
    return value & (value - 1) == 0
