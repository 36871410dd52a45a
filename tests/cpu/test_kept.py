"""LLVM IR from the cache is what lowering would give, with everything that is said about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.corpus.protocol import Case, select
from tests.differential.stages import staged
from tritium.backends.cpu import prepare
from tritium.backends.cpu.kept import lower_or_find
from tritium.backends.cpu.module import Module, lower
from tritium.ir.core import Function
from tritium.ir.match import Record
from tritium.runtime.disk_cache import Entry, decode, encode, key_of


class Kept:
    """A cache in memory, whose entries are the bytes that files would have."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.made = 0

    def __call__(
        self, pieces: Sequence[str], make: Callable[[], tuple[Mapping[str, bytes], Mapping[str, Any]]]
    ) -> tuple[Mapping[str, bytes], Mapping[str, Any]]:
        key = key_of(*pieces)
        if key not in self.files:
            self.made += 1
            self.files[key] = encode(key, Entry(*make()))
        entry = decode(key, self.files[key])
        assert entry is not None
        return entry.parts, entry.about


def prepared(function: Function) -> Function:
    made = function.clone()
    prepare.run(made, Record())
    return made


def kept_and_made(function: Function, distinct: bool = True, stream: bool = False) -> tuple[Module, Record]:
    """What is found in a cache that has it, after all of it was compared with what is made."""
    keep, said = Kept(), Record()
    made = lower(function, said, distinct, stream)
    for _ in range(2):
        record = Record()
        found = lower_or_find(function, record, keep, distinct, stream)
        assert found == made and record.decisions == said.decisions
    assert keep.made == 1
    return found, record


@pytest.mark.parametrize("case", select()[::12], ids=lambda c: c.name)
def test_kept_is_as_made(case: Case) -> None:
    found, record = kept_and_made(prepared(staged(case).artefact("opt.tir")))
    assert found.reject is None and record.decisions


@triton.jit
def checked(x):
    value = tl.load(x)
    tl.device_assert(value > 0, "not positive")
    return value


@triton.jit
def asserting(x, out):
    tl.store(out, checked(x))


@triton.jit
def printing(x, out):
    tl.device_print("x", tl.load(x))


@triton.jit
def waiting(x, out):
    while tl.atomic_add(x, 0) == 0:
        pass
    tl.store(out, 1)


def tile_ir(kernel: triton.JITFunction) -> Function:
    x = np.ones(1, np.int32)
    return prepared(
        kernel.warmup(x, x, grid=(1,), backend="interpret", debug=True).compilation.artefacts["opt.tir"]
    )


def test_faults_keep_the_way_into_a_helper() -> None:
    found, _ = kept_and_made(tile_ir(asserting))
    (fault,) = found.faults
    assert fault.text == "not positive"
    assert fault.loc is not None and fault.loc.caller is not None and fault.loc.caller.function == "asserting"


def test_reasons_and_waiting_loops_are_kept() -> None:
    found, _ = kept_and_made(tile_ir(printing))
    assert found.reject is not None and found.reject.loc is not None and "no native form" in found.reject.rule
    found, _ = kept_and_made(tile_ir(waiting))
    assert found.waits and found.loops[0] is not None


def test_variants_and_places_have_their_own_entries() -> None:
    keep = Kept()
    function = tile_ir(asserting)
    texts = {
        lower_or_find(function, Record(), keep, distinct, stream).text
        for distinct in (True, False)
        for stream in (True, False)
    }
    assert keep.made == 4 and len(texts) > 1
    moved = function.clone()
    next(op for op in moved.walk() if op.loc is not None).loc = None
    lower_or_find(moved, Record(), keep)
    assert keep.made == 5, "a message names another line"
