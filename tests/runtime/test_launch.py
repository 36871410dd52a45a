"""The life of a launch: what compiles and when, hooks, threads, changed globals, tracebacks, memory."""

from __future__ import annotations

import copy as copying
import gc
import pickle
import subprocess
import sys
import textwrap
import threading
import traceback
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

import tritium as triton
import tritium.language as tl
from tritium import config, knobs
from tritium.errors import CompilationError, InterpreterError, TritiumError
from tritium.ir.parser import parse_function
from tritium.ir.printer import print_function
from tritium.ops.base import REGISTRY
from tritium.runtime.interface import KernelInterface
from tritium.runtime.interpreter import InterpretedFunction

SRC = Path(__file__).resolve().parents[2] / "src"
SCALE = tl.constexpr(2)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def put(out, value):
    tl.store(out, value)


@triton.jit
def scaled(x):
    return x * SCALE


@triton.jit
def store_scaled(out, value):
    tl.store(out, scaled(value))


@pytest.fixture(autouse=True)
def fresh_hooks() -> Iterator[None]:
    with knobs.runtime.scope(), knobs.compilation.scope():
        yield


def ones(n: int = 4) -> np.ndarray:
    return np.ones(n, np.float32)


# ---- what is compiled, and when ----------------------------------------------------------------------


def fresh(function):
    """A kernel of its own, with no compilations from other tests."""
    return triton.jit(function.fn)


def test_a_launch_gives_the_compiled_kernel_and_compiles_once() -> None:
    kernel = fresh(add)
    out = np.zeros(4, np.float32)
    first = kernel[(1,)](ones(), ones(), out, 4, BLOCK=4)
    assert out.tolist() == [2, 2, 2, 2]
    assert kernel[(1,)](ones(), ones(), out, 4, BLOCK=4) is first
    assert kernel[lambda meta: (1,)](x=ones(), y=ones(), out=out, n=4, BLOCK=4) is first
    table = kernel.device_caches[0]
    assert list(table[0].values()) == [first] and len(table) == 5


def test_what_specialises() -> None:
    kernel = fresh(add)

    def launch(x=None, y=None, out=None, n=16, BLOCK=16, **options):
        x, y, out = (np.zeros(16, np.float32) if a is None else a for a in (x, y, out))
        return kernel[(1,)](x, y, out, n, BLOCK=BLOCK, **options)

    base = launch()
    assert launch(n=32) is base, "another multiple of 16"
    assert launch(n=5) is not base, "no multiple of 16"
    assert launch(n=7) is launch(n=5), "another number that is none"
    assert launch(n=1) is not launch(n=5), "the constant 1"
    assert launch(n=2**40) is not base, "an int64"
    assert launch(BLOCK=8) is not base, "another constant"
    assert launch(x=np.zeros(16, np.float16)) is not base, "another dtype"
    assert launch(x=np.zeros(17, np.float32)[1:]) is not base, "another alignment"
    assert launch(x=torch.zeros(16)) is base, "another library"
    assert launch(num_warps=8) is not base, "another option"
    assert launch(num_warps=4) is base, "the default said aloud"
    assert launch(debug=True) is not base


def test_do_not_specialize() -> None:
    @triton.jit(do_not_specialize=["n", 2], do_not_specialize_on_alignment=["x"])
    def kernel(x, n, m, out):
        tl.store(out, n + m)

    base, out = np.zeros(20, np.float32), np.zeros(1, np.int32)
    first = kernel[(1,)](base, 1, 16, out)
    assert kernel[(1,)](base, 5, 7, out) is first and out[0] == 12
    assert kernel[(1,)](base[1:], 5, 7, out) is first
    assert kernel[(1,)](base, 2**40, 7, out) is not first, "the type still counts"
    assert kernel.params[1].do_not_specialize and kernel.params[0].do_not_specialize_on_alignment


def test_settings_that_change_code_compile_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = fresh(put)
    out = np.zeros(1, np.float32)
    first = kernel[(1,)](out, 1.0)
    with config.override(triton_debug=True):
        assert kernel[(1,)](out, 1.0) is not first
    monkeypatch.setenv("TRITON_F32_DEFAULT", "tf32")
    assert kernel[(1,)](out, 1.0) is not first
    monkeypatch.delenv("TRITON_F32_DEFAULT")
    assert kernel[(1,)](out, 1.0) is first


