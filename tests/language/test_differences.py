"""Where Tritium differs from Triton 3.6 on purpose: one test each. `docs/semantics.md` is made of the docstrings.

Each says what compiled Triton 3.6 does (for NVIDIA; "undefined" where its documents promise nothing), what happens here,
and why. Facts about Triton are measured, see tests/oracle.

Longer than 600 lines: one list, in the order of the page.
"""

from __future__ import annotations

import contextlib
import io
import math
import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from docs.generators.kernels import run
from tritium.errors import CompilationError, InterpreterError, TritiumError

INF, NAN = math.inf, math.nan


def values(expressions: str, *setup: str, **arguments: Any) -> list[Any]:
    """What the expressions (separated by ``;``) give in a kernel, as NumPy arrays or compile-time values."""
    body = [*setup, *(f"show(results, {e.strip()})" for e in expressions.split(";"))]
    return [shown.value for shown in run(body, arguments).shown]


def value(expression: str, *setup: str, **arguments: Any) -> Any:
    (found,) = values(expression, *setup, **arguments)
    return found


# ---- memory -------------------------------------------------------------------------------------------------------


def test_integers_stored_as_bools() -> None:
    """An integer stored through a bool pointer

    Triton: stores its low 8 bits: 256 becomes False, 2 a byte that is neither False nor True.
    Here: stores 1 for anything but 0.
    Why: NumPy and PyTorch leave other bytes in a bool array undefined, and the conversion to int1 is `!= 0` elsewhere.
    """
    out = np.zeros(6, np.bool_)
    run(
        ["tl.store(p + tl.arange(0, 6), tl.load(q + tl.arange(0, 6)))"],
        {"p": out, "q": np.array([0, 1, 2, 255, 256, -1])},
    )
    assert out.view(np.uint8).tolist() == [0, 1, 1, 1, 1, 1]


def test_masked_lanes_without_other() -> None:
    """Lanes of a load whose mask is false, without `other`

    Triton: undefined; 0 on the GPU that was measured, whatever is in the register elsewhere.
    Here: 0 on every backend, and undefined for the sanitizer, which reports them where they reach memory.
    Why: a run must be repeatable, and relying on the zero is still a fault worth a report.
    """
    x = np.full(4, 7, np.int32)
    assert value("tl.load(p + tl.arange(0, 4), mask=tl.arange(0, 4) < 2)", p=x).tolist() == [7, 7, 0, 0]


def test_out_of_bounds_accesses() -> None:
    """Loads and stores outside every array of the launch

    Triton: undefined: neighbouring memory, or a fault that ends the process's use of the GPU.
    Here: the interpreter stops the launch with an error that names program, lane and distance; nothing is written.
    Compiled code, on CPU and GPU, does what Triton's does.
    Why: a wrong mask is the most frequent mistake, and its plausible numbers cost days.
    """
    x = np.zeros(4, np.float32)
    with pytest.raises(InterpreterError, match="outside") as caught:
        run(["tl.store(p + tl.arange(0, 8) * 1000000, 1.0)"], {"p": x})
    assert caught.value.loc is not None and not x.any()


def test_gather_outside() -> None:
    """`tl.gather` with an index outside the axis

    Triton: undefined; the index wraps on the GPU that was measured.
    Here: the nearest element.
    Why: one value on every backend, without a branch.
    """
    source, index = np.arange(10, 14, dtype=np.int32), np.array([-5, 0, 3, 9], np.int32)
    setup = ["a = tl.load(p + tl.arange(0, 4))", "i = tl.load(q + tl.arange(0, 4))"]
    assert value("tl.gather(a, i, 0)", *setup, p=source, q=index).tolist() == [10, 10, 13, 13]


def test_histogram_outside() -> None:
    """`tl.histogram` of values outside the bins

    Triton: undefined.
    Here: they are not counted.
    Why: it is what the GPU that was measured does, and what a mask would say.
    """
    x = np.array([-1, 0, 3, 9], np.int32)
    assert value("tl.histogram(tl.load(p + tl.arange(0, 4)), 4)", p=x).tolist() == [1, 0, 0, 1]


