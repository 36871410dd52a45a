"""The device library's table: every name and signature is there, every variant evaluates, values are right."""

import math
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pytest

from tritium.numerics import libdevice
from tritium.numerics.formats import FORMATS
from tritium.numerics.libdevice import LIBDEVICE, find_variant

# Signatures as argument formats > result format; "F" stands for f32 and f64 variants alike.
F_TO_F = (
    "floor rsqrt ceil trunc exp2 rcp_rn rcp_rz rcp_rd rcp_ru sqrt_rn sqrt_rz sqrt_rd sqrt_ru sqrt rint nearbyint sin cos "
    "sinpi cospi tan log2 exp exp10 cosh sinh tanh atan asin acos log log10 log1p acosh asinh atanh expm1 cbrt rcbrt j0 j1 "
    "y0 y1 cyl_bessel_i0 cyl_bessel_i1 erf erfinv erfc erfcx erfcinv normcdfinv normcdf lgamma tgamma round logb"
)
FF_TO_F = (
    "div_rn div_rz div_rd div_ru add_rn add_rz add_rd add_ru mul_rn mul_rz mul_rd mul_ru sub_rn sub_rz sub_rd sub_ru copysign "
    "nextafter atan2 hypot rhypot fmod remainder fdim"
)
SIGNATURES = {
    **{name: {"F>F"} for name in F_TO_F.split()},
    **{name: {"F F>F"} for name in FF_TO_F.split()},
    **{name: {"F F F>F"} for name in "fma fma_rn fma_rz fma_rd fma_ru norm3d rnorm3d".split()},
    **{name: {"F F F F>F"} for name in ("norm4d", "rnorm4d")},
    **{name: {"f32>f32"} for name in "saturatef rsqrt_rn fast_sinf fast_cosf fast_log2f fast_logf fast_expf fast_tanf fast_tanhf fast_exp10f fast_log10f".split()},
    **{name: {"f32 f32>f32"} for name in ("fast_dividef", "fast_powf")},
    **{name: {"i32>i32", "i64>i32"} for name in ("clz", "popc", "ffs")},
    **{name: {"F>i1"} for name in ("isnan", "isinf")},
    **{name: {"F>i32"} for name in ("signbit", "ilogb")},
    **{name: {"F>i64"} for name in ("llrint", "llround")},
    **{name: {"F i32>F"} for name in ("ldexp", "scalbn")},
    **{name: {"i32 F>F"} for name in ("jn", "yn")},
    **{name: {"i32 i32>i32", "u32 u32>u32"} for name in ("mul24", "hadd", "rhadd")},
    "abs": {"i32>i32", "i64>i64", "F>F"},
    "brev": {"i32>i32", "i64>i64"},
    "byte_perm": {"i32 i32 i32>i32"},
    "mulhi": {"i32 i32>i32", "u32 u32>u32", "i64 i64>i64", "u64 u64>u64"},
    "sad": {"i32 i32 u32>i32", "u32 u32 u32>u32"},
    "pow": {"F i32>F", "F F>F"},
    "rcp64h": {"f64>f64"},
    "finitef": {"f32>i1"},
    "isfinited": {"f64>i1"},
    "hiloint2double": {"i32 i32>f64"},
    "double2loint": {"f64>i32"},
    "double2hiint": {"f64>i32"},
    "int_as_float": {"i32>f32"},
    "float_as_int": {"f32>i32"},
    "uint_as_float": {"u32>f32"},
    "float_as_uint": {"f32>i32"},
    "longlong_as_double": {"i64>f64"},
    "double_as_longlong": {"f64>i64"},
    "int2double_rn": {"i32>f64"},
    "uint2double_rn": {"u32>f64"},
    **{f"double2float_{m}": {"f64>f32"} for m in ("rn", "rz", "rd", "ru")},
    **{f"{s}2{t}_{m}": {f"{f}>{r}"} for m in ("rn", "rz", "rd", "ru") for s, f in (("float", "f32"), ("double", "f64"))
       for t, r in (("int", "i32"), ("uint", "i32"), ("ll", "i64"), ("ull", "i64"))},
    **{f"{s}2float_{m}": {f"{f}>f32"} for m in ("rn", "rz", "rd", "ru") for s, f in (("int", "i32"), ("uint", "u32"), ("ll", "i64"), ("ull", "u64"))},
    **{f"{s}2double_{m}": {f"{f}>f64"} for m in ("rn", "rz", "rd", "ru") for s, f in (("ll", "i64"), ("ull", "u64"))},
}  # fmt: skip


