"""From a launch by the long way to an entry of the stub, so that the next one like it takes the short way."""

from __future__ import annotations

import ctypes
import inspect
import struct
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tritium import config
from tritium.ir.types import DType, PointerType, ScalarType
from tritium.runtime import launch_check
from tritium.runtime.kernel_text import _epochs
from tritium.runtime.specialize import ConstArg, Rules, RuntimeArg, Spec
from tritium.runtime.stub import records
from tritium.runtime.stub.guards import gate, guards, state
from tritium.runtime.stub.layouts import tensor_layout
from tritium.runtime.stub.load import Builtin, Stub
from tritium.runtime.stub.table import Calls, Held, addresses
from tritium.runtime.tracebacks import cleaned

if TYPE_CHECKING:
    from tritium.runtime.compiled import CompiledKernel
    from tritium.runtime.jit import JITFunction

MOST_ENTRIES = 256
"""Specialisations that one kernel's stub knows; when there are more, it starts anew."""

_IDENTIFIED = (str, DType)
"""Types of compile-time values that the stub knows by identity: such objects never change."""

_TYPED = (records.C_INT, records.C_BOOL, records.C_NONE, records.C_FLOAT, records.NONE, records.ONE)


@dataclass(frozen=True)
class Target:
    """How a kernel is launched: fields of an `Entry`, and the objects that they refer to.

    types  of the parameters of its machine code, in order
    """

    types: Sequence[ScalarType | None]
    fields: Mapping[str, int]
    kept: Any