def test_duplicate_lanes_of_a_store() -> None:
    """Several lanes of one store, or several program instances, with one address

    Triton: undefined which value stays.
    Here: on the interpreter the last lane of the last program instance stays, in the order of their numbers.
    Why: a run must be repeatable.
    """
    x = np.zeros(2, np.int32)
    run(["tl.store(p + tl.arange(0, 8) // 4, tl.arange(0, 8))"], {"p": x})
    assert x.tolist() == [3, 7]


def test_atomics_apply_in_order() -> None:
    """The old values that atomics return for lanes with one address

    Triton: undefined order.
    Here: on the interpreter lanes apply in the order of program instances and lanes.
    Why: a run must be repeatable; kernels that rely on an order are wrong all the same.
    """
    x = np.zeros(1, np.int32)
    assert value("tl.atomic_add(p + tl.zeros((4,), tl.int32), 10)", p=x).tolist() == [0, 10, 20, 30]


# ---- integers -----------------------------------------------------------------------------------------------------


def test_integer_division_by_zero() -> None:
    """`x // 0` and `x % 0` of integers

    Triton: undefined; all bits set and x on the GPU that was measured, a dead process on CPUs.
    Here: 0 and x.
    Why: one written value on every backend that never ends the process; `q * y + r == x` still holds.
    """
    for dtype in (np.int8, np.uint8, np.int32, np.int64, np.uint64):
        x = np.array([7, 0, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
        quotient, remainder = values("a // b; a % b", "a = tl.load(p + tl.arange(0, 4))", "b = a - a", p=x)
        assert quotient.tolist() == [0] * 4 and remainder.tolist() == x.tolist()


def test_wide_shifts() -> None:
    """Shifts by the width of the type or more, or by a negative number

    Triton: undefined, with a warning for constants.
    Here: 0, and -1 for a negative number shifted right; the warning stays.
    Why: it is what the GPU that was measured does, and what shifting bit by bit would give.
    """
    x, n = np.array([1, -8, -8, 1], np.int32), np.array([32, 33, 100, -1], np.int32)
    setup = ["a = tl.load(p + tl.arange(0, 4))", "n = tl.load(q + tl.arange(0, 4))"]
    left, right = values("a << n; a >> n", *setup, p=x, q=n)
    assert left.tolist() == [0, 0, 0, 0] and right.tolist() == [0, -1, -1, 0]


# ---- conversions --------------------------------------------------------------------------------------------------


def test_out_of_range_floats_saturate() -> None:
    """A float converted to an integer that cannot hold it

    Triton: undefined; on the GPU that was measured 32 bits saturate, NaN becomes the least int64, and 8 bits are cut
    out of a wider integer, so that infinity becomes -1.
    Here: the nearest integer of the type, and 0 for NaN, for every width.
    Why: one rule for all types and backends; the sanitizer reports such conversions.
    """
    x = np.array([300.7, -300.7, INF, -INF, NAN, 1e30], np.float32)
    for dtype in (np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64):
        got = value(f"tl.load(p + tl.arange(0, 6)).to(tl.{np.dtype(dtype).name})", p=x)
        info = np.iinfo(dtype)
        want = [0 if np.isnan(v) else int(min(max(np.trunc(float(v)), info.min), info.max)) if abs(v) < INF
                else info.max if v > 0 else info.min for v in x]  # fmt: skip
        assert got.tolist() == want


def test_fp64_becomes_bf16_with_one_rounding() -> None:
    """fp64 converted to bf16 or fp16

    Triton: by way of fp32, which rounds twice.
    Here: rounded once.
    Why: the nearest value is the right one, and NumPy and PyTorch give it.
    """
    x = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 3 * 2.0**-8 - 2.0**-40])
    got = value("tl.load(p + tl.arange(0, 2)).to(tl.bfloat16)", p=x).astype(np.float64)
    assert got.tolist() == [1 + 2.0**-7, 1 + 2.0**-7]
    assert x.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64).tolist() != got.tolist()


