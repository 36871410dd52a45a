"""The polynomial tables of `tritium.numerics.special_tables`, recomputed from their definitions.

Run this file as a script to print the module.
"""

import mpmath as mp
import pytest

DIGITS = 50


def _pair(zero):
    high = float(zero)
    return high, float(zero - mp.mpf(high))


def _bessel_zero(kind, order, index):
    find = {"j": mp.besseljzero, "y": mp.besselyzero}[kind]
    return find(order, index)


def _modulus_phase(order):
    """P and Q of the large-argument form, as functions of u = (8 / x)**2 in (0, 1]."""

    def split(u):
        u = max(u, mp.mpf(10) ** -12)
        x = 8 / mp.sqrt(u)
        chi = x - mp.pi * (2 * order + 1) / 4
        scale = mp.sqrt(mp.pi * x / 2)
        j, y = mp.besselj(order, x), mp.bessely(order, x)
        p = scale * (j * mp.cos(chi) + y * mp.sin(chi))
        q = scale * (y * mp.cos(chi) - j * mp.sin(chi))
        return p, q * x / 8

    return (lambda u: split(u)[0]), (lambda u: split(u)[1])


def _near(function, value, limit):
    """`function(s)`, with the limit at the removable singularity s = 0."""
    return lambda s: limit if abs(s) < mp.mpf(10) ** -20 else function(s)


def definitions():
    """Name -> (function, low, high, number of coefficients); the polynomial's variable runs over [-1, 1]."""
    zj0 = [_bessel_zero("j", 0, k) for k in (1, 2, 3)]
    zj1 = [_bessel_zero("j", 1, k) for k in (1, 2, 3)]
    zy0 = [_bessel_zero("y", 0, k) for k in (1, 2, 3)]
    zy1 = [_bessel_zero("y", 1, k) for k in (1, 2)]
    p0, q0 = _modulus_phase(0)
    p1, q1 = _modulus_phase(1)
    euler = mp.euler

    def erfcx(x):
        return mp.exp(x * x) * mp.erfc(x)

    def erfcx_mapped(t):  # t = (x - 3.75) / (x + 3.75)
        if t > 1 - mp.mpf(10) ** -8:
            return 2 / mp.sqrt(mp.pi)
        x = mp.mpf("3.75") * (1 + t) / (1 - t)
        if x > 40:  # asymptotic series, exact to the working precision there
            total, term = mp.mpf(0), mp.mpf(1)
            for k in range(60):
                total += term
                term *= -(2 * k + 1) / (2 * x * x)
                if abs(term) < mp.mpf(10) ** -DIGITS:
                    break
            return (1 + 2 * x) * total / (x * mp.sqrt(mp.pi))
        return (1 + 2 * x) * erfcx(x)

    def stirling_log(v):  # v = (8.5 / x)**2
        v = max(v, mp.mpf(10) ** -14)
        x = mp.mpf("8.5") / mp.sqrt(v)
        return (mp.loggamma(x) - ((x - 0.5) * mp.log(x) - x + mp.log(2 * mp.pi) / 2)) * x

    def stirling_ratio(v):  # v = 12 / x
        v = max(v, mp.mpf(10) ** -14)
        x = 12 / v
        return mp.exp(mp.loggamma(x) - ((x - 0.5) * mp.log(x) - x + mp.log(2 * mp.pi) / 2))

    def y0_rest(w):  # w = x**2
        x = mp.sqrt(max(w, mp.mpf(10) ** -24))
        return mp.bessely(0, x) - 2 / mp.pi * mp.log(x) * mp.besselj(0, x)

    def y1_rest(w):
        x = mp.sqrt(max(w, mp.mpf(10) ** -20))
        return (mp.bessely(1, x) - 2 / mp.pi * (mp.log(x) * mp.besselj(1, x) - 1 / x)) / x

    def j0_over_zeros(w):
        return mp.besselj(0, mp.sqrt(w)) / mp.fprod(w - z**2 for z in zj0)

    def j1_over_zeros(w):
        x = mp.sqrt(w)
        value = mp.besselj(1, x) / x if w else mp.mpf(1) / 2
        return value / mp.fprod(w - z**2 for z in zj1)

    def scaled_i(order):
        def function(x):
            if order == 1 and x == 0:
                return mp.mpf(1) / 2
            return mp.exp(-x) * mp.besseli(order, x) / (x if order == 1 else 1)

        return function

    def large_i(order):
        def function(v):  # v = 8 / x
            x = 8 / max(v, mp.mpf("0.001"))
            if v < mp.mpf("0.02"):  # asymptotic series: the terms fall below 1e-50 there
                total, term = mp.mpf(0), mp.mpf(1)
                for k in range(200):
                    total += term
                    term *= -mp.mpf(4 * order * order - (2 * k + 1) ** 2) / (8 * (k + 1)) * (v / 8)
                    if abs(term) < mp.mpf(10) ** -DIGITS:
                        break
                return total / mp.sqrt(2 * mp.pi)
            return mp.sqrt(x) * mp.exp(-x) * mp.besseli(order, x)

        return function

    return {
        "erf": (lambda w: mp.erf(mp.sqrt(w)) / mp.sqrt(w) if w else 2 / mp.sqrt(mp.pi), 0, 1, 13),
        "erf_to_4": (lambda w: mp.erf(mp.sqrt(w)) / mp.sqrt(w) if w else 2 / mp.sqrt(mp.pi), 0, 16, 22),
        "erfcx": (erfcx_mapped, -1, 1, 26),
        "lgamma_1": (_near(lambda s: mp.loggamma(1 + s) / s, 0, -euler), -0.5, 0.5, 30),
        "lgamma_2": (_near(lambda s: mp.loggamma(2 + s) / s, 0, 1 - euler), -0.5, 0.5, 20),
        "lgamma_3": (mp.loggamma, 2.5, 4.5, 22),
        "lgamma_4": (mp.loggamma, 4.5, 8.5, 23),
        "lgamma_large": (stirling_log, 0, 1, 9),
        "gamma_2": (mp.gamma, 2, 3, 18),
        "gamma_large": (stirling_ratio, 0, 1, 11),
        "j0": (j0_over_zeros, 0, 64, 15),
        "j1": (j1_over_zeros, 0, 64, 14),
        "p0": (p0, 0, 1, 16),
        "q0": (q0, 0, 1, 17),
        "p1": (p1, 0, 1, 16),
        "q1": (q1, 0, 1, 17),
        "y0_small": (y0_rest, 0, 0.25, 8),
        "y0_1": (lambda x: mp.bessely(0, x) / (x - zy0[0]), 0.5, 1.5, 30),
        "y0_2": (lambda x: mp.bessely(0, x), 1.5, 3, 22),
        "y0_3": (lambda x: mp.bessely(0, x) / (x - zy0[1]), 3, 5.5, 20),
        "y0_4": (lambda x: mp.bessely(0, x) / (x - zy0[2]), 5.5, 8, 18),
        "y1_small": (y1_rest, 0, 1, 8),
        "y1_1": (lambda x: mp.bessely(1, x) / (x - zy1[0]), 1, 3, 30),
        "y1_2": (lambda x: mp.bessely(1, x) / (x - zy1[1]), 3, 6.5, 24),
        "y1_3": (lambda x: mp.bessely(1, x), 6.5, 8, 16),
        "i0": (scaled_i(0), 0, 8, 30),
        "i1": (scaled_i(1), 0, 8, 29),
        "i0_large": (large_i(0), 0, 1, 29),
        "i1_large": (large_i(1), 0, 1, 29),
    }


