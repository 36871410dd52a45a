"""What has to hold for a kernel's entries to be right, as records: settings, captured values, no hooks."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from types import CellType, ModuleType
from typing import Any

from tritium import config, knobs
from tritium.frontend.captures import ABSENT, Capture
from tritium.runtime.kernel_text import _epochs
from tritium.runtime.stub import records
from tritium.runtime.stub.table import Held, addresses


def gate() -> tuple[tuple[int, ...], Held] | None:
    """The settings now: what tells them from others, and their record. None where the environment is no usual one."""
    usual = config.environment_texts()
    if usual is None:
        return None
    environment, texts, names = usual
    values = [texts.get(name) for name in names]
    overrides = config._overrides.get()
    keys = records.words([id(name) for name in names])
    found = records.words([0 if value is None else id(value) for value in values])
    fields: dict[str, Any] = dict(
        variable=config._overrides, overrides=overrides, os=vars(os), environ_name="environ"
    )
    fields |= dict(environ=environment, data=texts)
    record = records.record(
        "Gate",
        **{name: id(value) for name, value in fields.items()},
        version=0,
        count=len(names),
        keys=ctypes.addressof(keys),
        values=ctypes.addressof(found),
    )
    told = (id(overrides), id(environment), id(texts), *found)
    return told, Held(record, fields, names, values, keys, found)


def guards(captures: Sequence[Capture], hooks: Sequence[list[Any]]) -> list[Held] | None:
    """Records that hold as long as no captured value is another one, and all `hooks` are empty, as they have to be now.

    None where that is not so, or cannot be seen that way.
    """
    found: list[Held] = []
    for capture in captures:
        guard = _captured(capture)
        if guard is None:
            return None
        found.append(guard)
    settings = knobs.runtime.__dict__
    for chain in (knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook):
        names = [name for name, value in settings.items() if value is chain]
        if not names:
            return None
        found.append(_guard(records.IN_DICT, settings, names[0], chain))
        hooks = [*hooks, chain.calls]
    if any(type(calls) is not list or calls for calls in hooks):
        return None
    return found + [_guard(records.EMPTY_LIST, calls, None, None) for calls in hooks]


def _captured(capture: Capture) -> Held | None:
    owner, name = capture.owner, capture.name
    now = capture.current()
    if now is ABSENT or not Capture(capture.path, owner, name, now).unchanged() or not capture.unchanged():
        return None
    if isinstance(owner, CellType):
        return _guard(records.IN_CELL, owner, None, now)
    if isinstance(owner, ModuleType):
        # only what lies in the module's dictionary and is not computed by its class
        usual = type(owner).__getattribute__ is ModuleType.__getattribute__
        if not usual or hasattr(type(owner), name) or vars(owner).get(name, ABSENT) is not now:
            return None
        owner = vars(owner)
    return _guard(records.IN_DICT, owner, name, now) if type(owner) is dict else None


def _guard(kind: int, owner: Any, name: str | None, value: Any) -> Held:
    pointers = {"owner": owner, "name": name, "value": value}
    record = records.record("Guard", kind=kind, **{field: id(found) for field, found in pointers.items()})
    return Held(record, owner, name, value)


def state(gate: Held, guards: Sequence[Held], entries: Sequence[Held]) -> Held:
    """The record of a kernel's state, under the settings of `gate`."""
    known = addresses(entries)
    checks = addresses(guards)
    record = records.record(
        "State",
        gate=gate.address,
        epoch_at=ctypes.addressof(_epochs),
        epoch=_epochs[0],
        guard_count=len(guards),
        guards=ctypes.addressof(checks),
        entry_count=len(entries),
        entries=ctypes.addressof(known),
    )
    return Held(record, gate, list(guards), list(entries), known, checks)
