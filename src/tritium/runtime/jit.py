"""``@triton.jit`` and the life of a launch: bind, classify, find or compile, run.

::

    kernel[grid](x, y, n, BLOCK=128)
      bind         arguments to parameters, launch options apart         tritium.runtime.binder
      classify     one atom per argument: the fast key; array views      tritium.runtime.classify
      find         by that key; else specialise in full and look again   tritium.runtime.specialize
      compile      once, also when many threads ask at the same time     tritium.pipeline
      run          on the backend that the data decides                  tritium.backends

``TRITIUM_LOG=compile`` says for each compilation why it was needed: which argument changed class.
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Iterable
from contextvars import copy_context
from functools import partial
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, overload

from tritium import config, knobs
from tritium.errors import make_error
from tritium.frontend.constexpr_functions import ConstexprFunction, constexpr_function
from tritium.runtime import launch_check, log
from tritium.runtime._async_compile import FutureKernel, active_mode
from tritium.runtime.arrays import ArrayView, TensorWrapper, reinterpret
from tritium.runtime.binder import KernelParam, explain_failure, make_binder
from tritium.runtime.driver import driver
from tritium.runtime.grid import Grid, resolve_grid
from tritium.runtime.interface import KernelInterface
from tritium.runtime.kernel_table import DeviceCaches, KernelTable
from tritium.runtime.kernel_text import KernelText
from tritium.runtime.mock_tensor import MockTensor
from tritium.runtime.options import OPTIONS, check_options
from tritium.runtime.specialize import Specs, specialize
from tritium.runtime.tracebacks import cleaned

if TYPE_CHECKING:
    from tritium.runtime.bound_launch import Bound
    from tritium.runtime.compiled import CompiledKernel
    from tritium.runtime.fast_launch import FastLaunch
    from tritium.runtime.stub.learn import LaunchStub

# The compiler and the backends are imported by the first compilation, not by the first `@jit`.

Names = Iterable[int | str] | None


class JITFunction(KernelText, KernelInterface):
    """A kernel, or a function that kernels call.

    params            the parameters, with annotations and specialisation rules
    arg_names         their names
    cache_key         digest of the source and of everything it refers to
    device_caches     per device the compiled kernels and what leads to them (see `KernelTable`)
    used_global_vals  globals that went into the last compilation, by (name, id of their dictionary)
    """

    forced_backend: str | None = None

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
            KernelParam(
                *(i, p),
                do_not_specialize=_named(self.do_not_specialize, i, p),
                do_not_specialize_on_alignment=_named(self.do_not_specialize_on_alignment, i, p),
            )
            for i, p in enumerate(self.signature.parameters.values())
        ]
        self.arg_names = [p.name for p in self.params]
        self.constexprs = [p.num for p in self.params if p.is_constexpr]
        self._pre_run_hooks: list[Callable[..., Any]] = []
        self.device_caches = DeviceCaches(self._new_table)
        self.kernel: Any = None
        self._stub: LaunchStub | None = None
        self._native: Callable[..., Any] | None = None  # the stub's builtin
        self._fast: FastLaunch | None = None
        self._options_among_parameters = [n for n in self.arg_names if n in OPTIONS]
        self._bind = make_binder(self.__name__, self.params)
        self._classifiers = [p.classify for p in self.params]

    def _new_table(self) -> KernelTable:
        return KernelTable(driver.active.get_current_target(), self._bind)

    @property
    def pre_run_hooks(self) -> list[Callable[..., Any]]:
        """Functions that every launch calls first, with its arguments."""
        return self._pre_run_hooks

    @pre_run_hooks.setter
    def pre_run_hooks(self, hooks: list[Callable[..., Any]]) -> None:
        self._pre_run_hooks = hooks
        self._forget_launches()

    def _forget_launches(self) -> None:
        if self._stub is not None:
            self._stub.forget()

    def add_pre_run_hook(self, hook: Callable[..., Any]) -> None:
        """Call `hook(*args, **kwargs)` before every launch."""
        self.pre_run_hooks.append(hook)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise make_error("TRI0709", function=self.__name__)

    def __repr__(self) -> str:
        return f"JITFunction({self.module}:{self.__qualname__})"

    def is_gluon(self) -> bool:
        return False

    def repr(self, specialization: Any) -> str:
        """The name for one specialisation: what the decorator's ``repr=`` makes of it, else the full name."""
        return self._fn_name if self._repr is None else self._repr(specialization)

    # ---- launching -----------------------------------------------------------------------------------

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        native = self._native
        if native is not None:
            return partial(native, grid)
        fast = self._fast
        if fast is None:
            return super().__getitem__(grid)

        def launch(*args: Any, **kwargs: Any) -> Any:
            try:
                return fast(grid, *args, **kwargs)
            except BaseException as error:
                if _does_not_bind(error):
                    return self.run_checked(*args, grid=grid, **kwargs)
                raise cleaned(error)  # noqa: B904 (the same error, with fewer frames)

        return launch

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        try:
            if not warmup:
                if self._native is not None:
                    return self._native(grid, *args, **kwargs)
                if self._fast is not None:
                    return self[grid](*args, **kwargs)
            return self.run_checked(*args, grid=grid, warmup=warmup, **kwargs)
        except BaseException as error:
            raise cleaned(error)  # noqa: B904 (the same error, with fewer frames)

    def run_checked(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        """`run` by the way that knows every kind of argument and words every error."""
        try:
            for hook in self.pre_run_hooks:
                hook(*args, **kwargs)
            settings = config.current()
            kernel, values, options, leaves = self._found(args, kwargs, settings, warmup)
            if warmup or kernel is None:
                return kernel
            counts = resolve_grid(grid, self._bound(values, options) if callable(grid) else {})
            if settings.values["log"]:
                self._launch_and_tell(kernel, counts, values, leaves)
            else:
                self._launch(kernel, counts, values, leaves)
            if self._native is None and self._fast is None and kernel.backend != "interpret":
                self._shorten(kernel)
            return kernel
        except BaseException as error:
            raise cleaned(error)  # noqa: B904 (the same error, with fewer frames)

    def _shorten(self, kernel: CompiledKernel) -> None:
        """Make the short way of launches: the stub, else for GPUs a generated function."""
        from tritium.runtime.stub.learn import make_stub, target_exists

        stub = make_stub(self) if target_exists(kernel) else None
        if stub is not None:
            self._stub, self._native = stub, stub.launch
        elif kernel.backend == "cuda":
            from tritium.runtime.fast_launch import make_fast_launch

            self._fast = make_fast_launch(self)

    def bind(self, *args: Any, grid: Any, **kwargs: Any) -> Bound:
        """A function that repeats this launch and checks nothing; see `tritium.runtime.bound_launch`.

        The kernel is compiled, not launched. Hooks of launches do not see what the function does.
        """
        from tritium.runtime.bound_launch import bind_launch

        try:
            kernel, values, options, _ = self._found(args, kwargs, config.current(), False)
            counts = resolve_grid(grid, self._bound(values, options) if callable(grid) else {})
            return bind_launch(kernel, counts, values)
        except BaseException as error:
            raise cleaned(error)  # noqa: B904

    def _found(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], settings: config.Snapshot, warmup: bool
    ) -> tuple[Any, tuple[Any, ...], dict[str, Any], list[Any]]:
        """The kernel for a call, the values in parameter order, the remaining keywords, and the run-time parts.

        With `warmup` the kernel may be one that is still being compiled.
        """
        try:
            values, options = self._bind(*args, **kwargs)
        except TypeError:
            raise explain_failure(self.__name__, self.params, args, kwargs) from None
        if warmup:
            values = self._with_mocks(values)
        for name in self._options_among_parameters:  # Triton gives those to both
            if name in kwargs:
                options[name] = kwargs[name]
        leaves: list[Any] = []
        key = [classify(value, leaves) for classify, value in zip(self._classifiers, values, strict=True)]
        kernel = self._kernel_for(key, values, options, settings, warmup)
        if type(kernel) is FutureKernel and not warmup:
            kernel = kernel.result()
        return kernel, values, options, leaves

    def _with_mocks(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """`values` with dtypes that stand for arrays replaced by mock arrays."""
        return tuple(
            value if p.is_constexpr else MockTensor.wrap_dtype(value)
            for p, value in zip(self.params, values, strict=True)
        )

    def _bound(self, values: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
        """The arguments by name, as grid functions get them: with the options given, so that num_warps can be read."""
        return {**options, **dict(zip(self.arg_names, values, strict=True))}

    def _kernel_for(
        self,
        key: list[Any],
        values: tuple[Any, ...],
        options: dict[str, Any],
        settings: config.Snapshot,
        warmup: bool,
    ) -> Any:
        """The kernel for a launch whose arguments have the atoms `key`, compiled if it is not there yet."""
        self.refresh()
        source = self.source.cache_key
        key += (settings, source)
        if options:
            key.extend(options.items())
        if launch_check.active() is not None:
            key.append("checked")
        table = self.device_caches[driver.active.get_current_device()]
        fast_key: tuple[Any, ...] | None = tuple(key)
        try:
            kernel = table.kernels.get(table.keys.get(fast_key))
        except TypeError:  # an option that cannot be hashed
            kernel = fast_key = None
        if kernel is not None:
            return kernel
        from tritium.runtime.backend import choose_backend, gpu_options

        specs = self.specs_of(values)
        complete = self.launch_options(options, settings)
        backend = choose_backend(complete, settings, values, self.arg_names, self.forced_backend, warmup)
        if backend == "cuda":
            complete.update(gpu_options(complete, values, self.arg_names))
        text = table.key_of(source, specs, complete, settings.key, backend)
        kernel = self._compiled(text, specs, complete, backend, table, warmup)
        if fast_key is not None and not warmup and kernel is not None:
            table.keys[fast_key] = text
        return kernel

    def specs_of(self, values: Iterable[Any]) -> Specs:
        """What these argument values are compiled as."""
        return tuple((p.name, specialize(v, p.rules)) for p, v in zip(self.params, values, strict=True))

    def launch_options(self, given: dict[str, Any], settings: config.Snapshot) -> dict[str, Any]:
        """The options of a launch, checked, with defaults and settings filled in."""
        options = check_options(self.__name__, self.arg_names, given)
        asked = given.get("debug")
        options["debug"] = bool((self.debug if asked is None else asked) or settings.values["triton_debug"])
        options["fp32_default"] = settings.values["f32_default"]
        if "enable_fp_fusion" not in given:
            options["enable_fp_fusion"] = settings.values["default_fp_fusion"]
        return options

    def _compiled(
        self,
        key: str,
        specs: Specs,
        options: dict[str, Any],
        backend: str,
        table: KernelTable,
        warmup: bool,
    ) -> Any:
        mode = active_mode.get()
        if mode is None:
            return table.once(key, lambda: self._compile(key, specs, options, backend, table, warmup))
        found = table.kernels.get(key)
        if found is not None:
            return found
        context = copy_context()  # the settings of this thread hold in the executor's too
        make = lambda: context.run(table.once, key, compile_here)
        compile_here = lambda: self._compile(key, specs, options, backend, table, warmup)
        return mode.submit((id(self), key), make, lambda kernel: None)

    def _compile(
        self,
        key: str,
        specs: Specs,
        options: dict[str, Any],
        backend: str,
        table: KernelTable,
        warmup: bool,
    ) -> CompiledKernel | None:
        from tritium.runtime.compilation import compile_specialized
        from tritium.runtime.hooks import call_hook

        before, after = knobs.runtime.jit_cache_hook, knobs.runtime.jit_post_compile_hook
        device = _current_device()
        if before and call_hook(before, self, key, specs, options, device, warmup):
            return None
        kernel = compile_specialized(self, specs, options, backend, table, key)
        if after:
            call_hook(after, self, key, specs, options, device, warmup)
        return kernel

    def _launch_and_tell(self, kernel: CompiledKernel, counts: Grid, *rest: Any) -> None:
        started = time.perf_counter()
        self._launch(kernel, counts, *rest)
        if log.enabled("launch"):
            milliseconds = (time.perf_counter() - started) * 1e3
            log.write("launch", f"{kernel.name} grid {counts} on {kernel.backend}: {milliseconds:.3f} ms")

    def _launch(
        self, kernel: CompiledKernel, counts: Grid, values: tuple[Any, ...], leaves: list[Any]
    ) -> None:
        enter, leave = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
        if not (enter.calls or leave.calls):
            kernel.launch(counts, leaves)
            return
        metadata = kernel.launch_metadata(counts, None, *values)
        enter(metadata)
        kernel.launch(counts, leaves)
        leave(metadata)

    def compile_for(
        self, specs: Specs, options: dict[str, Any], backend: str | None = None
    ) -> CompiledKernel:
        """The compiled kernel for these specs and (complete) options, without arguments; from the table if it is there.

        It is for `backend`, else for the one that options and settings name, else for data on the host.
        """
        from tritium.runtime.backend import choose_backend, gpu_options

        settings = config.current()
        if backend is None:
            backend = choose_backend(options, settings, (), (), self.forced_backend)
            if backend == "cuda":
                options = {**options, **gpu_options(options, (), ())}
        self.refresh()
        table = self.device_caches[_current_device()]
        key = table.key_of(self.cache_key, specs, options, settings.key, backend)
        kernel = table.once(key, lambda: self._compile(key, specs, options, backend, table, True))
        assert kernel is not None
        return kernel

    def preload(self, specialization_data: str) -> CompiledKernel:
        """Compile what ``jit_cache_hook`` described in another process, so that the first launch finds it."""
        from tritium.runtime.hooks import read_specialization

        source, given = read_specialization(self, specialization_data)
        options = self.launch_options({k: v for k, v in given.items() if k in OPTIONS}, config.current())
        return self.compile_for(source.specs(), options)


def _does_not_bind(error: BaseException) -> bool:
    """Whether a call failed before the called function began, one frame below."""
    trace = error.__traceback__
    return isinstance(error, TypeError) and trace is not None and trace.tb_next is None


def _current_device() -> int:
    """The active driver's device; 0 for one that only says for which target to compile."""
    ask: Callable[[], int] | None = getattr(driver.active, "get_current_device", None)
    return 0 if ask is None else ask()


def _named(names: list[int | str], index: int, p: inspect.Parameter) -> bool:
    return index in names or p.name in names


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


def jit(
    fn: Callable[..., Any] | None = None,
    *,
    version: Any = None,
    repr: Callable[[Any], str] | None = None,
    launch_metadata: Callable[..., Any] | None = None,
    do_not_specialize: Names = None,
    do_not_specialize_on_alignment: Names = None,
    debug: bool | None = None,
    noinline: bool | None = None,
    src: str | None = None,
) -> Any:
    """Make a kernel of a Python function.

    do_not_specialize                 parameters (names or indices) whose value never enters the key
    do_not_specialize_on_alignment    parameters whose divisibility by 16 does not
    debug                             compile device_assert and overflow checks in
    repr, launch_metadata             naming and profiling callbacks
    src                               the source text, where Python cannot find it
    version, noinline                 accepted; noinline functions are inlined like all others
    """
    options: dict[str, Any] = {
        "version": version,
        "repr": repr,
        "launch_metadata": launch_metadata,
        "do_not_specialize": do_not_specialize,
        "do_not_specialize_on_alignment": do_not_specialize_on_alignment,
        "debug": debug,
        "noinline": noinline,
        "src": src,
    }

    def decorate(function: Callable[..., Any]) -> JITFunction:
        if config.get("triton_interpret"):
            from tritium.runtime.interpreter import InterpretedFunction

            return InterpretedFunction(function, **options)
        return JITFunction(function, **options)

    return decorate if fn is None else decorate(fn)


__all__ = [
    "ArrayView",
    "ConstexprFunction",
    "FunctionType",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "TensorWrapper",
    "constexpr_function",
    "jit",
    "reinterpret",
]


class _CallableModule(ModuleType):
    """``triton.runtime.jit`` is the decorator and this module under one name; so the module is the decorator too."""

    def __call__(self, fn: Callable[..., Any] | None = None, **options: Any) -> Any:
        return jit(fn, **options) if fn is not None else jit(**options)


sys.modules[__name__].__class__ = _CallableModule
