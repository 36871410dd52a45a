"""Autotuning: try configurations on copies, check that they agree, keep the fastest per key.

Trial runs never touch the caller's arrays: whatever the kernel may write is copied first (`tritium.runtime.tuning_trial`).
So in-place kernels are tuned safely with or without ``restore_value`` and ``reset_to_zero``, which are still honoured.
The first run of every configuration is compared with the first configuration's; one that computes something else
is reported (`Autotuner.disagreements` and a warning), because a tuner that picks by speed alone would hide the bug.
"""

from __future__ import annotations

import inspect
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tritium import config
from tritium.errors import (
    AutotunerError,
    CompileTimeAssertionFailure,
    OutOfResources,
    PTXASError,
    make_error,
)
from tritium.runtime import log
from tritium.runtime.copies import assign, copy_of, fill_zero
from tritium.runtime.driver import driver
from tritium.runtime.heuristics import Heuristics, heuristics
from tritium.runtime.interface import KernelInterface
from tritium.runtime.jit import JITFunction
from tritium.runtime.options import OPTIONS
from tritium.runtime.tracebacks import cleaned, users_level
from tritium.runtime.tuning_cache import load_timings, store_timings
from tritium.runtime.tuning_config import Config, check_names
from tritium.runtime.tuning_trial import Trials, written_names

Timing = Sequence[float]
_INVALID: tuple[type[Exception], ...] = (OutOfResources, CompileTimeAssertionFailure, PTXASError)
_NEVER = [float("inf")] * 3
_SLOW = 50.0
"""Milliseconds of a run on the host after which one run is measurement enough."""