def test_a_changed_global_gives_the_new_value(monkeypatch: pytest.MonkeyPatch) -> None:
    out = np.zeros(1, np.float32)
    store_scaled[(1,)](out, 3.0)
    assert out[0] == 6
    first = store_scaled[(1,)](out, 3.0)
    monkeypatch.setitem(globals(), "SCALE", tl.constexpr(5))
    store_scaled[(1,)](out, 3.0)
    assert out[0] == 15
    monkeypatch.setitem(globals(), "SCALE", tl.constexpr(2))
    assert store_scaled[(1,)](out, 3.0) is first and out[0] == 6


def test_a_changed_helper_gives_the_new_code(monkeypatch: pytest.MonkeyPatch) -> None:
    out = np.zeros(1, np.float32)

    @triton.jit
    def tripled(x):
        return x * 3

    store_scaled[(1,)](out, 3.0)
    monkeypatch.setitem(globals(), "scaled", tripled)
    store_scaled[(1,)](out, 3.0)
    assert out[0] == 9


def test_a_function_as_argument_follows_its_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    @triton.jit
    def apply(out, value, function: tl.constexpr):
        tl.store(out, function(value))

    out = np.zeros(1, np.float32)
    apply[(1,)](out, 3.0, scaled)
    assert out[0] == 6
    monkeypatch.setitem(globals(), "SCALE", tl.constexpr(7))
    apply[(1,)](out, 3.0, scaled)
    assert out[0] == 21


def test_replacing_the_source_text_reaches_callers() -> None:
    @triton.jit
    def inner(x):
        return x + 1

    @triton.jit
    def outer(out, x):
        tl.store(out, inner(x))

    out = np.zeros(1, np.float32)
    outer[(1,)](out, 1.0)
    assert out[0] == 2 and "x + 1" in inner.src
    key = outer.cache_key
    inner._unsafe_update_src("def inner(x):\n    return x + 10\n")
    outer[(1,)](out, 1.0)
    assert out[0] == 11 and outer.cache_key != key
    with pytest.raises(AttributeError):
        inner.src = "def inner(x):\n    return x\n"


