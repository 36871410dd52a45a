"""``tritium cache``: the compiled kernels and tuning results on disk."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any

from tritium.errors import make_error
from tritium.runtime.cache_paths import cache_directory
from tritium.runtime.disk_cache import disk_cache

ACTIONS = ("list", "size", "path", "clear")
_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def cache(action: str, as_json: bool = False) -> None:
    """Do one of `ACTIONS`. ArgumentError TRI0907 for another."""
    if action not in ACTIONS:
        raise make_error("TRI0907", name="the action", got=repr(action), expected=", ".join(ACTIONS))
    {"list": _list, "size": _size, "path": _path, "clear": _clear}[action](as_json)


def _path(as_json: bool) -> None:
    folder = str(cache_directory())
    print(json.dumps({"path": folder}) if as_json else folder)


def _list(as_json: bool) -> None:
    now = time.time()
    rows: list[dict[str, Any]] = [
        {
            "kernel": str(entry.about.get("kernel", "?")),
            "target": str(entry.about.get("arch", entry.about.get("target", "?"))),
            "bytes": entry.nbytes,
            "used": entry.used,
            "key": entry.key,
        }
        for entry in disk_cache().entries()
    ]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    if not rows:
        print(f"no compiled kernels in {cache_directory()}")
        return
    width = max(len(row["kernel"]) for row in rows)
    wide = max(len(row["target"]) for row in rows)
    for row in rows:
        age = _age(now - row["used"])
        print(
            f"{row['kernel'].ljust(width)}  {row['target'].ljust(wide)}  {shown_size(row['bytes']):>9}"
            f"  {age:>12}  {row['key'][:16]}"
        )


def _size(as_json: bool) -> None:
    kept = disk_cache()
    sizes = [entry.nbytes for entry in kept.entries()]
    tuning = [path.stat().st_size for path in _tuning_results()]
    if as_json:
        found = {"kernels": len(sizes), "bytes": sum(sizes), "limit": kept.limit, "tuning_bytes": sum(tuning)}
        print(json.dumps(found))
        return
    print(f"{len(sizes)} compiled kernels, {shown_size(sum(sizes))} of at most {shown_size(kept.limit)}")
    print(f"{len(tuning)} tuning results, {shown_size(sum(tuning))}")


def _clear(as_json: bool) -> None:
    count, nbytes = disk_cache().clear()
    tuning = 0
    for path in _tuning_results():
        with contextlib.suppress(OSError):
            path.unlink()
            tuning += 1
    if as_json:
        print(json.dumps({"kernels": count, "bytes": nbytes, "tuning_results": tuning}))
        return
    print(f"removed {count} compiled kernels ({shown_size(nbytes)}) and {tuning} tuning results")


def _tuning_results() -> list[Path]:
    return sorted((cache_directory() / "autotune").glob("*.json"))


def shown_size(nbytes: int) -> str:
    """A number of bytes with a unit.

    >>> shown_size(1536), shown_size(12)
    ('1.5 KiB', '12 B')
    """
    for unit, name in _UNITS:
        if nbytes >= unit:
            return f"{nbytes / unit:.1f} {name}"
    return f"{nbytes} B"


def _age(seconds: float) -> str:
    for unit, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= unit:
            number = int(seconds // unit)
            return f"{number} {name}{'s' if number > 1 else ''} ago"
    return "just now"
