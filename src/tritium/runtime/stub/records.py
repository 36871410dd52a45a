"""What the launch stub reads: records of 8-byte fields, one definition for the machine code and for Python.

Python writes them, once each; the stub only reads. Where something changes, Python makes a new record and stores its
address with one write, which no other thread sees half of, since it is made with the GIL held.

======  ==================================================================================
Rule    how one parameter is classified (`tritium.runtime.specialize.Rules`)
Shape   one way to write a call: how many arguments by position, which by name
Fn      one kernel: types and functions that arrays are asked with, shapes, the state
State   what has to hold for any entry to be right: settings, captured values, no hooks
Gate    the settings: variables of the environment and overrides, as they were
Guard   one captured value, or one list of hooks that has to be empty
Entry   one specialisation: the key it is found by, and how it is launched
Pack    one parameter of the machine code: which argument it is, and how it is converted
Bound   one launch with everything decided (`kernel.bind`)
Frame   what one launch has gathered; on the stack
======  ==================================================================================
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import Any

_FIELDS = {
    "Rule": "kind aligns one low high",
    "Shape": "index given keywords names slots parameters sources fixed rules slot_names",
    "Fn": "state shapes shape_count tensor weight array dtype data_ptr get_device is_neg storage storage_ptr"
    " storage_nbytes slow resolve impl_at signature_at memo",
    "State": "gate epoch_at epoch guard_count guards entry_count entries",
    "Gate": "variable overrides os environ_name environ data version count keys values",
    "Guard": "kind owner name value",
    "Entry": "hash words key owner kernel table table_key device pack_count packs call function threads shared config stream_of"
    " ordinal failed scratch pace share launches",
    "Pack": "slot conversion",
    "Bound": "entry given defaults conversions data_ptr tensor ask grid_x grid_y grid_z slow",
    "Frame": "device arrays bytes key values objects spans shape",
}
FIELDS: dict[str, list[str]] = {name: fields.split() for name, fields in _FIELDS.items()}

SLOTS = 64
"""Most arguments and options of a call that the stub takes."""
MEMO = 8
"""Signatures of tensors that one kernel remembers; a power of two."""
ARRAYS = 16
"""Most arrays in host memory."""
HEAD = 4
"""Words of a key before those of the arguments, two each: shape, device, variant of host code, number of arguments."""

# kinds of rules
FREE, CONSTANT, INTEGER, FLOAT, OTHER = range(5)
# kinds of guards
IN_DICT, IN_CELL, EMPTY_LIST = range(3)
# conversions of packs
WORD, TO_FLOAT = range(2)
# what a bound launch makes of an argument
KEPT, ADDRESS, WHOLE, DOUBLE, SINGLE = range(5)
# tags: what an argument is
NONE, BOOL, REAL, ONE, INT, TENSOR, ARRAY = 1, 2, 3, 4, 8, 16, 32
ALIGNED, WIDE, WRITABLE = 1, 2, 2  # bits in the last three
C_INT, C_BOOL, C_NONE, C_FLOAT, C_OBJECT = range(64, 69)
UNKNOWN_DEVICE = -2
ON_HOST = -1
"""Devices: -1 is the host, as PyTorch says it."""


def words(values: Sequence[int]) -> Any:
    """A block of memory with these 64-bit words."""
    return (ctypes.c_uint64 * max(len(values), 1))(*(v & (2**64 - 1) for v in values))


def record(name: str, /, **values: int) -> Any:
    """A record with these fields; all of them have to be given."""
    if set(values) != set(FIELDS[name]):
        raise ValueError(f"{name} has the fields {FIELDS[name]}")
    return words([values[field] for field in FIELDS[name]])


def offset(name: str, field: str) -> int:
    """Where a field lies, in bytes."""
    return 8 * FIELDS[name].index(field)


_LOAD = re.compile(r"^(\s*)(%[\w.]+) = field (\w+)\.(\w+) of (%[\w.]+)(?: as (\w+))?$", re.MULTILINE)
_STORE = re.compile(r"^(\s*)set (\w+)\.(\w+) of (%[\w.]+) to (\w+) ([-%\w.]+)$", re.MULTILINE)


def expand(text: str) -> str:
    """LLVM IR with two statements more: ``%x = field Rule.kind of %rule`` and ``set Frame.bytes of %frame to i64 %n``.

    A field is loaded as i64 unless ``as ptr`` follows.
    """
    count = 0

    def place(record: str, field: str, base: str) -> tuple[str, str]:
        nonlocal count
        count += 1
        name = f"%at.{count}"
        return name, f"{name} = getelementptr i8, ptr {base}, i64 {offset(record, field)}"

    def load(found: re.Match[str]) -> str:
        indent, name, record, field, base, kind = found.groups()
        at, line = place(record, field, base)
        return f"{indent}{line}\n{indent}{name} = load {kind or 'i64'}, ptr {at}"

    def store(found: re.Match[str]) -> str:
        indent, record, field, base, kind, value = found.groups()
        at, line = place(record, field, base)
        return f"{indent}{line}\n{indent}store {kind} {value}, ptr {at}"

    return _STORE.sub(store, _LOAD.sub(load, text))
