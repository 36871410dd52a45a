"""Text to IR: reads what `tritium.ir.printer` writes.

Ops are looked up in a registry that the caller passes (`tritium.ops.base.REGISTRY`), since the IR knows no op
by name. Result types are inferred by the ops' own rules and compared with the written ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

from tritium.errors import Loc, make_error, register_source
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.types import DTYPES, DType, PointerType, SharedType, Type, dtype_named, pointer, tile

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|//[^\n]*)
      | (?P<newline>\n)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<value>%[\w.$]+)
      | (?P<tile>(?:tile|shared)<(?:\d+x)+)
      | (?P<number>-?(?:\d+\.\d*(?:e[+-]?\d+)?|\d+(?:e[+-]?\d+)?|inf\b|nan\b))
      | (?P<word>[^\W\d][\w.]*)
      | (?P<mark>[-@^!(){}\[\]<>:,=_])""",
    re.VERBOSE,
)
_CONSTANTS = {"true": True, "false": False, "none": None}
_TEXTS = {d.text for d in DTYPES.values()}


def parse_function(text: str, registry: Mapping[str, type[Op]], file: str = "<ir>") -> Function:
    """The function written in `text`. Raises TRI0901 naming the place where reading failed."""
    parser = _Parser(text, registry, file)
    function = parser.function()
    parser.expect_end()
    return function


class _Token(NamedTuple):
    kind: str
    text: str
    line: int
    col: int


