"""Build a few ops through their surfaces and evaluate them at once, with a machine just large enough for that."""

from __future__ import annotations

from typing import Any

import numpy as np

import tritium.ops  # noqa: F401  (fills the registries)
from tritium.errors import Loc
from tritium.ir.builder import Builder
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.types import DTYPES, DType, Type, dtype_named, shaped
from tritium.numerics.cast import cast
from tritium.ops.base import BATCH_AXES
from tritium.ops.handles import Tensor
from tritium.ops.semantic import Semantic
from tritium.ops.storage import storage_dtype
from tritium.ops.surface import METHODS, OPERATORS, SURFACES

LOC = Loc("kernel.py", 7, 4)
NUMBERS = [t for t in DTYPES.values() if not t.is_void()]
FLOATS = [t for t in NUMBERS if t.is_floating()]
INTEGERS = [t for t in NUMBERS if t.is_int()]


def stored(values: Any, ty: DType) -> np.ndarray:
    """`values` converted to the storage of `ty` (values, not bits)."""
    x = np.asarray(values)
    if ty.is_int():
        return x.astype(storage_dtype(ty))
    return cast(x.astype(np.float64), "f64", ty.text)


def widened(x: np.ndarray, ty: Type) -> np.ndarray:
    """Stored numbers as float64, or as they are for integers."""
    return cast(x, ty.scalar.text, "f64") if ty.scalar.is_floating() else x


class Asserted(Exception):
    pass


class Machine:
    """Runs regions on arrays; records what is printed; raises where a check fails."""

    batch = (1, 1, 1)

    def __init__(self) -> None:
        self.printed: list[Any] = []
        self.events: list[str] = []

    def apply_region(self, region: Region, args: Any) -> list[Any]:
        env = dict(zip(region.args, args, strict=True))
        for op in region.ops:
            if op.is_terminator:
                return [env[v] for v in op.operands]
            run_op(op, env, self)
        raise AssertionError("no terminator")

    def run_if(self, op: Any, condition: Any) -> Any:
        yes = self.apply_region(op.then_region, [])
        no = self.apply_region(op.else_region, [])
        return [np.where(condition, a, b) for a, b in zip(yes, no, strict=True)]

    def print_values(self, op: Op, prefix: str, values: Any, **how: Any) -> None:
        self.printed.append((prefix, values, how))

    def check(self, op: Op, condition: Any, message: str, mask: Any) -> None:
        bad = ~condition if mask is None else ~condition & mask
        if np.any(bad):
            raise Asserted(message)

    def barrier(self, op: Op) -> None:
        self.events.append("barrier")

    def breakpoint(self, op: Op) -> None:
        self.events.append("breakpoint")


def run_op(op: Op, env: dict[Value, Any], machine: Machine) -> None:
    args = [env[v] if v in env else _outer(v, env) for v in op.operands]
    kept = [None if a is None else a.copy() for a in args]
    out = op.execute(machine, *args)  # type: ignore[attr-defined]
    for before, after in zip(kept, args, strict=True):
        if before is not None and before.dtype.kind != "O":
            assert before.tobytes() == np.ascontiguousarray(after).tobytes(), f"{op.name} changed an operand"
    results = list(out) if isinstance(out, (tuple, list)) else [out] if op.results else []
    assert len(results) == len(op.results), op
    for value, array in zip(op.results, results, strict=True):
        check_array(op, value, array)
        env[value] = array


def _outer(value: Value, env: dict[Value, Any]) -> Any:
    raise AssertionError(f"{value!r} has no value")


def check_array(op: Op, value: Value, array: Any) -> None:
    """The array convention: right storage, right rank, every extent the true one or 1."""
    assert isinstance(array, np.ndarray), (op, type(array))
    assert array.dtype == storage_dtype(value.type), (op, array.dtype, value.type)
    in_region = op.parent is not None and op.parent.parent is not None and isinstance(op.parent.parent, Op)
    if in_region:  # there scalars come as arrays of any shape
        return
    dims = value.type.shape
    assert array.ndim == BATCH_AXES + len(dims), (op, array.shape, value.type)
    for have, want in zip(array.shape[BATCH_AXES:], dims, strict=True):
        assert have in (1, want), (op, array.shape, value.type)


class Kernel:
    """``k = Kernel(); x = k.arg([...], "fp32"); k.value(k.tl("sum", x))``"""

    def __init__(self, **options: Any) -> None:
        self.function = Function("k")
        self.s = CallingSemantic(Builder(self.function.body, LOC), options)
        self.inputs: dict[Value, Any] = {}
        self.machine = Machine()

    def arg(self, values: Any, dtype: str | DType, batch: int = 0) -> Tensor:
        """A run-time tensor of these values. The first `batch` axes are the batch, the others the tile's."""
        ty = dtype if isinstance(dtype, DType) else dtype_named(dtype)
        x = stored(values, ty)
        return self.raw(x, ty, x.shape[batch:], batch)

    def raw(self, x: np.ndarray, ty: Any, dims: tuple[int, ...], batch: int = 0) -> Tensor:
        """A run-time tensor of stored values with the true extents `dims`; the array may be shorter (extent 1)."""
        x = x.reshape(x.shape[:batch] + (1,) * (BATCH_AXES - batch) + x.shape[batch:])
        value = self.function.add_arg(shaped(ty, dims), f"x{len(self.inputs)}")
        self.inputs[value] = x
        return Tensor(value)

    def tl(self, name: str, *args: Any, **kw: Any) -> Any:
        return SURFACES[name if "." in name else f"tl.{name}"](self.s, *args, **kw)

    def method(self, name: str, *args: Any, **kw: Any) -> Any:
        return METHODS[name](self.s, *args, **kw)

    def operator(self, name: str, *args: Any) -> Any:
        return OPERATORS[name](self.s, *args)

    def run(self) -> dict[Value, Any]:
        env = dict(self.inputs)
        for op in self.function.body.ops:
            run_op(op, env, self.machine)
        return env

    def arrays(self, *tensors: Tensor) -> list[np.ndarray]:
        """The stored arrays at full extent, batch axes included."""
        env = self.run()
        out = []
        for t in tensors:
            x = env[t.value]
            out.append(np.broadcast_to(x, x.shape[:BATCH_AXES] + t.dims))
        return out

    def array(self, tensor: Tensor) -> np.ndarray:
        return self.arrays(tensor)[0]

    def value(self, tensor: Tensor) -> np.ndarray:
        """The stored tile of the only program instance."""
        (x,) = self.arrays(tensor)
        assert x.shape[:BATCH_AXES] == (1, 1, 1)
        return x[0, 0, 0]

    def wide(self, tensor: Tensor) -> np.ndarray:
        return widened(self.value(tensor), tensor.type)

    def ops(self) -> list[str]:
        return [op.name for op in self.function.body.ops]


class CallingSemantic(Semantic):
    """Calls plain Python functions where the frontend would inline a jit function: ``fn(s, *tensors)``."""

    def call(self, fn: Any, args: Any) -> Any:
        return fn(self, *args)
