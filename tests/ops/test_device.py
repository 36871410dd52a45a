"""What kernels may ask of an NVIDIA GPU, where there is none, and library functions by their symbols."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from ops.edges import edge_values, same_bits
from ops.emulate import Kernel
from ops.refusal import refused
from tritium.ir.types import dtype_named, float8e4b15, float16, float32, float64, int32, int64, uint32
from tritium.numerics.cast import cast
from tritium.ops.base import Effect, TypeRuleError
from tritium.ops.device import DeviceRegister, GridDependency
from tritium.ops.extern import function_of


def test_registers():
    k = Kernel()
    first, second = k.tl("cuda.globaltimer"), k.tl("cuda.globaltimer")
    smid = k.tl("cuda.smid")
    assert first.dtype is int64 and smid.dtype is int32
    a, b, number = (x.item() for x in k.arrays(first, second, smid))
    assert 0 < a <= b and number == 0
    assert Effect.VOLATILE in first.value.owner.effects()
    with pytest.raises(TypeRuleError, match="globaltimer or smid"):
        DeviceRegister(register="laneid")


@triton.jit
def _timed(x, out):
    start = tl.extra.cuda.globaltimer()
    tl.store(out, start)
    for k in range(5000):
        tl.store(x, tl.load(x) + 1)
    tl.store(out + 1, tl.extra.cuda.globaltimer())


def test_the_timer_is_read_where_it_stands():
    x, out = np.zeros(1, np.int32), np.zeros(2, np.int64)
    _timed[(1,)](x, out)
    assert x[0] == 5000 and out[1] - out[0] > 500


def test_dependent_launches():
    k = Kernel()
    k.tl("cuda.gdc_wait")
    k.tl("cuda.gdc_launch_dependents")
    k.run()
    assert [op.action for op in k.function.find(GridDependency)] == ["wait", "launch"]
    assert all(op.effects() is Effect.BARRIER for op in k.function.find(GridDependency))
    with pytest.raises(TypeRuleError, match='"wait" or "launch"'):
        GridDependency(action="stop")


@triton.jit
def _counts(out):
    tl.store(out, tl.extra.cuda.num_warps())
    tl.store(out + 1, tl.extra.cuda.num_threads())
    tile: tl.constexpr = tl.extra.cuda.num_threads()
    tl.store(out + 2, tl.sum(tl.full((tile,), 1, tl.int32)))


def test_warps_and_threads_are_compile_time_numbers():
    out = np.zeros(3, np.int32)
    for warps in (1, 4, 8):
        _counts[(1,)](out, num_warps=warps)
        assert out.tolist() == [warps, 32 * warps, 32 * warps]


@pytest.mark.parametrize("name", ["convert_custom_float8_sm70", "convert_custom_float8_sm80"])
def test_conversions_of_fp8e4b15(name):
    for ty in (float16, float32):
        x = edge_values(ty)
        k = Kernel()
        narrow = k.tl(f"cuda.{name}", k.raw(x, ty, x.shape), float8e4b15)
        wide = k.tl(f"cuda.{name}", narrow, ty)
        assert narrow.dtype is float8e4b15 and wide.dtype is ty
        bits = cast(x, ty.text, "f8e4b15")
        assert same_bits(k.value(narrow), bits)
        assert same_bits(k.value(wide), cast(bits, "f8e4b15", ty.text))
    k = Kernel()
    refused("TRI0412", k.tl, f"cuda.{name}", k.arg([1.0], float32), float16)
    refused("TRI0617", k.tl, f"cuda.{name}", k.arg([1.0], float8e4b15), float16, "rtne")


SYMBOLS = [
    ("__nv_sinf", "f32", "sin"), ("__nv_sin", "f64", "sin"), ("__nv_sinpif", "f32", "sinpi"), ("__nv_erff", "f32", "erf"),
    ("__nv_dadd_rd", "f64 f64", "add_rd"), ("__nv_fmaf_rz", "f32 f32 f32", "fma_rz"), ("__nv_frsqrt_rn", "f32", "rsqrt_rn"),
    ("__nv_clzll", "i64", "clz"), ("__nv_popc", "i32", "popc"), ("__nv_umul64hi", "u64 u64", "mulhi"), ("__nv_llabs", "i64", "abs"),
    ("__nv_fabsf", "f32", "abs"), ("__nv_powif", "f32 i32", "pow"), ("__nv_isnand", "f64", "isnan"), ("__nv_signbitf", "f32", "signbit"),
    ("__nv_fast_fdividef", "f32 f32", "fast_dividef"), ("__nv_usad", "u32 u32 u32", "sad"), ("__nv_norm4df", "f32 f32 f32 f32", "norm4d"),
    ("__nv_float2int_rn", "f32", "float2int_rn"), ("__nv_cyl_bessel_i0f", "f32", "cyl_bessel_i0"), ("__nv_normcdfinvf", "f32", "normcdfinv"),
    ("__nv_sinf", "f64", "sin"), ("__nv_nothing", "f32", None), ("sinf", "f32", None),
]  # fmt: skip


@pytest.mark.parametrize(("symbol", "types", "name"), SYMBOLS)
def test_symbols(symbol, types, name):
    """The types decide between overloads; what the symbol says of them does not count."""
    assert function_of(symbol, tuple(dtype_named(t) for t in types.split())) == name


_ROOTS = {
    (tl.float32,): ("__nv_sqrtf", tl.float32),
    (tl.float64,): ("__nv_sqrt", tl.float64),
    (tl.int32,): ("__nv_popc", tl.int32),
}


@tl.core.extern
def _root(x, _semantic=None):
    return tl.core.extern_elementwise("libdevice", "", [x], _ROOTS, is_pure=True, _semantic=_semantic)


@triton.jit
def _roots(x, y, n, out, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    mask = lanes < n
    tl.store(out + lanes, _root(tl.load(x + lanes, mask=mask)), mask=mask)
    tl.store(y + lanes, _root(lanes), mask=mask)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_extern_elementwise(kind):
    x = np.array([0.0, -0.0, 2.0, 9.0, np.inf, -1.0, np.nan], kind)
    out, bits = np.zeros_like(x), np.zeros(7, np.int32)
    _roots[(1,)](x, bits, 7, out, BLOCK=8)
    with np.errstate(invalid="ignore"):
        assert same_bits(out, np.sqrt(x))
    assert bits.tolist() == [bin(i).count("1") for i in range(7)]


def test_extern_elementwise_refuses():
    k = Kernel()
    table = {(float32,): ("__nv_sqrtf", float32), (uint32,): ("__nv_other", uint32)}
    refused("TRI0409", k.tl, "core.extern_elementwise", "", "", [k.arg([1.0], float64)], table, True)
    refused("TRI0302", k.tl, "core.extern_elementwise", "", "", [k.arg([1], uint32)], table, True)
    assert k.value(k.tl("core.extern_elementwise", "", "", [4.0], table, True)).item() == math.sqrt(4)
