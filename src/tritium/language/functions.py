"""The functions of the language as objects that programs hold: one `Builtin` for each surface."""

from __future__ import annotations

import tritium.frontend.lower  # the frontend declares functions of its own
import tritium.ops  # noqa: F401  (fills the registries)
from tritium.frontend.callables import Builtin
from tritium.ops.surface import SURFACES, Surface

_made: dict[int, Builtin] = {}


def builtin_of(surface: Surface) -> Builtin:
    """The one object for `surface`; all names of a function are the same object."""
    found = _made.get(id(surface))
    if found is None:
        found = _made[id(surface)] = Builtin(surface)
    return found


def functions_of(module: str) -> dict[str, Builtin]:
    """The functions of a module of the language ("tl", "math", "libdevice") by name."""
    prefix = f"{module}."
    return {
        name[len(prefix) :]: builtin_of(surface)
        for name, surface in SURFACES.items()
        if name.startswith(prefix) and "." not in name[len(prefix) :]
    }
