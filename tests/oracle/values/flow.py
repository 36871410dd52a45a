"""Loops, branches, calls, program ids, launch arguments."""

from __future__ import annotations

import numpy as np

from .memory import case, zeros
from .model import ValueCase, array

VECTOR = array("fp32", np.arange(8) * 1.5 - 4)
V = VECTOR.numpy()


def _range(*bounds: int) -> int:
    total = 0
    for i in range(*bounds):
        total = total * 3 + i
    return (total + 2**31) % 2**32 - 2**31


def loops() -> list[ValueCase]:
    """Every form of range; while; nesting."""
    body = """
acc = 0
for i in range({}):
    acc = acc * 3 + i
tl.store(o, acc)
"""
    forms = {
        "upward": ("n", (7,)),
        "from_to": ("2, n", (2, 7)),
        "in_steps": ("1, n, 3", (1, 7, 3)),
        "step_overshoots": ("0, n, 4", (0, 7, 4)),
        "downward": ("n, 0, -1", (7, 0, -1)),
        "downward_in_steps": ("n, -3, -4", (7, -3, -4)),
        "no_trip": ("n, 3", (7, 3)),
        "no_trip_downward": ("0, n, -1", (0, 7, -1)),
        "negative_bounds": ("-5, n - 9", (-5, -2)),
    }
    cases = [
        case(
            f"range_{name}",
            body.format(text),
            {"o": zeros("int32", 1), "n": 7},
            {"o": array("int32", [_range(*bounds)])},
        )
        for name, (text, bounds) in forms.items()
    ]
    cases += [
        case(
            "while_collatz",
            """
steps = 0
x = n
while x != 1:
    x = tl.where(x % 2 == 0, x // 2, 3 * x + 1)
    steps += 1
tl.store(o, steps)
""",
            {"o": zeros("int32", 1), "n": 27},
            {"o": array("int32", [111])},
        ),
        case(
            "nested_loops",
            """
acc = 0
for i in range(n):
    inner = 0
    for j in range(i, n):
        inner += i * j
    acc = acc * 2 + inner
tl.store(o, acc)
""",
            {"o": zeros("int32", 1), "n": 5},
            {"o": array("int32", [_nested(5)])},
        ),
        case(
            "static_and_run_time_loops",
            """
i = tl.arange(0, 8)
acc = tl.zeros((8,), tl.float32)
for k in tl.static_range(1, 8, 2):
    for j in range(n):
        acc += tl.load(x + i) * k + j
tl.store(o + i, acc)
""",
            {"x": VECTOR, "o": zeros("fp32", 8), "n": 3},
            {"o": array("fp32", 3 * V * (1 + 3 + 5 + 7) + 4 * 3)},
        ),
        case(
            "loop_carries_swap",
            """
a = 0
b = 1
for _ in range(n):
    t = a + b
    a = b
    b = t
tl.store(o, a)
tl.store(o + 1, b)
""",
            {"o": zeros("int32", 2), "n": 10},
            {"o": array("int32", [55, 89])},
        ),
        case(
            "int64_loop",
            """
acc = tl.zeros((), tl.int64)
for i in range(first, first + 3):
    acc += i
tl.store(o, acc)
""",
            {"o": zeros("int64", 1), "first": 2**40},
            {"o": array("int64", [3 * 2**40 + 3])},
        ),
    ]
    return cases


def _nested(n: int) -> int:
    acc = 0
    for i in range(n):
        acc = acc * 2 + sum(i * j for j in range(i, n))
    return acc


def branches() -> list[ValueCase]:
    """if, conditional expressions, early returns, boolean operators."""
    chain = """
p = tl.program_id(0)
if p == 0:
    y = 10
elif p == 1:
    y = 20
else:
    y = 30
if p > 1 and p < 4:
    y += 1
z = 5 if p % 2 == 0 else 7
tl.store(o + p, y * 100 + z)
"""
    wanted = [(10 if p == 0 else 20 if p == 1 else 30) + (1 < p < 4) for p in range(5)]
    return [
        case(
            "branches_on_program_id",
            chain,
            {"o": zeros("int32", 5)},
            {"o": array("int32", [y * 100 + (5 if p % 2 == 0 else 7) for p, y in enumerate(wanted)])},
            grid=(5,),
        ),
        case(
            "early_return",
            """
p = tl.program_id(0)
if p >= n:
    return
tl.store(o + p, p + 1)
""",
            {"o": zeros("int32", 8), "n": 3},
            {"o": array("int32", [1, 2, 3, 0, 0, 0, 0, 0])},
            grid=(8,),
        ),
        case(
            "truth_of_scalars",
            """
p = tl.program_id(0)
a = 0
if p - 1:
    a += 1
if not (p == 1):
    a += 2
if (p == 1) or (n == 3):
    a += 4
if p * 0.5:
    a += 8
tl.store(o + p, a)
""",
            {"o": zeros("int32", 3), "n": 3},
            {"o": array("int32", [7, 12, 15])},
            grid=(3,),
        ),
        case(
            "constant_arithmetic_is_python",
            """
tl.store(o, -7 // 2)
tl.store(o + 1, -7 % 2)
tl.store(o + 2, n // 2)
tl.store(o + 3, n % 2)
tl.store(o + 4, (K - 10) // 2)
tl.store(o + 5, (K - 10) % 2)
""",
            {"o": zeros("int32", 6), "n": -7},
            {"o": array("int32", [-4, 1, -3, -1, -4, 1])},
            constexprs={"K": 3},
        ),
    ]


