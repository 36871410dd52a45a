"""``triton.testing``: comparing, timing, sweeps over sizes."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from tritium import testing
from tritium.runtime.benchmarking import quantile
from tritium.runtime.driver import driver


def test_close_and_not_close() -> None:
    testing.assert_close(np.array([1.0, 2.0]), torch.tensor([1.0, 2.005]))
    testing.assert_close(1.0, 1.009)
    testing.assert_close([1, 2], [1, 2], atol=0)
    testing.assert_close(np.array([np.nan, np.inf]), np.array([np.nan, np.inf]))
    testing.assert_close(torch.tensor([1.0], dtype=torch.bfloat16), torch.tensor([1.0]))
    testing.assert_close(torch.tensor([100.0]), torch.tensor([101.0]), rtol=lambda dtype: 0.02)
    testing.assert_close(torch.nn.Parameter(torch.ones(3)), np.ones(3))
    for x, y in ((1.0, 1.1), (np.ones(3), np.array([1, 1, 1.1])), (np.array(np.nan), 1.0)):
        with pytest.raises(AssertionError):
            testing.assert_close(x, y)
    with pytest.raises(AssertionError, match="the product"):
        testing.assert_close(1.0, 2.0, err_msg="the product")


def test_do_bench_measures_milliseconds() -> None:
    calls: list[int] = []

    def work() -> None:
        calls.append(1)
        time.sleep(0.002)

    mean = testing.do_bench(work, warmup=1, rep=10)
    assert 2 <= mean < 50 and len(calls) >= 3
    times = testing.do_bench(work, warmup=1, rep=10, return_mode="all")
    assert testing.do_bench(work, warmup=1, rep=10, return_mode="min") >= 2
    assert len(times) >= 2
    low, middle, high = testing.do_bench(work, warmup=1, rep=10, quantiles=[0.2, 0.5, 0.8])
    assert low <= middle <= high
    assert isinstance(testing.do_bench(work, warmup=1, rep=4, quantiles=[0.5]), float)
    assert testing.do_bench_cudagraph(work, rep=5) >= 2, "without a GPU the same"
    with pytest.raises(ValueError, match="return_mode is one of"):
        testing.do_bench(work, return_mode="average")


def test_gradients_are_cleared() -> None:
    x = torch.ones(2, requires_grad=True)

    def work() -> None:
        assert x.grad is None or x.grad.sum() == 2
        (x * 1).sum().backward()

    testing.do_bench(lambda: None, warmup=1, rep=1)
    x.grad = torch.full((2,), 5.0)
    x.grad = None
    testing.do_bench(lambda: None, warmup=0, rep=1, grad_to_none=[x])
    assert x.grad is None
    work()


def test_quantiles() -> None:
    assert quantile([3.0, 1.0, 2.0], [0, 0.5, 1, 0.25]) == [1.0, 2.0, 3.0, 1.5]
    assert quantile([4.0], [0.3]) == [4.0]
    np.testing.assert_allclose(quantile(range(11), [0.37]), np.quantile(np.arange(11), 0.37))
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile([1.0], [1.5])


def sweep(**changes: object) -> testing.Benchmark:
    told = {
        "x_names": ["n"],
        "x_vals": [1, 2],
        "line_arg": "provider",
        "line_vals": ["a", "b"],
        "line_names": ["A", "B"],
        "plot_name": "speed",
        "ylabel": "ms",
        "args": {"factor": 10},
    }
    return testing.Benchmark(**{**told, **changes})


def test_a_report_over_sizes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    @testing.perf_report(sweep())
    def bench(n: int, provider: str, factor: int, extra: int = 0) -> tuple[float, float, float]:
        value = float(n * factor + (provider == "b") + extra)
        return value, value - 1, value + 1

    rows = bench.run(print_data=True, save_path=str(tmp_path / "out"), return_df=True, extra=100)
    assert rows == [{"n": 1, "A (ms)": 110.0, "B (ms)": 111.0}, {"n": 2, "A (ms)": 120.0, "B (ms)": 121.0}]
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "speed:" and shown[1].split() == ["n", "A", "(ms)", "B", "(ms)"]
    assert shown[2].split() == ["0", "1", "110.000000", "111.000000"]
    with (tmp_path / "out" / "speed.csv").open() as file:
        saved = list(csv.reader(file))
    assert saved == [
        ["n", "A (ms)", "B (ms)"],
        ["1", "110.000000", "111.000000"],
        ["2", "120.000000", "121.000000"],
    ]
    assert bench.run() is None
    differences = bench.run(return_df=True, diff_col=True)
    assert [row["Diff"] for row in differences] == [1.0, 1.0]


def test_reports_of_several_benchmarks_and_names() -> None:
    two = [sweep(), sweep(x_names=["n", "m"], x_vals=[(1, 5), 3], plot_name="other")]
    seen: list[tuple] = []
    mark = testing.perf_report(two)(lambda **kw: seen.append(tuple(sorted(kw))) or kw.get("m", 0))
    first, second = mark.run(return_df=True)
    assert [row["m"] for row in second] == [5, 3] and second[1]["n"] == 3 and len(first) == 2
    assert seen[-1] == ("factor", "m", "n", "provider")
    wrong = testing.perf_report(sweep(x_vals=[(1, 2, 3)]))(lambda **kw: 0)
    with pytest.raises(ValueError, match=r"1 x_names, but the x value \(1, 2, 3\)"):
        wrong.run()


def test_figures_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    class Utils:
        def get_device_properties(self, device: int) -> dict[str, int]:
            return {"mem_clock_rate": 2_619_000, "mem_bus_width": 5120, "multiprocessor_count": 132}

    class Interface:
        @staticmethod
        def get_device_capability(device: object = None) -> tuple[int, int]:
            return (9, 0)

    monkeypatch.setattr(driver.active, "utils", Utils())
    monkeypatch.setattr(driver.active, "get_device_interface", lambda: Interface)
    assert testing.get_dram_gbps() == pytest.approx(3352.32)
    assert testing.get_max_tensorcore_tflops(torch.float16, 1_755_000) == pytest.approx(474.4, rel=1e-3)
    assert testing.get_max_tensorcore_tflops(torch.float8_e4m3fn, 1e6) == pytest.approx(540.672)
    assert testing.get_max_simd_tflops(torch.float32, 1e6) == pytest.approx(16.896)
    with pytest.raises(ValueError, match="no figure for int64"):
        testing.get_max_simd_tflops(torch.int64, 1e6)


def test_without_a_gpu_the_host_answers() -> None:
    active = driver.active
    interface = active.get_device_interface()
    start, end = interface.Event(enable_timing=True), interface.Event(enable_timing=True)
    start.record()
    time.sleep(0.002)
    end.record()
    interface.synchronize()
    assert start.elapsed_time(end) >= 2 and interface.current_device() == 0
    cache = active.get_empty_cache_for_benchmark()
    active.clear_cache(cache)
    assert active.get_benchmarker() is testing.do_bench and active.get_active_torch_device().type == "cpu"
    assert active.utils.get_device_properties(0)["multiprocessor_count"] >= 1
    assert active.map_python_to_cpp_type("*fp16") == "void*"
    assert active.map_python_to_cpp_type("u16") == "uint16_t"
    with pytest.raises(RuntimeError, match="load_binary"):
        active.utils.load_binary("k", b"", 0, 0)


def test_another_driver_can_be_made_active() -> None:
    class Other(type(driver.active)):
        def get_current_device(self) -> int:
            return 3

    other = Other()
    driver.set_active(other)
    try:
        assert driver.active is other and driver.default is not other
    finally:
        driver.reset_active()
    assert driver.active is driver.default
