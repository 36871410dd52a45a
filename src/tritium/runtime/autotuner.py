"""Autotuning: try configurations on copies, check that they agree, keep the fastest per key.

Trial runs never touch the caller's arrays: whatever the kernel may write is copied first (`tritium.runtime.copies`).
So in-place kernels are tuned safely with or without ``restore_value`` and ``reset_to_zero``, which are still honoured.
The first run of every configuration is compared with the first configuration's; one that computes something else
is reported (`Autotuner.disagreements` and a warning), because a tuner that picks by speed alone would hide the bug.
"""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tritium import config
from tritium.errors import CompileTimeAssertionFailure, OutOfResources, PTXASError, make_error
from tritium.runtime.arrays import is_array
from tritium.runtime.copies import copy_arguments, host_values
from tritium.runtime.interface import KernelInterface
from tritium.runtime.tuning_cache import load_timings, store_timings

Timing = tuple[float, float, float]
_INVALID: tuple[type[Exception], ...] = (OutOfResources, CompileTimeAssertionFailure, PTXASError)


class Config:
    """One candidate: values for meta-parameters, and compile options.

    kwargs       meta-parameters by name, such as ``{"BLOCK": 128}``
    num_warps    warps per program instance (GPU); 4 by default
    num_stages   software pipelining depth (GPU)
    num_ctas     blocks per cluster (GPU)
    maxnreg      register limit per thread (GPU)
    pre_hook     called with all arguments by name before each launch with this configuration
    """

    def __init__(
        self,
        kwargs: dict[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable[[dict[str, Any]], Any] | None = None,
        ir_override: str | None = None,
    ) -> None:
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def all_kwargs(self) -> dict[str, Any]:
        """Meta-parameters and options as launch keywords; unset options are left out."""
        options = {
            "num_warps": self.num_warps,
            "num_ctas": self.num_ctas,
            "num_stages": self.num_stages,
            "maxnreg": self.maxnreg,
            "ir_override": self.ir_override,
        }
        return {**self.kwargs, **{k: v for k, v in options.items() if v is not None}}

    def __str__(self) -> str:
        named = {**self.kwargs, "num_warps": self.num_warps, "num_ctas": self.num_ctas}
        named |= {"num_stages": self.num_stages, "maxnreg": self.maxnreg}
        return ", ".join(f"{k}: {v}" for k, v in named.items())

    def __repr__(self) -> str:
        return f"Config({self})"

    def _key(self) -> tuple[Any, ...]:
        return (*self.all_kwargs().items(), self.pre_hook)

    def __hash__(self) -> int:
        return hash(self._key())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._key() == other._key()


class Autotuner(KernelInterface):
    """A kernel with candidate configurations; launching picks the best for the key and runs it.

    best_config      configuration of the last launch
    configs_timings  milliseconds (median, 20 % and 80 % quantiles) per configuration, of the last tuning
    bench_time       seconds the last tuning took
    cache            best configuration by key
    disagreements    (configuration, argument, largest difference) found in the last tuning
    """

    def __init__(
        self,
        fn: Any,
        arg_names: list[str],
        configs: Sequence[Config],
        key: Sequence[str],
        reset_to_zero: Sequence[str] | None,
        restore_value: Sequence[str] | None,
        pre_hook: Callable[..., Any] | None = None,
        post_hook: Callable[..., Any] | None = None,
        prune_configs_by: Mapping[str, Any] | None = None,
        warmup: int | None = None,
        rep: int | None = None,
        use_cuda_graph: bool = False,
        do_bench: Callable[..., Any] | None = None,
        cache_results: bool = False,
    ) -> None:
        self.fn = fn
        self.arg_names = arg_names
        self.configs = list(configs) or [Config({})]
        self.keys = list(key)
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        self.user_defined_pre_hook = pre_hook is not None
        self.user_defined_post_hook = post_hook is not None
        self.pre_hook: Callable[..., Any] = pre_hook or self._prepare
        self.post_hook: Callable[..., Any] = post_hook or self._restore
        self.restore_copies: dict[str, Any] = {}
        prune = dict(prune_configs_by or {})
        self.perf_model: Callable[..., float] | None = prune.get("perf_model")
        self.configs_top_k: float | int = prune.get("top_k", 1.0)
        self.early_config_prune: Callable[..., list[Config]] | None = prune.get("early_config_prune")
        self.num_warmups = warmup
        self.num_reps = rep
        self.use_cuda_graph = use_cuda_graph
        self._do_bench = do_bench
        self.cache_results = cache_results
        self.base_fn = fn
        while not inspect.isfunction(self.base_fn):
            self.base_fn = self.base_fn.fn
        self.cache: dict[tuple[Any, ...], Config] = {}
        self.best_config: Config | None = None
        self.configs_timings: dict[Config, Timing] = {}
        self.bench_time = 0.0
        self.disagreements: list[tuple[Config, str, float]] = []
        self.nargs: dict[str, Any] = {}
        self._check_names()

    def _check_names(self) -> None:
        known = set(self.arg_names)
        for what, names in (("restore_value", self.restore_value), ("reset_to_zero", self.reset_to_zero)):
            for name in names:
                if name not in known:
                    expected = ", ".join(self.arg_names)
                    function = self.base_fn.__name__
                    raise make_error("TRI0743", what=what, function=function, name=name, expected=expected)

    # ---- benchmarking --------------------------------------------------------------------------------

    def do_bench(self, call: Callable[[], Any], quantiles: Sequence[float]) -> Any:
        """Time one configuration; the user's benchmark function if one was given."""
        if self._do_bench is not None:
            return self._do_bench(call, quantiles=quantiles)
        from tritium.testing import do_bench, do_bench_cudagraph

        if self.use_cuda_graph:
            return do_bench_cudagraph(call, rep=self.num_reps or 20, quantiles=quantiles)
        on_host = not any(getattr(a, "is_cuda", False) for a in self.nargs.values())
        warmup, rep = (1, 10) if on_host else (25, 100)
        return do_bench(
            call, warmup=self.num_warmups or warmup, rep=self.num_reps or rep, quantiles=quantiles
        )

    def _trial(
        self, tried: Config, named: dict[str, Any], kwargs: dict[str, Any]
    ) -> tuple[Timing, dict[str, Any]]:
        """Time `tried` on copies. Gives timings and the arrays after its first run."""
        meta = {**kwargs, **tried.all_kwargs()}
        copies = copy_arguments({**named, **{k: v for k, v in kwargs.items() if k in self.arg_names}})
        launch_kwargs = {**meta, **{k: v for k, v in copies.items() if k in kwargs}}
        positional = [copies[n] for n in named]
        everything = {**copies, **meta, **{k: copies[k] for k in copies}}
        first: dict[str, Any] = {}

        def call() -> None:
            self._before(tried, everything)
            try:
                self.fn.run(*positional, **launch_kwargs)
            except Exception as broken:
                self.post_hook(everything, exception=broken)
                raise
            if not first:
                arrays = {k: host_values(v) for k, v in copies.items() if is_array(v)}
                first.update({k: v.copy() for k, v in arrays.items() if v is not None})
            self.post_hook(everything, exception=None)

        try:
            call()
            times = self.do_bench(call, quantiles=(0.5, 0.2, 0.8))
        except _INVALID as broken:
            if config.get("print_autotuning"):
                print(f"Autotuning: {tried} does not work here: {broken}")
            return (float("inf"),) * 3, {}
        return tuple(times) if isinstance(times, (list, tuple)) else (times,) * 3, first  # type: ignore[return-value]

    def _prepare(self, named: dict[str, Any], reset_only: bool = False) -> None:
        """The default pre-hook: what `reset_to_zero` and `restore_value` ask for. Arguments may be None."""
        for name in self.reset_to_zero:
            if named[name] is not None:
                _zero(named[name])
        if not reset_only:
            kept = {n: named[n] for n in self.restore_value if named[n] is not None}
            self.restore_copies = {n: copy_arguments(kept)[n] for n in kept}

    def _restore(self, named: dict[str, Any], exception: Exception | None) -> None:
        """The default post-hook."""
        for name, saved in self.restore_copies.items():
            _assign(named[name], saved)
        self.restore_copies = {}

    def _before(self, tried: Config, named: dict[str, Any]) -> None:
        if tried.pre_hook is not None:
            tried.pre_hook(named)
        self.pre_hook(named)

    def _tune(
        self, key: tuple[Any, ...], candidates: list[Config], named: dict[str, Any], kwargs: Any
    ) -> None:
        started = time.perf_counter()
        timings: dict[Config, Timing] = {}
        self.disagreements = []
        reference: dict[str, Any] = {}
        for tried in candidates:
            conflict = sorted((kwargs.keys() | named.keys()) & tried.kwargs.keys())
            if conflict:
                raise make_error("TRI0742", name=conflict[0], cls=None)
            timings[tried], arrays = self._trial(tried, named, kwargs)
            if arrays and not reference:
                reference = arrays
            self._compare(tried, reference, arrays)
        self.bench_time = time.perf_counter() - started
        if all(t[0] == float("inf") for t in timings.values()):
            raise make_error("TRI0740", count=len(timings), function=self.base_fn.__name__)
        self.configs_timings = timings
        self.cache[key] = min(timings, key=lambda c: timings[c][0])

    def _compare(self, tried: Config, reference: dict[str, Any], arrays: dict[str, Any]) -> None:
        for name, got in arrays.items():
            worst = _difference(reference[name], got)
            if worst > 0:
                self.disagreements.append((tried, name, worst))
                text = f"{tried}: largest relative difference {worst:.3g}"
                found = make_error("TRI0741", function=self.base_fn.__name__, name=name, got=text)
                warnings.warn(str(found), RuntimeWarning, stacklevel=6)

    # ---- launching -----------------------------------------------------------------------------------

    def _key_of(self, named: dict[str, Any], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        everything = {k: v for k, v in {**named, **kwargs}.items() if k in self.arg_names}
        key = [everything[k] for k in self.keys if k in everything]
        key += [str(v.dtype) for v in everything.values() if hasattr(v, "dtype")]
        return tuple(key)

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        named = dict(zip(self.arg_names, args, strict=False))
        self.nargs = named
        launch = dict(kwargs, grid=grid, warmup=warmup)
        chosen = self.configs[0]
        if len(self.configs) > 1 and not warmup:
            key = self._key_of(named, kwargs)
            fresh = key not in self.cache
            if fresh:
                self._find(key, named, launch)
            chosen = self.cache[key]
            if fresh and config.get("print_autotuning"):
                print(
                    f"Triton autotuning for function {self.base_fn.__name__},\nwith key as {key},\n"
                    f"finished after {self.bench_time:.2f}s,\nbest config selected: {chosen};"
                )
        self.best_config = chosen
        if chosen.pre_hook is not None:
            chosen.pre_hook({**named, **kwargs, **chosen.all_kwargs()})
        return self.fn.run(*args, **launch, **chosen.all_kwargs())

    def _find(self, key: tuple[Any, ...], named: dict[str, Any], launch: dict[str, Any]) -> None:
        candidates = self.prune_configs(launch)
        persistent = self.cache_results or bool(config.get("cache_autotuning"))
        if persistent and not any(c.pre_hook for c in candidates):
            stored = load_timings(self.fn, key, candidates)
            if stored is not None:
                self.configs_timings = stored
                self.cache[key] = min(stored, key=lambda c: stored[c][0])
                return
        self._tune(key, candidates, named, launch)
        everything = {**named, **launch, **self.cache[key].all_kwargs()}
        if self.user_defined_pre_hook or self.reset_to_zero:
            self.pre_hook(everything, reset_only=True)
        if persistent:
            store_timings(self.fn, key, self.configs_timings)

    def prune_configs(self, kwargs: dict[str, Any]) -> list[Config]:
        """The configurations worth trying for these arguments."""
        kept = list(self.configs)
        if self.early_config_prune is not None:
            kept = list(self.early_config_prune(self.configs, self.nargs, **kwargs))
            if not kept:
                raise make_error("TRI0740", count=0, function=self.base_fn.__name__)
        if self.perf_model is not None:
            top = self.configs_top_k
            count = int(len(self.configs) * top) if isinstance(top, float) and top <= 1.0 else top
            if not isinstance(count, int):
                raise TypeError("top_k is a fraction of at most 1.0 or a whole number")
            if len(kept) > count:
                model = self.perf_model
                kept = sorted(kept, key=lambda c: model(**self.nargs, **kwargs, **c.all_kwargs()))[:count]
        return kept

    def warmup(self, *args: Any, grid: Any = (1,), **kwargs: Any) -> list[Any]:
        """Compile every configuration for these arguments."""
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        return [
            self.fn.warmup(*args, grid=grid, **kwargs, **c.all_kwargs())
            for c in self.prune_configs(dict(kwargs, grid=grid))
        ]


def _zero(x: Any) -> None:
    if hasattr(x, "zero_"):
        x.zero_()
    else:
        x[...] = 0


def _assign(target: Any, source: Any) -> None:
    if hasattr(target, "copy_"):
        target.copy_(source)
    else:
        target[...] = source


_TOLERANCE = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-3, "float64": 1e-9}


def _difference(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float:
    """Largest relative difference beyond what reordered float arithmetic explains; 0 if there is none."""
    if a.shape != b.shape:
        return float("inf")
    tolerance = _TOLERANCE.get(str(a.dtype), 0.0 if a.dtype.kind in "biu" else 0.25)
    with np.errstate(all="ignore"):
        x, y = a.astype(np.float64), b.astype(np.float64)
        gap = np.abs(x - y) / max(1e-30, float(np.nanmax(np.abs(x), initial=0.0)))
    gap = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, np.nan_to_num(gap, nan=np.inf))
    worst = float(gap.max(initial=0.0))
    return worst if worst > tolerance else 0.0


def autotune(
    configs: Sequence[Config],
    key: Sequence[str],
    prune_configs_by: Mapping[str, Any] | None = None,
    reset_to_zero: Sequence[str] | None = None,
    restore_value: Sequence[str] | None = None,
    pre_hook: Callable[..., Any] | None = None,
    post_hook: Callable[..., Any] | None = None,
    warmup: int | None = None,
    rep: int | None = None,
    use_cuda_graph: bool = False,
    do_bench: Callable[..., Any] | None = None,
    cache_results: bool = False,
) -> Callable[[Any], Autotuner]:
    """Decorator: choose among `configs` whenever the values of the arguments in `key` change.

    Trial runs work on copies of the arrays, so `restore_value` and `reset_to_zero` are honoured but not needed to
    protect data. A configuration that fails to compile or does not fit counts as infinitely slow.
    """

    def decorate(fn: Any) -> Autotuner:
        return Autotuner(
            fn,
            fn.arg_names,
            configs,
            key,
            reset_to_zero,
            restore_value,
            pre_hook=pre_hook,
            post_hook=post_hook,
            prune_configs_by=prune_configs_by,
            warmup=warmup,
            rep=rep,
            use_cuda_graph=use_cuda_graph,
            do_bench=do_bench,
            cache_results=cache_results,
        )

    return decorate


class Heuristics(KernelInterface):
    """A kernel whose meta-parameters are computed from its other arguments at each launch."""

    def __init__(
        self, fn: Any, arg_names: list[str], values: Mapping[str, Callable[[dict[str, Any]], Any]]
    ) -> None:
        self.fn = fn
        self.arg_names = arg_names
        self.values = values

    def _computed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        for name, rule in self.values.items():
            kwargs[name] = rule({**dict(zip(self.arg_names, args, strict=False)), **kwargs})
        return kwargs

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        return self.fn.run(*args, grid=grid, warmup=warmup, **self._computed(args, kwargs))

    def warmup(self, *args: Any, grid: Any = (1,), **kwargs: Any) -> Any:
        return self.fn.warmup(*args, grid=grid, **self._computed(args, kwargs))


def heuristics(values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> Callable[[Any], Heuristics]:
    """Decorator: compute meta-parameters, each by a function of the arguments by name."""
    return lambda fn: Heuristics(fn, fn.arg_names, values)