def test_fp8e5_infinities() -> None:
    """fp8e5 infinity or NaN converted to bf16

    Triton: large finite numbers.
    Here: infinity and NaN.
    Why: Triton's own conversion to fp16 and fp32 keeps them.
    """
    x = np.array([INF, -INF, NAN, 1.5], ml_dtypes.float8_e5m2)
    got = value("tl.load(p + tl.arange(0, 4)).to(tl.bfloat16)", p=x).astype(np.float64)
    assert got[:2].tolist() == [INF, -INF] and np.isnan(got[2]) and got[3] == 1.5


# ---- floats -------------------------------------------------------------------------------------------------------


def test_fp32_dot_is_ieee(monkeypatch: pytest.MonkeyPatch) -> None:
    """`tl.dot` of fp32 operands that names no precision

    Triton: tf32, 10 bits of mantissa, on NVIDIA GPUs.
    Here: IEEE fp32 on interpreter and CPU; tf32 on CUDA, as Triton. TRITON_F32_DEFAULT sets it everywhere.
    Why: on a CPU nothing is gained by losing digits; tf32 can be asked for, to see what it does.
    """
    x = np.full((1, 1), 1 + 2.0**-20, np.float32)
    setup = ["a = tl.load(p + tl.zeros((1, 1), tl.int32))"]
    ieee, tf32 = values("tl.dot(a, a); tl.dot(a, a, input_precision='tf32')", *setup, p=x)
    assert ieee.item() == np.float32((1 + 2.0**-20) ** 2) and tf32.item() == 1.0
    monkeypatch.setenv("TRITON_F32_DEFAULT", "tf32")
    assert value("tl.dot(a, a)", *setup, p=x).item() == 1.0


def test_products_are_summed_before_the_accumulator() -> None:
    """The order of additions in `tl.dot` with an accumulator, and in `acc + tl.dot(...)`

    Triton: on tensor cores products are added to the accumulator in groups.
    Here: the product of the tiles is summed first and then added, on the interpreter.
    Why: it is what Triton's own interpreter computes, so printed digits agree.
    """
    a = np.array([[1e8, 1.0, -1e8, 1.0]], np.float32)
    ones = np.ones((4, 1), np.float32)
    setup = ["a = tl.load(p + tl.arange(0, 4)[None, :])", "b = tl.load(q + tl.arange(0, 4)[:, None])"]
    c = "tl.full((1, 1), 0.5, tl.float32)"
    inside, outside = values(f"tl.dot(a, b, {c}); {c} + tl.dot(a, b)", *setup, p=a, q=ones)
    assert inside.item() == outside.item() == np.float32((a @ ones).item() + np.float32(0.5))


def test_no_contraction() -> None:
    """`a * b + c`

    Triton: contracted to one fused operation on NVIDIA GPUs unless `enable_fp_fusion=False`.
    Here: two roundings on interpreter and CPU, as written; contracted on CUDA by default, as Triton.
    Why: an exact zero such as `a * b - a * b` stays one; `tl.fma` asks for the fused form.
    """
    x = np.array([1 + 2.0**-12], np.float32)
    setup = ["a = tl.load(p)"]
    two, one, exact = values("a * a - (a * a); tl.fma(a, a, -(a * a)); a * a", *setup, p=x)
    assert two.item() == 0 and one.item() == 2.0**-24 and exact.item() == np.float32((1 + 2.0**-12) ** 2)


def test_quotients_and_roots_are_rounded_correctly() -> None:
    """`/`, `tl.sqrt` and `tl.rsqrt` of fp32

    Triton: approximate instructions, up to 2 units in the last place off.
    Here: rounded to nearest on interpreter and CPU, as `tl.div_rn` and `tl.sqrt_rn` are everywhere; on CUDA as Triton.
    Why: NumPy and PyTorch on a CPU give these digits.
    """
    x = np.random.default_rng(0).random(512, np.float32)
    y = np.random.default_rng(1).random(512, np.float32)
    setup = ["a = tl.load(p + tl.arange(0, 512))", "b = tl.load(q + tl.arange(0, 512))"]
    quotient, root = values("a / b; tl.sqrt(a)", *setup, p=x, q=y)
    np.testing.assert_array_equal(quotient, x / y)
    np.testing.assert_array_equal(root, np.sqrt(x))


