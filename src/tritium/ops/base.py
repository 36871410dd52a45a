"""What an op class is: declared fields plus facets. Everything else about ops is derived from these classes.

An op is one class in one file of this folder::

    class Maximum(Elementwise, name="tile.maximum"):
        '''Larger of x and y per element; a NaN loses to a number. ...'''
        x = operand()
        y = operand()
        propagate_nan = attr(False)
        commutative = True

        def infer(self): ...                      type rule: operand types -> result types
        def eval(self, x, y): ...                 NumPy meaning, the interpreter's and the constant folder's

        @surface("maximum")                       tl.maximum: coercion of arguments, then one emitted op
        def build(s, x, y, propagate_nan=...): ...

Facets
------
fields        ``operand()``, ``operand(optional=True)``, ``operand(variadic=True)``, ``attr(default)``, ``region()``.
              From them come the constructor, accessors, printer, parser, clone and structural hash.
``infer``     the type rule. The builder uses it for result types and the verifier re-runs it after every pass.
              Raises `TypeRuleError` with a sentence.
``effect``    pure, reads, writes, barrier, io. CSE, DCE, hoisting and ordering ask it (`effects()` refines it).
``eval``      pure ops: NumPy arrays in, array (or tuple of arrays) out.
``execute``   ops that need the machine: memory, program ids, control flow, printing (see `Machine`).
``facts``     interval, divisibility, affine form... of the result from those of the operands (see `tritium.ops.facts`).
``operand_layout``  the register layout an operand needs so that the result comes out in a given one (GPU).
``cpu``       instructions of one element (or of the lanes of a vector) from those of the operands' elements.
``cuda``      C++ of one element from C++ of the operands' elements; ``emit_cuda`` where it takes more than that.
``cost``      bytes moved and arithmetic done by one program instance.
``samples``   inputs for differential tests and fuzzing.
docstring     prose plus a doctest; the reference page is made of it.

Array convention of ``eval`` and ``execute``
--------------------------------------------
An array stands for one value in *many program instances*: three leading batch axes (the grid box being run,
x, y, z), then the tile's own axes. ANY axis may have extent 1 where the true extent is larger; that means "the
same along this axis" and NumPy broadcasting does the rest. So a value that does not depend on the program is
``(1, 1, 1, ...)`` and ``rows[:, None]`` stays one column wide. An op that needs true extents asks `full`.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tritium.errors import Loc
from tritium.ir.core import Op, Region, Value
from tritium.ir.types import Type

if TYPE_CHECKING:
    from tritium.ops.emit import CpuEmitter, CudaEmitter, Expr
    from tritium.ops.facts import Bound, Facts
    from tritium.ops.gpu_layout import RegisterLayout
    from tritium.ops.machine import Machine

Array = np.ndarray[Any, Any]
BATCH_AXES = 3


class TypeRuleError(Exception):
    """An op's type rule does not accept its operands; the message is one sentence without location."""


class Effect(enum.Flag):
    """What an op does besides computing its results."""

    PURE = 0
    READ = enum.auto()
    WRITE = enum.auto()
    ATOMIC = enum.auto()  # read-modify-write, visible to other program instances
    BARRIER = enum.auto()  # orders all memory operations around it
    IO = enum.auto()  # prints, asserts: keeps its place, touches no memory
    VOLATILE = enum.auto()  # may not be repeated, dropped or moved


class Field:
    """A declared operand, attribute or region. As a descriptor it reads the op's part of the flat lists."""

    __slots__ = ("default", "index", "kind", "name", "optional", "variadic")

    def __init__(self, kind: str, optional: bool = False, variadic: bool = False, default: Any = ...) -> None:
        self.kind = kind
        self.optional = optional
        self.variadic = variadic
        self.default = default
        self.name = ""
        self.index = 0

    def __get__(self, op: Any, owner: Any = None) -> Any:
        if op is None:
            return self
        if self.kind == "attr":
            return op.attrs[self.name]
        if self.kind == "region":
            return op.regions[self.index]
        segments = op.segments
        if not segments:  # every operand field is single and present
            return op.operands[self.index]
        start = sum(segments[: self.index])
        count = segments[self.index]
        if self.variadic:
            return op.operands[start : start + count]
        return op.operands[start] if count else None

    def __set__(self, op: Any, value: Any) -> None:
        if self.kind != "attr":
            raise AttributeError(f"{self.name}: operands change through set_operand, regions in place")
        op.attrs[self.name] = value


