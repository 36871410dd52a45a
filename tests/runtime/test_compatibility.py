"""Triton's modules and names, one by one: each is answered or refused with a reason."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import tritium
from tritium.compat import modules
from tritium.compat.names import ELSEWHERE, REFUSED_NAMES
from tritium.compat.page import render_page
from tritium.errors import TritiumError, UnsupportedModuleError, UnsupportedNameError

ROOT = Path(__file__).resolve().parents[2]
RECORDED: dict[str, list[str]] = json.loads((Path(__file__).parent / "triton_names.json").read_text())[
    "modules"
]
"""Names of Triton 3.6.0's modules; `record_triton_names.py` wrote them."""


@pytest.fixture(autouse=True)
def installed() -> Iterator[None]:
    tritium.install(children=False)
    yield
    tritium.uninstall()


def test_the_record_is_of_the_version_that_we_answer_for() -> None:
    told = json.loads((Path(__file__).parent / "triton_names.json").read_text())
    assert told["triton"] == importlib.import_module("triton").__version__ == "3.6.0"
    assert len(RECORDED) > 50 and sum(map(len, RECORDED.values())) > 1200


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_every_module_answers_with_every_name_or_says_why_not(name: str) -> None:
    if modules.refusal_of(name) is not None:
        with pytest.raises(UnsupportedModuleError) as refused:
            importlib.import_module(name)
        assert refused.value.code == "TRI0910" and refused.value.hint
        return
    module = importlib.import_module(name)
    refused_names = REFUSED_NAMES.get(name, {})
    missing: list[str] = []
    for attribute in RECORDED[name]:
        if attribute in refused_names:
            with pytest.raises(UnsupportedNameError) as caught:
                getattr(module, attribute)
            assert caught.value.code == "TRI0910" and caught.value.hint == refused_names[attribute]
        elif not hasattr(module, attribute) and modules.refusal_of(f"{name}.{attribute}") is None:
            missing.append(attribute)
    assert not missing


def test_nothing_is_refused_that_triton_does_not_have() -> None:
    for name, refused in REFUSED_NAMES.items():
        assert set(refused) <= set(RECORDED[name]), name
    known = {*RECORDED, "triton._C", "triton._C.libtriton", "triton.instrumentation"}
    known.add("triton.tools.triton_to_gluon_translater")
    assert set(modules.REFUSED) <= known
    assert set(ELSEWHERE) <= set(RECORDED)


def test_nothing_is_refused_that_tritium_has() -> None:
    for name, refused in REFUSED_NAMES.items():
        module = importlib.import_module(name)
        assert not [n for n in refused if n in vars(module) and n not in ("T",)], name


@pytest.mark.parametrize("name", sorted(modules.ANSWERED))
def test_answers_are_aliases(name: str) -> None:
    """The same module object under both names: what one side changes the other sees."""
    target = modules.module_for(name)
    assert target is not None and importlib.import_module(name) is importlib.import_module(target)


def test_a_refused_import_says_what_to_use() -> None:
    with pytest.raises(ImportError, match="Gluon is a second, lower language"):
        from triton.experimental import gluon  # noqa: F401
    with pytest.raises(ImportError, match="TRITIUM_LOG=launch"):
        import triton.profiler  # noqa: F401
    with pytest.raises(ImportError, match="front end of its own"):
        from triton.compiler.code_generator import CodeGenerator  # noqa: F401
    with pytest.raises(AttributeError, match="no PTX"):
        importlib.import_module("triton.compiler.compiler").ptx_prototype_pattern
    with pytest.raises(ImportError, match="MLIR bindings"):
        from triton._C.libtriton import ir  # noqa: F401


def test_checks_of_programs_for_features_work() -> None:
    triton = importlib.import_module("triton")
    assert not hasattr(triton.language.extra, "hip") and not hasattr(triton.runtime, "build")
    assert not hasattr(triton, "profiler") and hasattr(triton, "set_allocator")
    assert importlib.util.find_spec("triton.profiler") is None
    assert importlib.util.find_spec("triton.language.extra.libdevice") is not None
    assert not hasattr(triton.language, "no_such_function")
    with pytest.raises(ModuleNotFoundError, match=r"triton\.no_such_module"):
        importlib.import_module("triton.no_such_module")


def test_an_unknown_name_is_python_s_own_error() -> None:
    with pytest.raises(ImportError) as caught:
        from triton.runtime.jit import no_such_name  # noqa: F401
    assert not isinstance(caught.value, TritiumError)


