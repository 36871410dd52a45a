"""Expressions other than operators and calls: names, constants, attributes, subscripts, tuples, text."""

from __future__ import annotations

import ast
import builtins
import difflib
import enum
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, NoReturn

from tritium import config
from tritium.frontend.aggregates import UserAggregate
from tritium.frontend.callables import BoundJit, BoundSurface, Builtin
from tritium.frontend.captures import ABSENT, Capture
from tritium.frontend.constexpr_functions import ConstexprFunction
from tritium.frontend.operators import Operators, bare, plain
from tritium.frontend.source import JitCallable
from tritium.frontend.state import Undefined, flatten
from tritium.ir.types import Type
from tritium.ops.handles import Aggregate, Tensor, constexpr, unwrap
from tritium.ops.surface import METHODS, SURFACES

_TENSOR_ATTRIBUTES = ("dtype", "shape", "numel", "type", "T")


class Expressions(Operators):
    """Lowering of expressions."""

    def eval(self, node: ast.expr) -> Any:
        handler = self._EXPRESSIONS.get(type(node))
        if handler is None:
            self.refuse_expression(node)
        return handler(self, node)

    def refuse_expression(self, node: ast.expr) -> NoReturn:
        """Raise the error for an expression that kernels do not have."""
        if isinstance(node, ast.Lambda):
            self.fail("TRI0221", node)
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await):
            self.fail("TRI0222", node, construct="await" if isinstance(node, ast.Await) else "yield")
        if isinstance(node, ast.Dict | ast.Set):
            self.fail("TRI0223", node, construct="dicts" if isinstance(node, ast.Dict) else "sets")
        if isinstance(node, ast.DictComp | ast.SetComp):
            kind = "dict" if isinstance(node, ast.DictComp) else "set"
            self.fail("TRI0224", node, construct=f"{kind} comprehensions")
        if isinstance(node, ast.GeneratorExp):
            self.fail("TRI0224", node, construct="generator expressions")
        if isinstance(node, ast.Starred):
            self.fail("TRI0220", node, construct="a starred expression here")
        self.fail("TRI0220", node, construct=f"the expression {type(node).__name__}")

    # ---- names ---------------------------------------------------------------------------------------

    def lookup(self, node: ast.Name) -> Any:
        frame = self.frame
        name = node.id
        found = frame.state.env.get(name, ABSENT)
        if found is not ABSENT:
            if isinstance(found, Undefined):
                self.fail_undefined(name, found, node)
            return found
        if name in frame.live.stored:
            self.fail("TRI0310", node, name=name)
        capture = self.captures.get((id(frame.source), name))
        if capture is None:
            capture = self._capture(name, node)
        return self.wrap(_marked_function(capture.value))

    def _capture(self, name: str, node: ast.AST) -> Capture:
        source = self.frame.source
        capture = source.capture(name)
        if capture is None:
            self.fail("TRI0301", node, name=name, hint=self._similar(name, self._visible_names()))
        self._check_usable(capture, node)
        self.captures[id(source), name] = capture
        return capture

    def _visible_names(self) -> list[str]:
        source = self.frame.source
        return [*self.frame.state.env, *source.code.co_freevars, *source.fn.__globals__]

    def _similar(self, name: str, known: Any) -> str | None:
        """A hint that names the closest known name, or None for the catalogue's own hint."""
        close = difflib.get_close_matches(name, [k for k in known if not k.startswith("_")], 1, 0.7)
        return f"did you mean `{close[0]}`?" if close else None

    def _check_usable(self, capture: Capture, node: ast.AST) -> None:
        """Globals that kernels may refer to: constants said to be so, and things that are no data."""
        value = capture.value
        if (
            value is None
            or capture.owner is builtins.__dict__
            or _is_language(value)
            or _is_constant_tuple(value)
        ):
            return
        if isinstance(value, FunctionType | BuiltinFunctionType | type):
            return  # whether it can be called is decided at the call
        if config.get("allow_non_constexpr_globals"):
            return
        if isinstance(value, bool | int | float | str | tuple | list | enum.Enum):
            self.fail("TRI0305", node, name=capture.path, got=f"the {type(value).__name__} {value!r:.60}")
        kind = type(value)
        self.fail(
            "TRI0309",
            node,
            name=capture.path,
            got=f"an object of class {kind.__module__}.{kind.__qualname__}",
        )

    # ---- attributes ----------------------------------------------------------------------------------

    def attribute(self, node: ast.Attribute) -> Any:
        return self.get_attribute(self.eval(node.value), node.attr, node)

    def get_attribute(self, owner: Any, name: str, node: ast.AST, default: Any = ABSENT) -> Any:
        """The handle of ``owner.name``; `default`, if given, where there is no such attribute."""
        self.node = node
        if isinstance(owner, Tensor):
            found = self._tensor_attribute(owner, name)
        elif isinstance(owner, Aggregate):
            found = self._aggregate_attribute(owner, name)
        elif isinstance(owner, tuple):
            found = getattr(owner, name, ABSENT) if name in getattr(owner, "_fields", ()) else ABSENT
            found = getattr(owner, name, ABSENT) if found is ABSENT and name in ("count", "index") else found
        else:
            found = self._constant_attribute(owner, name)
        if found is ABSENT:
            if default is not ABSENT:
                return default
            self._fail_attribute(owner, name, node)
        return found if isinstance(found, BoundSurface | BoundJit) else self.wrap(_marked_function(found))

    def _tensor_attribute(self, owner: Tensor, name: str) -> Any:
        if name == "T":
            return self.call_named("internal.T", owner)
        if name in _TENSOR_ATTRIBUTES:
            return getattr(owner, name)
        method = METHODS.get(name)
        return BoundSurface(method, owner) if method is not None else ABSENT

    def _aggregate_attribute(self, owner: Aggregate, name: str) -> Any:
        method = SURFACES.get(f"{owner.methods}.{name}") if owner.methods else None
        if method is not None:
            return BoundSurface(method, owner)
        found = getattr(owner, name, ABSENT) if not name.startswith("_") else ABSENT
        if isinstance(owner, UserAggregate):
            if isinstance(found, JitCallable):
                return BoundJit(found, owner)
            return found
        return ABSENT if callable(found) and not isinstance(found, Type) else found

    def _constant_attribute(self, owner: Any, name: str) -> Any:
        value = unwrap(owner)
        if name == "value" and isinstance(owner, constexpr) and not hasattr(value, "value"):
            return owner
        if name == "type" and isinstance(value, bool | int | float):
            return type(value)
        found = getattr(value, name, ABSENT)
        if isinstance(value, ModuleType) and found is not ABSENT and not value.__name__.startswith("tritium"):
            key = (id(value), name)
            if key not in self.captures:
                self.captures[key] = Capture(f"{value.__name__}.{name}", value, name, found)
        return found

    def _fail_attribute(self, owner: Any, name: str, node: ast.AST) -> NoReturn:
        value = unwrap(owner)
        if isinstance(value, ModuleType):
            hint = self._similar(name, dir(value))
            spelled = ast.unparse(node.value) if isinstance(node, ast.Attribute) else value.__name__
            self.fail("TRI0302", node, module=spelled, name=name, hint=hint)
        known: Any = dir(value)
        if isinstance(owner, Tensor):
            known = [*_TENSOR_ATTRIBUTES, *METHODS]
        elif isinstance(owner, Aggregate) and owner.methods:
            known = [k.partition(".")[2] for k in SURFACES if k.startswith(f"{owner.methods}.")]
        self.fail("TRI0307", node, owner=self._owner(owner), name=name, hint=self._similar(name, known))

    def _owner(self, owner: Any) -> str:
        if isinstance(owner, Tensor):
            return f"a {'tile' if owner.dims else 'number'} of type {self.describe(owner)}"
        return self.describe(owner)

    # ---- subscripts ----------------------------------------------------------------------------------

    def subscript(self, node: ast.Subscript) -> Any:
        owner = self.eval(node.value)
        index = self._index(node.slice)
        self.node = node
        if isinstance(owner, Tensor):
            items = index if type(index) is tuple else (index,)
            return self.call_named("internal.getitem", owner, tuple(plain(i) for i in items))
        if isinstance(owner, Aggregate):
            self.fail("TRI0418", shape=self.describe(owner), got=ast.unparse(node.slice))
        if flatten(index):
            self.fail("TRI0501", what="an index of a tuple", got=f"a run-time {self.describe(index)}")
        return self._constant_subscript(owner, bare_index(index), node)

    def _index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            parts = (node.lower, node.upper, node.step)
            return slice(*(None if p is None else plain(self.eval(p)) for p in parts))
        if isinstance(node, ast.Tuple):
            return tuple([self._index(part) for part in node.elts])
        return self.eval(node)

    def _constant_subscript(self, owner: Any, index: Any, node: ast.Subscript) -> Any:
        value = owner if isinstance(owner, tuple) else unwrap(owner)
        if (
            isinstance(value, tuple)
            and not isinstance(index, int | slice)
            and not hasattr(index, "__index__")
        ):
            self.fail("TRI0501", node.slice, what="an index of a tuple", got=self.describe(constexpr(index)))
        try:
            found = value[index]
        except IndexError:
            self.fail("TRI0419", node, index=index, what="the tuple", length=len(value))
        except (TypeError, KeyError) as error:
            self.fail("TRI0508", node, problem=f"{type(error).__name__}: {error}")
        if isinstance(index, slice) and isinstance(found, tuple):
            found = tuple(found)  # a part of a named tuple has no names
        return self.wrap(found)

    # ---- constants, tuples, text ---------------------------------------------------------------------

    def constant(self, node: ast.Constant) -> Any:
        value = node.value
        if value is ...:
            return constexpr(value)
        if isinstance(value, bytes | complex):
            self.fail("TRI0229", node, got=f"the {type(value).__name__} {value!r}")
        return constexpr(value)

    def sequence(self, node: ast.Tuple | ast.List) -> Any:
        return tuple(self.spread(node.elts))

    def spread(self, nodes: list[ast.expr]) -> list[Any]:
        """The handles of expressions of which some may be starred tuples."""
        found: list[Any] = []
        for node in nodes:
            if not isinstance(node, ast.Starred):
                found.append(self.eval(node))
                continue
            value = self.eval(node.value)
            items = self.items_of(value)
            if items is None:
                self.fail("TRI0228", node, name=ast.unparse(node.value), got=self.describe(value))
            found.extend(items)
        return found

    def list_comprehension(self, node: ast.ListComp) -> Any:
        if len(node.generators) != 1:
            self.fail("TRI0224", node, construct="comprehensions with several `for`")
        part = node.generators[0]
        if part.ifs:
            self.fail("TRI0224", part.ifs[0], construct="conditions in comprehensions")
        items = self.static_items(part.iter)
        env = self.frame.state.env
        saved = dict(env)
        found: list[Any] = []
        for item in items:
            self.bind(part.target, item, part.target)
            found.append(self.eval(node.elt))
        for name in [n.id for n in ast.walk(part.target) if isinstance(n, ast.Name)]:
            if name in saved:
                env[name] = saved[name]
            else:
                env.pop(name, None)
        return tuple(found)

    def static_items(self, node: ast.expr) -> Sequence[Any]:
        """The items of something to loop over at compile time."""
        raise TypeError("no calls here")

    def named_expr(self, node: ast.NamedExpr) -> Any:
        value = self.eval(node.value)
        self.node = node
        value = self.lift(value)
        self.bind(node.target, value, node)
        return value

    def joined_str(self, node: ast.JoinedStr) -> Any:
        return constexpr("".join(self._piece(part) for part in node.values))

    def _piece(self, node: ast.expr) -> str:
        if not isinstance(node, ast.FormattedValue):
            return str(node.value)  # type: ignore[attr-defined]
        value = self.eval(node.value)
        if flatten(value):
            self.fail(
                "TRI0227", node.value, name=ast.unparse(node.value), got=f"a run-time {self.describe(value)}"
            )
        spec = "".join(self._piece(p) for p in node.format_spec.values) if node.format_spec else ""  # type: ignore[attr-defined]
        text: Any = bare(value)
        if node.conversion >= 0:
            text = {"r": repr, "s": str, "a": ascii}[chr(node.conversion)](text)
        try:
            return format(text, spec)
        except (ValueError, TypeError) as error:
            self.fail("TRI0508", node, problem=f"{type(error).__name__}: {error}")

    _EXPRESSIONS: dict[type[ast.expr], Callable[[Any, Any], Any]] = {}


