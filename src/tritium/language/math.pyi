# Written by `python -m tritium.language.stubs`; do not edit.
from typing import Any

from tritium.language.core import tensor

def abs(x: Any) -> tensor:
    """Magnitude of x per element, of any number type. The most negative integer stays as it is.

    >>> tl.abs(tl.load(i) - 3)
    3"""

def ceil(x: Any) -> tensor:
    """Smallest whole number not below x, per element, as a float.

    >>> tl.ceil(tl.load(x + 3) / 2)
    2.0"""

def cos(x: Any) -> tensor:
    """Cosine of x (radians) per element.

    >>> tl.cos(tl.load(x))
    1.0"""

def div_rn(x: Any, y: Any) -> tensor:
    """Correctly rounded quotient of fp32 numbers.

    >>> tl.div_rn(tl.load(x + 1), 3.0)
    0.33333334"""

def erf(x: Any) -> tensor:
    """Error function of x per element.

    >>> tl.erf(tl.load(x))
    0.0"""

def exp(x: Any) -> tensor:
    """e to the power of x per element.

    >>> tl.exp(tl.load(x + 1))
    2.7182817"""

def exp2(x: Any) -> tensor:
    """2 to the power of x per element.

    >>> tl.exp2(tl.load(x + 3))
    8.0"""

def fdiv(x: Any, y: Any, ieee_rounding: Any = False) -> tensor:
    """Quotient of floats in their own type, also for fp16 and bf16.

    >>> tl.fdiv(tl.load(x + 1).to(tl.float16), tl.load(x + 4).to(tl.float16))
    0.25"""

def floor(x: Any) -> tensor:
    """Largest whole number not above x, per element, as a float.

    >>> tl.floor(tl.load(x + 3) / 2)
    1.0"""

def fma(x: Any, y: Any, z: Any) -> tensor:
    """``x * y + z`` of floats per element, rounded once.

    >>> tl.fma(tl.load(x + 2), 3.0, 4.0)
    10.0"""

def log(x: Any) -> tensor:
    """Natural logarithm of x per element; NaN below 0, -inf at 0.

    >>> tl.log(tl.load(x + 1))
    0.0"""

def log2(x: Any) -> tensor:
    """Logarithm of x to base 2 per element; NaN below 0, -inf at 0.

    >>> tl.log2(tl.load(x + 4))
    2.0"""

def rsqrt(x: Any) -> tensor:
    """1 / sqrt(x) per element; NaN below 0, inf at +0.0.

    >>> tl.rsqrt(tl.load(x + 4))
    0.5"""

def sin(x: Any) -> tensor:
    """Sine of x (radians) per element.

    >>> tl.sin(tl.load(x))
    0.0"""

def sqrt(x: Any) -> tensor:
    """Square root of x per element; NaN below 0. `precise` asks for correct rounding on every backend.

    >>> tl.sqrt(tl.load(x + 4))
    2.0"""

def sqrt_rn(x: Any) -> tensor:
    """Correctly rounded square root of fp32 numbers.

    >>> tl.sqrt_rn(tl.load(x + 2))
    1.4142135"""

def umulhi(x: Any, y: Any) -> tensor:
    """High half of the product of x and y, read as unsigned 32- or 64-bit numbers.

    >>> tl.umulhi(tl.load(i + 6).to(tl.uint32), tl.full((), 2**31, tl.uint32))
    3"""
