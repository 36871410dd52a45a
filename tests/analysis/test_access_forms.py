"""Accesses of other kernels: lookups, transposition, bounds of all kinds, loops in all directions, and what is not understood."""

from __future__ import annotations

from tests.analysis.kernels import compiled, dump


def test_vector_add() -> None:
    function = compiled(
        """
        @jit
        def kernel(x_ptr, y_ptr, out_ptr, n, B: tl.constexpr):
            pid = tl.program_id(0)
            offs = pid * B + tl.arange(0, B)
            x = tl.load(x_ptr + offs, mask=offs < n)
            y = tl.load(y_ptr + offs, mask=offs < n, other=1.0)
            tl.store(out_ptr + offs, x + y, mask=offs < n)
        """,
        ("x_ptr", "out_ptr"),
        B=128,
    )
    assert (
        dump(function)
        == """\
load x_ptr[128, 2-byte elements] line 5
  axis 0: index d0 + 128*pid  stride 1  bounds d0 + 128*pid < n
  base offset 0, aligned to 16 bytes
  other undefined
  if no integer overflows in line 4
  needed where d0 + 128*pid < n
load y_ptr[128, 2-byte elements] line 6
  axis 0: index d0 + 128*pid  stride 1  bounds d0 + 128*pid < n
  base offset 0, aligned to 1 bytes
  other 1.0
  if no integer overflows in line 4
  needed where d0 + 128*pid < n
store out_ptr[128, 4-byte elements] line 7
  axis 0: index d0 + 128*pid  stride 1  bounds d0 + 128*pid < n
  base offset 0, aligned to 16 bytes
  if no integer overflows in line 4
"""
    )


def test_rows_of_a_matrix() -> None:
    function = compiled(
        """
        @jit
        def kernel(x_ptr, out_ptr, N, sx, so, B: tl.constexpr):
            row = tl.program_id(0)
            cols = tl.arange(0, B)
            x = tl.load(x_ptr + row * sx + cols, mask=cols < N, other=-float("inf")).to(tl.float32)
            tl.store(out_ptr + row * so + cols, tl.softmax(x), mask=cols < N)
        """,
        (),
        B=64,
    )
    assert (
        dump(function)
        == """\
load x_ptr[64, 2-byte elements] line 5
  axis 0: index d0  stride 1  bounds d0 < N
  base offset row*sx, aligned to 1 bytes
  other -inf
  if no integer overflows in line 5
  needed everywhere
store out_ptr[64, 4-byte elements] line 6
  axis 0: index d0  stride 1  bounds d0 < N
  base offset row*so, aligned to 1 bytes
  if no integer overflows in line 6
"""
    )


def test_embedding_lookup() -> None:
    function = compiled(
        """
        @jit
        def kernel(idx_ptr, a_ptr, out_ptr, n, D, V, sv, B: tl.constexpr):
            rows = tl.program_id(0) * B + tl.arange(0, B)
            cols = tl.arange(0, 16)
            idx = tl.load(idx_ptr + rows, mask=rows < n, other=0)
            inside = (rows[:, None] < n) & (cols[None, :] < D) & (idx[:, None] < V)
            e = tl.load(a_ptr + idx[:, None] * sv + cols[None, :], mask=inside, other=0.0)
            tl.store(out_ptr + rows[:, None] * D + cols[None, :], e, mask=(rows[:, None] < n) & (cols[None, :] < D))
        """,
        (),
        B=8,
    )
    assert (
        dump(function)
        == """\
load idx_ptr[8, 4-byte elements] line 5
  axis 0: index d0 + 8*program_id(0)  stride 1  bounds d0 + 8*program_id(0) < n
  base offset 0, aligned to 1 bytes
  other 0
  if no integer overflows in line 3
  needed where d0 + 8*program_id(0) < n
load a_ptr[8x16, 2-byte elements] line 7
  axis 0: index idx[d0]  stride sv  bounds d0 + 8*program_id(0) < n and idx[d0] < V  (not linear)
  axis 1: index d1  stride 1  bounds d1 < D
  base offset 0, aligned to 1 bytes
  other 0.0
  if no integer overflows in line 3, 7
  needed where d0 + 8*program_id(0) < n and d1 < D
store out_ptr[8x16, 4-byte elements] line 8
  axis 0: index d0 + 8*program_id(0)  stride D  bounds d0 + 8*program_id(0) < n
  axis 1: index d1  stride 1  bounds d1 < D
  base offset 0, aligned to 1 bytes
  if no integer overflows in line 3, 8
"""
    )