def test_many_threads_first_launch_compile_once() -> None:
    kernel = fresh(add)
    compiled: list[str] = []
    knobs.runtime.jit_post_compile_hook = lambda **told: compiled.append(told["repr"])
    start = threading.Barrier(12)
    results: list[object] = []
    outputs = [np.zeros(64, np.float32) for _ in range(12)]

    def launch(out: np.ndarray) -> None:
        x = np.ones(64, np.float32)
        start.wait()
        results.append(kernel[(4,)](x, x, out, 64, BLOCK=16))

    threads = [threading.Thread(target=launch, args=(out,)) for out in outputs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(compiled) == 1 and len(results) == 12 and len(set(map(id, results))) == 1
    assert all((out == 2).all() for out in outputs)


def test_threads_that_wait_for_a_failing_compilation_fail_alike() -> None:
    @triton.jit
    def broken(out):
        tl.store(out, no_such_name)  # noqa: F821

    start = threading.Barrier(4)
    failures: list[str] = []

    def launch() -> None:
        start.wait()
        try:
            broken[(1,)](np.zeros(1, np.float32))
        except CompilationError as error:
            failures.append(error.code)

    threads = [threading.Thread(target=launch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == ["TRI0301"] * 4


def test_settings_of_one_thread_stay_its_own() -> None:
    kernel = fresh(put)
    seen: list[object] = []

    def launch(debug: bool) -> None:
        with config.override(triton_debug=debug):
            seen.append(kernel[(1,)](np.zeros(1, np.float32), 1.0).metadata.debug)

    threads = [threading.Thread(target=launch, args=(debug,)) for debug in (True, False)]
    for thread in threads:
        thread.start()
        thread.join()
    assert seen == [True, False]


def test_why_a_call_compiled(capfd: pytest.CaptureFixture[str]) -> None:
    kernel = fresh(add)
    x = np.zeros(16, np.float32)

    def reason(*args: object, **options: object) -> str:
        kernel[(1,)](*args, **options)
        lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("tritium[compile]")]
        assert len(lines) == 1
        return lines[0].split(" ms: ")[1]

    with config.override(log="compile"):
        assert reason(x, x, x, 16, BLOCK=16) == "first launch"
        changed = reason(x, x, x, 5, BLOCK=16)
        assert changed == "argument n changed from i32 divisible by 16 to i32"
        assert "argument BLOCK changed from the constant 16 to the constant 8" in reason(x, x, x, 5, BLOCK=8)
        assert "option num_warps changed from 4 to 8" in reason(x, x, x, 5, BLOCK=8, num_warps=8)
        assert "argument x changed" in reason(x.astype(np.float16), x, x, 5, BLOCK=8)
        with config.override(specialize="none"):
            assert "setting specialize changed from 'all' to 'none'" in reason(x, x, x, 5, BLOCK=8)
        kernel[(1,)](x, x, x, 5, BLOCK=8)
        assert capfd.readouterr().err == ""


# ---- hooks -------------------------------------------------------------------------------------------


def test_launch_hooks() -> None:
    told: list[tuple[str, dict]] = []
    knobs.runtime.launch_enter_hook = lambda metadata: told.append(("enter", metadata.get()))
    knobs.runtime.launch_exit_hook.add(lambda metadata: told.append(("exit", metadata.get())))

    @triton.jit(launch_metadata=lambda grid, metadata, args: {"flops": args["value"], "grid": grid})
    def counted(out, value):
        tl.store(out, value)

    kernel = counted[(3,)](np.zeros(1, np.float32), 5.0)
    assert [when for when, _ in told] == ["enter", "exit"]
    assert told[0][1] == {
        "name": "counted",
        "function": kernel.function,
        "stream": None,
        "flops": 5.0,
        "grid": (3, 1, 1),
    }
    kernel[(1,)](np.zeros(1, np.float32), 5.0)
    assert len(told) == 4
    knobs.runtime.launch_enter_hook = None
    counted[(3,)](np.zeros(1, np.float32), 5.0)
    assert [when for when, _ in told[4:]] == ["exit"]


def test_hooks_run_in_order_and_exits_backwards() -> None:
    order: list[str] = []
    for name in ("a", "b"):
        knobs.runtime.launch_enter_hook.add(lambda metadata, name=name: order.append(f"enter {name}"))
        knobs.runtime.launch_exit_hook.add(lambda metadata, name=name: order.append(f"exit {name}"))
    put[(1,)](np.zeros(1, np.float32), 5.0)
    assert order == ["enter a", "enter b", "exit b", "exit a"]


def test_a_cache_hook_can_prevent_a_compilation() -> None:
    kernel = fresh(put)
    told: list[dict] = []

    def refuse(**info: object) -> bool:
        told.append(info)
        return True

    knobs.runtime.jit_cache_hook = refuse
    out = np.zeros(1, np.float32)
    assert kernel[(1,)](out, 16) is None and out[0] == 0
    compile = told[0]["compile"]
    assert compile["signature"] == {"out": "*fp32", "value": "i32"}
    assert compile["configs"] == [{(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]]}]
    assert compile["num_warps"] == 4 and compile["is_warmup"] is False
    info = told[0]["fn"]
    assert (info.name, info.jit_function) == (kernel.__qualname__, kernel)
    assert told[0]["repr"].endswith("(out: *fp32, value: i32)")
    knobs.runtime.jit_cache_hook = None
    kernel[(1,)](out, 16)
    assert out[0] == 16


def test_load_hooks_see_a_kernel_once() -> None:
    kernel = fresh(put)
    told: list[tuple] = []
    knobs.runtime.kernel_load_start_hook.add(lambda *args: told.append(("start", *args)))
    knobs.runtime.kernel_load_end_hook.add(lambda *args: told.append(("end", *args)))
    compiled = kernel.warmup(np.zeros(1, np.float32), 1.0, grid=(1,))
    assert not told
    kernel[(1,)](np.zeros(1, np.float32), 1.0)
    kernel[(1,)](np.zeros(1, np.float32), 1.0)
    assert [t[0] for t in told] == ["start", "end"]
    assert told[0][1:] == (None, None, "put", {}, compiled.hash)
    assert told[1][1] is compiled.module and told[1][2] is compiled.function


def test_pre_run_hooks() -> None:
    kernel = fresh(put)
    told: list[tuple] = []
    kernel.add_pre_run_hook(lambda *args, **kwargs: told.append((len(args), kwargs)))
    kernel[(1,)](np.zeros(1, np.float32), value=1.0)
    assert told == [(1, {"value": 1.0})]


def test_stages_can_be_inspected_and_replaced() -> None:
    seen: list[list[str]] = []

    def inspect(backend: object, stages: dict, options: object, language: object, arch: object) -> None:
        seen.append(list(stages))
        original = stages["tir"]

        def with_other_value(before: object, given: object) -> object:
            function = original(before, given)
            return parse_function(print_function(function).replace("1.5", "2.5"), REGISTRY)

        stages["tir"] = with_other_value

    @triton.jit
    def constant(out):
        tl.store(out, 1.5)

    knobs.runtime.add_stages_inspection_hook = inspect
    out = np.zeros(1, np.float32)
    constant[(1,)](out)
    assert seen == [["source", "tir", "opt.tir", "cpu.tir", "ll", "o"]] and out[0] == 2.5


def test_a_listener_is_told_of_compilations() -> None:
    told: list[dict] = []
    knobs.compilation.listener = lambda **info: told.append(info)
    kernel = fresh(put)[(1,)](np.zeros(1, np.float32), 1.0)
    assert len(told) == 1 and told[0]["cache_hit"] is False
    assert told[0]["metadata"]["name"] == "put" and told[0]["src"] is kernel.src
    times = told[0]["times"]
    assert [name for name, _ in times.lowering_stages] == ["tir", "opt.tir", "cpu.tir", "ll", "o"]
    assert times.total >= times.total_lowering >= 0


# ---- objects -----------------------------------------------------------------------------------------


def test_what_a_kernel_object_says() -> None:
    assert add.__name__ == "add" and add.arg_names == ["x", "y", "out", "n", "BLOCK"]
    assert [p.name for p in add.params if p.is_constexpr] == ["BLOCK"] and add.constexprs == [4]
    assert add.src.startswith("def add(") and add.fn.__name__ == "add"
    assert list(add.signature.parameters) == add.arg_names
    assert isinstance(add, KernelInterface) and "add" in repr(add) and len(add.cache_key) == 64
    assert add.starting_line_number == add.fn.__code__.co_firstlineno + 1
    out = np.zeros(1, np.float32)
    store_scaled[(1,)](out, 3.0)
    assert {name for name, _ in store_scaled.used_global_vals} >= {"SCALE", "scaled"}
    assert store_scaled.hash == store_scaled.cache_key
    store_scaled.hash = None
    assert store_scaled.hash is None


def test_a_kernel_is_not_a_function() -> None:
    with pytest.raises(RuntimeError, match=r"put\[grid\]"):
        put(np.zeros(1), 1)


def test_names_by_repr() -> None:
    @triton.jit(repr=lambda s: f"named_{s.constants['BLOCK']}_{s.signature['x']}")
    def kernel(x, BLOCK: tl.constexpr):
        tl.store(x, BLOCK)

    compiled = kernel[(1,)](np.zeros(1, np.float32), BLOCK=8)
    assert compiled.name == compiled.metadata.name == "named_8_*fp32"


def test_kernels_are_copied_as_themselves_and_pickled_by_name() -> None:
    assert copying.copy(add) is add and copying.deepcopy({"k": add})["k"] is add
    assert pickle.loads(pickle.dumps(add)) is add
    tuned = triton.autotune([triton.Config({"BLOCK": 4})], key=[])(add)
    assert copying.deepcopy(tuned) is tuned


def test_errors_are_pickled_whole() -> None:
    with pytest.raises(TritiumError) as caught:
        put[(1,)](np.zeros(1, np.float32), "text")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) and str(again) == str(caught.value) and again.code == "TRI0704"


