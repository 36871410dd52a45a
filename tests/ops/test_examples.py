"""The examples in the docstrings of ops and functions give what they show."""

from __future__ import annotations

import pytest

from docs.generators.examples import docstrings, run_example, steps_of

DOCS = dict(docstrings())


@pytest.mark.parametrize("name", DOCS)
def test_example(name: str) -> None:
    """Every op and every function has one, and it runs. The device library's show no values; other tests check those."""
    assert not run_example(DOCS[name]).mismatches()


def test_examples_show_values() -> None:
    shown = [name for name, doc in DOCS.items() if any(step.shown for step in steps_of(doc))]
    assert len(shown) > 200


def test_a_wrong_example_is_found() -> None:
    doc = "Text.\n\n>>> tl.arange(0, 2) + 1\n[1, 3]\n>>> tl.store(x, 5.0)\n>>> x\n[1.0]\n"
    wrong = run_example(doc).mismatches()
    assert len(wrong) == 2 and "gives ['[1, 2]']" in wrong[0]
    with pytest.raises(ValueError, match="no example"):
        run_example("Text.")


def test_steps_are_read_as_in_a_prompt() -> None:
    doc = """Text, then >>> no example.

    >>> for k in range(2):   # a loop
    ...     a = k
    ...
    ...     b = a
    >>> a
    1
    2

    After it.
    """
    first, second = steps_of(doc)
    assert first.source == ("for k in range(2):", "    a = k", "", "    b = a") and not first.shown
    assert second.shown == ("1", "2") and second.shows_value
