"""Calls: functions of the language, jit functions (inlined), compile-time functions, built-ins of Python."""

from __future__ import annotations

import ast
import builtins
import inspect
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from tritium.errors import TritiumError
from tritium.frontend.aggregates import UserAggregate, missing_fields
from tritium.frontend.binding import bind_parameters, check_surface_call
from tritium.frontend.builtin_calls import BUILTINS
from tritium.frontend.callables import BoundJit, BoundSurface, Builtin
from tritium.frontend.constexpr_functions import ConstexprFunction
from tritium.frontend.evaluator import Frame
from tritium.frontend.expressions import Expressions
from tritium.frontend.operators import bare, plain
from tritium.frontend.source import JitCallable
from tritium.frontend.state import RESULT, RETURN, flatten, key_of
from tritium.ir.types import Type
from tritium.ops.handles import Aggregate, Tensor, constexpr, unwrap
from tritium.ops.surface import SURFACES, Surface

MOST_CALLS = 100
"""How deep calls of jit functions are inlined."""


class Calls(Expressions):
    """Lowering of calls."""

    def call(self, node: ast.Call) -> Any:
        callee = self.eval(node.func)
        target = callee if isinstance(callee, Tensor | Aggregate) else unwrap(callee)
        if isinstance(target, Builtin) and target.surface.qualified_name == "tl.static_assert":
            return self.static_assert(node)
        self._check_used(target, node)
        args = self.spread(node.args)
        kwargs: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                self.fail(
                    "TRI0228", keyword.value, name=f"*{ast.unparse(keyword.value)}", got="a `**` argument"
                )
            kwargs[keyword.arg] = self.eval(keyword.value)
        self.node = node
        return self.apply(target, args, kwargs, node)

    def _check_used(self, target: Any, node: ast.Call) -> None:
        """Refuse a statement that throws away the result of a function that does nothing else."""
        if node is not self.unused:
            return
        surface = getattr(target, "surface", None)
        reason = getattr(target, "_must_use_result", False)
        if reason or (surface is not None and surface.name == "advance"):
            hint = reason if isinstance(reason, str) else None
            self.fail("TRI0623", node, function=ast.unparse(node.func), hint=hint)

    def apply(self, target: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        """Call `target` (no handle, but what it stands for) with handles."""
        if isinstance(target, Builtin):
            return self.call_surface(target.surface, args, kwargs)
        if isinstance(target, BoundSurface):
            return self.call_surface(target.surface, [target.owner, *args], kwargs)
        if isinstance(target, JitCallable):
            return self.inline(target, args, kwargs, node)
        if isinstance(target, BoundJit):
            return self.inline(target.function, [target.owner, *args], kwargs, node)
        if isinstance(target, ConstexprFunction):
            return self._compute(target.fn, args, kwargs, node, "TRI0509")
        if isinstance(target, MethodType) and isinstance(target.__func__, ConstexprFunction):
            return self._compute(
                target.__func__.fn, [self.wrap(target.__self__), *args], kwargs, node, "TRI0509"
            )
        if isinstance(target, type) and issubclass(target, UserAggregate):
            return self._construct(target, args, kwargs, node)
        if isinstance(target, type) and issubclass(target, tuple) and hasattr(target, "_fields"):
            return self._construct(target, args, kwargs, node)
        if getattr(target, "__triton_builtin__", False) is True:
            return self._call_marked(target, args, kwargs, node)
        if isinstance(target, Type) and len(args) == 1 and not kwargs:
            return self.call_surface(SURFACES["tl.cast"], [args[0], constexpr(target)], {})
        known = BUILTINS.get(target) if _hashable(target) else None
        if known is not None:
            return known(self, args, kwargs, node)
        return self._call_python(target, args, kwargs, node)

    def _call_python(self, target: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        """Python functions that only compute, on compile-time values: methods of constants, `math`."""
        owner = getattr(target, "__self__", None)
        if isinstance(target, BuiltinFunctionType) and getattr(target, "__module__", "") == "math":
            return self._compute(target, args, kwargs, node, "TRI0508")
        if owner is not None and isinstance(owner, _PURE) and callable(target):
            return self._compute(target, args, kwargs, node, "TRI0508")
        name = ast.unparse(node.func) if isinstance(node, ast.Call) else str(target)
        ours = f"tl.{getattr(target, '__name__', '')}"
        hint = f"use {ours}" if ours in SURFACES else None
        if getattr(builtins, getattr(target, "__name__", ""), None) is target:
            self.fail("TRI0306", node, name=name)
        if isinstance(target, FunctionType | MethodType | BuiltinFunctionType | type):
            self.fail("TRI0308", node, name=name, hint=hint)
        self.fail("TRI0311", node, name=name, got=self.describe(target), hint=hint)

    def _call_marked(self, target: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        """Classes of types, and functions that programs add to the language with `tl.core.builtin`."""
        if isinstance(target, type):
            return self._compute(target, args, kwargs, node, "TRI0508")
        given = {k: plain(v) for k, v in kwargs.items()}
        if "_semantic" in inspect.signature(target).parameters:
            given["_semantic"] = self.s
        try:
            return self.wrap_result(target(*(plain(a) for a in args), **given))
        except TritiumError:
            raise
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
            self.fail("TRI0509", node, function=getattr(target, "__name__", str(target)), problem=problem)

    def _compute(self, fn: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST, code: str) -> Any:
        """Run Python code on compile-time values."""
        name = getattr(fn, "__name__", str(fn))
        for value in (*args, *kwargs.values()):
            if flatten(value):
                what = f"every argument of `{name}`"
                hint = f"use tl.{name}" if f"tl.{name}" in SURFACES else None
                self.fail("TRI0501", node, what=what, got=f"a run-time {self.describe(value)}", hint=hint)
        try:
            result = fn(*(bare(a) for a in args), **{k: bare(v) for k, v in kwargs.items()})
        except TritiumError:
            raise
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
            self.fail(code, node, function=name, problem=problem)
        return self.wrap(result)

    def _construct(self, cls: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        """Make a named tuple or an aggregate out of handles."""
        try:
            made = cls(*args, **kwargs)
        except TritiumError:
            raise
        except Exception as error:
            self.fail("TRI0509", node, function=cls.__name__, problem=f"{type(error).__name__}: {error}")
        if isinstance(made, UserAggregate):
            missing = missing_fields(made)
            if missing:
                problem = f"no value for the field `{missing[0]}`"
                self.fail("TRI0509", node, function=f"{cls.__name__}.__init__", problem=problem)
            return made
        return self.wrap(made)

    # ---- functions of the language -------------------------------------------------------------------

    def call_surface(self, surface: Surface, args: list[Any], kwargs: dict[str, Any]) -> Any:
        given = [plain(a) for a in args]
        named = {k: plain(v) for k, v in kwargs.items()} if kwargs else kwargs
        problem = check_surface_call(surface, given, named)
        if problem is not None:
            self.fail(
                "TRI0601", function=surface.qualified_name, signature=surface.signature, problem=problem
            )
        s = self.s
        s.current = surface.name
        return self.wrap_result(surface.fn(s, *given, **named))

    def wrap_result(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            return value
        if isinstance(value, tuple | list):
            return tuple([self.wrap_result(v) for v in value])
        return self.wrap(value)

    # ---- jit functions -------------------------------------------------------------------------------

    def inline(self, function: JitCallable, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        """Lower the body of a jit function here, with its parameters bound to the arguments."""
        source = function.source
        caller = self.frame
        frame = Frame(source, caller, caller.loc(node))
        env, problem = bind_parameters(source.parameters, args, kwargs, self.wrap)
        if problem is not None:
            signature = f"({', '.join(p.name for p in source.parameters)})"
            self.fail("TRI0601", node, function=source.name, signature=signature, problem=problem)
        frame.state.env = env
        frame.arguments_key = tuple([key_of(v) for v in env.values()])
        self._check_recursion(frame, node)
        self.sources[id(source)] = source
        saved = self.frame, self.node
        self.frame = frame
        try:
            return self._run_function(frame)
        finally:
            self.frame, self.node = saved

    def _check_recursion(self, frame: Frame, node: ast.AST) -> None:
        source = frame.source
        outer = frame.parent
        while outer is not None:
            if outer.source is source and outer.arguments_key == frame.arguments_key:
                self.fail("TRI0103", node, function=source.name)
            outer = outer.parent
        if frame.depth > MOST_CALLS:
            self.fail("TRI0109", node, function=source.name, depth=frame.depth, limit=MOST_CALLS)

    def _run_function(self, frame: Frame) -> Any:
        """Lower the function of `frame` to its end; gives what it returns."""
        body = frame.source.node
        if isinstance(body, ast.Lambda):
            return self.eval(body.body)
        self.block(body.body)
        returned = frame.state.alive[RETURN]
        if returned is False:
            return frame.state.env[RESULT]
        if frame.returned is not None and returned is not True:
            value = frame.state.env[RESULT]
            if not (isinstance(value, constexpr) and value.value is None):
                self.fail_returns(body, "nothing where it ends without `return`")
        return constexpr(None)

    # ---- static_assert: its message is evaluated only if it is needed ---------------------------------

    def static_assert(self, node: ast.Call) -> Any:
        if not 1 <= len(node.args) <= 2 or any(k.arg != "msg" for k in node.keywords):
            problem = "it takes a condition and, optionally, a message"
            self.fail(
                "TRI0601", node, function="tl.static_assert", signature="(cond, msg='')", problem=problem
            )
        condition = self.eval(node.args[0])
        value = unwrap(condition)
        if not isinstance(value, bool):
            self.fail("TRI0503", node, got=self.describe(condition))
        if value:
            return constexpr(None)
        message = node.args[1] if len(node.args) == 2 else node.keywords[0].value if node.keywords else None
        text = str(bare(self.eval(message))) if message is not None else ast.unparse(node.args[0])
        self.fail("TRI0502", node, text=text)


Calls._EXPRESSIONS[ast.Call] = Calls.call

_PURE = (str, int, float, bool, Type, tuple, range)


def _hashable(target: Any) -> bool:
    return getattr(type(target), "__hash__", None) is not None
