"""Compare a frontend with the recorded results of the hand-written cases."""

from __future__ import annotations

from functools import cache
from typing import Any

from .case_file import Case, load_cases, load_data
from .observe import Frontend, Refusal, observe

SYNTAX_FILES = ("syntax", "control_flow", "functions")


@cache
def all_cases() -> dict[str, Case]:
    """Every case by name, read once."""
    return load_cases()


@cache
def recorded() -> dict[str, Any]:
    """What Triton does with every case."""
    return load_data("cases.json")


def expected_types(case: Case) -> tuple[str, ...] | None:
    """The lines that Tritium must print for `case`, or None when it must refuse it."""
    if case.expected is not None:
        return case.expected
    prints = recorded()[case.name].get("prints")
    return None if prints is None else tuple(prints)


def names(accepted: bool, syntax: bool) -> list[str]:
    """Names of the cases with a definite answer, accepted or refused, from the syntax files or the others."""
    return [
        name
        for name, case in all_cases().items()
        if "either" not in case.header
        and (expected_types(case) is not None) == accepted
        and (name.partition(".")[0] in SYNTAX_FILES) == syntax
    ]


def undecided() -> list[str]:
    """Names of the cases where Triton's answer is an accident."""
    return [name for name, case in all_cases().items() if "either" in case.header]


def assert_types(frontend: Frontend, name: str) -> None:
    """Assert that the frontend prints the types recorded for the case."""
    case = all_cases()[name]
    result = observe(frontend, case.kernel)
    assert not isinstance(result, Refusal), f"{name} is refused:\n{result.text}"
    assert result == expected_types(case), f"{name}: {case.kernel.source}"


def assert_refused(frontend: Frontend, name: str) -> None:
    """Assert that the frontend refuses the case with an error that quotes the line at fault."""
    case = all_cases()[name]
    result = observe(frontend, case.kernel)
    assert isinstance(result, Refusal), f"{name} is accepted ({result}); expected: {case.header['refused']}"
    quotable = [*recorded()[name].get("lines", [])[-1:], *filter(None, [case.header.get("blames")])]
    if quotable:
        assert any(line in result.text for line in quotable), f"none of {quotable} in:\n{result.text}"
    if case.header["refused"] == "static_assert":
        assert result.error == "CompileTimeAssertionFailure"
