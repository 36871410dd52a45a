"""Random index arithmetic: what kernels do to compute addresses and masks, and what they hardly ever do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.property.programs import Script
from tritium.errors import Loc
from tritium.ir.builder import Builder
from tritium.ir.core import Function, Region, Value
from tritium.ir.types import Type, float32, int1, int8, int16, int32, int64, like, pointer, uint8, uint32
from tritium.ops.arithmetic import Add, IntDiv, Mul, Rem, Sub
from tritium.ops.base import REGISTRY, TileOp
from tritium.ops.bitwise import And, Or, Shl, Shr, Xor
from tritium.ops.cast import Cast
from tritium.ops.compare import Compare, Equal, GreaterEqual, Less, LessEqual, NotEqual
from tritium.ops.control import For, If, Return, While, Yield
from tritium.ops.create import Arange, Constant, ProgramId
from tritium.ops.hints import Hint
from tritium.ops.memory import AddPtr, Load, Store
from tritium.ops.minmax import Maximum, Minimum
from tritium.ops.select import Select
from tritium.ops.shape import Broadcast, ExpandDims, Permute

ARITHMETIC = (Add, Add, Add, Mul, Mul, Sub, Rem, IntDiv, Minimum, Maximum, And, Shl, Shr, Xor, Or)
COMPARISONS: tuple[type[Compare], ...] = (
    Less,
    Less,
    LessEqual,
    GreaterEqual,
    Equal,
    NotEqual,
    REGISTRY["tile.gt"],
)  # type: ignore[assignment]
NUMBERS = (0, 1, 2, 3, 4, 8, 16, 32, 64, -1, -3, 7, 100, 2**31 - 1, -(2**31), 65536, 255, 1000003)
SHAPES: tuple[tuple[int, ...], ...] = ((), (4,), (4, 3), (4, 1), (1, 3))


class IndexProgram:
    """``kernel(x, y, n, m, stride, wide, small)``; stride is promised to be a multiple of 16, x of 16 bytes."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.script = Script(numbers)
        self.function = Function("kernel")
        self.builder = Builder(self.function.body, Loc("index.py", 1))
        self.x = self.function.add_arg(pointer(float32), "x", divisibility=16)
        self.y = self.function.add_arg(pointer(int32), "y")
        names = {"n": int32, "m": int32, "wide": int64, "small": uint8}
        self.scalars = [self.function.add_arg(t, n) for n, t in names.items()]
        self.scalars.append(self.function.add_arg(int32, "stride", divisibility=16))
        self._build()

    def emit(self, cls: type[TileOp], *args: Any, **attrs: Any) -> Value:
        return self.builder.insert(cls(*args, **attrs)).results[0]

    def constant(self, number: int, ty: Type) -> Value:
        scalar = ty.scalar
        if scalar is int1:
            return self.emit(Constant, value=bool(number), type=ty)
        low, high = scalar.get_int_min_value(), scalar.get_int_max_value()  # type: ignore[union-attr]
        return self.emit(Constant, value=(number - low) % (high - low + 1) + low, type=ty)

    def pick(self, values: list[Value], fits: Callable[[Value], bool]) -> Value | None:
        fitting = [v for v in values if fits(v)]
        return fitting[-1 - self.script.below(min(len(fitting), 12))] if fitting else None

    def integer(self, values: list[Value]) -> Value:
        found = self.pick(values, lambda v: v.type.scalar.is_int() and v.type.scalar is not int1)
        assert found is not None
        return found

    def spread(self, x: Value, shape: tuple[int, ...]) -> Value | None:
        """`x` at `shape`, with new axes and stretched ones as needed; None where it does not fit."""
        if x.type.shape == shape:
            return x
        if x.type.shape and len(x.type.shape) < len(shape):
            axis = self.script.below(len(shape))
            wanted = shape[1 - axis] if len(shape) == 2 else None
            if x.type.shape[0] not in (1, wanted):
                return None
            x = self.emit(ExpandDims, x, axis=axis)
        if x.type.shape and not all(m in (1, n) for m, n in zip(x.type.shape, shape, strict=False)):
            return None
        if len(x.type.shape) not in (0, len(shape)):
            return None
        return x if x.type.shape == shape else self.emit(Broadcast, x, shape=shape)

    def operand(self, values: list[Value], ty: Type) -> Value:
        """Something of type `ty`: another value brought there, or a number."""
        if self.script.below(3):
            other = self.integer(values)
            if other.type.scalar is not ty.scalar:
                other = self.emit(Cast, other, to=ty.scalar)
            fitting = self.spread(other, ty.shape)
            if fitting is not None:
                return fitting
        return self.constant(self.script.choice(NUMBERS), ty)

    # ---- statements ----------------------------------------------------------------------------------

    def _arithmetic(self, values: list[Value], depth: int) -> list[Value]:
        x = self.integer(values)
        y = self.operand(values, x.type)
        return [self.emit(self.script.choice(ARITHMETIC), *((y, x) if self.script.below(4) == 3 else (x, y)))]

    def _arange(self, values: list[Value], depth: int) -> list[Value]:
        start = self.script.choice((0, 0, 0, 16, 5))
        return [self.emit(Arange, start=start, end=start + self.script.choice((4, 3, 1)))]

    def _cast(self, values: list[Value], depth: int) -> list[Value]:
        return [
            self.emit(Cast, self.integer(values), to=self.script.choice((int64, int32, uint32, int8, int16)))
        ]

    def _compare(self, values: list[Value], depth: int) -> list[Value]:
        x = self.integer(values)
        return [self.emit(self.script.choice(COMPARISONS), x, self.operand(values, x.type))]

    def _mask(self, values: list[Value], depth: int) -> list[Value]:
        x = self.pick(values, lambda v: v.type.scalar is int1)
        if x is None:
            return self._compare(values, depth)
        kind = self.script.below(6)
        if kind == 5:
            return [self.emit(Xor, x, self.constant(1, x.type))]
        y = self.pick(values, lambda v: v.type.scalar is int1)
        fitting = self.spread(y, x.type.shape) if y is not None and x.type.shape else None
        if fitting is None:
            return []
        return [self.emit(Or if kind == 4 else And, x, fitting)]

    def _select(self, values: list[Value], depth: int) -> list[Value]:
        x = self.integer(values)
        c = self.pick(values, lambda v: v.type == like(x.type, int1))
        return [self.emit(Select, c, x, self.operand(values, x.type))] if c is not None else []

    def _shape(self, values: list[Value], depth: int) -> list[Value]:
        x = self.pick(values, lambda v: bool(v.type.shape))
        if x is None:
            return []
        if len(x.type.shape) == 1:
            return [self.emit(ExpandDims, x, axis=self.script.below(2))]
        if self.script.below(2):
            wide = tuple(4 if a == 0 else 3 for a in range(2))
            stretched = self.spread(x, wide)
            return [stretched] if stretched is not None else []
        return [self.emit(Permute, x, order=(1, 0))]

    def _hint(self, values: list[Value], depth: int) -> list[Value]:
        """A promise that is true: the stride is a multiple of 16, and what is counted from 16 starts at one of 8."""
        if self.script.below(2):
            return [self.emit(Hint, self.scalars[-1], kind="multiple_of", values=(16,))]
        lanes = self.emit(Arange, start=16, end=20)
        return [self.emit(Hint, lanes, kind="multiple_of", values=(8,))]

    def address(self, values: list[Value]) -> Value:
        offset = self.integer(values)
        base = self.pick(values, lambda v: isinstance(v.type.scalar, type(self.x.type)) and not v.type.shape)
        base = base if base is not None and self.script.below(2) else self.script.choice((self.x, self.y))
        if offset.type.shape:
            base = self.emit(Broadcast, base, shape=offset.type.shape)
        return self.emit(AddPtr, base, offset)

    def _pointer(self, values: list[Value], depth: int) -> list[Value]:
        x = self.pick(values, lambda v: v.type.scalar is self.x.type or v.type.scalar is self.y.type)
        if x is None or self.script.below(2):
            return [self.address(values)]
        offset = self.operand(values, like(x.type, int32))
        return [self.emit(AddPtr, x, offset)]

    def _load(self, values: list[Value], depth: int) -> list[Value]:
        ptr = self.pick(values, lambda v: v.type.scalar is self.y.type)
        if ptr is None:
            return [self.address(values)]
        mask = self.pick(values, lambda v: v.type == like(ptr.type, int1))
        if mask is None or self.script.below(3) == 0:
            return [self.emit(Load, ptr)]
        other = (
            self.constant(self.script.choice(NUMBERS), like(ptr.type, int32))
            if self.script.below(2)
            else None
        )
        return [self.emit(Load, ptr, mask, other)]

    def _store(self, values: list[Value], depth: int) -> list[Value]:
        ptr = self.pick(values, lambda v: isinstance(v.type.scalar, type(self.x.type)))
        if ptr is None:
            return []
        element = ptr.type.scalar.element_ty  # type: ignore[union-attr]
        value = self.pick(values, lambda v: v.type.shape == ptr.type.shape and v.type.scalar is int32)
        if value is None:
            value = self.constant(1, like(ptr.type, int32))
        if element is float32:
            value = self.emit(Cast, value, to=float32)
        mask = self.pick(values, lambda v: v.type == like(ptr.type, int1))
        self.builder.insert(Store(ptr, value, mask if self.script.below(4) else None))
        return []

    # ---- control flow --------------------------------------------------------------------------------

    def carried(self, values: list[Value]) -> list[Value]:
        found: list[Value] = []
        for _ in range(1 + self.script.below(3)):
            v = self.pick(values, lambda v: v.type.scalar is not int1 and v.type.scalar is not float32)
            if v is not None:
                found.append(v)
        return found

    def ends(self, args: list[Value], found: list[Value]) -> list[Value]:
        """What a body yields: the argument advanced, or any value of its type, or itself."""
        out: list[Value] = []
        for arg in args:
            kind = self.script.below(5)
            if kind == 0:
                out.append(arg)
            elif kind == 1:
                out.append(next((v for v in reversed(found) if v.type == arg.type), arg))
            else:
                step_type = arg.type if arg.type.scalar.is_int() else like(arg.type, int32)
                step = self.operand(found, step_type)
                cls = Add if arg.type.scalar.is_int() else AddPtr
                out.append(self.emit(cls, arg, step))
        return out

    def _for(self, values: list[Value], depth: int) -> list[Value]:
        ty = self.script.choice((int32, int32, int64))
        lower = self.constant(self.script.choice((0, 0, 3, -5, 16)), ty)
        upper = self.constant(self.script.choice((1, 6, 12, -20, 20, 17)), ty)
        step = self.constant(self.script.choice((1, 4, 16, -7, 5)), ty)
        if self.script.below(3) == 0:
            bound = self.pick(values, lambda v: v.type is ty)
            if bound is not None:
                lower = self.emit(And, bound, self.constant(31, ty))
                upper = self.emit(Add, lower, self.constant(self.script.below(9), ty))
        inits = self.carried(values)
        body = Region()
        args = [body.add_arg(ty, "i"), *(body.add_arg(v.type) for v in inits)]
        with self.builder.into(body):
            found = self.statements([*values, *args], depth - 1)
            self.builder.insert(Yield(self.ends(args[1:], found)))
        return list(self.builder.insert(For(lower, upper, step, inits, body)).results)

    def _while(self, values: list[Value], depth: int) -> list[Value]:
        inits = [self.constant(self.script.below(4), int32), *self.carried(values)]
        cond, body = Region(), Region()
        tested = [cond.add_arg(v.type) for v in inits]
        with self.builder.into(cond):
            going = self.emit(Less, tested[0], self.constant(5, int32))
            self.statements([*values, *tested], 0)
            self.builder.insert(Yield([going]))
        args = [body.add_arg(v.type) for v in inits]
        with self.builder.into(body):
            found = self.statements([*values, *args], depth - 1)
            more = self.emit(Add, args[0], self.constant(1 + self.script.below(2), int32))
            self.builder.insert(Yield([more, *self.ends(args[1:], found)]))
        return list(self.builder.insert(While(inits, cond, body)).results)

    def _if(self, values: list[Value], depth: int) -> list[Value]:
        condition = self.pick(values, lambda v: v.type is int1)
        outs = self.carried(values)
        if condition is None:
            return []
        regions = [Region(), Region()]
        for made in regions:
            with self.builder.into(made):
                found = self.statements(values, depth - 1)
                self.builder.insert(Yield(self.ends(outs, found)))
        return list(self.builder.insert(If(condition, *regions)).results)

    def statements(self, values: list[Value], depth: int) -> list[Value]:
        kinds = [self._arithmetic] * 6 + [self._arange, self._cast, self._compare, self._mask, self._mask]
        kinds += [self._select, self._shape, self._shape, self._hint, self._pointer, self._load, self._store]
        if depth:
            kinds += [self._for, self._for, self._while, self._if]
        values = list(values)
        for _ in range(40 if depth == 2 else 1 + self.script.below(5)):
            if self.script.ended:
                break
            values += self.script.choice(kinds)(values, depth)
        return values

    def _build(self) -> None:
        pids = [self.emit(ProgramId, axis=axis) for axis in range(2)]
        lanes = self.emit(Arange, start=0, end=4)
        values = self.statements([*self.scalars, *pids, lanes], 2)
        for v in values[-6:]:
            if isinstance(v.type.scalar, type(self.x.type)):
                self.builder.insert(Load(v))
        self.builder.insert(Return())
