"""Accesses outside the view that was passed, misaligned ones, and the report about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tritium.backends.interp.faults import first_true
from tritium.backends.interp.pointers import Pointer, addresses
from tritium.ir.core import Op
from tritium.ops.base import BATCH_AXES, Array
from tritium.sanitizer.findings import Related
from tritium.sanitizer.indices import Index, NotKnown, Numbers, accounts_for, indices_of
from tritium.sanitizer.views import Extent
from tritium.sanitizer.wording import (
    Reached,
    axis_sentence,
    label,
    mask_sentence,
    mend,
    outside_axes,
)

if TYPE_CHECKING:
    from tritium.sanitizer.machine import CheckingInterpreter

_LANES_LOOKED_AT = 4096


def check_access(
    m: CheckingInterpreter, op: Op, what: str, ptr: Any, mask: Array | None, size: int
) -> Array | None:
    """Report the lanes of an access that leave their view.

    Gives None where all is well, else the lanes that may touch memory: a load those inside the storage, as it would on
    a device; a store or an atomic operation those inside the view.
    """
    extents = m.launch.extents_of(op)
    if extents is not None and len(extents) == 1 and _fits(extents[0], ptr, size):
        return None
    at: Array = addresses(ptr)
    inside, stored = _membership(m, extents, at, size)
    if extents is None:
        inside = inside | ~stored  # memory that was not passed is trusted as far as the process has it
    aligned = (at % size) == 0 if size > 1 else np.True_
    good = inside & aligned
    if mask is not None:
        shape = np.broadcast_shapes(at.shape, mask.shape)
        bad = ~good & mask
    else:
        shape = at.shape
        bad = ~good
    if not bad.any():
        return None
    bad = np.broadcast_to(bad, shape)
    report_bad(m, op, what, np.broadcast_to(at, shape), bad, (inside, stored, aligned), extents, size)
    if extents is None:
        return np.broadcast_to(good, shape)
    allowed = stored if what == "load" else good
    return np.broadcast_to(allowed, shape)


def _fits(extent: Extent, ptr: Any, size: int) -> bool:
    """Whether base and offset, each at its extremes, stay inside, so that no address needs to be looked at."""
    if size != extent.size or extent.view.address % size:
        return False
    if isinstance(ptr, Pointer):
        low, high = ptr.offset.bounds
        return extent.holds_range(
            int(ptr.base.min()) + low * ptr.size, int(ptr.base.max()) + high * ptr.size, size
        )
    return extent.holds_range(int(ptr.min()), int(ptr.max()), size)


def _membership(
    m: CheckingInterpreter, extents: list[Extent] | None, at: Array, size: int
) -> tuple[Array, Array]:
    """Which lanes are in one of the views, and which are in the storage of one."""
    inside = np.zeros(at.shape, np.bool_)
    for extent in extents if extents is not None else [e for e in m.launch.extents if e is not None]:
        inside |= extent.holds(at, size)
    stored = np.zeros(at.shape, np.bool_)
    for allocation in m.memory.allocations:
        if extents is None or any(allocation.base <= e.low < allocation.end for e in extents):
            stored |= (at >= allocation.base) & (at + size <= allocation.end)
    return inside, stored


def report_bad(
    m: CheckingInterpreter,
    op: Op,
    what: str,
    at: Array,
    bad: Array,
    why: tuple[Any, Array, Any],
    extents: list[Extent] | None,
    size: int,
) -> None:
    """One finding for the bad lanes that are outside, one for those that are misaligned."""
    inside, stored, aligned = why
    outside = bad & ~np.broadcast_to(inside, bad.shape)
    beyond = outside & ~np.broadcast_to(stored, bad.shape)
    for kind, lanes in (("out-of-allocation", beyond), ("out-of-view", outside & ~beyond)):
        if lanes.any():
            _report_outside(m, op, what, kind, at, lanes, extents, size)
    skewed = bad & ~outside
    if skewed.any() and not np.all(aligned):
        position = first_true(skewed)
        extent = _nearest(m, extents, int(at[position]))
        where = f" of `{extent.view.name}`" if extent is not None else ""
        m.report(
            "misaligned",
            op,
            f"this {what}{where} takes {size} bytes at an address that is no multiple of {size}",
            position=position,
            argument=extent.argument if extent is not None else None,
            count=int(skewed.sum()),
        )


def _nearest(m: CheckingInterpreter, extents: list[Extent] | None, address: int) -> Extent | None:
    known = extents if extents is not None else [e for e in m.launch.extents if e is not None]
    return min(known, key=lambda e: max(e.low - address, address - e.high + 1, 0), default=None)


def _report_outside(
    m: CheckingInterpreter,
    op: Op,
    what: str,
    kind: str,
    at: Array,
    lanes: Array,
    extents: list[Extent] | None,
    size: int,
) -> None:
    position = first_true(lanes)
    extent = _nearest(m, extents, int(at[position]))
    count = int(lanes.sum())
    if extent is None:
        m.report(kind, op, f"this {what} reaches memory that no array holds", position=position, count=count)
        return
    told = m.told(kind, op, extent.argument)
    if told:  # the sentence is made once
        m.report(kind, op, "", position=position, argument=extent.argument, count=count)
        return
    text, indices, fix = _explain(m, op, extent, lanes, position, int(at[position]))
    place = "inside its storage" if kind == "out-of-view" else "outside its memory"
    lead = {"load": "reads", "store": "would write", "atomic": "would change"}[what]
    related = [
        Related(f"called from here in `{loc.function}`", loc)
        for loc in (op.loc.frames()[1:] if op.loc is not None else ())
    ]
    m.report(
        kind,
        op,
        f"{text} ({lead} {_distance(extent, int(at[position]))}, {place})",
        position=position,
        argument=extent.argument,
        indices=indices,
        mend=fix,
        count=count,
        related=related,
    )


def _distance(extent: Extent, address: int) -> str:
    """Where an address lies, seen from the view."""
    name = extent.view.name
    if address < extent.low:
        gap, side = extent.low - address, "before the start"
    elif address >= extent.high:
        gap, side = address - extent.high + extent.size, "past the end"
    else:
        return f"between the elements of `{name}`"
    count, rest = divmod(gap, extent.size)
    amount = f"{gap} bytes" if rest else f"{count} element{'s' if count != 1 else ''}"
    return f"{amount} {side} of `{name}`"


def _explain(
    m: CheckingInterpreter, op: Op, extent: Extent, lanes: Array, position: tuple[int, ...], address: int
) -> tuple[str, dict[str, int], str | None]:
    """The sentence, the values of the indices in the first bad lane, and the mended condition."""
    access = m.launch.access(op)
    argument = extent.argument
    here = position[:BATCH_AXES]
    lane = position[BATCH_AXES:]
    offset, rest = divmod(address - extent.view.address, extent.size)
    try:
        if (not access.axes and access.shape) or rest:
            raise NotKnown
        numbers = Numbers(m, here, lane)
        indices = indices_of(access, extent.view, numbers, m.launch.facts.names)
        values = [numbers.of(i.poly) for i in indices]
        if not accounts_for(indices, values, offset):
            raise NotKnown
        reached = [_reach(m, i, here, lanes) for i in indices]
    except NotKnown:
        return _flat_sentence(m, op, extent, offset), {}, None
    named = {i.name: v for i, v in zip(indices, values, strict=True) if i.name is not None}
    faults = outside_axes(reached, argument.shape)
    limits = m.launch.limits
    if not faults:
        return _flat_sentence(m, op, extent, offset, indices), named, None
    sentences = [axis_sentence(f, argument) for f in faults]
    sentences.append("; ".join(mask_sentence(f, indices, access, limits) for f in faults))
    fixes = [fix for f in faults if (fix := mend(f, argument, limits)) is not None]
    if fixes:
        verb = "write" if any(f.index.bounds for f in faults) else "add"
        sentences.append(f"{verb} `{' & '.join(f'({f})' for f in fixes) if len(fixes) > 1 else fixes[0]}`")
    return "; ".join(sentences), named, " & ".join(fixes) or None


def _reach(m: CheckingInterpreter, index: Index, here: tuple[int, ...], lanes: Array) -> Reached:
    """The lowest and highest value of an index among the bad lanes of the first bad instance."""
    own = lanes[tuple(here)]
    if own.ndim == 0:
        value = Numbers(m, here, ()).of(index.poly)
        return Reached(index, value, value)
    bad = np.argwhere(own)[:_LANES_LOOKED_AT]
    axes = sorted(index.poly.axes())
    distinct = np.unique(bad[:, axes], axis=0) if axes else bad[:1, :0]
    values: list[int] = []
    for coordinates in distinct:
        lane = [0] * own.ndim
        for axis, c in zip(axes, coordinates, strict=True):
            lane[axis] = int(c)
        values.append(Numbers(m, here, lane).of(index.poly))
    return Reached(index, min(values), max(values))


def _flat_sentence(
    m: CheckingInterpreter, op: Op, extent: Extent, offset: int, indices: list[Index] | None = None
) -> str:
    """About the element alone, where no single axis is at fault or the index is not understood."""
    argument = extent.argument
    count = extent.view.numel
    called = f", indexed by {' and '.join(label(i) for i in indices)}," if indices else ""
    masked = "" if getattr(op, "mask", None) is not None else "; the access has no mask"
    size = f"{count} element{'s' if count != 1 else ''}"
    shape = "x".join(map(str, argument.shape)) or "scalar"
    return (
        f"element {offset} of `{argument.name}`{called} is not in the view of {size} (shape {shape}){masked}"
    )
