"""``tritium run``: a Triton program, unmodified, on Tritium."""

from __future__ import annotations

import linecache
import os
import runpy
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from tritium import config
from tritium.compat import install
from tritium.compat.children import pass_on
from tritium.errors import TritiumError, make_error, register_source

_OURS = str(Path(__file__).resolve().parents[1]) + os.sep


def run(
    args: Sequence[str],
    *,
    backend: str | None = None,
    trace: Sequence[str] = (),
    module: str | None = None,
    code: str | None = None,
) -> None:
    """Run a script, a module or code with ``sys.argv`` as it would have it under plain Python."""
    if backend is not None:
        from tritium.runtime.backend import BACKENDS

        if backend not in BACKENDS:
            raise make_error("TRI0731", name=backend, expected=", ".join(BACKENDS))
        config.set_environment("TRITIUM_BACKEND", backend)
    if trace:
        config.set_environment("TRITIUM_TRACE", ",".join(trace))
    install()
    pass_on()
    if code is not None:
        _run(lambda: _code(code, args))
    elif module is not None:
        _run(lambda: _module(module, args))
    elif args:
        _run(lambda: _script(args))
    else:
        raise make_error(
            "TRI0909", text="", message="nothing to run", hint="give a script, -m MODULE or -c CODE"
        )


def _script(args: Sequence[str]) -> None:
    path = args[0]
    if not os.path.exists(path):
        raise make_error(
            "TRI0909", text=path, message=f"there is no file {path}", hint="check the path of the script"
        )
    sys.argv = list(args)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    runpy.run_path(path, run_name="__main__")


def _module(name: str, args: Sequence[str]) -> None:
    sys.argv = [name, *args]
    sys.path.insert(0, os.getcwd())
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _code(text: str, args: Sequence[str]) -> None:
    sys.argv = ["-c", *args]
    sys.path.insert(0, "")
    name = "<command line>"
    register_source(name, text)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    main = ModuleType("__main__")
    sys.modules["__main__"] = main
    exec(compile(text, name, "exec"), main.__dict__)


def _run(program: Callable[[], None]) -> None:
    try:
        program()
    except SystemExit:
        raise
    except BaseException as broken:
        _report(broken)
        sys.exit(130 if isinstance(broken, KeyboardInterrupt) else 1)


def _report(broken: BaseException) -> None:
    """Print the program's own part of the traceback; a Tritium error follows as its message alone."""
    sys.stdout.flush()
    frames = [f for f in traceback.extract_tb(broken.__traceback__) if not _internal(f.filename)]
    if frames:
        print("Traceback (most recent call last):", file=sys.stderr)
        print("".join(traceback.format_list(frames)), end="", file=sys.stderr)
    if isinstance(broken, TritiumError):
        print(f"\n{broken}", file=sys.stderr)
        return
    print("".join(traceback.format_exception_only(type(broken), broken)), end="", file=sys.stderr)
    cause = broken.__cause__
    if cause is not None and not isinstance(cause, TritiumError):
        print("caused by:\n" + "".join(traceback.format_exception(cause)), end="", file=sys.stderr)


def _internal(filename: str) -> bool:
    return (
        filename.startswith(_OURS)
        or filename.startswith("<frozen")
        or os.path.basename(filename) == "runpy.py"
    )
