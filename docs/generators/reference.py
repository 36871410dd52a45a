"""The reference of the language, one page for each part, made from signatures, docstrings, type rules and runs."""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Iterator

from docs.generators.examples import Outcome, memory, run_example
from docs.generators.kernels import run
from docs.generators.language import Name, language
from docs.generators.type_rules import summary
from tritium.ir.types import DType, dtype_named
from tritium.numerics.libdevice import LIBDEVICE
from tritium.ops.base import Effect, TileOp
from tritium.ops.surface import METHODS, Surface

FOLDER = "docs/reference"
_HEAD = """Written by `make docs` from the operations themselves: signatures and texts are theirs, the lines below
`>>>` are the body of a kernel that was run, and the types were asked of the type rules. In examples `x` points at
eight fp32 numbers and `i` at eight int32 numbers, 0 to 7; a bare `x` or `i` shows that memory after the kernel.
"""
_EFFECTS = {
    Effect.READ: "reads memory",
    Effect.WRITE: "writes memory",
    Effect.ATOMIC: "updates memory atomically",
    Effect.BARRIER: "keeps its place among memory operations",
    Effect.IO: "keeps its place in the program",
    Effect.VOLATILE: "is never repeated or dropped",
}


def slug(page: str) -> str:
    """The file name of a page."""
    return re.sub(r"[^a-z]+", "_", page.lower()).strip("_") + ".md"


def signature_text(name: Name, surface: Surface) -> str:
    """The call as a person writes it."""
    if name.page == "Operators" or name.text in ("x[...]", "x.T"):
        return name.text
    parameters = list(surface.signature.parameters.values())
    if name.text.partition(".")[0] in ("descriptor", "block_ptr", "x"):
        parameters = parameters[1:]
    shown: list[str] = []
    for p in parameters:
        star = "*" if p.kind is p.VAR_POSITIONAL else ""
        default = "" if p.default is inspect.Parameter.empty else f"={_default(p.default)}"
        shown.append(f"{star}{p.name}{default}")
    return f"{name.text}({', '.join(shown)})"


def _default(value: object) -> str:
    if isinstance(value, enum.Enum):
        return f"tl.{type(value).__name__}.{value.name}"
    return repr(value).replace("tritium.language", "tl")


def prose(doc: str) -> str:
    """A docstring without its example, as Markdown."""
    text = re.split(r"^\s*>>> ", doc, maxsplit=1, flags=re.MULTILINE)[0].strip()
    return text.replace("``", "`")


def effect_text(effects: Effect) -> str:
    """What the op does besides computing, in words."""
    if Effect.ATOMIC in effects:
        effects &= ~(Effect.READ | Effect.WRITE)
    found = [text for flag, text in _EFFECTS.items() if flag in effects]
    return ", ".join(found) if found else "none"


def example_text(outcome: Outcome) -> str:
    """The example as it was run."""
    lines: list[str] = []
    for step, shown in zip(outcome.steps, outcome.shown, strict=True):
        first, *more = step.source
        lines += [f">>> {first}", *(f"... {line}" if line else "..." for line in more), *shown]
    return "\n".join(lines)


def entry(name: Name, surface: Surface) -> str:
    """The section of one function."""
    outcome = run_example(surface.doc)
    of_op = isinstance(surface.op, type) and issubclass(surface.op, TileOp)
    effects = surface.op.effect if of_op else outcome.effects(surface.name)  # type: ignore[union-attr]
    facts = [f"Effects: {effect_text(effects)}."]
    types = summary(surface)
    if types:
        facts.append(f"Types: {types}.")
    others = [n.text for n in language() if n.surface is surface and n.text != name.text]
    if others:
        facts.append("Also: " + ", ".join(f"`{t}`" for t in others) + ".")
    return "\n\n".join(
        [
            f"## `{signature_text(name, surface)}`",
            prose(surface.doc),
            "  \n".join(facts),
            f"```python\n{example_text(outcome)}\n```",
        ]
    )


