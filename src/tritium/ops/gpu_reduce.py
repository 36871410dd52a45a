"""The part of a reduction that one warp does by itself: registers, then lanes through shuffles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tritium.ir.types import Type, tile
from tritium.ops import combine as tree
from tritium.ops.base import BATCH_AXES, Array, TileOp, TypeRuleError, attr, operand, region
from tritium.ops.emit import CudaEmitter
from tritium.ops.machine import Machine
from tritium.ops.reduce import reduce_parts


class ReduceGroups(TileOp, name="gpu.reduce_groups"):
    """`inputs` reduced along `axis` into `groups` groups: element c belongs to group ``c // low % groups``.

    The axis stays, with the extent `groups`. The register layout of the inputs must have every group within one warp;
    in the layout of the results, the threads that shared a group all hold its result.

    >>> %r = gpu.reduce_groups([%x]) {axis = 1, low = 128, groups = 1, layout = "16: r16 | 1 / 32"} : tile<16x1xf32>
    """

    inputs = operand(variadic=True)
    axis = attr()
    low = attr()
    groups = attr()
    combine = region()
    isolated = True

    def infer(self) -> Sequence[Type]:
        dims = tree.check_combine(self.name, self.inputs, self.axis, self.combine)
        if self.low < 1 or not 1 <= self.groups <= -(-dims[self.axis] // self.low):
            raise TypeRuleError(
                f"{self.name} has no {self.groups} groups of {self.low} elements on axis {self.axis}"
            )
        kept = (*dims[: self.axis], self.groups, *dims[self.axis + 1 :])
        return tuple(tile(v.type.scalar, kept) for v in self.inputs)

    def check(self) -> None:
        tree.check_isolated(self.name, self.combine)

    def execute(self, m: Machine, *args: Array | None) -> Any:
        at, extent = BATCH_AXES + self.axis, self.inputs[0].type.shape[self.axis]
        parts = tree.aligned(args, self.axis, extent)  # type: ignore[arg-type]
        group = np.arange(extent) // self.low % self.groups
        found: list[Sequence[Array]] = []
        for g in range(self.groups):
            members = [np.compress(group == g, x, axis=at) for x in parts]
            out = reduce_parts(members, at, self.combine, m.apply_region)
            found.append(out if isinstance(out, tuple) else (out,))
        joined = tuple(np.stack([f[i] for f in found], at) for i in range(len(parts)))
        return joined[0] if len(joined) == 1 else joined

    def emit_cuda(self, e: CudaEmitter) -> None:
        e.reduce_groups(self)
