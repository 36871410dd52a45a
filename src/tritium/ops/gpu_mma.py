"""Machine ops for tensor cores: fragments of operands from shared memory, and `mma.sync` on them.

One instruction multiplies 16 rows by 8 columns over 32 bytes of the reduction. A warp holds a rectangle of such results;
the warps of a block stand in a grid, ``down`` x ``across``; further warps hold replicas. As a register layout (see
`tritium.ops.gpu_layout`; numbers for 64x64 results per warp, four warps as 2x2)::

    results    128: t8@4 r8 t2@32 | 128: r2 t4@1 r8 t2@64 / 128
    A, 16 bit  128: t8@4 r8 t2@32 |  16: r2 t4@1 r2 / 128
    B, 16 bit   16: r2 t4@1 r2    | 128: t8@4 r8 t2@64 / 128

Sources: NVIDIA's PTX ISA, "Matrix Fragments for mma.m16n8k8 / k16 / k32" and "ldmatrix"; `tritium.layout.fragments`
states them as digit maps, with which the tests compare these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from tritium.ir.types import (
    DType,
    Type,
    bfloat16,
    float8e4nv,
    float8e5,
    float16,
    float32,
    int8,
    int32,
    tile,
)
from tritium.layout.fragments import (
    fragment_a_m16n8,
    fragment_b_m16n8,
    ldmatrix_a,
    ldmatrix_b,
    ldmatrix_result,
)
from tritium.numerics.dot import dot as matrix_product
from tritium.ops.base import BATCH_AXES, Array, Effect, TileOp, TypeRuleError, attr, full, operand
from tritium.ops.emit import CudaEmitter
from tritium.ops.gpu_layout import AxisLayout, Digit, RegisterLayout, layout_of
from tritium.ops.gpu_memory import SharedBuffer
from tritium.ops.gpu_shared import buffer_type, check_stage, stage_number
from tritium.ops.machine import Machine

WARP = 32
ROWS, COLUMNS = 16, 8
"""Of the result of one instruction."""
STEP_BYTES = 32
"""What one instruction spans of the reduction."""

OPERANDS: dict[DType, str] = {
    float16: "f16",
    bfloat16: "bf16",
    float32: "tf32",
    int8: "s8",
    float8e4nv: "e4m3",
    float8e5: "e5m2",
}
"""What tensor cores multiply, with the names of the types in PTX."""


@dataclass(frozen=True)
class WarpTile:
    """Results on tensor cores: extents of the tile, instructions per warp (`high` x `wide`), and the grid of warps."""

    rows: int
    columns: int
    high: int
    wide: int
    down: int
    across: int
    threads: int

    @cached_property
    def results(self) -> RegisterLayout:
        """The layout of the accumulators."""
        return RegisterLayout((self._rows(), self._axis(self.columns, True)), self.threads)

    def operand(self, side: str, depth: int, size: int) -> RegisterLayout:
        """The layout of operand `side` ("a" or "b"), with `depth` elements of `size` bytes along the reduction."""
        reduction = reduction_axis(depth, size)
        if side == "a":
            return RegisterLayout((self._rows(), reduction), self.threads)
        return RegisterLayout((reduction, self._axis(self.columns, False)), self.threads)

    def _rows(self) -> AxisLayout:
        digits = [Digit(8, 4), Digit(2 * self.high)]
        return AxisLayout(self.rows, (*digits, *_warps(self.down, WARP)))

    def _axis(self, extent: int, results: bool) -> AxisLayout:
        digits = [Digit(2), Digit(4, 1)] if results else [Digit(8, 4)]
        digits += [Digit(self.wide)] if self.wide > 1 else []
        return AxisLayout(extent, (*digits, *_warps(self.across, WARP * self.down)))

    @property
    def covered(self) -> tuple[int, int]:
        """(rows, columns) that the instructions span, at least the tile's extents."""
        return self.high * self.down * ROWS, self.wide * self.across * COLUMNS


def _warps(count: int, stride: int) -> tuple[Digit, ...]:
    return (Digit(count, stride),) if count > 1 else ()


def reduction_axis(depth: int, size: int) -> AxisLayout:
    """The reduction axis of an operand of `size`-byte elements; ValueError unless instructions span `depth` exactly."""
    each = 4 // size
    steps, rest = divmod(depth * size, STEP_BYTES)
    if rest or not steps:
        raise ValueError(f"{depth} elements of {size} bytes are not a whole number of instructions")
    digits = ([Digit(each)] if each > 1 else []) + [Digit(4, 1), Digit(2 * steps)]
    return AxisLayout(depth, tuple(digits))