def test_subnormal_numbers_are_kept() -> None:
    """Subnormal fp32 numbers

    Triton: `tl.sqrt`, `tl.rsqrt` and the fast functions take them as 0.
    Here: kept everywhere.
    Why: IEEE arithmetic.
    """
    x = np.array([1e-40], np.float32)
    root, half, bits = values("tl.sqrt(a); a * 0.5; tl.rsqrt(a)", "a = tl.load(p)", p=x)
    assert root.item() == np.sqrt(x)[0] and 0 < half.item() < x[0] and np.isfinite(bits.item())


def test_functions_are_exact_to_half_a_unit() -> None:
    """`tl.exp`, `tl.sin`, `tl.log` and their like in fp32

    Triton: fast approximations of the GPU, some relative errors above 1e-6, sines of large arguments worse.
    Here: within 0.51 units in the last place of the exact value for any argument on the interpreter; on CUDA `tl.exp` is
        Triton's, and the others are those of CUDA's math library.
    Why: so that a difference from a reference is the kernel's.
    """
    x = np.array([1e-3, 0.5, 3.0, 80.0, 1e5, 1e8], np.float32)
    sine, exponential = values("tl.sin(a); tl.exp(-a)", "a = tl.load(p + tl.arange(0, 6))", p=x)
    exact = np.sin(x.astype(np.float64))
    assert np.all(np.abs(sine - exact) <= 0.51 * np.spacing(np.abs(exact).astype(np.float32)))
    np.testing.assert_allclose(exponential[:4], np.exp(-x[:4].astype(np.float64)), rtol=1e-7)


def test_normal_numbers() -> None:
    """`tl.randn`

    Triton: Box and Muller's transform with the GPU's fast logarithm, sine and cosine.
    Here: the same transform with exact functions: equal to about 1e-6. `tl.rand` and `tl.randint` agree bit for bit.
    Why: the words are what must agree; the functions are those of `tl.log`, `tl.sin` and `tl.cos`.
    """
    uniform, normal = values("tl.rand(42, tl.arange(0, 4)); tl.randn(42, tl.arange(0, 4))")
    assert uniform.tolist() == [np.float32(v) for v in (0.77408016, 0.024562696, 0.3482663, 0.5408014)]
    words = values("tl.randint4x(42, tl.arange(0, 4))")[0]
    u1, u2 = ((w.value.view(np.int32).astype(np.float64)) for w in words[:2])
    fold = [np.where(w < 0, -w - 1, w) * 4.6566127342e-10 for w in (u1, u2)]
    want = np.sqrt(-2 * np.log(np.maximum(fold[0], 1e-7))) * np.cos(2 * np.pi * fold[1])
    np.testing.assert_allclose(normal, want, rtol=2e-6, atol=1e-6)


def test_remainders_are_exact() -> None:
    """`x % y` of floats

    Triton: `x - trunc(x / y) * y` in one step: 1e20 % 3 is 2.2e12, infinity % infinity is infinity.
    Here: the exact remainder with the sign of x, NaN for an infinite x; C's fmod.
    Why: the one-step form is off as soon as the quotient has more digits than the type.
    """
    x, y = np.array([1e20, -7.5, INF, 5.0, -0.0], np.float32), np.array([3.0, 2.0, INF, INF, 3.0], np.float32)
    setup = ["a = tl.load(p + tl.arange(0, 5))", "b = tl.load(q + tl.arange(0, 5))"]
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(value("a % b", *setup, p=x, q=y), np.fmod(x, y))


