"""Straight-line PTX on whole registers, instruction by instruction as tile ops.

Understood: one element to a register (pack 1), 32- and 64-bit registers, and the instructions of `_INSTRUCTIONS`. An
instruction with an explicit ``.rn`` goes to the device library's function of that rounding, which no backend
contracts. With a larger pack only a plain copy of every register is understood. Facts: PTX ISA, chapter "Instruction set".

    add.rn.f32 $0, $1, $2;        $0 = libdevice.add_rn($1, $2)
    mov.b32 $0, $1;               $0 = $1
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tritium.ir.core import Region
from tritium.ir.types import DType, dtype_named, shaped
from tritium.ops.arithmetic import Add, Div, Fma, IntDiv, Mul, Rem, Sub, UMulHi
from tritium.ops.bitwise import And, Or, Shl, Shr, Xor
from tritium.ops.cast import Cast, reinterpret
from tritium.ops.create import Constant
from tritium.ops.handles import Tensor
from tritium.ops.libdevice import call as library
from tritium.ops.math import Abs, Cos, Exp2, Log2, Rsqrt, Sin, Sqrt
from tritium.ops.minmax import Maximum, Minimum
from tritium.ops.semantic import Semantic


class NotUnderstood(Exception):
    """The text holds something that has no translation here."""


@dataclass(frozen=True)
class Instruction:
    """One instruction: ``add``, its modifiers ``("rn",)``, its types ``("f32",)`` and its operands as written."""

    mnemonic: str
    modifiers: tuple[str, ...]
    types: tuple[str, ...]
    operands: tuple[str, ...]


_TYPE = re.compile(r"[busf](16|32|64)|bf16")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_BRACED = re.compile(r"\$\{(\d+)(?::[a-z])?\}")  # another spelling of a register
_REGISTER = re.compile(r"\$(\d+)")
_DECLARATION = re.compile(r"\.reg\s+\.([busf](?:32|64))\s+([\w, %$]+)")


def parse(asm: str) -> tuple[list[Instruction], set[str]]:
    """The instructions of `asm`, and the registers it declares. Raises NotUnderstood."""
    instructions: list[Instruction] = []
    declared: set[str] = set()
    plain = _BRACED.sub(r"$\1", _COMMENT.sub("", asm))
    for statement in plain.replace("{", ";{;").replace("}", ";};").split(";"):
        text = " ".join(statement.split())
        if not text or text in "{}":
            continue
        declaration = _DECLARATION.fullmatch(text)
        if declaration:
            declared.update(name.strip() for name in declaration[2].split(","))
            continue
        opcode, _, rest = text.partition(" ")
        mnemonic, *parts = opcode.split(".")
        types = tuple(p for p in parts if _TYPE.fullmatch(p))
        modifiers = tuple(p for p in parts if not _TYPE.fullmatch(p))
        operands = tuple(o.strip() for o in rest.split(","))
        if not mnemonic.isalnum() or not types or not all(operands):
            raise NotUnderstood(text)
        instructions.append(Instruction(mnemonic, modifiers, types, operands))
    return instructions, declared


def translate(
    s: Semantic,
    asm: str,
    constraints: str,
    operands: Sequence[Tensor],
    dtypes: Sequence[DType],
    pack: int,
) -> list[Tensor]:
    """The results of `asm` as tile ops. Raises NotUnderstood, in which case nothing is emitted."""
    instructions, declared = parse(asm)
    tried = Region()
    with s.builder.into(tried):
        results = _run(s, instructions, declared, constraints, operands, dtypes, pack)
    for op in tried.ops:
        s.builder.insert(op)
    return results


def _run(
    s: Semantic,
    instructions: list[Instruction],
    declared: set[str],
    constraints: str,
    operands: Sequence[Tensor],
    dtypes: Sequence[DType],
    pack: int,
) -> list[Tensor]:
    listed = [c.strip() for c in constraints.split(",") if c.strip()]
    outputs = [c for c in listed if c.startswith("=")]
    inputs = [c for c in listed if not c.startswith(("=", "~"))]
    if pack != 1 or any(t.dtype.primitive_bitwidth < 32 for t in operands):
        return _copies(s, instructions, outputs, inputs, operands, dtypes, pack)
    if len(outputs) != len(dtypes) or len(inputs) != len(operands) or not operands:
        raise NotUnderstood("constraints do not match the operands")
    shape = operands[0].dims
    registers: dict[str, Tensor] = {}
    for i, (constraint, t) in enumerate(zip(inputs, operands, strict=True)):
        registers[str(len(outputs) + i)] = t
        if constraint.isdigit():
            registers[constraint] = t
    machine = _Machine(s, registers, declared, shape)
    for instruction in instructions:
        machine.run(instruction)
    results: list[Tensor] = []
    for i, ty in enumerate(dtypes):
        if str(i) not in registers or ty.primitive_bitwidth != registers[str(i)].dtype.primitive_bitwidth:
            raise NotUnderstood(f"result {i}")
        results.append(reinterpret(s, registers[str(i)], ty))
    return results


def _copies(
    s: Semantic,
    instructions: list[Instruction],
    outputs: list[str],
    inputs: list[str],
    operands: Sequence[Tensor],
    dtypes: Sequence[DType],
    pack: int,
) -> list[Tensor]:
    """Register i of the only result is a copy of register i of the only operand, for all of them."""
    if len(operands) != 1 or len(dtypes) != 1 or len(outputs) != len(inputs):
        raise NotUnderstood("only a copy of one operand is understood for packed elements")
    if operands[0].dtype.primitive_bitwidth != dtypes[0].primitive_bitwidth:
        raise NotUnderstood("a copy between widths")
    n = len(outputs)
    wanted = {(f"${i}", f"${n + i}") for i in range(n)}
    copied = {i.operands for i in instructions if i.mnemonic == "mov" and not i.modifiers}
    if copied != wanted or len(instructions) != n:
        raise NotUnderstood("not a copy")
    return [reinterpret(s, operands[0], dtypes[0])]


class _Machine:
    """Registers by name, as tiles of some type of the register's width."""

    def __init__(
        self, s: Semantic, registers: dict[str, Tensor], declared: set[str], shape: tuple[int, ...]
    ) -> None:
        self.s = s
        self.registers = registers
        self.declared = declared
        self.shape = shape

    def run(self, i: Instruction) -> None:
        rule = _INSTRUCTIONS.get(i.mnemonic)
        if rule is None:
            raise NotUnderstood(i.mnemonic)
        arity, compute = rule
        if len(i.operands) != arity + 1:
            raise NotUnderstood(f"{i.mnemonic} with {len(i.operands)} operands")
        self.registers[self._name(i.operands[0])] = compute(self, i)

    def _name(self, text: str) -> str:
        register = _REGISTER.fullmatch(text)
        if register:
            return register[1]
        if text not in self.declared:
            raise NotUnderstood(text)
        return text

    def read(self, text: str, ptx_type: str, as_held: bool = False) -> Tensor:
        """An operand as a tile of `ptx_type`, or of whatever type of that width the register holds."""
        ty = _dtype(ptx_type)
        number = _immediate(text, ty)
        if number is not None:
            return self.s.emit(Constant, value=number, type=shaped(ty, self.shape))
        name = self._name(text)
        if name not in self.registers:
            raise NotUnderstood(f"{text} is read before it is written")
        held = self.registers[name]
        if held.dtype.primitive_bitwidth != ty.primitive_bitwidth:
            raise NotUnderstood(f"{text} is no {ptx_type}")
        return held if as_held else reinterpret(self.s, held, ty)

    def sources(self, i: Instruction) -> list[Tensor]:
        return [self.read(text, i.types[-1]) for text in i.operands[1:]]


