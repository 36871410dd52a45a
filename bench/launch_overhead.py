"""What a launch costs the host, and what the first launch of a kernel costs: ours, and Triton's where it is installed.

    PYTHONPATH=src python bench/launch_overhead.py [--out results.json] [--repeats 15] [--no-compile]

Needs an NVIDIA GPU and PyTorch. All in one process and one run; the ways to launch take turns, so that a busy machine
is busy for all of them. Times are medians over the repeats of the mean over a batch of launches, in microseconds; the
GPU is idle before each batch and never further behind than it can queue. First launches start with empty caches, in
a process that has compiled other kernels before, and end when the result is there; in milliseconds.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

LAUNCHES = 400  # per batch; the driver queues about a thousand
VARIANTS = 5

KERNELS = """
@triton.jit
def five(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def eighteen(x, y, out, M, N, K, a, b, c, d, e, f, g, h, i, j, BM: tl.constexpr, BN: tl.constexpr):
    o = tl.program_id(0) * BM + tl.arange(0, BM)
    s = M + N + K + a + b + c + d + e + f + g + h + i + j
    tl.store(out + o, tl.load(x + o, mask=o < BN) + tl.load(y + o, mask=o < BN) + s, mask=o < BN)
"""

ADD = """
@triton.jit
def {name}(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)
"""

MATMUL = """
@triton.jit
def {name}(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        lhs_mask = (rm[:, None] < M) & (rk[None, :] < K)
        rhs_mask = (rk[:, None] < K) & (rn[None, :] < N)
        lhs = tl.load(a + rm[:, None] * sam + rk[None, :] * sak, mask=lhs_mask, other=0.0)
        rhs = tl.load(b + rk[:, None] * sbk + rn[None, :] * sbn, mask=rhs_mask, other=0.0)
        acc = tl.dot(lhs, rhs, acc)
    out_mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(c + rm[:, None] * scm + rn[None, :] * scn, acc, mask=out_mask)
"""


def kernels(compiler: str, text: str, folder: Path, name: str) -> ModuleType:
    """A module of `text`, in which ``triton`` is `compiler`."""
    path = folder / f"{name}_{compiler}.py"
    path.write_text(f"import {compiler} as triton\nimport {compiler}.language as tl\n{text}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def in_turns(ways: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Median microseconds of one call of each way."""
    import torch

    for call in ways.values():
        for _ in range(20):
            call()
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, call in ways.items():
            torch.cuda.synchronize()
            started = time.perf_counter()
            for _ in range(LAUNCHES):
                call()
            found[name].append((time.perf_counter() - started) / LAUNCHES * 1e6)
            torch.cuda.synchronize()
    return {name: statistics.median(times) for name, times in found.items()}


def launches(compilers: list[str], repeats: int, folder: Path) -> dict[str, dict[str, float]]:
    """Microseconds per launch by number of arguments and way."""
    import torch

    x, y, out = (torch.ones(1024, device="cuda") for _ in range(3))
    numbers = tuple(range(2, 15))
    results: dict[str, dict[str, float]] = {}
    modules = {name: kernels(name, KERNELS, folder, "launches") for name in compilers}
    cases = {
        "5 arguments": ("five", (x, y, out, 1000, 128)),
        "18 arguments": ("eighteen", (x, y, out, *numbers, 128, 64)),
    }
    for case, (name, args) in cases.items():
        ways: dict[str, Callable[[], Any]] = {}
        for compiler, module in modules.items():
            kernel = getattr(module, name)
            ways[f"{compiler}: kernel[grid](...)"] = lambda kernel=kernel, args=args: kernel[(8,)](*args)
            by_function = lambda meta: (8,)
            ways[f"{compiler}: kernel[function](...)"] = lambda k=kernel, a=args, g=by_function: k[g](*a)
        ours = getattr(modules["tritium"], name)
        bound = ours.bind(*args, grid=(8,))
        run_time = args[:-1] if name == "five" else args[:-2]
        ways["tritium: bound, with arguments"] = lambda bound=bound, r=run_time: bound(*r)
        ways["tritium: bound, without"] = bound
        results[case] = in_turns(ways, repeats)
    return results


def first_launches(compilers: list[str], folder: Path) -> dict[str, dict[str, float]]:
    """Median milliseconds from the call to the result, for kernels that were never compiled."""
    import torch

    x, y, out = (torch.ones(1024, device="cuda") for _ in range(3))
    a, b, c = (torch.ones(128, 128, device="cuda") for _ in range(3))
    cases = {
        "add": (ADD, (x, y, out, 1000, 128)),
        "matmul fp32, tiles of 16": (MATMUL, (a, b, c, 128, 128, 128, 128, 1, 128, 1, 128, 1, 16, 16, 16)),
    }
    results: dict[str, dict[str, float]] = {}
    for case, (text, args) in cases.items():
        results[case] = {}
        slug = case.split()[0]
        names = [f"{slug}_{i}" for i in range(VARIANTS + 1)]
        for compiler in compilers:
            module = kernels(compiler, "".join(text.format(name=n) for n in names), folder, f"first_{slug}")
            times: list[float] = []
            for i, name in enumerate(names):
                torch.cuda.synchronize()
                started = time.perf_counter()
                getattr(module, name)[(8, 8)](*args)
                torch.cuda.synchronize()
                if i:  # the first one warms the compiler up
                    times.append((time.perf_counter() - started) * 1e3)
            results[case][compiler] = statistics.median(times)
    return results


def report(results: dict[str, Any]) -> str:
    """The results as a table, with ratios to Triton's."""
    lines: list[str] = [f"{results['device']}, {results['versions']}, launch stub: {results['launch stub']}"]
    for part, unit in (("launches", "us"), ("first launches", "ms")):
        for case, found in results.get(part, {}).items():
            lines.append(f"\n{part}: {case}")
            theirs = found.get("triton", found.get("triton: kernel[grid](...)"))
            for way, value in found.items():
                ratio = f"   {value / theirs:5.2f}x" if theirs else ""
                lines.append(f"  {way:<34} {value:8.2f} {unit}{ratio}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--no-compile", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        os.environ["TRITIUM_CACHE_DIR"] = str(folder / "tritium")
        os.environ["TRITON_CACHE_DIR"] = str(folder / "triton")
        import torch

        import tritium
        from tritium.backends.cuda import driver, nvrtc
        from tritium.runtime.stub.load import why_not

        compilers = ["tritium", *(["triton"] if importlib.util.find_spec("triton") else [])]
        versions = {"tritium": tritium.__version__, "torch": torch.__version__, "nvrtc": nvrtc.identity()}
        if "triton" in compilers:
            versions["triton"] = importlib.import_module("triton").__version__
        results: dict[str, Any] = {
            "date": time.strftime("%Y-%m-%d"),
            "device": str(driver.device(0)),
            "versions": versions,
            "launch stub": why_not() or "used",
            "launches": launches(compilers, options.repeats, folder),
        }
        if not options.no_compile:
            results["first launches"] = first_launches(compilers, folder)
    print(report(results))
    if options.out:
        options.out.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
