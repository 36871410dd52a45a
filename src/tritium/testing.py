"""Comparing and benchmarking: ``triton.testing``."""

from __future__ import annotations

import csv
import functools
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tritium import config
from tritium.ir.types import DType
from tritium.runtime.arrays import TensorWrapper, is_array
from tritium.runtime.benchmarking import do_bench, do_bench_cudagraph
from tritium.runtime.copies import host_values
from tritium.runtime.driver import driver
from tritium.runtime.element_types import dtype_of

# ---- comparing ---------------------------------------------------------------------------------------


def _host(x: Any) -> np.ndarray[Any, Any]:
    """Any array, number or list as a NumPy array in host memory; 8- and 16-bit floats that NumPy lacks as float32."""
    if isinstance(x, TensorWrapper) or (is_array(x) and not isinstance(x, np.ndarray)):
        detach: Any = getattr(x, "detach", None)
        values = host_values(x if detach is None else detach())
        if values is None:
            raise TypeError(f"the elements of a {type(x).__name__} cannot be reached from the host")
    else:
        values = np.asarray(x)
    return values.astype(np.float32) if values.dtype.kind == "V" else values


def assert_close(x: Any, y: Any, atol: Any = None, rtol: Any = None, err_msg: str = "") -> None:
    """Raise AssertionError unless x and y agree within ``atol + rtol * |y|`` (1e-2 and 0 by default).

    `atol` and `rtol` may be functions of the dtype of `x`. NaN agrees with NaN.
    """
    limits: list[float] = []
    for given, default in ((atol, 1e-2), (rtol, 0.0)):
        limit: Any = given(getattr(x, "dtype", None)) if callable(given) else given
        limits.append(default if limit is None else float(limit))
    a, b = _host(x), _host(y)
    if a.size > 1 or b.size > 1:
        np.testing.assert_allclose(a, b, atol=limits[0], rtol=limits[1], equal_nan=True, err_msg=err_msg)
    elif not np.allclose(a, b, atol=limits[0], rtol=limits[1], equal_nan=True):
        raise AssertionError(f"{err_msg} {a} is not close to {b} (atol={limits[0]}, rtol={limits[1]})")


# ---- benchmarks over a range of sizes ----------------------------------------------------------------


@dataclass
class Benchmark:
    """What a `perf_report` plots: `x_vals` along x, one line per value of `line_arg`."""

    x_names: Sequence[str]
    x_vals: Sequence[Any]
    line_arg: str
    line_vals: Sequence[Any]
    line_names: Sequence[str]
    plot_name: str
    args: dict[str, Any]
    xlabel: str = ""
    ylabel: str = ""
    x_log: bool = False
    y_log: bool = False
    styles: Sequence[tuple[str, str]] | None = None


Row = dict[str, Any]


class Mark:
    """A benchmark function with what it sweeps; `run` measures and reports."""

    def __init__(self, fn: Callable[..., Any], benchmarks: Benchmark | Sequence[Benchmark]) -> None:
        self.fn = fn
        self.benchmarks = benchmarks

    def run(
        self,
        show_plots: bool = False,
        print_data: bool = False,
        save_path: str = "",
        return_df: bool = False,
        diff_col: bool = False,
        save_precision: int = 6,
        **kwargs: Any,
    ) -> Any:
        """Measure every benchmark.

        print_data      print each table
        save_path       folder for one CSV file per benchmark, and a PNG where matplotlib is installed
        return_df       give the tables back: pandas DataFrames where pandas is installed, else lists of dicts
        diff_col        add the difference of two lines as a column
        save_precision  digits after the point in the CSV files
        """
        single = isinstance(self.benchmarks, Benchmark)
        todo = [self.benchmarks] if isinstance(self.benchmarks, Benchmark) else list(self.benchmarks)
        tables: list[list[Row]] = []
        for bench in todo:
            rows, spreads = self._measure(bench, kwargs)
            if show_plots or save_path:
                _plot(bench, rows, spreads, show_plots, save_path)
            if diff_col and len(bench.line_names) == 2:
                for row in rows:
                    first, second = (row[_label(bench, name)] for name in bench.line_names)
                    row["Diff"] = second - first
            if print_data:
                print(f"{bench.plot_name}:\n{_table(rows)}")
            if save_path:
                _save(Path(save_path), bench, rows, save_precision)
            tables.append(rows)
        if not return_df:
            return None
        frames = [_frame(rows) for rows in tables]
        return frames[0] if single else frames

    def _measure(self, bench: Benchmark, kwargs: dict[str, Any]) -> tuple[list[Row], list[Row]]:
        """One row per x value, and for each the least and largest values of the lines that have them."""
        rows: list[Row] = []
        spreads: list[Row] = []
        for x in bench.x_vals:
            values = list(x) if isinstance(x, (tuple, list)) else [x] * len(bench.x_names)
            if len(values) != len(bench.x_names):
                raise ValueError(f"{bench.plot_name}: {len(bench.x_names)} x_names, but the x value {x!r}")
            point = dict(zip(bench.x_names, values, strict=True))
            row: Row = dict(point)
            spread: Row = {}
            for line, name in zip(bench.line_vals, bench.line_names, strict=True):
                out = self.fn(**point, **{bench.line_arg: line}, **bench.args, **kwargs)
                middle, *ends = out if isinstance(out, (tuple, list)) else (out,)
                row[_label(bench, name)] = middle
                if len(ends) == 2:
                    spread[name] = tuple(ends)
            rows.append(row)
            spreads.append(spread)
        return rows, spreads


