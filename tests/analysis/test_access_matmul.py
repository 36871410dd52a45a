"""Accesses of matrix products: strides, advancing and wrapped pointers, block pointers, grouped programs."""

from __future__ import annotations

from tests.analysis.kernels import compiled, dump


def test_three_masks_runtime_strides() -> None:
    function = compiled(
        """
        @jit
        def kernel(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
            m = tl.program_id(0) * BM + tl.arange(0, BM)
            n = tl.program_id(1) * BN + tl.arange(0, BN)
            acc = tl.zeros((BM, BN), tl.float32)
            for k0 in range(0, K, BK):
                k = k0 + tl.arange(0, BK)
                a = tl.load(a_ptr + m[:, None] * sam + k[None, :] * sak, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
                b = tl.load(b_ptr + k[:, None] * sbk + n[None, :] * sbn, mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
                acc += tl.dot(a, b)
            tl.store(c_ptr + m[:, None] * scm + n[None, :] * scn, acc, mask=(m[:, None] < M) & (n[None, :] < N))
        """,
        ("a_ptr", "b_ptr", "sam", "sbk"),
        BM=64,
        BN=32,
        BK=16,
    )
    assert (
        dump(function)
        == """\
load a_ptr[64x16, 2-byte elements] line 8
  axis 0: index d0 + 64*program_id(0)  stride sam  bounds d0 + 64*program_id(0) < M
  axis 1: index d1 + 16*trip@6  stride sak  bounds d1 + 16*trip@6 < K
  base offset 0, aligned to 16 bytes
  other 0.0
  if no integer overflows in line 3, 7, 8
  needed where d0 + 64*program_id(0) < M
load b_ptr[16x32, 2-byte elements] line 9
  axis 0: index d0 + 16*trip@6  stride sbk  bounds d0 + 16*trip@6 < K
  axis 1: index d1 + 32*program_id(1)  stride sbn  bounds d1 + 32*program_id(1) < N
  base offset 0, aligned to 16 bytes
  other 0.0
  if no integer overflows in line 4, 7, 9
  needed where d1 + 32*program_id(1) < N
store c_ptr[64x32, 4-byte elements] line 11
  axis 0: index d0 + 64*program_id(0)  stride scm  bounds d0 + 64*program_id(0) < M
  axis 1: index d1 + 32*program_id(1)  stride scn  bounds d1 + 32*program_id(1) < N
  base offset 0, aligned to 1 bytes
  if no integer overflows in line 3, 4, 11
"""
    )


def test_three_masks_unit_strides() -> None:
    function = compiled(
        """
        @jit
        def kernel(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
            m = tl.program_id(0) * BM + tl.arange(0, BM)
            n = tl.program_id(1) * BN + tl.arange(0, BN)
            acc = tl.zeros((BM, BN), tl.float32)
            for k0 in range(0, K, BK):
                k = k0 + tl.arange(0, BK)
                a = tl.load(a_ptr + m[:, None] * sam + k[None, :] * sak, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
                b = tl.load(b_ptr + k[:, None] * sbk + n[None, :] * sbn, mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
                acc += tl.dot(a, b)
            tl.store(c_ptr + m[:, None] * scm + n[None, :] * scn, acc, mask=(m[:, None] < M) & (n[None, :] < N))
        """,
        ("a_ptr", "b_ptr", "sam", "sbk"),
        BM=64,
        BN=32,
        BK=16,
        sak=1,
        sbn=1,
        scn=1,
    )
    assert (
        dump(function)
        == """\
load a_ptr[64x16, 2-byte elements] line 8
  axis 0: index d0 + 64*program_id(0)  stride sam  bounds d0 + 64*program_id(0) < M
  axis 1: index d1 + 16*trip@6  stride 1  bounds d1 + 16*trip@6 < K
  base offset 0, aligned to 16 bytes
  other 0.0
  if no integer overflows in line 3, 7, 8
  needed where d0 + 64*program_id(0) < M
load b_ptr[16x32, 2-byte elements] line 9
  axis 0: index d0 + 16*trip@6  stride sbk  bounds d0 + 16*trip@6 < K
  axis 1: index d1 + 32*program_id(1)  stride 1  bounds d1 + 32*program_id(1) < N
  base offset 0, aligned to 16 bytes
  other 0.0
  if no integer overflows in line 4, 7, 9
  needed where d1 + 32*program_id(1) < N
store c_ptr[64x32, 4-byte elements] line 11
  axis 0: index d0 + 64*program_id(0)  stride scm  bounds d0 + 64*program_id(0) < M
  axis 1: index d1 + 32*program_id(1)  stride 1  bounds d1 + 32*program_id(1) < N
  base offset 0, aligned to 1 bytes
  if no integer overflows in line 3, 4, 11
"""
    )


