"""What types a function of the language takes and gives, found by asking it: each type in turn, through its surface."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from tritium.errors import Loc, TritiumError
from tritium.ir.builder import Builder
from tritium.ir.core import Function
from tritium.ir.types import DType, PointerType, Type, dtype_named, int1, int32, pointer, shaped
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.semantic import Semantic
from tritium.ops.surface import SURFACES, Surface

_SIGNED = ("int8", "int16", "int32", "int64")
_UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
_FLOATS = ("fp16", "bf16", "fp32", "fp64")
_FP8 = ("fp8e5", "fp8e5b16", "fp8e4nv", "fp8e4b8", "fp8e4b15")
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("integers and int1", ("int1", *_SIGNED, *_UNSIGNED)),
    ("integers", (*_SIGNED, *_UNSIGNED)),
    ("signed integers", _SIGNED),
    ("unsigned integers", _UNSIGNED),
    ("8-bit floats", _FP8),
)
ALL: tuple[DType, ...] = tuple(dtype_named(n) for n in ("int1", *_SIGNED, *_UNSIGNED, *_FLOATS, *_FP8))

_VALUES = ("x", "y", "z", "input", "other", "a", "b", "src", "value", "val", "cmp", "min", "max", "div")
_FIXED: dict[str, Any] = {
    **{"axis": 0, "dim": 0, "k": 2, "num_bins": 4, "*dims": (1, 0), "*shape": (8, 2), "values": 8},
}
_SHAPES = {
    **{
        "tl.dot": (16, 16),
        "operator.matmul": (16, 16),
        "tl.trans": (4, 2),
        "tl.permute": (4, 2),
        "tl.split": (4, 2),
    },
    **{
        "internal.T": (4, 2),
        "tl.squeeze": (1, 8),
        "tl.item": (1,),
        "tl.broadcast_to": (8, 1),
        "tl.reshape": (4, 4),
        "tl.view": (4, 4),
    },
}


class _Asking(Semantic):
    """Builds ops nowhere in particular; combine functions are Python functions over handles."""

    def __init__(self) -> None:
        super().__init__(Builder(Function("ask").body, Loc("", 1, 1)))

    def call(self, fn: Any, args: Sequence[Any]) -> Any:
        return fn(self, *args)


def _tile(s: Semantic, ty: Type) -> Tensor:
    """A run-time value of type `ty`."""
    return Tensor(s.builder.region.add_arg(ty))


def _argument(s: Semantic, name: str, ty: DType, dims: tuple[int, ...]) -> Any:
    if name in _VALUES:
        return _tile(s, shaped(ty, dims))
    if name == "pointer":
        return _tile(s, shaped(pointer(ty), dims))
    if name in ("condition", "mask"):
        return _tile(s, shaped(int1, dims))
    if name == "index":
        return _tile(s, shaped(int32, dims))
    if name == "combine_fn":
        return lambda semantic, a, b: SURFACES["tl.add"](semantic, a, b)
    return _FIXED[name]


def _arguments(s: Semantic, surface: Surface, ty: DType) -> list[Any]:
    """Arguments for the parameters without defaults. KeyError for a parameter that nothing is known of."""
    dims = _SHAPES.get(surface.qualified_name, (8,))
    arguments: list[Any] = []
    for p in surface.signature.parameters.values():
        if p.kind is p.VAR_POSITIONAL and p.name == "args":
            arguments += [_tile(s, shaped(ty, dims)), _tile(s, shaped(ty, dims))]
        elif p.kind is p.VAR_POSITIONAL:
            arguments.append(_FIXED[f"*{p.name}"])
        elif p.default is inspect.Parameter.empty:
            arguments.append(_argument(s, p.name, ty, dims))
    if not any(isinstance(a, Tensor) for a in arguments):
        raise KeyError(surface.name)
    return arguments


def asked(surface: Surface, *operands: Any, dims: tuple[int, ...] = (), **keywords: Any) -> Any:
    """What `surface` gives: operands that are types stand for run-time values of `dims`, others are passed on."""
    s = _Asking()
    s.current = surface.name
    given = [_tile(s, shaped(x, dims)) if isinstance(x, DType) else x for x in operands]
    return unwrap(surface(s, *given, **keywords))


def results(surface: Surface, ty: DType) -> str | None:
    """The types of the results for arguments of type `ty`, as text; None if it refuses them."""
    s = _Asking()
    s.current = surface.name
    arguments = _arguments(s, surface, ty)
    try:
        given = unwrap(surface(s, *arguments))
    except TritiumError:
        return None
    parts = given if isinstance(given, (tuple, list)) else (given,)
    names = {_name(unwrap(p)) for p in parts}
    return ", ".join(sorted(names))


def _name(x: Any) -> str:
    return str(x.dtype) if isinstance(x, Tensor) and isinstance(x.dtype, (DType, PointerType)) else ""


def summary(surface: Surface) -> str:
    """What types the function takes and gives; nothing where there is no argument whose type could vary."""
    try:
        found = {ty.name: results(surface, ty) for ty in ALL}
    except KeyError:
        return ""
    taken = {n: r for n, r in found.items() if r is not None}
    if not taken:
        return ""
    takes = "takes " + listed(list(taken))
    if not any(taken.values()):
        return takes
    if len(set(taken.values())) == 1:
        return f"{takes}; the result is {next(iter(taken.values()))}"
    changed: dict[str, list[str]] = {}
    for n, r in taken.items():
        if r != n:
            changed.setdefault(str(r), []).append(n)
    parts = [f"{listed(names)} {'gives' if len(names) == 1 else 'give'} {r}" for r, names in changed.items()]
    return "; ".join([takes, *parts, "others keep their type" if parts else "the result has the same type"])


def listed(names: Sequence[str]) -> str:
    """Type names as text, whole groups by one word."""
    rest = list(names)
    if set(rest) == {t.name for t in ALL}:
        return "every type of number"
    words: list[str] = []
    for word, group in GROUPS:
        if set(group) <= set(rest):
            words.append(word)
            rest = [n for n in rest if n not in group]
    return ", ".join([*rest, *words])
