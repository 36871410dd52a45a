"""Integer operators over whole ranges: wrapping, C-like division, shifts, comparisons, high products."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, any_values, integers, placed, poisoned
from .protocol import Args, Case, Launch

TYPES = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")


@triton.jit
def arithmetic(
    x_ptr,
    y_ptr,
    add_ptr,
    sub_ptr,
    mul_ptr,
    div_ptr,
    rem_ptr,
    and_ptr,
    or_ptr,
    xor_ptr,
    not_ptr,
    min_ptr,
    max_ptr,
    n,
    BLOCK: tl.constexpr,
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside, other=0)
    y = tl.load(y_ptr + at, mask=inside, other=1)
    tl.store(add_ptr + at, x + y, mask=inside)
    tl.store(sub_ptr + at, x - y, mask=inside)
    tl.store(mul_ptr + at, x * y, mask=inside)
    tl.store(div_ptr + at, x // y, mask=inside)
    tl.store(rem_ptr + at, x % y, mask=inside)
    tl.store(and_ptr + at, x & y, mask=inside)
    tl.store(or_ptr + at, x | y, mask=inside)
    tl.store(xor_ptr + at, x ^ y, mask=inside)
    tl.store(not_ptr + at, ~x, mask=inside)
    tl.store(min_ptr + at, tl.minimum(x, y), mask=inside)
    tl.store(max_ptr + at, tl.maximum(x, y), mask=inside)


@triton.jit
def shifts(x_ptr, by_ptr, left_ptr, right_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside, other=0)
    by = tl.load(by_ptr + at, mask=inside, other=0)
    tl.store(left_ptr + at, x << by, mask=inside)
    tl.store(right_ptr + at, x >> by, mask=inside)


@triton.jit
def comparisons(x_ptr, y_ptr, lt_ptr, le_ptr, eq_ptr, ne_ptr, ge_ptr, gt_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside)
    y = tl.load(y_ptr + at, mask=inside)
    tl.store(lt_ptr + at, x < y, mask=inside)
    tl.store(le_ptr + at, x <= y, mask=inside)
    tl.store(eq_ptr + at, x == y, mask=inside)
    tl.store(ne_ptr + at, x != y, mask=inside)
    tl.store(ge_ptr + at, x >= y, mask=inside)
    tl.store(gt_ptr + at, x > y, mask=inside)


@triton.jit
def high_product(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside)
    y = tl.load(y_ptr + at, mask=inside)
    tl.store(out_ptr + at, tl.umulhi(x, y), mask=inside)


@triton.jit
def mixed_widths(
    x8_ptr, y32_ptr, u32_ptr, sum_ptr, wide_ptr, literal_ptr, unsigned_ptr, half_ptr, n, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x8 = tl.load(x8_ptr + at, mask=inside, other=0)
    y32 = tl.load(y32_ptr + at, mask=inside, other=0)
    u32 = tl.load(u32_ptr + at, mask=inside, other=0)
    tl.store(sum_ptr + at, x8 + y32, mask=inside)
    tl.store(wide_ptr + at, y32.to(tl.int64) * u32.to(tl.int64), mask=inside)
    tl.store(literal_ptr + at, (x8 + 100).to(tl.int32), mask=inside)
    tl.store(unsigned_ptr + at, y32 + u32, mask=inside)
    tl.store(half_ptr + at, x8 / 2, mask=inside)


def truncating_division(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Quotient toward zero and remainder with the sign of the dividend."""
    remainder = np.fmod(x, y)
    return (x - remainder) // y, remainder


