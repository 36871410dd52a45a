"""A kernel as one LLVM function that runs a range of program instances.

``void @chunk(ptr %args, i64 %first, i64 %last, ptr %scratch)``: `args` is a block of 8-byte slots, three for the grid,
one for a fault, and one for each kernel argument; instances count with axis 0 fastest. `scratch` belongs to the calling
worker alone: a sink of 64 bytes, then the kept tiles.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

from tritium.backends.cpu import access, formats, nest, notes, pull
from tritium.backends.cpu.code import Code, V
from tritium.backends.cpu.formats import held_as, is_signed, stored_as
from tritium.backends.cpu.nest import Mode
from tritium.backends.cpu.plan import Plan
from tritium.backends.cpu.ranges import Ranges
from tritium.backends.cpu.verbs import Unsupported, Verbs
from tritium.errors import Loc
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.match import Record
from tritium.ir.types import DType, PointerType
from tritium.ops import control, create, memory

SINK_BYTES = 64
LANE_SHIFT, PROGRAM_SHIFT = 12, 32
"""Where the fault word holds the row-major number of a lane and the linear number of an instance."""

YIELD_EVERY = 1024
PATIENCE = 1 << 24
"""Iterations of a waiting loop (about half a second) after which it is taken to wait for ever."""

ABORTED = -1
"""The fault word of a launch that has to start again on the interpreter."""

MOVING = ("tile.broadcast", "tile.expand_dims", "tile.permute", "tile.flip", "tile.slice", "tile.reshape", "tile.join",
          "tile.split", "tile.gather", "tile.cat")  # fmt: skip
"""Ops whose elements come from other places of their operands."""

MXCSR = 0x1F80
"""The x86 register of floating-point modes as a process starts with it."""

FAULT_SLOT = 3
ARGUMENT_SLOT = 4


@dataclass(frozen=True)
class Fault:
    """An error that native code may report. The fault word holds its number, the lane and the instance.

    code    in the catalogue of errors
    shape   of the tile whose lanes are tested
    """

    code: str
    loc: Loc | None
    text: str = ""
    shape: tuple[int, ...] = ()


@dataclass
class Buffer:
    """A kept tile: row-major elements of `ty` at `address`."""

    ty: DType | PointerType
    shape: tuple[int, ...]
    address: V
    offset: int

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * access.size_of(stored_as(self.ty))


class Lowering:
    """One function on its way to LLVM IR.

    env       scalars by value
    buffers   kept tiles by value
    width     lanes of a vector
    stream    whether large stores go past the caches
    """

    def __init__(
        self, function: Function, record: Record, width: int, distinct: bool, stream: bool = False
    ) -> None:
        self.function = function
        self.record = record
        self.width = width
        self.stream = stream
        self.x86 = platform.machine().lower() in ("x86_64", "amd64")
        self.plan = Plan(function, distinct)
        self.e = Code()
        self.e.has_scalef = width == 16
        self.verbs = Verbs(self.e)
        self.env: dict[Value, V] = {}
        self.buffers: dict[Value, Buffer] = {}
        self.spins: frozenset[Op] = frozenset()
        self.noted: set[Op] = set()
        self.aborts = False
        self.jams: dict[Op, Any] = {}
        self.holds: dict[Op, Any] = {}
        self.pending: dict[Value, None] = {}
        self.lasting: list[Buffer] = []
        self.fusing: dict[Value, Buffer] = {}
        self.mode = Mode(width)
        self.ranges = Ranges(self)
        self.arena = SINK_BYTES
        self.arena_top = SINK_BYTES
        self.sink = V("i64", 1, 0, "%sink")
        self.ids: list[V] = []
        self.grid: list[V] = []
        self.faults: list[Fault] = []
        self.stops = False
        self.linear = V("i64", 1, 0, None, 0)
        self.fault_address = V("i64", 1, 0, "%faultplace")

    # ---- memo ----------------------------------------------------------------------------------------

    def lookup(self, key: Any) -> Any:
        for frame in reversed(self.e.stack):
            found = frame.memo.get(key)
            if found is not None:
                return found
        return None

    def remember(self, key: Any, v: V) -> None:
        self.e.stack[v.level].memo[key] = v

    # ---- memory of our own ---------------------------------------------------------------------------

    def allocate(self, ty: DType | PointerType, shape: tuple[int, ...]) -> Buffer:
        """Scratch memory until the end of the region being lowered."""
        size = prod(shape) * access.size_of(stored_as(ty))
        offset = self.allocate_bytes(size)
        return Buffer(ty, shape, self.scratch_address(offset), offset)

    def allocate_for_good(self, ty: DType | PointerType, shape: tuple[int, ...]) -> Buffer:
        """Scratch memory that one instance leaves to the next; it comes after all other memory."""
        buffer = Buffer(ty, shape, V("i64", 1, 0, f"%lasting{len(self.lasting)}"), -1 - len(self.lasting))
        self.lasting.append(buffer)
        return buffer

    def allocate_bytes(self, size: int) -> int:
        offset = self.arena
        self.arena += -(-size // 64) * 64
        self.arena_top = max(self.arena_top, self.arena)
        return offset

    def scratch_address(self, offset: int) -> V:
        key = ("scratch", offset)
        found = self.e.stack[0].memo.get(key)
        if found is None:
            found = self.e.emit("i64", 1, 0, f"add i64 %sink, {offset}")
            self.e.stack[0].memo[key] = found
        return found

    def slot(self, kind: str) -> str:
        """A stack variable; the clean-up passes make registers of it."""
        name = f"%{self.e.fresh('slot')}"
        self.e.stack[0].lines.insert(0, f"  {name} = alloca {kind}")
        return name

    def fault_unless(self, fine: V, fault: Fault, lane: V | None = None) -> None:
        """End this range of instances unless `fine`, and say why: the launch raises the error afterwards."""
        e = self.e
        if fine.const == 1:
            return
        self.faults.append(fault)
        self.stops = True
        first, dead = e.fresh("fault"), e.fresh("dead")
        e.push(first)
        where = e.binary("shl", self.linear, e.index(PROGRAM_SHIFT))
        lane = e.binary("shl", lane or e.index(0), e.index(LANE_SHIFT))
        word = e.binary("or", e.binary("or", where, lane), e.index(len(self.faults)))
        e.line(f"store i64 {e.text(word, 1)}, ptr {e.pointer(self.fault_address, e.top)}, align 8")
        e.line("br label %stop")
        e.block(dead)
        e.branch(e.invert(fine), e.pop(), first, None, "")

    def give_up_waiting(self) -> None:
        """At the start of a loop body that may wait for other instances: lend the core now and then, in the end abort.

        An instance that waits for one that starts later would wait for ever. The launch then starts again on the
        interpreter, whose scheduler runs all instances by turns.
        """
        e = self.e
        self.aborts = True
        counter = self.slot("i64")
        e.line(f"store i64 0, ptr {counter}", e.top - 1)
        count = e.emit("i64", 1, e.top, f"load i64, ptr {counter}")
        e.line(f"store i64 {e.add(count, e.index(1)).ssa}, ptr {counter}")
        now = e.compare("eq", e.both(count, e.index(YIELD_EVERY - 1)), e.index(YIELD_EVERY - 1))
        first, go = e.fresh("lend"), e.fresh("go")
        e.push(first)
        e.declare("sched_yield", "i32 ()")
        e.line("call i32 @sched_yield()")
        fault = e.emit("i64", 1, e.top, f"load volatile i64, ptr {e.pointer(self.fault_address, e.top)}")
        stuck = e.binary("or", e.compare("ne", fault, e.index(0)), e.compare("ugt", count, e.index(PATIENCE)))
        e.line(f"br i1 {stuck.ssa}, label %abort, label %{go}")
        e.block(go)
        e.branch(now, e.pop(), first, None, "")

    # ---- the function --------------------------------------------------------------------------------

    def run(self) -> str:
        """The module's text."""
        e = self.e
        e.line("%sink = ptrtoint ptr %scratch to i64")
        e.line("%argsplace = ptrtoint ptr %args to i64")
        e.line(f"%faultplace = add i64 %argsplace, {8 * FAULT_SLOT}")
        for i in range(3):
            self.grid.append(self._argument(i, "i32"))
        for i, arg in enumerate(self.function.args):
            self.env[arg] = self._argument(ARGUMENT_SLOT + i, held_as(arg.type.scalar))
        first, last = V("i64", 1, 0, "%first"), V("i64", 1, 0, "%last")
        used = max(
            (op.axis + 1 for op in self.function.walk() if isinstance(op, create.ProgramId)), default=0
        )
        self.linear, self.ids = e.open_loop(first, last, 1, self._program_ids(first)[:used])
        self.region(self.function.body)
        e.close_loop(self._following_ids())
        notes.note_kept(self)
        self._place_lasting()
        if self.stream:
            e.line("fence seq_cst")
        self._leave()
        if self.stops:
            e.stack[0].lines.append("stop:")
            self._leave()
        if self.aborts:
            e.stack[0].lines.append("abort:")
            place = f"inttoptr i64 {self.fault_address.ssa} to ptr"
            e.line(f"%abortplace = {place}")
            e.line(f"store i64 {ABORTED}, ptr %abortplace")
            self._leave()
        if self.x86:
            e.stack[0].lines[0:0] = self._floating_environment()
        body = "\n".join(e.stack[0].lines)
        declared = "\n".join(e.declarations.values())
        constants = "\n".join(e.globals.values())
        head = "define void @chunk(ptr %args, i64 %first, i64 %last, ptr %scratch) {"
        return f"{constants}\n{declared}\n{head}\nentry:\n{body}\n}}\n!0 = !{{i32 1}}\n"

    def _floating_environment(self) -> list[str]:
        """IEEE arithmetic whatever the calling thread is set to: nearest even, subnormals kept, no traps."""
        for name in ("stmxcsr", "ldmxcsr"):
            self.e.declare(f"llvm.x86.sse.{name}", "void (ptr)")
        return [
            "  %callers = alloca i32",
            "  %ours = alloca i32",
            "  call void @llvm.x86.sse.stmxcsr(ptr %callers)",
            f"  store i32 {MXCSR}, ptr %ours",
            "  call void @llvm.x86.sse.ldmxcsr(ptr %ours)",
        ]

    def _leave(self) -> None:
        if self.x86:
            self.e.line("call void @llvm.x86.sse.ldmxcsr(ptr %callers)")
        self.e.line("ret void")

    def _place_lasting(self) -> None:
        places: list[str] = []
        for i, buffer in enumerate(self.lasting):
            places.append(f"  %lasting{i} = add i64 %sink, {self.arena_top}")
            self.arena_top += -(-buffer.nbytes // 64) * 64
        lines = self.e.stack[0].lines
        at = next(i for i, line in enumerate(lines) if line.startswith("  %sink = ")) + 1
        lines[at:at] = places

    def _argument(self, slot: int, kind: str) -> V:
        e = self.e
        stored = "i8" if kind == "i1" else kind
        pointer = e.emit("ptr", 1, 0, f"getelementptr i8, ptr %args, i64 {8 * slot}")
        value = e.emit(stored, 1, 0, f"load {stored}, ptr {pointer.ssa}, align 8")
        return e.compare("ne", value, e.const(0, "i8")) if kind == "i1" else value

    def _program_ids(self, linear: V) -> list[V]:
        """The ids of the first instance, from its number."""
        e = self.e
        nx, ny = (e.convert("zext", g, "i64") for g in self.grid[:2])
        x = e.binary("urem", linear, nx)
        rest = e.binary("udiv", linear, nx)
        y, z = e.binary("urem", rest, ny), e.binary("udiv", rest, ny)
        return [e.convert("trunc", v, "i32") for v in (x, y, z)]

    def _following_ids(self) -> list[V]:
        """The ids of the next instance: axis 0 counts, and carries into the axes after it."""
        e = self.e
        one, zero = e.const(1, "i32"), e.const(0, "i32")
        carry, following = one, list[V]()
        for i, extent in zip(self.ids, self.grid, strict=False):
            up = e.add(i, carry)
            ends = e.compare("eq", up, extent)
            following.append(e.select(ends, zero, up))
            carry = e.convert("zext", ends, "i32")
        return following

    # ---- regions -------------------------------------------------------------------------------------

    def region(self, region: Region) -> None:
        """Everything in `region` but its terminator."""
        for op in region.ops:
            if op.is_terminator:
                break
            self.op(op)
        self.flush()

    def op(self, op: Op) -> None:
        from tritium.backends.cpu import roots

        handler = roots.HANDLERS.get(op.name)
        if handler is not None:
            if op.name == "tile.reduce" and not any(r.uses for r in op.results):
                return
            if op.name in ("tile.store", "tile.reduce"):
                fused = self._fuse_into(op)
                handler(self, op)
                self._fused(fused)
            else:
                if op.name not in ("tile.assume", "tile.barrier"):
                    self.flush()
                handler(self, op)
            return
        if op.name not in pull.HANDLERS and op.name not in SCALARS:
            raise Unsupported(op, f"{op.name} has no native form")
        if op.results and not op.results[0].type.shape:
            if any(v.type.shape for v in op.operands):
                self.flush()
            self._scalar(op)
            return
        for r in op.results:
            if r in self.plan.kept:
                self.pending[r] = None

    # ---- kept values on the way ------------------------------------------------------------------------

    def flush(self) -> None:
        """Compute every value that still waits for a nest to come by."""
        while self.pending:
            self._settle(next(iter(self.pending)))

    def _settle(self, value: Value) -> None:
        del self.pending[value]
        fused = self._fuse([value], value.type.shape)
        self.materialise(value)
        self._fused(fused)

    def _fuse_into(self, op: Op) -> list[Value]:
        """The waiting values that the nest of `op` can keep on its way; those that it cannot wait for are settled."""
        if op.name == "tile.store":
            for value in list(self.pending):
                if value in self.pending and any(self.plan.disturbs(op, load) for load in self._loads(value)):
                    self._settle(value)
        roots = [v for v in op.operands if v.type.shape]
        return self._fuse(roots, op.operands[0].type.shape, op)

    def _fuse(self, roots: list[Value], shape: tuple[int, ...], only: Op | None = None) -> list[Value]:
        """Values that a nest over `shape` keeps as it comes by; what no other op than `only` needs is not kept at all."""
        whole: dict[Value, None] = {}
        partly: dict[Value, None] = {}
        seen: set[tuple[Value, bool]] = set()
        for root in roots:
            self._reach(root, True, whole, partly, seen)
        for value in list(partly):
            if value in self.pending:
                self._settle(value)
        fused = [v for v in whole if v in self.pending and v.type.shape == shape]
        for value in [v for v in whole if v in self.pending and v.type.shape != shape]:
            self._settle(value)
        for value in fused:
            del self.pending[value]
        fused = [v for v in fused if not (only is not None and self.plan.serves_only(v, only))]
        for value in fused:
            self.fusing[value] = self.allocate(value.type.scalar, value.type.shape)
        return fused

    def _fused(self, values: list[Value]) -> None:
        for value in values:
            self.buffers[value] = self.fusing.pop(value)

    def _reach(
        self, value: Value, same: bool, whole: dict[Value, None], partly: dict[Value, None], seen: set[Any]
    ) -> None:
        """Which waiting values the elements of `value` need: at the same place only, or elsewhere too."""
        if (value, same) in seen or value in self.buffers or not value.type.shape:
            return
        seen.add((value, same))
        if value in self.pending:
            (whole if same else partly)[value] = None
        op = value.defining_op
        if op is None:
            return
        moving = op.name in MOVING
        for v in op.operands:
            self._reach(v, same and not moving, whole, partly, seen)

    def _loads(self, value: Value) -> list[memory.Load]:
        found: list[memory.Load] = []
        stack, seen = [value], {value}
        while stack:
            v = stack.pop()
            op = v.defining_op
            if v in self.buffers or op is None or not v.type.shape:
                continue
            if isinstance(op, memory.Load):
                found.append(op)
            for operand in op.operands:
                if operand not in seen:
                    seen.add(operand)
                    stack.append(operand)
        return found

    def _scalar(self, op: Op) -> None:
        handler = SCALARS.get(op.name) or pull.HANDLERS.get(op.name)
        if handler is None:
            raise Unsupported(op, f"{op.name} has no native form")
        floor, self.e.floor = self.e.floor, self.e.top
        if op.name in SCALARS:
            out = handler(self, op)
        else:
            out = handler(self, op, [])
        self.e.floor = floor
        results = out if isinstance(out, list) else [out]
        for r, v in zip(op.results, results, strict=True):
            self.env[r] = v

    def materialise(self, value: Value, into: Buffer | None = None) -> Buffer:
        """Compute all elements of `value` now, into scratch memory."""
        shape = value.type.shape
        buffer = into or self.allocate(value.type.scalar, shape)

        def body(at: list[V]) -> None:
            lanes = max(i.lanes for i in at)
            pull.write(self, buffer, at, pull.element(self, value, at), lanes)
            pull.keep_up(self, at)

        nest.versions(self, lambda: nest.over(self, shape, body))
        self.buffers[value] = buffer
        return buffer

    def fill(self, buffer: Buffer, value: Value) -> None:
        """Copy `value` into `buffer`, leaving where it lives as it is."""

        def body(at: list[V]) -> None:
            lanes = max(i.lanes for i in at)
            pull.write(self, buffer, at, pull.element(self, value, at), lanes)

        nest.versions(self, lambda: nest.over(self, value.type.shape, body))

    def copy(self, target: Buffer, source: Buffer) -> None:
        """Byte for byte."""
        e = self.e
        name = "llvm.memcpy.p0.p0.i64"
        e.declare(name, "void (ptr, ptr, i64, i1)")
        to, back = e.pointer(target.address, e.top), e.pointer(source.address, e.top)
        e.line(f"call void @{name}(ptr align 8 {to}, ptr align 8 {back}, i64 {target.nbytes}, i1 false)")


# ---- scalar ops that are no elementwise function ---------------------------------------------------------------------


def _program_id(k: Lowering, op: Any) -> V:
    return k.ids[op.axis]


def _num_programs(k: Lowering, op: Any) -> V:
    return k.grid[op.axis]


def _extract(k: Lowering, op: Any) -> V:
    e = k.e
    at: list[V] = []
    chosen = dict(zip(op.axes, op.indices, strict=True))
    for axis, extent in enumerate(op.x.type.shape):
        at.append(wrapped_index(k, chosen[axis], extent) if axis in chosen else e.index(0))
    return pull.element(k, op.x, at)


def wrapped_index(k: Lowering, index: Value, extent: int) -> V:
    """A NumPy index as a position from 0 on; outside the axis the nearest one."""
    e = k.e
    x = k.env[index]
    if not is_signed(index.type.scalar):
        wide = e.convert("zext", x, "i64")
        return e.intrinsic("umin", wide, e.index(extent - 1))
    wide = e.convert("sext", x, "i64")
    wide = e.select(e.compare("slt", wide, e.index(0)), e.add(wide, e.index(extent)), wide)
    return e.intrinsic("smin", e.intrinsic("smax", wide, e.index(0)), e.index(extent - 1))


def _device_register(k: Lowering, op: Any) -> V:
    e = k.e
    if op.register != "globaltimer":
        return e.const(0, "i32")
    seconds, nanoseconds = 0, 8
    e.declare("clock_gettime", "i32 (i32, ptr)")
    place = k.slot("[2 x i64]")
    e.line(f"call i32 @clock_gettime(i32 1, ptr {place})")
    parts: list[V] = []
    for offset in (seconds, nanoseconds):
        pointer = e.emit("ptr", 1, e.top, f"getelementptr i8, ptr {place}, i64 {offset}")
        parts.append(e.emit("i64", 1, e.top, f"load i64, ptr {pointer.ssa}"))
    return e.add(e.mul(parts[0], e.index(1_000_000_000)), parts[1])


SCALARS: dict[str, Callable[..., Any]] = {
    "tile.device_register": _device_register,
    "tile.program_id": _program_id,
    "tile.num_programs": _num_programs,
    "tile.extract": _extract,
}

__all__ = ["Buffer", "Lowering", "control", "create", "formats", "memory"]
