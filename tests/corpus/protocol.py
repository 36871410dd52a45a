"""What a corpus case is, how one is run, and how its result is judged.

A test tier picks cases from ``all_cases()`` and runs them with ``run_case``; a tier that does not launch
the kernel in the ordinary way (IR after a pass, a device) gives its own ``launch`` function.
"""

from __future__ import annotations

import importlib
import pkgutil
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from .arrays import bits_of, is_float, poison_bits, storage_of
from .rounding import wide

Args = dict[str, Any]

TAGS = {
    "extension": "Triton 3.6 refuses the kernel: break, x[3], extents that are no power of two",
    "defined-here": "Triton leaves the checked values undefined; Tritium fixes them",
    "small-dot": "a dot smaller than Triton's minimum on NVIDIA",
    "dot": "uses tl.dot",
    "atomic": "uses atomics",
    "spin": "waits for other programs, so it needs a fair scheduler",
    "random": "uses tl.rand and its relatives",
    "libdevice": "calls the device math library",
    "descriptor": "uses tensor descriptors, which need an allocator on NVIDIA",
    "fp8": "uses 8-bit floats",
    "large": "slow on an interpreter",
    "reads-outside-view": "deliberately reads storage that is outside the view it was given",
    "no-fp32-accumulator": "accumulates in half precision on purpose",
    "read-only": "has an argument that NumPy marks read-only",
}
"""Every tag a case may carry, and what it tells a test tier."""


@dataclass
class Launch:
    """One launch of a kernel: ``kernel[grid](**args, **case.constexprs)``."""

    args: Args
    """Run-time arguments by parameter name; outputs are arrays full of poison."""
    grid: Any = (1,)
    """Tuple of one to three extents, or a function of the bound arguments."""
    scratch: frozenset[str] = frozenset()
    """Arrays that the kernel may leave in any state (locks, partial results)."""
    facts: Args = field(default_factory=dict)
    """Values the reference needs and the kernel does not take, such as the storage behind a view."""


@dataclass(frozen=True)
class Case:
    """A kernel, one set of inputs, and what must come out."""

    name: str
    """``family/kernel/variant``, unique in the corpus."""
    kernel: Any
    """A function decorated with ``jit``, or with ``autotune`` or ``heuristics`` above it."""
    make: Callable[[np.random.Generator], Launch]
    """Builds inputs; everything random comes from the generator."""
    reference: Callable[[Args], dict[str, np.ndarray]]
    """Expected arrays by argument name, from copies of ``args``, ``facts`` and ``constexprs`` before the run."""
    rtol: float = 0.0
    atol: float = 0.0
    """Both zero asks for equal bits (any NaN equals any NaN)."""
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    """Compile-time arguments of the launch."""
    tags: frozenset[str] = frozenset()
    check: Callable[[Args, Args], None] | None = None
    """Further assertions over the arguments before and after the run."""

    def __post_init__(self) -> None:
        unknown = set(self.tags) - set(TAGS)
        if unknown:
            raise ValueError(f"case {self.name} has unknown tags {sorted(unknown)}")


class CorpusMismatch(AssertionError):
    """A kernel wrote something else than its reference."""


@dataclass
class Prepared:
    """A case with built inputs, their copies from before the run, and the expected outputs."""

    case: Case
    launch: Launch
    before: Args
    expected: dict[str, np.ndarray]
    storages: dict[int, tuple[np.ndarray, np.ndarray]]
    """Owner of the memory of each argument, and its bytes before the run, by address."""


