"""Descriptors, scaled products, scalar functions over tiles, tuples, loops over pointers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .memory import case, zeros
from .model import Array, ValueCase, array, blank

_RNG = np.random.default_rng(22)


def descriptors() -> list[ValueCase]:
    """Reads beyond the edge give zero, writes beyond it are dropped."""
    source = _RNG.integers(-20, 20, (10, 20)).astype(np.float32)
    read = np.zeros((8, 16), np.float32)
    read[:4, :8] = source[6:10, 12:20]
    written = np.zeros((10, 20), np.float32)
    written[6:10, 12:20] = read[:4, :8] * 2
    gathered = source[np.array([3, 0, 9, 1, 7, 7, 2, 5])][:, 4:20]
    return [
        case(
            "descriptor_edges",
            """
src = tl.make_tensor_descriptor(x, [10, 20], [20, 1], [8, 16])
dst = tl.make_tensor_descriptor(p, [10, 20], [20, 1], [8, 16])
v = src.load([6, 12])
tl.store(o + tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :], v)
dst.store([6, 12], v * 2)
""",
            {"x": array("fp32", source), "o": zeros("fp32", 8, 16), "p": zeros("fp32", 10, 20)},
            {"o": array("fp32", read), "p": array("fp32", written)},
        ),
        case(
            "descriptor_negative_offsets",
            """
src = tl.make_tensor_descriptor(x, [10, 20], [20, 1], [8, 16])
tl.store(o + tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :], src.load([-3, -4]))
""",
            {"x": array("fp32", source), "o": zeros("fp32", 8, 16)},
            {"o": array("fp32", np.pad(source[:5, :12], ((3, 0), (4, 0))))},
        ),
        case(
            "descriptor_atomic_add",
            """
dst = tl.make_tensor_descriptor(p, [10, 20], [20, 1], [8, 16])
dst.atomic_add([6, 12], tl.full((8, 16), 1.5, tl.float32))
""",
            {"p": array("fp32", source)},
            {"p": array("fp32", source + np.pad(np.full((4, 8), 1.5), ((6, 0), (12, 0))))},
            grid=(1,),
        ),
        case(
            "descriptor_gather",
            """
src = tl.make_tensor_descriptor(x, [10, 20], [20, 1], [1, 16])
rows = tl.load(r + tl.arange(0, 8))
tl.store(o + tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :], src.gather(rows, 4))
""",
            {
                "x": array("fp32", source),
                "r": array("int32", [3, 0, 9, 1, 7, 7, 2, 5]),
                "o": zeros("fp32", 8, 16),
            },
            {"o": array("fp32", gathered)},
        ),
    ]


_E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def scaled_products() -> list[ValueCase]:
    """Block scales are powers of two, one per 32 elements along K; two 4-bit numbers share a byte, low first."""
    m, n, k = 32, 32, 64
    scales = {name: _RNG.integers(125, 130, (rows, k // 32)) for name, rows in (("a", m), ("b", n))}
    wide = {name: np.repeat(2.0 ** (scale - 127.0), 32, axis=1) for name, scale in scales.items()}
    a8, b8 = _RNG.integers(-3, 4, (m, k)), _RNG.integers(-3, 4, (k, n))
    a4, b4 = _RNG.integers(0, 16, (m, k)), _RNG.integers(0, 16, (k, n))
    packed_a = a4[:, ::2] | a4[:, 1::2] << 4
    packed_b = b4[::2] | b4[1::2] << 4
    common = {"sa": array("uint8", scales["a"]), "sb": array("uint8", scales["b"])}
    eight = (a8 * wide["a"]) @ (b8 * wide["b"].T)
    four = (_E2M1[a4] * wide["a"]) @ (_E2M1[b4] * wide["b"].T)
    half = (_E2M1[a4] * wide["a"]) @ b8
    return [
        _scaled("e5m2", "e5m2", array("fp8e5", a8), array("fp8e5", b8), common, eight, k, k),
        _scaled("e4m3", "e4m3", array("fp8e4nv", a8), array("fp8e4nv", b8), common, eight, k, k),
        _scaled(
            "e2m1", "e2m1", array("uint8", packed_a), array("uint8", packed_b), common, four, k // 2, k // 2
        ),
        _scaled("e2m1", "bf16", array("uint8", packed_a), array("bf16", b8), common, half, k // 2, k),
    ]


def _scaled(
    lhs: str, rhs: str, a: Array, b: Array, scales: dict[str, Array], product: Any, ka: int, kb: int
) -> ValueCase:
    right_scale = "None" if rhs == "bf16" else "tl.load(sb + r * 2 + tl.arange(0, 2)[None, :])"
    body = f"""