def test_a_lookup_by_a_column() -> None:
    function = compiled(
        """
        @jit
        def kernel(idx_ptr, a_ptr, out_ptr, n, sv, B: tl.constexpr):
            rows = tl.program_id(0) * B + tl.arange(0, B)[:, None]
            cols = tl.arange(0, 16)[None, :]
            idx = tl.load(idx_ptr + rows, mask=rows < n, other=0)
            e = tl.load(a_ptr + idx * sv + cols, mask=rows < n, other=0.0)
            tl.store(out_ptr + rows * 16 + cols, e, mask=rows < n)
        """,
        (),
        B=8,
    )
    assert (
        dump(function)
        == """\
load idx_ptr[8x1, 4-byte elements] line 5
  axis 0: index d0 + 8*program_id(0)  stride 1  bounds d0 + 8*program_id(0) < n
  axis 1: index d1  stride 0  bounds none
  base offset 0, aligned to 1 bytes
  other 0
  if no integer overflows in line 3
  needed where d0 + 8*program_id(0) < n
load a_ptr[8x16, 2-byte elements] line 6
  axis 0: index idx[d0, 0]  stride sv  bounds d0 + 8*program_id(0) < n  (not linear)
  axis 1: index d1  stride 1  bounds none
  base offset 0, aligned to 1 bytes
  other 0.0
  if no integer overflows in line 3, 6
  needed where d0 + 8*program_id(0) < n
store out_ptr[8x16, 4-byte elements] line 7
  axis 0: index d0 + 8*program_id(0)  stride 16  bounds d0 + 8*program_id(0) < n
  axis 1: index d1  stride 1  bounds none
  base offset 0, aligned to 1 bytes
  if no integer overflows in line 3, 7
"""
    )


def test_a_transposed_store() -> None:
    function = compiled(
        """
        @jit
        def kernel(x_ptr, out_ptr, M, N, sx, so, B: tl.constexpr):
            r = tl.program_id(0) * B + tl.arange(0, B)
            c = tl.program_id(1) * B + tl.arange(0, B)
            x = tl.load(x_ptr + r[:, None] * sx + c[None, :], mask=(r[:, None] < M) & (c[None, :] < N))
            tl.store(out_ptr + c[:, None] * so + r[None, :], tl.trans(x).to(tl.float32), mask=(c[:, None] < N) & (r[None, :] < M))
        """,
        (),
        B=16,
    )
    assert (
        dump(function)
        == """\
load x_ptr[16x16, 2-byte elements] line 5
  axis 0: index d0 + 16*program_id(0)  stride sx  bounds d0 + 16*program_id(0) < M
  axis 1: index d1 + 16*program_id(1)  stride 1  bounds d1 + 16*program_id(1) < N
  base offset 0, aligned to 1 bytes
  other undefined
  if no integer overflows in line 3, 4, 5
  needed where d1 + 16*program_id(1) < N and d0 + 16*program_id(0) < M
store out_ptr[16x16, 4-byte elements] line 6
  axis 0: index d0 + 16*program_id(1)  stride so  bounds d0 + 16*program_id(1) < N
  axis 1: index d1 + 16*program_id(0)  stride 1  bounds d1 + 16*program_id(0) < M
  base offset 0, aligned to 1 bytes
  if no integer overflows in line 3, 4, 6
"""
    )


