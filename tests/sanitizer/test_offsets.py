"""``--assume``: proofs and refutations, from a small run, that no int32 offset wraps around."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.sanitizer import Session, checked


@triton.jit
def copy(x, out, rows, cols, stride, WIDE: tl.constexpr, B: tl.constexpr, W: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * W + tl.arange(0, W)
    inside = (r[:, None] < rows) & (c[None, :] < cols)
    if WIDE:
        at = r.to(tl.int64)[:, None] * stride + c[None, :]
    else:
        at = r[:, None] * stride + c[None, :]
    tl.store(out + at, tl.load(x + at, mask=inside), mask=inside)


@triton.jit
def flat(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def long_rows(x, out, n, stride, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((B,), dtype=tl.float32)
    for start in range(0, n, B):
        at = start + tl.arange(0, B)
        total += tl.load(x + row * stride + at, mask=at < n, other=0.0)
    tl.store(out + row, tl.sum(total, axis=0))


@triton.jit
def looked_up(x, index, out, stride, B: tl.constexpr):
    row = tl.load(index + tl.program_id(0))
    tl.store(out + tl.program_id(0) * B + tl.arange(0, B), tl.load(x + row * stride + tl.arange(0, B)))


def proof(assume: dict[str, int], launch: Any) -> tuple[dict[str, Any], Session]:
    with checked(assume=assume, raise_findings=False) as session:
        launch()
    (found,) = [p for p in session.proofs if p["kernel"]]
    return found, session


def run_copy(wide: bool) -> Any:
    x = np.zeros((10, 24), np.float32)
    return lambda: copy[(3, 2)](x, np.zeros_like(x), 10, 24, 24, WIDE=wide, B=4, W=16)


def run_flat() -> None:
    flat[(10,)](np.zeros(240, np.float32), np.zeros(240, np.float32), 240, B=24)


@pytest.mark.parametrize(
    "rows, cols, fits",
    [(3_000_000, 700, True), (3_000_000, 715, True), (3_000_000, 716, False), (2**31 // 64, 64, True)],
)
def test_row_times_stride_is_decided_to_the_element(rows: int, cols: int, fits: bool) -> None:
    assert (rows * cols - 1 < 2**31) == fits  # the last element's offset
    found, session = proof({"rows": rows, "cols": cols}, run_copy(False))
    assert found["verdict"] == ("proved" if fits else "refuted")
    assert bool(session.findings) == (not fits)
    if not fits:
        worst = max(session.findings, key=lambda f: f.measures["value"])
        assert worst.kind == "offset-overflow" and worst.measures["value"] == rows * cols - 1
        assert worst.message.startswith(
            f"with r = {rows - 1}, c = {cols - 1}, stride = {cols} this int32 result is"
        )


def test_one_widened_operand_is_enough() -> None:
    found, session = proof({"rows": 3_000_000, "cols": 4096}, run_copy(True))
    assert found["verdict"] == "proved" and not session.findings
    assert any(text.startswith("stride = 4096") for text in found["taken"])


def test_the_stride_follows_a_contiguous_array_only() -> None:
    x = np.zeros((10, 32), np.float32)[:, :24]
    launch = lambda: copy[(3, 2)](x, x.copy(), 10, 24, 32, WIDE=False, B=4, W=16)
    found, _ = proof({"rows": 60_000_000}, launch)
    assert found["verdict"] == "proved" and not any(
        "stride" in t for t in found["taken"]
    )  # 60e6 * 32 < 2**31
    assert proof({"rows": 70_000_000}, launch)[0]["verdict"] == "refuted"


@pytest.mark.parametrize("n, fits", [(2**31 - 9, True), (2**31 - 7, False), (3_000_000_000, False)])
def test_lanes_behind_the_mask_wrap_into_it(n: int, fits: bool) -> None:
    """The last block of 24 passes 2**31, comes out negative and is let through by ``i < n``."""
    found, session = proof({"n": n}, run_flat)
    assert found["verdict"] == ("proved" if fits else "refuted") and bool(session.findings) == (not fits)


def test_loops_are_counted() -> None:
    x = np.zeros((4, 100), np.float32)
    launch = lambda: long_rows[(4,)](x, np.zeros(4, np.float32), 100, 100, B=32)
    assert (
        proof({"n": 700_000_000}, launch)[0]["verdict"] == "proved"
    )  # row 3 starts at 2.1e9, and the pointer moves on
    assert proof({"n": 720_000_000}, launch)[0]["verdict"] == "refuted"


def test_what_cannot_be_decided_is_said() -> None:
    x, index = np.zeros((4, 16), np.float32), np.array([3, 1], np.int32)
    launch = lambda: looked_up[(2,)](x, index, np.zeros(32, np.float32), 16, B=16)
    found, session = proof({"stride": 1 << 20}, launch)
    assert found["verdict"] == "undecided" and not session.findings
    assert "`row`, which is read from memory" in found["message"]


def test_a_grid_that_follows_from_no_size_is_not_taken_for_granted() -> None:
    @triton.jit
    def all_elements(x, rows, cols, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(x + i, 1.0, mask=i < rows * cols)

    x = np.zeros((10, 24), np.float32)
    found, _ = proof({"rows": 3_000_000_000}, lambda: all_elements[(triton.cdiv(240, 16),)](x, 10, 24, B=16))
    assert found["verdict"] != "proved"
    found, _ = proof({"rows": 20}, lambda: all_elements[(triton.cdiv(240, 16),)](x, 10, 24, B=16))
    assert found["verdict"] == "undecided" and "program_id(0)" in found["message"]


def test_an_assumption_that_no_kernel_has_is_said() -> None:
    with checked(assume={"rowz": 5}, raise_findings=False) as session:
        run_flat()
    (found,) = session.proofs
    assert found["verdict"] == "undecided" and "`rowz`" in found["message"]


def test_c07_a_product_widened_too_late_is_found_in_the_run_itself() -> None:
    @triton.jit
    def widths(out, stride, W: tl.constexpr):
        row = tl.arange(0, W) + 69999
        narrow = row * stride
        tl.store(out + tl.arange(0, W), narrow.to(tl.int64))
        tl.store(out + W + tl.arange(0, W), row.to(tl.int64) * stride)

    with checked(raise_findings=False) as session:
        widths[(1,)](np.zeros(4, np.int64), 70000, W=2)
    (found,) = session.findings
    assert found.kind == "wrapped-offset" and "before it is widened to int64" in found.message


def test_a_wrapped_offset_is_found_where_it_wraps_and_nothing_is_written() -> None:
    @triton.jit
    def far(out, stride, B: tl.constexpr):
        at = (tl.arange(0, B) + 60_000) * stride
        tl.store(out + at, 1.0)

    out = np.zeros(8, np.float32)
    with checked(raise_findings=False) as session:
        far[(1,)](out, 70_000, B=4)
    kinds = [f.kind for f in session.findings]
    assert kinds[0] == "wrapped-offset" and session.findings[0].argument is not None
    assert not out.any()


def test_wrapping_hashes_are_left_alone() -> None:
    @triton.jit
    def hashed(x, out, n, B: tl.constexpr):
        i = tl.arange(0, B)
        slot = (i * 1640531527) & 7
        mixed = ((i + 1) * 1_000_003 * 7919) % 8
        tl.store(out + i, tl.load(x + slot) + tl.load(x + tl.where(mixed < 0, mixed + 8, mixed)))

    with checked(raise_findings=False) as session:
        hashed[(1,)](np.zeros(8, np.float32), np.zeros(16, np.float32), 8, B=16)
    assert not session.findings
