"""Text to IR: reads what `tritium.ir.printer` writes.

Ops are looked up in a registry that the caller passes (`tritium.ops.base.REGISTRY`), since the IR knows no op
by name. Result types are inferred by the ops' own rules and compared with the written ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from tritium.errors import Loc, make_error
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.types import DTYPES, DType, PointerType, SharedType, Type, dtype_named, pointer, tile

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|//[^\n]*)
      | (?P<newline>\n)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<value>%[\w.$]+)
      | (?P<tile>(?:tile|shared)<(?:\d+x)+)
      | (?P<number>-?(?:\d+\.\d*(?:e[+-]?\d+)?|\d+(?:e[+-]?\d+)?|inf\b|nan\b))
      | (?P<word>[A-Za-z_][\w.]*)
      | (?P<mark>[-@^!(){}\[\]<>:,=_])""",
    re.VERBOSE,
)
_CONSTANTS = {"true": True, "false": False, "none": None}
_TEXTS = {d.text for d in DTYPES.values()}


def parse_function(text: str, registry: Mapping[str, type[Op]], file: str = "<ir>") -> Function:
    """The function written in `text`. Raises TRI0901 naming the line where reading failed."""
    parser = _Parser(text, registry, file)
    function = parser.function()
    parser.expect_end()
    return function


