"""The types of tile IR: scalars, pointers and tiles.

Every type is frozen and interned, so types compare by identity as well as by value and are cheap dict keys.

=================  ==========================  =======================================================
type               IR text                     what a value of it is
=================  ==========================  =======================================================
``DType``          ``i32`` ``bf16`` ``f8e5``   one number
``PointerType``    ``ptr<f32>``                one address of elements of a ``DType``
``TileType``       ``tile<64x24xf32>``         a dense row-major block of numbers or pointers, any extents
``SharedType``     ``shared<64x24xf32, ...>``  a buffer in the shared memory of a GPU block; machine IR only
=================  ==========================  =======================================================

The same objects are what kernels see as ``tl.float32``, ``tl.pointer_type`` and ``tl.block_type``; the
attribute names are Triton's (``primitive_bitwidth``, ``is_floating()``, ``element_ty``, ...).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

# name, IR text, kind, bits, mantissa bits, exponent bias
_SCALARS: tuple[tuple[str, str, str, int, int, int], ...] = (
    ("int1", "i1", "uint", 1, 0, 0),
    ("int8", "i8", "int", 8, 0, 0),
    ("int16", "i16", "int", 16, 0, 0),
    ("int32", "i32", "int", 32, 0, 0),
    ("int64", "i64", "int", 64, 0, 0),
    ("uint8", "u8", "uint", 8, 0, 0),
    ("uint16", "u16", "uint", 16, 0, 0),
    ("uint32", "u32", "uint", 32, 0, 0),
    ("uint64", "u64", "uint", 64, 0, 0),
    ("fp8e5", "f8e5", "float", 8, 2, 15),
    ("fp8e4nv", "f8e4nv", "float", 8, 3, 7),
    ("fp8e4b8", "f8e4b8", "float", 8, 3, 8),
    ("fp8e5b16", "f8e5b16", "float", 8, 2, 16),
    ("fp8e4b15", "f8e4b15", "float", 8, 3, 15),
    ("fp16", "f16", "float", 16, 10, 15),
    ("bf16", "bf16", "float", 16, 7, 127),
    ("fp32", "f32", "float", 32, 23, 127),
    ("fp64", "f64", "float", 64, 52, 1023),
    ("void", "void", "void", 0, 0, 0),
)
_STANDARD_FLOATS = ("fp16", "bf16", "fp32", "fp64")


class Type:
    """Base of the IR's types; what they share with Triton's ``dtype`` API."""

    @property
    def scalar(self) -> ScalarType:
        """The element type of a tile, or the type itself."""
        raise TypeError(f"{self} has no scalar type")

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def is_block(self) -> bool:
        return False

    def is_ptr(self) -> bool:
        return False

    @property
    def numel(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DType(Type):
    """A scalar number type. ``name`` is Triton's (``fp32``), ``text`` the IR's (``f32``)."""

    name: str
    text: str
    kind: str  # "int" | "uint" | "float" | "void"
    primitive_bitwidth: int
    fp_mantissa_width: int
    exponent_bias: int

    SINT_TYPES: ClassVar[tuple[str, ...]] = ("int8", "int16", "int32", "int64")
    UINT_TYPES: ClassVar[tuple[str, ...]] = ("int1", "uint8", "uint16", "uint32", "uint64")
    FP_TYPES: ClassVar[tuple[str, ...]] = tuple(s[0] for s in _SCALARS if s[2] == "float")
    STANDARD_FP_TYPES: ClassVar[tuple[str, ...]] = _STANDARD_FLOATS

    @property
    def scalar(self) -> DType:
        return self

    @property
    def int_bitwidth(self) -> int:
        return self.primitive_bitwidth

    @property
    def itemsize(self) -> int:
        """Bytes of one element in memory; ``int1`` is stored as one byte."""
        return -(-self.primitive_bitwidth // 8)

    def is_fp8(self) -> bool:
        return self.name.startswith("fp8")

    def is_fp16(self) -> bool:
        return self.name == "fp16"

    def is_bf16(self) -> bool:
        return self.name == "bf16"

    def is_fp32(self) -> bool:
        return self.name == "fp32"

    def is_fp64(self) -> bool:
        return self.name == "fp64"

    def is_fp8e4nv(self) -> bool:
        return self.name == "fp8e4nv"

    def is_fp8e4b8(self) -> bool:
        return self.name == "fp8e4b8"

    def is_fp8e4b15(self) -> bool:
        return self.name == "fp8e4b15"

    def is_fp8e5(self) -> bool:
        return self.name == "fp8e5"

    def is_fp8e5b16(self) -> bool:
        return self.name == "fp8e5b16"

    def is_int1(self) -> bool:
        return self.name == "int1"

    def is_bool(self) -> bool:
        return self.name == "int1"

    def is_int8(self) -> bool:
        return self.name == "int8"

    def is_int16(self) -> bool:
        return self.name == "int16"

    def is_int32(self) -> bool:
        return self.name == "int32"

    def is_int64(self) -> bool:
        return self.name == "int64"

    def is_uint8(self) -> bool:
        return self.name == "uint8"

    def is_uint16(self) -> bool:
        return self.name == "uint16"

    def is_uint32(self) -> bool:
        return self.name == "uint32"

    def is_uint64(self) -> bool:
        return self.name == "uint64"

    def is_floating(self) -> bool:
        return self.kind == "float"

    def is_standard_floating(self) -> bool:
        return self.name in _STANDARD_FLOATS

    def is_int(self) -> bool:
        return self.kind in ("int", "uint")

    def is_int_signed(self) -> bool:
        return self.kind == "int"

    def is_int_unsigned(self) -> bool:
        return self.kind == "uint"

    def is_void(self) -> bool:
        return self.kind == "void"

    def is_const(self) -> bool:
        return False

    def is_dtype(self) -> bool:
        return True

    def kind_rank(self) -> int:
        """0 for bool, 1 for integers, 2 for floats: the order in which a Python number stays weak."""
        return 0 if self.is_bool() else 1 if self.is_int() else 2

    def get_int_max_value(self) -> int:
        return (1 << (self.primitive_bitwidth - (self.kind == "int"))) - 1

    def get_int_min_value(self) -> int:
        return -(1 << (self.primitive_bitwidth - 1)) if self.kind == "int" else 0

    def mangle(self) -> str:
        """Triton's short name, used in specialised kernel names: ``i32``, ``u8``, ``u1``, ``fp16``."""
        return (
            f"{'i' if self.kind == 'int' else 'u'}{self.primitive_bitwidth}" if self.is_int() else self.name
        )

    def to(self, *_: Any) -> None:
        raise TypeError("a dtype has no .to(); did you mean x.to(dtype)?")

    def __eq__(self, other: object) -> bool:
        other = getattr(other, "value", other)  # a constexpr holding a dtype compares like the dtype
        return self is other

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        """An expression that gives the type: ``tritium.language.float32``."""
        spelled = "bfloat16" if self.name == "bf16" else self.name.replace("fp", "float")
        return f"tritium.language.{spelled}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (dtype_named, (self.name,))


