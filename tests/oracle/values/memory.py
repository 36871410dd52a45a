"""Loads, stores, pointers, block pointers and atomics."""

from __future__ import annotations

from typing import Any

import numpy as np

from .model import Array, ValueCase, array

X = array("fp32", np.arange(16) + 0.5)
NAN = float("nan")


def case(
    name: str, body: str, arguments: dict[str, Any], expected: dict[str, Array], **options: Any
) -> ValueCase:
    """A kernel with the given parameters and body."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    constants = ", ".join(f"{name}: tl.constexpr" for name in options.get("constexprs", {}))
    parameters = ", ".join([*arguments, *filter(None, [constants])])
    return ValueCase(
        name, f"@triton.jit\ndef kernel({parameters}):\n{lines}\n", arguments, expected, **options
    )


def zeros(dtype: str, *shape: int) -> Array:
    """An output before the kernel ran."""
    return array(dtype, np.zeros(shape))


def loads() -> list[ValueCase]:
    """Masks, `other`, strides, offsets of every integer kind."""
    half = array("fp16", np.arange(8) + 0.5)
    flags = array("int1", [True, False, True, True, False, False, True, False])
    return [
        case(
            "masked_load",
            """
i = tl.arange(0, 8)
tl.store(o + i, tl.load(x + i, mask=i < n, other=-1.0))
tl.store(p + i, tl.load(x + i * 2, mask=(i % 2 == 0) & (i < 7), other=i))
""",
            {"x": X, "o": zeros("fp32", 8), "p": zeros("fp32", 8), "n": 5},
            {
                "o": array("fp32", [0.5, 1.5, 2.5, 3.5, 4.5, -1, -1, -1]),
                "p": array("fp32", [0.5, 1, 4.5, 3, 8.5, 5, 12.5, 7]),
            },
        ),
        case(
            "other_is_converted",
            """
i = tl.arange(0, 8)
tl.store(o + i, tl.load(h + i, mask=i < 4, other=1.1))
tl.store(p + i, tl.load(k + i, mask=i < 4, other=2.75))
tl.store(q + i, tl.load(b + i, mask=i < 4, other=300))
""",
            {
                **{"h": half, "k": array("int32", np.arange(8)), "b": array("int8", np.arange(8))},
                **{"o": zeros("fp16", 8), "p": zeros("int32", 8), "q": zeros("int8", 8)},
            },
            {
                "o": array("fp16", [0.5, 1.5, 2.5, 3.5, 1.1, 1.1, 1.1, 1.1]),
                "p": array("int32", [0, 1, 2, 3, 2, 2, 2, 2]),
                "q": array("int8", [0, 1, 2, 3, 44, 44, 44, 44]),
            },
        ),
        case(
            "strided_and_reversed",
            """
i = tl.arange(0, 4)
j = tl.arange(0, 4)
tl.store(o + i, tl.load(x + 15 - i * 3))
tl.store(p + i[:, None] * 4 + j[None, :], tl.load(x + j[:, None] + i[None, :] * 4))
tl.store(q + i, tl.load(x + 8 + -i))
""",
            {"x": X, "o": zeros("fp32", 4), "p": zeros("fp32", 4, 4), "q": zeros("fp32", 4)},
            {
                "o": array("fp32", [15.5, 12.5, 9.5, 6.5]),
                "p": array("fp32", X.numpy().reshape(4, 4).T),
                "q": array("fp32", [8.5, 7.5, 6.5, 5.5]),
            },
        ),
        case(
            "offsets_of_every_kind",
            """
i = tl.arange(0, 4)
tl.store(o + i, tl.load(x + 8 + (i - 3).to(tl.int8)))
tl.store(p + i, tl.load(x + (i + 200).to(tl.uint8) - 195))
tl.store(q + i, tl.load(x - 2 + (i + 2).to(tl.int64)))
tl.store(r + i, tl.load(big + (i + 250).to(tl.uint8)))
""",
            {
                **{
                    "x": X,
                    "big": array("fp32", np.arange(256)),
                    "o": zeros("fp32", 4),
                    "p": zeros("fp32", 4),
                },
                **{"q": zeros("fp32", 4), "r": zeros("fp32", 4)},
            },
            {
                "o": array("fp32", [5.5, 6.5, 7.5, 8.5]),
                "p": array("fp32", [5.5, 6.5, 7.5, 8.5]),
                "q": array("fp32", [0.5, 1.5, 2.5, 3.5]),
                "r": array("fp32", [250, 251, 252, 253]),
            },
        ),
        case(
            "bool_memory",
            """
