"""The shared memory of one block as the interpreter holds it: bytes with a shadow that finds races.

Every byte remembers since the last barrier which thread wrote it and which read it. An access is a race if another
thread wrote the byte in the same interval, or, for a write, if another thread read it. Reading bytes that nobody wrote
is an error too. So a missing barrier shows in the interpreter, on every run, with the op that lacks it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tritium.errors import TritiumError, make_error
from tritium.ir.core import Op
from tritium.ir.types import SharedType
from tritium.ops.base import Array
from tritium.ops.storage import storage_dtype

NOBODY = -1
SEVERAL = -2


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

    def reserve(self, end: int) -> None:
        """Make the memory at least `end` bytes large."""
        if end <= self.size:
            return
        grow = end - self.size
        self.bytes = np.concatenate([self.bytes, np.zeros(grow, np.uint8)])
        self.written = np.concatenate([self.written, np.zeros(grow, bool)])
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
        size = values.dtype.itemsize
        index, who = _bytes(at, threads, size)
        self._check(op, index, who, self.writer, self.writer_at, "was written")
        self._check(op, index, who, self.reader, self.reader_at, "was read")
        self.bytes[index] = np.ascontiguousarray(values).view(np.uint8).reshape(-1)
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
        if check_written and not self.written[index].all():
            raise make_error("TRI0821", op.loc, op=op.name)
        self._check(op, index, who, self.writer, self.writer_at, "was written")
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
        strides = np.array(self.type.strides, np.int64)
        elements = (coordinates * strides).sum(-1) + stage * self.type.stage_size
        return self.base + elements * self.dtype.itemsize