def _label(bench: Benchmark, line: str) -> str:
    return f"{line} ({bench.ylabel})"


def _table(rows: list[Row]) -> str:
    if not rows:
        return "(empty)"
    heads = list(rows[0])
    lines = [[f"{r[h]:.6f}" if isinstance(r[h], float) else str(r[h]) for h in heads] for r in rows]
    numbers = [str(i) for i in range(len(rows))]
    table = [["", *heads], *([n, *line] for n, line in zip(numbers, lines, strict=True))]
    widths = [max(len(line[i]) for line in table) for i in range(len(heads) + 1)]
    return "\n".join("  ".join(c.rjust(w) for c, w in zip(line, widths, strict=True)) for line in table)


def _save(folder: Path, bench: Benchmark, rows: list[Row], precision: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shown = [{k: f"{v:.{precision}f}" if isinstance(v, float) else v for k, v in r.items()} for r in rows]
    with (folder / f"{bench.plot_name}.csv").open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, list(rows[0]) if rows else [])
        writer.writeheader()
        writer.writerows(shown)


def _frame(rows: list[Row]) -> Any:
    try:
        import pandas  # type: ignore[import-not-found]
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def _plot(bench: Benchmark, rows: list[Row], spreads: list[Row], show: bool, save_path: str) -> None:
    try:
        import matplotlib.pyplot as plt  # type: ignore[import-not-found]
    except ImportError:
        return
    figure, axes = plt.subplots()
    x = [r[bench.x_names[0]] for r in rows]
    for i, name in enumerate(bench.line_names):
        colour, style = bench.styles[i] if bench.styles else (None, None)
        axes.plot(
            x, [r[_label(bench, name)] for r in rows], label=_label(bench, name), color=colour, ls=style
        )
        if all(name in s for s in spreads):
            low, high = ([s[name][end] for s in spreads] for end in (0, 1))
            axes.fill_between(x, low, high, alpha=0.15, color=colour)
    axes.set(xlabel=bench.xlabel or bench.x_names[0], ylabel=bench.ylabel)
    axes.set_xscale("log" if bench.x_log else "linear")
    axes.set_yscale("log" if bench.y_log else "linear")
    axes.legend()
    if save_path:
        Path(save_path).mkdir(parents=True, exist_ok=True)
        figure.savefig(str(Path(save_path) / f"{bench.plot_name}.png"))
    if show:
        plt.show()
    plt.close(figure)


def perf_report(benchmarks: Benchmark | Sequence[Benchmark]) -> Callable[[Callable[..., Any]], Mark]:
    """Decorator: turn a function that measures one point into a sweep; see `Mark.run`."""
    return lambda fn: Mark(fn, benchmarks)


# ---- what an NVIDIA GPU can do at most ---------------------------------------------------------------

_SUBCORES = 4  # per multiprocessor


def get_dram_gbps(device: int | None = None) -> float:
    """Bandwidth of the device's memory in GB/s, from its clock and bus width; 0 where there is no GPU."""
    if device is None:
        device = driver.active.get_current_device()
    found = driver.active.utils.get_device_properties(device)
    return float(found["mem_clock_rate"] * found["mem_bus_width"] * 2 / 1e6 / 8)