def test_nan_in_arg_reductions() -> None:
    """`tl.argmax`, `tl.argmin` and `return_indices=True` with NaN among the elements

    Triton: depends on the order in which lanes are combined; its interpreter reports the NaN.
    Here: the index of the largest number; where all are NaN, 0.
    Why: `tl.max` ignores NaN, and the index should be that of its result.
    """
    x = np.array([1, NAN, 3, 2, NAN, 0, 3, -1], np.float32)
    setup = ["a = tl.load(p + tl.arange(0, 8))"]
    assert [int(v) for v in values("tl.argmax(a, 0); tl.argmin(a, 0)", *setup, p=x)] == [2, 7]
    assert int(value("tl.argmax(a, 0)", *setup, p=np.full(8, NAN, np.float32))) == 0


def test_nan_in_sorts() -> None:
    """`tl.sort` and `tl.topk` with NaN among the elements

    Triton: a network of comparisons that a NaN derails: numbers are lost and others doubled.
    Here: NaN counts as larger than every number, as in NumPy and PyTorch; -0.0 comes before +0.0.
    Why: a sort that loses elements is of no use to anyone.
    """
    x = np.array([1, NAN, 3, 2, NAN, 0, 3, -1], np.float32)
    np.testing.assert_array_equal(value("tl.sort(tl.load(p + tl.arange(0, 8)))", p=x), np.sort(x))


def test_reductions_have_one_order() -> None:
    """The order in which a reduction of floats adds up

    Triton: depends on the layout, and so on `num_warps`, the shape and the version.
    Here: a balanced tree that depends on the extent alone.
    Why: the same kernel gives the same digits, whatever else changes.
    """
    x = np.random.default_rng(0).standard_normal((3, 1000)).astype(np.float32)
    setup = ["a = tl.load(p + tl.arange(0, 3)[:, None] * 1000 + tl.arange(0, 1000)[None, :])"]
    rows, columns = values("tl.sum(a, 1); tl.sum(tl.trans(a), 0)", *setup, p=x)
    assert rows.tolist() == columns.tolist()


# ---- shapes and functions -----------------------------------------------------------------------------------------


def test_any_extent() -> None:
    """Extents of tiles

    Triton: powers of two, at most 1,048,576 elements; a dot needs K of at least 16 and so on.
    Here: any extent from 1 on, for every function and for dots.
    Why: what is padded by hand today is where masks go wrong.
    """
    x = np.arange(15, dtype=np.float32)
    setup = ["a = tl.load(p + tl.arange(0, 3)[:, None] * 5 + tl.arange(0, 5)[None, :])"]
    total, product, order = values("tl.sum(a, 1); tl.dot(a, tl.trans(a)); tl.sort(-a)", *setup, p=x)
    grid = x.reshape(3, 5)
    assert total.tolist() == grid.sum(1).tolist()
    assert product.tolist() == (grid @ grid.T).tolist() and order.tolist() == np.sort(-grid).tolist()


def test_elements_and_slices() -> None:
    """`x[i]`, `x[a:b:c]`, `x[..., None]`

    Triton: refused, but for `:` and None.
    Here: NumPy's meaning; a run-time 0-d `i` that lies outside is reported by the interpreter.
    Why: asked for since 2024; masks and sums in its place are slow and hard to read.
    """
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    setup = [
        "a = tl.load(p + tl.arange(0, 3)[:, None] * 4 + tl.arange(0, 4)[None, :])",
        "i = tl.num_programs(0)",
    ]
    row, part, last, element = values("a[1]; a[::-1, 1:3]; a[..., -1]; a[i, i + 1]", *setup, p=x)
    assert row.tolist() == x[1].tolist() and part.tolist() == x[::-1, 1:3].tolist()
    assert last.tolist() == x[:, -1].tolist() and element.item() == x[1, 2]
    with pytest.raises(TritiumError, match="outside"):
        value("a[i + 2]", *setup, p=x)