def expanded(signatures):
    out = set()
    for text in signatures:
        out |= {text.replace("F", "f32"), text.replace("F", "f64")}
    return out


def call(name, *args):
    """Call the variant whose argument formats are the dtypes' own."""
    names = {np.dtype(f.storage): f.name for f in FORMATS.values() if f.name != "f8e4b15"}
    formats = tuple(names[np.asarray(a).dtype] for a in args)
    variant = find_variant(name, formats)
    assert variant is not None, (name, formats)
    return variant.evaluate(*(np.asarray(a) for a in args))


def test_names_and_signatures():
    assert len(LIBDEVICE) == 198 and set(LIBDEVICE) == set(SIGNATURES)
    for name, variants in LIBDEVICE.items():
        got = {f"{' '.join(v.arguments)}>{v.result}" for v in variants}
        assert got == expanded(SIGNATURES[name]) and len(variants) == len(got), name


def test_integer_power_is_tried_before_float_power():
    assert [v.arguments[1] for v in LIBDEVICE["pow"]] == ["i32", "i32", "f32", "f64"]
    assert find_variant("pow", ("f32", "f64")) is None and find_variant("tanh", ("f16",)) is None
    assert find_variant("no_such_function", ("f32",)) is None


def operand(fmt, seed):
    form = FORMATS[fmt]
    rng = np.random.default_rng(seed)
    if form.is_float:
        points = [0.0, -0.0, 1.0, -2.5, 0.3, math.inf, -math.inf, math.nan, 1e30, -1e-40]
        return rng.permutation(np.array(points)).astype(form.storage)
    points = [0, 1, 2, 7, form.max_int, form.min_int, form.max_int // 3, 31, 5, 100]
    return rng.permutation(np.array(points, dtype=form.storage))


@pytest.mark.parametrize("name", sorted(LIBDEVICE))
def test_every_variant_gives_its_result_format_without_warnings(name):
    for variant in LIBDEVICE[name]:
        args = [operand(fmt, k) for k, fmt in enumerate(variant.arguments)]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            flat = variant.evaluate(*args)
            column = variant.evaluate(args[0].reshape(5, 2), *(a.reshape(5, 2) for a in args[1:]))
            scalar = variant.evaluate(*(a[3] for a in args))
        assert flat.dtype == FORMATS[variant.result].storage and flat.shape == (10,)
        assert column.tobytes() == flat.tobytes()
        assert isinstance(scalar, np.ndarray) and scalar.shape == () and scalar.tobytes() == flat[3].tobytes()


f32, f64, i32, i64, u32, u64 = np.float32, np.float64, np.int32, np.int64, np.uint32, np.uint64
VALUES = [
    ("abs", (i32(-5),), 5), ("abs", (f64(-0.5),), 0.5), ("floor", (f32(-1.5),), -2), ("ceil", (f64(1.2),), 2),
    ("trunc", (f32(-1.7),), -1), ("rint", (f32(2.5),), 2), ("nearbyint", (f64(-3.5),), -4), ("round", (f32(2.5),), 3),
    ("llrint", (f64(2.5),), 2), ("llround", (f32(-2.5),), -3), ("llround", (f64(2.5),), 3), ("llrint", (f32(1e30),), 2**63 - 1),
    ("exp10", (f32(2),), 100), ("log2", (f64(8),), 3), ("sinpi", (f32(0.5),), 1), ("cospi", (f64(1),), -1), ("cbrt", (f32(27),), 3),
    ("hypot", (f64(3), f64(4)), 5), ("rhypot", (f32(3), f32(4)), f32(0.2)), ("norm3d", (f32(2), f32(3), f32(6)), 7),
    ("rnorm3d", (f64(2), f64(4), f64(4)), 1 / 6), ("norm4d", (f32(1), f32(1), f32(1), f32(1)), 2), ("rnorm4d", (f64(1), f64(1), f64(1), f64(1)), 0.5),
    ("pow", (f32(2), i32(-2)), 0.25), ("pow", (f64(3), f64(2)), 9), ("fmod", (f32(-7.5), f32(2)), -1.5), ("remainder", (f64(7), f64(4)), -1),
    ("fma", (f32(2), f32(3), f32(4)), 10), ("fdim", (f64(1), f64(3)), 0), ("copysign", (f32(2), f32(-1)), -2), ("atan2", (f64(1), f64(0)), math.pi / 2),
    ("nextafter", (f64(0), f64(1)), 5e-324), ("ldexp", (f32(3), i32(4)), 48), ("scalbn", (f64(3), i32(-1)), 1.5), ("ilogb", (f64(10),), 3), ("logb", (f32(0.4),), -2),
    ("isnan", (f32(math.nan),), True), ("isinf", (f64(-math.inf),), True), ("isinf", (f32(1),), False), ("finitef", (f32(1),), True), ("isfinited", (f64(math.nan),), False),
    ("signbit", (f32(-0.0),), 1), ("signbit", (f64(3),), 0), ("clz", (i32(1),), 31), ("clz", (i64(-1),), 0), ("popc", (i64(-1),), 64), ("ffs", (i32(8),), 4),
    ("brev", (i32(1),), -(2**31)), ("byte_perm", (i32(0x03020100), i32(0x07060504), i32(0x7531)), 0x07050301), ("mulhi", (i32(-(2**31)), i32(2)), -1),
    ("mulhi", (u64(2**63), u64(4)), 2), ("mul24", (i32(-2), i32(3)), -6), ("sad", (i32(-5), i32(7), u32(1)), 13), ("hadd", (i32(2**31 - 1), i32(1)), 2**30), ("rhadd", (u32(1), u32(2)), 2),
    ("saturatef", (f32(1.5),), 1), ("rsqrt_rn", (f32(16),), 0.25), ("fast_dividef", (f32(1), f32(4)), 0.25), ("fast_powf", (f32(2), f32(5)), 32), ("fast_tanhf", (f32(30),), 1),
    ("float2int_rn", (f32(2.5),), 2), ("float2int_rz", (f32(-2.9),), -2), ("float2int_rd", (f32(-2.1),), -3), ("float2int_ru", (f32(2.1),), 3),
    ("float2uint_rz", (f32(3e9),), 3000000000 - 2**32), ("double2uint_rn", (f64(-1),), 0), ("double2ull_rz", (f64(1e19),), 10**19 - 2**64), ("double2int_rz", (f64(math.nan),), 0),
    ("float2ll_rn", (f32(math.inf),), 2**63 - 1), ("int2float_rz", (i32(2**31 - 1),), 2147483520), ("int2float_ru", (i32(2**24 + 1),), 2**24 + 2), ("uint2float_rn", (u32(2**32 - 1),), 2.0**32),
    ("ll2double_rd", (i64(2**53 + 1),), 2.0**53), ("ll2double_ru", (i64(2**53 + 1),), 2.0**53 + 2), ("ull2double_rz", (u64(2**64 - 1),), 2.0**64 - 2048), ("ull2float_rn", (u64(2**63 + 2**39 + 1),), 2.0**63 + 2.0**40),
    ("int2double_rn", (i32(-7),), -7), ("uint2double_rn", (u32(2**32 - 1),), 4294967295), ("double2float_ru", (f64(1 + 2.0**-40),), 1 + 2.0**-23), ("double2float_rz", (f64(1e300),), FORMATS["f32"].max_finite),
    ("int_as_float", (i32(0x3F800000),), 1), ("uint_as_float", (u32(0xBF800000),), -1), ("float_as_int", (f32(-0.0),), -(2**31)), ("float_as_uint", (f32(1),), 0x3F800000),
    ("longlong_as_double", (i64(1),), 5e-324), ("double_as_longlong", (f64(-0.0),), -(2**63)), ("hiloint2double", (i32(0x3FF00000), i32(0)), 1), ("double2hiint", (f64(-1),), -0x40100000), ("double2loint", (f64(1 + 2.0**-52),), 1),
    ("hiloint2double", (i32(-0x40100000), i32(-1)), -1 - 2.0**-20 + 2.0**-52), ("rcp64h", (f64(4),), 0.25), ("add_ru", (f32(1), f32(2.0**-40)), 1 + 2.0**-23), ("sub_rz", (f64(1), f64(2.0**-60)), 1 - 2.0**-53),
    ("mul_rd", (f32(1 + 2.0**-23), f32(1 + 2.0**-23)), 1 + 2.0**-22),
    ("jn", (i32(0), f64(0)), 1), ("yn", (i32(2), f32(0)), -math.inf),
]  # fmt: skip


@pytest.mark.parametrize("case", VALUES, ids=[f"{i}-{case[0]}" for i, case in enumerate(VALUES)])
def test_values(case):
    name, args, want = case
    got = call(name, *args)
    assert got.item() == want


@pytest.mark.parametrize("fmt", ["f32", "f64"])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "fma", "rcp", "sqrt"])
def test_rounding_modes_are_wired_to_their_names(op, fmt):
    dtype = FORMATS[fmt].storage
    a, b, c = (np.array([sign * v], dtype) for sign, v in ((1, 7.3), (1, 3.1e-4), (1, 1 / 3)))
    args = {"rcp": (a,), "sqrt": (a,), "fma": (a, b, c)}.get(op, (a, b))
    rd, rn, rz, ru = (call(f"{op}_{mode}", *args)[0] for mode in ("rd", "rn", "rz", "ru"))
    assert rd < ru == np.nextafter(rd, dtype.type(np.inf)) and rz == rd and rn in (rd, ru)
    if op not in ("sqrt", "fma"):
        negated = (-a, -b) if op in ("add", "sub") else (-a, *args[1:])
        assert call(f"{op}_rz", *negated)[0] == -rz and call(f"{op}_ru", *negated)[0] == -rd


