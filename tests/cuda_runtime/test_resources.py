"""Reading cubins, and the checks that a kernel fits a GPU."""

from __future__ import annotations

import pytest

from tritium.backends.cuda.resources import (
    Limits,
    ParameterSlot,
    Resources,
    arch_number,
    arch_of,
    check_fits,
    limits_of,
    read_cubin,
)
from tritium.errors import OutOfResources

USES = Resources(40, 0, 0, 0, 1024, 1, 256, (ParameterSlot(0, 8), ParameterSlot(8, 4)))


@pytest.mark.parametrize(
    "image", [b"", b"\x7fELF", b"\x7fELF\x02\x01" + bytes(58), b"MZ" + bytes(100), bytes(200)]
)
def test_what_is_no_cubin_is_refused(image: bytes) -> None:
    with pytest.raises(ValueError):
        read_cubin(image, "k", "sm_80")


def test_resources_survive_json() -> None:
    import json

    assert Resources.from_json(json.loads(json.dumps(USES.to_json()))) == USES


@pytest.mark.parametrize(
    "capability, arch",
    [((8, 0), "sm_80"), ((8, 9), "sm_89"), ((9, 0), "sm_90a"), ((10, 0), "sm_100"), ((12, 1), "sm_121")],
)
def test_the_architecture_of_a_device(capability: tuple[int, int], arch: str) -> None:
    assert arch_of(capability) == arch
    assert arch_number(arch) == capability[0] * 10 + capability[1]


def test_what_fits_is_let_through() -> None:
    check_fits("k", USES, 256, 1024, limits_of("sm_90a"), "sm_90a")


@pytest.mark.parametrize(
    "threads, shared, uses, code, name, required, limit",
    [
        (2048, 0, Resources(8, 0, 0, 0, 0, 0, 0, ()), "TRI0734", "threads per block", 2048, 1024),
        (512, 0, USES, "TRI0734", "threads per block", 512, 256),
        (256, 232449, USES, "TRI0734", "bytes of shared memory", 232449, 232448),
        (1024, 0, Resources(80, 0, 0, 0, 0, 0, 1024, ()), "TRI0734", "registers per block", 81920, 65536),
    ],
)
def test_what_does_not_fit_is_named(
    threads: int, shared: int, uses: Resources, code: str, name: str, required: int, limit: int
) -> None:
    with pytest.raises(OutOfResources) as caught:
        check_fits("k", uses, threads, shared, limits_of("sm_90a"), "a GPU")
    error = caught.value
    assert (error.code, error.name, error.required, error.limit) == (code, name, required, limit)
    assert "`k`" in error.message and "a GPU" in error.message and error.message.startswith("out of resource")


def test_limits_by_architecture() -> None:
    assert limits_of("sm_90a") == Limits(1024, 232448)
    assert limits_of("sm_80").shared == 163 * 1024 and limits_of("sm_89").shared == 99 * 1024
    assert limits_of("sm_77").shared == 99 * 1024, (
        "an architecture that is not in the table gets the common least"
    )
