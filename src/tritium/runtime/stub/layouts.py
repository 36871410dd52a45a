"""Where Python, NumPy and PyTorch keep what has no function in a C API, each seen to be so before it is relied on."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tritium.runtime.stub.text import Layout


def _read(kind: type[Any], address: int) -> int:
    return kind.from_address(address).value or 0


def layout(stream: int, sharing: int) -> Layout:
    """The layouts here; ValueError where objects are not laid out as in CPython."""
    type_at = object.__basicsize__ - 8
    for probe in (1, 2.5, "text", (), [], {}, None, True, layout, np.zeros(1)):
        if _read(ctypes.c_void_p, id(probe) + type_at) != id(type(probe)):
            raise ValueError("objects do not have their type where CPython keeps it")
    array_at = object.__basicsize__
    size_at = _size_at()
    known = size_at != 0 and all(_is_laid_out(a, array_at) for a in _probes())
    return Layout(
        *(type_at, array_at if known else 0, size_at, _version_at()),
        *(time.CLOCK_MONOTONIC, stream, sharing),
    )


def _version_at() -> int:
    """Where a dictionary has its version (PEP 509, until Python 3.12): a word that every kind of change changes."""
    at = object.__basicsize__ + 8
    probe: dict[Any, Any] = {}

    def changes(action: Callable[[], Any]) -> bool:
        before = _read(ctypes.c_uint64, id(probe) + at)
        action()
        return _read(ctypes.c_uint64, id(probe) + at) != before

    key, value = b"key", b"value"
    writes: list[Callable[[], Any]] = [
        *(lambda: probe.__setitem__(key, value), lambda: probe.__setitem__(key, b"other")),
        *(lambda: probe.update({key: value}), lambda: probe.setdefault(b"second", value)),
        *(lambda: probe.pop(key), lambda: probe.__delitem__(b"second"), lambda: probe.__ior__({key: value})),
        *(probe.popitem, lambda: probe.__setitem__(b"third", value), probe.clear),
    ]
    reads: list[Callable[[], Any]] = [
        *(lambda: probe.get(key), lambda: probe.get(b"none"), lambda: list(probe), lambda: dict(probe)),
        *(lambda: key in probe, lambda: len(probe), lambda: probe == {}),
    ]
    found = all([changes(write) for write in writes]) and not any([changes(read) for read in reads])
    return at if found else 0


def _probes() -> list[np.ndarray[Any, Any]]:
    base = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    fixed = np.zeros((2, 3), np.int16)
    fixed.flags.writeable = False
    return [
        *(base, base[1:, ::2, ::-1], base.T, base.view(np.int8), fixed, fixed[1:]),
        *(np.array(7.5), np.zeros((0, 3), np.uint64), np.frombuffer(b"12345678", np.float64)),
        np.broadcast_to(np.float16(1), (4, 4)),
    ]


def _size_at() -> int:
    """Where a dtype says the size of an element: NumPy 2 has it elsewhere than NumPy 1."""
    head = object.__basicsize__
    dtypes = [np.dtype(t) for t in (np.int8, np.float16, np.float32, np.complex128, "V12", "U5")]
    for at in (head + 24, head + 16):
        if all(_read(ctypes.c_uint32, id(d) + at) == d.itemsize for d in dtypes):
            return at
    return 0


def _is_laid_out(a: np.ndarray[Any, Any], at: int) -> bool:
    """Whether `a` is as NumPy's `PyArrayObject_fields` says (NumPy C API, part of its ABI)."""
    place = id(a) + at
    n = a.ndim
    extents, steps = (_read(ctypes.c_void_p, place + at_) for at_ in (16, 24))
    return (
        _read(ctypes.c_void_p, place) == a.ctypes.data
        and _read(ctypes.c_int, place + 8) == n
        and [_read(ctypes.c_ssize_t, extents + 8 * i) for i in range(n)] == list(a.shape)
        and [_read(ctypes.c_ssize_t, steps + 8 * i) for i in range(n)] == list(a.strides)
        and _read(ctypes.c_void_p, place + 32) == (0 if a.base is None else id(a.base))
        and _read(ctypes.c_void_p, place + 40) == id(a.dtype)
        and bool(_read(ctypes.c_int, place + 48) & 0x400) == a.flags.writeable
    )


# ---- PyTorch's tensors -------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def tensor_layout(tensor: Any) -> tuple[int, int]:
    """Where tensors of class `tensor` keep their signature: (in the object the address of the `TensorImpl`, in that).

    The signature is two words that hold the number of the dtype, device type and ordinal, and the set of dispatch keys,
    among which is that of negation put off. The stub does not interpret them but remembers by them what PyTorch
    answered; all that matters is that tensors that differ in one of those have different words. (0, 0) where that is
    not seen in tensors of all kinds.
    """
    try:
        probes = _tensors(tensor)
        impl_at = [
            at
            for at in range(object.__basicsize__, tensor.__basicsize__, 8)
            if all(_read(ctypes.c_uint64, id(t) + at) == t._cdata for t in probes)
        ]
        found = [at for at in range(64, 192, 8) if _tells_apart(probes, at)]
    except (KeyError, AttributeError, TypeError, RuntimeError, ValueError, NotImplementedError):
        return 0, 0
    return (impl_at[0], found[0]) if len(impl_at) == len(found) == 1 else (0, 0)


def _tensors(tensor: Any) -> list[Any]:
    torch: Any = sys.modules["torch"]
    if type(torch.ones(1)) is not tensor or type(torch.nn.Parameter(torch.ones(1))).__base__ is not tensor:
        raise TypeError(tensor)
    names = ("float32", "float64", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64", "bool")
    dtypes: list[Any] = [
        getattr(torch, name) for name in (*names, "complex64", "float8_e5m2", "float8_e4m3fn")
    ]
    plain: list[Any] = [torch.empty(shape, dtype=dtype) for dtype in dtypes for shape in ((), (3,), (2, 3))]
    base: Any = torch.ones(4, 4)
    lazy: Any = torch.ones(4, dtype=torch.complex64).conj()
    views: list[Any] = [base.t(), base[1:, ::2], base.view(-1), base.detach(), torch.nn.Parameter(base)]
    views += [torch._neg_view(t) for t in (base, base[1], base.double(), base.t())]
    views += [lazy, lazy.imag, lazy.real, base.clone().requires_grad_() * 2, torch.empty(2, device="meta")]
    return plain + views + [torch.empty(2, device="meta", dtype=dtype) for dtype in dtypes[:4]]


def _tells_apart(probes: Sequence[Any], at: int) -> bool:
    """Whether the words at `at` and behind it in the `TensorImpl` of every probe are as `tensor_layout` says."""
    words = [tuple(_read(ctypes.c_uint64, t._cdata + at + more) for more in (0, 8)) for t in probes]
    types = {(first & 0xFFFF, t.dtype) for (first, _), t in zip(words, probes, strict=True)}
    devices = {(first >> 16 & 0xFF, t.device.type) for (first, _), t in zip(words, probes, strict=True)}
    count = len({t.dtype for t in probes})
    if not len(types) == len({number for number, _ in types}) == count:
        return False
    if not len(devices) == len({number for number, _ in devices}) == len({t.device.type for t in probes}):
        return False
    if any(first >> 24 & 0xFFFF != 0x01FF for first, _ in words):  # no ordinal, and a device is known
        return False
    negated = [t.is_neg() for t in probes]
    bits = [b for b in range(64) if [bool(w >> b & 1) for _, w in words] == negated]
    return len(bits) == 1
