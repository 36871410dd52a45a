"""Hand-written cases: the text format of ``cases/*.cases`` and what is recorded about each.

A file is a list of cases. A case starts with ``=== name``, then come header lines, then a kernel::

    === carried_value_changes_dtype
    refused: loop-carried value changes dtype
    blames: acc += 1.5
    acc = 0
    for i in range(n):
        acc += 1.5

The kernel is either the body of a kernel with the standard parameters (:data:`PARAMETERS`), or whole text that
defines ``kernel``. Header lines, all optional:

``sig: x *fp32, n i32, C constexpr=3``
    parameters instead of the standard ones; constants are Python expressions.
``refused: what``
    Triton refuses the kernel, and so must Tritium.
``extended: fp32 8 | int32``
    Triton refuses the kernel; Tritium gives these types, in the sense of NumPy or PyTorch.
``differs: fp32 8``
    Triton accepts the kernel with other output; Tritium gives this one on purpose.
``either: why``
    Triton's answer is an accident of its making; Tritium may accept or refuse, but must not crash.
``blames: text``
    source text that an error message may quote instead of the line that Triton blames.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .observe import KernelText

HERE = Path(__file__).parent
PARAMETERS = (
    "x *fp32, h *fp16, b *bf16, d *fp64, p *i32, q *i8, z *u8, e *fp8e5, "
    "n i32, m i64, u u32, f fp32, c i1, N constexpr=8, F constexpr=1.5"
)
_HEADER = re.compile(r"^(sig|refused|extended|differs|either|blames): ?(.*)$")


@dataclass(frozen=True)
class Case:
    """One kernel with what is expected of it; `name` is unique in the directory."""

    name: str
    kernel: KernelText
    header: Mapping[str, str]

    @property
    def expected(self) -> tuple[str, ...] | None:
        """Types that Tritium gives where it goes its own way (`extended`, `differs`), else None."""
        own = self.header.get("extended", self.header.get("differs"))
        return None if own is None else tuple(part for part in own.split(" | ") if part)


def signature(text: str) -> tuple[dict[str, str], dict[str, Any]]:
    """Parse `x *fp32, C constexpr=3` into a signature and its constants."""
    kinds: dict[str, str] = {}
    constants: dict[str, Any] = {}
    for part in re.split(r", (?=[A-Za-z_]\w* [*\w])", text):
        name, _, kind = part.partition(" ")
        kinds[name], _, constant = kind.partition("=")
        if kinds[name] == "constexpr":
            constants[name] = eval(constant, {"float": float})
    return kinds, constants


def parse(text: str, prefix: str) -> Iterator[Case]:
    """The cases of one file's text; names are prefixed with the file's name."""
    for chunk in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]:
        name, *lines = chunk.rstrip().split("\n")
        header: dict[str, str] = {}
        while lines and (match := _HEADER.match(lines[0])):
            header[match.group(1)] = match.group(2)
            lines.pop(0)
        kinds, constants = signature(header.get("sig", PARAMETERS))
        source = "\n".join(lines) + "\n"
        if "def kernel(" not in source:
            parameters = ", ".join(f"{n}: tl.constexpr" if k == "constexpr" else n for n, k in kinds.items())
            body = "".join(f"    {line}\n" for line in lines)
            source = f"@triton.jit\ndef kernel({parameters}):\n{body}"
        yield Case(f"{prefix}.{name.strip()}", KernelText(source, kinds, constants), header)


def load_cases() -> dict[str, Case]:
    """All cases by name. Raises ValueError for a name given twice."""
    cases: dict[str, Case] = {}
    for path in sorted((HERE / "cases").glob("*.cases")):
        for case in parse(path.read_text(), path.stem):
            if case.name in cases:
                raise ValueError(f"case {case.name} is defined twice")
            cases[case.name] = case
    return cases


def load_data(name: str) -> dict[str, Any]:
    """A recorded data file."""
    return json.loads((HERE / "data" / name).read_text())
