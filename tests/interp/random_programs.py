"""Random kernels with nested control flow: scalars and small tiles of i32, loops that end, loads and stores.

Every program instance writes only its own row of `out`, so the result of a grid is what the instances give one by one.
"""

from __future__ import annotations

import random

from tritium.errors import Loc
from tritium.ir.builder import Builder
from tritium.ir.core import Function, Region, Value
from tritium.ir.types import Type, int32, pointer, tile
from tritium.ops.arithmetic import Add, Mul, Sub
from tritium.ops.base import TileOp
from tritium.ops.bitwise import And, Xor
from tritium.ops.compare import Less
from tritium.ops.control import For, If, Return, While, Yield
from tritium.ops.create import Arange, Constant, NumPrograms, ProgramId
from tritium.ops.memory import AddPtr, Load, Store
from tritium.ops.select import Select
from tritium.ops.shape import Broadcast

LANES = 5
TABLE = 16
ROW = 64
TILE = tile(int32, (LANES,))


class RandomKernel:
    """Builds ``kernel(table, out)``; `depth` bounds the nesting, `length` the statements per region."""

    def __init__(self, seed: int, depth: int = 3, length: int = 5) -> None:
        self.random = random.Random(seed)
        self.length = length
        self.function = Function("random_kernel")
        self.table = self.function.add_arg(pointer(int32), "table")
        self.out = self.function.add_arg(pointer(int32), "out")
        self.builder = Builder(self.function.body, Loc("random.py", 1))
        self.stores = 0
        self._build(depth)

    # ---- emitting ------------------------------------------------------------------------------------

    def emit(self, cls: type[TileOp], *args: object, **attrs: object) -> Value:
        op = self.builder.insert(cls(*args, **attrs))
        return op.results[0]

    def constant(self, value: int, ty: Type = int32) -> Value:
        return self.emit(Constant, value=value, type=ty)

    def spread(self, x: Value) -> Value:
        return x if x.type.shape else self.emit(Broadcast, x, shape=(LANES,))

    def _build(self, depth: int) -> None:
        pids = [self.emit(ProgramId, axis=axis) for axis in range(3)]
        counts = [self.emit(NumPrograms, axis=axis) for axis in range(2)]
        linear = self.emit(
            Add,
            self.emit(Mul, self.emit(Add, self.emit(Mul, pids[2], counts[1]), pids[1]), counts[0]),
            pids[0],
        )
        self.row = self.emit(Mul, linear, self.constant(ROW))
        values = [*pids, linear, self.constant(3), self.emit(Arange, start=0, end=LANES)]
        values = self.statements(values, depth)
        for v in values[-6:]:
            self.store(v)
        self.builder.insert(Return())

    # ---- statements ----------------------------------------------------------------------------------

    def statements(self, values: list[Value], depth: int) -> list[Value]:
        """Append random statements to the current region; gives `values` and what was added."""
        values = list(values)
        for _ in range(self.random.randint(1, self.length)):
            kinds = ["compute"] * 4 + ["load", "store"]
            if depth:
                kinds += ["if", "for", "while"]
            values.extend(getattr(self, f"_{self.random.choice(kinds)}")(values, depth))
        return values

    def pick(self, values: list[Value], scalar: bool | None = None) -> Value:
        fitting = [v for v in values if scalar is None or (not v.type.shape) == scalar]
        if scalar and self.random.random() < 0.3:  # values that differ along one axis of the grid only
            return self.random.choice(fitting[:3])
        return self.random.choice(fitting[-8:] if self.random.random() < 0.7 else fitting)

    def condition(self, values: list[Value]) -> Value:
        bit = self.emit(And, self.pick(values, scalar=True), self.constant(self.random.choice((1, 2, 3, 7))))
        return self.emit(Less, bit, self.constant(self.random.choice((1, 2, 4))))

    def small(self, values: list[Value], limit: int) -> Value:
        return self.emit(And, self.pick(values, scalar=True), self.constant(limit))

    def _compute(self, values: list[Value], depth: int) -> list[Value]:
        x, y = self.pick(values), self.pick(values)
        if x.type != y.type:
            x, y = self.spread(x), self.spread(y)
        kind = self.random.choice((Add, Sub, Mul, Xor, Select))
        if kind is Select:
            return [self.emit(Select, self.emit(Less, x, y), x, y)]
        return [self.emit(kind, x, y)]

    def _load(self, values: list[Value], depth: int) -> list[Value]:
        x = self.pick(values)
        index = self.emit(
            And, x, self.spread(self.constant(TABLE - 1)) if x.type.shape else self.constant(TABLE - 1)
        )
        ptr = self.emit(AddPtr, self.spread(self.table) if x.type.shape else self.table, index)
        if self.random.random() < 0.5:
            return [self.emit(Load, ptr)]
        mask = self.emit(Less, index, x)
        return [self.emit(Load, ptr, mask, x)]

    def _store(self, values: list[Value], depth: int) -> list[Value]:
        if self.stores < 6:  # the rest of the row is for the values at the kernel's end
            self.store(self.pick(values))
        return []

    def store(self, value: Value) -> None:
        if (self.stores + 1) * LANES > ROW:
            return
        place = self.emit(Add, self.row, self.constant(self.stores * LANES))
        self.stores += 1
        if value.type.shape:
            offsets = self.emit(Add, self.spread(place), self.emit(Arange, start=0, end=LANES))
            ptr = self.emit(AddPtr, self.spread(self.out), offsets)
        else:
            ptr = self.emit(AddPtr, self.out, place)
        self.builder.insert(Store(ptr, value))

    def branch(
        self, values: list[Value], depth: int, types: list[Type], args: tuple[Value, ...] = ()
    ) -> Region:
        region = Region()
        with self.builder.into(region):
            self.fill(values, depth, types)
        return region

    def fill(self, values: list[Value], depth: int, types: list[Type]) -> None:
        found = self.statements(values, depth)
        self.builder.insert(
            Yield([self.random.choice([v for v in found if v.type == t][-4:]) for t in types])
        )

    def _if(self, values: list[Value], depth: int) -> list[Value]:
        types: list[Type] = self.random.choices((int32, TILE), k=self.random.randint(0, 3))
        condition = self.condition(values)
        op = If(condition, self.branch(values, depth - 1, types), self.branch(values, depth - 1, types))
        return list(self.builder.insert(op).results)

    def _for(self, values: list[Value], depth: int) -> list[Value]:
        types: list[Type] = self.random.choices((int32, TILE), k=self.random.randint(1, 3))
        inits = [self.random.choice([v for v in values if v.type == t]) for t in types]
        lower, step = self.small(values, 3), self.constant(self.random.choice((1, 2)))
        upper = (
            self.emit(Add, lower, self.small(values, 3)) if self.random.random() < 0.7 else self.constant(4)
        )
        if self.random.random() < 0.3:
            lower, upper, step = upper, lower, self.emit(Sub, self.constant(0), step)
        body = Region()
        args = [body.add_arg(int32, "i"), *(body.add_arg(t) for t in types)]
        with self.builder.into(body):
            self.fill([*values, *args], depth - 1, types)
        return list(self.builder.insert(For(lower, upper, step, inits, body)).results)

    def _while(self, values: list[Value], depth: int) -> list[Value]:
        """At most four iterations, and only as long as a value that is new in each of them is not 0."""
        types: list[Type] = [int32, int32, *self.random.choices((int32, TILE), k=self.random.randint(0, 2))]
        inits = [self.constant(4), self.small(values, 3)]
        inits += [self.random.choice([v for v in values if v.type == t]) for t in types[2:]]
        cond, body = Region(), Region()
        left, going, *_ = [cond.add_arg(t) for t in types]
        with self.builder.into(cond):
            zero = self.constant(0)
            both = self.emit(And, self.emit(Less, zero, left), self.emit(Less, zero, going))
            self.builder.insert(Yield([both]))
        args = [body.add_arg(t) for t in types]
        with self.builder.into(body):
            found = self.statements([*values, *args], depth - 1)
            fewer = self.emit(Sub, args[0], self.constant(1))
            rest = [self.random.choice([v for v in found if v.type == t][-4:]) for t in types[2:]]
            self.builder.insert(Yield([fewer, self.small(found, 3), *rest]))
        return list(self.builder.insert(While(inits, cond, body)).results)
