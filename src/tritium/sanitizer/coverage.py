"""What a launch left unwritten: outputs of which some elements are as they were allocated, kernels that store nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tritium.ir.core import Op
from tritium.ops.base import Array, Effect, TileOp
from tritium.sanitizer.findings import Finding
from tritium.sanitizer.fresh import elements_of, first_index

if TYPE_CHECKING:
    from tritium.sanitizer.context import Launch
    from tritium.sanitizer.session import Session

_KEPT = 64


@dataclass(slots=True)
class Partly:
    """An output that a launch has written in part; told at the end of the run, if nobody has written the rest by then."""

    view: Any
    finding: Finding
    grid: tuple[int, int, int]


def after_launch(launch: Launch, session: Session) -> None:
    """Remember outputs of which a part is unwritten, and the stores that stored something."""
    _note_stores(launch, session)
    for op, index in _outputs(launch):
        view = launch.args[index]
        if not session.fresh.holds(view.storage_address):
            continue
        missing = _unwritten(session, view)
        if not missing.any():
            session.partly.pop(view.address, None)
        elif not missing.all() and len(session.partly) < _KEPT:
            extent = launch.extents[index]
            assert extent is not None
            finding = Finding("unwritten-output", "", launch.name, op.loc, argument=extent.argument)
            session.partly.setdefault(view.address, Partly(view, finding, launch.grid))


def finish(session: Session) -> None:
    """The run is over: what is still unwritten is a finding."""
    for partly in session.partly.values():
        missing = _unwritten(session, partly.view)
        if not missing.any() or missing.all():
            continue
        finding = partly.finding
        count = int(missing.sum())
        index = list(first_index(missing))
        assert finding.argument is not None
        finding.message = (
            f"{count} of {missing.size} elements of `{finding.argument.name}` are written by no program instance of the "
            f"grid {partly.grid}; the first is {index[0] if len(index) == 1 else index}"
        )
        finding.count = count
        finding.mend = (
            "launch enough instances, for example triton.cdiv(n, BLOCK), or let each take more than one block"
        )
        session.add(finding)
    session.partly.clear()
    for name, stores in session.stores.items():
        if stores and not any(live for live, _ in stores.values()):
            for op, (_, argument) in stores.items():
                text = "no lane of this store was live in any launch: its mask was false everywhere"
                session.add(Finding("unreachable-store", text, name, op.loc, argument=argument))
    session.stores.clear()


def _note_stores(launch: Launch, session: Session) -> None:
    known = session.stores.setdefault(launch.name, {})
    if any(e is not None and e.view.numel == 0 for e in launch.extents):
        return
    for op, live in launch.stores.items():
        extents = launch.extents_of(op)
        argument = extents[0].argument if extents else None
        known[op] = (live or (op in known and known[op][0]), argument)


def _outputs(launch: Launch) -> list[tuple[Op, int]]:
    """The arguments that the kernel stores through, each with its first store."""
    found: dict[int, Op] = {}
    for op in launch.facts.sites.ops:
        if isinstance(op, TileOp) and op.effects() & (Effect.WRITE | Effect.ATOMIC):
            where = launch.facts.alias.class_of(op.operands[0])
            if not where.anywhere and len(where.arguments) == 1:
                found.setdefault(min(where.arguments), op)
    return [(op, i) for i, op in found.items() if launch.extents[i] is not None]


def _unwritten(session: Session, view: Any) -> Array:
    at = elements_of(view.address, tuple(view.shape), tuple(view.strides), view.dtype.itemsize)
    base = view.storage_address
    return session.fresh.unwritten(base, base + view.storage_nbytes, at, view.dtype.itemsize)
