"""The instruction writer: LLVM IR text in nested frames, values that know how deep they live.

A frame is the body of a loop or a branch under construction. An instruction is appended to the frame of its deepest
operand, so whatever does not depend on a loop is written in front of that loop, without a pass that hoists. Memory
accesses are pinned instead: see `Code.floor`.

A value has `lanes` equal to 1 (the same for all lanes) or the vector width. Integers that grow by the same step from
lane to lane are kept as base and step as long as possible, which is how contiguous accesses are found.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

INT_BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "i128": 128}
FLOAT_BITS = {"half": 16, "float": 32, "double": 64}


class V:
    """One value: an SSA name, a literal, or (base, step) for integers affine in the lane number."""

    __slots__ = ("base", "const", "kind", "lanes", "level", "splats", "ssa", "step")

    def __init__(
        self,
        kind: str,
        lanes: int,
        level: int,
        ssa: str | None = None,
        const: int | float | None = None,
        base: V | None = None,
        step: V | None = None,
    ) -> None:
        self.kind = kind
        self.lanes = lanes
        self.level = level
        self.ssa = ssa
        self.const = const
        self.base = base
        self.step = step
        self.splats: dict[int, V] | None = None

    @property
    def key(self) -> Any:
        if self.const is not None:
            return self.kind, self.literal()
        if self.ssa is not None:
            return self.ssa
        assert self.base is not None and self.step is not None
        return self.base.key, self.step.key, self.lanes

    @property
    def is_float(self) -> bool:
        return self.kind in FLOAT_BITS

    def literal(self) -> str:
        assert self.const is not None
        return literal(self.const, self.kind)

    def __repr__(self) -> str:
        return f"<{self.kind}x{self.lanes} {self.key} @{self.level}>"


def literal(value: int | float, kind: str) -> str:
    """A number as LLVM spells it; floats by the bits of the double that equals them."""
    if kind == "i1":
        return "true" if value else "false"
    if kind in INT_BITS:
        return str(int(value))
    if kind == "half":
        return f"0xH{struct.unpack('<H', struct.pack('<e', value))[0]:04X}"
    if value != value:
        return "0x7FF8000000000000"
    return f"0x{struct.unpack('<Q', struct.pack('<d', float(value)))[0]:016X}"


def vector_type(kind: str, lanes: int) -> str:
    return kind if lanes == 1 else f"<{lanes} x {kind}>"


def wrapped(value: int, bits: int) -> int:
    """`value` modulo 2**bits as a signed number (bits > 1)."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if bits > 1 and value >> (bits - 1) else value


class Frame:
    """A body under construction.

    label   the block that the next instruction goes to
    memo    values of tile elements already computed here
    """

    __slots__ = ("label", "lines", "memo")

    def __init__(self, label: str) -> None:
        self.label = label
        self.lines: list[str] = []
        self.memo: dict[Any, Any] = {}


