"""Products of microscaling formats on CUDA: the generated text against the interpreter's definition."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.cuda_codegen.host_emulation import needs_compiler, on_host

M, N, K = 16, 32, 64
PLAN = "elements and scales become fp32 before they are multiplied"
FP8 = ml_dtypes.float8_e5m2


@triton.jit
def scaled(
    a_ptr,
    a_scale_ptr,
    b_ptr,
    b_scale_ptr,
    c_ptr,
    LHS: tl.constexpr,
    RHS: tl.constexpr,
    A0: tl.constexpr,
    A1: tl.constexpr,
    B0: tl.constexpr,
    B1: tl.constexpr,
    GROUPS: tl.constexpr,
    LHS_PACK: tl.constexpr,
    RHS_PACK: tl.constexpr,
    FAST: tl.constexpr = False,
):
    rows = tl.arange(0, 16)[:, None]
    cols = tl.arange(0, 32)
    a = tl.load(a_ptr + tl.arange(0, A0)[:, None] * A1 + tl.arange(0, A1)[None, :])
    b = tl.load(b_ptr + tl.arange(0, B0)[:, None] * B1 + tl.arange(0, B1)[None, :])
    groups = tl.arange(0, GROUPS)[None, :]
    a_scale = None
    b_scale = None
    if a_scale_ptr is not None:
        a_scale = tl.load(a_scale_ptr + rows * GROUPS + groups)
    if b_scale_ptr is not None:
        b_scale = tl.load(b_scale_ptr + cols[:, None] * GROUPS + groups)
    start = tl.load(c_ptr + rows * 32 + cols[None, :])
    c = tl.dot_scaled(
        a, a_scale, LHS, b, b_scale, RHS, start, fast_math=FAST, lhs_k_pack=LHS_PACK, rhs_k_pack=RHS_PACK
    )
    tl.store(c_ptr + rows * 32 + cols[None, :], c)


@triton.jit
def scaled_batches(a_ptr, scale_ptr, b_ptr, c_ptr):
    """Three products without an accumulator: [3, 4, 32] by [3, 32, 8]."""
    batch = tl.arange(0, 3)[:, None, None]
    m, n = tl.arange(0, 4), tl.arange(0, 8)
    k, packed = tl.arange(0, 32), tl.arange(0, 16)
    a = tl.load(a_ptr + batch * 64 + m[None, :, None] * 16 + packed[None, None, :])
    b = tl.load(b_ptr + batch * 256 + k[None, :, None] * 8 + n[None, None, :])
    scale = tl.load(scale_ptr + batch * 4 + m[None, :, None])
    c = tl.dot_scaled(a, scale, "e2m1", b, None, "e5m2")
    tl.store(c_ptr + batch * 32 + m[None, :, None] * 8 + n[None, None, :], c)


def elements(rng: Any, form: str, shape: tuple[int, int], packed: int) -> np.ndarray[Any, Any]:
    """Finite elements of a format, as bits where NumPy lacks it."""
    if form == "e2m1":
        dims = list(shape)
        dims[packed] //= 2
        return rng.integers(0, 256, dims, dtype=np.uint8)
    if form == "fp16":
        return rng.normal(size=shape).astype(np.float16)
    if form == "bf16":
        return (rng.normal(size=shape).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    most = {"e4m3": 0x7E, "e5m2": 0x7B}[form]
    return rng.integers(0, most + 1, shape, dtype=np.uint8) | rng.integers(0, 2, shape, dtype=np.uint8) << 7


def launched(a: Any, b: Any, scales: Any, start: Any, **constants: Any) -> np.ndarray[Any, Any]:
    out = start.copy()
    shapes = dict(zip(("A0", "A1", "B0", "B1"), (*a.shape, *b.shape), strict=True))
    groups = next((s.shape[1] for s in scales if s is not None), 1)
    scaled[(1,)](a, scales[0], b, scales[1], out, **shapes, GROUPS=groups, **constants)
    return out


def exponents(rng: Any, rows: int, group: int = 32) -> np.ndarray[Any, Any]:
    return rng.integers(120, 134, (rows, K // group), dtype=np.uint8)


def check(
    form: tuple[str, str], packs: tuple[bool, bool], scales: Any, layouts: str, **constants: Any
) -> Any:
    """The generated text against the interpreter; the latter's result."""
    rng = np.random.default_rng(11)
    a = elements(rng, form[0], (M, K), 1 if packs[0] else 0)
    b = elements(rng, form[1], (K, N), 0 if packs[1] else 1)
    start = rng.normal(size=(M, N)).astype(np.float32)
    constants |= {"LHS": form[0], "RHS": form[1], "LHS_PACK": packs[0], "RHS_PACK": packs[1]}
    want = launched(a, b, scales, start, **constants, backend="interpret")
    with on_host(layouts=layouts) as records:
        got = launched(a, b, scales, start, **constants)
    assert np.nanmax(np.abs(want)) > 1
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * np.nanmax(np.abs(want)))
    assert PLAN in [d.text for r in records for d in r]
    return want


