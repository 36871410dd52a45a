"""What the checks of one launch share: the kernel, its arguments, its analyses (made when first asked for)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from tritium.analysis.access import AccessAnalysis, TileAccess
from tritium.analysis.alias import AliasAnalysis
from tritium.analysis.value_facts import ValueFacts
from tritium.backends.interp.memory import Memory, View
from tritium.ir.core import Function, Op
from tritium.ops.control import For
from tritium.ops.facts import Poly, Trip
from tritium.sanitizer.findings import Finding
from tritium.sanitizer.indices import Names, scalar_arguments
from tritium.sanitizer.precision import Accumulators
from tritium.sanitizer.session import Session
from tritium.sanitizer.sites import Sites
from tritium.sanitizer.views import Extent
from tritium.sanitizer.wording import Limits


class KernelFacts:
    """The analyses of one kernel; they do not depend on a launch."""

    def __init__(self, function: Function) -> None:
        self.function = function

    @cached_property
    def alias(self) -> AliasAnalysis:
        return AliasAnalysis(self.function)

    @cached_property
    def values(self) -> ValueFacts:
        return ValueFacts(self.function)

    @cached_property
    def accesses(self) -> AccessAnalysis:
        return AccessAnalysis(self.function, self.values)

    @cached_property
    def accumulators(self) -> Accumulators:
        return Accumulators.of(self.function)

    @cached_property
    def sites(self) -> Sites:
        return Sites(self.function)

    @cached_property
    def names(self) -> Names:
        return Names(self.function, self.values)


class Launch:
    """One launch being checked.

    extents     per function argument the view that was passed, None for numbers
    constants   compile-time integers of the kernel by parameter name
    """

    def __init__(
        self,
        session: Session,
        facts: KernelFacts,
        name: str,
        grid: tuple[int, int, int],
        args: Sequence[Any],
        memory: Memory,
        constants: Mapping[str, int],
    ) -> None:
        self.session = session
        self.facts = facts
        self.name = name
        self.grid = grid
        self.args = args
        self.memory = memory
        self.constants = constants
        self.extents: list[Extent | None] = [_extent(v.name, a) for v, a in zip(self.function.args, args)]  # noqa: B905
        self.stores: dict[Op, bool] = {}  # per store that ran, whether some lane was live
        self._of_op: dict[Op, list[Extent] | None] = {}

    @property
    def function(self) -> Function:
        return self.facts.function

    @cached_property
    def scalars(self) -> Mapping[str, int]:
        return scalar_arguments(self.function, self.args)

    def extents_of(self, op: Op) -> list[Extent] | None:
        """The views that an access may go through; None if it may go anywhere."""
        if op not in self._of_op:
            found = self.facts.alias.class_of(op.operands[0])
            views = [self.extents[i] for i in sorted(found.arguments)]
            known = [v for v in views if v is not None]
            whole = not found.anywhere and len(known) == len(views) and bool(known)
            self._of_op[op] = known if whole else None
        return self._of_op[op]

    def access(self, op: Op) -> TileAccess:
        return self.facts.accesses[op]

    @cached_property
    def limits(self) -> Limits:
        """What limits are called in this kernel."""
        names = self.facts.names
        used: dict[str, str] = {}
        for access in self.facts.accesses.accesses.values():
            rank = len(access.shape)
            for tile, axis in enumerate(access.axes):
                index = names.of_index(axis.index, tile, rank)[0]
                for bound in axis.bounds:
                    limit = names.of_scalar(bound.right)
                    if limit is not None and index is not None:
                        used.setdefault(limit, index)
        loops: dict[Poly, str] = {}
        for op in self.function.walk():
            if isinstance(op, For):
                upper = self.facts.values[op.upper].poly
                name = names.of_scalar(upper) if upper is not None else None
                if name is not None:
                    loops[Poly.atom(Trip(op))] = name
        return Limits(self.scalars, self.constants, used, loops, names.scalars)

    def report(self, kind: str, op: Op | None, message: str, **fields: Any) -> None:
        """Add a finding at `op`."""
        loc = fields.pop("loc", op.loc if op is not None else None)
        self.session.add(Finding(kind, message, self.name, loc, **fields))


def _extent(name: str, arg: Any) -> Extent | None:
    if not hasattr(arg, "storage_address"):
        return None
    return Extent(View(name, arg.address, arg.dtype, tuple(arg.shape), tuple(arg.strides), arg.writable))
