"""A compiled kernel as the runtime holds it: loaded onto a GPU when first launched there, given arguments, launched.

The GPU is the one that holds the arrays among the arguments; the stream is the current one there.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from tritium.backends.cuda import driver
from tritium.backends.cuda.launch import Launch, make_launch, parameters_of
from tritium.backends.cuda.module import LaunchShape, LoadedKernel, load
from tritium.backends.cuda.nvrtc import Binary
from tritium.errors import make_error
from tritium.ir.types import PointerType, ScalarType

_DEVICE_POINTER = 3  # CUpointer_attribute
_LEGACY = 1  # the legacy default stream in an array interface; 0 in a launch


class Program:
    """One compiled kernel on any number of GPUs.

    names, types  of its parameters, in order
    """

    def __init__(
        self,
        binary: Binary,
        shape: LaunchShape,
        names: Sequence[str],
        types: Sequence[ScalarType | None],
    ) -> None:
        self.binary = binary
        self.shape = shape
        self.names = tuple(names)
        self.types = tuple(types)
        self.parameters = parameters_of(names, types, binary.resources.parameters)
        self._loaded: dict[int, tuple[LoadedKernel, Launch]] = {}
        self._lock = threading.Lock()

    def on(self, ordinal: int) -> tuple[LoadedKernel, Launch]:
        """The kernel on GPU `ordinal` and its launch function, loading it if this is the first time."""
        found = self._loaded.get(ordinal)
        if found is None:
            with self._lock:
                found = self._loaded.get(ordinal)
                if found is None:
                    loaded = load(self.binary, self.shape, driver.device(ordinal))
                    found = self._loaded[ordinal] = (loaded, make_launch(loaded, self.parameters))
        return found

    def run(self, grid: tuple[int, int, int], leaves: Sequence[Any], stream: int | None = None) -> None:
        """Launch on one leaf per parameter: an array view (anything with `address`, `device`, `owner`) or a number.

        Raises ArgumentError TRI0732, TRI0733 for arrays that the kernel cannot reach, LaunchError TRI0739 for errors
        that the GPU reports.
        """
        ordinal = self.device_of(leaves)
        launch = self.on(ordinal)[1]
        owners = [leaf.owner for leaf in leaves if hasattr(leaf, "owner")]
        if stream is None:
            stream = driver.stream_reader(owners)(ordinal)
        for theirs in {s for s in map(_stream_of, owners) if s is not None and s != stream}:
            driver.wait_for_stream(self.binary.kernel, stream, theirs)
        launch(*grid, stream, *self.values_of(leaves))

    def device_of(self, leaves: Sequence[Any]) -> int:
        """The number of the GPU that holds the arrays; PyTorch's current one when there is none."""
        first: tuple[str, str] | None = None
        for name, leaf in zip(self.names, leaves, strict=True):
            place = getattr(leaf, "device", None)
            if place is None or not place.startswith("cuda:"):
                continue
            if first is None:
                first = name, place
            elif place != first[1]:
                raise make_error("TRI0733", name=name, got=place, other=first[0], expected=first[1])
        return driver.current_ordinal() if first is None else int(first[1].removeprefix("cuda:"))

    def values_of(self, leaves: Sequence[Any]) -> list[Any]:
        """The leaves as `Launch` takes them."""
        out: list[Any] = []
        for name, ty, leaf in zip(self.names, self.types, leaves, strict=True):
            if not isinstance(ty, PointerType) or not hasattr(leaf, "address"):
                out.append(leaf)
            elif leaf.device == "cpu":
                out.append(_reachable(name, leaf.address))
            else:
                out.append(leaf.address)
        return out


def _stream_of(owner: Any) -> int | None:
    """The stream on which an array's content is made, where its ``__cuda_array_interface__`` (version 3) says one."""
    if hasattr(owner, "data_ptr"):  # PyTorch's arrays follow its current stream
        return None
    interface = getattr(owner, "__cuda_array_interface__", None)
    found = interface.get("stream") if interface is not None else None
    return 0 if found == _LEGACY else found


def _reachable(name: str, address: int) -> int:
    """The GPU's address of host memory that is pinned (page-locked); ArgumentError TRI0732 for other host memory."""
    if address:
        api = driver.api()
        code, value = api.cuPointerGetAttribute(
            api.CUpointer_attribute(_DEVICE_POINTER), api.CUdeviceptr(address)
        )
        if not int(code):
            return int(value)
    raise make_error("TRI0732", name=name, got="the host", expected="a GPU")
