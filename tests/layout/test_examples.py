"""The examples of the page about layouts and of the docstrings are what the code says."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import tritium.layout

PAGE = Path(__file__).resolve().parents[2] / "docs" / "layouts.md"
MODULES = [
    "tritium.layout",
    *(f"tritium.layout.{module.name}" for module in pkgutil.iter_modules(tritium.layout.__path__)),
]


def test_the_page():
    results = doctest.testfile(str(PAGE), module_relative=False)
    assert results.failed == 0
    assert results.attempted > 30


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_modules_with_examples():
    counts = {name: doctest.testmod(importlib.import_module(name)).attempted for name in MODULES}
    with_examples = {name.rpartition(".")[2] for name, count in counts.items() if count}
    assert with_examples >= {
        "digits",
        "emission",
        "fragments",
        "panels",
        "policies",
        "radix",
        "register",
        "shared",
    }