class Autotuner(KernelInterface):
    """A kernel with candidate configurations; launching picks the best for the key and runs it.

    best_config      configuration of the last launch
    configs_timings  milliseconds (median, 20 % and 80 % quantiles) per configuration, of the last tuning
    bench_time       seconds the last tuning took
    cache            best configuration by key
    disagreements    (configuration, argument, largest relative difference) found in the last tuning
    """

    def __init__(
        self,
        fn: Any,
        arg_names: list[str],
        configs: Sequence[Config] | None,
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
        self.configs = list(configs or ()) or [Config({})]
        self.keys = list(key)
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        self.restore_copies: dict[str, Any] = {}
        self.user_defined_pre_hook = pre_hook is not None
        self.user_defined_post_hook = post_hook is not None
        self.pre_hook: Callable[..., Any] = pre_hook or self._reset_and_save
        self.post_hook: Callable[..., Any] = post_hook or self._restore
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
        self.nargs: Any = None
        self._failures: dict[Config, str] = {}
        self._trials: Trials | None = None
        self._lock = threading.RLock()

    def __deepcopy__(self, memo: Any) -> Autotuner:
        return self

    # ---- hooks ---------------------------------------------------------------------------------------

    def _reset_and_save(self, kwargs: dict[str, Any], reset_only: bool = False) -> None:
        for name in self.reset_to_zero:
            if kwargs[name] is not None:
                fill_zero(kwargs[name])
        if not reset_only:
            kept = [name for name in self.restore_value if kwargs[name] is not None]
            self.restore_copies = {name: copy_of(kwargs[name]) for name in kept}

    def _restore(self, kwargs: dict[str, Any], exception: Exception | None) -> None:
        for name, kept in self.restore_copies.items():
            assign(kwargs[name], kept)
        self.restore_copies = {}

    # ---- benchmarking --------------------------------------------------------------------------------

    @property
    def do_bench(self) -> Callable[..., Any]:
        """``do_bench(call, quantiles=...)`` times a configuration; the user's function if one was given."""
        if self._do_bench is not None:
            return self._do_bench
        if self.use_cuda_graph or self.num_warmups is not None or self.num_reps is not None:
            return self._bench_as_asked
        return driver.active.get_benchmarker()

    def _bench_as_asked(self, call: Callable[[], Any], quantiles: Sequence[float]) -> Any:
        from tritium.runtime.benchmarking import do_bench, do_bench_cudagraph

        rep = 100 if self.num_reps is None else self.num_reps
        if self.use_cuda_graph:
            return do_bench_cudagraph(call, rep=rep, quantiles=quantiles)
        warmup = 25 if self.num_warmups is None else self.num_warmups
        return do_bench(call, warmup=warmup, rep=rep, quantiles=quantiles)

    def _bench(self, *args: Any, config: Config, **meta: Any) -> Timing:
        """Milliseconds (median, 20 % and 80 % quantiles) of `config`; infinite where it does not work."""
        _check_conflicts(config.kwargs, meta, self.nargs or {})
        current = {**meta, **config.all_kwargs()}
        started = time.perf_counter()
        try:
            timing = self._try(args, config, current)
        except _INVALID as broken:
            self._failures[config] = getattr(broken, "message", str(broken))
            timing = _NEVER
        if _verbose() or log.enabled("autotune"):
            self._report(config, timing, time.perf_counter() - started)
        return timing

    def _try(self, args: tuple[Any, ...], tried: Config, current: dict[str, Any]) -> Timing:
        trials = self._trials or self._new_trials(args, current)
        trials.refill()
        positional = [trials.copies.get(n, a) for n, a in zip(self.arg_names, args, strict=False)]
        positional += args[len(positional) :]
        launch = {k: trials.copies.get(k, v) for k, v in current.items()}
        named = {**dict(zip(self.arg_names, positional, strict=False)), **launch}

        def call() -> None:
            if tried.pre_hook is not None:
                tried.pre_hook(named)
            self.pre_hook(named)
            try:
                self.fn.run(*positional, **launch)
            except Exception as broken:
                self.post_hook(named, exception=broken)
                raise
            self.post_hook(named, exception=None)

        started = time.perf_counter()
        call()
        first = (time.perf_counter() - started) * 1e3
        if not self.restore_value and not self.user_defined_post_hook:
            self._compare(tried, trials)
        if first > _SLOW and self._do_bench is None and driver.active.get_current_target().backend == "cpu":
            return [first] * 3
        times = self.do_bench(call, quantiles=(0.5, 0.2, 0.8))
        return list(times) if isinstance(times, (list, tuple)) else [times] * 3

    def _new_trials(self, args: tuple[Any, ...], current: dict[str, Any]) -> Trials:
        """Copies for `args`: of what the kernel writes, or of everything where hooks may write too."""
        named = dict(zip(self.arg_names, args, strict=False))
        named.update({k: v for k, v in current.items() if k in self.arg_names})
        hooks = self.user_defined_pre_hook or any(c.pre_hook is not None for c in self.configs)
        written = None
        if not hooks:
            launch = {k: v for k, v in current.items() if k != "warmup"}
            written = written_names(self.fn.warmup(*args, **launch), self.arg_names)
        if written is not None:
            written |= {*self.reset_to_zero, *self.restore_value}
        return Trials(named, written)

    def _compare(self, tried: Config, trials: Trials) -> None:
        for name, worst in trials.differences():
            self.disagreements.append((tried, name, worst))
            text = f"{tried}: largest relative difference {worst:.3g}"
            found = make_error("TRI0741", function=self.base_fn.__name__, name=name, got=text)
            warnings.warn(str(found), RuntimeWarning, stacklevel=users_level())

    def _report(self, tried: Config, timing: Timing, seconds: float) -> None:
        failed = self._failures.get(tried)
        result = f"does not work: {failed}" if failed is not None else f"{timing[0]:.4g} ms"
        line = f"{self.base_fn.__name__}: {tried}: {result} (took {seconds:.2f} s)"
        if _verbose():
            print(f"Autotuning kernel {line}")
        if log.enabled("autotune"):
            log.write("autotune", line)

    # ---- launching -----------------------------------------------------------------------------------

    def key_of(self, named: Mapping[str, Any], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """The tuning key: values of the arguments in `key`, and the dtype of every argument that has one."""
        everything = {k: v for k, v in {**named, **kwargs}.items() if k in self.arg_names}
        key = [everything[k] for k in self.keys if k in everything]
        key += [str(v.dtype) for v in everything.values() if hasattr(v, "dtype")]
        return tuple(key)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            named = dict(zip(self.arg_names, args, strict=False))
            chosen = self.configs[0]
            _check_conflicts(chosen.all_kwargs(), kwargs, named)
            if len(self.configs) > 1 and not kwargs.get("warmup"):
                key = self.key_of(named, kwargs)
                found = self.cache.get(key)
                chosen = found if found is not None else self._tuned(key, args, named, kwargs)
            self.best_config = chosen
            if chosen.pre_hook is not None:
                chosen.pre_hook({**named, **kwargs, **chosen.all_kwargs()})
            return self.fn.run(*args, **{**kwargs, **chosen.all_kwargs()})
        except BaseException as error:
            raise cleaned(error)  # noqa: B904 (the same error, with fewer frames)

    def _tuned(
        self, key: tuple[Any, ...], args: tuple[Any, ...], named: dict[str, Any], kwargs: dict[str, Any]
    ) -> Config:
        """The best configuration for a key that was not seen yet. One thread tunes, others wait."""
        with self._lock:
            if key in self.cache:
                return self.cache[key]
            self.nargs = named
            try:
                candidates = self.prune_configs(kwargs)
                measure = lambda: self._tune(key, args, candidates, kwargs)
                if self._persistent():
                    measured = not self.check_disk_cache(key, candidates, measure)
                else:
                    measure()
                    measured = True
            finally:
                self.nargs = None
            chosen = self.cache[key]
            if measured and _verbose():
                print(
                    f"Triton autotuning for function {self.base_fn.__name__},\nwith key as {key},\n"
                    f"finished after {self.bench_time:.2f}s,\nbest config selected: {chosen};"
                )
            return chosen

    def _persistent(self) -> bool:
        return bool(self.cache_results or config.get("cache_autotuning"))

    def _tune(
        self,
        key: tuple[Any, ...],
        args: tuple[Any, ...],
        candidates: Sequence[Config],
        kwargs: dict[str, Any],
    ) -> None:
        started = time.perf_counter()
        self.disagreements, self._failures = [], {}
        try:
            timings: dict[Config, Timing] = {}
            for tried in candidates:
                if self._trials is None:
                    self._trials = self._trials_for(args, tried, kwargs)
                timings[tried] = self._bench(*args, config=tried, **kwargs)
        finally:
            self._trials = None
        self.bench_time = time.perf_counter() - started
        if all(timing[0] == float("inf") for timing in timings.values()):
            raise self._nothing_works(timings)
        self.configs_timings = timings
        best = self.cache[key] = min(timings, key=lambda c: timings[c][0])
        self.pre_hook({**self.nargs, **kwargs, **best.all_kwargs()}, reset_only=True)

    def _trials_for(self, args: tuple[Any, ...], tried: Config, kwargs: dict[str, Any]) -> Trials | None:
        """Copies made once for all candidates; None if this one does not compile, so that the next is asked."""
        try:
            return self._new_trials(args, {**tried.all_kwargs(), **kwargs})
        except _INVALID:
            return None

    def _nothing_works(self, timings: Mapping[Config, Timing]) -> Exception:
        notes = [f"{tried}: {self._failures.get(tried, 'infinitely slow')}" for tried in timings]
        return make_error("TRI0740", count=len(timings), function=self.base_fn.__name__, notes=notes)

    def check_disk_cache(
        self, tuning_key: tuple[Any, ...], configs: Sequence[Config], bench_fn: Callable[[], Any]
    ) -> bool:
        """Take the timings for the key from disk, or measure with `bench_fn` and keep them. Whether they were there."""
        if not tuning_key or any(c.pre_hook for c in configs):  # hooks cannot be part of what is stored
            bench_fn()
            return False
        stored = load_timings(self.fn, tuning_key, configs)
        if stored is not None:
            self.configs_timings = dict(stored)
            self.cache[tuning_key] = min(stored, key=lambda c: stored[c][0])
            return True
        bench_fn()
        store_timings(self.fn, tuning_key, self.configs_timings)
        return False

    def prune_configs(self, kwargs: dict[str, Any]) -> list[Config]:
        """The configurations worth trying for these arguments."""
        kept = list(self.configs)
        if self.early_config_prune is not None:
            kept = list(self.early_config_prune(self.configs, self.nargs, **kwargs))
            if not kept:
                notes = ["`early_config_prune` left none"]
                name = self.base_fn.__name__
                raise make_error("TRI0740", count=len(self.configs), function=name, notes=notes)
        if self.perf_model is not None:
            top = self.configs_top_k
            count = int(len(self.configs) * top) if isinstance(top, float) and top <= 1.0 else top
            if not isinstance(count, int):
                raise TypeError(f"top_k is a fraction of at most 1.0 or a whole number, not {top!r}")
            if len(kept) > count:
                model = self.perf_model
                kept = sorted(kept, key=lambda c: model(**self.nargs, **kwargs, **c.all_kwargs()))[:count]
        return kept

    def warmup(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Compile every configuration for these arguments."""
        kwargs.setdefault("grid", (1,))
        with self._lock:
            self.nargs = dict(zip(self.arg_names, args, strict=False))
            try:
                candidates = self.prune_configs(kwargs)
            finally:
                self.nargs = None
        return [self.fn.warmup(*args, **{**kwargs, **c.all_kwargs()}) for c in candidates]


def _check_conflicts(tuned: Mapping[str, Any], *given: Mapping[str, Any]) -> None:
    """ConflictingParametersError if a launch gives what the configurations set."""
    conflicts = sorted({name for names in given for name in names} & tuned.keys())
    if conflicts:
        raise make_error("TRI0742", name=", ".join(conflicts))


def _verbose() -> bool:
    return bool(config.get("print_autotuning"))


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
        made = Autotuner(
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
        function = made.base_fn.__name__
        check_names("restore_value", function, made.restore_value, fn.arg_names)
        check_names("reset_to_zero", function, made.reset_to_zero, fn.arg_names)
        for candidate in made.configs:
            check_names("a configuration", function, candidate.kwargs, [*fn.arg_names, *OPTIONS])
        return made

    return decorate


__all__ = [
    "Autotuner",
    "AutotunerError",
    "Config",
    "Heuristics",
    "JITFunction",
    "KernelInterface",
    "OutOfResources",
    "PTXASError",
    "autotune",
    "driver",
    "heuristics",
]
