"""``triton.knobs``: settings and hooks under Triton's names, grouped as there.

A knob reads its environment variable each time unless it was assigned; assigning also sets the variable, so that
child processes see it. Each group has ``scope()`` (a context manager that restores it), ``reset()`` and ``copy()``.
Knobs that steer Triton's own toolchain (``nvidia``, ``amd``, ``proton``, ``redis``, ``build``) are kept so that programs which
set them run; Tritium does not read them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from tritium import config

_UNSET = object()
F = TypeVar("F", bound=Callable[..., Any])


class Env:
    """Assigning ``knobs.env`` to a knob makes it read its environment variable again."""


env = Env()
propagate_env = True


class _Knob:
    def __init__(self, variable: str, parse: Callable[[str], Any], default: Any) -> None:
        self.variable = variable
        self.parse = parse
        self.default = default
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, group: Any, owner: Any = None) -> Any:
        if group is None:
            return self
        value = group.__dict__.get(self.name, _UNSET)
        if value is not _UNSET:
            return value
        text = config.environment(self.variable)
        return self.default if text is None else self.parse(text)

    def __set__(self, group: Any, value: Any) -> None:
        if isinstance(value, Env):
            group.__dict__.pop(self.name, None)
            return
        group.__dict__[self.name] = value
        if propagate_env and (value is None or isinstance(value, (bool, int, str))):
            text = None if value is None else str(int(value)) if isinstance(value, bool) else str(value)
            config.set_environment(self.variable, text)

    def __delete__(self, group: Any) -> None:
        group.__dict__.pop(self.name, None)


def _text(variable: str, default: str = "") -> Any:
    return _Knob(variable, str, default)


def _optional(variable: str) -> Any:
    return _Knob(variable, str, None)


def _flag(variable: str, default: bool = False) -> Any:
    return _Knob(variable, lambda s: s.strip().lower() in ("1", "true", "yes", "on", "y"), default)


def _number(variable: str, default: int = 0) -> Any:
    return _Knob(variable, int, default)


class base_knobs:
    """A group of knobs."""

    @property
    def knobs(self) -> dict[str, Any]:
        """All knobs of the group by name, with their present values."""
        names = {n for c in type(self).__mro__ for n, v in vars(c).items() if isinstance(v, _Knob)}
        return {n: getattr(self, n) for n in sorted(names | set(self.__dict__))}

    def copy(self: Any) -> Any:
        return copy.copy(self)

    def reset(self: Any) -> Any:
        """Forget what was assigned."""
        for name in [n for n, v in vars(type(self)).items() if isinstance(v, _Knob)]:
            self.__dict__.pop(name, None)
        return self

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Restore the group, and the environment variables behind it, at the end of the block."""
        saved = dict(self.__dict__)
        variables = {v.variable for c in type(self).__mro__ for v in vars(c).values() if isinstance(v, _Knob)}
        texts = {v: config.environment(v) for v in variables}
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(saved)
            for variable, text in texts.items():
                config.set_environment(variable, text)


class HookChain:
    """Functions called one after another at an event; also accepts a single function by assignment."""

    def __init__(self, reversed: bool = False) -> None:
        self.calls: list[Callable[..., Any]] = []
        self.reversed = reversed

    def add(self, fn: Callable[..., Any]) -> None:
        if fn not in self.calls:
            self.calls.append(fn)

    def remove(self, fn: Callable[..., Any]) -> None:
        if fn in self.calls:
            self.calls.remove(fn)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for fn in list(reversed(self.calls) if self.reversed else self.calls):
            fn(*args, **kwargs)

    def __bool__(self) -> bool:
        return bool(self.calls)


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


class build_knobs(base_knobs):
    cc = _optional("CC")
    cudacrt_path = _optional("TRITON_CUDACRT_PATH")
    cudart_path = _optional("TRITON_CUDART_PATH")
    impl: Any = None


class redis_knobs(base_knobs):
    key_format = _text("TRITON_REDIS_KEY_FORMAT", "triton:{key}:{filename}")
    host = _text("TRITON_REDIS_HOST", "localhost")
    port = _number("TRITON_REDIS_PORT", 6379)


class cache_knobs(base_knobs):
    home_dir = _text("TRITON_HOME", "")
    dump_dir = _text("TRITON_DUMP_DIR", "")
    override_dir = _text("TRITON_OVERRIDE_DIR", "")
    dir = _text("TRITON_CACHE_DIR", "")
    manager_class = _optional("TRITON_CACHE_MANAGER")
    remote_manager_class = _optional("TRITON_REMOTE_CACHE_BACKEND")


