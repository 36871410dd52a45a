"""Products of microscaling formats on CUDA: the generated text against the interpreter's definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tests.cuda_codegen.host_emulation import needs_compiler, on_host

M, N, K = 16, 32, 64


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
    K_PACK: tl.constexpr,
):
    rows = tl.arange(0, 16)[:, None]
    cols = tl.arange(0, 32)
    a = tl.load(a_ptr + tl.arange(0, A0)[:, None] * A1 + tl.arange(0, A1)[None, :])
    b = tl.load(b_ptr + tl.arange(0, B0)[:, None] * B1 + tl.arange(0, B1)[None, :])
    groups = tl.arange(0, GROUPS)[None, :]
    a_scale = tl.load(a_scale_ptr + rows * GROUPS + groups)
    b_scale = tl.load(b_scale_ptr + cols[:, None] * GROUPS + groups)
    start = tl.load(c_ptr + rows * 32 + cols[None, :])
    c = tl.dot_scaled(a, a_scale, LHS, b, b_scale, RHS, acc=start, lhs_k_pack=K_PACK, rhs_k_pack=K_PACK)
    tl.store(c_ptr + rows * 32 + cols[None, :], c)


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
    scaled[(1,)](a, scales[0], b, scales[1], out, **shapes, GROUPS=scales[0].shape[1], **constants)
    return out


@needs_compiler
@pytest.mark.parametrize("layouts", ["default", "seed"])
@pytest.mark.parametrize(
    ("lhs", "rhs", "k_pack"),
    [
        ("e2m1", "e2m1", True),
        ("e2m1", "e2m1", False),
        ("e4m3", "e2m1", True),
        ("e5m2", "fp16", True),
        ("bf16", "e4m3", True),
    ],
)
def test_the_generated_text_computes_what_the_interpreter_does(
    lhs: str, rhs: str, k_pack: bool, layouts: str
) -> None:
    rng = np.random.default_rng(11)
    a = elements(rng, lhs, (M, K), 1 if k_pack else 0)
    b = elements(rng, rhs, (K, N), 0 if k_pack else 1)
    scales = [rng.integers(120, 134, (rows, K // 32), dtype=np.uint8) for rows in (M, N)]
    scales[0][3, 1], scales[0][5, 0], scales[1][7, 1] = 255, 0, 0  # NaN, and the least scale
    start = rng.normal(size=(M, N)).astype(np.float32)
    constants = {"LHS": lhs, "RHS": rhs, "K_PACK": k_pack}
    want = launched(a, b, scales, start, **constants)
    with on_host(layouts=layouts) as records:
        got = launched(a, b, scales, start, **constants)
    assert np.isnan(want[3]).all() and np.isfinite(np.delete(want, 3, axis=0)).all()
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4 * np.nanmax(np.abs(want)))
    assert "elements and scales become fp32 before they are multiplied" in [
        d.text for r in records for d in r
    ]
