"""Every setting: its environment variable, type, default, meaning, and whether it enters the cache key.

Nothing else reads the environment. A setting is looked up each time its `value` is asked for, because
programs set `os.environ` after importing us. An `override` (this thread or task only) goes before the
environment, and that before the default.

`python -m tritium.config FILE` writes the reference of settings.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from tritium.errors import ArgumentError, make_error

TRITON_VERSION = "3.6.0"
"""The release of Triton whose types and values Tritium follows; what ``triton.__version__`` says."""

T = TypeVar("T")

_UNSET: Any = object()
_TRUE = frozenset({"1", "true", "yes", "on", "y"})
_FALSE = frozenset({"0", "false", "no", "off", "n"})


class _Overrides:
    """The values that `override` blocks put in force. A fresh object for each block, never changed in place."""

    __slots__ = ("snapshots", "values")

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.snapshots: dict[tuple[Any, ...], Snapshot] = {}


_overrides: ContextVar[_Overrides | None] = ContextVar("tritium_overrides", default=None)


@dataclass(frozen=True, eq=False)
class Setting(Generic[T]):
    """One setting. `parse` turns text or a given value into the type; ValueError is for what it cannot be."""

    name: str
    env: str
    default: T
    parse: Callable[[Any], T]
    doc: str
    expected: str
    in_cache_key: bool = False
    _parsed: dict[str, T] = field(default_factory=dict[str, Any], repr=False)

    @property
    def value(self) -> T:
        """The current value; ArgumentError TRI0907 when the environment variable cannot be read."""
        overrides = _overrides.get()
        if overrides is not None and self.name in overrides.values:
            return overrides.values[self.name]
        text = os.environ.get(self.env, "")
        if not text:
            return self.default
        known: Any = self._parsed.get(text, _UNSET)
        if known is _UNSET:
            known = self._parsed[text] = self.checked(text)
        return known

    def checked(self, value: object) -> T:
        """`value` as this setting's type; text is read as in the environment."""
        try:
            return self.parse(value)
        except (ValueError, TypeError):
            name = f"{self.name} ({self.env})"
            raise make_error("TRI0907", name=name, got=repr(value), expected=self.expected) from None


def _bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    return int(text) != 0


def _count(value: Any) -> int:
    number = int(value)
    if number < 0 or isinstance(value, (bool, float)):
        raise ValueError(value)
    return number


def _one_of(*choices: str) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        text = str(value).strip().lower()
        if text not in choices:
            raise ValueError(value)
        return text

    return parse


def _word(value: Any) -> str:
    return str(value).strip().lower()


def _maybe(parse: Callable[[Any], T]) -> Callable[[Any], T | None]:
    return lambda value: None if value is None else parse(value)


