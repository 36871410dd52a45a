"""Mathematical functions as vector polynomials for fp32, and as calls of the C library for fp64.

Largest errors over all fp32 inputs, in ulp: exp 0.9, exp2 0.9, log 0.9, log2 1.1, sin and cos 1.5, tanh 1.1, erf 1.2,
rsqrt 1.5, sigmoid 2.5, sqrt 0.5. fp64 has the error of the host's C library (below 1 ulp with glibc; erf 1).
The coefficients are minimax fits of ours, each rounded to fp32 and the rest refitted, low order first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, nan
from typing import Any

from tritium.backends.cpu import vector_erf
from tritium.backends.cpu.code import Code, V

_EXP = (1.0, 1.0, 0.49999994, 0.166665211, 0.0416682623, 0.00836867467, 0.00138210552)
_EXP2 = (1.0, 0.693147182, 0.240226477, 0.0555035956, 0.00961849932, 0.00133909693, 0.00015329264)
_LOG = (0.333333135, -0.250000089, 0.200020716, -0.166679859, 0.14220354, -0.124063239, 0.118837141,
        -0.116694532, 0.0674791262)  # fmt: skip
_TANH = (-0.333333254, 0.133329928, -0.0539210401, 0.0215688385, -0.0078750765, 0.0018874266)
_ERF = (0.128379166, -0.376126289, 0.112836182, -0.026855126, 0.00519073382, -0.000803076138, 7.92036808e-05)
_ERFC = (0.00015061388, -1.12938178, -0.633663476, -0.107857898, 0.0247741882, -0.00399390887, 0.000378784025,
         -1.12993321e-05, -7.38373728e-07)  # fmt: skip
_SIN = (-0.166666672, 0.00833338033, -0.000198535112, 2.83751228e-06)
_COS = (0.0416666456, -0.00138873013, 2.44306684e-05)
_LN2_HIGH, _LN2_LOW = 0.693145751953125, 1.42860682e-06
_LOG2E = 1.4426950408889634
_LOG2E_HIGH, _LOG2E_LOW = 1.442382812, 0.000312228389


def _c(e: Code, value: float) -> V:
    return e.const(value, "float")


def _fma(e: Code, x: V, y: V, z: V) -> V:
    return e.intrinsic("fma", x, y, z)


def _polynomial(e: Code, x: V, coefficients: Sequence[float]) -> V:
    total = _c(e, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = _fma(e, total, x, _c(e, c))
    return total


def _clamped(e: Code, x: V, low: float, high: float) -> V:
    """`x` cut to a range; NaN stays."""
    x = e.select(e.compare("olt", x, _c(e, low)), _c(e, low), x)
    return e.select(e.compare("ogt", x, _c(e, high)), _c(e, high), x)


def _scaled(e: Code, x: V, n: V) -> V:
    """``x * 2**n`` for a whole n, |n| <= 252, so that subnormal and infinite results come out right; NaN stays."""
    if x.lanes == 16 and e.has_scalef:
        name = "llvm.x86.avx512.mask.scalef.ps.512"
        ty = "<16 x float>"
        e.declare(name, f"{ty} ({ty}, {ty}, {ty}, i16, i32)")
        given = f"{e.typed(x, 16)}, {e.typed(n, 16)}, {ty} zeroinitializer, i16 -1, i32 4"
        return e.emit("float", 16, max(x.level, n.level), f"call {ty} @{name}({given})")
    whole = e.freeze(e.convert("fptosi", n, "i32"))
    half = e.binary("ashr", whole, e.const(1, "i32"))
    for part in (half, e.sub(whole, half)):
        power = e.binary("shl", e.add(part, e.const(127, "i32")), e.const(23, "i32"))
        x = e.binary("fmul", x, e.bits(power, "float"))
    return x


def exp_single(e: Code, x: V) -> V:
    x = _clamped(e, x, -104.0, 89.0)
    n = e.intrinsic("rint", e.binary("fmul", x, _c(e, _LOG2E)))
    r = _fma(e, n, _c(e, -_LN2_HIGH), x)
    r = _fma(e, n, _c(e, -_LN2_LOW), r)
    return _scaled(e, _polynomial(e, r, _EXP), n)


def exp2_single(e: Code, x: V) -> V:
    x = _clamped(e, x, -151.0, 129.0)
    n = e.intrinsic("rint", x)
    return _scaled(e, _polynomial(e, e.binary("fsub", x, n), _EXP2), n)


def _log_parts(e: Code, x: V) -> tuple[V, V, V]:
    """Exponent e, f and y with ``log(x) = e ln2 + f + y`` where ``x = 2**e (1 + f)``; for x > 0, finite."""
    tiny = e.compare("olt", x, _c(e, 1.1754943508222875e-38))
    x = e.select(tiny, e.binary("fmul", x, _c(e, 8388608.0)), x)
    bias = e.select(tiny, e.const(-23, "i32"), e.const(0, "i32"))
    shifted = e.sub(e.bits(x, "i32"), e.const(0x3F3504F3, "i32"))
    exponent = e.binary("ashr", shifted, e.const(23, "i32"))
    mantissa = e.add(e.both(shifted, e.const(0x7FFFFF, "i32")), e.const(0x3F3504F3, "i32"))
    f = e.binary("fsub", e.bits(mantissa, "float"), _c(e, 1.0))
    square = e.binary("fmul", f, f)
    y = e.binary("fmul", e.binary("fmul", square, f), _polynomial(e, f, _LOG))
    return e.convert("sitofp", e.add(exponent, bias), "float"), f, _fma(e, _c(e, -0.5), square, y)


def _log_specials(e: Code, x: V, result: V) -> V:
    result = e.select(e.compare("oeq", x, _c(e, inf)), _c(e, inf), result)
    result = e.select(e.compare("oeq", x, _c(e, 0.0)), _c(e, -inf), result)
    return e.select(e.compare("uge", x, _c(e, 0.0)), e.select(e.compare("uno", x, x), x, result), _c(e, nan))


def log_single(e: Code, x: V) -> V:
    k, f, y = _log_parts(e, x)
    y = _fma(e, k, _c(e, _LN2_LOW), y)
    return _log_specials(e, x, _fma(e, k, _c(e, _LN2_HIGH), e.binary("fadd", f, y)))


def log2_single(e: Code, x: V) -> V:
    k, f, y = _log_parts(e, x)
    low = _fma(e, f, _c(e, _LOG2E_LOW), e.binary("fmul", y, _c(e, _LOG2E)))
    return _log_specials(e, x, e.binary("fadd", k, _fma(e, f, _c(e, _LOG2E_HIGH), low)))


def _with_sign(e: Code, magnitude: V, x: V) -> V:
    return e.intrinsic("copysign", magnitude, x)


def tanh_single(e: Code, x: V) -> V:
    a = e.intrinsic("fabs", x)
    t = e.binary("fmul", x, x)
    small = _fma(e, e.binary("fmul", a, t), _polynomial(e, t, _TANH), a)
    grown = exp_single(e, e.binary("fadd", a, a))
    ratio = e.binary("fdiv", _c(e, 2.0), e.binary("fadd", grown, _c(e, 1.0)))
    large = e.binary("fsub", _c(e, 1.0), ratio)
    return _with_sign(e, e.select(e.compare("olt", a, _c(e, 0.7)), small, large), x)


def erf_single(e: Code, x: V) -> V:
    if e.has_scalef and x.lanes <= vector_erf.LANES:
        return vector_erf.erf(e, x)
    a = e.intrinsic("fabs", x)
    small = _fma(e, a, _polynomial(e, e.binary("fmul", x, x), _ERF), a)
    cut = e.select(e.compare("ogt", a, _c(e, 4.0)), _c(e, 4.0), a)
    large = e.binary("fsub", _c(e, 1.0), exp_single(e, _polynomial(e, cut, _ERFC)))
    return _with_sign(e, e.select(e.compare("olt", a, _c(e, 1.0)), small, large), x)


def sigmoid_single(e: Code, x: V) -> V:
    grown = exp_single(e, e.binary("fsub", _c(e, -0.0), x))
    return e.binary("fdiv", _c(e, 1.0), e.binary("fadd", _c(e, 1.0), grown))


def rsqrt(e: Code, x: V) -> V:
    return e.binary("fdiv", e.const(1.0, x.kind), e.intrinsic("sqrt", x))


# ---- sine and cosine ------------------------------------------------------------------------------------------------

_REDUCED = 1073741824.0
_TWO_OVER_PI = 0.6366197723675814
_HALF_PI_HIGH, _HALF_PI_LOW = 1.5707963267948966, 6.123233995736766e-17


def _circular(e: Code, x: V, cosine: bool) -> V:
    """The reduction is done in fp64, which is enough up to 2**30; the C library takes the rest."""
    wide = e.convert("fpext", x, "double")
    n = e.intrinsic("rint", e.binary("fmul", wide, e.const(_TWO_OVER_PI, "double")))
    r = e.intrinsic("fma", n, e.const(-_HALF_PI_HIGH, "double"), wide)
    r = e.intrinsic("fma", n, e.const(-_HALF_PI_LOW, "double"), r)
    quadrant = e.freeze(e.convert("fptosi", n, "i32"))
    if cosine:
        quadrant = e.add(quadrant, e.const(1, "i32"))
    r = e.convert("fptrunc", r, "float")
    t = e.binary("fmul", r, r)
    sine = _fma(e, e.binary("fmul", r, t), _polynomial(e, t, _SIN), r)
    inner = _fma(e, t, _polynomial(e, t, _COS), _c(e, -0.5))
    other = _fma(e, t, inner, _c(e, 1.0))
    odd = e.compare("ne", e.both(quadrant, e.const(1, "i32")), e.const(0, "i32"))
    flip = e.binary("shl", e.both(quadrant, e.const(2, "i32")), e.const(30, "i32"))
    value = e.bits(e.binary("xor", e.bits(e.select(odd, other, sine), "i32"), flip), "float")
    if not cosine:
        value = e.select(e.compare("oeq", x, _c(e, 0.0)), x, value)
    large = e.compare("oge", e.intrinsic("fabs", x), _c(e, _REDUCED))
    return rarely(e, large, value, lambda: e.library("cosf" if cosine else "sinf", "float", x))


def rarely(e: Code, where: V, usual: V, other: Callable[[], V]) -> V:
    """`usual`, except in lanes where `where` holds; `other` is computed only if there are any."""
    anywhere = where
    if where.lanes > 1:
        name = f"llvm.vector.reduce.or.v{where.lanes}i1"
        e.declare(name, f"i1 (<{where.lanes} x i1>)")
        anywhere = e.emit("i1", 1, where.level, f"call i1 @{name}(<{where.lanes} x i1> {where.ssa})")
    usual_text = e.text(usual, usual.lanes)
    first = e.fresh("rare")
    e.push(first)
    chosen = e.select(where, other(), usual)
    text = e.text(chosen, usual.lanes)
    frame = e.pop()
    before = e.stack[-1].label
    e.branch(anywhere, frame, first, None, "")
    return e.phi(usual.kind, usual.lanes, [(text, frame.label), (usual_text, before)])


def sin_single(e: Code, x: V) -> V:
    return _circular(e, x, False)


def cos_single(e: Code, x: V) -> V:
    return _circular(e, x, True)


# ---- by op ----------------------------------------------------------------------------------------------------------

SINGLE: dict[str, Callable[[Code, V], V]] = {
    "exp": exp_single,
    "exp2": exp2_single,
    "log": log_single,
    "log2": log2_single,
    "sin": sin_single,
    "cos": cos_single,
    "tanh": tanh_single,
    "erf": erf_single,
    "rsqrt": rsqrt,
}


def function(e: Code, op: Any, x: V) -> V:
    """The op of `tritium.ops.math` whose name is that of the function."""
    return apply(e, op.name.removeprefix("tile."), x)


def apply(e: Code, name: str, x: V) -> V:
    """A function of one fp32 or fp64 argument by name."""
    if x.const is not None:  # a literal has no register for calls to name
        x = e.emit(x.kind, 1, 0, f"bitcast {x.kind} {x.literal()} to {x.kind}")
    if name == "rsqrt":
        return rsqrt(e, x)
    if x.kind == "float":
        return SINGLE[name](e, x)
    return e.library(name, "double", x)
