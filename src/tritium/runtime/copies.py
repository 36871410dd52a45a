"""Copies of array arguments for trial runs, so that tuning never touches the caller's data.

A copy keeps dtype, shape, strides and offset. Arguments that share one allocation share one copy of it, so a kernel
that works in place, or through two views of one array, sees the same aliasing as in the real run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from tritium.runtime.arrays import ArrayView, TensorWrapper, is_array, view_of
from tritium.runtime.specialize import is_descriptor

Storage = tuple[str, int]
"""An allocation: its device and first byte."""


def arrays_in(argument: Any) -> Iterator[Any]:
    """The arrays in one argument: itself, the items of a tuple, the base of a tensor descriptor."""
    if is_array(argument):
        yield argument
    elif isinstance(argument, (tuple, list)):
        for item in argument:
            yield from arrays_in(item)
    elif is_descriptor(argument):
        yield argument.base


def storage_of(array: Any) -> Storage:
    """The allocation that an array lies in."""
    view = view_of(array)
    return view.device, view.storage_address


def copy_arguments(named: Mapping[str, Any], names: Iterable[str] | None = None) -> dict[str, Any]:
    """`named` with arrays replaced by copies: those in the arguments `names` and all that share memory with them.

    Without `names`, every array is copied. Arguments without a copied array stay the same objects.
    """
    wanted = named.keys() if names is None else set(names) & named.keys()
    touched = {storage_of(a) for name in wanted for a in arrays_in(named[name])}
    whole: dict[Storage, ArrayView] = {}  # per allocation the view that knows most of it
    for argument in named.values():
        for view in map(view_of, arrays_in(argument)):
            key = (view.device, view.storage_address)
            if view.storage_nbytes >= whole.get(key, view).storage_nbytes:
                whole[key] = view
    storages: dict[Storage, Any] = {}

    def copy(array: Any) -> Any:
        key = storage_of(array)
        if key not in touched:
            return array
        if key not in storages:
            storages[key] = _copied_storage(whole[key])
        return _copy(array, view_of(array), storages[key])

    return {name: _replaced(value, copy) for name, value in named.items()}


def _copied_storage(view: ArrayView) -> Any:
    """The bytes of an allocation: a NumPy array on the host, PyTorch's storage on a device."""
    if view.on_host:
        return _aligned_copy(view)
    owner = view.owner
    while isinstance(owner, TensorWrapper):
        owner = owner.base
    if not hasattr(owner, "untyped_storage"):
        raise TypeError(f"a {type(owner).__name__} on {view.device} cannot be copied for tuning")
    return owner.untyped_storage().clone()


def _replaced(argument: Any, copy: Callable[[Any], Any]) -> Any:
    if not any(copy(a) is not a for a in arrays_in(argument)):
        return argument
    if is_array(argument):
        return copy(argument)
    if is_descriptor(argument):
        return dataclasses.replace(argument, base=copy(argument.base))
    items = [_replaced(item, copy) for item in argument]
    make = getattr(type(argument), "_make", type(argument))
    return make(items)


def _copy(arg: Any, view: ArrayView, copied: Any) -> Any:
    """`arg` in the copied allocation."""
    if isinstance(arg, TensorWrapper):
        return TensorWrapper(_copy(arg.base, view_of(arg.base), copied), arg.dtype)
    if hasattr(arg, "untyped_storage"):
        if isinstance(copied, np.ndarray):
            import torch

            copied = torch.from_numpy(copied).untyped_storage()
        fresh = arg.detach().new_empty(0)
        return fresh.set_(copied, arg.storage_offset(), arg.shape, arg.stride())
    offset = view.address - view.storage_address
    if isinstance(arg, np.ndarray):
        return np.ndarray(arg.shape, arg.dtype, copied, offset, arg.strides)
    base = int(copied.ctypes.data)
    return ArrayView(
        *(base + offset, view.dtype, view.shape, view.strides),
        *(base, view.storage_nbytes, view.device, True, copied),
    )


_PAGE = 64


def _aligned_copy(view: ArrayView) -> np.ndarray[Any, Any]:
    """The bytes of a storage at an address with the same low bits, so that what was aligned stays so."""
    room = np.empty(view.storage_nbytes + _PAGE, np.uint8)
    start = (view.storage_address - room.ctypes.data) % _PAGE
    copied = room[start : start + view.storage_nbytes]
    copied[...] = view.storage()
    return copied


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


# ---- in place ----------------------------------------------------------------------------------------


def fill_zero(array: Any) -> None:
    """Set every element to zero."""
    if hasattr(array, "zero_"):
        array.zero_()
    else:
        values = _values(array)
        values[...] = np.zeros((), values.dtype)


def copy_of(array: Any) -> Any:
    """A copy of the elements, to be given to `assign`."""
    if hasattr(array, "clone"):
        return array.clone()
    return _values(array).copy()


def assign(target: Any, source: Any) -> None:
    """Write the elements of `source` into `target`."""
    if hasattr(target, "copy_"):
        if hasattr(target, "detach"):
            target.detach().copy_(source)
        else:
            target.copy_(source)
    else:
        _values(target)[...] = source if isinstance(source, np.ndarray) else _values(source)


def _values(array: Any) -> np.ndarray[Any, Any]:
    found = host_values(array)
    if found is None:
        raise TypeError(f"the elements of a {type(array).__name__} cannot be reached from the host")
    return found
