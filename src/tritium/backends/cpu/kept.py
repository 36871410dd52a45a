"""LLVM IR that another process or an earlier run of this program made of the same tile IR: most of a launch from the cache.

What was decided on the way is kept with it, so that a compilation says the same whether it was kept or made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tritium.backends.cpu import jit
from tritium.backends.cpu.lower import Fault
from tritium.backends.cpu.module import Module, lower
from tritium.backends.sources import compiler_digest
from tritium.errors import Loc
from tritium.ir.core import Function
from tritium.ir.match import Decision, Record, Reject
from tritium.ir.printer import print_function

FORMAT = "tritium llvm ir 1"
"""Part of every key; to be changed with the meaning of what is kept."""


def lower_or_find(
    function: Function, record: Record, keep: Any = None, distinct: bool = True, stream: bool = False
) -> Module:
    """`module.lower`; ``keep(pieces, make)`` holds what was made before, also by other processes.

    The key is all that lowering reads: the function with its locations, the host, the variant, and the compiler itself.
    """
    if keep is None:
        return lower(function, record, distinct, stream)

    def make() -> tuple[dict[str, bytes], dict[str, Any]]:
        own = Record()
        made = lower(function, own, distinct, stream)
        return {"ll": made.text.encode()}, {"target": "cpu", "lowered": _described(made, own)}

    variant = f"{distinct} {stream}"
    pieces = FORMAT, compiler_digest(), jit.host().key, variant, print_function(function, locs=True)
    parts, about = keep(pieces, make)
    told: Mapping[str, Any] = about["lowered"]
    record.decisions += [_decision(d) for d in told["decisions"]]
    rejected = told["reject"]
    return Module(
        text=parts["ll"].decode(),
        scratch=told["scratch"],
        faults=tuple(Fault(f["code"], _loc(f["loc"]), f["text"], tuple(f["shape"])) for f in told["faults"]),
        distinct=distinct,
        loops=tuple(map(_loc, told["loops"])),
        reject=None
        if rejected is None
        else Reject(rejected["rule"], _loc(rejected["loc"]), rejected["hint"]),
    )


def _described(made: Module, record: Record) -> dict[str, Any]:
    """Everything but the text, as plain values."""
    return {
        "scratch": made.scratch,
        "faults": [asdict(fault) for fault in made.faults],
        "loops": [None if loc is None else loc.to_json() for loc in made.loops],
        "reject": None if made.reject is None else asdict(made.reject),
        "decisions": [asdict(decision) for decision in record],
    }


def _decision(told: Mapping[str, Any]) -> Decision:
    return Decision(told["name"], told["applied"], told["text"], _loc(told["loc"]), told["hint"])


def _loc(told: Mapping[str, Any] | None) -> Loc | None:
    if told is None:
        return None
    line, col = told["origin"] or (0, 0)
    place: tuple[int, int, int, int] = (told["line"], told["col"], told["end_line"], told["end_col"])
    origin = (line, col) if told["origin"] else None
    return Loc(told["file"], *place, told["function"], _loc(told["caller"]), origin)