def test_bounds_of_all_kinds() -> None:
    function = compiled(
        """
        @jit
        def kernel(x_ptr, out_ptr, lo, hi, B: tl.constexpr):
            offs = tl.program_id(0) * B + tl.arange(0, B)
            a = tl.load(x_ptr + offs, mask=lo <= offs < hi, other=0.0)
            b = tl.load(x_ptr + offs, mask=(offs >= lo) & (offs <= hi - 1), other=0.0)
            c = tl.load(x_ptr + offs, mask=~(offs > hi), other=0.0)
            d = tl.load(x_ptr + offs, mask=(offs < lo) | (offs > hi), other=0.0)
            e = tl.load(x_ptr + offs, mask=(offs != lo) & (offs < 1000000) & (lo < hi), other=0.0)
            tl.store(out_ptr + offs, a + b + c + d + e)
        """,
        (),
        B=16,
    )
    assert (
        dump(function)
        == """\
load x_ptr[16, 2-byte elements] line 4
  axis 0: index d0 + 16*program_id(0)  stride 1  bounds lo <= d0 + 16*program_id(0) and d0 + 16*program_id(0) < hi
  base offset 0, aligned to 1 bytes
  other 0.0
  if no integer overflows in line 3
  needed everywhere
load x_ptr[16, 2-byte elements] line 5
  axis 0: index d0 + 16*program_id(0)  stride 1  bounds lo <= d0 + 16*program_id(0) and d0 + 16*program_id(0) <= hi - 1
  base offset 0, aligned to 1 bytes
  other 0.0
  if no integer overflows in line 3, 5
  needed everywhere
load x_ptr[16, 2-byte elements] line 6
  axis 0: index d0 + 16*program_id(0)  stride 1  bounds d0 + 16*program_id(0) <= hi
  base offset 0, aligned to 1 bytes
  other 0.0
  if no integer overflows in line 3
  needed everywhere
load x_ptr[16, 2-byte elements] line 7
  axis 0: index d0 + 16*program_id(0)  stride 1  bounds none
  base offset 0, aligned to 1 bytes
  further mask: none understood (the mask has further conditions)
  other 0.0
  not understood: part of the mask
  if no integer overflows in line 3
  needed everywhere
load x_ptr[16, 2-byte elements] line 8
  axis 0: index d0 + 16*program_id(0)  stride 1  bounds d0 + 16*program_id(0) != lo and d0 + 16*program_id(0) < 1000000
  base offset 0, aligned to 1 bytes
  further mask: lo < hi
  other 0.0
  if no integer overflows in line 3
  needed everywhere
store out_ptr[16, 4-byte elements] line 9
  axis 0: index d0 + 16*program_id(0)  stride 1  bounds none
  base offset 0, aligned to 1 bytes
  if no integer overflows in line 3
"""
    )


def test_scalars() -> None:
    function = compiled(
        """
        @jit
        def kernel(x_ptr, out_ptr, n, s):
            pid = tl.program_id(0)
            v = tl.load(x_ptr + pid * s)
            w = tl.load(x_ptr, mask=pid < n, other=0.0)
            tl.store(out_ptr + 2 * pid + 1, v + w)
        """
    )
    assert (
        dump(function)
        == """\
load x_ptr[scalar, 2-byte elements] line 4
  base offset pid*s, aligned to 1 bytes
  if no integer overflows in line 4
  needed everywhere
load x_ptr[scalar, 2-byte elements] line 5
  base offset 0, aligned to 1 bytes
  further mask: pid < n
  other 0.0
  needed everywhere
store out_ptr[scalar, 4-byte elements] line 6
  base offset 2*pid + 1, aligned to 1 bytes
  if no integer overflows in line 6
"""
    )


def test_reversed_ranges_and_negative_strides() -> None:
    function = compiled(
        """
        @jit
        def kernel(x_ptr, y_ptr, out_ptr, n, s, B: tl.constexpr):
            offs = tl.program_id(0) * B + tl.arange(0, B)
            x = tl.load(x_ptr + (n - 1 - offs), mask=offs < n)
            y = tl.load(y_ptr - offs * s, mask=n - 1 - offs >= 0)
            tl.store(out_ptr + (B - 1 - tl.arange(0, B)) * 2, x + y)
        """,
        (),
        B=16,
    )
    assert (
        dump(function)
        == """\
load x_ptr[16, 2-byte elements] line 4
  axis 0: index d0 + 16*program_id(0)  stride -1  bounds d0 + 16*program_id(0) < n
  base offset n - 1, aligned to 1 bytes
  other undefined
  if no integer overflows in line 3, 4
  needed everywhere
load y_ptr[16, 2-byte elements] line 5
  axis 0: index d0 + 16*program_id(0)  stride -s  bounds d0 + 16*program_id(0) <= n - 1
  base offset 0, aligned to 1 bytes
  other undefined
  if no integer overflows in line 3, 4, 5
  needed everywhere
store out_ptr[16, 4-byte elements] line 6
  axis 0: index d0  stride -2  bounds none
  base offset 30, aligned to 1 bytes
"""
    )


