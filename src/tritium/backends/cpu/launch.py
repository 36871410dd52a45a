"""Running a compiled kernel on the host's cores."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tritium.backends.cpu import jit, threads
from tritium.backends.cpu.kept import lower_or_find
from tritium.backends.cpu.lower import ABORTED, FAULT_SLOT, LANE_SHIFT, PROGRAM_SHIFT
from tritium.backends.cpu.module import NATIVE, Module
from tritium.backends.cpu.pool import JOB_WORDS
from tritium.errors import TritiumError, make_error
from tritium.ir.core import Function
from tritium.ir.match import Record, Reject
from tritium.ir.types import DType, PointerType

STREAM_BYTES = 24 << 20
"""Arguments of more bytes than this are taken not to stay in the caches; stores then go past them."""


class Launches:
    """How many launches ran natively and how many had to run on the interpreter, for tests and benchmarks."""

    KINDS = ("native", "interpreted")

    def __init__(self) -> None:
        self.words = (ctypes.c_int64 * len(self.KINDS))()  # the launch stub counts in memory

    def __getitem__(self, kind: str) -> int:
        return self.words[self.KINDS.index(kind)]

    def count(self, kind: str) -> None:
        """One more."""
        self.words[self.KINDS.index(kind)] += 1

    def copy(self) -> dict[str, int]:
        """The numbers now."""
        return dict(zip(self.KINDS, self.words, strict=True))


LAUNCHES = Launches()


class Native:
    """Machine code of one module, ready to be launched."""

    def __init__(self, module: Module, function: Function, code: bytes) -> None:
        self.module = module
        self.loaded = jit.Loaded(code)
        self.shared = threads.Shared(self.loaded.addresses["chunk"], module.scratch)
        self.types: list[Any] = [a.type for a in function.args]
        self.pack = packer(function)

    def launch(self, grid: tuple[int, int, int], leaves: Sequence[Any]) -> None:
        """Execute the whole grid on all cores. Raises the error of a fault that the code reports."""
        self.launch_block(self.pack(*grid, leaves), grid)

    def launch_block(self, block: bytes, grid: tuple[int, int, int]) -> None:
        """The same on an argument block, as `packer` makes it."""
        x, y, z = grid
        job = self.shared.launch(block, x * y * z)
        if self.module.faults or self.module.waits:
            (fault,) = struct.unpack_from("=q", job, 8 * (JOB_WORDS + FAULT_SLOT))
            if fault == ABORTED:
                raise Stuck
            if fault:
                raise _error(self.module, fault, grid)


def _error(module: Module, word: int, grid: tuple[int, int, int]) -> TritiumError:
    """The error that a fault word stands for."""
    fault = module.faults[(word & ((1 << LANE_SHIFT) - 1)) - 1]
    if fault.code != "TRI0802":
        return make_error(fault.code, fault.loc)
    linear = word >> PROGRAM_SHIFT
    program = (linear % grid[0], linear // grid[0] % grid[1], linear // (grid[0] * grid[1]))
    flat = word >> LANE_SHIFT & ((1 << PROGRAM_SHIFT - LANE_SHIFT) - 1)
    lane = [int(i) for i in np.unravel_index(flat, fault.shape)] if fault.shape else []
    got = f"program {program}" + (f", element {lane} of the tile" if lane else "")
    return make_error(fault.code, fault.loc, text=fault.text, got=got, program=program, lane=lane)


class Stuck(Exception):
    """An instance waits for one that has not started: memory is to be restored, the interpreter takes over."""


class Snapshot:
    """The bytes of all arrays of a launch, to go back to."""

    def __init__(self, leaves: Sequence[Any]) -> None:
        self.kept: dict[int, tuple[Any, Any]] = {}
        for a in leaves:
            if hasattr(a, "storage_nbytes") and a.storage_nbytes and a.writable:
                memory = (ctypes.c_uint8 * a.storage_nbytes).from_address(a.storage_address)
                view = np.frombuffer(memory, np.uint8)
                self.kept[a.storage_address] = view, view.copy()

    def restore(self) -> None:
        for view, before in self.kept.values():
            view[:] = before


def execute(kernel: Any, grid: tuple[int, int, int], leaves: Sequence[Any]) -> bool:
    """Run the grid; False if the kernel has no native form, and then nothing was done."""
    native = kernel.prepared.get(variant_of(leaves))
    if native is None:
        module: Module = kernel.compilation.artefacts["ll"]
        if module.reject is not None:
            LAUNCHES.count("interpreted")
            return False
        native = _prepare(kernel, module, variant_of(leaves))
    if native.module.waits:
        return _launch_waiting(kernel, native, grid, leaves)
    LAUNCHES.count("native")
    native.launch(grid, leaves)
    return True


def _launch_waiting(kernel: Any, native: Native, grid: tuple[int, int, int], leaves: Sequence[Any]) -> bool:
    """Try a kernel whose instances may wait for each other; False, with memory as it was, if they wait for ever."""
    if kernel.prepared.get(Stuck):
        LAUNCHES.count("interpreted")
        return False
    before = Snapshot(leaves)
    try:
        native.launch(grid, leaves)
    except Stuck:
        before.restore()
        kernel.prepared[Stuck] = True
        loc = next(iter(native.module.loops), None)
        kernel.compilation.record.reject(NATIVE, Reject("instances wait for others that start later", loc))
        LAUNCHES.count("interpreted")
        return False
    LAUNCHES.count("native")
    return True


def _prepare(kernel: Any, module: Module, variant: tuple[bool, bool]) -> Native:
    artefacts = kernel.compilation.artefacts
    function, code = artefacts["cpu.tir"], artefacts["o"]
    if variant != (True, False):
        module = lower_or_find(function, Record(), kernel.compilation.keep, *variant)
        code = jit.object_code(module.text, kernel.compilation.keep)
    made: Native = kernel.prepared.setdefault(variant, Native(module, function, code.code))
    return made


@dataclass(frozen=True, slots=True)
class StubFields:
    """What the launch stub (`tritium.runtime.stub`) needs to run a kernel.

    types    of the kernel's parameters
    numbers  fields of its entry
    kept     fields that are Python objects, and what else has to stay alive
    """

    types: Sequence[Any]
    numbers: Mapping[str, int]
    kept: Mapping[str, Any]


def stub_fields(kernel: Any, variant: tuple[bool, bool]) -> StubFields | None:
    """How the launch stub runs `kernel` on arrays as `variant_of` tells them; None where that takes more than a call.

    ``share(block, x, y, z)`` is called with launches that are worth the worker pool, ``failed(fault, x, y, z)`` with
    the fault that the code reports.
    """
    native: Native | None = kernel.prepared.get(variant)
    if native is None or native.module.waits:
        return None

    def share(block: bytes, x: int, y: int, z: int) -> None:
        native.launch_block(block, (x, y, z))
        LAUNCHES.count("native")

    def failed(fault: int, x: int, y: int, z: int) -> None:
        raise _error(native.module, fault, (x, y, z))

    shared = native.shared
    numbers = {
        "function": shared.address,
        "scratch": shared.scratch,
        "pace": ctypes.addressof(shared.pace),
        "launches": ctypes.addressof(LAUNCHES.words),
    }
    return StubFields(native.types, numbers, {"share": share, "failed": failed, "native": native})


def load(module: Module, function: Function) -> Native:
    """Machine code for `module`, in memory."""
    return Native(module, function, jit.object_code(module.text).code)


def variant_of(leaves: Sequence[Any]) -> tuple[bool, bool]:
    """(no two arrays share memory, the arrays are too large for the caches): what code is specialised on."""
    spans: list[tuple[int, int]] = []
    total = 0
    for a in leaves:
        if hasattr(a, "storage_nbytes"):
            size = a.storage_nbytes
            total += size
            spans.append((a.storage_address, size))
    if len(spans) > 1:
        spans.sort()
        end = 0
        for start, size in spans:
            if start < end:
                return False, total > STREAM_BYTES
            end = start + size
    return True, total > STREAM_BYTES


# ---- arguments ------------------------------------------------------------------------------------------------------


def packer(function: Function) -> Callable[[int, int, int, Sequence[Any]], bytes]:
    """A function that gives the 8-byte slots ``chunk`` reads: the grid, the fault word, one slot for each argument."""
    types: list[Any] = [a.type for a in function.args]
    layout = struct.Struct("=qqqq" + "".join(_code(ty) for ty in types))
    readers = [_reader(ty) for ty in types]
    plain = all(isinstance(ty, PointerType) or (ty.is_int() and not ty.is_bool()) for ty in types)

    def quick(x: int, y: int, z: int, leaves: Sequence[Any]) -> bytes:
        return layout.pack(x, y, z, 0, *[a if a.__class__ is int else a.address for a in leaves])

    def careful(x: int, y: int, z: int, leaves: Sequence[Any]) -> bytes:
        return layout.pack(x, y, z, 0, *[read(a) for a, read in zip(leaves, readers, strict=True)])

    def checked(x: int, y: int, z: int, leaves: Sequence[Any]) -> bytes:
        try:
            return quick(x, y, z, leaves)
        except (struct.error, AttributeError):  # NumPy scalars, negative numbers for unsigned parameters
            return careful(x, y, z, leaves)

    return checked if plain else careful


def _code(ty: Any) -> str:
    if isinstance(ty, PointerType):
        return "Q"
    assert isinstance(ty, DType)
    if ty.is_int():
        return "Q" if ty.is_int_unsigned() or ty.is_bool() else "q"
    return {"f32": "f4x", "f64": "d"}.get(ty.text, "Q")


def _reader(ty: Any) -> Callable[[Any], Any]:
    """What makes the number that `struct` packs of an argument."""
    if isinstance(ty, PointerType):
        return lambda a: (a.address if hasattr(a, "address") else int(a)) & (2**64 - 1)
    if ty.is_bool():
        return lambda a: int(bool(a))
    if ty.is_int_unsigned():
        return lambda a: int(a) & (2**64 - 1)
    if ty.is_int():
        return _signed
    if ty.text in ("f32", "f64"):
        return _floating(ty)
    return _floating_bits(ty)


def _signed(a: Any) -> int:
    value = int(a) & (2**64 - 1)
    return value - (1 << 64) if value >> 63 else value


def _floating(ty: DType) -> Callable[[Any], Any]:
    from tritium.ops.storage import constant

    return lambda a: float(constant(_number(a), ty).reshape(-1)[0])


def _floating_bits(ty: DType) -> Callable[[Any], Any]:
    from tritium.ops.storage import constant

    return lambda a: int.from_bytes(constant(_number(a), ty).tobytes(), "little")


def _number(a: Any) -> Any:
    return a.item() if isinstance(a, np.generic) else a
