"""The kernel's own parameters: from a signature to arguments of the IR function and handles."""

from __future__ import annotations

from typing import Any

from tritium.errors import make_error
from tritium.frontend.signature import Argument, Constant, DescriptorOf, RunTime, Signature, TupleOf
from tritium.frontend.source import KernelSource
from tritium.frontend.statements import Statements
from tritium.ir.core import Function
from tritium.ir.types import int32, int64, pointer
from tritium.ops.handles import Tensor, constexpr


def bind_signature(
    lowering: Statements, function: Function, source: KernelSource, signature: Signature
) -> dict[str, Any]:
    """Handles by parameter name; adds the run-time ones to `function`."""
    given = dict(signature.arguments)
    names = [p.name for p in source.parameters]
    wrong = [n for n in given if n not in names] + [n for n in names if n not in given]
    if wrong:
        problem = f"`{wrong[0]}` is {'missing' if wrong[0] in names else 'unknown'} in the signature"
        shown = f"({', '.join(names)})"
        raise make_error("TRI0601", source.def_loc, function=source.name, signature=shown, problem=problem)
    return {name: _bind(lowering, function, name, given[name]) for name in names}


def _bind(lowering: Statements, function: Function, name: str, argument: Argument) -> Any:
    if isinstance(argument, RunTime):
        return Tensor(function.add_arg(argument.type, name, **dict(argument.facts)))
    if isinstance(argument, Constant):
        return lowering.wrap(argument.value)
    if isinstance(argument, TupleOf):
        items = [_bind(lowering, function, f"{name}.{i}", item) for i, item in enumerate(argument.items)]
        return getattr(argument.cls, "_make", tuple)(items) if argument.cls is not None else tuple(items)
    return _descriptor(lowering, function, name, argument)


def _descriptor(lowering: Statements, function: Function, name: str, argument: DescriptorOf) -> Any:
    """A descriptor of the host: base pointer, shape (int32) and strides (int64, the last one is 1)."""
    rank = len(argument.block_shape)
    base = Tensor(function.add_arg(pointer(argument.element), f"{name}.base", **dict(argument.facts)))
    shape = [Tensor(function.add_arg(int32, f"{name}.shape.{i}")) for i in range(rank)]
    strides: list[Any] = [Tensor(function.add_arg(int64, f"{name}.stride.{i}")) for i in range(rank - 1)]
    strides.append(constexpr(1))
    block = tuple(constexpr(d) for d in argument.block_shape)
    made = lowering.call_named(
        "tl.make_tensor_descriptor", base, tuple(shape), tuple(strides), block, argument.padding
    )
    return made
