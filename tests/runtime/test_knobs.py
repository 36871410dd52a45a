"""``triton.knobs``: variables, assignment, scopes, hooks; and what Tritium does with them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tritium import config, knobs


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for group in (knobs.runtime, knobs.cache, knobs.compilation, knobs.language, knobs.autotuning):
        for knob in group.knob_descriptors.values():
            monkeypatch.delenv(knob.key, raising=False)


def test_a_knob_reads_its_variable_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert knobs.runtime.interpret is False and knobs.language.fp32_default is None
    monkeypatch.setenv("TRITON_INTERPRET", "Yes")
    monkeypatch.setenv("TRITON_F32_DEFAULT", "ieee")
    assert knobs.runtime.interpret is True and knobs.language.fp32_default == "ieee"
    monkeypatch.setenv("TRITON_INTERPRET", "0")
    assert knobs.runtime.interpret is False


def test_assigning_sets_the_variable_and_reaches_tritium() -> None:
    with knobs.runtime.scope(), knobs.language.scope():
        knobs.runtime.debug = True
        knobs.language.fp32_default = "tf32"
        assert os.environ["TRITON_DEBUG"] == "1" and config.get("triton_debug") is True
        assert config.get("f32_default") == "tf32"
        knobs.runtime.debug = None
        assert "TRITON_DEBUG" not in os.environ
    assert "TRITON_F32_DEFAULT" not in os.environ and config.get("f32_default") is None


def test_env_reads_the_variable_again() -> None:
    with (
        knobs.runtime.scope()
    ):  # which puts the variable back; monkeypatch would put back what the assignment set
        knobs.runtime.interpret = True
        os.environ["TRITON_INTERPRET"] = "0"
        assert knobs.runtime.interpret is True
        knobs.runtime.interpret = knobs.env
        assert knobs.runtime.interpret is False
        knobs.runtime.interpret = True
        del knobs.runtime.interpret
        assert knobs.runtime.interpret is True, "the variable was set by the assignment"


def test_assignments_can_stay_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knobs, "propagate_env", False)
    with knobs.runtime.scope():
        knobs.runtime.interpret = True
        assert knobs.runtime.interpret is True and "TRITON_INTERPRET" not in os.environ


def test_scopes_restore_values_variables_and_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_DEBUG", "1")
    first = print
    with knobs.runtime.scope():
        knobs.runtime.launch_enter_hook.add(first)
        with knobs.runtime.scope():
            knobs.runtime.debug = False
            knobs.runtime.launch_enter_hook.add(len)
            knobs.runtime.jit_cache_hook = max
        assert os.environ["TRITON_DEBUG"] == "1" and knobs.runtime.debug is True
        assert knobs.runtime.launch_enter_hook.calls == [first] and knobs.runtime.jit_cache_hook is None
    assert not knobs.runtime.launch_enter_hook.calls


def test_copy_and_reset() -> None:
    with knobs.compilation.scope():
        knobs.compilation.always_compile = True
        other = knobs.compilation.copy()
        assert other.always_compile is True and other.knobs["always_compile"] is True
        assert knobs.compilation.reset().always_compile is True, "the variable is still set"
        os.environ.pop("TRITON_ALWAYS_COMPILE")
        assert knobs.compilation.always_compile is False and other.always_compile is True


def test_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TRITIUM_CACHE_DIR", raising=False)
    monkeypatch.setenv("TRITON_HOME", str(tmp_path))
    assert knobs.cache.dir == str(tmp_path / ".tritium" / "cache") == str(config.cache_directory())
    assert knobs.cache.dump_dir == str(tmp_path / ".tritium" / "dump")
    monkeypatch.setenv("TRITON_CACHE_DIR", "/elsewhere")
    assert knobs.cache.dir == "/elsewhere" == str(config.cache_directory())


def test_kinds_of_knobs(monkeypatch: pytest.MonkeyPatch) -> None:
    class mine(knobs.base_knobs):
        number = knobs.env_int("MY_NUMBER", 3)
        text = knobs.env_str("MY_TEXT", "a")
        flag = knobs.env_opt_bool("MY_FLAG")
        made = knobs.env_class("MY_CLASS", "Path")
        late = knobs.env_str_callable_default("MY_LATE", lambda: "computed")

    group = mine()
    assert group.knobs == {"number": 3, "text": "a", "flag": None, "made": None, "late": "computed"}
    monkeypatch.setenv("MY_NUMBER", "12")
    monkeypatch.setenv("MY_FLAG", "on")
    monkeypatch.setenv("MY_CLASS", "pathlib:PosixPath")
    assert (group.number, group.flag, group.made) == (12, True, type(Path()))
    monkeypatch.setenv("MY_NUMBER", "twelve")
    with pytest.raises(RuntimeError, match="MY_NUMBER is 'twelve'"):
        _ = group.number
    for text, words in (("pathlib", "MODULE:CLASS"), ("os:PathLike", "which is no Path")):
        monkeypatch.setenv("MY_CLASS", text)
        with pytest.raises(RuntimeError, match=words):
            _ = group.made


def test_tools_that_tritium_does_not_need(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="Tritium compiles without it"):
        _ = knobs.nvidia.ptxas
    tool = tmp_path / "ptxas"
    tool.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 12.8, V12.8.93'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("TRITON_PTXAS_PATH", str(tool))
    assert knobs.nvidia.ptxas == knobs.NvidiaTool(str(tool), "12.8")


def test_a_chain_of_hooks() -> None:
    told: list[str] = []
    chain = knobs.HookChain(reversed=True)
    first, second = (lambda: told.append("first")), (lambda: told.append("second"))
    for hook in (first, second, first):
        chain.add(hook)
    chain()
    assert told == ["second", "first"] and bool(chain)
    chain.remove(first)
    chain.remove(second)
    chain.remove(second)
    assert not chain.calls


def test_times_add_up() -> None:
    times = knobs.CompileTimes(1, [("a", 2), ("b", 3)], 4)
    assert times.total_lowering == 5 and times.total == 10
