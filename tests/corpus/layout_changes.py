"""Moves inside a tile: join, split, interleave, permute, reshape, flip; rotary embedding, complex product."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, any_values, normals, placed, poisoned
from .protocol import Args, Case, Launch
from .rounding import narrow, tolerance, wide


@triton.jit
def rope_interleaved(x_ptr, cos_ptr, sin_ptr, out_ptr, heads, HALF: tl.constexpr):
    position = tl.program_id(0)
    head = tl.program_id(1)
    base = (position * heads + head) * 2 * HALF
    pair = tl.arange(0, HALF)
    x = tl.load(x_ptr + base + tl.arange(0, 2 * HALF)).to(tl.float32)
    real, imaginary = tl.split(tl.reshape(x, (HALF, 2)))
    cos = tl.load(cos_ptr + position * HALF + pair)
    sin = tl.load(sin_ptr + position * HALF + pair)
    turned = tl.join(real * cos - imaginary * sin, real * sin + imaginary * cos)
    tl.store(out_ptr + base + tl.arange(0, 2 * HALF), tl.reshape(turned, (2 * HALF,)))


@triton.jit
def complex_product(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * 2 * BLOCK + tl.arange(0, 2 * BLOCK)
    inside = at < 2 * n
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    y = tl.load(y_ptr + at, mask=inside, other=0.0)
    x_re, x_im = x.reshape(BLOCK, 2).split()
    y_re, y_im = y.reshape(BLOCK, 2).split()
    product = tl.interleave(x_re * y_re - x_im * y_im, x_re * y_im + x_im * y_re)
    tl.store(out_ptr + at, product, mask=inside)


@triton.jit
def transpose_tiles(x_ptr, out_ptr, M, N, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.program_id(1) * COLS + tl.arange(0, COLS)
    x = tl.load(x_ptr + rows[:, None] * N + cols[None, :], mask=(rows[:, None] < M) & (cols[None, :] < N))
    inside = (cols[:, None] < N) & (rows[None, :] < M)
    tl.store(out_ptr + cols[:, None] * M + rows[None, :], tl.trans(x), mask=inside)


@triton.jit
def interleave_and_back(x_ptr, y_ptr, mixed_ptr, even_ptr, odd_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.load(y_ptr + at)
    mixed = tl.interleave(x, y)
    tl.store(mixed_ptr + tl.arange(0, 2 * BLOCK), mixed)
    even, odd = tl.split(mixed.reshape(BLOCK, 2))
    tl.store(even_ptr + at, even)
    tl.store(odd_ptr + at, odd)


@triton.jit
def permute_volume(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    at = tl.arange(0, A * B * C)
    x = tl.load(x_ptr + at).reshape(A, B, C)
    turned = tl.permute(x, (2, 0, 1))
    tl.store(out_ptr + at, tl.reshape(turned, (A * B * C,)))


@triton.jit
def nested_joins(out_ptr, W: tl.constexpr):
    i = tl.arange(0, W)
    four = tl.join(tl.join(i, i + 100), tl.join(i + 200, i + 300))
    tl.store(out_ptr + tl.arange(0, 4 * W), tl.reshape(four, (4 * W,)))


@triton.jit
def flip_and_broadcast(x_ptr, flipped_ptr, outer_ptr, ravelled_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.store(flipped_ptr + at, tl.flip(x, 0))
    table = tl.broadcast_to(x[:, None], (N, N)) - tl.expand_dims(x, 0)
    tl.store(outer_ptr + at[:, None] * N + at[None, :], table)
    tl.store(ravelled_ptr + tl.arange(0, N * N), tl.ravel(table.T))


def _rope(positions: int, heads: int, half: int, dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        angle = rng.uniform(-np.pi, np.pi, (positions, half))
        x = placed(normals(rng, (positions, heads, 2 * half), DTYPES[dtype]))
        args: Args = {"x_ptr": x, "cos_ptr": placed(np.cos(angle).astype(np.float32)), "heads": heads}
        args |= {"sin_ptr": placed(np.sin(angle).astype(np.float32)), "out_ptr": poisoned(x.shape, x.dtype)}
        return Launch(args, (positions, heads))

    return make


def _rope_reference(args: Args) -> dict[str, np.ndarray]:
    x = wide(args["x_ptr"])
    turn = (wide(args["cos_ptr"]) + 1j * wide(args["sin_ptr"]))[:, None, :]
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * turn
    out = np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)
    return {"out_ptr": narrow(out, args["out_ptr"].dtype)}


def _complex(n: int):
    def make(rng: np.random.Generator) -> Launch:
        x, y = (placed(normals(rng, 2 * n, np.float32)) for _ in range(2))
        args = {"x_ptr": x, "y_ptr": y, "out_ptr": poisoned(2 * n, x.dtype), "n": n}
        return Launch(args, (triton.cdiv(n, 16),))

    return make


def _complex_reference(args: Args) -> dict[str, np.ndarray]:
    x, y = (wide(args[name]).view(np.complex128) for name in ("x_ptr", "y_ptr"))
    return {"out_ptr": narrow((x * y).view(np.float64), np.float32)}


def _matrix(m: int, n: int, dtype: str, tile: tuple[int, int]):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(any_values(rng, (m, n), DTYPES[dtype]))
        args = {"x_ptr": x, "out_ptr": poisoned((n, m), x.dtype), "M": m, "N": n}
        return Launch(args, (triton.cdiv(m, tile[0]), triton.cdiv(n, tile[1])))

    return make


def _pair(n: int, dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        x, y = (placed(any_values(rng, n, DTYPES[dtype])) for _ in range(2))
        args = {"x_ptr": x, "y_ptr": y, "mixed_ptr": poisoned(2 * n, x.dtype)}
        return Launch(args | {"even_ptr": poisoned(n, x.dtype), "odd_ptr": poisoned(n, x.dtype)})

    return make


def _interleaved(args: Args) -> dict[str, np.ndarray]:
    x, y = args["x_ptr"], args["y_ptr"]
    return {"mixed_ptr": np.stack([x, y], axis=1).reshape(-1), "even_ptr": x, "odd_ptr": y}


def _volume(shape: tuple[int, int, int]):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(any_values(rng, shape, np.int32))
        return Launch({"x_ptr": x, "out_ptr": poisoned((shape[2], shape[0], shape[1]), x.dtype)})

    return make


def _ids(width: int):
    return lambda rng: Launch({"out_ptr": poisoned(4 * width, np.int32)})


def _joined(args: Args) -> dict[str, np.ndarray]:
    # join adds a minor axis, so the outer join's axis varies fastest: a, c, b, d.
    i = np.arange(args["W"], dtype=np.int32)
    return {"out_ptr": np.stack([i, i + 200, i + 100, i + 300], axis=1).reshape(-1)}


def _vector(n: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, n, np.float32))
        outputs = {name: poisoned((n, n), x.dtype) for name in ("outer_ptr", "ravelled_ptr")}
        return Launch({"x_ptr": x, "flipped_ptr": poisoned(n, x.dtype), **outputs})

    return make


def _vector_reference(args: Args) -> dict[str, np.ndarray]:
    x = args["x_ptr"]
    table = x[:, None] - x[None, :]
    return {"flipped_ptr": x[::-1].copy(), "outer_ptr": table, "ravelled_ptr": table.T.copy()}


def _case(kernel, label: str, make, reference, constexprs, **bounds: float) -> Case:
    return Case(
        f"layout_changes/{kernel.__name__}/{label}", kernel, make, reference, **bounds, constexprs=constexprs
    )


def _cases() -> list[Case]:
    cases = []
    for positions, heads, half, dtype in ((1, 1, 1, "f32"), (5, 3, 16, "f32"), (7, 2, 32, "f16")):
        make, bounds = _rope(positions, heads, half, dtype), tolerance(DTYPES[dtype], terms=2, scale=4)
        label = f"{dtype}-{positions}x{heads}x{2 * half}"
        cases.append(_case(rope_interleaved, label, make, _rope_reference, {"HALF": half}, **bounds))
    for n in (1, 24, 101):
        bounds = tolerance(np.float32, terms=2, scale=4)
        cases.append(_case(complex_product, str(n), _complex(n), _complex_reference, {"BLOCK": 16}, **bounds))
    for m, n, dtype, tile in (
        (1, 1, "f32", (8, 8)),
        (24, 40, "f32", (8, 16)),
        (37, 19, "i8", (16, 8)),
        (50, 33, "f64", (32, 4)),
    ):
        sizes = dict(zip(("ROWS", "COLS"), tile, strict=True))
        wanted = lambda args: {"out_ptr": np.ascontiguousarray(args["x_ptr"].T)}
        make = _matrix(m, n, dtype, tile)
        cases.append(_case(transpose_tiles, f"{dtype}-{m}x{n}", make, wanted, sizes))
    for n, dtype in ((1, "i32"), (16, "f32"), (64, "f16"), (32, "bf16"), (32, "u8")):
        cases.append(_case(interleave_and_back, f"{dtype}-{n}", _pair(n, dtype), _interleaved, {"BLOCK": n}))
    for shape in ((2, 4, 8), (1, 16, 2), (8, 1, 4)):
        wanted = lambda args: {"out_ptr": np.ascontiguousarray(args["x_ptr"].transpose(2, 0, 1))}
        sizes = dict(zip("ABC", shape, strict=True))
        cases.append(_case(permute_volume, "x".join(map(str, shape)), _volume(shape), wanted, sizes))
    cases += [_case(nested_joins, str(w), _ids(w), _joined, {"W": w}) for w in (1, 8)]
    cases += [_case(flip_and_broadcast, str(n), _vector(n), _vector_reference, {"N": n}) for n in (2, 16)]
    return cases


CASES = _cases()
