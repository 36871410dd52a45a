"""All ops of tile IR, one class each; importing this package fills the registries."""

from tritium.ops import (
    arithmetic,
    atomic,
    bitwise,
    blockptr,
    cast,
    check,
    compare,
    control,
    create,
    descriptor,
    math,
    memory,
    minmax,
    reduce,
    select,
    shape,
)

__all__ = [
    "arithmetic",
    "atomic",
    "bitwise",
    "blockptr",
    "cast",
    "check",
    "compare",
    "control",
    "create",
    "descriptor",
    "math",
    "memory",
    "minmax",
    "reduce",
    "select",
    "shape",
]