def _dtype(ptx_type: str) -> DType:
    """``b32`` and ``u32`` are uint32, ``s32`` is int32, ``f32`` is fp32."""
    kind, bits = ptx_type[0], ptx_type[1:]
    if ptx_type == "bf16" or bits == "16":
        raise NotUnderstood(ptx_type)
    return dtype_named({"b": "uint", "u": "uint", "s": "int", "f": "float"}[kind] + bits)


def _immediate(text: str, ty: DType) -> int | float | None:
    if re.fullmatch(r"0[fF][0-9a-fA-F]{8}", text):
        return struct.unpack(">f", bytes.fromhex(text[2:]))[0] if ty.is_fp32() else None
    if re.fullmatch(r"0[dD][0-9a-fA-F]{16}", text):
        return struct.unpack(">d", bytes.fromhex(text[2:]))[0] if ty.is_fp64() else None
    if re.fullmatch(r"-?\d+\.\d*", text) and ty.is_floating():
        return float(text)
    if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)U?", text) and ty.is_int():
        number = int(text.rstrip("U"), 0) & ((1 << ty.primitive_bitwidth) - 1)
        return number - (1 << ty.primitive_bitwidth) if number > ty.get_int_max_value() else number
    return None


# ---- the instructions ------------------------------------------------------------------------------------

