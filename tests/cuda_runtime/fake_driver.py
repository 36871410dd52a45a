"""A stand-in for ``cuda.bindings.driver``: two GPUs whose launches are recorded, parameters read as the driver would.

It reads the sizes of a kernel's parameters from the machine code, as the real one does; where a test gives it other bytes
as machine code, `FakeDriver.slots` says them.
"""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass
from typing import Any

from tritium.backends.cuda.resources import read_cubin


class Named:
    """A handle or an enumeration value: an object with a number."""

    def __init__(self, value: int = 0) -> None:
        self.value = value

    def __int__(self) -> int:
        return self.value


class Module(Named):
    """A loaded module: in which context, of which bytes."""

    def __init__(self, value: int, context: int, image: bytes) -> None:
        super().__init__(value)
        self.context = context
        self.image = image


class Function(Named):
    """A kernel of a module, and the sizes of its parameters. The first of a context has number 1000 + the module's."""

    def __init__(self, module: Module, name: str, sizes: list[int] | None, before: int = 0) -> None:
        super().__init__(module.value + 1000 + 10_000 * before)
        self.context = module.context
        self.name = name
        self.sizes = sizes


class CUlaunchConfig:
    gridDimX = gridDimY = gridDimZ = blockDimX = blockDimY = blockDimZ = sharedMemBytes = numAttrs = 0
    hStream: Any = 0
    attrs: list[Any]


class CUlaunchAttribute:
    def __init__(self) -> None:
        self.id = ""
        self.value = _AttributeValue()


class _AttributeValue:
    def __init__(self) -> None:
        self.clusterDim = type("Dim", (), {"x": 1, "y": 1, "z": 1})()
        self.cooperative = self.programmaticStreamSerializationAllowed = 0


class CUlaunchAttributeID:
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = "cluster"
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE = "cooperative"
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = "programmatic"


@dataclass
class Launched:
    """One recorded launch; `parameters` are the raw bytes of each."""

    function: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    stream: int
    parameters: list[bytes]
    context: int
    attributes: dict[str, Any]


DEVICE_ATTRIBUTES = {1: 1024, 8: 48 * 1024, 97: 227 * 1024, 12: 65536, 16: 132, 75: 9, 76: 0}
FUNCTION_ATTRIBUTES = {0: 1024, 3: 16, 4: 40}


_ATTRIBUTE_NAMES = {2: "cooperative", 4: "cluster", 6: "programmatic"}


class _Attribute(ctypes.Structure):
    """``CUlaunchAttribute``."""

    _fields_ = (("id", ctypes.c_int), ("pad", ctypes.c_int), ("numbers", ctypes.c_uint * 16))


class _Config(ctypes.Structure):
    """``CUlaunchConfig``."""

    _fields_ = (
        *((name, ctypes.c_uint) for name in ("gridDimX", "gridDimY", "gridDimZ")),
        *((name, ctypes.c_uint) for name in ("blockDimX", "blockDimY", "blockDimZ", "sharedMemBytes")),
        *(("hStream", ctypes.c_void_p), ("attrs", ctypes.POINTER(_Attribute)), ("numAttrs", ctypes.c_uint)),
    )


_POINTER, _UINT = ctypes.c_void_p, ctypes.c_uint
_PLAIN_CALL = ctypes.CFUNCTYPE(ctypes.c_int, _POINTER, *[_UINT] * 7, _POINTER, _POINTER, _POINTER)
_EXTENDED_CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Config), _POINTER, _POINTER, _POINTER)


