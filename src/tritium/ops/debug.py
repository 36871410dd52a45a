"""What helps to look into a kernel: prints, assertions, breakpoints. Compile-time forms act at once and leave no op."""

from __future__ import annotations

from collections.abc import Sequence
from string import printable
from typing import Any

from tritium.ir.types import DType, Type, int1, like
from tritium.ops.base import Array, Effect, TileOp, TypeRuleError, attr, operand
from tritium.ops.emit import CpuEmitter, CudaEmitter
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.machine import Machine
from tritium.ops.semantic import Semantic, describe
from tritium.ops.surface import OPERATORS, surface


class DevicePrint(TileOp, name="tile.print"):
    """Prints `prefix` and then each of `values`, whole tiles, once per program instance; `hex` prints bits.

    >>> tl.device_print("a", tl.arange(0, 2))
    (0, 0, 0) a: [0 1]
    """

    values = operand(variadic=True)
    prefix = attr()
    hex = attr(False)
    effect = Effect.IO
    speculatable = False

    def infer(self) -> Sequence[Type]:
        return ()

    def execute(self, m: Machine, *args: Array | None) -> Any:
        m.print_values(self, self.prefix, args, hex=self.hex)  # type: ignore[arg-type]

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.print_values(self)

    @surface("device_print")
    @staticmethod
    def build(s: Semantic, prefix: Any, *args: Any, hex: Any = False) -> None:
        """Print `args` after the fixed text `prefix` while the kernel runs; with `hex` as hexadecimal bits.

        Each program instance prints whole values in order. `prefix` is printable ASCII text known at compile time.

        >>> tl.device_print("a", tl.arange(14, 17), hex=True)
        (0, 0, 0) a: [0x0000000e 0x0000000f 0x00000010]
        """
        text = unwrap(prefix)
        if not isinstance(text, str) or not set(text) <= set(printable):
            s.fail("TRI0620", got=describe(prefix))
        values = [s.to_tensor(a, "an argument of tl.device_print") for a in args]
        s.emit(DevicePrint, values, prefix=text, hex=s.const_bool(hex, "hex"))


class DeviceAssert(TileOp, name="tile.assert"):
    """Stops the launch with `message` where `condition` (i1) is false and `mask` (i1, same shape) is not.

    >>> tl.device_assert(tl.arange(0, 2) < 2, "in range")
    """

    condition = operand()
    mask = operand(optional=True)
    message = attr("")
    effect = Effect.IO
    speculatable = False

    def infer(self) -> Sequence[Type]:
        ty = self.condition.type
        if ty.scalar is not int1 or (self.mask is not None and self.mask.type != ty):
            raise TypeRuleError(f"tile.assert needs an i1, and a mask of its shape, got {ty}")
        return ()

    def execute(self, m: Machine, *args: Array | None) -> Any:
        m.check(self, args[0], self.message, args[1] if len(args) > 1 else None)  # type: ignore[arg-type]

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.assertion(self)

    @surface("device_assert")
    @staticmethod
    def build(s: Semantic, cond: Any, msg: Any = "", mask: Any = None) -> None:
        """Stop the launch with the text `msg` if `cond` is false for an element whose `mask` is true.

        Acts only in debug mode (``@triton.jit(debug=True)``, ``TRITON_DEBUG=1``, or ``debug=True`` at the launch).

        >>> tl.device_assert(tl.load(x + tl.arange(0, 8)) < 8, "in range")
        """
        text = unwrap(msg)
        if not isinstance(text, str):
            s.fail("TRI0501", what="the message of tl.device_assert", got=describe(msg))
        condition = truth_value(s, cond, "the condition of tl.device_assert")
        if not s.options.get("debug"):
            return
        if unwrap(mask) is None:
            s.emit(DeviceAssert, condition, message=text)
            return
        condition, chosen = s.broadcast(condition, truth_value(s, mask, "the mask of tl.device_assert"))
        s.emit(DeviceAssert, condition, chosen, message=text)


def truth_value(s: Semantic, x: Any, what: str) -> Tensor:
    """`x` as int1; an integer counts as true where it is not zero."""
    value = s.to_tensor(x, what)
    if not isinstance(value.dtype, DType) or not value.dtype.is_int():
        s.fail("TRI0411", operator=what, got=describe(value))
    return s.cast(value, int1)


