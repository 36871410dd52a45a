"""The launch stub in this process: compiled or taken from the disk cache, tested, and made into builtins."""

from __future__ import annotations

import ctypes
import struct
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tritium.runtime.stub import layouts, records, text

Builtin = Callable[..., Any]


class Unavailable(Exception):
    """Why there is no stub in this process, in words."""


class _MethodDef(ctypes.Structure):
    """``PyMethodDef`` of Python's C API."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_FASTCALL_WITH_KEYWORDS = 0x80 | 0x02


@dataclass(frozen=True)
class Stub:
    """The loaded code; it stays for as long as the process."""

    code: Any
    methods: dict[str, _MethodDef]
    layout: text.Layout

    def builtin(self, name: str, address: int, keep: Any) -> Builtin:
        """One of the stub's functions for the record at `address`, which `keep` and what it refers to keep alive."""
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        return make(ctypes.addressof(self.methods[name]), (address, keep), None)


@cache
def _found() -> Stub | Unavailable:
    try:
        stub = _load()
        _try(stub)
    except Unavailable as why:
        return why
    return stub


def stub() -> Stub | None:
    """The stub, None where it does not work; then `why_not` says why."""
    found = _found()
    return found if isinstance(found, Stub) else None


def why_not() -> str:
    """Why there is no stub; "" where there is."""
    found = _found()
    return str(found) if isinstance(found, Unavailable) else ""


def _load() -> Stub:
    if sys.implementation.name != "cpython":
        raise Unavailable(f"it is for CPython, and this is {sys.implementation.name}")
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise Unavailable("it needs the GIL, which this build of Python is without")
    if sys.platform not in ("linux", "darwin") or sys.byteorder != "little":
        raise Unavailable(f"it is for Linux and macOS, and this is {sys.platform}")
    try:
        from tritium.backends.cpu import jit
        from tritium.backends.cpu.launch import STREAM_BYTES
        from tritium.backends.cpu.threads import WORTH_SHARING
        from tritium.runtime.disk_cache import keep
    except ImportError as missing:
        raise Unavailable(f"llvmlite is not installed: {missing}") from None
    try:
        layout = layouts.layout(STREAM_BYTES, WORTH_SHARING)
    except ValueError as unknown:
        raise Unavailable(str(unknown)) from None
    try:
        symbols = {name: _address(getattr(ctypes.pythonapi, name)) for name in text.API}
        symbols |= {name: id(value) for name, value in text.OBJECTS.items()}
        code = jit.object_code(text.module(layout), keep).code
        loaded = jit.Loaded(code, text.EXPORTED, symbols)
    except (AttributeError, RuntimeError, OSError) as broken:
        raise Unavailable(f"it cannot be loaded: {broken}") from None
    methods = {
        name: _MethodDef(name.encode(), loaded.addresses[name], _FASTCALL_WITH_KEYWORDS, None)
        for name in text.EXPORTED
    }
    made = Stub(loaded, methods, layout)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))  # builtins may be called until the process ends
    return made


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


# ---- the test -----------------------------------------------------------------------------------------------


def _try(stub: Stub) -> None:
    """Have the stub describe a call and call the slow way, and compare. Unavailable if anything is not as it must be."""
    from tritium.runtime.stub.table import Calls

    seen: list[Any] = []
    calls = Calls(stub, ("x", "n", "s"), lambda *args, **kwargs: seen.append((args, kwargs)) or "slow")
    if stub.layout.array_at:
        calls.set(array=np.ndarray)
    free = dict(kind=records.FREE, aligns=1, one=1, low=-(2**63), high=2**63 - 1)
    for _ in range(3):
        calls.add_rule(**free)
    x = np.zeros(8, np.float32)[1:]
    calls.add_shape(2, ("s",), {})
    if calls.launch((1,), x, 48, s=None) != "slow" or seen != [(((1,), x, 48), {"s": None})]:
        raise Unavailable("it does not hand calls over")
    array = (records.ARRAY + records.WRITABLE + (not x.ctypes.data % 16), id(x.dtype))
    if not stub.layout.array_at:
        if calls.describe((1,), x, 48, s=None) is not None:
            raise Unavailable("it takes arrays that it does not know")
        return
    found = calls.describe((1,), x, 48, s=None)
    expected = (0, records.ON_HOST, 1, 3, *array, records.INT + records.ALIGNED, 0, records.NONE, 0)
    signed = struct.unpack(f"<{len(found) // 8}q", found)[1:] if found else ()
    if signed != expected:
        raise Unavailable(f"it describes a call as {signed}, and it is {expected}")