class LaunchStub:
    """The short way of one jit function. `launch` is a builtin: ``launch(grid, *args, **kwargs)``."""

    def __init__(self, fn: JITFunction, stub: Stub) -> None:
        self.fn = fn
        self._lock = threading.RLock()  # arguments may run Python code, and that launch kernels
        self._defaults = {p.name: p.default for p in fn.params if p.has_default}
        self._calls = Calls(stub, fn.arg_names, self.slowly)
        for p in fn.params:
            self._calls.add_rule(**_rule(p.rules))
        self._calls.set(array=np.ndarray if stub.layout.array_at else None)
        self._tensor: Any = None
        self._entries: dict[bytes, Held] = {}
        self._known_under: Any = None
        self._know_arrays()
        self.launch: Builtin = self._calls.launch

    def forget(self) -> None:
        """Have all launches go the long way until they have been learnt anew."""
        with self._lock:
            self._entries = {}
            self._known_under = None
            self._calls.publish(None)

    @property
    def count(self) -> int:
        """How many specialisations it knows."""
        return len(self._entries)

    def _know_arrays(self) -> None:
        """Tell the stub which types are arrays; again when PyTorch has been imported since."""
        torch: Any = sys.modules.get("torch")
        tensor: Any = getattr(torch, "Tensor", None)
        if tensor is self._tensor or not hasattr(torch, "UntypedStorage"):
            return
        storage: Any = torch.UntypedStorage
        self._calls.set(
            dtype=sys.intern("dtype"),
            data_ptr=tensor.data_ptr,
            get_device=tensor.get_device,
            is_neg=getattr(tensor, "is_neg", None),
            storage=tensor.untyped_storage,
            storage_ptr=storage.data_ptr,
            storage_nbytes=storage.nbytes,
        )
        self._calls.read_signatures(*tensor_layout(tensor))
        self._calls.set(tensor=tensor, weight=torch.nn.Parameter)  # last: from here on they are used
        self._tensor = tensor

    # ---- the long way -------------------------------------------------------------------------------------

    def slowly(self, grid: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Launch by the long way, and remember what it found."""
        try:
            source, settings = self.fn.source._key, config.current()
            kernel = self.fn.run_checked(*args, grid=grid, **kwargs)
            if source is not None and kernel is not None and not settings.values["log"]:
                with self._lock:
                    self._learn(args, kwargs, kernel, source, settings)
            return kernel
        except BaseException as error:
            raise cleaned(error)  # noqa: B904 (the same error, with fewer frames)

    def _learn(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        kernel: CompiledKernel,
        source: Any,
        settings: config.Snapshot,
    ) -> None:
        self._know_arrays()
        if self._calls.add_shape(len(args), tuple(kwargs), self._defaults) is None:
            return
        described = self._calls.describe(None, *args, **kwargs)
        if described is None:
            return
        values = self._calls.arguments(args, kwargs, self._defaults)
        entry = self._entry(described, kernel, values)
        if entry is None:
            return
        found = gate()
        fn = self.fn
        if found is None or fn.source._key is not source or fn._epoch != _epochs[0]:
            return
        if config.current() is not settings:  # `kernel` may have been found under others
            return
        checks = guards(source[1], [fn.pre_run_hooks, launch_check._installed])
        if checks is None:
            return
        under = found[0], [tuple(check.record) for check in checks], _epochs[0]
        keep = under == self._known_under and len(self._entries) < MOST_ENTRIES
        entries = {**(self._entries if keep else {}), described: entry}
        made = state(found[1], checks, list(entries.values()))
        self._entries, self._known_under = entries, under
        self._calls.publish(made)

    def _entry(self, described: bytes, kernel: CompiledKernel, values: Sequence[Any]) -> Held | None:
        hashed, *key = struct.unpack(f"<{len(described) // 8}q", described)
        device, variant = key[1], key[2]
        tags = list(zip(key[records.HEAD :: 2], key[records.HEAD + 1 :: 2], strict=True))
        objects = _identified(tags, values)
        packs = _packs(tags, kernel.specs)
        target = target_of(kernel, device, variant)
        if objects is None or packs is None or target is None or len(packs) != len(target.types):
            return None
        conversions = [conversion(ty, tags[slot][0]) for slot, ty in zip(packs, target.types, strict=True)]
        place = self._place(kernel)
        if place is None or None in conversions:
            return None
        table, text = place
        pairs = [
            Held(records.record("Pack", slot=slot, conversion=how or 0))
            for slot, how in zip(packs, conversions, strict=True)
        ]
        listed, words = addresses(pairs), records.words(key)
        owner = [kernel, table, text, objects, target, pairs, listed, words]
        record = records.record(
            "Entry",
            **dict(hash=hashed, words=len(key), key=ctypes.addressof(words), owner=id(owner)),
            **dict(kernel=id(kernel), table=id(table), table_key=id(text), device=device),
            **dict(pack_count=len(pairs), packs=ctypes.addressof(listed)),
            **{**dict.fromkeys(_TARGET_FIELDS, 0), **target.fields},
        )
        owner.append(record)  # whoever holds the owner can read the entry
        return Held(record, owner)

    def _place(self, kernel: CompiledKernel) -> tuple[dict[Any, Any], str] | None:
        """The table that holds `kernel`, and its key there."""
        for table in list(self.fn.device_caches.values()):
            for text, found in list(table.kernels.items()):
                if found is kernel and text is not None:
                    return table.kernels, text
        return None


_TARGET_FIELDS = records.FIELDS["Entry"][records.FIELDS["Entry"].index("call") :]


def _rule(rules: Rules) -> dict[str, int]:
    aligns, one = int(rules.aligns), int(rules.specialize and rules.fixed is None)
    low, high = -(2**63), 2**63 - 1
    if rules.constant:
        return dict(kind=records.CONSTANT, aligns=0, one=0, low=low, high=high)
    fixed = rules.fixed
    if fixed is None:
        return dict(kind=records.FREE, aligns=aligns, one=one, low=low, high=high)
    kind = records.OTHER  # arrays under annotations, booleans: rare enough for the long way
    if not isinstance(fixed, PointerType):
        if fixed.is_floating():
            kind, low, high = records.FLOAT, 1, 0
        elif not fixed.is_bool():
            kind, bits = records.INTEGER, fixed.primitive_bitwidth
            if fixed.is_int_signed():
                low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
            else:
                low, high = 0, min(2**bits, 2**63) - 1
    if kind == records.OTHER:
        low, high = 1, 0
    return dict(kind=kind, aligns=aligns, one=0, low=low, high=high)


def _identified(tags: Sequence[tuple[int, int]], values: Sequence[Any]) -> list[Any] | None:
    """The objects that a key knows by identity; None if one of them is not what it seems, or may change."""
    found: list[Any] = []
    for (tag, word), value in zip(tags, values, strict=True):
        if tag in _TYPED or tag == records.REAL or tag == records.BOOL:
            continue
        if tag == records.C_OBJECT:
            if type(value) not in _IDENTIFIED:
                return None
            found.append(value)
        elif tag >= records.TENSOR:
            found.append(value.dtype)
        else:
            continue
        if id(found[-1]) != word & (2**64 - 1):
            return None
    return found


def _packs(tags: Sequence[tuple[int, int]], specs: Sequence[tuple[str, Spec]]) -> list[int] | None:
    """The slots of the arguments that the machine code gets; None where key and specialisation do not agree."""
    found: list[int] = []
    for slot, (_, spec) in enumerate(specs):
        tag = tags[slot][0]
        known = tag in (records.NONE, records.ONE) or tag >= records.C_INT
        if known != isinstance(spec, ConstArg):
            return None
        if known:
            continue
        if not isinstance(spec, RuntimeArg):
            return None
        array = tag >= records.TENSOR
        counts = array or tag >= records.INT
        if array != isinstance(spec.type, PointerType) or spec.divisible != (
            counts and bool(tag & records.ALIGNED)
        ):
            return None
        found.append(slot)
    return found


def conversion(ty: ScalarType | None, tag: int) -> int | None:
    """How the word of an argument becomes a parameter of type `ty`; None where that is not known."""
    if ty is None:
        return None
    if isinstance(ty, PointerType):
        return records.WORD if tag >= records.TENSOR else None
    if ty.is_floating():
        known = {"f32": records.TO_FLOAT, "f64": records.WORD}
        return known.get(ty.text) if tag == records.REAL else None
    return records.WORD if tag == records.BOOL or records.INT <= tag < records.TENSOR else None


def target_of(kernel: CompiledKernel, device: int, variant: int) -> Target | None:
    """How `kernel` is launched on arrays of a device: -1 is the host. None where the stub cannot."""
    if kernel.backend == "cuda" and device >= 0:
        from tritium.backends.cuda import stub_entry as cuda

        program: Any = kernel.program  # type: ignore[attr-defined]
        fields = cuda.stub_fields(program.on(device)[0])
        if fields is None:
            return None
        kept = dict(fields.kept)
        kept["failed"] = partial(_cleanly, kept["failed"])
        return _target(program.types, fields.numbers, kept)
    if kernel.backend == "cpu" and device == records.ON_HOST:
        from tritium.backends.cpu import launch as cpu

        fields = cpu.stub_fields(kernel, (bool(variant & 1), bool(variant & 2)))
        if fields is None:
            return None
        kept = {**fields.kept, "failed": partial(_cleanly, fields.kept["failed"])}
        kept["share"] = partial(_cleanly, kept["share"])
        return _target(fields.types, fields.numbers, kept)
    return None


def target_exists(kernel: CompiledKernel) -> bool:
    """Whether the stub can launch kernels like `kernel` in this process."""
    if kernel.backend == "cuda":
        from tritium.backends.cuda import stub_entry as cuda

        return cuda.has_entry_points()
    return kernel.backend == "cpu" and kernel.compilation.artefacts["ll"].reject is None


def _target(types: Sequence[Any], numbers: Mapping[str, int], kept: Mapping[str, Any]) -> Target:
    pointers = {name: id(value) for name, value in kept.items() if name in _TARGET_FIELDS}
    return Target(types, {**numbers, **pointers}, kept)


def _cleanly(function: Callable[..., Any], *args: Any) -> None:
    """Call `function`, whose errors are to show the user's lines only."""
    try:
        function(*args)
    except BaseException as error:
        raise cleaned(error)  # noqa: B904


def make_stub(fn: JITFunction) -> LaunchStub | None:
    """The short way of `fn`; None where there is none: no stub in this process, or unusual parameters."""
    from tritium.runtime.stub.load import stub

    usual = all(p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for p in fn.params)
    if not usual or fn._options_among_parameters or len(fn.params) > records.SLOTS:
        return None
    found = stub()
    return None if found is None else LaunchStub(fn, found)
