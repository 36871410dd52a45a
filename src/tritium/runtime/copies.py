"""Copies of array arguments for trial runs, so that tuning never touches the caller's data.

A copy keeps dtype, shape, strides and offset. Arguments that share one allocation share one copy of it, so a kernel
that works in place, or through two views of one array, sees the same aliasing as in the real run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tritium.runtime.arrays import ArrayView, TensorWrapper, is_array, view_of


def copy_arguments(named: Mapping[str, Any], names: Iterable[str] | None = None) -> dict[str, Any]:
    """`named` with array arguments replaced by copies: those in `names` and all that share memory with them.

    Without `names`, every array is copied.
    """
    views = {k: view_of(v, k) for k, v in named.items() if is_array(v)}
    wanted = set(views) if names is None else set(names) & set(views)
    touched = {(views[n].device, views[n].storage_address) for n in wanted}
    storages: dict[tuple[str, int], Any] = {}
    out = dict(named)
    for name, view in views.items():
        key = (view.device, view.storage_address)
        if key in touched:
            out[name] = _copy(named[name], view, storages)
    return out


def _copy(arg: Any, view: ArrayView, storages: dict[tuple[str, int], Any]) -> Any:
    if isinstance(arg, TensorWrapper):
        return TensorWrapper(_copy(arg.base, view_of(arg.base), storages), arg.dtype)
    key = (view.device, view.storage_address)
    if hasattr(arg, "untyped_storage"):
        if key not in storages:
            storages[key] = arg.untyped_storage().clone()
        fresh = arg.new_empty(0)
        return fresh.set_(storages[key], arg.storage_offset(), arg.shape, arg.stride())
    if key not in storages:
        storages[key] = view.storage().copy()
    copied: np.ndarray[Any, Any] = storages[key]
    if isinstance(arg, np.ndarray):
        return np.ndarray(arg.shape, arg.dtype, copied, view.address - view.storage_address, arg.strides)
    base = int(copied.ctypes.data)
    return ArrayView(
        *(base + view.address - view.storage_address, view.dtype, view.shape, view.strides),
        *(base, view.storage_nbytes, view.device, view.writable, copied),
    )


def host_values(arg: Any) -> np.ndarray[Any, Any] | None:
    """The elements of an array argument as a NumPy array in host memory (None where there is no cheap way)."""
    if isinstance(arg, TensorWrapper):
        return host_values(arg.base)
    if isinstance(arg, np.ndarray):
        return arg
    view = view_of(arg)
    if not view.on_host:
        return host_values(arg.cpu()) if hasattr(arg, "cpu") else None
    from tritium.ops.storage import storage_dtype

    dtype = storage_dtype(view.dtype)
    offset = view.address - view.storage_address
    strides = tuple(s * dtype.itemsize for s in view.strides)
    return np.ndarray(view.shape, dtype, view.storage(), offset, strides)
