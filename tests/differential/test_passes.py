"""Translation validation: every pass leaves what every kernel of the corpus computes as it was, to the bit."""

from __future__ import annotations

import pytest

from tests.corpus.protocol import Case, select
from tests.differential.stages import assert_same_bits, staged
from tritium.ir.parser import parse_function
from tritium.ir.printer import print_function
from tritium.ir.verify import verify
from tritium.ops.base import REGISTRY


@pytest.mark.parametrize("case", select(without={"large"}), ids=lambda case: case.name)
def test_passes_keep_what_a_kernel_computes(case: Case) -> None:
    kernel = staged(case)
    (_, before), *steps = kernel.steps()
    wanted = kernel.results(before)
    text = print_function(before)
    for name, function in steps:
        verify(function, level="total", after=name)
        now = print_function(function)
        if now != text:
            assert_same_bits(wanted, kernel.results(function), name)
        text = now
    assert text == print_function(kernel.artefact("opt.tir")), "the passes are not deterministic"


@pytest.mark.parametrize("case", select(without={"large"})[::5], ids=lambda case: case.name)
def test_the_text_of_a_stage_computes_the_same(case: Case) -> None:
    kernel = staged(case)
    for stage in ("tir", "order.tir"):
        read = parse_function(print_function(kernel.artefact(stage), locs=True), REGISTRY)
        kernel.check(read)
