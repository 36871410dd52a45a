"""Which thread holds which elements of a tile: register layouts as mixed-radix digits.

Per tile axis a layout lists digits, minor first. A digit counts either threads (``t16@8``: 16 threads whose numbers
are 8 apart) or registers (``r4``); the steps follow from the extents below it. Worked example, a 16x16 tile on 32
threads, each with a 4x2 register tile in strides of the thread shape (4, 8)::

    text            16: t4@8 r4 | 16: t8@1 r2
    row             (thread / 8) % 4 + 4 * r      r = 0..3
    column           thread      % 8 + 8 * c      c = 0..1
    register_shape  (4, 2)

Any extent is legal. Where the digits of an axis cover more than its extent, the axis has *overhang*: some registers
hold no element, and whoever loads, stores or reduces must ask. Threads that no digit tells apart hold *replicas*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from math import prod

import numpy as np

from tritium.ir.core import Op, Value
from tritium.ops.base import Array


@dataclass(frozen=True, slots=True)
class Digit:
    """`count` values told apart by threads `stride` numbers apart, or by registers (`stride` 0)."""

    count: int
    stride: int = 0

    @property
    def is_thread(self) -> bool:
        return self.stride > 0

    def __str__(self) -> str:
        return f"t{self.count}@{self.stride}" if self.is_thread else f"r{self.count}"


@dataclass(frozen=True, slots=True)
class AxisLayout:
    """One axis: its extent, and its digits from the one with step 1 on."""

    extent: int
    digits: tuple[Digit, ...] = ()

    @property
    def covered(self) -> int:
        return prod(d.count for d in self.digits)

    @property
    def overhangs(self) -> bool:
        """Whether some thread or register has a coordinate outside the axis."""
        return self.covered > self.extent

    @property
    def registers(self) -> int:
        return prod(d.count for d in self.digits if not d.is_thread)

    @property
    def vector(self) -> int:
        """How many neighbouring elements one thread holds in neighbouring registers."""
        return self.digits[0].count if self.digits and not self.digits[0].is_thread else 1

    def thread_terms(self) -> tuple[tuple[int, int, int], ...]:
        """(stride, count, step) of each thread digit: the coordinate is the sum of ``thread / stride % count * step``."""
        return tuple((d.stride, d.count, step) for d, step in self._steps() if d.is_thread)

    def register_steps(self) -> tuple[tuple[int, int], ...]:
        """(count, step) of each register digit, minor first."""
        return tuple((d.count, step) for d, step in self._steps() if not d.is_thread)

    def register_offset(self, register: int) -> int:
        """What register number `register` of this axis adds to the coordinate."""
        out = 0
        for count, step in self.register_steps():
            out += register % count * step
            register //= count
        return out

    def _steps(self) -> Iterator[tuple[Digit, int]]:
        step = 1
        for d in self.digits:
            yield d, step
            step *= d.count

    def split_at(self, stride: int) -> tuple[Digit, ...]:
        """The digits, thread digits that go beyond `stride` (a warp's 32 threads) cut in two there if that is even."""
        out: list[Digit] = []
        for d in self.digits:
            inside = stride // d.stride if d.is_thread and d.stride < stride < d.stride * d.count else 0
            if inside and stride % d.stride == 0 and d.count % inside == 0:
                out += [Digit(inside, d.stride), Digit(d.count // inside, stride)]
            else:
                out.append(d)
        return tuple(out)

    def __str__(self) -> str:
        return f"{self.extent}: {' '.join(map(str, self.digits))}" if self.digits else str(self.extent)


@dataclass(frozen=True)
class RegisterLayout:
    """A tile of any rank over `threads` threads; see the module text."""

    axes: tuple[AxisLayout, ...]
    threads: int

    def __post_init__(self) -> None:
        for axis in self.axes:
            if axis.extent < 1 or axis.covered < axis.extent:
                raise ValueError(f"the digits of axis {axis} do not reach its extent")
        used = 1
        for stride, count in self.thread_digits:
            if stride < used or stride % used:
                raise ValueError(f"thread digits overlap in {self}")
            used = stride * count
        if used > self.threads:
            raise ValueError(f"{self} tells more threads apart than the {self.threads} there are")

    # ---- queries -------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(a.extent for a in self.axes)

    @cached_property
    def register_shape(self) -> tuple[int, ...]:
        """Registers per axis. Their product is what one thread holds."""
        return tuple(a.registers for a in self.axes)

    @property
    def registers(self) -> int:
        return prod(self.register_shape)

    @cached_property
    def thread_digits(self) -> tuple[tuple[int, int], ...]:
        """(stride, count) of all thread digits of more than one value, in order of stride."""
        return tuple(
            sorted((d.stride, d.count) for a in self.axes for d in a.digits if d.is_thread and d.count > 1)
        )

    @cached_property
    def replicas(self) -> tuple[tuple[int, int], ...]:
        """(stride, count) of the thread digits that tell no elements apart; the last may be cut short."""
        found: list[tuple[int, int]] = []
        at = 1
        for stride, count in self.thread_digits:
            if stride > at:
                found.append((at, stride // at))
            at = stride * count
        if at < self.threads:
            found.append((at, -(-self.threads // at)))
        return tuple(found)

    @property
    def overhangs(self) -> bool:
        return any(a.overhangs for a in self.axes)

    def register_coordinates(self) -> list[tuple[int, ...]]:
        """All register coordinates in row-major order."""
        return list(product(*(range(n) for n in self.register_shape)))

    def table(self) -> Array:
        """int64 array [thread, register, axis] of coordinates; register counts row-major over `register_shape`."""
        thread = np.arange(self.threads)
        out = np.zeros((self.threads, self.registers, len(self.axes)), np.int64)
        registers = np.array(self.register_coordinates(), np.int64).reshape(self.registers, len(self.axes))
        for i, axis in enumerate(self.axes):
            for stride, count, step in axis.thread_terms():
                out[:, :, i] += (thread // stride % count * step)[:, None]
            offsets = np.array([axis.register_offset(r) for r in range(axis.registers)], np.int64)
            out[:, :, i] += offsets[registers[:, i]][None, :]
        return out

    # ---- layouts made from this one --------------------------------------------------------------------

    def drop(self, axis: int) -> RegisterLayout:
        """The layout of what remains when `axis` goes away."""
        return RegisterLayout(self.axes[:axis] + self.axes[axis + 1 :], self.threads)

    def collapse(self, axes: Sequence[int]) -> RegisterLayout:
        """Extent 1 along `axes`: how a value that repeats along them is held, once per thread and not per register."""
        made = tuple(AxisLayout(1) if i in axes else a for i, a in enumerate(self.axes))
        return RegisterLayout(made, self.threads)

    def insert(self, axis: int) -> RegisterLayout:
        """A new axis of extent 1."""
        return RegisterLayout((*self.axes[:axis], AxisLayout(1), *self.axes[axis:]), self.threads)

    def replace(self, axis: int, by: AxisLayout) -> RegisterLayout:
        """Another layout along one axis."""
        return RegisterLayout((*self.axes[:axis], by, *self.axes[axis + 1 :]), self.threads)

    def permute(self, order: Sequence[int]) -> RegisterLayout:
        """Axis i of the result is axis ``order[i]`` of this one."""
        return RegisterLayout(tuple(self.axes[a] for a in order), self.threads)

    def __str__(self) -> str:
        return f"{' | '.join(map(str, self.axes))} / {self.threads}"


_AXIS = re.compile(r"(\d+)(?::((?: (?:t\d+@\d+|r\d+))+))?")


@lru_cache(maxsize=1024)
def parse_layout(text: str) -> RegisterLayout:
    """The layout that prints as `text`. ValueError for anything else."""
    body, slash, threads = text.rpartition(" / ")
    if not slash or not threads.isdigit():
        raise ValueError(f"{text!r} is no register layout")
    axes: list[AxisLayout] = []
    for part in body.split(" | ") if body else []:
        found = _AXIS.fullmatch(part)
        if found is None:
            raise ValueError(f"{part!r} is no axis of a register layout")
        axes.append(AxisLayout(int(found[1]), tuple(_digit(d) for d in (found[2] or "").split())))
    return RegisterLayout(tuple(axes), int(threads))


def _digit(text: str) -> Digit:
    count, _, stride = text[1:].partition("@")
    return Digit(int(count), int(stride or 0))


def strided(shape: Sequence[int], thread_shape: Sequence[int], threads: int) -> RegisterLayout:
    """Element = thread + register * thread_shape per axis; threads count row-major over `thread_shape`."""
    stride = 1
    strides: list[int] = []
    for n in reversed(thread_shape):
        strides.insert(0, stride)
        stride *= n
    axes: list[AxisLayout] = []
    for extent, n, s in zip(shape, thread_shape, strides, strict=True):
        registers = -(-extent // n)
        digits = ([Digit(n, s)] if n > 1 else []) + ([Digit(registers)] if registers > 1 else [])
        axes.append(AxisLayout(extent, tuple(digits)))
    return RegisterLayout(tuple(axes), threads)


def blocked(shape: Sequence[int], threads: int, order: Sequence[int], vector: int = 1) -> RegisterLayout:
    """Runs of `vector` elements along axis ``order[0]`` per thread, neighbouring threads next to each other.

    Threads go to the axes in `order` until they are used up; what is left over repeats in registers.
    """
    axes: list[AxisLayout] = [AxisLayout(1)] * len(shape)
    left, stride = threads, 1
    for place, axis in enumerate(order):
        extent = shape[axis]
        run = min(vector, extent) if place == 0 else 1
        needed = -(-extent // run)
        count = min((d for d in divisors(left) if d >= needed), default=left)
        registers = -(-extent // (run * count))
        digits = [Digit(run)] if run > 1 else []
        digits += [Digit(count, stride)] if count > 1 else []
        digits += [Digit(registers)] if registers > 1 else []
        axes[axis] = AxisLayout(extent, tuple(digits))
        left //= count
        stride *= count
    return RegisterLayout(tuple(axes), threads)


@lru_cache(maxsize=256)
def divisors(n: int) -> tuple[int, ...]:
    """All divisors of `n`, rising."""
    return tuple(d for d in range(1, n + 1) if n % d == 0)


def layout_of(value: Value) -> RegisterLayout | None:
    """The layout recorded for a tile value; None for scalars and before layouts are assigned."""
    if not value.type.shape:
        return None
    owner = value.owner
    if isinstance(owner, Op):
        index, op = value.index, owner
    else:
        if not isinstance(owner.parent, Op):
            return None
        op = owner.parent
        index = value.index - (len(owner.args) - len(op.results))  # a loop's induction variable comes first
    text = op.attrs.get("layout")
    if isinstance(text, tuple):
        text = text[index]
    return parse_layout(text) if isinstance(text, str) else None


@lru_cache(maxsize=256)
def owners(layout: RegisterLayout) -> Array:
    """Of every element the thread that answers for it: the one whose replica digits are all 0. int32, tile shape."""
    table = layout.table()
    thread = np.arange(layout.threads)
    first = np.ones(layout.threads, bool)
    for stride, count in layout.replicas:
        first &= thread // stride % count == 0
    out = np.full(layout.shape, -1, np.int32)
    inside = (table < np.array(layout.shape)).all(-1) & first[:, None]
    out[tuple(table[inside].T)] = np.broadcast_to(thread[:, None], inside.shape)[inside]
    return out
