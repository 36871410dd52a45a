"""Random kernels made of control flow on integers, and what plain Python says they compute.

The same text is compiled as a kernel and executed as Python, so Python itself is the reference. Values are masked to
ten bits, where both agree.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

NAMES = ("a", "b", "c", "d")


@dataclass
class Scope:
    """Where a statement stands: how deep, and which exits it may take."""

    depth: int
    in_loop: bool = False
    helper: bool = False
    unrolled: bool = False


class Generator:
    """Writes one random program; the same seed gives the same text."""

    def __init__(self, seed: int, exits: bool = True) -> None:
        self.rng = random.Random(seed)
        self.exits = exits
        self.lines: list[str] = []
        self.counters = 0

    def program(self) -> str:
        """Text that defines `helper` and `kernel`."""
        self.emit(0, "@jit")
        self.emit(0, "def helper(a, b, n):")
        self.emit(1, "c = a + 1")
        self.emit(1, "d = b")
        self.block(Scope(1, helper=True), 3)
        self.emit(1, "return (a + b * 3 + c * 5 + d * 7) & 1023")
        self.emit(0, "")
        self.emit(0, "@jit")
        self.emit(0, "def kernel(out, n, m):")
        self.emit(1, "pid = tl.program_id(0)")
        for i, name in enumerate(NAMES):
            self.emit(1, f"{name} = (pid * {i + 1} + n) & 15")
        self.block(Scope(1), 5)
        for i, name in enumerate(NAMES):
            self.emit(1, f"tl.store(out + pid * 4 + {i}, {name})")
        return "\n".join(self.lines) + "\n"

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def value(self, scope: Scope) -> str:
        rng = self.rng
        atoms = [*NAMES, "n", str(rng.randrange(9))]
        kind = rng.randrange(8)
        x, y = rng.choice(atoms), rng.choice(atoms)
        if kind == 0 and not scope.helper:
            return f"helper({x}, {rng.choice(NAMES)}, {y})"
        if kind == 1:
            return f"({x} ^ 1 if {self.condition()} else {y} ^ 2)"
        return f"({x} {rng.choice('+-*^|')} {y} + {rng.randrange(5)}) & 1023"

    def condition(self) -> str:
        rng = self.rng
        x, y = rng.choice(NAMES), rng.choice([*NAMES, str(rng.randrange(20))])
        test = f"{x} {rng.choice(['<', '>', '==', '!=', '<=', '>='])} {y}"
        if rng.randrange(5) == 0:
            return f"({test}) and ({rng.choice(NAMES)} > {rng.randrange(9)})"
        if rng.randrange(6) == 0:
            return f"0 <= {x} < {rng.randrange(30)}"
        return test

    def block(self, scope: Scope, count: int) -> None:
        for _ in range(self.rng.randint(1, count)):
            self.statement(scope)

    def inner(self, scope: Scope, **changes: Any) -> Scope:
        return Scope(**{**vars(scope), "depth": scope.depth + 1, **changes})

    def statement(self, scope: Scope) -> None:
        rng = self.rng
        kind = rng.randrange(14) if scope.depth < 5 else rng.randrange(5)
        if kind < 4:
            self.emit(scope.depth, f"{rng.choice(NAMES)} {rng.choice(['=', '=', '^='])} {self.value(scope)}")
        elif kind < 6:
            self.exit_or_assign(scope)
        elif kind < 10:
            self.if_statement(scope)
        elif kind < 12:
            self.for_loop(scope)
        elif kind == 12:
            self.while_loop(scope)
        else:
            self.unrolled_loop(scope)

    def exit_or_assign(self, scope: Scope) -> None:
        rng = self.rng
        options = ["return"]
        if scope.in_loop:
            options += ["break", "continue", "break", "continue"]
        if not self.exits or rng.randrange(3) == 0:
            self.emit(scope.depth, f"{rng.choice(NAMES)} = {self.value(scope)}")
            return
        choice = rng.choice(options)
        if choice == "return" and scope.helper:
            choice = f"return ({rng.choice(NAMES)} * 11 + 1) & 1023"
        self.emit(scope.depth, f"if {self.condition()}:")
        if rng.randrange(2):
            self.emit(scope.depth + 1, f"{rng.choice(NAMES)} = {self.value(scope)}")
        self.emit(scope.depth + 1, choice)

    def if_statement(self, scope: Scope) -> None:
        rng = self.rng
        self.emit(scope.depth, f"if {self.condition()}:")
        self.block(self.inner(scope), 2)
        for _ in range(rng.choice([0, 0, 1, 2])):
            self.emit(scope.depth, f"elif {self.condition()}:")
            self.block(self.inner(scope), 2)
        if rng.randrange(2):
            self.emit(scope.depth, "else:")
            self.block(self.inner(scope), 2)

    def for_loop(self, scope: Scope) -> None:
        rng = self.rng
        self.counters += 1
        bounds = rng.choice(["(b & 3) + 1", "2, (a & 7)", "(c & 7), 0, -2", "0, (d & 7), 1 + (n & 1)", "3"])
        self.emit(scope.depth, f"for i{self.counters} in range({bounds}):")
        variable = f"i{self.counters}"
        self.emit(scope.depth + 1, f"{rng.choice(NAMES)} ^= {variable}")
        self.block(self.inner(scope, in_loop=True), 3)

    def while_loop(self, scope: Scope) -> None:
        self.counters += 1
        counter = f"w{self.counters}"
        self.emit(scope.depth, f"{counter} = 0")
        self.emit(scope.depth, f"while {counter} < 4 and {self.rng.choice(NAMES)} < 900:")
        self.emit(scope.depth + 1, f"{counter} += 1")
        self.block(self.inner(scope, in_loop=True), 3)

    def unrolled_loop(self, scope: Scope) -> None:
        self.counters += 1
        over = self.rng.choice(["tl.static_range(3)", "(1, 5, 2)", "tl.static_range(4, 0, -2)"])
        self.emit(scope.depth, f"for s{self.counters} in {over}:")
        self.emit(scope.depth + 1, f"{self.rng.choice(NAMES)} ^= s{self.counters}")
        self.block(self.inner(scope, in_loop=True, unrolled=True), 2)


class _Pointer:
    def __init__(self, memory: list[int], at: int = 0) -> None:
        self.memory = memory
        self.at = at

    def __add__(self, by: int) -> _Pointer:
        return _Pointer(self.memory, self.at + by)


def run_as_python(text: str, programs: int, n: int, m: int) -> list[int]:
    """What `kernel` stores, executed by Python for each program in turn."""
    memory = [-1] * (4 * programs)
    here = {"pid": 0}

    def store(pointer: _Pointer, value: int) -> None:
        pointer.memory[pointer.at] = int(value)

    tl = SimpleNamespace(store=store, static_range=range, program_id=lambda axis: here["pid"])
    namespace: dict[str, Any] = {"tl": tl, "jit": lambda fn: fn}
    exec(text, namespace)
    for pid in range(programs):
        here["pid"] = pid
        namespace["kernel"](_Pointer(memory), n, m)
    return memory