def zeros():
    """Zeros of the Bessel functions as pairs of doubles whose sum is right to 106 bits."""
    out = {}
    for kind, order, count in (("j", 0, 3), ("j", 1, 3), ("y", 0, 3), ("y", 1, 2)):
        out[f"{kind}{order}"] = tuple(_pair(_bessel_zero(kind, order, k + 1)) for k in range(count))
    return out


def fit(function, low, high, count):
    """Coefficients, constant first, of the Chebyshev interpolant with `count` terms in t over [-1, 1]."""
    low, high = mp.mpf(low), mp.mpf(high)
    nodes = 4 * count
    angles = [mp.pi * (k + mp.mpf(1) / 2) / nodes for k in range(nodes)]
    values = [function(low + (high - low) * (mp.cos(a) + 1) / 2) for a in angles]
    series = [2 * mp.fsum(v * mp.cos(j * a) for v, a in zip(values, angles)) / nodes for j in range(count)]
    series[0] /= 2
    previous, current = [mp.mpf(1)], [mp.mpf(0), mp.mpf(1)]
    total = [mp.mpf(0)] * count
    total[0] += series[0]
    for j in range(1, count):
        for k, c in enumerate(current):
            total[k] += series[j] * c
        following = [mp.mpf(0)] + [2 * c for c in current]
        for k, c in enumerate(previous):
            following[k] -= c
        previous, current = current, following
    return [float(c) for c in total], float(abs(series[-1]))


def _rows(coefficients):
    for start in range(0, len(coefficients), 4):
        yield "        " + " ".join(f"{c!r}," for c in coefficients[start : start + 4])


def render():
    lines = [
        '"""Polynomial coefficients of the special functions, constant term first, for a variable in [-1, 1].',
        "",
        "Truncated Chebyshev expansions computed with 50 digits; `tests/unit/test_numerics_tables.py` holds the",
        "function and interval of each, recomputes them, and prints this module when run as a script.",
        '"""',
        "",
        "# fmt: off",
        "SERIES: dict[str, tuple[float, ...]] = {",
    ]
    for name, (function, low, high, count) in definitions().items():
        coefficients, _ = fit(function, low, high, count)
        lines += [f'    "{name}": (', *_rows(coefficients), "    ),"]
    lines += [
        "}",
        "",
        "# Zeros of the Bessel functions as unevaluated sums of two doubles.",
        "ZEROS: dict[str, tuple[tuple[float, float], ...]] = {",
    ]
    for name, pairs in zeros().items():
        lines += [f'    "{name}": (', *(f"        ({high!r}, {low!r})," for high, low in pairs), "    ),"]
    return "\n".join([*lines, "}", ""])


@pytest.mark.parametrize(
    "name", ["erf", "erfcx", "lgamma_1", "lgamma_4", "gamma_2", "j0", "q1", "y0_3", "i1_large"]
)
def test_tables_follow_from_their_definitions(name):
    from tritium.numerics.special_tables import SERIES

    with mp.workdps(DIGITS):
        coefficients, _ = fit(*definitions()[name])
    assert len(SERIES[name]) == len(coefficients)
    assert max(abs(a - b) for a, b in zip(SERIES[name], coefficients)) <= 1e-18


def test_zeros_are_right_to_double_double():
    from tritium.numerics.special_tables import ZEROS

    with mp.workdps(DIGITS):
        assert zeros() == ZEROS


if __name__ == "__main__":
    mp.mp.dps = DIGITS
    import sys

    if sys.argv[1:] == ["--errors"]:
        for name, entry in definitions().items():
            coefficients, last = fit(*entry)
            print(
                f"{name:14} {len(coefficients)} last term {last:.1e} largest {max(map(abs, coefficients)):.2g} constant {coefficients[0]:.3g}"
            )
    else:
        print(render(), end="")
