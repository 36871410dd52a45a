"""The check-line matcher accepts what it should and, more to the point, refuses what it should."""

import pytest

from tests.checklines import check, parse

TEXT = """\
%acc = tile.zeros
%0 = for %i = 0 to 8 {
  %1 = tile.load %p
  %2 = tile.dot %1, %1, %acc
  %3 = tile.dot %2,   %1, %acc
  yield %3
}
tile.store %q, %0
"""


@pytest.mark.parametrize(
    "script",
    [
        "CHECK: tile.load",
        "CHECK: tile.load\nCHECK: tile.store",
        "CHECK: tile.load\nCHECK-NEXT: %2 =",
        "CHECK: tile.dot\nCHECK-SAME: %acc",
        "CHECK-COUNT-2: tile.dot\nCHECK-NOT: tile.dot\nCHECK: tile.store",
        "CHECK-NOT: tile.store\nCHECK: tile.dot",
        "CHECK: tile.store\nCHECK-NOT: tile.load",
        "CHECK: tile.dot %2, %1",
        "CHECK: %[[d:\\w+]] = tile.dot %2\nCHECK: yield %[[d]]",
        "CHECK: dot %[[a:\\d]], %[[a]],",
        "CHECK: {{%[0-9]+}} = for",
        "CHECK-NEXT: tile.zeros\nCHECK-NEXT: for",
    ],
)
def test_holds(script: str) -> None:
    check(TEXT, script)


@pytest.mark.parametrize(
    "script, why",
    [
        ("CHECK: tile.sort", "is not found"),
        ("CHECK: tile.store\nCHECK: tile.load", "is not found"),
        ("CHECK: tile.load\nCHECK-NEXT: yield", "does not match line 4"),
        ("CHECK: tile.dot\nCHECK-SAME: tile.dot", "does not match line 4"),
        ("CHECK-COUNT-3: tile.dot", "is not found"),
        ("CHECK: for\nCHECK-NOT: tile.load\nCHECK: yield", "occurs in line 3"),
        ("CHECK-NOT: tile.zeros\nCHECK: tile.load", "occurs in line 1"),
        ("CHECK: tile.load\nCHECK-NOT: tile.store", "occurs in line 8"),
        ("CHECK: %[[d:\\w+]] = tile.dot\nCHECK: yield %[[d]]", "is not found"),
        ("CHECK: %[[d:\\w]] = tile.dot\nCHECK-NOT: tile.store\nCHECK-NOT: dot %[[d]]", "occurs in line 8"),
        ("CHECK-NEXT: tile.load", "does not match line 1"),
        ("CHECK: tile.store\nCHECK-NEXT: tile", "does not match line 9"),
    ],
)
def test_does_not_hold(script: str, why: str) -> None:
    with pytest.raises(AssertionError) as caught:
        check(TEXT, script)
    assert why in str(caught.value)


def test_captured_name_is_a_whole_word() -> None:
    with pytest.raises(AssertionError):
        check("%1 = a\nuse %12", "CHECK: %[[v:\\d+]] = a\nCHECK: use %[[v]]")


def test_returns_what_was_captured() -> None:
    assert check(TEXT, "CHECK: %[[acc:\\w+]] = tile.zeros") == {"acc": "acc"}


@pytest.mark.parametrize("script", ["", "CHECK tile", "CHECK:", "CHECK-COUNT-0: a", "CHECK-NEVER: a"])
def test_a_script_that_checks_nothing_is_refused(script: str) -> None:
    with pytest.raises(ValueError):
        parse(script)


def test_a_name_that_nothing_captured_is_refused() -> None:
    with pytest.raises(ValueError, match="nope"):
        check(TEXT, "CHECK: %[[nope]]")
