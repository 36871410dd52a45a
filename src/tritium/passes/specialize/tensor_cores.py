"""Dots on tensor cores: `gpu.mma` on fragments in registers instead of fused multiply-adds.

The matcher looks at one dot and decides instruction, grid of warps and the layout of the results; operands follow from
it. It runs when layouts are assigned, so that what is computed from the results stays in their registers, and is asked
again when the dot is lowered (`plan_of`), where the layout of the result says that it was chosen.

::

    %d = tile.dot(%a, %b, %acc) {precision = "default"}        128x128 over 64, bf16, 4 warps
    =>
    results in 128: t8@4 r8 t2@32 | 128: r2 t4@1 r8 t2@64 / 128
    %x = gpu.load_fragments(%shared_a, %stage) {at = 0, depth = 16, ...}       four times
    %y = gpu.load_fragments(%shared_b, %stage) {at = 0, depth = 16, ...}
    %d = gpu.mma(%x, %y, %acc)

fp32 operands qualify for "tf32" and "tf32x3" only, and for "default", which on CUDA is tf32, as in Triton.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from tritium.ir.core import Function, Op, Value
from tritium.ir.match import Record, Reject, matching
from tritium.ir.types import DType, float16, float32
from tritium.ops.base import TileOp
from tritium.ops.cast import Cast
from tritium.ops.dot import DEFAULT, Dot
from tritium.ops.gpu_layout import divisors, layout_of
from tritium.ops.gpu_mma import COLUMNS, OPERANDS, ROWS, STEP_BYTES, WarpTile, multiplies
from tritium.ops.memory import Load
from tritium.ops.shape import Permute

NAME = "tensor_cores"
FP8_NATIVE = 89
"""The first architecture whose `mma.sync` multiplies 8-bit floats (PTX ISA, "mma")."""


@dataclass(frozen=True)
class MmaPlan:
    """One dot on tensor cores.

    shape       (M, N, K) of the dot
    size        bytes of an operand's element
    name        operand types in PTX
    precision   as for `gpu.mma`
    warps       who computes what
    """

    shape: tuple[int, int, int]
    size: int
    name: str
    precision: str
    warps: WarpTile

    def __str__(self) -> str:
        m, n, k = self.shape
        w = self.warps
        spare = w.threads // (32 * w.down * w.across)
        passes = ", three products for each" if self.precision == "tf32x3" else ""
        idle = f", {spare} times over" if spare > 1 else ""
        return (
            f"{m}x{n} over {k} by mma.m16n8k{STEP_BYTES // self.size} {self.name}{passes}: "
            f"{w.down}x{w.across} warps of {w.high}x{w.wide} instructions{idle}"
        )


@dataclass(frozen=True)
class TensorCores:
    """What matchers need to know besides the dot: `warps` of a block and the architecture's number (90 for sm_90a).

    chained   dots whose results feed the left operand of another one: their warps stand one below the other
    """

    warps: int
    arch: int
    chained: frozenset[Op] = field(default=frozenset())

    def plan_of(self, dot: Dot) -> MmaPlan | None:
        """The plan that `dot`, whose layouts are assigned, was laid out for."""
        found = self.match(dot)
        if isinstance(found, Reject):
            return None
        layout = layout_of(dot.result)
        tall = self._plan(dot, True)
        return next((p for p in (found, tall) if p.warps.results == layout), None)

    def run(self, op: Op) -> int:
        """Elements of 16 bytes, if all that `op` loads are operands of dots on tensor cores: whole vectors may be
        proven, or asked for at run time, later on. Else 1."""
        users = [user for user, _ in op.results[0].uses] if op.results else []
        if not users or not all(isinstance(u, Dot) and isinstance(self.match(u), MmaPlan) for u in users):
            return 1
        return 16 // op.results[0].type.scalar.itemsize

    def match(self, dot: Dot) -> MmaPlan | Reject:
        """How `dot` runs on tensor cores, or why not."""
        a, b = dot.a.type.scalar, dot.b.type.scalar
        with matching() as m:
            m.require(self.arch >= 80, f"sm_{self.arch} has no mma.sync with asynchronous copies", at=dot)
            m.require(multiplies(a, b), f"tensor cores do not multiply {a} by {b}", at=dot)
            m.require(
                a is not float32 or dot.precision in (DEFAULT, "tf32", "tf32x3"),
                f"fp32 products of precision {dot.precision!r} are computed by fused multiply-adds",
                at=dot,
                hint='input_precision="tf32" or "tf32x3" allows tensor cores',
            )
            assert isinstance(a, DType) and isinstance(b, DType)
            m.require(
                not a.is_fp8() or self.arch >= FP8_NATIVE,
                f"sm_{self.arch} does not multiply 8-bit floats",
                at=dot,
            )
            m.require(len(dot.result.type.shape) == 2, "the dot has a batch axis", at=dot)
            step = STEP_BYTES // a.itemsize
            depth = dot.a.type.shape[1]
            m.require(depth % step == 0, f"a reduction over {depth} is no multiple of {step}", at=dot)
            rows, columns = dot.result.type.shape
            m.require(
                rows * columns * 2 >= ROWS * COLUMNS,
                f"a {rows}x{columns} result leaves most of an instruction's {ROWS}x{COLUMNS} unused",
                at=dot,
            )
            return self._plan(dot, dot in self.chained)
        return m.reject

    def _plan(self, dot: Dot, tall: bool) -> MmaPlan:
        a, b = dot.a.type.scalar, dot.b.type.scalar
        assert isinstance(a, DType) and isinstance(b, DType)
        rows, columns = dot.result.type.shape
        precision = "ieee" if a is not float32 else "tf32" if dot.precision == DEFAULT else dot.precision
        name = OPERANDS[a] if a is b else f"{OPERANDS[a]} by {OPERANDS[b]}"
        return MmaPlan(
            (rows, columns, dot.a.type.shape[1]),
            a.itemsize,
            name,
            precision,
            choose_warps(rows, columns, self.warps, tall),
        )


@lru_cache(maxsize=256)
def choose_warps(rows: int, columns: int, warps: int, tall: bool) -> WarpTile:
    """The grid of warps with the fewest instructions each, then the fewest fragments read, then the fewest idle warps.

    tall   warps below each other only, so that rows of results never leave their warp
    """

    def made(down: int, across: int) -> WarpTile:
        high = -(-rows // (ROWS * down))
        wide = -(-columns // (COLUMNS * across))
        return WarpTile(rows, columns, high, wide, down, across, warps * 32)

    def cost(w: WarpTile) -> tuple[int, int, int, int]:
        return w.high * w.wide, 2 * w.high + w.wide, w.down * w.across, -w.down

    grids = [(d, n // d) for n in divisors(warps) for d in divisors(n) if not tall or d == n]
    return min((made(*g) for g in grids), key=cost)


def chained_dots(function: Function) -> frozenset[Op]:
    """Dots whose results reach the left operand of another dot, and those others, when warps can share rows."""
    found: set[Op] = set()
    for op in function.find(Dot):
        assert isinstance(op, Dot)
        for other in _feeding(op.a):
            found |= {op, other}
    return frozenset(found)


def _feeding(value: Value) -> Iterable[Dot]:
    """Dots of the same block of code that `value` is computed from, through pure ops of tiles."""
    work, seen = [value], {value}
    while work:
        op = work.pop().defining_op
        if isinstance(op, Dot):
            yield op
        elif isinstance(op, TileOp) and op.is_pure and not op.regions:
            new = [v for v in op.operands if v.type.shape and v not in seen]
            seen.update(new)
            work += new


def run(function: Function, cores: TensorCores, record: Record) -> None:
    """Put plan or reason of every dot into `record`."""
    for op in function.find(Dot):
        assert isinstance(op, Dot)
        found = cores.match(op)
        if isinstance(found, Reject):
            record.reject(NAME, found)
        else:
            record.plan(NAME, str(found), at=op)


def widen_fp8(function: Function, arch: int) -> None:
    """8-bit floats that tensor cores of `arch` do not multiply become fp16, which holds each of them exactly."""
    for op in function.find(Dot):
        assert isinstance(op, Dot) and op.parent is not None
        a, b = op.a.type.scalar, op.b.type.scalar
        narrow = [isinstance(t, DType) and t.is_fp8() for t in (a, b)]
        if not all(narrow) or (multiplies(a, b) and arch >= FP8_NATIVE):
            continue
        wide = [Cast(v, to=float16, loc=op.loc) for v in (op.a, op.b)]
        for cast in wide:
            op.parent.insert_before(op, cast)
        made = Dot(*(c.result for c in wide), op.acc, loc=op.loc, result_names=(op.result.name,), **op.attrs)
        op.parent.insert_before(op, made)
        op.replace_with([made.result])


def turn_loads(function: Function, cores: TensorCores) -> None:
    """A transposed load that only feeds a dot on tensor cores becomes a load from transposed addresses.

    Then it goes to shared memory as any other operand does: which way its rows lie there follows from the addresses.
    """
    for op in function.find(Dot):
        assert isinstance(op, Dot)
        if isinstance(cores.match(op), Reject):
            continue
        for value in (op.a, op.b):
            turned = value.defining_op
            load = turned.x.defining_op if isinstance(turned, Permute) else None
            if isinstance(turned, Permute) and isinstance(load, Load) and len(load.result.uses) == 1:
                _turn(load, turned)


def _turn(load: Load, turned: Permute) -> None:
    assert load.parent is not None
    parts: list[Value | None] = []
    for v in (load.ptr, load.mask, load.other):
        made = Permute(v, order=turned.order, loc=load.loc) if v is not None else None
        if made is not None:
            load.parent.insert_before(load, made)
        parts.append(made.result if made is not None else None)
    names = (turned.result.name or load.result.name,)
    new = Load(*parts, loc=load.loc, result_names=names, **load.attrs)
    load.parent.insert_before(load, new)
    turned.replace_with([new.result])
    load.erase()
