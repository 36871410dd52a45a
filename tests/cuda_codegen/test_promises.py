"""Promises of the seed documents on CUDA, each by its name; the table of all of them is in `test_promise_table`.

Results are those of the generated text on the host; `tests/gpu/test_promises.py` runs the same on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cuda_codegen.host_emulation import needs_compiler, on_host
from tests.cuda_codegen.matmul_promises import PROMISES
from tests.cuda_codegen.seed_kernels import cuda, matmul_loop, matmul_tile, seed_source, tile_ir, tiles
from tritium import config
from tritium.backends.cuda.generate import lay_out, lower
from tritium.errors import OutOfResources
from tritium.ir.core import Op, Value
from tritium.ir.match import Record
from tritium.ir.types import Type, float16, float32, int8, tile
from tritium.ir.verify import verify
from tritium.ops.base import TypeRuleError
from tritium.ops.create import Constant
from tritium.ops.dot import Dot
from tritium.ops.gpu_layout import layout_of
from tritium.ops.gpu_shared import SharedAlloc


@needs_compiler
@pytest.mark.parametrize("layouts", ["default", "seed"])
@pytest.mark.parametrize("promise", PROMISES.values(), ids=PROMISES)
def test_on_cuda(promise: Callable[[], None], layouts: str) -> None:
    """A1 to A6, B14, C10, C13."""
    with on_host(layouts=layouts) as records:
        promise()
    assert records, "nothing was launched through CUDA"


def test_b0_the_seed_policy_is_one_warp_and_no_specialisation() -> None:
    function = tile_ir(matmul_loop, **tiles(16, 16, 16))
    plain = cuda(function, layouts="seed")
    assert plain.threads == 32 and "mma" not in plain.text
    with config.override(specialize="none"):
        assert cuda(function, layouts="seed").text == plain.text
    assert cuda(function, layouts="seed", num_warps=8).text == plain.text


def test_b0_other_policies_have_powers_of_two_and_overhang() -> None:
    """Divisors alone would give a tile of (37, 41) one thread with 1,517 registers."""
    (dot,) = lay_out(tile_ir(matmul_tile, **tiles(37, 41, 8)), {"num_warps": 4}, Record()).find(Dot)
    layout = layout_of(dot.results[0])
    assert layout is not None
    registers = layout.register_shape[0] * layout.register_shape[1]
    assert layout.threads == 128 and registers < 64
    counts = [count for axis in layout.axes for _, count, _ in axis.thread_terms()]
    assert counts and all(n & (n - 1) == 0 for n in counts)
    assert any(axis.overhangs for axis in layout.axes)
    (seed,) = lay_out(tile_ir(matmul_tile, **tiles(37, 41, 8)), {"layouts": "seed"}, Record()).find(Dot)
    found = layout_of(seed.results[0])
    assert found is not None and found.register_shape == (37, 41)


def test_c9_outside_the_seed_policy_the_limit_is_the_device_s_own() -> None:
    """Tiles that 48 KiB cannot hold compile where a block may have more, and fail by name where it may not."""
    function = tile_ir(matmul_loop, **tiles(128, 128, 128))
    source = cuda(function, "sm_90a", num_warps=8)
    assert 48 * 1024 < source.dynamic_shared <= 227 * 1024
    with pytest.raises(OutOfResources, match=f"limit is {99 * 1024}"):
        cuda(function, "sm_89", num_warps=8)
    with pytest.raises(OutOfResources, match=f"{48 * 1024}"):
        cuda(function, "sm_90a", layouts="seed")


def test_c9_two_stages_that_do_not_fit_become_one() -> None:
    """On a GPU with 99 KiB 2 x 64 KiB do not fit; the fallback says why."""
    function = tile_ir(matmul_loop, **tiles(64, 64, 128))
    for arch, stages in (("sm_90a", 2), ("sm_89", 1)):
        record = Record()
        options = {"num_warps": 4}
        machine = lower(lay_out(function, options, record), options, record, arch)
        assert {op.attrs["stages"] for op in machine.find(SharedAlloc)} == {stages}
        rejected = [d.text for d in record if not d.applied]
        assert any("2 stages need" in text for text in rejected) == (stages == 1)


def test_c11_the_shape_of_a_result_and_that_of_its_threads_are_two_things() -> None:
    for shape in ((8, 8), (16, 16), (16, 32)):
        (dot,) = lay_out(tile_ir(matmul_tile, **tiles(*shape, 8)), {"layouts": "seed"}, Record()).find(Dot)
        layout = layout_of(dot.results[0])
        assert layout is not None
        assert dot.results[0].type.shape == layout.shape == shape
        assert layout.threads == 32 and "tile_i = threadIdx.x / 8" in seed_source(matmul_tile, *shape, 8).text


def value(ty: Type) -> Value:
    return Constant(value=0, type=ty).results[0]


@pytest.mark.parametrize(
    ("a", "b", "acc"),
    [((8, 4), (4,), None), ((8, 4), (5, 8), None), ((8, 4), (4, 8), (8, 4))],
    ids=["ranks", "inner extents", "accumulator"],
)
def test_c11_a_dot_is_an_op_with_rules_of_its_own(a, b, acc) -> None:
    start = value(tile(float32, acc)) if acc else None
    with pytest.raises(TypeRuleError, match=r"tile\.dot"):
        Dot(value(tile(float32, a)), value(tile(float32, b)), start, out=float32, precision="ieee")


def test_c11_the_verifier_looks_at_dots() -> None:
    with pytest.raises(TypeRuleError, match=r"tile\.dot"):
        Dot(value(tile(float16, (8, 4))), value(tile(int8, (4, 8))), None, out=float32, precision="ieee")
    function = tile_ir(matmul_tile, **tiles(8, 8, 8))
    (dot,) = function.find(Dot)
    assert isinstance(dot, Op) and dot.results[0].type == tile(float32, (8, 8))
    verify(function, level="total")
    dot.results[0].type = tile(float32, (8, 4))
    with pytest.raises(Exception, match=r"tile\.dot"):
        verify(function, level="total")
