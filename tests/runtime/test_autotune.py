"""Tuning and heuristics: what is chosen, what is left alone, what is reported."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import warnings
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

import tritium as triton
import tritium.language as tl
from tritium import config, knobs
from tritium.errors import AutotunerError, OutOfResources
from tritium.runtime.tuning_trial import difference
from tritium.tools.tensor_descriptor import TensorDescriptor

SRC = Path(__file__).resolve().parents[2] / "src"
Config = triton.Config


@triton.jit
def increment(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


def blocks(*sizes: int) -> list[Config]:
    return [Config({"BLOCK": size}) for size in sizes]


def grid(meta: dict) -> tuple[int]:
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


def prefers(size: int):
    """A benchmark by which one block size is the fastest; it runs the kernel once more."""

    def bench(call, quantiles):
        call()
        used = bench.tuner.current
        return [1.0 if used == size else 2.0] * 3

    return bench


class Recorder:
    """A benchmark that gives chosen times in order and runs every candidate `runs` times."""

    def __init__(self, *times: float, runs: int = 3) -> None:
        self.times = list(times)
        self.runs = runs

    def __call__(self, call, quantiles):
        for _ in range(self.runs):
            call()
        return [self.times.pop(0)] * len(quantiles)


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    with warnings.catch_warnings(), knobs.autotuning.scope():
        warnings.simplefilter("error")
        yield


# ---- choosing ----------------------------------------------------------------------------------------


def test_the_fastest_is_chosen_once_per_key() -> None:
    bench = Recorder(3.0, 1.0, 2.0, 2.0, 3.0, 1.0)
    tuned = triton.autotune(blocks(4, 8, 16), key=["n"], do_bench=bench)(increment)
    x = np.zeros(20, np.float32)
    tuned[grid](x, 20)
    assert tuned.best_config.kwargs == {"BLOCK": 8} and x.tolist() == [1.0] * 20
    assert [t[0] for t in tuned.configs_timings.values()] == [3.0, 1.0, 2.0] and tuned.bench_time > 0
    tuned[grid](x, 20)
    assert len(bench.times) == 3 and x[0] == 2
    tuned[grid](x[:10], 10)
    assert tuned.best_config.kwargs == {"BLOCK": 16} and x.tolist() == [3.0] * 10 + [2.0] * 10
    assert set(tuned.cache) == {(20, "float32"), (10, "float32")}


def test_the_key_counts_values_and_dtypes_of_positional_and_keyword_arguments() -> None:
    tuned = triton.autotune(blocks(4, 8), key=["n", "not_a_parameter"], do_bench=Recorder(*[1.0] * 8))(add)
    x = np.zeros(8, np.float32)
    tuned[grid](x, x, x, 8)
    tuned[grid](x, x, out=x, n=8)
    assert len(tuned.cache) == 1
    h = x.astype(np.float16)
    tuned[grid](x=h, y=h, out=h, n=8)
    tuned[grid](torch.zeros(8), torch.zeros(8), torch.zeros(8), 8)
    assert set(tuned.cache) == {
        (8, "float32", "float32", "float32"),
        (8, "float16", "float16", "float16"),
        (8, "torch.float32", "torch.float32", "torch.float32"),
    }


def test_one_configuration_is_not_measured() -> None:
    tuned = triton.autotune(blocks(8), key=["n"], do_bench=Recorder())(increment)
    x = np.zeros(20, np.float32)
    tuned[grid](x, 20)
    assert x[0] == 1 and tuned.best_config.kwargs == {"BLOCK": 8} and not tuned.cache
    assert triton.autotune([], key=[])(increment).configs == [Config({})]


def test_real_timing_on_the_host() -> None:
    tuned = triton.autotune(blocks(16, 64), key=["n"], warmup=1, rep=2)(increment)
    x = np.zeros(64, np.float32)
    tuned[grid](x, 64)
    assert (x == 1).all()
    for low, middle, high in ((t[1], t[0], t[2]) for t in tuned.configs_timings.values()):
        assert 0 < low <= middle <= high


def test_configurations_with_options() -> None:
    tuned = triton.autotune(
        [Config({"BLOCK": 8}, num_warps=2, num_stages=4), Config({"BLOCK": 16}, num_warps=8)],
        key=["n"],
        do_bench=Recorder(1.0, 2.0),
    )(increment)
    kernel = tuned[grid](np.zeros(20, np.float32), 20)
    assert kernel.metadata.num_warps == 2 and kernel.metadata.num_stages == 4


def test_config_objects() -> None:
    config = Config({"BLOCK": 8}, num_warps=2, maxnreg=64)
    assert config.all_kwargs() == {"BLOCK": 8, "num_warps": 2, "num_stages": 3, "num_ctas": 1, "maxnreg": 64}
    assert str(config) == "BLOCK: 8, num_warps: 2, num_ctas: 1, num_stages: 3, maxnreg: 64"
    assert config == Config({"BLOCK": 8}, num_warps=2, maxnreg=64) and config != Config({"BLOCK": 8})
    assert len({config, Config({"BLOCK": 8}, num_warps=2, maxnreg=64)}) == 1
    import pickle

    assert pickle.loads(pickle.dumps(config)) == config


# ---- the caller's data -------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_in_place_kernels_are_tuned_without_touching_the_data(library: str) -> None:
    tuned = triton.autotune(blocks(4, 8), key=["n"], do_bench=Recorder(1.0, 2.0, runs=10))(increment)
    x = np.arange(20, dtype=np.float32) if library == "numpy" else torch.arange(20, dtype=torch.float32)
    tuned[grid](x, 20)
    assert x.tolist() == [i + 1.0 for i in range(20)]


def test_only_what_is_written_is_copied() -> None:
    seen: list[int] = []

    @triton.jit
    def kernel(x, out, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)

    kernel.add_pre_run_hook(lambda x, out, *rest, **kwargs: seen.append((x.ctypes.data, out.ctypes.data)))
    tuned = triton.autotune(blocks(4, 8), key=["n"], do_bench=Recorder(1.0, 2.0))(kernel)
    x, out = np.ones(20, np.float32), np.zeros(20, np.float32)
    tuned[grid](x, out, 20)
    assert {a for a, _ in seen} == {x.ctypes.data}
    assert len({b for _, b in seen}) == 2 and out[0] == 1


def test_views_of_one_array_stay_views_of_one_array() -> None:
    @triton.jit
    def shift(x, y, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

    tuned = triton.autotune(blocks(64, 128), key=["n"], do_bench=Recorder(1.0, 2.0, 1.0, 2.0))(shift)
    plain, base = np.arange(30, dtype=np.float32), np.arange(30, dtype=np.float32)
    shift[(1,)](plain[:20], plain[10:], 20, BLOCK=64)
    tuned[grid](base[:20], base[10:], 20)
    np.testing.assert_array_equal(base, plain)
    tuned[grid](base[:4], torch.from_numpy(base)[:4], 4)
    assert base[:5].tolist() == [1, 2, 3, 4, 4]


def test_arrays_in_tuples_and_descriptors_are_copied_too() -> None:
    @triton.jit
    def kernel(pair, desc, n: tl.constexpr, BLOCK: tl.constexpr):
        x, scale = pair
        i = tl.arange(0, n)
        tl.store(x + i, tl.load(x + i) * scale)
        desc.store([0, 0], desc.load([0, 0]) + 1)

    tuned = triton.autotune(blocks(1, 2), key=["n"], do_bench=Recorder(1.0, 2.0))(kernel)
    x, y = np.ones(4, np.float32), np.zeros((4, 4), np.float32)
    tuned[(1,)]((x, 3), TensorDescriptor.from_tensor(y, [4, 4]), n=4)
    assert x.tolist() == [3] * 4 and (y == 1).all()
    Pair = namedtuple("Pair", "x scale")
    tuned[(1,)](Pair(torch.from_numpy(x), 2), TensorDescriptor.from_tensor(y, [4, 4]), n=4)
    assert x.tolist() == [6] * 4


def test_reset_to_zero_and_restore_value() -> None:
    @triton.jit
    def accumulate(x, total, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.atomic_add(total, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))

    for library in (np.asarray, torch.from_numpy):
        tuned = triton.autotune(
            blocks(4, 8), key=["n"], reset_to_zero=["total"], do_bench=Recorder(1.0, 2.0)
        )(accumulate)
        x, total = library(np.ones(20, np.float32)), library(np.full(1, 100, np.float32))
        tuned[grid](x, total, 20)
        assert total[0] == 20
        tuned[grid](x, total, 20)
        assert total[0] == 40, "only before the launch that tuned"
    restored = triton.autotune(blocks(4, 8), key=["n"], restore_value=["total"], do_bench=Recorder(1.0, 2.0))(
        accumulate
    )
    total = np.full(1, 100, np.float32)
    restored[grid](np.ones(20, np.float32), total, 20)
    assert total[0] == 120


def test_names_given_to_the_tuner_may_be_none_at_a_launch() -> None:
    @triton.jit
    def kernel(x, optional, n, BLOCK: tl.constexpr):
        tl.store(x, n)

    tuned = triton.autotune(
        blocks(4, 8),
        key=["n"],
        reset_to_zero=["optional"],
        restore_value=["optional"],
        do_bench=Recorder(1.0, 2.0),
    )(kernel)
    x = np.zeros(1, np.float32)
    tuned[(1,)](x, None, 7)
    assert x[0] == 7


def test_hooks_of_the_tuner_and_of_configurations() -> None:
    told: list[tuple] = []

    def pre_hook(args: dict, reset_only: bool = False) -> None:
        told.append(("pre", args["BLOCK"], reset_only))

    def post_hook(args: dict, exception: Exception | None) -> None:
        told.append(("post", args["BLOCK"], exception))

    configs = [
        Config({"BLOCK": b}, pre_hook=lambda args: told.append(("config", args["BLOCK"]))) for b in (4, 8)
    ]
    tuned = triton.autotune(
        configs, key=["n"], pre_hook=pre_hook, post_hook=post_hook, do_bench=Recorder(1.0, 2.0, runs=0)
    )(increment)
    x = np.zeros(8, np.float32)
    tuned[grid](x, 8)
    assert told == [
        *(("config", 4), ("pre", 4, False), ("post", 4, None)),
        *(("config", 8), ("pre", 8, False), ("post", 8, None)),
        ("pre", 4, True),
        ("config", 4),
    ]
    assert tuned.user_defined_pre_hook and tuned.user_defined_post_hook


# ---- configurations that fail or disagree ------------------------------------------------------------


@triton.jit
def at_most_8(x, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK <= 8, "too large")
    tl.store(x + tl.arange(0, BLOCK), n)


def test_configurations_that_do_not_compile_are_left_out() -> None:
    tuned = triton.autotune(blocks(16, 4, 32), key=["n"], do_bench=Recorder(1.0))(at_most_8)
    x = np.zeros(8, np.float32)
    tuned[(1,)](x, 5)
    assert tuned.best_config.kwargs == {"BLOCK": 4} and x.tolist() == [5] * 4 + [0] * 4
    assert [t[0] for t in tuned.configs_timings.values()] == [float("inf"), 1.0, float("inf")]


def test_where_nothing_works_every_reason_is_told() -> None:
    tuned = triton.autotune(blocks(16, 32), key=["n"])(at_most_8)
    with pytest.raises(AutotunerError, match="none of the 2 configurations of `at_most_8` works") as caught:
        tuned[(1,)](np.zeros(8, np.float32), 5)
    assert all(f"note: BLOCK: {b}" in str(caught.value) for b in (16, 32))
    assert str(caught.value).count("static assertion failed: too large") == 2


def test_resources_that_run_out_make_a_configuration_slow() -> None:
    def bench(call, quantiles):
        if bench.first:
            bench.first = False
            raise OutOfResources(300, 200, "shared memory")
        return [5.0] * 3

    bench.first = True
    tuned = triton.autotune(blocks(4, 8), key=["n"], do_bench=bench)(increment)
    x = np.zeros(8, np.float32)
    tuned[grid](x, 8)
    assert tuned.best_config.kwargs == {"BLOCK": 8} and (x == 1).all()


def test_other_errors_are_the_user_s() -> None:
    @triton.jit
    def broken(x, n, BLOCK: tl.constexpr):
        tl.store(x, no_such_name)  # noqa: F821

    tuned = triton.autotune(blocks(4, 8), key=["n"])(broken)
    with pytest.raises(triton.CompilationError, match="no_such_name"):
        tuned[(1,)](np.zeros(1, np.float32), 5)
    assert not tuned.cache


def test_disagreeing_configurations_are_reported() -> None:
    @triton.jit
    def first_block_only(x, n, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

    tuned = triton.autotune(blocks(4, 8), key=["n"], do_bench=Recorder(1.0, 2.0))(first_block_only)
    with pytest.warns(
        RuntimeWarning, match="configurations of `first_block_only` disagree about `x`"
    ) as told:
        tuned[(1,)](np.zeros(8, np.float32), 8)
    assert told[0].filename == __file__
    ((config, name, worst),) = tuned.disagreements
    assert config.kwargs == {"BLOCK": 8} and name == "x" and worst == 1.0


def test_rounding_is_no_disagreement() -> None:
    a = np.linspace(0, 1, 1000, dtype=np.float32)
    assert difference(a, a * np.float32(1 + 1e-5)) == 0
    assert difference(a, a * np.float32(1.1)) == pytest.approx(0.1, rel=1e-3)
    assert difference(np.array([1, 2]), np.array([1, 3])) == 0.5
    assert difference(np.array([np.nan, 1.0]), np.array([np.nan, 1.0])) == 0
    assert difference(np.array([np.nan]), np.array([1.0])) == float("inf")
    assert difference(np.array([np.inf, 1.0]), np.array([np.inf, 1.0])) == 0


# ---- pruning -----------------------------------------------------------------------------------------


def test_early_pruning_and_a_model() -> None:
    seen: list[object] = []

    def early(configs: list[Config], named: dict, **kwargs: object) -> list[Config]:
        seen.append((sorted(named), kwargs["n"]))
        return [c for c in configs if c.kwargs["BLOCK"] > 4]

    tuned = triton.autotune(
        blocks(4, 8, 16, 32),
        key=["n"],
        prune_configs_by={"early_config_prune": early, "perf_model": lambda BLOCK, **kw: BLOCK, "top_k": 2},
        do_bench=Recorder(2.0, 1.0),
    )(increment)
    tuned[grid](np.zeros(8, np.float32), n=8)
    assert seen == [(["x"], 8)]
    assert [c.kwargs["BLOCK"] for c in tuned.configs_timings] == [8, 16]
    assert tuned.best_config.kwargs == {"BLOCK": 16}


@pytest.mark.parametrize("top, count", [(0.5, 2), (1.0, 4), (3, 3)])
def test_how_many_are_kept(top, count) -> None:
    tuned = triton.autotune(
        blocks(4, 8, 16, 32),
        key=["n"],
        prune_configs_by={"perf_model": lambda **kw: 0.0, "top_k": top},
        do_bench=Recorder(*[1.0] * count),
    )(increment)
    tuned[grid](np.zeros(8, np.float32), 8)
    assert len(tuned.configs_timings) == count


def test_pruning_that_goes_wrong() -> None:
    none = triton.autotune(
        blocks(4, 8), key=["n"], prune_configs_by={"early_config_prune": lambda *a, **k: []}
    )(increment)
    with pytest.raises(AutotunerError, match="left none"):
        none[grid](np.zeros(8, np.float32), 8)
    odd = triton.autotune(
        blocks(4, 8), key=["n"], prune_configs_by={"perf_model": lambda **kw: 0.0, "top_k": 1.5}
    )(increment)
    with pytest.raises(TypeError, match="top_k"):
        odd[grid](np.zeros(8, np.float32), 8)


# ---- mistakes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2])
def test_a_launch_may_not_give_what_the_tuner_sets(count: int) -> None:
    tuned = triton.autotune(blocks(4, 8)[:count], key=["n"], do_bench=Recorder(1.0, 2.0))(increment)
    for launch in (
        lambda: tuned[grid](np.zeros(8, np.float32), 8, BLOCK=4),
        lambda: tuned[grid](np.zeros(8, np.float32), 8, 4),
        lambda: tuned[grid](np.zeros(8, np.float32), n=8, BLOCK=4),
    ):
        with pytest.raises(ValueError, match="`BLOCK` is set by the configurations") as caught:
            launch()
        assert isinstance(caught.value, AutotunerError)
    with pytest.raises(ValueError, match="`num_warps`"):
        tuned[(1,)](np.zeros(8, np.float32), 8, num_warps=4)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: triton.autotune([Config({"BLOK": 4})], key=[])(increment), "a configuration.*`BLOK`"),
        (lambda: triton.autotune(blocks(4), key=[], restore_value=["y"])(increment), "restore_value.*`y`"),
        (lambda: triton.autotune(blocks(4), key=[], reset_to_zero=["y"])(increment), "reset_to_zero.*`y`"),
        (lambda: triton.heuristics({"BLOK": lambda args: 4})(increment), "heuristics.*`BLOK`"),
    ],
)
def test_names_that_are_no_parameters(make, words) -> None:
    with pytest.raises(AutotunerError, match=words) as caught:
        make()
    assert "x, n, BLOCK" in str(caught.value)


# ---- heuristics --------------------------------------------------------------------------------------


def test_heuristics_compute_from_the_arguments() -> None:
    @triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n"])})
    @triton.heuristics({"num_warps": lambda args: 8 if args["BLOCK"] >= 16 else 2})
    @triton.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        tl.store(x, BLOCK)

    x = np.zeros(1, np.float32)
    assert kernel[(1,)](x, 20).metadata.num_warps == 8 and x[0] == 32
    assert kernel[(1,)](x, n=5).metadata.num_warps == 2 and x[0] == 8
    assert kernel.warmup(x, 5, grid=(1,)).metadata.num_warps == 2


@pytest.mark.parametrize("order", ["heuristics above", "heuristics below"])
def test_decorators_nest_in_any_order(order: str) -> None:
    tune = triton.autotune(blocks(4, 8), key=["n"], do_bench=Recorder(2.0, 1.0))
    compute = triton.heuristics({"EVEN": lambda args: args["n"] % 2 == 0})

    @triton.jit
    def kernel(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
        tl.store(x, BLOCK)
        tl.store(x + 1, 1 if EVEN else 0)

    decorated = compute(tune(kernel)) if order == "heuristics above" else tune(compute(kernel))
    x = np.zeros(2, np.float32)
    with pytest.warns(RuntimeWarning, match="disagree"):
        decorated[lambda meta: (meta["BLOCK"] // meta["BLOCK"],)](x, 6)
    assert x.tolist() == [8, 1] and decorated.arg_names == kernel.arg_names


def test_heuristics_see_what_the_tuner_chose() -> None:
    @triton.autotune(blocks(4, 8), key=["n"], do_bench=Recorder(2.0, 1.0))
    @triton.heuristics({"TWICE": lambda args: 2 * args["BLOCK"]})
    @triton.jit
    def kernel(x, n, BLOCK: tl.constexpr, TWICE: tl.constexpr):
        tl.store(x, BLOCK * 100 + TWICE)

    x = np.zeros(1, np.float32)
    with pytest.warns(RuntimeWarning, match="disagree"):
        kernel[(1,)](x, 6)
    assert x[0] == 816


# ---- threads, disk, printing, subclasses -------------------------------------------------------------


def test_threads_tune_once() -> None:
    bench = Recorder(1.0, 2.0)
    tuned = triton.autotune(blocks(4, 8), key=["n"], do_bench=bench)(increment)
    arrays = [np.zeros(8, np.float32) for _ in range(6)]
    start = threading.Barrier(6)

    def launch(x: np.ndarray) -> None:
        start.wait()
        tuned[grid](x, 8)

    threads = [threading.Thread(target=launch, args=(x,)) for x in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not bench.times and all((x == 1).all() for x in arrays)


def test_results_on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))
    x = np.zeros(8, np.float32)

    def tuned(*times: float, **options: object) -> triton.runtime.Autotuner:
        made = triton.autotune(blocks(4, 8), key=["n"], do_bench=Recorder(*times), **options)(increment)
        made[grid](x, 8)
        return made

    tuned(2.0, 1.0, cache_results=True)
    again = tuned(cache_results=True)
    assert again.best_config.kwargs == {"BLOCK": 8}
    assert [list(t) for t in again.configs_timings.values()] == [[2.0] * 3, [1.0] * 3]
    knobs.autotuning.cache = True
    assert tuned().best_config.kwargs == {"BLOCK": 8}
    knobs.autotuning.cache = False
    with config.override(specialize="none"):
        tuned(1.0, 2.0, cache_results=True)  # measured again under other settings
    for file in tmp_path.rglob("*.json"):
        file.write_text("{")
    assert tuned(1.0, 2.0, cache_results=True).best_config.kwargs == {"BLOCK": 4}


def test_what_is_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_PRINT_AUTOTUNING", "1")
    tuned = triton.autotune(blocks(4, 8), key=["n"], do_bench=Recorder(2.0, 1.0))(increment)
    tuned[grid](np.zeros(8, np.float32), 8)
    out = capsys.readouterr().out
    assert "Triton autotuning for function increment" in out and "best config selected: BLOCK: 8" in out
    assert out.count("Autotuning kernel increment: BLOCK: ") == 2
    monkeypatch.delenv("TRITON_PRINT_AUTOTUNING")
    with config.override(log="autotune"):
        other = triton.autotune(blocks(4, 8), key=["n"], do_bench=Recorder(2.0, 1.0))(increment)
        other[grid](np.zeros(8, np.float32), 8)
    err = capsys.readouterr().err
    assert err.count("tritium[autotune] increment: BLOCK: ") == 2 and "1 ms" in err


def test_warmup_compiles_every_configuration() -> None:
    tuned = triton.autotune(blocks(4, 8), key=["n"])(increment)
    x = np.zeros(8, np.float32)
    kernels = tuned.warmup(x, 8, grid=grid)
    assert len(kernels) == 2 and len(set(map(id, kernels))) == 2 and (x == 0).all()


def test_subclasses_that_measure_themselves() -> None:
    """Libraries of kernels derive tuners of their own, which call the methods that Triton's class has."""

    class Tuner(triton.runtime.Autotuner):
        def run(self, *args: object, **kwargs: object) -> object:
            self.nargs = dict(zip(self.arg_names, args, strict=False))
            timings = {c: self._bench(*args, config=c, **kwargs) for c in self.prune_configs(kwargs)}
            best = min(timings, key=timings.get)
            self.pre_hook({**self.nargs, **kwargs, **best.all_kwargs()}, reset_only=True)
            self.best_config = best
            return self.fn.run(*args, **kwargs, **best.all_kwargs())

    tuned = Tuner(
        increment, increment.arg_names, blocks(4, 8), ["n"], None, None, do_bench=Recorder(2.0, 1.0)
    )
    x = np.zeros(8, np.float32)
    tuned[grid](x, 8)
    assert (x == 1).all() and tuned.best_config.kwargs == {"BLOCK": 8}


def test_tuning_under_triton_interpret(tmp_path: Path) -> None:
    program = """
        import numpy as np, triton, triton.language as tl

        @triton.autotune([triton.Config({"BLOCK": 4}), triton.Config({"BLOCK": 8})], key=["n"])
        @triton.jit
        def increment(x, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

        x = np.zeros(10, np.float32)
        increment[lambda meta: (triton.cdiv(10, meta["BLOCK"]),)](x, 10)
        print(type(increment.fn).__name__, x.sum())
    """
    done = subprocess.run(
        [sys.executable, "-m", "tritium", "run", "-c", textwrap.dedent(program)],
        env={"PYTHONPATH": str(SRC), "TRITON_INTERPRET": "1", "TRITIUM_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "InterpretedFunction 10.0\n"
