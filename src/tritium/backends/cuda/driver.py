"""The CUDA driver: found when it is first needed, never on import; devices, contexts, and its errors as ours.

Calls go through ``cuda-bindings``, which loads the driver's library. Contexts are the primary ones, which PyTorch, CuPy
and JAX use as well, so pointers and streams can be shared with them.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tritium.backends.cuda import nvrtc
from tritium.backends.cuda.resources import Limits, arch_of
from tritium.errors import TritiumError, make_error

if TYPE_CHECKING:
    from collections.abc import Generator

INSTALL = "install NVIDIA's driver, version 580 or newer, or pass arrays in host memory"
_UPDATE = "update NVIDIA's driver to version 580 or newer"

# results of driver calls that are told apart (CUDA Driver API, CUresult)
NO_DEVICE, INVALID_IMAGE, INVALID_CONTEXT, NO_BINARY_FOR_GPU, INVALID_HANDLE = 100, 200, 201, 209, 400
OUT_OF_RESOURCES = 701
# device attributes (CUdevice_attribute)
_THREADS, _SHARED, _SHARED_OPTIN, _REGISTERS, _MULTIPROCESSORS, _MAJOR, _MINOR = 1, 8, 97, 12, 16, 75, 76

_NO_TIMING = 2  # CUevent_flags

_lock = threading.RLock()
_loaded: list[Any] = []
_devices: dict[int, Device] = {}


def api() -> Any:
    """The module ``cuda.bindings.driver``, initialised.

    Raises LaunchError: TRI0737 without cuda-bindings, TRI0738 without a driver or a GPU.
    """
    if _loaded:
        return _loaded[0]
    with _lock:
        if not _loaded:
            _loaded.append(_initialised(_bindings()))
    return _loaded[0]


def _bindings() -> Any:
    try:
        return import_module("cuda.bindings.driver")
    except ImportError as missing:
        raise make_error(
            "TRI0737", name="cuda-bindings", problem=str(missing), packages=nvrtc.PACKAGES
        ) from None


def _initialised(driver: Any) -> Any:
    try:
        code = int(driver.cuInit(0)[0])
    except RuntimeError:  # what cuda-bindings raises when it finds no library
        raise _unusable("NVIDIA's driver (libcuda.so.1) is not installed", INSTALL) from None
    if code == NO_DEVICE:
        raise _unusable("the driver sees no GPU", "see `nvidia-smi`, and what CUDA_VISIBLE_DEVICES is set to")
    if code:
        raise _unusable(f"the driver does not start: {describe(driver, code)}", INSTALL)
    return driver


def _unusable(problem: str, remedy: str) -> TritiumError:
    return make_error("TRI0738", problem=problem, remedy=remedy)


def describe(driver: Any, code: int) -> str:
    """An error code in the driver's words."""
    try:
        result = driver.CUresult(code)
        texts = [ask(result)[1] for ask in (driver.cuGetErrorName, driver.cuGetErrorString)]
    except (RuntimeError, ValueError):  # a code that these bindings do not know
        return f"error {code}"
    name, text = (t.decode() if isinstance(t, bytes) else t for t in texts)
    return f"{name} ({text})" if name else f"error {code}"


def call(function: str, name: str, *args: Any) -> Any:
    """The value of the driver call `name`; LaunchError TRI0739, about kernel `function`, when it fails."""
    code, *values = getattr(api(), name)(*args)
    if int(code):
        raise failure(function, int(code), name)
    return values[0] if values else None


def failure(function: str, code: int, name: str) -> TritiumError:
    """The error for driver call `name`, on behalf of kernel `function`, that ended with `code`."""
    return make_error("TRI0739", function=function, problem=describe(api(), code), notes=[f"from {name}"])


def version() -> tuple[int, int]:
    """The newest CUDA version that the driver runs, such as (13, 0)."""
    number = int(call("the driver", "cuDriverGetVersion"))
    return number // 1000, number % 1000 // 10


def check_version(compiler: tuple[int, int]) -> None:
    """LaunchError TRI0738 when the driver is older than the compiler's major version, whose code it cannot run."""
    found = version()
    if found[0] < compiler[0]:
        problem = (
            f"the driver runs code of CUDA {found[0]}.{found[1]} and older, "
            f"and NVRTC {compiler[0]}.{compiler[1]} is installed"
        )
        raise _unusable(problem, _UPDATE)


