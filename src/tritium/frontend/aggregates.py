"""Classes of users whose objects live in kernels: several handles under one name, with jit methods.

::

    @triton.aggregate
    class Span:
        start: tl.tensor
        size: tl.constexpr

        def __init__(self, start, size):
            self.start = start
            self.size = size

        @triton.jit
        def offsets(self):
            return self.start + tl.arange(0, self.size)
"""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, TypeVar

from tritium.frontend.constexpr_functions import ConstexprFunction
from tritium.frontend.source import JitCallable
from tritium.frontend.state import flatten, key_of, rebuild
from tritium.ops.handles import Aggregate, Tensor, constexpr

ClassT = TypeVar("ClassT", bound=type)


class UserAggregate(Aggregate):
    """Base of the classes that `aggregate` makes. The annotated fields are set once, by `__init__`."""

    __triton_aggregate__ = True
    __triton_builtin__ = True
    fields: ClassVar[tuple[str, ...]] = ()

    def parts(self) -> list[Any]:
        """The fields' handles, in order."""
        return [getattr(self, name) for name in self.fields]

    def flatten(self) -> list[Tensor]:
        return [t for part in self.parts() for t in flatten(part)]

    def rebuild(self, tensors: Sequence[Tensor]) -> Any:
        rest = list(tensors)
        return self.with_fields(dict(zip(self.fields, (rebuild(p, rest) for p in self.parts()), strict=True)))

    def with_fields(self, values: dict[str, Any]) -> Any:
        """The same object with other values for some fields."""
        made = object.__new__(type(self))
        for name in self.fields:
            object.__setattr__(made, name, values.get(name, getattr(self, name)))
        return made

    def key(self) -> Hashable:
        return (type(self), *(key_of(part) for part in self.parts()))

    def describe(self) -> str:
        return f"a {type(self).__name__}"


def aggregate(cls: ClassT) -> ClassT:
    """Let objects of `cls` live in kernels. Its annotated fields hold tensors, constexprs, tuples or aggregates.

    `__init__` is ordinary Python that runs when the kernel is compiled and assigns every field. TypeError for a
    class whose `__init__` is a jit function.
    """
    fields: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if not issubclass(UserAggregate, base):  # neither object nor a base class of ours
            fields.update(
                {n: t for n, t in inspect.get_annotations(base).items() if "ClassVar" not in str(t)}
            )
    if isinstance(cls.__dict__.get("__init__"), JitCallable):
        raise TypeError(
            f"{cls.__name__}.__init__ runs as Python while a kernel is compiled; it cannot have @jit"
        )
    members: dict[str, Any] = {"fields": tuple(fields), "__setattr__": _set_field}
    members.update({n: getattr(cls, n) for n in ("__module__", "__qualname__", "__doc__")})
    if cls.__init__ is object.__init__:
        members["__init__"] = _default_init(tuple(fields), cls)
    bases = (cls,) if issubclass(cls, UserAggregate) else (cls, UserAggregate)
    return type(cls)(cls.__name__, bases, members)  # type: ignore[return-value]


def aggregate_replace(instance: Any, **changes: Any) -> Any:
    """A copy of the aggregate `instance` with other values for the fields named. In kernels and outside.

    TypeError for something that is no aggregate, AttributeError for a field that it does not have.
    """
    if not isinstance(instance, UserAggregate):
        raise TypeError(f"aggregate_replace needs an aggregate, not {type(instance).__name__}")
    for name in changes:
        if name not in instance.fields:
            raise AttributeError(f"{type(instance).__name__} declares no field {name!r}")
    return instance.with_fields({name: _handle(value) for name, value in changes.items()})


aggregate_replace.__triton_builtin__ = True  # type: ignore[attr-defined]


def _default_init(names: tuple[str, ...], cls: type) -> Any:
    defaults = {n: getattr(cls, n) for n in names if hasattr(cls, n)}

    def __init__(self: Any, *args: Any, **kw: Any) -> None:
        parameters = [
            inspect.Parameter(
                n, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=defaults.get(n, inspect.Parameter.empty)
            )
            for n in names
        ]
        bound = inspect.Signature(parameters).bind(*args, **kw)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            setattr(self, name, value)

    return __init__


def _set_field(self: Any, name: str, value: Any) -> None:
    if name not in self.fields:
        raise AttributeError(f"{type(self).__name__} declares no field {name!r}")
    object.__setattr__(self, name, _handle(value))


def _handle(value: Any) -> Any:
    """A value of a field as the lowering holds it."""
    known = isinstance(value, (Tensor, Aggregate, tuple, constexpr, JitCallable, ConstexprFunction))
    return value if known else constexpr(value)


def missing_fields(made: UserAggregate) -> list[str]:
    """Fields that `__init__` left out."""
    return [name for name in made.fields if not hasattr(made, name)]
