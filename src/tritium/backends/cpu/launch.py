"""Running a compiled kernel on the host's cores."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tritium.backends.cpu import jit, threads
from tritium.backends.cpu.lower import ARGUMENT_SLOT, FAULT_SLOT
from tritium.backends.cpu.module import Module, lower
from tritium.errors import make_error
from tritium.ir.core import Function
from tritium.ir.types import DType, PointerType

STREAM_BYTES = 24 << 20
"""Arguments of more bytes than this are taken not to stay in the caches; stores then go past them."""

LAUNCHES: Counter[str] = Counter()
"""How many launches ran natively and how many had to run on the interpreter, for tests and benchmarks."""


@dataclass
class Native:
    """Machine code of one module."""

    module: Module
    loaded: jit.Loaded
    seconds: dict[str, float]
    chunk: Any = field(init=False)

    def __post_init__(self) -> None:
        self.chunk = jit.Chunk(self.loaded.address)

    @property
    def scratch(self) -> int:
        return self.module.scratch


def execute(kernel: Any, grid: tuple[int, int, int], arguments: Sequence[Any]) -> bool:
    """Run the grid; False if the kernel has no native form, and then nothing was done."""
    artefacts = kernel.compilation.artefacts
    if artefacts["ll"].reject is not None:
        LAUNCHES["interpreted"] += 1
        return False
    variant = distinct_arrays(arguments), total_bytes(arguments) > STREAM_BYTES
    native: Native | None = kernel.prepared.get(variant)
    if native is None:
        usual = variant == (True, False)
        module = artefacts["ll"] if usual else lower(artefacts["cpu.tir"], None, *variant)
        native = kernel.prepared.setdefault(variant, load(module))
    LAUNCHES["native"] += 1
    run(native, artefacts["cpu.tir"], grid, arguments)
    return True


def load(module: Module) -> Native:
    """Machine code for `module`, in memory."""
    built = jit.build(module.text)
    return Native(module, jit.Loaded(built.code), built.seconds)


def run(native: Native, function: Function, grid: tuple[int, int, int], arguments: Sequence[Any]) -> None:
    """Execute the whole grid on all cores. Raises the error of a fault that the code reports."""
    block = argument_block(function, grid, arguments)
    threads.run(native, block, grid[0] * grid[1] * grid[2])
    fault = int(block[FAULT_SLOT])
    if fault:
        raise make_error("TRI0807", native.module.faults[fault - 1])


def argument_block(function: Function, grid: tuple[int, int, int], arguments: Sequence[Any]) -> Any:
    """The 8-byte slots that ``chunk`` reads, as an int64 array."""
    block = np.zeros(ARGUMENT_SLOT + len(arguments), np.int64)
    block[:3] = grid
    for i, (arg, value) in enumerate(zip(function.args, arguments, strict=True)):
        block[ARGUMENT_SLOT + i] = _slot(arg.type, value)
    return block


def _slot(ty: Any, value: Any) -> int:
    if isinstance(ty, PointerType):
        address = value.address if hasattr(value, "address") else int(value)
        return address - (1 << 64) if address >= 1 << 63 else address
    assert isinstance(ty, DType)
    if ty.is_int():
        return int.from_bytes(struct.pack("<Q", int(value) & (2**64 - 1)), "little", signed=True)
    from tritium.ops.storage import constant

    raw = constant(value.item() if isinstance(value, np.generic) else value, ty).tobytes()
    return int.from_bytes(raw[:8].ljust(8, b"\0"), "little", signed=True)


def total_bytes(arguments: Sequence[Any]) -> int:
    """Bytes of the allocations that the arguments lie in."""
    return sum(a.storage_nbytes for a in arguments if hasattr(a, "storage_nbytes"))


def distinct_arrays(arguments: Sequence[Any]) -> bool:
    """Whether no two array arguments share memory."""
    spans = sorted(
        (a.storage_address, a.storage_address + a.storage_nbytes)
        for a in arguments
        if hasattr(a, "storage_address")
    )
    return all(end <= start for (_, end), (start, _) in zip(spans, spans[1:], strict=False))
