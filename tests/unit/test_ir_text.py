"""The printer and the parser are each other's inverse, on everything; what cannot be read is located."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.corpus.protocol import Case, all_cases
from tests.differential.stages import staged
from tests.interp.kernels import Kernel
from tests.interp.random_programs import RandomKernel
from tritium.errors import CompilationError, Loc
from tritium.ir.core import Function, Op
from tritium.ir.parser import parse_function
from tritium.ir.printer import print_attr, print_function, print_op
from tritium.ir.types import DTYPES, bfloat16, float32, int1, int8, int32, pointer, tile
from tritium.ir.verify import verify
from tritium.ops.base import REGISTRY
from tritium.ops.create import Constant, ProgramId


def parse(text: str, file: str = "<ir>") -> Function:
    return parse_function(text, REGISTRY, file)


def locs(function: Function) -> list[Loc | None]:
    return [op.loc for op in function.walk()]


def assert_round_trip(function: Function) -> None:
    for with_locs in (False, True):
        text = print_function(function, locs=with_locs)
        again = parse(text)
        verify(again, level="total")
        assert print_function(again, locs=with_locs) == text
        if with_locs:
            assert locs(again) == locs(function) and again.loc == function.loc
        assert [op.attrs for op in again.walk()] == [op.attrs for op in function.walk()] or "nan" in text
        assert (again.attrs, again.arg_attrs) == (function.attrs, function.arg_attrs)


def by_family() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for case in all_cases():
        found.setdefault(case.name.split("/")[0], []).append(case)
    return found


@pytest.mark.parametrize("family", by_family())
def test_every_stage_of_the_corpus(family: str) -> None:
    seen: set[str] = set()
    for case in by_family()[family]:
        for stage in ("tir", "opt.tir", "order.tir"):
            function = staged(case).artefact(stage)
            text = print_function(function)
            if text not in seen:
                seen.add(text)
                assert_round_trip(function)


@pytest.mark.parametrize("seed", range(40))
def test_random_kernels(seed: int) -> None:
    assert_round_trip(RandomKernel(seed).function)


# ---- the text itself ---------------------------------------------------------------------------------


def test_the_documented_form() -> None:
    k = Kernel("add", x=pointer(float32), n=int32)
    k.function.arg_attrs[0]["divisibility"] = 16
    k.function.attrs["num_warps"] = 4
    pid = k.emit(ProgramId, axis=0, name="pid")
    total = k.for_(0, k.n, 1, [pid], lambda i, acc: [k.add(acc, i)])
    k.store(k.ptr(k.x, total), 1.5)
    text = print_function(k.done())
    assert (
        text
        == """\