_Rule = tuple[int, Callable[[_Machine, Instruction], Tensor]]


def _allow(i: Instruction, *modifiers: str) -> None:
    """Modifiers outside the list change the result in ways that are not understood."""
    unknown = set(i.modifiers) - set(modifiers)
    if unknown or len(i.types) != 1:
        raise NotUnderstood(f"{i.mnemonic} with {sorted(unknown)}, {i.types}")


def _plain(cls: Any, *modifiers: str, **attrs: Any) -> Callable[[_Machine, Instruction], Tensor]:
    def compute(m: _Machine, i: Instruction) -> Tensor:
        _allow(i, *modifiers)
        operands = m.sources(i)
        ty = operands[0].dtype
        if not isinstance(ty, DType) or ty.text not in cls.formats:
            raise NotUnderstood(f"{i.mnemonic}.{i.types[0]}")
        return m.s.emit(cls, *operands, **attrs)

    return compute


def _arithmetic(cls: Any, name: str) -> Callable[[_Machine, Instruction], Tensor]:
    """Integers wrap; a float with ``.rn`` is the library's function, which stays apart from its neighbours."""

    def compute(m: _Machine, i: Instruction) -> Tensor:
        if i.modifiers == ("rn",) and i.types[0] in ("f32", "f64"):
            return library(m.s, f"{name}_rn", m.sources(i))
        low = ("lo",) if i.types[0][0] != "f" and name == "mul" else ()
        _allow(i, *low)
        if name == "mul" and i.types[0][0] != "f" and i.modifiers != ("lo",):
            raise NotUnderstood("a product of unnamed width")
        return m.s.emit(cls, *m.sources(i), sanitize_overflow=False)

    return compute


def _mov(m: _Machine, i: Instruction) -> Tensor:
    _allow(i)
    return m.read(i.operands[1], i.types[0], as_held=True)


def _div(m: _Machine, i: Instruction) -> Tensor:
    if i.types[0][0] != "f":
        _allow(i)
        return m.s.emit(IntDiv, *m.sources(i))
    _allow(i, "rn", "full", "approx", "ftz")
    return m.s.emit(Div, *m.sources(i), precise="rn" in i.modifiers)


def _rcp(m: _Machine, i: Instruction) -> Tensor:
    _allow(i, "rn", "approx", "ftz")
    (x,) = m.sources(i)
    if not x.dtype.is_floating():
        raise NotUnderstood("rcp of integers")
    one = m.s.emit(Constant, value=1.0, type=x.type)
    return m.s.emit(Div, one, x, precise="rn" in i.modifiers)


def _sqrt(m: _Machine, i: Instruction) -> Tensor:
    _allow(i, "rn", "approx", "ftz")
    (x,) = m.sources(i)
    if not x.dtype.is_floating():
        raise NotUnderstood("sqrt of integers")
    return m.s.emit(Sqrt, x, precise="rn" in i.modifiers)


def _tanh(m: _Machine, i: Instruction) -> Tensor:
    _allow(i, "approx")
    if i.types != ("f32",):
        raise NotUnderstood("tanh of other types than f32")
    return library(m.s, "tanh", m.sources(i))


def _extremum(cls: Any) -> Callable[[_Machine, Instruction], Tensor]:
    def compute(m: _Machine, i: Instruction) -> Tensor:
        _allow(i, "NaN")
        return m.s.emit(cls, *m.sources(i), propagate_nan="NaN" in i.modifiers)

    return compute


