"""Who runs the instances of a launch: the launching thread alone, or the worker pool with it.

Results do not depend on the number of threads, except where a kernel adds floats atomically: every instance computes
the same whoever runs it. Instances start in order of their ids.
"""

from __future__ import annotations

import ctypes
import os
import struct
import threading
import time

import numpy as np

from tritium import config
from tritium.backends.cpu import jit, pool

RANGES_PER_WORKER = 8
WORTH_SHARING = 60_000
"""Nanoseconds of work from which a second thread pays: waking it takes 16 to 60 us."""

_LOCAL = threading.local()
_pools: list[pool.Pool] = []
_LOCK = threading.Lock()


def worker_count() -> int:
    """TRITIUM_NUM_THREADS, else the cores this process may use."""
    wanted = int(config.current().values["num_threads"])
    if wanted:
        return wanted
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def scratch_address(nbytes: int) -> int:
    """At least `nbytes` of memory that belongs to the calling thread, aligned to 64 bytes."""
    held = getattr(_LOCAL, "arena", None)
    if held is None or held[0] < nbytes:
        size = max(nbytes, 1 << 20)
        arena = np.zeros(size + 64, np.uint8)
        held = _LOCAL.arena = (size, (arena.ctypes.data + 63) & ~63, arena)
    address: int = held[1]
    return address


class Shared:
    """One kernel's launches: remembers how long an instance takes, to decide whether threads pay.

    address   of ``chunk``
    pace      the time, which the launch stub reads and writes too
    scratch   bytes that each thread needs
    """

    def __init__(self, address: int, scratch: int) -> None:
        self.address = address
        self.scratch = scratch
        self.pace = ctypes.c_double(float("inf"))  # nanoseconds per instance; nothing known yet
        self.keep: jit.Loaded | None = None

    def launch(self, block: bytes, total: int) -> bytes:
        """Run `total` instances on the argument block; gives the job, whose fault word the code may have set."""
        workers = worker_count()
        job: bytes = _JOB.pack(self.address, total, 1, scratch_address(self.scratch)) + block
        here = the_pool()
        if workers > 1 and total > 1 and self.pace.value * total > WORTH_SHARING and here.busy.acquire(False):
            ranges = min(total, workers * RANGES_PER_WORKER)
            job = _JOB.pack(self.address, total, ranges, scratch_address(self.scratch)) + block
            try:
                here.prepare(workers - 1, self.scratch)
                start = time.perf_counter_ns()
                here.run(job)
                spent = (time.perf_counter_ns() - start) * min(workers, total)
            finally:
                here.busy.release()
        else:
            start = time.perf_counter_ns()
            here.alone(job)
            spent = time.perf_counter_ns() - start
        each = spent / total
        before = self.pace.value
        self.pace.value = each if before > each else before * 0.75 + each * 0.25
        return job


_JOB = struct.Struct(f"={pool.JOB_WORDS}q")


def the_pool() -> pool.Pool:
    """This process's pool."""
    if not _pools:
        with _LOCK:
            if not _pools:
                _pools.append(pool.Pool())
    return _pools[0]


def _forget() -> None:
    """Threads do not survive a fork; the child makes its own pool."""
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)

__all__ = ["Shared", "scratch_address", "the_pool", "worker_count"]
