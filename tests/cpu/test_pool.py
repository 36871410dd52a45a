"""Where the workers of the pool run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tritium.backends.cpu import pool

PROGRAM = """
import os, time
import numpy as np
import tritium as triton
import tritium.language as tl

@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

def tasks():
    return {int(name) for name in os.listdir("/proc/self/task")}

def launch():
    x = np.ones(1 << 20, np.float32)
    double[(1024,)](x, x.size, BLOCK=1024)
    assert (x == 2).all()

before = tasks()
launch()
workers = tasks() - before
assert len(workers) == 1, workers
(worker,) = workers
allowed = os.sched_getaffinity(0)
for processor in sorted(allowed)[:2]:
    os.sched_setaffinity(0, {processor})
    os.sched_setaffinity(worker, {processor})
    for _ in range(200):
        launch()
        time.sleep(0.001)
        if os.sched_getaffinity(worker) != {processor}:
            break
    print(sorted(allowed - os.sched_getaffinity(worker)) == [processor], len(allowed))
"""


@pytest.mark.skipif(not pool.RUNS, reason="the pool is for Linux")
def test_a_worker_leaves_the_processor_of_the_launching_thread(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    env = {**os.environ, "TRITIUM_NUM_THREADS": "2", "TRITIUM_BACKEND": "cpu"}
    done = subprocess.run([sys.executable, str(file)], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = done.stdout.split("\n")[:-1]
    several = len(os.sched_getaffinity(0)) > 1  # with one processor there is nowhere to go
    assert told == [f"{several} {len(os.sched_getaffinity(0))}"] * len(told) and told
