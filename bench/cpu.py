"""The CPU backend against NumPy and PyTorch on this machine: one table of ratios, measured side by side in one run.

    python bench/cpu.py                           one and two threads, everything
    python bench/cpu.py --threads 1 --only matmul softmax
    python bench/cpu.py --peer /path/to/python    also Triton's interpreter, by a Python that has it

Contenders run by turns, each time in another order, and every turn gives one ratio: the time of a peer by ours (above 1:
ours is faster). A row shows the median of these, against the peer where it is least, with the quartiles; so whatever
slows the whole machine down for a while falls on all of them. Each number of threads gets a process of its own, since
the libraries take theirs when they start; with several, contenders pause until the threads of the one before sleep.
With one thread the clock is the processor time of that thread, which leaves out when the machine runs something else;
with several it is the wall's.
Kernels are plain; blocks are the fastest of a few, as `autotune` would choose. Results of all contenders are compared.
Writes bench/results/cpu.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.cpu_workloads import WORKLOADS, Call, Workload
from bench.record import record

Row = dict[str, Any]
SECONDS = 2.5
"""What the turns of one row take, roughly."""

TURNS = 15, 301
"""The fewest and the most turns of a row; odd, so that a median is a measured one."""

SHORT = 1e-3
"""Calls that take less are repeated within a turn until they take as long."""

PAUSE = 0.03
"""Seconds until waiting threads of a library have given up their cores (OpenBLAS spins for 2**26 cycles)."""

WARM = 0.015
"""Seconds of calls after a pause that do not count: on a virtual machine an idle core takes milliseconds to come back."""

SCALING = 0.95
"""What two threads gain us, by what they gain NumPy, on the matmul of 2048."""

INTERPRETER = 1000
"""How often faster than Triton's interpreter."""


# ---- measuring --------------------------------------------------------------------------------------------------


def _timed(call: Call, repeats: int, pause: float) -> float:
    clock = time.perf_counter if pause else time.thread_time
    if pause:
        time.sleep(pause)
        until = clock() + WARM
        call()
        while clock() < until:
            call()
    start = clock()
    for _ in range(repeats):
        call()
    return (clock() - start) / repeats


def by_turns(calls: dict[str, Call], seconds: float, pause: float) -> dict[str, list[float]]:
    """Seconds of every call in every turn."""
    repeats: dict[str, int] = {}
    total = 0.0
    for name, call in calls.items():
        call()
        once = min(_timed(call, 1, pause) for _ in range(3))
        repeats[name] = max(1, round(SHORT / once))
        total += once * repeats[name] + (pause and max(once, WARM) + pause)
    least, most = TURNS
    turns = int(min(max(seconds / total, least), most)) | 1
    times: dict[str, list[float]] = {name: [] for name in calls}
    names = list(calls)
    for turn in range(turns):
        at = turn % len(names)
        for name in names[at:] + names[:at]:
            times[name].append(_timed(calls[name], repeats[name], pause))
    return times


def compared(work: Workload, pause: float) -> Row:
    """The row of one workload."""
    times = by_turns(work.calls, SECONDS, pause)
    ratios: dict[str, list[float]] = {}
    for name, taken in times.items():
        if name != "ours":
            ratios[name] = sorted(peer / own for peer, own in zip(taken, times["ours"], strict=True))
    medians = {name: statistics.median(r) for name, r in ratios.items()}
    worst = min(medians, key=lambda name: medians[name])
    few = len(ratios[worst]) // 4
    return {
        "name": work.name,
        "ms": {name: round(1e3 * statistics.median(t), 4) for name, t in times.items()},
        "least_ms": {name: round(1e3 * min(t), 4) for name, t in times.items()},
        "ratios": {name: round(r, 3) for name, r in medians.items()},
        "ratio": round(medians[worst], 3),
        "quartiles": [round(ratios[worst][few], 3), round(ratios[worst][-1 - few], 3)],
        "turns": len(times["ours"]),
        "target": work.target,
        "note": work.note,
    }


def measure(threads: int, only: list[str]) -> None:
    """All rows of one number of threads, in this process, each printed as a line of JSON."""
    import torch

    from tritium.backends.cpu.launch import LAUNCHES

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    pause = PAUSE if threads > 1 else 0.0

    def fastest(calls: dict[str, Call]) -> str:
        times = by_turns(calls, 0.3, pause)
        return min(times, key=lambda name: statistics.median(times[name]))

    for name in only:
        for work in WORKLOADS[name](torch, fastest):
            print(json.dumps({**compared(work, pause), "threads": threads}), flush=True)
    assert not LAUNCHES["interpreted"], "a kernel ran on the interpreter"


