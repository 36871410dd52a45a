"""What an error looks like: place, excerpt, carets, remedy, inlining chain; and that it survives a trip."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from itertools import count

import pytest

from tritium import errors
from tritium.errors import Loc, character_column, make_error, register_source, source_line
from tritium.errors.render import excerpt

_files = count()


def source(text: str, first_line: int = 1) -> str:
    """Register `text` under a file name of its own."""
    name = f"<test {next(_files)}>"
    register_source(name, text, first_line)
    return name


KERNEL = """\
@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 8)
    value = tl.load(x_ptr + offs)
    tl.store(x_ptr, value + n)
"""


def test_whole_text() -> None:
    file = source(KERNEL, first_line=10)
    error = make_error(
        "TRI0640",
        Loc(file, 14, 4, 14, 30, "kernel", origin=(11, 0)),
        function="tl.store",
        what="value",
        shape="(8,)",
        expected="a single value",
        got="tile<8xf32>",
        notes=["the pointer has no axes"],
    )
    assert (
        str(error)
        == f"""\
error[TRI0640]: `tl.store` has a single pointer and a value of shape (8,)
  --> {file}:14:5 in kernel (at 4:4: from its def)
   |
12 |     offs = tl.arange(0, 8)
13 |     value = tl.load(x_ptr + offs)
14 |     tl.store(x_ptr, value + n)
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^
expected: a single value
got: tile<8xf32>
help: add offsets to the pointer so that it has the shape (8,)
note: the pointer has no axes"""
    )


def carets(text: str, col: int, end_col: int) -> tuple[str, str]:
    """The source line and the caret line of an excerpt of one line."""
    shown = excerpt(Loc(source(text), 1, col, 1, end_col)).splitlines()
    return shown[1].removeprefix("1 | "), shown[2].removeprefix("  | ")


@pytest.mark.parametrize(
    "text, part, caret_line",
    [
        ("a = b + c", "b + c", "    ^^^^^"),
        ("\ta = b", "b", "        ^"),
        ("名 = b", "b", "     ^"),  # a wide character takes two columns
        ("a = 名前 + b", "名前", "    ^^^^"),
        ("e\u0301 = b", "b", "    ^"),  # a combining mark takes none
        ("é = b", "b", "    ^"),
    ],
)
def test_carets_are_under_their_range(text: str, part: str, caret_line: str) -> None:
    col = text.index(part)
    line, under = carets(text, col, col + len(part))
    assert line == text.replace("\t", "    ")
    assert under == caret_line


def test_range_outside_the_line_still_points_somewhere() -> None:
    assert carets("abc", 10, 20)[1] == "   ^"
    assert carets("abc", 1, 1)[1] == " ^"


def test_start_only_gives_one_caret() -> None:
    shown = excerpt(Loc(source("value = 1"), 1, 8)).splitlines()
    assert shown[-1] == "  |         ^"


def test_range_over_several_lines() -> None:
    file = source("x = f(\n    a,\n    b,\n)\ny = 1\n")
    assert excerpt(Loc(file, 1, 4, 4, 1)).splitlines() == [
        "  |",
        "1 | x = f(",
        "  |     ^^",
        "2 |     a,",
        "  |     ^^",
        "3 |     b,",
        "  |     ^^",
        "4 | )",
        "  | ^",
        "5 | y = 1",
    ]


def test_long_range_is_cut() -> None:
    file = source("\n".join(f"line{i}" for i in range(1, 21)))
    shown = excerpt(Loc(file, 2, 0, 19, 6)).splitlines()
    assert shown[-1] == "  | ... to line 19"
    assert not any("line6" in line for line in shown)


def test_unknown_source_leaves_the_excerpt_out() -> None:
    text = str(make_error("TRI0301", Loc("<nowhere>", 3, 0, function="kernel"), name="x"))
    assert text.splitlines()[:2] == [
        "error[TRI0301]: `x` is not defined",
        "  --> <nowhere>:3:1 in kernel (at 3:0:)",
    ]
    assert "|" not in text


def test_inlining_chain_is_shown_from_inside_out() -> None:
    file = source(
        "def outer():\n    middle(1)\n\ndef middle(a):\n    inner(a)\n\ndef inner(b):\n    b + None\n"
    )
    inner = Loc(file, 8, 4, 8, 12, "inner", origin=(7, 0))
    middle = Loc(file, 5, 4, 5, 12, "middle", origin=(4, 0))
    outer = Loc(file, 2, 4, 2, 13, "outer", origin=(1, 0))
    loc = inner.at_caller(middle).at_caller(outer)
    assert [frame.function for frame in loc.frames()] == ["inner", "middle", "outer"]
    assert loc == inner.at_caller(middle.at_caller(outer))
    lines = str(errors.CompilationError("broken", loc=loc)).splitlines()
    assert lines[-2:] == [
        f"called from {file}:5 in middle (at 2:4:): inner(a)",
        f"called from {file}:2 in outer (at 2:4:): middle(1)",
    ]
    # a launch error is no Triton compile error and has no such positions
    assert "(at " not in str(errors.LaunchError("broken", loc=loc))


def test_position_counts_from_the_def_as_triton_does() -> None:
    # the kernel is indented by 8 and starts in line 40 of its file
    loc = Loc("f.py", 42, 12, function="kernel", origin=(40, 8))
    assert loc.from_def() == (3, 4)
    assert "at 3:4:" in str(errors.CompilationError("broken", loc=loc))


@pytest.mark.parametrize(
    "line, offset, column",
    [("abc", 2, 2), ("é = 1", 5, 4), ("名前 = 1", 6, 2), ("a😀b", 5, 2), ("é", 9, 1)],
)
def test_utf8_offsets_become_character_columns(line: str, offset: int, column: int) -> None:
    assert character_column(line, offset) == column


def test_registered_source_comes_before_files(tmp_path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text("first\nsecond\n")
    assert source_line(str(path), 2) == "second"
    register_source(str(path), "replaced", first_line=2)
    assert source_line(str(path), 1) == "first"
    assert source_line(str(path), 2) == "replaced"
    assert source_line(str(path), 9) is None
    assert source_line(str(path), 0) is None


def test_an_edited_file_is_read_again(tmp_path) -> None:
    path = tmp_path / "edited.py"
    path.write_text("old = 1\n")
    loc = Loc(str(path), 1)
    assert "old = 1" in excerpt(loc)
    path.write_text("newer = 1\n")
    assert "newer = 1" in excerpt(loc)


def all_classes(base: type[errors.TritiumError] = errors.TritiumError) -> list[type[errors.TritiumError]]:
    return [base, *(cls for sub in base.__subclasses__() for cls in all_classes(sub))]


@pytest.mark.parametrize("cls", all_classes(), ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("trip", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
def test_errors_survive_pickle_and_copy(cls, trip) -> None:
    loc = Loc("<nowhere>", 3, 1, function="inner").at_caller(Loc("<nowhere>", 9))
    error = make_error(
        "TRI0301", loc, cls=cls, name="x", expected="a", got="b", notes=["n"], required=3, limit=2, odd=object
    )
    back = trip(error)
    assert type(back) is cls
    assert str(back) == str(error)
    assert back.to_json() == error.to_json()
    assert back.loc == loc


def test_json_holds_every_field() -> None:
    loc = Loc("f.py", 3, 1, 3, 4, "k").at_caller(Loc("g.py", 9))
    error = make_error("TRI0407", loc, lhs="(8,)", rhs="(4,)", axis=0, lhs_extent=8, rhs_extent=4, got="(4,)")
    data = json.loads(json.dumps(error.to_json()))
    assert data["code"] == "TRI0407"
    assert data["class"] == "CompilationError"
    assert data["message"] == "shapes (8,) and (4,) do not broadcast: axis 0 has 8 and 4"
    assert data["loc"]["line"] == 3 and data["loc"]["caller"]["file"] == "g.py"
    assert data["got"] == "(4,)" and data["expected"] is None
    assert data["fields"]["lhs_extent"] == 8


def test_context_gives_a_location_once() -> None:
    inner, outer = Loc("f.py", 1), Loc("f.py", 2)
    with pytest.raises(errors.CompilationError) as caught:
        with errors.UserErrorContext(outer), errors.UserErrorContext(inner):
            raise make_error("TRI0301", name="x")
    assert caught.value.loc == inner
    with pytest.raises(ValueError, match="not ours"):
        with errors.UserErrorContext(outer):
            raise ValueError("not ours")


def test_errors_of_a_call_say_where_the_call_is() -> None:
    def launch() -> errors.TritiumError:
        return make_error("TRI0709", function="kernel")

    loc = launch().loc
    assert loc is not None and loc.file == __file__ and loc.function == "launch"
    text = source_line(loc.file, loc.line)
    assert text is not None and "make_error" in text
    if sys.version_info >= (3, 11):
        assert text[loc.col : loc.end_col] == 'make_error("TRI0709", function="kernel")'
    assert make_error("TRI0407").loc is None
    given = Loc("f.py", 1)
    assert make_error("TRI0709", given, function="kernel").loc == given


def test_a_call_from_text_without_source_has_no_place() -> None:
    scope = {"make_error": make_error}
    exec(compile("error = make_error('TRI0709', function='kernel')", "<nowhere>", "exec"), scope)
    assert scope["error"].loc is None


def test_classes_that_programs_catch() -> None:
    assert issubclass(errors.ArgumentError, TypeError)
    assert issubclass(errors.ArgumentRangeError, OverflowError)
    assert issubclass(errors.UnknownOptionError, KeyError)
    assert issubclass(errors.LaunchError, RuntimeError)
    assert issubclass(errors.SourceUnavailableError, OSError)
    assert issubclass(errors.SourceUnavailableError, ValueError)
    assert issubclass(errors.CompileTimeAssertionFailure, errors.CompilationError)
    with pytest.raises(OSError, match="the source of `k`"):
        raise make_error("TRI0101", function="k")


def test_out_of_resources_is_built_as_in_triton() -> None:
    error = errors.OutOfResources(300_000, 232_448, "shared memory")
    assert (error.required, error.limit, error.name) == (300_000, 232_448, "shared memory")
    assert "out of resource: shared memory" in str(error)
    made = make_error(
        "TRI0912", cls=errors.OutOfResources, problem="no room", required=3, limit=2, name="registers"
    )
    assert isinstance(made, errors.OutOfResources)
    assert (made.required, made.limit, made.name) == (3, 2, "registers")
