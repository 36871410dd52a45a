"""Kernels of the corpus become machine code for three generations of GPUs, without a GPU, or are refused by name.

A refusal is TRI0760 with the line of the kernel: an operation that the backend says it does not have. Anything else is
a fault: source that does not compile, a kernel that does not fit, parameters that are not where the launch puts them.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from tests.corpus.protocol import Case, prepare, select
from tritium.errors import TritiumError
from tritium.runtime.autotuner import Autotuner
from tritium.runtime.gpu_kernel import GpuKernel

ARCHITECTURES = ("sm_80", "sm_90a", "sm_100")
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("compiler")]


def families() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = defaultdict(list)
    for case in select():
        found[case.name.split("/")[0]].append(case)
    return found


FAMILIES = families()
FOR_ALL = (
    "elementwise",
    "activations",
    "matrix_add",
    "matmul",
    "batched_matmul",
    "reductions",
    "softmax",
    "odd_extents",
)
"""Families that are compiled for every architecture; the others for that of Hopper."""
COMPILED_WHOLLY = ("matrix_add", "strided_copy")
"""Families of which no case may be refused."""


def outcome(case: Case, arch: str) -> str:
    """ "" for a case that compiled, "refused" for one that the backend declines, else what is wrong."""
    kernel = case.kernel
    options: dict[str, Any] = dict(case.constexprs)
    while not hasattr(kernel, "warmup") or isinstance(kernel, Autotuner):
        options = {**(kernel.configs[0].all_kwargs() if isinstance(kernel, Autotuner) else {}), **options}
        kernel = kernel.fn
    launch = prepare(case).launch
    try:
        made = kernel.warmup(**launch.args, **options, grid=launch.grid, backend="cuda", arch=arch)
    except TritiumError as error:
        if error.code == "TRI0760" and error.loc is not None and error.loc.line > 0:
            return "refused"
        return f"{case.name}: {error.code}: {error.message} {error.notes}"
    if not isinstance(made, GpuKernel) or made.binary.arch != arch or not made.program.parameters:
        return f"{case.name}: made {made}"
    return ""


@pytest.mark.parametrize(
    "family, arch",
    [(f, a) for f in sorted(FAMILIES) for a in ARCHITECTURES if a == "sm_90a" or f.startswith(FOR_ALL)],
)
def test_compiles_or_is_refused(family: str, arch: str) -> None:
    outcomes = [outcome(case, arch) for case in FAMILIES[family]]
    faults = [found for found in outcomes if found and found != "refused"]
    assert not faults, "\n".join(faults)
    if family in COMPILED_WHOLLY:
        assert "refused" not in outcomes
