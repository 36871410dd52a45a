"""compute-sanitizer over the corpus on the GPU: ``PYTHONPATH=src:. python -m tests.gpu.sanitize OUT.json [seconds]``.

The tools do not run on every machine with a GPU, and a tool that finds nothing may be one that looks at nothing. So each
first has to find a fault that is there: a store beyond an array for memcheck, threads that read what others write without
a barrier for racecheck. Where that fails, its entry in OUT.json is "not run" with the reason.

Each tool runs in a process with one Python that launches many kernels, and stops after its share of the seconds (480 for
all unless given); cases that time did not allow are counted as "not run". Exit status: 1 if a tool reported anything.
"""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritium.backends.cuda import driver, nvrtc
from tritium.backends.cuda.module import LaunchShape
from tritium.backends.cuda.program import Program
from tritium.errors import TritiumError
from tritium.ir.types import int32, pointer

CANDIDATES = ("/usr/local/cuda/bin/compute-sanitizer", "compute-sanitizer")
FAULTS = {
    "memcheck": """extern "C" __global__ void faulty(int* x) { x[threadIdx.x + (1 << 20)] = 1; }\n""",
    "racecheck": """extern "C" __global__ void faulty(int* x) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  x[threadIdx.x] = s[63 - threadIdx.x];
}
""",
}
SUMMARY = re.compile(r"(ERROR SUMMARY: (\d+) errors?|RACECHECK SUMMARY: (\d+) hazards?.*)")
PROBE_SECONDS = 90.0
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Outcome:
    """What became of one process under a tool. `found` is None where the tool came to no end."""

    found: int | None
    summary: str
    seconds: float
    log: str
    status: int

    def reason(self) -> str:
        """Why there is no count of findings."""
        lines = [line.removeprefix("=========").strip() for line in self.log.splitlines()]
        said = " / ".join(line for line in lines if line and "COMPUTE-SANITIZER" not in line)
        return (said or f"it ended with status {self.status} and said nothing")[:600]


def findings(log: str) -> tuple[int | None, str]:
    """How many faults the last summary in a log counts, and the summary itself."""
    counted = list(SUMMARY.finditer(log))
    if not counted:
        return None, ""
    last = counted[-1]
    return int(last.group(2) or last.group(3)), last.group(1)


def under(tool: str, program: str, arguments: Sequence[str], seconds: float) -> Outcome:
    """Run ``python -m tests.gpu.sanitize`` with `arguments` under a tool, for at most `seconds`."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.txt"
        command = [program, "--tool", tool, "--log-file", str(log), "--print-limit", "20"]
        command += [sys.executable, "-m", "tests.gpu.sanitize", *arguments]
        paths = [str(ROOT), str(ROOT / "src"), *sys.path]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        start = time.monotonic()
        try:
            status, said = _run(command, environment, seconds)
        except OSError as error:
            status, said = -1, str(error)
        text = (log.read_text(errors="replace") if log.exists() else "") + said
        found, summary = findings(text)
        return Outcome(found, summary, time.monotonic() - start, text, status)


def _run(command: Sequence[str], environment: dict[str, str], seconds: float) -> tuple[int, str]:
    """Status and output; a tool that takes too long is ended with the Python under it."""
    with subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return -1, f"it did not end within {seconds:.0f} s"
        return process.returncode, said


def program_of_sanitizer() -> tuple[str, str]:
    """The program and its version; ("", reason) where there is none that starts."""
    reasons: list[str] = []
    for candidate in CANDIDATES:
        try:
            done = subprocess.run(
                [candidate, "--version"], capture_output=True, text=True, timeout=30, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            reasons.append(f"{candidate}: {error}")
            continue
        version = re.search(r"[Vv]ersion ([\d.]+)", done.stdout + done.stderr)
        if done.returncode == 0 and version:
            return candidate, version.group(1)
        reasons.append(f"{candidate}: status {done.returncode}, {(done.stdout + done.stderr)[:200]}")
    return "", "; ".join(reasons)


def run_faulty(tool: str) -> None:
    """Launch the kernel with the fault that `tool` has to find."""
    gpu = driver.device(0)
    binary = nvrtc.compile_source(FAULTS[tool], "faulty", gpu.arch)
    program = Program(binary, LaunchShape(64), ("x",), (pointer(int32),))
    with gpu.current():
        x = driver.call("test", "cuMemAlloc", 4096)
        program.on(0)[1](1, 1, 1, 0, int(x))
        driver.call("test", "cuCtxSynchronize")


def run_corpus(out: str, seconds: float) -> None:
    """Every case with the default layouts and every fifth with the seed's, random matmuls; counts of outcomes to `out`."""
    from tests.gpu.corpus_run import run_layouts, wanted
    from tests.gpu.matmul_run import EDGES, random_cases, run_all

    deadline = time.monotonic() + seconds
    cases = wanted()
    cases = [c for i in range(7) for c in cases[i::7]]  # so that what time allows is some of everything
    found = {
        "matmul": run_all(random_cases(len(EDGES) + 8), driver.device(0).arch),
        "seed": run_layouts("seed", cases[::5], deadline - seconds * 0.7),
        "default": run_layouts("default", cases, deadline),
    }
    with open(out, "w", encoding="utf-8") as file:
        json.dump(found, file)


