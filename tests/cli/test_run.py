"""``tritium run``: programs run as plain Python would run them, with Tritium for Triton."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from .programs import ADD, HEAD, SRC, tritium, write

SHOW = "import sys, triton\nprint(triton.__version__, sys.argv, __name__)\n"


# ---- what is run -------------------------------------------------------------------------------------


def test_a_script_with_arguments(tmp_path: Path) -> None:
    write(tmp_path, "script.py", SHOW + "print(sys.path[0], __file__)\nimport beside\n")
    write(tmp_path, "beside.py", "print('beside', __name__)\n")
    done = tritium("run", "script.py", "one", "--backend", "-m", "-x", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "3.6.0 ['script.py', 'one', '--backend', '-m', '-x'] __main__",
        f"{tmp_path} script.py",
        "beside beside",
    ]


def test_options_of_ours_go_first(tmp_path: Path) -> None:
    script = write(tmp_path, "script.py", SHOW + "from tritium import config\nprint(config.get('backend'))\n")
    done = tritium("run", "--backend", "interpret", str(script), "--backend")
    assert done.stdout.splitlines() == [f"3.6.0 {[str(script), '--backend']} __main__", "interpret"]


def test_a_module(tmp_path: Path) -> None:
    write(tmp_path, "package/__init__.py", "")
    write(tmp_path, "package/__main__.py", SHOW + "print(__package__, __spec__.name)\nfrom . import inner\n")
    write(tmp_path, "package/inner.py", "print('inner')\n")
    write(tmp_path, "single.py", SHOW)
    done = tritium("run", "-m", "package", "a", "--trace", cwd=tmp_path)
    assert done.stdout.splitlines() == [
        f"3.6.0 {[str(tmp_path / 'package' / '__main__.py'), 'a', '--trace']} __main__",
        "package package.__main__",
        "inner",
    ], done.stderr
    assert "__main__" in tritium("run", "-msingle", cwd=tmp_path).stdout
    missing = tritium("run", "-m", "no_such_module", cwd=tmp_path)
    assert missing.returncode == 1 and "no module no_such_module" in missing.stderr
    assert "Traceback" not in missing.stderr


@pytest.mark.parametrize("args", [["-c", SHOW, "a", "-m"], [f"-c{SHOW}", "a", "-m"]])
def test_code(args: list[str]) -> None:
    done = tritium("run", *args)
    assert done.stdout == "3.6.0 ['-c', 'a', '-m'] __main__\n", done.stderr


def test_kernels_in_code_and_on_standard_input() -> None:
    for done in (tritium("run", "-c", ADD), tritium("run", "-", "arg", stdin=ADD)):
        assert done.returncode == 0, done.stderr
        assert done.stdout == "[1. 2. 3. 4. 5. 6.]\n"
    shown = tritium("run", "-", "arg", stdin=SHOW)
    assert shown.stdout == "3.6.0 ['-', 'arg'] __main__\n"


def test_a_folder_and_an_archive(tmp_path: Path) -> None:
    write(tmp_path, "app/__main__.py", SHOW + "import beside\n")
    write(tmp_path, "app/beside.py", "print('beside')\n")
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        for file in (tmp_path / "app").iterdir():
            archive.write(file, file.name)
    for name in ("app", "app.zip"):
        done = tritium("run", name, cwd=tmp_path)
        assert done.stdout.splitlines()[1] == "beside", done.stderr


def test_nothing_to_run(tmp_path: Path) -> None:
    for args, words in ((["run"], "nothing to run"), (["run", "none.py"], "there is no file none.py")):
        done = tritium(*args, cwd=tmp_path)
        assert done.returncode == 1 and words in done.stderr and "Traceback" not in done.stderr
    done = tritium("run", "--backend", "gpu", "-c", "1")
    assert done.returncode == 1 and "no backend `gpu`" in done.stderr
    done = tritium("run", "--trace", "first", "-c", "1")
    assert done.returncode == 1 and "trace_lines" in done.stderr


# ---- how it ends -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "program, status, err",
    [
        ("pass", 0, ""),
        ("raise SystemExit", 0, ""),
        ("import sys; sys.exit(7)", 7, ""),
        ("raise SystemExit('no good')", 1, "no good\n"),
        ("import os; os._exit(5)", 5, ""),
        ("raise KeyboardInterrupt", 130, None),
        ("1 / 0", 1, None),
        ("x = (", 1, None),
    ],
)
def test_exit_status(program: str, status: int, err: str | None) -> None:
    done = tritium("run", "-c", program)
    assert done.returncode == status, done.stderr
    if err is not None:
        assert done.stderr == err


def test_a_traceback_shows_the_program_only(tmp_path: Path) -> None:
    script = write(tmp_path, "fails.py", "def inner():\n    return {}['key']\n\n\ninner()\n")
    ours = tritium("run", str(script)).stderr
    assert ours.splitlines()[0] == "Traceback (most recent call last):"
    assert ours.count("File ") == 2 and "KeyError: 'key'" in ours and "tritium" not in ours


def test_a_syntax_error_is_told_as_python_does(tmp_path: Path) -> None:
    write(tmp_path, "wrong.py", "x = (\n")
    err = tritium("run", "wrong.py", cwd=tmp_path).stderr
    assert err.startswith('  File "wrong.py", line 1') and "SyntaxError" in err and "Traceback" not in err


def test_errors_that_came_from_others(tmp_path: Path) -> None:
    text = """
        def parse(text):
            try:
                return int(text)
            except ValueError as broken:
                raise RuntimeError("cannot parse") from broken

        try:
            parse("x")
        finally:
            None.missing
    """
    err = tritium("run", str(write(tmp_path, "chain.py", text))).stderr
    assert err.index("ValueError") < err.index("direct cause") < err.index("RuntimeError: cannot parse")
    assert err.index("During handling") < err.index("AttributeError")


def test_an_error_in_a_kernel_is_its_message(tmp_path: Path) -> None:
    script = write(tmp_path, "broken.py", ADD.replace("x + y", "x + z"))
    done = tritium("run", str(script))
    assert done.returncode == 1
    assert "error[TRI0301]: `z`" in done.stderr and "broken.py:12:" in done.stderr
    assert str(SRC) not in done.stderr


def test_hooks_and_exit_handlers_of_the_program_run(tmp_path: Path) -> None:
    text = """
        import atexit, sys, threading

        VALUE = "still here"
        atexit.register(lambda: print("at exit", VALUE))
        sys.excepthook = lambda kind, error, trace: print("hook", kind.__name__)
        threading.Thread(target=lambda: print("thread", VALUE)).start()
        raise ValueError
    """
    done = tritium("run", str(write(tmp_path, "hooks.py", text)))
    assert done.returncode == 1 and done.stderr == ""
    assert sorted(done.stdout.splitlines()) == ["at exit still here", "hook ValueError", "thread still here"]


def test_the_program_is_the_main_module(tmp_path: Path) -> None:
    text = """
        import pickle, sys

        class Thing:
            pass

        assert sys.modules["__main__"].Thing is Thing
        print(type(pickle.loads(pickle.dumps(Thing()))) is Thing, __builtins__ is not None)
    """
    assert tritium("run", str(write(tmp_path, "main.py", text))).stdout == "True True\n"


# ---- child processes ---------------------------------------------------------------------------------

KERNELS = ADD.split("if __name__")[0]


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_processes_of_multiprocessing(method: str, tmp_path: Path) -> None:
    text = f"""{KERNELS}

