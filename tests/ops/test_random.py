"""Philox against Random123's vectors, NumPy's own Philox and numbers recorded from Triton."""

from __future__ import annotations

import numpy as np
import pytest

from ops.emulate import Kernel
from ops.random_values import RECORDED
from tritium.errors import CompilationError
from tritium.ir.types import DTYPES, float32, int8, int32, uint32, uint64
from tritium.ops.random import Philox

# Random123, kat_vectors: counter, key, words.
VECTORS = [
    (uint32, [0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    (uint32, [2**32 - 1] * 4, [2**32 - 1] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        uint32,
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
    (uint64, [0] * 4, [0] * 2, "16554d9eca36314c db20fe9d672d0fdc d7e772cee186176b 7e68b68aec7ba23b"),
    (
        uint64,
        [2**64 - 1] * 4,
        [2**64 - 1] * 2,
        "87b092c3013fe90b 438c3c67be8d0224 9cc7d7c69cd777b6 a09caebf594f0ba0",
    ),
]


@pytest.mark.parametrize(("ty", "counter", "key", "words"), VECTORS)
def test_known_answers(ty, counter, key, words):
    k = Kernel()
    args = [k.s.scalar(v, ty) for v in (*counter, *key)]
    out = k.tl("philox_impl", *args)
    assert [int(k.value(w)) for w in out] == [int(w, 16) for w in words.split()]
    assert out[0].dtype is ty


def test_words_agree_with_numpy():
    """NumPy's Philox is 4x64 with 10 rounds and steps its counter before the first block."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        counter = rng.integers(0, 2**63, 4, dtype=np.uint64)
        key = rng.integers(0, 2**63, 2, dtype=np.uint64)
        want = np.random.Philox(counter=counter, key=key).random_raw(4)
        k = Kernel()
        step = counter.copy()
        step[0] += np.uint64(1)
        out = k.tl("philox_impl", *(k.s.scalar(int(v), uint64) for v in (*step, *key)))
        assert [int(k.value(w)) for w in out] == want.tolist()


@pytest.mark.parametrize("case", RECORDED, ids=str)
def test_numbers_of_triton(case):
    name, seed = case
    recorded = RECORDED[case]
    k = Kernel()
    offsets = k.arg(recorded["offsets"], DTYPES[name])
    ty = "int32" if -(2**31) <= seed < 2**31 else "int64"
    runtime = k.arg(seed, ty)
    for label, function in (("words", "randint4x"), ("uniform", "rand4x")):
        want = np.array([int(recorded[label][i : i + 8], 16) for i in range(0, 256, 8)], np.uint32)
        for given in (seed, runtime):
            out = k.tl(function, given, offsets)
            assert all(t.dtype is (uint32 if label == "words" else float32) for t in out)
            assert [k.value(t).view(np.uint32).tolist() for t in out] == want.reshape(4, 8).tolist()
    first = k.tl("randint", seed, offsets)
    assert k.value(first).tolist() == [int(recorded["words"][i : i + 8], 16) for i in range(0, 64, 8)]


def test_uniform_numbers_are_below_one():
    k = Kernel()
    ends = k.arg([0, 2**31 - 1, 2**31, 2**32 - 1], uint32)
    out = k.value(k.tl("uint_to_uniform_float", ends))
    assert out.dtype == np.float32 and out.tolist()[0] == 0 and (out < 1).all() and (out >= 0).all()
    assert out[3] == 0 and out[1] == out[2]
    wide = k.value(
        k.tl("uint_to_uniform_float", k.arg(np.array([0, 2**63 - 1, 2**63, 2**64 - 1], np.uint64), uint64))
    )
    assert wide.dtype == np.float32 and (wide < 1).all() and wide[1] == wide[2] > 0.999


def test_rounds_and_seed_of_64_bits_matter():
    k = Kernel()
    offsets = k.arg([0, 1], int32)
    seven = k.value(k.tl("randint", 3, offsets, n_rounds=7))
    ten = k.value(k.tl("randint", 3, offsets))
    high = k.value(k.tl("randint", 3 + 2**32, offsets))
    assert len({seven.tobytes(), ten.tobytes(), high.tobytes()}) == 3
    assert sorted({op.rounds for op in k.function.find(Philox)}) == [7, 10]


def test_64_bit_counters():
    k = Kernel()
    c = [k.arg([v], DTYPES["int64"]) for v in (1, 2, 3, -1)]
    out = k.tl("philox", 9, *c)
    want = k.tl("philox_impl", *(k.s.scalar(v, uint64) for v in (1, 2, 3, 2**64 - 1, 9, 0)))
    assert [int(k.value(w)[0]) for w in out] == [int(k.value(w)) for w in want]
    scalars = k.tl("philox", 9, *(k.s.scalar(v, uint64) for v in (1, 2, 3, 4)))
    assert scalars[0].dims == (1,)  # as in Triton


def test_streams_broadcast_and_stay_short():
    k = Kernel()
    seeds = k.arg([1, 2, 3], int32, batch=1)
    offsets = k.arg(np.arange(5), int32)
    out = k.tl("rand", seeds, offsets)
    grid = k.array(out)
    for i, seed in enumerate((1, 2, 3)):
        alone = Kernel()
        np.testing.assert_array_equal(
            grid[i, 0, 0], alone.value(alone.tl("rand", seed, alone.arg(np.arange(5), int32)))
        )


@pytest.mark.parametrize(
    "build",
    [
        lambda k: k.tl("rand", 0.5, k.arg([0], int32)),
        lambda k: k.tl("randint", 1, k.arg([0.5], float32)),
        lambda k: k.tl("philox", 1, *[k.arg([1], int8)] * 4),
        lambda k: k.tl("philox", 1, k.arg([1], int32), *[k.arg([1], uint64)] * 3),
        lambda k: k.tl("philox_impl", *[k.arg([1], int32)] * 6),
        lambda k: k.tl("uint_to_uniform_float", k.arg([1], int8)),
        lambda k: k.tl("uint_to_uniform_float", 0.5),
    ],
)
def test_mistakes_are_located_errors(build):
    k = Kernel()
    with pytest.raises(CompilationError) as caught:
        build(k)
    assert caught.value.code == "TRI0624" and caught.value.loc is not None


@pytest.mark.parametrize("case", RECORDED, ids=str)
def test_normal_numbers_of_triton(case):
    """The same transform; logarithm, square root, sine and cosine may differ in the last place."""
    name, seed = case
    recorded = RECORDED[case]
    k = Kernel()
    out = k.tl("randn4x", seed, k.arg(recorded["offsets"], DTYPES[name]))
    bits = np.array([int(recorded["normal"][i : i + 8], 16) for i in range(0, 256, 8)], np.uint32)
    want = bits.view(np.float32).reshape(4, 8)
    for got, expected in zip(out, want, strict=True):
        assert got.dtype is float32
        np.testing.assert_allclose(k.value(got), expected, rtol=1e-6, atol=1e-7)
    first = k.tl("randn", seed, k.arg(recorded["offsets"], DTYPES[name]))
    np.testing.assert_array_equal(k.value(first), k.value(out[0]))


def test_normal_numbers_at_the_lowest_uniform():
    k = Kernel()
    a, b = k.tl("pair_uniform_to_normal", k.arg([0.0, 0.5], float32), k.arg([0.0, 0.25], float32))
    radius = np.sqrt(-2 * np.log(np.array([1e-7, 0.5])))
    np.testing.assert_allclose(k.value(a), radius * [1, 0], atol=1e-6)
    np.testing.assert_allclose(k.value(b), radius * [0, 1], atol=1e-6)