def test_operators_and_builtins() -> None:
    """`a @ b`, `+x`, `abs(x)`, `zip`, `enumerate`, `a < b < c`, `a = b = c`

    Triton: refused.
    Here: what they mean in Python; a comparison chain evaluates its middle once.
    Why: they have one obvious meaning.
    """
    x = np.array([[1.0, -2.0], [3.0, -4.0]], np.float32)
    setup = ["a = tl.load(p + tl.arange(0, 2)[:, None] * 2 + tl.arange(0, 2)[None, :])", "b = c = a + 1"]
    product, magnitude, chain = values("a @ b; abs(+c); -3 < a < 2", *setup, p=x)
    assert product.tolist() == (x @ (x + 1)).tolist() and magnitude.tolist() == np.abs(x + 1).tolist()
    assert chain.tolist() == ((x > -3) & (x < 2)).tolist()
    assert (
        int(
            value(
                "total",
                "total = 0",
                "for k, (u, v) in enumerate(zip((1, 2), (3, 4))):",
                "    total += k + u * v",
            )
        )
        == 12
    )


def test_arguments_that_may_be_left_out() -> None:
    """`tl.flip(x)`, `tl.max(x, return_indices=True)`, `tl.sort(x, dim=0)`, `tl.cat(a, b)` in order, `tl.arange(-2, 3)`

    Triton: refused, or without a promised order.
    Here: the only axis, the flattened index, any axis, the first operand first, any bounds.
    Why: each has one reasonable meaning.
    """
    x = np.array([[3, 1], [2, 5]], np.int32)
    setup = ["a = tl.load(p + tl.arange(0, 2)[:, None] * 2 + tl.arange(0, 2)[None, :])"]
    best, sorted_, both, bounds = values(
        "tl.max(a, return_indices=True); tl.sort(a, dim=0); tl.cat(a, a); tl.flip(tl.arange(-2, 3))",
        *setup,
        p=x,
    )
    assert [int(b.value) for b in best] == [5, 3] and sorted_.tolist() == np.sort(x, 0).tolist()
    assert both.tolist() == np.concatenate([x, x]).tolist() and bounds.tolist() == [2, 1, 0, -1, -2]


def test_the_accumulator_decides() -> None:
    """`tl.dot(a, b, acc)` without `out_dtype`, where `acc` is not fp32

    Triton: refused in 3.6, since `out_dtype` is fp32 unless it is given; newer versions follow `acc`.
    Here: follows `acc`.
    Why: newer Triton does.
    """
    x = np.full((16, 16), 3, np.int8)
    setup = ["o = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]", "a = tl.load(p + o)"]
    assert np.all(value("tl.dot(a, a, tl.full((16, 16), 1, tl.int32))", *setup, p=x) == 9 * 16 + 1)


# ---- control flow and sources -------------------------------------------------------------------------------------


@triton.jit
def _first_above(x, out, n, limit):
    found = -1
    for k in range(n):
        v = tl.load(x + k)
        if v < 0:
            continue
        if v > limit:
            found = k
            break
    tl.store(out, found)


@triton.jit
def _index_of(x, n, wanted):
    for k in range(n):
        if tl.load(x + k) == wanted:
            return k
    return -1


@triton.jit
def _returns_in_a_loop(x, out, n, wanted):
    tl.store(out, _index_of(x, n, wanted))


def test_loops_can_be_left() -> None:
    """`break`, `continue` and `return` in loops

    Triton: refused.
    Here: Python's meaning, in `for`, `while` and `tl.static_range`.
    Why: asked for since 2024; regions with exit codes express it without unstructured jumps.
    """
    x, out = np.array([1, -5, 2, 9, 4], np.int32), np.zeros(1, np.int32)
    for limit, want in ((5, 3), (0, 0), (100, -1)):
        _first_above[(1,)](x, out, 5, limit)
        assert out[0] == want
    for wanted, want in ((9, 3), (7, -1)):
        _returns_in_a_loop[(1,)](x, out, 5, wanted)
        assert out[0] == want


@triton.jit
def _steps(out, stride, n):
    for k in range(n):
        tl.store(out + k, stride)
        stride = stride + k
        stride *= 2


def test_an_argument_of_one_may_be_reassigned() -> None:
    """An argument that is 1 at the launch and assigned in a loop

    Triton: refused: the argument has become a compile-time constant, which a loop cannot carry.
    Here: it becomes a run-time value where the loop changes it.
    Why: the same kernel must not compile for 2 and fail for 1.
    """
    for start in (1, 2):
        out, stride, want = np.zeros(3, np.int32), start, []
        for k in range(3):
            want.append(stride)
            stride = (stride + k) * 2
        _steps[(1,)](out, start, 3)
        assert out.tolist() == want