def _neg(m: _Machine, i: Instruction) -> Tensor:
    """A float's sign bit flipped, an integer negated."""
    _allow(i)
    (x,) = m.sources(i)
    if not x.dtype.is_floating():
        zero = m.s.emit(Constant, value=0, type=x.type)
        return m.s.emit(Sub, zero, x, sanitize_overflow=False)
    width = x.dtype.primitive_bitwidth
    bits = reinterpret(m.s, x, dtype_named(f"uint{width}"))
    sign = m.s.emit(Constant, value=1 << (width - 1), type=bits.type)
    return reinterpret(m.s, m.s.emit(Xor, bits, sign), x.dtype)


def _not(m: _Machine, i: Instruction) -> Tensor:
    _allow(i)
    (x,) = m.sources(i)
    if not isinstance(x.dtype, DType) or not x.dtype.is_int_unsigned():
        raise NotUnderstood("not of typed registers")
    ones = m.s.emit(Constant, value=x.dtype.get_int_max_value(), type=x.type)
    return m.s.emit(Xor, x, ones)


def _shift(cls: Any) -> Callable[[_Machine, Instruction], Tensor]:
    """The amount is always a u32 register."""

    def compute(m: _Machine, i: Instruction) -> Tensor:
        _allow(i)
        x, by = m.read(i.operands[1], i.types[0]), m.read(i.operands[2], "u32")
        if not x.dtype.is_int():
            raise NotUnderstood("a shift of floats")
        if x.dtype.primitive_bitwidth == 64:
            by = m.s.emit(Cast, by, to=dtype_named("uint64"))
        return m.s.emit(cls, x, reinterpret(m.s, by, x.dtype))

    return compute


def _mad(m: _Machine, i: Instruction) -> Tensor:
    _allow(i, "lo")
    if i.types[0][0] == "f" or i.modifiers != ("lo",):
        raise NotUnderstood("mad")
    x, y, z = m.sources(i)
    product = m.s.emit(Mul, x, y, sanitize_overflow=False)
    return m.s.emit(Add, product, z, sanitize_overflow=False)


def _mul(m: _Machine, i: Instruction) -> Tensor:
    if i.modifiers == ("hi",) and i.types[0] in ("u32", "u64"):
        return m.s.emit(UMulHi, *m.sources(i))
    return _arithmetic(Mul, "mul")(m, i)


def _cvt(m: _Machine, i: Instruction) -> Tensor:
    """Conversions whose rounding is the one of a cast."""
    if len(i.types) != 2:
        raise NotUnderstood("cvt")
    to, source = _dtype(i.types[0]), _dtype(i.types[1])
    rounding = {
        (True, True): ("rn",) if to.primitive_bitwidth < source.primitive_bitwidth else (),
        (True, False): ("rn",),  # integer to float
        (False, True): ("rzi",),  # float to integer
        (False, False): (),
    }[to.is_floating(), source.is_floating()]
    if i.modifiers != rounding or i.types[0][0] == "b" or i.types[1][0] == "b":
        raise NotUnderstood("cvt with other rounding")
    x = m.read(i.operands[1], i.types[1])
    return x if to is source else m.s.emit(Cast, x, to=to)


_INSTRUCTIONS: dict[str, _Rule] = {
    "mov": (1, _mov),
    "add": (2, _arithmetic(Add, "add")),
    "sub": (2, _arithmetic(Sub, "sub")),
    "mul": (2, _mul),
    "mad": (3, _mad),
    "fma": (3, _plain(Fma, "rn")),
    "div": (2, _div),
    "rem": (2, _plain(Rem)),
    "neg": (1, _neg),
    "abs": (1, _plain(Abs)),
    "min": (2, _extremum(Minimum)),
    "max": (2, _extremum(Maximum)),
    "and": (2, _plain(And)),
    "or": (2, _plain(Or)),
    "xor": (2, _plain(Xor)),
    "not": (1, _not),
    "shl": (2, _shift(Shl)),
    "shr": (2, _shift(Shr)),
    "cvt": (1, _cvt),
    "rcp": (1, _rcp),
    "sqrt": (1, _sqrt),
    "rsqrt": (1, _plain(Rsqrt, "approx", "ftz")),
    "ex2": (1, _plain(Exp2, "approx", "ftz")),
    "lg2": (1, _plain(Log2, "approx", "ftz")),
    "sin": (1, _plain(Sin, "approx", "ftz")),
    "cos": (1, _plain(Cos, "approx", "ftz")),
    "tanh": (1, _tanh),
}
