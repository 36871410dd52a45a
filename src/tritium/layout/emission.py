"""Closed forms: the code that computes a layout's outputs from run-time values of its inputs.

The vocabulary is a protocol, so the same walk writes C, LLVM IR or plain integers. `CText` writes C:

>>> from tritium.layout.digits import Layout
>>> c = Layout.of("reg: 2 -> col 1, 2 -> row 8; lane: 4 -> col 2, 8 -> row 1", {"row": 16, "col": 8})
>>> c.emit_index(CText(), {"reg": 3, "lane": "lane"})
{'row': '(lane >> 2) + 8', 'col': '(lane & 3) * 2 + 1'}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from tritium.layout.faults import LayoutError

if TYPE_CHECKING:
    from tritium.layout.digits import Layout, Swizzle

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


def _emit_output(
    layout: Layout, emit: IndexEmitter[T], output: str, fixed: Mapping[str, int], variable: Mapping[str, T]
) -> T:
    offset = 0
    terms: list[tuple[int, T]] = []
    for axis in layout.inputs:
        extent = layout.extent(axis)
        for run in _runs(layout, axis, output):
            if axis in fixed:
                offset += fixed[axis] // run.stride % run.extent * run.step
            else:
                terms.append((run.step, _emit_run(emit, variable[axis], run, extent)))
    terms.sort(key=lambda term: -term[0])
    if layout.swizzle is not None:
        return _emit_swizzled(emit, [term for _, term in terms], offset, layout.swizzle)
    return _sum(emit, [term for _, term in terms], offset)


def _sum(emit: IndexEmitter[T], terms: list[T], offset: int) -> T:
    if not terms:
        return emit.constant(offset)
    total = terms[0]
    for term in terms[1:]:
        total = emit.add(total, term)
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


def _emit_swizzled(emit: IndexEmitter[T], terms: list[T], offset: int, swizzle: Swizzle) -> T:
    if not terms:
        return emit.constant(swizzle.apply(offset))
    # Bits above the pattern neither take part in the XOR nor carry into it, so they are added afterwards.
    above = offset - offset % swizzle.period
    address = _sum(emit, terms, offset - above)
    moved = emit.mask(emit.shift_right(address, swizzle.shift), swizzle.mask)
    address = emit.xor(address, moved)
    return emit.add(address, emit.constant(above)) if above else address


def _power_of_two(value: int) -> bool:
    return value & (value - 1) == 0