def test_no_array_stays_alive_after_a_launch() -> None:
    kernel = fresh(add)
    for make in (lambda: np.ones(16, np.float32), lambda: torch.ones(16)):
        arrays = [make() for _ in range(3)]
        kernel[(1,)](*arrays, 16, BLOCK=16)
        with pytest.raises(TritiumError):
            kernel[(1,)](*arrays, 16)
        refs = [weakref.ref(a) for a in arrays]
        del arrays
        gc.collect()
        assert [ref() for ref in refs] == [None] * 3


def test_kernels_that_are_gone_free_what_they_compiled() -> None:
    def make() -> weakref.ref:
        @triton.jit
        def kernel(out, C: tl.constexpr):
            tl.store(out, C)

        kernel[(1,)](np.zeros(1, np.float32), C=3)
        return weakref.ref(kernel)

    refs = [make() for _ in range(3)]
    gc.collect()
    assert [ref() for ref in refs] == [None] * 3


def test_kernels_from_exec() -> None:
    text = """
        import tritium as triton
        import tritium.language as tl

        @triton.jit
        def made(out, value):
            tl.store(out, value + 1)
    """
    space: dict = {}
    exec(compile(textwrap.dedent(text), "<made>", "exec"), space)
    out = np.zeros(1, np.float32)
    space["made"][(1,)](out, 1.5)
    assert out[0] == 2.5


def test_triton_interpret_gives_interpreted_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    kernel = triton.jit(add.fn)
    assert isinstance(kernel, InterpretedFunction) and isinstance(kernel, triton.JITFunction)
    out = np.zeros(4, np.float32)
    assert kernel[(1,)](ones(), ones(), out, 4, BLOCK=4).backend == "interpret" and out[0] == 2
    monkeypatch.delenv("TRITON_INTERPRET")
    assert type(triton.jit(add.fn)) is triton.JITFunction
    assert InterpretedFunction(add.fn)[(1,)](ones(), ones(), out, 4, BLOCK=4).backend == "interpret"


