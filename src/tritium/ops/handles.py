"""What a kernel's names stand for while it is compiled: run-time tensors and compile-time constants.

=============  ========================================================  ==========================
handle         holds                                                     weak in promotion?
=============  ========================================================  ==========================
``Tensor``     an SSA value: a number, a pointer, or a tile of either    no, also when 0-d
``constexpr``  a Python value known at compile time                      yes, if it is a number
``Aggregate``  several tensors with compile-time parts: a block pointer  does not take part
=============  ========================================================  ==========================

Kernel code never runs as Python, so these have no arithmetic of their own: the frontend turns ``x + y`` into
a call of the surface registered for ``+`` (`tritium.ops.surface`). Attributes such as ``x.dtype`` and ``x.shape``
are read from the handle; methods such as ``x.to(...)`` are surfaces too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, ClassVar, TypeVar

from tritium.ir.core import Value
from tritium.ir.types import ScalarType, Type


class Tensor:
    """A run-time value inside a kernel (``tl.tensor``): 0-d or a tile, of numbers or pointers.

    dtype   scalar type of an element (a pointer type for pointer tensors)
    shape   tuple of constexpr ints, empty for 0-d
    type    full type: the scalar type itself for 0-d, else a tile type
    numel   number of elements, constexpr
    """

    __slots__ = ("value",)

    def __init__(self, value: Value, type: Any = None) -> None:
        self.value = value

    @property
    def handle(self) -> Value:
        return self.value

    @property
    def type(self) -> Type:
        return self.value.type

    @property
    def dtype(self) -> ScalarType:
        return self.value.type.scalar

    @property
    def dims(self) -> tuple[int, ...]:
        """The extents as plain ints."""
        return self.value.type.shape

    @property
    def shape(self) -> tuple[constexpr, ...]:
        return tuple(constexpr(d) for d in self.value.type.shape)

    @property
    def numel(self) -> constexpr:
        return constexpr(self.value.type.numel)

    def is_scalar(self) -> bool:
        return not self.value.type.shape

    def __repr__(self) -> str:
        return f"tensor({self.value.type})"

    __str__ = __repr__


class Aggregate:
    """A handle made of tensors and compile-time parts, such as a block pointer or a tensor descriptor.

    Control flow carries it as its tensors. ``x.rebuild(x.flatten())`` is x again, and two aggregates may stand
    in each other's place (the next turn of a loop, the other branch) if their `key` and the types of their
    tensors are equal. Attributes are read from the object; methods are the surfaces of module `methods`.
    """

    __slots__ = ()

    methods: ClassVar[str] = ""

    def flatten(self) -> list[Tensor]:
        """The run-time parts, in a fixed order."""
        raise TypeError(f"{type(self).__name__} does not say what it is made of")

    def rebuild(self: AggregateT, tensors: Sequence[Tensor]) -> AggregateT:
        """The same aggregate with other run-time parts, given in the order of `flatten`."""
        raise TypeError(f"{type(self).__name__} does not say how it is made")

    def key(self) -> Hashable:
        """The compile-time parts, for comparing."""
        return type(self)

    def describe(self) -> str:
        """How an error names it."""
        return type(self).__name__

    def __repr__(self) -> str:
        return self.describe()


AggregateT = TypeVar("AggregateT", bound=Aggregate)


class constexpr:
    """A compile-time constant (``tl.constexpr``). Operators work on the wrapped value and give constexprs.

    >>> constexpr(3) + 4
    constexpr[7]
    """

    __slots__ = ("value",)

    def __new__(cls, value: Any = None) -> constexpr:
        if isinstance(value, constexpr):  # wrapping twice changes nothing
            return value
        self = super().__new__(cls)
        self.value = value
        return self

    def __init__(self, value: Any = None) -> None:
        pass

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return self.value.__index__()

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, item: Any) -> Any:
        return self.value[unwrap(item)]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.value, name)

    def __call__(self, *args: Any, **kw: Any) -> Any:
        return self.value(*args, **kw)

    def __reduce__(self) -> tuple[Any, ...]:
        return (constexpr, (self.value,))

    def __invert__(self) -> constexpr:
        return constexpr(~self.value)

    def __neg__(self) -> constexpr:
        return constexpr(-self.value)

    def __pos__(self) -> constexpr:
        return constexpr(+self.value)

    def logical_and(self, other: Any) -> constexpr:
        return constexpr(self.value and unwrap(other))

    def logical_or(self, other: Any) -> constexpr:
        return constexpr(self.value or unwrap(other))

    def not_(self) -> constexpr:
        return constexpr(not self.value)

    def __eq__(self, other: object) -> Any:
        return constexpr(self.value == unwrap(other))

    def __ne__(self, other: object) -> Any:
        return constexpr(self.value != unwrap(other))


def unwrap(x: Any) -> Any:
    """The Python value in a constexpr; anything else as it is."""
    return x.value if isinstance(x, constexpr) else x


def _add_operators() -> None:
    import operator as op

    def forward(fn: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        return lambda self, other: constexpr(fn(self.value, unwrap(other)))

    def reverse(fn: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        return lambda self, other: constexpr(fn(unwrap(other), self.value))

    for name in [
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "lshift",
        "rshift",
        "and",
        "or",
        "xor",
    ]:
        fn = getattr(op, f"{name}_" if name in ("and", "or") else name)
        setattr(constexpr, f"__{name}__", forward(fn))
        setattr(constexpr, f"__r{name}__", reverse(fn))
    for name in ["lt", "le", "gt", "ge"]:
        setattr(constexpr, f"__{name}__", forward(getattr(op, name)))


_add_operators()
