"""The verbs of `tritium.ops.emit.CpuEmitter`: what elementwise ops say of themselves, as instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from tritium.backends.cpu import arithmetic, vector_math
from tritium.backends.cpu.code import Code, V
from tritium.ir.core import Op


class Unsupported(Exception):
    """An op that has no native form; `op` says which."""

    def __init__(self, op: Op, why: str) -> None:
        super().__init__(why)
        self.op = op
        self.why = why


def _verb(write: Callable[..., V]) -> Any:
    def verb(self: Verbs, op: Op, *x: V) -> V:
        return write(self.code, op, *x)

    verb.__doc__ = write.__doc__
    return verb


class Verbs:
    """The emitter that writes to `code`."""

    def __init__(self, code: Code) -> None:
        self.code = code

    def unsupported(self, op: Op) -> NoReturn:
        raise Unsupported(op, f"{op.name} has no native form")

    absolute = _verb(arithmetic.absolute)
    add = _verb(arithmetic.add)
    add_pointer = _verb(arithmetic.add_pointer)
    bit_and = _verb(arithmetic.bit_and)
    bit_or = _verb(arithmetic.bit_or)
    bit_xor = _verb(arithmetic.bit_xor)
    bitcast = _verb(arithmetic.bitcast)
    ceil = _verb(arithmetic.ceil)
    clamp = _verb(arithmetic.clamp)
    compare = _verb(arithmetic.compare)
    convert = _verb(arithmetic.convert)
    div = _verb(arithmetic.div)
    extremum = _verb(arithmetic.extremum)
    floor = _verb(arithmetic.floor)
    fma = _verb(arithmetic.fma)
    function = _verb(vector_math.function)
    int_div = _verb(arithmetic.int_div)
    mul = _verb(arithmetic.mul)
    rem = _verb(arithmetic.rem)
    same = _verb(arithmetic.same)
    select = _verb(arithmetic.select)
    shl = _verb(arithmetic.shl)
    shr = _verb(arithmetic.shr)
    sqrt = _verb(arithmetic.sqrt)
    sub = _verb(arithmetic.sub)
    umulhi = _verb(arithmetic.umulhi)
