"""Machine code loaded onto a GPU: one handle per kernel and GPU, with what the driver says about it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tritium.backends.cuda import driver, nvrtc
from tritium.backends.cuda.driver import Device
from tritium.backends.cuda.nvrtc import Binary
from tritium.backends.cuda.resources import arch_number, check_fits, out_of_resources
from tritium.errors import TritiumError, make_error

# function attributes (CUfunction_attribute)
_MAX_THREADS, _LOCAL_BYTES, _REGISTERS, _MAX_DYNAMIC_SHARED, _NON_PORTABLE_CLUSTER = 0, 3, 4, 8, 14
_PORTABLE_CLUSTER = 8
_RELAXED = 2  # CUstreamCaptureMode


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """How a kernel is launched, apart from its grid.

    threads       per block
    shared        bytes of dynamic shared memory per block
    cluster       blocks per cluster on each axis, where the source does not fix them with ``__cluster_dims__``
    cooperative   all blocks run at the same time
    programmatic  the kernel may start before the one ahead in its stream has ended, and waits for it itself
    """

    threads: int
    shared: int = 0
    cluster: tuple[int, int, int] = (1, 1, 1)
    cooperative: bool = False
    programmatic: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it needs no launch attributes."""
        return self.cluster == (1, 1, 1) and not self.cooperative and not self.programmatic


@dataclass(frozen=True, slots=True)
class LoadedKernel:
    """A kernel on a GPU.

    module, function  the driver's handles; they stay valid as long as the process, since graphs may hold them
    registers         per thread, and `local_bytes` of local memory (spills and stack), as the driver says
    max_threads       most threads per block that this kernel can have on this GPU
    """

    binary: Binary
    shape: LaunchShape
    device: Device
    module: Any
    function: Any
    registers: int
    local_bytes: int
    max_threads: int


def load(binary: Binary, shape: LaunchShape, device: Device) -> LoadedKernel:
    """Load `binary` onto `device` and prepare it for launches of `shape`.

    Works while a stream is being captured. Raises OutOfResources TRI0734, LaunchError TRI0738, TRI0739, TRI0753.
    """
    name = binary.kernel
    check_fits(
        name,
        binary.resources,
        shape.threads,
        binary.resources.shared + shape.shared,
        device.limits,
        str(device),
    )
    driver.check_version(nvrtc.version())
    with device.current(), _while_capturing():
        module = _load_module(binary, device)
        function = driver.call(name, "cuModuleGetFunction", module, name.encode())
        registers, local_bytes, threads = (
            _attribute(name, number, function) for number in (_REGISTERS, _LOCAL_BYTES, _MAX_THREADS)
        )
        if shape.threads > threads:
            raise out_of_resources(name, "threads per block", shape.threads, threads, str(device))
        if binary.resources.shared + shape.shared > device.limits.shared_default:
            _set(name, function, _MAX_DYNAMIC_SHARED, shape.shared)
        if shape.cluster[0] * shape.cluster[1] * shape.cluster[2] > _PORTABLE_CLUSTER:
            _set(name, function, _NON_PORTABLE_CLUSTER, 1)
    return LoadedKernel(binary, shape, device, module, function, registers, local_bytes, threads)


def _load_module(binary: Binary, device: Device) -> Any:
    code, module = driver.api().cuModuleLoadData(binary.cubin)
    if int(code):
        raise _refused(binary, device, int(code))
    return module


def _refused(binary: Binary, device: Device, code: int) -> TritiumError:
    if code in (driver.NO_BINARY_FOR_GPU, driver.INVALID_IMAGE) and not runs_on(binary.arch, device):
        return make_error(
            *("TRI0753",), function=binary.kernel, expected=binary.arch, got=device.arch, device=str(device)
        )
    return driver.failure(binary.kernel, code, "cuModuleLoadData")


def runs_on(arch: str, device: Device) -> bool:
    """Whether machine code for `arch` runs on `device`: same major version, same or lower minor; with ``a``, the same."""
    number, (major, minor) = arch_number(arch), device.capability
    if arch.endswith("a"):
        return number == major * 10 + minor
    return number // 10 == major and number % 10 <= minor


def _attribute(name: str, number: int, function: Any) -> int:
    return int(driver.call(name, "cuFuncGetAttribute", driver.api().CUfunction_attribute(number), function))


def _set(name: str, function: Any, number: int, value: int) -> None:
    driver.call(name, "cuFuncSetAttribute", function, driver.api().CUfunction_attribute(number), value)


@contextmanager
def _while_capturing() -> Generator[None]:
    """Allow this thread calls that a stream capture elsewhere in the process would forbid; loading disturbs none."""
    api = driver.api()
    before = driver.call("the driver", "cuThreadExchangeStreamCaptureMode", api.CUstreamCaptureMode(_RELAXED))
    try:
        yield
    finally:
        driver.call("the driver", "cuThreadExchangeStreamCaptureMode", before)
