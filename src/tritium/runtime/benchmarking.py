"""Timing a call: what ``triton.testing.do_bench`` and the autotuner measure with.

Times are milliseconds. On a CUDA device events are used and the L2 cache is flushed before each run; for kernels on
host memory the wall clock is used, since a launch returns when it has finished.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

_MODES: dict[str, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "mean": statistics.fmean,
    "median": statistics.median,
}
_MOST_RUNS = 10_000
_L2_BYTES = 256 * 2**20  # larger than any L2 cache


def quantile(values: Sequence[float], quantiles: Sequence[float]) -> list[float]:
    """Quantiles, between neighbours by linear interpolation. ValueError for one outside 0 to 1."""
    ordered = sorted(values)
    found: list[float] = []
    for q in quantiles:
        if not 0 <= q <= 1:
            raise ValueError(f"a quantile is between 0 and 1, not {q}")
        point = q * (len(ordered) - 1)
        low, high = math.floor(point), math.ceil(point)
        found.append(ordered[low] + (point - low) * (ordered[high] - ordered[low]))
    return found


def summarize(times: Sequence[float], quantiles: Sequence[float] | None, return_mode: str) -> Any:
    """`quantiles` of the times (one number for one quantile), else what `return_mode` says."""
    if quantiles is not None:
        found = quantile(times, quantiles)
        return found[0] if len(found) == 1 else found
    if return_mode == "all":
        return list(times)
    return _MODES[return_mode](times)


def check_mode(return_mode: str) -> None:
    """ValueError for a mode that does not exist."""
    if return_mode != "all" and return_mode not in _MODES:
        raise ValueError(f"return_mode is one of {', '.join([*_MODES, 'all'])}, not {return_mode!r}")


def usable_cuda() -> Any:
    """PyTorch with a usable CUDA device, or None. Never imports PyTorch by itself."""
    torch: Any = sys.modules.get("torch")
    return torch if torch is not None and torch.cuda.is_available() else None


def do_bench(
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Time `fn()` in milliseconds.

    warmup, rep    time to spend on warming up and on measuring, in milliseconds
    grad_to_none   tensors whose ``.grad`` is cleared before each run
    quantiles      give these quantiles instead (a list, or one number for one quantile)
    return_mode    "mean", "median", "min", "max" or "all"
    """
    check_mode(return_mode)
    torch = usable_cuda()
    once = cuda_timer(torch) if torch is not None else wall_timer
    fn()
    estimate = max(1e-6, once(fn))
    for _ in range(min(int(warmup / estimate), _MOST_RUNS)):
        fn()
    times: list[float] = []
    for _ in range(max(1, min(int(rep / estimate), _MOST_RUNS))):
        for tensor in grad_to_none or ():
            tensor.grad = None
        times.append(once(fn))
    return summarize(times, quantiles, return_mode)


def wall_timer(fn: Callable[[], Any]) -> float:
    """One call by the clock on the wall."""
    started = time.perf_counter()
    fn()
    return (time.perf_counter() - started) * 1e3


def cuda_timer(torch: Any) -> Callable[[Callable[[], Any]], float]:
    """One call by CUDA events, with the L2 cache flushed."""
    flush = torch.empty(_L2_BYTES // 4, dtype=torch.int32, device="cuda")

    def once(fn: Callable[[], Any]) -> float:
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        flush.zero_()
        start.record()
        fn()
        end.record()
        torch.cuda.synchronize()
        return float(start.elapsed_time(end))

    return once


def do_bench_cudagraph(
    fn: Callable[[], Any],
    rep: float = 20,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Time `fn()` inside a captured CUDA graph (launch overhead excluded); without CUDA the same as `do_bench`."""
    check_mode(return_mode)
    torch = usable_cuda()
    if torch is None:
        return do_bench(fn, rep=rep, grad_to_none=grad_to_none, quantiles=quantiles, return_mode=return_mode)
    with torch.cuda.stream(torch.cuda.Stream()):
        fn()
        torch.cuda.synchronize()
        single = cuda_timer(torch)(fn)
        repeats = max(1, int(rep / max(single, 1e-3) / 10))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(repeats):
                for tensor in grad_to_none or ():
                    tensor.grad = None
                fn()
        torch.cuda.synchronize()
        timer = cuda_timer(torch)
        times = [timer(graph.replay) / repeats for _ in range(10)]
    return summarize(times, quantiles, return_mode)