def test_wide_integers_to_floats_in_every_direction():
    values = [
        2**63 - 1,
        -(2**63),
        2**53 + 1,
        -(2**53) - 1,
        2**24 + 1,
        2**62 + 2**38 + 1,
        -(2**40) - 3,
        12345,
        0,
    ]
    for mode in ("rn", "rz", "rd", "ru"):
        for kind, fmt in (("float", "f32"), ("double", "f64")):
            got = call(f"ll2{kind}_{mode}", np.array(values, np.int64))
            for value, result in zip(values, got.tolist()):
                below, above = np.nextafter(
                    got.dtype.type(result), [-np.inf, np.inf], dtype=got.dtype
                ).tolist()
                exact = Fraction(value)
                if mode == "rd" or (mode == "rz" and value > 0):
                    assert Fraction(result) <= exact < Fraction(above)
                elif mode == "ru" or (mode == "rz" and value < 0):
                    assert Fraction(below) < exact <= Fraction(result)
                else:
                    assert abs(exact - Fraction(result)) <= min(
                        abs(exact - Fraction(below)), abs(exact - Fraction(above))
                    )


def test_rcp64h_keeps_the_high_half_only():
    x = np.random.default_rng(0).standard_normal(1000)
    got = call("rcp64h", x)
    assert (got.view(np.uint64) & 0xFFFFFFFF == 0).all() and np.allclose(got, 1 / x, rtol=4e-6)


