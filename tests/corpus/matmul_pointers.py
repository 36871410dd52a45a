"""Matmuls and copies through block pointers and tensor descriptors."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import element_strides, normals, placed, poisoned
from .matmul_operands import limits, matmul_launch, product, tiles
from .protocol import Args, Case, Launch


@triton.jit
def matmul_block_pointers(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    m = tl.program_id(0) * BLOCK_M
    n = tl.program_id(1) * BLOCK_N
    a_block = tl.make_block_ptr(a_ptr, (M, K), (stride_am, stride_ak), (m, 0), (BLOCK_M, BLOCK_K), (1, 0))
    b_block = tl.make_block_ptr(b_ptr, (K, N), (stride_bk, stride_bn), (0, n), (BLOCK_K, BLOCK_N), (1, 0))
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, K, BLOCK_K):
        a = tl.load(a_block, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_block, boundary_check=(0, 1), padding_option="zero")
        acc += tl.dot(a, b, input_precision="ieee")
        a_block = tl.advance(a_block, (0, BLOCK_K))
        b_block = tl.advance(b_block, (BLOCK_K, 0))
    c_block = tl.make_block_ptr(c_ptr, (M, N), (stride_cm, stride_cn), (m, n), (BLOCK_M, BLOCK_N), (1, 0))
    tl.store(c_block, acc.to(c_ptr.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def shifted_window(x_ptr, out_ptr, M, N, row_offset, col_offset, ROWS: tl.constexpr, COLS: tl.constexpr):
    window = tl.make_block_ptr(x_ptr, (M, N), (N, 1), (row_offset, col_offset), (ROWS, COLS), (1, 0))
    x = tl.load(window, boundary_check=(0, 1), padding_option="nan")
    out = tl.make_block_ptr(out_ptr, (ROWS, COLS), (COLS, 1), (0, 0), (ROWS, COLS), (1, 0))
    tl.store(out, x)


@triton.jit
def matmul_descriptors(
    a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[K, N], strides=[N, 1], block_shape=[BLOCK_K, BLOCK_N])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, BLOCK_N])
    m = tl.program_id(0) * BLOCK_M
    n = tl.program_id(1) * BLOCK_N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = a_desc.load([m, k])
        b = b_desc.load([k, n])
        acc = tl.dot(a, b, acc, input_precision="ieee")
    c_desc.store([m, n], acc.to(c_ptr.dtype.element_ty))


@triton.jit
def matmul_host_descriptors(
    a_desc, b_desc, c_desc, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    m = tl.program_id(0) * BLOCK_M
    n = tl.program_id(1) * BLOCK_N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        acc += tl.dot(a_desc.load([m, k]), b_desc.load([n, k]).T, input_precision="ieee")
    c_desc.store([m, n], acc.to(c_desc.dtype))


def _window(m: int, n: int, row: int, col: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, (m, n), np.float32))
        args = {"x_ptr": x, "out_ptr": poisoned((8, 16), np.float32), "M": m, "N": n}
        return Launch(args | {"row_offset": row, "col_offset": col})

    return make


def _window_reference(args: Args) -> dict[str, np.ndarray]:
    x = args["x_ptr"]
    rows, cols = args["row_offset"] + np.arange(8), args["col_offset"] + np.arange(16)
    inside = ((rows >= 0) & (rows < len(x)))[:, None] & ((cols >= 0) & (cols < x.shape[1]))
    picked = x[np.clip(rows, 0, len(x) - 1)][:, np.clip(cols, 0, x.shape[1] - 1)]
    return {"out_ptr": np.where(inside, picked, np.float32(np.nan))}


def _dense(shape: tuple[int, int, int], dtype: str):
    """The launch of ``matmul_launch`` without strides."""
    strided = matmul_launch(shape, tiles(16, 16), dtype)

    def make(rng: np.random.Generator) -> Launch:
        launch = strided(rng)
        launch.args = {name: value for name, value in launch.args.items() if not name.startswith("stride")}
        return launch

    return make


def _host(m: int, n: int, k: int, dtype: type):
    def make(rng: np.random.Generator) -> Launch:
        from tritium.tools.tensor_descriptor import TensorDescriptor

        a, b = placed(normals(rng, (m, k), dtype)), placed(normals(rng, (n, k), dtype))
        c = poisoned((m, n), dtype)
        blocks = {"a_desc": (a, [16, 32]), "b_desc": (b, [16, 32]), "c_desc": (c, [16, 16])}
        args: Args = {
            name: TensorDescriptor(array, list(array.shape), list(element_strides(array)), block)
            for name, (array, block) in blocks.items()
        }
        return Launch(args | {"K": k}, tiles(16, 16)(m, n))

    return make


def _host_reference(args: Args) -> dict[str, np.ndarray]:
    a, b = args["a_desc"], args["b_desc"]
    return {"c_desc": product({"a_ptr": a, "b_ptr": b.T, "c_ptr": args["c_desc"]})["c_ptr"]}


TILE = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16}
STRIDES = {
    "row-major": (None, None, None),
    "transposed-b": (None, "columns", None),
    "transposed-a": ("rows", None, None),
}


def _cases() -> list[Case]:
    cases = []
    for shape in ((1, 1, 1), (24, 40, 56), (37, 19, 29)):
        m, _n, k = shape
        for label, kinds in STRIDES.items():
            strides = tuple({"columns": (1, k), "rows": (1, m), None: None}[kind] for kind in kinds)
            make = matmul_launch(shape, tiles(16, 16), strides=strides)
            name = f"matmul_pointers/matmul_block_pointers/{'x'.join(map(str, shape))}-{label}"
            tags = frozenset({"dot"})
            cases.append(
                Case(
                    name, matmul_block_pointers, make, product, **limits("f32", k), constexprs=TILE, tags=tags
                )
            )
    half = matmul_launch((100, 72, 65), tiles(32, 32), "f16")
    sizes = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32}
    name = "matmul_pointers/matmul_block_pointers/f16-100x72x65"
    cases.append(
        Case(
            name,
            matmul_block_pointers,
            half,
            product,
            **limits("f16", 65),
            constexprs=sizes,
            tags=frozenset({"dot"}),
        )
    )
    for m, n, row, col in ((8, 16, 0, 0), (24, 40, -3, -5), (5, 7, 2, 3), (13, 40, 9, 30), (4, 4, -8, 4)):
        name = f"matmul_pointers/shifted_window/{m}x{n}at{row},{col}"
        sizes = {"ROWS": 8, "COLS": 16}
        cases.append(Case(name, shifted_window, _window(m, n, row, col), _window_reference, constexprs=sizes))
    tags = frozenset({"dot", "descriptor"})
    for shape, dtype in (((1, 4, 4), "f32"), ((24, 40, 56), "f32"), ((33, 24, 40), "f16")):
        name = f"matmul_pointers/matmul_descriptors/{dtype}-{'x'.join(map(str, shape))}"
        bounds = limits(dtype, shape[2])
        cases.append(
            Case(
                name, matmul_descriptors, _dense(shape, dtype), product, **bounds, constexprs=TILE, tags=tags
            )
        )
    for (m, n, k), kind, dtype in (((24, 40, 56), np.float16, "f16"), ((17, 20, 36), np.float32, "f32")):
        name = f"matmul_pointers/matmul_host_descriptors/{dtype}-{m}x{n}x{k}"
        make, sizes = _host(m, n, k, kind), TILE | {"BLOCK_K": 32}
        cases.append(
            Case(
                name,
                matmul_host_descriptors,
                make,
                _host_reference,
                **limits(dtype, k),
                constexprs=sizes,
                tags=tags,
            )
        )
    return cases


CASES = _cases()
