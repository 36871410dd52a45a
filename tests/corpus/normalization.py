"""Layer norm, RMS norm and group norm, forward."""

from __future__ import annotations

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, normals, placed, poisoned
from .protocol import Args, Case, Launch
from .rounding import narrow, tolerance, wide


@triton.jit
def layernorm_one_block(
    x_ptr, w_ptr, b_ptr, y_ptr, mean_ptr, rstd_ptr, row_stride, N, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < N
    x = tl.load(x_ptr + row * row_stride + cols, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    centred = tl.where(inside, x - mean, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / N + eps)
    w = tl.load(w_ptr + cols, mask=inside).to(tl.float32)
    b = tl.load(b_ptr + cols, mask=inside).to(tl.float32)
    tl.store(y_ptr + row * row_stride + cols, centred * rstd * w + b, mask=inside)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


@triton.jit
def layernorm_two_pass(
    x_ptr, w_ptr, b_ptr, y_ptr, mean_ptr, rstd_ptr, row_stride, N, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    x_ptr += row * row_stride
    y_ptr += row * row_stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / N
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
        centred = tl.where(cols < N, x - mean, 0.0)
        squares += centred * centred
    rstd = tl.rsqrt(tl.sum(squares, axis=0) / N + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        inside = cols < N
        x = tl.load(x_ptr + cols, mask=inside, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + cols, mask=inside)
        b = tl.load(b_ptr + cols, mask=inside)
        tl.store(y_ptr + cols, (x - mean) * rstd * w + b, mask=inside)


@triton.jit
def rmsnorm(x_ptr, w_ptr, y_ptr, row_stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < N
    x = tl.load(x_ptr + row * row_stride + cols, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / N + eps)
    w = tl.load(w_ptr + cols, mask=inside, other=0.0)
    tl.store(y_ptr + row * row_stride + cols, (x * scale).to(w.dtype) * w, mask=inside)


@triton.jit
def group_norm(x_ptr, w_ptr, b_ptr, y_ptr, channels, pixels, eps, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    image = tl.program_id(0)
    group = tl.program_id(1)
    per_group = channels // GROUPS
    size = per_group * pixels
    base = (image * channels + group * per_group) * pixels
    total = tl.zeros([BLOCK], dtype=tl.float32)
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, size, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + at, mask=at < size, other=0.0)
        total += x
        squares += x * x
    mean = tl.sum(total, axis=0) / size
    variance = tl.sum(squares, axis=0) / size - mean * mean
    rstd = 1.0 / tl.sqrt(variance + eps)
    for start in range(0, size, BLOCK):
        at = start + tl.arange(0, BLOCK)
        channel = group * per_group + at // pixels
        x = tl.load(x_ptr + base + at, mask=at < size, other=0.0)
        w = tl.load(w_ptr + channel, mask=at < size)
        b = tl.load(b_ptr + channel, mask=at < size)
        tl.store(y_ptr + base + at, (x - mean) * rstd * w + b, mask=at < size)


def _layernorm(m: int, n: int, dtype: str, pad: int):
    def make(rng: np.random.Generator) -> Launch:
        kind, stride = DTYPES[dtype], n + pad
        x = placed(normals(rng, (m, n), kind, scale=2) + np.ones((), kind), (stride, 1))
        args: Args = {
            "x_ptr": x,
            "w_ptr": placed(normals(rng, n, kind)),
            "b_ptr": placed(normals(rng, n, kind)),
        }
        args |= {"y_ptr": poisoned((m, n), kind, (stride, 1)), "mean_ptr": poisoned(m, np.float32)}
        args |= {"rstd_ptr": poisoned(m, np.float32), "row_stride": stride, "N": n, "eps": 1e-5}
        return Launch(args, (m,))

    return make


def _layernorm_reference(args: Args) -> dict[str, np.ndarray]:
    x, w, b = (wide(args[name]) for name in ("x_ptr", "w_ptr", "b_ptr"))
    mean = x.mean(axis=1)
    rstd = 1 / np.sqrt(x.var(axis=1) + args["eps"])
    y = (x - mean[:, None]) * rstd[:, None] * w + b
    values = {"y_ptr": y, "mean_ptr": mean, "rstd_ptr": rstd}
    return {name: narrow(value, args[name].dtype) for name, value in values.items()}


def _rmsnorm(m: int, n: int, dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        kind = DTYPES[dtype]
        x, w = placed(normals(rng, (m, n), kind, scale=3)), placed(normals(rng, n, kind))
        args = {"x_ptr": x, "w_ptr": w, "y_ptr": poisoned((m, n), kind), "row_stride": n, "N": n, "eps": 1e-6}
        return Launch(args, (m,))

    return make


def _rmsnorm_reference(args: Args) -> dict[str, np.ndarray]:
    x, dtype = wide(args["x_ptr"]), args["y_ptr"].dtype
    scaled = narrow(x / np.sqrt((x * x).mean(axis=1, keepdims=True) + args["eps"]), dtype)
    return {"y_ptr": narrow(wide(scaled) * wide(args["w_ptr"]), dtype)}


def _group(images: int, channels: int, pixels: int, groups: int):
    def make(rng: np.random.Generator) -> Launch:
        x = placed(normals(rng, (images, channels, pixels), np.float32))
        args: Args = {"x_ptr": x, "w_ptr": placed(normals(rng, channels, x.dtype))}
        args |= {"b_ptr": placed(normals(rng, channels, x.dtype)), "y_ptr": poisoned(x.shape, x.dtype)}
        args |= {"channels": channels, "pixels": pixels, "eps": 1e-5}
        return Launch(args, (images, groups))

    return make


def _group_reference(args: Args) -> dict[str, np.ndarray]:
    x = wide(args["x_ptr"])
    grouped = x.reshape(x.shape[0], args["GROUPS"], -1)
    mean, variance = grouped.mean(axis=2, keepdims=True), grouped.var(axis=2, keepdims=True)
    y = ((grouped - mean) / np.sqrt(variance + args["eps"])).reshape(x.shape)
    return {"y_ptr": narrow(y * wide(args["w_ptr"])[:, None] + wide(args["b_ptr"])[:, None], np.float32)}


def _norm_case(kernel, m: int, n: int, dtype: str, block: int, pad: int = 0, *tags: str) -> Case:
    name = f"normalization/{kernel.__name__}/{dtype}-{m}x{n}"
    limits = tolerance(DTYPES[dtype], terms=n, scale=4)
    limits["rtol"] = max(limits["rtol"], 1e-5)
    make, reference = _layernorm(m, n, dtype, pad), _layernorm_reference
    if kernel is rmsnorm:
        make, reference = _rmsnorm(m, n, dtype), _rmsnorm_reference
        # A product of two rounded values: one more unit when the first rounding goes the other way.
        limits["rtol"] *= 2
    return Case(name, kernel, make, reference, **limits, constexprs={"BLOCK": block}, tags=frozenset(tags))


CASES = [
    _norm_case(layernorm_one_block, 1, 1, "f32", 1),
    _norm_case(layernorm_one_block, 5, 24, "f32", 32, 8),
    _norm_case(layernorm_one_block, 3, 97, "f16", 128),
    _norm_case(layernorm_one_block, 3, 97, "bf16", 128),
    _norm_case(layernorm_one_block, 64, 1021, "f32", 1024, 0, "large"),
    _norm_case(layernorm_two_pass, 1, 1, "f32", 16),
    _norm_case(layernorm_two_pass, 4, 40, "f32", 16, 3),
    _norm_case(layernorm_two_pass, 3, 131, "f16", 64),
    _norm_case(layernorm_two_pass, 16, 5000, "f32", 512, 0, "large"),
    _norm_case(rmsnorm, 1, 1, "f32", 1),
    _norm_case(rmsnorm, 7, 24, "f32", 32),
    _norm_case(rmsnorm, 3, 127, "f16", 128),
    _norm_case(rmsnorm, 3, 127, "bf16", 128),
]
CASES += [
    Case(
        f"normalization/group_norm/{images}x{channels}x{pixels}-{groups}",
        group_norm,
        _group(images, channels, pixels, groups),
        _group_reference,
        rtol=1e-5,
        atol=2e-5,
        constexprs={"GROUPS": groups, "BLOCK": 64},
    )
    for images, channels, pixels, groups in ((1, 1, 40, 1), (2, 6, 25, 3), (1, 8, 97, 2))
]