DTYPES: dict[str, DType] = {s[0]: DType(*s) for s in _SCALARS}
_BY_TEXT: dict[str, DType] = {d.text: d for d in DTYPES.values()}
_ALIASES = {
    "float16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float64": "fp64",
    "float8e5": "fp8e5",
    "float8e4nv": "fp8e4nv",
    "float8e4b8": "fp8e4b8",
    "float8e5b16": "fp8e5b16",
    "float8e4b15": "fp8e4b15",
    "bool": "int1",
    "u1": "int1",
}

int1 = DTYPES["int1"]
int8 = DTYPES["int8"]
int16 = DTYPES["int16"]
int32 = DTYPES["int32"]
int64 = DTYPES["int64"]
uint8 = DTYPES["uint8"]
uint16 = DTYPES["uint16"]
uint32 = DTYPES["uint32"]
uint64 = DTYPES["uint64"]
float8e5 = DTYPES["fp8e5"]
float8e4nv = DTYPES["fp8e4nv"]
float8e4b8 = DTYPES["fp8e4b8"]
float8e5b16 = DTYPES["fp8e5b16"]
float8e4b15 = DTYPES["fp8e4b15"]
float16 = DTYPES["fp16"]
bfloat16 = DTYPES["bf16"]
float32 = DTYPES["fp32"]
float64 = DTYPES["fp64"]
void = DTYPES["void"]


def dtype_named(name: str) -> DType:
    """The dtype called `name` in Triton (``fp32``), NumPy style (``float32``) or IR text (``f32``).

    Raises KeyError for an unknown name.
    """
    return DTYPES.get(name) or _BY_TEXT.get(name) or DTYPES[_ALIASES[name]]


_POINTERS: dict[tuple[Any, ...], PointerType] = {}
_TILES: dict[tuple[Any, ...], TileType] = {}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PointerType(Type):
    """An address of elements of `element_ty` (a scalar, or another pointer for pointer tables)."""

    element_ty: DType | PointerType
    address_space: int = 1
    const: bool = False

    @property
    def scalar(self) -> PointerType:
        return self

    @property
    def name(self) -> str:
        return f"pointer<{self.element_ty.name}>"

    @property
    def primitive_bitwidth(self) -> int:
        return 64

    @property
    def itemsize(self) -> int:
        return 8

    @property
    def text(self) -> str:
        return f"ptr<{self.element_ty.text}{', const' if self.const else ''}>"

    def is_ptr(self) -> bool:
        return True

    def is_const(self) -> bool:
        return self.const

    def is_floating(self) -> bool:
        return False

    def is_int(self) -> bool:
        return False

    def is_bool(self) -> bool:
        return False

    def is_fp8(self) -> bool:
        return False

    def mangle(self) -> str:
        return "P" + self.element_ty.mangle()

    def __eq__(self, other: object) -> bool:
        other = getattr(other, "value", other)
        return isinstance(other, PointerType) and (self.element_ty, self.const) == (
            other.element_ty,
            other.const,
        )

    def __hash__(self) -> int:
        return hash(("ptr", self.element_ty, self.const))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name


