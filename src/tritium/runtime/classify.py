"""The fast way from an argument to its part of the launch key, for the kinds of arguments that launches mostly have.

A *classifier* of a parameter takes an argument, appends its run-time parts to a list (array views and numbers, as the
compiled kernel takes them), and returns an *atom*: something small and hashable that is equal for arguments which are
compiled alike. What the classifier does not know goes through `specialize`, whose result then is the atom; so both
ways agree on what is an error, and the fast one only saves time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from tritium.ir.types import DType
from tritium.ops.handles import unwrap
from tritium.runtime.arrays import HOST, VIEW_OF_TYPE, ArrayView
from tritium.runtime.specialize import ALIGNMENT, Rules, Spec, add_leaves, array_spec, const_arg, specialize

Classifier = Callable[[Any, list[Any]], Hashable]
"""``classifier(argument, leaves)`` gives the atom."""


def classifier_of(rules: Rules) -> Classifier:
    """The classifier of a parameter."""
    if rules.constant:
        return _constant(rules)
    return _run_time(rules)


def _constant(rules: Rules) -> Classifier:
    name = rules.name

    def classify(value: Any, leaves: list[Any]) -> Hashable:
        kind = type(value)
        if kind is int or kind is bool or kind is str:
            return kind, value  # 1, True and 1.0 are equal, and compile differently
        if value is None:
            return None
        return const_arg(unwrap(value), name)

    return classify


def _run_time(rules: Rules) -> Classifier:
    name, one, aligns, free = rules.name, rules.specialize, rules.aligns, rules.fixed is None
    known: dict[DType, tuple[Spec, Spec]] = {}  # by element type: the spec unaligned and aligned

    def array(view: ArrayView) -> Hashable:
        pair = known.get(view.dtype)
        if pair is None:
            pair = known[view.dtype] = _both(view, rules)
        spec = pair[aligns and not view.address % ALIGNMENT]
        return id(spec) if view.device == HOST else (view.device, spec)

    def classify(value: Any, leaves: list[Any]) -> Hashable:
        kind = type(value)
        if kind is int and free:
            if value == 1 and one:
                return 1
            if -(2**31) <= value < 2**31:
                leaves.append(value)
                return "i32:16" if aligns and not value % ALIGNMENT else "i32"
        describe = VIEW_OF_TYPE.get(kind)
        if describe is not None:
            view = describe(value, name)
            leaves.append(view)
            return array(view)
        if free and (kind is float or kind is bool):
            leaves.append(value)
            return kind
        return _slowly(value, rules, leaves)

    return classify


def _both(view: ArrayView, rules: Rules) -> tuple[Spec, Spec]:
    """The specs of arrays like `view` for both answers to whether they are aligned."""
    found: list[Spec] = []
    for address in (1, 0):
        like = ArrayView(address, view.dtype, (), (), 0, 0, view.device, True, None)
        found.append(array_spec(like, rules))
    return found[0], found[1]


def _slowly(value: Any, rules: Rules, leaves: list[Any]) -> Hashable:
    spec = specialize(value, rules)
    first = len(leaves)
    add_leaves(spec, value, leaves)
    devices = {leaf.device for leaf in leaves[first:] if isinstance(leaf, ArrayView)}
    return (spec, *sorted(devices)) if devices - {HOST} else spec
