"""Every setting: its variable in the environment, its type, its default, and what it does.

Nothing else in the package reads the environment. Values are read when they are used, so a program may set
``os.environ`` after importing Tritium; `override` sets them for a block of code, in the current thread or task only.
"""

from __future__ import annotations

import contextvars
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Knob:
    """One setting. `in_key`: whether another value can mean other code, so that it is part of compile keys."""

    name: str
    variable: str
    parse: Callable[[str], Any]
    default: Any
    in_key: bool
    doc: str


def _flag(text: str) -> bool:
    return text.strip().lower() in ("1", "true", "yes", "on", "y")


def _lines(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part.strip())


_KNOBS: tuple[Knob, ...] = (
    Knob(
        "backend", "TRITIUM_BACKEND", str, None, True, "interpret, cpu or cuda; by default the data decides"
    ),
    Knob(
        "log",
        "TRITIUM_LOG",
        str,
        "",
        False,
        "topics written to standard error: compile, launch, autotune, passes, all",
    ),
    Knob(
        "verify",
        "TRITIUM_VERIFY",
        str,
        "cheap",
        False,
        "how much the IR verifier checks after each pass: off, cheap, total",
    ),
    Knob(
        "trace_lines", "TRITIUM_TRACE", _lines, (), False, "kernel lines whose values the interpreter prints"
    ),
    Knob(
        "num_threads",
        "TRITIUM_NUM_THREADS",
        int,
        0,
        False,
        "threads that run program instances; 0: one per core",
    ),
    Knob(
        "require",
        "TRITIUM_REQUIRE",
        str,
        "",
        True,
        "specialisations that must apply, comma-separated; else an error",
    ),
    Knob("forbid", "TRITIUM_FORBID", str, "", True, "specialisations that must not apply, comma-separated"),
    Knob(
        "specialize",
        "TRITIUM_SPECIALIZE",
        str,
        "all",
        True,
        "none switches every optional specialisation off",
    ),
    Knob(
        "tritium_cache_dir",
        "TRITIUM_CACHE_DIR",
        str,
        "",
        False,
        "folder for compiled kernels and tuning results",
    ),
    Knob("triton_cache_dir", "TRITON_CACHE_DIR", str, "", False, "the same, as Triton programs set it"),
    Knob(
        "triton_home",
        "TRITON_HOME",
        str,
        "",
        False,
        "folder under which the cache lives if none of the above is set",
    ),
    Knob("triton_interpret", "TRITON_INTERPRET", _flag, False, True, "run kernels on the interpreter"),
    Knob(
        "triton_debug", "TRITON_DEBUG", _flag, False, True, "compile device assertions and overflow checks in"
    ),
    Knob(
        "f32_default",
        "TRITON_F32_DEFAULT",
        str,
        "",
        True,
        "input precision of fp32 dots: ieee, tf32, tf32x3, bf16x3, bf16x6",
    ),
    Knob(
        "print_autotuning",
        "TRITON_PRINT_AUTOTUNING",
        _flag,
        False,
        False,
        "print what autotuning measured and chose",
    ),
    Knob(
        "cache_autotuning", "TRITON_CACHE_AUTOTUNING", _flag, False, False, "keep autotuning results on disk"
    ),
    Knob("always_compile", "TRITON_ALWAYS_COMPILE", _flag, False, False, "compile at every launch"),
    Knob(
        "allow_non_constexpr_globals",
        "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS",
        _flag,
        False,
        True,
        "let kernels read plain Python globals; their values are part of the compile key",
    ),
    Knob(
        "default_fp_fusion",
        "TRITON_DEFAULT_FP_FUSION",
        _flag,
        True,
        True,
        "let the GPU fuse multiply and add",
    ),
)
KNOBS: dict[str, Knob] = {k.name: k for k in _KNOBS}

_overrides: contextvars.ContextVar[dict[str, Any] | None] = contextvars.ContextVar(
    "tritium_config", default=None
)


def get(name: str) -> Any:
    """The value of a setting now: an `override`, else the environment, else the default."""
    given = _overrides.get()
    if given is not None and name in given:
        return given[name]
    knob = KNOBS[name]
    text = os.environ.get(knob.variable)
    return knob.default if text is None else knob.parse(text)


def environment(variable: str) -> str | None:
    """The raw text of an environment variable, for settings that Triton has and Tritium only passes on."""
    return os.environ.get(variable)


def set_environment(variable: str, text: str | None) -> None:
    """Set an environment variable for this process and its children; None removes it."""
    if text is None:
        os.environ.pop(variable, None)
    else:
        os.environ[variable] = text


@contextmanager
def override(**values: Any) -> Iterator[None]:
    """Set settings for the block, in this thread or task only. KeyError for an unknown name."""
    for name in values:
        KNOBS[name]
    token = _overrides.set({**(_overrides.get() or {}), **values})
    try:
        yield
    finally:
        _overrides.reset(token)


def key() -> tuple[Any, ...]:
    """The values of all settings that compile keys must contain."""
    return tuple(get(k.name) for k in _KNOBS if k.in_key)


def describe() -> str:
    """A table of all settings with their present values."""
    rows = [(k.variable, repr(get(k.name)), k.doc) for k in _KNOBS]
    widths = [max(len(r[i]) for r in rows) for i in range(2)]
    return "\n".join(f"{v.ljust(widths[0])}  {now.ljust(widths[1])}  {doc}" for v, now, doc in rows)
