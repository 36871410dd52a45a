"""Kernels bound by memory on the GPU: ours, Triton's from the same source where it is installed, and PyTorch's.

    PYTHONPATH=src python bench/gpu_memory.py out.json [--only softmax,add] [--seconds 0.15] [--limit 240]

Every way's result is compared with a reference first, into outputs that hold NaN before. `num_warps` is tuned for both
compilers. Times are medians of CUDA graphs of several launches, the ways taking turns; the copy of as many bytes takes
turns with them. A child process does the work, and another takes over after a case that breaks or hangs the GPU.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KERNELS = Path(__file__).with_name("memory_kernels.py")
SHAPES = ((32768, 4096), (8192, 16384), (65536, 1024))
ROWS = {"add": SHAPES, "softmax": SHAPES, "layernorm": SHAPES, "rmsnorm": SHAPES, "rotary": SHAPES,
        "cross_entropy": SHAPES, **dict.fromkeys(("dropout", "transpose", "cumsum", "topk"), ((16384, 4096),))}  # fmt: skip
STREAMING = ("add", "softmax", "layernorm", "rmsnorm", "rotary", "cross_entropy", "dropout", "transpose")
"""What must come near the speed of a copy."""
EPS = 1e-5
HALF = 64
POSITIONS = 4096
P = 0.5
K = 8
PIECE = 1 << 26
"""Elements of one copy: PyTorch copies larger pieces by another, slower way."""
CASE_SECONDS = 60.0
"""After which a case counts as hanging."""


@dataclass(frozen=True)
class Case:
    """One kernel on one shape and element type."""

    name: str
    rows: int
    cols: int
    dtype: str

    def __str__(self) -> str:
        return f"{self.name} {self.rows}x{self.cols} {self.dtype}"

    @property
    def warps(self) -> tuple[int, ...]:
        if self.name in ("add", "dropout", "transpose"):  # whose blocks do not depend on the row
            return (1, 2, 4, 8)
        return {1024: (1, 2, 4, 8), 4096: (2, 4, 8, 16), 16384: (8, 16, 32)}[self.cols]


CASES = [
    Case(name, *shapes[turn], dtype)
    for turn in range(len(SHAPES))
    for name, shapes in ROWS.items()
    if turn < len(shapes)
    for dtype in ("fp32", "bf16")
]


@dataclass
class Problem:
    """A case's data. `launch` starts a compiler's kernel with some number of warps, `torch` PyTorch's way; `error` is
    the largest error of what is in `outputs` as a multiple of what is allowed; `bytes` is the least that is moved."""

    launch: Callable[[Any, int], Any]
    torch: Callable[[], Any]
    outputs: list[Any]
    error: Callable[[], float]
    bytes: int
    input: Any


def problem(case: Case) -> Problem:
    import torch

    torch.manual_seed(0)
    rows, cols = case.rows, case.cols
    kind = {"fp32": torch.float32, "bf16": torch.bfloat16}[case.dtype]
    x = torch.randn(rows, cols, device="cuda", dtype=kind)
    return globals()[f"_{case.name}"](x)


def worst(out: Any, x: Any, reference: Callable[[Any], Any], absolute: float, relative: float) -> float:
    """The largest error of `out` in multiples of the tolerance; infinite where a NaN is left. Works through rows."""
    import torch

    if out.dtype == torch.bfloat16:
        relative = max(relative, 2**-7)
    found = 0.0
    for start in range(0, out.shape[0], 4096):
        want = reference(x[start : start + 4096]) if x is not None else reference(start)
        got = out[start : start + 4096].double()
        error = ((got - want).abs() / (absolute + relative * want.abs())).max().item()
        found = max(found, math.inf if math.isnan(error) else error)
    return found


def _add(x: Any) -> Problem:
    import torch

    y, out = torch.randn_like(x), torch.empty_like(x)
    n = x.numel()

    def error() -> float:
        return worst(out, None, lambda s: x[s : s + 4096].double() + y[s : s + 4096].double(), 1e-6, 1e-6)

    def launch(module: Any, warps: int) -> Any:
        return module.add[(-(-n // 1024),)](x, y, out, n, BLOCK=1024, num_warps=warps)

    return Problem(launch, lambda: torch.add(x, y, out=out), [out], error, 3 * x.nbytes, x)


def _softmax(x: Any) -> Problem:
    import torch

    out = torch.empty_like(x)
    rows, cols = x.shape

    def launch(module: Any, warps: int) -> Any:
        return module.softmax[(rows,)](x, out, x.stride(0), cols, BLOCK=cols, num_warps=warps)

    def error() -> float:
        return worst(out, x, lambda part: torch.softmax(part.double(), -1), 1e-8, 2e-5)

    return Problem(launch, lambda: torch.softmax(x, -1, out=out), [out], error, 2 * x.nbytes, x)


def _layernorm(x: Any) -> Problem:
    import torch
    from torch.nn.functional import layer_norm

    rows, cols = x.shape
    out, weight, bias = torch.empty_like(x), torch.randn_like(x[0]), torch.randn_like(x[0])

    def launch(module: Any, warps: int) -> Any:
        args = (x, weight, bias, out, x.stride(0), cols, EPS)
        return module.layernorm[(rows,)](*args, BLOCK=cols, num_warps=warps)

    def reference(part: Any) -> Any:
        return layer_norm(part.double(), (cols,), weight.double(), bias.double(), EPS)

    def error() -> float:
        return worst(out, x, reference, 2e-5, 2e-5)

    return Problem(launch, lambda: layer_norm(x, (cols,), weight, bias, EPS), [out], error, 2 * x.nbytes, x)


def _rmsnorm(x: Any) -> Problem:
    import torch
    from torch.nn.functional import rms_norm

    rows, cols = x.shape
    out, weight = torch.empty_like(x), torch.randn_like(x[0])

    def launch(module: Any, warps: int) -> Any:
        args = (x, weight, out, x.stride(0), cols, EPS)
        return module.rmsnorm[(rows,)](*args, BLOCK=cols, num_warps=warps)

    def error() -> float:
        return worst(out, x, lambda part: rms_norm(part.double(), (cols,), weight.double(), EPS), 2e-5, 2e-5)

    return Problem(launch, lambda: rms_norm(x, (cols,), weight, EPS), [out], error, 2 * x.nbytes, x)


def _rotary(x: Any) -> Problem:
    import torch

    rows, cols = x.shape
    out, heads = torch.empty_like(x), cols // (2 * HALF)
    angle = torch.arange(POSITIONS, device="cuda")[:, None] * 10000 ** -(
        torch.arange(HALF, device="cuda") / HALF
    )
    cos, sin = angle.cos(), angle.sin()

    def rotated(part: Any, c: Any, s: Any) -> Any:
        first, second = part.view(-1, POSITIONS, heads, 2, HALF).unbind(3)
        c, s = c[:, None], s[:, None]
        return torch.stack([first * c - second * s, second * c + first * s], 3).view(part.shape)

    def launch(module: Any, warps: int) -> Any:
        args = (x, cos, sin, out, x.stride(0), POSITIONS)
        return module.rotary[(rows,)](*args, HEADS=heads, HALF=HALF, num_warps=warps)

    def error() -> float:
        return worst(out, x, lambda part: rotated(part.double(), cos.double(), sin.double()), 2e-6, 2e-6)

    def peer() -> Any:
        return rotated(x, cos.to(x.dtype), sin.to(x.dtype))

    return Problem(launch, peer, [out], error, 2 * x.nbytes, x)


def _cross_entropy(x: Any) -> Problem:
    import torch
    from torch.nn.functional import cross_entropy

    rows, cols = x.shape
    labels = torch.randint(cols, (rows,), device="cuda")
    losses = torch.empty(rows, device="cuda")

    def launch(module: Any, warps: int) -> Any:
        return module.cross_entropy[(rows,)](
            x, labels, losses, x.stride(0), cols, BLOCK=cols, num_warps=warps
        )

    def reference(start: int) -> Any:
        part = slice(start, start + 4096)
        return cross_entropy(x[part].double(), labels[part], reduction="none")

    def error() -> float:
        return worst(losses, None, reference, 2e-5, 2e-6)

    return Problem(launch, lambda: cross_entropy(x, labels, reduction="none"), [losses], error, x.nbytes, x)


def _dropout(x: Any) -> Problem:
    import torch
    from torch.nn.functional import dropout

    n, out = x.numel(), torch.empty_like(x)

    def launch(module: Any, warps: int) -> Any:
        return module.dropout[(-(-n // 1024),)](x, out, n, P, 123, BLOCK=1024, num_warps=warps)

    def error() -> float:
        """Elements are doubled or zero; as many are kept as they should be, and not all of a run."""
        kept = out != 0
        wrong = worst(out, None, lambda s: torch.where(kept[s : s + 4096], x[s : s + 4096].double() / (1 - P), 0),
                      1e-6, 1e-6)  # fmt: skip
        share = kept.double().mean().item()
        changes = (kept[:, 1:] != kept[:, :-1]).double().mean().item()
        return max(wrong, abs(share - (1 - P)) / 1e-3, abs(changes - 2 * P * (1 - P)) / 1e-3)

    return Problem(launch, lambda: dropout(x, P), [out], error, 2 * x.nbytes, x)


def _transpose(x: Any) -> Problem:
    import torch

    rows, cols = x.shape
    out = torch.empty(cols, rows, device="cuda", dtype=x.dtype)

    def launch(module: Any, warps: int) -> Any:
        grid = (rows // 64, cols // 64)
        return module.transpose[grid](x, out, rows, cols, BLOCK_M=64, BLOCK_N=64, num_warps=warps)

    def error() -> float:
        return worst(out, x.t(), lambda part: part.double(), 1e-9, 0)

    return Problem(launch, lambda: out.copy_(x.t()), [out], error, 2 * x.nbytes, x)


def _cumsum(x: Any) -> Problem:
    import torch

    rows, cols = x.shape
    out = torch.empty_like(x)

    def launch(module: Any, warps: int) -> Any:
        return module.cumsum[(rows,)](x, out, x.stride(0), cols, BLOCK=cols, num_warps=warps)

    def error() -> float:
        return worst(out, x, lambda part: part.double().cumsum(-1), 1e-3, 1e-5)

    return Problem(launch, lambda: torch.cumsum(x, -1, out=out), [out], error, 2 * x.nbytes, x)


def _topk(x: Any) -> Problem:
    import torch

    rows, cols = x.shape
    out = torch.empty(rows, K, device="cuda")

    def launch(module: Any, warps: int) -> Any:
        return module.topk[(rows,)](x, out, x.stride(0), cols, K=K, BLOCK=cols, num_warps=warps)

    def error() -> float:
        return worst(out, x, lambda part: torch.topk(part, K, -1).values.double(), 1e-9, 0)

    return Problem(launch, lambda: torch.topk(x, K, -1), [out], error, x.nbytes, x)


# ---- measuring -----------------------------------------------------------------------------------


def peer_module(folder: Path) -> Any:
    """The kernels compiled by Triton; None where it is not installed."""
    if importlib.util.find_spec("triton") is None:
        return None
    path = folder / "memory_kernels_triton.py"
    path.write_text(KERNELS.read_text().replace("import tritium", "import triton"))
    return _module(path)


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def graph(way: Callable[[], Any], launches: int) -> Any:
    """`launches` calls of `way` as a CUDA graph."""
    import torch

    made = torch.cuda.CUDAGraph()
    with torch.cuda.graph(made):
        for _ in range(launches):
            way()
    return made


def in_turns(graphs: dict[str, Any], launches: int, rounds: int) -> dict[str, float]:
    """Median microseconds per launch of each, taking turns."""
    import torch

    found: dict[str, list[float]] = {name: [] for name in graphs}
    for _ in range(rounds):
        for name, each in graphs.items():
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            each.replay()
            end.record()
            end.synchronize()
            found[name].append(start.elapsed_time(end) / launches * 1e3)
    return {name: statistics.median(times) for name, times in found.items()}


def resources(handle: Any) -> dict[str, Any]:
    """Registers, spills and shared memory where the compiled kernel tells them."""
    found: dict[str, Any] = {}
    for name in ("n_regs", "n_spills"):
        value = getattr(handle, name, None)
        if isinstance(value, int):
            found[name] = value
    shared = getattr(getattr(handle, "metadata", None), "shared", None)
    return found | ({"shared": shared} if isinstance(shared, int) else {})


def candidates(case: Case, made: Problem, modules: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """Checked ways of both compilers by name; the errors of the others go into `row`."""
    import torch

    ways: dict[str, Callable[[], Any]] = {}
    for compiler, module in modules.items():
        for warps in case.warps:
            name = f"{compiler} {warps}"
            for out in made.outputs:
                out.fill_(math.nan)
            started = time.perf_counter()
            try:
                handle = made.launch(module, warps)
                torch.cuda.synchronize()
            except Exception as problem:
                row["failures"][name] = f"{type(problem).__name__}: {problem}"[:2000]
                if "CUDA error" in str(problem) or "illegal" in str(problem):
                    raise
                continue
            seconds = time.perf_counter() - started
            error = made.error()
            row["kernels"][name] = {"error": error, "first_s": round(seconds, 3), **resources(handle)}
            if error <= 1:
                ways[name] = lambda module=module, warps=warps: made.launch(module, warps)
            else:
                row["failures"][name] = f"wrong: {error} times the tolerance"
    return ways


def best_of(times: dict[str, float], compiler: str) -> str | None:
    mine = {name: t for name, t in times.items() if name.startswith(compiler + " ")}
    return min(mine, key=lambda name: mine[name]) if mine else None


def measure(case: Case, modules: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The row of one case."""
    import torch

    row: dict[str, Any] = {"case": str(case), "kernels": {}, "failures": {}}
    made = problem(case)
    ways = candidates(case, made, modules, row)
    target = torch.empty_like(made.input)
    pieces = list(zip(target.view(-1).split(PIECE), made.input.view(-1).split(PIECE), strict=True))
    others: dict[str, Callable[[], Any]] = {
        "torch": made.torch,
        "copy": lambda: [to.copy_(source) for to, source in pieces],
    }
    others["torch"]()
    others["copy"]()
    torch.cuda.synchronize()
    launches = max(4, min(20, int(2e9 / made.bytes)))
    graphs = {name: graph(way, launches) for name, way in {**ways, **others}.items()}
    in_turns(graphs, launches, 2)
    tuning = in_turns(graphs, launches, 5)
    row["tuning_us"] = {name: round(t, 2) for name, t in tuning.items()}
    chosen = {compiler: best_of(tuning, compiler) for compiler in modules}
    final = {key: graphs[key] for key in (*chosen.values(), *others) if key is not None}
    once = sum(tuning[name] for name in final) * launches * 1e-6
    times = in_turns(final, launches, max(5, min(60, int(seconds / once))))
    row["us"] = {name.split()[0]: round(t, 2) for name, t in times.items()}
    row["warps"] = {compiler: int(name.split()[1]) for compiler, name in chosen.items() if name is not None}
    row["GB/s"] = {name.split()[0]: round(made.bytes / t / 1e3) for name, t in times.items()}
    row["GB/s"]["copy"] = round(2 * made.input.nbytes / times["copy"] / 1e3)
    rivals = [t for name, t in row["us"].items() if name in ("triton", "torch")]
    if "tritium" in row["us"]:
        row["ratio"] = round(min(rivals) / row["us"]["tritium"], 3)
        row["of_copy"] = round(row["GB/s"]["tritium"] / row["GB/s"]["copy"], 3)
    return row


