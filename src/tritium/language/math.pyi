# Written by `python -m tritium.language.stubs`; do not edit.
from typing import Any

from tritium.language.core import tensor

def abs(x: Any) -> tensor:
    """Magnitude of x per element, of any number type. The most negative integer stays as it is.

    >>> tl.abs(tl.full((1,), -3, tl.int32))
    [3]"""

def ceil(x: Any) -> tensor:
    """Smallest whole number not below x, per element, as a float.

    >>> tl.ceil(1.5)
    2.0"""

def cos(x: Any) -> tensor:
    """Cosine of x (radians) per element.

    >>> tl.cos(0.0)
    1.0"""

def div_rn(x: Any, y: Any) -> tensor:
    """Correctly rounded quotient of fp32 numbers.

    >>> tl.div_rn(tl.full((1,), 1.0, tl.float32), 3.0)
    [0.33333334]"""

def erf(x: Any) -> tensor:
    """Error function of x per element.

    >>> tl.erf(0.0)
    0.0"""

def exp(x: Any) -> tensor:
    """e to the power of x per element.

    >>> tl.exp(0.0)
    1.0"""

def exp2(x: Any) -> tensor:
    """2 to the power of x per element.

    >>> tl.exp2(3.0)
    8.0"""

def fdiv(x: Any, y: Any, ieee_rounding: Any = False) -> tensor:
    """Quotient of floats in their own type, also for fp16 and bf16.

    >>> tl.fdiv(tl.full((1,), 1.0, tl.float16), tl.full((1,), 4.0, tl.float16))
    [0.25]"""

def floor(x: Any) -> tensor:
    """Largest whole number not above x, per element, as a float.

    >>> tl.floor(-1.5)
    -2.0"""

def fma(x: Any, y: Any, z: Any) -> tensor:
    """``x * y + z`` of floats per element, rounded once.

    >>> tl.fma(2.0, 3.0, 4.0)
    10.0"""

def log(x: Any) -> tensor:
    """Natural logarithm of x per element; NaN below 0, -inf at 0.

    >>> tl.log(1.0)
    0.0"""

def log2(x: Any) -> tensor:
    """Logarithm of x to base 2 per element; NaN below 0, -inf at 0.

    >>> tl.log2(8.0)
    3.0"""

def rsqrt(x: Any) -> tensor:
    """1 / sqrt(x) per element; NaN below 0, inf at +0.0.

    >>> tl.rsqrt(4.0)
    0.5"""

def sin(x: Any) -> tensor:
    """Sine of x (radians) per element.

    >>> tl.sin(0.0)
    0.0"""

def sqrt(x: Any) -> tensor:
    """Square root of x per element; NaN below 0. `precise` asks for correct rounding on every backend.

    >>> tl.sqrt(9.0)
    3.0"""

def sqrt_rn(x: Any) -> tensor:
    """Correctly rounded square root of fp32 numbers.

    >>> tl.sqrt_rn(9.0)
    3.0"""

def umulhi(x: Any, y: Any) -> tensor:
    """High half of the product of x and y, read as unsigned 32- or 64-bit numbers.

    >>> tl.umulhi(tl.full((1,), 2**31, tl.uint32), tl.full((1,), 6, tl.uint32))
    [3]"""