@lru_cache(maxsize=256)
def warp_tile_of(layout: RegisterLayout) -> WarpTile | None:
    """The warp tile whose results are held in `layout`; None for layouts of another kind."""
    if len(layout.axes) != 2:
        return None
    rows, columns = layout.axes
    if len(rows.digits) < 2 or rows.digits[0] != Digit(8, 4) or columns.digits[:2] != (Digit(2), Digit(4, 1)):
        return None
    down = next((d.count for d in rows.digits[2:] if d.is_thread), 1)
    across = next((d.count for d in columns.digits[2:] if d.is_thread), 1)
    wide = next((d.count for d in columns.digits[2:] if not d.is_thread), 1)
    high = rows.digits[1].count // 2
    made = WarpTile(rows.extent, columns.extent, high, wide, down, across, layout.threads)
    return made if high and made.results == layout else None


# ---- addresses of ldmatrix -----------------------------------------------------------------------------


@dataclass(frozen=True)
class LanePlaces:
    """Where lanes point: ``thread / stride % count`` times (line, depth) steps, and the same steps per instruction.

    A line is a row of A or a column of B; `instructions` are those of one step of the reduction, `lines` apart.
    """

    terms: tuple[tuple[int, int, tuple[int, int]], ...]
    instructions: int
    lines: int

    def table(self, threads: int) -> Array:
        """int64 [thread, 2] of (line, depth) for the first instruction."""
        thread = np.arange(threads)
        out = np.zeros((threads, 2), np.int64)
        for stride, count, steps in self.terms:
            out += (thread // stride % count)[:, None] * np.array(steps)
        return out


@lru_cache(maxsize=256)
def lane_places(warps: WarpTile, side: str, size: int, transposed: bool) -> LanePlaces:
    """Of `ldmatrix.x4` for operand `side`: 16 rows of A each, or 16 columns of B (8 where there are no more)."""
    made = ldmatrix_a(size, transposed=transposed) if side == "a" else ldmatrix_b(size, transposed=transposed)
    fragment = fragment_a_m16n8(size) if side == "a" else fragment_b_m16n8(size)
    given = ldmatrix_result(made, size, transposed=transposed)
    width = fragment.extent("reg")
    assert (given.table()[:, :width] == fragment.table()).all(), "ldmatrix gives what mma takes"
    line = "row" if side == "a" else "col"
    terms: list[tuple[int, int, tuple[int, int]]] = []
    stride = 1
    for digit in made.digits_of("lane"):
        terms.append((stride, digit.extent, (digit.steps.get(line, 0), digit.steps.get("k", 0))))
        stride *= digit.extent
    if side == "a":
        span, count, place = warps.high * ROWS, warps.down, WARP
        instructions = warps.high
    else:
        span, count, place = warps.wide * COLUMNS, warps.across, WARP * warps.down
        instructions = -(-warps.wide // 2)
    if count > 1:
        terms.append((place, count, (span, 0)))
    return LanePlaces(tuple(terms), instructions, 16)


class LoadFragments(TileOp, name="gpu.load_fragments"):
    """Part of a dot's operand from `buffer` at `stage`, in the registers where `gpu.mma` wants it.

    side     "a": all rows, `depth` columns from `at` on; "b": `depth` rows from `at` on, all columns
    extent   rows of A, columns of B
    how      "ldmatrix" where neighbours along the reduction are next to each other in `buffer`, "ldmatrix.trans" where
             the others are, "elements" one by one
    results  layout of the results of the dot

    >>> %x = gpu.load_fragments(%buffer, %stage) {side = "a", extent = 128, at = 16, depth = 16, how = "ldmatrix", ...}
    """

    buffer = operand()
    stage = operand(optional=True)
    side = attr()
    extent = attr()
    at = attr(0)
    depth = attr()
    how = attr("ldmatrix")
    effect = Effect.READ
    speculatable = False

    @property
    def element(self) -> DType:
        """What the buffer holds."""
        element = buffer_type(self.name, self.buffer).element
        assert isinstance(element, DType)
        return element

    def infer(self) -> Sequence[Type]:
        ty = buffer_type(self.name, self.buffer)
        check_stage(self.name, self.stage)
        if self.side not in ("a", "b") or self.how not in ("ldmatrix", "ldmatrix.trans", "elements"):
            raise TypeRuleError(f"{self.name} knows no operand {self.side!r} read by {self.how!r}")
        if ty.element not in OPERANDS:
            raise TypeRuleError(f"tensor cores do not multiply {ty.element}")
        if self.depth * ty.element.itemsize % STEP_BYTES:
            raise TypeRuleError(f"{self.name} reads whole instructions, not {self.depth} of {ty.element}")
        along = 1 if self.side == "a" else 0
        if self.how != "elements" and (ty.order[0] == along) != (self.how == "ldmatrix"):
            raise TypeRuleError(f"{self.how} cannot read operand {self.side} from {ty}")
        if self.how == "ldmatrix.trans" and ty.element.itemsize != 2:
            raise TypeRuleError(f"{self.how} moves elements of 2 bytes, not {ty.element}")
        if ty.dims[along] < self.at + self.depth or ty.dims[1 - along] < self.extent:
            raise TypeRuleError(f"{self.name} from {self.at} on is outside of {ty}")
        shape = (self.extent, self.depth) if self.side == "a" else (self.depth, self.extent)
        return (tile(ty.element, shape),)

    def warps(self) -> WarpTile:
        """The warp tile that the layout of the result belongs to."""
        layout = layout_of(self.result)
        line = 0 if self.side == "a" else 1
        found = None if layout is None else _lines(layout.axes[line], layout.threads, self.side)
        if found is None or found.operand(self.side, self.depth, self.element.itemsize) != layout:
            raise TypeRuleError(f"{self.name} gives fragments, and its result is in {layout}")
        return found

    def execute(self, m: Machine, *args: Any) -> Any:
        buffer: SharedBuffer = args[0]
        stage = stage_number(args[1]) if self.stage is not None else 0
        if self.how == "elements":
            lines, depths, threads = self._by_element()
        else:
            lines, depths, threads = self._by_instruction(buffer, stage)
        values = np.zeros((self.extent, self.depth), buffer.dtype)
        inside = lines < self.extent
        at = self._addresses(buffer, lines[inside], depths[inside], stage)
        values[lines[inside], depths[inside]] = buffer.memory.read(self, at, threads[inside], buffer.dtype)
        out = values if self.side == "a" else values.T
        return np.ascontiguousarray(out).reshape((1,) * BATCH_AXES + out.shape)

    def _addresses(self, buffer: SharedBuffer, lines: Array, depths: Array, stage: int) -> Array:
        place = (lines, depths + self.at) if self.side == "a" else (depths + self.at, lines)
        return buffer.addresses(np.stack(place, -1), stage)

    def _by_element(self) -> tuple[Array, Array, Array]:
        """(line, depth, thread) of every read, flat: each thread what its registers hold."""
        layout = layout_of(self.result)
        assert layout is not None
        self.warps()
        table = layout.table()
        threads = np.broadcast_to(np.arange(layout.threads)[:, None], table.shape[:2])
        line = 0 if self.side == "a" else 1
        return table[..., line].reshape(-1), table[..., 1 - line].reshape(-1), threads.reshape(-1)

    def _by_instruction(self, buffer: SharedBuffer, stage: int) -> tuple[Array, Array, Array]:
        """(line, depth, thread) of every element read, flat: each lane reads the 16 bytes that it points at."""
        warps, size = self.warps(), buffer.dtype.itemsize
        transposed = self.how == "ldmatrix.trans"
        places = lane_places(warps, self.side, size, transposed)
        first = places.table(warps.threads)
        steps = self.depth * size // STEP_BYTES
        shape = (warps.threads, places.instructions, steps, 16 // size)
        thread, instruction, step, element = np.indices(shape)
        lines = first[thread, 0] + instruction * places.lines + (element if transposed else 0)
        depths = first[thread, 1] + step * (STEP_BYTES // size) + (0 if transposed else element)
        at = self._addresses(buffer, lines, depths, stage)
        if ((at - at[..., :1] != np.arange(16 // size) * size) | (at[..., :1] % 16 != 0)).any():
            raise TypeRuleError(
                f"{self.name} reads aligned runs of 16 bytes, and {buffer.type} has none there"
            )
        if self.side == "b" and warps.wide % 2:  # the last one is x2: lanes 16 to 31 are not asked
            asked = (instruction < places.instructions - 1) | (thread % WARP < 16)
            lines, depths, thread = lines[asked], depths[asked], thread[asked]
        return lines.reshape(-1), depths.reshape(-1), thread.reshape(-1)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.load_fragments(self)


@lru_cache(maxsize=256)
def _lines(axis: AxisLayout, threads: int, side: str) -> WarpTile | None:
    """A warp tile with these rows ("a") or columns ("b"); what the other axis is does not matter here."""
    digits = axis.digits
    if not digits or digits[0] != Digit(8, 4):
        return None
    repeats = next((d.count for d in digits[1:] if not d.is_thread), 1)
    warps = next((d for d in digits[1:] if d.is_thread), None)
    count, stride = (warps.count, warps.stride) if warps is not None else (1, WARP)
    if side == "a":
        return (
            WarpTile(axis.extent, COLUMNS, repeats // 2, 1, count, 1, threads) if repeats % 2 == 0 else None
        )
    return WarpTile(ROWS, axis.extent, 1, repeats, stride // WARP, count, threads)


class SliceFragments(TileOp, name="gpu.slice_fragments"):
    """`depth` columns from `at` on of a left operand that is in registers as fragments: some of its registers.

    >>> %x = gpu.slice_fragments(%p) {at = 16, depth = 16, layout = "16: t8@4 r2 | 16: r2 t4@1 r2 / 32"}
    """

    x = operand()
    at = attr()
    depth = attr()

    def infer(self) -> Sequence[Type]:
        ty = self.x.type
        step = STEP_BYTES // ty.scalar.itemsize
        if len(ty.shape) != 2 or self.at % step or self.depth % step or self.at + self.depth > ty.shape[1]:
            raise TypeRuleError(f"{self.name} cannot take {self.depth} columns from {self.at} on of {ty}")
        return (tile(ty.scalar, (ty.shape[0], self.depth)),)

    def eval(self, *args: Array) -> Array:
        return args[0][..., self.at : self.at + self.depth] if args[0].shape[-1] > 1 else args[0]

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout.replace(1, reduction_axis(self.x.type.shape[1], self.x.type.scalar.itemsize))

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.slice_fragments(self)


class Mma(TileOp, name="gpu.mma"):
    """``a @ b`` or ``acc + a @ b`` on tensor cores, operands and results in registers, as fragments.

    precision   of fp32 operands: "tf32" drops their low 13 bits, "tf32x3" adds the products with what was dropped

    The layout of the result says how many instructions each warp issues; operands are in `WarpTile.operand`'s layouts.

    >>> %d = gpu.mma(%a, %b, %acc) {out = !f32, layout = "16: t8@4 r2 | 8: r2 t4@1 / 32"} : tile<16x8xf32>
    """

    a = operand()
    b = operand()
    acc = operand(optional=True)
    out = attr()
    precision = attr("ieee")

    def infer(self) -> Sequence[Type]:
        a, b = self.a.type, self.b.type
        fits = len(a.shape) == len(b.shape) == 2 and a.shape[1] == b.shape[0]
        if not fits or not multiplies(a.scalar, b.scalar):
            raise TypeRuleError(f"{self.name} cannot multiply {a} by {b}")
        if self.out is not (int32 if a.scalar is int8 else float32):
            raise TypeRuleError(f"{self.name} of {a.scalar} does not sum in {self.out}")
        if (self.precision in ("tf32", "tf32x3")) != (a.scalar is float32):
            raise TypeRuleError(f"{self.name} of {a.scalar} has no precision {self.precision!r}")
        result = tile(self.out, (a.shape[0], b.shape[1]))
        if self.acc is not None and self.acc.type != result:
            raise TypeRuleError(f"the accumulator of {self.name} is {self.acc.type}, the result {result}")
        return (result,)

    def eval(self, *args: Array) -> Array:
        a, b, *acc = (full(x, v.type.shape) for x, v in zip(args, self.operands, strict=True))
        left, right = self.a.type.scalar.text, self.b.type.scalar.text
        return matrix_product(a, b, left, right, self.out.text, self.precision, acc[0] if acc else None)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        warps = warp_tile_of(layout)
        if warps is None:
            raise TypeRuleError(f"{self.name} gives fragments, and its result is in {layout}")
        if operand == 2:
            return layout
        side, value = ("a", self.a) if operand == 0 else ("b", self.b)
        depth = self.a.type.shape[1]
        return warps.operand(side, depth, value.type.scalar.itemsize)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.mma(self)


def multiplies(a: object, b: object) -> bool:
    """Whether one instruction multiplies elements of these types: equal ones, and 8-bit floats of both kinds."""
    floats8 = (float8e4nv, float8e5)
    return a in OPERANDS and (a is b or (a in floats8 and b in floats8))
