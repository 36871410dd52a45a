# Written by `python -m tritium.language.stubs`; do not edit.
from typing import Any

from tritium.language.extra.cuda import libdevice as libdevice

def gdc_launch_dependents() -> None:
    """Let the kernel after this one start early. A hint that is not followed."""

def gdc_wait() -> None:
    """Wait until the kernels before this one have finished. Launches here are never started early, so it does nothing."""

def num_threads() -> Any:
    """How many threads the kernel is compiled for, a compile-time value."""

def num_warps() -> Any:
    """How many warps the kernel is compiled for, a compile-time value."""
