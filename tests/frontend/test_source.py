"""Where a kernel's text comes from, and where its nodes are in the real file."""

from __future__ import annotations

import ast
import importlib.util
import linecache
import os
import pty
import select
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from tests.frontend.compiling import define, lowered
from tritium.errors import SourceUnavailableError, TritiumError, register_source
from tritium.frontend import JitCallable, KernelSource


def load(tmp_path: Path, text: str, name: str = "kernels") -> Any:
    """Import `text` as a module from a file of its own."""
    path = tmp_path / f"{name}.py"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HEAD = "import tritium.language as tl\nfrom tritium.frontend import JitCallable as jit\n"


def names_in(source: KernelSource) -> list[str]:
    return [n.id for n in ast.walk(source.node) if isinstance(n, ast.Name)]


def test_the_text_of_a_file(tmp_path: Path) -> None:
    module = load(tmp_path, HEAD + "\n\n@jit\ndef k(a):\n    tl.store(a, 1)  # why\n\n\nafter = 1\n")
    source = module.k.source
    assert source.text == "def k(a):\n    tl.store(a, 1)  # why\n"
    assert (source.first_line, source.loc(source.node.body[0]).line) == (6, 7)


def test_two_functions_of_one_name_are_told_apart(tmp_path: Path) -> None:
    module = load(tmp_path, HEAD + "@jit\ndef k(a):\n    one = a\nfirst = k\n@jit\ndef k(a):\n    two = a\n")
    assert "one" in names_in(module.first.source)
    assert "two" in names_in(module.k.source)


def test_decorators_with_text_that_looks_like_a_function(tmp_path: Path) -> None:
    text = (
        HEAD
        + '''
def note(text):
    return lambda fn: fn

@note("""
def k(a):
    wrong = a
""")
@jit
@note("def k(a): pass")
def k(a):
    right = a
'''
    )
    source = load(tmp_path, text).k.source
    assert "right" in names_in(source) and "wrong" not in names_in(source)
    assert source.text.startswith("def k(a):")


def test_positions_are_those_of_the_file_in_characters(tmp_path: Path) -> None:
    text = (
        HEAD
        + 'class Outer:\n    def make(self):\n        @jit\n        def k(a):\n            é = "ü"; tl.store(a, 1)\n        return k\n'
    )
    source = load(tmp_path, text).Outer().make().source
    loc = source.loc(source.node.body[1])
    assert (loc.line, loc.col, loc.end_col) == (7, 21, 35)
    assert loc.from_def() == (2, 13)


def test_text_at_the_margin_inside_an_indented_function(tmp_path: Path) -> None:
    text = (
        HEAD
        + 'def make():\n    @jit\n    def k(a):\n        """Text\nat the margin."""\n        tl.store(a, 1)\n    return k\n'
    )
    source = load(tmp_path, text).make().source
    assert ast.get_docstring(source.node, clean=False) == "Text\nat the margin."
    assert source.loc(source.node.body[1]).line == 8


def test_a_lambda_among_others_on_a_line(tmp_path: Path) -> None:
    module = load(tmp_path, HEAD + "pair = [jit(lambda a: tl.store(a, 1)), jit(lambda a: tl.store(a, 2))]\n")
    constants = [
        [c.value for c in ast.walk(k.source.node) if isinstance(c, ast.Constant)] for k in module.pair
    ]
    assert constants == [[1], [2]]


def test_a_file_edited_after_its_import_does_not_matter(tmp_path: Path) -> None:
    module = load(tmp_path, HEAD + "@jit\ndef k(a):\n    old = a\n")
    (tmp_path / "kernels.py").write_text(HEAD + "\n\n\n@jit\ndef k(a):\n    new = a\n")
    linecache.checkcache()
    assert "old" in names_in(module.k.source)


def test_a_notebook_cell() -> None:
    text = "@jit\ndef k(a):\n    tl.store(a, 1)\n"
    linecache.cache["<cell 7>"] = (len(text), None, text.splitlines(True), "<cell 7>")
    namespace: dict[str, Any] = {"jit": JitCallable}
    exec(compile(text, "<cell 7>", "exec"), namespace)
    assert namespace["k"].source.text == text.removeprefix("@jit\n")


def test_exec_finds_its_text_in_the_caller() -> None:
    text = "\n\n@jit\ndef k(a):\n    tl.store(a, 41)\n"
    namespace: dict[str, Any] = {"jit": JitCallable}
    exec(text, namespace)
    assert namespace["k"].source.loc(namespace["k"].source.node.body[0]).line == 5


def test_two_texts_given_to_exec_under_one_file_name() -> None:
    made = []
    for value in (1, 2):
        text = f"@jit\ndef k(a):\n    tl.store(a, {value})\n"
        namespace: dict[str, Any] = {"jit": JitCallable}
        exec(compile(text, "<same>", "exec"), namespace)
        made.append(namespace["k"])
    assert [k.source.text[-3] for k in made] == ["1", "2"]