def check(tool: str, program: str, seconds: float) -> dict[str, Any]:
    """The entry of one tool: "not run" with a reason, or what it found in how many cases."""
    probe = under(tool, program, ["--faulty", tool], PROBE_SECONDS)
    if not probe.found:
        why = "it finds no fault where there is one: " if probe.found == 0 else ""
        return {"result": "not run", "reason": why + probe.reason()}
    with tempfile.TemporaryDirectory() as folder:
        cases = Path(folder) / "cases.json"
        done = under(tool, program, ["--corpus", str(cases), str(seconds)], seconds + 120)
        outcomes = json.loads(cases.read_text()) if cases.exists() else {}
    entry: dict[str, Any] = {"probe": probe.summary, "seconds": round(done.seconds, 1)}
    if done.found is None or not outcomes:
        return {"result": "not run", "reason": done.reason(), **entry}
    counts = {
        part: dict(Counter(v.split(":")[0] for v in found.values())) for part, found in outcomes.items()
    }
    wrong = {
        f"{part} {name}": value[:200]
        for part, found in outcomes.items()
        for name, value in found.items()
        if value not in ("ok", "not run") and not value.startswith("refused")
    }
    result = "silent" if not done.found else f"{done.found} reported"
    return {"result": result, "summary": done.summary, "cases": counts, "wrong": wrong, **entry} | (
        {"log": done.log[:20000]} if done.found else {}
    )


def report(seconds: float) -> dict[str, Any]:
    """Everything that goes into OUT.json."""
    made: dict[str, Any] = {"date": time.strftime("%Y-%m-%d"), "python": platform.python_version()}
    try:
        gpu = driver.device(0)
        made |= {"hardware": str(gpu), "driver": ".".join(map(str, driver.version()))}
        made |= {"nvrtc": ".".join(map(str, nvrtc.version()))}
    except TritiumError as missing:
        return made | {tool: {"result": "not run", "reason": missing.message} for tool in FAULTS}
    program, version = program_of_sanitizer()
    if not program:
        return made | {tool: {"result": "not run", "reason": version} for tool in FAULTS}
    made["compute-sanitizer"] = version
    for tool in FAULTS:
        made[tool] = check(tool, program, seconds / len(FAULTS))
        print(tool, {k: v for k, v in made[tool].items() if k != "log"}, flush=True)
    return made


def main() -> int:
    if sys.argv[1:2] == ["--faulty"]:
        run_faulty(sys.argv[2])
        return 0
    if sys.argv[1:2] == ["--corpus"]:
        run_corpus(sys.argv[2], float(sys.argv[3]))
        return 0
    out, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 480.0
    made = report(seconds)
    Path(out).write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    results = {tool: made[tool]["result"] for tool in FAULTS}
    print(results)
    return 0 if all(r in ("silent", "not run") for r in results.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
