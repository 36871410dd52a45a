"""A terse way to write IR in tests: one method call per op, broadcasting and constants put in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tritium.errors import Loc
from tritium.ir.builder import Builder
from tritium.ir.core import Function, Region, Value
from tritium.ir.types import DType, Type, int32, like, shaped
from tritium.ops import arithmetic, bitwise, compare, control, create, memory, select, shape
from tritium.ops.atomic import AtomicCas, AtomicRmw
from tritium.ops.base import TileOp
from tritium.ops.cast import Bitcast, Cast

FILE = "kernel.py"


class Kernel:
    """A function under construction; parameters are attributes. Ops carry ``kernel.py:<self.line>``."""

    def __init__(self, name: str = "kernel", /, **parameters: Type) -> None:
        self.function = Function(name)
        self.builder = Builder(self.function.body)
        self.line = 1
        for parameter, ty in parameters.items():
            setattr(self, parameter, self.function.add_arg(ty, parameter))

    def at(self, line: int) -> Kernel:
        self.line = line
        return self

    def done(self) -> Function:
        self.builder.insert(control.Return())
        return self.function

    def emit(self, cls: type[TileOp], *args: Any, name: str = "", **attrs: Any) -> Any:
        op = self.builder.insert(cls(*args, loc=Loc(FILE, self.line, function=self.function.name), **attrs))
        for result in op.results:
            result.name = name
        return op.results[0] if len(op.results) == 1 else list(op.results)

    # ---- values --------------------------------------------------------------------------------------

    def value(self, x: Any, ty: Type) -> Value:
        if isinstance(x, Value):
            return x
        return self.emit(create.Constant, value=x, type=shaped(ty.scalar, ty.shape))

    def spread(self, x: Value, dims: tuple[int, ...]) -> Value:
        while x.type.shape and len(x.type.shape) < len(dims):
            x = self.emit(shape.ExpandDims, x, axis=0)
        return x if x.type.shape == dims else self.emit(shape.Broadcast, x, shape=dims)

    def pair(self, x: Any, y: Any) -> tuple[Value, Value]:
        x = self.value(x, y.type) if not isinstance(x, Value) else x
        y = self.value(y, x.type) if not isinstance(y, Value) else y
        a, b = x.type.shape, y.type.shape
        rank = max(len(a), len(b))
        a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
        dims = tuple(max(m, n) for m, n in zip(a, b, strict=True))
        return self.spread(x, dims), self.spread(y, dims)

    def pid(self, axis: int = 0) -> Value:
        return self.emit(create.ProgramId, axis=axis, name=f"pid{axis}")

    def arange(self, n: int, name: str = "") -> Value:
        return self.emit(create.Arange, start=0, end=n, name=name)

    def rows(self, x: Value) -> Value:
        return self.emit(shape.ExpandDims, x, axis=1)

    def columns(self, x: Value) -> Value:
        return self.emit(shape.ExpandDims, x, axis=0)

    def add(self, x: Any, y: Any, name: str = "") -> Value:
        return self.emit(arithmetic.Add, *self.pair(x, y), name=name)

    def sub(self, x: Any, y: Any) -> Value:
        return self.emit(arithmetic.Sub, *self.pair(x, y))

    def mul(self, x: Any, y: Any) -> Value:
        return self.emit(arithmetic.Mul, *self.pair(x, y))

    def band(self, x: Any, y: Any) -> Value:
        return self.emit(bitwise.And, *self.pair(x, y))

    def lt(self, x: Any, y: Any) -> Value:
        return self.emit(compare.Less, *self.pair(x, y))

    def eq(self, x: Any, y: Any) -> Value:
        return self.emit(compare.Equal, *self.pair(x, y))

    def ne(self, x: Any, y: Any) -> Value:
        return self.emit(compare.NotEqual, *self.pair(x, y))

    def where(self, c: Value, x: Any, y: Any) -> Value:
        x, y = self.pair(x, y)
        return self.emit(select.Select, self.spread(c, x.type.shape) if x.type.shape else c, x, y)

    def cast(self, x: Value, to: DType) -> Value:
        return self.emit(Cast, x, to=to)

    def bitcast(self, x: Value, to: Any) -> Value:
        return self.emit(Bitcast, x, to=to)

    # ---- memory --------------------------------------------------------------------------------------

    def ptr(self, base: Value, offset: Any) -> Value:
        if not isinstance(offset, Value):
            offset = self.value(offset, int32)
        return self.emit(memory.AddPtr, *self.pair(base, offset))

    def load(
        self, ptr: Value, mask: Value | None = None, other: Any = None, name: str = "", **attrs: Any
    ) -> Value:
        result = like(ptr.type, ptr.type.scalar.element_ty)  # type: ignore[union-attr]
        if other is not None:
            other = (
                self.spread(self.value(other, result), ptr.type.shape)
                if ptr.type.shape
                else self.value(other, result)
            )
        if mask is not None:
            mask = self.spread(mask, ptr.type.shape) if ptr.type.shape else mask
        return self.emit(memory.Load, ptr, mask, other, name=name, **attrs)

    def store(self, ptr: Value, value: Any, mask: Value | None = None) -> None:
        value = self.value(value, like(ptr.type, ptr.type.scalar.element_ty))  # type: ignore[union-attr]
        if ptr.type.shape:
            value = self.spread(value, ptr.type.shape)
            mask = None if mask is None else self.spread(mask, ptr.type.shape)
        self.emit(memory.Store, ptr, value, mask)

    def atomic(self, kind: str, ptr: Value, value: Any, mask: Value | None = None) -> Value:
        value = self.value(value, like(ptr.type, ptr.type.scalar.element_ty))  # type: ignore[union-attr]
        if ptr.type.shape:
            value = self.spread(value, ptr.type.shape)
        return self.emit(AtomicRmw, ptr, value, mask, kind=kind)

    def cas(self, ptr: Value, compare_: Any, value: Any) -> Value:
        ty = like(ptr.type, ptr.type.scalar.element_ty)  # type: ignore[union-attr]
        return self.emit(AtomicCas, ptr, self.value(compare_, ty), self.value(value, ty))

    # ---- control flow --------------------------------------------------------------------------------

    def region(self, body: Callable[..., Sequence[Value] | None], types: Sequence[Type] = ()) -> Region:
        made = Region()
        args = [made.add_arg(t) for t in types]
        with self.builder.into(made):
            self.builder.insert(control.Yield(list(body(*args) or [])))
        return made

    def if_(self, condition: Value, then: Callable[[], Any], other: Callable[[], Any] = lambda: []) -> Any:
        return self.emit(control.If, condition, self.region(then), self.region(other))

    def for_(
        self, lower: Any, upper: Any, step: Any, inits: Sequence[Value], body: Callable[..., Any]
    ) -> Any:
        bounds = [self.value(b, int32) for b in (lower, upper, step)]
        types = [int32, *(v.type for v in inits)]
        return self.emit(control.For, *bounds, list(inits), self.region(body, types))

    def while_(self, inits: Sequence[Value], cond: Callable[..., Any], body: Callable[..., Any]) -> Any:
        types = [v.type for v in inits]
        return self.emit(
            control.While, list(inits), self.region(lambda *a: [cond(*a)], types), self.region(body, types)
        )
