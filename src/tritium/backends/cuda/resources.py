"""What a compiled kernel takes of the GPU, read from its cubin, and the check that a device has that much.

A cubin is an ELF file. Its ``.nv.info.KERNEL`` section lists attributes: a format byte, an attribute byte, then two
bytes of value, or a two-byte length and that many bytes. The numbers below were read off cubins of NVRTC 13.0 for
sm_75 to sm_120 and agree with the assembler's own report (see the tests). Spills are in that report only.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tritium.errors import TritiumError, make_error

_FORMAT_SIZED = 0x04
_MAX_THREADS, _KPARAM_INFO, _REGCOUNT, _FRAME_SIZE, _NUM_BARRIERS = 0x05, 0x17, 0x2F, 0x11, 0x4C
_RESERVED_SHARED = 1024
"""Bytes of shared memory that the system keeps per block from sm_90 on; a section of shared memory includes them."""


@dataclass(frozen=True, slots=True)
class ParameterSlot:
    """Where one kernel parameter lies in the parameter block, in bytes."""

    offset: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class Resources:
    """What one kernel takes.

    registers      32-bit registers per thread
    spill_stores   bytes per thread written to local memory for want of registers, and `spill_loads` read back
    stack          bytes of local memory per thread, spilled registers included
    shared         bytes of static shared memory per block
    barriers       named barriers
    max_threads    threads per block that the code was compiled for; 0 when it does not say
    parameters     the kernel's parameters in order
    """

    registers: int
    spill_stores: int
    spill_loads: int
    stack: int
    shared: int
    barriers: int
    max_threads: int
    parameters: tuple[ParameterSlot, ...]

    def to_json(self) -> dict[str, Any]:
        """All fields as plain values."""
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        values["parameters"] = [[p.offset, p.nbytes] for p in self.parameters]
        return values

    @staticmethod
    def from_json(values: dict[str, Any]) -> Resources:
        """What `to_json` gave."""
        slots = tuple(ParameterSlot(offset, nbytes) for offset, nbytes in values["parameters"])
        numbers = {name: int(value) for name, value in values.items() if name != "parameters"}
        return Resources(**numbers, parameters=slots)


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    data: bytes
    nbytes: int  # also of sections that take no room in the file


def _sections(image: bytes) -> Iterator[_Section]:
    """The sections of a 64-bit little-endian ELF image; ValueError for anything else."""
    if image[:6] != b"\x7fELF\x02\x01" or len(image) < 64:
        raise ValueError("not a 64-bit little-endian ELF image")
    (table,) = struct.unpack_from("<Q", image, 0x28)
    entry_size, count, names_index = struct.unpack_from("<HHH", image, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", image, table + i * entry_size) for i in range(count)]
    names_at = headers[names_index][4]
    for name, kind, _, _, offset, size in headers:
        end = image.index(b"\0", names_at + name)
        taken = b"" if kind == 8 else image[offset : offset + size]  # 8: SHT_NOBITS
        yield _Section(image[names_at + name : end].decode(), taken, size)


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        form, attribute, value = struct.unpack_from("<BBH", data, at)
        at += 4
        if form == _FORMAT_SIZED:
            yield attribute, data[at : at + value]
            at += value
        else:
            yield attribute, data[at - 2 : at]


def _symbol_names(sections: dict[str, _Section]) -> list[str]:
    strings, table = sections[".strtab"].data, sections[".symtab"].data
    starts = [struct.unpack_from("<I", table, at)[0] for at in range(0, len(table), 24)]
    return [strings[s : strings.index(b"\0", s)].decode() for s in starts]


def read_cubin(image: bytes, kernel: str, arch: str) -> Resources:
    """The resources of `kernel` in a cubin. Spills are unknown to a cubin and given as 0.

    Raises ValueError for bytes that are no cubin, or one without this kernel.
    """
    try:
        sections = {s.name: s for s in _sections(image)}
        info = sections[f".nv.info.{kernel}"].data
        symbol = _symbol_names(sections).index(kernel)
        of_all = sections[".nv.info"].data
    except (struct.error, KeyError, IndexError) as broken:
        raise ValueError(f"no kernel {kernel} in this image") from broken
    registers = stack = 0
    for attribute, data in _attributes(of_all):
        if attribute in (_REGCOUNT, _FRAME_SIZE) and struct.unpack_from("<I", data)[0] == symbol:
            (value,) = struct.unpack_from("<I", data, 4)
            registers, stack = (value, stack) if attribute == _REGCOUNT else (registers, value)
    slots: dict[int, ParameterSlot] = {}
    threads = barriers = 0
    for attribute, data in _attributes(info):
        if attribute == _KPARAM_INFO:
            _, index, offset, packed = struct.unpack("<IHHI", data)
            slots[index] = ParameterSlot(offset, packed >> 18)
        elif attribute == _MAX_THREADS:
            x, y, z = struct.unpack("<III", data)
            threads = x * y * z
        elif attribute == _NUM_BARRIERS:
            barriers = data[0]
    shared = sections[f".nv.shared.{kernel}"].nbytes if f".nv.shared.{kernel}" in sections else 0
    if shared and arch_number(arch) >= 90:
        shared -= _RESERVED_SHARED
    return Resources(
        registers, 0, 0, stack, shared, barriers, threads, tuple(slots[i] for i in sorted(slots))
    )


def arch_number(arch: str) -> int:
    """90 for ``sm_90a``."""
    return int(arch.removeprefix("sm_").rstrip("af"))


def arch_of(capability: tuple[int, int]) -> str:
    """The architecture to compile for on a device of this compute capability.

    Compute capability 9.0 gets ``sm_90a``, whose code runs on no other device and may use all instructions of this one.
    """
    major, minor = capability
    return "sm_90a" if capability == (9, 0) else f"sm_{major}{minor}"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a block may have: threads, bytes of shared memory with and without asking, registers of the whole block."""

    threads: int
    shared: int
    shared_default: int = 48 * 1024
    registers: int = 65536


_SHARED_KIB = {
    75: 64,
    80: 163,
    86: 99,
    87: 163,
    89: 99,
    90: 227,
    100: 227,
    103: 227,
    110: 227,
    120: 99,
    121: 99,
}


def limits_of(arch: str) -> Limits:
    """The limits of an architecture, for checks without a device (CUDA C++ Programming Guide, Compute Capabilities)."""
    return Limits(1024, _SHARED_KIB.get(arch_number(arch), 99) * 1024)


def check_fits(
    kernel: str, resources: Resources, threads: int, shared: int, limits: Limits, device: str
) -> None:
    """OutOfResources, naming what is too much, unless a block of `threads` with `shared` bytes in all can run."""
    most = min(limits.threads, resources.max_threads or limits.threads)
    registers = resources.registers * threads
    for name, required, limit in (
        ("threads per block", threads, most),
        ("bytes of shared memory", shared, limits.shared),
        ("registers per block", registers, limits.registers),
    ):
        if required > limit:
            raise out_of_resources(kernel, name, required, limit, device)


def out_of_resources(kernel: str, name: str, required: int, limit: int, device: str) -> TritiumError:
    """The error for a `kernel` that needs more of a resource than `device` has."""
    message = f"out of resource: `{kernel}` needs {required} {name}, and {device} has {limit}"
    return make_error("TRI0734", message=message, name=name, required=required, limit=limit)