class ExpectZero(TileOp, name="tile.expect_zero"):
    """`x`, with the promise that it is zero wherever `mask` is true.

    >>> tl.expect_zero(tl.load(x + tl.arange(0, 2)), tl.arange(0, 2) < 1)
    [0.0, 1.0]
    """

    x = operand()
    mask = operand()

    def infer(self) -> Sequence[Type]:
        if self.mask.type != like(self.x.type, int1):
            raise TypeRuleError(f"the mask of tile.expect_zero is an i1 of the shape of {self.x.type}")
        return (self.x.type,)

    def eval(self, *args: Array) -> Array:
        return args[0]

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        return e.same(self, *x)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.alias(self)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout

    @surface("expect_zero")
    @staticmethod
    def build(s: Semantic, x: Any, mask: Any) -> Tensor:
        """`x`, which is expected to be zero where `mask` is true; debug mode checks it.

        >>> tl.expect_zero(tl.load(x + tl.arange(0, 2)), tl.arange(0, 2) < 1)
        [0.0, 1.0]
        """
        value = s.to_tensor(x)
        chosen = s.broadcast_to(truth_value(s, mask, "the mask of tl.expect_zero"), value.dims)
        if s.options.get("debug"):
            is_zero = OPERATORS["=="](s, value, 0)
            s.emit(DeviceAssert, is_zero, chosen, message="a value that tl.expect_zero names is not zero")
        return s.emit(ExpectZero, value, chosen)


class Breakpoint(TileOp, name="tile.breakpoint"):
    """Stops the interpreter here, with the tiles of the program instance at hand; other backends run on.

    >>> breakpoint()
    """

    effect = Effect.IO
    speculatable = False

    def infer(self) -> Sequence[Type]:
        return ()

    def execute(self, m: Machine, *args: Array | None) -> Any:
        m.breakpoint(self)

    @surface("breakpoint", module="builtin")
    @staticmethod
    def build(s: Semantic) -> None:
        s.emit(Breakpoint)


class Barrier(TileOp, name="tile.barrier"):
    """Every thread of the program instance waits here, and memory operations do not cross.

    >>> tl.store(x, 9.0)
    >>> tl.debug_barrier()
    >>> tl.load(x)
    9.0
    """

    effect = Effect.BARRIER
    speculatable = False

    def infer(self) -> Sequence[Type]:
        return ()

    def execute(self, m: Machine, *args: Array | None) -> Any:
        m.barrier(self)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.barrier(self)

    @surface("debug_barrier")
    @staticmethod
    def build(s: Semantic) -> None:
        """Make the threads of the program instance wait for each other. Values never need it.

        >>> tl.debug_barrier()
        """
        s.emit(Barrier)


# ---- compile time -----------------------------------------------------------------------------------------------


@surface("static_assert")
def static_assert(s: Semantic, cond: Any, msg: Any = "") -> None:
    """Stop the compilation with the text `msg` if `cond`, known at compile time, is false.

    While tuning, a configuration that fails so is left out.

    >>> tl.static_assert(tl.arange(0, 8).numel == 8, "eight lanes")
    """
    value = unwrap(cond)
    if not isinstance(value, bool):
        s.fail("TRI0503", got=describe(cond))
    if not value:
        text = unwrap(msg)
        s.fail("TRI0502", text=text if text else "the condition is false")


@surface("static_print")
def static_print(
    s: Semantic, *values: Any, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False
) -> None:
    """Print `values` when the kernel is compiled, as Python's print does; a run-time value shows its type.

    >>> tl.static_print("lanes", tl.arange(0, 8).shape[0], tl.float16)
    lanes 8 fp16
    """
    shown = [_bare(v) for v in values]
    print(*shown, sep=unwrap(sep), end=unwrap(end), file=unwrap(file), flush=bool(unwrap(flush)))


def _bare(x: Any) -> Any:
    """A handle as the Python value it stands for, items of tuples too."""
    value = unwrap(x)
    return tuple(_bare(v) for v in value) if type(value) is tuple else value
