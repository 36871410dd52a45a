"""Kernels run on the interpreter leave behind the recorded values."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from .case_file import load_data
from .observe import Frontend, define

_DTYPES: dict[str, Any] = {
    "int1": np.bool_,
    **{f"{sign}int{bits}": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{"fp16": np.float16, "fp32": np.float32, "fp64": np.float64, "bf16": ml_dtypes.bfloat16},
    **{"fp8e5": ml_dtypes.float8_e5m2, "fp8e4nv": ml_dtypes.float8_e4m3fn},
}
_RECORDED = load_data("values.json")


def _array(record: dict[str, Any]) -> Any:
    """A recorded array; one without data is zero."""
    dtype, shape = _DTYPES[record["dtype"]], tuple(record["shape"])
    if "data" not in record:
        return np.zeros(shape, dtype)
    return np.array(_values(record["dtype"], record["data"]), dtype).reshape(shape)


def _values(dtype: str, data: list[Any]) -> list[Any]:
    """Numbers as recorded: non-finite floats are text."""
    return [float(v) for v in data] if "fp" in dtype or dtype == "bf16" else data


def _same(wanted: Any, got: Any, rtol: float) -> bool:
    """Equal, both NaN, or within `rtol`; where `rtol` is 0 the sign of a zero counts too."""
    if not isinstance(wanted, float):
        return wanted == got
    if math.isnan(wanted):
        return math.isnan(got)
    if rtol and math.isfinite(wanted):
        return math.isclose(wanted, got, rel_tol=rtol, abs_tol=rtol * 1e-2)
    return wanted == got and math.copysign(1, wanted) == math.copysign(1, got)


@pytest.mark.parametrize("name", _RECORDED)
def test_values(frontend: Frontend, name: str) -> None:
    record = _RECORDED[name]
    kernel = define(frontend, record["source"])
    arguments = {k: _array(v) if isinstance(v, dict) else v for k, v in record["arguments"].items()}
    kernel[tuple(record["grid"])](**arguments, **record.get("constexprs", {}))
    for key, data in record["expected"].items():
        dtype = record["arguments"][key]["dtype"]
        got = arguments[key].reshape(-1)
        got = got.astype(np.float64).tolist() if "fp" in dtype or dtype == "bf16" else got.tolist()
        wanted = [0] * len(got) if data == "zeros" else data
        wrong = [
            f"{key}[{i}]: expected {w!r}, got {g!r}"
            for i, (w, g) in enumerate(zip(_values(dtype, wanted), got, strict=True))
            if not _same(w, g, record.get("rtol", 0.0))
        ]
        assert not wrong, "\n".join([record["source"], *wrong[:8]])