ScalarType = DType | PointerType


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TileType(Type):
    """A tile: `shape` (one or more extents, each at least 1, any value) of `element` scalars."""

    element: ScalarType
    dims: tuple[int, ...]

    @property
    def scalar(self) -> ScalarType:
        return self.element

    @property
    def element_ty(self) -> ScalarType:
        return self.element

    @property
    def shape(self) -> tuple[int, ...]:
        return self.dims

    @property
    def name(self) -> str:
        return str(self)

    @property
    def text(self) -> str:
        return f"tile<{'x'.join(map(str, self.dims))}x{self.element.text}>"

    @property
    def primitive_bitwidth(self) -> int:
        return self.element.primitive_bitwidth

    @property
    def nbytes(self) -> int:
        return self.numel * self.element.itemsize

    def is_block(self) -> bool:
        return True

    def is_ptr(self) -> bool:
        return False

    def is_floating(self) -> bool:
        return self.element.is_floating()

    def is_int(self) -> bool:
        return self.element.is_int()

    def get_block_shapes(self) -> tuple[int, ...]:
        return self.dims

    def with_element(self, element: ScalarType) -> TileType:
        return tile(element, self.dims)

    def mangle(self) -> str:
        return f"{self.element.mangle()}S{'_'.join(map(str, self.dims))}S"

    def __eq__(self, other: object) -> bool:
        other = getattr(other, "value", other)
        return isinstance(other, TileType) and self.dims == other.dims and self.element == other.element

    def __hash__(self) -> int:
        return hash((self.element, self.dims))

    def __str__(self) -> str:
        return f"<{list(self.dims)}, {self.element}>"

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class SharedType(Type):
    """A buffer for tiles of `dims` in shared memory, in `stages` copies.

    order     axes from the one whose neighbours are next to each other on: (1, 0) is row-major
    padding   unused elements after each run along ``order[0]``
    swizzle   (bits, base, shift) of an XOR of byte-address bits inside a stage, or () for none; see `layout.Swizzle`
    """

    element: ScalarType
    dims: tuple[int, ...]
    order: tuple[int, ...]
    padding: int = 0
    stages: int = 1
    swizzle: tuple[int, ...] = ()

    @property
    def scalar(self) -> ScalarType:
        return self.element

    @property
    def name(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        shape = "x".join(map(str, self.dims))
        order = " ".join(map(str, self.order))
        swizzle = f", swizzle {' '.join(map(str, self.swizzle))}" if self.swizzle else ""
        return f"shared<{shape}x{self.element.text}, order {order}, pad {self.padding}, stages {self.stages}{swizzle}>"

    @property
    def numel(self) -> int:
        """Elements of one stage, without padding."""
        return prod(self.dims)

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements between neighbours, per axis."""
        out = [0] * len(self.dims)
        step = 1
        for place, axis in enumerate(self.order):
            out[axis] = step
            step *= self.dims[axis] + (self.padding if place == 0 else 0)
        return tuple(out)

    @property
    def stage_size(self) -> int:
        """Elements from one stage to the next."""
        return prod(self.dims[a] + (self.padding if p == 0 else 0) for p, a in enumerate(self.order))

    @property
    def nbytes(self) -> int:
        """Bytes of all stages, padding included."""
        return self.stages * self.stage_size * self.element.itemsize

    def __str__(self) -> str:
        return self.text


def pointer(element: DType | PointerType, const: bool = False) -> PointerType:
    """The interned pointer type to `element`."""
    key = (element, const)
    found = _POINTERS.get(key)
    if found is None:
        found = _POINTERS.setdefault(key, PointerType(element, 1, const))
    return found


def tile(element: ScalarType, shape: tuple[int, ...]) -> TileType:
    """The interned tile type; ValueError for an empty shape or an extent below 1."""
    key = (element, shape)
    found = _TILES.get(key)
    if found is None:
        if not shape or any(d < 1 for d in shape):
            raise ValueError(f"a tile needs one or more extents of at least 1, got {shape}")
        found = _TILES.setdefault(key, TileType(element, shape))
    return found


def shaped(element: ScalarType, shape: tuple[int, ...]) -> ScalarType | TileType:
    """`element` itself for shape ``()``, else a tile of it."""
    return tile(element, shape) if shape else element


def like(ty: Type, element: ScalarType) -> ScalarType | TileType:
    """The shape of `ty` with another element type."""
    return shaped(element, ty.shape)