class _Parser:
    def __init__(self, text: str, registry: Mapping[str, type[Op]], file: str) -> None:
        self.text = text
        self.file = file
        self.registry = registry
        self.tokens: list[_Token] = []
        self.at = 0
        self.values: dict[str, Value] = {}
        self._split(text)

    # ---- tokens --------------------------------------------------------------------------------------

    def _split(self, text: str) -> None:
        line, start, pos = 1, 0, 0
        while pos < len(text):
            m = _TOKEN.match(text, pos)
            if m is None:
                unread = _Token("", text[pos : pos + 12].partition("\n")[0], line, pos - start)
                self.fail(f"cannot read {unread.text!r}", unread)
            kind = m.lastgroup or ""
            if kind == "newline":
                line, start = line + 1, m.end()
            elif kind != "space":
                self.tokens.append(_Token(kind, m.group(), line, pos - start))
            pos = m.end()
        self.tokens.append(_Token("end", "", line, pos - start))

    def fail(self, message: str, at: _Token | None = None) -> NoReturn:
        at = at or self.here
        register_source(self.file, self.text)
        loc = Loc(self.file, at.line, at.col, at.line, at.col + max(len(at.text), 1))
        raise make_error("TRI0901", loc, problem=message)

    @property
    def here(self) -> _Token:
        return self.tokens[self.at]

    def peek(self, text: str) -> bool:
        return self.here.text == text and self.here.kind != "string"

    def accept(self, text: str) -> bool:
        if self.peek(text):
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.fail(f"expected {text!r}, got {self._shown()}")

    def _shown(self) -> str:
        return "the end of the text" if self.here.kind == "end" else repr(self.here.text)

    def take(self, kind: str) -> str:
        if self.here.kind != kind:
            self.fail(f"expected a {kind}, got {self._shown()}")
        self.at += 1
        return self.tokens[self.at - 1].text

    def number(self) -> int:
        if not re.fullmatch(r"\d+", self.here.text):
            self.fail(f"expected a whole number, got {self._shown()}")
        return int(self.take("number"))

    def string(self) -> str:
        at = self.here
        try:
            return json.loads(self.take("string"))
        except ValueError as broken:
            self.fail(str(broken), at)

    def expect_end(self) -> None:
        if self.here.kind != "end":
            self.fail(f"unexpected text {self.here.text!r} after the function")

    # ---- pieces --------------------------------------------------------------------------------------

    def function(self) -> Function:
        self.expect("func")
        self.expect("@")
        function = Function(self.string() if self.here.kind == "string" else self.take("word"))
        self.expect("(")
        while not self.accept(")"):
            at, name = self.here, self.take("value")
            self.expect(":")
            value = function.add_arg(self.type(), _hint(name))
            if self.peek("{"):
                function.arg_attrs[-1].update(self.attrs())
            self.define(name, value, at)
            self.separator(")")
        if self.peek("{") and self._braces_are_attrs():
            function.attrs = self.attrs()
        if self.peek("loc"):
            function.loc = self.loc()
        self.expect("{")
        self.ops_into(function.body)
        self.expect("}")
        return function

    def separator(self, end: str) -> None:
        """A comma, or nothing in front of what ends the list."""
        if not self.accept(",") and not self.peek(end):
            self.fail(f"expected ',' or {end!r}, got {self._shown()}")

    def _braces_are_attrs(self) -> bool:
        return self.tokens[self.at + 1].kind == "word" and self.tokens[self.at + 2].text == "="

    def define(self, name: str, value: Value, at: _Token) -> None:
        if name in self.values:
            self.fail(f"{name} is defined twice", at)
        self.values[name] = value

    def use(self) -> Value:
        at, name = self.here, self.take("value")
        if name not in self.values:
            self.fail(f"{name} is used before it is defined", at)
        return self.values[name]

    def ops_into(self, region: Region) -> None:
        while not self.peek("}"):
            region.append(self.op())

    def op(self) -> Op:
        names: list[_Token] = []
        while self.here.kind == "value":
            names.append(self.here)
            self.at += 1
            self.separator("=")
        if names:
            self.expect("=")
        at, op_name = self.here, self.take("word")
        cls: Any = self.registry.get(op_name)
        if cls is None:
            self.fail(f"there is no op {op_name}", at)
        fields = self.operands(cls)
        attrs = self.attrs() if self.peek("{") and self._braces_are_attrs() else {}
        types = self.types() if self.accept(":") else []
        loc = self.loc() if self.peek("loc") else None
        for f in cls.region_fields:
            fields[f.name] = self.region()
        for twice in fields.keys() & attrs.keys():
            self.fail(f"{twice} is no attribute of {op_name}", at)
        try:
            op: Op = cls(loc=loc, result_names=[_hint(n.text) for n in names], **fields, **attrs)
        except Exception as broken:
            self.fail(f"{op_name}: {broken}", at)
        if op_types(op) != types:
            given, written = (", ".join(map(str, ts)) or "nothing" for ts in (op_types(op), types))
            self.fail(f"{op_name} gives {given}, written is {written}", at)
        if len(names) != len(op.results):
            self.fail(f"{op_name} has {len(op.results)} results, {len(names)} are named", at)
        for name, value in zip(names, op.results, strict=True):
            self.define(name.text, value, name)
        return op

    def operands(self, cls: Any) -> dict[str, Any]:
        out: dict[str, Any] = {}
        self.expect("(")
        for i, f in enumerate(cls.operand_fields):
            if i:
                self.expect(",")
            if f.variadic:
                self.expect("[")
                values: list[Value] = []
                while not self.accept("]"):
                    values.append(self.use())
                    self.separator("]")
                out[f.name] = values
            elif self.accept("_"):
                out[f.name] = None
            else:
                out[f.name] = self.use()
        self.expect(")")
        return out

    def region(self) -> Region:
        self.expect("{")
        region = Region()
        if self.accept("^"):
            self.expect("(")
            while not self.accept(")"):
                at, name = self.here, self.take("value")
                self.expect(":")
                self.define(name, region.add_arg(self.type(), _hint(name)), at)
                self.separator(")")
            self.expect(":")
        self.ops_into(region)
        self.expect("}")
        return region

    def attrs(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        self.expect("{")
        while not self.accept("}"):
            at, key = self.here, self.take("word")
            if key in out:
                self.fail(f"{key} is given twice", at)
            self.expect("=")
            out[key] = self.attr()
            self.separator("}")
        return out

    def attr(self) -> Any:
        kind, text, _, _ = self.here
        if kind == "string":
            return self.string()
        if kind == "number":
            self.at += 1
            return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
        if text in _CONSTANTS:
            self.at += 1
            return _CONSTANTS[text]
        if self.accept("!"):
            return self.type()
        if self.accept("("):
            items: list[Any] = []
            while not self.accept(")"):
                items.append(self.attr())
                self.separator(")")
            return tuple(items)
        self.fail(f"expected the value of an attribute, got {self._shown()}")

    def types(self) -> list[Type]:
        out = [self.type()]
        while self.accept(","):
            out.append(self.type())
        return out

    def type(self) -> Type:
        at = self.here
        if at.kind == "tile":
            self.at += 1
            dims = tuple(int(d) for d in re.findall(r"(\d+)x", at.text))
            element = self.type()
            if at.text.startswith("shared"):
                return self.shared(element, dims)
            self.expect(">")
            if not isinstance(element, (DType, PointerType)) or 0 in dims:
                self.fail("a tile holds scalars and has extents of at least 1", at)
            return tile(element, dims)
        if self.accept("ptr"):
            self.expect("<")
            element = self.type()
            const = self.accept(",")
            if const:
                self.expect("const")
            self.expect(">")
            if not isinstance(element, (DType, PointerType)):
                self.fail("a pointer points at scalars", at)
            return pointer(element, const)
        if at.kind == "word" and at.text in _TEXTS:
            self.at += 1
            return dtype_named(at.text)
        self.fail(f"expected a type, got {self._shown()}")

    def shared(self, element: Type, dims: tuple[int, ...]) -> SharedType:
        """The rest of a shared-memory type: ``, order 1 0, pad 1, stages 2>``."""
        found: dict[str, list[int]] = {}
        while self.accept(","):
            word = self.take("word")
            found[word] = []
            while self.here.kind == "number":
                found[word].append(int(self.take("number")))
        self.expect(">")
        swizzle = tuple(found.pop("swizzle", ()))
        if not isinstance(element, (DType, PointerType)) or found.keys() != {"order", "pad", "stages"}:
            self.fail("a shared buffer holds scalars and has order, pad and stages")
        return SharedType(element, dims, tuple(found["order"]), found["pad"][0], found["stages"][0], swizzle)

    def loc(self) -> Loc:
        self.expect("loc")
        self.expect("(")
        chain = [self._frame()]
        while self.accept("<"):
            chain.append(self._frame())
        self.expect(")")
        made: Loc | None = None
        for frame in reversed(chain):
            made = replace(frame, caller=made)
        assert made is not None
        return made

    def _frame(self) -> Loc:
        file = self.string()
        numbers: list[int] = []
        for _ in range(4):
            self.expect(":")
            numbers.append(self.number())
        function = self.string()
        origin: tuple[int, int] | None = None
        if self.accept("from"):
            line = self.number()
            self.expect(":")
            origin = (line, self.number())
        line, col, end_line, end_col = numbers
        return Loc(file, line, col, end_line, end_col, function, origin=origin)


def op_types(op: Op) -> list[Type]:
    """The types of an op's results."""
    return [r.type for r in op.results]


def _hint(name: str) -> str:
    """The name hint in ``%acc``; numbered values have none."""
    bare = name[1:]
    return "" if bare.isdigit() else bare