def test_the_page_is_current() -> None:
    assert (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8") == render_page()


# ---- real Triton beside Tritium ----------------------------------------------------------------------

REAL_TRITON = {
    "triton/__init__.py": "from . import language\nIS = 'real'\n",
    "triton/language.py": "IS = 'real'\n\n\ndef late():\n    import triton\n\n    return triton.IS\n",
    "torch/__init__.py": """
        import importlib.util

        try:
            import triton
            import triton.language as tl
            from triton.language import IS
            import importlib

            SEEN = triton.IS + tl.IS + IS + importlib.import_module("triton.language").IS
        except ModuleNotFoundError as missing:
            SEEN = f"none: {missing.name}"


        def later():
            from triton import language

            return language.IS + language.late()


        def found():
            return importlib.util.find_spec("triton") is not None
    """,
}


def run_with_packages(folder: Path, files: dict[str, str], program: str) -> list[str]:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={"PYTHONPATH": f"{ROOT / 'src'}:{folder}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_pytorch_keeps_the_real_triton_and_nobody_else_sees_it(tmp_path: Path) -> None:
    program = """
        import tritium
        tritium.install()
        import torch, triton, triton.language as tl, sys
        print(torch.SEEN)
        print(triton.__version__, tl.__name__, hasattr(triton, "IS"))
        print(torch.later(), torch.found())
        print(sys.modules["triton.language"].__name__)
        import importlib
        print(importlib.import_module("triton.language") is tl)
        tritium.uninstall()
        import triton
        print(triton.IS)
    """
    assert run_with_packages(tmp_path, REAL_TRITON, program) == [
        "realrealrealreal",
        "3.6.0 tritium.language False",
        "realreal True",
        "tritium.language",
        "True",
        "real",
    ]


def test_pytorch_finds_no_triton_where_none_is_installed(tmp_path: Path) -> None:
    files = {name: text for name, text in REAL_TRITON.items() if name.startswith("torch")}
    program = """
        import tritium
        tritium.install()
        import triton, torch
        print(torch.SEEN, triton.__version__)
        print(torch.found())
    """
    assert run_with_packages(tmp_path, files, program) == ["none: triton 3.6.0", "False"]


def test_a_triton_that_was_loaded_before_comes_back(tmp_path: Path) -> None:
    program = """
        import triton
        import tritium
        tritium.install()
        import triton.language as ours
        import torch
        print(torch.SEEN, ours.__name__, triton.IS)
        tritium.uninstall()
        import triton.language as real
        print(real.IS)
    """
    assert run_with_packages(tmp_path, REAL_TRITON, program) == [
        "realrealrealreal tritium.language real",
        "real",
    ]


def test_children_start_without_loading_tritium(tmp_path: Path) -> None:
    program = """
        import subprocess, sys
        import tritium
        tritium.install()
        ask = "import sys; before = 'tritium.errors' in sys.modules; import triton; print(before, triton.__version__)"
        print(subprocess.check_output([sys.executable, "-c", ask], text=True).strip())
        also = "import torch, triton; print(torch.SEEN, triton.__version__)"
        print(subprocess.check_output([sys.executable, "-c", also], text=True).strip())
        also = "import importlib; print(importlib.import_module('triton.language').__name__)"
        print(subprocess.check_output([sys.executable, "-c", also], text=True).strip())
        tritium.uninstall()
        print(subprocess.check_output([sys.executable, "-c", "import triton; print(triton.IS)"], text=True).strip())
    """
    assert run_with_packages(tmp_path, REAL_TRITON, program) == [
        "False 3.6.0",
        "realrealrealreal 3.6.0",
        "tritium.language",
        "real",
    ]


def test_what_pytorch_s_compiler_asks_of_triton() -> None:
    """The names and attributes by which TorchInductor probes and drives Triton, without a GPU."""
    import inspect

    import numpy as np
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import CompiledKernel  # noqa: F401
    from triton.compiler.compiler import ASTSource, make_backend  # noqa: F401
    from triton.language.standard import _log2
    from triton.runtime.autotuner import Autotuner, OutOfResources, PTXASError  # noqa: F401
    from triton.runtime.cache import triton_key
    from triton.runtime.interpreter import InterpretedFunction  # noqa: F401
    from triton.runtime.jit import JITFunction, KernelInterface

    assert "_semantic" in inspect.signature(tl.core.view).parameters
    assert (
        tl.core.get_int_dtype(16, False) == tl.uint16 and tl.core._unwrap_if_constexpr(tl.constexpr(3)) == 3
    )
    assert _log2(64) == 6 and len(triton_key()) > 60 and issubclass(JITFunction, KernelInterface)

    @triton.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), n)

    source = ASTSource(
        kernel,
        {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"},
        {"BLOCK": 4},
        {(0,): [["tt.divisibility", 16]]},
    )
    options = {
        "num_warps": 2,
        "num_stages": 1,
        "debug": False,
        "enable_fp_fusion": True,
        "launch_cooperative_grid": False,
        "launch_pdl": False,
    }
    binary = triton.compile(source, target=GPUTarget("cpu", 0, 1), options=options)
    binary._init_handles()
    assert binary.metadata.num_warps == 2 and len(binary.metadata.cluster_dims) == 3
    assert binary.metadata.name == "kernel" and binary.metadata.shared == 0 and len(binary.hash) == 64
    assert (binary.n_regs, binary.n_spills) == (0, 0) and binary.src.fn is kernel and binary.asm["ttir"]
    x = np.zeros(4, np.float32)
    hooks = (triton.knobs.runtime.launch_enter_hook, triton.knobs.runtime.launch_exit_hook)
    binary.run(1, 1, 1, 0, binary.function, binary.packed_metadata, None, *hooks, x, 7, 4)
    assert x.tolist() == [7] * 4


def test_decorators_under_every_name() -> None:
    import numpy as np
    import triton
    import triton.language as tl

    for decorator in (triton.jit, triton.runtime.jit, importlib.import_module("triton.runtime.jit").jit):

        @decorator
        def kernel(x):
            tl.store(x, 3.0)

        x = np.zeros(1, np.float32)
        kernel[(1,)](x)
        assert x[0] == 3
    assert isinstance(triton.runtime.jit(do_not_specialize=["x"])(kernel.fn), triton.JITFunction)
    assert triton.runtime.driver.active is importlib.import_module("triton.runtime.driver").driver.active
