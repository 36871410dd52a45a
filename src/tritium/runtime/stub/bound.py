"""Bound launches (`kernel.bind`) by the stub: read addresses and numbers, launch."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tritium.backends.cuda.launch import Argument, Parameter
from tritium.backends.cuda.stub_entry import StubFields
from tritium.ir.types import PointerType
from tritium.runtime.stub import records
from tritium.runtime.stub.load import stub
from tritium.runtime.stub.table import Held

_FLOATS = {"f32": records.SINGLE, "f64": records.DOUBLE}


def repeat_natively(
    fields: StubFields | None,
    parameters: Sequence[Parameter],
    arguments: Sequence[Argument],
    grid: tuple[int, int, int],
    slowly: Callable[..., None],
) -> Callable[..., None]:
    """`slowly`, a bound launch with these arguments, as a builtin, which calls it for what it cannot do itself.

    `slowly` itself where there is no stub, and for arguments of which more than one parameter is made.
    """
    found = stub()
    conversions = [_conversion(a, p) for a, p in zip(arguments, parameters, strict=False)]
    if found is None or fields is None or len(arguments) != len(parameters) or None in conversions:
        return slowly
    if len(parameters) > records.SLOTS:
        return slowly
    pointers = {k: id(v) for k, v in fields.kept.items() if k in records.FIELDS["Entry"]}
    entry = records.record(
        "Entry",
        **{**dict.fromkeys(records.FIELDS["Entry"], 0), **fields.numbers, **pointers},
    )
    entry[records.FIELDS["Entry"].index("pack_count")] = len(parameters)
    defaults = records.words([id(a.value) for a in arguments])
    hows = records.words([how or 0 for how in conversions])
    method = sys.intern("data_ptr")
    torch = sys.modules.get("torch")
    tensor: Any = getattr(torch, "Tensor", None)
    ask: Any = getattr(tensor, "data_ptr", None)
    known = dict(tensor=0, ask=0) if ask is None else dict(tensor=id(tensor), ask=id(ask))
    bound = records.record(
        "Bound",
        **dict(entry=ctypes.addressof(entry), given=len(arguments), defaults=ctypes.addressof(defaults)),
        **dict(conversions=ctypes.addressof(hows), data_ptr=id(method), slow=id(slowly)),
        **known,
        **dict(zip(("grid_x", "grid_y", "grid_z"), grid, strict=True)),
    )
    held = Held(bound, entry, defaults, hows, method, tensor, ask, slowly, fields, list(arguments))
    return found.builtin("repeat", held.address, held)


def _conversion(argument: Argument, parameter: Parameter) -> int | None:
    if len(argument.parts) != 1 or not argument.name or parameter.type is None:
        return None
    if isinstance(parameter.type, PointerType):
        return records.ADDRESS if argument.parts[0] == f"{argument.name}.data_ptr()" else None
    if parameter.type.is_floating():
        return _FLOATS.get(parameter.type.text)
    return None if parameter.type.is_bool() else records.WHOLE
