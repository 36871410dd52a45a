"""Tensor-core fragments as digits: which lane holds which element of an operand, and how they are loaded.

Sources, sections of NVIDIA's PTX ISA by title: "Matrix Fragments for mma.m16n8k8", "... mma.m16n8k16 with
floating point type", "... mma.m16n8k16 with integer type", "... mma.m16n8k32"; "Warp-level matrix load
instruction: ldmatrix", "Warp-level matrix store instruction: stmatrix"; "Asynchronous Warpgroup Level Matrix
Register Fragment" (accumulators and A in registers of wgmma).

`reg` counts elements, not 32-bit registers: register j of E elements holds `reg` E*j to E*j + E - 1, lowest
bits first. One formula serves every element size, because all full shapes span 32 bytes of k: elements of 4
bytes (tf32) give k8, of 2 bytes (f16, bf16) k16, of 1 byte (s8, u8, e4m3, e5m2) k32.

>>> str(fragment_a_m16n8(2))
'reg: 2 -> k 1, 2 -> row 8, 2 -> k 8; lane: 4 -> k 2, 8 -> row 1 | row 16, k 16'
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import prod

from tritium.layout.digits import Digit, Layout
from tritium.layout.faults import LayoutError

LDMATRIX_BYTES = 16
REPLICATE = "-"


def _per_register(element_bytes: int) -> int:
    if element_bytes not in (1, 2, 4):
        raise LayoutError(
            f"Tensor-core operands have elements of 1, 2 or 4 bytes, and {element_bytes} was given."
        )
    return 4 // element_bytes


@lru_cache
def fragment_a_m16n8(element_bytes: int, *, half_k: bool = False) -> Layout:
    """Operand A of `mma.m16n8k{8,16,32}`, (row, k); `half_k` is the shape of half the depth (k4, k8, k16)."""
    count = _per_register(element_bytes)
    halves = "" if half_k else f", 2 -> k {4 * count}"
    return Layout.of(
        f"reg: {count} -> k 1, 2 -> row 8{halves}; lane: 4 -> k {count}, 8 -> row 1",
        {"row": 16, "k": 4 * count if half_k else 8 * count},
    )


@lru_cache
def fragment_b_m16n8(element_bytes: int, *, half_k: bool = False) -> Layout:
    """Operand B of `mma.m16n8k{8,16,32}`, (k, col); `half_k` as for A."""
    count = _per_register(element_bytes)
    halves = "" if half_k else f", 2 -> k {4 * count}"
    return Layout.of(
        f"reg: {count} -> k 1{halves}; lane: 4 -> k {count}, 8 -> col 1",
        {"k": 4 * count if half_k else 8 * count, "col": 8},
    )


@lru_cache
def fragment_c_m16n8() -> Layout:
    """Accumulator of `mma.m16n8`, (row, col), for 32-bit elements and for f16 packed in pairs alike."""
    return Layout.of("reg: 2 -> col 1, 2 -> row 8; lane: 4 -> col 2, 8 -> row 1", {"row": 16, "col": 8})


@lru_cache
def wgmma_accumulator(n: int) -> Layout:
    """Accumulator of `wgmma.m64nNk*` over one warpgroup, (row, col). LayoutError unless n is 8, 16, ..., 256."""
    if n % 8 or not 8 <= n <= 256:
        raise LayoutError(f"The n of wgmma is a multiple of 8 from 8 to 256, and {n} was given.")
    return Layout.of(
        f"reg: 2 -> col 1, 2 -> row 8, {n // 8} -> col 8; lane: 4 -> col 2, 8 -> row 1; warp: 4 -> row 16",
        {"row": 64, "col": n},
    )


@lru_cache
def wgmma_a_registers(element_bytes: int) -> Layout:
    """Operand A of wgmma held in registers, (row, k): the mma fragment, 16 rows for each of the four warps."""
    return repeat_fragment(fragment_a_m16n8(element_bytes), {"row": 64}, warps={"row": 4})


def repeat_fragment(
    fragment: Layout, shape: Mapping[str, int], *, warps: Mapping[str, int] | None = None
) -> Layout:
    """A tile of `shape` made of copies of `fragment`: side by side over warps first, then over registers.

    `warps` gives, minor first, how many warps stand along each output; the key "-" stands for warps that hold
    the same elements. Registers repeat along the last output first. Outputs that `shape` leaves out keep the
    fragment's extent. A tile that is not a multiple has overhang. LayoutError for an output the fragment lacks.
    """
    warps = dict(warps or {})
    unknown = [name for name in [*shape, *warps] if name not in fragment.shape and name != REPLICATE]
    if unknown:
        raise LayoutError(f"The fragment has no output {unknown[0]}; it has {', '.join(fragment.outputs)}.")
    full = {name: shape.get(name, extent) for name, extent in fragment.shape.items()}
    reached = dict(fragment.shape)
    standing: list[Digit] = []
    for name, count in warps.items():
        standing.append(Digit("warp", count, {} if name == REPLICATE else {name: reached[name]}))
        if name != REPLICATE:
            reached[name] *= count
    repeated: list[Digit] = []
    for name in reversed(fragment.outputs):
        copies = -(-full[name] // reached[name])
        repeated.append(Digit("reg", copies, {name: reached[name]}))
    digits = (*fragment.digits_of("reg"), *repeated)
    others = tuple(digit for digit in fragment.digits if digit.axis != "reg")
    inputs = tuple(dict.fromkeys([*fragment.inputs, "warp"])) if warps else fragment.inputs
    return Layout((*digits, *others, *standing), full, inputs)


@lru_cache
def ldmatrix_a(element_bytes: int, *, transposed: bool = False) -> Layout:
    """What the addresses of `ldmatrix.x4` for operand A cover, (row, k): lane l names the 16 bytes of `reg`.

    Plain, k is contiguous in memory; `transposed`, rows are (`.trans`, 2-byte elements only). Register q of
    the result is 32-bit register q of the fragment. `stmatrix.x4` of a 16-bit accumulator uses the same.
    LayoutError for a transposed load of another size.
    """
    chunk = _chunk(element_bytes, transposed)
    if transposed:
        return Layout.of("reg: 8 -> row 1; lane: 8 -> k 1, 2 -> row 8, 2 -> k 8", {"row": 16, "k": 16})
    return Layout.of(
        f"reg: {chunk} -> k 1; lane: 8 -> row 1, 2 -> row 8, 2 -> k {chunk}", {"row": 16, "k": 2 * chunk}
    )


@lru_cache
def ldmatrix_b(element_bytes: int, *, transposed: bool = False) -> Layout:
    """What the addresses of `ldmatrix.x4` for two neighbouring B operands cover, (k, col).

    Plain, k is contiguous in memory; `transposed`, columns are (`.trans`, 2-byte elements only). Registers 0
    and 1 of the result are those of columns 0 to 7, 2 and 3 those of columns 8 to 15.
    """
    chunk = _chunk(element_bytes, transposed)
    if transposed:
        return Layout.of("reg: 8 -> col 1; lane: 8 -> k 1, 2 -> k 8, 2 -> col 8", {"k": 16, "col": 16})
    return Layout.of(
        f"reg: {chunk} -> k 1; lane: 8 -> col 1, 2 -> k {chunk}, 2 -> col 8", {"k": 2 * chunk, "col": 16}
    )


def _chunk(element_bytes: int, transposed: bool) -> int:
    _per_register(element_bytes)
    if transposed and element_bytes != 2:
        raise LayoutError(
            f"ldmatrix transposes 2-byte elements only, and elements of {element_bytes} bytes were given."
        )
    return LDMATRIX_BYTES // element_bytes


def ldmatrix_result(addresses: Layout, element_bytes: int, *, transposed: bool = False) -> Layout:
    """Who gets what from an `ldmatrix` whose lanes address the rows that `addresses` describes.

    Lane 4g + t gets from matrix q, named by lanes 8q to 8q + 7, bytes 4t to 4t + 3 of row g; transposed, the
    elements (2t, g) and (2t + 1, g). LayoutError unless the lanes' first digit is the eight rows of a matrix
    and `reg` is 16 contiguous bytes.
    """
    count = _per_register(element_bytes)
    chunk, lanes = addresses.digits_of("reg"), addresses.digits_of("lane")
    if (
        len(chunk) != 1
        or chunk[0].extent * element_bytes != LDMATRIX_BYTES
        or not lanes
        or lanes[0].extent != 8
    ):
        raise LayoutError(f"ldmatrix reads 8 rows of 16 bytes a matrix, and the addresses are {addresses}.")
    along, down = dict(chunk[0].steps), dict(lanes[0].steps)
    matrices = [Digit("reg", digit.extent, digit.steps) for digit in lanes[1:]]
    if transposed:
        digits = [
            Digit("reg", 2, down),
            *matrices,
            Digit("lane", 4, _scaled(down, 2)),
            Digit("lane", 8, along),
        ]
    else:
        within = [Digit("reg", count, along), *matrices]
        digits = [*within, Digit("lane", 4, _scaled(along, count)), Digit("lane", 8, down)]
    return Layout(tuple(digits), addresses.shape, ("reg", "lane"))


def _scaled(steps: Mapping[str, int], factor: int) -> dict[str, int]:
    return {name: step * factor for name, step in steps.items()}


def registers_32bit(layout: Layout, element_bytes: int) -> int:
    """32-bit registers that a lane needs for its elements."""
    elements = prod(digit.extent for digit in layout.digits_of("reg"))
    return -(-elements * element_bytes // 4)
