"""Random numbers and libdevice."""

from __future__ import annotations

import math

import numpy as np

from .memory import case, zeros
from .model import Array, ValueCase, array, elementwise

_M0, _M1, _W0, _W1 = 0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85
_MASK = 0xFFFFFFFF


def philox(seed: int, offset: int, rounds: int = 10) -> tuple[int, int, int, int]:
    """Philox-4x32 of Salmon et al. (Random123): key = 64-bit seed, counter = 64-bit offset, two zero words."""
    k0, k1 = seed & _MASK, seed >> 32 & _MASK
    c0, c1, c2, c3 = offset & _MASK, offset >> 32 & _MASK, 0, 0
    for _ in range(rounds):
        high0, low0 = divmod(_M0 * c0, 1 << 32)
        high1, low1 = divmod(_M1 * c2, 1 << 32)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + _W0) & _MASK, (k1 + _W1) & _MASK
    return c0, c1, c2, c3


def uniform(word: int) -> float:
    """A word as a float in [0, 1): folded to 31 bits, then scaled in fp32."""
    signed = word - (1 << 32) if word >> 31 else word
    folded = -signed - 1 if signed < 0 else signed
    return float(np.float32(folded) * np.float32(4.6566127342e-10))


def normal(u: float, v: float) -> tuple[float, float]:
    """Box-Muller on two uniforms, the first kept away from 0."""
    radius = math.sqrt(-2.0 * math.log(max(u, 1.0e-7)))
    return radius * math.cos(2 * math.pi * v), radius * math.sin(2 * math.pi * v)


def random_cases() -> list[ValueCase]:
    """Words, uniforms and normals for several seeds and offsets."""
    cases = []
    for name, seed, first in (
        ("zero", 0, 0),
        ("plain", 42, 0),
        ("wide_seed", (5 << 32) + 9, 100),
        ("far", 7, 2**31 - 8),
    ):
        words = [philox(seed, first + i) for i in range(8)]
        arguments = {"o": zeros("uint32", 4, 8), "u": zeros("fp32", 8), "seed": seed, "first": first}
        cases.append(
            case(
                f"philox_{name}",
                """
i = tl.arange(0, 8) + first
a, b, c, d = tl.randint4x(seed, i)
j = tl.arange(0, 8)
tl.store(o + j, a)
tl.store(o + 8 + j, b)
tl.store(o + 16 + j, c)
tl.store(o + 24 + j, d)
tl.store(u + j, tl.rand(seed, i))
""",
                arguments,
                {
                    "o": array("uint32", np.array(words, dtype=np.uint64).T),
                    "u": array("fp32", [uniform(w[0]) for w in words]),
                },
            )
        )
    words = [philox(42, i) for i in range(8)]
    seven = [philox(42, i, 7)[0] for i in range(8)]
    far = [philox(42, 2**40 + i) for i in range(8)]
    normals = [normal(uniform(w[0]), uniform(w[1])) + normal(uniform(w[2]), uniform(w[3])) for w in words]
    cases += [
        case(
            "philox_rounds_and_wide_offsets",
            """
i = tl.arange(0, 8)
tl.store(o + i, tl.randint(42, i, 7))
tl.store(p + i, tl.randint(42, i + first))
tl.store(q + i, tl.randint(seed + i * 0, i))
""",
            {**{k: zeros("uint32", 8) for k in "opq"}, "first": 2**40, "seed": 42},
            {
                "o": array("uint32", seven),
                "p": array("uint32", [w[0] for w in far]),
                "q": array("uint32", [w[0] for w in words]),
            },
        ),
        case(
            "normal_numbers",
            """
i = tl.arange(0, 8)
a, b, c, d = tl.randn4x(42, i)
tl.store(o + i, a)
tl.store(o + 8 + i, b)
tl.store(o + 16 + i, c)
tl.store(o + 24 + i, d)
tl.store(p + i, tl.randn(42, i))
x, y, z, w = tl.rand4x(42, i)
tl.store(u + i, w)
""",
            {"o": zeros("fp32", 4, 8), "p": zeros("fp32", 8), "u": zeros("fp32", 8)},
            {
                "o": array("fp32", np.array(normals).T),
                "p": array("fp32", [n[0] for n in normals]),
                "u": array("fp32", [uniform(w[3]) for w in words]),
            },
            rtol=2e-4,
        ),
    ]
    return cases


