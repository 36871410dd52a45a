"""Statements other than loops: assignment, `if`, `return`, `assert`, and how a block goes on after an exit."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from tritium.frontend.branches import Branch, Branches
from tritium.frontend.state import BREAK, CONTINUE, GO, RESULT, RETURN, Undefined, key_of
from tritium.ir.core import Region
from tritium.ops.handles import Aggregate, Tensor, constexpr, unwrap
from tritium.ops.semantic import literal_of

MOST_NESTED = 40
"""Regions deeper than this are not opened for the rest of a block or for `elif`: flags say what still runs."""

_REFUSED: dict[type[ast.AST], str] = {
    ast.Try: "TRI0202",
    ast.ClassDef: "TRI0204",
    ast.Import: "TRI0207",
    ast.ImportFrom: "TRI0207",
    ast.Delete: "TRI0208",
    ast.Match: "TRI0214",
}


class Statements(Branches):
    """Lowering of statements."""

    def block(self, statements: Sequence[ast.stmt]) -> None:
        position, count = 0, len(statements)
        while position < count:
            state = self.frame.state
            if not state.falls:
                return
            if state.alive[GO] is not True:
                position = self._block_after_exit(statements, position)
            else:
                position = self.statement(statements, position)

    def _block_after_exit(self, statements: Sequence[ast.stmt], position: int) -> int:
        """Go on where some ways have left: lower the statements up to the next exit under a guard."""
        end = position
        while end < len(statements):
            end += 1
            if may_exit(statements[end - 1]):
                break
        part = statements[position:end]
        live = self.frame.live.out.get(part[-1], 0)
        self.guarded(lambda: self.block(part), live, part[0])
        return end

    def statement(self, statements: Sequence[ast.stmt], position: int) -> int:
        """Lower one statement; the result is the position of the next one that is not lowered yet."""
        node = statements[position]
        self.node = node
        if isinstance(node, ast.If):
            return self.if_statement(node, statements, position)
        handler = self._HANDLERS.get(type(node))
        if handler is None:
            self.refuse(node)
        handler(self, node)
        return position + 1

    def refuse(self, node: ast.stmt) -> NoReturn:
        """Raise the error for a statement that kernels do not have."""
        code = _REFUSED.get(type(node))
        if code is not None:
            self.fail(code, node)
        if isinstance(node, ast.Global | ast.Nonlocal):
            self.fail("TRI0205", node, construct="global" if isinstance(node, ast.Global) else "nonlocal")
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self.fail("TRI0206", node, name=node.name)
        if isinstance(node, ast.With | ast.AsyncWith):
            self.fail("TRI0203", node, manager=ast.unparse(node.items[0].context_expr))
        name = type(node).__name__
        known = {"AsyncFor": "`async for`", "TypeAlias": "`type`", "TryStar": "`except*`"}
        self.fail("TRI0201", node, construct=known.get(name, f"the statement {name}"))

    # ---- assignment ----------------------------------------------------------------------------------

    def expression(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring, or `...`
        if isinstance(node.value, ast.Yield | ast.YieldFrom | ast.Await):
            construct = "await" if isinstance(node.value, ast.Await) else "yield"
            self.fail("TRI0222", node.value, construct=construct)
        self.unused = node.value
        self.eval(node.value)

    def assign(self, node: ast.Assign) -> None:
        value = self.eval(node.value)
        self.node = node.value
        value = self.lift(value)
        for target in node.targets:
            self.bind(target, value, node)

    def augmented_assign(self, node: ast.AugAssign) -> None:
        target = node.target
        if not isinstance(target, ast.Name):
            self.fail("TRI0211", node, target=_target_kind(target))
        current = self.lookup(target)
        operand = self.eval(node.value)
        self.node = node
        self.bind(target, self.lift(self.binary(node.op, current, operand, node)), node)

    def annotated_assign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            return
        value = self.eval(node.value)
        if not isinstance(node.target, ast.Name) or not self._asks_constexpr(node.annotation):
            self.node = node.value
            self.bind(node.target, self.lift(value), node)
            return
        name = node.target.id
        state = self.frame.state
        bound = state.env.get(name)
        if (
            bound is not None
            and not isinstance(bound, Undefined)
            and self.frame.constexpr_at.get(name) is not node
        ):
            self.fail("TRI0507", node, name=name)
        if isinstance(value, Tensor):
            known = literal_of(value)
            value = constexpr(known) if known is not None else value
        self.frame.constexpr_at[name] = node
        self.frame.assigned_at[name] = node
        state.env[name] = value

    @staticmethod
    def _asks_constexpr(annotation: ast.expr) -> bool:
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            return "constexpr" in annotation.value
        name = annotation.attr if isinstance(annotation, ast.Attribute) else getattr(annotation, "id", "")
        return name == "constexpr"

    def bind(self, target: ast.expr, value: Any, node: ast.AST) -> None:
        """Assign a handle to a target: a name, or a tuple of targets."""
        if isinstance(target, ast.Name):
            self.set_name(target.id, value, node)
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, value, node)
        elif isinstance(target, ast.Subscript | ast.Attribute):
            self.fail("TRI0211", node, target=_target_kind(target))
        else:
            self.fail("TRI0212", target, target="a starred name")

    def set_name(self, name: str, value: Any, node: ast.AST) -> None:
        self.name_value(value, name)
        self.frame.assigned_at[name] = node
        self.frame.state.env[name] = value

    def _unpack(self, target: ast.Tuple | ast.List, value: Any, node: ast.AST) -> None:
        if any(isinstance(t, ast.Starred) for t in target.elts):
            self.fail("TRI0212", target, target="a starred name")
        items = self.items_of(value)
        count = len(target.elts)
        if items is None or len(items) != count:
            got = self.describe(value) if items is None else f"{len(items)} values"
            self.fail("TRI0420", node, targets=count, got=got)
        for part, item in zip(target.elts, items, strict=True):
            self.bind(part, item, node)

    # ---- leaving -------------------------------------------------------------------------------------

    def return_statement(self, node: ast.Return) -> None:
        frame = self.frame
        value = self.eval(node.value) if node.value is not None else constexpr(None)
        if frame.parent is None:
            value = constexpr(None)  # nobody receives the value of a kernel
        self.node = node
        value = self.lift(value)
        key = key_of(value)
        if frame.returned is None:
            frame.returned = (key, node, self.describe(value))
        elif frame.returned[0] != key:
            self.fail_returns(node, self.describe(value))
        frame.state.env[RESULT] = value
        frame.state.leave(RETURN)

    def fail_returns(self, node: ast.AST, got: str) -> NoReturn:
        """Raise the error for returns that do not agree; the first one is known to the frame."""
        assert self.frame.returned is not None
        _, first, expected = self.frame.returned
        line = getattr(first, "lineno", 0)
        self.fail("TRI0442", node, function=self.frame.source.name, got=got, expected=expected, line=line)

    def leave_loop(self, node: ast.Break | ast.Continue) -> None:
        self.check_carried(self.frame.loops[-1], node)
        self.frame.state.leave(BREAK if isinstance(node, ast.Break) else CONTINUE)

    # ---- if ------------------------------------------------------------------------------------------

    def if_statement(self, node: ast.If, statements: Sequence[ast.stmt], position: int) -> int:
        arms = chain_of(node)
        if len(arms) > MOST_NESTED // 2 or self.nesting > MOST_NESTED:
            self._flat_chain(arms)
            return position + 1
        condition = self.truth(self.eval(node.test), "if", node.test)
        if isinstance(condition, bool):
            self.block(node.body if condition else node.orelse)
            return position + 1
        return self._run_time_if(node, condition, statements, position)

    def _run_time_if(
        self, node: ast.If, condition: Tensor, statements: Sequence[ast.stmt], position: int
    ) -> int:
        before = self.frame.state
        then = self.branch(before.fork(), lambda: self.block(node.body))
        other = self.branch(before.fork(), lambda: self.block(node.orelse))
        rest = statements[position + 1 :]
        live = self.frame.live.out.get(node, 0)
        one_leaves = then.state.falls != other.state.falls
        if rest and one_leaves and self.nesting < MOST_NESTED:
            # what follows runs on one way only: it becomes the end of that branch
            going = then if then.state.falls else other
            with self.inside(going.region, going.state):
                self.block(rest)
                going.state = self.frame.state
            self._end_of_function(rest[-1], then, other)
            live = self.frame.live.out.get(rest[-1], 0)
            self.join(condition, then, other, live, node)
            return len(statements)
        self._end_of_function(node, then, other)
        self.join(condition, then, other, live, node)
        return position + 1

    def _end_of_function(self, last: ast.stmt, *branches: Branch) -> None:
        """Where nothing follows `last`, going on means returning None: no flag is needed to tell the two apart."""
        nothing = constexpr(None)
        returned = self.frame.returned
        if returned is None or returned[0] != key_of(nothing) or last not in self.frame.live.last:
            return
        for branch in branches:
            if branch.state.falls:
                branch.state.env[RESULT] = nothing
                branch.state.leave(RETURN)

    def _flat_chain(self, arms: list[ast.If]) -> None:
        """Lower a chain of `if` and `elif` side by side: the end of a taken arm is an exit from the chain."""
        frame = self.frame
        saved, frame.pending_live = frame.pending_live, frame.pending_live | frame.live.out.get(arms[0], 0)
        try:
            for arm in arms:
                live = frame.pending_live | frame.live.before(arm.orelse)
                self._in_turn(lambda arm=arm: self._flat_arm(arm), live, arm)
            last = arms[-1].orelse
            if last:
                self._in_turn(lambda: self.block(last), frame.pending_live, arms[-1])
        finally:
            frame.pending_live = saved
        frame.state.resolve(GO)

    def _in_turn(self, body: Callable[[], None], live: int, node: ast.AST) -> None:
        """Lower `body` for the ways that are still there."""
        go = self.frame.state.alive[GO]
        if go is True:
            body()
        elif go is not False:
            self.guarded(body, live, node)

    def _flat_arm(self, arm: ast.If) -> None:
        condition = self.truth(self.eval(arm.test), "if", arm.test)
        if condition is False:
            return
        if condition is True:
            self.block(arm.body)
            self._end_arm()
            return
        before = self.frame.state

        def taken() -> None:
            self.block(arm.body)
            self._end_arm()

        then = self.branch(before.fork(), taken)
        live = self.frame.pending_live | self.frame.live.before(arm.orelse)
        self.join(condition, then, Branch(Region(), before.fork()), live, arm)

    def _end_arm(self) -> None:
        """Whatever falls out of an arm leaves the chain."""
        self.frame.state.alive[GO] = False

    # ---- the rest ------------------------------------------------------------------------------------

    def assert_statement(self, node: ast.Assert) -> None:
        condition = self.eval(node.test)
        message = self.eval(node.msg) if node.msg is not None else constexpr("")
        self.node = node
        self.call_named("tl.device_assert", condition, unwrap(message))

    def raise_statement(self, node: ast.Raise) -> None:
        self.fail("TRI0213", node, got=ast.unparse(node))

    def pass_statement(self, node: ast.Pass) -> None:
        pass

    def for_statement(self, node: ast.For) -> None:
        raise TypeError("no loops here")

    def while_statement(self, node: ast.While) -> None:
        raise TypeError("no loops here")

    # ---- from other parts ----------------------------------------------------------------------------

    def lookup(self, node: ast.Name) -> Any:
        raise TypeError("no names here")

    def binary(self, op: ast.operator, x: Any, y: Any, node: ast.AST) -> Any:
        raise TypeError("no operators here")

    def check_carried(self, loop: Any, node: ast.AST) -> None:
        raise TypeError("no loops here")

    def items_of(self, value: Any) -> list[Any] | None:
        """The items of a tuple handle, or None if it is no tuple."""
        raw = unwrap(value)
        if isinstance(raw, tuple | list):
            return [self.wrap(item) for item in raw]
        return None

    def wrap(self, value: Any) -> Any:
        """A Python value as a handle."""
        if isinstance(value, Tensor | constexpr | Aggregate):
            return value
        if isinstance(value, tuple | list):
            items = [self.wrap(v) for v in value]
            make = getattr(type(value), "_make", tuple)
            return make(items)
        return constexpr(value)

    _HANDLERS: dict[type[ast.stmt], Callable[[Any, Any], None]] = {}


Statements._HANDLERS = {
    ast.Expr: Statements.expression,
    ast.Assign: Statements.assign,
    ast.AugAssign: Statements.augmented_assign,
    ast.AnnAssign: Statements.annotated_assign,
    ast.Return: Statements.return_statement,
    ast.Break: Statements.leave_loop,
    ast.Continue: Statements.leave_loop,
    ast.For: lambda self, node: self.for_statement(node),
    ast.While: lambda self, node: self.while_statement(node),
    ast.Assert: Statements.assert_statement,
    ast.Raise: Statements.raise_statement,
    ast.Pass: Statements.pass_statement,
}


def chain_of(node: ast.If) -> list[ast.If]:
    """An `if` and its `elif` arms."""
    arms = [node]
    while len(arms[-1].orelse) == 1 and isinstance(arms[-1].orelse[0], ast.If):
        arms.append(arms[-1].orelse[0])
    return arms


def may_exit(node: ast.stmt) -> bool:
    """Whether a statement contains a `return`, `break` or `continue` that may leave it."""
    pending: list[tuple[ast.AST, bool]] = [(node, False)]
    while pending:
        part, in_loop = pending.pop()
        if isinstance(part, ast.Return) or (isinstance(part, ast.Break | ast.Continue) and not in_loop):
            return True
        if isinstance(part, ast.If):
            pending.extend((s, in_loop) for s in (*part.body, *part.orelse))
        elif isinstance(part, ast.For | ast.While):
            pending.extend((s, True) for s in (*part.body, *part.orelse))
    return False


def _target_kind(target: ast.expr) -> str:
    return "an element" if isinstance(target, ast.Subscript) else "an attribute"