def test_a_loop_that_counts_down() -> None:
    function = compiled(
        """
        @jit
        def kernel(x_ptr, out_ptr, n, B: tl.constexpr):
            offs = tl.arange(0, B)
            for k in range(n, 0, -B):
                v = tl.load(x_ptr + k + offs, mask=k + offs < n, other=0.0)
                tl.store(out_ptr + k + offs, v)
        """,
        (),
        B=16,
    )
    assert (
        dump(function)
        == """\
load x_ptr[16, 2-byte elements] line 5
  axis 0: index d0 + n - 16*trip@4  stride 1  bounds d0 + n - 16*trip@4 < n
  base offset 0, aligned to 1 bytes
  other 0.0
  if no integer overflows in line 5
  needed everywhere
store out_ptr[16, 4-byte elements] line 6
  axis 0: index d0 + n - 16*trip@4  stride 1  bounds none
  base offset 0, aligned to 1 bytes
"""
    )


def test_a_while_with_advancing_pointers() -> None:
    function = compiled(
        """
        @jit
        def kernel(x_ptr, out_ptr, n, B: tl.constexpr):
            offs = tl.program_id(0) * B + tl.arange(0, B)
            p = x_ptr + offs
            acc = tl.zeros((B,), tl.float32)
            while tl.max(offs, 0) < n:
                acc += tl.load(p, mask=offs < n, other=0.0)
                p += B
                offs += B
            tl.store(out_ptr + tl.arange(0, B), acc)
        """,
        (),
        B=16,
    )
    assert (
        dump(function)
        == """\
load x_ptr[16, 2-byte elements] line 7
  axis 0: index d0 + 16*program_id(0) + 16*trip@6  stride 1  bounds d0 + 16*program_id(0) + 16*trip@6 < n
  base offset 0, aligned to 1 bytes
  other 0.0
  if no integer overflows in line 3, 9
  needed everywhere
store out_ptr[16, 4-byte elements] line 10
  axis 0: index d0  stride 1  bounds none
  base offset 0, aligned to 1 bytes
"""
    )


def test_what_is_not_understood() -> None:
    function = compiled(
        """
        @jit
        def kernel(x_ptr, out_ptr, table_ptr, lock_ptr, n, B: tl.constexpr):
            offs = tl.arange(0, B)
            other = x_ptr
            if n > 3:
                other = x_ptr + n
            a = tl.load(other + offs)
            p = tl.load(table_ptr + offs).to(tl.pointer_type(tl.float16))
            b = tl.load(p)
            c = tl.load(x_ptr + offs * offs)
            d = tl.load(x_ptr + (offs[:, None] * offs[None, :]))
            tl.atomic_add(lock_ptr + offs, 1, mask=offs < n)
            tl.store(out_ptr + offs, a + b + c + tl.sum(d, 0))
        """,
        (),
        B=16,
    )
    assert (
        dump(function)
        == """\
load other[16, 2-byte elements] line 7
  axis 0: index d0  stride 1  bounds none
  base offset 0, aligned to 1 bytes
  needed everywhere
load table_ptr[16, 8-byte elements] line 8
  axis 0: index d0  stride 1  bounds none
  base offset 0, aligned to 1 bytes
  needed everywhere
load an unknown pointer[16, 2-byte elements] line 9
  not understood: which array the address comes from
  needed everywhere
load x_ptr[16, 2-byte elements] line 10
  not understood: how the offset depends on axis 0
  needed everywhere
load x_ptr[16x16, 2-byte elements] line 11
  not understood: how the offset depends on axis 0
  needed everywhere
atomic lock_ptr[16, 4-byte elements] line 12
  axis 0: index d0  stride 1  bounds d0 < n
  base offset 0, aligned to 1 bytes
  needed nowhere
store out_ptr[16, 4-byte elements] line 13
  axis 0: index d0  stride 1  bounds none
  base offset 0, aligned to 1 bytes
"""
    )