class compilation_knobs(base_knobs):
    override = _flag("TRITON_KERNEL_OVERRIDE")
    dump_ir = _flag("TRITON_KERNEL_DUMP")
    dump_ir_extract_di_local_variables = _flag("LLVM_EXTRACT_DI_LOCAL_VARIABLES")
    store_binary_only = _flag("TRITON_STORE_BINARY_ONLY")
    always_compile = _flag("TRITON_ALWAYS_COMPILE")
    use_ir_loc = _optional("USE_IR_LOC")
    enable_asan = _flag("TRITON_ENABLE_ASAN")
    disable_line_info = _flag("TRITON_DISABLE_LINE_INFO")
    front_end_debugging = _flag("TRITON_FRONT_END_DEBUGGING")
    allow_non_constexpr_globals = _flag("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    instrumentation_mode = _text("TRITON_INSTRUMENTATION_MODE")
    listener: Callable[..., Any] | None = None


class autotuning_knobs(base_knobs):
    cache = _flag("TRITON_CACHE_AUTOTUNING")
    print = _flag("TRITON_PRINT_AUTOTUNING")
    listener: Callable[..., Any] | None = None


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
        return group.__dict__.setdefault(self.name, HookChain(self.reversed))

    def __set__(self, group: Any, value: Any) -> None:
        chain = value if isinstance(value, HookChain) else HookChain(self.reversed)
        if value is not None and value is not chain:
            chain.add(value)
        group.__dict__[self.name] = chain


class runtime_knobs(base_knobs):
    interpret = _flag("TRITON_INTERPRET")
    debug = _flag("TRITON_DEBUG")
    override_arch = _optional("TRITON_OVERRIDE_ARCH")
    launch_enter_hook: Any = _ChainSlot()
    launch_exit_hook: Any = _ChainSlot(reversed=True)
    kernel_load_start_hook: Any = _ChainSlot()
    kernel_load_end_hook: Any = _ChainSlot(reversed=True)
    kernel_unload_hook: Any = _ChainSlot()
    jit_cache_hook: Callable[..., Any] | None = None
    jit_post_compile_hook: Callable[..., Any] | None = None
    add_stages_inspection_hook: Callable[..., Any] | None = None


class language_knobs(base_knobs):
    fp32_default = _optional("TRITON_F32_DEFAULT")
    default_fp_fusion = _flag("TRITON_DEFAULT_FP_FUSION", True)


class nvidia_knobs(base_knobs):
    cuobjdump = _optional("TRITON_CUOBJDUMP_PATH")
    nvdisasm = _optional("TRITON_NVDISASM_PATH")
    ptxas = _optional("TRITON_PTXAS_PATH")
    ptxas_blackwell = _optional("TRITON_PTXAS_BLACKWELL_PATH")
    dump_nvptx = _flag("NVPTX_ENABLE_DUMP")
    disable_ptxas_opt = _flag("DISABLE_PTXAS_OPT")
    ptxas_options = _optional("PTXAS_OPTIONS")
    mock_ptx_version = _optional("TRITON_MOCK_PTX_VERSION")
    dump_ptxas_log = _flag("TRITON_DUMP_PTXAS_LOG")
    libdevice_path = _optional("TRITON_LIBDEVICE_PATH")
    libcuda_path = _optional("TRITON_LIBCUDA_PATH")


class amd_knobs(base_knobs):
    use_buffer_ops = _flag("AMDGCN_USE_BUFFER_OPS", True)
    use_buffer_atomics = _flag("AMDGCN_USE_BUFFER_ATOMICS", True)
    buffer_ops_analyze_small_tensor_range = _flag("AMDGCN_ANALYZE_SMALL_TENSOR_RANGE")
    dump_amdgcn = _flag("AMDGCN_ENABLE_DUMP")
    libhip_path = _optional("TRITON_LIBHIP_PATH")
    use_block_pingpong = _optional("TRITON_HIP_USE_BLOCK_PINGPONG")
    use_in_thread_transpose = _optional("TRITON_HIP_USE_IN_THREAD_TRANSPOSE")
    use_async_copy = _flag("TRITON_HIP_USE_ASYNC_COPY")
    scalarize_packed_fops = _flag("AMDGCN_SCALARIZE_PACKED_FOPS")


class proton_knobs(base_knobs):
    disable = _flag("TRITON_PROTON_DISABLE")
    cupti_lib_dir = _text("TRITON_CUPTI_LIB_PATH")
    enable_nvtx = _flag("TRITON_ENABLE_NVTX", True)


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
    """Forget all assignments of knobs that have an environment variable."""
    for group in (build, redis, cache, compilation, autotuning, runtime, language, nvidia, amd, proton):
        group.reset()
