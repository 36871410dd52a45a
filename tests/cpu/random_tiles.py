"""Random straight-line kernels over tiles of several shapes: many ways to move, reduce, mask, store and load again."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import prod

from tritium.errors import Loc
from tritium.ir.builder import Builder
from tritium.ir.core import Function, Region, Value
from tritium.ir.types import int32, pointer
from tritium.ops.arithmetic import Add, IntDiv, Mul, Sub
from tritium.ops.base import TileOp
from tritium.ops.bitwise import And, Xor
from tritium.ops.cast import Cast
from tritium.ops.compare import Greater, GreaterEqual, Less
from tritium.ops.control import Return, Yield
from tritium.ops.create import Arange, Constant, ProgramId
from tritium.ops.gather import Gather
from tritium.ops.index import Slice
from tritium.ops.join import Cat, Join, Split
from tritium.ops.memory import AddPtr, Load, Store
from tritium.ops.minmax import Maximum
from tritium.ops.reduce import Reduce
from tritium.ops.reshape import Reshape
from tritium.ops.scan import Scan
from tritium.ops.select import Select
from tritium.ops.shape import Broadcast, ExpandDims, Flip, Permute
from tritium.ops.sort import Sort

AREA = 4096
"""Elements of each array that a program instance may touch."""

SHAPES = [(8,), (16,), (33,), (4, 8), (8, 4), (3, 16), (2, 3, 8), (1, 16), (5, 1), (64,), (16, 16)]


class RandomTiles:
    """Builds ``kernel(x, y, n)`` of i32: `y` is loaded and stored, instances keep to areas of their own."""

    def __init__(self, seed: int, length: int = 30) -> None:
        self.random = random.Random(seed)
        self.function = Function("random_tiles")
        self.x = self.function.add_arg(pointer(int32), "x")
        self.y = self.function.add_arg(pointer(int32), "y")
        self.n = self.function.add_arg(int32, "n")
        self.builder = Builder(self.function.body, Loc("random.py", 1))
        pid = self.emit(ProgramId, axis=0)
        self.start = self.emit(Mul, pid, self.scalar(AREA))
        self.values: list[Value] = []
        for shape in self.random.sample(SHAPES, 3):
            self.values.append(self.load(self.x, shape))
        for _ in range(length):
            self.step()
        for v in self.values[-5:]:
            self.store(v)
        self.builder.insert(Return())

    def emit(self, cls: Callable[..., TileOp], *args: object, **attrs: object) -> Value:
        return self.builder.insert(cls(*args, **attrs)).results[0]

    def scalar(self, value: int) -> Value:
        return self.emit(Constant, value=value, type=int32)

    def filled(self, shape: tuple[int, ...], x: Value) -> Value:
        return self.emit(Broadcast, x, shape=shape) if shape else x

    # ---- indices, masks, memory ------------------------------------------------------------------------

    def along(self, shape: tuple[int, ...], axis: int) -> Value:
        """The coordinate along one axis, as a whole tile."""
        at = self.emit(Arange, start=0, end=shape[axis])
        for i in range(len(shape)):
            if i != axis:
                at = self.emit(ExpandDims, at, axis=i)
        return at if at.type.shape == shape else self.emit(Broadcast, at, shape=shape)

    def flat(self, shape: tuple[int, ...]) -> Value:
        total: Value | None = None
        for axis in range(len(shape)):
            step = prod(shape[axis + 1 :])
            part = self.along(shape, axis)
            if step > 1:
                part = self.emit(Mul, part, self.filled(shape, self.scalar(step)))
            total = part if total is None else self.emit(Add, total, part)
        assert total is not None
        return total

    def mask(self, shape: tuple[int, ...]) -> Value:
        """A comparison of a coordinate with something, perhaps two of them."""
        kind = self.random.randrange(4)
        at = self.along(shape, self.random.randrange(len(shape)))
        bound = self.filled(shape, self.random.choice((self.n, self.scalar(3), self.scalar(100))))
        if kind == 0:
            return self.emit(Less, at, bound)
        if kind == 1:
            return self.emit(
                And,
                self.emit(GreaterEqual, at, self.filled(shape, self.scalar(1))),
                self.emit(Less, at, bound),
            )
        if kind == 2:
            return self.emit(Greater, bound, self.emit(Add, at, self.filled(shape, self.n)))
        same = [v for v in self.values if v.type.shape == shape]
        return self.emit(Less, self.random.choice(same), bound) if same else self.emit(Less, at, bound)

    def places(self, array: Value, shape: tuple[int, ...]) -> Value:
        offset = self.emit(Add, self.start, self.scalar(self.random.choice((0, 7, 64, 500))))
        index = self.flat(shape)
        if self.random.random() < 0.3:
            index = self.emit(Mul, index, self.filled(shape, self.scalar(self.random.choice((2, 3)))))
        if self.random.random() < 0.2:
            last = self.scalar(prod(shape) * 3)
            index = self.emit(Sub, self.filled(shape, last), index)
        base = self.filled(shape, self.emit(AddPtr, array, offset))
        return self.emit(AddPtr, base, index)

    def load(self, array: Value, shape: tuple[int, ...]) -> Value:
        ptr = self.places(array, shape)
        if self.random.random() < 0.5:
            return self.emit(Load, ptr)
        return self.emit(Load, ptr, self.mask(shape), self.filled(shape, self.scalar(-5)))

    def store(self, value: Value) -> None:
        shape = value.type.shape
        if not shape:
            value, shape = self.filled((8,), value), (8,)
        mask = self.mask(shape) if self.random.random() < 0.5 else None
        self.builder.insert(Store(self.places(self.y, shape), value, mask))

    # ---- statements ----------------------------------------------------------------------------------

    def step(self) -> None:
        kinds = ["compute"] * 4 + [
            "choose",
            "move",
            "move",
            "reduce",
            "scan",
            "load",
            "store",
            "join",
            "pick",
        ]
        made = getattr(self, f"_{self.random.choice(kinds)}")()
        self.values.extend(made)

    def pick(self) -> Value:
        return self.random.choice(self.values[-6:] if self.random.random() < 0.6 else self.values)

    def tile_of(self) -> Value:
        return self.random.choice([v for v in self.values if v.type.shape])

    def alike(self, x: Value) -> Value:
        same = [v for v in self.values if v.type == x.type]
        return self.random.choice(same)

    def _compute(self) -> list[Value]:
        x = self.pick()
        y = (
            self.alike(x)
            if self.random.random() < 0.7
            else self.filled(x.type.shape, self.scalar(self.random.randint(-4, 9)))
        )
        return [self.emit(self.random.choice((Add, Sub, Mul, Xor, Maximum, IntDiv)), x, y)]

    def _choose(self) -> list[Value]:
        x = self.tile_of()
        return [self.emit(Select, self.mask(x.type.shape), x, self.alike(x))]

    def _move(self) -> list[Value]:
        x = self.tile_of()
        shape = x.type.shape
        kind = self.random.randrange(4)
        if kind == 0 and len(shape) > 1:
            order = list(range(len(shape)))
            self.random.shuffle(order)
            return [self.emit(Permute, x, order=tuple(order))]
        if kind == 1:
            return [self.emit(Flip, x, axis=self.random.randrange(len(shape)))]
        if kind == 2:
            fitting = [s for s in SHAPES if prod(s) == prod(shape)] + [(prod(shape),)]
            return [self.emit(Reshape, x, shape=self.random.choice(fitting))]
        if 1 in shape:
            return [self.emit(Broadcast, x, shape=tuple(4 if d == 1 else d for d in shape))]
        starts = tuple(self.random.randrange(d) for d in shape)
        extents = tuple(self.random.randint(1, d - s) for d, s in zip(shape, starts, strict=True))
        return [self.emit(Slice, x, starts=starts, extents=extents, steps=(1,) * len(shape))]

    def combine(self) -> Region:
        region = Region()
        left, right = region.add_arg(int32, "left"), region.add_arg(int32, "right")
        with self.builder.into(region):
            kind = self.random.randrange(3)
            if kind == 2:
                chosen = self.emit(Less, left, right)
                out = self.emit(Select, chosen, right, left)
            else:
                out = self.emit(Add if kind else Maximum, left, right)
            self.builder.insert(Yield([out]))
        return region

    def _reduce(self) -> list[Value]:
        x = self.tile_of()
        return [self.emit(Reduce, [x], axis=self.random.randrange(len(x.type.shape)), combine=self.combine())]

    def _scan(self) -> list[Value]:
        x = self.tile_of()
        axis = self.random.randrange(len(x.type.shape))
        return [self.emit(Scan, [x], axis=axis, reverse=self.random.random() < 0.5, combine=self.combine())]

    def _load(self) -> list[Value]:
        return [self.load(self.random.choice((self.x, self.y)), self.random.choice(SHAPES))]

    def _store(self) -> list[Value]:
        self.store(self.pick())
        return []

    def _join(self) -> list[Value]:
        x = self.tile_of()
        kind = self.random.randrange(3)
        if kind == 0 and prod(x.type.shape) < 512:
            return [self.emit(Join, x, self.alike(x))]
        if kind == 1 and prod(x.type.shape) < 512:
            return [self.emit(Cat, x, self.alike(x), axis=self.random.randrange(len(x.type.shape)))]
        if x.type.shape[-1] == 2:
            return list(self.builder.insert(Split(x)).results)
        return [self.emit(Sort, x, descending=self.random.random() < 0.5)]

    def _pick(self) -> list[Value]:
        x = self.tile_of()
        if len(x.type.shape) != 1:
            return [self.emit(Cast, self.mask(x.type.shape), to=int32)]
        return [self.emit(Gather, x, self.tile_of_rank_one(), axis=0)]

    def tile_of_rank_one(self) -> Value:
        return self.random.choice([v for v in self.values if len(v.type.shape) == 1] or [self.along((8,), 0)])
