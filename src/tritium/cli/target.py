"""``FILE::KERNEL``: finding a kernel in a file, and what it is compiled for: a launch in the file, or ``--signature``."""

from __future__ import annotations

import contextlib
import difflib
import importlib.machinery
import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from tritium import config
from tritium.cli.run import report
from tritium.cli.signature_text import parse_signature
from tritium.compat import install
from tritium.errors import make_error
from tritium.runtime.jit import JITFunction
from tritium.runtime.specialize import Specs

Found = tuple[JITFunction, Specs, dict[str, Any]]


class _Enough(BaseException):
    """Ends the program at the first launch of the wanted kernel."""


def split(target: str) -> tuple[str, str]:
    """The file and the kernel name. ArgumentError for anything else."""
    file, separator, kernel = target.rpartition("::")
    if not separator or not file or not kernel:
        raise make_error("TRI0909", text=target)
    if not Path(file).is_file():
        raise make_error(
            "TRI0909",
            text=target,
            message=f"there is no file {file}",
            hint="check the path; the form is FILE::KERNEL",
        )
    return file, kernel


def resolve(target: str, signature: str | None) -> Found:
    """The kernel, its specs and its launch options.

    With `signature` the file is imported (not run as a program) and the text says the types. Without, the program runs
    up to the first launch of the kernel, whose arguments say them; what it prints goes to standard error.
    """
    install()
    file, name = split(target)
    if signature is not None:
        with _output_to_stderr():
            space, broken = _executed(file, "tritium_inspected")
        kernels = _kernels(space)
        if broken is not None and name not in kernels:
            _end_with(broken)
        kernel = _named(kernels, file, name)
        return kernel, parse_signature(kernel, signature), kernel.launch_options({}, config.current())
    with _output_to_stderr(), _first_launch(name) as found:
        space, broken = _executed(file, "__main__")
    if found:
        return found[0]
    if broken is not None:
        _end_with(broken)
    _named(_kernels(space), file, name)
    hint = "give the types with --signature, or launch the kernel in the file"
    raise make_error("TRI0905", function=name, hint=hint)


def _end_with(broken: BaseException) -> NoReturn:
    """The program failed before what was asked for: say so as `tritium run` would."""
    report(broken)
    sys.exit(1)


# ---- running the file --------------------------------------------------------------------------------


def _executed(file: str, run_name: str) -> tuple[dict[str, Any], BaseException | None]:
    """The names that the file defines, as far as it got, and the error that ended it."""
    sys.argv = [file]
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    module = ModuleType(run_name)
    module.__dict__.update(__file__=file, __builtins__=__builtins__, __spec__=None)
    module.__loader__ = importlib.machinery.SourceFileLoader(run_name, file)
    sys.modules[run_name] = module
    source = Path(file).read_bytes()
    try:
        exec(compile(source, file, "exec"), module.__dict__)
    except (_Enough, SystemExit):
        pass
    except BaseException as broken:
        return module.__dict__, broken
    return module.__dict__, None


@contextmanager
def _output_to_stderr() -> Generator[None]:
    """What is printed meanwhile, also by child processes and C code, goes to standard error."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # one of them is closed
        kept = None
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stderr.flush()
        if kept is not None:
            os.dup2(kept, 1)
            os.close(kept)


@contextmanager
def _first_launch(name: str) -> Generator[list[Found]]:
    """Catch the first launch of the kernel called `name`: as a function, or by the variable that holds it."""
    found: list[Found] = []
    original = JITFunction._kernel_for

    def capture(
        self: JITFunction, key: list[Any], values: tuple[Any, ...], options: dict[str, Any], *rest: Any
    ) -> Any:
        if self.__name__ == name or _kernels(vars(sys.modules["__main__"])).get(name) is self:
            found.append((self, self.specs_of(values), self.launch_options(options, config.current())))
            raise _Enough
        return original(self, key, values, options, *rest)

    JITFunction._kernel_for = capture  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield found
    finally:
        JITFunction._kernel_for = original


# ---- kernels by name ---------------------------------------------------------------------------------


def _kernels(space: Mapping[str, Any]) -> dict[str, JITFunction]:
    """The kernels among the values of `space`, under whatever decorators, by variable name."""
    found: dict[str, JITFunction] = {}
    for name, value in list(space.items()):
        inner: Any = value
        for _ in range(20):
            if isinstance(inner, JITFunction) or not hasattr(type(inner), "run"):
                break
            inner = getattr(inner, "fn", None)
        if isinstance(inner, JITFunction):
            found[name] = inner
            found.setdefault(inner.__name__, inner)
    return found


def _named(kernels: Mapping[str, JITFunction], file: str, name: str) -> JITFunction:
    if name in kernels:
        return kernels[name]
    if not kernels:
        hint = "kernels are functions with @triton.jit that exist when the file has run"
    else:
        near = difflib.get_close_matches(name, kernels, 1)
        hint = f"did you mean `{near[0]}`?" if near else f"the file has: {', '.join(kernels)}"
    raise make_error("TRI0903", file=file, name=name, hint=hint)
