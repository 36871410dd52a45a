"""``tritium run``: a Triton program, unmodified, on Tritium.

The program runs as plain Python would run it: as the module ``__main__`` of this process, with its own ``sys.argv`` and
``sys.path[0]``, and its exit status is that of the command. A traceback shows the program's frames only.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import linecache
import os
import runpy
import sys
import traceback
import zipfile
from collections.abc import Callable, Sequence
from types import CodeType, ModuleType
from typing import Any

from tritium import config
from tritium.compat import install
from tritium.errors import TritiumError, make_error, register_source
from tritium.runtime.tracebacks import is_ours


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
        config.current()  # a line that is no number is an error now
    install()
    if code is not None:
        _run(lambda: _code(code, args))
    elif module is not None:
        _run(lambda: _module(module, args))
    elif args:
        _run(lambda: _script(args))
    else:
        raise make_error("TRI0909", text="", message="nothing to run", hint=_WHAT_TO_RUN)


_WHAT_TO_RUN = "give a script, - for standard input, -m MODULE or -c CODE"

# ---- the three ways to say what to run ---------------------------------------------------------------


def _script(args: Sequence[str]) -> None:
    path = args[0]
    if path == "-":
        _text(sys.stdin.read(), "<stdin>", args)
        return
    if not os.path.exists(path):
        hint = "check the path of the script"
        raise make_error("TRI0909", text=path, message=f"there is no file {path}", hint=hint)
    sys.argv = list(args)
    if os.path.isdir(path) or zipfile.is_zipfile(path):  # a folder or archive with a __main__.py
        runpy.run_path(path, run_name="__main__")
        return
    _set_first_path(os.path.dirname(os.path.abspath(path)))
    main = _main(path)
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    main.__loader__ = loader
    with open(path, "rb") as file:
        source = file.read()
    exec(compile(source, path, "exec"), main.__dict__)


def _module(name: str, args: Sequence[str]) -> None:
    sys.argv = [name, *args]
    _set_first_path(os.getcwd())
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, ValueError) as broken:
        hint = "check its name, and that its folder is on PYTHONPATH"
        raise make_error("TRI0909", text=name, message=f"no module {name}: {broken}", hint=hint) from None
    loader: Any = spec.loader if spec is not None else None
    code: CodeType | None = loader.get_code(spec.name) if spec is not None and loader is not None else None
    if spec is None or code is None:
        hint = "check its name, and that its folder is on PYTHONPATH"
        raise make_error("TRI0909", text=name, message=f"no module {name} that can be run", hint=hint)
    main = _main(spec.origin or name)
    main.__spec__, main.__loader__, main.__package__ = spec, loader, spec.parent
    sys.argv[0] = spec.origin or name
    exec(code, main.__dict__)


def _code(text: str, args: Sequence[str]) -> None:
    _text(text, "<command line>", ["-c", *args])


def _text(text: str, name: str, argv: Sequence[str]) -> None:
    sys.argv = list(argv)
    _set_first_path("")
    register_source(name, text)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    main = _main(None)
    exec(compile(text, name, "exec"), main.__dict__)


def _main(file: str | None) -> ModuleType:
    """A fresh module ``__main__`` in place of ours. It stays after the program: threads and exit handlers use it."""
    main = ModuleType("__main__")
    main.__dict__.update(__builtins__=__builtins__, __spec__=None)
    if file is not None:
        main.__dict__.update(__file__=file, __cached__=None)
    sys.modules["__main__"] = main
    return main


def _set_first_path(folder: str) -> None:
    """Put `folder` where plain Python has it, in place of what Python put there for this command."""
    if getattr(sys.flags, "safe_path", False):
        return
    if sys.path and sys.path[0] in _started_with():
        del sys.path[0]
    sys.path.insert(0, folder)


def _started_with() -> tuple[str, ...]:
    """What Python puts first on the path for ``python -m tritium`` and for the command ``tritium``."""
    return "", os.getcwd(), os.path.dirname(os.path.abspath(sys.orig_argv[0])), _COMMAND_FOLDER


_COMMAND_FOLDER = os.path.dirname(os.path.abspath(sys.argv[0])) if sys.argv and sys.argv[0] else ""

# ---- how it ends -------------------------------------------------------------------------------------


def _run(program: Callable[[], None]) -> None:
    sys.excepthook = sys.__excepthook__  # the command line's own is not the program's
    try:
        program()
    except SystemExit:
        raise
    except BaseException as broken:
        if sys.excepthook is not sys.__excepthook__:  # the program has its own way of reporting
            sys.excepthook(type(broken), broken, broken.__traceback__)
        else:
            report(broken)
        sys.exit(130 if isinstance(broken, KeyboardInterrupt) else 1)


def report(broken: BaseException) -> None:
    """Print the program's own part of the traceback; a Tritium error follows as its message alone."""
    sys.stdout.flush()
    print(_text_of(broken, set()), end="", file=sys.stderr)


def _text_of(broken: BaseException, seen: set[int]) -> str:
    seen.add(id(broken))
    earlier, link = _earlier(broken)
    before = ""
    if earlier is not None and id(earlier) not in seen and not _only_ours(earlier):
        before = f"{_text_of(earlier, seen)}\n{link}\n\n"
    frames = _program_frames(broken)
    head = "Traceback (most recent call last):\n" if frames else ""
    shown = head + "".join(traceback.format_list(frames))
    if isinstance(broken, TritiumError):
        return f"{before}{shown}{chr(10) if frames else ''}{broken}\n"
    return before + shown + "".join(traceback.format_exception_only(type(broken), broken))


def _earlier(broken: BaseException) -> tuple[BaseException | None, str]:
    """The error that an error came from, and how Python says so."""
    if broken.__cause__ is not None:
        return broken.__cause__, "The above exception was the direct cause of the following exception:"
    shown = None if broken.__suppress_context__ else broken.__context__
    return shown, "During handling of the above exception, another exception occurred:"


def _program_frames(broken: BaseException) -> list[traceback.FrameSummary]:
    frames = traceback.extract_tb(broken.__traceback__)
    told = isinstance(broken, (TritiumError, SyntaxError))  # they say themselves where the program is wrong
    if not told and frames and is_ours(frames[-1].filename):
        return [f for f in frames if not _of_the_command(f.filename)]  # a fault of ours: show all of it
    return [f for f in frames if not is_ours(f.filename) and not _of_the_command(f.filename)]


def _of_the_command(filename: str) -> bool:
    """Whether a frame belongs to what starts the program rather than to the program."""
    started_by = (os.path.abspath(__file__), runpy.__file__)
    return filename.startswith("<frozen") or os.path.abspath(filename) in started_by


def _only_ours(error: BaseException) -> bool:
    """Whether an error happened inside Tritium and was turned into a better one."""
    frames = traceback.extract_tb(error.__traceback__)
    return not isinstance(error, TritiumError) and all(
        is_ours(f.filename) or f.filename.startswith("<") for f in frames
    )