def line(row: dict[str, Any]) -> str:
    """A row as one line of text."""
    text = f"{row['case']:<32}"
    for name, speed in row.get("GB/s", {}).items():
        warps = row["warps"].get(name)
        text += f" {name}{f'/{warps}' if warps else ''} {speed}"
    text += f"  ratio {row.get('ratio')} of copy {row.get('of_copy')}"
    regs = [f"{name}: {k['n_regs']}r" for name, k in row["kernels"].items() if "n_regs" in k]
    spills = [f"{name} spills {k['n_spills']}" for name, k in row["kernels"].items() if k.get("n_spills")]
    text += "  [" + ", ".join([*regs, *spills]) + "]" if regs or spills else ""
    return text + "".join(f"\n    {name}: {why}" for name, why in row["failures"].items())


def child(numbers: list[int], seconds: float) -> None:
    """Measures the cases of these numbers; prints one JSON line for each. Stops after an error that the GPU keeps."""
    import torch

    with tempfile.TemporaryDirectory() as scratch:
        os.environ.setdefault("TRITIUM_CACHE_DIR", str(Path(scratch) / "tritium"))
        os.environ.setdefault("TRITON_CACHE_DIR", str(Path(scratch) / "triton"))
        modules = {"tritium": _module(KERNELS)}
        peer = peer_module(Path(scratch))
        if peer is not None:
            modules["triton"] = peer
        for number in numbers:
            try:
                row = measure(CASES[number], modules, seconds)
            except Exception:
                row = {
                    "case": str(CASES[number]),
                    "kernels": {},
                    "failures": {"case": traceback.format_exc()},
                }
            print(json.dumps({"number": number, **row}), flush=True)
            torch.cuda.synchronize()  # raises after an error that stays
            torch.cuda.empty_cache()


