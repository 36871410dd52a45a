"""Inline assembly: PTX that becomes ordinary ops, and text that stays."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ops.edges import edge_values, pairs, same_bits
from ops.emulate import LOC, Kernel
from ops.refusal import refused
from tritium.errors import CompilationError
from tritium.ir.types import float16, float32, float64, int8, int32, int64, uint8, uint32
from tritium.ops.base import Effect
from tritium.ops.handles import constexpr
from tritium.ops.inline_asm import InlineAsm


def asm(k: Kernel, text: str, args, dtype, constraints: str = "", pack: int = 1, pure: bool = True):
    constraints = constraints or ",".join(["=r", *"r" * len(args)])
    return k.tl("inline_asm_elementwise", constexpr(text), constraints, args, dtype, pure, constexpr(pack))


def understood(k: Kernel) -> bool:
    return "tile.inline_asm" not in k.ops()


@pytest.mark.parametrize(
    "text", ["mov.b32 $0, $1;", "mov.f32 $0, $1;", "{ mov.u32 ${0}, ${1}; }", "// copy\nmov.s32 $0,$1;"]
)
def test_identity(text):
    k = Kernel()
    x = k.arg([1.5, -0.0, math.nan], float32)
    out = asm(k, text, [x], float32)
    assert out.value is x.value and understood(k)


def test_identity_of_packed_elements():
    k = Kernel()
    x = k.arg([1, 2, 3, 4], int8)
    assert asm(k, "mov.b32 $0, $1;", [x], int8, pack=4).value is x.value
    h = k.arg([1.0, 2.0], float16)
    out = asm(k, "mov.b32 $0, $2; mov.b32 $1, $3;", [h], float16, "=r,=r,r,r", pack=4)
    assert out.value is h.value and understood(k)
    asm(k, "mov.b32 $0, $3; mov.b32 $1, $2;", [h], float16, "=r,=r,r,r", pack=4)  # swaps halves: not a copy
    assert not understood(k)


def test_copy_to_another_type():
    k = Kernel()
    out = asm(k, "mov.b32 $0, $1;", [k.arg([1.0], float32)], int32)
    assert out.dtype is int32 and k.value(out).tolist() == [0x3F800000]


@pytest.mark.parametrize("mnemonic", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("ty", [float32, float64], ids=lambda t: t.text)
def test_rounded_arithmetic(mnemonic, ty):
    x, y = pairs(edge_values(ty), edge_values(ty))
    k = Kernel()
    suffix, letter = ("f32", "f") if ty is float32 else ("f64", "d")
    args = [k.raw(x, ty, x.shape), k.raw(y, ty, y.shape)]
    out = asm(k, f"{mnemonic}.rn.{suffix} $0, $1, $2;", args, ty, f"={letter},{letter},{letter}")
    with np.errstate(all="ignore"):
        want = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[mnemonic](x, y)
    assert same_bits(k.value(out), want)
    assert "tile.libdevice" in k.ops() or mnemonic == "div"


@pytest.mark.parametrize(
    ("text", "ty", "x", "y", "want"),
    [
        ("and.b32 $0, $1, $2;", int32, [12, -1], [10, 7], [8, 7]),
        ("or.b32 $0, $1, $2;", int32, [12, 0], [10, 7], [14, 7]),
        ("xor.b32 $0, $1, $2;", uint32, [12, 5], [10, 5], [6, 0]),
        ("add.s32 $0, $1, $2;", int32, [2**31 - 1, 1], [1, 2], [-(2**31), 3]),
        ("sub.u32 $0, $1, $2;", uint32, [0, 9], [1, 4], [2**32 - 1, 5]),
        ("mul.lo.s32 $0, $1, $2;", int32, [2**16, 3], [2**16, -4], [0, -12]),
        ("mul.hi.u32 $0, $1, $2;", uint32, [2**31, 5], [6, 5], [3, 0]),
        ("shl.b32 $0, $1, $2;", int32, [1, 1], [4, 40], [16, 0]),
        ("shr.s32 $0, $1, $2;", int32, [-16, -16], [2, 99], [-4, -1]),
        ("shr.u32 $0, $1, $2;", int32, [-16, 16], [28, 2], [15, 4]),
        ("min.s32 $0, $1, $2;", int32, [-1, 5], [1, 2], [-1, 2]),
        ("max.u32 $0, $1, $2;", int32, [-1, 5], [1, 2], [-1, 5]),
        ("div.s32 $0, $1, $2;", int32, [-7, 7], [2, 2], [-3, 3]),
        ("rem.s32 $0, $1, $2;", int32, [-7, 7], [2, 2], [-1, 1]),
        ("{ .reg .b32 t; not.b32 t, $1; and.b32 $0, t, $2; }", int32, [12, 0], [10, 7], [2, 7]),
        ("mad.lo.s32 $0, $1, $2, 5;", int32, [2, 3], [10, -1], [25, 2]),
        ("add.s32 $0, $1, 0x10; sub.s32 $0, $0, $2;", int32, [1, 2], [3, 3], [14, 15]),
        ("neg.s32 $0, $1; add.s32 $0, $0, $2;", int32, [1, 2], [3, 3], [2, 1]),
    ],
)
def test_integer_instructions(text, ty, x, y, want):
    k = Kernel()
    out = asm(k, text, [k.arg(x, ty), k.arg(y, ty)], ty)
    assert understood(k)
    assert k.value(out).tolist() == want


@pytest.mark.parametrize(
    ("text", "x", "want"),
    [
        ("ex2.approx.f32 $0, $1;", [3.0, -1.0], [8.0, 0.5]),
        ("ex2.approx.ftz.f32 $0, $1;", [0.0, 1.0], [1.0, 2.0]),
        ("lg2.approx.f32 $0, $1;", [8.0, 0.5], [3.0, -1.0]),
        ("rcp.approx.ftz.f32 $0, $1;", [4.0, -0.5], [0.25, -2.0]),
        ("sqrt.rn.f32 $0, $1;", [9.0, 2.25], [3.0, 1.5]),
        ("rsqrt.approx.f32 $0, $1;", [4.0, 0.25], [0.5, 2.0]),
        ("neg.f32 $0, $1;", [0.0, -1.5], [-0.0, 1.5]),
        ("abs.f32 $0, $1;", [-0.0, -1.5], [0.0, 1.5]),
        ("max.f32 $0, $1, 0f3F800000;", [math.nan, 2.0], [1.0, 2.0]),
        ("max.NaN.f32 $0, $1, 1.0;", [math.nan, 2.0], [math.nan, 2.0]),
        ("fma.rn.f32 $0, $1, $1, 1.0;", [2.0, -3.0], [5.0, 10.0]),
        ("{ .reg .f32 a, b; mul.f32 a, $1, 2.0; add.f32 b, a, 1.0; mov.f32 $0, b; }", [1.0, 2.0], [3.0, 5.0]),
        ("tanh.approx.f32 $0, $1;", [0.0, math.inf], [0.0, 1.0]),
        ("cos.approx.f32 $0, $1;", [0.0, 0.0], [1.0, 1.0]),
    ],
)
def test_float_instructions(text, x, want):
    k = Kernel()
    out = asm(k, text, [k.arg(x, float32)], float32, "=f,f")
    assert understood(k)
    assert same_bits(k.value(out), np.array(want, np.float32))


@pytest.mark.parametrize(
    ("text", "source", "x", "target", "want"),
    [
        ("cvt.rn.f32.s32 $0, $1;", int32, [-3, 2**24 + 1], float32, [-3.0, 2.0**24]),
        ("cvt.rn.f32.u32 $0, $1;", int32, [-1, 2], float32, [2.0**32, 2.0]),
        ("cvt.rzi.s32.f32 $0, $1;", float32, [-2.75, 1e20], int32, [-2, 2**31 - 1]),
        ("cvt.s64.s32 $0, $1;", int32, [-2, 7], int64, [-2, 7]),
        ("cvt.u64.u32 $0, $1;", int32, [-2, 7], int64, [2**32 - 2, 7]),
        ("cvt.f64.f32 $0, $1;", float32, [0.1, -1.5], float64, [float(np.float32(0.1)), -1.5]),
        ("cvt.rn.f32.f64 $0, $1;", float64, [0.1, -1.5], float32, [float(np.float32(0.1)), -1.5]),
    ],
)
def test_conversions(text, source, x, target, want):
    k = Kernel()
    letters = {32: "r", 64: "l"}
    constraints = f"={letters[target.primitive_bitwidth]},{letters[source.primitive_bitwidth]}"
    out = asm(k, text, [k.arg(x, source)], target, constraints)
    assert understood(k) and out.dtype is target
    assert k.value(out).tolist() == want


def test_several_results():
    k = Kernel()
    x, y = k.arg([7, 8], int32), k.arg([2, 2], int32)
    outs = asm(k, "div.s32 $0, $2, $3; cvt.rn.f32.s32 $1, $2;", [x, y], (int32, float32), "=r,=f,r,r")
    assert understood(k) and isinstance(outs, tuple)
    assert [k.value(o).tolist() for o in outs] == [[3, 4], [7.0, 8.0]]


def test_tied_operand():
    """Operand 1 shares its register with result 0."""
    k = Kernel()
    out = asm(k, "add.s32 $0, $0, $2;", [k.arg([1, 2], int32), k.arg([5, 5], int32)], int32, "=r,0,r")
    assert understood(k) and k.value(out).tolist() == [6, 7]


def test_operands_broadcast():
    k = Kernel()
    x = k.raw(np.array([[1], [2]], np.int32), int32, (2, 1))
    out = asm(k, "add.s32 $0, $1, $2;", [x, k.arg([10, 20], int32)], int32)
    assert k.value(out).tolist() == [[11, 21], [12, 22]]
    k = Kernel()
    assert k.value(asm(k, "add.s32 $0, $1, $2;", [k.arg(np.array(1), int32), 4], int32)).item() == 5


@pytest.mark.parametrize(
    ("text", "constraints", "pack"),
    [
        ("brev.b32 $0, $1;", "=r,r", 1),
        ("made.up $0, $1;", "=r,r", 1),
        ("@p mov.b32 $0, $1;", "=r,r", 1),
        ("add.sat.s32 $0, $1, $1;", "=r,r", 1),
        ("add.rz.f32 $0, $1, $1;", "=r,r", 1),
        ("mul.s32 $0, $1, $1;", "=r,r", 1),
        ("cvt.rna.tf32.f32 $0, $1;", "=r,r", 1),
        ("cvt.rni.s32.f32 $0, $1;", "=r,r", 1),
        ("mov.b32 $0, t;", "=r,r", 1),
        ("mov.u32 $0, %smid;", "=r,r", 1),
        ("mov.b64 $0, $1;", "=l,r", 1),
        ("add.s32 $0, $1, $1;", "=r,r", 4),
        ("mov.b32 {a, b}, $1;", "=r,r", 1),
        ("", "=r,r", 1),
    ],
)
def test_other_text_stays(text, constraints, pack):
    k = Kernel()
    x = k.arg([1, 2], int32)
    out = asm(k, text, [x], int32, constraints, pack=pack)
    assert k.ops() == ["tile.inline_asm"]  # no rest of a translation that was given up
    op = k.function.find(InlineAsm)[0]
    assert (op.asm, op.constraints, op.pack, op.dtypes) == (text, constraints, pack, (int32,))
    assert out.type == x.type and op.effects() is Effect.PURE
    with pytest.raises(CompilationError) as caught:
        k.run()
    assert (
        caught.value.code == "TRI0621" and "interpreter" in caught.value.message and caught.value.loc == LOC
    )


def test_impure_text_and_no_operands():
    k = Kernel()
    out = asm(k, "mov.u64 $0, %globaltimer;", [], int64, "=l", pure=False)
    assert out.type is int64
    assert k.function.find(InlineAsm)[0].effects() == Effect.IO | Effect.VOLATILE
    outs = asm(k, "made.up $0, $1, $2;", [k.arg([1], uint8)], (uint8, float16), "=r,=r,r", pack=4)
    assert [o.dtype for o in outs] == [uint8, float16]


def test_refusals():
    k = Kernel()
    x = k.arg([1], int32)
    refused("TRI0501", k.tl, "inline_asm_elementwise", 3, "=r,r", [x], int32, True, 1)
    refused("TRI0501", k.tl, "inline_asm_elementwise", "mov.b32 $0, $1;", "=r,r", [x], int32, True, x)
    refused("TRI0510", k.tl, "inline_asm_elementwise", "mov.b32 $0, $1;", "=r,r", [x], "int32", True, 1)
    refused("TRI0415", k.tl, "inline_asm_elementwise", "mov.b32 $0, $1;", "=r,r", [None], int32, True, 1)
    y = k.arg([1, 2, 3], int32)
    refused(
        "TRI0407", k.tl, "inline_asm_elementwise", "x", "=r,r,r", [y, k.arg([1, 2], int32)], int32, True, 1
    )
