"""The device library's surfaces: every overload, argument rules, and values against Python's math."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from ops.edges import edge_values, same_bits
from ops.emulate import Kernel, check_array
from ops.refusal import refused
from tritium.ir.core import Region
from tritium.ir.types import dtype_named, float16, float32, float64, int32, int64, tile, uint32
from tritium.numerics.libdevice import LIBDEVICE
from tritium.ops.base import TypeRuleError
from tritium.ops.libdevice import LibraryCall
from tritium.ops.surface import SURFACES

VARIANTS = [(name, v) for name, variants in LIBDEVICE.items() for v in variants]


@pytest.mark.parametrize(
    ("name", "variant"), VARIANTS, ids=[f"{n}-{'-'.join(v.arguments)}" for n, v in VARIANTS]
)
def test_every_overload(name, variant):
    """Result type and storage, and that lazily repeated axes change nothing."""
    region = Region()
    types = [dtype_named(t) for t in variant.arguments]
    op = LibraryCall([region.add_arg(tile(t, (3, 4))) for t in types], function=name)
    assert op.result.type == tile(dtype_named(variant.result), (3, 4))
    shapes = itertools.cycle([(1, 1, 1, 3, 4), (2, 1, 1, 1, 4), (1, 1, 2, 3, 1)])
    rng = np.random.default_rng(len(name))
    inputs = [rng.choice(edge_values(t), next(shapes)) for t in types]
    kept = [x.copy() for x in inputs]
    out = op.eval(*inputs)
    check_array(op, op.result, out)
    whole = np.broadcast_shapes(*(x.shape for x in inputs))
    full = op.eval(*(np.ascontiguousarray(np.broadcast_to(x, whole)) for x in inputs))
    assert same_bits(np.broadcast_to(out, whole), full)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(kept, inputs, strict=True))


def test_every_function_has_a_surface_and_a_sentence():
    names = {n.removeprefix("libdevice.") for n in SURFACES if n.startswith("libdevice.")}
    assert names == set(LIBDEVICE) and len(names) == 198
    for name in names:
        doc = SURFACES[f"libdevice.{name}"].doc
        assert ", per element." in doc and "Types: (" in doc and f"libdevice.{name}(" in doc
    assert str(SURFACES["libdevice.fma"].signature) == "(arg0, arg1, arg2)"


POINTS = [-2.5, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 2.5, 3.75]
MATH = {
    "tanh": (math.tanh, POINTS),
    "exp": (math.exp, POINTS),
    "expm1": (math.expm1, POINTS),
    "log1p": (math.log1p, POINTS[2:]),
    "atan": (math.atan, POINTS),
    "asin": (math.asin, POINTS[1:7]),
    "acos": (math.acos, POINTS[1:7]),
    "tan": (math.tan, POINTS),
    "cosh": (math.cosh, POINTS),
    "asinh": (math.asinh, POINTS),
    "erf": (math.erf, POINTS),
    "erfc": (math.erfc, POINTS),
    "lgamma": (math.lgamma, POINTS[4:]),
    "tgamma": (math.gamma, POINTS[4:]),
    "floor": (math.floor, POINTS),
    "trunc": (math.trunc, POINTS),
    "rint": (round, POINTS),
    "round": (lambda v: math.copysign(math.floor(abs(v) + 0.5), v), POINTS),
    "fast_expf": (math.exp, POINTS),
    "fast_logf": (math.log, POINTS[4:]),
    "fast_tanhf": (math.tanh, POINTS),
    "saturatef": (lambda v: min(max(v, 0.0), 1.0), POINTS),
}


@pytest.mark.parametrize("name", MATH)
def test_values(name):
    fn, points = MATH[name]
    k = Kernel()
    out = k.tl(f"libdevice.{name}", k.arg(points, float32))
    assert np.allclose(k.wide(out), [fn(p) for p in points], rtol=2e-7, atol=1e-12)


def test_functions_of_several_arguments():
    k = Kernel()
    x, y = k.arg([2.0, -3.0, 0.5], float64), k.arg([3.0, 2.0, -1.0], float64)
    outs = {
        "pow": [8.0, 9.0, 2.0],
        "atan2": [math.atan2(2, 3), math.atan2(-3, 2), math.atan2(0.5, -1)],
        "hypot": [math.hypot(2, 3), math.hypot(3, 2), math.hypot(0.5, 1)],
        "fmod": [2.0, -1.0, 0.5],
        "copysign": [2.0, 3.0, -0.5],
        "fdim": [0.0, 0.0, 1.5],
    }
    for name, want in outs.items():
        assert np.allclose(k.value(k.tl(f"libdevice.{name}", x, y)), want, rtol=1e-14)
    n = k.arg([1, 2, 3], int32)
    assert k.value(k.tl("libdevice.ldexp", x, n)).tolist() == [4.0, -12.0, 4.0]
    assert k.value(k.tl("libdevice.pow", x, n)).tolist() == [2.0, 9.0, 0.125]
    assert np.allclose(k.value(k.tl("libdevice.jn", n, k.arg([0.0, 0.0, 0.0], float32))), 0)


def test_integers_and_predicates():
    k = Kernel()
    x = k.arg([0, 1, 8, -1], int32)
    assert k.value(k.tl("libdevice.ffs", x)).tolist() == [0, 1, 4, 1]
    assert k.value(k.tl("libdevice.clz", x)).tolist() == [32, 31, 28, 0]
    assert k.value(k.tl("libdevice.popc", x)).tolist() == [0, 1, 1, 32]
    assert k.value(k.tl("libdevice.mulhi", x, k.arg([2**31 - 1] * 4, int32))).tolist() == [0, 0, 3, -1]
    f = k.arg([1.0, math.inf, math.nan, -math.inf], float32)
    assert k.value(k.tl("libdevice.isnan", f)).tolist() == [False, False, True, False]
    assert k.value(k.tl("libdevice.isinf", f)).tolist() == [False, True, False, True]
    assert k.value(k.tl("libdevice.finitef", f)).tolist() == [True, False, False, False]
    assert k.value(k.tl("libdevice.float_as_int", f))[0] == 0x3F800000
    assert k.value(k.tl("libdevice.llrint", k.arg([2.5, -3.5], float64))).tolist() == [2, -4]


def test_directed_rounding():
    k = Kernel()
    x, y = k.arg([1.0], float32), k.arg([3.0], float32)
    down, near, up = (k.value(k.tl(f"libdevice.div_{m}", x, y)).item() for m in ("rd", "rn", "ru"))
    assert down < up and down < 1 / 3 < up and near in (down, up)
    assert k.value(k.tl("libdevice.float2int_ru", k.arg([1.25, -1.25], float32))).tolist() == [2, -1]


def test_numbers_take_the_type_of_an_overload():
    k = Kernel()
    x, d = k.arg([2.0, 3.0], float32), k.arg([2.0, 3.0], float64)
    assert k.tl("libdevice.pow", x, 2.0).dtype is float32
    assert k.tl("libdevice.pow", d, 2.0).dtype is float64
    assert k.tl("libdevice.pow", x, 2).value.owner.args[1].type.scalar is int32
    assert k.tl("libdevice.atan2", 1, d).dtype is float64
    assert k.value(k.tl("libdevice.ldexp", x, 3)).tolist() == [16.0, 24.0]
    assert k.tl("libdevice.tanh", 0.5).dtype is float32
    assert k.tl("libdevice.tanh", arg0=x).dims == (2,)


def test_shapes_broadcast():
    k = Kernel()
    x = k.raw(np.array([[1.0], [2.0]], np.float32), float32, (2, 1))
    out = k.tl("libdevice.pow", x, k.arg([1.0, 2.0, 3.0], float32))
    assert k.value(out).tolist() == [[1, 1, 1], [2, 4, 8]]


def test_refusals():
    k = Kernel()
    for ty, name in (
        (float16, "tanh"),
        (int32, "tanh"),
        (uint32, "clz"),
        (float64, "fast_expf"),
        (int64, "byte_perm"),
    ):
        args = [k.arg([1], ty)] * len(LIBDEVICE[name][0].arguments)
        error = refused("TRI0409", k.tl, f"libdevice.{name}", *args)
        assert name in error.message and dtype_named(LIBDEVICE[name][0].arguments[0]).name in error.hint
    refused("TRI0409", k.tl, "libdevice.pow", k.arg([1.0], float32), k.arg([1.0], float64))
    refused("TRI0409", k.tl, "libdevice.ffs", 1.5)
    refused("TRI0415", k.tl, "libdevice.tanh", None)
    refused("TRI0407", k.tl, "libdevice.pow", k.arg([1.0, 2.0], float32), k.arg([1.0, 2.0, 3.0], float32))
    region = Region()
    with pytest.raises(TypeRuleError, match=r"libdevice has no tanh\(int32\)"):
        LibraryCall([region.add_arg(int32)], function="tanh")
