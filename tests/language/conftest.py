"""Tritium as a :class:`Frontend`, and the matrices, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from .observe import Frontend


@pytest.fixture(scope="session")
def frontend() -> Frontend:
    """Tritium, compiling from a signature without arguments."""
    return tritium_frontend()


def tritium_frontend() -> Frontend:
    """Tritium's modules and its compile function behind the common interface."""
    import tritium
    import tritium.language as tl

    def compile_kernel(kernel: Any, signature: Mapping[str, str], constexprs: Mapping[str, Any]) -> object:
        source = tritium.compiler.ASTSource(fn=kernel, signature=dict(signature), constexprs=dict(constexprs))
        return tritium.compile(source)

    return Frontend(tritium, tl, compile_kernel, tritium.compiler.CompilationError)
