"""Loops: run-time `for` and `while` with carried values, and loops unrolled at compile time.

A run-time `for` becomes `tile.for`. If some way leaves it early (`break`, or `return` inside) it becomes a
`tile.while` that counts its turns down and carries flags: one that says whether to go on, one that says whether
the function has not returned, and the value to return::

    for i in range(lo, hi, step):      ->   while (remaining != 0) & go:
        if c: break                             i, remaining, go = i + step, remaining - 1, not c
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tritium.frontend.loop_exits import LoopExits, TripCount
from tritium.frontend.state import (
    BREAK,
    CONTINUE,
    GO,
    LiftNeeded,
    Loop,
    State,
    Undefined,
    flatten,
    is_liftable,
    key_of,
    rebuild,
)
from tritium.ir.core import Region
from tritium.ir.types import DType, ScalarType, Type, int1
from tritium.ops.control import For, If, Poison, While, Yield
from tritium.ops.handles import Tensor, constexpr, unwrap
from tritium.ops.semantic import strong_result


@dataclass(frozen=True, slots=True)
class RangeLoop:
    """The bounds of a run-time loop, as handles, and its scheduling hints."""

    lower: Any
    upper: Any
    step: Any
    hints: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class StaticLoop:
    """A loop that is unrolled: one turn for each item."""

    items: Sequence[Any]


@dataclass(frozen=True, slots=True)
class LoopCondition:
    """What `tl.condition(c)` gives: the condition of a `while` with a scheduling hint."""

    condition: Any
    disable_licm: bool = False


@dataclass(slots=True)
class _Body:
    """A lowered loop body: its region, its end, and what it carries."""

    region: Region
    end: State
    names: list[str]
    inits: list[Tensor]
    nexts: list[Tensor]


class Loops(TripCount):
    """Lowering of loops."""

    def for_statement(self, node: ast.For) -> None:
        if node.orelse:
            self.fail("TRI0209", node.iter, loop="for")
        plan = self.iterable(node.iter)
        if isinstance(plan, StaticLoop):
            self._unrolled(node, plan.items)
        else:
            self._retrying(node, lambda lifted: self._range_loop(node, plan, lifted))

    def while_statement(self, node: ast.While) -> None:
        if node.orelse:
            self.fail("TRI0209", node.test, loop="while")
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node.test)):
            self.fail("TRI0220", node.test, construct="`:=` in the condition of `while`")
        self._retrying(node, lambda lifted: self._while_loop(node, lifted))

    def iterable(self, node: ast.expr) -> RangeLoop | StaticLoop:
        raise TypeError("no calls here")

    # ---- unrolled ------------------------------------------------------------------------------------

    def _unrolled(self, node: ast.For, items: Sequence[Any]) -> None:
        frame = self.frame
        frame.loops.append(Loop(node, run_time=False, live=frame.live.head[node]))
        try:
            for item in items:
                if self.state.alive[GO] is False:
                    break
                self._in_turn(lambda item=item: self._unrolled_turn(node, item), frame.live.head[node], node)
                self.state.resolve(CONTINUE)
        finally:
            frame.loops.pop()
        self.state.resolve(BREAK)

    def _unrolled_turn(self, node: ast.For, item: Any) -> None:
        self.bind(node.target, item, node)
        self.block(node.body)

    # ---- what a loop carries -------------------------------------------------------------------------

    def _retrying(self, node: ast.stmt, attempt: Callable[[frozenset[str]], None]) -> None:
        """Lower a loop; when a compile-time number turns out to change in it, again with that as a tensor."""
        frame = self.frame
        lifted: frozenset[str] = frozenset()
        while True:
            state, loops, returned = frame.state, len(frame.loops), frame.returned
            region, count, env = self.builder.region, len(self.builder.region.ops), dict(state.env)
            try:
                attempt(lifted)
                return
            except LiftNeeded as needed:
                if needed.loop is not node:
                    raise
                lifted |= {needed.name}
            frame.state, frame.returned, state.env = state, returned, env
            del frame.loops[loops:]
            self.forget(region, count)

    def _enter(
        self, node: ast.For | ast.While, lifted: frozenset[str]
    ) -> tuple[Loop, list[str], list[Tensor]]:
        """Decide what the loop carries; compile-time numbers in `lifted` become tensors first."""
        frame = self.frame
        env, live = frame.state.env, frame.live
        loop = Loop(node, run_time=True, live=live.head[node] | live.out.get(node, 0))
        names: list[str] = []
        self.node = node
        for name in sorted(live.assigned[node]):
            handle = env.get(name)
            if handle is None or isinstance(handle, Undefined):
                continue
            if name in lifted:
                handle = env[name] = self.lift(handle)
                self.name_value(handle, name)
            loop.carried[name] = handle
            if live.is_live(name, loop.live) and flatten(handle):
                names.append(name)
        return loop, names, [part for name in names for part in flatten(loop.carried[name])]

    def _carry_target(self, loop: Loop, names: list[str], inits: list[Tensor], target: str, iv: Type) -> None:
        """The loop variable is carried only if its last value is read after the loop."""
        if self.frame.live.is_live(target, self.frame.live.out.get(loop.node, 0)):
            if target not in loop.carried:  # without a turn it has no value, as in Python
                loop.carried[target] = self.s.emit(Poison, type=iv)
                names.append(target)
                inits.append(loop.carried[target])
        elif target in loop.carried:
            del loop.carried[target]
            if target in names:
                names.remove(target)
                inits[:] = [part for name in names for part in flatten(loop.carried[name])]

    def _start(self, region: Region, names: list[str], loop: Loop) -> State:
        """The state at the start of a region whose further arguments are the carried values."""
        state = self.frame.state.fork()
        for name in names:
            before = loop.carried[name]
            parts = flatten(before)
            hint = [name] if len(parts) == 1 else [f"{name}.{i}" for i in range(len(parts))]
            fresh = [Tensor(region.add_arg(p.value.type, h)) for p, h in zip(parts, hint, strict=True)]
            state.env[name] = rebuild(before, fresh)
        return state

    def check_carried(self, loop: Loop, node: ast.AST) -> None:
        """At the end of a turn, see that every variable of the loop still has the type it came in with."""
        if not loop.run_time:
            return
        state = self.frame.state
        for name, before in loop.carried.items():
            now = state.env.get(name)
            if now is None or now is before:
                continue
            if isinstance(now, Undefined):
                if self.frame.live.is_live(name, loop.live):
                    self.fail_undefined(name, now, self.frame.assigned_at.get(name, node))
            elif key_of(now) != key_of(before):
                self._changed(loop, name, before, now, node)

    def _changed(self, loop: Loop, name: str, before: Any, now: Any, node: ast.AST) -> None:
        at = self.frame.assigned_at.get(name, node)
        if name in self.frame.constexpr_at and isinstance(before, constexpr):
            self.fail("TRI0507", at, name=name)
        if is_liftable(before) and is_liftable(now) and not _all_tensors(before):
            raise LiftNeeded(name, loop.node)
        self.fail("TRI0441", at, name=name, expected=self.describe(before), got=self.describe(now))

    def _finish_turn(self, loop: Loop, names: list[str]) -> list[Tensor]:
        """End a turn: forget `continue`, check, and give the values for the next turn."""
        state = self.frame.state
        state.resolve(CONTINUE)
        if state.alive[BREAK] is not False:
            self.check_carried(loop, loop.node)
        nexts: list[Tensor] = []
        for name in names:
            before, now = loop.carried[name], state.env.get(name)
            if now is None or isinstance(now, Undefined):
                now = before  # on no way is there a next turn or a later reader
            nexts.extend(flatten(now))
        return nexts

    def _leave(self, node: ast.For | ast.While, loop: Loop, names: list[str], results: list[Tensor]) -> None:
        """The state after the loop: carried variables have their results, others of the body are gone."""
        env = self.frame.state.env
        rest = list(results)
        for name in names:
            env[name] = rebuild(loop.carried[name], rest)
            self.name_value(env[name], name)
        for name in self.frame.live.assigned[node]:
            if name in names:
                continue
            if name not in loop.carried:
                env[name] = Undefined("TRI0304", (("line", node.lineno),))
            elif flatten(loop.carried[name]):
                env.pop(name, None)  # nobody reads it

    # ---- for -----------------------------------------------------------------------------------------

    def _range_loop(self, node: ast.For, plan: RangeLoop, lifted: frozenset[str]) -> None:
        if not isinstance(node.target, ast.Name):
            self.fail("TRI0212", node.target, target="several names")
        lower, upper, step = self._bounds(node, plan)
        loop, names, inits = self._enter(node, lifted)
        self._carry_target(loop, names, inits, node.target.id, lower.value.type)
        region = Region()
        iv = Tensor(region.add_arg(lower.value.type, node.target.id))
        start = self._start(region, names, loop)
        start.env[node.target.id] = iv
        body = self._lower_body(node, region, start, loop, names, inits)
        if body.end.alive[BREAK] is True:
            self.node = node
            with self.builder.into(region):
                self.builder.insert(Yield([t.value for t in body.nexts]))
            bounds = [t.value for t in (lower, upper, step)]
            op = self.builder.insert(For(*bounds, [t.value for t in inits], hints=plan.hints, body=region))
            self._leave(node, loop, names, [Tensor(r) for r in op.results])
            return
        self._counted_while(node, (lower, upper, step), loop, body)

    def _lower_body(
        self,
        node: ast.For | ast.While,
        region: Region,
        start: State,
        loop: Loop,
        names: list[str],
        inits: list[Tensor],
    ) -> _Body:
        self.frame.loops.append(loop)
        with self.inside(region, start):
            self.block(node.body)
            nexts = self._finish_turn(loop, names)
            end = self.frame.state
        self.frame.loops.pop()
        return _Body(region, end, names, inits, nexts)

    def _bounds(self, node: ast.For, plan: RangeLoop) -> tuple[Tensor, Tensor, Tensor]:
        """Lower, upper and step as 0-d tensors of one integer type."""
        self.node = node.iter
        if unwrap(plan.step) == 0 and not isinstance(unwrap(plan.step), Tensor):
            self.fail("TRI0448", value=0)
        parts: list[Tensor] = []
        for which, handle in (("start", plan.lower), ("stop", plan.upper), ("step", plan.step)):
            value = unwrap(handle)
            if not isinstance(value, Tensor | int):
                self.fail("TRI0447", which=which, got=self.describe(handle))
            part = self.s.to_tensor(value)
            if part.dims and part.type.numel == 1:
                part = self.call_named("tl.item", part)
            if part.dims or not (isinstance(part.dtype, DType) and part.dtype.is_int()):
                self.fail("TRI0447", which=which, got=self.describe(handle))
            parts.append(part)
        common: ScalarType = parts[0].dtype
        for part in parts[1:]:
            common = strong_result(common, part.dtype)  # type: ignore[arg-type]
        lower, upper, step = (self.s.cast(p, common) for p in parts)
        return lower, upper, step

    # ---- for with an early way out -------------------------------------------------------------------

    def _counted_while(
        self, node: ast.For, bounds: tuple[Tensor, Tensor, Tensor], loop: Loop, body: _Body
    ) -> None:
        self.node = node
        lower, _, step = bounds
        remaining = self.trip_count(*bounds)
        exits = LoopExits(self, body.end)
        region = body.region
        count = Tensor(region.add_arg(remaining.value.type, "remaining"))
        exits.add_args(region)
        with self.builder.into(region):
            following = self.wrapping("+", Tensor(region.args[0]), step)
            fewer = self.wrapping("-", count, constexpr(1))
            values = [following, *body.nexts, fewer, *exits.nexts()]
            self.builder.insert(Yield([t.value for t in values]))
        inits = [lower, *body.inits, remaining, *exits.inits()]
        condition = Region()
        args = [Tensor(condition.add_arg(t.value.type)) for t in inits]
        with self.builder.into(condition):
            left = self.operate("!=", args[1 + len(body.inits)], constexpr(0))
            going = self.operate("&", left, args[2 + len(body.inits)])
            self.builder.insert(Yield([going.value]))
        self._emit_while(node, inits, condition, region, loop, body, exits, 1)

    # ---- while ---------------------------------------------------------------------------------------

    def _while_loop(self, node: ast.While, lifted: frozenset[str]) -> None:
        loop, names, inits = self._enter(node, lifted)
        condition = Region()
        with self.inside(condition, self._start(condition, names, loop)):
            test = self.eval(node.test)
            value = unwrap(test)
            if isinstance(value, LoopCondition):
                test = value.condition
            going = self.truth(test, "while", node.test)
            if going is False:
                self.forget(condition)
                return
            self.node = node.test
            if going is True:
                going = self.s.scalar(True, int1)
            self.builder.insert(Yield([going.value]))
        region = Region()
        start = self._start(region, names, loop)
        body = self._lower_body(node, region, start, loop, names, inits)
        self.node = node
        exits = LoopExits(self, body.end) if body.end.alive[BREAK] is not True else None
        values = list(body.nexts)
        carried = list(inits)
        if exits is not None:
            exits.add_args(region)
            with self.builder.into(region):
                values += exits.nexts()
            carried += exits.inits()
            condition = self._guarded_condition(condition, carried, len(inits))
        with self.builder.into(region):
            self.builder.insert(Yield([t.value for t in values]))
        self._emit_while(node, carried, condition, region, loop, body, exits, 0)

    def _guarded_condition(self, condition: Region, carried: list[Tensor], position: int) -> Region:
        """The condition, evaluated only as long as the flag at `position` of the carried values holds."""
        outer = Region()
        args = [outer.add_arg(t.value.type, t.value.name) for t in carried]
        for old, new in zip(condition.args, args, strict=False):
            old.replace_uses_with(new)
        condition.args.clear()
        stopped = Region()
        with self.builder.into(stopped):
            self.builder.insert(Yield([self.s.scalar(False, int1).value]))
        with self.builder.into(outer):
            choice = self.builder.insert(If(args[position], condition, stopped))
            self.builder.insert(Yield([choice.result]))
        return outer

    def _emit_while(
        self,
        node: ast.For | ast.While,
        inits: list[Tensor],
        condition: Region,
        region: Region,
        loop: Loop,
        body: _Body,
        exits: LoopExits | None,
        first: int,
    ) -> None:
        op = self.builder.insert(While([t.value for t in inits], condition, region))
        results = [Tensor(r) for r in op.results]
        self._leave(node, loop, body.names, results[first : first + len(body.inits)])
        if exits is not None:
            exits.leave(self.frame.state, results[-exits.count :])


def _all_tensors(handle: Any) -> bool:
    if isinstance(handle, tuple):
        return all(_all_tensors(part) for part in handle)
    return not isinstance(handle, constexpr)