def arrays_in(args: Mapping[str, Any]) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays among arguments; a tensor descriptor counts as its base, tuples give ``name.0``, ``name.1``."""
    for name, value in args.items():
        if isinstance(value, np.ndarray):
            yield name, value
        elif isinstance(value, tuple):
            yield from arrays_in({f"{name}.{i}": item for i, item in enumerate(value)})
        elif hasattr(value, "block_shape") and isinstance(value.base, np.ndarray):
            yield name, value.base


def prepare(case: Case, seed: int = 0) -> Prepared:
    """Build the inputs of a case and its expected outputs; nothing is launched."""
    rng = np.random.default_rng([seed, zlib.crc32(case.name.encode())])
    launch = case.make(rng)
    before = dict(launch.args) | {name: np.array(a) for name, a in arrays_in(launch.args)}
    owners = {storage_of(a).ctypes.data: storage_of(a) for _, a in arrays_in(launch.args)}
    storages = {address: (owner, owner.copy(order="K")) for address, owner in owners.items()}
    inputs = before | {name: np.array(a) for name, a in arrays_in(launch.args)}
    with np.errstate(all="ignore"):  # a reference overflows and makes NaN where the kernel does
        expected = case.reference({**inputs, **launch.facts, **case.constexprs})
    return Prepared(case, launch, before, expected, storages)


def launch_kernel(case: Case, launch: Launch) -> None:
    """The ordinary launch."""
    case.kernel[launch.grid](**launch.args, **case.constexprs)


def run_case(case: Case, launch: Callable[[Case, Launch], Any] = launch_kernel, seed: int = 0) -> None:
    """Run one case; raises ``CorpusMismatch`` that says what is wrong and where."""
    prepared = prepare(case, seed)
    launch(case, prepared.launch)
    verify(prepared)


def verify(prepared: Prepared) -> None:
    """Judge the arguments of a prepared case after its launch."""
    case, args = prepared.case, prepared.launch.args
    after = dict(arrays_in(args))
    problems: list[str] = []
    for name, expected in prepared.expected.items():
        problem = difference(after[name], expected, case.rtol, case.atol)
        if problem:
            problems.append(f"{name}: {problem}")
    written = [after[name] for name in (*prepared.expected, *prepared.launch.scratch)]
    problems += _stray_writes(prepared.storages, written, after)
    if problems:
        raise CorpusMismatch(f"{case.name}: " + "; ".join(problems))
    if case.check:
        case.check(prepared.before, dict(args))


def difference(actual: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> str | None:
    """What is wrong with an output, or None.

    Elements that the reference left as poison must keep their bits; no other element may still be poison.
    Floats may differ by ``atol + rtol * abs(expected)``; NaN matches NaN, an infinity only itself. Integers
    and bools must be equal, and so must everything when both tolerances are zero.
    """
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return f"expected {expected.dtype}{expected.shape}, got {actual.dtype}{actual.shape}"
    got, want = bits_of(actual), bits_of(expected)
    poison = poison_bits(expected.dtype)
    kept, unwritten = want == poison, got == poison
    if np.any(kept & ~unwritten):
        return _report("must stay untouched but was written", kept & ~unwritten, actual, expected)
    if np.any(unwritten & ~kept):
        return _report("was never written", unwritten & ~kept, actual, expected)
    wrong = got != want
    if is_float(expected.dtype):
        with np.errstate(all="ignore"):
            a, e = wide(actual), wide(expected)
            wrong &= ~(np.isnan(a) & np.isnan(e))
            if rtol or atol:
                near = np.abs(a - e) <= atol + rtol * np.abs(e)
                wrong &= ~(near & np.isfinite(a) & np.isfinite(e)) & ~(a == e)
    return _report(f"is wrong (rtol {rtol:g}, atol {atol:g})", wrong & ~kept, actual, expected)


def _report(what: str, wrong: np.ndarray, actual: np.ndarray, expected: np.ndarray) -> str | None:
    count = int(wrong.sum())
    if not count:
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    worst = ""
    if is_float(expected.dtype):
        with np.errstate(all="ignore"):
            gap = np.abs(wide(actual) - wide(expected))[wrong]
        worst = f", largest gap {np.nanmax(gap):.3g}" if np.any(~np.isnan(gap)) else ""
    return (
        f"{count} of {wrong.size} {what}; first at {at}: got {actual[at]!r}, expected {expected[at]!r}{worst}"
    )


def _stray_writes(
    storages: Mapping[int, tuple[np.ndarray, np.ndarray]], written: list[np.ndarray], after: Args
) -> list[str]:
    """Bytes that changed although they belong to no output: guards, gaps between strides, inputs."""
    problems: list[str] = []
    for address, (owner, before) in storages.items():
        open_bytes = np.zeros(owner.nbytes, bool)
        for array in written:
            if storage_of(array).ctypes.data == address:
                start = array.ctypes.data - address
                covered = (*array.shape, array.dtype.itemsize)
                view = np.ndarray(covered, bool, open_bytes.data, start, (*array.strides, 1))
                view[...] = True
        now, then = (a.ravel(order="K").view(np.uint8) for a in (owner, before))
        changed = np.flatnonzero((now != then) & ~open_bytes)
        if changed.size:
            names = [name for name, a in after.items() if storage_of(a).ctypes.data == address]
            at = int(changed[0])
            problems.append(
                f"{changed.size} bytes outside the outputs changed in the storage of {names} at byte {at}"
            )
    return problems


@lru_cache(maxsize=1)
def all_cases() -> tuple[Case, ...]:
    """Every case of every corpus module (each lists its own in ``CASES``), sorted by name."""
    package = importlib.import_module(__package__ or "corpus")
    cases: list[Case] = []
    for module in pkgutil.iter_modules(package.__path__):
        if not module.name.startswith(("test_", "conftest")):
            loaded = importlib.import_module(f"{package.__name__}.{module.name}")
            cases += getattr(loaded, "CASES", [])
    names = [case.name for case in cases]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"case names used twice: {sorted(twice)}")
    return tuple(sorted(cases, key=lambda case: case.name))


def select(*, having: set[str] | None = None, without: set[str] | None = None) -> list[Case]:
    """Cases that carry every tag of ``having`` and none of ``without``."""
    wanted, unwanted = having or set(), without or set()
    return [c for c in all_cases() if wanted <= c.tags and not unwanted & c.tags]


def tagged(cases: list[Case], *tags: str) -> list[Case]:
    """The same cases with further tags."""
    return [replace(case, tags=case.tags | set(tags)) for case in cases]
