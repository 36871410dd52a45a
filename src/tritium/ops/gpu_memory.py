"""The shared memory of one block as the interpreter holds it: bytes with a shadow that finds races.

Every byte remembers since the last barrier which thread wrote it and which read it. An access is a race if another
thread wrote the byte in the same interval, or, for a write, if another thread read it. Reading bytes that nobody wrote
is an error too. So a missing barrier shows in the interpreter, on every run, with the op that lacks it.

An asynchronous copy arrives as late as it may: when its group is waited for, as a write of the thread that started it.
Until then nothing may touch its bytes. So a missing wait, or a wrong stage, shows as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tritium.errors import TritiumError, make_error
from tritium.ir.core import Op
from tritium.ir.types import SharedType
from tritium.layout import Swizzle
from tritium.ops.base import Array
from tritium.ops.storage import storage_dtype

NOBODY = -1
SEVERAL = -2


@dataclass(frozen=True)
class _Copy:
    """Bytes on their way to `index`, one thread of `who` for each."""

    op: Op
    index: Array
    who: Array
    data: Array


class SharedMemory:
    """Of one program instance. `interval` counts its barriers."""

    def __init__(self) -> None:
        self.interval = 0
        self.size = 0
        self.bytes: Array = np.zeros(0, np.uint8)
        self.written: Array = np.zeros(0, bool)
        self.writer: Array = np.zeros(0, np.int32)
        self.writer_at: Array = np.zeros(0, np.int64)
        self.reader: Array = np.zeros(0, np.int32)
        self.reader_at: Array = np.zeros(0, np.int64)
        self.writers: list[Op] = []
        self.writer_op: Array = np.zeros(0, np.int32)
        self.last_reader: Op | None = None
        self.in_flight: Array = np.zeros(0, bool)
        self.started: list[_Copy] = []
        self.groups: list[list[_Copy]] = []

    def reserve(self, end: int) -> None:
        """Make the memory at least `end` bytes large."""
        if end <= self.size:
            return
        grow = end - self.size
        self.bytes = np.concatenate([self.bytes, np.zeros(grow, np.uint8)])
        self.written = np.concatenate([self.written, np.zeros(grow, bool)])
        self.in_flight = np.concatenate([self.in_flight, np.zeros(grow, bool)])
        for name, fill in (("writer", NOBODY), ("reader", NOBODY), ("writer_op", 0)):
            setattr(self, name, np.concatenate([getattr(self, name), np.full(grow, fill, np.int32)]))
        for name in ("writer_at", "reader_at"):
            setattr(self, name, np.concatenate([getattr(self, name), np.full(grow, -1, np.int64)]))
        self.size = end

    def barrier(self) -> None:
        """All threads have met: what happened before is ordered against what follows."""
        self.interval += 1

    def write(self, op: Op, at: Array, threads: Array, values: Array) -> None:
        """Elements `values` at byte addresses `at` by `threads`, all flat. Raises for a race."""
        index, who = self._claimed(op, at, threads, values)
        self._put(_Copy(op, index, who, np.ascontiguousarray(values).view(np.uint8).reshape(-1)))

    def start_copy(self, op: Op, at: Array, threads: Array, values: Array) -> None:
        """As `write`, but the elements arrive when `wait` says that their group has. Raises for a race."""
        index, who = self._claimed(op, at, threads, values)
        self.in_flight[index] = True
        self.started.append(_Copy(op, index, who, np.ascontiguousarray(values).view(np.uint8).reshape(-1)))

    def commit(self) -> None:
        """The copies started since the last commit are one group, which may be empty."""
        self.groups.append(self.started)
        self.started = []

    def wait(self, pending: int) -> None:
        """All groups but the newest `pending` have arrived."""
        while len(self.groups) > pending:
            for copy in self.groups.pop(0):
                self.in_flight[copy.index] = False
                self._put(copy)

    def _claimed(self, op: Op, at: Array, threads: Array, values: Array) -> tuple[Array, Array]:
        """The bytes that a write goes to and who writes them; raises if another access is in the way."""
        index, who = _bytes(at, threads, values.dtype.itemsize)
        self._check(op, index, who, self.writer, self.writer_at, "was written")
        self._check(op, index, who, self.reader, self.reader_at, "was read")
        return index, who

    def _put(self, copy: _Copy) -> None:
        op, index, who = copy.op, copy.index, copy.who
        self.bytes[index] = copy.data
        self.written[index] = True
        self.writer[index] = who
        self.writer_at[index] = self.interval
        if not self.writers or self.writers[-1] is not op:
            self.writers.append(op)
        self.writer_op[index] = len(self.writers) - 1
        if np.any(self.writer[index] != who):
            raise _race(op, "is written twice at once", self.writers[-1])

    def read(
        self, op: Op, at: Array, threads: Array, dtype: np.dtype[Any], *, check_written: bool = True
    ) -> Array:
        """The elements at byte addresses `at`, read by `threads`. Raises for a race or for bytes nobody wrote."""
        index, who = _bytes(at, threads, dtype.itemsize)
        self._check(op, index, who, self.writer, self.writer_at, "was written")
        if check_written and not self.written[index].all():
            raise make_error("TRI0821", op.loc, op=op.name)
        fresh = self.reader_at[index] != self.interval
        self.reader[index[fresh]] = who[fresh]
        self.reader_at[index] = self.interval
        several = self.reader[index] != who
        self.reader[index[several]] = SEVERAL
        self.last_reader = op
        return self.bytes[index].reshape(-1, dtype.itemsize).view(dtype).reshape(-1)

    def peek(self, at: Array, dtype: np.dtype[Any]) -> Array:
        """The elements at byte addresses `at`, read by no thread: for ops whose reads are checked apart."""
        index, _ = _bytes(at, np.zeros(at.shape, np.int32), dtype.itemsize)
        return self.bytes[index].reshape(-1, dtype.itemsize).view(dtype).reshape(-1)

    def _check(self, op: Op, index: Array, who: Array, last: Array, when: Array, what: str) -> None:
        if self.in_flight[index].any():
            raise make_error("TRI0822", op.loc, op=op.name)
        clash = (when[index] == self.interval) & (last[index] != who)
        if clash.any():
            other = self.last_reader if what == "was read" else self.writers[self.writer_op[index[clash][0]]]
            raise _race(op, what, other)


def _race(op: Op, what: str, other: Op | None) -> TritiumError:
    notes = (
        [f"the other access is {other.name} in line {other.loc.line}"]
        if other is not None and other.loc
        else []
    )
    return make_error("TRI0820", op.loc, op=op.name, what=what, notes=notes)


def _bytes(at: Array, threads: Array, size: int) -> tuple[Array, Array]:
    index = (at.astype(np.int64)[:, None] + np.arange(size)).reshape(-1)
    return index, np.repeat(threads.astype(np.int32), size)


class SharedBuffer:
    """A buffer of `memory` from byte `base` on: what a value of `SharedType` is at run time."""

    def __init__(self, memory: SharedMemory, base: int, ty: SharedType) -> None:
        self.memory = memory
        self.base = base
        self.type = ty
        self.dtype = storage_dtype(ty.element)
        memory.reserve(base + ty.nbytes)

    def addresses(self, coordinates: Array, stage: int) -> Array:
        """Byte addresses of int coordinates [..., axis]."""
        ty = self.type
        inside = (coordinates * np.array(ty.strides, np.int64)).sum(-1) * self.dtype.itemsize
        if ty.swizzle:
            inside = Swizzle(*ty.swizzle).apply(inside)
        return self.base + stage * ty.stage_size * self.dtype.itemsize + inside
