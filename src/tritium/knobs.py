"""``triton.knobs``: settings and hooks under Triton's names, grouped as there.

A knob reads its environment variable each time unless it was assigned; assigning also sets the variable, so that
child processes (and `tritium.config`, which Tritium itself asks) see it. Each group has ``scope()`` (a context manager
that restores it), ``reset()`` and ``copy()``.

Knobs that steer Triton's own toolchain (``nvidia``, ``amd``, ``proton``, ``build``) are kept so that programs which
set them run; Tritium does not read them.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypedDict, TypeVar

from tritium import config

_UNSET: Any = object()
_TRUE = frozenset({"1", "true", "yes", "on", "y"})
F = TypeVar("F", bound=Callable[..., Any])


class Env:
    """Assigning ``knobs.env`` to a knob makes it read its environment variable again."""


env = Env()
propagate_env = True
"""Whether assigning a knob sets its environment variable."""


# ---- reading and writing the environment -------------------------------------------------------------


def getenv(key: str, default: Any = None) -> Any:
    """The text of an environment variable, or `default`."""
    text = config.environment(key)
    return default if text is None else text


def getenv_bool(key: str, default: Any) -> Any:
    """An environment variable as a flag: 1, true, yes, on and y are true, in any case."""
    text = config.environment(key)
    return default if text is None else text.strip().lower() in _TRUE


def setenv(key: str, value: str | None) -> None:
    """Set an environment variable, or remove it; nothing while `propagate_env` is off."""
    if propagate_env:
        config.set_environment(key, value)


def toenv(val: Any) -> tuple[str | None] | None:
    """What a value looks like in the environment, in a 1-tuple; None where it has no such form."""
    if val is None:
        return (None,)
    if type(val) is bool:
        return ("1" if val else "0",)
    return (str(val),) if type(val) in (str, int) else None


# ---- kinds of knobs ----------------------------------------------------------------------------------


class env_base:
    """A knob behind the environment variable `key`."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, group: Any, owner: Any = None) -> Any:
        if group is None:
            return self
        assigned = group.__dict__.get(self.name, _UNSET)
        return self.get() if assigned is _UNSET else self.transform(assigned)

    def __set__(self, group: Any, value: Any) -> None:
        if isinstance(value, Env):
            group.__dict__.pop(self.name, None)
            return
        group.__dict__[self.name] = value
        text = toenv(value)
        if text is not None:
            setenv(self.key, text[0])

    def __delete__(self, group: Any) -> None:
        group.__dict__.pop(self.name, None)

    def get(self) -> Any:
        """The value that the environment gives."""
        return getenv(self.key)

    def transform(self, value: Any) -> Any:
        """An assigned value as it is read back."""
        return value


class env_str(env_base):
    """Text, with a default."""

    def __init__(self, key: str, default: str = "") -> None:
        super().__init__(key)
        self.default = default

    def get(self) -> Any:
        return getenv(self.key, self.default)


class env_str_callable_default(env_base):
    """Text whose default is computed when it is needed."""

    def __init__(self, key: str, default_factory: Callable[[], str]) -> None:
        super().__init__(key)
        self.default_factory = default_factory

    def get(self) -> Any:
        text = getenv(self.key)
        return self.default_factory() if text is None else text


class env_bool(env_base):
    """A flag."""

    def __init__(self, key: str, default: bool = False) -> None:
        super().__init__(key)
        self.default = default

    def get(self) -> Any:
        return getenv_bool(self.key, self.default)


class env_int(env_base):
    """A number. RuntimeError for text that is none."""

    def __init__(self, key: str, default: int = 0) -> None:
        super().__init__(key)
        self.default = default

    def get(self) -> Any:
        text = getenv(self.key)
        try:
            return self.default if text is None else int(text)
        except ValueError:
            raise RuntimeError(f"{self.key} is {text!r}, and a whole number is expected") from None


class env_opt_str(env_base):
    """Text or None."""


class env_opt_bool(env_base):
    """A flag or None."""

    def get(self) -> Any:
        return getenv_bool(self.key, None)


class env_class(env_base):
    """A class given as ``module:name``, which has to have a base called `type`. RuntimeError for anything else."""

    def __init__(self, key: str, type: str) -> None:
        super().__init__(key)
        self.type = type

    def get(self) -> Any:
        text = getenv(self.key)
        if text is None:
            return None
        module, separator, name = text.partition(":")
        if not separator:
            raise RuntimeError(f"{self.key} is {text!r}, and MODULE:CLASS is expected")
        found = getattr(importlib.import_module(module), name)
        if not any(base.__name__ == self.type for base in found.mro()):
            raise RuntimeError(f"{self.key} names {text}, which is no {self.type}")
        return found


