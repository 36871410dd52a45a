"""Run-time branches: two regions, and one state out of the two states at their ends."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from tritium.frontend.evaluator import Evaluator
from tritium.frontend.state import (
    FALL,
    GO,
    RESULT,
    Flag,
    State,
    Undefined,
    flatten,
    is_liftable,
    key_of,
    rebuild,
)
from tritium.ir.core import Region, Value
from tritium.ir.types import int1
from tritium.ops.control import If, Poison, Yield
from tritium.ops.handles import Tensor

_MISSING: Any = object()


class _Slot:
    """Stands for result `index` of the `tile.if` to be made."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


class _Planned:
    """A handle like `like` whose run-time parts will be `parts`: results of the `tile.if`, or tensors from outside."""

    __slots__ = ("like", "parts")

    def __init__(self, like: Any, parts: list[_Slot | Tensor]) -> None:
        self.like = like
        self.parts = parts

    def fill(self, results: list[Tensor]) -> Any:
        return rebuild(self.like, [results[p.index] if isinstance(p, _Slot) else p for p in self.parts])


class Branch:
    """One side of a run-time branch: its region and the state at its end."""

    __slots__ = ("region", "state")

    def __init__(self, region: Region, state: State) -> None:
        self.region = region
        self.state = state


class Branches(Evaluator):
    """Lowering of run-time branches."""

    def branch(self, state: State, body: Callable[[], None]) -> Branch:
        """Lower `body` into a region of its own, starting from `state`."""
        region = Region()
        with self.inside(region, state):
            body()
            return Branch(region, self.frame.state)

    @contextmanager
    def inside(self, region: Region, state: State) -> Any:
        """Within the block, ops go to the end of `region` and `state` is the frame's; both are put back after."""
        saved = self.frame.state
        self.frame.state = state
        self.nesting += 1
        try:
            with self.builder.into(region):
                yield
        finally:
            self.nesting -= 1
            self.frame.state = saved

    def guarded(self, body: Callable[[], None], live: int, node: ast.AST) -> None:
        """Lower `body` so that it runs only where no exit has been taken yet."""
        before = self.state
        go = before.alive[GO]
        assert isinstance(go, Tensor)
        then = self.branch(before.fork(), body)
        skipped = State(
            before.env,
            [False if isinstance(f, Tensor) and f.value is go.value else f for f in before.alive],
            before.holes,
        )
        self.join(go, then, Branch(Region(), skipped), live, node)

    def join(self, condition: Tensor, then: Branch, other: Branch, live: int, node: ast.AST) -> None:
        """Emit the `tile.if` and make its outcome the frame's state. `live` are names that what follows reads."""
        merge = _Merge(self, then, other, live | self._live_at_exits(then.state, other.state), node)
        merged = merge.state()
        self.node = node
        for side, values in ((then, merge.then_values), (other, merge.other_values)):
            with self.builder.into(side.region):
                self.builder.insert(Yield(values))
        op = self.builder.insert(If(condition.value, then.region, other.region))
        results = [Tensor(r) for r in op.results]
        for name, handle in merged.env.items():
            if isinstance(handle, _Planned):
                merged.env[name] = filled = handle.fill(results)
                self.name_value(filled, name)
        merged.alive = [results[f.index] if isinstance(f, _Slot) else f for f in merged.alive]
        merged.settle()
        self.frame.state = merged

    def _live_at_exits(self, a: State, b: State) -> int:
        """Names needed where exits lead that one of the sides may have taken."""
        if all(f is True for f in (*a.alive, *b.alive)):
            return 0
        loops = self.frame.loops
        return self.frame.pending_live | (loops[-1].live if loops else 0)


