"""``TRITIUM_LOG``: a comma-separated list of topics written to standard error, one line each."""

from __future__ import annotations

import sys

from tritium import config

TOPICS = ("compile", "launch", "autotune", "passes")


def enabled(topic: str) -> bool:
    """Whether lines of `topic` are wanted. "all" wants every topic."""
    wanted = config.LOG.value
    return topic in wanted or "all" in wanted


def write(topic: str, line: str) -> None:
    """Write one line, marked with its topic."""
    print(f"tritium[{topic}] {line}", file=sys.stderr)