i = tl.arange(0, 8)
b = tl.load(f + i)
tl.store(o + i, ~b)
tl.store(p + i, tl.where(b, 1, 2))
tl.store(q + i, b + 1)
""",
            {"f": flags, "o": zeros("int1", 8), "p": zeros("int32", 8), "q": zeros("int32", 8)},
            {
                "o": array("int1", [not v for v in flags.data]),
                "p": array("int32", [1 if v else 2 for v in flags.data]),
                "q": array("int32", [int(v) + 1 for v in flags.data]),
            },
        ),
    ]


def stores() -> list[ValueCase]:
    """Masked stores leave the rest alone."""
    return [
        case(
            "masked_store",
            """
i = tl.arange(0, 8)
tl.store(o + i, i * 1.0, mask=i % 3 == 0)
tl.store(p + i, 7.0, mask=n > 3)
tl.store(q + i, 7.0, mask=n > 30)
tl.store(r, n)
""",
            {**{k: array("fp32", np.full(8, -5.0)) for k in "opq"}, "r": zeros("fp32", 1), "n": 5},
            {
                "o": array("fp32", [0, -5, -5, 3, -5, -5, 6, -5]),
                "p": array("fp32", [7] * 8),
                "q": array("fp32", [-5] * 8),
                "r": array("fp32", [5]),
            },
        ),
        case(
            "store_broadcasts",
            """
i = tl.arange(0, 4)[:, None]
j = tl.arange(0, 8)[None, :]
tl.store(o + i * 8 + j, i * 1.0)
tl.store(p + i * 8 + j, 2.5, mask=j < 3)
""",
            {"o": zeros("fp32", 4, 8), "p": zeros("fp32", 4, 8)},
            {
                "o": array("fp32", np.broadcast_to(np.arange(4.0)[:, None], (4, 8))),
                "p": array("fp32", np.broadcast_to(np.where(np.arange(8) < 3, 2.5, 0), (4, 8))),
            },
        ),
    ]


def block_pointers() -> list[ValueCase]:
    """Only the checked axes are masked; padding is zero or NaN."""
    grid = np.arange(30.0).reshape(5, 6)
    padded = np.zeros((4, 8))
    padded[:2, :3] = grid[3:5, 3:6]
    nan = np.where(np.pad(np.ones((2, 3)), ((0, 2), (0, 5))) > 0, padded, NAN)
    stored = np.zeros((5, 6))
    stored[3:5, 4:6] = [[0, 1], [8, 9]]
    return [
        case(
            "block_pointer_edges",
            """
i = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
b = tl.make_block_ptr(x, (5, 6), (6, 1), (3, 3), (4, 8), (1, 0))
tl.store(o + i, tl.load(b, boundary_check=(0, 1), padding_option="zero"))
tl.store(p + i, tl.load(b, boundary_check=(0, 1), padding_option="nan"))
c = tl.make_block_ptr(q, (5, 6), (6, 1), (0, 0), (4, 8), (1, 0))
c = tl.advance(c, (3, 4))
tl.store(c, i * 1.0, boundary_check=(0, 1))
""",
            {
                "x": array("fp32", grid),
                "o": zeros("fp32", 4, 8),
                "p": zeros("fp32", 4, 8),
                "q": zeros("fp32", 5, 6),
            },
            {"o": array("fp32", padded), "p": array("fp32", nan), "q": array("fp32", stored)},
        ),
        case(
            "block_pointer_walk",
            """
b = tl.make_block_ptr(x, (4, 16), (16, 1), (0, 0), (4, 4), (1, 0))
acc = tl.zeros((4, 4), tl.float32)
for step in range(0, 16, 4):
    acc += tl.load(b)
    b = tl.advance(b, (0, 4))
