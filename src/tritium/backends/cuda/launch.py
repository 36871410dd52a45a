"""Launching a loaded kernel: a Python function generated for it, which packs the parameters and makes one foreign call.

::

    launch(gx, gy, gz, stream, x, y, out, n)        addresses and numbers, in order of the kernel's parameters
        frame = take()                              a buffer: parameters, then the array of their addresses
        pack_into(frame, ..., x, y, out, n)         one call for all of them
        cuLaunchKernel(function, gx, gy, gz, 128, 1, 1, 0, stream, address, 0)
        give(frame)

Frames are kept in a list between launches. Taking one from it and giving it back are atomic, so threads never share a
frame, with or without the GIL. The driver copies the parameters before it returns.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tritium.backends.cuda import driver
from tritium.backends.cuda.module import LoadedKernel
from tritium.backends.cuda.resources import ParameterSlot, out_of_resources
from tritium.errors import TritiumError, make_error
from tritium.ir.types import PointerType, ScalarType
from tritium.ops.storage import constant

Launch = Callable[..., None]
"""``launch(gx, gy, gz, stream, *values)``: addresses for pointers, numbers for the rest."""

GRID_LIMITS = (2**31 - 1, 65535, 65535)
"""Most blocks on each axis of a grid."""

_ALIGNMENT = 64  # what a tensor map in the parameters needs
_INT_CODES = {1: "b", 2: "h", 4: "i", 8: "q"}
_FLOAT_CODES = {"f16": "e", "f32": "f", "f64": "d"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel.

    type    of a pointer or number; None for a block of bytes, such as a tensor map
    nbytes  that it takes among the parameters
    """

    name: str
    type: ScalarType | None
    nbytes: int

    @property
    def code(self) -> str:
        """Its letter in a `struct` format."""
        if self.type is None:
            return f"{self.nbytes}s"
        if isinstance(self.type, PointerType):
            return "Q"
        if self.type.is_floating():
            return _FLOAT_CODES.get(self.type.text) or _INT_CODES[self.nbytes].upper()
        if self.type.is_int1():
            return "?" if self.nbytes == 1 else _INT_CODES[self.nbytes]
        code = _INT_CODES[self.nbytes]
        return code if self.type.kind == "int" else code.upper()

    @property
    def needs_bits(self) -> bool:
        """Whether `struct` has no letter for its type, so that it is packed as the integer with its bits."""
        t = self.type
        return (
            t is not None
            and not isinstance(t, PointerType)
            and t.is_floating()
            and t.text not in _FLOAT_CODES
        )

    def bits(self, value: Any) -> int:
        """The bits of `value` in this parameter's type, as an integer."""
        return int.from_bytes(self.encode(value), "little")

    def encode(self, value: Any) -> bytes:
        """`value` as the bytes of this parameter: rounded as the type does it, integers modulo its range."""
        if self.type is None:
            return bytes(value)
        if isinstance(self.type, PointerType):
            return int(value).to_bytes(8, "little")
        value = value.item() if isinstance(value, np.generic) else value
        if self.type.is_floating():
            return constant(value, self.type).tobytes()
        wrapped = int(value) & ((1 << 8 * self.nbytes) - 1)
        return (int(bool(value)) if self.type.is_int1() else wrapped).to_bytes(self.nbytes, "little")


def parameters_of(
    names: Sequence[str], types: Sequence[ScalarType | None], slots: Sequence[ParameterSlot]
) -> tuple[Parameter, ...]:
    """The parameters of a kernel whose machine code has them at `slots`.

    The sizes in the machine code are the truth. A difference from what the types take would shift every parameter
    behind it, so it is an error of the generator, reported as ValueError.
    """
    if len(types) != len(slots):
        raise ValueError(f"the machine code has {len(slots)} parameters, its source was to have {len(types)}")
    found: list[Parameter] = []
    for name, ty, slot in zip(names, types, slots, strict=True):
        least = 8 if isinstance(ty, PointerType) else ty.itemsize if ty is not None else slot.nbytes
        fits = slot.nbytes == least or (
            slot.nbytes in _INT_CODES and ty is not None and not ty.is_ptr() and least == 1
        )
        if not fits:
            raise ValueError(f"parameter {name} takes {slot.nbytes} bytes, and its type {ty} has {least}")
        found.append(Parameter(name, ty, slot.nbytes))
    return tuple(found)


Frame = tuple[bytearray, int, int, Any]
"""``(buffer, start, address, config)``, see `Frames`."""


