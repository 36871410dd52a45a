"""The pages under docs/ show what the commands print now, and their links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
import runpy
from pathlib import Path

import pytest

import tritium

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/decisions/*.md")])
ERRORS = sorted(ROOT.glob("docs/errors/*.md"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def load_refresh():
    spec = importlib.util.spec_from_file_location("docs_refresh", ROOT / "docs" / "refresh.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_print_what_the_page_shows(page: Path) -> None:
    """`make docs` writes the output into the pages."""
    text = page.read_text(encoding="utf-8")
    assert load_refresh().refreshed(text) == text


def test_a_changed_output_is_found() -> None:
    refresh = load_refresh()
    stale = "# Page\n\n```console\n$ tritium --version\nold\n```\n\ntext\n"
    fresh = refresh.refreshed(stale)
    assert tritium.__version__ in fresh and "old" not in fresh
    assert fresh.startswith("# Page\n\n```console\n$ tritium --version\n")
    assert fresh.endswith("```\n\ntext\n") and refresh.refreshed(fresh) == fresh


@pytest.mark.parametrize("page", [*PAGES, *ERRORS], ids=name_of)
def test_links_lead_to_files(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"`((?:src|docs|tests|examples|bench)/[\w./-]+)`", text):
        assert (ROOT / target).exists(), target


def test_the_kernel_of_the_pipeline_chapter_runs(capsys: pytest.CaptureFixture[str]) -> None:
    tritium.install()
    try:
        runpy.run_path(str(ROOT / "docs" / "kernels" / "sum_rows.py"), run_name="__main__")
    finally:
        tritium.uninstall()
    assert capsys.readouterr().out.split() == ["[", "45.", "145.", "245.]"]