def _pair(dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        kind = DTYPES[dtype]
        x, y = any_values(rng, 301, kind), any_values(rng, 301, kind)
        y[y == 0] = 7
        if np.iinfo(kind).min < 0:  # the smallest value over -1 has no quotient
            y[(y == -1) & (x == np.iinfo(kind).min)] = 3
        names = ("add", "sub", "mul", "div", "rem", "and", "or", "xor", "not", "min", "max")
        outputs = {f"{name}_ptr": poisoned(301, kind) for name in names}
        return Launch({"x_ptr": placed(x), "y_ptr": placed(y), **outputs, "n": 301}, (3,))

    return make


def _arithmetic(args: Args) -> dict[str, np.ndarray]:
    x, y = args["x_ptr"], args["y_ptr"]
    quotient, remainder = truncating_division(x, y)
    values = {"add": x + y, "sub": x - y, "mul": x * y, "div": quotient, "rem": remainder}
    values |= {
        "and": x & y,
        "or": x | y,
        "xor": x ^ y,
        "not": ~x,
        "min": np.minimum(x, y),
        "max": np.maximum(x, y),
    }
    return {f"{name}_ptr": value for name, value in values.items()}


def _shift(dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        kind = DTYPES[dtype]
        x, by = any_values(rng, 137, kind), integers(rng, 137, kind, 0, kind.itemsize * 8 - 1)
        outputs = {"left_ptr": poisoned(137, kind), "right_ptr": poisoned(137, kind)}
        return Launch({"x_ptr": placed(x), "by_ptr": placed(by), **outputs, "n": 137}, (2,))

    return make


def _compare(dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        x, y = any_values(rng, 200, DTYPES[dtype]), any_values(rng, 200, DTYPES[dtype])
        y[::5] = x[::5]
        names = ("lt", "le", "eq", "ne", "ge", "gt")
        outputs = {f"{name}_ptr": poisoned(200, np.bool_) for name in names}
        return Launch({"x_ptr": placed(x), "y_ptr": placed(y), **outputs, "n": 200}, (2,))

    return make


def _compared(args: Args) -> dict[str, np.ndarray]:
    x, y = args["x_ptr"], args["y_ptr"]
    values = {"lt": x < y, "le": x <= y, "eq": x == y, "ne": x != y, "ge": x >= y, "gt": x > y}
    return {f"{name}_ptr": value for name, value in values.items()}


def _high(dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        x, y = (placed(any_values(rng, 97, DTYPES[dtype])) for _ in range(2))
        return Launch({"x_ptr": x, "y_ptr": y, "out_ptr": poisoned(97, x.dtype), "n": 97})

    return make


def _high_reference(args: Args) -> dict[str, np.ndarray]:
    bits = args["x_ptr"].dtype.itemsize * 8
    pairs = zip(args["x_ptr"].tolist(), args["y_ptr"].tolist(), strict=True)
    return {"out_ptr": np.array([x * y >> bits for x, y in pairs], args["x_ptr"].dtype)}


def _mixed(rng: np.random.Generator) -> Launch:
    args: Args = {
        "x8_ptr": placed(any_values(rng, 77, np.int8)),
        "y32_ptr": placed(any_values(rng, 77, np.int32)),
    }
    args |= {"u32_ptr": placed(any_values(rng, 77, np.uint32)), "sum_ptr": poisoned(77, np.int32)}
    args |= {"wide_ptr": poisoned(77, np.int64), "literal_ptr": poisoned(77, np.int32)}
    args |= {"unsigned_ptr": poisoned(77, np.uint32), "half_ptr": poisoned(77, np.float32), "n": 77}
    return Launch(args)


def _mixed_reference(args: Args) -> dict[str, np.ndarray]:
    x8, y32, u32 = args["x8_ptr"], args["y32_ptr"], args["u32_ptr"]
    return {
        "sum_ptr": x8.astype(np.int32) + y32,
        "wide_ptr": y32.astype(np.int64) * u32.astype(np.int64),
        # A literal takes the type of the tensor, so the sum wraps in 8 bits before it is widened.
        "literal_ptr": (x8 + np.int8(100)).astype(np.int32),
        "unsigned_ptr": y32.view(np.uint32) + u32,
        "half_ptr": (x8 / 2).astype(np.float32),
    }


BLOCK = {"BLOCK": 128}
CASES = [
    Case(f"integer_arithmetic/arithmetic/{t}", arithmetic, _pair(t), _arithmetic, constexprs=BLOCK)
    for t in TYPES
]
CASES += [
    Case(
        f"integer_arithmetic/shifts/{t}",
        shifts,
        _shift(t),
        lambda args: {
            "left_ptr": args["x_ptr"] << args["by_ptr"],
            "right_ptr": args["x_ptr"] >> args["by_ptr"],
        },
        constexprs=BLOCK,
    )
    for t in TYPES
]
CASES += [
    Case(f"integer_arithmetic/comparisons/{t}", comparisons, _compare(t), _compared, constexprs=BLOCK)
    for t in (*TYPES, "f16", "bf16", "f32", "f64")
]
CASES += [
    Case(f"integer_arithmetic/high_product/{t}", high_product, _high(t), _high_reference, constexprs=BLOCK)
    for t in ("u32", "u64")
]
CASES.append(
    Case("integer_arithmetic/mixed_widths/all", mixed_widths, _mixed, _mixed_reference, constexprs=BLOCK)
)