func @add(%x: ptr<f32> {divisibility = 16}, %n: i32) {num_warps = 4} {
  %pid = tile.program_id() {axis = 0} : i32
  %0 = tile.constant() {value = 0, type = !i32} : i32
  %1 = tile.constant() {value = 1, type = !i32} : i32
  %2 = tile.for(%0, %n, %1, [%pid]) {hints = ()} : i32 {
  ^(%3: i32, %4: i32):
    %5 = tile.add(%4, %3) {sanitize_overflow = true} : i32
    tile.yield([%5])
  }
  %6 = tile.addptr(%x, %2) : ptr<f32>
  %7 = tile.constant() {value = 1.5, type = !f32} : f32
  tile.store(%6, %7, _) {cache = "", eviction = ""}
  tile.return()
}
"""
    )


def test_comments_and_notes() -> None:
    k = Kernel(x=int32)
    k.add(k.x, k.x)
    k.done()
    text = print_function(k.function, note=lambda op: "twice" if op.name == "tile.add" else "")
    assert "tile.add(%x, %x) {sanitize_overflow = true} : i32  // twice\n" in text
    assert print_function(parse("// a comment\n" + text)) == print_function(k.function)


def test_one_op_with_its_regions() -> None:
    k = Kernel(c=int1, p=pointer(int32))
    k.if_(k.c, lambda: k.store(k.p, 3))
    assert print_op(k.function.body.ops[0]).splitlines() == [
        "tile.if(%c) {",
        "  %0 = tile.constant() {value = 3, type = !i32} : i32",
        '  tile.store(%p, %0, _) {cache = "", eviction = ""}',
        "  tile.yield([])",
        "} {",
        "  tile.yield([])",
        "}",
    ]


def test_values_of_one_name_are_told_apart() -> None:
    k = Kernel(x=int32)
    first = k.add(k.x, 1, name="x")
    second = k.add(first, 1, name="x_1")
    k.add(second, 1, name="x")
    k.done()
    assert_round_trip(k.function)
    text = print_function(k.function)
    assert [line.split(" = ")[0].strip() for line in text.splitlines() if "tile.add" in line] == [
        "%x_1",
        "%x_1_1",
        "%x_2",
    ]


@pytest.mark.parametrize("name", ["0", "7", "a b", "x-y", "é", "t.0", "_", "%", "²", "loc", "nan"])
def test_any_hint_prints_as_a_name_that_reads_back(name: str) -> None:
    k = Kernel(x=int32)
    k.add(k.emit(Constant, value=1, type=int32), k.emit(Constant, value=2, type=int32), name=name)
    k.done()
    assert_round_trip(k.function)


@pytest.mark.parametrize(
    "name", ["kernel", "<lambda>", "ядро", "a.b", "inf", "nan", "func", 'a"b\\', "two words", ""]
)
def test_any_function_name_reads_back(name: str) -> None:
    k = Kernel(name, x=int32)
    k.done()
    again = parse(print_function(k.function))
    assert again.name == name


CHAINS = [
    Loc("k.py", 3),
    Loc("dir with space/k.py", 3, 4, 5, 6, "kernel"),
    Loc('q"uote\\.py', 1, 0, 0, 0, "<lambda>", origin=(1, 0)),
    Loc(
        "k.py",
        9,
        8,
        9,
        12,
        "helper",
        Loc("m.py", 20, 4, 20, 9, "mid", Loc("k.py", 30, 1, 30, 5, "kernel", origin=(28, 4))),
        (7, 0),
    ),
]


@pytest.mark.parametrize("loc", CHAINS, ids=str)
def test_locations_read_back_in_full(loc: Loc) -> None:
    k = Kernel(x=int32)
    k.add(k.x, k.x)
    k.done()
    k.function.loc = loc
    for op in k.function.walk():
        op.loc = loc
    again = parse(print_function(k.function, locs=True))
    assert again.loc == loc and locs(again) == [loc, loc]


# ---- attributes --------------------------------------------------------------------------------------

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.sampled_from(
        [*DTYPES.values(), pointer(bfloat16), pointer(int8, const=True), tile(pointer(int8), (3, 1))]
    ),
)
attributes = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=8)


def exact(value: Any) -> Any:
    """`value` such that 1, 1.0 and True, and the two zeros, differ."""
    if isinstance(value, tuple):
        return tuple(map(exact, value))
    return type(value), (repr(value) if isinstance(value, float) else value)


@settings(max_examples=300, deadline=None)
@given(attributes)
def test_attributes_read_back_exactly(value: Any) -> None:
    k = Kernel()
    k.done()
    k.function.attrs["mark"] = value
    assert exact(parse(print_function(k.function)).attrs["mark"]) == exact(value)


def test_a_nan_reads_back_as_a_nan() -> None:
    k = Kernel()
    k.emit(Constant, value=math.nan, type=float32)
    k.done()
    again = parse(print_function(k.function))
    assert math.isnan(again.body.ops[0].attrs["value"])


def test_what_has_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="has no text form"):
        print_attr(object())


# ---- what cannot be read -----------------------------------------------------------------------------

GOOD = """\
func @k(%x: ptr<f32>, %n: i32) {
  %a = tile.add(%n, %n) {sanitize_overflow = true} : i32
  %p = tile.addptr(%x, %a) : ptr<f32>
  %v = tile.load(%p, _, _) {cache = "", eviction = "", volatile = false} : f32
  tile.store(%p, %v, _) {cache = "", eviction = ""}
  tile.return()
}
"""


@pytest.mark.parametrize(
    "old, new, line, problem",
    [
        ("func", "fnc", 1, "expected 'func', got 'fnc'"),
        ("@k", "@1", 1, "expected a word, got '1'"),
        ("%n: i32", "%n: i33", 1, "expected a type, got 'i33'"),
        ("%n: i32", "%x: i32", 1, "%x is defined twice"),
        ("%n: i32", "%n: tile<0xi32>", 1, "extents of at least 1"),
        ("%n: i32", "%n: tile<4xtile<4xi32>>", 1, "a tile holds scalars"),
        ("ptr<f32>,", "ptr<tile<4xf32>>,", 1, "a pointer points at scalars"),
        ("ptr<f32>,", "ptr<f32, cst>,", 1, "expected 'const', got 'cst'"),
        ("ptr<f32>, %n", "ptr<f32> %n", 1, "expected ',' or ')', got '%n'"),
        ("tile.add(", "tile.ad(", 2, "there is no op tile.ad"),
        ("%n, %n", "%n, %m", 2, "%m is used before it is defined"),
        ("%n, %n", "%n", 2, "expected ',', got ')'"),
        ("%n, %n", "%n, %n, %n", 2, "expected ')', got ','"),
        ("sanitize_overflow = true", "sanitize = true", 2, "tile.add takes"),
        ("sanitize_overflow = true", "sanitize_overflow = ?", 2, "cannot read '?"),
        ("sanitize_overflow = true", "sanitize_overflow = yes", 2, "expected the value of an attribute"),
        ("sanitize_overflow = true", "x = true", 2, "x is no attribute of tile.add"),
        ("sanitize_overflow = true", "b = 1, b = 2", 2, "b is given twice"),
        ("true} : i32", "true} : i64", 2, "tile.add gives int32, written is int64"),
        ("true} : i32", "true}", 2, "tile.add gives int32, written is nothing"),
        ("%a = tile.add", "%a, %b = tile.add", 2, "tile.add has 1 results, 2 are named"),
        ("%a = tile.add", "tile.add", 2, "tile.add has 1 results, 0 are named"),
        ("%a = tile.add", "%n = tile.add", 2, "%n is defined twice"),
        ("tile.addptr(%x, %a)", "tile.addptr(%a, %a)", 3, "needs a pointer"),
        ('cache = "", eviction = "", volatile', 'cache = "\\q", eviction = "", volatile', 4, "escape"),
        ("tile.load(%p, _, _)", "tile.load(_, _, _)", 4, "operand ptr is missing"),
        ("  tile.return()\n}\n", "  tile.return()\n", 7, "the end of the text"),
        ("  tile.return()\n}\n", "  tile.return()\n}\n}\n", 8, "unexpected text '}' after the function"),
        ("tile.return()", 'tile.return() loc("k.py":1:2 "k")', 6, "expected ':'"),
        ("tile.return()", 'tile.return() loc("k.py":1:-2:3:4 "k")', 6, "expected a whole number, got '-2'"),
        ("tile.return()", 'tile.return() loc("k.py":1:2:3:4 "k"', 7, "expected ')', got '}'"),
    ],
)  # fmt: skip
def test_errors_name_the_place(old: str, new: str, line: int, problem: str) -> None:
    assert GOOD.count(old) == 1
    with pytest.raises(CompilationError) as caught:
        parse(GOOD.replace(old, new), "bad.tir")
    error = caught.value
    assert error.code == "TRI0901"
    assert error.loc is not None and (error.loc.file, error.loc.line) == ("bad.tir", line), str(error)
    assert problem in str(error)


def test_errors_show_the_line_with_a_caret() -> None:
    with pytest.raises(CompilationError) as caught:
        parse(GOOD.replace("%n, %n)", "%n, %other)"), "carets.tir")
    text = str(caught.value).splitlines()
    at = next(i for i, line in enumerate(text) if "%other) {" in line)
    assert text[at + 1].index("^") == text[at].index("%other") and text[at + 1].count("^") == len("%other")


def test_damaged_text_is_read_or_refused_but_never_crashes() -> None:
    rng = random.Random(11)
    texts = [
        print_function(RandomKernel(seed, depth=2, length=3).function, locs=seed % 2 == 0)
        for seed in range(8)
    ]
    words = [w for text in texts for w in text.split()]
    refused = 0
    for step in range(600):
        text = rng.choice(texts)
        start = rng.randrange(len(text))
        end = min(len(text), start + rng.choice((0, 1, 1, 2, 8)))
        put = rng.choice(("", "", rng.choice('%^"{}()[]<>:,=_x1-.!@'), rng.choice(words)))
        try:
            found = parse(text[:start] + put + text[end:], f"damaged{step}.tir")
        except CompilationError as error:
            assert error.code == "TRI0901" and error.loc is not None
            refused += 1
        else:
            assert isinstance(found.body.ops[0], Op) or not found.body.ops
    assert refused > 200