@triton.jit
def _prints(n):
    for k in range(n):
        tl.static_print("once")


def test_compile_time_prints_come_once() -> None:
    """`tl.static_print` in a loop

    Triton: prints twice, because its front end walks loop bodies twice.
    Here: prints once.
    Why: walking the body twice is no part of the language.
    """
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        _prints[(1,)](3)
    assert printed.getvalue() == "once\n"


def test_kernels_without_a_file() -> None:
    """Kernels from `exec`, `python -c`, the prompt, and lambdas

    Triton: refused: it reads the source from the file.
    Here: accepted where the text can be found and is shown to be the function's; else a located error.
    Why: notebooks, generated code and documentation have no files.
    """
    space: dict[str, Any] = {"triton": triton, "tl": tl}
    exec("@triton.jit\ndef kernel(out):\n    tl.store(out, 5)\n", space)
    out = np.zeros(1, np.int32)
    space["kernel"][(1,)](out)
    assert out[0] == 5
    code = "import numpy as np, tritium as triton, tritium.language as tl\n@triton.jit\ndef k(o):\n    tl.store(o, 7)\n" \
           "o = np.zeros(1, np.int32)\nk[(1,)](o)\nprint(o[0])"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "7\n", done.stderr


LIMIT = tl.constexpr(3)


@triton.jit
def _reads_a_global(out):
    tl.store(out, LIMIT)


def test_a_changed_global_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A constexpr global that changes after the kernel was compiled

    Triton: the next launch raises RuntimeError.
    Here: the next launch compiles the kernel again with the new value.
    Why: it is what the text says, and a stale result would be wrong.
    """
    out = np.zeros(1, np.int32)
    _reads_a_global[(1,)](out)
    assert out[0] == 3
    monkeypatch.setitem(globals(), "LIMIT", tl.constexpr(4))
    _reads_a_global[(1,)](out)
    assert out[0] == 4


def test_numpy_arrays() -> None:
    """Arguments that are NumPy arrays, or anything with DLPack or an array interface

    Triton: PyTorch tensors, or objects with `data_ptr()`.
    Here: any of them, without a copy and without PyTorch; any strides.
    Why: a CPU needs no PyTorch.
    """
    x = np.zeros((4, 3), np.float32)[::2].T
    assert x.strides == (4, 24)
    run(["tl.store(p + 6, 1.0)"], {"p": x})
    assert x[0, 1] == 1


def test_bool_has_a_size() -> None:
    """`tl.int1.itemsize`

    Triton: 0.
    Here: 1.
    Why: an element takes one byte in memory.
    """
    assert value("tl.int1.itemsize") == 1


def test_device_print_prints_tiles() -> None:
    """`tl.device_print` and `print`

    Triton: one line for each element of each thread, with indices.
    Here: one line for each program instance with the whole tile, as NumPy shows it.
    Why: it is what a person wants to see; the order of lines is that of the program instances.
    """
    ran = run(['tl.device_print("a", tl.arange(0, 3) * 0.5)'])
    assert ran.printed == "(0, 0, 0) a: [0.  0.5 1. ]\n"


def test_refusals_that_stay() -> None:
    """What Triton refuses for good reasons is refused here too: a tile as a condition, `x[i] = v`, types that change in a loop

    Triton: refused, at the line.
    Here: refused, at the line, with what to do instead.
    Why: there is no meaning to give them.
    """
    for lines in (["if tl.arange(0, 2) > 0:", "    pass"], ["a = tl.arange(0, 2)", "a[0] = 1"],
                  ["a = 1", "for k in range(tl.num_programs(0)):", "    a = 1.5"]):  # fmt: skip
        with pytest.raises(CompilationError) as caught:
            run(lines)
        assert caught.value.hint and caught.value.loc is not None
