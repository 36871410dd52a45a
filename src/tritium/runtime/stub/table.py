"""The records of one kernel, as the stub reads them: parameters, ways to call it, and the state with its entries."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tritium.runtime.stub import records

if TYPE_CHECKING:
    from tritium.runtime.stub.load import Stub

MOST_SHAPES = 64


class Calls:
    """One function that the stub calls: `launch` and `describe` are its builtins, `slow` gets what they do not know.

    A shape is a way to call it: how many arguments by position, which by name and in which order. Slots are the
    parameters in order and then the options, keywords that are no parameters.
    """

    def __init__(self, stub: Stub, names: Sequence[str], slow: Callable[..., Any]) -> None:
        self.names = tuple(names)
        self._slow = slow
        self._resolve = _resolve
        self._rules: list[Any] = []
        self._option = records.record("Rule", kind=records.CONSTANT, aligns=0, one=0, low=0, high=0)
        self._shapes: dict[tuple[int, tuple[str, ...]], Any] = {}
        self._kept: list[Any] = [self.names]
        self._old: deque[Any] = deque(maxlen=16)  # what another thread may be reading
        fields = dict.fromkeys(records.FIELDS["Fn"], 0)
        self._fn = records.record("Fn", **{**fields, "slow": id(slow), "resolve": id(self._resolve)})
        self._memo = records.words([0] * (1 + 4 * records.MEMO))
        self._put("memo", ctypes.addressof(self._memo))
        address = ctypes.addressof(self._fn)
        self.launch = stub.builtin("launch", address, self)
        self.describe = stub.builtin("describe", address, self)

    def set(self, **fields: Any) -> None:
        """Have fields of the record refer to these objects; None is no object."""
        for name, value in fields.items():
            self._kept.append(value)
            self._put(name, 0 if value is None else id(value))

    def read_signatures(self, impl_at: int, signature_at: int) -> None:
        """Have what PyTorch says about tensors remembered by two words in them (see `load.tensor_layout`)."""
        self._put("signature_at", signature_at)
        self._put("impl_at", impl_at)

    def _put(self, field: str, value: int) -> None:
        self._fn[records.FIELDS["Fn"].index(field)] = value

    def add_rule(self, **fields: int) -> None:
        """Say how the next parameter is classified."""
        self._rules.append(records.record("Rule", **fields))

    def add_shape(self, given: int, keywords: Sequence[str], defaults: Mapping[str, Any]) -> int | None:
        """Have calls with `given` arguments by position and these keywords known. None for one too many."""
        wanted = given, tuple(keywords)
        found = self._shapes.get(wanted)
        if found is not None:
            return found[0]
        options = [k for k in keywords if k not in self.names]
        slots = [*self.names, *options]
        if len(self._shapes) >= MOST_SHAPES or len(slots) > records.SLOTS:
            return None
        sources: list[int] = []
        fixed: list[Any] = []
        for i, name in enumerate(slots):
            by_name = keywords.index(name) if name in keywords else -1
            taken = 1 + i if i < min(given, len(self.names)) else 1 + given + by_name if by_name >= 0 else -1
            sources.append(max(taken, 0))
            fixed.append(None if taken >= 0 else [defaults[name]])
        rules = [*self._rules, *[self._option] * len(options)]
        index = len(self._shapes)
        parts = [
            records.words([id(k) for k in keywords]),
            records.words(sources),
            records.words([0 if held is None else id(held[0]) for held in fixed]),
            records.words([ctypes.addressof(rule) for rule in rules]),
            records.words([id(name) for name in slots]),
        ]
        names, source, fix, rule, slot = map(ctypes.addressof, parts)
        shape = records.record(
            "Shape",
            **dict(index=index, given=1 + given, keywords=len(keywords), slots=len(slots)),
            **dict(parameters=len(self.names), names=names, sources=source, fixed=fix),
            **dict(rules=rule, slot_names=slot),
        )
        self._shapes[wanted] = index, shape, parts, fixed, slots
        table = records.words([ctypes.addressof(entry[1]) for entry in self._shapes.values()])
        self._kept.append(table)  # at most `MOST_SHAPES` of them
        self._put("shapes", ctypes.addressof(table))
        self._put("shape_count", len(self._shapes))
        return index

    def arguments(
        self, args: Sequence[Any], keywords: Mapping[str, Any], defaults: Mapping[str, Any]
    ) -> list[Any]:
        """The value in each slot of a call."""
        by_position = dict(zip(self.names, args, strict=False))
        options = [k for k in keywords if k not in self.names]
        everything = {**defaults, **keywords, **by_position}
        return [everything[name] for name in (*self.names, *options)]

    def publish(self, state: Any) -> None:
        """Have the stub use `state`, a record with whatever it refers to, from now on; None: nothing is known."""
        self._old.append(state)
        self._put("state", 0 if state is None else state.address)


def _resolve(grid: Any) -> tuple[int, int, int]:
    from tritium.runtime.grid import resolve_grid

    return resolve_grid(grid, {})


class Held:
    """A record and the objects that it refers to."""

    def __init__(self, record: Any, *kept: Any) -> None:
        self.record = record
        self.kept = kept

    @property
    def address(self) -> int:
        return ctypes.addressof(self.record)


def addresses(held: Sequence[Held]) -> Any:
    """A block of the addresses of records."""
    return records.words([h.address for h in held])