def supervise(numbers: list[int], seconds: float, deadline: float) -> list[dict[str, Any]]:
    """Rows of all cases, from as many child processes as it takes."""
    rows: list[dict[str, Any]] = []
    left = list(numbers)
    while left and time.monotonic() < deadline:
        wanted = ",".join(map(str, left))
        command = [sys.executable, __file__, "--child", wanted, "--seconds", str(seconds)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        started = len(rows)
        watch = _watch(process, deadline)
        for text in process.stdout:
            if not text.startswith("{"):
                continue
            watch.cancel()
            rows.append(json.loads(text))
            left.remove(rows[-1].pop("number"))
            print(line(rows[-1]), flush=True)
            watch = _watch(process, deadline)
        process.wait()
        watch.cancel()
        if left and len(rows) == started:
            rows.append(
                {"case": str(CASES[left.pop(0)]), "kernels": {}, "failures": {"case": "ended the process"}}
            )
            print(line(rows[-1]), flush=True)
    return rows


def _watch(process: subprocess.Popen[str], deadline: float) -> threading.Timer:
    timer = threading.Timer(max(1.0, min(CASE_SECONDS, deadline - time.monotonic())), process.kill)
    timer.daemon = True
    timer.start()
    return timer


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Geometric mean of the ratios, what stays under the marks, and what failed."""
    ratios = {r["case"]: r["ratio"] for r in rows if "ratio" in r}
    mean = math.exp(statistics.fmean(map(math.log, ratios.values()))) if ratios else None
    near = {r["case"]: r["of_copy"] for r in rows if "of_copy" in r and r["case"].split()[0] in STREAMING}
    return {
        "geometric_mean_ratio": mean and round(mean, 3),
        "below_0.97": {case: ratio for case, ratio in ratios.items() if ratio < 0.97},
        "streaming_below_0.95_of_copy": {case: part for case, part in near.items() if part < 0.95},
        "failures": [r["case"] for r in rows if r["failures"]],
    }


def versions() -> dict[str, Any]:
    """Device and versions."""
    import torch

    found = {"torch": torch.__version__, "device": torch.cuda.get_device_name(0)}
    for name in ("triton", "tritium"):
        if importlib.util.find_spec(name):
            found[name] = importlib.import_module(name).__version__
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("--only", default="", help="parts of cases' names, by commas")
    parser.add_argument("--seconds", type=float, default=0.15, help="of final timing per case")
    parser.add_argument("--limit", type=float, default=240.0, help="seconds in all")
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child([int(n) for n in options.child.split(",")], options.seconds)
        return
    deadline = time.monotonic() + options.limit
    parts = options.only.split(",")
    rows = supervise(
        [i for i, case in enumerate(CASES) if any(p in str(case) for p in parts)], options.seconds, deadline
    )
    result = {
        "date": time.strftime("%Y-%m-%d"),
        "versions": versions(),
        "summary": summary(rows),
        "rows": rows,
    }
    print(json.dumps(result["summary"], indent=2))
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
