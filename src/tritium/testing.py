"""Comparing and benchmarking: ``triton.testing``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tritium.runtime.benchmarking import do_bench, do_bench_cudagraph


def _host(x: Any) -> np.ndarray[Any, Any]:
    if hasattr(x, "detach"):
        x = x.detach().cpu()
        return x.float().numpy() if "bfloat16" in str(x.dtype) else x.numpy()
    return np.asarray(x)


def assert_close(
    x: Any, y: Any, atol: float | None = None, rtol: float | None = None, err_msg: str = ""
) -> None:
    """Raise AssertionError unless x and y agree within ``atol + rtol * |y|`` (1e-2 and 0 by default)."""
    a, b = _host(x), _host(y)
    atol = 1e-2 if atol is None else float(atol)
    rtol = 0.0 if rtol is None else float(rtol)
    if a.size > 1 or b.size > 1:
        np.testing.assert_allclose(a, b, atol=atol, rtol=rtol, equal_nan=True, err_msg=err_msg)
    elif not np.allclose(a, b, atol=atol, rtol=rtol, equal_nan=True):
        raise AssertionError(f"{err_msg} {a} is not close to {b} (atol={atol}, rtol={rtol})")


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


@dataclass
class Mark:
    """A benchmark function with what it sweeps; `run` measures and reports."""

    fn: Callable[..., Any]
    benchmarks: Benchmark | Sequence[Benchmark]
    results: list[Any] = field(default_factory=list)

    def run(
        self,
        show_plots: bool = False,
        print_data: bool = False,
        save_path: str = "",
        return_df: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Measure every benchmark.

        print_data   print each table
        save_path    folder for one CSV file per benchmark, and a PNG where matplotlib is installed
        return_df    give the tables back: pandas DataFrames where pandas is installed, else lists of dicts
        """
        single = isinstance(self.benchmarks, Benchmark)
        todo = [self.benchmarks] if isinstance(self.benchmarks, Benchmark) else list(self.benchmarks)
        tables = [self._measure(bench, kwargs) for bench in todo]
        for bench, rows in zip(todo, tables, strict=True):
            if print_data:
                print(f"{bench.plot_name}:\n{_table(rows)}")
            if save_path:
                _save(Path(save_path), bench, rows)
            if show_plots or save_path:
                _plot(bench, rows, show_plots, save_path)
        if return_df:
            frames = [_frame(rows) for rows in tables]
            return frames[0] if single else frames
        return None

    def _measure(self, bench: Benchmark, kwargs: dict[str, Any]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for x in bench.x_vals:
            values = list(x) if isinstance(x, (tuple, list)) else [x] * len(bench.x_names)
            if len(values) != len(bench.x_names):
                raise ValueError(f"{bench.plot_name}: {len(bench.x_names)} x_names, but the x value {x!r}")
            row: dict[str, Any] = dict(zip(bench.x_names, values, strict=True))
            for line, label in zip(bench.line_vals, bench.line_names, strict=True):
                point = dict(zip(bench.x_names, values, strict=True))
                out = self.fn(**point, **{bench.line_arg: line}, **bench.args, **kwargs)
                middle, *spread = out if isinstance(out, (tuple, list)) else (out,)
                row[label] = middle
                if len(spread) == 2:
                    row[f"{label}-min"], row[f"{label}-max"] = spread
            rows.append(row)
        return rows


def _table(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "(empty)"
    heads = [k for k in rows[0] if not k.endswith(("-min", "-max"))]
    lines = [[f"{r[h]:.6f}" if isinstance(r[h], float) else str(r[h]) for h in heads] for r in rows]
    widths = [max(len(h), *(len(line[i]) for line in lines)) for i, h in enumerate(heads)]
    return "\n".join(
        "  ".join(c.rjust(w) for c, w in zip(line, widths, strict=True)) for line in [heads, *lines]
    )


def _save(folder: Path, bench: Benchmark, rows: list[dict[str, Any]]) -> None:
    import csv

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{bench.plot_name}.csv").open("w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]) if rows else [])
        writer.writeheader()
        writer.writerows(rows)


def _frame(rows: list[dict[str, Any]]) -> Any:
    try:
        import pandas  # type: ignore[import-not-found]
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def _plot(bench: Benchmark, rows: list[dict[str, Any]], show: bool, save_path: str) -> None:
    try:
        import matplotlib.pyplot as plt  # type: ignore[import-not-found]
    except ImportError:
        return
    figure, axes = plt.subplots()
    x = [r[bench.x_names[0]] for r in rows]
    for i, label in enumerate(bench.line_names):
        colour, style = bench.styles[i] if bench.styles else (None, None)
        axes.plot(x, [r[label] for r in rows], label=label, color=colour, ls=style)
    axes.set(xlabel=bench.xlabel or bench.x_names[0], ylabel=bench.ylabel)
    axes.set_xscale("log" if bench.x_log else "linear")
    axes.set_yscale("log" if bench.y_log else "linear")
    axes.legend()
    if save_path:
        figure.savefig(str(Path(save_path) / f"{bench.plot_name}.png"))
    if show:
        plt.show()
    plt.close(figure)


def perf_report(benchmarks: Benchmark | Sequence[Benchmark]) -> Callable[[Callable[..., Any]], Mark]:
    """Decorator: turn a function that measures one point into a sweep; see `Mark.run`."""
    return lambda fn: Mark(fn, benchmarks)