class Code:
    """The writer; `stack[0]` is the function's entry.

    floor    the lowest frame that memory reads may move to
    """

    def __init__(self) -> None:
        self.stack: list[Frame] = [Frame("entry")]
        self.floor = 0
        self.has_scalef = False  # AVX-512: one instruction multiplies by powers of two
        self.counter = 0
        self.declarations: dict[str, str] = {}
        self.globals: dict[str, str] = {}

    # ---- names and raw instructions ------------------------------------------------------------------

    @property
    def top(self) -> int:
        return len(self.stack) - 1

    def fresh(self, prefix: str = "v") -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    def line(self, text: str, level: int | None = None) -> None:
        self.stack[self.top if level is None else level].lines.append(f"  {text}")

    def emit(self, kind: str, lanes: int, level: int, right: str) -> V:
        """``%new = right`` in frame `level`."""
        name = f"%{self.fresh()}"
        self.stack[level].lines.append(f"  {name} = {right}")
        return V(kind, lanes, level, name)

    def block(self, label: str) -> None:
        """Go on in a new block of the top frame; the caller has written the branch to it."""
        frame = self.stack[-1]
        frame.lines.append(f"{label}:")
        frame.label = label

    def declare(self, name: str, signature: str) -> None:
        """Make an external function known; `signature` is ``result (arguments)``."""
        result, arguments = signature.split(" (", 1)
        self.declarations[name] = f"declare {result} @{name}({arguments}"

    # ---- constants and lanes -------------------------------------------------------------------------

    def const(self, value: int | float, kind: str) -> V:
        if kind in INT_BITS:
            value = int(value) & 1 if kind == "i1" else wrapped(int(value), INT_BITS[kind])
        elif kind == "float":
            value = round_to_single(value)
        return V(kind, 1, 0, None, value)

    def index(self, value: int) -> V:
        return V("i64", 1, 0, None, value)

    def affine(self, base: V, step: V, lanes: int) -> V:
        """The integer ``base + lane * step``."""
        if step.const == 0:
            return base
        return V(base.kind, lanes, max(base.level, step.level), None, None, base, step)

    def text(self, v: V, lanes: int) -> str:
        """`v` as an operand of `lanes` lanes, without its type."""
        if v.const is not None and v.lanes == 1:
            return v.literal() if lanes == 1 else f"splat ({v.kind} {v.literal()})"
        if v.base is not None and v.ssa is None:
            self._vectorise(v)
        if v.lanes == lanes:
            assert v.ssa is not None
            return v.ssa
        assert v.lanes == 1, (v, lanes)
        return self._splat(v, lanes)

    def typed(self, v: V, lanes: int) -> str:
        text = self.text(v, lanes)
        return f"{vector_type(v.kind, lanes)} {text}"

    def _splat(self, v: V, lanes: int) -> str:
        if v.splats is None:
            v.splats = {}
        found = v.splats.get(lanes)
        if found is None:
            ty = vector_type(v.kind, lanes)
            one = self.emit(v.kind, lanes, v.level, f"insertelement {ty} poison, {v.kind} {v.ssa}, i64 0")
            found = self.emit(
                *(v.kind, lanes, v.level),
                f"shufflevector {ty} {one.ssa}, {ty} poison, <{lanes} x i32> zeroinitializer",
            )
            v.splats[lanes] = found
        assert found.ssa is not None
        return found.ssa

    def _vectorise(self, v: V) -> None:
        assert v.base is not None and v.step is not None
        ty = vector_type(v.kind, v.lanes)
        if v.step.const is not None:
            bits = INT_BITS[v.kind]
            values = (wrapped(i * int(v.step.const), bits) for i in range(v.lanes))
            lanes = f"<{', '.join(f'{v.kind} {x}' for x in values)}>"
        else:
            counts = f"<{', '.join(f'{v.kind} {i}' for i in range(v.lanes))}>"
            step = self.text(v.step, v.lanes)
            lanes = self.emit(v.kind, v.lanes, v.step.level, f"mul {ty} {step}, {counts}").ssa or ""
        if v.base.const == 0:
            made = self.emit(v.kind, v.lanes, v.level, f"add {ty} {lanes}, zeroinitializer")
        else:
            made = self.emit(v.kind, v.lanes, v.level, f"add {ty} {self.text(v.base, v.lanes)}, {lanes}")
        v.ssa = made.ssa

    def extract(self, v: V, lane: int) -> V:
        """One lane as a value of lanes 1."""
        if v.lanes == 1:
            return v
        if v.base is not None and v.step is not None:
            return self.add(v.base, self.mul(v.step, self.const(lane, v.kind)))
        return self.emit(v.kind, 1, v.level, f"extractelement {self.typed(v, v.lanes)}, i64 {lane}")

    def gather_lanes(self, parts: Sequence[V], level: int) -> V:
        """A vector from scalars."""
        lanes, kind = len(parts), parts[0].kind
        ty = vector_type(kind, lanes)
        level = max(level, *(p.level for p in parts))
        whole = "poison"
        made: V | None = None
        for i, part in enumerate(parts):
            made = self.emit(
                kind, lanes, level, f"insertelement {ty} {whole}, {kind} {self.text(part, 1)}, i64 {i}"
            )
            assert made.ssa is not None
            whole = made.ssa
        assert made is not None
        return made

    # ---- instructions --------------------------------------------------------------------------------

    def binary(self, name: str, x: V, y: V, flags: str = "") -> V:
        """An LLVM binary instruction; integers fold and stay affine where they can."""
        if not x.is_float:
            folded = self._integer(name, x, y)
            if folded is not None:
                return folded
        lanes = max(x.lanes, y.lanes)
        level = max(x.level, y.level)
        left, right = self.text(x, lanes), self.text(y, lanes)
        word = f"{name} {flags}" if flags else name
        return self.emit(x.kind, lanes, level, f"{word} {vector_type(x.kind, lanes)} {left}, {right}")

    def _integer(self, name: str, x: V, y: V) -> V | None:
        a, b = x.const, y.const
        if a is not None and b is not None and name in _FOLDED:
            return self.const(_FOLDED[name](int(a), int(b)), x.kind)
        if name in ("add", "or", "xor") and a == 0:
            return y
        if name in ("add", "sub", "or", "xor", "shl", "lshr", "ashr") and b == 0:
            return x
        if name == "mul":
            if a == 0 or b == 0:
                return self.const(0, x.kind)
            if a == 1:
                return y
            if b == 1:
                return x
        if x.kind == "i1":
            return self._boolean(name, x, y)
        if x.base is None and y.base is None:
            return None
        if name == "add" or name == "sub":
            if (x.lanes > 1 and x.base is None) or (y.lanes > 1 and y.base is None):
                return None
            base = self.binary(name, x.base or x, y.base or y)
            zero = self.const(0, x.kind)
            step = self.binary(name, x.step or zero, y.step or zero)
            return self.affine(base, step, max(x.lanes, y.lanes))
        if name == "mul":
            moving, factor = (x, y) if x.base is not None else (y, x)
            if factor.lanes > 1:
                return None
            assert moving.base is not None and moving.step is not None
            return self.affine(
                self.binary("mul", moving.base, factor), self.binary("mul", moving.step, factor), moving.lanes
            )
        return None

    def _boolean(self, name: str, x: V, y: V) -> V | None:
        for v, other in ((x, y), (y, x)):
            if v.const is None:
                continue
            if name == "and":
                return other if v.const else v
            if name == "or":
                return v if v.const else other
        return None

    def add(self, x: V, y: V) -> V:
        return self.binary("add", x, y)

    def sub(self, x: V, y: V) -> V:
        return self.binary("sub", x, y)

    def mul(self, x: V, y: V) -> V:
        return self.binary("mul", x, y)

    def both(self, x: V, y: V) -> V:
        return self.binary("and", x, y)

    def invert(self, x: V) -> V:
        """Logical not of an i1, bitwise of others."""
        return self.binary("xor", x, self.const(1 if x.kind == "i1" else -1, x.kind))

    def compare(self, predicate: str, x: V, y: V) -> V:
        """``icmp`` or ``fcmp``."""
        if x.const is not None and y.const is not None and predicate in _DECIDED:
            return self.const(_DECIDED[predicate](x.const, y.const), "i1")
        lanes = max(x.lanes, y.lanes)
        word = "fcmp" if x.is_float else "icmp"
        left, right = self.text(x, lanes), self.text(y, lanes)
        return self.emit(
            *("i1", lanes, max(x.level, y.level)),
            f"{word} {predicate} {vector_type(x.kind, lanes)} {left}, {right}",
        )

    def select(self, c: V, x: V, y: V) -> V:
        if c.const is not None:
            return x if c.const else y
        if x is y:
            return x
        lanes = max(c.lanes, x.lanes, y.lanes)
        level = max(c.level, x.level, y.level)
        parts = f"{self.typed(c, lanes)}, {self.typed(x, lanes)}, {self.typed(y, lanes)}"
        return self.emit(x.kind, lanes, level, f"select {parts}")

    def convert(self, name: str, x: V, kind: str) -> V:
        """``sext``, ``trunc``, ``fpext``, ``sitofp``, ...; the identity where the type stays."""
        if x.kind == kind and name != "bitcast":
            return x
        if x.const is not None and name in ("sext", "trunc"):
            return self.const(-x.const if x.kind == "i1" else x.const, kind)
        if x.const is not None and name == "zext":
            return self.const(int(x.const) & ((1 << INT_BITS[x.kind]) - 1), kind)
        if name == "trunc" and x.base is not None and x.step is not None:
            return self.affine(self.convert(name, x.base, kind), self.convert(name, x.step, kind), x.lanes)
        return self.emit(
            *(kind, x.lanes, x.level), f"{name} {self.typed(x, x.lanes)} to {vector_type(kind, x.lanes)}"
        )

    def bits(self, x: V, kind: str) -> V:
        return x if x.kind == kind else self.convert("bitcast", x, kind)

    def unary(self, name: str, x: V) -> V:
        return self.emit(x.kind, x.lanes, x.level, f"{name} {self.typed(x, x.lanes)}")

    def freeze(self, x: V) -> V:
        return x if x.const is not None else self.unary("freeze", x)

    def intrinsic(self, name: str, *args: V, kind: str = "", extra: str = "") -> V:
        """``llvm.<name>`` overloaded on the type of the first argument; all arguments share their lanes."""
        lanes = max(a.lanes for a in args)
        level = max(a.level for a in args)
        kind = kind or args[0].kind
        over = f"v{lanes}" if lanes > 1 else ""
        short = {"float": "f32", "double": "f64", "half": "f16"}.get(args[0].kind, args[0].kind)
        full = f"llvm.{name}.{over}{short}"
        ty = vector_type(kind, lanes)
        types = [vector_type(a.kind, lanes) for a in args]
        if extra:
            types.append(extra.split()[0])
        self.declare(full, f"{ty} ({', '.join(types)})")
        given = ", ".join(self.typed(a, lanes) for a in args) + (f", {extra}" if extra else "")
        return self.emit(kind, lanes, level, f"call {ty} @{full}({given})")

    def library(self, name: str, kind: str, *args: V) -> V:
        """A scalar C function applied lane by lane; it touches no memory."""
        lanes = max(a.lanes for a in args)
        self.declare(name, f"{kind} ({', '.join(a.kind for a in args)})")

        def one(lane: int) -> V:
            picked = [a if a.lanes == 1 else self.extract(a, lane) for a in args]
            level = max(p.level for p in picked)
            given = ", ".join(self.typed(p, 1) for p in picked)
            return self.emit(kind, 1, level, f"call {kind} @{name}({given})")

        if lanes == 1:
            return one(0)
        return self.gather_lanes([one(i) for i in range(lanes)], 0)

    # ---- memory --------------------------------------------------------------------------------------

    def pointer(self, address: V, level: int) -> str:
        """An i64 address as ``ptr``."""
        made = self.emit("ptr", 1, level, f"inttoptr {self.typed(address, 1)} to ptr")
        assert made.ssa is not None
        return made.ssa

    # ---- blocks --------------------------------------------------------------------------------------

    def push(self, label: str) -> Frame:
        frame = Frame(label)
        self.stack.append(frame)
        return frame

    def pop(self) -> Frame:
        return self.stack.pop()

    def inline(self, frame: Frame, first: str) -> None:
        """Put a finished frame, whose first block is `first`, at the end of the top frame."""
        self.line(f"br label %{first}")
        self.stack[-1].lines.append(f"{first}:")
        self.stack[-1].lines.extend(frame.lines)
        self.stack[-1].label = frame.label

    def open_loop(self, start: V, stop: V, step: int, carried: Sequence[V] = ()) -> tuple[V, list[V]]:
        """A loop over i64 ``range(start, stop, step)`` that runs at least once; `carried` become phis."""
        head = self.fresh("loop")
        frame = self.push(head)
        level = self.top
        parent = level - 1
        for c in carried:
            self.text(c, c.lanes)
        frame.lines.append("")  # the phis, written when the loop closes
        iv = V("i64", 1, level, f"%{self.fresh('i')}")
        phis = [V(c.kind, c.lanes, level, f"%{self.fresh('c')}") for c in carried]
        frame.memo["loop"] = (head, iv, phis, list(carried), start, stop, step, parent)
        return iv, phis

    def set_step(self, step: int) -> None:
        """Change the step of the innermost `open_loop`; it divides the count still."""
        memo = self.stack[-1].memo
        memo["loop"] = (*memo["loop"][:6], step, memo["loop"][7])

    def close_loop(self, following: Sequence[V] = ()) -> list[V]:
        """End the loop; gives the carried values after it."""
        frame = self.stack[-1]
        head, iv, phis, inits, start, stop, step, _ = frame.memo["loop"]
        nexts = [self.text(v, p.lanes) for v, p in zip(following, phis, strict=True)]
        following_iv, exit_label = f"%{self.fresh('n')}", self.fresh("exit")
        self.line(f"{following_iv} = add nsw i64 {iv.ssa}, {step}")
        again = f"%{self.fresh('b')}"
        self.line(f"{again} = icmp slt i64 {following_iv}, {self.text(stop, 1)}")
        self.line(f"br i1 {again}, label %{head}, label %{exit_label}")
        latch = frame.label
        self.pop()
        above = self.stack[-1]
        phi = [
            f"  {iv.ssa} = phi i64 [ {self.text(start, 1)}, %{above.label} ], [ {following_iv}, %{latch} ]"
        ]
        for p, init, after in zip(phis, inits, nexts, strict=True):
            ty = vector_type(p.kind, p.lanes)
            before = self.text(init, p.lanes)
            phi.append(f"  {p.ssa} = phi {ty} [ {before}, %{above.label} ], [ {after}, %{latch} ]")
        frame.lines[0] = "\n".join(phi)
        self.inline(frame, head)
        self.stack[-1].lines.append(f"{exit_label}:")
        self.stack[-1].label = exit_label
        return [V(p.kind, p.lanes, self.top, a) if a.startswith("%") else V(p.kind, p.lanes, 0, a)
                for p, a in zip(phis, nexts, strict=True)]  # fmt: skip

    def open_while(self, carried: Sequence[V]) -> list[V]:
        """A loop whose condition is written next; see `test` and `close_while`."""
        head = self.fresh("while")
        frame = self.push(head)
        frame.lines.append("")
        phis = [V(c.kind, c.lanes, self.top, f"%{self.fresh('c')}") for c in carried]
        frame.memo["while"] = (head, phis, list(carried), self.fresh("end"))
        return phis

    def test(self, condition: V) -> None:
        """Leave the loop unless `condition`."""
        _, _, _, end = self.stack[-1].memo["while"]
        body = self.fresh("body")
        self.line(f"br {self.typed(condition, 1)}, label %{body}, label %{end}")
        self.stack[-1].memo["tested"] = self.stack[-1].label
        self.block(body)

    def close_while(self, following: Sequence[V]) -> list[V]:
        frame = self.stack[-1]
        head, phis, inits, end = frame.memo["while"]
        nexts = [self.text(v, p.lanes) for v, p in zip(following, phis, strict=True)]
        self.line(f"br label %{head}")
        latch = frame.label
        self.pop()
        above = self.stack[-1]
        lines = []
        for p, init, after in zip(phis, inits, nexts, strict=True):
            ty = vector_type(p.kind, p.lanes)
            before = self.text(init, p.lanes)
            lines.append(f"  {p.ssa} = phi {ty} [ {before}, %{above.label} ], [ {after}, %{latch} ]")
        frame.lines[0] = "\n".join(lines)
        self.inline(frame, head)
        self.stack[-1].lines.append(f"{end}:")
        self.stack[-1].label = end
        return [V(p.kind, p.lanes, self.top, p.ssa) for p in phis]

    def branch(self, condition: V, yes: Frame | None, first_yes: str, no: Frame | None, first_no: str) -> str:
        """Two finished frames (or none) as the arms of a branch; gives the label where they meet."""
        end = self.fresh("join")
        self.line(
            f"br {self.typed(condition, 1)}, label %{first_yes if yes else end}, label %{first_no if no else end}"
        )
        lines = self.stack[-1].lines
        for frame, first in ((yes, first_yes), (no, first_no)):
            if frame is not None:
                lines.append(f"{first}:")
                lines.extend(frame.lines)
                lines.append(f"  br label %{end}")
        lines.append(f"{end}:")
        self.stack[-1].label = end
        return end

    def phi(self, kind: str, lanes: int, arms: Sequence[tuple[str, str]]) -> V:
        """Directly after `branch`: the value that came with the arm taken, from (operand text, last block)."""
        incoming = ", ".join(f"[ {value}, %{label} ]" for value, label in arms)
        return self.emit(kind, lanes, self.top, f"phi {vector_type(kind, lanes)} {incoming}")


def round_to_single(value: float) -> float:
    """The nearest fp32 number."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


_FOLDED = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
_DECIDED = {
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b,
    "sge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}
