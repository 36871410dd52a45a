"""Conversions between dtypes."""

from __future__ import annotations

import numpy as np
import torch

from .model import TORCH, Array, ValueCase, array, elementwise, from_tensor

NAN, INF = float("nan"), float("inf")
TL = {
    **{
        "int1": "tl.int1",
        "fp16": "tl.float16",
        "bf16": "tl.bfloat16",
        "fp32": "tl.float32",
        "fp64": "tl.float64",
    },
    **{"fp8e5": "tl.float8e5", "fp8e4nv": "tl.float8e4nv"},
    **{f"{sign}int{bits}": f"tl.{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


def integer_casts() -> list[ValueCase]:
    """Narrowing wraps, widening follows the source's sign, bool is 0 or 1."""
    cases = []
    sources = {
        "int8": [-128, -1, 0, 1, 127, 5, -77, 64],
        "uint8": [0, 1, 127, 128, 255, 200, 5, 64],
        "int16": [-32768, -1, 0, 255, 256, 32767, -129, 1000],
        "uint16": [0, 65535, 32768, 255, 256, 1, 40000, 128],
        "int32": [-(2**31), -1, 0, 255, 65536, 2**31 - 1, -129, 40000],
        "uint32": [0, 2**32 - 1, 2**31, 255, 65536, 1, 40000, 128],
        "int64": [-(2**63), -1, 0, 2**32, 2**31, 2**63 - 1, -129, 40000],
        "uint64": [0, 2**64 - 1, 2**63, 2**32, 65536, 1, 40000, 128],
    }
    for source, values in sources.items():
        x = array(source, np.array(values, dtype=object))
        results = []
        for target in sources:
            bits = TORCH[target].itemsize * 8
            low = 0 if target[0] == "u" else -(2 ** (bits - 1))
            wrapped = tuple((v - low) % 2**bits + low for v in values)
            results.append((f"x.to({TL[target]})", Array(target, wrapped, (8,))))
        results.append(("x.to(tl.int1)", array("int1", [v != 0 for v in values])))
        for target in ("fp32", "fp64"):
            results.append(
                (
                    f"x.to({TL[target]})",
                    array(target, x.numpy().astype(np.float32 if target == "fp32" else np.float64)),
                )
            )
        cases.append(elementwise(f"from_{source}", {"x": x}, results))
    return cases


def float_to_integer() -> list[ValueCase]:
    """Toward zero; only values in range, since outside it the hardware decides."""
    values = [
        0.0,
        0.5,
        -0.5,
        0.999,
        -0.999,
        1.5,
        -1.5,
        100.7,
        -100.7,
        2.0,
        3.0,
        -7.0,
        63.5,
        64.5,
        120.0,
        -120.25,
    ]
    unsigned = [abs(v) for v in values]
    cases = []
    for source in ("fp32", "fp64", "fp16", "bf16"):
        x, u = array(source, values), array(source, unsigned)
        results = [
            (f"x.to({TL[t]})", array(t, np.trunc(x.numpy()).astype(np.int64)))
            for t in ("int8", "int16", "int32", "int64")
        ]
        results += [
            (f"u.to({TL[t]})", array(t, np.trunc(u.numpy()).astype(np.int64)))
            for t in ("uint8", "uint16", "uint32", "uint64")
        ]
        results.append(("x.to(tl.int1)", array("int1", x.numpy() != 0)))
        cases.append(elementwise(f"to_integers_from_{source}", {"x": x, "u": u}, results))
    x = array("fp32", [NAN, 0.0, -0.0, INF, 0.25, -1.0, 1e-45, 2.0])
    cases.append(elementwise("nan_is_true", {"x": x}, [("x.to(tl.int1)", array("int1", x.numpy() != 0))]))
    return cases


def float_to_float() -> list[ValueCase]:
    """Rounding to nearest even, toward zero on request; overflow to infinity except in the 8-bit formats."""
    values = [
        *(
            1.0,
            1.0 + 2**-11,
            1.0 + 3 * 2**-11,
            1.0 + 2**-8,
            1.0 + 3 * 2**-8,
            1.0 + 2**-24,
            -1.0 - 2**-11,
            0.1,
        ),
        *(65504.0, 65519.9, 65520.0, 1e6, -1e6, 3.3e38, 1e-7, 6e-8),
        *(2.9e-8, 3.1e-8, 1e-40, -1e-40, 0.0, -0.0, INF, -INF),
        *(NAN, 1 / 3, 2 / 3, -123.456, 2048.5, 2049.0, 2050.0, 2051.0),
    ]
    x = array("fp32", values)
    wide = x.tensor()
    halves = x.numpy()
    with np.errstate(over="ignore"):
        nearest16 = halves.astype(np.float16)
    results = [
        ("x.to(tl.float16)", array("fp16", nearest16)),
        ("x.to(tl.bfloat16)", from_tensor("bf16", wide.to(torch.bfloat16))),
        ("x.to(tl.float64)", array("fp64", halves.astype(np.float64))),
        ('x.to(tl.float16, fp_downcast_rounding="rtz")', array("fp16", _toward_zero(halves, nearest16))),
        ('x.to(tl.bfloat16, fp_downcast_rounding="rtz")', _bf16_toward_zero(halves)),
    ]
    d = array(
        "fp64", [1.0 + 2**-30, 1.0 + 2**-24, 1.0 + 3 * 2**-24, 1e300, -1e300, NAN, 0.1, 3.4028235677973366e38]
    )
    with np.errstate(over="ignore"):
        single = d.numpy().astype(np.float32)
    return [
        elementwise("fp32_narrowed", {"x": x}, results),
        elementwise("fp64_narrowed", {"x": d}, [("x.to(tl.float32)", array("fp32", single))]),
        *_half_casts(),
        *_fp8_casts(),
    ]


def _toward_zero(exact: np.ndarray, nearest: np.ndarray) -> np.ndarray:
    down = nearest.copy()
    away = np.abs(nearest.astype(np.float64)) > np.abs(exact.astype(np.float64))
    down[away] = np.nextafter(nearest[away], np.float16(0))
    return down


def _bf16_toward_zero(values: np.ndarray) -> Array:
    bits = values.astype(np.float32).view(np.uint32)
    kept = (bits & np.uint32(0xFFFF0000)).view(np.float32)
    return array("bf16", np.where(np.isnan(values), np.float32(NAN), kept))


def _half_casts() -> list[ValueCase]:
    h = array("fp16", [0.1, 1.0, 65504.0, -3.3, 6e-8, INF, NAN, -0.0])
    b = array("bf16", [0.1, 1.0, 1e38, -3.3, 1e-30, INF, NAN, -0.0])
    to16 = b.tensor().to(torch.float32).to(torch.float16)
    return [
        elementwise(
            "half_and_brain",
            {"h": h, "b": b},
            [
                ("h.to(tl.bfloat16)", from_tensor("bf16", h.tensor().to(torch.float32).to(torch.bfloat16))),
                ("b.to(tl.float16)", from_tensor("fp16", to16)),
                ("h.to(tl.float32)", array("fp32", h.numpy())),
                ("b.to(tl.float32)", array("fp32", b.numpy())),
                ("b.to(tl.float64)", array("fp64", b.numpy())),
            ],
        )
    ]


def _fp8_casts() -> list[ValueCase]:
    cases = []
    for name in ("fp8e5", "fp8e4nv"):
        codes = torch.arange(256, dtype=torch.uint8)
        wide = codes.view(TORCH[name]).to(torch.float32)
        bits = array("uint8", codes.numpy())
        cases.append(
            elementwise(
                f"{name}_widened",
                {"x": bits},
                [
                    (f"x.to({TL[name]}, bitcast=True).to(tl.float32)", from_tensor("fp32", wide)),
                    (
                        f"x.to({TL[name]}, bitcast=True).to(tl.float16)",
                        from_tensor("fp16", wide.to(torch.float16)),
                    ),
                ],
            )
        )
        cases.append(
            elementwise(
                f"{name}_widened_to_bf16",
                {"x": bits},
                [
                    (
                        f"x.to({TL[name]}, bitcast=True).to(tl.bfloat16)",
                        from_tensor("bf16", wide.to(torch.bfloat16)),
                    )
                ],
                extended=name == "fp8e5",  # on a GPU its infinity and NaN become numbers
            )
        )
        small = array(
            "fp32",
            [
                0.0,
                1.0,
                1.0625,
                1.125,
                1.1875,
                1.25,
                0.1,
                0.3,
                -0.7,
                3.3,
                17.0,
                19.0,
                100.0,
                -200.0,
                0.002,
                0.01,
            ],
        )
        rounded = small.tensor().to(TORCH[name]).to(torch.float32)
        cases.append(
            elementwise(
                f"{name}_narrowed",
                {"x": small},
                [(f"x.to({TL[name]}).to(tl.float32)", from_tensor("fp32", rounded))],
            )
        )
        largest = 57344.0 if name == "fp8e5" else 448.0
        high = array("fp32", [largest, largest * 1.01, 1e6, -1e6, INF, -INF, NAN, -largest])
        capped = np.clip(high.numpy(), np.float32(-largest), np.float32(largest))
        cases.append(
            elementwise(
                f"{name}_saturates",
                {"x": high},
                [(f"x.to({TL[name]}).to(tl.float32)", array("fp32", capped))],
            )
        )
    return cases


def beyond_range() -> list[ValueCase]:
    """Out of range Tritium saturates and NaN gives 0; Triton leaves it to the hardware."""
    x = array("fp32", [NAN, INF, -INF, 1e10, -1e10, 300.7, -300.7, -1.5])
    limits = {
        name: np.iinfo(name) for name in ("int8", "int16", "int32", "int64", "uint8", "uint32", "uint64")
    }
    results = []
    for name, limit in limits.items():
        wanted = [0 if v != v else int(max(min(v, limit.max), limit.min)) for v in x.data]
        results.append((f"x.to({TL[name]})", array(name, np.array(wanted, dtype=object))))
    return [elementwise("float_to_integer_saturates", {"x": x}, results, extended=True)]


def bitcasts() -> list[ValueCase]:
    """Same bits, other dtype."""
    x = array("fp32", [0.0, -0.0, 1.0, -2.5, INF, NAN, 1e-45, 3.4e38])
    bits = x.numpy().view(np.int32)
    i = array("int64", np.array([0, -1, 1, 2**62, -(2**63), 4607182418800017408, 5, 77], dtype=object))
    h = array("fp16", [1.0, -2.0, 0.5, 65504.0, 0.0, -0.0, INF, 3.0])
    return [
        elementwise(
            "bitcast_32",
            {"x": x},
            [
                ("x.to(tl.int32, bitcast=True)", array("int32", bits)),
                ("x.to(tl.uint32, bitcast=True)", array("uint32", bits.view(np.uint32))),
                ("x.to(tl.int32, bitcast=True).to(tl.float32, bitcast=True)", x),
            ],
        ),
        elementwise(
            "bitcast_64",
            {"i": i},
            [("i.to(tl.float64, bitcast=True)", array("fp64", i.numpy().view(np.float64)))],
        ),
        elementwise(
            "bitcast_16",
            {"h": h},
            [
                ("h.to(tl.int16, bitcast=True)", array("int16", h.numpy().view(np.int16))),
                ("h.to(tl.bfloat16, bitcast=True)", from_tensor("bf16", h.tensor().view(torch.bfloat16))),
            ],
        ),
    ]


def stored() -> list[ValueCase]:
    """Stores and `full` convert to the target's dtype."""
    source = """@triton.jit
def kernel(a, b, c, d, e, f):
    i = tl.arange(0, 4)
    tl.store(a + i, tl.full((4,), 300, tl.int8))
    tl.store(b + i, tl.full((4,), 1.1, tl.float16))
    tl.store(c + i, i * 1.75)
    tl.store(d + i, i - 2)
    tl.store(e + i, i > 1)
    tl.store(f + i, tl.full((4,), -1, tl.int32).to(tl.uint8))
"""
    expected = {
        "a": array("int8", [44] * 4),
        "b": array("fp16", [1.1] * 4),
        "c": array("int32", [0, 1, 3, 5]),
        "d": array("fp32", [-2.0, -1.0, 0.0, 1.0]),
        "e": array("int1", [False, False, True, True]),
        "f": array("uint8", [255] * 4),
    }
    blanks = {k: array(v.dtype, [0] * 4) for k, v in expected.items()}
    return [ValueCase("store_converts", source, blanks, expected)]


CASES = [*integer_casts(), *float_to_integer(), *beyond_range(), *float_to_float(), *bitcasts(), *stored()]
