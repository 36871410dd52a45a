"""What a value case is, and numbers of every dtype as plain Python values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

NUMPY: dict[str, Any] = {
    "int1": np.bool_,
    **{f"{sign}int{bits}": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{"fp16": np.float16, "fp32": np.float32, "fp64": np.float64},
}
TORCH: dict[str, Any] = {
    **{"bf16": torch.bfloat16, "fp8e5": torch.float8_e5m2, "fp8e4nv": torch.float8_e4m3fn},
    **{"fp16": torch.float16, "fp32": torch.float32, "fp64": torch.float64, "int1": torch.bool},
    **{
        f"{sign}int{bits}": getattr(torch, f"{sign}int{bits}")
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
}


@dataclass(frozen=True)
class Array:
    """Values of one dtype, row major; floats are Python floats that the dtype holds exactly."""

    dtype: str
    data: tuple[Any, ...]
    shape: tuple[int, ...]

    def numpy(self) -> Any:
        """As a NumPy array; bf16 and the 8-bit floats become float32, which holds them exactly."""
        return np.array(self.data, dtype=NUMPY.get(self.dtype, np.float32)).reshape(self.shape)

    def tensor(self) -> torch.Tensor:
        """As a torch tensor of the same dtype."""
        if self.dtype in NUMPY:
            return torch.from_numpy(self.numpy().copy())
        return torch.tensor(self.data, dtype=torch.float32).to(TORCH[self.dtype]).reshape(self.shape)

    def json(self) -> dict[str, Any]:
        """As recorded: values that JSON lacks are text, and an array of zeros goes without data."""
        if not any(self.data) and "-" not in str(self.data):
            return {"dtype": self.dtype, "shape": list(self.shape)}
        data = [str(v) if isinstance(v, float) and not math.isfinite(v) else v for v in self.data]
        return {"dtype": self.dtype, "shape": list(self.shape), "data": data}


def array(dtype: str, values: Any, shape: Sequence[int] | None = None) -> Array:
    """Values rounded to `dtype` (float: to nearest even; int: they must fit)."""
    source = np.asarray(values)
    shape = tuple(source.shape if shape is None else shape)
    flat = source.reshape(-1)
    if dtype in NUMPY:
        with np.errstate(over="ignore"):
            flat = flat.astype(NUMPY[dtype])
        return Array(dtype, tuple(flat.tolist()), shape)
    wide = torch.from_numpy(flat.astype(np.float64).copy()).to(torch.float32).to(TORCH[dtype])
    return Array(dtype, tuple(wide.to(torch.float64).tolist()), shape)


def from_tensor(dtype: str, tensor: torch.Tensor) -> Array:
    """A result read back from a kernel."""
    tensor = tensor.detach().cpu()
    wide = tensor.to(torch.float64) if dtype in ("bf16", "fp8e5", "fp8e4nv") else tensor
    return Array(dtype, tuple(wide.reshape(-1).tolist()), tuple(tensor.shape))


@dataclass(frozen=True)
class ValueCase:
    """A kernel, its arguments in order, and the arrays it must leave behind.

    `rtol` is 0 for exact results. `extended` marks what Triton refuses. `grid` has one to three extents.
    """

    name: str
    source: str
    arguments: dict[str, Any]
    expected: dict[str, Array]
    grid: tuple[int, ...] = (1,)
    constexprs: dict[str, Any] = field(default_factory=dict)
    rtol: float = 0.0
    extended: bool = False

    def json(self) -> dict[str, Any]:
        """As recorded."""
        arguments = {k: v.json() if isinstance(v, Array) else v for k, v in self.arguments.items()}
        record: dict[str, Any] = {"source": self.source, "arguments": arguments, "grid": list(self.grid)}
        record["expected"] = {k: v.json().get("data", "zeros") for k, v in self.expected.items()}
        optional = {"constexprs": self.constexprs, "rtol": self.rtol, "extended": self.extended}
        return record | {key: value for key, value in optional.items() if value}


def elementwise(
    name: str,
    inputs: dict[str, Array],
    results: Sequence[tuple[str, Array]],
    prelude: str = "",
    **options: Any,
) -> ValueCase:
    """A case that loads each input as one tile and stores each expression; expressions name the inputs."""
    count = len(next(iter(inputs.values())).data)
    assert count & (count - 1) == 0 or options.get("extended"), f"{name}: {count} elements"
    outputs = {f"o{i}": result for i, (_, result) in enumerate(results)}
    parameters = [*(f"{key}_ptr" for key in inputs), *outputs, "N: tl.constexpr"]
    lines = ["lane = tl.arange(0, N)", *(f"{key} = tl.load({key}_ptr + lane)" for key in inputs)]
    lines += [f"tl.store({out} + lane, {expr})" for out, (expr, _) in zip(outputs, results, strict=True)]
    body = "\n".join(f"    {line}" for line in lines)
    source = f"{prelude}@triton.jit\ndef kernel({', '.join(parameters)}):\n{body}\n"
    arguments: dict[str, Any] = {f"{key}_ptr": value for key, value in inputs.items()}
    arguments |= {key: blank(value) for key, value in outputs.items()}
    return ValueCase(name, source, arguments, outputs, constexprs={"N": count}, **options)


def blank(like: Array) -> Array:
    """An output before the kernel ran: zeros."""
    zero: Any = False if like.dtype == "int1" else 0.0 if "fp" in like.dtype or like.dtype == "bf16" else 0
    return Array(like.dtype, (zero,) * len(like.data), like.shape)


def pairs(dtype: str, values: Sequence[Any]) -> tuple[Array, Array]:
    """All ordered pairs of `values`, as two arrays; the number of values should be a power of two."""
    left = [a for a in values for _ in values]
    right = [b for _ in values for b in values]
    return array(dtype, np.array(left, dtype=object)), array(dtype, np.array(right, dtype=object))
