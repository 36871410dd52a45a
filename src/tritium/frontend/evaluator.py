"""What all parts of the lowering share: the function being lowered, the place in its text, errors there."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from tritium.errors import Loc, make_error
from tritium.frontend.captures import Capture
from tritium.frontend.source import KernelSource
from tritium.frontend.state import RESULT, Loop, State, Undefined
from tritium.ir.builder import Builder
from tritium.ir.core import Region
from tritium.ir.types import DType, PointerType, int1
from tritium.ops.handles import Aggregate, Tensor, constexpr, unwrap
from tritium.ops.semantic import Semantic, describe, literal_of
from tritium.ops.surface import OPERATORS, SURFACES


class Frame:
    """One function being lowered: the kernel, or a jit function inlined at `caller`."""

    __slots__ = (
        "arguments_key",
        "assigned_at",
        "caller",
        "constexpr_at",
        "depth",
        "live",
        "locs",
        "loops",
        "parent",
        "pending_live",
        "returned",
        "source",
        "state",
    )

    def __init__(self, source: KernelSource, parent: Frame | None, caller: Loc | None) -> None:
        self.source = source
        self.parent = parent
        self.caller = caller
        self.depth: int = parent.depth + 1 if parent else 0
        self.live = source.liveness
        self.state = State({})
        self.loops: list[Loop] = []
        self.pending_live = 0  # names that the ends of enclosing flat `elif` chains still need
        self.returned: tuple[Any, ast.AST, str] | None = (
            None  # key, place and description of the first `return`
        )
        self.assigned_at: dict[str, ast.AST] = {}
        self.constexpr_at: dict[str, ast.AST] = {
            p.name: source.node for p in source.parameters if p.is_constexpr
        }
        self.locs: dict[ast.AST, Loc] = {}
        self.arguments_key: Any = None

    def loc(self, node: ast.AST) -> Loc:
        """The place of `node`, with the calls that led here."""
        if self.caller is None:
            return self.source.loc(node)
        found = self.locs.get(node)
        if found is None:
            found = self.locs[node] = self.source.loc(node).at_caller(self.caller)
        return found


class LocatedBuilder(Builder):
    """A builder whose location is asked for when an op is made, which is rarer than the evaluation of a node."""

    def __init__(self, region: Region, locate: Callable[[], Loc | None]) -> None:
        self._locate = locate
        super().__init__(region)

    @property
    def loc(self) -> Loc | None:  # type: ignore[override]
        return self._locate()

    @loc.setter
    def loc(self, value: Loc | None) -> None:
        pass  # the place always follows from the node being evaluated


class Evaluator:
    """Base of the parts of the lowering; each part adds methods, `Lowering` is all of them together."""

    def __init__(self, semantic: Semantic, builder: Builder, options: dict[str, Any]) -> None:
        self.s = semantic
        self.builder = builder
        self.options = options
        self.frame: Frame = None  # type: ignore[assignment]
        self.node: ast.AST = None  # type: ignore[assignment]
        self.captures: dict[tuple[int, str], Capture] = {}
        self.sources: dict[int, KernelSource] = {}
        self.unused: ast.AST | None = None  # the call whose result the current statement throws away
        self.dropped = False
        self.nesting = 0  # how many regions deep new ops go

    # ---- other parts ---------------------------------------------------------------------------------

    def eval(self, node: ast.expr) -> Any:
        """The handle that an expression stands for."""
        raise TypeError("no expressions here")

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Lower statements into the current region, from the current state on."""
        raise TypeError("no statements here")

    def operate(self, operator: str, *operands: Any, **options: Any) -> Tensor:
        """Apply an operator of the language to handles of which one is a tensor."""
        self.s.current = operator
        return OPERATORS[operator].fn(self.s, *operands, **options)

    def call_named(self, name: str, *args: Any) -> Any:
        """Call a function of the language by its qualified name."""
        self.s.current = name
        return SURFACES[name].fn(self.s, *args)

    # ---- places and errors ---------------------------------------------------------------------------

    def locate(self) -> Loc | None:
        return self.frame.loc(self.node) if self.frame is not None else None

    def fail(self, code: str, node: ast.AST | None = None, **fields: Any) -> NoReturn:
        """Raise the catalogue error `code` at `node`, or at the node being evaluated."""
        raise make_error(code, self.frame.loc(node if node is not None else self.node), **fields)

    def fail_undefined(self, name: str, missing: Undefined, node: ast.AST) -> NoReturn:
        self.fail(missing.code, node, name=name, **dict(missing.fields))

    # ---- handles -------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        return self.frame.state

    def lift(self, handle: Any) -> Any:
        """`handle` with compile-time numbers turned into 0-d tensors; what is not a number stays."""
        if isinstance(handle, constexpr):
            if isinstance(handle.value, (bool, int, float)):
                return self.s.to_tensor(handle)
            return handle
        if type(handle) is tuple:
            return tuple([self.lift(part) for part in handle])
        if isinstance(handle, tuple) and hasattr(handle, "_make"):
            return handle._make([self.lift(part) for part in handle])  # type: ignore[attr-defined]
        return handle

    def truth(self, handle: Any, construct: str, node: ast.AST) -> bool | Tensor:
        """A condition: True or False if known now, else a 0-d i1 tensor."""
        value = unwrap(handle)
        if isinstance(value, Tensor):
            known = literal_of(value)
            return bool(known) if known is not None else self.run_time_truth(value, construct, node)
        if value is None or isinstance(value, int):  # bool is an int
            return bool(value)
        self.fail("TRI0446", node, construct=construct, got=self.describe(handle))

    def run_time_truth(self, value: Tensor, construct: str, node: ast.AST) -> Tensor:
        if value.type.numel != 1:
            self.fail("TRI0444", node, construct=construct, shape=list(value.dims))
        if construct == "while" and not (isinstance(value.dtype, DType) and value.dtype.is_bool()):
            self.fail("TRI0445", node, got=self.describe(value))
        self.node = node
        if value.dims:
            value = self.call_named("tl.item", value)
        return self.s.cast(value, int1)

    def describe(self, handle: Any) -> str:
        """A handle as errors name it: a run-time value by its type, a compile-time one by its value."""
        value = unwrap(handle)
        if isinstance(value, (Tensor, Aggregate)):
            return describe(value)
        if (
            isinstance(value, (DType, PointerType))
            or value is None
            or isinstance(value, (bool, int, float, str))
        ):
            return describe(value)
        if isinstance(value, tuple):
            return f"a tuple of {', '.join(self.describe(v) for v in value)}" if value else "an empty tuple"
        kind = type(value).__name__
        name = getattr(value, "__name__", None) or getattr(value, "name", None)
        return f"the {kind} {name}" if isinstance(name, str) else f"an object of class {kind}"

    def forget(self, region: Region, count: int = 0) -> None:
        """Throw the ops of a region from position `count` on away: they turned out not to be wanted."""
        del region.ops[count:]
        self.dropped = True  # their operands, and those of regions that were never attached, keep stale uses

    def name_value(self, handle: Any, name: str) -> None:
        """Let the printer call a value by the kernel's name for it."""
        if isinstance(handle, Tensor):
            if not handle.value.name and name != RESULT:
                handle.value.name = name
        elif isinstance(handle, tuple):
            for i, part in enumerate(handle):
                self.name_value(part, f"{name}.{i}")