def test_advancing_pointers_and_wrapped_rows() -> None:
    function = compiled(
        """
        @jit
        def kernel(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
            pid_m = tl.program_id(0)
            pid_n = tl.program_id(1)
            rows = (pid_m * BM + tl.arange(0, BM)) % M
            cols = (pid_n * BN + tl.arange(0, BN)) % N
            k = tl.arange(0, BK)
            a_ptrs = a_ptr + rows[:, None] * sam + k[None, :] * sak
            b_ptrs = b_ptr + k[:, None] * sbk + cols[None, :] * sbn
            acc = tl.zeros((BM, BN), tl.float32)
            for k0 in range(0, tl.cdiv(K, BK)):
                a = tl.load(a_ptrs, mask=k[None, :] < K - k0 * BK, other=0.0)
                b = tl.load(b_ptrs, mask=k[:, None] < K - k0 * BK, other=0.0)
                acc = tl.dot(a, b, acc)
                a_ptrs += BK * sak
                b_ptrs += BK * sbk
            m = pid_m * BM + tl.arange(0, BM)
            n = pid_n * BN + tl.arange(0, BN)
            tl.store(c_ptr + m[:, None] * scm + n[None, :] * scn, acc, mask=(m[:, None] < M) & (n[None, :] < N))
        """,
        (),
        BM=64,
        BN=32,
        BK=16,
    )
    assert (
        dump(function)
        == """\
load a_ptr[64x16, 2-byte elements] line 12
  axis 0: index (d0 + 64*pid_m) % (M)  stride sam  bounds none  (not linear)
  axis 1: index d1 + 16*trip@11  stride sak  bounds d1 + 16*trip@11 < K
  base offset 0, aligned to 1 bytes
  other 0.0
  if no integer overflows in line 5, 8, 12, 15
  needed where d0 + 64*pid_m < M
load b_ptr[16x32, 2-byte elements] line 13
  axis 0: index d0 + 16*trip@11  stride sbk  bounds d0 + 16*trip@11 < K
  axis 1: index (d1 + 32*pid_n) % (N)  stride sbn  bounds none  (not linear)
  base offset 0, aligned to 1 bytes
  other 0.0
  if no integer overflows in line 6, 9, 12, 16
  needed where d1 + 32*pid_n < N
store c_ptr[64x32, 4-byte elements] line 19
  axis 0: index d0 + 64*pid_m  stride scm  bounds d0 + 64*pid_m < M
  axis 1: index d1 + 32*pid_n  stride scn  bounds d1 + 32*pid_n < N
  base offset 0, aligned to 1 bytes
  if no integer overflows in line 5, 6, 19
"""
    )


def test_grouped_program_ids() -> None:
    function = compiled(
        """
        @jit
        def kernel(a_ptr, out_ptr, M, N, sam, B: tl.constexpr, G: tl.constexpr):
            pid = tl.program_id(0)
            per_group = G * tl.cdiv(N, B)
            group = pid // per_group
            pid_m = group * G + (pid % per_group) % G
            pid_n = (pid % per_group) // G
            m = pid_m * B + tl.arange(0, B)
            n = pid_n * B + tl.arange(0, B)
            a = tl.load(a_ptr + m[:, None] * sam + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N), other=0.0)
            tl.store(out_ptr + m[:, None] * N + n[None, :], a, mask=(m[:, None] < M) & (n[None, :] < N))
        """,
        (),
        B=16,
        G=4,
    )
    assert (
        dump(function)
        == """\
load a_ptr[16x16, 2-byte elements] line 10
  axis 0: index d0 + 64*group + 16*rem(...)@6  stride sam  bounds d0 + 64*group + 16*rem(...)@6 < M
  axis 1: index d1 + 16*pid_n  stride 1  bounds d1 + 16*pid_n < N
  base offset 0, aligned to 1 bytes
  other 0.0
  if no integer overflows in line 4, 6, 8, 9, 10
  needed where d0 + 64*group + 16*rem(...)@6 < M and d1 + 16*pid_n < N
store out_ptr[16x16, 4-byte elements] line 11
  axis 0: index d0 + 64*group + 16*rem(...)@6  stride N  bounds d0 + 64*group + 16*rem(...)@6 < M
  axis 1: index d1 + 16*pid_n  stride 1  bounds d1 + 16*pid_n < N
  base offset 0, aligned to 1 bytes
  if no integer overflows in line 4, 6, 8, 9, 11
"""
    )


