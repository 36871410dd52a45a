"""Is this function well formed? Runs after every pass, so that a wrong rewrite fails where it happens.

Level ``cheap``: every op's types follow from its rule, every operand is defined before use in scope, regions
end as their owner asks, parents are right. Level ``total`` adds the links between values and ops: use lists, owners,
indices.
"""

from __future__ import annotations

from typing import NoReturn

from tritium.errors import make_error
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.printer import print_op


def verify(function: Function, *, level: str = "cheap", after: str = "") -> None:
    """Raise the catalogue error TRI0904 naming the op and, in `after`, the pass that left it so."""
    if level == "off":
        return
    _Verifier(level == "total", after).function(function)


class _Verifier:
    def __init__(self, total: bool, after: str) -> None:
        self.total = total
        self.after = after
        self.visible: set[Value] = set()
        self.seen: set[Op] = set()

    def fail(self, op: Op | None, message: str) -> NoReturn:
        text = f"\n{print_op(op)}" if op is not None else ""
        raise make_error(
            "TRI0904", op.loc if op else None, stage=self.after or "construction", problem=message + text
        )

    def function(self, function: Function) -> None:
        if len(function.arg_attrs) != len(function.args):
            self.fail(None, "argument facts and arguments differ in number")
        if function.body.parent is not function:
            self.fail(None, "the body does not know its function")
        self.region(function.body)
        end = function.body.terminator
        if end is None or end.name != "tile.return":
            self.fail(None, f"@{function.name} does not end in tile.return")

    def region(self, region: Region) -> None:
        added: list[Value] = list(region.args)
        self.visible.update(added)
        if self.total:
            holder = region.parent if isinstance(region.parent, Op) else None
            self.links(holder, region, region.args, "argument")
        last = len(region.ops) - 1
        for i, op in enumerate(region.ops):
            if op in self.seen:
                self.fail(op, "the op stands in two places")
            self.seen.add(op)
            self.op(op)
            if op.is_terminator and i != last:
                self.fail(op, f"{op.name} stands before the end of its region")
            if op.parent is not region:
                self.fail(op, "the op is in a region that is not its parent")
            self.visible.update(op.results)
            added.extend(op.results)
        self.visible.difference_update(added)

    def op(self, op: Op) -> None:
        for i, v in enumerate(op.operands):
            if v not in self.visible:
                self.fail(op, f"operand {i} ({v!r}) is not defined before this op in its scope")
            if self.total and (op, i) not in v.uses:
                self.fail(op, f"operand {i} does not list this op among its uses")
        for region in op.regions:
            if region.parent is not op:
                self.fail(op, "a region does not know its op")
            self.region(region)
        try:
            inferred = list(op.infer())  # type: ignore[attr-defined]
            op.check()  # type: ignore[attr-defined]
        except Exception as broken:
            self.fail(op, str(broken))
        if inferred != [r.type for r in op.results]:
            self.fail(op, f"the type rule gives {[str(t) for t in inferred]}")
        if self.total:
            self.links(op, op, op.results, "result")

    def links(self, op: Op | None, owner: Op | Region, values: list[Value], what: str) -> None:
        """Whether `values` of `owner` know it, and their users know them; `op` is what a message shows."""
        for i, v in enumerate(values):
            if v.owner is not owner or v.index != i:
                self.fail(op, f"{what} {i} does not know where it comes from")
            for user, j in v.uses:
                if j >= len(user.operands) or user.operands[j] is not v:
                    self.fail(op, f"{what} {i} lists a use that is none: {user!r} operand {j}")
                if user.parent is None:
                    self.fail(op, f"{what} {i} is used by a detached op {user!r}")