class Frames:
    """The frames of one kernel on one GPU: buffers that hold its parameters while a launch is being made.

    A frame is ``(buffer, start, address, config)``: parameters are packed at `start`, `address` is that of the array
    of their addresses, and `config` belongs to launches with attributes.
    """

    def __init__(self, parameters: Sequence[Parameter], make_config: Callable[[], Any] | None = None) -> None:
        self.parameters = tuple(parameters)
        self.offsets: list[int] = []
        self.make_config = make_config
        form, at = "<", 0
        for p in self.parameters:
            align = _ALIGNMENT if p.type is None else 8
            pad = -at % align
            form += f"{pad}x{p.code}" if pad else p.code
            self.offsets.append(at + pad)
            at += pad + p.nbytes
        self.pointers_at = at + -at % 8
        self.struct = struct.Struct(form)
        self.free: list[Frame] = []

    def fresh(self) -> Frame:
        """A new frame."""
        size = self.pointers_at + 8 * len(self.parameters)
        buffer = bytearray(size + _ALIGNMENT)
        address = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
        start = -address % _ALIGNMENT
        base = address + start
        pointers = [base + offset for offset in self.offsets]
        struct.pack_into(f"<{len(pointers)}Q", buffer, start + self.pointers_at, *pointers)
        return buffer, start, base + self.pointers_at, self.make_config() if self.make_config else None

    def pack_exactly(self, buffer: bytearray, start: int, values: Sequence[Any]) -> None:
        """Pack values that `struct` refuses: floats beyond the range of the type, integers beyond it, NumPy numbers."""
        for p, offset, value in zip(self.parameters, self.offsets, values, strict=True):
            raw = value.to_bytes(p.nbytes, "little") if p.needs_bits else p.encode(value)
            buffer[start + offset : start + offset + p.nbytes] = raw


_PLAIN = """\
def launch({head}):
    try:
        frame__ = take__()
    except EMPTY__:
        frame__ = fresh__()
    buffer__, start__, address__, _ = frame__
    stream__ = {stream}
    try:
        pack_into__(buffer__, start__{values})
    except PACKING__:
        pack_exactly__(buffer__, start__, ({each}))
    result__ = call__(function__, {grid}, {threads}, 1, 1, {shared}, stream__, address__, 0)
    if result__[0]:
        again__(result__[0], ({grid}), stream__, frame__)
    give__(frame__)
"""

_WITH_ATTRIBUTES = """\
def launch({head}):
    try:
        frame__ = take__()
    except EMPTY__:
        frame__ = fresh__()
    buffer__, start__, address__, config__ = frame__
    stream__ = {stream}
    try:
        pack_into__(buffer__, start__{values})
    except PACKING__:
        pack_exactly__(buffer__, start__, ({each}))
    config__.gridDimX = {gx}
    config__.gridDimY = {gy}
    config__.gridDimZ = {gz}
    config__.hStream = stream__
    result__ = call__(config__, function__, address__, 0)
    if result__[0]:
        again__(result__[0], ({grid}), stream__, frame__)
    give__(frame__)
"""


