"""Functions of the language that act while a kernel is compiled, and what loops can run over."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from tritium.frontend.calls import Calls
from tritium.frontend.loops import LoopCondition, RangeLoop, StaticLoop
from tritium.ops.handles import Aggregate, Tensor, constexpr, unwrap
from tritium.ops.semantic import Semantic, describe, literal_of
from tritium.ops.surface import surface


@surface("range")
def loop_range(
    s: Semantic,
    arg1: Any,
    arg2: Any = None,
    step: Any = None,
    num_stages: Any = None,
    loop_unroll_factor: Any = None,
    disallow_acc_multi_buffer: Any = False,
    flatten: Any = False,
    warp_specialize: Any = False,
    disable_licm: Any = False,
) -> RangeLoop:
    """What a run-time `for` loops over: like Python's range, with hints for scheduling that change no result.

    >>> total = 0
    >>> for k in tl.range(0, 8, 2, num_stages=3):
    ...     total += k
    >>> total
    12
    """
    hints = {
        "num_stages": num_stages,
        "loop_unroll_factor": loop_unroll_factor,
        "disallow_acc_multi_buffer": disallow_acc_multi_buffer,
        "flatten": flatten,
        "warp_specialize": warp_specialize,
        "disable_licm": disable_licm,
    }
    known = {
        name: s.const(value, f"{name} of tl.range") for name, value in hints.items() if value is not None
    }
    lower, upper = (constexpr(0), arg1) if arg2 is None else (arg1, arg2)
    by = constexpr(1) if step is None else step
    return RangeLoop(lower, upper, by, tuple((k, v) for k, v in known.items() if v is not False))


@surface("static_range")
def static_range(s: Semantic, arg1: Any, arg2: Any = None, step: Any = None) -> StaticLoop:
    """What an unrolled `for` loops over: Python's range of compile-time integers; the variable is a constexpr.

    >>> total = 0
    >>> for k in tl.static_range(4):   # unrolled: k is a compile-time number
    ...     total += k
    >>> total
    6
    """
    given = {
        "start": constexpr(0) if arg2 is None else arg1,
        "end": arg1 if arg2 is None else arg2,
        "step": step,
    }
    bounds: list[int] = []
    for which, handle in given.items():
        value: Any = 1 if handle is None else unwrap(handle)
        if isinstance(value, Tensor):
            value = literal_of(value)
        if not hasattr(value, "__index__"):
            s.fail("TRI0505", which=which, got=describe(handle))
        bounds.append(value.__index__())
    if bounds[2] == 0:
        s.fail("TRI0448", value=0)
    return StaticLoop([constexpr(i) for i in range(*bounds)])


@surface("condition")
def condition(s: Semantic, arg1: Any, disable_licm: Any = False) -> LoopCondition:
    """The condition of a `while` with a hint for the compiler: ``while tl.condition(i < n, disable_licm=True)``.

    >>> n = 1
    >>> while tl.condition(n < 100):
    ...     n *= 3
    >>> n
    243
    """
    return LoopCondition(arg1, s.const_bool(disable_licm, "disable_licm"))


class CompileTime(Calls):
    """What can be looped over, at run time and at compile time."""

    def iterable(self, node: ast.expr) -> RangeLoop | StaticLoop:
        value = self.eval(node)
        raw = unwrap(value)
        if isinstance(raw, RangeLoop | StaticLoop):
            return raw
        items = self.items_of(value)
        if items is None:
            self.fail("TRI0210", node, got=self.describe(value))
        return StaticLoop(items)

    def items_of(self, value: Any) -> list[Any] | None:
        raw = unwrap(value)
        if isinstance(raw, range):
            return [constexpr(i) for i in raw]
        return super().items_of(value)

    def static_items_of(self, value: Any, node: ast.AST) -> Sequence[Any]:
        """The items of a handle to go through at compile time."""
        raw = value if isinstance(value, Tensor | Aggregate) else unwrap(value)
        if isinstance(raw, StaticLoop):
            return raw.items
        if isinstance(raw, RangeLoop):
            bounds = (raw.lower, raw.upper, raw.step)
            known = [self.s.const_int(b, "every bound of a `range` that is unrolled") for b in bounds]
            return [constexpr(i) for i in range(*known)]
        items = self.items_of(value)
        if items is None:
            self.fail("TRI0210", node, got=self.describe(value))
        return items

    def static_items(self, node: ast.expr) -> Sequence[Any]:
        value = self.eval(node)
        self.node = node
        return self.static_items_of(value, node)
