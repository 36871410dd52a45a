"""What tools ask about a kernel's Python function: its names, its place, the type of an argument."""

from __future__ import annotations

from typing import Any

from tritium.frontend.source import JitCallable
from tritium.runtime.specialize import ConstArg, DescriptorArg, Rules, Spec, TupleArg, specialize
from tritium.runtime.type_names import short_name

TRITON_MODULE = "triton.language"
GLUON_MODULE = "triton.experimental.gluon.language"


def get_full_name(fn: Any) -> str:
    """Module and qualified name of a function."""
    return f"{fn.__module__}.{fn.__qualname__}"


def get_jit_fn_file_line(fn: Any) -> tuple[str, int]:
    """File and line of the ``def`` of a kernel, whatever decorators are above it."""
    while not isinstance(fn, JitCallable):
        fn = fn.fn
    return fn.source.file, fn.source.first_line


def mangle_type(arg: Any, specialize: bool = False) -> Any:
    """How a signature writes the type of a launch argument: ``*fp32``, ``i32``, ``constexpr``."""
    return _written(_specialized(arg, specialize))


def _specialized(arg: Any, also_one: bool) -> Spec:
    return specialize(arg, Rules("argument", specialize=also_one))


def _written(spec: Spec) -> Any:
    if isinstance(spec, ConstArg):
        return "constexpr"
    if isinstance(spec, TupleArg):
        return tuple(_written(item) for item in spec.items)
    if isinstance(spec, DescriptorArg):
        return f"tensordesc<{spec.dtype.mangle()}{list(spec.block_shape)}>"
    return short_name(spec.type)
