"""Inline assembly, and the straight-line PTX that is understood and becomes ordinary ops.

Kernels use inline assembly for single instructions that the language lacks: an identity ``mov``, a multiplication that must
not be contracted, ``tanh.approx``. A text of such instructions on whole registers becomes tile IR, which every
backend runs. Any other text stays as it is, for the one target that can run it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tritium.errors import make_error
from tritium.ir.types import Type, like
from tritium.ops.base import Array, Effect, TileOp, TypeRuleError, attr, operand
from tritium.ops.emit import CudaEmitter
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.machine import Machine
from tritium.ops.ptx import NotUnderstood, translate
from tritium.ops.semantic import Semantic, describe
from tritium.ops.surface import surface


class InlineAsm(TileOp, name="tile.inline_asm"):
    """`asm`, text for one target, run on the elements of `args`; results have the element types `dtypes`.

    `constraints` are LLVM's. One run handles `pack` elements of each operand, and elements narrower than 4 bytes share
    registers. `pure` says that the text does nothing besides computing its results.

    >>> tl.inline_asm_elementwise("brev.b32 $0, $1;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
    """

    args = operand(variadic=True)
    asm = attr()
    constraints = attr()
    dtypes = attr()
    pure = attr(True)
    pack = attr(1)
    effect = Effect.IO
    speculatable = False

    def infer(self) -> Sequence[Type]:
        shapes = {v.type.shape for v in self.args}
        if len(shapes) > 1:
            raise TypeRuleError(f"{self.name} needs operands of one shape, got {sorted(shapes)}")
        first = self.args[0].type if self.args else None
        return tuple(t if first is None else like(first, t) for t in self.dtypes)

    def effects(self) -> Effect:
        return Effect.PURE if self.pure else Effect.IO | Effect.VOLATILE

    def execute(self, m: Machine, *args: Array | None) -> Any:
        raise make_error("TRI0621", self.loc, backend="interpreter", got=self.asm)

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.inline_asm(self)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout


@surface("inline_asm_elementwise")
def inline_asm_elementwise(
    s: Semantic, asm: Any, constraints: Any, args: Any, dtype: Any, is_pure: Any, pack: Any
) -> Any:
    """Run assembly on the elements of `args`, broadcast together; gives a tile of `dtype`, or a tuple for a tuple.

    PTX of a few common instructions runs on every backend; other text only on the target it is for.

    >>> tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [tl.arange(0, 2)], dtype=tl.int32, is_pure=True, pack=1)
    [0, 1]
    """
    text, wanted = _text(s, asm, "asm"), _text(s, constraints, "constraints")
    several = isinstance(unwrap(dtype), (tuple, list))
    dtypes = tuple(s.dtype_of(t) for t in (unwrap(dtype) if several else (dtype,)))
    operands = _broadcast(s, [s.to_tensor(a) for a in unwrap(args)])
    count = s.const_int(pack, "pack")
    try:
        results = translate(s, text, wanted, operands, dtypes, count)
    except NotUnderstood:
        pure = s.const_bool(is_pure, "is_pure")
        made = s.emit(InlineAsm, operands, asm=text, constraints=wanted, dtypes=dtypes, pure=pure, pack=count)
        results = made if isinstance(made, tuple) else (made,)
    return tuple(results) if several else results[0]


def _text(s: Semantic, x: Any, what: str) -> str:
    value = s.const(x, what)
    if not isinstance(value, str):
        s.fail("TRI0501", what=f"{what}, a text,", got=describe(x))
    return value


def _broadcast(s: Semantic, operands: list[Tensor]) -> list[Tensor]:
    shape: tuple[int, ...] = ()
    for t in operands:
        shape = s.common_shape(shape, t.dims) if shape else t.dims
    return [s.broadcast_to(t, shape) for t in operands] if shape else operands
