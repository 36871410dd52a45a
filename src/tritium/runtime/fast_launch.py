"""The short way of a launch on a GPU whose kernel is known: one generated function per jit function.

::

    fast(grid, x, y, n, BLOCK)             Python's own call protocol binds the arguments
      x.data_ptr(), x.dtype, n & 15, ...   what decides which kernel it is: the key
      find(key)                            the kernel's launch function
      launch(gx, gy, gz, stream, ...)      packs, calls the driver (`tritium.backends.cuda.launch`)

It knows PyTorch tensors, Python numbers, None and plain compile-time values. Whatever else it meets, it hands the
whole call to the long way (`JITFunction.run_checked`), which also makes every error message; so the two ways cannot
disagree about a call, and this one only saves time.

In the generated code, names that end in ``__`` are the function's own; the others are the kernel's parameters.
"""

from __future__ import annotations

import builtins
import inspect
import sys
from collections.abc import Callable
from types import NoneType
from typing import TYPE_CHECKING, Any

from tritium import config, knobs
from tritium.backends.cuda import driver
from tritium.backends.cuda.launch import make_launch
from tritium.ir.types import DType, PointerType
from tritium.runtime import kernel_text, launch_check
from tritium.runtime.grid import resolve_grid
from tritium.runtime.specialize import ALIGNMENT, ConstArg, Rules, RuntimeArg

if TYPE_CHECKING:
    from tritium.runtime.compiled import CompiledKernel
    from tritium.runtime.jit import JITFunction

FastLaunch = Callable[..., Any]
"""``fast(grid, *args, **kwargs)``: as ``kernel[grid](*args, **kwargs)``."""

_PLAIN = (int, bool, str, NoneType, DType)
"""Types of compile-time values that are equal exactly when they compile alike."""

_HEAD = """\
def fast(grid__, {parameters}**options__):
    values__ = ({names})
    if fn__.pre_run_hooks or checkers__ or hooks__.get({enter!r}, NO_HOOKS__).calls or hooks__.get({leave!r}, NO_HOOKS__).calls:
        return slowly__(grid__, values__, options__)
    device__ = None__
    odd__ = 0
"""

_TENSOR = """\
    t__ = type__({name})
    if t__ is Tensor__ or t__ is Weight__:
        a{i}__ = {name}.data_ptr()
        k{i}__ = {name}.dtype
        {odd}
        d__ = {name}.get_device()
        if d__ != device__:
            if device__ is not None__:
                return slowly__(grid__, values__, options__)
            device__ = d__
"""

_ODD = "if a{i}__ & {mask}: odd__ |= {bit}"

_NUMBERS = """\
    elif t__ is int__:
        a{i}__ = {name}
        if -2147483648 <= {name} <= 2147483647:
            k{i}__ = {key}
        else:
            return slowly__(grid__, values__, options__)
    elif {name} is None__:
        a{i}__ = k{i}__ = None__
    elif t__ is float__ or t__ is bool__:
        a{i}__ = {name}
        k{i}__ = t__
    else:
        return slowly__(grid__, values__, options__)
"""

_ANNOTATED = """\
    t__ = type__({name})
    if {test}:
        a{i}__ = {name}
        k{i}__ = {key}
    else:
        return slowly__(grid__, values__, options__)
"""

_CONSTANT = """\
    t{i}__ = type__({name})
    if t{i}__ not in PLAIN__:
        return slowly__(grid__, values__, options__)
"""

_TAIL = """\
    source__ = fn__.source._key
    if device__ is None__ or device__ < 0 or source__ is None__ or fn__._epoch != epochs__[0]:
        return slowly__(grid__, values__, options__)
    for captured__ in source__[1]:
        if not captured__.unchanged():
            return slowly__(grid__, values__, options__)
    key__ = ({keys}odd__, device__, current__(), source__[0])
    if options__:
        key__ += tuple__(options__.items())
    try:
        found__ = find__(key__)
    except TypeError__:
        return slowly__(grid__, values__, options__)
    if found__ is None__:
        return first_time__(key__, device__, grid__, values__, options__)
    launch__, kernel__ = found__
    if type__(grid__) is not tuple__:
        if callable__(grid__):
            grid__ = grid__({{**options__, {bound}}})
        if type__(grid__) is not tuple__:
            grid__ = resolve__(grid__, {{}})
    axes__ = len__(grid__)
    if axes__ == 1:
        (x__,) = grid__
        y__ = z__ = 1
    elif axes__ == 2:
        x__, y__ = grid__
        z__ = 1
    else:
        x__, y__, z__ = grid__ if axes__ == 3 else resolve__(grid__, {{}})
    if not (
        type__(x__) is int__ and type__(y__) is int__ and type__(z__) is int__
        and 0 < x__ <= 2147483647 and 0 < y__ <= 2147483647 and 0 < z__ <= 2147483647
    ):
        x__, y__, z__ = resolve__((x__, y__, z__), {{}})
        if not (x__ and y__ and z__):
            return kernel__
    launch__(x__, y__, z__, stream_of__(device__){values})
    return kernel__
"""

_BUILTINS = ("type", "int", "float", "bool", "tuple", "len", "callable", "TypeError")