class FakeDriver:
    """The calls that the package makes, with `code` of the next launches and module loads to be set by a test."""

    CUdevice_attribute = CUfunction_attribute = CUpointer_attribute = CUdeviceptr = CUresult = Named
    CUstreamCaptureMode = CUstream = Named
    CUlaunchConfig, CUlaunchAttribute, CUlaunchAttributeID = (
        CUlaunchConfig,
        CUlaunchAttribute,
        CUlaunchAttributeID,
    )

    def __init__(self) -> None:
        self.slots: list[int] = []
        self.launches: list[Launched] = []
        self.version = 13000
        self.gpus = 2
        self.init_code = self.load_code = 0
        self.launch_codes: list[int] = []
        self.checks_context = False
        self.threads = threading.local()
        self.loads: list[tuple[int, bytes]] = []
        self.function_settings: dict[int, int] = {}
        self.capture_mode = 0
        self.pinned: dict[int, int] = {}
        self.events: list[str] = []
        self.functions: dict[int, Function] = {}
        self.native = True
        self.native_calls = 0
        self.entry_points = {
            b"cuLaunchKernel": _PLAIN_CALL(self._launch_natively),
            b"cuLaunchKernelEx": _EXTENDED_CALL(self._launch_extended_natively),
        }

    # ---- devices and contexts ------------------------------------------------------------------------

    @property
    def stack(self) -> list[int]:
        if not hasattr(self.threads, "stack"):
            self.threads.stack = []
        return self.threads.stack

    @property
    def context(self) -> int:
        return getattr(self.threads, "context", 0)

    @context.setter
    def context(self, value: int) -> None:
        self.threads.context = value

    def cuInit(self, flags: int) -> tuple[int]:
        return (self.init_code,)

    def cuDriverGetVersion(self) -> tuple[int, int]:
        return 0, self.version

    def cuDeviceGetCount(self) -> tuple[int, int]:
        return 0, self.gpus

    def cuDeviceGet(self, ordinal: int) -> tuple[int, int]:
        return 0, ordinal

    def cuDeviceGetName(self, length: int, device: int) -> tuple[int, bytes]:
        return 0, b"Fake GPU\0".ljust(length, b" ")

    def cuDeviceGetAttribute(self, attribute: Named, device: int) -> tuple[int, int]:
        return 0, DEVICE_ATTRIBUTES[attribute.value]

    def cuDevicePrimaryCtxRetain(self, device: int) -> tuple[int, Named]:
        return 0, Named(100 + device)

    def cuCtxSetCurrent(self, context: Named) -> tuple[int]:
        self.context = int(context)
        return (0,)

    def cuCtxGetCurrent(self) -> tuple[int, Named]:
        return 0, Named(self.context)

    def cuCtxPushCurrent(self, context: Named) -> tuple[int]:
        self.stack.append(self.context)
        self.context = int(context)
        return (0,)

    def cuCtxPopCurrent(self) -> tuple[int, Named]:
        left, self.context = self.context, self.stack.pop()
        return 0, Named(left)

    def cuThreadExchangeStreamCaptureMode(self, mode: Any) -> tuple[int, int]:
        before, self.capture_mode = self.capture_mode, int(mode)
        return 0, before

    def cuGetErrorName(self, code: Named) -> tuple[int, bytes]:
        return 0, f"CUDA_ERROR_{int(code)}".encode()

    def cuGetErrorString(self, code: Named) -> tuple[int, bytes]:
        return 0, b"in words"

    def cuPointerGetAttribute(self, attribute: Named, pointer: Named) -> tuple[int, Any]:
        found = self.pinned.get(int(pointer))
        return (1, None) if found is None else (0, Named(found))

    def cuEventCreate(self, flags: int) -> tuple[int, Named]:
        self.events.append("create")
        return 0, Named(len(self.events))

    def cuEventRecord(self, event: Named, stream: int) -> tuple[int]:
        self.events.append(f"record {stream}")
        return (0,)

    def cuStreamWaitEvent(self, stream: int, event: Named, flags: int) -> tuple[int]:
        self.events.append(f"{stream} waits")
        return (0,)

    def cuEventDestroy(self, event: Named) -> tuple[int]:
        self.events.append("destroy")
        return (0,)

    # ---- modules and launches ------------------------------------------------------------------------

    def cuModuleLoadData(self, image: bytes) -> tuple[int, Any]:
        assert self.context and self.capture_mode == 2
        self.loads.append((self.context, image))
        return (
            (self.load_code, None)
            if self.load_code
            else (0, Module(1000 + self.context, self.context, image))
        )

    def cuModuleGetFunction(self, module: Module, name: bytes) -> tuple[int, Function]:
        sizes = None
        if module.image.startswith(b"\x7fELF"):
            sizes = [p.nbytes for p in read_cubin(module.image, name.decode(), "sm_90a").parameters]
        before = sum(f.context == module.context for f in self.functions.values())
        function = Function(module, name.decode(), sizes, before)
        self.functions[int(function)] = function
        return 0, function

    def cuFuncGetAttribute(self, attribute: Named, function: Named) -> tuple[int, int]:
        return 0, FUNCTION_ATTRIBUTES[attribute.value]

    def cuFuncSetAttribute(self, function: Function, attribute: Named, value: int) -> tuple[int]:
        self.function_settings[attribute.value] = value
        return (0,)

    def cuLaunchKernel(
        self,
        function: Function,
        gx: int,
        gy: int,
        gz: int,
        bx: int,
        by: int,
        bz: int,
        shared: int,
        stream: Any,
        parameters: int,
        extra: int,
    ) -> tuple[int]:
        code = self._code(function)
        if not code:
            self._record(function, (gx, gy, gz), (bx, by, bz), shared, stream, parameters, {})
        return (code,)

    def cuLaunchKernelEx(self, config: Any, function: Function, parameters: int, extra: int) -> tuple[int]:
        code = self._code(function)
        if not code:
            c = config
            assert c.numAttrs == len(c.attrs)
            attributes = {a.id: a.value for a in c.attrs}
            grid, block = (c.gridDimX, c.gridDimY, c.gridDimZ), (c.blockDimX, c.blockDimY, c.blockDimZ)
            self._record(function, grid, block, c.sharedMemBytes, c.hStream, parameters, attributes)
        return (code,)

    # ---- the same, as functions of the machine ---------------------------------------------------------

    def cuGetProcAddress(self, name: bytes, version: int, flags: int) -> tuple[int, int, int]:
        if not self.native:
            return 500, 0, 1
        return 0, ctypes.cast(self.entry_points[name], ctypes.c_void_p).value or 0, 0

    def _launch_natively(self, function: int, *rest: Any) -> int:
        self.native_calls += 1
        *numbers, stream, parameters, extra = rest
        return self.cuLaunchKernel(self.functions[function], *numbers, stream or 0, parameters, extra)[0]

    def _launch_extended_natively(self, config: Any, function: int, parameters: int, extra: Any) -> int:
        self.native_calls += 1
        given = config.contents
        made = CUlaunchConfig()
        for name in ("gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ"):
            setattr(made, name, getattr(given, name))
        made.sharedMemBytes, made.hStream = given.sharedMemBytes, given.hStream or 0
        made.attrs, made.numAttrs = [], given.numAttrs
        for i in range(given.numAttrs):
            attribute = CUlaunchAttribute()
            numbers = given.attrs[i].numbers
            attribute.id = _ATTRIBUTE_NAMES[given.attrs[i].id]
            value = attribute.value
            value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = numbers[:3]
            value.cooperative = value.programmaticStreamSerializationAllowed = numbers[0]
            made.attrs.append(attribute)
        return self.cuLaunchKernelEx(made, self.functions[function], parameters, extra)[0]

    def _code(self, function: Function) -> int:
        """201 without a context, 400 with that of another GPU, else what the test wants."""
        if self.checks_context and function.context != self.context:
            return 400 if self.context else 201
        return self.launch_codes.pop(0) if self.launch_codes else 0

    def _record(
        self,
        function: Function,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        stream: Any,
        parameters: int,
        attributes: dict[str, Any],
    ) -> None:
        sizes = self.slots if function.sizes is None else function.sizes
        pointers = (ctypes.c_uint64 * len(sizes)).from_address(parameters)
        raw = [ctypes.string_at(p, size) for p, size in zip(pointers, sizes, strict=True)]
        self.launches.append(
            Launched(int(function), grid, block, shared, int(stream), raw, self.context, attributes)
        )
