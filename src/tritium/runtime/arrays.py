"""Array arguments of any library as one description: where the bytes are and how the view lies in them.

Accepted, always without a copy: NumPy arrays (no PyTorch needed), PyTorch tensors, anything with
``__cuda_array_interface__``, ``__array_interface__`` or ``__dlpack__``, `TensorWrapper`, and bare
objects with ``data_ptr()`` and ``dtype`` (mock tensors that only get compiled for). Strides may be zero or negative.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tritium.errors import make_error
from tritium.ir.types import DTYPES, DType, dtype_named

HOST = "cpu"


@dataclass(frozen=True, slots=True)
class ArrayView:
    """One array argument.

    address          of element (0, 0, ...), in bytes
    dtype            element type
    shape, strides   extents and steps in elements; empty for a 0-d array
    storage_address  first byte of the whole allocation the view lies in
    storage_nbytes   its size
    device           "cpu", or "cuda:0" and the like
    writable         False for a read-only array
    owner            the caller's object; keeps the memory alive
    """

    address: int
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    storage_address: int
    storage_nbytes: int
    device: str
    writable: bool
    owner: Any

    @property
    def on_host(self) -> bool:
        return self.device == HOST

    def storage(self) -> np.ndarray[Any, Any]:
        """The whole allocation as bytes (host memory only)."""
        if self.storage_nbytes == 0:
            return np.empty(0, np.uint8)
        buffer = (ctypes.c_uint8 * self.storage_nbytes).from_address(self.storage_address)
        return np.frombuffer(buffer, np.uint8)


def is_array(arg: Any) -> bool:
    """Whether `arg` is passed to kernels as a pointer."""
    if isinstance(arg, np.ndarray):
        return True
    if isinstance(arg, (bool, int, float, str, tuple, list, np.generic)) or arg is None:
        return False
    if isinstance(arg, type):
        return False
    return hasattr(arg, "data_ptr") or any(
        hasattr(arg, a) for a in ("__cuda_array_interface__", "__array_interface__", "__dlpack__")
    )


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


def dtype_of(dtype: Any, what: str) -> DType:
    """The element type for a PyTorch dtype, a NumPy dtype, one of ours, or a name. ArgumentError if there is none."""
    if isinstance(dtype, DType):
        return dtype
    text = str(dtype)
    name = _TORCH_DTYPES.get(text) or _NUMPY_NAMES.get(text) or text
    try:
        return dtype_named(name)
    except KeyError:
        raise make_error("TRI0711", name=what, got=text, expected=f"one of {', '.join(DTYPES)}") from None


def view_of(arg: Any, what: str = "argument") -> ArrayView:
    """Describe an array argument. `what` names it in errors."""
    if isinstance(arg, np.ndarray):
        return _numpy(arg, what)
    if isinstance(arg, TensorWrapper):
        base = view_of(arg.base, what)
        return ArrayView(
            base.address,
            dtype_of(arg.dtype, what),
            *(base.shape, base.strides),
            *(base.storage_address, base.storage_nbytes, base.device, base.writable, arg),
        )
    if hasattr(arg, "data_ptr"):
        return _torch_like(arg, what)
    if hasattr(arg, "__cuda_array_interface__"):
        return _interface(arg, arg.__cuda_array_interface__, _cuda_device(arg), what)
    if hasattr(arg, "__array_interface__"):
        return _interface(arg, arg.__array_interface__, HOST, what)
    if hasattr(arg, "__dlpack__"):
        return _numpy(np.from_dlpack(arg), what, owner=arg)
    raise make_error("TRI0704", name=what, got=type(arg).__name__)


def _numpy(a: np.ndarray[Any, Any], what: str, owner: Any = None) -> ArrayView:
    dtype = dtype_of(a.dtype, what)
    if not a.dtype.isnative:
        raise make_error("TRI0711", name=what, got=f"{a.dtype} (byte-swapped)")
    root: np.ndarray[Any, Any] = a
    while isinstance(root.base, np.ndarray):
        root = root.base
    low, high = np.lib.array_utils.byte_bounds(root) if root.size else (root.ctypes.data, root.ctypes.data)
    if a.size:  # a view made over foreign memory may reach beyond what NumPy knows of its base
        a_low, a_high = np.lib.array_utils.byte_bounds(a)
        low, high = min(low, a_low), max(high, a_high)
    size = a.dtype.itemsize
    if any(s % size for s in a.strides):
        raise make_error(
            "TRI0704",
            name=what,
            got=f"an array with strides of {a.strides} bytes",
            expected=f"strides that are multiples of the element size, {size}",
        )
    strides = tuple(s // size for s in a.strides)
    return ArrayView(
        a.ctypes.data,
        dtype,
        a.shape,
        strides,
        low,
        high - low,
        HOST,
        a.flags.writeable,
        a if owner is None else owner,
    )


def _torch_like(t: Any, what: str) -> ArrayView:
    dtype = dtype_of(t.dtype, what)
    address = int(t.data_ptr())
    shape = tuple(int(d) for d in t.shape) if hasattr(t, "shape") else ()
    stride: Callable[[], Any] | None = getattr(t, "stride", None)
    strides = tuple(int(d) for d in stride()) if callable(stride) else _dense(shape)
    device = str(getattr(t, "device", HOST))
    if device.startswith("cuda") and ":" not in device:
        device += ":0"
    storage = getattr(t, "untyped_storage", None)
    if storage is not None:
        s = storage()
        return ArrayView(address, dtype, shape, strides, int(s.data_ptr()), int(s.nbytes()), device, True, t)
    extent = 1 + sum((d - 1) * s for d, s in zip(shape, strides, strict=True)) if all(shape) else 0
    return ArrayView(address, dtype, shape, strides, address, extent * dtype.itemsize, device, True, t)


def _interface(arg: Any, interface: dict[str, Any], device: str, what: str) -> ArrayView:
    np_dtype = np.dtype(interface["typestr"])
    dtype = dtype_of(np_dtype, what)
    shape = tuple(interface["shape"])
    address, read_only = interface["data"]
    byte_strides = interface.get("strides")
    strides = tuple(s // np_dtype.itemsize for s in byte_strides) if byte_strides else _dense(shape)
    reach = [(d - 1) * s for d, s in zip(shape, strides, strict=True)]
    low = min(0, sum(r for r in reach if r < 0)) if all(shape) else 0
    high = sum(r for r in reach if r > 0) + 1 if all(shape) else 0
    size = np_dtype.itemsize
    return ArrayView(
        address, dtype, shape, strides, address + low * size, (high - low) * size, device, not read_only, arg
    )


def _cuda_device(arg: Any) -> str:
    device = getattr(arg, "device", 0)
    return f"cuda:{getattr(device, 'id', device if isinstance(device, int) else 0)}"


def _dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for d in reversed(shape):
        strides.append(step)
        step *= d
    return tuple(reversed(strides))


class TensorWrapper:
    """An array seen with another element type of the same memory (``triton.reinterpret``)."""

    def __init__(self, base: Any, dtype: Any) -> None:
        self.base = base
        self.dtype = dtype
        self.data = base
        self.device = getattr(base, "device", HOST)
        self.shape = base.shape

    def data_ptr(self) -> int:
        return view_of(self.base).address

    def stride(self, *args: Any) -> Any:
        return self.base.stride(*args)

    def element_size(self) -> int:
        return dtype_of(self.dtype, "reinterpret").itemsize

    def cpu(self) -> TensorWrapper:
        return TensorWrapper(self.base.cpu(), self.dtype)

    def clone(self) -> TensorWrapper:
        return TensorWrapper(self.base.clone(), self.dtype)

    def copy_(self, other: TensorWrapper) -> None:
        self.base.copy_(other.base)

    def to(self, device: Any) -> TensorWrapper:
        return TensorWrapper(self.base.to(device), self.dtype)

    def new_empty(self, sizes: Any) -> TensorWrapper:
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)

    def __str__(self) -> str:
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor: Any, dtype: Any) -> Any:
    """`tensor` as an array of `dtype` over the same bytes, to be passed to kernels."""
    if isinstance(tensor, TensorWrapper):
        return tensor.base if dtype == tensor.base.dtype else TensorWrapper(tensor.base, dtype)
    if is_array(tensor):
        return TensorWrapper(tensor, dtype)
    raise make_error("TRI0704", name="tensor", got=type(tensor).__name__)
