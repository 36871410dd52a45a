"""Accesses outside the view that was passed: which axis, how far, what the mask lacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors.location import source_line
from tritium.sanitizer import FindingsError, Session, checked


@triton.jit
def matmul(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, MASK_K: tl.constexpr, B: tl.constexpr):
    rows = tl.program_id(0) * B + tl.arange(0, B)
    cols = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float32)
    for k0 in range(0, K, B):
        ks = k0 + tl.arange(0, B)
        a_mask = rows[:, None] < M
        b_mask = cols[None, :] < N
        if MASK_K:
            a_mask = a_mask & (ks[None, :] < K)
            b_mask = b_mask & (ks[:, None] < K)
        x = tl.load(a + rows[:, None] * sam + ks[None, :] * sak, mask=a_mask, other=0.0)
        y = tl.load(b + ks[:, None] * sbk + cols[None, :] * sbn, mask=b_mask, other=0.0)
        acc += tl.dot(x, y)
    c_mask = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(c + rows[:, None] * scm + cols[None, :] * scn, acc, mask=c_mask)


def strides(*arrays: np.ndarray) -> list[int]:
    return [s // a.itemsize for a in arrays for s in a.strides]


def padded(shape: tuple[int, int], storage: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    whole = np.full(storage, 999, np.float32)
    whole[: shape[0], : shape[1]] = rng.standard_normal(shape)
    return whole[: shape[0], : shape[1]]


def run_matmul(mask_k: bool, order: str = "C") -> Session:
    rng = np.random.default_rng(0)
    a, b = padded((4, 5), (4, 8), rng), padded((5, 4), (8, 4), rng)
    if order == "F":
        a, b = padded((5, 4), (8, 4), rng).T, padded((4, 5), (4, 8), rng).T
    c = np.zeros((4, 4), np.float32)
    with checked(raise_findings=False) as found:
        matmul[(1, 1)](a, b, c, 4, 4, 5, *strides(a, b, c), MASK_K=mask_k, B=4)
    if mask_k:
        assert np.allclose(c, a @ b, atol=1e-5)
    return found


@pytest.mark.parametrize("order", ["C", "F"])
def test_a3_the_missing_k_mask_is_named_on_both_loads(order: str) -> None:
    first, second = run_matmul(False, order).findings
    assert (first.kind, second.kind) == ("out-of-view", "out-of-view")
    assert first.message.startswith(
        "axis 1 of `a`, index `ks`, reaches 7; the view has 5 columns; "
        "the mask bounds `rows` and not `ks`; add `ks[None, :] < K`"
    )
    assert second.message.startswith(
        "axis 0 of `b`, index `ks`, reaches 7; the view has 5 rows; "
        "the mask bounds `cols` and not `ks`; add `ks[:, None] < K`"
    )
    assert (first.mend, second.mend) == ("ks[None, :] < K", "ks[:, None] < K")
    assert first.argument is not None and first.argument.shape == (4, 5)
    assert first.program == (0, 0, 0) and first.lane == (0, 1)
    assert first.indices == {"rows": 0, "ks": 5}
    assert first.loc is not None and "x = tl.load(" in (source_line(first.loc.file, first.loc.line) or "")


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_masked_product_is_clean(order: str) -> None:
    assert not run_matmul(True, order).findings


@triton.jit
def copy(x, out, n, sx, so, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + offs * so, tl.load(x + offs * sx, mask=offs < n, other=0.0), mask=offs < n)


def copied(x: np.ndarray, out: np.ndarray, n: int, block: int = 8) -> Session:
    with checked(raise_findings=False) as found:
        copy[(triton.cdiv(n, block),)](x, out, n, *strides(x, out), B=block)
    return found


VIEWS: dict[str, Any] = {
    "whole": lambda: np.arange(10.0, dtype=np.float32),
    "strided": lambda: np.arange(20.0, dtype=np.float32)[::2],
    "reversed": lambda: np.arange(10.0, dtype=np.float32)[::-1],
    "offset": lambda: np.arange(30.0, dtype=np.float32)[7:17],
    "column": lambda: np.arange(40.0, dtype=np.float32).reshape(10, 4)[:, 2],
    "broadcast": lambda: np.broadcast_to(np.float32(3), (10,)),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_are_clean_within_their_bounds(name: str) -> None:
    x, out = VIEWS[name](), np.zeros(10, np.float32)
    assert not copied(x, out, 10).findings
    assert np.array_equal(out, x)


@pytest.mark.parametrize("name", [n for n in VIEWS if n != "broadcast"])
def test_one_element_too_many_is_found_in_every_view(name: str) -> None:
    (found,) = copied(VIEWS[name](), np.zeros(11, np.float32), 11).findings
    assert found.kind == ("out-of-view" if name == "offset" else "out-of-allocation")
    assert found.count == 1 and found.lane == (2,) and found.program == (1, 0, 0)
    assert "axis 0 of `x`, index `offs`, reaches 10; the view has 10 elements" in found.message
    assert "the mask says `offs < n`, which lets `offs` reach 10" in found.message


def test_a_bad_store_is_reported_and_not_performed() -> None:
    storage = np.full(16, 5, np.float32)
    (found,) = copied(np.ones(12, np.float32), storage[2:10], 12).findings
    assert found.kind == "out-of-view" and found.count == 4
    assert storage.tolist() == [5, 5] + [1] * 8 + [5] * 6


def test_an_index_below_zero_is_named() -> None:
    @triton.jit
    def shifted(x, out, n, B: tl.constexpr):
        offs = tl.arange(0, B)
        before = offs - 1
        tl.store(out + offs, tl.load(x + before, mask=before < n, other=0.0), mask=offs < n)

    whole = np.arange(10, dtype=np.float32)
    with checked(raise_findings=False) as session:
        shifted[(1,)](whole[1:9], np.zeros(8, np.float32), 8, B=8)
    (found,) = session.findings
    assert "axis 0 of `x`, index `before`, reaches -1" in found.message and found.mend == "before >= 0"
    assert found.kind == "out-of-view" and "the mask does not bound `before` from below" in found.message


def test_misaligned_addresses_are_found() -> None:
    @triton.jit
    def wide(x, out, B: tl.constexpr):
        at = x + 1 + 4 * tl.arange(0, B)
        tl.store(out + tl.arange(0, B), tl.load(at.to(tl.pointer_type(tl.int32))))

    with checked(raise_findings=False) as session:
        wide[(1,)](np.zeros(32, np.int8), np.zeros(4, np.int32), B=4)
    assert [f.kind for f in session.findings] == ["misaligned"]


def test_the_context_manager_raises_at_its_end() -> None:
    with pytest.raises(FindingsError, match="axis 0 of `x`") as caught:
        with checked():
            copy[(1,)](np.zeros(4, np.float32), np.zeros(8, np.float32), 5, 1, 1, B=8)
    assert [f.kind for f in caught.value.findings] == ["out-of-allocation"]


def test_arrays_that_nobody_reads_past_their_views_are_trusted() -> None:
    x = np.lib.stride_tricks.as_strided(np.arange(8, dtype=np.float32), (4, 4), (4, 8))  # rows overlap
    assert not copied(x[1], np.zeros(4, np.float32), 4, block=4).findings
