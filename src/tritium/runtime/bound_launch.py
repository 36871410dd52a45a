"""``kernel.bind(...)``: a launch with everything decided, to be repeated without any check.

::

    step = kernel.bind(x, y, out, n, BLOCK=128, grid=(8,))
    step()                      the same launch again
    step(x2, y2, out2)          with other arrays: of the same types, alignment and device, which nobody checks
    step(n=n - 16)              any run-time argument may be replaced, by position or name

Arguments that became compile-time values (constexpr ones, None, an integer that is 1) are not among them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tritium.backends.cuda import driver
from tritium.backends.cuda.launch import Argument, make_bound
from tritium.backends.cuda.stub_entry import stub_fields
from tritium.ir.types import PointerType
from tritium.runtime.arrays import ArrayView, view_of
from tritium.runtime.compiled import CompiledKernel
from tritium.runtime.gpu_kernel import GpuKernel
from tritium.runtime.grid import Grid
from tritium.runtime.specialize import ConstArg, RuntimeArg, Spec, add_leaves
from tritium.runtime.stub.bound import repeat_natively

Bound = Callable[..., None]


def bind_launch(kernel: CompiledKernel | None, grid: Grid, values: Sequence[Any]) -> Bound:
    """The launch of `kernel` on `grid` with one value per kernel parameter, as a function.

    `kernel` is None where a hook took the compilation over; then a launch does nothing.
    """
    if kernel is None or 0 in grid:
        return lambda *args, **kwargs: None
    return _on_gpu(kernel, grid, values) if isinstance(kernel, GpuKernel) else _on_host(kernel, grid, values)


def _on_gpu(kernel: GpuKernel, grid: Grid, values: Sequence[Any]) -> Bound:
    leaves = kernel.leaves_of(values)
    ordinal = kernel.program.device_of(leaves)
    kernel.program.values_of(leaves)  # the errors of arrays that the GPU does not reach, once
    arguments = [
        _argument(i, name, spec, value)
        for i, ((name, spec), value) in enumerate(zip(kernel.specs, values, strict=True))
        if not isinstance(spec, ConstArg)
    ]
    owners = [leaf.owner for leaf in leaves if isinstance(leaf, ArrayView)]
    loaded, _ = kernel.program.on(ordinal)
    parameters, stream_of = kernel.program.parameters, driver.stream_reader(owners)
    slowly = make_bound(loaded, parameters, arguments, grid, stream_of)
    return repeat_natively(stub_fields(loaded, stream_of), parameters, arguments, grid, slowly)


def _argument(i: int, name: str, spec: Spec, value: Any) -> Argument:
    if isinstance(spec, RuntimeArg) and not name.endswith("__"):
        if not isinstance(spec.type, PointerType):
            return Argument(name, (name,), value, {})
        if hasattr(value, "untyped_storage"):
            return Argument(name, (f"{name}.data_ptr()",), value, {})
        return Argument(name, (f"address_of__({name})",), value, {"address_of__": address_of})
    leaves: list[Any] = []
    add_leaves(spec, value, leaves)
    fixed = {f"part{i}_{j}__": getattr(leaf, "address", leaf) for j, leaf in enumerate(leaves)}
    return Argument("", tuple(fixed), value, {**fixed, f"keep{i}__": value})


def address_of(array: Any) -> int:
    """The address of an array of any library."""
    return view_of(array).address


def _on_host(kernel: CompiledKernel, grid: Grid, values: Sequence[Any]) -> Bound:
    names = [name for name, spec in kernel.specs if not isinstance(spec, ConstArg)]
    bound = dict(zip((name for name, _ in kernel.specs), values, strict=True))

    def launch(*args: Any, **kwargs: Any) -> None:
        if len(args) > len(names) or not kwargs.keys() <= set(names):
            raise TypeError(f"a bound launch of {kernel.name} takes {', '.join(names) or 'no arguments'}")
        now = {**bound, **dict(zip(names, args, strict=False)), **kwargs}
        kernel.launch(grid, kernel.leaves_of([now[name] for name, _ in kernel.specs]))

    return launch
