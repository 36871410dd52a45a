"""Kernels that Triton refuses and Tritium accepts: values as in NumPy and Python."""

from __future__ import annotations

import numpy as np

from .flow import VECTOR, V
from .memory import case, zeros
from .model import ValueCase, array


def extended() -> list[ValueCase]:
    """Accepted by Tritium only: values as in NumPy and Python."""
    odd = array("fp32", np.arange(15) - 4.0, (3, 5))
    odd_values = odd.numpy()
    left, right = np.arange(15).reshape(3, 5), np.arange(35).reshape(5, 7)
    options = {"extended": True}
    return [
        case(
            "break_and_continue",
            """
acc = 0
for i in range(n):
    if i % 2 == 0:
        continue
    if acc > 10:
        break
    acc += i
tl.store(o, acc)
i = n
count = 0
while i > 0:
    i -= 1
    if i == 3:
        break
    count += 1
tl.store(o + 1, i)
tl.store(o + 2, count)
""",
            {"o": zeros("int32", 3), "n": 20},
            {"o": array("int32", [1 + 3 + 5 + 7, 3, 16])},
            **options,
        ),
        case(
            "break_of_the_inner_loop",
            """
acc = 0
for i in range(n):
    for j in range(n):
        if j > i:
            break
        acc += 1
    if i == 6:
        break
tl.store(o, acc)
""",
            {"o": zeros("int32", 1), "n": 10},
            {"o": array("int32", [28])},
            **options,
        ),
        ValueCase(
            "return_in_a_loop",
            """@triton.jit
def root(n):
    for i in range(n):
        if i * i > n:
            return i - 1
    return -1

@triton.jit
def kernel(o, n):
    p = tl.program_id(0)
    tl.store(o + p, root(n + p))
""",
            {"o": zeros("int32", 4), "n": 14},
            {"o": array("int32", [3, 3, 4, 4])},
            grid=(4,),
            extended=True,
        ),
        case(
            "chained_comparison",
            """
i = tl.arange(0, 8)
tl.store(o + i, tl.where(2 <= i < n, 1, 0))
if 0 < n < 10:
    tl.store(o, 9)
""",
            {"o": zeros("int32", 8), "n": 6},
            {"o": array("int32", [9, 0, 1, 1, 1, 1, 0, 0])},
            **options,
        ),
        case(
            "elements_and_slices",
            """
i = tl.arange(0, 8)
v = tl.load(x + i)
m = v.reshape(2, 4)
tl.store(o, v[3])
tl.store(o + 1, v[-1])
tl.store(o + 2, m[1, 2])
tl.store(o + 4 + tl.arange(0, 4), m[1])
tl.store(o + 8 + tl.arange(0, 2), m[:, 3])
tl.store(o + 10 + tl.arange(0, 2), v[2:4])
tl.store(o + 12 + tl.arange(0, 4), v[::2])
""",
            {"x": VECTOR, "o": zeros("fp32", 16)},
            {
                "o": array(
                    "fp32",
                    [V[3], V[7], V[6], 0, *V[4:8], V[3], V[7], *V[2:4], *V[::2]],
                )
            },
            **options,
        ),
        case(
            "odd_extents",
            """
r = tl.arange(0, 3)[:, None]
c = tl.arange(0, 5)[None, :]
v = tl.load(x + r * 5 + c)
tl.store(o + tl.arange(0, 3), tl.sum(v, 1))
tl.store(o + 3 + tl.arange(0, 5), tl.max(v, 0))
tl.store(o + 8, tl.sum(v))
tl.store(p + r * 5 + c, tl.cumsum(v, 1))
tl.store(q + tl.arange(0, 5)[:, None] * 3 + tl.arange(0, 3)[None, :], tl.trans(v))
tl.store(s + r * 5 + c, tl.sort(-v))
tl.store(i + tl.arange(0, 3), tl.argmin(v * v, 1))
""",
            {
                **{"x": odd, "o": zeros("fp32", 9), "p": zeros("fp32", 3, 5), "q": zeros("fp32", 5, 3)},
                **{"s": zeros("fp32", 3, 5), "i": zeros("int32", 3)},
            },
            {
                "o": array("fp32", [*odd_values.sum(1), *odd_values.max(0), odd_values.sum()]),
                "p": array("fp32", odd_values.cumsum(1)),
                "q": array("fp32", odd_values.T),
                "s": array("fp32", np.sort(0 - odd_values, 1)),
                "i": array("int32", (odd_values * odd_values).argmin(1)),
            },
            **options,
        ),
        case(
            "odd_extents_in_dot",
            """
i = tl.arange(0, 3)[:, None]
j = tl.arange(0, 7)[None, :]
k = tl.arange(0, 5)
a = tl.load(x + i * 5 + k[None, :])
b = tl.load(y + k[:, None] * 7 + j)
tl.store(o + i * 7 + j, tl.dot(a, b, input_precision="ieee"))
""",
            {"x": array("fp32", left), "y": array("fp32", right), "o": zeros("fp32", 3, 7)},
            {"o": array("fp32", left @ right)},
            **options,
        ),
        case(
            "argument_one_reassigned_in_a_loop",
            """
for i in range(4):
    n = n * 3
tl.store(o, n)
""",
            {"o": zeros("int32", 1), "n": 1},
            {"o": array("int32", [81])},
            **options,
        ),
        case(
            "python_operators",
            """
i = tl.arange(0, 8)
v = tl.load(x + i)
tl.store(o + i, abs(v))
tl.store(p + i, +v)
""",
            {"x": VECTOR, **{k: zeros("fp32", 8) for k in "op"}},
            {"o": array("fp32", np.abs(V)), "p": VECTOR},
            **options,
        ),
    ]


CASES = extended()
