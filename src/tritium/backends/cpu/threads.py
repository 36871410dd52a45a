"""Program instances on all cores: a few ranges of instances for each worker, the interpreter lock released."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from tritium import config

if TYPE_CHECKING:
    from tritium.backends.cpu.launch import Native

RANGES_PER_WORKER = 8
_LOCAL = threading.local()
_POOL: dict[int, ThreadPoolExecutor] = {}
_POOL_LOCK = threading.Lock()


def worker_count() -> int:
    """TRITIUM_NUM_THREADS, else the cores this process may use."""
    wanted = config.get("num_threads")
    return int(wanted) if wanted else len(os.sched_getaffinity(0))


def scratch_address(nbytes: int) -> int:
    """At least `nbytes` of memory that belongs to the calling thread, aligned to 64 bytes."""
    held = getattr(_LOCAL, "arena", None)
    if held is None or held.size < nbytes + 64:
        held = np.zeros(max(nbytes + 64, 1 << 16), np.uint8)
        _LOCAL.arena = held
    return (held.ctypes.data + 63) & ~63


def run(native: Native, block: Any, total: int) -> None:
    """Run instances 0 to `total` of a kernel."""
    address = block.ctypes.data
    workers = min(worker_count(), total)
    if workers <= 1:
        native.chunk(address, 0, total, scratch_address(native.scratch))
        return
    ranges = min(total, workers * RANGES_PER_WORKER)
    bounds = iter([(i * total // ranges, (i + 1) * total // ranges) for i in range(ranges)])
    lock = threading.Lock()

    def work() -> None:
        scratch = scratch_address(native.scratch)
        while True:
            with lock:
                span = next(bounds, None)
            if span is None:
                return
            native.chunk(address, span[0], span[1], scratch)

    others = [_pool(workers - 1).submit(work) for _ in range(workers - 1)]
    work()
    for other in others:
        other.result()


def _pool(size: int) -> ThreadPoolExecutor:
    with _POOL_LOCK:
        found = _POOL.get(size)
        if found is None:
            found = _POOL[size] = ThreadPoolExecutor(size, thread_name_prefix="tritium")
        return found


def _forget() -> None:
    _POOL.clear()


os.register_at_fork(after_in_child=_forget)
