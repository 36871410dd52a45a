"""What makes the stub give way: settings, hooks, captured values, replaced sources, emptied tables."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tritium.language as tl
from tests.stub import kernels
from tests.stub.kernels import long_ways
from tritium import config, knobs
from tritium.errors import ArgumentError
from tritium.runtime import launch_check
from tritium.runtime.stub import layouts, learn, load

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_BACKEND", "cpu")


@pytest.fixture
def k() -> SimpleNamespace:
    return kernels.make()


def warm(kernel: Any, *args: Any, **kwargs: Any) -> Any:
    """The kernel of a call that the stub knows from now on."""
    for _ in range(3):
        found = kernel[(1,)](*args, **kwargs)
    with long_ways(kernel) as count:
        assert kernel[(1,)](*args, **kwargs) is found and count() == 0
    return found


def takes_long(kernel: Any, *args: Any, **kwargs: Any) -> Any:
    with long_ways(kernel) as count:
        found = kernel[(1,)](*args, **kwargs)
        assert count() == 1
    return found


def test_a_setting_in_the_environment(k: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros(4, np.float32)
    first = warm(k.reads_global, x)
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "0")
    second = takes_long(k.reads_global, x)
    assert second is not first and warm(k.reads_global, x) is second
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "nonsense")
    for _ in range(2):
        with pytest.raises(ArgumentError, match="TRI0907"):
            k.reads_global[(1,)](x)
    monkeypatch.delenv("TRITON_DEFAULT_FP_FUSION")
    assert takes_long(k.reads_global, x) is first and warm(k.reads_global, x) is first
    monkeypatch.setenv("NOT_A_SETTING_OF_OURS", "1")
    with long_ways(k.reads_global) as count:
        k.reads_global[(1,)](x)
        assert count() == 0
    monkeypatch.setattr(os, "environ", dict(os.environ))
    takes_long(k.reads_global, x)
    takes_long(k.reads_global, x)


def test_an_override(k: SimpleNamespace) -> None:
    x = np.zeros(4, np.float32)
    first = warm(k.reads_global, x)
    with config.override(backend="interpret"):
        assert takes_long(k.reads_global, x).backend == "interpret"
    with config.override(default_fp_fusion=False):
        second = takes_long(k.reads_global, x)
        assert second is not first and warm(k.reads_global, x) is second
    assert takes_long(k.reads_global, x) is first


def test_the_log_tells_every_launch(k: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    x = np.zeros(4, np.float32)
    warm(k.reads_global, x)
    monkeypatch.setenv("TRITIUM_LOG", "launch")
    for _ in range(3):
        takes_long(k.reads_global, x)
    assert capsys.readouterr().err.count("reads_global grid") == 3


def test_hooks(k: SimpleNamespace) -> None:
    x = np.zeros(4, np.float32)
    warm(k.reads_global, x)
    seen: list[str] = []
    with knobs.runtime.scope():
        knobs.runtime.launch_enter_hook = lambda metadata: seen.append("in")
        knobs.runtime.launch_exit_hook.add(lambda metadata: seen.append("out"))
        for _ in range(2):
            k.reads_global[(1,)](x)
    warm(k.reads_global, x)
    assert seen == ["in", "out"] * 2
    k.reads_global.add_pre_run_hook(lambda *args, **kwargs: seen.append("before"))
    for _ in range(2):
        takes_long(k.reads_global, x)
    k.reads_global.pre_run_hooks = []
    warm(k.reads_global, x)
    k.reads_global.pre_run_hooks = [lambda *args, **kwargs: seen.append("before")]
    takes_long(k.reads_global, x)
    assert seen[4:] == ["before"] * 3


def test_a_changed_global(k: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros(4, np.float32)
    first = warm(k.reads_global, x)
    assert x[0] == 3
    monkeypatch.setattr(kernels, "SCALE", tl.constexpr(4))
    assert warm(k.reads_global, x) is not first and x[0] == 4
    monkeypatch.setattr(kernels, "SCALE", tl.constexpr(4))
    warm(k.reads_global, x)
    monkeypatch.undo()
    os.environ["TRITIUM_BACKEND"] = "cpu"
    try:
        assert warm(k.reads_global, x) is first and x[0] == 3
    finally:
        del os.environ["TRITIUM_BACKEND"]


def test_a_changed_variable_of_a_function_around(k: SimpleNamespace) -> None:
    x = np.zeros(4, np.float32)
    first = warm(k.reads_cell, x)
    assert x[0] == 2
    kernels.change_cell(k.reads_cell, tl.constexpr(7))
    assert warm(k.reads_cell, x) is not first and x[0] == 7


def test_a_replaced_source(k: SimpleNamespace) -> None:
    x = np.zeros(4, np.float32)
    first = warm(k.reads_global, x)
    k.reads_cell._unsafe_update_src("def reads_cell(x):\n    tl.store(x, 5)\n")
    assert takes_long(k.reads_global, x) is first, "any kernel could call the one that changed"
    warm(k.reads_global, x)
    k.reads_global._unsafe_update_src("def reads_global(x):\n    tl.store(x, 77)\n")
    takes_long(k.reads_global, x)
    assert x[0] == 77
    k.reads_global.hash = None
    takes_long(k.reads_global, x)


def test_emptied_tables(k: SimpleNamespace) -> None:
    x = np.zeros(4, np.float32)
    first = warm(k.reads_global, x)
    k.reads_global.device_caches[0][0].clear()
    second = takes_long(k.reads_global, x)
    assert second is not first and warm(k.reads_global, x) is second
    k.reads_global.device_caches.clear()
    third = takes_long(k.reads_global, x)
    assert third is not second and warm(k.reads_global, x) is third


def test_more_specialisations_than_it_keeps(k: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learn, "MOST_ENTRIES", 3)
    x = np.zeros(64, np.float32)
    for _ in range(2):
        for block in (1, 2, 4, 8, 16):
            for _ in range(3):
                found = k.counted[(1,)](x, BLOCK=block)
            with long_ways(k.counted) as count:
                assert k.counted[(1,)](x, BLOCK=block) is found and count() == 0
            assert k.counted._stub.count <= 3
    assert x[0] == 2 * 5 * 4


def test_without_the_stub_launches_take_the_long_way(
    k: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> Any:
        raise load.Unavailable("for this test")

    monkeypatch.setattr(load, "_load", fails)
    load._found.cache_clear()
    try:
        assert load.stub() is None and load.why_not() == "for this test"
        x = np.zeros(4, np.float32)
        for _ in range(3):
            k.reads_global[(1,)](x)
        assert x[0] == 3 and k.reads_global._native is None
    finally:
        load._found.cache_clear()


def test_layouts_that_are_not_as_expected_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = layouts._read
    found = layouts.layout(1, 2)
    assert found.array_at and (found.version_at or sys.version_info >= (3, 13))
    monkeypatch.setattr(layouts, "_read", lambda kind, address: right(kind, address) + 1)
    with pytest.raises(ValueError, match="type"):
        layouts.layout(1, 2)
    assert layouts.tensor_layout.__wrapped__(torch.Tensor) == (0, 0)
    monkeypatch.setattr(layouts, "_read", right)
    assert layouts.tensor_layout.__wrapped__(torch.Tensor) != (0, 0)
    monkeypatch.setattr(layouts, "_is_laid_out", lambda a, at: False)
    assert layouts.layout(1, 2).array_at == 0


def test_a_class_in_the_place_of_tensors_has_no_known_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        _cdata = 0

    assert layouts.tensor_layout.__wrapped__(Other) == (0, 0)
    monkeypatch.setattr(torch, "Tensor", Other)
    assert layouts.tensor_layout.__wrapped__(Other) == (0, 0)


def test_a_checker_gets_launches_of_launchers_made_before(k: SimpleNamespace) -> None:
    x = np.zeros(4, np.float32)
    first = warm(k.reads_global, x)
    launcher, seen = k.reads_global[(1,)], []
    with launch_check.installed(lambda kernel, grid, leaves: seen.append(grid)):
        for _ in range(3):
            launcher(x)
            k.reads_global[(1,)](x)
            k.reads_global.run(x, grid=(1,))
    assert seen == [(1, 1, 1)] * 9
    assert k.reads_global[(1,)](x) is first and warm(k.reads_global, x) is first and len(seen) == 9
