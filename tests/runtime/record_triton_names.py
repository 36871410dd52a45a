"""Write the public names of Triton's modules: ``python tests/runtime/record_triton_names.py FILE``, with Triton 3.6 installed.

A name counts if it is Triton's own (defined in one of its modules, or a constant of this one); modules and names of
Python's library that Triton imports do not, nor do names that begin with an underscore.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import pkgutil
import sys
import types
from pathlib import Path

SKIPPED = (
    "triton.experimental.gluon.",
    "triton.profiler.",
    "triton._C",
    "triton.tools.triton_to_gluon_translater.",
)
"""Modules inside packages that are refused as a whole, and compiled ones."""


def own_names(module: types.ModuleType) -> list[str]:
    found: list[str] = []
    for name, value in vars(module).items():
        if name.startswith("_") or name == "TYPE_CHECKING":
            continue
        if isinstance(value, types.ModuleType):
            ours = value.__name__.startswith("triton") and value.__name__ != f"{module.__name__}.{name}"
        else:
            home = getattr(value, "__module__", None)
            callable_ = callable(value) and isinstance(home, str)
            ours = home.startswith("triton") if callable_ else type(value).__module__ != "__future__"
        if ours:
            found.append(name)
    return sorted({*found, *(n for n in getattr(module, "__all__", ()) if "." not in n)})


def written_names(module: str) -> list[str]:
    """Functions, classes and variables that the text of a module defines, for one that cannot be imported here."""
    text = Path(importlib.util.find_spec(module).origin).read_text(encoding="utf-8")
    found: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    return sorted(name for name in found if not name.startswith("_"))


def main(path: str) -> None:
    import triton

    names = [
        "triton",
        *(m.name for m in pkgutil.walk_packages(triton.__path__, "triton.", lambda name: None)),
    ]
    recorded: dict[str, list[str]] = {}
    for name in sorted(names):
        if name.startswith(SKIPPED):
            continue
        try:
            recorded[name] = own_names(importlib.import_module(name))
        except ImportError:  # it needs what is not installed here
            recorded[name] = written_names(name)
    told = {"triton": triton.__version__, "modules": recorded}
    Path(path).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
