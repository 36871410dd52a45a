"""The list of names in `language.txt`, and what stands behind each: a function, an attribute, an expression."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import tritium
import tritium.language as tl
from docs.generators.coverage import covering_tests
from tritium.ir.types import float32, pointer
from tritium.numerics.libdevice import LIBDEVICE
from tritium.ops.descriptor import TensorDescriptor
from tritium.ops.handles import Tensor
from tritium.ops.surface import METHODS, OPERATORS, SURFACES, Surface

_UNARY = {"-x": "unary -", "+x": "unary +", "~x": "unary ~", "not x": "not"}
_MODULES = {"tl.math": "math", "tl.core": "core", "tl.extra.cuda": "cuda", "tl.extra.libdevice": "libdevice"}
_OWNERS = {"descriptor": "desc", "block_ptr": "block_ptr"}


@dataclass(frozen=True)
class Name:
    """One name of the language: the page it is on, and an expression that uses it where it is no function."""

    text: str
    page: str
    expression: str = ""

    @property
    def surface(self) -> Surface | None:
        """The function behind the name, if it is one."""
        owner, _, short = self.text.rpartition(".")
        if self.text.startswith("x "):
            return OPERATORS.get(self.text.split()[1])
        if self.text in _UNARY:
            return OPERATORS[_UNARY[self.text]]
        if self.text in ("x[...]", "x.T"):
            return SURFACES[{"x[...]": "internal.getitem", "x.T": "internal.T"}[self.text]]
        if owner == "x":
            return METHODS.get(short)
        if owner in _OWNERS:
            return SURFACES.get(f"{_OWNERS[owner]}.{short}")
        if not owner:
            return SURFACES.get(f"builtin.{short}")
        return SURFACES.get(f"{_MODULES.get(owner, owner)}.{short}")

    def tests(self) -> list[str]:
        """The tests that compare it with a reference; other names of the same function count too."""
        known = covering_tests()
        found = list(known.get(self.text, ()))
        if self.surface is not None:
            for other in language():
                if other.surface is self.surface and other.text != self.text:
                    found += [t for t in known.get(other.text, ()) if t not in found]
        short = self.text.rpartition(".")[2]
        return sorted(
            found, key=lambda t: (t.startswith("tests/language"), short not in t.rpartition("/")[2])
        )

    @property
    def doc(self) -> str:
        """The docstring of what the name stands for, if it has one of its own."""
        root = tl if self.text.startswith("tl.") else tritium
        return inspect.getdoc(_resolve(root, self.text)) or "" if "." in self.text else ""

    @property
    def exists(self) -> bool:
        """Whether programs can name it."""
        if self.surface is not None or self.expression:
            return (
                not self.text.startswith("tl.")
                or _resolve(tl, self.text) is not None
                or self.text == "tl.void"
            )
        owner, _, short = self.text.rpartition(".")
        if owner == "x":
            return hasattr(Tensor, short)
        if owner == "descriptor":
            return hasattr(TensorDescriptor, short)
        if owner == "dtype":
            return hasattr(float32, short) or hasattr(pointer(float32), short)
        return _resolve(tl if owner.startswith("tl") else tritium, self.text) is not None


def _resolve(root: Any, text: str) -> Any:
    found = root
    for part in text.split(".")[1:]:
        found = getattr(found, part, None)
    return found


@cache
def language() -> tuple[Name, ...]:
    """Every name of `language.txt`, in its order; the device library's functions follow."""
    names: list[Name] = []
    page = ""
    for line in Path(__file__).with_name("language.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            page = line.strip("[]")
        elif line and not line.startswith("#"):
            text, _, expression = line.partition(" :: ")
            names.append(Name(text.strip(), page, expression.strip()))
    return (*names, *(Name(f"tl.extra.libdevice.{n}", "Device library") for n in sorted(LIBDEVICE)))