def work(n):
    return triton.__version__, float(add(np.arange(n, dtype=np.float32), np.ones(n, np.float32)).sum())


if __name__ == "__main__":
    import multiprocessing

    with multiprocessing.get_context("{method}").Pool(2) as pool:
        print(pool.map(work, [3, 4]))
"""
    done = tritium("run", str(write(tmp_path, "pool.py", text)))
    assert done.stdout == "[('3.6.0', 6.0), ('3.6.0', 10.0)]\n", done.stderr


def test_processes_of_subprocess_and_settings(tmp_path: Path) -> None:
    child = write(
        tmp_path, "child.py", KERNELS + "\nprint(add(np.ones(2, np.float32), np.ones(2, np.float32)))\n"
    )
    text = f"""
        import subprocess, sys
        for command in ([{str(child)!r}], ["-c", "import triton.language as tl; print(tl.__name__)"],
                        ["-c", "from tritium import config; print(config.get('backend'))"]):
            subprocess.run([sys.executable, *command], check=True)
        grandchild = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import triton; print(triton.__version__)'])"
        subprocess.run([sys.executable, "-c", grandchild], check=True)
    """
    done = tritium("run", "--backend", "interpret", str(write(tmp_path, "parent.py", text)))
    assert done.stdout.splitlines() == ["[2. 2.]", "tritium.language", "interpret", "3.6.0"], done.stderr


def test_another_sitecustomize_still_runs(tmp_path: Path) -> None:
    write(tmp_path, "site/sitecustomize.py", "import sys\nsys.customized = True\n")
    ask = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import sys, triton; print(sys.customized)'])"
    done = tritium("run", "-c", ask, path=[tmp_path / "site"])
    assert done.stdout == "True\n", done.stderr


# ---- settings and tracing ----------------------------------------------------------------------------


def test_triton_s_variables(tmp_path: Path) -> None:
    ask = "import triton; print(triton.knobs.runtime.interpret, triton.knobs.cache.dir, triton.knobs.language.fp32_default)"
    done = tritium(
        "run", "-c", ask, TRITON_INTERPRET="1", TRITON_CACHE_DIR=str(tmp_path), TRITON_F32_DEFAULT="tf32"
    )
    assert done.stdout.split()[0] == "True" and done.stdout.split()[2] == "tf32"


def test_tracing_a_line(tmp_path: Path) -> None:
    script = write(tmp_path, "add.py", ADD)
    line = ADD.splitlines().index("    x = tl.load(x_ptr + offsets, mask=live)") + 1
    done = tritium("run", "--trace", str(line), str(script))
    assert done.returncode == 0, done.stderr
    assert f"{line}" in done.stdout and "0." in done.stdout and done.stdout.endswith("[1. 2. 3. 4. 5. 6.]\n")
    assert done.stdout != tritium("run", str(script)).stdout


def test_installing_in_a_program() -> None:
    program = HEAD.replace("import numpy as np", "import numpy as np\nimport tritium\ntritium.install()")
    done = tritium("run", "-c", program + "print(triton.language is tl, tritium.language is tl)\n")
    assert done.stdout == "True True\n", done.stderr


def test_the_command_and_its_help() -> None:
    for args in (
        ["--help"],
        ["run", "--help"],
        ["ir", "-h"],
        ["explain", "-h"],
        ["doctor", "-h"],
        ["stages", "-h"],
    ):
        done = tritium(*args)
        assert done.returncode == 0 and "Usage" in done.stdout
    assert tritium("--version").stdout.startswith("tritium 0.")
    assert tritium("no-such-verb").returncode == 2


def test_python_is_the_same() -> None:
    done = tritium("run", "-c", "import sys; print(sys.executable, sys.flags.optimize)")
    assert done.stdout.split() == [sys.executable, "0"]