@dataclass
class NvidiaTool:
    """A program of the CUDA toolkit and its version."""

    path: str
    version: str

    @staticmethod
    def from_path(path: str) -> NvidiaTool | None:
        """The tool at `path`, or None where there is none that runs."""
        import subprocess

        try:
            told = subprocess.check_output([path, "--version"], stderr=subprocess.STDOUT, text=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        _, found, rest = told.partition("release ")
        return NvidiaTool(path, rest.split(",")[0].strip()) if found else None


class env_nvidia_tool(env_base):
    """The path of a tool, read back as `NvidiaTool`. RuntimeError where there is none: Tritium needs none of them."""

    def __init__(self, binary: str) -> None:
        super().__init__(f"TRITON_{binary.upper().replace('-', '_')}_PATH")
        self.binary = binary

    def get(self) -> Any:
        return self.transform(getenv(self.key))

    def transform(self, value: Any) -> Any:
        if isinstance(value, NvidiaTool):
            return value
        found = NvidiaTool.from_path(value or self.binary)
        if found is None:
            raise RuntimeError(f"{self.binary} is not installed; Tritium compiles without it")
        return found


# ---- hooks -------------------------------------------------------------------------------------------


class HookChain(Generic[F]):
    """Functions called one after another at an event."""

    def __init__(self, reversed: bool = False) -> None:
        self.calls: list[F] = []
        self.reversed = reversed

    def add(self, func: F) -> None:
        """Call `func` too; adding it twice changes nothing."""
        if func not in self.calls:
            self.calls.append(func)

    def remove(self, func: F) -> None:
        """Call `func` no more."""
        if func in self.calls:
            self.calls.remove(func)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for func in self.calls[::-1] if self.reversed else list(self.calls):
            func(*args, **kwargs)

    def __bool__(self) -> bool:
        return bool(self.calls)


class _ChainSlot:
    """A hook chain; assigning a function (or None) replaces its contents."""

    def __init__(self, reversed: bool = False) -> None:
        self.reversed = reversed
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = "_chain_" + name

    def __get__(self, group: Any, owner: Any = None) -> Any:
        if group is None:
            return self
        found = group.__dict__.get(self.name)
        return found if found is not None else group.__dict__.setdefault(self.name, HookChain(self.reversed))

    def __set__(self, group: Any, value: Any) -> None:
        chain = value if isinstance(value, HookChain) else HookChain[Any](self.reversed)
        if value is not None and value is not chain:
            chain.add(value)
        group.__dict__[self.name] = chain


@dataclass(frozen=True)
class CompileTimes:
    """How long a compilation took, in microseconds; `lowering_stages` in order."""

    ir_initialization: int
    lowering_stages: list[tuple[str, int]]
    store_results: int

    @property
    def total_lowering(self) -> int:
        return sum(spent for _, spent in self.lowering_stages)

    @property
    def total(self) -> int:
        return self.ir_initialization + self.total_lowering + self.store_results


class CompilationListener(Protocol):
    """Told about every compilation."""

    def __call__(
        self,
        *,
        src: Any,
        metadata: dict[str, Any],
        metadata_group: dict[str, str],
        times: CompileTimes,
        cache_hit: bool,
    ) -> None: ...


class LaunchHook(Protocol):
    """Called before and after launches; ``metadata.get()`` is a dictionary."""

    def __call__(self, metadata: Any) -> None: ...


class InitHandleHook(Protocol):
    """Called before and after a kernel is loaded; before, `module` and `function` are None."""

    def __call__(
        self, module: Any, function: Any, name: str, metadata_group: dict[str, str], hash: str
    ) -> None: ...


class JITHookCompileInfo(TypedDict):
    """What a `JITHook` is told of the compilation."""

    key: str
    signature: dict[str, Any]
    device: int
    constants: dict[tuple[int, ...], Any]
    num_warps: int
    num_ctas: int
    num_stages: int
    enable_fp_fusion: bool
    launch_cooperative_grid: bool
    extern_libs: Any
    configs: list[dict[tuple[int, ...], Any]]
    specialization_data: str
    is_warmup: bool


class JITHook(Protocol):
    """Called before a compilation (a true answer prevents it and the launch), or after it."""

    def __call__(
        self,
        *,
        key: str,
        repr: str,
        fn: Any,
        compile: JITHookCompileInfo,
        is_manual_warmup: bool,
        already_compiled: bool,
    ) -> bool | None: ...


class PipelineStagesHook(Protocol):
    """Sees, and may replace, the stages of a compilation before they run."""

    def __call__(
        self, backend: Any, stages: dict[str, Any], options: Any, language: Any, arch: Any
    ) -> None: ...


class BuildImpl(Protocol):
    """Builds a C extension; kept for programs that assign one."""

    def __call__(
        self,
        name: str,
        src: str,
        srcdir: str,
        library_dirs: list[str],
        include_dirs: list[str],
        libraries: list[str],
        /,
    ) -> str: ...


# ---- groups ------------------------------------------------------------------------------------------


class base_knobs:
    """A group of knobs."""

    @property
    def knob_descriptors(self) -> dict[str, env_base]:
        """The knobs behind environment variables by name."""
        return {n: v for n, v in vars(type(self)).items() if isinstance(v, env_base)}

    @property
    def knobs(self) -> dict[str, Any]:
        """Their present values."""
        return {name: getattr(self, name) for name in self.knob_descriptors}

    def copy(self: Any) -> Any:
        """A group of its own with the same assignments."""
        made = type(self)()
        made.__dict__.update(self.__dict__)
        return made

    def reset(self: Any) -> Any:
        """Forget what was assigned."""
        for name in self.knob_descriptors:
            delattr(self, name)
        return self

    @contextmanager
    def scope(self) -> Generator[None]:
        """Restore the group, and the environment variables behind it, at the end of the block."""
        saved = dict(self.__dict__)
        chains = {n: v.calls[:] for n, v in saved.items() if isinstance(v, HookChain)}
        texts = {knob.key: config.environment(knob.key) for knob in self.knob_descriptors.values()}
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(saved)
            for name, calls in chains.items():
                saved[name].calls[:] = calls
            for key, text in texts.items():
                config.set_environment(key, text)


class build_knobs(base_knobs):
    """The C compiler, which Tritium does not use."""

    cc = env_opt_str("CC")
    cudacrt_path = env_opt_str("TRITON_CUDACRT_PATH")
    cudart_path = env_opt_str("TRITON_CUDART_PATH")
    impl: BuildImpl | None = None

    @property
    def backend_dirs(self) -> set[str]:
        return {path for path in (self.cudacrt_path, self.cudart_path) if path is not None}


class redis_knobs(base_knobs):
    """Where `RedisRemoteCacheBackend` finds its server."""

    key_format = env_str("TRITON_REDIS_KEY_FORMAT", "triton:{key}:{filename}")
    host = env_str("TRITON_REDIS_HOST", "localhost")
    port = env_int("TRITON_REDIS_PORT", 6379)


class cache_knobs(base_knobs):
    """Folders."""

    home_dir = env_str_callable_default("TRITON_HOME", lambda: str(Path.home()))
    dump_dir = env_str_callable_default("TRITON_DUMP_DIR", lambda: cache.get_triton_dir("dump"))
    override_dir = env_str_callable_default("TRITON_OVERRIDE_DIR", lambda: cache.get_triton_dir("override"))
    dir = env_str_callable_default("TRITON_CACHE_DIR", lambda: str(config.cache_directory()))
    manager_class = env_class("TRITON_CACHE_MANAGER", "CacheManager")
    remote_manager_class = env_class("TRITON_REMOTE_CACHE_BACKEND", "RemoteCacheBackend")

    def get_triton_dir(self, dirname: str) -> str:
        """A folder of that name where Tritium keeps files."""
        return os.path.join(self.home_dir, ".tritium", dirname)


class compilation_knobs(base_knobs):
    """The compiler. `override`, `dump_ir`, `allow_non_constexpr_globals` and `front_end_debugging` act as in Triton."""

    override = env_bool("TRITON_KERNEL_OVERRIDE")
    dump_ir = env_bool("TRITON_KERNEL_DUMP")
    dump_ir_extract_di_local_variables = env_bool("LLVM_EXTRACT_DI_LOCAL_VARIABLES")
    store_binary_only = env_bool("TRITON_STORE_BINARY_ONLY")
    always_compile = env_bool("TRITON_ALWAYS_COMPILE")
    use_ir_loc = env_opt_str("USE_IR_LOC")
    enable_asan = env_bool("TRITON_ENABLE_ASAN")
    disable_line_info = env_bool("TRITON_DISABLE_LINE_INFO")
    front_end_debugging = env_bool("TRITON_FRONT_END_DEBUGGING")
    allow_non_constexpr_globals = env_bool("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    instrumentation_mode = env_str("TRITON_INSTRUMENTATION_MODE", "")
    listener: CompilationListener | None = None


class autotuning_knobs(base_knobs):
    """Tuning."""

    cache = env_bool("TRITON_CACHE_AUTOTUNING")
    print = env_bool("TRITON_PRINT_AUTOTUNING")
    listener: Callable[..., Any] | None = None


class runtime_knobs(base_knobs):
    """Launching."""

    interpret = env_bool("TRITON_INTERPRET")
    debug = env_bool("TRITON_DEBUG")
    override_arch = env_opt_str("TRITON_OVERRIDE_ARCH")
    launch_enter_hook: Any = _ChainSlot()
    launch_exit_hook: Any = _ChainSlot(reversed=True)
    kernel_load_start_hook: Any = _ChainSlot()
    kernel_load_end_hook: Any = _ChainSlot(reversed=True)
    kernel_unload_hook: Any = _ChainSlot()
    jit_cache_hook: JITHook | None = None
    jit_post_compile_hook: JITHook | None = None
    add_stages_inspection_hook: PipelineStagesHook | None = None


class language_knobs(base_knobs):
    """Arithmetic."""

    fp32_default = env_opt_str("TRITON_F32_DEFAULT")
    default_fp_fusion = env_bool("TRITON_DEFAULT_FP_FUSION", True)


class nvidia_knobs(base_knobs):
    """Tools of the CUDA toolkit, which Tritium does not use."""

    cuobjdump = env_nvidia_tool("cuobjdump")
    nvdisasm = env_nvidia_tool("nvdisasm")
    ptxas = env_nvidia_tool("ptxas")
    ptxas_blackwell = env_nvidia_tool("ptxas-blackwell")
    dump_nvptx = env_bool("NVPTX_ENABLE_DUMP")
    disable_ptxas_opt = env_bool("DISABLE_PTXAS_OPT")
    ptxas_options = env_opt_str("PTXAS_OPTIONS")
    mock_ptx_version = env_opt_str("TRITON_MOCK_PTX_VERSION")
    dump_ptxas_log = env_bool("TRITON_DUMP_PTXAS_LOG")
    libdevice_path = env_opt_str("TRITON_LIBDEVICE_PATH")
    libcuda_path = env_opt_str("TRITON_LIBCUDA_PATH")


class amd_knobs(base_knobs):
    """AMD GPUs, for which Tritium does not compile."""

    use_buffer_ops = env_bool("AMDGCN_USE_BUFFER_OPS", True)
    use_buffer_atomics = env_bool("AMDGCN_USE_BUFFER_ATOMICS", True)
    buffer_ops_analyze_small_tensor_range = env_bool("AMDGCN_ANALYZE_SMALL_TENSOR_RANGE")
    dump_amdgcn = env_bool("AMDGCN_ENABLE_DUMP")
    libhip_path = env_opt_str("TRITON_LIBHIP_PATH")
    use_block_pingpong = env_opt_bool("TRITON_HIP_USE_BLOCK_PINGPONG")
    use_in_thread_transpose = env_opt_bool("TRITON_HIP_USE_IN_THREAD_TRANSPOSE")
    use_async_copy = env_bool("TRITON_HIP_USE_ASYNC_COPY")
    scalarize_packed_fops = env_bool("AMDGCN_SCALARIZE_PACKED_FOPS")


class proton_knobs(base_knobs):
    """Triton's profiler, which Tritium does not have."""

    disable = env_bool("TRITON_PROTON_DISABLE")
    cupti_lib_dir = env_str("TRITON_CUPTI_LIB_PATH")
    enable_nvtx = env_bool("TRITON_ENABLE_NVTX", True)


build = build_knobs()
redis = redis_knobs()
cache = cache_knobs()
compilation = compilation_knobs()
autotuning = autotuning_knobs()
runtime = runtime_knobs()
language = language_knobs()
nvidia = nvidia_knobs()
amd = amd_knobs()
proton = proton_knobs()


def refresh_knobs() -> None:
    """Triton reads two variables at import only, and this reads them again. Here every knob is read at use."""
