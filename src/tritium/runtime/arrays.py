"""Array arguments of any library as one description: where the bytes are and how the view lies in them.

Accepted, always without a copy: NumPy arrays (no PyTorch needed), PyTorch tensors, anything with
``__cuda_array_interface__``, ``__array_interface__`` or ``__dlpack__``, `TensorWrapper`, and bare
objects with ``data_ptr()`` and ``dtype``. Strides may be zero or negative.

Describing an array happens at every launch, so the usual kinds are found by their exact type (`VIEW_OF_TYPE`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tritium.errors import make_error
from tritium.ir.types import DType
from tritium.runtime.dlpack import export
from tritium.runtime.element_types import dtype_of, known_dtypes

HOST = "cpu"


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

    __slots__ = (
        "_shape",
        "_strides",
        "address",
        "device",
        "dtype",
        "owner",
        "storage_address",
        "storage_nbytes",
        "writable",
    )

    def __init__(
        self,
        address: int,
        dtype: DType,
        shape: tuple[int, ...] | None,
        strides: tuple[int, ...] | None,
        storage_address: int,
        storage_nbytes: int,
        device: str,
        writable: bool,
        owner: Any,
    ) -> None:
        self.address = address
        self.dtype = dtype
        self._shape = shape
        self._strides = strides
        self.storage_address = storage_address
        self.storage_nbytes = storage_nbytes
        self.device = device
        self.writable = writable
        self.owner = owner

    @property
    def shape(self) -> tuple[int, ...]:
        if self._shape is None:
            self._shape = tuple(int(d) for d in self.owner.shape)
        return self._shape

    @property
    def strides(self) -> tuple[int, ...]:
        if self._strides is None:
            self._strides = _strides_of(self.owner, self.shape)
        return self._strides

    @property
    def on_host(self) -> bool:
        return self.device == HOST

    def storage(self) -> np.ndarray[Any, Any]:
        """The whole allocation as bytes (host memory only)."""
        if self.storage_nbytes == 0:
            return np.empty(0, np.uint8)
        buffer = (ctypes.c_uint8 * self.storage_nbytes).from_address(self.storage_address)
        return np.frombuffer(memoryview(buffer), np.uint8)

    def __repr__(self) -> str:
        return f"<{self.dtype} array of shape {self.shape} on {self.device}>"


def _strides_of(owner: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    if isinstance(owner, np.ndarray):
        return tuple(s // owner.itemsize for s in owner.strides)
    stride: Callable[[], Any] | None = getattr(owner, "stride", None)
    return tuple(int(d) for d in stride()) if stride is not None else _dense(shape)


def is_array(arg: Any) -> bool:
    """Whether `arg` is passed to kernels as a pointer."""
    kind = type(arg)
    if kind in VIEW_OF_TYPE or isinstance(arg, (np.ndarray, ArrayView)):
        return True
    if arg is None or isinstance(arg, (bool, int, float, str, tuple, list, np.generic, type)):
        return False
    return hasattr(arg, "data_ptr") or any(
        hasattr(arg, a) for a in ("__cuda_array_interface__", "__array_interface__", "__dlpack__")
    )


def view_of(arg: Any, what: str = "argument") -> ArrayView:
    """Describe an array argument. `what` names it in errors."""
    known = VIEW_OF_TYPE.get(type(arg))
    if known is not None:
        return known(arg, what)
    if isinstance(arg, ArrayView):
        return arg
    if isinstance(arg, np.ndarray):
        if hasattr(arg, "filled"):  # a masked array: the mask would be lost
            hint = "pass array.filled(value), or array.data and array.mask apart"
            raise make_error("TRI0704", name=what, got="a masked array", hint=hint)
        return numpy_view(arg, what)
    if isinstance(arg, TensorWrapper):
        return _wrapped(arg, what)
    if hasattr(arg, "data_ptr"):
        return _pointer_like(arg, what)
    if hasattr(arg, "__cuda_array_interface__"):
        return _interface(arg, arg.__cuda_array_interface__, _cuda_device(arg), what)
    if hasattr(arg, "__array_interface__"):
        return _interface(arg, arg.__array_interface__, HOST, what)
    if hasattr(arg, "__dlpack__"):
        return _from_dlpack(arg, what)
    raise make_error("TRI0704", name=what, got=f"of type {type(arg).__name__}")


# ---- NumPy -------------------------------------------------------------------------------------------


def numpy_view(a: np.ndarray[Any, Any], what: str, owner: Any = None) -> ArrayView:
    """The description of a NumPy array; `owner` keeps the memory alive where `a` is only a way to it."""
    dtype = known_dtypes.get(a.dtype) or dtype_of(a.dtype, what)
    address: int = a.ctypes.data
    flags = a.flags
    owner = a if owner is None else owner
    if a.base is None and flags.forc:
        return ArrayView(address, dtype, a.shape, None, address, a.nbytes, HOST, flags.writeable, owner)
    size = a.itemsize
    for step in a.strides:
        if step % size:
            raise make_error(
                "TRI0704",
                name=what,
                got=f"an array with strides of {a.strides} bytes",
                expected=f"strides that are multiples of the element size, {size}",
            )
    low, high = _extent_of_memory(a, address)
    strides = tuple(step // size for step in a.strides)
    return ArrayView(address, dtype, a.shape, strides, low, high - low, HOST, flags.writeable, owner)


def _extent_of_memory(a: np.ndarray[Any, Any], address: int) -> tuple[int, int]:
    """First byte, and one past the last, of the allocation that `a` lies in as far as NumPy knows it."""
    root: Any = a
    while isinstance(root.base, np.ndarray):
        root = root.base
    low = high = address
    for view in (root, a):  # a view made over foreign memory may reach beyond what NumPy knows of its base
        if view.size:
            first, last = _reach(view.ctypes.data, view.shape, view.strides, view.itemsize)
            low, high = (first, last) if view is root else (min(low, first), max(high, last))
    return low, high


def _reach(address: int, shape: Sequence[int], steps: Sequence[int], size: int) -> tuple[int, int]:
    """First byte, and one past the last, of elements of `size` bytes at `steps` bytes from each other."""
    low = high = address
    for extent, step in zip(shape, steps, strict=True):
        if step < 0:
            low += (extent - 1) * step
        else:
            high += (extent - 1) * step
    return low, high + size


# ---- objects with data_ptr() -------------------------------------------------------------------------


def torch_view(t: Any, what: str) -> ArrayView:
    """The description of a PyTorch tensor. ArgumentError for one that has no memory in which its elements lie."""
    dtype = known_dtypes.get(t.dtype) or dtype_of(t.dtype, what)
    try:
        address = t.data_ptr()
        storage = t.untyped_storage()
        start, nbytes = storage.data_ptr(), storage.nbytes()
    except (RuntimeError, NotImplementedError):
        raise make_error("TRI0704", name=what, got=_without_memory(t), hint=_DENSE_HINT) from None
    if t.is_neg():
        raise make_error(
            "TRI0704",
            name=what,
            got="a tensor whose negation PyTorch has put off",
            hint="pass tensor.resolve_neg()",
        )
    device = HOST if t.is_cpu else _device_name(t.device)
    if address == 0 and start:  # what PyTorch says of a view without elements
        address = start + t.storage_offset() * dtype.itemsize
    return ArrayView(address, dtype, None, None, start, nbytes, device, True, t)


_DENSE_HINT = "pass a dense tensor with its own memory, such as tensor.to_dense() or tensor.contiguous()"


def _without_memory(t: Any) -> str:
    layout = str(getattr(t, "layout", "")).removeprefix("torch.")
    kind = layout if layout and layout != "strided" else type(t).__name__
    return f"a tensor without memory of its own ({kind})"


def _device_name(device: Any) -> str:
    text = str(device)
    return text + ":0" if text in ("cuda", "hip", "xpu") else text


def _pointer_like(arg: Any, what: str) -> ArrayView:
    """An object with ``data_ptr()``: a PyTorch tensor, or something that behaves like one."""
    if hasattr(arg, "untyped_storage") and hasattr(arg, "is_neg"):
        if type(arg).__module__.split(".", 1)[0] == "torch":
            VIEW_OF_TYPE[type(arg)] = torch_view
        return torch_view(arg, what)
    if not hasattr(arg, "dtype"):
        got = f"of type {type(arg).__name__}, which has data_ptr() and no dtype"
        raise make_error("TRI0704", name=what, got=got)
    dtype = dtype_of(arg.dtype, what)
    address = int(arg.data_ptr())
    device = _device_name(getattr(arg, "device", HOST))
    shape = tuple(int(d) for d in getattr(arg, "shape", ()))
    strides = _strides_of(arg, shape)
    extent = 1 + sum((d - 1) * s for d, s in zip(shape, strides, strict=True)) if all(shape) else 0
    return ArrayView(address, dtype, shape, strides, address, extent * dtype.itemsize, device, True, arg)


# ---- interfaces --------------------------------------------------------------------------------------


def _interface(arg: Any, interface: dict[str, Any], device: str, what: str) -> ArrayView:
    np_dtype = np.dtype(interface["typestr"])
    dtype = dtype_of(getattr(arg, "dtype", np_dtype) if np_dtype.kind == "V" else np_dtype, what)
    shape = tuple(int(d) for d in interface["shape"])
    where = interface.get("data")
    if where is None or not isinstance(
        where, tuple
    ):  # the protocol's other form: the buffer is the object itself
        return numpy_view(np.asarray(arg), what, owner=arg)
    address, read_only = int(where[0]), bool(where[1])
    steps = interface.get("strides")
    size = np_dtype.itemsize
    if steps and any(s % size for s in steps):
        got = f"an array with strides of {tuple(steps)} bytes"
        raise make_error("TRI0704", name=what, got=got, expected=f"strides that are multiples of {size}")
    strides = tuple(int(s) // size for s in steps) if steps else _dense(shape)
    low, high = (
        _reach(address, shape, [s * size for s in strides], size) if all(shape) else (address, address)
    )
    return ArrayView(address, dtype, shape, strides, low, high - low, device, not read_only, arg)


def _from_dlpack(arg: Any, what: str) -> ArrayView:
    try:
        found = export(arg)
    except (BufferError, RuntimeError, TypeError, ValueError) as refused:
        got = f"of type {type(arg).__name__}, whose DLPack export fails: {refused}"
        raise make_error("TRI0704", name=what, got=got) from None
    if found.dtype is None:
        raise make_error("TRI0711", name=what, got=found.dtype_text)
    strides = _dense(found.shape) if found.strides is None else found.strides
    size = found.dtype.itemsize
    low, high = found.address, found.address
    if all(found.shape):
        low, high = _reach(found.address, found.shape, [s * size for s in strides], size)
    return ArrayView(
        *(found.address, found.dtype, found.shape, strides),
        *(low, high - low, found.device, found.writable, (arg, found.capsule)),
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


# ---- reinterpretation --------------------------------------------------------------------------------


class TensorWrapper:
    """An array seen with another element type of the same memory (``triton.reinterpret``)."""

    def __init__(self, base: Any, dtype: Any) -> None:
        self.base = base
        self.dtype = dtype
        self.data = getattr(base, "data", base)
        self.device = getattr(base, "device", HOST)
        self.shape = base.shape

    def data_ptr(self) -> int:
        return view_of(self.base).address

    def stride(self, *args: Any) -> Any:
        strides = view_of(self.base).strides
        return strides[args[0]] if args else strides

    def element_size(self) -> int:
        return dtype_of(self.dtype, "reinterpret").itemsize

    def cpu(self) -> TensorWrapper:
        return TensorWrapper(self.base.cpu(), self.dtype)

    def clone(self) -> TensorWrapper:
        copied = self.base.clone() if hasattr(self.base, "clone") else self.base.copy()
        return TensorWrapper(copied, self.dtype)

    def copy_(self, other: TensorWrapper) -> None:
        if hasattr(self.base, "copy_"):
            self.base.copy_(other.base)
        else:
            self.base[...] = other.base

    def to(self, device: Any) -> TensorWrapper:
        return TensorWrapper(self.base.to(device), self.dtype)

    def new_empty(self, sizes: Any) -> TensorWrapper:
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)

    def __str__(self) -> str:
        return f"TensorWrapper[{self.dtype}]({self.base})"


def _wrapped(arg: TensorWrapper, what: str) -> ArrayView:
    base = view_of(arg.base, what)
    return ArrayView(
        *(base.address, dtype_of(arg.dtype, what), base.shape, base.strides),
        *(base.storage_address, base.storage_nbytes, base.device, base.writable, arg),
    )


def reinterpret(tensor: Any, dtype: Any) -> Any:
    """`tensor` as an array of `dtype` over the same bytes, to be passed to kernels."""
    if isinstance(tensor, TensorWrapper):
        return tensor.base if dtype == tensor.base.dtype else TensorWrapper(tensor.base, dtype)
    if is_array(tensor):
        return TensorWrapper(tensor, dtype)
    raise make_error("TRI0704", name="tensor", got=f"of type {type(tensor).__name__}")


VIEW_OF_TYPE: dict[type, Callable[[Any, str], ArrayView]] = {
    np.ndarray: numpy_view,
    TensorWrapper: _wrapped,
}
"""How arrays of exactly these types are described; PyTorch's classes enter when first met."""
