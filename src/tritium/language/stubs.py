"""Typed stubs of the language, so that editors and type checkers know every function: ``python -m tritium.language.stubs``.

The stubs are made of the surfaces' signatures and docstrings; a test sees to it that they are up to date.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from textwrap import indent

from tritium.language.functions import functions_of
from tritium.language.types import TYPE_NAMES
from tritium.ops.surface import METHODS, Surface

HEADER = "# Written by `python -m tritium.language.stubs`; do not edit.\n"
_CLASSES = ("constexpr", "slice", "tensor", "tensor_descriptor", "tensor_descriptor_base", "tuple")
_BINARY = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
)
_COMPARE = ("lt", "le", "gt", "ge", "eq", "ne")
_KNOWN = re.compile(r"\b(?!Tensor\b|None\b|tuple\b|Any\b|int\b|bool\b|str\b)[A-Za-z_]\w*")


def _returns(surface: Surface) -> str:
    """The result type as the stub writes it; Any where it depends on the arguments."""
    annotation = surface.fn.__annotations__.get("return", "Any")
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return "Any" if _KNOWN.search(text) else text.replace("Tensor", "tensor")


def _parameters(surface: Surface, skip: int = 0) -> list[str]:
    shown: list[str] = []
    starred = False
    for p in list(surface.signature.parameters.values())[skip:]:
        if p.kind == p.VAR_POSITIONAL:
            shown.append(f"*{p.name}: Any")
            starred = True
            continue
        if p.kind == p.KEYWORD_ONLY and not starred:
            shown.append("*")
            starred = True
        shown.append(f"{p.name}: Any" + ("" if p.default is p.empty else f" = {_default(p.default)}"))
    return shown


def _default(value: object) -> str:
    plain = value is None or type(value) in (bool, int, float, str) or value == ()
    return repr(value) if plain else "..."


def _function(name: str, surface: Surface, method: bool = False) -> str:
    parameters = ["self", *_parameters(surface, 1)] if method else _parameters(surface)
    doc = indent(f'"""{surface.doc}"""', "    ") if surface.doc else "    ..."
    body = doc.replace("\\", "\\\\") if "\\" in doc else doc
    head = f"def {name}({', '.join(parameters)}) -> {_returns(surface)}:"
    if len(head) > 96:
        head = f"def {name}(\n" + "".join(f"    {p},\n" for p in parameters) + f") -> {_returns(surface)}:"
    return f"{head}\n{body}\n"


def _functions(module: str, names: Iterable[str] | None = None) -> str:
    found = functions_of(module)
    chosen = sorted(found if names is None else [n for n in names if n in found])
    return "\n".join(_function(n, found[n].surface) for n in chosen)


def _tensor() -> str:
    """The class of run-time values: attributes, operators, methods."""
    lines = [
        "class tensor:",
        '    """A run-time value in a kernel: a number, a pointer, or a tile of either."""',
        "",
        "    @property",
        "    def dtype(self) -> Any: ...",
        "    @property",
        "    def shape(self) -> Any: ...",
        "    @property",
        "    def numel(self) -> constexpr: ...",
        "    @property",
        "    def type(self) -> Any: ...",
        "    @property",
        "    def T(self) -> tensor: ...",
        "    def __getitem__(self, index: Any) -> tensor: ...",
        "    def __neg__(self) -> tensor: ...",
        "    def __pos__(self) -> tensor: ...",
        "    def __invert__(self) -> tensor: ...",
        "    def __bool__(self) -> bool: ...",
    ]
    for name in _BINARY:
        lines.append(f"    def __{name}__(self, other: Any) -> tensor: ...")
        lines.append(f"    def __r{name}__(self, other: Any) -> tensor: ...")
    for name in _COMPARE:
        ignore = "  # type: ignore[override]" if name in ("eq", "ne") else ""
        lines.append(f"    def __{name}__(self, other: Any) -> tensor: ...{ignore}")
    methods = "\n".join(_function(n, METHODS[n], method=True) for n in sorted(METHODS))
    return "\n".join(lines) + "\n" + indent(methods, "    ")


def _imports(module: str, names: Iterable[str]) -> str:
    return f"from {module} import (\n" + "".join(f"    {n} as {n},\n" for n in sorted(names)) + ")\n"


_CORE_HEAD = """\
from builtins import slice as slice
from builtins import tuple as tuple
from collections.abc import Callable
from enum import IntEnum
from typing import Any, TypeVar