def is_available() -> bool:
    """Whether kernels can run on a GPU here."""
    try:
        return count() > 0
    except TritiumError:
        return False


def count() -> int:
    """How many GPUs the driver shows to this process."""
    return int(call("the driver", "cuDeviceGetCount"))


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU.

    ordinal          its number, as in ``cuda:1``
    name             such as "NVIDIA H200"
    capability       compute capability, such as (9, 0)
    arch             what to compile for, such as ``sm_90a``
    limits           what a block may have
    multiprocessors  their number
    context          handle of its primary context, which stays retained
    """

    ordinal: int
    name: str
    capability: tuple[int, int]
    arch: str
    limits: Limits
    multiprocessors: int
    context: Any

    def make_current(self) -> None:
        """Have calls of this thread go to this GPU. PyTorch's current device is left as it is."""
        call("the driver", "cuCtxSetCurrent", self.context)

    @contextmanager
    def current(self) -> Generator[None]:
        """Calls of this thread go to this GPU inside the block."""
        call("the driver", "cuCtxPushCurrent", self.context)
        try:
            yield
        finally:
            call("the driver", "cuCtxPopCurrent")

    def __str__(self) -> str:
        return f"{self.name} (cuda:{self.ordinal})"


def device(ordinal: int) -> Device:
    """The GPU with this number. LaunchError when there is none or it cannot be used."""
    found = _devices.get(ordinal)
    if found is None:
        with _lock:
            found = _devices.get(ordinal) or _devices.setdefault(ordinal, _open(ordinal))
    return found


def _open(ordinal: int) -> Device:
    total = count()
    if not 0 <= ordinal < total:
        plural = "GPU is" if total == 1 else "GPUs are"
        raise _unusable(f"there is no cuda:{ordinal}; {total} {plural} visible", "see `nvidia-smi`")
    what = f"cuda:{ordinal}"
    handle = call(what, "cuDeviceGet", ordinal)

    def attribute(number: int) -> int:
        return int(call(what, "cuDeviceGetAttribute", api().CUdevice_attribute(number), handle))

    capability = attribute(_MAJOR), attribute(_MINOR)
    limits = Limits(attribute(_THREADS), attribute(_SHARED_OPTIN), attribute(_SHARED), attribute(_REGISTERS))
    name = bytes(call(what, "cuDeviceGetName", 128, handle)).split(b"\0")[0].decode()
    context = call(what, "cuDevicePrimaryCtxRetain", handle)
    return Device(
        ordinal, name, capability, arch_of(capability), limits, attribute(_MULTIPROCESSORS), context
    )


def current_ordinal() -> int:
    """The number of PyTorch's current GPU where PyTorch uses one, else 0."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return int(torch.cuda.current_device())
    return 0


# ---- streams ---------------------------------------------------------------------------------------------


def stream_reader(owners: Sequence[Any] = ()) -> Callable[[int], int]:
    """The function from a device number to the handle of the current stream there.

    That is PyTorch's current stream when PyTorch is loaded with CUDA, unless all arrays in `owners` are CuPy's: then
    CuPy's. 0 is the legacy default stream.
    """
    torch: Any = sys.modules.get("torch")
    kinds = {type(owner).__module__.partition(".")[0] for owner in owners}
    if kinds == {"cupy"} or torch is None or not torch.cuda.is_available():
        cupy: Any = sys.modules.get("cupy")
        return (
            _legacy_stream if cupy is None else lambda ordinal: int(cupy.cuda.get_current_stream(ordinal).ptr)
        )
    read: Callable[[int], int] | None = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return read or (lambda ordinal: int(torch.cuda.current_stream(ordinal).cuda_stream))


def wait_for_stream(function: str, stream: int, other: int) -> None:
    """Have `stream` go on only when `other` has done what it holds now; the host does not wait."""
    event = call(function, "cuEventCreate", _NO_TIMING)
    try:
        call(function, "cuEventRecord", event, other)
        call(function, "cuStreamWaitEvent", stream, event, 0)
    finally:
        call(function, "cuEventDestroy", event)


def _legacy_stream(ordinal: int) -> int:
    return 0
