"""Element types of arrays: from the dtypes of PyTorch and NumPy to those of the language."""

from __future__ import annotations

from typing import Any

import numpy as np

from tritium.errors import make_error
from tritium.ir.types import DTYPES, DType, dtype_named

_TORCH_DTYPES = {
    "torch.bool": "int1",
    "torch.uint8": "uint8",
    "torch.uint16": "uint16",
    "torch.uint32": "uint32",
    "torch.uint64": "uint64",
    "torch.int8": "int8",
    "torch.int16": "int16",
    "torch.int32": "int32",
    "torch.int64": "int64",
    "torch.float16": "fp16",
    "torch.bfloat16": "bf16",
    "torch.float32": "fp32",
    "torch.float64": "fp64",
    "torch.float8_e5m2": "fp8e5",
    "torch.float8_e4m3fn": "fp8e4nv",
    "torch.float8_e4m3fnuz": "fp8e4b8",
    "torch.float8_e5m2fnuz": "fp8e5b16",
    "torch.float8_e8m0fnu": "uint8",
    "torch.float4_e2m1fn_x2": "uint8",
}
_NUMPY_NAMES = {
    "bool": "int1",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float64": "fp64",
    "float8_e5m2": "fp8e5",
    "float8_e4m3fn": "fp8e4nv",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2fnuz": "fp8e5b16",
    "float8_e8m0fnu": "uint8",
}
known_dtypes: dict[Any, DType] = {}
"""By the library's own dtype object, native byte order only; filled as they are met."""


def dtype_of(dtype: Any, what: str) -> DType:
    """The element type for a PyTorch dtype, a NumPy dtype, one of ours, or a name. ArgumentError if there is none."""
    if isinstance(dtype, DType):
        return dtype
    text = str(dtype)
    name = _TORCH_DTYPES.get(text) or _NUMPY_NAMES.get(text) or text
    try:
        found = dtype_named(name)
    except KeyError:
        raise make_error("TRI0711", name=what, got=text, expected=f"one of {', '.join(DTYPES)}") from None
    if isinstance(dtype, np.dtype) and not dtype.isnative:
        raise make_error("TRI0711", name=what, got=f"{dtype} (byte-swapped)")
    if type(dtype).__module__ in ("torch", "numpy", "numpy.dtypes"):
        known_dtypes[dtype] = found
    return found
