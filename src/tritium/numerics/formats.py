"""The scalar formats of the language and how NumPy stores them.

A format is named as in the IR text (``i32``, ``bf16``, ``f8e4nv``). Storage is the NumPy dtype of an array
that holds values of the format. ``f8e4b15`` has no NumPy dtype: its arrays are ``uint8`` bit patterns.

Facts about the 8-bit floats: ``f8e5`` and ``f8e4nv`` are OCP E5M2 and E4M3FN; ``f8e5b16`` and ``f8e4b8``
are the "fnuz" variants (bias one higher, no infinity, no negative zero, NaN is 0x80); ``f8e4b15`` is
Triton's own E4M3 with bias 15, with neither NaN nor infinity, whose encoder never gives the patterns 0x7f
and 0xff (they decode to +-1.875).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Kind = Literal["bool", "int", "uint", "float"]


@dataclass(frozen=True)
class Format:
    """One scalar format. Sizes are in bits; ``max_finite`` and ``min_normal`` are exact values."""

    name: str
    bits: int
    kind: Kind
    storage: np.dtype[Any]
    mantissa_bits: int = 0
    bias: int = 0
    has_inf: bool = False
    nan_bits: int | None = None
    max_finite_bits: int = 0
    has_negative_zero: bool = True

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """True for the integer formats, ``i1`` included."""
        return self.kind != "float"

    @property
    def is_signed(self) -> bool:
        """True for ``i8``-``i64`` and the floats; ``i1`` counts as unsigned."""
        return self.kind in ("int", "float")

    @property
    def is_fp8(self) -> bool:
        return self.kind == "float" and self.bits == 8

    @property
    def pattern(self) -> np.dtype[Any]:
        """The unsigned NumPy dtype that holds the bit pattern (``uint8`` for ``i1``)."""
        return np.dtype(f"u{self.storage.itemsize}")

    @property
    def exponent_bits(self) -> int:
        return self.bits - 1 - self.mantissa_bits if self.is_float else 0

    @property
    def min_normal(self) -> float:
        """Smallest positive normal value of a float format."""
        return 2.0 ** (1 - self.bias)

    @property
    def max_exponent(self) -> int:
        """Exponent e of the largest finite value, which lies in [2**e, 2**(e+1))."""
        return (self.max_finite_bits >> self.mantissa_bits) - self.bias

    @property
    def max_finite(self) -> float:
        """Largest finite value that a conversion to the float format gives."""
        mantissa = self.max_finite_bits & ((1 << self.mantissa_bits) - 1)
        return (1 + mantissa / (1 << self.mantissa_bits)) * 2.0**self.max_exponent

    @property
    def min_int(self) -> int:
        return -(1 << (self.bits - 1)) if self.kind == "int" else 0

    @property
    def max_int(self) -> int:
        return (1 << (self.bits - 1)) - 1 if self.kind == "int" else (1 << self.bits) - 1


def _integer(name: str, kind: Kind, bits: int) -> Format:
    storage = np.dtype(np.bool_) if kind == "bool" else np.dtype(f"{kind}{bits}")
    return Format(name, bits, kind, storage)


def _ieee(name: str, storage: Any, exponent_bits: int, mantissa_bits: int) -> Format:
    infinity = ((1 << exponent_bits) - 1) << mantissa_bits
    return Format(
        name=name,
        bits=1 + exponent_bits + mantissa_bits,
        kind="float",
        storage=np.dtype(storage),
        mantissa_bits=mantissa_bits,
        bias=(1 << (exponent_bits - 1)) - 1,
        has_inf=True,
        nan_bits=infinity | (1 << (mantissa_bits - 1)),
        max_finite_bits=infinity - 1,
    )


def _fp8(
    name: str, storage: Any, mantissa: int, bias: int, largest: int, nan: int | None, **flags: bool
) -> Format:
    return Format(
        name=name,
        bits=8,
        kind="float",
        storage=np.dtype(storage),
        mantissa_bits=mantissa,
        bias=bias,
        nan_bits=nan,
        max_finite_bits=largest,
        **flags,
    )


_ALL = (
    _integer("i1", "bool", 1),
    *(_integer(f"i{bits}", "int", bits) for bits in (8, 16, 32, 64)),
    *(_integer(f"u{bits}", "uint", bits) for bits in (8, 16, 32, 64)),
    _ieee("f16", np.float16, 5, 10),
    _ieee("bf16", ml_dtypes.bfloat16, 8, 7),
    _ieee("f32", np.float32, 8, 23),
    _ieee("f64", np.float64, 11, 52),
    # The NaN patterns are those of `cvt.rn.satfinite` (PTX ISA, "cvt": NaN becomes 0x7f in both OCP types).
    _fp8("f8e5", ml_dtypes.float8_e5m2, 2, 15, 0x7B, 0x7F, has_inf=True),
    _fp8("f8e4nv", ml_dtypes.float8_e4m3fn, 3, 7, 0x7E, 0x7F),
    _fp8("f8e4b8", ml_dtypes.float8_e4m3fnuz, 3, 8, 0x7F, 0x80, has_negative_zero=False),
    _fp8("f8e5b16", ml_dtypes.float8_e5m2fnuz, 2, 16, 0x7F, 0x80, has_negative_zero=False),
    _fp8("f8e4b15", np.uint8, 3, 15, 0x7E, None),
)

FORMATS: dict[str, Format] = {fmt.name: fmt for fmt in _ALL}
FLOAT_FORMATS: tuple[str, ...] = tuple(fmt.name for fmt in _ALL if fmt.is_float)
INTEGER_FORMATS: tuple[str, ...] = tuple(fmt.name for fmt in _ALL if fmt.is_integer)


def format_of(name: str) -> Format:
    """The format called `name`.

    Raises ValueError for an unknown name.
    """
    try:
        return FORMATS[name]
    except KeyError:
        raise ValueError(f"unknown scalar format {name!r}; the formats are {', '.join(FORMATS)}") from None


def storage(name: str) -> np.dtype[Any]:
    """The NumPy dtype that stores format `name`."""
    return format_of(name).storage


def stored(x: npt.ArrayLike, fmt: Format) -> Array:
    """`x` as an array of the format's storage dtype; no copy when it already is one."""
    return np.asarray(x, dtype=fmt.storage)
