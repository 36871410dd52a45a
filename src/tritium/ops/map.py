"""`tl.map_elementwise`: a jit function of scalars, with control flow of its own, applied to every element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.types import DType, Type, tile
from tritium.ops.base import BATCH_AXES, Array, TileOp, TypeRuleError, attr, operand, region
from tritium.ops.combine import check_isolated, evaluate_region, invoke
from tritium.ops.control import Yield
from tritium.ops.emit import CudaEmitter
from tritium.ops.gpu_layout import RegisterLayout
from tritium.ops.handles import Tensor, unwrap
from tritium.ops.machine import Machine
from tritium.ops.reshape import reshape_to
from tritium.ops.semantic import Semantic, describe
from tritium.ops.surface import surface


class MapElementwise(TileOp, name="tile.map_elementwise"):
    """`body` applied to the elements of `inputs` (one shape), `pack` consecutive ones of the row-major order at a time.

    The body takes `pack` scalars of each input, one input after the other, and yields `pack` scalars of each result.

    >>> tl.map_elementwise(tl.abs, tl.arange(-2, 1))
    [2, 1, 0]
    """

    inputs = operand(variadic=True)
    pack = attr(1)
    body = region()
    isolated = True

    def infer(self) -> Sequence[Type]:
        first = self.inputs[0].type if self.inputs else None
        if first is None or not first.shape or any(v.type.shape != first.shape for v in self.inputs):
            raise TypeRuleError(f"{self.name} needs tiles of one shape")
        if self.pack < 1 or first.numel % self.pack:
            raise TypeRuleError(f"{self.name} cannot take {first.numel} elements in packs of {self.pack}")
        if [a.type for a in self.body.args] != [v.type.scalar for v in self.inputs for _ in range(self.pack)]:
            raise TypeRuleError(f"the body of {self.name} takes {self.pack} scalars of each input")
        end = self.body.ops[-1] if self.body.ops else None
        if not isinstance(end, Yield) or not end.operands or len(end.operands) % self.pack:
            raise TypeRuleError(f"the body of {self.name} yields {self.pack} scalars for each result")
        types = [v.type for v in end.operands]
        heads = types[:: self.pack]
        if types != [t for t in heads for _ in range(self.pack)] or any(
            not isinstance(t, DType) for t in heads
        ):
            raise TypeRuleError(f"the body of {self.name} yields numbers, of one type within a result")
        return tuple(tile(t.scalar, first.shape) for t in heads)

    def check(self) -> None:
        check_isolated(self.name, self.body)

    def eval(self, *args: Array) -> Any:
        return self._map(args, evaluate_region)

    def execute(self, m: Machine, *args: Array | None) -> Any:
        return self._map(args, m.apply_region)  # type: ignore[arg-type]

    def _map(self, args: Sequence[Array], run: Any) -> Any:
        dims, pack = self.inputs[0].type.shape, self.pack
        shape = np.broadcast_shapes(*(x.shape for x in args))
        if pack > 1:
            shape = shape[:BATCH_AXES] + dims
        batch = shape[:BATCH_AXES]
        scalars: list[Array] = []
        for x in args:
            flat = np.broadcast_to(x, shape).reshape(*batch, -1)
            scalars.extend(flat[..., i::pack] for i in range(pack))
        out = [np.broadcast_to(y, scalars[0].shape) for y in run(self.body, scalars)]
        results = tuple(np.stack(out[i : i + pack], axis=-1).reshape(shape) for i in range(0, len(out), pack))
        return results[0] if len(results) == 1 else results

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.map_elements(self)

    def operand_layout(self, layout: RegisterLayout, operand: int) -> RegisterLayout | None:
        return layout


@surface("map_elementwise")
def map_elementwise(s: Semantic, scalar_fn: Any, *args: Any, pack: Any = 1) -> Any:
    """The jit function `scalar_fn` applied to every element of `args`, which are broadcast to one shape.

    Inside, every argument is a scalar, so `if` and `while` go their own way for each element. With `pack` > 1 one call
    handles so many consecutive elements: it takes them all, argument by argument, and returns so many of each result.

    >>> @triton.jit
    ... def collatz(n):
    ...     steps = 0
    ...     while n != 1:
    ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
    ...         steps += 1
    ...     return steps
    >>> tl.map_elementwise(collatz, tl.arange(1, 7))
    [0, 1, 7, 2, 5, 8]
    """
    count = s.const_int(pack, "pack")
    tensors = [s.to_tensor(a, "an argument of tl.map_elementwise") for a in args]
    if not tensors:
        s.fail(
            "TRI0601",
            function="tl.map_elementwise",
            signature="(scalar_fn, *args, pack=1)",
            problem="no tile",
        )
    shape: tuple[int, ...] = ()
    for t in tensors:
        shape = s.common_shape(shape, t.dims)
    numel = int(np.prod(shape, dtype=np.int64))
    if count < 1 or numel % count:
        expected = "a positive divisor of the number of elements"
        s.fail("TRI0603", function="tl.map_elementwise", argument="pack", got=count, expected=expected)
    single: list[bool] = []

    def body(*scalars: Tensor) -> list[Tensor]:
        out = unwrap(invoke(s, scalar_fn, scalars))
        single.append(not isinstance(out, (tuple, list)))
        values = [out] if single[0] else list(out)
        results = [s.to_tensor(v, "a result of the mapped function") for v in values]
        _check_results(s, results, count)
        return results

    types = [t.dtype for t in tensors for _ in range(count)]
    made = s.region(types, body)
    tiles = [s.broadcast_to(t, shape or (1,)) for t in tensors]
    out = s.emit(MapElementwise, tiles, pack=count, body=made)
    results: tuple[Tensor, ...] = out if isinstance(out, tuple) else (out,)
    if not shape:
        results = tuple(reshape_to(s, t, ()) for t in results)
    return results[0] if single[0] else results


def _check_results(s: Semantic, results: Sequence[Tensor], pack: int) -> None:
    problem = ""
    if not results or len(results) % pack:
        problem = f"returns {len(results)} values, not a multiple of {pack}"
    elif any(t.dims or not isinstance(t.dtype, DType) for t in results):
        problem = f"returns {', '.join(describe(t) for t in results)} in place of scalars"
    elif any(results[i].type != results[i - i % pack].type for i in range(len(results))):
        problem = f"returns {', '.join(describe(t) for t in results)}: each {pack} in a row need one type"
    if problem:
        s.fail("TRI0612", function="tl.map_elementwise", problem=problem)
