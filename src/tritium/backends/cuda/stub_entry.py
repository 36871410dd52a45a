"""What the launch stub (`tritium.runtime.stub`) needs to launch a loaded kernel: addresses, handles, the error path."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tritium import config
from tritium.backends.cuda import driver
from tritium.backends.cuda.launch import config_of, launch_elsewhere
from tritium.backends.cuda.module import LoadedKernel


@dataclass(frozen=True, slots=True)
class StubFields:
    """What the launch stub (`tritium.runtime.stub`) needs to launch a kernel.

    numbers  fields of its entry
    kept     fields that are Python objects, and what else has to stay alive
    """

    numbers: Mapping[str, int]
    kept: Mapping[str, Any]


def stub_fields(loaded: LoadedKernel, stream_of: Callable[[int], int] | None = None) -> StubFields | None:
    """How the launch stub launches `loaded`; None where the driver does not tell the address of its function.

    ``failed(code, gx, gy, gz, stream, address)`` is called with the error of a launch and the address of the array of
    its parameters' addresses; if it returns, it has launched.
    """
    shape = loaded.shape
    call = _entry_point("cuLaunchKernel" if shape.is_plain else "cuLaunchKernelEx")
    if not call:
        return None

    def failed(code: int, gx: int, gy: int, gz: int, stream: int, address: int) -> None:
        def retry() -> int:
            api = driver.api()
            if shape.is_plain:
                dims = (gx, gy, gz, shape.threads, 1, 1)
                result = api.cuLaunchKernel(loaded.function, *dims, shape.shared, stream, address, 0)
            else:
                config = config_of(loaded)
                config.gridDimX, config.gridDimY, config.gridDimZ, config.hStream = gx, gy, gz, stream
                result = api.cuLaunchKernelEx(config, loaded.function, address, 0)
            return int(result[0])

        launch_elsewhere(loaded, code, (gx, gy, gz), retry)

    numbers = {
        "call": call,
        "function": int(loaded.function),
        "threads": shape.threads,
        "shared": shape.shared,
    }
    kept: dict[str, Any] = {
        "stream_of": stream_of or driver.stream_reader(),
        "ordinal": loaded.device.ordinal,
        "failed": failed,
        "loaded": loaded,
    }
    if not shape.is_plain:
        blocks = _configuration(loaded)
        kept["blocks"], numbers["config"] = blocks, ctypes.addressof(blocks[0])
    return StubFields(numbers, kept)


def has_entry_points() -> bool:
    """Whether the launch stub can call the driver."""
    return bool(_entry_point("cuLaunchKernel"))


_SINCE = 12000  # the version of CUDA whose functions are asked for
_PER_THREAD = "CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM"


def _entry_point(name: str) -> int:
    """The address of a function of the driver, 0 where it is not to be had.

    With cuda-bindings' per-thread default streams, functions mean other streams by 0; those stay with cuda-bindings.
    """
    find = getattr(driver.api(), "cuGetProcAddress", None)
    if find is None or config.environment(_PER_THREAD) not in (None, "", "0"):
        return 0
    code, address, *_ = find(name.encode(), _SINCE, 0)
    return int(address) if int(code) == 0 and address else 0


# CUlaunchAttributeID of the driver's API
_COOPERATIVE, _CLUSTER, _PROGRAMMATIC = 2, 4, 6


def _configuration(loaded: LoadedKernel) -> tuple[Any, Any]:
    """``CUlaunchConfig`` as the driver reads it, with grid and stream left open, and its attributes."""
    shape = loaded.shape
    wanted: list[bytes] = []
    if shape.cluster != (1, 1, 1):
        wanted.append(struct.pack("<i4x3i52x", _CLUSTER, *shape.cluster))
    if shape.cooperative:
        wanted.append(struct.pack("<i4xi60x", _COOPERATIVE, 1))
    if shape.programmatic:
        wanted.append(struct.pack("<i4xi60x", _PROGRAMMATIC, 1))
    attributes = (ctypes.c_uint64 * (9 * len(wanted))).from_buffer_copy(b"".join(wanted))
    fields = (1, 1, 1, shape.threads, 1, 1, shape.shared, 0, ctypes.addressof(attributes), len(wanted))
    return (ctypes.c_uint64 * 7).from_buffer_copy(struct.pack("<7I4xQQI4x", *fields)), attributes
