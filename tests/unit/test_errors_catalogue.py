"""The catalogue is complete and consistent, its uses in the source fit its templates, and its pages are current."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tritium.errors import TritiumError, entries, make_error
from tritium.errors.catalogue import template_fields
from tritium.errors.codes import GROUPS
from tritium.errors.codes.entry import program
from tritium.errors.pages import render_pages

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "tritium").rglob("*.py"))
ENTRIES = list(entries().values())
RESERVED = {"code", "loc", "message", "hint", "notes", "cls"}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.code)
def test_entry_is_complete(entry) -> None:
    assert re.fullmatch(r"TRI\d{4}", entry.code)
    assert entry.code[:5] in {group.prefix for group in GROUPS}
    assert issubclass(entry.cls, TritiumError)
    for text in (entry.title, entry.message, entry.hint):
        assert text and "\n" not in text and not re.search(r"[^.]\.$", text)
    assert len(entry.explanation.split()) >= 8
    assert bool(entry.broken) == bool(entry.mended)
    assert not (template_fields(entry.message) | template_fields(entry.hint)) & RESERVED


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.broken], ids=lambda entry: entry.code)
def test_example_programs_are_python_and_differ(entry) -> None:
    assert entry.broken != entry.mended
    for text in (entry.broken, entry.mended):
        compile(program(text), f"<{entry.code}>", "exec")


def test_titles_are_distinct() -> None:
    titles = [entry.title for entry in ENTRIES]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.code)
def test_every_template_can_be_filled(entry) -> None:
    fields = {name: f"<{name}>" for name in template_fields(entry.message) | template_fields(entry.hint)}
    error = make_error(entry.code, **fields)
    assert type(error) is entry.cls and error.code == entry.code
    for name in template_fields(entry.message):
        assert f"<{name}>" in error.message
    assert error.hint is not None
    assert str(error).startswith(f"error[{entry.code}]: {error.message}")


def test_missing_fields_fall_back_to_the_title() -> None:
    error = make_error("TRI0407")
    assert error.message == "shapes do not broadcast"
    assert make_error("TRI0403", value=300).message == "a number does not fit the type of the other operand"


def test_message_hint_and_class_can_be_replaced() -> None:
    class Special(TritiumError):
        pass

    error = make_error("TRI0301", message="m", hint="h", cls=Special)
    assert (type(error), error.message, error.hint) == (Special, "m", "h")


def test_an_unknown_code_is_refused() -> None:
    with pytest.raises(KeyError, match="TRI9999"):
        make_error("TRI9999")


def uses_of_make_error() -> list[tuple[str, ast.Call]]:
    found: list[tuple[str, ast.Call]] = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = (
                    node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                )
                if name == "make_error":
                    found.append((f"{path.relative_to(ROOT)}:{node.lineno}", node))
    return found


def test_uses_give_every_field_that_their_templates_ask_for() -> None:
    """A code with no entry, or a field that is missing or misspelt, would show up only when the error does."""
    problems: list[str] = []
    for where, call in uses_of_make_error():
        code = call.args[0].value
        entry = entries().get(code)
        if entry is None:
            problems.append(f"{where}: {code} has no entry")
            continue
        given = {keyword.arg for keyword in call.keywords}
        if None in given:  # **fields: not to be known from the text
            continue
        wanted = set() if "message" in given else template_fields(entry.message)
        wanted |= set() if "hint" in given else template_fields(entry.hint)
        if wanted - given:
            problems.append(f"{where}: {code} lacks {sorted(wanted - given)}")
    assert not problems, "\n".join(problems)


def test_codes_in_the_source_exist() -> None:
    for path in SOURCES:
        if path.parent.name != "codes":  # there, docstrings name ranges
            unknown = set(re.findall(r"\bTRI\d{4}\b", path.read_text(encoding="utf-8"))) - set(entries())
            assert not unknown, f"{path}: {sorted(unknown)}"


def test_every_code_is_raised_somewhere() -> None:
    """A code that nothing raises would be a page about something that does not happen."""
    texts = [path.read_text(encoding="utf-8") for path in SOURCES if path.parent.name != "codes"]
    raised = {code for text in texts for code in re.findall(r"\bTRI\d{4}\b", text)}
    assert not set(entries()) - raised


def test_pages_are_current() -> None:
    """`make docs` writes them."""
    folder = ROOT / "docs" / "errors"
    pages = render_pages()
    stale = [name for name, text in pages.items() if (folder / name).read_text(encoding="utf-8") != text]
    assert not stale
    assert {path.name for path in folder.glob("*.md")} == set(pages)