from tritium.frontend.aggregates import aggregate as aggregate
from tritium.frontend.aggregates import aggregate_replace as aggregate_replace
from tritium.frontend.constexpr_functions import constexpr_function as constexpr_function
"""
_CORE_OWN = """\
from tritium.ops.descriptor import TensorDescriptor
from tritium.ops.handles import constexpr as constexpr

CONSTEXPR_0: constexpr
tensor_descriptor = TensorDescriptor
tensor_descriptor_base = TensorDescriptor
_F = TypeVar("_F")
TRITON_MAX_TENSOR_NUMEL: int

class PropagateNan(IntEnum):
    NONE = ...
    ALL = ...

def builtin(fn: _F) -> _F: ...
def extern(fn: _F) -> _F: ...
def is_builtin(fn: Any) -> bool: ...
def must_use_result(x: Any, s: Any = True) -> Callable[[Any], Any]: ...

"""
_TOP_HEAD = """\
from builtins import slice as slice
from builtins import tuple as tuple

from tritium.language import core as core
from tritium.language import extra as extra
from tritium.language import math as math
from tritium.language import random as random
from tritium.language import semantic as semantic
from tritium.language import standard as standard
from tritium.language import target_info as target_info
"""
_TOP_OWN = (
    "PropagateNan",
    "TRITON_MAX_TENSOR_NUMEL",
    "constexpr",
    "constexpr_function",
    "tensor",
    "tensor_descriptor",
)
_PLAIN_HEAD = "from typing import Any\n\nfrom tritium.language.core import tensor\n\n"


def render() -> Mapping[str, str]:
    """The text of every stub by its path in this folder."""
    types = [n for n in TYPE_NAMES if n not in _CLASSES]
    functions = [n for n in functions_of("tl") if not n.startswith("_")]
    core = _CORE_HEAD + _imports("tritium.language.types", [*types, "get_int_dtype"]) + _CORE_OWN
    bodies = {
        "core.pyi": f"{core}{_tensor()}\n{_functions('tl')}\n{_functions('core')}",
        "__init__.pyi": _TOP_HEAD + _imports("tritium.language.core", [*functions, *types, *_TOP_OWN]),
        "math.pyi": _PLAIN_HEAD + _functions("math"),
        "random.pyi": f"{_PLAIN_HEAD}N_ROUNDS_DEFAULT: int\n{_functions('tl', _names_in('random'))}",
        "standard.pyi": f"{_PLAIN_HEAD}_log2: Any\n_is_power_of_two: Any\n{_functions('tl', _names_in('standard'))}",
        "extra/libdevice.pyi": _PLAIN_HEAD + _functions("libdevice"),
        "extra/cuda/libdevice.pyi": "from tritium.language.extra.libdevice import *\n",
        "extra/cuda/__init__.pyi": "from typing import Any\n\nfrom tritium.language.core import tensor\n"
        + "from tritium.language.extra.cuda import libdevice as libdevice\n\n"
        + _functions("cuda"),
    }
    return {name: HEADER + body for name, body in bodies.items()}


def _names_in(module: str) -> set[str]:
    from importlib import import_module

    return set(import_module(f"tritium.language.{module}").__all__)


def write(folder: Path) -> list[str]:
    """Write the stubs that differ from what `folder` holds; their paths."""
    written: list[str] = []
    for name, text in render().items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            written.append(name)
    return written


if __name__ == "__main__":
    for changed in write(Path(__file__).parent):
        print(changed)
