"""PTX by the kernel's author, and the few instructions that have no C++."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tritium.backends.cuda import library
from tritium.backends.cuda.registers import Coordinate, Held
from tritium.backends.cuda.types import is_struct
from tritium.ir.core import Op
from tritium.ir.types import DType, PointerType, ScalarType
from tritium.ops.device import DeviceRegister, GridDependency
from tritium.ops.emit import Expr
from tritium.ops.inline_asm import InlineAsm

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter

_REGISTERS = {"r": "u32", "l": "u64", "h": "u16", "f": "float", "d": "double"}
"""C++ types of the registers that constraints name."""


def inline_asm(e: Emitter, op: Op) -> None:
    """One element at a time, each in a register of the kind that its constraint names."""
    assert isinstance(op, InlineAsm)
    outputs, inputs = _constraints(op)
    fits = len(outputs) == len(op.dtypes) and len(inputs) == len(op.args)
    if op.pack != 1 or not fits or any(c not in _REGISTERS for c in (*outputs, *inputs)):
        e.unsupported(op, f" with constraints {op.constraints!r} for {op.pack} elements at a time")
    e.used.add("names")
    text = re.sub(r"\$(\d+)", r"%\1", op.asm.replace("%", "%%"))
    text = re.sub(r"\$\{(\d+)(?::\w+)?\}", r"%\1", text).replace("$$", "$")
    keyword = "asm" if op.pure else "asm volatile"

    def lines(index: Coordinate, targets: Sequence[Held]) -> list[str]:
        out = ["{"]
        for i, c in enumerate(outputs):
            out.append(f"  {_REGISTERS[c]} out_{i};")
        given: list[str] = []
        for i, (c, v) in enumerate(zip(inputs, op.args, strict=True)):
            out.append(f"  {_REGISTERS[c]} in_{i} = {_to_register(e, e.text(v, index), v.type.scalar, c)};")  # type: ignore[arg-type]
            given.append(f'"{c}"(in_{i})')
        made = ", ".join(f'"={c}"(out_{i})' for i, c in enumerate(outputs))
        out.append(f"  {keyword}({json.dumps(text)} : {made} : {', '.join(given)});")
        for i, (t, ty) in enumerate(zip(targets, op.dtypes, strict=True)):
            out.append(f"  {t.at(index)} = {_from_register(e, f'out_{i}', ty, outputs[i])};")
        return [*out, "}"]

    library.several(e, op, lines)


def _constraints(op: InlineAsm) -> tuple[list[str], list[str]]:
    parts = [p.strip() for p in op.constraints.split(",") if p.strip() and not p.strip().startswith("~")]
    return [p[1:].lstrip("&") for p in parts if p.startswith("=")], [
        p for p in parts if not p.startswith("=")
    ]


def _to_register(e: Emitter, x: Expr, ty: ScalarType, constraint: str) -> str:
    """The bits of an element in a register, narrower ones below zeros."""
    if constraint in "fd" or isinstance(ty, PointerType):
        return str(x) if constraint in "fd" else f"(u64){x.within(15)}"
    assert isinstance(ty, DType)
    if is_struct(ty):
        return f"{x.within(16)}.bits"
    if ty.is_floating():
        e.used.add("bits_as")
        return f"bits_as<{'u64' if ty.is_fp64() else 'u32'}>({x})"
    unsigned = {8: "u8", 16: "u16", 32: "u32", 64: "u64"}.get(ty.primitive_bitwidth, "u32")
    return f"({unsigned}){x.within(15)}"


def _from_register(e: Emitter, name: str, ty: ScalarType, constraint: str) -> str:
    if constraint in "fd":
        return name
    kind = e.type(ty)
    if isinstance(ty, DType) and is_struct(ty):
        return f"{kind}{{({'u8' if ty.is_fp8() else 'u16'}){name}}}"
    if isinstance(ty, DType) and ty.is_floating():
        e.used.add("bits_as")
        return f"bits_as<{kind}>({name})"
    return f"({kind}){name}"


def device_register(e: Emitter, op: Op) -> None:
    assert isinstance(op, DeviceRegister)
    e.flush()
    e.w.at(op.loc)
    e.define_scalar(op.result, e.helper(f"read_{op.register}"))


def grid_dependency(e: Emitter, op: Op) -> None:
    assert isinstance(op, GridDependency)
    e.flush()
    e.w.at(op.loc)
    e.w.line(f"{e.helper(f'dependency_{op.action}')};")
    e.loads.clear()
