"""What a kernel is compiled for: for each parameter a run-time type or a compile-time value.

=================  ==========================================  ======================================
argument           example                                     arguments of the IR function
=================  ==========================================  ======================================
``RunTime``        a pointer to fp32 divisible by 16           one, named after the parameter
``Constant``       BLOCK = 64, None, a jit function            none
``TupleOf``        (n, ptr), also a named tuple, nested        those of its items: ``pair.0`` ``pair.1``
``DescriptorOf``   a host tensor descriptor                    ``desc.base``, ``desc.shape.0``..., ``desc.stride.0``...
=================  ==========================================  ======================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tritium.ir.types import DType, PointerType, ScalarType, dtype_named, pointer
from tritium.ops.handles import unwrap

_DESCRIPTOR = re.compile(r"tensordesc<(\w+)\[([\d, ]*)\].*>")


@dataclass(frozen=True, slots=True)
class RunTime:
    """A value known at launch: a number or a pointer. `facts` are promises such as ``(("divisibility", 16),)``."""

    type: ScalarType
    facts: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Constant:
    """A value known at compile time."""

    value: Any


@dataclass(frozen=True, slots=True)
class TupleOf:
    """A tuple of arguments; `cls` is the class of a named tuple, else None."""

    items: tuple[Argument, ...]
    cls: type[tuple[Any, ...]] | None = None


@dataclass(frozen=True, slots=True)
class DescriptorOf:
    """A tensor descriptor made on the host: blocks of `block_shape` elements; out-of-bounds reads give `padding`."""

    element: DType
    block_shape: tuple[int, ...]
    padding: str = "zero"
    facts: tuple[tuple[str, Any], ...] = ()


Argument = RunTime | Constant | TupleOf | DescriptorOf


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments by parameter name, in order of the parameters."""

    arguments: tuple[tuple[str, Argument], ...]

    @staticmethod
    def of(arguments: Mapping[str, Argument]) -> Signature:
        return Signature(tuple(arguments.items()))

    @staticmethod
    def parse(
        names: Sequence[str],
        types: Mapping[str, Any],
        constants: Mapping[Any, Any] | None = None,
        facts: Mapping[Any, Iterable[tuple[str, Any]]] | None = None,
    ) -> Signature:
        """From Triton's texts: ``{"x": "*fp32", "n": "i32", "B": "constexpr"}`` with ``{"B": 64}`` or ``{(2,): 64}``.

        `facts` maps paths such as ``(0,)`` to ``[("tt.divisibility", 16)]``. ValueError for a text that is no type,
        KeyError for a constant without a value.
        """
        known = {_path(names, key): value for key, value in (constants or {}).items()}
        promises = {_path(names, key): value for key, value in (facts or {}).items()}
        return Signature(
            tuple(
                (n, _argument(types.get(n, "constexpr"), (i,), known, promises)) for i, n in enumerate(names)
            )
        )


def _path(names: Sequence[str], key: Any) -> tuple[int, ...]:
    if isinstance(key, str):
        return (names.index(key),)
    return (key,) if isinstance(key, int) else tuple(key)


def _argument(
    text: Any,
    path: tuple[int, ...],
    known: Mapping[tuple[int, ...], Any],
    facts: Mapping[tuple[int, ...], Any],
) -> Argument:
    if path in known:
        return Constant(unwrap(known[path]))
    if isinstance(text, (tuple, list)):
        cls = type(text) if hasattr(text, "_fields") else None
        items = tuple(_argument(t, (*path, i), known, facts) for i, t in enumerate(text))
        return TupleOf(items, cls)  # type: ignore[arg-type]
    if text == "constexpr":
        raise KeyError(f"the compile-time value at {path} is missing")
    promised = tuple((str(k).removeprefix("tt."), v) for k, v in facts.get(path, ()))
    descriptor = _DESCRIPTOR.fullmatch(text) if isinstance(text, str) else None
    if descriptor:
        shape = tuple(int(d) for d in descriptor[2].split(",") if d.strip())
        return DescriptorOf(dtype_named(descriptor[1]), shape, facts=promised)
    return RunTime(parse_type(text), promised)


def parse_type(text: str | ScalarType) -> ScalarType:
    """The type that Triton writes as ``i32``, ``fp16``, ``*bf16``, ``*ki8`` (pointer to constant data)."""
    if isinstance(text, (DType, PointerType)):
        return text
    if text.startswith("*"):
        const = text[1:2] == "k"
        return pointer(parse_type(text[1 + const :]), const)
    try:
        return dtype_named(text)
    except KeyError:
        raise ValueError(f"{text!r} is no type; expected one such as i32, fp32 or *fp16") from None
