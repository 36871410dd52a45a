"""Lowering of dots that run on tensor cores: their buffers in shared memory, and the fragments and instructions.

Rows of a buffer hold neighbours as global memory has them, so that copies move vectors. Bank conflicts are avoided by an
XOR of the 16-byte chunks of a row with the row's number where rows are a power of two long, else by padding; both leave
the eight rows that an `ldmatrix` reads together in different banks, as do 32 bytes of padding for 4-byte elements read
one by one (`tests/layout/test_mma_buffers.py` counts).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tritium.ir.builder import Builder
from tritium.ir.core import Value
from tritium.ir.types import DType, SharedType, float16, float32
from tritium.ops.cast import Cast
from tritium.ops.dot import Dot
from tritium.ops.gpu_layout import RegisterLayout, layout_of
from tritium.ops.gpu_mma import STEP_BYTES, LoadFragments, Mma, SliceFragments
from tritium.ops.gpu_shared import SharedAlloc
from tritium.passes.specialize.tensor_cores import MmaPlan

CHUNK = 16
"""Bytes that one lane addresses in `ldmatrix`, and that one `cp.async` moves."""


def operand_buffer(op: Dot, plan: MmaPlan, side: str, stages: int) -> SharedAlloc:
    """The buffer of operand `side` of `op`."""
    value = op.a if side == "a" else op.b
    element = value.type.scalar
    assert isinstance(element, DType)
    rows, columns = plan.warps.covered
    depth = plan.shape[2]
    shape = (rows, depth) if side == "a" else (depth, columns)
    along = 1 if side == "a" else 0
    contiguous = _contiguous(layout_of(value), along)
    order = (contiguous, 1 - contiguous)
    padding, swizzle = arrange(shape[contiguous] * element.itemsize, element.itemsize, contiguous == along)
    return SharedAlloc(label=f"shared_{value.name or side}", element=element, shape=shape, order=order,
                       padding=padding // element.itemsize, stages=stages, swizzle=swizzle)  # fmt: skip


def _contiguous(layout: RegisterLayout | None, default: int) -> int:
    """The axis along which a thread's registers, else neighbouring threads, hold neighbours."""
    if layout is None:
        return default
    runs = [a.vector for a in layout.axes]
    if max(runs) > 1:
        return default if runs[default] == max(runs) else runs.index(max(runs))
    for axis, each in enumerate(layout.axes):
        if each.digits and each.digits[0].stride == 1:
            return axis
    return default


def arrange(pitch: int, size: int, reduction: bool) -> tuple[int, tuple[int, ...]]:
    """(bytes of padding, swizzle) for rows of `pitch` bytes that run along the reduction or across it."""
    if size == 4 and not reduction:
        return -pitch % 128 + 32, ()
    bits = pitch.bit_length() - 1
    if pitch != 1 << bits or pitch < CHUNK:
        whole = -(-pitch // CHUNK)
        return (whole + (whole % 2 == 0)) * CHUNK - pitch, ()
    if pitch == CHUNK:
        return 0, ()
    return 0, (min(3, bits - 4), 4, max(3, bits - 4))


def how_read(buffer: Value, side: str) -> str:
    """The way from `buffer` to fragments of operand `side`."""
    ty = buffer.type
    assert isinstance(ty, SharedType)
    if ty.order[0] == (1 if side == "a" else 0):
        return "ldmatrix"
    return "ldmatrix.trans" if ty.element.itemsize == 2 else "elements"


def in_registers(op: Dot, plan: MmaPlan) -> bool:
    """Whether the left operand is where the instructions want it without a detour."""
    return layout_of(op.a) == plan.warps.operand("a", plan.shape[2], plan.size)


class Product:
    """The ops of one dot: fragments of step s + 1 are read before the instructions of step s.

    sources   by side ("a", "b") the buffer of an operand, or the operand where it stays in registers
    stages    by side the stage of the buffer that is read
    """

    def __init__(
        self,
        builder: Builder,
        op: Dot,
        plan: MmaPlan,
        sources: Mapping[str, Value],
        stages: Mapping[str, Value | None],
    ) -> None:
        self.builder = builder
        self.op = op
        self.plan = plan
        self.sources = sources
        self.stages = stages

    @property
    def steps(self) -> int:
        """Instructions along the reduction."""
        return self.plan.shape[2] * self.plan.size // STEP_BYTES

    def emit(self) -> Value:
        """The result, in the type and layout of the dot's."""
        return self.emit_between(self.fragments(0), [()] * self.steps)

    def emit_between(
        self, first: tuple[Value, Value], between: Sequence[Sequence[Callable[[], None]]]
    ) -> Value:
        """As `emit`, with the fragments of step 0 given; what ``between[s]`` adds comes before step s multiplies."""
        op, plan = self.op, self.plan
        layout = str(plan.warps.results)
        half = op.out is float16
        acc = self._cast(op.acc, float32, layout) if half and op.acc is not None else op.acc
        fragments = first
        for step in range(self.steps):
            x, y = fragments
            if step + 1 < self.steps:
                fragments = self.fragments(step + 1)
            for add in between[step]:
                add()
            made = Mma(x, y, acc, out=float32 if half else op.out, precision=plan.precision,
                       result_names=(op.result.name,))  # fmt: skip
            made.attrs["layout"] = layout
            acc = self.builder.insert(made).result
        assert acc is not None
        return self._cast(acc, float16, layout) if half else acc

    def fragments(self, step: int) -> tuple[Value, Value]:
        """Both operands' fragments for one instruction along the reduction."""
        depth = STEP_BYTES // self.plan.size
        return self._one("a", step * depth, depth), self._one("b", step * depth, depth)

    def _one(self, side: str, at: int, depth: int) -> Value:
        source, plan = self.sources[side], self.plan
        name = f"{(self.op.a if side == 'a' else self.op.b).name or side}_{at}"
        if not isinstance(source.type, SharedType):
            made = SliceFragments(source, at=at, depth=depth, result_names=(name,))
        else:
            extent = plan.shape[0] if side == "a" else plan.shape[1]
            made = LoadFragments(source, self.stages[side], side=side, extent=extent, at=at, depth=depth,
                                 how=how_read(source, side), result_names=(name,))  # fmt: skip
        made.attrs["layout"] = str(plan.warps.operand(side, depth, plan.size))
        return self.builder.insert(made).result

    def _cast(self, value: Value, to: DType, layout: str) -> Value:
        made = Cast(value, to=to)
        made.attrs["layout"] = layout
        return self.builder.insert(made).result
