"""Which variables of a kernel may still be read after a statement.

A branch or a loop hands on only variables that are read later, so that temporaries do not travel through the
whole kernel. Sets of names are integers, one bit per name.

Example: after the `if`, `t` is not read any more, `y` is::

    if c:
        t = x + 1; y = t * 2      # out of the `if`: {y}
    else:
        t = x - 1; y = t
    tl.store(p, y)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

Loop = ast.For | ast.While


class Liveness:
    """Backward liveness over the syntax tree of one function.

    `into[statement]`    names that may be read from it on
    `out[statement]`     names that may be read after it (by what follows it or by another turn of a loop)
    `head[loop]`         names that may be read when a turn of the loop starts
    `assigned[loop]`     names assigned anywhere in the loop
    `stored`             all names that the function assigns
    `last`               statements after which the function ends if it goes on: the end of its body, and the ends of
                         the branches of an `if` that stands there
    """

    def __init__(self, function: ast.FunctionDef | ast.Lambda) -> None:
        self._bits: dict[str, int] = {}
        self._uses: dict[ast.AST, int] = {}
        self._stores: dict[ast.AST, int] = {}
        self.into: dict[ast.stmt, int] = {}
        self.out: dict[ast.stmt, int] = {}
        self.head: dict[ast.stmt, int] = {}
        self.assigned: dict[ast.stmt, frozenset[str]] = {}
        self.last: set[ast.stmt] = set()
        stored: set[str] = set()
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                stored |= self._names(self._stored_in(statement))
            self._block(function.body, 0, 0, 0)
            self._mark_last(function.body)
        self.stored = frozenset(stored)

    def _mark_last(self, body: list[ast.stmt]) -> None:
        pending = [body]
        while pending:
            block = pending.pop()
            if block:
                self.last.add(block[-1])
                if isinstance(block[-1], ast.If):
                    pending += [block[-1].body, block[-1].orelse]

    def is_live(self, name: str, mask: int) -> bool:
        """Whether `name` belongs to `mask`."""
        bit = self._bits.get(name)
        return bit is not None and bool(mask & bit)

    def before(self, statements: Sequence[ast.stmt]) -> int:
        """Names that may be read from the start of a block on; nothing for an empty one."""
        return self.into.get(statements[0], 0) if statements else 0

    def _bit(self, name: str) -> int:
        found = self._bits.get(name)
        if found is None:
            found = self._bits[name] = 1 << len(self._bits)
        return found

    def _names(self, mask: int) -> set[str]:
        return {name for name, bit in self._bits.items() if mask & bit}

    def _used_in(self, *nodes: ast.AST | None) -> int:
        mask = 0
        for node in nodes:
            if node is None:
                continue
            known = self._uses.get(node)
            if known is None:
                known = 0
                for part in ast.walk(node):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                        known |= self._bit(part.id)
                self._uses[node] = known
            mask |= known
        return mask

    def _stored_in(self, node: ast.AST) -> int:
        known = self._stores.get(node)
        if known is None:
            known = 0
            pending: list[ast.AST] = [node]
            while pending:
                part = pending.pop()
                if isinstance(part, ast.Name):
                    if isinstance(part.ctx, ast.Store):
                        known |= self._bit(part.id)
                elif not isinstance(part, ast.ListComp):  # its variable is its own
                    pending.extend(ast.iter_child_nodes(part))
            self._stores[node] = known
        return known

    # ---- statements, backwards -------------------------------------------------------------------------

    def _block(self, statements: Sequence[ast.stmt], live: int, on_break: int, on_continue: int) -> int:
        for statement in reversed(statements):
            self.out[statement] = live
            live = self.into[statement] = self._statement(statement, live, on_break, on_continue)
        return live

    def _statement(self, node: ast.stmt, live: int, on_break: int, on_continue: int) -> int:
        if isinstance(node, ast.If):
            return self._if(node, live, on_break, on_continue)
        if isinstance(node, ast.For | ast.While):
            return self._loop(node, live)
        if isinstance(node, ast.Return):
            return self._used_in(node.value)
        if isinstance(node, ast.Break):
            return on_break
        if isinstance(node, ast.Continue):
            return on_continue
        if isinstance(node, ast.Assign):
            for target in node.targets:
                live &= ~self._stored_in(target)
            return live | self._used_in(node.value, *node.targets)
        if isinstance(node, ast.AnnAssign):
            if node.value is not None:
                live &= ~self._stored_in(node.target)
            return live | self._used_in(node.value, node.annotation)
        if isinstance(node, ast.AugAssign):
            return live | self._used_in(node.value, node.target) | self._stored_in(node.target)
        return live | self._used_in(node)

    def _if(self, node: ast.If, live: int, on_break: int, on_continue: int) -> int:
        chain = [node]  # a long `elif` chain is a deep tree: walk it without recursion
        while len(chain[-1].orelse) == 1 and isinstance(chain[-1].orelse[0], ast.If):
            chain.append(chain[-1].orelse[0])
        after = self._block(chain[-1].orelse, live, on_break, on_continue)
        for arm in reversed(chain):
            self.out[arm] = live
            after |= self._used_in(arm.test) | self._block(arm.body, live, on_break, on_continue)
            self.into[arm] = after
        return after

    def _loop(self, node: Loop, live: int) -> int:
        self.assigned[node] = frozenset(self._names(self._stored_in(node)))
        live = self._block(node.orelse, live, 0, 0)
        head, target = live, 0
        if isinstance(node, ast.For):
            target = self._stored_in(node.target)
        else:
            head |= self._used_in(node.test)
        while True:
            entered = head | (self._block(node.body, head, live, head) & ~target)
            if entered == head:
                break
            head = entered
        self.head[node] = head
        return head | (self._used_in(node.iter) if isinstance(node, ast.For) else 0)
