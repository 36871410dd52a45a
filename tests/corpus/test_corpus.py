"""The corpus itself: its cases are well formed, and its judge sees what it must see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .arrays import DTYPES, bits_of, placed, poison_bits, poisoned, short_name, storage_of
from .broken import BROKEN, KINDS
from .philox import philox, uniform
from .protocol import Case, CorpusMismatch, Launch, all_cases, arrays_in, prepare, run_case, select
from .rounding import narrow, wide


def _double(rng: np.random.Generator) -> Launch:
    x = placed(rng.standard_normal(10).astype(np.float32), (2,))
    return Launch({"x": x, "out": poisoned(10, np.float32, (3,)), "n": 8})


def _doubled(args: dict[str, Any]) -> dict[str, np.ndarray]:
    out = args["out"]
    out[:8] = args["x"][:8] * 2
    return {"out": out}


DOUBLE = Case("test/double/8", None, _double, _doubled)


def _good(case: Case, launch: Launch) -> None:
    launch.args["out"][:8] = launch.args["x"][:8] * 2


def test_a_correct_run_passes() -> None:
    run_case(DOUBLE, _good)


def test_an_unwritten_element_is_seen() -> None:
    def skips_one(case: Case, launch: Launch) -> None:
        _good(case, launch)
        launch.args["out"].view(np.uint32)[3] = poison_bits(np.float32)

    with pytest.raises(CorpusMismatch, match=r"1 of 10 was never written; first at \(3,\)"):
        run_case(DOUBLE, skips_one)


def test_an_element_that_must_stay_is_seen() -> None:
    def writes_too_much(case: Case, launch: Launch) -> None:
        launch.args["out"][:] = launch.args["x"] * 2

    with pytest.raises(CorpusMismatch, match=r"2 of 10 must stay untouched but was written; first at \(8,\)"):
        run_case(DOUBLE, writes_too_much)


@pytest.mark.parametrize("where", [-1, 1, 30])
def test_a_store_outside_the_view_is_seen(where: int) -> None:
    def strays(case: Case, launch: Launch) -> None:
        _good(case, launch)
        out = launch.args["out"]
        owner = storage_of(out)
        at = out.ctypes.data - owner.ctypes.data + where * out.itemsize
        owner[at] ^= 0xFF

    with pytest.raises(CorpusMismatch, match="1 bytes outside the outputs changed"):
        run_case(DOUBLE, strays)


def test_a_changed_input_is_seen() -> None:
    def spoils(case: Case, launch: Launch) -> None:
        _good(case, launch)
        launch.args["x"][9] = 0

    with pytest.raises(CorpusMismatch, match=r"outside the outputs changed in the storage of \['x'\]"):
        run_case(DOUBLE, spoils)


def test_one_unit_in_the_last_place_is_seen_without_tolerance() -> None:
    def off_by_one(case: Case, launch: Launch) -> None:
        _good(case, launch)
        launch.args["out"][5] = np.nextafter(launch.args["out"][5], np.float32(np.inf))

    with pytest.raises(CorpusMismatch, match=r"1 of 10 is wrong \(rtol 0, atol 0\); first at \(5,\)"):
        run_case(DOUBLE, off_by_one)
    run_case(Case("test/double/8", None, _double, _doubled, rtol=1e-6), off_by_one)


def test_nan_matches_nan_and_infinity_only_itself() -> None:
    values = np.array([np.nan, np.inf, -np.inf, 1.0], np.float32)
    case = Case("test/specials/4", None, lambda rng: Launch({"out": poisoned(4, np.float32)}),
                lambda args: {"out": values}, rtol=1.0, atol=1.0)  # fmt: skip

    def writes(row: list[float]) -> Any:
        return lambda case, launch: launch.args["out"].__setitem__(slice(None), row)

    run_case(case, writes([np.nan, np.inf, -np.inf, 1.5]))
    for row in ([1, np.inf, -np.inf, 1], [np.nan, -np.inf, -np.inf, 1], [np.nan, np.inf, -np.inf, np.nan]):
        with pytest.raises(CorpusMismatch, match="1 of 4 is wrong"):
            run_case(case, writes(row))


@pytest.mark.parametrize("strides", [None, (1, 3), (-5, -1), (0, 1), (1, 0), (40, 3)])
def test_placed_keeps_values_and_strides(strides: tuple[int, int] | None) -> None:
    values = np.arange(15, dtype=np.int16).reshape(3, 5)
    if strides and 0 in strides:
        values = np.broadcast_to(values[:1] if strides[0] == 0 else values[:, :1], (3, 5))
    array = placed(values, strides)
    assert np.array_equal(array, values)
    assert strides is None or array.strides == tuple(2 * s for s in strides)


@pytest.mark.parametrize("dtype", DTYPES)
def test_poison_fills_every_type(dtype: str) -> None:
    array = poisoned((3, 4), DTYPES[dtype], offset=1)
    assert np.all(bits_of(array) == poison_bits(array.dtype))
    assert short_name(array.dtype) == dtype
    assert array.ctypes.data % 64 == array.itemsize % 64


@pytest.mark.parametrize("dtype", ["bf16", "e4m3", "e5m2"])
def test_narrow_rounds_once_to_nearest_even(dtype: str) -> None:
    kind = DTYPES[dtype]
    codes = np.arange(1 << (kind.itemsize * 8 - 1), dtype=f"u{kind.itemsize}").view(kind)
    finite = wide(codes)[np.isfinite(wide(codes))]
    low, high = finite[:-1], finite[1:]
    ties = (low + high) / 2
    assert np.array_equal(wide(narrow(np.nextafter(ties, np.inf), kind)), high)
    assert np.array_equal(wide(narrow(np.nextafter(ties, 0), kind)), low)
    assert not np.any(bits_of(narrow(ties, kind)) & 1)


def test_philox_is_the_published_function() -> None:
    # First word of the Random123 known-answer test for an all-zero counter and key.
    assert philox(0, np.zeros(1, np.int32))[0][0] == 0x6627E8D5
    sample = uniform(philox(42, np.arange(4, dtype=np.int32))[0])
    assert np.allclose(sample, [0.77408016, 0.02456270, 0.34826630, 0.54080141], rtol=1e-6)


def test_corpus_is_broad_enough() -> None:
    cases = all_cases()
    assert len({case.name.rsplit("/", 1)[0] for case in cases}) >= 100
    for tag in ("extension", "dot", "atomic", "spin", "random", "descriptor", "fp8", "large"):
        assert select(having={tag}), f"no case is tagged {tag}"
    assert not {case.name for case in select(without={"large"})} & {c.name for c in select(having={"large"})}


def test_references_are_pure_and_fit_their_arguments() -> None:
    for case in select(without={"large"}):
        first, again = prepare(case), prepare(case)
        args = dict(arrays_in(first.launch.args))
        assert first.expected.keys() <= args.keys(), case.name
        assert first.launch.scratch <= args.keys(), case.name
        assert first.expected or case.check, f"{case.name} checks nothing"
        for name, expected in first.expected.items():
            assert (expected.shape, expected.dtype) == (args[name].shape, args[name].dtype), (case.name, name)
            assert np.array_equal(bits_of(expected), bits_of(again.expected[name])), (case.name, name)
        for name, array in arrays_in(again.launch.args):
            assert np.array_equal(bits_of(array), bits_of(again.before[name])), (case.name, name)


def test_broken_programs_are_well_formed() -> None:
    assert len(BROKEN) >= 35
    assert len({program.name for program in BROKEN}) == len(BROKEN)
    assert {program.kind for program in BROKEN} == set(KINDS)
    for program in BROKEN:
        compile(program.source, program.name, "exec")
        line = program.source.splitlines()[program.line - 1]
        assert line.strip(), program.name
        assert ("kernel" in line) == (program.kind == "launch"), (program.name, line)