FORMS = [
    (("e2m1", "e2m1"), (True, True)),
    (("e2m1", "e2m1"), (False, False)),
    (("e2m1", "e2m1"), (True, False)),
    (("e4m3", "e2m1"), (True, True)),
    (("e5m2", "fp16"), (True, True)),
    (("bf16", "e4m3"), (True, True)),
]
LAYOUTS = pytest.mark.parametrize("layouts", ["default", "seed"])


@needs_compiler
@pytest.mark.parametrize(
    ("form", "packs", "layouts"), [(*f, "default") for f in FORMS] + [(*f, "seed") for f in FORMS[1:4:2]]
)
def test_the_generated_text_computes_what_the_interpreter_does(
    form: tuple[str, str], packs: tuple[bool, bool], layouts: str
) -> None:
    rng = np.random.default_rng(5)
    scales = [exponents(rng, M), exponents(rng, N)]
    scales[0][3, 1], scales[0][5, 0], scales[1][7, 1] = 255, 0, 0  # NaN, and the least scale
    want = check(form, packs, scales, layouts)
    assert np.isnan(want[3]).all() and np.isfinite(np.delete(want, 3, axis=0)).all()


@needs_compiler
@LAYOUTS
@pytest.mark.parametrize("which", [(True, False), (False, True), (False, False)])
def test_either_scale_may_be_left_out(which: tuple[bool, bool], layouts: str) -> None:
    rng = np.random.default_rng(6)
    scales = [exponents(rng, rows) if there else None for rows, there in zip((M, N), which, strict=True)]
    check(("e4m3", "e2m1"), (True, True), scales, layouts)


@needs_compiler
@LAYOUTS
def test_scales_of_fp8_for_sixteen_elements_each(layouts: str) -> None:
    rng = np.random.default_rng(7)
    kind = ml_dtypes.float8_e4m3fn
    scales = [rng.uniform(0.1, 4, (rows, K // 16)).astype(kind) for rows in (M, N)]
    check(("e2m1", "e2m1"), (True, True), scales, layouts)


@needs_compiler
def test_fast_math_gives_the_same_where_no_scale_is_nan() -> None:
    rng = np.random.default_rng(8)
    scales = [exponents(rng, M), exponents(rng, N)]
    scales[1][7, 1] = 0
    check(("e4m3", "e4m3"), (True, True), scales, "default", FAST=True)


@needs_compiler
@LAYOUTS
def test_batches(layouts: str) -> None:
    rng = np.random.default_rng(9)
    a = rng.integers(0, 256, (3, 4, 16), dtype=np.uint8)
    b = elements(rng, "e5m2", (3 * 32, 8), 1)
    scale = rng.integers(120, 134, (3, 4, 1), dtype=np.uint8)
    arrays = (a, scale, b.view(FP8).reshape(3, 32, 8))
    want, got = np.zeros((3, 4, 8), np.float32), np.zeros((3, 4, 8), np.float32)
    scaled_batches[(1,)](*arrays, want, backend="interpret")
    with on_host(layouts=layouts):
        scaled_batches[(1,)](*arrays, got)
    assert np.abs(want).max() > 1
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * np.abs(want).max())
