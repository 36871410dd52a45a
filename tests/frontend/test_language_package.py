"""What programs find under `tritium.language`."""

from __future__ import annotations

import inspect
import pickle
from importlib import import_module
from pathlib import Path

import pytest

import tritium.language as tl
from tests.frontend.compiling import define, lowered, run
from tritium.errors import TritiumError
from tritium.language import stubs
from tritium.ops.surface import METHODS, SURFACES


def test_every_function_of_the_language_is_there_once() -> None:
    for name, surface in SURFACES.items():
        module, _, short = name.rpartition(".")
        if module == "tl":
            assert getattr(tl, short).surface is surface
            assert getattr(tl.core, short) is getattr(tl, short)


def test_names_that_mean_the_same_are_the_same_object() -> None:
    assert tl.math.exp is tl.exp
    assert tl.standard.sum is tl.sum
    assert tl.extra.libdevice.tanh is tl.extra.cuda.libdevice.tanh
    assert tl.tensor is tl.core.tensor and tl.constexpr is tl.core.constexpr


@pytest.mark.parametrize(
    "module", ["core", "extra", "extra.cuda", "extra.cuda.libdevice", "extra.libdevice", "math", "random", "semantic",
               "standard", "target_info"],
)  # fmt: skip
def test_all_lists_names_that_exist(module: str) -> None:
    found = import_module(f"tritium.language.{module}")
    assert found.__all__
    assert [n for n in found.__all__ if not hasattr(found, n)] == []


def test_tools_can_look_at_functions() -> None:
    signature = inspect.signature(tl.core.view)
    assert "_semantic" in signature.parameters
    assert list(inspect.signature(tl.load).parameters)[:3] == ["pointer", "mask", "other"]
    assert tl.load.__triton_builtin__ and tl.load.__name__ == "load" and tl.load.__doc__
    assert tl.core.is_builtin(tl.load) and not tl.core.is_builtin(len)
    assert pickle.loads(pickle.dumps(tl.load)) is tl.load


def test_types_are_made_and_recognised_as_in_triton() -> None:
    assert tl.dtype("fp32") is tl.float32 and isinstance(tl.int8, tl.dtype)
    pointer = tl.pointer_type(tl.float16)
    assert isinstance(pointer, tl.pointer_type) and isinstance(pointer, tl.dtype)
    assert pointer.element_ty is tl.float16 and tl.pi32_t == tl.pointer_type(tl.int32)
    assert tl.block_type(tl.int8, [4, 8]).shape == (4, 8)
    assert tl.core.get_int_dtype(1, True) is tl.int1 and tl.core.get_int_dtype(64, False) is tl.uint64
    assert tl.str_to_ty("*fp16") == pointer
    with pytest.raises(ValueError, match="fp33"):
        tl.dtype("fp33")
    with pytest.raises(ValueError, match="24 bits"):
        tl.core.get_int_dtype(24, True)


def test_calling_a_function_outside_a_kernel_is_explained() -> None:
    with pytest.raises(TritiumError, match=r"triton\.jit"):
        tl.load(1)


def test_the_target_is_known_in_a_compilation_only() -> None:
    assert tl.target_info.current_target() is None
    assert not tl.target_info.is_cuda() and not tl.target_info.cuda_capability_geq(9)
    assert not tl.target_info.is_hip()


def test_kernels_can_ask_for_the_target() -> None:
    from types import SimpleNamespace

    from tritium.frontend import Signature, lower_kernel

    kernel = define("""
        @jit
        def kernel(out):
            tl.static_assert(tl.target_info.is_cuda() == True)
            tl.static_assert(tl.target_info.cuda_capability_geq(9, 0))
            tl.static_assert(not tl.target_info.cuda_capability_geq(10))
    """)
    target = SimpleNamespace(backend="cuda", arch=90, warp_size=32)
    lower_kernel(kernel.source, Signature.parse(["out"], {"out": "*i32"}), {"target": target})


def test_combine_functions_of_the_standard_library() -> None:
    kernel = define("""
        @jit
        def kernel(out, n):
            i = tl.arange(0, 8)
            v = (i * 3) % 8
            tl.store(out, tl.reduce(v, 0, tl.standard._sum_combine))
            tl.store(out + 1, tl.reduce(v, 0, tl.standard._elementwise_max))
            tl.store(out + 2, tl.reduce(v, 0, tl.standard._xor_combine))
            best, where = tl.reduce((v // 4, i), 0, tl.standard._argmax_combine_tie_break_left)
            tl.store(out + 3, where)
            best, where = tl.reduce((v // 4, i), 0, tl.standard._argmin_combine_tie_break_left)
            tl.store(out + 4, where)
    """)
    v = [i * 3 % 8 for i in range(8)]
    halves = [x // 4 for x in v]
    expected = [sum(v), max(v), 0, halves.index(1), halves.index(0)]
    assert run(lowered(kernel).function, 0)[:5] == expected


def test_functions_of_a_device_library_by_their_symbols() -> None:
    @tl.core.extern
    def cube_root(x: object, _semantic: object = None) -> object:
        types = {(tl.core.dtype("fp32"),): ("__nv_cbrtf", tl.core.dtype("fp32"))}
        return tl.core.extern_elementwise("", "", [x], types, is_pure=True, _semantic=_semantic)

    kernel = define(
        "@jit\ndef kernel(out):\n    tl.store(out, cube_root(27.0).to(tl.int32))\n", cube_root=cube_root
    )
    assert run(lowered(kernel).function)[0] == 3


def test_stubs_are_up_to_date() -> None:
    """`python -m tritium.language.stubs` writes them."""
    folder = Path(stubs.__file__).parent
    stale = [
        name for name, text in stubs.render().items() if (folder / name).read_text(encoding="utf-8") != text
    ]
    assert not stale


def test_stubs_name_every_function_and_method() -> None:
    core = stubs.render()["core.pyi"]
    for name in SURFACES:
        if name.startswith("tl."):
            assert f"\ndef {name[3:]}(" in core
    for name in METHODS:
        assert f"\n    def {name}(" in core