def _pieces(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [piece.strip() for piece in value.split(",") if piece.strip()]
    return list(value)


def _names(*choices: str) -> Callable[[Any], frozenset[str]]:
    def parse(value: Any) -> frozenset[str]:
        found = frozenset(str(piece) for piece in _pieces(value))
        if choices and not found <= frozenset(choices):
            raise ValueError(value)
        return found

    return parse


def _lines(value: Any) -> frozenset[int]:
    return frozenset(_count(piece) for piece in _pieces([value] if isinstance(value, int) else value))


def _path(value: Any) -> Path:
    return Path(os.fspath(value)).expanduser()


SETTINGS: dict[str, Setting[Any]] = {}


def _declare(setting: Setting[T]) -> Setting[T]:
    SETTINGS[setting.name] = setting
    return setting


def _flag(
    name: str, env: str, doc: str, *, default: bool = False, in_cache_key: bool = False
) -> Setting[bool]:
    return _declare(Setting(name, env, default, _bool, doc, "1 or 0", in_cache_key))


def _choice(
    name: str, env: str, default: str, choices: tuple[str, ...], doc: str, in_cache_key: bool = False
) -> Setting[str]:
    return _declare(
        Setting(name, env, default, _one_of(*choices), doc, "one of " + ", ".join(choices), in_cache_key)
    )


def _optional_choice(
    name: str, env: str, choices: tuple[str, ...], doc: str, in_cache_key: bool = False
) -> Setting[str | None]:
    parse = _maybe(_one_of(*choices))
    return _declare(Setting(name, env, None, parse, doc, "one of " + ", ".join(choices), in_cache_key))


def _name_set(
    name: str, env: str, doc: str, choices: tuple[str, ...] = (), in_cache_key: bool = False
) -> Setting[frozenset[str]]:
    expected = "names separated by commas" + (", of " + ", ".join(choices) if choices else "")
    return _declare(Setting(name, env, frozenset(), _names(*choices), doc, expected, in_cache_key))


def _folder(name: str, env: str, doc: str) -> Setting[Path | None]:
    return _declare(Setting(name, env, None, _maybe(_path), doc, "a path"))


# Where a kernel runs
# a free name: the runtime knows which backends there are, and its error lists them
BACKEND = _declare(
    Setting[str | None](
        "backend",
        "TRITIUM_BACKEND",
        None,
        _maybe(_word),
        "Backend of every launch. Unset: cpu for data on the host, cuda for data on a GPU.",
        "interpret, cpu or cuda",
    )
)
INTERPRET = _flag(
    "triton_interpret",
    "TRITON_INTERPRET",
    "Triton's name for backend=interpret; TRITIUM_BACKEND goes before it.",
)
NUM_THREADS = _declare(
    Setting(
        "num_threads",
        "TRITIUM_NUM_THREADS",
        0,
        _count,
        "Threads of the CPU backend; 0 takes every core.",
        "0 or more",
    )
)

# What the compiler does
DEBUG = _flag(
    "triton_debug",
    "TRITON_DEBUG",
    "Compile in device assertions and checks of integer overflow, where a kernel does not say otherwise.",
    in_cache_key=True,
)
F32_DEFAULT = _optional_choice(
    "f32_default",
    "TRITON_F32_DEFAULT",
    ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"),
    "Precision of fp32 `dot` that names none. Unset: tf32 on CUDA, ieee on CPU and interpreter.",
    in_cache_key=True,
)
FP_FUSION = _flag(
    "default_fp_fusion",
    "TRITON_DEFAULT_FP_FUSION",
    "Let CUDA round a * b + c once, where a launch does not say otherwise. Interpreter and CPU never do.",
    default=True,
    in_cache_key=True,
)
ALLOW_NON_CONSTEXPR_GLOBALS = _flag(
    "allow_non_constexpr_globals",
    "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS",
    "Let kernels read plain numbers from globals, as compile-time constants.",
    in_cache_key=True,
)
LINE_INFO = _flag(
    "line_info",
    "TRITIUM_LINE_INFO",
    "Have machine code for GPUs name the kernel's lines, for profilers. The code runs as fast without.",
    in_cache_key=True,
)
SPECIALIZE = _choice(
    "specialize",
    "TRITIUM_SPECIALIZE",
    "all",
    ("all", "none"),
    "Which specialisations may apply. `none` leaves every operation in its general form.",
    in_cache_key=True,
)
REQUIRE = _name_set(
    "require",
    "TRITIUM_REQUIRE",
    "Specialisations that have to apply; a kernel to which one does not apply is an error (TRI0908).",
    in_cache_key=True,
)
FORBID = _name_set("forbid", "TRITIUM_FORBID", "Specialisations that must not apply.", in_cache_key=True)
VERIFY = _choice(
    "verify",
    "TRITIUM_VERIFY",
    "cheap",
    ("off", "cheap", "total"),
    "How much the verifier checks after each pass: nothing, structure, or everything it can.",
)

# What is kept
CACHE_DIR = _folder(
    "tritium_cache_dir", "TRITIUM_CACHE_DIR", "Folder of compiled kernels and tuning results."
)
TRITON_CACHE_DIR = _folder("triton_cache_dir", "TRITON_CACHE_DIR", "The same, as Triton programs set it.")
TRITON_HOME = _folder(
    "triton_home",
    "TRITON_HOME",
    "Without either of these, files are kept in `.tritium/cache` under this folder.",
)
CACHE_LIMIT = _declare(
    Setting(
        "cache_limit",
        "TRITIUM_CACHE_LIMIT",
        1024,
        _count,
        "Mebibytes that compiled kernels may take on disk; the least recently used go first.",
        "0 or more",
    )
)
ALWAYS_COMPILE = _flag(
    "always_compile", "TRITON_ALWAYS_COMPILE", "Compile even what the cache on disk holds."
)
CACHE_AUTOTUNING = _flag("cache_autotuning", "TRITON_CACHE_AUTOTUNING", "Keep the results of tuning on disk.")

# What is shown
LOG = _name_set(
    "log",
    "TRITIUM_LOG",
    "What to report on stderr: why a call compiled, launches, tuning, what each pass did.",
    ("compile", "launch", "autotune", "passes", "all"),
)
PRINT_AUTOTUNING = _flag(
    "print_autotuning",
    "TRITON_PRINT_AUTOTUNING",
    "Print the configuration that tuning chose, and how long it took.",
)
TRACE = _declare(
    Setting(
        "trace_lines",
        "TRITIUM_TRACE",
        frozenset[int](),
        _lines,
        "Lines of kernels whose values the interpreter prints as it executes them.",
        "line numbers separated by commas",
    )
)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """All settings at one time: `values` by name, and `key`, those that change what is compiled.

    The same object is given for as long as nothing changes, so it serves as a key itself.
    """

    values: Mapping[str, Any]
    key: tuple[tuple[str, Any], ...]


_NO_OVERRIDES = _Overrides({})
_MOST_SNAPSHOTS = 64


def environment_texts() -> tuple[Any, dict[Any, Any], tuple[Any, ...]] | None:
    """``os.environ``, the dict behind it, and the settings' keys in that. None where the environment is no usual one."""
    environment: Any = os.environ
    texts: Any = getattr(environment, "_data", None)
    if type(texts) is not dict or vars(os).get("environ") is not environment:
        return None
    return environment, texts, _encoded(environment)  # pyright: ignore[reportUnknownVariableType]


def current() -> Snapshot:
    """The settings now. Costs about a microsecond where nothing has changed: launches ask each time."""
    environment: Any = os.environ
    try:
        texts = tuple(map(environment._data.get, _encoded(environment)))  # without decoding each text
    except AttributeError:  # a plain mapping in its place, or another implementation of Python
        texts = tuple(environment.get(setting.env) for setting in SETTINGS.values())
    overrides = _overrides.get() or _NO_OVERRIDES
    found = overrides.snapshots.get(texts)
    if found is None:
        values = {name: setting.value for name, setting in SETTINGS.items()}
        found = Snapshot(values, tuple(_key_items(values)))
        if len(overrides.snapshots) >= _MOST_SNAPSHOTS:
            overrides.snapshots.clear()
        overrides.snapshots[texts] = found
    return found


@cache
def _encoded_names(encode: Callable[[str], Any]) -> tuple[Any, ...]:
    return tuple(encode(setting.env) for setting in SETTINGS.values())


def _encoded(environment: Any) -> tuple[Any, ...]:
    """The variables' names as the environment keeps them."""
    return _encoded_names(environment.encodekey)


def _key_items(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, setting in sorted(SETTINGS.items()):
        if setting.in_cache_key:
            value = values[name]
            yield name, tuple(sorted(value)) if isinstance(value, frozenset) else value


def key() -> tuple[tuple[str, Any], ...]:
    """Name and value of every setting that changes what is compiled, in a fixed order."""
    return current().key


@contextmanager
def override(**values: object) -> Generator[None]:
    """Use these values inside the block, in this thread or task only.

    Threads started inside do not inherit them, unless they run in `contextvars.copy_context()`.
    Raises ArgumentError: TRI0911 for a name that is no setting, TRI0907 for a value that it cannot have.
    """
    outer = _overrides.get()
    checked = dict(outer.values) if outer is not None else {}
    for name, value in values.items():
        if name not in SETTINGS:
            raise make_error("TRI0911", name=name, expected=", ".join(SETTINGS))
        checked[name] = SETTINGS[name].checked(value)
    token = _overrides.set(_Overrides(checked))
    try:
        yield
    finally:
        _overrides.reset(token)


def get(name: str) -> Any:
    """The current value of the setting `name`."""
    return SETTINGS[name].value


def cache_directory() -> Path:
    """Where files are kept: TRITIUM_CACHE_DIR, else TRITON_CACHE_DIR, else ``.tritium/cache`` under TRITON_HOME, else
    ``.cache/tritium`` in the user's home."""
    given = CACHE_DIR.value or TRITON_CACHE_DIR.value
    if given is not None:
        return given
    home = TRITON_HOME.value
    return Path.home() / ".cache" / "tritium" if home is None else home / ".tritium" / "cache"


def environment(variable: str) -> str | None:
    """The text of an environment variable that is no setting of ours, such as one of Triton's or PYTHONPATH."""
    return os.environ.get(variable)


def set_environment(variable: str, text: str | None) -> None:
    """Set an environment variable for this process and its children; None removes it."""
    if text is None:
        os.environ.pop(variable, None)
    else:
        os.environ[variable] = text


def _shown(value: object) -> str:
    if value is None or value == frozenset():
        return "unset"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, frozenset):
        return ",".join(sorted(str(piece) for piece in cast("frozenset[Any]", value)))
    return str(value)


def describe() -> str:
    """The current value of every setting, one a line."""
    width = max(len(setting.env) for setting in SETTINGS.values())
    rows = [(setting.env.ljust(width), _readable(setting), setting.doc) for setting in SETTINGS.values()]
    shown = max(len(value) for _, value, _ in rows)
    return "\n".join(f"{variable}  {value.ljust(shown)}  {doc}" for variable, value, doc in rows)


def _readable(setting: Setting[Any]) -> str:
    try:
        return _shown(setting.value)
    except ArgumentError:
        return f"(not {setting.expected}: {os.environ.get(setting.env)!r})"


def unreadable() -> list[Setting[Any]]:
    """Settings whose environment variable holds what they cannot be."""
    found: list[Setting[Any]] = []
    for setting in SETTINGS.values():
        try:
            _ = setting.value
        except ArgumentError:
            found.append(setting)
    return found


def _reference() -> str:
    rows = [
        "| setting | variable | default | values | in the cache key | meaning |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for setting in SETTINGS.values():
        in_key = "yes" if setting.in_cache_key else "no"
        default = _shown(setting.default)
        cells = [f"`{setting.name}`", f"`{setting.env}`", default, setting.expected, in_key, setting.doc]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def render_page() -> str:
    """The reference of settings, in Markdown."""
    return f"""\
# Settings

Settings come from environment variables. In a program, `tritium.config.override(name=value)` is a context
manager that sets them for the block it covers, in its thread or task only. A setting that is in the cache key
changes the compiled code, so kernels compiled under another value are kept apart. This page is written by
`make docs`.

{_reference()}"""


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render_page(), encoding="utf-8")