class _Merge:
    """Plans one state for the end of a branch: which variables stay, which become results, which are lost."""

    def __init__(self, lowering: Branches, then: Branch, other: Branch, live: int, node: ast.AST) -> None:
        self.lowering = lowering
        self.sides = (then, other)
        self.ways = [side.state.ways() for side in self.sides]
        self.live = live
        self.node = node
        self.then_values: list[Value] = []
        self.other_values: list[Value] = []
        self._slots: dict[tuple[int, int], int] = {}
        self._constants: dict[tuple[int, bool], Value] = {}
        self.holes: dict[str, dict[int, Undefined]] = {}

    def state(self) -> State:
        a, b = (side.state for side in self.sides)
        for side, ways in zip(self.sides, self.ways, strict=True):
            for name, holes in side.state.holes.items():
                self._add_holes(name, {way: reason for way, reason in holes.items() if way in ways})
        env: dict[str, Any] = {}
        for name, x in a.env.items():
            y = b.env.get(name, _MISSING)
            merged = x if x is y else self.variable(name, x, y)
            if merged is not _MISSING:
                env[name] = merged
        for name, y in b.env.items():
            if name not in a.env:
                merged = self.variable(name, _MISSING, y)
                if merged is not _MISSING:
                    env[name] = merged
        alive: list[Any] = [self.flag(f, g) for f, g in zip(a.alive, b.alive, strict=True)]
        return State(env, alive, self.holes)

    # ---- flags ---------------------------------------------------------------------------------------

    def flag(self, f: Flag, g: Flag) -> Any:
        if isinstance(f, bool) and f is g:
            return f
        return self.slot(self._flag_value(0, f), self._flag_value(1, g))

    def _flag_value(self, side: int, flag: Flag) -> Value:
        if isinstance(flag, Tensor):
            return flag.value
        found = self._constants.get((side, flag))
        if found is None:
            with self.lowering.builder.into(self.sides[side].region):
                found = self._constants[side, flag] = self.lowering.s.scalar(flag, int1).value
        return found

    def slot(self, x: Value, y: Value) -> _Slot | Tensor:
        """The result that is `x` on the first side and `y` on the other; equal pairs share one."""
        if x is y:
            return Tensor(x)
        key = (id(x), id(y))
        index = self._slots.get(key)
        if index is None:
            index = self._slots[key] = len(self.then_values)
            self.then_values.append(x)
            self.other_values.append(y)
        return _Slot(index)

    # ---- variables -----------------------------------------------------------------------------------

    def variable(self, name: str, x: Any, y: Any) -> Any:
        """The merged value of one variable, or `_MISSING` for a variable that nobody reads."""
        if name == RESULT:
            return self.result(x, y)
        if not self.ways[0] and not self.ways[1]:
            return _MISSING
        if _absent(x) or _absent(y):
            return self.partial(name, x, y)
        for side in range(2):
            if not self.ways[1 - side]:
                return self.one_sided((x, y)[side], side) if self._is_live(name) else _MISSING
        if not self.agree(x, y):
            lifted = self.lifted(x, y)
            if lifted is None:
                return self.clash(name, x, y)
            x, y = lifted
        return self.both(x, y) if self._is_live(name) else _MISSING

    def _is_live(self, name: str) -> bool:
        return self.lowering.frame.live.is_live(name, self.live)

    def result(self, x: Any, y: Any) -> Any:
        if x is _MISSING or y is _MISSING:
            return self.one_sided(y if x is _MISSING else x, 1 if x is _MISSING else 0)
        return self.both(x, y)

    @staticmethod
    def agree(x: Any, y: Any) -> bool:
        return key_of(x) == key_of(y)

    def lifted(self, x: Any, y: Any) -> tuple[Any, Any] | None:
        """Both sides with compile-time numbers made tensors, if that makes them agree."""
        if not (is_liftable(x) and is_liftable(y)):
            return None
        low = self.lowering
        out: list[Any] = []
        for side, handle in zip(self.sides, (x, y), strict=True):
            with low.builder.into(side.region):
                out.append(low.lift(handle))
        return (out[0], out[1]) if self.agree(*out) else None

    def both(self, x: Any, y: Any) -> Any:
        xs, ys = flatten(x), flatten(y)
        if not xs:
            return x
        return _Planned(x, [self.slot(a.value, b.value) for a, b in zip(xs, ys, strict=True)])

    def one_sided(self, kept: Any, side: int) -> Any:
        """A variable that has a value on one side only, where the other side never needs it."""
        parts = flatten(kept)
        if not parts:
            return kept
        slots: list[_Slot | Tensor] = []
        for part in parts:
            if self._is_outer(part):
                slots.append(part)
                continue
            with self.lowering.builder.into(self.sides[1 - side].region):
                filler = self.lowering.s.emit(Poison, type=part.value.type)
            pair = (part.value, filler.value) if side == 0 else (filler.value, part.value)
            slots.append(self.slot(*pair))
        return _Planned(kept, slots)

    def _is_outer(self, part: Tensor) -> bool:
        """Whether a value is defined outside both regions, so that it is there after the branch as well."""
        op = part.value.defining_op
        home = op.parent if op is not None else part.value.owner
        return all(home is not side.region for side in self.sides)

    def partial(self, name: str, x: Any, y: Any) -> Any:
        """A variable that has a value on one side only, or on none."""
        if _absent(x) and _absent(y):
            return x if isinstance(x, Undefined) else y
        side = 1 if _absent(x) else 0
        kept, missing = (y, x) if side else (x, y)
        if not self.ways[side]:
            return missing
        reason = missing if isinstance(missing, Undefined) else self.one_branch_only(side)
        self._add_holes(name, dict.fromkeys(self.ways[1 - side], reason))
        return self.one_sided(kept, side) if self._is_live(name) else _MISSING

    def one_branch_only(self, side: int) -> Undefined:
        line = getattr(self.node, "lineno", 0)
        return Undefined("TRI0303", (("line", line), ("branch", "false" if side else "true")))

    def clash(self, name: str, x: Any, y: Any) -> Any:
        """Both sides give the variable a value, of different types."""
        low = self.lowering
        falls = [FALL in ways for ways in self.ways]
        if all(falls):
            at = low.frame.assigned_at.get(name, self.node)
            if all(self._is_outer(part) for part in flatten(y)):
                x, y = y, x  # the second side left the variable as it was
            low.fail("TRI0440", at, name=name, expected=low.describe(x), got=low.describe(y))
        reason = Undefined("TRI0440", (("expected", low.describe(x)), ("got", low.describe(y))))
        side = 1 if falls[1] else 0
        self._add_holes(name, dict.fromkeys(self.ways[1 - side], reason))
        return self.one_sided((x, y)[side], side) if self._is_live(name) else _MISSING

    def _add_holes(self, name: str, holes: dict[int, Undefined]) -> None:
        if holes:
            self.holes.setdefault(name, {}).update(holes)


def _absent(x: Any) -> bool:
    return x is _MISSING or isinstance(x, Undefined)
