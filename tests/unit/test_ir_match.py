"""Matchers give a plan or the first condition that failed; the record keeps both, in order, with their lines."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tritium.errors import Loc
from tritium.ir.match import Record, Reject, matching
from tritium.ir.types import int32
from tritium.ops.create import Constant

OP = Constant(value=1, type=int32, loc=Loc("k.py", 12))


@dataclass(frozen=True)
class Plan:
    size: int


def match(size: int) -> Plan | Reject:
    with matching() as m:
        m.require(size > 0, "the size is not positive", at=OP)
        m.require(size % 16 == 0, "the size is no multiple of 16", at=OP, hint="pad it")
        return Plan(size)
    return m.reject


def test_a_plan() -> None:
    assert match(32) == Plan(32)


@pytest.mark.parametrize(
    "size, rule, hint",
    [
        (0, "the size is not positive", ""),
        (-16, "the size is not positive", ""),
        (3, "the size is no multiple of 16", "pad it"),
    ],
)
def test_the_first_condition_that_fails(size: int, rule: str, hint: str) -> None:
    assert match(size) == Reject(rule, OP.loc, hint)


def test_a_condition_without_a_place() -> None:
    with matching() as m:
        m.require(None, "there is nothing")
    assert m.reject == Reject("there is nothing")


def test_other_errors_pass_through() -> None:
    with pytest.raises(ZeroDivisionError), matching() as m:
        m.require(1 / 0, "never asked")


def test_nested_matchers_reject_for_themselves() -> None:
    with matching() as outer:
        with matching() as inner:
            inner.require(False, "inner")
        outer.require(inner.reject.rule == "inner", "the inner one is lost")
        outer.require(False, "outer")
    assert outer.reject.rule == "outer"


def test_a_block_without_a_decision_is_a_fault_of_the_matcher() -> None:
    with matching() as m:
        pass
    with pytest.raises(AssertionError, match="without a plan or a rejection"):
        _ = m.reject


def test_the_record() -> None:
    record = Record()
    record.plan("pipeline", "2 stages", OP)
    record.reject("mma", Reject("the tile is too small", Loc("k.py", 14), "use 16"))
    record.plan("fold", "x op unit is x")
    assert [str(d) for d in record] == [
        "line 12: pipeline applied: 2 stages",
        "line 14: mma not applied: the tile is too small (use 16)",
        "fold applied: x op unit is x",
    ]
    assert [d.name for d in record.about(14)] == ["mma"] and record.about(99) == []
    assert record.decisions[1].to_json() == {
        "name": "mma",
        "applied": False,
        "text": "the tile is too small",
        "line": 14,
        "hint": "use 16",
    }
    assert record.decisions[2].to_json()["line"] is None
