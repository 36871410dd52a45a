"""Python numbers in kernels: the type they take and the value they are rounded to."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ops.emulate import FLOATS, Kernel
from tritium.ir.types import bfloat16, float16, float32, float64
from tritium.ops.semantic import literal_of

JUST_ABOVE_A_TIE = {float16: 1 + 2.0**-11 + 2.0**-40, bfloat16: 1 + 2.0**-8 + 2.0**-40}


@pytest.mark.parametrize("ty", JUST_ABOVE_A_TIE, ids=lambda t: t.text)
def test_literals_are_rounded_to_fp32_first(ty):
    """Triton 3.6 makes a constant 1.0 of these; one rounding would give the next number above."""
    k = Kernel()
    x = k.arg([1.0], ty)
    outs = [k.operator("*", x, JUST_ABOVE_A_TIE[ty]), k.tl("full", (1,), JUST_ABOVE_A_TIE[ty], ty)]
    assert [k.wide(o).tolist() for o in outs] == [[1.0], [1.0]]


@pytest.mark.parametrize("ty", FLOATS, ids=lambda t: t.text)
def test_constants_hold_what_the_type_can_hold(ty):
    k = Kernel()
    for value in (0.1, -0.0, 1e10, 1e300, -math.inf, 3):
        made = k.s.scalar(value, ty)
        held = literal_of(made)
        assert isinstance(held, float)
        assert k.wide(made).item() == held and math.copysign(1, held) == math.copysign(1, k.wide(made).item())
    assert math.isnan(literal_of(k.s.scalar(math.nan, ty))) or ty.is_fp8e4b15()


def test_wide_literals_keep_their_digits():
    k = Kernel()
    assert literal_of(k.s.scalar(0.1, float64)) == 0.1
    assert literal_of(k.s.scalar(0.1, float32)) == float(np.float32(0.1))
    assert literal_of(k.s.scalar(1e10, float16)) == math.inf
