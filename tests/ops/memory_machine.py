"""A machine with memory: named arrays at addresses, every access checked, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ops.emulate import Kernel, Machine
from tritium.ir.types import PointerType, int1, pointer
from tritium.ops.base import BATCH_AXES
from tritium.ops.handles import Tensor
from tritium.ops.storage import storage_dtype


class OutOfBounds(Exception):
    pass


class MemoryMachine(Machine):
    """Arrays live at multiples of 2**20; int1 is a byte. Lanes apply in order."""

    def __init__(self) -> None:
        super().__init__()
        self.arrays: list[np.ndarray] = []

    def add(self, array: np.ndarray) -> int:
        self.arrays.append(np.array(array, order="C"))
        return len(self.arrays) << 20

    def _cell(self, address: int, size: int) -> tuple[np.ndarray, int]:
        which, offset = address >> 20, address & 0xFFFFF
        if not 1 <= which <= len(self.arrays):
            raise OutOfBounds(hex(address))
        data = self.arrays[which - 1].reshape(-1).view(np.uint8)
        if offset + size > data.size:
            raise OutOfBounds(hex(address))
        return data, offset

    def read(self, address: int, size: int) -> bytes:
        data, offset = self._cell(address, size)
        return data[offset : offset + size].tobytes()

    def write(self, address: int, content: bytes) -> None:
        data, offset = self._cell(address, len(content))
        data[offset : offset + len(content)] = np.frombuffer(content, np.uint8)

    def _lanes(self, op: Any, *arrays: Any) -> tuple[tuple[int, ...], list[Any]]:
        dims = op.operands[0].type.shape
        shape = np.broadcast_shapes((1,) * BATCH_AXES + dims, *(a.shape for a in arrays if a is not None))
        return shape, [None if a is None else np.broadcast_to(a, shape).reshape(-1) for a in arrays]

    def load(self, op: Any, ptr: Any, mask: Any, other: Any) -> Any:
        element = op.operands[0].type.scalar.element_ty
        shape, (at, live, instead) = self._lanes(op, ptr, mask, other)
        out = np.zeros(at.size, storage_dtype(element))
        if instead is not None:
            out[...] = instead
        for i in range(at.size):
            if live is None or live[i]:
                content = self.read(int(at[i]), element.itemsize)
                out[i] = content != b"\0" if element is int1 else np.frombuffer(content, out.dtype)[0]
        return out.reshape(shape)

    def store(self, op: Any, ptr: Any, value: Any, mask: Any) -> None:
        _, (at, what, live) = self._lanes(op, ptr, value, mask)
        for i in range(at.size):
            if live is None or live[i]:
                self.write(int(at[i]), what[i : i + 1].tobytes())

    def atomic_rmw(self, op: Any, kind: str, ptr: Any, value: Any, mask: Any) -> Any:
        shape, (at, what, live) = self._lanes(op, ptr, value, mask)
        old = np.zeros(at.size, value.dtype)
        for i in range(at.size):
            if live is None or live[i]:
                old[i] = np.frombuffer(self.read(int(at[i]), value.dtype.itemsize), value.dtype)[0]
                self.write(int(at[i]), combine(kind, old[i : i + 1], what[i : i + 1]).tobytes())
        return old.reshape(shape)

    def atomic_cas(self, op: Any, ptr: Any, compare: Any, value: Any) -> Any:
        shape, (at, wanted, what) = self._lanes(op, ptr, compare, value)
        old = np.zeros(at.size, value.dtype)
        for i in range(at.size):
            content = self.read(int(at[i]), value.dtype.itemsize)
            old[i] = np.frombuffer(content, value.dtype)[0]
            if content == wanted[i : i + 1].tobytes():
                self.write(int(at[i]), what[i : i + 1].tobytes())
        return old.reshape(shape)


def combine(kind: str, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """What memory holds after `kind`, for one element."""
    signed, unsigned = old.dtype.str.replace("u", "i"), f"u{old.dtype.itemsize}"
    if kind == "xchg":
        return new
    if kind in ("add", "fadd"):
        return (old + new).astype(old.dtype)
    if kind in ("max", "min", "umax", "umin"):
        view = unsigned if kind[0] == "u" else signed
        pick = max if kind.endswith("max") else min
        return np.array([pick(old.view(view)[0], new.view(view)[0])], view).view(old.dtype)
    if kind in ("fmax", "fmin"):
        order = lambda x: _order(int(x.view(unsigned)[0]), 8 * x.dtype.itemsize)
        return (max if kind == "fmax" else min)((old, new), key=order)
    fn = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[kind]
    return fn(old, new)


def _order(pattern: int, bits: int) -> int:
    """Where a float's pattern stands among all patterns."""
    half = 1 << (bits - 1)
    return pattern if pattern < half else half - pattern - 1


class MemoryKernel(Kernel):
    """A kernel whose arrays are arguments: ``p = k.array_arg(np.arange(8.0), "fp32")``."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.machine = MemoryMachine()

    def array_arg(self, array: np.ndarray, element: Any, const: bool = False) -> Tensor:
        """A pointer argument to a copy of `array`, which `memory` reads back."""
        address = self.machine.add(array)
        made = self.raw(np.array(address), pointer(element, const), ())
        made.value.name = f"p{len(self.machine.arrays)}"
        return made

    def memory(self, index: int = 0) -> np.ndarray:
        return self.machine.arrays[index]

    def offsets(self, *extents: int) -> list[Tensor]:
        """An int32 index tile for each axis, of extent 1 along the others."""
        out: list[Tensor] = []
        for axis, extent in enumerate(extents):
            t = self.tl("arange", 0, extent)
            for other in range(len(extents)):
                if other != axis:
                    t = self.tl("expand_dims", t, other)
            out.append(t)
        return out

    def add(self, *terms: Any) -> Tensor:
        total = terms[0]
        for t in terms[1:]:
            total = self.operator("+", total, t)
        return total

    def mul(self, x: Any, y: Any) -> Tensor:
        return self.operator("*", x, y)

    def lt(self, x: Any, y: Any) -> Tensor:
        return self.operator("<", x, y)


def element_of(p: Tensor) -> Any:
    assert isinstance(p.dtype, PointerType)
    return p.dtype.element_ty


def flat(rows: Sequence[Sequence[Any]]) -> list[Any]:
    return [v for row in rows for v in row]