r = tl.arange(0, 32)[:, None]
c = tl.arange(0, 32)[None, :]
x = tl.load(a + r * {ka} + tl.arange(0, {ka})[None, :])
y = tl.load(b + tl.arange(0, {kb})[:, None] * 32 + c)
left = tl.load(sa + r * 2 + tl.arange(0, 2)[None, :])
right = {right_scale}
tl.store(o + r * 32 + c, tl.dot_scaled(x, left, "{lhs}", y, right, "{rhs}"))
"""
    result = array("fp32", product)
    arguments = {"a": a, "b": b, **scales, "o": blank(result)}
    return case(f"dot_scaled_{lhs}_{rhs}", body, arguments, {"o": result})


def scalar_functions() -> list[ValueCase]:
    """Control flow per element."""
    source = """@triton.jit
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps

@triton.jit
def ordered(a, b):
    if a > b:
        return b, a
    else:
        return a, b

@triton.jit
def kernel(o, p, q):
    i = tl.arange(0, 16)
    tl.store(o + i, tl.map_elementwise(collatz, i + 1))
    lo, hi = tl.map_elementwise(ordered, i * 5 % 16, i)
    tl.store(p + i, lo)
    tl.store(q + i, hi)
"""
    index = np.arange(16)
    other = index * 5 % 16
    expected = {
        "o": array("int32", [_collatz(v) for v in range(1, 17)]),
        "p": array("int32", np.minimum(index, other)),
        "q": array("int32", np.maximum(index, other)),
    }
    return [ValueCase("map_elementwise", source, {k: blank(v) for k, v in expected.items()}, expected)]


def _collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
    return steps


def walks() -> list[ValueCase]:
    """Pointers, tuples and tiles carried through loops."""
    data = _RNG.integers(-9, 10, 64).astype(np.float32)
    rows = data.reshape(8, 8)
    running, largest = np.zeros(8), np.full(8, -np.inf)
    for row in rows:
        running, largest = running * 0.5 + row, np.maximum(largest, row)
    online = rows.astype(np.float64)
    return [
        case(
            "pointer_walk",
            """
i = tl.arange(0, 8)
ptr = x + i
total = tl.zeros((8,), tl.float32)
top = tl.full((8,), float("-inf"), tl.float32)
for _ in range(n):
    v = tl.load(ptr)
    total = total * 0.5 + v
    top = tl.maximum(top, v)
    ptr += 8
tl.store(o + i, total)
tl.store(o + 8 + i, top)
""",
            {"x": array("fp32", data), "o": zeros("fp32", 2, 8), "n": 8},
            {"o": array("fp32", [running, largest])},
        ),
        case(
            "online_softmax",
            """
i = tl.arange(0, 8)
m = tl.full((8,), float("-inf"), tl.float32)
s = tl.zeros((8,), tl.float32)
for k in range(0, 64, 8):
    v = tl.load(x + k + i)
    new = tl.maximum(m, v)
    s = s * tl.exp(m - new) + tl.exp(v - new)
    m = new
tl.store(o + i, m + tl.log(s))
""",
            {"x": array("fp32", data), "o": zeros("fp32", 8)},
            {"o": array("fp32", np.log(np.exp(online).sum(0)))},
            rtol=1e-5,
        ),
        case(
            "tuple_carried",
            """
pair = (0, 1)
for _ in range(n):
    pair = (pair[1], pair[0] + pair[1])
tl.store(o, pair[0])
tl.store(o + 1, pair[1])
""",
            {"o": zeros("int32", 2), "n": 12},
            {"o": array("int32", [144, 233])},
        ),
        case(
            "three_axes",
            """
i = tl.arange(0, 2)[:, None, None]
j = tl.arange(0, 4)[None, :, None]
k = tl.arange(0, 8)[None, None, :]
v = tl.load(x + i * 32 + j * 8 + k)
tl.store(o + tl.arange(0, 2)[:, None] * 8 + tl.arange(0, 8)[None, :], tl.sum(v, 1))
tl.store(p + i * 32 + j * 8 + k, tl.cumsum(v, 1))
tl.store(q + tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :], tl.max(v, 0))
""",
            {
                **{"x": array("fp32", data), "o": zeros("fp32", 2, 8), "p": zeros("fp32", 2, 4, 8)},
                "q": zeros("fp32", 4, 8),
            },
            {
                "o": array("fp32", data.reshape(2, 4, 8).sum(1)),
                "p": array("fp32", data.reshape(2, 4, 8).cumsum(1)),
                "q": array("fp32", data.reshape(2, 4, 8).max(0)),
            },
        ),
        case(
            "scalars_of_tiles",
            """
v = tl.load(x + tl.arange(0, 8))
t = tl.load(x + tl.arange(0, 1))
tl.store(o, t.item() + tl.sum(v))
tl.store(o + 1, tl.sum(v * tl.max(v, 0)))
tl.store(o + 2, tl.where(tl.sum(v) > 1000.0, 1.0, -1.0))
""",
            {"x": array("fp32", data), "o": zeros("fp32", 3)},
            {"o": array("fp32", [data[0] + data[:8].sum(), data[:8].sum() * data[:8].max(), -1.0])},
        ),
    ]


CASES = [*descriptors(), *scaled_products(), *scalar_functions(), *walks()]