def libdevice_cases() -> list[ValueCase]:
    """Exact functions bit for bit, the rest with a tolerance."""
    values = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.3, -3.7, 0.0, -0.0, 1e10, -0.49, 7.0, 100.25, -8.75, 0.25]
    x = array("fp32", values)
    a = x.numpy()
    away = np.copysign(np.floor(np.abs(a) + np.float32(0.5)), a)
    special = array("fp32", [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, -1.0, 1e-45])
    s = special.numpy()
    positive = array("fp32", np.linspace(0.2, 5, 16))
    p = positive.numpy().astype(np.float64)
    y = array("fp32", np.linspace(-2, 2, 16))
    q = y.numpy().astype(np.float64)
    ints = [0, 1, -1, 8, 255, -(2**31), 2**31 - 1, 12345678]
    k = array("int32", ints)
    unsigned = [v & _MASK for v in ints]
    prelude = "from triton.language.extra import libdevice\n\n"
    exact = [
        ("libdevice.round(x)", array("fp32", away)),
        ("libdevice.rint(x)", array("fp32", np.rint(a))),
        ("libdevice.trunc(x)", array("fp32", np.trunc(a))),
        ("libdevice.floor(x)", array("fp32", np.floor(a))),
        ("libdevice.fmod(x, 1.5)", array("fp32", np.fmod(a, np.float32(1.5)))),
        ("libdevice.copysign(2.0, x)", array("fp32", np.copysign(np.float32(2), a))),
        ("libdevice.llrint(x)", array("int64", np.rint(a).astype(np.int64))),
    ]
    flags = [
        ("libdevice.isnan(x)", array("int1", np.isnan(s))),
        ("libdevice.isinf(x)", array("int1", np.isinf(s))),
        ("libdevice.finitef(x)", array("int1", np.isfinite(s))),
        ("libdevice.signbit(x) != 0", array("int1", np.signbit(s))),
    ]
    close = [
        ("libdevice.tanh(y)", np.tanh(q)),
        ("libdevice.pow(x, y)", p**q),
        ("libdevice.atan2(y, x)", np.arctan2(q, p)),
        ("libdevice.log1p(x)", np.log1p(p)),
        ("libdevice.expm1(y)", np.expm1(q)),
        ("libdevice.rsqrt(x)", 1 / np.sqrt(p)),
        ("libdevice.sinh(y)", np.sinh(q)),
        ("libdevice.hypot(x, y)", np.hypot(p, q)),
        ("libdevice.cbrt(y)", np.cbrt(q)),
        ("libdevice.tan(y * 0.5)", np.tan(q * 0.5)),
        ("libdevice.exp10(y)", 10.0**q),
        ("libdevice.lgamma(x)", np.array([math.lgamma(v) for v in p])),
        ("libdevice.fast_expf(y)", np.exp(q)),
        ("libdevice.erfc(y)", np.array([math.erfc(v) for v in q])),
    ]
    bits = [
        ("libdevice.popc(k)", [v.bit_count() for v in unsigned]),
        ("libdevice.clz(k)", [32 - v.bit_length() for v in unsigned]),
        ("libdevice.ffs(k)", [(v & -v).bit_length() for v in unsigned]),
    ]
    options = {"prelude": prelude}
    return [
        elementwise("libdevice_exact", {"x": x}, exact, **options),
        elementwise("libdevice_predicates", {"x": special}, flags, **options),
        elementwise(
            "libdevice_close",
            {"x": positive, "y": y},
            [(t, _close(v)) for t, v in close],
            rtol=3e-5,
            **options,
        ),
        elementwise("libdevice_bits", {"k": k}, [(t, array("int32", v)) for t, v in bits], **options),
    ]


def _close(values: np.ndarray) -> Array:
    return array("fp32", values)


CASES = [*random_cases(), *libdevice_cases()]
