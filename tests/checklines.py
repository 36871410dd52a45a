r"""Check lines: say what a text must hold, in order, without writing all of it down (after LLVM's FileCheck).

    check(text, r'''
        CHECK:       %[[acc:\w+]] = tile.zeros
        CHECK-NOT:   tile.load
        CHECK:       yield %[[acc]]
        CHECK-NEXT:  }
        CHECK-COUNT-2: tile.dot
    ''')

`CHECK` finds its pattern on a line after the one found last, `CHECK-NEXT` on the very next line, `CHECK-SAME` further on
in the same line, `CHECK-COUNT-n` on n lines one after the other; `CHECK-NOT` must not occur between its neighbours. A
pattern is literal text in which blanks match any blanks, `[[name:regex]]` captures, `[[name]]` stands for what
was captured, and `{{regex}}` is a regular expression.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_DIRECTIVE = re.compile(r"^\s*CHECK(?P<kind>-NOT|-NEXT|-SAME|-COUNT-(?P<count>\d+)|): *(?P<pattern>.*?)\s*$")
_PART = re.compile(r"\{\{(?P<regex>.*?)\}\}|\[\[(?P<name>[A-Za-z_]\w*)(?::(?P<body>.+?))?\]\]")


@dataclass(frozen=True)
class Directive:
    text: str
    kind: str
    pattern: str
    count: int = 1


def parse(script: str) -> list[Directive]:
    """The directives of a script; a line that is neither blank nor a directive is an error."""
    found: list[Directive] = []
    for line in filter(str.strip, script.splitlines()):
        match = _DIRECTIVE.match(line)
        if match is None or not match["pattern"] or match["count"] == "0":
            raise ValueError(f"not a check line: {line.strip()!r}")
        kind = "" if match["count"] else match["kind"]
        found.append(Directive(line.strip(), kind, match["pattern"], int(match["count"] or 1)))
    if not found:
        raise ValueError("no check lines")
    return found


def _literal(text: str) -> str:
    return r"\s+".join(re.escape(piece) for piece in re.split(r"\s+", text))


def compile_pattern(pattern: str, names: dict[str, str]) -> re.Pattern[str]:
    """`pattern` as a regular expression, with the captured `names` filled in."""
    out, at, defined = "", 0, set[str]()
    for part in _PART.finditer(pattern):
        out += _literal(pattern[at : part.start()])
        at, name = part.end(), part["name"]
        if name is None:
            out += f"(?:{part['regex']})"
        elif part["body"] is not None:
            defined.add(name)
            out += f"(?P<{name}>{part['body']})"
        elif name in defined:
            out += f"(?P={name})(?!\\w)"
        elif name in names:
            out += re.escape(names[name]) + r"(?!\w)"
        else:
            raise ValueError(f"[[{name}]] is used before anything captures it")
    return re.compile(out + _literal(pattern[at:]))


class _Matcher:
    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.names: dict[str, str] = {}
        self.line, self.col = -1, 0  # where the last match ended; -1 before the first
        self.forbidden: list[Directive] = []

    def fail(self, directive: Directive, why: str) -> None:
        shown = [f"{'>' if i == self.line else ' '} {i + 1:4} {line}" for i, line in enumerate(self.lines)]
        names = [f"  [[{name}]] = {value}" for name, value in self.names.items()]
        raise AssertionError("\n".join([directive.text, f"  {why} (> marks the last match)", *names, *shown]))

    def find(self, directive: Directive) -> None:
        first = max(self.line, 0) if directive.kind == "-SAME" else self.line + 1
        last = first if directive.kind in ("-SAME", "-NEXT") else len(self.lines) - 1
        pattern = compile_pattern(directive.pattern, self.names)
        for number in range(first, min(last, len(self.lines) - 1) + 1):
            match = pattern.search(self.lines[number], self.col if number == self.line else 0)
            if match is not None:
                self.reject_forbidden(number, match.start())
                self.names.update(match.groupdict())
                self.line, self.col = number, match.end()
                return
        self.fail(directive, f"does not match line {first + 1}" if directive.kind else "is not found")

    def reject_forbidden(self, end_line: int, end_col: int) -> None:
        for directive in self.forbidden:
            pattern = compile_pattern(directive.pattern, self.names)
            for number in range(max(self.line, 0), min(end_line + 1, len(self.lines))):
                start = self.col if number == self.line else 0
                end = end_col if number == end_line else len(self.lines[number])
                if pattern.search(self.lines[number], start, end):
                    self.fail(directive, f"occurs in line {number + 1}")
        self.forbidden = []


def check(text: str, script: str) -> dict[str, str]:
    """Check `text` against `script` and return the captured names; AssertionError shows what did not hold."""
    matcher = _Matcher(text)
    for directive in parse(script):
        if directive.kind == "-NOT":
            matcher.forbidden.append(directive)
        else:
            for _ in range(directive.count):
                matcher.find(directive)
    matcher.reject_forbidden(len(matcher.lines), 0)
    return matcher.names
