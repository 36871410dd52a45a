"""Elements of tile values where a loop asks for them: fused values are computed on the spot, kept ones are read."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

from tritium.backends.cpu import access, arithmetic, formats, notes
from tritium.backends.cpu.code import V
from tritium.backends.cpu.formats import held_as, is_signed, stored_as
from tritium.backends.cpu.verbs import Unsupported
from tritium.ir.core import Value
from tritium.ops.base import REGISTRY, TileOp

if TYPE_CHECKING:
    from tritium.backends.cpu.lower import Lowering

Index = list[V]


def element(k: Lowering, value: Value, at: Index) -> V:
    """The element (or the lanes) of `value` at an index with one entry per axis."""
    if not value.type.shape:
        return k.env[value]
    buffer = k.buffers.get(value)
    if buffer is not None:
        return read(k, buffer, at)
    key = (k.mode.number, value, *(i.key for i in at))
    if value in k.fusing:
        return _kept_on_the_way(k, value, at, key)
    return _computed(k, value, at, key)


def _kept_on_the_way(k: Lowering, value: Value, at: Index, key: Any) -> V:
    """An element of a value that this nest, which comes by all of its elements, puts into memory for later ones."""
    mark = ("kept", *key)
    v = _computed(k, value, at, key)
    if not any(mark in frame.memo for frame in k.e.stack[k.e.floor :]):
        k.e.stack[-1].memo[mark] = True
        write(k, k.fusing[value], at, v, max(i.lanes for i in at))
    return v


def keep_up(k: Lowering, at: Index) -> None:
    """Compute what this nest keeps on its way, at the place `at` of the nest's own shape, where nothing asked for it."""
    for value in k.fusing:
        element(k, value, at)


def _computed(k: Lowering, value: Value, at: Index, key: Any) -> V:
    found = k.lookup(key)
    if found is not None:
        return found
    op = value.defining_op
    if op is None:
        raise AssertionError(f"{value!r} is carried but has no memory")
    handler = HANDLERS.get(op.name)
    if handler is None:
        raise Unsupported(op, f"{op.name} has no native form")
    out = handler(k, op, at)
    results = out if isinstance(out, list) else [out]
    for r, v in zip(op.results, results, strict=True):
        k.remember((k.mode.number, r, *(i.key for i in at)), v)
    return results[value.index]


def flat_index(k: Lowering, shape: tuple[int, ...], at: Index) -> V:
    """The row-major position of an index."""
    e = k.e
    total = e.index(0)
    for extent, i in zip(shape, at, strict=True):
        if extent > 1:
            total = e.add(e.mul(total, e.index(extent)), i)
        elif total.const != 0:
            total = e.mul(total, e.index(extent))
    return total


def read(k: Lowering, buffer: Any, at: Index) -> V:
    """Elements of a kept value."""
    position = flat_index(k, buffer.shape, at)
    return read_flat(k, buffer, position)


def read_flat(k: Lowering, buffer: Any, position: V) -> V:
    e = k.e
    kind = stored_as(buffer.ty)
    address = e.add(buffer.address, e.mul(position, e.index(access.size_of(kind))))
    value = access.load(e, kind, address, None, None, k.sink)
    return formats.from_memory(e, value, buffer.ty)


def write(k: Lowering, buffer: Any, at: Index, value: V, lanes: int) -> None:
    """Set elements of a kept value."""
    e = k.e
    kind = stored_as(buffer.ty)
    position = flat_index(k, buffer.shape, at)
    address = e.add(buffer.address, e.mul(position, e.index(access.size_of(kind))))
    access.store(e, kind, address, formats.to_memory(e, value), None, k.sink, lanes)


# ---- ops that move elements -----------------------------------------------------------------------------------------


def _constant(k: Lowering, op: Any, at: Index) -> V:
    return formats.constant(k.e, op.value, op.results[0].type.scalar)


def _poison(k: Lowering, op: Any, at: Index) -> V:
    return formats.constant(k.e, 0, op.results[0].type.scalar)


def _arange(k: Lowering, op: Any, at: Index) -> V:
    e = k.e
    return e.add(e.convert("trunc", at[0], "i32"), e.const(op.start, "i32"))


def _at_broadcast(k: Lowering, op: Any, at: Index) -> Index:
    source = op.x.type.shape
    aligned = at[len(at) - len(source) :]
    return [k.e.index(0) if d == 1 else i for d, i in zip(source, aligned, strict=True)]


def _at_expand_dims(k: Lowering, op: Any, at: Index) -> Index:
    return [i for axis, i in enumerate(at) if axis != op.axis]


def _at_permute(k: Lowering, op: Any, at: Index) -> Index:
    source: list[V] = list(at)
    for position, axis in enumerate(op.order):
        source[axis] = at[position]
    return source


