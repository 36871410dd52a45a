"""IR to text. The text is complete: `tritium.ir.parser` reads it back to an equal function.

::

    func @add(%x: ptr<f32> {divisibility = 16}, %n: i32) {num_warps = 4} {
      %pid = tile.program_id() {axis = 0} : i32
      %offs = tile.arange() {start = 0, end = 64} : tile<64xi32>
      %sum = tile.for(%lo, %hi, %one, [%zero]) : f32 {
      ^(%i: i32, %acc: f32):
        tile.yield([%acc])
      }
      tile.return()
    }

Operands stand in field order: one value, ``_`` for an absent optional one, ``[...]`` for a variadic field.
Names come from the kernel's variables where there is one, else they are numbers in order of definition, so
the same function always prints the same text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

from tritium.errors import Loc
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.types import Type

_NO_NAME = re.compile(r"[^\w.$]")
_PLAIN_NAME = re.compile(r"(?!(?:inf|nan)\b)[^\W\d][\w.]*")


def print_function(function: Function, *, locs: bool = False, note: Callable[[Op], str] | None = None) -> str:
    """The text of `function`. `locs` adds ``loc(...)`` to every op; `note(op)` a trailing ``// comment``."""
    return _Printer(locs, note).function(function)


def value_names(function: Function) -> dict[Value, str]:
    """The name of every value as `print_function` writes it, without the ``%``."""
    printer = _Printer(False, None)
    printer.function(function)
    return {value: name[1:] for value, name in printer.names.items()}


def print_op(op: Op) -> str:
    """One op with its regions, values named as far as their hints go; for messages."""
    printer = _Printer(False, None)
    printer.op(op, "")
    return "\n".join(printer.lines)


class _Printer:
    def __init__(self, locs: bool, note: Callable[[Op], str] | None) -> None:
        self.locs = locs
        self.note = note
        self.lines: list[str] = []
        self.names: dict[Value, str] = {}
        self.taken: set[str] = set()
        self.counter = 0

    def name(self, value: Value) -> str:
        found = self.names.get(value)
        if found is not None:
            return found
        hint = _NO_NAME.sub("_", value.name)
        if not hint:
            made = f"%{self.counter}"
            self.counter += 1
        else:
            hint = f"_{hint}" if hint.isdigit() else hint  # a bare number says that there is no name
            made, n = f"%{hint}", 0
            while made in self.taken:
                n += 1
                made = f"%{hint}_{n}"
        self.taken.add(made)
        self.names[value] = made
        return made

    def function(self, function: Function) -> str:
        args = ", ".join(
            f"{self.name(a)}: {a.type.text}{_attrs(facts)}"  # type: ignore[attr-defined]
            for a, facts in zip(function.args, function.arg_attrs, strict=True)
        )
        loc = f" {print_loc(function.loc)}" if self.locs and function.loc else ""
        name = function.name if _PLAIN_NAME.fullmatch(function.name) else _string(function.name)
        self.lines.append(f"func @{name}({args}){_attrs(function.attrs)}{loc} {{")
        for op in function.body.ops:
            self.op(op, "  ")
        self.lines.append("}")
        return "\n".join(self.lines) + "\n"

    def op(self, op: Op, indent: str) -> None:
        fields = type(op).operand_fields  # type: ignore[attr-defined]
        operands = ", ".join(self._operand(getattr(op, f.name)) for f in fields)
        head = f"{op.name}({operands}){_attrs(op.attrs)}"
        if op.results:
            types = ", ".join(r.type.text for r in op.results)  # type: ignore[attr-defined]
            head = f"{', '.join(self.name(r) for r in op.results)} = {head} : {types}"
        if self.locs and op.loc:
            head += f" {print_loc(op.loc)}"
        tail = f"  // {self.note(op)}" if self.note and self.note(op) else ""
        if not op.regions:
            self.lines.append(indent + head + tail)
            return
        self.lines.append(f"{indent}{head} {{{tail}")
        for i, region in enumerate(op.regions):
            if i:
                self.lines.append(f"{indent}}} {{")
            self.region(region, indent)
        self.lines.append(f"{indent}}}")

    def region(self, region: Region, indent: str) -> None:
        if region.args:
            args = ", ".join(f"{self.name(a)}: {a.type.text}" for a in region.args)  # type: ignore[attr-defined]
            self.lines.append(f"{indent}^({args}):")
        for op in region.ops:
            self.op(op, indent + "  ")

    def _operand(self, value: Any) -> str:
        if value is None:
            return "_"
        if isinstance(value, list):
            return f"[{', '.join(self.name(v) for v in value)}]"
        return self.name(value)


def _attrs(attrs: dict[str, Any]) -> str:
    if not attrs:
        return ""
    return " {" + ", ".join(f"{k} = {print_attr(v)}" for k, v in attrs.items()) + "}"


def print_attr(value: Any) -> str:
    """One attribute value: bool, int, float, str, None, a type, or a tuple of these."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        return "inf" if value == math.inf else "-inf" if value == -math.inf else repr(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, Type):
        return f"!{value.text}"  # type: ignore[attr-defined]
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(map(print_attr, value)) + ("," if len(value) == 1 else "") + ")"
    raise TypeError(f"attribute {value!r} of type {type(value).__name__} has no text form")


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def print_loc(loc: Loc) -> str:
    """``loc("file":line:col:end_line:end_col "function" from def_line:def_col < caller...)``"""
    parts: list[str] = []
    here: Loc | None = loc
    while here is not None:
        where = f"{_string(here.file)}:{here.line}:{here.col}:{here.end_line}:{here.end_col}"
        origin = f" from {here.origin[0]}:{here.origin[1]}" if here.origin else ""
        parts.append(f"{where} {_string(here.function)}{origin}")
        here = here.caller
    return f"loc({' < '.join(parts)})"