def operand(*, optional: bool = False, variadic: bool = False) -> Any:
    """Declare an SSA input."""
    return Field("operand", optional=optional, variadic=variadic)


def attr(default: Any = ...) -> Any:
    """Declare a compile-time attribute; without a default it is required."""
    return Field("attr", default=default)


def region() -> Any:
    """Declare nested code."""
    return Field("region")


REGISTRY: dict[str, type[TileOp]] = {}
"""All op classes by IR name, in definition order."""


class TileOp(Op):
    """Base of all ops: binds fields, infers result types, carries the facets' defaults."""

    __slots__ = ()

    fields: ClassVar[tuple[Field, ...]] = ()
    operand_fields: ClassVar[tuple[Field, ...]] = ()
    attr_fields: ClassVar[tuple[Field, ...]] = ()
    region_fields: ClassVar[tuple[Field, ...]] = ()
    flat_operands: ClassVar[bool] = True  # no optional or variadic operand: `segments` stays empty

    effect: ClassVar[Effect] = Effect.PURE
    commutative: ClassVar[bool] = False
    associative: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False  # op(x, x) == x
    unit: ClassVar[float | None] = None  # op(x, unit) == x on integers (and from the left if commutative)
    float_unit: ClassVar[float | None] = None  # the same on floats, exact for NaN, infinities and -0 too
    absorbing: ClassVar[float | None] = None  # op(x, absorbing) == absorbing on integers
    only_converts: ClassVar[bool] = False  # where the result has the operand's type, it is the operand
    isolated: ClassVar[bool] = False  # its regions use no value from outside, and no pass may make them
    speculatable: ClassVar[bool] = True  # may run where the program would not have run it (no fault, pure)

    def __init_subclass__(cls, *, name: str = "", terminator: bool | None = None, **kw: Any) -> None:
        super().__init_subclass__(**kw)
        own = [v for v in vars(cls).values() if isinstance(v, Field)]
        for field_name, value in vars(cls).items():
            if isinstance(value, Field):
                value.name = field_name
        fields = [*cls.fields, *own]
        cls.fields = tuple(fields)
        for kind in ("operand", "attr", "region"):
            group = tuple(f for f in fields if f.kind == kind)
            for i, f in enumerate(group):
                f.index = i
            setattr(cls, f"{kind}_fields", group)
        cls.flat_operands = not any(f.optional or f.variadic for f in cls.operand_fields)
        if terminator is not None:
            cls.is_terminator = terminator
        if name:
            if name in REGISTRY:
                raise TypeError(f"op {name} is defined twice")
            if not cls.__doc__:
                raise TypeError(f"op {name} has no docstring")
            cls.name = name
            REGISTRY[name] = cls

    def __init__(
        self, *args: Any, loc: Loc | None = None, result_names: Sequence[str] = (), **kw: Any
    ) -> None:
        self.loc = loc
        self.parent = None
        self.attrs = {}
        self.regions = []
        self.operands = []
        self.results = []
        self._bind(args, kw)
        for i, ty in enumerate(self.infer()):
            self.results.append(Value(ty, self, i, result_names[i] if i < len(result_names) else ""))

    def _bind(self, args: tuple[Any, ...], kw: dict[str, Any]) -> None:
        operands: list[Value] = []
        segments: list[int] = []
        positional = iter(args)
        for f in self.fields:
            value = kw.pop(f.name, ...) if f.name in kw else next(positional, ...)
            if f.kind == "attr":
                value = f.default if value is ... else value
                if value is ...:
                    raise TypeError(f"{self.name}: attribute {f.name} is missing")
                self.attrs[f.name] = value
            elif f.kind == "region":
                nested = Region(self) if value is ... or value is None else value
                nested.parent = self
                self.regions.append(nested)
            else:
                if f.variadic:
                    values = [] if value is ... else list(value)
                elif value is ... or value is None:
                    if not f.optional:
                        raise TypeError(f"{self.name}: operand {f.name} is missing")
                    values = []
                else:
                    values = [value]
                operands.extend(values)
                segments.append(len(values))
        if (
            self.regions or self.effect is not Effect.PURE
        ) and "order" in kw:  # tokens, see `tritium.passes.order_memory`
            self.attrs["order"] = kw.pop("order")
        if "layout" in kw:  # of the results in registers, see `tritium.passes.assign_layouts`
            self.attrs["layout"] = kw.pop("layout")
        if kw or next(positional, ...) is not ...:
            raise TypeError(
                f"{self.name} takes {[f.name for f in self.fields]}, got extra {sorted(kw) or args}"
            )
        self.segments = () if self.flat_operands else tuple(segments)
        self.set_operands(operands)

    # ---- facets, with their defaults -------------------------------------------------------------------

    def infer(self) -> Sequence[Type]:
        """Result types from operands and attributes. Raises TypeRuleError."""
        raise TypeRuleError(f"{self.name} has no type rule")

    def check(self) -> None:
        """Rules about regions and attributes beyond result types; the verifier runs it. Raises TypeRuleError."""

    def effects(self) -> Effect:
        """The effects of this very op; with regions, those of the nested ops as well."""
        found = self.effect
        for nested in self.regions:
            for op in nested.ops:
                found |= op.effects()  # type: ignore[attr-defined]
        return found

    @property
    def is_pure(self) -> bool:
        return self.effects() is Effect.PURE

    def eval(self, *args: Array) -> Any:
        """NumPy meaning of a pure op: one array per operand in, one array (or a tuple) out."""
        raise TypeRuleError(f"{self.name} has no value of its own")

    def execute(self, m: Machine, *args: Array | None) -> Any:
        """Meaning on the machine. Pure ops inherit this; others override it (and may be generators)."""
        return self.eval(*args)  # type: ignore[arg-type]

    def facts(self, *operands: Facts) -> Facts | None:
        """Facts of the (only) result, or None where nothing is known."""
        return None

    def demand(self, wanted: tuple[Bound, ...], operand: int) -> tuple[Bound, ...]:
        """Conditions under which an element of operand number `operand` is needed, if elements of the results
        are needed only where `wanted` holds. No condition: every element may be needed."""
        return ()

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        """The layout that operand number `operand` needs for the result to be in `layout` without any element
        changing its thread; None where elements must move."""
        return None

    def cpu(self, e: CpuEmitter, *x: Any) -> Any:
        """The element of the result; `x` are the operands' elements at the same place, as the emitter hands them out."""
        e.unsupported(self)

    def cuda(self, e: CudaEmitter, *x: Expr) -> Expr:
        """C++ of one element of the result; `x` are the operands' elements at the same place."""
        e.unsupported(self)

    def emit_cuda(self, e: CudaEmitter) -> None:
        """Write the op through the emitter. Ops that work element by element inherit theirs and give `cuda`."""
        e.unsupported(self)


def full(x: Array, shape: tuple[int, ...]) -> Array:
    """`x` with its tile axes stretched to `shape` (batch axes as they are), as a view."""
    want = x.shape[:BATCH_AXES] + shape
    return x if x.shape == want else np.broadcast_to(x, want)


def rank_up(x: Array, rank: int) -> Array:
    """A scalar's array ``(bx, by, bz)`` with `rank` tile axes of extent 1 appended."""
    return x.reshape(x.shape + (1,) * (rank + BATCH_AXES - x.ndim))
