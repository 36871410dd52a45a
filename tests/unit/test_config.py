"""Settings: read at use, typed, overridable by thread, documented."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tritium import config
from tritium.errors import ArgumentError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in config.SETTINGS.values():
        monkeypatch.delenv(setting.env, raising=False)


def test_the_environment_is_read_at_use(monkeypatch: pytest.MonkeyPatch) -> None:
    assert config.DEBUG.value is False
    monkeypatch.setenv("TRITON_DEBUG", "1")
    assert config.DEBUG.value is True
    monkeypatch.setenv("TRITON_DEBUG", "0")
    assert config.DEBUG.value is False
    monkeypatch.setenv("TRITON_DEBUG", "")
    assert config.DEBUG.value is False


@pytest.mark.parametrize("name", sorted(config.SETTINGS))
def test_every_setting_has_a_default_of_its_own_type(name: str) -> None:
    setting = config.SETTINGS[name]
    assert setting.name == name and setting.doc.endswith(".")
    assert setting.env.startswith(("TRITIUM_", "TRITON_"))
    assert setting.value == setting.default == setting.checked(setting.default)


def test_variables_are_distinct() -> None:
    assert len({setting.env for setting in config.SETTINGS.values()}) == len(config.SETTINGS)


@pytest.mark.parametrize(
    "name, text, value",
    [
        ("triton_debug", "1", True),
        ("triton_debug", "YES", True),
        ("triton_debug", "off", False),
        ("triton_debug", "2", True),
        ("backend", "CPU", "cpu"),
        ("f32_default", "tf32x3", "tf32x3"),
        ("num_threads", "4", 4),
        ("log", "compile, launch,", frozenset({"compile", "launch"})),
        ("require", "matmul_pipeline", frozenset({"matmul_pipeline"})),
        ("trace_lines", "12,14", frozenset({12, 14})),
        ("tritium_cache_dir", "/tmp/kernels", Path("/tmp/kernels")),
        ("default_fp_fusion", "0", False),
    ],
)
def test_text_is_read_as_the_type(
    name: str, text: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(config.SETTINGS[name].env, text)
    assert config.SETTINGS[name].value == value
    assert type(config.SETTINGS[name].value) is type(value)


@pytest.mark.parametrize(
    "name, text",
    [
        ("triton_debug", "maybe"),
        ("num_threads", "-1"),
        ("num_threads", "many"),
        ("log", "compile,lunch"),
        ("verify", "1"),
        ("trace_lines", "12,x"),
    ],
)
def test_a_wrong_value_is_named(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variable = config.SETTINGS[name].env
    monkeypatch.setenv(variable, text)
    with pytest.raises(ArgumentError) as caught:
        _ = config.SETTINGS[name].value
    assert caught.value.code == "TRI0907"
    assert variable in str(caught.value) and text in str(caught.value)
    with pytest.raises(ArgumentError, match=variable), config.override(**{name: text}):
        pass


def test_an_override_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_VERIFY", "off")
    assert config.get("verify") == config.VERIFY.value == "off"
    with config.override(verify="total"):
        assert config.VERIFY.value == "total"
        with config.override(triton_debug=True):
            assert (config.VERIFY.value, config.DEBUG.value) == ("total", True)
        assert config.DEBUG.value is False
    assert config.VERIFY.value == "off"


def test_an_override_can_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_BACKEND", "cpu")
    with config.override(backend=None):
        assert config.BACKEND.value is None


def test_override_is_undone_after_an_exception() -> None:
    with pytest.raises(KeyError), config.override(triton_debug=True):
        raise KeyError
    assert config.DEBUG.value is False


def test_override_is_seen_by_its_own_thread_only() -> None:
    seen: list[bool] = []
    with config.override(triton_debug=True):
        thread = threading.Thread(target=lambda: seen.append(config.DEBUG.value))
        thread.start()
        thread.join()
    assert seen == [False]


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(ArgumentError, match="TRI0911"), config.override(verfy="total"):
        pass


def test_cache_key_follows_the_settings_that_enter_it() -> None:
    before = config.key()
    hash(before)
    assert {name for name, _ in before} == {s.name for s in config.SETTINGS.values() if s.in_cache_key}
    with config.override(log="compile"):
        assert config.key() == before
    with config.override(triton_debug=True):
        assert config.key() != before
    with config.override(require="b,a"):
        assert ("require", ("a", "b")) in config.key()


def test_the_current_values_can_be_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_LOG", "launch,compile")
    lines = config.describe().splitlines()
    assert len(lines) == len(config.SETTINGS)
    assert any(line.split()[:2] == ["TRITIUM_LOG", "compile,launch"] for line in lines)
    assert any(line.split()[:2] == ["TRITIUM_BACKEND", "unset"] for line in lines)


def test_other_variables_go_through_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOME_VARIABLE", raising=False)
    assert config.environment("SOME_VARIABLE") is None
    config.set_environment("SOME_VARIABLE", "x")
    assert config.environment("SOME_VARIABLE") == os.environ["SOME_VARIABLE"] == "x"
    config.set_environment("SOME_VARIABLE", None)
    assert "SOME_VARIABLE" not in os.environ


def test_the_page_is_current() -> None:
    """`make docs` writes it."""
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == config.render_page()


def test_importing_reads_no_environment() -> None:
    """A wrong variable must not break the import, only the use."""
    code = "from tritium import config; import tritium.errors"
    environment = {**os.environ, "TRITIUM_VERIFY": "wrong", "PYTHONPATH": str(ROOT / "src")}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
