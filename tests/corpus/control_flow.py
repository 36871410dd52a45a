"""Loops, branches and early returns whose trip counts and directions depend on data."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import any_values, integers, normals, placed, poisoned
from .protocol import Args, Case, Launch
from .rounding import narrow, tolerance, wide


@triton.jit
def bit_length(x_ptr, out_ptr):
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    count = 0
    while x > 0:
        x = x // 2
        count += 1
    tl.store(out_ptr + pid, count)


@triton.jit
def lower_bound(sorted_ptr, wanted_ptr, out_ptr, n):
    pid = tl.program_id(0)
    wanted = tl.load(wanted_ptr + pid)
    low = n * 0
    high = n
    while low < high:
        middle = (low + high) // 2
        if tl.load(sorted_ptr + middle) < wanted:
            low = middle + 1
        else:
            high = middle
    tl.store(out_ptr + pid, low)


@triton.jit
def early_return(x_ptr, out_ptr, n):
    pid = tl.program_id(0)
    if pid >= n:
        return
    x = tl.load(x_ptr + pid)
    if x < 0:
        tl.store(out_ptr + pid, -1)
        return
    tl.store(out_ptr + pid, x * 2)


@triton.jit
def triangle_sums(x_ptr, out_ptr, n):
    pid = tl.program_id(0)
    total = 0
    for i in range(pid, n):
        inner = 0
        for j in range(0, i + 1, 2):
            inner += tl.load(x_ptr + i * n + j)
        if i % 3 == 0:
            total += inner
        else:
            total -= inner
    tl.store(out_ptr + pid, total)


@triton.jit
def divergent_branches(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    if pid % 4 == 0:
        y = x + 1.0
    elif pid % 4 == 1:
        y = x * 2.0
        if tl.sum(x, axis=0) > 0:
            y = -x
    elif pid % 4 == 2:
        y = x
        for _ in range(pid):
            y = y * 0.5 + 1.0
    else:
        y = tl.where(x > 0, x, 0.0)
    tl.store(out_ptr + at, y, mask=at < n)


@triton.jit
def convolution(x_ptr, taps_ptr, out_ptr, n, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for tap in tl.static_range(TAPS):
        source = at + tap - TAPS // 2
        x = tl.load(x_ptr + source, mask=(source >= 0) & (source < n), other=0.0)
        total += x * tl.load(taps_ptr + tap)
        if tap == TAPS - 1:
            total += 0.25
    tl.store(out_ptr + at, total, mask=at < n)


@triton.jit
def fibonacci(out_ptr, n):
    a = tl.full((), 0, tl.int64)
    b = tl.full((), 1, tl.int64)
    for i in range(n):
        tl.store(out_ptr + i, a)
        a, b = b, a + b


@triton.jit
def walking_pointers(x_ptr, out_ptr, steps, stride, BLOCK: tl.constexpr):
    source = x_ptr + tl.arange(0, BLOCK)
    target = out_ptr
    for _ in range(steps):
        tl.store(target, tl.max(tl.load(source), axis=0))
        source += stride
        target += 1


@triton.jit
def backwards(x_ptr, out_ptr, n):
    total = 0
    for i in range(n - 1, -1, -1):
        total = total * 3 + tl.load(x_ptr + i)
        tl.store(out_ptr + i, total)


@triton.jit
def newton_square_root(x_ptr, out_ptr, steps_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    guess = x * 0.5 + 0.5
    gap = tl.max(tl.abs(guess * guess - x), axis=0)
    steps = 0
    while (gap > 1e-3) & (steps < 50):
        guess = 0.5 * (guess + x / guess)
        gap = tl.max(tl.abs(guess * guess - x), axis=0)
        steps += 1
    tl.store(out_ptr + at, guess)
    tl.store(steps_ptr + tl.program_id(0), steps)


@triton.jit
def conditional_values(x_ptr, out_ptr, n, BLOCK: tl.constexpr, NEGATE: tl.constexpr, BIAS):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    sign = -1.0 if NEGATE else 1.0
    if BIAS is not None:
        x += tl.load(BIAS + at, mask=at < n, other=0.0)
    step = 3 if tl.program_id(0) > 0 else 5
    tl.store(out_ptr + at, x * sign + step, mask=at < n)


def _values(rng: np.random.Generator, n: int, low: int, high: int) -> np.ndarray:
    return placed(integers(rng, n, np.int32, low, high))


def _bits(rng: np.random.Generator) -> Launch:
    x = placed(np.array([0, 1, 2, 3, 4, 255, 256, 2**31 - 1, -1, -(2**31)], np.int32))
    return Launch({"x_ptr": x, "out_ptr": poisoned(x.shape, np.int32)}, x.shape)


def _bits_reference(args: Args) -> dict[str, np.ndarray]:
    return {"out_ptr": np.array([max(0, int(x)).bit_length() for x in args["x_ptr"]], np.int32)}


def _search(n: int, queries: int):
    def make(rng: np.random.Generator) -> Launch:
        ordered = placed(np.sort(integers(rng, n, np.int32, -50, 50)))
        wanted = _values(rng, queries, -60, 60)
        args = {"sorted_ptr": ordered, "wanted_ptr": wanted, "out_ptr": poisoned(queries, np.int32), "n": n}
        return Launch(args, (queries,))

    return make


def _found(args: Args) -> dict[str, np.ndarray]:
    return {"out_ptr": np.searchsorted(args["sorted_ptr"], args["wanted_ptr"]).astype(np.int32)}


def _guarded(n: int, programs: int):
    def make(rng: np.random.Generator) -> Launch:
        return Launch(
            {"x_ptr": _values(rng, n, -9, 9), "out_ptr": poisoned(programs, np.int32), "n": n}, (programs,)
        )

    return make


def _guarded_reference(args: Args) -> dict[str, np.ndarray]:
    out, x = args["out_ptr"], args["x_ptr"]
    out[: len(x)] = np.where(x < 0, -1, x * 2)
    return {"out_ptr": out}


def _triangle(n: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(integers(rng, (n, n), np.int32, -100, 100))
        return Launch({"x_ptr": x, "out_ptr": poisoned(n + 2, np.int32), "n": n}, (n + 2,))

    return make


def _triangle_reference(args: Args) -> dict[str, np.ndarray]:
    x, n = args["x_ptr"], args["n"]
    rows = np.array([x[i, : i + 1 : 2].sum() * (1 if i % 3 == 0 else -1) for i in range(n)] + [0, 0])
    return {"out_ptr": np.array([rows[p:].sum() for p in range(n + 2)], np.int32)}


def _divergent(n: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, n, np.float32))
        return Launch({"x_ptr": x, "out_ptr": poisoned(n, x.dtype), "n": n}, (triton.cdiv(n, 16),))

    return make


def _divergent_reference(args: Args) -> dict[str, np.ndarray]:
    x, out = wide(args["x_ptr"]), np.empty(args["n"])
    for pid in range(triton.cdiv(args["n"], 16)):
        block = x[pid * 16 : pid * 16 + 16]
        if pid % 4 == 2:
            for _ in range(pid):
                block = block * 0.5 + 1
        choices = [block + 1, -block if block.sum() > 0 else block * 2, block, np.maximum(block, 0)]
        out[pid * 16 : pid * 16 + 16] = choices[pid % 4]
    return {"out_ptr": narrow(out, np.float32)}


def _convolution(n: int, taps: int):
    def make(rng: np.random.Generator) -> Launch:
        x, w = placed(normals(rng, n, np.float32)), placed(normals(rng, taps, np.float32))
        return Launch(
            {"x_ptr": x, "taps_ptr": w, "out_ptr": poisoned(n, x.dtype), "n": n}, (triton.cdiv(n, 32),)
        )

    return make


def _convolution_reference(args: Args) -> dict[str, np.ndarray]:
    half, taps = args["TAPS"] // 2, args["TAPS"]
    x = np.pad(wide(args["x_ptr"]), (half, taps - 1 - half))
    total = sum(x[t : t + args["n"]] * wide(args["taps_ptr"])[t] for t in range(taps)) + 0.25
    return {"out_ptr": narrow(total, np.float32)}


def _fibonacci_reference(args: Args) -> dict[str, np.ndarray]:
    values = [0, 1]
    while len(values) < args["n"]:
        values.append(values[-1] + values[-2])
    return {"out_ptr": np.array(values[: args["n"]], np.int64)}


def _walk(steps: int, stride: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(any_values(rng, stride * steps + 32, np.int32))
        return Launch({"x_ptr": x, "out_ptr": poisoned(steps, x.dtype), "steps": steps, "stride": stride})

    return make


def _walk_reference(args: Args) -> dict[str, np.ndarray]:
    x, stride = args["x_ptr"], args["stride"]
    rows = [x[s * stride : s * stride + args["BLOCK"]].max() for s in range(args["steps"])]
    return {"out_ptr": np.array(rows, x.dtype)}


def _horner(n: int):
    def make(rng: np.random.Generator) -> Launch:
        return Launch({"x_ptr": _values(rng, n, -4, 4), "out_ptr": poisoned(n, np.int32), "n": n})

    return make


def _horner_reference(args: Args) -> dict[str, np.ndarray]:
    out, total = args["out_ptr"], 0
    for i in reversed(range(args["n"])):
        total = total * 3 + int(args["x_ptr"][i])
        out[i] = total
    return {"out_ptr": out}


def _roots(rng: np.random.Generator) -> Launch:
    x = placed(
        np.concatenate([np.full(8, 1.0), rng.uniform(0.5, 4, 8), rng.uniform(1, 900, 8)]).astype(np.float32)
    )
    return Launch({"x_ptr": x, "out_ptr": poisoned(24, x.dtype), "steps_ptr": poisoned(3, np.int32)}, (3,))


def _roots_reference(args: Args) -> dict[str, np.ndarray]:
    out, steps = np.empty(24), np.zeros(3, np.int32)
    for block in range(3):
        x = wide(args["x_ptr"])[block * 8 : block * 8 + 8]
        guess = x * 0.5 + 0.5
        while np.abs(guess * guess - x).max() > 1e-3:
            guess = 0.5 * (guess + x / guess)
            steps[block] += 1
        out[block * 8 : block * 8 + 8] = guess
    return {"out_ptr": narrow(out, np.float32), "steps_ptr": steps}


def _conditional(n: int, biased: bool):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, n, np.float32))
        bias = placed(normals(rng, n, np.float32)) if biased else None
        return Launch(
            {"x_ptr": x, "out_ptr": poisoned(n, x.dtype), "n": n, "BIAS": bias}, (triton.cdiv(n, 16),)
        )

    return make


def _conditional_reference(args: Args) -> dict[str, np.ndarray]:
    x = wide(args["x_ptr"]) + (0 if args["BIAS"] is None else wide(args["BIAS"]))
    step = np.where(np.arange(args["n"]) < 16, 5, 3)
    return {"out_ptr": narrow(x * (-1 if args["NEGATE"] else 1) + step, np.float32)}


def _case(kernel, label: object, make, reference, constexprs=None, **bounds: float) -> Case:
    name = f"control_flow/{kernel.__name__}/{label}"
    return Case(name, kernel, make, reference, **bounds, constexprs=constexprs or {})


CASES = [_case(bit_length, "edges", _bits, _bits_reference)]
CASES += [_case(lower_bound, f"{n}-{q}", _search(n, q), _found) for n, q in ((1, 1), (24, 7), (97, 40))]
CASES += [
    _case(early_return, f"{n}-{p}", _guarded(n, p), _guarded_reference)
    for n, p in ((1, 1), (5, 24), (40, 41))
]
CASES += [_case(triangle_sums, n, _triangle(n), _triangle_reference) for n in (1, 7, 24)]
CASES += [
    _case(
        divergent_branches,
        n,
        _divergent(n),
        _divergent_reference,
        {"BLOCK": 16},
        **tolerance(np.float32, 8, 2),
    )
    for n in (1, 40, 131)
]
CASES += [
    _case(
        convolution,
        f"{n}-{taps}",
        _convolution(n, taps),
        _convolution_reference,
        {"TAPS": taps, "BLOCK": 32},
        **tolerance(np.float32, taps),
    )
    for n, taps in ((1, 1), (24, 3), (97, 8))
]
CASES += [
    _case(
        fibonacci,
        n,
        lambda rng, n=n: Launch({"out_ptr": poisoned(n, np.int64), "n": n}),
        _fibonacci_reference,
    )
    for n in (1, 2, 80)
]
CASES += [
    _case(walking_pointers, f"{steps}-{stride}", _walk(steps, stride), _walk_reference, {"BLOCK": 32})
    for steps, stride in ((1, 1), (7, 24), (40, 3))
]
CASES += [_case(backwards, n, _horner(n), _horner_reference) for n in (1, 2, 17)]
CASES += [_case(newton_square_root, "blocks", _roots, _roots_reference, {"BLOCK": 8}, rtol=1e-5)]
CASES += [
    _case(
        conditional_values,
        f"{n}-{'negated' if negate else 'plain'}-{'biased' if biased else 'none'}",
        _conditional(n, biased),
        _conditional_reference,
        {"BLOCK": 16, "NEGATE": negate},
        **tolerance(np.float32, 3, 8),
    )
    for n, negate, biased in ((1, False, False), (24, True, True), (40, False, True), (33, True, False))
]
