"""Random tile programs of all types and ops, written by a script of numbers.

A `Script` is a list of small numbers from which the builder takes its decisions, 0 when it has run out; every script is a
valid program, and shorter or smaller scripts are simpler programs, which is what makes counterexamples shrink. Programs
lean towards what passes look for: repeated expressions, constants with an algebra, invariants of loops, known conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.interp.launching import run
from tritium.errors import Loc
from tritium.ir.builder import Builder
from tritium.ir.core import Function, Region, Value
from tritium.ir.types import (
    DType,
    Type,
    bfloat16,
    float16,
    float32,
    float64,
    int1,
    int8,
    int16,
    int32,
    int64,
    like,
    pointer,
    shaped,
    uint8,
    uint32,
    uint64,
)
from tritium.ops.atomic import AtomicRmw
from tritium.ops.base import REGISTRY, TileOp
from tritium.ops.bitwise import And
from tritium.ops.cast import Cast
from tritium.ops.compare import Compare
from tritium.ops.control import For, If, Poison, Return, While, Yield
from tritium.ops.create import Arange, Constant, NumPrograms, ProgramId
from tritium.ops.dot import Dot
from tritium.ops.elementwise import Elementwise
from tritium.ops.hints import Hint
from tritium.ops.memory import AddPtr, Load, Store
from tritium.ops.reduce import Reduce
from tritium.ops.reshape import Reshape
from tritium.ops.scan import Scan
from tritium.ops.select import Select
from tritium.ops.shape import Broadcast, ExpandDims, Flip, Permute

TYPES = (
    int32,
    float32,
    int32,
    float32,
    int64,
    float16,
    uint32,
    int8,
    bfloat16,
    int16,
    uint8,
    float64,
    uint64,
)
SHAPES: tuple[tuple[int, ...], ...] = ((), (4,), (), (4,), (3, 4), (1, 4), (3, 1), (2, 1, 3), (1,))
BINARY = tuple(c for c in REGISTRY.values() if issubclass(c, Elementwise) and len(c.operand_fields) == 2)
UNARY = tuple(c for c in REGISTRY.values() if issubclass(c, Elementwise) and len(c.operand_fields) == 1)
NUMBERS = (0, 1, -1, 0, 1, 2, 3, -7, 127)
FLOATS = (0.0, -0.0, 1.0, 0.0, -0.0, -1.0, float("inf"), float("nan"), 3.25, 1e-7)
ARITHMETIC = tuple(
    REGISTRY[f"tile.{n}"] for n in ("add", "sub", "mul", "div", "idiv", "maximum", "minimum", "and", "or")
)
TABLE = 16
SLOT = 12
"""Elements that one store may write: no shape has more."""

scripts = st.lists(st.integers(0, 63), max_size=240)


class Script:
    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = numbers
        self.at = 0

    def below(self, n: int) -> int:
        """A number below `n`, 0 at the end of the script."""
        if self.at >= len(self.numbers):
            return 0
        self.at += 1
        return self.numbers[self.at - 1] % n

    def choice(self, options: Sequence[Any]) -> Any:
        return options[self.below(len(options))]

    @property
    def ended(self) -> bool:
        return self.at >= len(self.numbers)


class Program:
    """``kernel(x, y, out, counts, n, f)``: reads x (fp32) and y (int32), each instance stores into its own slots of out."""

    def __init__(self, numbers: Sequence[int], structured: bool = True) -> None:
        self.script = Script(numbers)
        self.structured = structured
        self.function = Function("kernel")
        self.builder = Builder(self.function.body, Loc("program.py", 1))
        self.x = self.function.add_arg(pointer(float32), "x")
        self.y = self.function.add_arg(pointer(int32), "y")
        self.out = self.function.add_arg(pointer(float64), "out")
        self.counts = self.function.add_arg(pointer(int32), "counts")
        self.n = self.function.add_arg(int32, "n")
        self.f = self.function.add_arg(float32, "f")
        self.stores = 0
        self._build()

    # ---- emitting ------------------------------------------------------------------------------------

    def emit(self, cls: type[TileOp], *args: Any, **attrs: Any) -> Value:
        op = self.builder.insert(cls(*args, **attrs))
        return op.results[0]

    def constant(self, number: float, ty: Type) -> Value:
        scalar = ty.scalar
        assert isinstance(scalar, DType)
        if scalar.is_floating():
            number = float(number)
        elif scalar is int1:
            number = bool(number)
        else:
            low, high = scalar.get_int_min_value(), scalar.get_int_max_value()
            number = (int(number) - low) % (high - low + 1) + low
        return self.emit(Constant, value=number, type=ty)

    def literal(self, ty: Type) -> Value:
        scalar = ty.scalar
        return self.constant(self.script.choice(FLOATS if scalar.is_floating() else NUMBERS), ty)

    def spread(self, x: Value, shape: tuple[int, ...]) -> Value:
        return x if x.type.shape == shape else self.emit(Broadcast, x, shape=shape)

    def masked(self, x: Value, limit: int) -> Value:
        """`x` cut to 0...limit (limit + 1 is a power of two), as int32."""
        if x.type.scalar is not int32:
            x = self.emit(Cast, x, to=int32)
        return self.emit(And, x, self.constant(limit, x.type))

    # ---- values --------------------------------------------------------------------------------------

    def pick(self, values: list[Value], fits: Callable[[Value], bool] = lambda v: True) -> Value | None:
        fitting = [v for v in values if fits(v)]
        return fitting[-1 - self.script.below(min(len(fitting), 16))] if fitting else None

    def of_type(self, values: list[Value], ty: Type) -> Value:
        """Some value of type `ty`: one that is there, or a literal."""
        found = self.pick(values, lambda v: v.type == ty)
        return found if found is not None and self.script.below(3) else self.literal(ty)

    def scalar(self, values: list[Value]) -> Value:
        found = self.pick(values, lambda v: v.type is int32)
        return self.n if found is None else found

    def condition(self, values: list[Value]) -> Value:
        if self.script.below(6) == 5:
            return self.constant(self.script.below(2), int1)
        x = self.scalar(values)
        cls = self.script.choice([c for c in BINARY if issubclass(c, Compare)])
        return self.emit(cls, self.masked(x, 7), self.constant(self.script.below(8), int32))

    # ---- one statement each --------------------------------------------------------------------------

    def _algebra(self, values: list[Value], depth: int) -> list[Value]:
        """An operation with a literal that may be its unit or its zero, or with itself."""
        x = self.pick(values)
        assert x is not None
        classes = [c for c in ARITHMETIC if x.type.scalar.text in c.formats]  # type: ignore[attr-defined]
        cls = self.script.choice(classes)
        kind = self.script.below(5)
        if kind == 4:
            return [self.emit(cls, x, x)]
        y = self.literal(x.type)
        return [self.emit(cls, y, x) if kind == 3 else self.emit(cls, x, y)]

    def _memory(self, values: list[Value], depth: int) -> list[Value]:
        """A cell of this very instance is read, perhaps changed, and read again."""
        ptr = self.script.choice((self.cell, self.cells))
        first = self.emit(Load, ptr)
        kind = self.script.below(6)
        value = self.of_type(values, first.type)
        if kind == 1:
            self.builder.insert(Store(ptr, value))
        elif kind == 2:
            self.emit(AtomicRmw, ptr, value, kind="add")
        elif kind == 3:
            regions = [Region(), Region()]
            for made in regions:
                with self.builder.into(made):
                    if made is regions[0]:
                        self.builder.insert(Store(ptr, value))
                    self.builder.insert(Yield([]))
            self.builder.insert(If(self.condition(values), *regions))
        return [first, self.emit(Load, ptr)]

    def _binary(self, values: list[Value], depth: int) -> list[Value]:
        x = self.pick(values)
        assert x is not None
        if x.type.scalar is int1:
            classes: list[Any] = [c for c in BINARY if "i1" in c.formats]
        else:
            classes = [c for c in BINARY if x.type.scalar.text in c.formats]  # type: ignore[union-attr]
        y = self.of_type(values, x.type)
        cls = self.script.choice(classes)
        return [self.emit(cls, y, x) if self.script.below(3) == 2 else self.emit(cls, x, y)]

    def _again(self, values: list[Value], depth: int) -> list[Value]:
        """The same computation as an earlier one, operands perhaps exchanged."""
        x = self.pick(
            values, lambda v: isinstance(v.owner, TileOp) and not v.owner.regions and v.owner.is_pure
        )
        if x is None:
            return []
        op = x.owner
        assert isinstance(op, TileOp)
        known = set(values)
        if any(v not in known for v in op.operands):
            return []
        copy = op.clone({})
        if (
            len(copy.operands) == 2
            and copy.operands[0].type == copy.operands[1].type
            and self.script.below(2)
        ):
            copy.set_operands(copy.operands[::-1])
        self.builder.insert(copy)
        return [copy.results[x.index]]

    def _unary(self, values: list[Value], depth: int) -> list[Value]:
        x = self.pick(values, lambda v: v.type.scalar is not int1)
        if x is None:
            return []
        classes = [c for c in UNARY if x.type.scalar.text in c.formats]  # type: ignore[union-attr]
        return [self.emit(self.script.choice(classes), x)] if classes else []

    def _cast(self, values: list[Value], depth: int) -> list[Value]:
        x = self.pick(values)
        assert x is not None
        return [self.emit(Cast, x, to=self.script.choice((*TYPES, int1)))]

    def _select(self, values: list[Value], depth: int) -> list[Value]:
        x = self.pick(values)
        assert x is not None
        condition = self.of_type(values, like(x.type, int1))
        return [self.emit(Select, condition, x, self.of_type(values, x.type))]

    def _literal(self, values: list[Value], depth: int) -> list[Value]:
        return [self.literal(shaped(self.script.choice((*TYPES, int1)), self.script.choice(SHAPES)))]

    def _shape(self, values: list[Value], depth: int) -> list[Value]:
        x = self.pick(values)
        assert x is not None
        shape = x.type.shape
        kind = self.script.below(5)
        if kind == 0 or not shape:
            fitting = [s for s in SHAPES if s and _stretches(shape, s)]
            return [self.emit(Broadcast, x, shape=self.script.choice(fitting))] if fitting else []
        if kind == 1 and len(shape) < 3:
            return [self.emit(ExpandDims, x, axis=self.script.below(len(shape) + 1))]
        if kind == 2:
            return [self.emit(Permute, x, order=tuple(reversed(range(len(shape)))))]
        if kind == 3:
            return [self.emit(Flip, x, axis=self.script.below(len(shape)))]
        return [self.emit(Reshape, x, shape=(x.type.numel,))]

    def _combine(self, values: list[Value], depth: int) -> list[Value]:
        x = self.pick(values, lambda v: bool(v.type.shape) and v.type.scalar is not int1)
        if x is None:
            return []
        scalar = x.type.scalar
        classes = [c for c in BINARY if scalar.text in c.formats and not issubclass(c, Compare)]  # type: ignore[union-attr]
        cls = self.script.choice(classes)
        region = Region()
        a, b = region.add_arg(scalar, "a"), region.add_arg(scalar, "b")
        with self.builder.into(region):
            found = self.emit(cls, a, b)
            self.builder.insert(Yield([found]))
        axis = self.script.below(len(x.type.shape))
        return [self.emit(Reduce if self.script.below(2) else Scan, [x], axis=axis, combine=region)]

    def _dot(self, values: list[Value], depth: int) -> list[Value]:
        x = self.pick(values, lambda v: len(v.type.shape) == 2 and v.type.scalar in (float32, float16))
        if x is None:
            return []
        other = self.emit(Permute, x, order=(1, 0))
        acc = self.literal(shaped(float32, (x.type.shape[0],) * 2)) if self.script.below(2) else None
        return [self.emit(Dot, x, other, acc, out=float32)]

    def _index(self, values: list[Value], depth: int) -> list[Value]:
        shape = self.script.choice(SHAPES)
        kind = self.script.below(3)
        if kind == 0:
            return [self.emit(ProgramId, axis=self.script.below(2))]
        if kind == 1:
            return [self.emit(Arange, start=self.script.below(3), end=7)]
        return [
            self.emit(Hint, self.n, kind="max_constancy", values=(1,)),
            self.emit(Poison, type=shaped(int32, shape)),
        ]

    def _load(self, values: list[Value], depth: int) -> list[Value]:
        x = self.pick(values, lambda v: v.type.scalar.is_int())
        if x is None:
            return []
        index = self.masked(x, TABLE - 1)
        base = self.script.choice((self.x, self.y, self.counts))
        ptr = self.emit(AddPtr, self.spread(base, index.type.shape) if index.type.shape else base, index)
        result = like(ptr.type, ptr.type.scalar.element_ty)  # type: ignore[union-attr]
        kind = self.script.below(4)
        if kind < 2:
            return [self.emit(Load, ptr, volatile=kind == 1 and self.script.below(4) == 0)]
        mask = self.of_type(values, like(ptr.type, int1))
        return [self.emit(Load, ptr, mask, self.of_type(values, result))]

    def _count(self, values: list[Value], depth: int) -> list[Value]:
        """A read-modify-write of a cell of this very instance."""
        kind = self.script.choice(("add", "xor", "xchg", "max"))
        return [self.emit(AtomicRmw, self.cell, self.scalar(values), kind=kind)]

    def _store(self, values: list[Value], depth: int) -> list[Value]:
        value = self.pick(values)
        assert value is not None
        self.store(value, self.of_type(values, like(value.type, int1)) if self.script.below(2) else None)
        return []

    def store(self, value: Value, mask: Value | None = None) -> None:
        """Store `value` into the next slot; stores in loops write the same slot again."""
        shape = value.type.shape
        if value.type.numel > SLOT or self.stores >= 24:
            return
        offset = self.constant(self.stores * SLOT, int32)
        self.stores += 1
        if shape:
            flat = self.emit(Arange, start=0, end=value.type.numel)
            flat = self.emit(REGISTRY["tile.add"], flat, self.spread(offset, flat.type.shape))
            offset = flat if len(shape) == 1 else self.emit(Reshape, flat, shape=shape)
        ptr = self.emit(AddPtr, self.spread(self.own, shape) if shape else self.own, offset)
        wide = value if value.type.scalar is float64 else self.emit(Cast, value, to=float64)
        self.builder.insert(Store(ptr, wide, mask))

    # ---- control flow --------------------------------------------------------------------------------

    def region(self, values: list[Value], depth: int, types: list[Type], args: list[Value]) -> list[Value]:
        """Statements in the current region, and a yield of values of `types`."""
        found = self.statements([*values, *args], depth - 1)
        results = [self.of_type(found, t) for t in types]
        self.builder.insert(Yield(results))
        return results

    def carried(self, values: list[Value]) -> tuple[list[Type], list[Value]]:
        inits: list[Value] = []
        for _ in range(self.script.below(4)):
            found = self.pick(values)
            assert found is not None
            inits.append(found)
        return [v.type for v in inits], inits

    def _if(self, values: list[Value], depth: int) -> list[Value]:
        types, _ = self.carried(values)
        condition = self.condition(values)
        regions = [Region(), Region()]
        for made in regions:
            with self.builder.into(made):
                self.region(values, depth, types, [])
        return list(self.builder.insert(If(condition, *regions)).results)

    def _for(self, values: list[Value], depth: int) -> list[Value]:
        types, inits = self.carried(values)
        ty = self.script.choice((int32, int32, int64, uint8))
        lower, upper, step = (self.constant(self.script.below(k), ty) for k in (3, 5, 2))
        if self.script.below(3):
            upper = self.masked(self.scalar(values), 3)
            upper = upper if ty is int32 else self.emit(Cast, upper, to=ty)
        step = self.constant(1 + self.script.below(3), ty)
        if ty is int32 and self.script.below(4) == 3:
            lower, upper, step = upper, lower, self.constant(-1, ty)
        body = Region()
        args = [body.add_arg(ty, "i"), *(body.add_arg(t) for t in types)]
        with self.builder.into(body):
            self.region(values, depth, types, args)
        return list(self.builder.insert(For(lower, upper, step, inits, body)).results)

    def _while(self, values: list[Value], depth: int) -> list[Value]:
        """At most three turns: a counter runs down, and a further condition may end it earlier."""
        types, inits = self.carried(values)
        types, inits = [int32, *types], [self.constant(self.script.below(4), int32), *inits]
        cond, body = Region(), Region()
        tested = [cond.add_arg(t) for t in types]
        with self.builder.into(cond):
            going = self.emit(REGISTRY["tile.gt"], tested[0], self.constant(0, int32))
            if self.script.below(2):
                going = self.emit(And, going, self.condition([*values, *tested]))
            self.builder.insert(Yield([going]))
        args = [body.add_arg(t) for t in types]
        with self.builder.into(body):
            fewer = self.emit(REGISTRY["tile.sub"], args[0], self.constant(1, int32))
            found = self.statements([*values, *args], depth - 1)
            self.builder.insert(Yield([fewer, *(self.of_type(found, t) for t in types[1:])]))
        return list(self.builder.insert(While(inits, cond, body)).results)

    def statements(self, values: list[Value], depth: int) -> list[Value]:
        kinds = [self._binary, self._again, self._cast, self._select, self._shape, self._literal, self._unary]
        kinds += [self._combine, self._index, self._load, self._count, self._store, self._dot, self._binary]
        kinds += [self._algebra, self._algebra, self._algebra, self._memory, self._memory, self._store]
        if depth and self.structured:
            kinds += [self._if, self._for, self._while, self._for, self._if, self._for, self._while]
        count = 60 if depth == 3 else 1 + self.script.below(5)
        values = list(values)
        for _ in range(count):
            if self.script.ended:
                break
            values += self.script.choice(kinds)(values, depth)
        return values

    def _build(self) -> None:
        pid = [self.emit(ProgramId, axis=axis) for axis in range(2)]
        rows = self.emit(NumPrograms, axis=0)
        self.linear = self.emit(REGISTRY["tile.add"], self.emit(REGISTRY["tile.mul"], pid[1], rows), pid[0])
        four = self.constant(4, int32)
        slot = self.emit(REGISTRY["tile.mul"], self.linear, four)
        slot = self.emit(REGISTRY["tile.add"], slot, self.constant(TABLE, int32))
        self.cell = self.emit(AddPtr, self.counts, slot)
        self.own = self.emit(
            AddPtr, self.out, self.emit(REGISTRY["tile.mul"], self.linear, self.constant(24 * SLOT, int32))
        )
        lanes = self.emit(Arange, start=0, end=4)
        self.cells = self.emit(AddPtr, self.spread(self.cell, (4,)), lanes)
        values = [self.n, self.f, *pid, self.linear, lanes, self.emit(Cast, lanes, to=float32)]
        values = self.statements(values, 3)
        for v in values[-8:]:
            self.store(v)
        self.builder.insert(Return())


def _stretches(source: tuple[int, ...], target: tuple[int, ...]) -> bool:
    return not source or (
        len(source) == len(target) and all(m in (1, n) for m, n in zip(source, target, strict=True))
    )


GRID = (2, 2)


def execute(function: Function, n: int = 5, f: float = -1.5) -> dict[str, np.ndarray]:
    """What a program leaves in its arrays."""
    x = np.array(
        [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, 1e-40, 3e38, 7, -7.5, 2, 100, 0.1, -3], np.float32
    )
    y = np.array([0, 1, -1, 2**31 - 1, -(2**31), 5, 7, 8, 9, -3, 100, 255, 256, 65535, 12, 3], np.int32)
    out = np.full(4 * 24 * SLOT, -12345.0)
    counts = np.arange(TABLE + 4 * 4, dtype=np.int32)
    run(function, GRID, x, y, out, counts, n, f)
    return {"x": x, "y": y, "out": out, "counts": counts}
