"""``triton.tools`` and small runtime modules: descriptors, microscaling formats, ragged arrays, file caches, type names."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import torch

import tritium as triton
import tritium.language as tl
from tritium import knobs
from tritium.errors import ArgumentError
from tritium.runtime import cache, type_names
from tritium.runtime.kernel_source import get_jit_fn_file_line, mangle_type
from tritium.tools.mxfp import MXFP4Tensor, MXScaleTensor
from tritium.tools.ragged_tma import atomic_add_ragged, create_ragged_descriptor, load_ragged, store_ragged
from tritium.tools.tensor_descriptor import TensorDescriptor

# ---- tensor descriptors ------------------------------------------------------------------------------


@triton.jit
def double_block(x, out, row, col):
    out.store([row, col], x.load([row, col]) * 2)


@pytest.mark.parametrize("library", [np.asarray, torch.from_numpy])
def test_descriptors_made_on_the_host(library) -> None:
    a = np.arange(48, dtype=np.float32).reshape(6, 8)
    x, out = library(a), library(np.zeros_like(a))
    double_block[(1,)](
        TensorDescriptor.from_tensor(x, [4, 4]), TensorDescriptor.from_tensor(out, [4, 4]), 4, 4
    )
    expected = np.zeros_like(a)
    expected[4:, 4:] = a[4:, 4:] * 2
    np.testing.assert_array_equal(np.asarray(out), expected)


def test_descriptors_in_tuples_and_what_specialises() -> None:
    @triton.jit
    def kernel(pair, out):
        desc, (row, scale) = pair
        block = desc.load([row, 0])
        tl.store(out, tl.sum(block) * scale)

    a, out = np.ones((8, 4), np.float32), np.zeros(1, np.float32)
    first = kernel[(1,)]((TensorDescriptor.from_tensor(a, [4, 4]), (6, 3)), out)
    assert out[0] == 2 * 4 * 3
    again = kernel[(1,)]((TensorDescriptor.from_tensor(np.ones((20, 4), np.float32), [4, 4]), (6, 3)), out)
    assert again is first and out[0] == 4 * 4 * 3
    assert kernel[(1,)]((TensorDescriptor.from_tensor(a, [2, 4]), (6, 3)), out) is not first


def test_padding_of_descriptors() -> None:
    @triton.jit
    def kernel(desc, out):
        i = tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :]
        tl.store(out + i, desc.load([2, 0]))

    a, out = np.ones((4, 4), np.float32), np.zeros((4, 4), np.float32)
    kernel[(1,)](TensorDescriptor.from_tensor(a, [4, 4], padding="nan"), out)
    assert np.isnan(out[2:]).all() and (out[:2] == 1).all()


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda a: TensorDescriptor(a, [], [], []), "0 axes"),
        (lambda a: TensorDescriptor(a, [8, 8], [8, 1], [4]), "block_shape 1"),
        (lambda a: TensorDescriptor(a, [8, 8], [7, 1], [4, 4]), "axis 0 is 28 bytes"),
        (lambda a: TensorDescriptor(a, [8, 8], [8, 2], [4, 4]), "last axis is 2 elements"),
        (lambda a: TensorDescriptor(a, [0, 8], [8, 1], [4, 4]), "extent of axis 0 is 0"),
        (lambda a: TensorDescriptor(a, [8, 8], [8, 1], [0, 4]), "below 1"),
        (lambda a: TensorDescriptor(a.reshape(-1)[1:], [8, 4], [8, 1], [4, 4]), "16 bytes"),
        (lambda a: TensorDescriptor.from_tensor(a, [4, 4], padding="one"), 'not "one"'),
        (lambda a: TensorDescriptor.from_tensor(a.astype(np.int32), [4, 4], padding="nan"), "needs floats"),
        (lambda a: TensorDescriptor.from_tensor(a.T, [4, 4]), "last axis"),
    ],
)
def test_descriptors_that_cannot_be_made(make, words) -> None:
    with pytest.raises(ArgumentError, match="this tensor descriptor cannot be made") as caught:
        make(np.zeros((8, 8), np.float32))
    assert words in str(caught.value)


# ---- ragged arrays -----------------------------------------------------------------------------------


@triton.jit
def ragged(x, out, total, start, size, row, WIDTH: tl.constexpr):
    block = load_ragged(x, start, size, [row, 0])
    store_ragged(out, start, size, [row, 0], block * 2)
    atomic_add_ragged(total, start, size, [row, 0], block)


def test_ragged_batches_end_where_they_end() -> None:
    a = np.arange(1, 65, dtype=np.float32).reshape(16, 4)
    out, total = np.zeros_like(a), np.ones_like(a)
    descriptors = [create_ragged_descriptor(t, [4, 4]) for t in (a, out, total)]
    for row in (0, 4):
        ragged[(1,)](*descriptors, 3, 6, row, WIDTH=4)
    expected = np.zeros_like(a)
    expected[3:9] = a[3:9]
    np.testing.assert_array_equal(out, expected * 2)
    np.testing.assert_array_equal(total, expected + 1)


def test_ragged_descriptors_that_cannot_be_made() -> None:
    a = np.zeros((4, 4), np.float32)
    for arguments, words in (
        ((a, [4, 4], 1), "last axis"),
        ((a, [4]), "block_shape"),
        ((a.reshape(-1), [4]), "2- or 3-D"),
    ):
        with pytest.raises(ValueError, match=words):
            create_ragged_descriptor(*arguments)


# ---- microscaling formats ----------------------------------------------------------------------------


def test_fp4_rounds_to_nearest_even() -> None:
    values = torch.tensor(
        [0.0, -0.0, 0.25, 0.75, 1.25, 2.5, 5.0, 5.01, 7.0, -3.5, 1e30, float("inf"), float("nan")]
    )
    got = MXFP4Tensor(data=values).to(torch.float32)
    expected = [0.0, -0.0, 0.0, 1.0, 1.0, 2.0, 4.0, 6.0, 6.0, -4.0, 6.0, 6.0, 6.0]
    assert got.tolist() == expected and torch.signbit(got).tolist()[1]
    grid = torch.linspace(-8, 8, 4001)
    reference = grid.clamp(-6, 6).numpy().astype(ml_dtypes.float4_e2m1fn).astype(np.float32)
    np.testing.assert_array_equal(MXFP4Tensor(data=grid).to(torch.float32).numpy(), reference)


@pytest.mark.parametrize("dim, shape", [(0, (4, 3)), (1, (3, 5)), (2, (2, 3, 4))])
def test_fp4_packs_and_unpacks(dim, shape) -> None:
    codes = MXFP4Tensor(size=shape).random()
    packed = codes.to_packed_tensor(dim)
    assert packed.shape[dim] == (shape[dim] + 1) // 2
    assert torch.equal(codes.unpack_packed_tensor(packed, dim, shape), codes.data)
    first = codes.data.select(dim, 0) | (codes.data.select(dim, 1) << 4)
    assert torch.equal(packed.select(dim, 0), first)
    with pytest.raises(ValueError, match="dim is from 0"):
        codes.to_packed_tensor(3)


def test_scales_are_powers_of_two() -> None:
    values = torch.tensor([1.0, 1.99, 2.0, 0.3, 2.0**-140, 3e38, 0.0, -1.0, float("nan"), float("inf")])
    scales = MXScaleTensor(data=values)
    assert scales.data.tolist() == [127, 127, 128, 125, 0, 254, 255, 255, 255, 255]
    back = scales.to(torch.float32)
    assert back[:4].tolist() == [1.0, 1.0, 2.0, 0.25] and back[6:].isnan().all()
    drawn = MXScaleTensor(size=1000).random(low=0.5, high=8.0).to(torch.float32)
    assert set(drawn.tolist()) == {0.5, 1.0, 2.0, 4.0, 8.0}
    with pytest.raises(ValueError, match="low is at most high"):
        MXScaleTensor(size=1).random(low=8.0, high=0.5)
    with pytest.raises(TypeError, match="float32"):
        scales.to(torch.float16)
    with pytest.raises(ValueError, match="give data or size"):
        MXScaleTensor()


# ---- file caches -------------------------------------------------------------------------------------


def test_files_in_a_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))
    files = cache.get_cache_manager("ab" * 32)
    assert files.get_file("a.txt") is None and not files.has_file("a.txt")
    path = files.put("text", "a.txt", binary=False)
    assert Path(path).read_text() == "text" and files.get_file("a.txt") == path
    assert Path(files.put(b"\x00\x01", "b.bin")).read_bytes() == b"\x00\x01"
    files.put_group("group.json", {"a.txt": path, "gone.txt": "x"})
    assert files.get_group("group.json") == {"a.txt": path} and files.get_group("none") is None
    assert path.startswith(str(tmp_path)) and not list(tmp_path.rglob(".writing*"))
    Path(files.get_file("__grp__group.json")).write_text("{")
    assert files.get_group("group.json") is None
    with knobs.cache.scope():
        knobs.cache.dump_dir, knobs.cache.override_dir = str(tmp_path / "d"), str(tmp_path / "o")
        assert cache.get_dump_manager("ab").put("x", "f").startswith(str(tmp_path / "d"))
        assert cache.get_override_manager("ab").put("x", "f").startswith(str(tmp_path / "o"))


class MyManager(cache.FileCacheManager):
    """A cache that a program plugs in."""


class Memory(cache.RemoteCacheBackend):
    """A remote store in this process."""

    files: dict[str, bytes] = {}

    def get(self, filenames: list[str]) -> dict[str, bytes]:
        return {f: self.files[self.key + f] for f in filenames if self.key + f in self.files}

    def put(self, filename: str, data: bytes) -> None:
        self.files[self.key + filename] = data


def test_caches_that_programs_plug_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))
    with knobs.cache.scope():
        knobs.cache.manager_class = MyManager
        assert type(cache.get_cache_manager("ab")) is MyManager
        knobs.cache.manager_class = cache.RemoteCacheManager
        with pytest.raises(RuntimeError, match="TRITON_REMOTE_CACHE_BACKEND"):
            cache.get_cache_manager("ab")
        knobs.cache.remote_manager_class = Memory
        files = cache.get_cache_manager("ab")
        files.put("remote", "a.txt")
        files.put_group("g", {"a.txt": "", "b.txt": ""})
        again = cache.get_cache_manager("ab")
        assert Path(again.get_file("a.txt")).read_text() == "remote" and again.get_file("b.txt") is None
        assert list(again.get_group("g")) == ["a.txt"] and again.get_group("h") is None


def test_keys() -> None:
    assert cache._base32("00ff") == "AD7Q" and cache.triton_key() == cache.triton_key()
    one = cache.make_so_cache_key("v", {"x": "*fp32", "n": "i32"}, {}, (), a=1)
    assert one == cache.make_so_cache_key("v", {"x": "*fp16", "n": "i32"}, {}, (), a=1)
    assert one != cache.make_so_cache_key("v", {"x": "*fp32", "n": "i64"}, {}, (), a=1)


# ---- names of types ----------------------------------------------------------------------------------


def test_names_of_types() -> None:
    assert type_names.canonicalize_dtype(torch.bfloat16) == "bf16"
    assert type_names.canonicalize_ptr_dtype(torch.bool, True) == "*ku1"
    assert type_names.get_primitive_bitwidth("float8e4nv") == 8 and type_names.BITWIDTH_DICT["i1"] == 1
    assert type_names.find_paths_if((1, (2, [3])), lambda path, x: x > 1) == [(1, 0), (1, 1, 0)]
    assert type_names.get_iterable_path((1, (2, [3])), (1, 1, 0)) == 3
    assert type_names.validate_block_shape([4, 8]) == 32
    for shape, kind in (([3], ValueError), ([2**21], ValueError), ([2.0], TypeError)):
        with pytest.raises(kind):
            type_names.validate_block_shape(shape)


@pytest.mark.parametrize(
    "value, text",
    [
        (5, "i32"),
        (1, "i32"),
        (2**40, "i64"),
        (1.5, "fp32"),
        (True, "u1"),
        (None, "constexpr"),
        (np.zeros(1, np.float16), "*fp16"),
        ((1.0, (5, None)), ("fp32", ("i32", "constexpr"))),
        (TensorDescriptor.from_tensor(np.zeros((4, 4), np.float32), [2, 4]), "tensordesc<fp32[2, 4]>"),
    ],
)
def test_types_of_arguments(value, text) -> None:
    assert mangle_type(value) == text


def test_where_a_kernel_is() -> None:
    decorated = triton.heuristics({"row": lambda args: 1})(double_block)
    file, line = get_jit_fn_file_line(decorated)
    assert file == __file__ and line == double_block.fn.__code__.co_firstlineno + 1


# ---- host functions ----------------------------------------------------------------------------------


def test_small_functions_on_the_host_and_in_kernels() -> None:
    assert [triton.cdiv(7, 2), triton.cdiv(8, 2), triton.cdiv(tl.constexpr(7), 2)] == [4, 4, 4]
    assert [triton.next_power_of_2(n) for n in (0, 1, 2, 3, 100)] == [0, 1, 2, 4, 128]

    @triton.jit
    def kernel(out, n, N: tl.constexpr):
        BLOCK: tl.constexpr = triton.next_power_of_2(N)
        COUNT: tl.constexpr = triton.cdiv(N, 4)
        tl.static_assert(BLOCK == 16)
        tl.static_assert(COUNT == 3)
        tl.store(out, triton.cdiv(n, 4))

    out = np.zeros(1, np.int32)
    kernel[(1,)](out, 9, N=10)
    assert out[0] == 3


def test_allocators_are_kept_per_context() -> None:
    import contextvars

    from tritium.runtime._allocation import _allocator, set_profile_allocator

    def allocate(size: int, alignment: int, stream: int | None) -> object:
        return None

    def inside() -> None:
        triton.set_allocator(allocate)
        assert _allocator.get() is allocate

    contextvars.copy_context().run(inside)
    with pytest.raises(RuntimeError, match="no allocator is set"):
        _allocator.get()(16, 16, None)
    set_profile_allocator(None)