def test_block_pointers() -> None:
    function = compiled(
        """
        @jit
        def kernel(a_ptr, out_ptr, M, N, sm, sn, B: tl.constexpr):
            block = tl.make_block_ptr(a_ptr, (M, N), (sm, sn), (tl.program_id(0) * B, 0), (B, B), (1, 0))
            for k in range(0, N, B):
                v = tl.load(block, boundary_check=(0, 1), padding_option="zero")
                o = tl.make_block_ptr(out_ptr, (M, N), (N, 1), (tl.program_id(0) * B, k), (B, B), (1, 0))
                tl.store(o, v.to(tl.float32), boundary_check=(1,))
                block = tl.advance(block, (0, B))
        """,
        (),
        B=16,
    )
    assert (
        dump(function)
        == """\
load a_ptr[16x16, 2-byte elements] line 5
  axis 0: index d0 + 16*program_id(0)  stride sm  bounds 0 <= d0 + 16*program_id(0) and d0 + 16*program_id(0) < M
  axis 1: index d1 + 16*trip@4  stride sn  bounds 0 <= d1 + 16*trip@4 and d1 + 16*trip@4 < N
  base offset 0, aligned to 1 bytes
  other 0.0
  if no integer overflows in line 3, 5, 8
  needed where d1 + 16*trip@4 < N
store out_ptr[16x16, 4-byte elements] line 7
  axis 0: index d0 + 16*program_id(0)  stride N  bounds none
  axis 1: index d1 + 16*trip@4  stride 1  bounds d1 + 16*trip@4 < N
  base offset 0, aligned to 1 bytes
  if no integer overflows in line 3
"""
    )


def test_descriptors() -> None:
    function = compiled(
        """
        @jit
        def kernel(a_ptr, out_ptr, M, N, B: tl.constexpr):
            desc = tl.make_tensor_descriptor(a_ptr, shape=[M, N], strides=[N, 1], block_shape=[B, B])
            v = desc.load([tl.program_id(0) * B, tl.program_id(1) * B])
            rows = tl.arange(0, B)
            tl.store(out_ptr + rows[:, None] * B + rows[None, :], v.to(tl.float32))
        """,
        (),
        B=16,
    )
    assert (
        dump(function)
        == """\
load a_ptr[16x16, 2-byte elements] line 4
  axis 0: index d0 + 16*program_id(0)  stride N  bounds 0 <= d0 + 16*program_id(0) and d0 + 16*program_id(0) < M
  axis 1: index d1 + 16*program_id(1)  stride 1  bounds 0 <= d1 + 16*program_id(1) and d1 + 16*program_id(1) < N
  base offset 0, aligned to 1 bytes
  other 0.0
  if no integer overflows in line 4
  needed everywhere
store out_ptr[16x16, 4-byte elements] line 6
  axis 0: index d0  stride 16  bounds none
  axis 1: index d1  stride 1  bounds none
  base offset 0, aligned to 1 bytes
"""
    )


def test_batches_and_three_axes() -> None:
    function = compiled(
        """
        @jit
        def kernel(x_ptr, out_ptr, H, M, N, sb, sh, sm, B: tl.constexpr):
            pid = tl.program_id(0)
            b = pid // H
            h = pid % H
            m = tl.program_id(1) * B + tl.arange(0, B)
            n = tl.arange(0, B)
            x = tl.load(x_ptr + b * sb + h * sh + m[:, None] * sm + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N), other=0.0)
            y = tl.load(x_ptr + b * sb + tl.arange(0, 4)[:, None, None] * sh + m[None, :, None] * sm + n[None, None, :])
            tl.store(out_ptr + pid * M * N + m[:, None] * N + n[None, :], x + tl.sum(y, 0), mask=(m[:, None] < M) & (n[None, :] < N))
        """,
        (),
        B=16,
    )
    assert (
        dump(function)
        == """\
load x_ptr[16x16, 2-byte elements] line 8
  axis 0: index d0 + 16*program_id(1)  stride sm  bounds d0 + 16*program_id(1) < M
  axis 1: index d1  stride 1  bounds d1 < N
  base offset b*sb + h*sh, aligned to 1 bytes
  other 0.0
  if no integer overflows in line 6, 8
  needed where d0 + 16*program_id(1) < M and d1 < N
load x_ptr[4x16x16, 2-byte elements] line 9
  axis 0: index d0  stride sh  bounds none
  axis 1: index d1 + 16*program_id(1)  stride sm  bounds none
  axis 2: index d2  stride 1  bounds none
  base offset b*sb, aligned to 1 bytes
  if no integer overflows in line 6, 8, 9
  needed where d1 + 16*program_id(1) < M and d2 < N
store out_ptr[16x16, 4-byte elements] line 10
  axis 0: index d0 + 16*program_id(1)  stride N  bounds d0 + 16*program_id(1) < M
  axis 1: index d1  stride 1  bounds d1 < N
  base offset M*N*pid, aligned to 1 bytes
  if no integer overflows in line 6, 10
"""
    )
