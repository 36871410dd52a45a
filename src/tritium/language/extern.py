"""`extern_elementwise`: functions of a device library by their symbols, as programs that extend the language name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tritium.ops.handles import unwrap
from tritium.ops.surface import SURFACES

_ROUNDINGS = ("_rn", "_rz", "_rd", "_ru")


def library_function(symbol: str) -> str | None:
    """The name under which the device library's `symbol` is known here: ``__nv_expf`` is ``exp``.

    >>> library_function("__nv_fadd_rn")
    'add_rn'
    """
    name = symbol.removeprefix("__nv_")
    stem, rounding = (name[:-3], name[-3:]) if name.endswith(_ROUNDINGS) else (name, "")
    stems = [stem, stem.removesuffix("f"), stem.removesuffix("d"), stem[1:], stem[1:].removesuffix("f")]
    if stem.startswith("ll"):
        stems.append(stem[2:])
    return next((s + rounding for s in stems if f"libdevice.{s}{rounding}" in SURFACES), None)


def extern_elementwise(
    lib_name: Any,
    lib_path: Any,
    args: Sequence[Any],
    arg_type_symbol_dict: Mapping[tuple[Any, ...], tuple[str, Any]],
    is_pure: Any,
    _semantic: Any = None,
) -> Any:
    """Apply a function of a device library to `args`, chosen by their element types from `arg_type_symbol_dict`.

    Its symbols are those of NVIDIA's library (``__nv_...``); on every target they mean the function of
    ``tl.extra.libdevice`` with that meaning.
    """
    tensors = [_semantic.to_tensor(a) for a in args]
    types = tuple(t.dtype for t in tensors)
    known = {tuple(unwrap(t) for t in key): value for key, value in arg_type_symbol_dict.items()}
    if types not in known:
        shown = ", ".join(str(t) for t in types)
        _semantic.fail("TRI0409", function="extern_elementwise", got=shown)
    symbol = known[types][0]
    name = library_function(symbol)
    if name is None:
        _semantic.fail("TRI0302", module="the device library", name=symbol)
    return SURFACES[f"libdevice.{name}"](_semantic, *tensors)


extern_elementwise.__triton_builtin__ = True  # type: ignore[attr-defined]