def _at_flip(k: Lowering, op: Any, at: Index) -> Index:
    e = k.e
    last = e.index(op.x.type.shape[op.axis] - 1)
    return [e.sub(last, i) if axis == op.axis else i for axis, i in enumerate(at)]


def _at_slice(k: Lowering, op: Any, at: Index) -> Index:
    e = k.e
    return [
        e.add(e.mul(i, e.index(step)), e.index(start))
        for i, start, step in zip(at, op.starts, op.steps, strict=True)
    ]


MOVERS: dict[str, Callable[..., Index]] = {
    "tile.broadcast": _at_broadcast,
    "tile.expand_dims": _at_expand_dims,
    "tile.permute": _at_permute,
    "tile.flip": _at_flip,
    "tile.slice": _at_slice,
}


def _move(k: Lowering, op: Any, at: Index) -> V:
    return element(k, op.x, moved(k, op, at))


def _reshape(k: Lowering, op: Any, at: Index) -> V:
    source, target = op.x.type.shape, tuple(op.shape)
    if not source:
        return k.env[op.x]
    if [d for d in source if d > 1] == [d for d in target if d > 1]:
        kept = iter([i for d, i in zip(target, at, strict=True) if d > 1])
        return element(k, op.x, [next(kept) if d > 1 else k.e.index(0) for d in source])
    buffer = k.buffers.get(op.x)
    position = flat_index(k, target, at) if target else k.e.index(0)
    if buffer is not None:
        return read_flat(k, buffer, position)
    return element(k, op.x, unravel(k, position, source))


def unravel(k: Lowering, position: V, shape: tuple[int, ...]) -> Index:
    """A row-major position as an index."""
    e = k.e
    out: list[V] = []
    rest = prod(shape)
    for extent in shape:
        rest //= extent
        part = e.binary("udiv", position, e.index(rest)) if rest > 1 else position
        if rest > 1:
            position = e.binary("urem", position, e.index(rest))
        out.append(part if extent > 1 else e.index(0))
    return out


def _join(k: Lowering, op: Any, at: Index) -> V:
    e = k.e
    *rest, side = at
    if side.const is not None:
        return element(k, op.operands[1 if side.const else 0], rest)
    first = e.compare("eq", side, e.index(0))
    return e.select(first, element(k, op.a, rest), element(k, op.b, rest))


def _split(k: Lowering, op: Any, at: Index) -> list[V]:
    return [element(k, op.x, [*at, k.e.index(side)]) for side in (0, 1)]


def _gather(k: Lowering, op: Any, at: Index) -> V:
    e = k.e
    extent = op.src.type.shape[op.axis]
    index = element(k, op.index, at)
    if is_signed(op.index.type.scalar):
        wide = e.convert("sext", index, "i64")
        low = e.compare("slt", wide, e.index(0))
        wide = e.select(low, e.index(0), wide)
    else:
        wide = e.convert("zext", index, "i64")
    wide = e.select(e.compare("ugt", wide, e.index(extent - 1)), e.index(extent - 1), wide)
    return element(k, op.src, [wide if axis == op.axis else i for axis, i in enumerate(at)])


# ---- memory ---------------------------------------------------------------------------------------------------------


def _load(k: Lowering, op: Any, at: Index) -> V:
    e = k.e
    ty = op.result.type.scalar
    address = element(k, op.ptr, at)
    mask = other = None
    if op.mask is not None and not masked_away(k, op.mask):
        mask = element(k, op.mask, at)
        if op.other is not None:
            other = element(k, op.other, at)
    kind = stored_as(ty)
    notes.note_access(k, op, address, kind, mask)
    if other is not None:
        other = formats.to_memory(e, other)
    value = access.load(e, kind, address, mask, other, k.sink)
    return formats.from_memory(e, value, ty)


def _select(k: Lowering, op: Any, at: Index) -> V:
    if op.condition.type.shape and masked_away(k, op.condition):
        return element(k, op.x, at)
    return k.e.select(*(element(k, v, at) for v in op.operands))


def masked_away(k: Lowering, mask: Value) -> bool:
    """Whether this version of the nest may take `mask` as true; notes the condition if so."""
    if not k.mode.assume_masks or not k.ranges.decidable(mask):
        return False
    k.mode.masks.setdefault(mask, lambda: k.ranges.all_true(mask))
    return True


def _add_pointer(k: Lowering, op: Any, at: Index) -> V:
    e = k.e
    wide = widened(k, op.offset_, at)
    return e.add(element(k, op.ptr, at), e.mul(wide, e.index(op.ptr.type.scalar.element_ty.itemsize)))


