"""The layout algebra: where each element of a tile lives, as mixed-radix digits.

A `Layout` maps named *inputs* to named *outputs*. Each input is split into digits, minor digit first; a digit
has an extent and one integer step per output; an output is the sum of digit times step. Worked example, the
accumulator of the tensor-core instruction `mma.m16n8`: 128 elements on 32 lanes, 4 registers each.

>>> c = Layout.of("reg: 2 -> col 1, 2 -> row 8; lane: 4 -> col 2, 8 -> row 1", {"row": 16, "col": 8})

Register 3 is digits (1, 1) and lane 6 is digits (2, 1), so that value is element row 8*1 + 1*1 = 9,
col 1*1 + 2*2 = 5:

>>> c.at(reg=3, lane=6)
{'row': 9, 'col': 5}
>>> c.covers().kind
'exactly once'

A layout of registers has the inputs `reg` and `lane`, `warp` (or `reg` and `thread`) and the coordinates of
the tile as outputs. A layout of memory has those coordinates, and perhaps `stage`, as inputs and the output
`byte`; an XOR swizzle may follow. Any extent is legal. A digit without steps is replication; outputs past the
tile's extent are overhang, which code has to mask. Steps are never negative and there is no offset, so every
map starts at coordinate 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tritium.layout import coverage, emission, memory_access, notation, radix, relation, render
from tritium.layout.coverage import Coverage
from tritium.layout.faults import LayoutError
from tritium.layout.memory_access import BankConflicts
from tritium.layout.relation import Relation
from tritium.layout.swizzle import Swizzle

Table = npt.NDArray[np.int64]
T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class Digit:
    """One digit of input `axis`: `extent` values, each worth `steps[output]` in every output it moves.

    Outputs that are not named do not move; a digit with no steps replicates. LayoutError if the extent is
    not positive or a step is negative.
    """

    axis: str
    extent: int
    steps: Mapping[str, int]

    def __post_init__(self) -> None:
        if self.extent < 1:
            raise LayoutError(f"A digit of {self.axis} needs a positive extent, and {self.extent} was given.")
        for output, step in self.steps.items():
            if step < 0:
                raise LayoutError(
                    f"The step of {self.axis} in {output} is {step}; a step must not be negative."
                )
        steps = {output: int(step) for output, step in self.steps.items() if step}
        object.__setattr__(self, "steps", MappingProxyType(steps))

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return self.axis, self.extent, frozenset(self.steps.items())

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, Digit) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> tuple[Any, ...]:
        return Digit, (self.axis, self.extent, dict(self.steps))

    def __repr__(self) -> str:
        return f"Digit({self.axis!r}, {self.extent}, {dict(self.steps)})"


@dataclass(frozen=True, eq=False, repr=False)
class Layout:
    """A map from `inputs` to the outputs named by `shape`, written as digits (see the module's example).

    `digits` are listed minor first within each input. `shape` gives the extent of the tile along each output,
    outermost first; a place whose outputs exceed it is overhang. `inputs` adds and orders inputs: those that
    are only in `digits` come in order of appearance. LayoutError if a digit moves an output that `shape`
    lacks, an extent is not positive, or a swizzle comes with outputs other than `byte`.
    """

    digits: tuple[Digit, ...]
    shape: Mapping[str, int]
    inputs: tuple[str, ...] = ()
    swizzle: Swizzle | None = None

    def __post_init__(self) -> None:
        shape = {output: int(extent) for output, extent in self.shape.items()}
        inputs = tuple(dict.fromkeys([*self.inputs, *(digit.axis for digit in self.digits)]))
        for output, extent in shape.items():
            if extent < 1:
                raise LayoutError(f"Extents must be positive, and {output} has extent {extent}.")
        for digit in self.digits:
            unknown = [output for output in digit.steps if output not in shape]
            if unknown:
                raise LayoutError(
                    f"A digit of {digit.axis} moves {unknown[0]}, and the outputs are {', '.join(shape)}."
                )
        if set(inputs) & set(shape):
            both = sorted(set(inputs) & set(shape))
            raise LayoutError(f"{both[0]} is the name of an input and of an output; the two must differ.")
        if self.swizzle is not None and tuple(shape) != ("byte",):
            raise LayoutError(f"A swizzle permutes the output byte, and the outputs are {', '.join(shape)}.")
        object.__setattr__(self, "digits", tuple(digit for digit in self.digits if digit.extent > 1))
        object.__setattr__(self, "shape", MappingProxyType(shape))
        object.__setattr__(self, "inputs", inputs)

    @staticmethod
    def of(
        text: str,
        shape: Mapping[str, int] | None = None,
        inputs: Sequence[str] = (),
        swizzle: Swizzle | None = None,
    ) -> Layout:
        """The layout that `text` writes down: `reg: 2 -> col 1, 2 -> row 8; lane: 4 -> col 2, 8 -> row 1`.

        A digit that moves nothing is written `-> -`, one that moves two outputs `-> row 1 + col 4`. Without
        `shape`, the text goes on with it, and with the swizzle if there is one: `... | row 16, col 8` or
        `... | byte 16384 | swizzle 3, 4, 3`, as `str(layout)` has it. LayoutError quotes what cannot be read.
        """
        if shape is None:
            text, shape, fields = notation.parse_tail(text)
            swizzle = Swizzle(*fields) if fields else None
        digits = tuple(Digit(axis, extent, steps) for axis, extent, steps in notation.parse_digits(text))
        named = notation.parse_axes(text)
        return Layout(digits, shape, tuple(dict.fromkeys([*inputs, *named])), swizzle)

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return self.digits, tuple(self.shape.items()), self.inputs, self.swizzle

    @cached_property
    def _hash(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return self is other or self._key == other._key if isinstance(other, Layout) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return Layout, (self.digits, dict(self.shape), self.inputs, self.swizzle)

    def __str__(self) -> str:
        return notation.render_layout(self)

    def __repr__(self) -> str:
        return f"Layout.of({str(self)!r})"

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(self.shape)

    def digits_of(self, axis: str) -> tuple[Digit, ...]:
        """The digits of one input, minor first."""
        return tuple(digit for digit in self.digits if digit.axis == axis)

    def extent(self, axis: str) -> int:
        """Number of values of input `axis`, or extent of the tile along output `axis`."""
        if axis in self.shape:
            return self.shape[axis]
        if axis not in self.inputs:
            names = ", ".join([*self.inputs, *self.shape])
            raise LayoutError(f"This layout has no input or output {axis}; it has {names}.")
        return prod(digit.extent for digit in self.digits_of(axis))

    def reach(self, output: str, **fixed: int) -> int:
        """One more than the largest value of `output` (before a swizzle), with some inputs fixed."""
        most = 1
        left = dict(fixed)
        for digit in self.digits:
            turn = digit.extent - 1
            if digit.axis in left:
                left[digit.axis], turn = divmod(left[digit.axis], digit.extent)
            most += turn * digit.steps.get(output, 0)
        return most

    def overhang(self, output: str, **fixed: int) -> bool:
        """Whether some place lies past the tile along `output`, so that code has to test `coord < extent`.

        `overhang("col", reg=3)` asks that of one register: usually only those of the last round need a test.
        """
        return self.reach(output, **fixed) > self.extent(output)

    @cached_property
    def replicas(self) -> tuple[tuple[str, int, int], ...]:
        """(input, stride, extent) of every digit that moves nothing: copies differ in `input // stride % extent`."""
        found: list[tuple[str, int, int]] = []
        for axis in self.inputs:
            stride = 1
            for digit in self.digits_of(axis):
                if not digit.steps:
                    found.append((axis, stride, digit.extent))
                stride *= digit.extent
        return tuple(found)

    def at(self, **place: int) -> dict[str, int]:
        """The outputs at one place; inputs that are not given are 0."""
        index = tuple(place.pop(axis, 0) for axis in self.inputs)
        if place:
            raise LayoutError(
                f"This layout has no input {next(iter(place))}; it has {', '.join(self.inputs)}."
            )
        for axis, value in zip(self.inputs, index, strict=True):
            if not 0 <= value < self.extent(axis):
                raise LayoutError(f"{axis} is {value}, and it must be in 0...{self.extent(axis) - 1}.")
        return {name: int(self.table()[i][index]) for i, name in enumerate(self.outputs)}

    def table(self) -> Table:
        """Every output at every place, as a read-only array of shape (outputs, *extents of the inputs).

        This is the ground truth: all queries agree with it. It is computed once per layout object.
        """
        return self._table

    @cached_property
    def _table(self) -> Table:
        extents = [self.extent(axis) for axis in self.inputs]
        table = np.zeros((len(self.shape), *extents), dtype=np.int64)
        for row, output in enumerate(self.outputs):
            for position, axis in enumerate(self.inputs):
                values = np.zeros(1, dtype=np.int64)
                for digit in self.digits_of(axis):
                    turns = np.arange(digit.extent, dtype=np.int64) * digit.steps.get(output, 0)
                    values = (turns[:, None] + values[None, :]).reshape(-1)
                spread = [1] * len(extents)
                spread[position] = -1
                table[row] += values.reshape(spread)
        if self.swizzle is not None:
            table = self.swizzle.apply(table)
        table.setflags(write=False)
        return table

    @cached_property
    def flat_elements(self) -> Table:
        """Row-major element number of every place, -1 for overhang; shape: the extents of the inputs."""
        table = self.table()
        flat = np.zeros(table.shape[1:], dtype=np.int64)
        inside = np.ones(table.shape[1:], dtype=np.bool_)
        for row, (output, extent) in enumerate(self.shape.items()):
            flat = flat * extent + table[row]
            if self.overhang(output) or self.swizzle is not None:
                inside &= table[row] < extent
        flat[~inside] = -1
        flat.setflags(write=False)
        return flat

    def covers(self) -> Coverage:
        """Whether the places hold every element of the tile, and how often."""
        return self._coverage

    @cached_property
    def _coverage(self) -> Coverage:
        return coverage.count_places(self)

    def drop(self, *outputs: str, keep: bool = False, trim: Iterable[str] = ("reg",)) -> Layout:
        """The layout after reducing `outputs`: their steps go, and digits of `trim` that then move nothing go too.

        With `keep` the outputs stay as axes of extent 1. Lanes and warps that held different elements of a
        reduced axis become replicas. LayoutError for an output that the layout lacks.
        """
        for output in outputs:
            if output not in self.shape:
                raise LayoutError(f"Cannot drop {output}: the outputs are {', '.join(self.outputs)}.")
        trim = frozenset(trim)
        kept: list[Digit] = []
        for digit in self.digits:
            steps = {name: step for name, step in digit.steps.items() if name not in outputs}
            if steps or not digit.steps or digit.axis not in trim:
                kept.append(Digit(digit.axis, digit.extent, steps))
        shape = {
            name: 1 if name in outputs else extent
            for name, extent in self.shape.items()
            if keep or name not in outputs
        }
        return Layout(tuple(kept), shape, self.inputs)

    def transpose(self, *order: int) -> Layout:
        """The layout of the tile with its axes permuted as by `numpy.transpose`; no arguments reverse them.

        Output names stay in place: for `row, col`, the new `row` takes the steps of the old `col`.
        """
        order = order or tuple(reversed(range(len(self.shape))))
        if sorted(order) != list(range(len(self.shape))):
            raise LayoutError(f"{order} is not an order of the {len(self.shape)} axes of this layout.")
        names = self.outputs
        renamed = {names[old]: names[new] for new, old in enumerate(order)}
        digits = tuple(
            Digit(d.axis, d.extent, {renamed[name]: step for name, step in d.steps.items()})
            for d in self.digits
        )
        shape = {names[new]: self.shape[names[old]] for new, old in enumerate(order)}
        return Layout(digits, shape, self.inputs)

    def reshape(self, shape: Mapping[str, int]) -> Layout:
        """The layout of the same elements, in row-major order, under other axes; `{"flat": n}` always works.

        LayoutError if the sizes differ, if an axis other than the outermost overhangs, or if the new axes cut
        through digits, where the map is no longer a sum of digits.
        """
        if prod(shape.values()) != prod(self.shape.values()):
            raise LayoutError(
                f"A tile of shape {tuple(self.shape.values())} cannot be reshaped to {tuple(shape.values())}."
            )
        for output in self.outputs[1:]:
            if self.overhang(output):
                raise LayoutError(
                    f"This layout overhangs along {output}, so its row-major order is not a sum of digits."
                )
        digits = tuple(Digit(*piece) for piece in radix.reshaped(self, shape))
        return Layout(digits, shape, self.inputs)

    def compose(self, memory: Layout) -> Layout:
        """Bytes by place: this layout's coordinates put through `memory`, whose inputs are this one's outputs.

        Inputs of `memory` that are not outputs of this layout (such as `stage`) become inputs of the result.
        Overhanging places get addresses that mean nothing. LayoutError where a digit straddles digits of
        `memory`; then emit the coordinates, and emit `memory` from them.
        """
        missing = [output for output in self.outputs if output not in memory.inputs]
        if missing or self.swizzle is not None:
            wanted = ", ".join(memory.inputs)
            raise LayoutError(
                f"Cannot compose outputs {', '.join(self.outputs)} with a layout of inputs {wanted}."
            )
        digits = [Digit(*piece) for piece in radix.composed(self, memory)]
        others = tuple(axis for axis in memory.inputs if axis not in self.shape)
        digits += [digit for digit in memory.digits if digit.axis in others]
        return Layout(tuple(digits), memory.shape, (*self.inputs, *others), memory.swizzle)

    def vector_width(
        self, memory: Layout, element_bytes: int, *, limit: int = 16, alignment: int = 16
    ) -> int:
        """Elements that each access to `memory` can move at once: consecutive registers at consecutive bytes.

        A power of two (1 if nothing else fits), of at most `limit` bytes, aligned to its own size in every
        lane, warp and stage, and never partly in the overhang. `alignment` is that of the buffer's base, in
        bytes.
        """
        return memory_access.vector_width(self, memory, element_bytes, limit, alignment)

    def bank_conflicts(
        self, memory: Layout, element_bytes: int, *, vector: int | None = None
    ) -> BankConflicts:
        """Shared-memory wavefronts of reading or writing the whole tile, `vector` elements an access.

        Without `vector`, the widest legal one is taken; LayoutError for one that is not legal.
        """
        return memory_access.bank_conflicts(self, memory, element_bytes, vector)

    def relation(self, other: Layout) -> Relation:
        """What turns a tile in this layout into `other`: nothing, renaming registers, shuffles or shared memory.

        Both have to describe the same tile shape. Symmetric.
        """
        return relation.relation(self, other)

    def emit_index(self, emit: emission.IndexEmitter[T], axis_values: Mapping[str, int | T]) -> dict[str, T]:
        """Code for every output, from the values of the inputs: integers are folded, the rest is `emit`'s.

        Values that are not integers must be non-negative and below their input's extent at run time. Inputs
        of extent 1 may be left out. LayoutError for another missing input or an integer out of range.
        """
        return emission.emit_index(self, emit, axis_values)

    def render(self, *, limit: int = 32) -> str:
        """The tile as text, each cell naming the places that hold it, at most `limit` cells a side."""
        return render.render_text(self, limit)