# ---- tracebacks --------------------------------------------------------------------------------------


def frames_of(error: BaseException) -> list[str]:
    return [f.filename for f in traceback.extract_tb(error.__traceback__)]


def ours(error: BaseException) -> list[str]:
    return [f for f in frames_of(error) if f.startswith(str(SRC))]


@pytest.mark.parametrize(
    "launch",
    [
        lambda: put[(1,)](np.zeros(1, np.float32)),
        lambda: put[(1,)](np.zeros(1, np.float32), "text"),
        lambda: put[(1, 1, 1, 1)](np.zeros(1, np.float32), 1),
        lambda: put[(1,)](np.zeros(1, np.float32), 1, num_wraps=3),
        lambda: put[lambda meta: meta["no"]](np.zeros(1, np.float32), 1),
        lambda: put.run(np.zeros(1, np.float32), grid=(1,)),
        lambda: put.warmup(np.zeros(1, np.float32), grid=(1,)),
        lambda: triton.heuristics({"value": lambda args: 1 // 0})(put)[(1,)](np.zeros(1, np.float32)),
        lambda: triton.autotune([triton.Config({})], key=[])(put)[(1,)](np.zeros(1, np.float32)),
    ],
)
def test_a_users_mistake_shows_one_frame_of_ours(launch) -> None:
    with pytest.raises(Exception) as caught:
        launch()
    assert len(ours(caught.value)) <= 1, frames_of(caught.value)
    assert frames_of(caught.value)[0] == __file__ == frames_of(caught.value)[1]


def test_a_mistake_in_a_kernel_shows_one_frame_of_ours() -> None:
    @triton.jit
    def broken(out):
        tl.store(out, no_such_name)  # noqa: F821

    @triton.jit
    def outside(out):
        tl.store(out + 100, 1.0)

    for kernel, kind in ((broken, CompilationError), (outside, InterpreterError)):
        with pytest.raises(kind) as caught:
            kernel[(1,)](np.zeros(1, np.float32), backend="interpret")
        assert len(ours(caught.value)) == 1
        assert caught.value.__cause__ is None


def test_everything_is_shown_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_FRONT_END_DEBUGGING", "1")
    with pytest.raises(TritiumError) as caught:
        put[(1,)](np.zeros(1, np.float32))
    assert len(ours(caught.value)) > 1


def test_a_fault_of_ours_keeps_its_frames() -> None:
    kernel = fresh(put)
    kernel._classifiers = [None, None]
    with pytest.raises(TypeError) as caught:
        kernel[(1,)](np.zeros(1, np.float32), 1.0)
    assert len(ours(caught.value)) >= 3


# ---- without PyTorch ---------------------------------------------------------------------------------


def test_everything_works_without_pytorch(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('no PyTorch here')\n")
    program = """
        import sys
        import numpy as np
        import tritium as triton
        import tritium.language as tl

        @triton.autotune([triton.Config({"BLOCK": 4}), triton.Config({"BLOCK": 8})], key=["n"])
        @triton.jit
        def add(x, y, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(y + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

        x, y = np.arange(10, dtype=np.float32), np.ones(10, np.float32)
        add[lambda meta: (triton.cdiv(10, meta["BLOCK"]),)](x, y, 10)
        triton.testing.assert_close(y, x + 1)
        print(triton.testing.do_bench(lambda: None, warmup=1, rep=1) >= 0, "torch" in sys.modules)
        print(triton.runtime.driver.active.get_current_target().backend)
    """
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(program))
    done = subprocess.run(
        [sys.executable, str(file)],
        env={"PYTHONPATH": f"{tmp_path}:{SRC}", "TRITIUM_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "False", "cpu"]


def test_launches_and_passes_are_told_on_request(capfd: pytest.CaptureFixture[str]) -> None:
    kernel = fresh(add)
    with config.override(log=["launch", "passes"]):
        kernel[(2,)](ones(), ones(), ones(), 4, BLOCK=2)
    lines = capfd.readouterr().err.splitlines()
    assert [line for line in lines if line.startswith("tritium[launch] add grid (2, 1, 1) on ")]
    assert [line for line in lines if line.startswith("tritium[passes] add: ") and "applied" in line]
    assert not [line for line in lines if line.startswith("tritium[compile]")]
