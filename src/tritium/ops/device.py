"""``tl.extra.cuda``: what a kernel may ask of the NVIDIA GPU it runs on, and what that means elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.types import Type, int32, int64
from tritium.ops.base import BATCH_AXES, Array, Effect, TileOp, TypeRuleError, attr
from tritium.ops.cast import Cast
from tritium.ops.emit import CudaEmitter
from tritium.ops.handles import Tensor, constexpr, unwrap
from tritium.ops.machine import Machine
from tritium.ops.semantic import Semantic, describe
from tritium.ops.surface import surface

_REGISTERS = {"globaltimer": int64, "smid": int32}
_WARP_SIZE = 32


class DeviceRegister(TileOp, name="tile.device_register"):
    """The special `register` of the device at this moment: "globaltimer" (nanoseconds) or "smid" (the multiprocessor).

    Away from a GPU the timer is the clock of the process and the multiprocessor is number 0.

    >>> tl.extra.cuda.smid()
    0
    """

    register = attr()
    effect = Effect.IO | Effect.VOLATILE
    speculatable = False

    def infer(self) -> Sequence[Type]:
        if self.register not in _REGISTERS:
            raise TypeRuleError(f"{self.name} reads {' or '.join(_REGISTERS)}, not {self.register!r}")
        return (_REGISTERS[self.register],)

    def execute(self, m: Machine, *args: Array | None) -> Any:
        value = time.perf_counter_ns() if self.register == "globaltimer" else 0
        return np.full((1,) * BATCH_AXES, value, np.int64 if self.register == "globaltimer" else np.int32)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.device_register(self)

    @surface("globaltimer", module="cuda")
    @staticmethod
    def globaltimer(s: Semantic) -> Tensor:
        """A clock in nanoseconds, int64; only differences mean something.

        >>> tl.extra.cuda.globaltimer() > 0
        True
        """
        return s.emit(DeviceRegister, register="globaltimer")

    @surface("smid", module="cuda")
    @staticmethod
    def smid(s: Semantic) -> Tensor:
        return s.emit(DeviceRegister, register="smid")


class GridDependency(TileOp, name="tile.grid_dependency"):
    """Orders this launch and its neighbours in the stream, where they may overlap (programmatic dependent launch).

    `action` "wait" waits until the launches before have written everything; "launch" lets the next one start early.
    Launches that never overlap, as away from a GPU, need neither.

    >>> tl.extra.cuda.gdc_wait()
    """

    action = attr()
    effect = Effect.BARRIER
    speculatable = False

    def infer(self) -> Sequence[Type]:
        if self.action not in ("wait", "launch"):
            raise TypeRuleError(f'the action of {self.name} is "wait" or "launch", not {self.action!r}')
        return ()

    def execute(self, m: Machine, *args: Array | None) -> Any:
        m.barrier(self)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.grid_dependency(self)

    @surface("gdc_wait", module="cuda")
    @staticmethod
    def wait(s: Semantic) -> None:
        s.emit(GridDependency, action="wait")

    @surface("gdc_launch_dependents", module="cuda")
    @staticmethod
    def launch_dependents(s: Semantic) -> None:
        """Let the next launch start before this one is done.

        >>> tl.extra.cuda.gdc_launch_dependents()
        """
        s.emit(GridDependency, action="launch")


@surface("num_warps", module="cuda")
def num_warps(s: Semantic) -> constexpr:
    """The warps per program instance that the kernel is launched with, known at compile time.

    >>> tl.extra.cuda.num_warps()
    4
    """
    return constexpr(int(s.options.get("num_warps", 4)))


@surface("num_threads", module="cuda")
def num_threads(s: Semantic) -> constexpr:
    """The threads per program instance that the kernel is launched with, known at compile time.

    >>> tl.extra.cuda.num_threads()
    128
    """
    return constexpr(_WARP_SIZE * num_warps(s).value)


def _convert_fp8e4b15(s: Semantic, arg: Any, dst_ty: Any, fp_downcast_rounding: Any) -> Tensor:
    value, to = s.to_tensor(arg), s.dtype_of(dst_ty, "the target of the conversion")
    if "fp8e4b15" not in (value.dtype.name, to.name):  # type: ignore[union-attr]
        s.fail("TRI0412", got=describe(value), target=to, hint="one of the two types has to be fp8e4b15")
    if unwrap(fp_downcast_rounding) is not None and not to.is_fp8e4b15():
        s.fail("TRI0617", got=value.dtype, target=to)
    return Cast.build(s, value, to)


@surface("convert_custom_float8_sm80", module="cuda")
def convert_custom_float8_sm80(
    s: Semantic, arg: Any, dst_ty: Any, fp_downcast_rounding: Any = None
) -> Tensor:
    """`arg` converted from or to fp8e4b15, the 8-bit float that NVIDIA GPUs convert in software; the same as tl.cast.

    >>> tl.extra.cuda.convert_custom_float8_sm80(tl.full((2,), 0.3, tl.float16), tl.float8e4b15)
    [0.3125, 0.3125]
    """
    return _convert_fp8e4b15(s, arg, dst_ty, fp_downcast_rounding)


@surface("convert_custom_float8_sm70", module="cuda")
def convert_custom_float8_sm70(
    s: Semantic, arg: Any, dst_ty: Any, fp_downcast_rounding: Any = None
) -> Tensor:
    """The same as convert_custom_float8_sm80, under its name for older GPUs.

    >>> tl.extra.cuda.convert_custom_float8_sm70(tl.full((2,), 0.3, tl.float16), tl.float8e4b15)
    [0.3125, 0.3125]
    """
    return _convert_fp8e4b15(s, arg, dst_ty, fp_downcast_rounding)