def make_fast_launch(fn: JITFunction) -> FastLaunch | None:
    """The short way for `fn`; None where it has none: without PyTorch, or for parameters that it does not know."""
    torch: Any = sys.modules.get("torch")
    usual = all(p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for p in fn.signature.parameters.values())
    reserved = any(name.endswith("__") for name in fn.arg_names)
    if torch is None or not usual or reserved or fn._options_among_parameters:
        return None
    long_way = _LongWay(fn)
    scope: dict[str, Any] = {
        "__name__": __name__,
        **{f"{name}__": getattr(builtins, name) for name in _BUILTINS},
        "None__": None,
        "Tensor__": torch.Tensor,
        "Weight__": torch.nn.Parameter,
        "PLAIN__": frozenset(_PLAIN),
        "fn__": fn,
        "current__": config.current,
        "checkers__": launch_check._installed,
        "hooks__": knobs.runtime.__dict__,
        "NO_HOOKS__": knobs.HookChain(),
        "epochs__": kernel_text._epochs,
        "resolve__": resolve_grid,
        "stream_of__": driver.stream_reader(),
        "find__": fn.device_caches.fast.get,
        "slowly__": long_way.launch,
        "first_time__": long_way.launch_and_remember,
        **{f"default{p.num}__": p.default for p in fn.params if p.has_default},
    }
    # under our own file, so that errors point past it to the program
    exec(compile(text_of(fn), f"{__file__}:{fn.__name__}", "exec"), scope)
    fast: FastLaunch = scope["fast"]
    return fast


class _LongWay:
    """The long way, as generated code calls it: with the values in parameter order and the remaining keywords."""

    def __init__(self, fn: JITFunction) -> None:
        self.fn = fn

    def launch(self, grid: Any, values: tuple[Any, ...], options: dict[str, Any]) -> Any:
        return self.fn.run_checked(*values, grid=grid, **options)

    def launch_and_remember(
        self, key: tuple[Any, ...], device: int, grid: Any, values: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """Launch, and find the kernel under `key` from now on."""
        kernel = self.fn.run_checked(*values, grid=grid, **options)
        launch = launch_of(self.fn, kernel, device)
        if launch is not None and not config.current().values["log"]:  # every launch is to be told
            self.fn.device_caches.fast[key] = launch, kernel
        return kernel


def launch_of(fn: JITFunction, kernel: CompiledKernel, device: int) -> Callable[..., None] | None:
    """``launch(gx, gy, gz, stream, *values)`` on GPU `device`, with a value for each parameter that is not constexpr.

    Those that this specialisation knows at compile time are dropped. None for kernels that run elsewhere, and where a
    parameter is not one value.
    """
    from tritium.runtime.gpu_kernel import GpuKernel

    if not isinstance(kernel, GpuKernel):
        return None
    taken: list[bool] = []
    for parameter, (_, spec) in zip(fn.params, kernel.specs, strict=True):
        if parameter.is_constexpr:
            continue
        if not isinstance(spec, (RuntimeArg, ConstArg)):
            return None
        taken.append(isinstance(spec, RuntimeArg))
    loaded, _ = kernel.program.on(device)
    return make_launch(loaded, kernel.program.parameters, taken)


# ---- the text --------------------------------------------------------------------------------------------


def text_of(fn: JITFunction) -> str:
    """The source of the short way for `fn`."""
    parts: list[str] = []
    keys: list[str] = []
    values: list[str] = []
    for p in fn.params:
        if p.is_constexpr:
            parts.append(_CONSTANT.format(name=p.name, i=p.num))
            keys += [f"t{p.num}__", p.name]
            continue
        parts.append(_annotated(p.rules, p.num) if p.rules.fixed is not None else _free(p.rules, p.num))
        keys.append(f"k{p.num}__")
        values.append(f", a{p.num}__")
    heads = [f"{p.name}=default{p.num}__" if p.has_default else p.name for p in fn.params]
    chains = vars(type(knobs.runtime))
    head = _HEAD.format(
        enter=chains["launch_enter_hook"].name,
        leave=chains["launch_exit_hook"].name,
        parameters="".join(f"{h}, " for h in heads),
        names="".join(f"{p.name}, " for p in fn.params),
    )
    tail = _TAIL.format(
        keys="".join(f"{k}, " for k in keys),
        values="".join(values),
        bound=", ".join(f"{p.name!r}: {p.name}" for p in fn.params),
    )
    return head + "".join(parts) + tail


def _free(rules: Rules, i: int) -> str:
    """The part that looks at a parameter without an annotation."""
    name = rules.name
    odd = _ODD.format(i=i, mask=ALIGNMENT - 1, bit=1 << i) if rules.aligns else "pass"
    key = _integer_key(rules)
    if rules.specialize:
        key = f'"one" if {name} == 1 else {key}'
    return _TENSOR.format(name=name, i=i, odd=odd) + _NUMBERS.format(name=name, i=i, key=key)


def _annotated(rules: Rules, i: int) -> str:
    """The part that looks at a parameter whose type is fixed: numbers that certainly fit it."""
    fixed, name = rules.fixed, rules.name
    test, key = "False", '""'
    if isinstance(fixed, PointerType) or fixed is None:
        pass  # arrays under such annotations are rare enough for the long way
    elif fixed.is_floating():
        test, key = "t__ is float__", "t__"
    elif fixed.primitive_bitwidth >= 32:
        low = "-2147483648" if fixed.is_int_signed() else "0"
        test, key = f"t__ is int__ and {low} <= {name} <= 2147483647", _integer_key(rules)
    return _ANNOTATED.format(name=name, i=i, test=test, key=key)


def _integer_key(rules: Rules) -> str:
    return f'"int" if {rules.name} & {ALIGNMENT - 1} else "int:16"' if rules.aligns else '"int"'
