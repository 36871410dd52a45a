"""What a launch would look like with other sizes: strides and grid that grow along with the arguments that are assumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tritium.analysis.access import TileAccess
from tritium.ops.create import ProgramId
from tritium.ops.facts import Atom, Poly, Unknown
from tritium.sanitizer.context import Launch


@dataclass
class Sizes:
    """Arguments as assumed, the grid that follows, and what had to be taken for granted on the way."""

    values: dict[str, int]
    observed: Mapping[str, int]
    assumed: Mapping[str, int]
    grid: list[int | None]
    taken: list[str] = field(default_factory=list[str])
    open: dict[str, str] = field(default_factory=dict[str, str])  # argument -> why its value is not known


def sizes_of(launch: Launch, assumed: Mapping[str, int]) -> Sizes:
    """The arguments of a launch with some of them assumed, and all that must be different then."""
    sizes = Sizes({**launch.scalars, **assumed}, launch.scalars, assumed, list(launch.grid))
    for access in launch.facts.accesses.accesses.values():
        for axis in access.axes:
            _scale_stride(launch, sizes, access, axis.stride)
        for monomial in access.offset.terms if access.offset is not None else ():
            for atom in monomial:
                _scale_stride(launch, sizes, access, Poly.atom(atom))
    for axis in range(3):
        sizes.grid[axis] = _scaled_grid(launch, sizes, axis)
    return sizes


def _scale_stride(launch: Launch, sizes: Sizes, access: TileAccess, stride: Poly) -> None:
    """A stride argument of a contiguous array grows with the extents inside of it."""
    name = argument_name(stride)
    if name is None or name in sizes.assumed or access.base is None or name not in sizes.observed:
        return
    extent = next((e for e in launch.extents if e is not None and e.view.name == access.base.name), None)
    if extent is None:
        return
    value = sizes.observed[name]
    shape, strides = extent.view.shape, extent.view.strides
    for k, s in enumerate(strides):
        inner = 1
        for d in shape[k + 1 :]:
            inner *= d
        if s != value or value <= 1 or value != inner:
            continue
        scaled = value
        for d in shape[k + 1 :]:
            for n, v in sizes.assumed.items():
                if sizes.observed[n] == d and d > 1:
                    others = [
                        o
                        for o, w in sizes.observed.items()
                        if w == d and o not in (n, name) and not _is_stride(o)
                    ]
                    if others:
                        sizes.open[name] = (
                            f"`{name}`, which may grow with `{n}` or with `{others[0]}`; assume it as well"
                        )
                        return
                    scaled = scaled // d * v
        if scaled != value and sizes.values[name] != scaled:
            sizes.values[name] = scaled
            sizes.taken.append(f"{name} = {scaled}, as `{extent.view.name}` is contiguous")
        return


def _is_stride(name: str) -> bool:
    return "stride" in name


def argument_name(poly: Poly) -> str | None:
    """The name of the argument that a polynomial is, if it is one."""
    if len(poly.terms) != 1:
        return None
    ((monomial, coefficient),) = poly.terms.items()
    if coefficient != 1 or len(monomial) != 1 or not isinstance(monomial[0], Unknown):
        return None
    value = monomial[0].value
    return value.name if value.defining_op is None else None


def _scaled_grid(launch: Launch, sizes: Sizes, axis: int) -> int | None:
    """The extent of a grid axis with the assumed sizes: cdiv(size, block) where the run's is; None if unclear."""
    now = launch.grid[axis]
    blocks = _blocks(launch, axis)
    found = {(n, b) for n in sizes.assumed for b in blocks if -(-sizes.observed[n] // b) == now}
    if not found:
        return now if not blocks or _given_by_others(launch, sizes, blocks, now) else None
    scaled = {(name, -(-sizes.assumed[name] // block)) for name, block in found}
    extents = {e for _, e in scaled}
    if len(extents) > 1:
        return None
    (extent,) = extents
    if extent != now:
        name, block = min(found)
        how = f"cdiv({name}, {block})" if block > 1 else name
        sizes.taken.append(f"{extent} programs along axis {axis} of the grid, as {how}")
    return extent


def _given_by_others(launch: Launch, sizes: Sizes, blocks: set[int], extent: int) -> bool:
    """Whether a size that is not assumed says how large the grid axis is: another argument, an extent of an array."""
    assumed = {sizes.observed[n] for n in sizes.assumed}
    others = {v for n, v in sizes.observed.items() if n not in sizes.assumed and not _is_stride(n)}
    others |= {d for e in launch.extents if e is not None for d in e.view.shape}
    return any(-(-v // b) == extent for v in others - assumed for b in blocks)


def _blocks(launch: Launch, axis: int) -> set[int]:
    """What program_id(axis) is multiplied by in indices; 1 where it is an index itself."""
    found: set[int] = set()
    for access in launch.facts.accesses.accesses.values():
        polys = [a.index for a in access.axes] + ([access.offset] if access.offset is not None else [])
        for poly in polys:
            for monomial, coefficient in poly.terms.items():
                if any(_is_program_id(a, axis) for a in monomial):
                    found.add(abs(coefficient))
    return found


def _is_program_id(atom: Atom, axis: int) -> bool:
    if not isinstance(atom, Unknown):
        return False
    op = atom.value.defining_op
    return isinstance(op, ProgramId) and op.axis == axis
