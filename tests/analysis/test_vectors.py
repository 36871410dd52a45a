"""Vectors of accesses: what is found where nothing wraps, and that integers that wrap never break one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tritium as triton
import tritium.language as tl
from tests.analysis.concrete import Execution, Instance
from tests.analysis.test_soundness import check_vectors
from tests.cuda_codegen.seed_kernels import tile_ir
from tritium.analysis.value_facts import ValueFacts
from tritium.analysis.vectors import Vectors, vectors_of
from tritium.errors import Loc
from tritium.ir.builder import Builder
from tritium.ir.core import Function, Op, Value
from tritium.ir.types import DType, float32, int8, int16, int32, like, pointer, uint8, uint16, uint32
from tritium.ops.arithmetic import Add, Mul
from tritium.ops.cast import Cast
from tritium.ops.compare import Less
from tritium.ops.control import Return
from tritium.ops.create import Arange, Constant, ProgramId
from tritium.ops.memory import AddPtr, Load
from tritium.ops.shape import Broadcast

ALIGNED = {(i,): [("tt.divisibility", 16)] for i in range(3)}
LANES = 64


@triton.jit
def blocks(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


@triton.jit
def blocks_at_a_ring(x_ptr, out_ptr, n, SHIFT: tl.constexpr, BACK: tl.constexpr):
    offs = tl.arange(0, 256)
    at = (offs + SHIFT).to(tl.uint8).to(tl.int32) + BACK
    tl.store(out_ptr + offs, tl.load(x_ptr + at))


@triton.jit
def masked_by_a_ring(x_ptr, out_ptr, n, SHIFT: tl.constexpr):
    offs = tl.arange(0, 256)
    at = (offs + SHIFT).to(tl.uint8).to(tl.int32)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=at < n + SHIFT, other=-1))


def load_vectors(kernel, facts=ALIGNED, **constants) -> Vectors:
    function = tile_ir(kernel, facts=facts, **constants)
    (load,) = function.find(Load)
    assert isinstance(load, Load)
    return vectors_of(ValueFacts(function), load.ptr, load.mask)


def test_blocks_of_programs_are_vectors_though_their_offsets_may_wrap() -> None:
    """pid * BLOCK + offs leaves int32 for large pids, but whole vectors do at once."""
    assert load_vectors(blocks, BLOCK=1024) == Vectors((0,), 4, True, True)
    no_facts = {k: v for k, v in ALIGNED.items() if k != (2,)}
    assert load_vectors(blocks, facts=no_facts, BLOCK=1024) == Vectors((0,), 4, False, True)


@pytest.mark.parametrize(("shift", "back", "count"), [(0, 0, 4), (4, 0, 4), (2, 2, 2), (3, 1, 1), (2, 0, 2)])
def test_a_vector_that_would_wrap_inside_is_split(shift: int, back: int, count: int) -> None:
    """Element 253 of ``(offs + 3) % 256 + 1`` is 1, and element 252 is 256."""
    assert load_vectors(blocks_at_a_ring, SHIFT=shift, BACK=back).count == count


@pytest.mark.parametrize(("shift", "uniform"), [(0, True), (4, True), (3, False)])
def test_a_mask_that_would_wrap_inside_a_vector_differs_in_it(shift: int, uniform: bool) -> None:
    found = load_vectors(masked_by_a_ring, SHIFT=shift)
    assert found.count == 4 and found.uniform_mask == uniform


# ---- any of them -----------------------------------------------------------------------------------------

NARROW = (int8, uint8, int16, uint16, int32, uint32)
NUMBERS = (0, 1, 2, 3, 4, 8, 12, 16, 127, 128, 200, 252, 255, 256, 65532, 2**31 - 64, 2**31 - 61, -4, -1)


class Ring:
    """``kernel(x, n)``: loads at coordinates brought through a narrow type, under a mask of such coordinates."""

    def __init__(self, kinds: list[DType], numbers: list[int]) -> None:
        self.function = Function("kernel")
        self.builder = Builder(self.function.body, Loc("ring.py", 1))
        x = self.function.add_arg(pointer(float32), "x", divisibility=16)
        n = self.function.add_arg(int32, "n", divisibility=16)
        lanes = self.emit(Arange, start=0, end=LANES)
        pid = self.emit(Broadcast, self.emit(ProgramId, axis=0), shape=(LANES,))
        block = self.emit(Add, self.emit(Mul, pid, self.number(lanes, LANES)), lanes)
        shifts = iter(numbers)
        offset, compared, limit = (
            self.through(kind, source, next(shifts), next(shifts))
            for kind, source in zip(
                kinds, (block, block, self.emit(Broadcast, n, shape=(LANES,))), strict=True
            )
        )
        ptr = self.emit(AddPtr, self.emit(Broadcast, x, shape=(LANES,)), offset)
        self.emit(Load, ptr, self.emit(Less, compared, limit), None)
        self.builder.insert(Return())

    def emit(self, cls, *args, **attrs) -> Value:
        return self.builder.insert(cls(*args, **attrs)).results[0]

    def number(self, value: Value, number: int) -> Value:
        scalar = value.type.scalar
        low, high = scalar.get_int_min_value(), scalar.get_int_max_value()  # type: ignore[union-attr]
        return self.emit(Constant, value=(number - low) % (high - low + 1) + low, type=value.type)

    def through(self, kind: DType, value: Value, before: int, after: int) -> Value:
        moved = self.emit(Add, value, self.number(value, before))
        cut = moved if kind is int32 else self.emit(Cast, moved, to=kind)
        back = cut if kind is int32 else self.emit(Cast, cut, to=int32)
        assert like(back.type, int32) == back.type
        return self.emit(Add, back, self.number(back, after))


@settings(max_examples=400, deadline=None)
@given(
    kinds=st.lists(st.sampled_from(NARROW), min_size=3, max_size=3),
    numbers=st.lists(st.sampled_from(NUMBERS), min_size=6, max_size=6),
    pid=st.sampled_from((0, 1, 3, 511, 1023, 2**25 - 1, 2**25)),
    n=st.sampled_from((0, 16, 48, 112, 2**31 - 16, -16)),
)
def test_no_vector_holds_elements_on_both_sides_of_a_wrap(
    kinds: list[DType], numbers: list[int], pid: int, n: int
) -> None:
    function = Ring(kinds, numbers).function
    facts = ValueFacts(function)

    def before(here: Instance, op: Op) -> None:
        if isinstance(op, Load):
            check_vectors(here, op, facts)

    with np.errstate(all="ignore"):
        Execution(function, before=before).run((pid, 0, 0), (2**26, 1, 1), (2**40, n))
