"""The functions of the language as objects that programs hold: one `Builtin` for each surface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from tritium.frontend.callables import Builtin, builtin_of
from tritium.ops.surface import SURFACES

import_module("tritium.ops")  # fills the registries
import_module("tritium.frontend.compile_time")  # the frontend declares functions of its own


def functions_of(module: str) -> dict[str, Builtin]:
    """The functions of a module of the language ("tl", "math", "libdevice") by name."""
    prefix = f"{module}."
    return {
        name[len(prefix) :]: builtin_of(surface)
        for name, surface in SURFACES.items()
        if name.startswith(prefix) and "." not in name[len(prefix) :]
    }


def publish(namespace: dict[str, Any], names: Mapping[str, Any], also: Iterable[str] = ()) -> None:
    """Make `names` the names of a module, given by its `globals()`; `also` are public names that it has already."""
    namespace.update(names)
    public = (n for n in names if not n.startswith("_"))
    namespace["__all__"] = sorted({*public, *also, *namespace.get("__all__", ())})
