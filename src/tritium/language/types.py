"""The type names of the language: dtypes, and the classes by which programs make and recognise types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from tritium.ir.types import (
    DType,
    PointerType,
    TileType,
    Type,
    bfloat16,
    dtype_named,
    float8e4b8,
    float8e4b15,
    float8e4nv,
    float8e5,
    float8e5b16,
    float16,
    float32,
    float64,
    int1,
    int8,
    int16,
    int32,
    int64,
    pointer,
    tile,
    uint8,
    uint16,
    uint32,
    uint64,
    void,
)
from tritium.ops.descriptor import TensorDescriptor
from tritium.ops.handles import Aggregate, Tensor, constexpr, unwrap

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

pi32_t = pointer(int32)


class _TypeClass(type):
    """Classes that make types when called and recognise them in `isinstance`; the types' own classes are ours."""

    def __instancecheck__(cls, instance: Any) -> bool:
        recognised: Any = cls.recognised  # type: ignore[attr-defined]
        return isinstance(instance, recognised) or isinstance(unwrap(instance), recognised)

    def __call__(cls, *args: Any, **kw: Any) -> Any:
        return cls.make(*args, **kw)  # type: ignore[attr-defined]


class dtype(metaclass=_TypeClass):
    """A type: ``dtype("fp32")`` is ``tl.float32``; every scalar, pointer and block type is an instance."""

    __triton_builtin__ = True
    recognised = Type
    SINT_TYPES = DType.SINT_TYPES
    UINT_TYPES = DType.UINT_TYPES
    FP_TYPES = DType.FP_TYPES
    STANDARD_FP_TYPES = DType.STANDARD_FP_TYPES

    @staticmethod
    def make(name: Any) -> DType:
        """The scalar type of that name. ValueError for a name that is none."""
        try:
            return dtype_named(unwrap(name))
        except KeyError:
            raise ValueError(f"{unwrap(name)!r} is no type of the language") from None


class pointer_type(metaclass=_TypeClass):
    """A pointer type: ``pointer_type(tl.float32)``."""

    __triton_builtin__ = True
    recognised = PointerType

    @staticmethod
    def make(element_ty: Any, address_space: Any = 1, const: Any = False) -> PointerType:
        """The type of pointers to `element_ty`; TypeError if that is no scalar or pointer type."""
        element = unwrap(element_ty)
        if not isinstance(element, (DType, PointerType)):
            raise TypeError(f"a pointer type needs a scalar type, not {element!r}")
        return pointer(element, bool(unwrap(const)))


class block_type(metaclass=_TypeClass):
    """A tile type: ``block_type(tl.float32, [4, 8])``."""

    __triton_builtin__ = True
    recognised = TileType

    @staticmethod
    def make(element_ty: Any, shape: Any) -> TileType:
        """The type of tiles of `shape`; ValueError for an empty shape."""
        return tile(unwrap(element_ty), tuple(int(unwrap(d)) for d in unwrap(shape)))


class base_value(metaclass=_TypeClass):
    """What kernels' names can stand for: ``isinstance(x, base_value)`` holds for every handle."""

    recognised = (Tensor, constexpr, Aggregate, tuple)

    @staticmethod
    def make(*args: Any) -> Any:
        raise TypeError("values of kernels are made by the compiler")


class const:
    """Annotation of a pointer parameter through which nothing is stored."""


class tuple_type(metaclass=_TypeClass):
    """The type of a tuple, as newer Triton has it; here a tuple of types."""

    recognised = tuple

    @staticmethod
    def make(types: Any, fields: Any = None) -> tuple[Any, ...]:
        return tuple(types)


class constexpr_type(metaclass=_TypeClass):
    """The type of a compile-time value, as newer Triton has it; here the constexpr itself says its type."""

    recognised = constexpr

    @staticmethod
    def make(value: Any) -> constexpr:
        return constexpr(value)


class tensor_descriptor_type(metaclass=_TypeClass):
    """The type of tensor descriptors, for `isinstance`; descriptors themselves are its instances."""

    __triton_builtin__ = True
    recognised = TensorDescriptor

    @staticmethod
    def make(block_type: Any, shape_type: Any = None, strides_type: Any = None) -> NoReturn:
        raise TypeError("descriptors are made by tl.make_tensor_descriptor, or passed as arguments")


def _in_kernels(fn: FunctionT) -> FunctionT:
    """Let kernels call `fn`, which computes with compile-time values."""
    fn.__triton_builtin__ = True  # type: ignore[attr-defined]
    return fn


@_in_kernels
def get_int_dtype(bitwidth: Any, signed: Any) -> DType:
    """The integer type of `bitwidth` bits (1, 8, 16, 32 or 64).

    >>> get_int_dtype(16, False)
    tritium.language.uint16
    """
    bits, is_signed = int(unwrap(bitwidth)), bool(unwrap(signed))
    if bits == 1:
        return int1
    try:
        return dtype_named(f"{'' if is_signed else 'u'}int{bits}")
    except KeyError:
        raise ValueError(f"there is no integer type of {bits} bits") from None


get_int_dtype.__triton_builtin__ = True  # type: ignore[attr-defined]  # kernels may call it


@_in_kernels
def str_to_ty(name: Any, c: Any = None) -> Any:
    """The type that Triton writes as `name`: ``"*fp32"``, ``"i64"``, ``"constexpr"``."""
    from tritium.frontend.signature import parse_type

    return constexpr if name == "constexpr" else parse_type(name)


TYPE_NAMES: dict[str, Any] = {
    "bfloat16": bfloat16,
    "float16": float16,
    "float32": float32,
    "float64": float64,
    "float8e4b15": float8e4b15,
    "float8e4b8": float8e4b8,
    "float8e4nv": float8e4nv,
    "float8e5": float8e5,
    "float8e5b16": float8e5b16,
    "int1": int1,
    "int16": int16,
    "int32": int32,
    "int64": int64,
    "int8": int8,
    "pi32_t": pi32_t,
    "uint16": uint16,
    "uint32": uint32,
    "uint64": uint64,
    "uint8": uint8,
    "void": void,
    "base_value": base_value,
    "block_type": block_type,
    "const": const,
    "constexpr": constexpr,
    "constexpr_type": constexpr_type,
    "dtype": dtype,
    "pointer_type": pointer_type,
    "slice": slice,
    "str_to_ty": str_to_ty,
    "tensor": Tensor,
    "tensor_descriptor": TensorDescriptor,
    "tensor_descriptor_base": TensorDescriptor,
    "tensor_descriptor_type": tensor_descriptor_type,
    "tuple": tuple,
    "tuple_type": tuple_type,
}
"""The names of types and of classes of values, as ``tritium.language`` has them."""
