"""The error catalogue: what each stable code means, and `make_error`, which builds an error from its code.

The entries live in `codes/`, one file per group. A published code keeps its meaning and is never reused.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tritium.errors.exceptions import TritiumError
from tritium.errors.location import Loc, call_site

if TYPE_CHECKING:
    from tritium.errors.codes.entry import Entry

_AT_THE_CALL = (
    "TRI07",
    "TRI0312",
    "TRI0104",
    "TRI0907",
    "TRI0908",
    "TRI0910",
    "TRI0911",
)  # raised while the program calls us


@lru_cache(maxsize=1)
def entries() -> Mapping[str, Entry]:
    """Every entry by code, in order of code. The groups load on first use, so that importing stays cheap."""
    from tritium.errors.codes import all_entries

    found: dict[str, Entry] = {}
    for entry in all_entries():
        if entry.code in found:
            raise ValueError(f"error code {entry.code} is defined twice")
        found[entry.code] = entry
    return dict(sorted(found.items()))


def entry_of(code: str) -> Entry:
    """The entry of `code`; KeyError names the file that should hold it."""
    try:
        return entries()[code]
    except KeyError:
        raise KeyError(f"{code} has no entry under tritium/errors/codes/") from None


def template_fields(template: str) -> frozenset[str]:
    """Names that a message or hint template asks for."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(template) if name)


def make_error(
    code: str,
    loc: Loc | None = None,
    *,
    message: str | None = None,
    expected: object = None,
    got: object = None,
    hint: str | None = None,
    notes: Iterable[str] = (),
    cls: type[TritiumError] | None = None,
    **fields: Any,
) -> TritiumError:
    """The error of catalogue entry `code`, to be raised by the caller.

    `fields` (with `expected` and `got`) fill the entry's message and hint templates; `message`, `hint` and
    `cls` replace the entry's own. A template whose fields are not all given falls back to the entry's title.
    Errors of a call from Python, without a `loc`, get the place of that call.
    """
    entry = entry_of(code)
    values = {"expected": expected, "got": got, **fields}
    if message is None:
        message = _fill(entry.message, values) or entry.title
    if hint is None:
        hint = _fill(entry.hint, values)
    if loc is None and code.startswith(_AT_THE_CALL):
        loc = call_site()
    return (cls or entry.cls).from_fields(
        message, fields, code=code, loc=loc, expected=expected, got=got, hint=hint, notes=notes
    )


def _fill(template: str, values: Mapping[str, object]) -> str | None:
    if any(values.get(name) is None for name in template_fields(template)):
        return None
    return template.format_map(values)
