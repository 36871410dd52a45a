"""Names of types as Triton spells them in signatures and annotations (``triton._utils``), and paths into tuples."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from tritium.ir.types import DTYPES, DType, PointerType, dtype_named, pointer

TRITON_MAX_TENSOR_NUMEL = 1048576
"""Elements above which Triton refuses a tile. Tritium has no such limit; `validate_block_shape` keeps it."""

type_canonicalisation_dict: dict[str, str] = {
    **{name: "u1" for name in ("bool", "int1", "uint1", "i1", "u1")},
    **{f"int{n}": f"i{n}" for n in (8, 16, 32, 64)},
    **{f"uint{n}": f"u{n}" for n in (8, 16, 32, 64)},
    **{f"float{n}": f"fp{n}" for n in (16, 32, 64)},
    **{f"float8{kind}": f"fp8{kind}" for kind in ("e4nv", "e5", "e4b15", "e4b8", "e5b16")},
    "float8_e4m3fn": "fp8e4nv",
    "float8_e5m2": "fp8e5",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2fnuz": "fp8e5b16",
    "bfloat16": "bf16",
    "half": "fp16",
    "float": "fp32",
    "double": "fp64",
    "int": "i32",
    "void": "void",
}
for _short in list(type_canonicalisation_dict.values()):
    type_canonicalisation_dict[_short] = _short

_BITS = {"u1": 1, "void": 0, **{d.mangle(): d.primitive_bitwidth for d in DTYPES.values()}}
BITWIDTH_DICT: dict[str, int] = {name: _BITS[short] for name, short in type_canonicalisation_dict.items()}
"""Bits of a scalar type by any of its names."""


def canonicalize_dtype(dtype: Any) -> str:
    """The short name of a dtype of any library: ``fp32`` for ``torch.float32``. KeyError if there is none."""
    return type_canonicalisation_dict[str(dtype).split(".")[-1]]


def canonicalize_ptr_dtype(dtype: Any, is_const: bool) -> str:
    """The same for a pointer to elements of that dtype."""
    return f"{'*k' if is_const else '*'}{canonicalize_dtype(dtype)}"


def get_primitive_bitwidth(dtype: str) -> int:
    """Bits of the scalar type of that name."""
    return BITWIDTH_DICT[dtype]


def short_name(ty: DType | PointerType) -> str:
    """How Triton writes a type in a signature: ``i32``, ``*fp16``, ``*ki8``."""
    if isinstance(ty, PointerType):
        return ("*k" if ty.const else "*") + short_name(ty.element_ty)
    return "u1" if ty.is_bool() else ty.mangle()


def normalized_annotation(annotation: Any) -> str:
    """An annotation as text: the short name of a type where it is one, else its own text.

    >>> normalized_annotation("tl.int64"), normalized_annotation(int), normalized_annotation("const *fp32")
    ('i64', 'i32', '*kfp32')
    """
    if isinstance(annotation, (DType, PointerType)):
        return short_name(annotation)
    if isinstance(annotation, str):
        text = annotation.strip("'\" ")
        if text.startswith("const "):
            inner = normalized_annotation(text.removeprefix("const "))
            return "*k" + inner[1:] if inner.startswith("*") else text
        if text.endswith("*"):
            return "*" + normalized_annotation(text[:-1])
        if text.startswith("*k"):
            return "*k" + normalized_annotation(text[2:])
        if text.startswith("*"):
            return "*" + normalized_annotation(text[1:])
        for prefix in ("tl.", "triton.language.", "tritium.language."):
            text = text.removeprefix(prefix)
    elif isinstance(annotation, type):
        text = annotation.__name__
    else:
        text = str(annotation)
    return type_canonicalisation_dict.get(text.replace("_t", ""), text)


def annotated_type(text: str) -> DType | PointerType | None:
    """The type that a normalised annotation fixes, or None where it says nothing about types."""
    stars = text.removeprefix("*k").removeprefix("*")
    if stars not in BITWIDTH_DICT or stars == "void":
        return None
    scalar = dtype_named(stars)
    return pointer(scalar, text.startswith("*k")) if text.startswith("*") else scalar


def validate_block_shape(shape: Iterable[Any]) -> int:
    """Elements of a tile of that shape. Raises where Triton would: TypeError, ValueError.

    Tritium's tiles may have any extents; this is for programs that ask Triton's rule.
    """
    numel = 1
    for axis, extent in enumerate(shape):
        if not isinstance(extent, int):
            raise TypeError(f"extent {axis} of a tile is an int, not a {type(extent).__name__}")
        if not is_power_of_two(extent):
            raise ValueError(f"extent {axis} of a tile is {extent}; Triton wants a power of 2")
        numel *= extent
    if numel > TRITON_MAX_TENSOR_NUMEL:
        raise ValueError(f"a tile of {numel} elements; Triton allows {TRITON_MAX_TENSOR_NUMEL}")
    return numel


def is_power_of_two(x: int) -> bool:
    """Whether at most one bit of `x` is set."""
    return x & (x - 1) == 0


def is_namedtuple(val: Any) -> bool:
    """Whether `val` is a class made by ``namedtuple``."""
    return isinstance(val, type) and issubclass(val, tuple) and hasattr(val, "_fields")


# ---- paths into nested tuples ------------------------------------------------------------------------

Path = tuple[int, ...]


def get_iterable_path(iterable: Any, path: Path) -> Any:
    """The item that `path` leads to, an index per level."""
    return functools.reduce(lambda inside, index: inside[index], path, iterable)


def find_paths_if(iterable: Any, pred: Callable[[Path, Any], bool]) -> list[Path]:
    """Paths of the items, tuples and lists looked into, for which ``pred(path, item)`` holds."""
    found: list[Path] = []

    def visit(path: Path, item: Any) -> None:
        if isinstance(item, (list, tuple)):
            for index, inner in enumerate(item):
                visit((*path, index), inner)
        elif pred(path, item):
            found.append(path)

    visit((), iterable)
    return found


def tuples_of(item: Any) -> Any:
    """`item` with lists, at any depth, turned into tuples."""
    return tuple(tuples_of(inner) for inner in item) if isinstance(item, list) else item
