"""Promises about matrix products on CUDA, each by its name: the generated text on the host.

`tests/gpu/test_promises.py` runs the same on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cuda_codegen.host_emulation import needs_compiler, on_host
from tests.cuda_codegen.matmul_promises import PROMISES


@needs_compiler
@pytest.mark.parametrize("layouts", ["default", "seed"])
@pytest.mark.parametrize("promise", PROMISES.values(), ids=PROMISES)
def test_on_cuda(promise: Callable[[], None], layouts: str) -> None:
    with on_host(layouts=layouts) as records:
        promise()
    assert records, "nothing was launched through CUDA"
