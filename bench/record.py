"""What every benchmark writes: its figures with date, machine and versions, as JSON under `bench/results/`."""

from __future__ import annotations

import datetime
import json
import os
import platform
import statistics
from importlib import metadata
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def machine() -> dict[str, Any]:
    """The processor, its cores, and the versions that matter."""
    versions = {}
    for package in ("numpy", "torch", "triton", "llvmlite"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"cpu": _processor(), "cores": usable, "python": platform.python_version(), **versions}


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(": ")[2].strip()
    return platform.processor() or platform.machine()


def summary(milliseconds: list[float]) -> dict[str, float]:
    """Median, extremes and how many runs."""
    ordered = sorted(milliseconds)
    return {
        "median_ms": round(statistics.median(ordered), 3),
        "least_ms": round(ordered[0], 3),
        "most_ms": round(ordered[-1], 3),
        "runs": len(ordered),
    }


def record(name: str, command: str, figures: dict[str, Any], **more: Any) -> Path:
    """Write ``results/<name>.json``; gives its path. `more` is kept beside the machine: versions of a peer, say."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    today = datetime.date.today().isoformat()
    content = {"date": today, "command": command, "machine": machine(), **more, "figures": figures}
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return path
