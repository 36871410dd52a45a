"""The functions of the language as objects that programs hold: one `Builtin` for each surface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from tritium.frontend.callables import Builtin, builtin_of
from tritium.ops.surface import SURFACES

import_module("tritium.ops")  # fills the registries
import_module("tritium.frontend.compile_time")  # the frontend declares functions of its own


_found: dict[str, dict[str, Builtin]] = {}


def functions_of(module: str) -> dict[str, Builtin]:
    """The functions of a module of the language ("tl", "math", "libdevice") by name."""
    found = _found.get(module)
    if found is None:
        names = (name.rpartition(".") for name in SURFACES)
        inside = [name for owner, _, name in names if owner == module]
        found = _found[module] = {name: builtin_of(SURFACES[f"{module}.{name}"]) for name in inside}
    return dict(found)


def publish(namespace: dict[str, Any], names: Mapping[str, Any], also: Iterable[str] = ()) -> None:
    """Make `names` the names of a module, given by its `globals()`; `also` are public names that it has already."""
    namespace.update(names)
    public = (n for n in names if not n.startswith("_"))
    namespace["__all__"] = sorted({*public, *also, *namespace.get("__all__", ())})
