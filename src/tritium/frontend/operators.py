"""Operators: arithmetic, comparison, `and` / `or` / `not`, `is`, `in`, conditional expressions."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from tritium.frontend.loops import Loops
from tritium.frontend.state import flatten, key_of, rebuild
from tritium.ir.core import Region
from tritium.ir.types import Type, int1
from tritium.ops.control import If, Yield
from tritium.ops.handles import Aggregate, Tensor, constexpr, unwrap
from tritium.ops.semantic import literal_of

_BINARY: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
    ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
    ast.BitAnd: ("&", operator.and_),
    ast.BitOr: ("|", operator.or_),
    ast.BitXor: ("^", operator.xor),
    ast.MatMult: ("@", operator.matmul),
}
_COMPARE: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}
_UNARY: dict[type[ast.unaryop], tuple[str, Callable[[Any], Any]]] = {
    ast.USub: ("unary -", operator.neg),
    ast.UAdd: ("unary +", operator.pos),
    ast.Invert: ("unary ~", operator.invert),
}


class Operators(Loops):
    """Lowering of expressions made with operators."""

    def bin_op(self, node: ast.BinOp) -> Any:
        # a long sum is a deep tree on its left side: walk that without recursion
        spine = [node]
        while isinstance(spine[-1].left, ast.BinOp):
            spine.append(spine[-1].left)
        value = self.eval(spine[-1].left)
        for part in reversed(spine):
            value = self.binary(part.op, value, self.eval(part.right), part)
        return value

    def binary(self, op: ast.operator, x: Any, y: Any, node: ast.AST) -> Any:
        symbol, python = _BINARY[type(op)]
        if isinstance(x, Tensor) or isinstance(y, Tensor):
            self.node = node
            self._check_binary(symbol, x, y)
            return self.operate(symbol, plain(x), plain(y))
        return self.fold(python, node, x, y, symbol=symbol)

    def _check_binary(self, symbol: str, x: Any, y: Any) -> None:
        """Refuse operands that are no numbers or tensors."""
        for side in (x, y):
            if not isinstance(side, Tensor) and not isinstance(unwrap(side), (bool, int, float, Tensor)):
                self.fail("TRI0401", operator=symbol, lhs=self.describe(x), rhs=self.describe(y))

    def fold(self, python: Callable[..., Any], node: ast.AST, *operands: Any, symbol: str = "") -> Any:
        """Compute with compile-time values as Python does."""
        values = [bare(x) for x in operands]
        if symbol and any(flatten(x) for x in operands):
            return self._on_tuples(symbol, node, operands)
        try:
            return self.wrap(python(*values))
        except Exception as error:  # whatever Python says about these values is the user's to read
            self.fail("TRI0508", node, problem=f"{type(error).__name__}: {error}")

    def _on_tuples(self, symbol: str, node: ast.AST, operands: tuple[Any, ...]) -> Any:
        """Joining, repeating and comparing tuples of which some items are known only at run time."""
        x, y = operands
        first, second = self.items_of(x), self.items_of(y)
        if symbol == "+" and first is not None and second is not None:
            return tuple(first + second)
        if symbol == "*" and first is not None and isinstance(unwrap(y), int):
            return tuple(first * unwrap(y))
        if symbol in ("==", "!=") and first is not None and second is not None:
            return self._tuples_equal(symbol, first, second, node)
        self.fail("TRI0401", node, operator=symbol, lhs=self.describe(x), rhs=self.describe(y))

    def _tuples_equal(self, symbol: str, first: list[Any], second: list[Any], node: ast.AST) -> Any:
        if len(first) != len(second):
            return constexpr(symbol == "!=")
        combine: ast.operator = ast.BitAnd() if symbol == "==" else ast.BitOr()
        compare = ast.Eq() if symbol == "==" else ast.NotEq()
        result: Any = constexpr(symbol == "==")
        for a, b in zip(first, second, strict=True):
            result = self.binary(combine, result, self.compare(compare, a, b, node), node)
        return result

    def unary_op(self, node: ast.UnaryOp) -> Any:
        x = self.eval(node.operand)
        if isinstance(node.op, ast.Not):
            return self._not(x, node)
        symbol, python = _UNARY[type(node.op)]
        if isinstance(x, Tensor):
            self.node = node
            return self.operate(symbol, x)
        return self.fold(python, node, x)

    def _not(self, x: Any, node: ast.AST) -> Any:
        if isinstance(x, Tensor):
            self.node = node
            known = literal_of(x)
            return self.s.scalar(not known, int1) if isinstance(known, bool) else self.operate("not", x)
        return constexpr(not (x if isinstance(x, tuple | Aggregate) else unwrap(x)))

    # ---- comparison ----------------------------------------------------------------------------------

    def comparison(self, node: ast.Compare) -> Any:
        left = self.eval(node.left)
        result: Any = None
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.eval(comparator)
            found = self.compare(op, left, right, node)
            result = found if result is None else self._both(result, found, node)
            if isinstance(result, constexpr) and not result.value:
                return result
            left = right
        return result

    def _both(self, x: Any, y: Any, node: ast.AST) -> Any:
        """Both of two results of a chained comparison; the first is not known to be false."""
        if isinstance(x, constexpr):
            return y
        if isinstance(y, constexpr):
            return x if y.value else y
        self.node = node
        return self.operate("&", x, y)

    def compare(self, op: ast.cmpop, x: Any, y: Any, node: ast.AST) -> Any:
        if isinstance(op, ast.Is | ast.IsNot):
            same = identical(x, y)
            return constexpr(same if isinstance(op, ast.Is) else not same)
        if isinstance(op, ast.In | ast.NotIn):
            return self._membership(op, x, y, node)
        symbol, python = _COMPARE[type(op)]
        if isinstance(x, Tensor) or isinstance(y, Tensor):
            self.node = node
            self._check_binary(symbol, x, y)
            return self.operate(symbol, plain(x), plain(y))
        return self.fold(python, node, x, y, symbol=symbol)

    def _membership(self, op: ast.cmpop, x: Any, y: Any, node: ast.AST) -> Any:
        word = "in" if isinstance(op, ast.In) else "not in"
        for side in (x, y):
            if flatten(side):
                self.fail("TRI0225", node, operator=word, got=self.describe(side))
        return self.fold(lambda a, b: (a in b) == (word == "in"), node, x, y)

    # ---- and, or -------------------------------------------------------------------------------------

    def bool_op(self, node: ast.BoolOp) -> Any:
        """Compile-time operands decide at once, as in Python; run-time ones are all evaluated, then combined."""
        word = "and" if isinstance(node.op, ast.And) else "or"
        run_time: list[Tensor] = []
        value: Any = None
        for part in node.values:
            value = self.eval(part)
            if isinstance(value, Tensor) and not isinstance(literal_of(value), bool):
                run_time.append(value)
                continue
            known = self._known_truth(value)
            if known == (word == "or"):
                return value
        if not run_time:
            return value
        self.node = node
        result = run_time.pop()
        while run_time:
            result = self.operate(word, run_time.pop(), result)
        return result

    @staticmethod
    def _known_truth(value: Any) -> bool:
        """The truth of a compile-time value, or of a run-time one that is a literal."""
        if isinstance(value, Tensor):
            return bool(literal_of(value))
        return bool(value) if isinstance(value, tuple | Aggregate) else bool(unwrap(value))

    # ---- a if c else b -------------------------------------------------------------------------------

    def if_exp(self, node: ast.IfExp) -> Any:
        condition = self.truth(self.eval(node.test), "if", node.test)
        if isinstance(condition, bool):
            return self.eval(node.body if condition else node.orelse)
        self._check_no_assignment(node)
        sides: list[tuple[Region, Any]] = []
        for part in (node.body, node.orelse):
            region = Region()
            with self.inside(region, self.frame.state.fork()):
                value = self.eval(part)
                self.node = part
                sides.append((region, self.lift(value)))
        (then, x), (other, y) = sides
        if key_of(x) != key_of(y):
            self.fail("TRI0443", node, expected=self.describe(x), got=self.describe(y))
        self.node = node
        for region, value in ((then, x), (other, y)):
            with self.builder.into(region):
                self.builder.insert(Yield([t.value for t in flatten(value)]))
        op = self.builder.insert(If(condition.value, then, other))
        return rebuild(x, [Tensor(r) for r in op.results])

    def _check_no_assignment(self, node: ast.IfExp) -> None:
        for part in (*ast.walk(node.body), *ast.walk(node.orelse)):
            if isinstance(part, ast.NamedExpr):
                self.fail(
                    "TRI0220", part, construct="`:=` in one branch of a run-time conditional expression"
                )


def plain(x: Any) -> Any:
    """A handle as surfaces take it: numbers stay constexpr, other compile-time values come bare."""
    if type(x) is constexpr:
        value = x.value
        return x if isinstance(value, bool | int | float) else value
    if isinstance(x, tuple):
        return tuple([plain(part) for part in x]) if type(x) is tuple else x
    return x


def bare(x: Any) -> Any:
    """A compile-time handle as the Python value it stands for, items of tuples too."""
    value = unwrap(x)
    if isinstance(value, tuple):
        items = [bare(part) for part in value]
        return getattr(type(value), "_make", tuple)(items)
    if isinstance(value, list):
        return [bare(part) for part in value]
    return value


def identical(x: Any, y: Any) -> bool:
    """Whether ``x is y`` holds for two handles: the same run-time value, or the same compile-time object."""
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        return x.value is y.value
    a, b = bare(x), bare(y)
    if a is b:
        return True
    if isinstance(a, bool | int | str | Type) and type(a) is type(b):
        return bool(a == b)
    return False