Expressions._EXPRESSIONS = {
    ast.Name: Expressions.lookup,
    ast.Attribute: Expressions.attribute,
    ast.Constant: Expressions.constant,
    ast.BinOp: Expressions.bin_op,
    ast.UnaryOp: Expressions.unary_op,
    ast.Compare: Expressions.comparison,
    ast.BoolOp: Expressions.bool_op,
    ast.IfExp: Expressions.if_exp,
    ast.Subscript: Expressions.subscript,
    ast.Tuple: Expressions.sequence,
    ast.List: Expressions.sequence,
    ast.ListComp: Expressions.list_comprehension,
    ast.NamedExpr: Expressions.named_expr,
    ast.JoinedStr: Expressions.joined_str,
}


def _marked_function(value: Any) -> Any:
    """A Python function with `@tl.constexpr` above it is one that runs at compile time."""
    if isinstance(value, constexpr) and isinstance(value.value, FunctionType):
        return ConstexprFunction(value.value)
    return value


def _is_language(value: Any) -> bool:
    """Whether a captured value is part of the language, or a function or class made for kernels."""
    if isinstance(value, ModuleType | constexpr | JitCallable | Builtin | ConstexprFunction | Type):
        return True
    if isinstance(value, type):
        return True
    module = getattr(value, "__module__", None) or ""
    return isinstance(module, str) and (module == "tritium" or module.startswith("tritium."))


def _is_constant_tuple(value: Any) -> bool:
    """A tuple of constants and functions of the language."""
    return isinstance(value, tuple) and all(
        v is None or _is_language(v) or _is_constant_tuple(v) for v in value
    )


def bare_index(index: Any) -> Any:
    """A compile-time subscript as Python takes it."""
    if isinstance(index, slice):
        return slice(*(unwrap(p) for p in (index.start, index.stop, index.step)))
    return bare(index)
