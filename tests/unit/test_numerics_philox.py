"""Philox against the published test vectors of Random123, NumPy's own Philox, and values measured with Triton."""

import numpy as np
import pytest

from tritium.numerics import philox as ph

ONES_32, ONES_64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
VECTORS_32 = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES_32,) * 4, (ONES_32,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]
VECTORS_64 = [
    ((0, 0, 0, 0), (0, 0), (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B)),
    (
        (ONES_64,) * 4,
        (ONES_64,) * 2,
        (0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0),
    ),
    (
        (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89),
        (0x452821E638D01377, 0xBE5466CF34E90C6C),
        (0xA528F45403E61D95, 0x38C72DBD566E9788, 0xA5A1610E72FD18B5, 0x57BD43B5E52B7FE6),
    ),
]


@pytest.mark.parametrize("dtype, vectors", [(np.uint32, VECTORS_32), (np.uint64, VECTORS_64)])
def test_known_answers(dtype, vectors):
    for counter, key, want in vectors:
        got = ph.philox(*(np.array(v, dtype) for v in (*counter, *key)))
        assert tuple(int(word) for word in got) == want
        assert all(word.dtype == dtype and word.shape == () for word in got)
    columns = [np.array(column, dtype) for column in zip(*((*c, *k) for c, k, _ in vectors))]
    batch = ph.philox(*columns)
    assert [tuple(int(word[i]) for word in batch) for i in range(3)] == [want for _, _, want in vectors]


def test_numpy_generator_agrees():
    bits = np.random.Philox(counter=[4, 5, 6, 7], key=[11, 12]).random_raw(8)
    # NumPy advances the counter before it draws.
    first = ph.philox(*(np.uint64(v) for v in (5, 5, 6, 7)), np.uint64(11), np.uint64(12))
    second = ph.philox(*(np.uint64(v) for v in (6, 5, 6, 7)), np.uint64(11), np.uint64(12))
    assert [int(w) for w in (*first, *second)] == bits.tolist()


def test_rounds():
    def one(c, k):
        left, right = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        return (right >> 32) ^ c[1] ^ k[0], right & ONES_32, (left >> 32) ^ c[3] ^ k[1], left & ONES_32

    state, key = (1, 2, 3, 4), (5, 6)
    for rounds in range(1, 8):
        state = one(state, key)
        key = ((key[0] + 0x9E3779B9) & ONES_32, (key[1] + 0xBB67AE85) & ONES_32)
        got = ph.philox(*(np.uint32(v) for v in (1, 2, 3, 4, 5, 6)), n_rounds=rounds)
        assert tuple(int(w) for w in got) == state


def test_seed_and_offset_make_key_and_counter():
    want = ph.philox(*(np.uint32(v) for v in (7, 3, 0, 0, 9, 1)))
    got = ph.randint4x((1 << 32) + 9, np.array([(3 << 32) + 7], np.int64))
    assert [int(w[0]) for w in got] == [int(w) for w in want]
    low = ph.randint(np.int64(-1), np.array([-1], np.int32))
    assert low[0] == ph.philox(*(np.uint32(v) for v in (ONES_32, 0, 0, 0, ONES_32, ONES_32)))[0]
    assert ph.randint(-1, np.array([-1], np.int32)) == low
    high = ph.randint(0, np.array([-1], np.int64))
    assert high[0] == ph.philox(*(np.uint32(v) for v in (ONES_32, ONES_32, 0, 0, 0, 0)))[0]


def test_uniform_values_as_triton_gives_them():
    got = ph.rand(42, np.arange(4, dtype=np.int32))
    assert got.dtype == np.float32
    assert [f"{v:.8f}" for v in got] == ["0.77408016", "0.02456270", "0.34826630", "0.54080141"]


def test_uniform_range_at_the_extremes():
    x = np.array([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF], np.uint32)
    got = ph.uint_to_uniform_float(x)
    assert got[0] == 0 and got[4] == 0 and got[2] < 1 and got[3] < 1 and (got >= 0).all()
    wide = ph.uint_to_uniform_float(np.array([0, 2**63 - 1, 2**63, 2**64 - 1], np.uint64))
    assert (
        wide.dtype == np.float32
        and wide[0] == 0
        and 0.9999 < wide[1] < 1
        and 0.9999 < wide[2] < 1
        and wide[3] == 0
    )


def test_distributions():
    offset = np.arange(200_000, dtype=np.int64)
    u = np.stack(ph.rand4x(5, offset))
    assert abs(u.mean() - 0.5) < 2e-3 and abs(u.var() - 1 / 12) < 1e-3 and u.min() >= 0 and u.max() < 1
    assert np.abs(np.corrcoef(u)[~np.eye(4, dtype=bool)]).max() < 0.01
    z = np.stack(ph.randn4x(5, offset))
    assert z.dtype == np.float32 and np.isfinite(z).all()
    assert (
        abs(z.mean()) < 4e-3
        and abs(z.std() - 1) < 3e-3
        and abs((z**3).mean()) < 0.02
        and abs((z**4).mean() - 3) < 0.05
    )
    assert (ph.randn(5, offset) == z[0]).all()


def test_box_muller_by_hand():
    u1, u2 = np.array([0.0, 0.5, 1e-8], np.float32), np.array([0.25, 0.0, 0.5], np.float32)
    n1, n2 = ph.pair_uniform_to_normal(u1, u2)
    radius = np.sqrt(-2 * np.log(np.array([1e-7, 0.5, 1e-7])))
    assert np.allclose(n1, radius * np.cos(2 * np.pi * u2), atol=1e-6)
    assert np.allclose(n2, radius * np.sin(2 * np.pi * u2), atol=1e-6)


def test_shapes_and_blocks():
    offset = np.arange(40_000, dtype=np.int32).reshape(200, 200)
    whole = ph.randint4x(3, offset)
    assert all(w.shape == (200, 200) for w in whole)
    parts = ph.randint4x(3, offset[57:60])
    assert all((w[57:60] == p).all() for w, p in zip(whole, parts))
    seeds = np.arange(3, dtype=np.int64)[:, None]
    assert (ph.rand(seeds, offset[:1])[2] == ph.rand(2, offset[0])).all()
    assert ph.rand(0, np.zeros((0, 4), np.int32)).shape == (0, 4)
    assert ph.rand(0, np.int32(3)).shape == ()
    wide = ph.philox(*(np.arange(20_000, dtype=np.uint64) for _ in range(4)), np.uint64(1), np.uint64(2))
    one = ph.philox(*(np.uint64(19_999) for _ in range(4)), np.uint64(1), np.uint64(2))
    assert [int(w[-1]) for w in wide] == [int(w) for w in one]