def make_launch(
    loaded: LoadedKernel, parameters: Sequence[Parameter], taken: Sequence[bool] | None = None
) -> Launch:
    """The launch function of `loaded`. It checks nothing; LaunchError TRI0739 when the driver reports an error.

    taken  for each value that the function is to accept, whether it is the next parameter or to be ignored;
           by default it accepts the parameters
    """
    taken = [True] * len(parameters) if taken is None else taken
    accepted = [f"p{i}" for i in range(len(taken))]
    names = [name for name, used in zip(accepted, taken, strict=True) if used]
    head = ["gx", "gy", "gz", "stream", *accepted]
    return _generate(loaded, parameters, head, names, ("gx", "gy", "gz"), "stream", {})


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a bound launch: of which the parameters `first` and the following `len(parts)` are made.

    name   under which a call may replace it; "" for one that it cannot
    parts  an expression for each parameter, in terms of `name` or of what `known` says
    known  values that expressions refer to, by names that end in ``__``
    value  the argument as it was bound
    """

    name: str
    parts: tuple[str, ...]
    value: Any
    known: Mapping[str, Any]


def make_bound(
    loaded: LoadedKernel,
    parameters: Sequence[Parameter],
    arguments: Sequence[Argument],
    grid: tuple[int, int, int],
    stream_of: Callable[[int], int],
) -> Callable[..., None]:
    """A function that launches on `grid`, in the current stream, and checks nothing.

    Its parameters are the arguments by name; those that a call leaves out are as they were bound.
    """
    known: dict[str, Any] = {"stream_of__": stream_of}
    head: list[str] = []
    for i, argument in enumerate(arguments):
        known.update(argument.known)
        if argument.name:
            head.append(f"{argument.name}=bound{i}__")
            known[f"bound{i}__"] = argument.value
    values = [part for argument in arguments for part in argument.parts]
    x, y, z = map(str, grid)
    stream = f"stream_of__({loaded.device.ordinal})"
    bound: Callable[..., None] = _generate(loaded, parameters, head, values, (x, y, z), stream, known)
    return bound


def _generate(
    loaded: LoadedKernel,
    parameters: Sequence[Parameter],
    head: Sequence[str],
    values: Sequence[str],
    grid: tuple[str, str, str],
    stream: str,
    known: Mapping[str, Any],
) -> Any:
    """A function with the parameters `head` that launches with these expressions as values, grid and stream.

    known  what the expressions refer to besides the parameters
    """
    api, shape = driver.api(), loaded.shape
    frames = Frames(parameters, None if shape.is_plain else lambda: config_of(loaded))
    call = api.cuLaunchKernel if shape.is_plain else api.cuLaunchKernelEx

    def again(code: int, grid: tuple[int, int, int], stream: int, frame: Frame) -> None:
        def retry() -> int:
            if shape.is_plain:
                result = call(
                    *(loaded.function, *grid, shape.threads, 1, 1, shape.shared, stream, frame[2], 0)
                )
            else:
                result = call(frame[3], loaded.function, frame[2], 0)
            return int(result[0])

        launch_elsewhere(loaded, code, grid, retry)

    packed = [
        f"bits{i}__({value})" if p.needs_bits else value
        for i, (value, p) in enumerate(zip(values, parameters, strict=True))
    ]
    text = (_PLAIN if shape.is_plain else _WITH_ATTRIBUTES).format(
        head=", ".join(head),
        values="".join(f", {p}" for p in packed),
        each="".join(f"{p}, " for p in packed),
        grid=", ".join(grid),
        gx=grid[0],
        gy=grid[1],
        gz=grid[2],
        stream=stream,
        threads=shape.threads,
        shared=shape.shared,
    )
    scope: dict[str, Any] = {
        "__name__": __name__,
        "take__": frames.free.pop,
        "give__": frames.free.append,
        "fresh__": frames.fresh,
        "pack_into__": frames.struct.pack_into,
        "pack_exactly__": frames.pack_exactly,
        "PACKING__": (struct.error, OverflowError, TypeError),
        "EMPTY__": IndexError,
        "function__": loaded.function,
        "call__": call,
        "again__": again,
        **{f"bits{i}__": p.bits for i, p in enumerate(parameters) if p.needs_bits},
        **known,
    }
    # under our own file, so that errors point past it to the program
    exec(compile(text, f"{__file__}:{loaded.binary.kernel}", "exec"), scope)
    return scope["launch"]


def config_of(loaded: LoadedKernel) -> Any:
    """A launch configuration with the attributes of the kernel; grid and stream are set for each launch."""
    api, shape = driver.api(), loaded.shape
    config = api.CUlaunchConfig()
    config.blockDimX, config.blockDimY, config.blockDimZ = shape.threads, 1, 1
    config.sharedMemBytes = shape.shared
    attributes: list[Any] = []

    def add(name: str) -> Any:
        attribute = api.CUlaunchAttribute()
        attribute.id = getattr(api.CUlaunchAttributeID, f"CU_LAUNCH_ATTRIBUTE_{name}")
        attributes.append(attribute)
        return attribute.value

    if shape.cluster != (1, 1, 1):
        cluster = add("CLUSTER_DIMENSION").clusterDim
        cluster.x, cluster.y, cluster.z = shape.cluster
    if shape.cooperative:
        add("COOPERATIVE").cooperative = 1
    if shape.programmatic:
        add("PROGRAMMATIC_STREAM_SERIALIZATION").programmaticStreamSerializationAllowed = 1
    config.attrs = attributes
    config.numAttrs = len(attributes)
    return config


def launch_elsewhere(
    loaded: LoadedKernel, code: int, grid: tuple[int, int, int], retry: Callable[[], int]
) -> None:
    """After a launch failed with `code`: if this thread was on another GPU, or on none, launch on the right one."""
    device, code = loaded.device, int(code)
    if code in (driver.INVALID_CONTEXT, driver.INVALID_HANDLE):
        current = driver.call(loaded.binary.kernel, "cuCtxGetCurrent")
        if int(current) != int(device.context):
            if int(current) == 0 and driver.current_ordinal() == device.ordinal:
                device.make_current()  # a thread that has not used the GPU yet: stays, as PyTorch would do it
                code = retry()
            else:
                with device.current():
                    code = retry()
            if not code:
                return
    raise _failure(loaded, code, grid)


def _failure(loaded: LoadedKernel, code: int, grid: tuple[int, int, int]) -> TritiumError:
    name = loaded.binary.kernel
    for axis, (blocks, limit) in enumerate(zip(grid, GRID_LIMITS, strict=True)):
        if blocks > limit:
            return make_error("TRI0707", value=blocks, axis=axis, limit=limit)
    if code == driver.OUT_OF_RESOURCES:
        required, limit = loaded.registers * loaded.shape.threads, loaded.device.limits.registers
        return out_of_resources(name, "registers per block", required, limit, str(loaded.device))
    return driver.failure(name, code, "cuLaunchKernel" if loaded.shape.is_plain else "cuLaunchKernelEx")
