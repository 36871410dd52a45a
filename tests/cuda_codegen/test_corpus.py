"""The whole corpus on the way to CUDA, without a GPU: machine IR on the interpreter, and the text on the host.

Machine IR is executed with the race check, under both policies. The CUDA text itself runs on the host for a part of the
corpus (all of it with ``-m slow``), and goes through NVRTC in `test_nvrtc`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from tests.corpus.protocol import Case, run_case, select
from tests.cuda_codegen.host_emulation import needs_compiler, on_host
from tests.cuda_codegen.launching import launching
from tritium.backends.cuda import generate
from tritium.backends.interp import Options, Program, run_grid
from tritium.ir.match import Record
from tritium.ir.parser import parse_function
from tritium.ir.printer import print_function
from tritium.ir.verify import verify
from tritium.ops.base import REGISTRY

CASES = select(without={"large"})
NAMES = [case.name for case in CASES]


@contextmanager
def on_machine_ir(**options: Any) -> Iterator[None]:
    """Within the block, launches that the interpreter would run are lowered to machine IR first, which it then runs."""
    programs: dict[Any, Program] = {}

    def execute(kernel: Any, grid: tuple[int, int, int], leaves: Sequence[Any]) -> None:
        program = programs.get(kernel)
        if program is None:
            chosen = {**kernel.options, **options}
            record = Record()
            laid = generate.lay_out(kernel.compilation.artefacts["opt.tir"], chosen, record)
            verify(laid, level="total", after="lay_out")
            machine = generate.lower(laid, chosen, record)
            verify(machine, level="total", after="lower")
            text = print_function(machine)
            assert print_function(parse_function(text, REGISTRY)) == text
            program = programs.setdefault(kernel, Program(machine))
        run_grid(program, grid, leaves, options=Options())

    with launching(execute):
        yield


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_machine_ir(case: Case) -> None:
    with on_machine_ir(num_warps=4):
        run_case(case)


@pytest.mark.parametrize("warps", [1, 2, 3, 8, 16])
@pytest.mark.parametrize("case", CASES[::23], ids=NAMES[::23])
def test_machine_ir_with_other_numbers_of_warps(case: Case, warps: int) -> None:
    with on_machine_ir(num_warps=warps):
        run_case(case)


@pytest.mark.parametrize("case", CASES[::5], ids=NAMES[::5])
def test_machine_ir_of_the_seed_policy(case: Case) -> None:
    with on_machine_ir(layouts="seed"):
        run_case(case)


ON_HOST = [case for case in CASES if "spin" not in case.tags]


@needs_compiler
@pytest.mark.parametrize("case", ON_HOST[::11], ids=[c.name for c in ON_HOST[::11]])
def test_on_the_host(case: Case) -> None:
    with on_host():
        run_case(case)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("case", ON_HOST, ids=[c.name for c in ON_HOST])
def test_all_on_the_host(case: Case) -> None:
    with on_host():
        run_case(case)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("case", ON_HOST, ids=[c.name for c in ON_HOST])
def test_all_on_the_host_under_the_seed_policy(case: Case) -> None:
    with on_host(layouts="seed"):
        run_case(case)