def get_max_tensorcore_tflops(dtype: Any, clock_rate: float, device: int | None = None) -> float:
    """TFLOP/s of the tensor cores at `clock_rate` kHz. ValueError for a type that they do not multiply."""
    ty = dtype_of(dtype, "dtype")
    if _capability(device)[0] < 8:
        per_core = {"fp16": 256}.get(ty.name)
    else:
        per_core = {32: 256, 16: 512, 8: 1024}.get(ty.primitive_bitwidth)
    return _tflops(ty, per_core, clock_rate, device)


def get_max_simd_tflops(dtype: Any, clock_rate: float, device: int | None = None) -> float:
    """TFLOP/s of the ordinary units at `clock_rate` kHz. ValueError for a type that they do not multiply."""
    ty = dtype_of(dtype, "dtype")
    halves = {"fp32": 32, "fp16": 64} if _capability(device)[0] < 8 else {"fp32": 32, "fp16": 64, "bf16": 64}
    return _tflops(ty, halves.get(ty.name), clock_rate, device)


def _capability(device: int | None) -> tuple[int, int]:
    return driver.active.get_device_interface().get_device_capability(device)


def _tflops(ty: DType, per_core: int | None, clock_rate: float, device: int | None) -> float:
    if per_core is None:
        raise ValueError(f"there is no figure for {ty}")
    found = driver.active.utils.get_device_properties(device or driver.active.get_current_device())
    return float(found["multiprocessor_count"] * _SUBCORES * clock_rate * per_core * 1e-9)


def nvsmi(attrs: Sequence[str]) -> list[int]:
    """Whole numbers that ``nvidia-smi --query-gpu`` gives for the first GPU. OSError where it is not installed."""
    command = ["nvidia-smi", "-i", "0", f"--query-gpu={','.join(attrs)}", "--format=csv,noheader,nounits"]
    return [int(x) for x in subprocess.check_output(command, text=True).split(",")]


@contextmanager
def set_gpu_clock(ref_sm_clock: int = 1350, ref_mem_clock: int = 1215) -> Generator[tuple[float, float]]:
    """Within the block the first GPU runs at these clocks (MHz); gives an A100's TFLOP/s and GB/s at them."""
    smi = ["nvidia-smi", "-i", "0"]
    try:
        subprocess.check_output([*smi, "-pm", "1"])
        subprocess.check_output([*smi, f"--lock-gpu-clocks={ref_sm_clock},{ref_sm_clock}"])
        subprocess.check_output([*smi, f"--lock-memory-clocks={ref_mem_clock},{ref_mem_clock}"])
        for name, wanted in (("clocks.current.sm", ref_sm_clock), ("clocks.current.memory", ref_mem_clock)):
            found = nvsmi([name])[0]
            if abs(found - wanted) >= 10:
                raise RuntimeError(f"{name} is {found} MHz, and {wanted} was asked for")
        yield 1e-6 * 2 * 108 * _SUBCORES * 256 * ref_sm_clock, 640 * 2 * ref_mem_clock * 1e-3
    finally:
        for undo in ("-pm 0", "-rgc", "-rmc"):
            subprocess.check_output([*smi, *undo.split()])


_UNDER_CHECKER = "TRITIUM_UNDER_CUDA_MEMCHECK"


def cuda_memcheck(**target_kwargs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator of tests: run those with these keywords under NVIDIA's memory checker, in a process of their own."""

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if not target_kwargs.items() <= kwargs.items() or config.environment(_UNDER_CHECKER):
                return test(*args, **kwargs)
            request = kwargs.get("request")
            if request is None:
                raise TypeError("a test under cuda_memcheck takes the fixture `request`")
            return _memcheck(test, request.node.callspec.id)

        return wrapper

    return decorate


def _memcheck(test: Any, case: str) -> None:
    file = os.path.realpath(test.__globals__["__file__"])
    command = [sys.executable, "-m", "pytest", "-vs", f"{file}::{test.__name__}[{case}]"]
    config.set_environment(_UNDER_CHECKER, "1")
    try:
        done = subprocess.run(["compute-sanitizer", *command], capture_output=True, text=True)
    finally:
        config.set_environment(_UNDER_CHECKER, None)
    if done.returncode != 0 or "ERROR SUMMARY: 0 errors" not in done.stdout:
        raise AssertionError(f"the memory checker found errors:\n{done.stdout}")


__all__ = [
    "Benchmark",
    "Mark",
    "assert_close",
    "cuda_memcheck",
    "do_bench",
    "do_bench_cudagraph",
    "get_dram_gbps",
    "get_max_simd_tflops",
    "get_max_tensorcore_tflops",
    "nvsmi",
    "perf_report",
    "set_gpu_clock",
]
