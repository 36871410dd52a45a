"""Arrays that offer DLPack and nothing else, read without a copy and without another library.

The capsule's struct is read as the DLPack header lays it out (dlpack.h, versions 0 and 1). The capsule is not
consumed: it stays the owner of the memory, and frees it when the launch no longer holds it. NumPy's own importer is
not used because it refuses bf16 and the 8-bit floats, and marks every array of a version 0 producer read-only.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from tritium.ir.types import DType, dtype_named

_HOST_DEVICES = frozenset({1, 3, 11})  # plain memory, memory pinned by CUDA, by ROCm
_CUDA_DEVICES = frozenset({2, 13})  # CUDA, CUDA managed
_READ_ONLY = 1


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_FLOATS = {10: "fp8e4nv", 11: "fp8e4b8", 12: "fp8e5", 13: "fp8e5b16"}  # by type code


@dataclass(frozen=True, slots=True)
class Exported:
    """What a capsule says. Strides are in elements; `dtype` is None for a type that kernels do not have."""

    address: int
    dtype: DType | None
    dtype_text: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    device: str
    writable: bool
    capsule: Any


def export(array: Any) -> Exported:
    """Ask `array` for its capsule and read it. BufferError, or what the producer raises, if it cannot be had."""
    try:
        capsule = array.__dlpack__(max_version=(1, 0))
    except TypeError:  # a producer of version 0 knows no such argument
        capsule = array.__dlpack__()
    pointer_of, name_of = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_GetName
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    name = name_of(capsule)
    if name not in (b"dltensor", b"dltensor_versioned"):
        raise BufferError(f"the capsule is called {name!r}")
    address = pointer_of(capsule, name)
    if name == b"dltensor_versioned":
        managed = _Versioned.from_address(address)
        return _read(managed.tensor, not managed.flags & _READ_ONLY, capsule)
    return _read(_Tensor.from_address(address), True, capsule)


def _read(t: _Tensor, writable: bool, capsule: Any) -> Exported:
    shape = tuple(t.shape[i] for i in range(t.ndim))
    strides = tuple(t.strides[i] for i in range(t.ndim)) if t.strides else None
    dtype, text = _dtype(t.dtype)
    if t.device.type in _HOST_DEVICES:
        device = "cpu"
    elif t.device.type in _CUDA_DEVICES:
        device = f"cuda:{t.device.id}"
    else:
        raise BufferError(f"its memory is on DLPack device {t.device.type}")
    address = (t.data or 0) + t.byte_offset
    return Exported(address, dtype, text, shape, strides, device, writable, capsule)


def _dtype(found: _DataType) -> tuple[DType | None, str]:
    code, bits = found.code, found.bits
    text = f"DLPack type {code} of {bits} bits"
    if found.lanes != 1:
        return None, f"{text} in {found.lanes} lanes"
    names = {
        0: f"int{bits}",
        1: f"uint{bits}",
        2: f"fp{bits}",
        4: f"bf{bits}",
        6: "int1",
        14: "uint8",
        **_FLOATS,
    }
    try:
        return dtype_named(names.get(code, "")), text
    except KeyError:
        return None, text
