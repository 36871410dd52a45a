"""Promises about matrix products on a GPU, each by its name, under both policies."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cuda_codegen.launching import launching
from tests.cuda_codegen.matmul_promises import PROMISES
from tests.gpu.on_device import Device

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("layouts", ["default", "seed"])
@pytest.mark.parametrize("promise", PROMISES.values(), ids=PROMISES)
def test_on_a_gpu(promise: Callable[[], None], layouts: str) -> None:
    device = Device(layouts=layouts)
    with launching(device.run):
        promise()
    assert device.binaries, "nothing was launched on the GPU"
