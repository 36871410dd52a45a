"""``@triton.jit`` and the life of a launch: bind, specialise, find or compile, run.

::

    kernel[grid](x, y, n, BLOCK=128)
      bind         arguments to parameters, launch options apart         tritium.runtime.binder
      specialise   types, compile-time values, alignment: the key        tritium.runtime.specialize
      find         in this kernel's table, else compile (once, also      tritium.pipeline
                   when many threads ask at the same time)
      run          on the backend that the data decides                  tritium.backends

``TRITIUM_LOG=compile`` says for each compilation why it was needed: which argument changed class.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, overload

from tritium import config, knobs
from tritium.errors import make_error
from tritium.frontend.source import JitCallable
from tritium.pipeline import compile_kernel
from tritium.runtime import log
from tritium.runtime.arrays import ArrayView, TensorWrapper, is_array, reinterpret, view_of
from tritium.runtime.backend import choose_backend, executor_of
from tritium.runtime.binder import Parameter, check_options, explain_failure, make_binder
from tritium.runtime.compiled import CompiledKernel
from tritium.runtime.grid import resolve_grid
from tritium.runtime.interface import KernelInterface
from tritium.runtime.specialize import Specs, difference, specialize, to_signature

Names = Iterable[int | str] | None


class JITFunction(JitCallable, KernelInterface):
    """A kernel, or a function that kernels call.

    params         the parameters, with annotations and specialisation rules
    arg_names      their names
    cache_key      digest of the source and of everything it refers to
    device_caches  compiled kernels by backend, then by key
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        version: Any = None,
        do_not_specialize: Names = None,
        do_not_specialize_on_alignment: Names = None,
        debug: bool | None = None,
        noinline: bool | None = None,
        repr: Callable[[Any], str] | None = None,
        launch_metadata: Callable[..., Any] | None = None,
        src: str | None = None,
    ) -> None:
        if not inspect.isfunction(fn):
            raise make_error("TRI0104", got=type(fn).__name__)
        super().__init__(fn, src)
        self.module = fn.__module__
        self.version = version
        self.do_not_specialize = list(do_not_specialize or ())
        self.do_not_specialize_on_alignment = list(do_not_specialize_on_alignment or ())
        self.debug = debug
        self.noinline = noinline
        self._repr = repr
        self.launch_metadata = launch_metadata
        self.signature = inspect.signature(fn)
        self.params = [
            Parameter(
                i,
                p,
                not _named(self.do_not_specialize, i, p),
                not _named(self.do_not_specialize_on_alignment, i, p),
            )
            for i, p in enumerate(self.signature.parameters.values())
        ]
        self.arg_names = [p.name for p in self.params]
        self.constexprs = [p.num for p in self.params if p.is_constexpr]
        self.pre_run_hooks: list[Callable[..., Any]] = []
        self.device_caches: dict[str, dict[Any, CompiledKernel]] = defaultdict(dict)
        self._bind = make_binder(self.__name__, self.params)
        self._lock = threading.Lock()

    def add_pre_run_hook(self, hook: Callable[..., Any]) -> None:
        """Call `hook(*args, **kwargs)` before every launch."""
        self.pre_run_hooks.append(hook)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise make_error("TRI0709", function=self.__name__)

    def __repr__(self) -> str:
        return f"JITFunction({self.module}:{self.__qualname__})"

    # ---- launching -----------------------------------------------------------------------------------

    def bind_arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Values in parameter order, and the remaining keywords. ArgumentError for a call that does not fit."""
        try:
            return self._bind(*args, **kwargs)
        except TypeError:
            raise explain_failure(self.__name__, self.params, args, kwargs) from None

    def specs_of(self, values: Iterable[Any]) -> Specs:
        """What these argument values are compiled as."""
        return tuple((p.name, specialize(v, p.rules)) for p, v in zip(self.params, values, strict=True))

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        values, keywords = self.bind_arguments(args, kwargs)
        specs = self.specs_of(values)
        options = check_options(self.__name__, self.params, keywords)
        options["debug"] = bool(options["debug"] or self.debug or config.get("triton_debug"))
        options["fp32_default"] = config.get("f32_default")
        backend = choose_backend(options, values, self.arg_names)
        counts = None
        if not warmup:
            counts = resolve_grid(grid, {**dict(zip(self.arg_names, values, strict=True)), **keywords})
        kernel = self.find(specs, options, backend)
        if counts is not None:
            self._launch(kernel, counts, values)
        return kernel

    def _launch(self, kernel: CompiledKernel, counts: tuple[int, int, int], values: tuple[Any, ...]) -> None:
        enter, leave = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
        metadata = kernel.launch_metadata(counts, None, *values) if enter or leave else None
        if self.launch_metadata is not None and metadata is not None:
            named = dict(zip(self.arg_names, values, strict=True))
            metadata.data.update(self.launch_metadata(counts, kernel.metadata, named) or {})
        if enter:
            enter(metadata)
        kernel.launch(counts, values)
        if leave:
            leave(metadata)

    def find(self, specs: Specs, options: dict[str, Any], backend: str) -> CompiledKernel:
        """The compiled kernel for this specialisation, compiling it if there is none yet."""
        self.refresh()  # captured values that changed since the last compilation give another source key
        key = (self.cache_key, specs, _options_key(options))
        table = self.device_caches[backend]
        kernel = table.get(key)
        if kernel is None or config.get("always_compile"):
            with self._lock:
                kernel = table.get(key)
                if kernel is None or config.get("always_compile"):
                    kernel = self._compile(specs, options, backend, key)
                    table[key] = kernel
        return kernel

    def _compile(self, specs: Specs, options: dict[str, Any], backend: str, key: Any) -> CompiledKernel:
        started = time.perf_counter()
        compilation = compile_kernel(self.source, to_signature(specs), options, backend)
        kernel = CompiledKernel(compilation, specs, options, backend, executor_of(backend))
        milliseconds = (time.perf_counter() - started) * 1e3
        if log.enabled("compile"):
            log.write(
                "compile",
                f"{self.__name__} for {backend} in {milliseconds:.1f} ms: {self._reason(key, backend)}",
            )
        return kernel

    def _reason(self, key: Any, backend: str) -> str:
        """Why this call needed a compilation: the nearest earlier specialisation and what differs from it."""
        earlier = list(self.device_caches[backend])
        if not earlier:
            return "first launch"
        new = dict(key[1])
        best: list[str] | None = None
        for source_key, specs, options in earlier:
            changes = difference(dict(specs), new)
            if source_key != key[0]:
                changes.append("the source or a captured value changed")
            changes += [
                f"option {a[0]} changed from {a[1]!r} to {b[1]!r}"
                for a, b in zip(options, key[2], strict=True)
                if a != b
            ]
            if best is None or len(changes) < len(best):
                best = changes
        return "; ".join(best or ["it is not cached"])


def _named(names: list[int | str], index: int, p: inspect.Parameter) -> bool:
    return index in names or p.name in names


def _options_key(options: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple((k, v if v.__hash__ else repr(v)) for k, v in options.items())


@overload
def jit(fn: Callable[..., Any]) -> JITFunction: ...


@overload
def jit(
    *,
    version: Any = None,
    repr: Callable[[Any], str] | None = None,
    launch_metadata: Callable[..., Any] | None = None,
    do_not_specialize: Names = None,
    do_not_specialize_on_alignment: Names = None,
    debug: bool | None = None,
    noinline: bool | None = None,
    src: str | None = None,
) -> Callable[[Callable[..., Any]], JITFunction]: ...


def jit(fn: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Make a kernel of a Python function.

    do_not_specialize                 parameters (names or indices) whose value never enters the key
    do_not_specialize_on_alignment    parameters whose divisibility by 16 does not
    debug                             compile device_assert and overflow checks in
    repr, launch_metadata             naming and profiling callbacks
    src                               the source text, where Python cannot find it
    version, noinline                 accepted; noinline functions are inlined like all others
    """
    if fn is not None:
        return JITFunction(fn, **options)
    return lambda function: JITFunction(function, **options)


class MockTensor:
    """Stands for an array in ahead-of-time compilation: a dtype without data."""

    def __init__(self, dtype: Any, shape: Any = None) -> None:
        self.dtype = dtype
        self.shape = [1] if shape is None else list(shape)

    @staticmethod
    def wrap_dtype(arg: Any) -> Any:
        """A dtype becomes a mock array; anything else stays."""
        return MockTensor(arg) if type(arg).__name__ == "dtype" and type(arg).__module__ == "torch" else arg

    def stride(self) -> tuple[int, ...]:
        out = [1]
        for d in self.shape[:0:-1]:
            out.append(out[-1] * d)
        return tuple(reversed(out))

    @staticmethod
    def data_ptr() -> int:
        return 0  # aligned to anything

    @staticmethod
    def ptr_range() -> int:
        return 0


__all__ = [
    "ArrayView",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "TensorWrapper",
    "is_array",
    "jit",
    "reinterpret",
    "view_of",
]
