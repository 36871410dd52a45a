"""``tl.core.extern_elementwise``: functions of a device library by symbol; NVIDIA's are those of `tl.extra.libdevice`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tritium.ir.types import DType
from tritium.numerics.libdevice import LIBDEVICE, find_variant
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.libdevice import call
from tritium.ops.semantic import Semantic, describe, is_number
from tritium.ops.surface import surface

_PREFIX = "__nv_"
_RENAMED = {"mul64hi": "mulhi", "fast_fdividef": "fast_dividef"}


def _names(symbol: str) -> Iterator[str]:
    """Names that a function of the symbol may have here: CUDA marks types in them, ``sinf``, ``dadd_rn``, ``clzll``."""
    name = symbol.removeprefix(_PREFIX)
    for spelled in (name, name.removeprefix("u"), name.removeprefix("ll"), name.removeprefix("f"), name[1:]):
        base = _RENAMED.get(spelled, spelled)
        yield base
        for mark in ("f", "d", "ll", "i", "if"):
            yield base.removesuffix(mark)
        yield base.replace("f_r", "_r")


def function_of(symbol: str, types: tuple[DType, ...]) -> str | None:
    """The function of `tl.extra.libdevice` that `symbol` names for arguments of `types`, or None."""
    if not symbol.startswith(_PREFIX):
        return None
    texts = tuple(t.text for t in types)
    return next((n for n in _names(symbol) if n in LIBDEVICE and find_variant(n, texts)), None)


@surface("extern_elementwise", module="core")
def extern_elementwise(
    s: Semantic, lib_name: Any, lib_path: Any, args: Any, arg_type_symbol_dict: Any, is_pure: Any
) -> Tensor:
    """The library function that `arg_type_symbol_dict` names for the types of `args`, element by element.

    The dictionary maps a tuple of argument types to a symbol and a result type. Symbols are those of NVIDIA's device
    library (``__nv_sinf``); the library itself is not read, so `lib_name` and `lib_path` do not matter.

    >>> @tl.core.extern
    ... def root(a, _semantic=None):
    ...     types = {(tl.float32,): ("__nv_sqrtf", tl.float32)}
    ...     return tl.core.extern_elementwise("", "", [a], types, is_pure=True, _semantic=_semantic)
    >>> root(tl.load(x + 4))
    2.0
    """
    given = list(unwrap(args))
    tensors = [s.to_tensor(a) for a in given]
    known = {
        tuple(unwrap(t) for t in types): unwrap(found)
        for types, found in unwrap(arg_type_symbol_dict).items()
    }
    types = tuple(t.dtype for t in tensors)
    symbol, result = known.get(types, (None, None))
    if symbol is None:
        listed = " or ".join("(" + ", ".join(str(t) for t in types) + ")" for types in known)
        got = ", ".join(describe(a) for a in given)
        s.fail("TRI0409", function="tl.core.extern_elementwise", got=got, expected=listed,
               hint=f"the dictionary has {listed}")  # fmt: skip
    name = function_of(unwrap(symbol), types)  # type: ignore[arg-type]
    if name is None:
        s.fail(
            "TRI0302",
            module="NVIDIA's device library",
            name=unwrap(symbol),
            hint="symbols of NVIDIA's device library start with __nv_",
        )
    made = call(s, name, [t if is_number(a) else a for a, t in zip(given, tensors, strict=True)])
    return s.cast(made, unwrap(result))
