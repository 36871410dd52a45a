"""Counter-based random numbers: dropout, raw words, and the moments of a normal sample."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import normals, placed, poisoned
from .philox import normal_pair, philox, uniform
from .protocol import Args, Case, Launch
from .rounding import narrow


@triton.jit
def dropout(x_ptr, out_ptr, n, drop, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    keep = tl.rand(seed, at) >= drop
    tl.store(out_ptr + at, tl.where(keep, x / (1.0 - drop), 0.0), mask=at < n)


@triton.jit
def random_words(word_ptr, four_ptr, uniform_ptr, n, seed, start, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counter = start + at
    tl.store(word_ptr + at, tl.randint(seed, counter), mask=at < n)
    a, b, c, d = tl.randint4x(seed, counter)
    tl.store(four_ptr + at * 4 + 0, a, mask=at < n)
    tl.store(four_ptr + at * 4 + 1, b, mask=at < n)
    tl.store(four_ptr + at * 4 + 2, c, mask=at < n)
    tl.store(four_ptr + at * 4 + 3, d, mask=at < n)
    tl.store(uniform_ptr + at, tl.rand(seed, counter), mask=at < n)


@triton.jit
def normal_sample(out_ptr, n, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.randn(seed, at), mask=at < n)


def _dropout(n: int, drop: float, seed: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, n, np.float32))
        args = {"x_ptr": x, "out_ptr": poisoned(n, x.dtype), "n": n, "drop": drop, "seed": seed}
        return Launch(args, (triton.cdiv(n, 128),))

    return make


def _dropout_reference(args: Args) -> dict[str, np.ndarray]:
    drop = np.float32(args["drop"])
    keep = uniform(philox(args["seed"], np.arange(args["n"], dtype=np.int32))[0]) >= drop
    kept = args["x_ptr"].astype(np.float64) / np.float64(np.float32(1) - drop)
    return {"out_ptr": np.where(keep, narrow(kept, np.float32), np.float32(0))}


def _words(n: int, seed: int, start: int):
    def make(rng: np.random.Generator) -> Launch:
        outputs = {"word_ptr": poisoned(n, np.uint32), "four_ptr": poisoned((n, 4), np.uint32)}
        args = {**outputs, "uniform_ptr": poisoned(n, np.float32), "n": n, "seed": seed, "start": start}
        return Launch(args, (triton.cdiv(n, 32),))

    return make


def _words_reference(args: Args) -> dict[str, np.ndarray]:
    kind = np.int32 if args["start"] < 2**31 else np.int64
    four = philox(args["seed"], (args["start"] + np.arange(args["n"], dtype=np.int64)).astype(kind))
    return {"word_ptr": four[0], "four_ptr": np.stack(four, axis=1), "uniform_ptr": uniform(four[0])}


def _normals(n: int, seed: int):
    def make(rng: np.random.Generator) -> Launch:
        return Launch({"out_ptr": poisoned(n, np.float32), "n": n, "seed": seed}, (triton.cdiv(n, 256),))

    return make


def _normals_reference(args: Args) -> dict[str, np.ndarray]:
    words = philox(args["seed"], np.arange(args["n"], dtype=np.int32))
    return {"out_ptr": narrow(normal_pair(words[0], words[1])[0], np.float32)}


def _has_unit_moments(before: Args, after: Args) -> None:
    sample = after["out_ptr"].astype(np.float64)
    margin = 4 / np.sqrt(sample.size)
    assert abs(sample.mean()) < margin, sample.mean()
    assert abs(sample.std() - 1) < margin, sample.std()
    assert abs((sample**3).mean()) < 4 * margin, (sample**3).mean()


RANDOM = frozenset({"random"})
CASES = [
    Case(
        f"random_numbers/dropout/{n}-{drop}",
        dropout,
        _dropout(n, drop, seed),
        _dropout_reference,
        rtol=1e-6,
        constexprs={"BLOCK": 128},
        tags=RANDOM,
    )
    for n, drop, seed in ((1, 0.5, 1), (24, 0.0, 7), (1009, 0.3, 123456789), (40, 0.9, 2**40 + 5))
]
CASES += [
    Case(
        f"random_numbers/random_words/seed{seed}-start{start}",
        random_words,
        _words(n, seed, start),
        _words_reference,
        constexprs={"BLOCK": 32},
        tags=RANDOM,
    )
    for n, seed, start in (
        (1, 0, 0),
        (97, 42, 0),
        (40, 2**31 - 1, 10**6),
        (24, 2**35 + 77, 5),
        (33, 3, 2**33),
    )
]
CASES += [
    Case(
        f"random_numbers/normal_sample/{n}",
        normal_sample,
        _normals(n, seed),
        _normals_reference,
        rtol=1e-5,
        atol=5e-6,
        constexprs={"BLOCK": 256},
        tags=RANDOM | ({"large"} if n > 10_000 else set()),
        check=_has_unit_moments if n > 1000 else None,
    )
    for n, seed in ((1, 3), (40, 4), (4001, 10), (100_003, 11))
]
