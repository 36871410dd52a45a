"""Types are interned, compare by value, print as IR text and know their ranges."""

from __future__ import annotations

import pickle

import pytest

from tritium.ir.types import (
    DTYPES,
    DType,
    PointerType,
    bfloat16,
    dtype_named,
    float16,
    float32,
    int1,
    int8,
    int32,
    int64,
    like,
    pointer,
    shaped,
    tile,
    uint8,
    uint64,
    void,
)


@pytest.mark.parametrize("ty", DTYPES.values(), ids=str)
def test_every_scalar_is_found_by_each_of_its_names(ty: DType) -> None:
    assert dtype_named(ty.name) is ty
    assert dtype_named(ty.text) is ty
    assert pickle.loads(pickle.dumps(ty)) is ty
    assert ty.scalar is ty and ty.shape == () and ty.numel == 1 and not ty.is_block()


@pytest.mark.parametrize(
    "name, ty",
    [("float16", float16), ("bfloat16", bfloat16), ("bool", int1), ("u1", int1), ("float32", float32)],
)
def test_numpy_style_names(name: str, ty: DType) -> None:
    assert dtype_named(name) is ty


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(KeyError):
        dtype_named("int7")


@pytest.mark.parametrize(
    "ty, low, high",
    [
        (int1, 0, 1),
        (int8, -128, 127),
        (uint8, 0, 255),
        (int32, -(2**31), 2**31 - 1),
        (int64, -(2**63), 2**63 - 1),
        (uint64, 0, 2**64 - 1),
    ],
)
def test_integer_ranges(ty: DType, low: int, high: int) -> None:
    assert (ty.get_int_min_value(), ty.get_int_max_value()) == (low, high)


def test_exactly_one_kind_holds() -> None:
    for ty in DTYPES.values():
        assert [ty.is_int(), ty.is_floating(), ty.is_void()].count(True) == 1
        assert ty.is_int() == (ty.is_int_signed() or ty.is_int_unsigned())
    assert int1.itemsize == 1 and int1.is_int_unsigned() and int1.is_bool()
    assert void.itemsize == 0 and void.kind == "void"


def test_pointers_and_tiles_are_interned() -> None:
    assert pointer(float32) is pointer(float32)
    assert pointer(float32) is not pointer(float32, const=True)
    assert tile(int32, (4, 8)) is tile(int32, (4, 8))
    assert tile(int32, (4, 8)) != tile(int32, (8, 4))
    assert tile(pointer(int8), (3,)).scalar is pointer(int8)


def test_equality_is_by_value() -> None:
    assert PointerType(float32) == pointer(float32) and hash(PointerType(float32)) == hash(pointer(float32))
    assert pointer(float32) != pointer(float16) and pointer(float32) != float32
    assert pickle.loads(pickle.dumps(tile(pointer(int8), (2, 3)))) == tile(pointer(int8), (2, 3))


@pytest.mark.parametrize(
    "ty, text, triton",
    [
        (tile(float32, (64, 24)), "tile<64x24xf32>", "<[64, 24], fp32>"),
        (pointer(bfloat16), "ptr<bf16>", "pointer<bf16>"),
        (pointer(pointer(int8)), "ptr<ptr<i8>>", "pointer<pointer<int8>>"),
        (pointer(int1, const=True), "ptr<i1, const>", "pointer<int1>"),
        (tile(pointer(float16), (7,)), "tile<7xptr<f16>>", "<[7], pointer<fp16>>"),
    ],
)
def test_texts(ty: PointerType, text: str, triton: str) -> None:
    assert ty.text == text
    assert str(ty) == triton


@pytest.mark.parametrize("shape", [(), (0,), (4, 0), (-1,)])
def test_a_tile_without_elements_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        tile(float32, shape)


def test_any_extent_is_legal() -> None:
    assert tile(float32, (1, 3, 5)).numel == 15
    assert tile(float16, (7,)).nbytes == 14


def test_shaped_and_like() -> None:
    assert shaped(int32, ()) is int32
    assert shaped(int32, (3,)) is tile(int32, (3,))
    assert like(tile(float32, (2, 5)), int1) is tile(int1, (2, 5))
    assert like(float32, int1) is int1


def test_a_compile_time_constant_that_holds_a_type_compares_like_it() -> None:
    from tritium.ops.handles import constexpr

    assert float32 == constexpr(float32)
    assert pointer(float32) == constexpr(pointer(float32))
    assert tile(int8, (2,)) == constexpr(tile(int8, (2,)))
    assert float32 != constexpr(float16)
