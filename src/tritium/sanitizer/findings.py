"""What the sanitizer can find: kinds, the fields of a finding, and both as JSON.

Every engine that checks kernels makes `Finding` objects of this module, so that reports, editors and suppressions see
one format. The JSON of a run is an object of this form (version 1; fields are only ever added within a version)::

    {"schema": "tritium-findings", "version": 1, "tool": "tritium 0.1.0", "engine": "interpret",
     "launches": 4, "kernels": ["matmul"], "findings": [...], "suppressed": [...], "proofs": [...]}

A finding as JSON::

    {"kind": "out-of-view", "level": "error", "message": "...", "kernel": "matmul",
     "location": {"file": "m.py", "line": 12, "column": 9, "end_line": 12, "end_column": 40, "function": "matmul"},
     "program": [0, 1, 0], "lane": [0, 3], "indices": {"ks": 7},
     "argument": {"name": "a_ptr", "dtype": "fp32", "shape": [4, 5], "strides": [8, 1]},
     "mend": "ks[None, :] < K", "measures": {}, "related": [], "count": 24, "launches": 1}

Lines and columns are 1-based, end columns exclusive. Strides count elements. `count` is in how many lanes it happened,
`launches` in how many launches. A suppressed finding has "suppressed": {"by": "comment", "reason": "..."} besides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tritium.errors import Loc

SCHEMA = "tritium-findings"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of finding. `level` is "error" or "warning"; `opt_in` ones are looked for only when asked for."""

    name: str
    title: str
    level: str = "error"
    opt_in: bool = False


def _kinds(*kinds: Kind) -> dict[str, Kind]:
    return {k.name: k for k in kinds}


KINDS: dict[str, Kind] = _kinds(
    Kind("out-of-view", "an access inside the storage but outside the array that was passed"),
    Kind("out-of-allocation", "an access outside the memory of the array"),
    Kind("misaligned", "an address that is no multiple of its element's size"),
    Kind("wrapped-offset", "an int32 offset that wrapped around on its way to an address"),
    Kind("offset-overflow", "an int32 offset that would wrap around at the sizes assumed"),
    Kind("uninitialised", "a value that nobody has defined reaches a store, a branch or an address"),
    Kind("write-race", "two program instances write different values to one element"),
    Kind("read-race", "a program instance reads what another one writes"),
    Kind("lane-race", "two lanes of one store write different values to one element"),
    Kind(
        "missing-barrier",
        "an instance reads back, with other lanes, what it stored, without a barrier between",
    ),
    Kind("deadlock", "program instances wait for each other for ever"),
    Kind("half-accumulator", "a sum carried through a loop in half precision"),
    Kind("half-overflow", "a finite value that half precision turned into an infinity"),
    Kind("non-finite", "a NaN or an infinity that was made from finite numbers and then stored"),
    Kind("tf32", "a product computed in tf32 where fp32 was meant", "warning"),
    Kind("cancellation", "a sum that cancels to far less than its terms", "warning", opt_in=True),
    Kind("dead-mask", "a mask condition that can only have one value", "warning"),
    Kind("idle-mask", "a mask condition that bounds no axis of its access", "warning"),
    Kind("unreachable-store", "a store whose mask is false everywhere", "warning"),
    Kind("accumulator-reset", "an accumulator that is created anew in every trip of its loop"),
    Kind("unwritten-output", "elements of an output that no program instance wrote", "warning"),
)
"""Every kind by name, in the order of the documentation."""


@dataclass(frozen=True, slots=True)
class Argument:
    """The array an access went through, as it was passed; strides in elements."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def __str__(self) -> str:
        shape, strides = "x".join(map(str, self.shape)) or "scalar", ", ".join(map(str, self.strides))
        return f"`{self.name}` ({self.dtype}, shape {shape}, strides {strides})"


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that belongs to a finding: the other side of a race, where a value came from."""

    message: str
    loc: Loc | None = None
    program: tuple[int, int, int] | None = None


@dataclass(slots=True)
class Finding:
    """One finding; see the module text. `loc` is the place in the kernel, `mend` what to write instead."""

    kind: str
    message: str
    kernel: str = ""
    loc: Loc | None = None
    program: tuple[int, int, int] | None = None
    lane: tuple[int, ...] | None = None
    indices: Mapping[str, int] = field(default_factory=dict[str, int])
    argument: Argument | None = None
    mend: str | None = None
    measures: Mapping[str, float] = field(default_factory=dict[str, float])
    related: Sequence[Related] = ()
    count: int = 1
    launches: int = 1
    suppressed: tuple[str, str] | None = None  # by what, and the reason

    @property
    def level(self) -> str:
        return KINDS[self.kind].level

    @property
    def key(self) -> tuple[object, ...]:
        """Findings of one key are one finding that happened several times."""
        name = self.argument.name if self.argument is not None else None
        return (self.kind, self.kernel, self.loc, name)

    def to_json(self) -> dict[str, Any]:
        """The finding as plain JSON values."""
        out: dict[str, Any] = {
            "kind": self.kind,
            "level": self.level,
            "message": self.message,
            "kernel": self.kernel,
            "location": location_json(self.loc),
            "program": None if self.program is None else list(self.program),
            "lane": None if self.lane is None else list(self.lane),
            "indices": dict(self.indices),
            "argument": None if self.argument is None else argument_json(self.argument),
            "mend": self.mend,
            "measures": dict(self.measures),
            "related": [related_json(r) for r in self.related],
            "count": self.count,
            "launches": self.launches,
        }
        if self.suppressed is not None:
            out["suppressed"] = {"by": self.suppressed[0], "reason": self.suppressed[1]}
        return out


def location_json(loc: Loc | None) -> dict[str, Any] | None:
    """A place: 1-based lines and columns, `called_from` outwards where the place is in a helper."""
    if loc is None:
        return None
    out: dict[str, Any] = {
        "file": loc.file,
        "line": loc.line,
        "column": loc.col + 1,
        "end_line": loc.end_line or loc.line,
        "end_column": loc.end_col + 1 if loc.end_line else loc.col + 2,
        "function": loc.function,
    }
    if loc.caller is not None:
        out["called_from"] = location_json(loc.caller)
    return out


def argument_json(argument: Argument) -> dict[str, Any]:
    return {
        "name": argument.name,
        "dtype": argument.dtype,
        "shape": list(argument.shape),
        "strides": list(argument.strides),
    }


def related_json(related: Related) -> dict[str, Any]:
    return {
        "message": related.message,
        "location": location_json(related.loc),
        "program": None if related.program is None else list(related.program),
    }
