"""Autotuning results on disk: timings per configuration, one small JSON file per kernel and key.

Timings are kept apart from the list of candidates, so adding a configuration re-measures only that one run's key. A
damaged or foreign file counts as absent; writing goes through a rename, so no reader ever sees half a file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tritium import config
from tritium.runtime.cache import triton_key
from tritium.runtime.cache_paths import cache_directory
from tritium.runtime.driver import driver

_FORMAT = 1


def _path(fn: Any, key: tuple[Any, ...]) -> Path:
    """Where the timings of one kernel and key are kept: for this compiler, these settings and this device."""
    while not hasattr(fn, "cache_key"):
        fn = fn.fn
    target = driver.active.get_current_target()
    settings = config.current()
    where = (settings.values["backend"], settings.values["triton_interpret"], settings.key)
    text = f"{_FORMAT}|{triton_key()}|{target}|{where}|{fn.cache_key}|{key!r}"
    digest = hashlib.sha256(text.encode()).hexdigest()
    return cache_directory() / "autotune" / f"{fn.__name__[:100]}-{digest[:24]}.json"


def load_timings(
    fn: Any, key: tuple[Any, ...], configs: Sequence[Any]
) -> dict[Any, tuple[float, float, float]] | None:
    """Stored timings of exactly these configurations, or None."""
    try:
        stored = json.loads(_path(fn, key).read_text())["timings"]
        found = {c: tuple(float(t) for t in stored[str(c)]) for c in configs}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if all(len(t) == 3 for t in found.values()) else None  # type: ignore[return-value]


def store_timings(fn: Any, key: tuple[Any, ...], timings: Mapping[Any, Sequence[float]]) -> None:
    """Keep `timings`; a cache that cannot be written costs nothing but the saving."""
    path = _path(fn, key)
    text = json.dumps(
        {"format": _FORMAT, "key": repr(key), "timings": {str(c): list(t) for c, t in timings.items()}}
    )
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
        try:
            with os.fdopen(handle, "w") as out:
                out.write(text)
            os.replace(name, path)
        except OSError:
            os.unlink(name)
            raise
