"""Reductions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritium.ir.core import Op

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter


class Reductions:
    """The verb of `tritium.ops.reduce`."""

    def reduce(self: Emitter, op: Op) -> None:
        self.unsupported(op)