tl.store(o + tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :], acc)
""",
            {"x": array("fp32", np.arange(64.0)), "o": zeros("fp32", 4, 4)},
            {"o": array("fp32", np.arange(64.0).reshape(4, 4, 4).sum(1))},
        ),
        case(
            "block_pointer_transposed",
            """
b = tl.make_block_ptr(x, (4, 8), (1, 4), (0, 0), (4, 8), (0, 1))
tl.store(o + tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :], tl.load(b))
""",
            {"x": array("fp32", np.arange(32.0)), "o": zeros("fp32", 4, 8)},
            {"o": array("fp32", np.arange(32.0).reshape(8, 4).T)},
        ),
    ]


def atomics() -> list[ValueCase]:
    """Old values at distinct addresses, totals at shared ones."""
    base = np.array([5, -3, 7, 0, 100, -100, 2, 9])
    value = np.array([3, -8, 7, 1, -1, 5, 6, 12])
    floats, updates = np.array([1.5, -2.0, 0.0, 3.0]), np.array([-1.0, -3.0, 2.5, 3.5])
    integer = {
        "add": base + value,
        "max": np.maximum(base, value),
        "min": np.minimum(base, value),
        "and": base & value,
        "or": base | value,
        "xor": base ^ value,
        "xchg": value,
    }
    cases = [
        case(
            f"atomic_{op}",
            f"""
i = tl.arange(0, 8)
tl.store(o + i, tl.atomic_{op}(x + i, tl.load(v + i)))
""",
            {"x": array("int32", base), "v": array("int32", value), "o": zeros("int32", 8)},
            {"x": array("int32", after), "o": array("int32", base)},
        )
        for op, after in integer.items()
    ]
    cases += [
        case(
            f"atomic_{op}_float",
            f"""
i = tl.arange(0, 4)
tl.store(o + i, tl.atomic_{op}(x + i, tl.load(v + i)))
""",
            {"x": array("fp32", floats), "v": array("fp32", updates), "o": zeros("fp32", 4)},
            {"x": array("fp32", after), "o": array("fp32", floats)},
        )
        for op, after in (
            ("add", floats + updates),
            ("max", np.maximum(floats, updates)),
            ("min", np.minimum(floats, updates)),
            ("xchg", updates),
        )
    ]
    cases += [
        case(
            "atomic_add_at_shared_addresses",
            """
i = tl.arange(0, 64)
tl.atomic_add(x + i % 4, i)
tl.atomic_add(y, 1.0)
tl.atomic_add(z + i % 2, 1, mask=i < n)
""",
            {"x": zeros("int32", 4), "y": zeros("fp32", 1), "z": zeros("int32", 2), "n": 33},
            {
                "x": array("int32", [6 * sum(range(k, 64, 4)) for k in range(4)]),
                "y": array("fp32", [6.0]),
                "z": array("int32", [6 * 17, 6 * 16]),
            },
            grid=(6,),
        ),
        case(
            "atomic_cas",
            """
i = tl.arange(0, 4)
tl.store(o + i, tl.atomic_cas(x + i, i * 0 + 7, i + 100))
tl.store(p, tl.atomic_cas(y, 5, 6))
tl.store(p + 1, tl.atomic_cas(y, 5, 9))
""",
            {
                "x": array("int32", [7, 1, 7, 3]),
                "y": array("int32", [5]),
                "o": zeros("int32", 4),
                "p": zeros("int32", 2),
            },
            {
                "x": array("int32", [100, 1, 102, 3]),
                "y": array("int32", [6]),
                "o": array("int32", [7, 1, 7, 3]),
                "p": array("int32", [5, 6]),
            },
        ),
        case(
            "atomic_add_of_halves",
            """
i = tl.arange(0, 4)
tl.atomic_add(x + i, 0.25)
""",
            {"x": array("fp16", [1.0, 2.0, -3.0, 0.0])},
            {"x": array("fp16", [1.25, 2.25, -2.75, 0.25])},
        ),
    ]
    return cases


CASES = [*loads(), *stores(), *block_pointers(), *atomics()]