def programs() -> list[ValueCase]:
    """Grids of one to three axes."""
    x, y, z = np.meshgrid(np.arange(2), np.arange(3), np.arange(4), indexing="ij")
    order = (x * 100 + y * 10 + z).transpose(2, 1, 0)
    swizzled = np.zeros((2, 4, 4))
    for i in range(4):
        for j in range(4):
            swizzled[:, i, j] = _swizzle(i, j, 4, 4, 2)
    return [
        case(
            "grid_of_three_axes",
            """
x = tl.program_id(0)
y = tl.program_id(1)
z = tl.program_id(2)
at = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
tl.store(o + at, x * 100 + y * 10 + z)
""",
            {"o": zeros("int32", 4, 3, 2)},
            {"o": array("int32", order)},
            grid=(2, 3, 4),
        ),
        case(
            "swizzle",
            """
i = tl.program_id(0)
j = tl.program_id(1)
a, b = tl.swizzle2d(i, j, 4, 4, 2)
tl.store(o + i * 4 + j, a)
tl.store(p + i * 4 + j, b)
""",
            {"o": zeros("int32", 4, 4), "p": zeros("int32", 4, 4)},
            {"o": array("int32", swizzled[0]), "p": array("int32", swizzled[1])},
            grid=(4, 4),
        ),
    ]


def _swizzle(i: int, j: int, rows: int, columns: int, group: int) -> tuple[int, int]:
    index = i * columns + j
    first = index // (group * columns) * group
    size = min(rows - first, group)
    index %= group * columns
    return first + index % size, index // size


def arguments() -> list[ValueCase]:
    """How Python values arrive in a kernel."""
    return [
        case(
            "scalar_arguments",
            """
tl.store(o, a)
tl.store(o + 1, b)
tl.store(o + 2, c)
tl.store(f, d)
tl.store(f + 1, e)
tl.store(f + 2, a / b)
""",
            {
                "o": zeros("int64", 3),
                "f": zeros("fp64", 3),
                "a": 1,
                "b": 2**31,
                "c": -(2**62),
                "d": 0.1,
                "e": True,
            },
            {
                "o": array("int64", np.array([1, 2**31, -(2**62)], dtype=object)),
                "f": array("fp64", [float(np.float32(0.1)), 1.0, float(np.float32(1) / np.float32(2**31))]),
            },
            rtol=1e-7,
        ),
        case(
            "none_argument",
            """
i = tl.arange(0, 8)
v = tl.load(x + i)
if bias is not None:
    v += tl.load(bias + i)
tl.store(o + i, v)
""",
            {"x": VECTOR, "o": zeros("fp32", 8), "bias": None},
            {"o": VECTOR},
        ),
        case(
            "unsigned_64_bit_argument",
            """
tl.store(o, a // 3)
tl.store(o + 1, a >> 1)
""",
            {"o": zeros("uint64", 2), "a": 2**64 - 1},
            {"o": array("uint64", np.array([(2**64 - 1) // 3, 2**63 - 1], dtype=object))},
        ),
    ]


_HELPERS = """@triton.jit
def affine(v, a=2.0, b: tl.constexpr = 1):
    return v * a + b

@triton.jit
def bounds(v):
    return tl.min(v, 0), tl.max(v, 0)

@triton.jit
def sign(x):
    if x > 0:
        return 1
    return -1

@triton.jit
def twice(fn: tl.constexpr, v):
    return fn(fn(v))

"""


def calls() -> list[ValueCase]:
    """Helpers, defaults, tuples, functions as arguments."""
    source = f"""{_HELPERS}@triton.jit
def kernel(x, o, n):
    i = tl.arange(0, 8)
    v = tl.load(x + i)
    lo, hi = bounds(v)
    pair = (lo, hi)
    tl.store(o + i, affine(v))
    tl.store(o + 8 + i, affine(v, 3.0, b=2))
    tl.store(o + 16, pair[1] - pair[0])
    tl.store(o + 17, sign(n))
    tl.store(o + 18, sign(-n))
    tl.store(o + 24 + i, twice(affine, v))
"""
    wanted = np.zeros(32)
    wanted[:8], wanted[8:16], wanted[24:] = V * 2 + 1, V * 3 + 2, (V * 2 + 1) * 2 + 1
    wanted[16:19] = V.max() - V.min(), 1, -1
    arguments_ = {"x": VECTOR, "o": zeros("fp32", 32), "n": 5}
    return [ValueCase("helpers", source, arguments_, {"o": array("fp32", wanted)})]


CASES = [*loops(), *branches(), *programs(), *arguments(), *calls()]