def test_closures_in_texts_under_one_file_name_are_not_mixed_up() -> None:
    def template(value: int) -> str:
        return f"def make(c):\n    @jit\n    def k(a):\n        tl.store(a, c + {value})\n    return k\n"

    def build(value: int, keep: bool) -> Any:
        namespace: dict[str, Any] = {"jit": JitCallable}
        if keep:
            text = template(value)
            exec(compile(text, "<closures>", "exec"), namespace)
        else:  # the text is in no variable when the decorator runs
            exec(compile(template(value), "<closures>", "exec"), namespace)
        return namespace["make"](1)

    assert "c + 1" in build(1, keep=True).source.text
    with pytest.raises(SourceUnavailableError):
        _ = build(2, keep=False).source.text


def written(value: int, decorator: str = "@jit\n") -> str:
    """A text that no caller holds while it is executed."""
    return f"{decorator}def k(a):\n    tl.store(a, {value})\n"


def test_a_text_that_is_nowhere_to_be_had() -> None:
    namespace: dict[str, Any] = {"jit": JitCallable}
    exec(written(3), namespace)
    with pytest.raises(SourceUnavailableError, match="source") as caught:
        _ = namespace["k"].source.node
    assert caught.value.code == "TRI0101"
    assert "register_source" in (caught.value.hint or "")
    assert isinstance(caught.value, OSError) and isinstance(caught.value, ValueError)


def test_a_registered_text() -> None:
    name = "<registered>"
    register_source(name, "@jit\ndef k(a):\n    tl.store(a, 7)\n")
    namespace: dict[str, Any] = {"jit": JitCallable}
    exec(compile(written(7), name, "exec"), namespace)
    assert "7" in namespace["k"].source.text


def test_a_text_given_as_src() -> None:
    namespace: dict[str, Any] = {}
    exec(written(3, ""), namespace)
    source = JitCallable(namespace["k"], src="# a comment\ndef k(a):\n    tl.store(a, 3)\n").source
    assert source.text == "def k(a):\n    tl.store(a, 3)\n"


def test_src_without_the_function() -> None:
    namespace: dict[str, Any] = {}
    exec(written(3, ""), namespace)
    with pytest.raises(SourceUnavailableError) as caught:
        _ = JitCallable(namespace["k"], src="def other(a):\n    pass\n").source.node
    assert caught.value.code == "TRI0105"


def test_future_annotations_do_not_hide_the_text() -> None:
    k = define(
        "from __future__ import annotations\n@jit\ndef kernel(out, N: tl.constexpr):\n    tl.store(out, N)\n"
    )
    assert k.source.parameters[1].is_constexpr
    assert lowered(k, N=3).function.args[0].name == "out"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("@jit\nasync def kernel(a):\n    pass\n", "TRI0107"),
        ("@jit\ndef kernel(a, **rest):\n    pass\n", "TRI0108"),
        ("@jit\ndef kernel(a, /):\n    pass\n", "TRI0108"),
        ("@jit\nclass kernel:\n    pass\n", "TRI0104"),
    ],
)
def test_what_cannot_be_a_kernel(text: str, code: str) -> None:
    with pytest.raises(TritiumError) as caught:
        _ = define(text).source.node
    assert caught.value.code == code


PROGRAM = """\
import tritium.language as tl
from tritium.frontend import JitCallable
@JitCallable
def k(out):
    tl.store(out, 1)

print(k.source.text)
"""


def python(*args: str, **options: Any) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, *args],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
        timeout=120,
        **options,
    )
    return done.stdout


def test_a_program_given_with_c() -> None:
    assert "tl.store(out, 1)" in python("-c", PROGRAM)


def test_a_program_on_standard_input(tmp_path: Path) -> None:
    (tmp_path / "program").write_text(PROGRAM)
    with open(tmp_path / "program") as stdin:
        assert "tl.store(out, 1)" in python(stdin=stdin)


@pytest.mark.skipif(sys.platform != "linux", reason="drives a pseudo terminal")
def test_a_function_typed_at_the_prompt() -> None:
    child, terminal = pty.fork()
    if child == 0:
        path = os.pathsep.join(p for p in sys.path if p)
        os.execve(sys.executable, [sys.executable, "-q"], {**os.environ, "PYTHONPATH": path, "TERM": "dumb"})
    shown = ""

    def wait_for(text: str, seconds: float = 60) -> None:
        nonlocal shown
        until = time.monotonic() + seconds
        while text not in shown:
            assert time.monotonic() < until, shown
            if select.select([terminal], [], [], 0.2)[0]:
                shown += os.read(terminal, 65536).decode(errors="replace")

    try:
        wait_for(">>> ")
        for line in PROGRAM.replace("k.source.text", "'text' + ':', k.source.text").splitlines():
            os.write(terminal, f"{line}\n".encode())
        wait_for("text: def k(out):")
    finally:
        os.write(terminal, b"exit()\n")
        os.close(terminal)
        os.waitpid(child, 0)