def test_rsqrt_rn_is_correctly_rounded():
    rng = np.random.default_rng(0)
    x = (rng.integers(0x00800000, 0x7F800000, 20000)).astype(np.uint32).view(np.float32)
    got = call("rsqrt_rn", x)
    up = np.nextafter(got, np.float32(np.inf)).tolist()
    down = np.nextafter(got, np.float32(0)).tolist()
    for v, r, a, b in zip(x.tolist(), got.tolist(), up, down):
        above, below = (Fraction(r) + Fraction(a)) / 2, (Fraction(r) + Fraction(b)) / 2
        assert below**2 * Fraction(v) < 1 < above**2 * Fraction(v)


def test_import_is_lazy_and_quick():
    code = (
        "import sys, time, numpy, ml_dtypes, tritium; start = time.perf_counter(); import tritium.numerics as n;"
        "print(time.perf_counter() - start, 'tritium.numerics.special' in sys.modules, n.special.exp is not None,"
        "len(n.libdevice.LIBDEVICE))"
    )
    times = []
    for _ in range(3):
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
        assert out[1:] == ["False", "True", "198"]
        times.append(float(out[0]))
    assert min(times) < 0.1  # 10 ms on an idle machine
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        import tritium.numerics as numerics

        numerics.nothing
    assert libdevice.LIBDEVICE is LIBDEVICE
