"""Activation functions over a 1-D grid."""

from __future__ import annotations

import math

import numpy as np

import tritium as triton
import tritium.language as tl
from tritium.language.extra import libdevice

from .arrays import DTYPES, any_values, normals, placed, poisoned
from .protocol import Args, Case, Launch
from .rounding import narrow, tolerance, wide


@triton.jit
def relu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0)
    tl.store(out_ptr + offsets, tl.maximum(x, 0.0), mask=inside)


@triton.jit
def leaky_relu(x_ptr, out_ptr, slope, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0)
    tl.store(out_ptr + offsets, tl.where(x >= 0, x, slope * x), mask=inside)


@triton.jit
def sigmoid(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets, 1.0 / (1.0 + tl.exp(-x)), mask=inside)


@triton.jit
def silu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=inside)


@triton.jit
def gelu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    tl.store(out_ptr + offsets, 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476)), mask=inside)


@triton.jit
def gelu_tanh(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    tl.store(out_ptr + offsets, 0.5 * x * (1.0 + libdevice.tanh(inner)), mask=inside)


@triton.jit
def math_functions(
    x_ptr,
    exp2_ptr,
    log_ptr,
    log2_ptr,
    sqrt_ptr,
    rsqrt_ptr,
    sin_ptr,
    cos_ptr,
    floor_ptr,
    ceil_ptr,
    abs_ptr,
    n,
    BLOCK: tl.constexpr,
):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside, other=1.0)
    size = tl.abs(x) + 0.5
    tl.store(exp2_ptr + offsets, tl.exp2(x), mask=inside)
    tl.store(log_ptr + offsets, tl.log(size), mask=inside)
    tl.store(log2_ptr + offsets, tl.log2(size), mask=inside)
    tl.store(sqrt_ptr + offsets, tl.sqrt(size), mask=inside)
    tl.store(rsqrt_ptr + offsets, tl.rsqrt(size), mask=inside)
    tl.store(sin_ptr + offsets, tl.sin(x), mask=inside)
    tl.store(cos_ptr + offsets, tl.cos(x), mask=inside)
    tl.store(floor_ptr + offsets, tl.floor(x), mask=inside)
    tl.store(ceil_ptr + offsets, tl.ceil(x), mask=inside)
    tl.store(abs_ptr + offsets, tl.abs(x), mask=inside)


def _erf(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf, otypes=[np.float64])(x)


FORMULAS = {
    "relu": lambda x, args: np.fmax(x, 0.0),
    "leaky_relu": lambda x, args: np.where(x >= 0, x, np.float64(np.float32(args.get("slope", 0))) * x),
    "sigmoid": lambda x, args: 1.0 / (1.0 + np.exp(-x)),
    "silu": lambda x, args: x / (1.0 + np.exp(-x)),
    "gelu": lambda x, args: 0.5 * x * (1.0 + _erf(x / math.sqrt(2.0))),
    "gelu_tanh": lambda x, args: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
}
KERNELS = {
    "relu": relu,
    "leaky_relu": leaky_relu,
    "sigmoid": sigmoid,
    "silu": silu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
}


def _reference(formula: str):
    def reference(args: Args) -> dict[str, np.ndarray]:
        value = FORMULAS[formula](wide(args["x_ptr"]), args)
        return {"out_ptr": narrow(value, args["out_ptr"].dtype)}

    return reference


def _make(n: int, dtype: str, block: int, awkward: bool, slope: float | None):
    def make(rng: np.random.Generator) -> Launch:
        values = any_values(rng, n, DTYPES[dtype]) if awkward else normals(rng, n, DTYPES[dtype], scale=3)
        args = {"x_ptr": placed(values), "out_ptr": poisoned(n, DTYPES[dtype]), "n": n}
        if slope is not None:
            args["slope"] = slope
        return Launch(args, (triton.cdiv(n, block),))

    return make


def _case(name: str, n: int, dtype: str, block: int = 128, awkward: bool = False, *tags: str) -> Case:
    make = _make(n, dtype, block, awkward, 0.1 if name == "leaky_relu" else None)
    label = f"activations/{name}/{dtype}-{n}" + ("-awkward" if awkward else "")
    tags = (*tags, "libdevice") if name == "gelu_tanh" else tags
    limits = tolerance(DTYPES[dtype], scale=8)
    return Case(
        label,
        KERNELS[name],
        make,
        _reference(name),
        **limits,
        constexprs={"BLOCK": block},
        tags=frozenset(tags),
    )


def _math_make(rng: np.random.Generator) -> Launch:
    x = placed(normals(rng, 333, np.float32, scale=4))
    names = ("exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "floor", "ceil", "abs")
    outputs = {f"{name}_ptr": poisoned(x.shape, x.dtype) for name in names}
    return Launch({"x_ptr": x, **outputs, "n": x.size}, (triton.cdiv(x.size, 64),))


def _math_reference(args: Args) -> dict[str, np.ndarray]:
    x = wide(args["x_ptr"])
    size = wide((np.abs(args["x_ptr"]) + np.float32(0.5)).astype(np.float32))
    values = {
        "exp2": np.exp2(x),
        "log": np.log(size),
        "log2": np.log2(size),
        "sqrt": np.sqrt(size),
        "rsqrt": 1 / np.sqrt(size),
        "sin": np.sin(x),
        "cos": np.cos(x),
        "floor": np.floor(x),
        "ceil": np.ceil(x),
        "abs": np.abs(x),
    }
    return {f"{name}_ptr": narrow(value, np.float32) for name, value in values.items()}


CASES = [_case(name, n, "f32") for name in KERNELS for n in (1, 24, 1009)]
CASES += [_case(name, 137, dtype) for name in KERNELS for dtype in ("f16", "bf16")]
CASES += [_case(name, 200, "f32", 64, True) for name in ("relu", "leaky_relu", "sigmoid", "silu")]
CASES += [_case("relu", 96, "f64"), _case("silu", 300_007, "f32", 1024, False, "large")]
CASES += [
    # Fast sine and cosine are accurate to 2**-21 absolute inside [-pi, pi] and worse beyond.
    Case(
        "activations/math_functions/f32",
        math_functions,
        _math_make,
        _math_reference,
        rtol=2e-6,
        atol=1e-5,
        constexprs={"BLOCK": 64},
    )
]
