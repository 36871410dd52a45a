"""What importing costs: nothing is loaded before it is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SRC = Path(__file__).resolve().parents[2] / "src"


def loaded_after(program: str) -> set[str]:
    told = f"import sys\n{program}\nprint(*sys.modules)"
    environment = {"PYTHONPATH": str(SRC)}
    return set(subprocess.check_output([sys.executable, "-c", told], env=environment, text=True).split())


def test_the_package_alone_is_one_module() -> None:
    found = {name for name in loaded_after("import tritium") if name.startswith(("tritium", "numpy"))}
    assert found == {"tritium"}


def test_decorating_a_kernel_loads_no_compiler() -> None:
    found = loaded_after(
        "import tritium, tritium.language, tritium.knobs\ntritium.jit, tritium.cdiv, tritium.Config"
    )
    assert "tritium.runtime.jit" in found
    late = (
        "pipeline",
        "passes",
        "analysis",
        "backends.interp",
        "backends.cpu",
        "errors.codes",
        "testing",
        "cli",
    )
    late += ("runtime.compilation", "runtime.autotuner", "runtime.hooks", "compat")
    heavy = {"torch", "typer", "rich", "llvmlite", "concurrent.futures", "subprocess", "jinja2"}
    assert not {f"tritium.{name}" for name in late} & found
    assert not heavy & found


def test_installing_loads_the_runtime_only_when_triton_is_imported() -> None:
    found = loaded_after("import tritium\ntritium.install()")
    assert "tritium.runtime.jit" not in found and "numpy" not in found