class _Parser:
    def __init__(self, text: str, registry: Mapping[str, type[Op]], file: str) -> None:
        self.file = file
        self.registry = registry
        self.tokens: list[tuple[str, str, int]] = []
        self.at = 0
        self.values: dict[str, Value] = {}
        line, pos = 1, 0
        while pos < len(text):
            m = _TOKEN.match(text, pos)
            if m is None:
                self._fail(line, f"cannot read {text[pos : pos + 12]!r}")
            kind = m.lastgroup or ""
            if kind == "newline":
                line += 1
            elif kind != "space":
                self.tokens.append((kind, m.group(), line))
            pos = m.end()
        self.tokens.append(("end", "", line))

    # ---- tokens --------------------------------------------------------------------------------------

    def _fail(self, line: int, message: str) -> NoReturn:
        raise make_error("TRI0901", Loc(self.file, line), problem=message)

    def fail(self, message: str) -> NoReturn:
        self._fail(self.tokens[self.at][2], message)

    def peek(self, text: str) -> bool:
        return self.tokens[self.at][1] == text and self.tokens[self.at][0] != "string"

    def accept(self, text: str) -> bool:
        if self.peek(text):
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.fail(f"expected {text!r}, got {self.tokens[self.at][1]!r}")

    def take(self, kind: str) -> str:
        found, text, _ = self.tokens[self.at]
        if found != kind:
            self.fail(f"expected a {kind}, got {text!r}")
        self.at += 1
        return text

    def expect_end(self) -> None:
        if self.tokens[self.at][0] != "end":
            self.fail(f"unexpected text {self.tokens[self.at][1]!r} after the function")

    # ---- pieces --------------------------------------------------------------------------------------

    def function(self) -> Function:
        self.expect("func")
        self.expect("@")
        function = Function(self.take("word"))
        self.expect("(")
        while not self.accept(")"):
            name = self.take("value")
            self.expect(":")
            ty = self.type()
            facts = self.attrs() if self.peek("{") else {}
            self.define(name, function.add_arg(ty, _hint(name), **facts))
            self.accept(",")
        if self.peek("{") and self._braces_are_attrs():
            function.attrs = self.attrs()
        if self.peek("loc"):
            function.loc = self.loc()
        self.expect("{")
        self.ops_into(function.body)
        self.expect("}")
        return function

    def _braces_are_attrs(self) -> bool:
        kind, _, _ = self.tokens[self.at + 1]
        return kind == "word" and self.tokens[self.at + 2][1] == "="

    def define(self, name: str, value: Value) -> None:
        if name in self.values:
            self.fail(f"{name} is defined twice")
        self.values[name] = value

    def use(self) -> Value:
        name = self.take("value")
        if name not in self.values:
            self.fail(f"{name} is used before it is defined")
        return self.values[name]

    def ops_into(self, region: Region) -> None:
        while not self.peek("}"):
            region.append(self.op())

    def op(self) -> Op:
        names: list[str] = []
        while self.tokens[self.at][0] == "value":
            names.append(self.take("value"))
            self.accept(",")
        if names:
            self.expect("=")
        line = self.tokens[self.at][2]
        op_name = self.take("word")
        cls: Any = self.registry.get(op_name)
        if cls is None:
            self._fail(line, f"there is no op {op_name}")
        fields = self.operands(cls)
        attrs = self.attrs() if self.peek("{") and self._braces_are_attrs() else {}
        types = self.types() if self.accept(":") else []
        loc = self.loc() if self.peek("loc") else None
        for f in cls.region_fields:
            fields[f.name] = self.region()
        try:
            op: Op = cls(loc=loc, result_names=[_hint(n) for n in names], **fields, **attrs)
        except Exception as broken:
            self._fail(line, str(broken))
        if [r.type for r in op.results] != types:
            self._fail(line, f"{op_name} gives {[str(r.type) for r in op.results]}, written are {types}")
        if len(names) != len(op.results):
            self._fail(line, f"{op_name} has {len(op.results)} results, {len(names)} are named")
        for name, value in zip(names, op.results, strict=True):
            self.define(name, value)
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
                    self.accept(",")
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
                name = self.take("value")
                self.expect(":")
                self.define(name, region.add_arg(self.type(), _hint(name)))
                self.accept(",")
            self.expect(":")
        self.ops_into(region)
        self.expect("}")
        return region

    def attrs(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        self.expect("{")
        while not self.accept("}"):
            key = self.take("word")
            self.expect("=")
            out[key] = self.attr()
            self.accept(",")
        return out

    def attr(self) -> Any:
        kind, text, _ = self.tokens[self.at]
        if kind == "string":
            self.at += 1
            return json.loads(text)
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
                self.accept(",")
            return tuple(items)
        self.fail(f"{text!r} is no attribute value")

    def types(self) -> list[Type]:
        out = [self.type()]
        while self.accept(","):
            out.append(self.type())
        return out

    def type(self) -> Type:
        kind, text, _ = self.tokens[self.at]
        if kind == "tile":
            self.at += 1
            dims = tuple(int(d) for d in re.findall(r"(\d+)x", text))
            element = self.type()
            if text.startswith("shared"):
                return self.shared(element, dims)
            self.expect(">")
            if not isinstance(element, (DType, PointerType)):
                self.fail("a tile holds scalars")
            return tile(element, dims)
        if text == "ptr":
            self.at += 1
            self.expect("<")
            element = self.type()
            const = self.accept(",")
            if const:
                self.expect("const")
            self.expect(">")
            if isinstance(element, (DType, PointerType)):
                return pointer(element, const)
        if text in _TEXTS:
            self.at += 1
            return dtype_named(text)
        self.fail(f"{text!r} is no type")

    def shared(self, element: Type, dims: tuple[int, ...]) -> SharedType:
        """The rest of a shared-memory type: ``, order 1 0, pad 1, stages 2>``."""
        found: dict[str, list[int]] = {}
        while self.accept(","):
            word = self.take("word")
            found[word] = []
            while self.tokens[self.at][0] == "number":
                found[word].append(int(self.take("number")))
        self.expect(">")
        if not isinstance(element, DType) or found.keys() != {"order", "pad", "stages"}:
            self.fail("a shared buffer holds numbers and has order, pad and stages")
        return SharedType(element, dims, tuple(found["order"]), found["pad"][0], found["stages"][0])

    def loc(self) -> Loc:
        self.expect("loc")
        self.expect("(")
        chain: list[tuple[str, list[int], str]] = []
        while True:
            file = json.loads(self.take("string"))
            numbers: list[int] = []
            while self.accept(":"):
                numbers.append(int(self.take("number")))
            chain.append((file, numbers, json.loads(self.take("string"))))
            if not self.accept("<"):
                break
        self.expect(")")
        made: Loc | None = None
        for file, (line, col, end_line, end_col), function in reversed(chain):
            made = Loc(file, line, col, end_line, end_col, function, made)
        assert made is not None
        return made


def _hint(name: str) -> str:
    """The name hint in ``%acc``; numbered values have none."""
    bare = name[1:]
    return "" if bare.isdigit() else bare