def widened(k: Lowering, value: Value, at: Index) -> V:
    """Integers of `value` as i64: computed in 64 bits from the start where the nest assumes that nothing wraps around."""
    if k.mode.assume_ranges and value.type.shape and k.ranges.known(value):
        k.mode.ranges.setdefault(value, lambda: k.ranges.fits(value))
        return exact(k, value, at)
    word = "sext" if is_signed(value.type.scalar) else "zext"
    return k.e.convert(word, element(k, value, at), "i64")


def exact(k: Lowering, value: Value, at: Index) -> V:
    """An element of a `Ranges.known` value as a mathematical integer."""
    e = k.e
    if not value.type.shape:
        word = "sext" if is_signed(value.type.scalar) else "zext"
        return e.convert(word, k.env[value], "i64")
    key = ("exact", k.mode.number, value, *(i.key for i in at))
    found = k.lookup(key)
    if found is None:
        found = _exact(k, value.defining_op, at)
        k.remember(key, found)
    return found


def _exact(k: Lowering, op: Any, at: Index) -> V:
    e = k.e
    name = op.name
    if name == "tile.arange":
        return e.add(at[0], e.index(op.start))
    if name == "tile.constant":
        return e.index(int(op.value))
    if name in _EXACT:
        return e.binary(_EXACT[name], exact(k, op.x, at), exact(k, op.y, at))
    return exact(k, op.operands[0], moved(k, op, at))


_EXACT = {"tile.add": "add", "tile.sub": "sub", "tile.mul": "mul"}


def moved(k: Lowering, op: Any, at: Index) -> Index:
    """Where the operand of an op that only moves elements (or changes each by itself) is asked, for the place `at`."""
    mover = MOVERS.get(op.name)
    return at if mover is None else mover(k, op, at)


def _cast(k: Lowering, op: Any, at: Index) -> V:
    source, target = op.x.type.scalar, op.results[0].type.scalar
    if (
        held_as(target) == "i64"
        and k.mode.assume_ranges
        and _extends(source, target)
        and k.ranges.known(op.x)
    ):
        return widened(k, op.x, at)
    return arithmetic.convert(k.e, op, element(k, op.x, at))


def _extends(source: Any, target: Any) -> bool:
    from tritium.ir.types import DType

    if (
        not isinstance(source, DType)
        or not isinstance(target, DType)
        or not source.is_int()
        or not target.is_int()
    ):
        return False
    return source.primitive_bitwidth > 1


# ---- several results -------------------------------------------------------------------------------------------------


def _philox(k: Lowering, op: Any, at: Index) -> list[V]:
    return philox(k, op, [element(k, v, at) for v in op.operands])


def philox(k: Lowering, op: Any, words: list[V]) -> list[V]:
    from tritium.ops.random import _CONSTANTS

    e = k.e
    c0, c1, c2, c3, k0, k1 = words
    kind = c0.kind
    multipliers, raises = _CONSTANTS[op.c0.type.scalar.text]
    (a, b), (up0, up1) = ([e.const(int(x), kind) for x in pair] for pair in (multipliers, raises))
    for _ in range(op.rounds):
        high_a, high_b = arithmetic.multiply_high(e, c0, a), arithmetic.multiply_high(e, c2, b)
        low_a, low_b = e.mul(c0, a), e.mul(c2, b)
        c0 = e.binary("xor", e.binary("xor", high_b, c1), k0)
        c2 = e.binary("xor", e.binary("xor", high_a, c3), k1)
        c1, c3 = low_b, low_a
        k0, k1 = e.add(k0, up0), e.add(k1, up1)
    return [c0, c1, c2, c3]


def _libdevice(k: Lowering, op: Any, at: Index) -> V:
    from tritium.backends.cpu import libdevice

    return libdevice.call(k.e, op, [element(k, v, at) for v in op.operands])


# ---- elementwise ----------------------------------------------------------------------------------------------------


def _elementwise(k: Lowering, op: Any, at: Index) -> V:
    return op.cpu(k.verbs, *(element(k, v, at) for v in op.operands))


ELEMENTWISE = [name for name, cls in REGISTRY.items() if cls.cpu is not TileOp.cpu]
"""Ops that give one element from the elements of their operands at the same place; scalars are computed so too."""

HANDLERS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(ELEMENTWISE, _elementwise),
    "tile.constant": _constant,
    "tile.poison": _poison,
    "tile.arange": _arange,
    "tile.broadcast": _move,
    "tile.expand_dims": _move,
    "tile.permute": _move,
    "tile.flip": _move,
    "tile.slice": _move,
    "tile.reshape": _reshape,
    "tile.join": _join,
    "tile.split": _split,
    "tile.gather": _gather,
    "tile.select": _select,
    "tile.load": _load,
    "tile.addptr": _add_pointer,
    "tile.cast": _cast,
    "tile.philox": _philox,
    "tile.libdevice": _libdevice,
}
assert set(HANDLERS) <= set(REGISTRY), "a handler for an op that does not exist"
