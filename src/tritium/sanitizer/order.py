"""What one program instance may rely on of another: barriers, and atomic operations that release and acquire.

Each instance counts its barriers; an access is stamped with the count at that time. A scalar atomic operation that
releases makes known, to whoever acquires at the same address, every access that its instance has put behind a barrier,
and all that it has learnt itself. An atomic operation is known by its own release. Atomic operations on tiles order nothing
but themselves: each lane is a thread of its own.

An instance `q` knows the access of `p` with stamp `s` exactly if ``known[q][p] > s``.
"""

from __future__ import annotations

import numpy as np

from tritium.ops.base import Array

_MOST_INSTANCES = 2048


class Order:
    """Clocks of the instances of one launch; `count` instances, `synchronises` if the kernel has such atomics.

    Where there are too many instances for a clock per pair, all that happened before counts as known.
    """

    def __init__(self, count: int, synchronises: bool) -> None:
        self._barriers = np.zeros(count, np.int32)
        self._passed = False
        self.lenient = synchronises and count > _MOST_INSTANCES
        self.known: Array | None = None
        if synchronises and not self.lenient:
            self.known = np.zeros((count, count), np.int32)
        self._released: dict[int, Array] = {}

    def barrier(self, programs: Array) -> None:
        """The instances pass a barrier."""
        self._passed = True
        self._barriers[programs] += 1

    def stamps(self, programs: Array) -> Array | None:
        """What accesses of these instances are stamped with now; None (for 0) as long as nobody has passed a barrier."""
        return self._barriers[programs] if self._passed else None

    def synchronise(self, programs: Array, addresses: Array, acquire: bool, release: bool) -> None:
        """One scalar atomic operation of each instance, in order of the ids."""
        known = self.known
        if known is None:
            return
        for program, address in zip(programs.tolist(), addresses.tolist(), strict=True):
            before = self._released.get(address)
            if acquire and before is not None:
                np.maximum(known[program], before, out=known[program])
            if release:
                row = known[program].copy()
                row[program] = max(row[program], self._barriers[program])
                self._released[address] = row if before is None else np.maximum(row, before)

    def unordered(self, others: Array, stamps: Array, programs: Array) -> Array:
        """Which accesses of `others` with these stamps `programs` do not know of; arrays of one shape."""
        if self.lenient:
            return np.zeros(others.shape, np.bool_)
        if self.known is None:
            return np.ones(others.shape, np.bool_)
        return self.known[programs, others] <= stamps