def in_own_process(threads: int, only: list[str]) -> list[Row]:
    count = str(threads)
    env = {
        **os.environ,
        "TRITIUM_NUM_THREADS": count,
        "OMP_NUM_THREADS": count,
        "OPENBLAS_NUM_THREADS": count,
        "OMP_WAIT_POLICY": "PASSIVE",
        "TRITIUM_BACKEND": "cpu",
        "TRITIUM_REQUIRE": "native",
    }
    command = [sys.executable, __file__, "--as-child", str(threads), "--only", *only]
    rows: list[Row] = []
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            rows.append(json.loads(line))
            show(rows[-1])
    if child.returncode:
        raise SystemExit(child.returncode)
    return rows


# ---- rows made of others ----------------------------------------------------------------------------------------


def scaling(rows: list[Row]) -> list[Row]:
    """What a second thread gains us by what it gains NumPy: the ratio at two threads by that at one."""
    found = {r["threads"]: r for r in rows if r["name"] == "matmul 2048 fp32"}
    if not {1, 2} <= set(found):
        return []
    ratio = round(found[2]["ratios"]["numpy"] / found[1]["ratios"]["numpy"], 3)
    note = "gain of a second thread by NumPy's"
    return [{"name": "scaling of matmul 2048", "ratio": ratio, "target": SCALING, "note": note, "threads": 2}]


def interpreter(peer: str, rows: list[Row]) -> list[Row]:
    """Against Triton's interpreter, which `bench/interpreter.py` runs in the Python that has it."""
    env = {**os.environ, "TRITON_INTERPRET": "1"}
    env.pop("PYTHONPATH", None)
    script = Path(__file__).with_name("interpreter.py")
    done = subprocess.run(
        [peer, str(script), "--as-peer"], env=env, stdout=subprocess.PIPE, text=True, check=True
    )
    theirs: dict[str, float] = json.loads(done.stdout.splitlines()[-1])["times"]
    made: list[Row] = []
    for name, start in (("matmul 512 fp32", "matmul"), ("add 1 M", "add")):
        ms = next(t for n, t in theirs.items() if n.startswith(start))
        for r in rows:
            if r["name"] == name:
                ours = r["ms"]["ours"]
                row: Row = {"name": name, "ms": {"ours": ours, "Triton's interpreter": round(ms, 1)}}
                row |= {"ratio": round(ms / ours), "target": INTERPRETER, "threads": r["threads"]}
                made.append({**row, "note": "against Triton's interpreter"})
    return made


# ---- the run ----------------------------------------------------------------------------------------------------


def show(row: Row) -> None:
    ms, target = row.get("ms", {}), row["target"]
    times = " ".join(f"{ms[p]:10.3f}" if p in ms else " " * 10 for p in ("ours", "numpy", "torch"))
    low, high = row.get("quartiles", ("", ""))
    verdict = "" if target is None else f"{target:g} {'ok' if row['ratio'] >= target else 'MISSED'}"
    print(
        f"{row['name']:24} {row['threads']:3} {times} {row['ratio']:7.4g} {low:>6} {high:>6}  {verdict:12} {row['note']}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", nargs="+", choices=[*WORKLOADS], default=[*WORKLOADS])
    parser.add_argument("--peer", help="a Python that has Triton, for its interpreter")
    parser.add_argument("--as-child", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.as_child:
        measure(args.as_child, args.only)
        return
    print(f"{'workload':24} thr    ours ms      numpy      torch   ratio  quartiles      target")
    rows: list[Row] = []
    for threads in args.threads:
        rows += in_own_process(threads, args.only)
    more = scaling(rows) + (interpreter(args.peer, rows) if args.peer else [])
    for row in more:
        show(row)
    rows += more
    missed = [f"{r['name']} ({r['threads']})" for r in rows if r["target"] and r["ratio"] < r["target"]]
    print(f"missed: {', '.join(missed) or 'nothing'}")
    record("cpu", " ".join(["python bench/cpu.py", *_given(args)]), {"rows": rows, "missed": missed})


def _given(args: argparse.Namespace) -> list[str]:
    given = [] if args.threads == [1, 2] else ["--threads", *map(str, args.threads)]
    given += [] if args.only == [*WORKLOADS] else ["--only", *args.only]
    return [*given, *(["--peer", "PYTHON_WITH_TRITON"] if args.peer else [])]


if __name__ == "__main__":
    sys.exit(main())