def _pages() -> dict[str, list[Name]]:
    found: dict[str, list[Name]] = {}
    for name in language():
        found.setdefault(name.page, []).append(name)
    return found


def _page(title: str, names: list[Name]) -> str:
    parts = [f"# {title}", _HEAD.strip()]
    described: set[int] = set()
    plain: list[Name] = []
    for name in names:
        surface = name.surface
        if surface is None:
            plain.append(name)
        elif id(surface) not in described:
            described.add(id(surface))
            parts.append(entry(name, surface))
    if plain:
        parts.append(_plain_table(plain))
    return "\n\n".join(parts) + "\n"


def _plain_table(names: list[Name]) -> str:
    rows: list[str] = []
    for n in names:
        given = run([f"show(results, {n.expression})"], memory()).shown[0].text() if n.expression else ""
        meaning = (
            f"`{n.expression}` is {given}"
            if n.expression
            else (n.doc.partition("\n")[0] or "see the chapter")
        )
        rows.append(f"| `{n.text}` | {meaning.replace('``', '`')} |")
    return "\n".join(["| name | meaning, or an example |", "| --- | --- |", *rows])


def _members(names: list[Name]) -> str:
    """The page of tensor members: which function each method is."""
    rows: list[str] = []
    functions: dict[int, str] = {}
    for n in language():
        if n.surface is not None and n.text.startswith("tl."):
            functions.setdefault(id(n.surface), n.text)
    for name in names:
        short = name.text.partition(".")[2]
        surface = METHODS.get(short)
        if surface is None:
            meaning = f"attribute, for example `{name.expression}`" if name.expression else "attribute"
            rows.append(f"| `{name.text}` | {meaning} |")
        else:
            meaning = functions.get(id(surface), "")
            rows.append(
                f"| `{signature_text(name, surface)}` | {f'`{meaning}`' if meaning else prose(surface.doc)} |"
            )
    head = [
        "# Tensor members",
        "",
        "A method is the function of the same name with the tensor as its first argument.",
        "",
    ]
    return "\n".join([*head, "| member | is |", "| --- | --- |", *rows]) + "\n"


def _library() -> str:
    """The page of the device library, as one table."""
    rows: list[str] = []
    for name in language():
        if name.page != "Device library" or name.surface is None:
            continue
        short = name.text.rpartition(".")[2]
        outcome = run_example(name.surface.doc + "\n0")  # a line below shows the value
        call = outcome.steps[0].text.replace("tl.extra.libdevice.", "")
        rows.append(
            f"| `{short}` | {prose(name.surface.doc).partition(', per element.')[0]} | {_overloads(short)} "
            f"| `{call}` = {outcome.shown[0][0]} |"
        )
    head = [
        "# Device library",
        "",
        "`tl.extra.libdevice`, elementwise. Overloads are exact: other types are refused, except that a Python number",
        "takes the type that an overload wants. Written by `make docs`; the values are of kernels that were run.",
        "",
        "| function | gives | types | for example |",
        "| --- | --- | --- | --- |",
    ]
    return "\n".join([*head, *rows]) + "\n"


def _overloads(function: str) -> str:
    def name(text: str) -> str:
        ty: DType = dtype_named(text)
        return ty.name

    return "; ".join(
        f"({', '.join(name(a) for a in v.arguments)}) to {name(v.result)}" for v in LIBDEVICE[function]
    )


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of every page."""
    grouped = _pages()
    index = ["# Reference", "", _HEAD, "| page | names |", "| --- | --- |"]
    for title, names in grouped.items():
        shown = [f"`{n.text}`" for n in names[:60]] + (["..."] if len(names) > 60 else [])
        index.append(f"| [{title}]({slug(title)}) | {' '.join(shown).replace('|', chr(92) + '|')} |")
        if title == "Tensor members":
            text = _members(names)
        elif title == "Device library":
            text = _library()
        else:
            text = _page(title, names)
        yield f"{FOLDER}/{slug(title)}", text
    yield f"{FOLDER}/README.md", "\n".join(index) + "\n"
