"""What kernels take: arrays of every library and layout, numbers of every kind, tuples; and the errors for the rest."""

from __future__ import annotations

import enum
from collections import namedtuple

import ml_dtypes
import numpy as np
import pytest
import torch

import tritium as triton
import tritium.language as tl
from tritium.errors import ArgumentError, ArgumentRangeError, LaunchError, TritiumError, UnknownOptionError


@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def copy_strided(x, out, rows, cols, x_row, x_col, out_row, out_col, BLOCK: tl.constexpr):
    r = tl.arange(0, BLOCK)[:, None]
    c = tl.arange(0, BLOCK)[None, :]
    live = (r < rows) & (c < cols)
    value = tl.load(x + r * x_row + c * x_col, mask=live)
    tl.store(out + r * out_row + c * out_col, value, mask=live)


@triton.jit
def put(out, value):
    tl.store(out, value)


def element_strides(a):
    return [s // a.itemsize for s in a.strides] if isinstance(a, np.ndarray) else list(a.stride())


# ---- binding -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args, kwargs, code, words",
    [
        ((1,), {}, "TRI0703", ["`value`", "value=..."]),
        ((), {}, "TRI0703", ["`out` and `value`"]),
        ((1, 2, 3), {}, "TRI0701", ["takes 2 positional arguments, and 3 are given", "out, value"]),
        ((1, 2), {"value": 3}, "TRI0710", ["`value` by position and by keyword"]),
        ((1, 2), {"num_wraps": 4}, "TRI0702", ["num_wraps", "did you mean `num_warps`?"]),
        ((1,), {"valeu": 3}, "TRI0702", ["`valeu`", "did you mean `value`?"]),
        ((1, 2), {"zzz": 3}, "TRI0702", ["`zzz`", "the parameters are"]),
        ((1, 2), {"stream": 3}, "TRI0702", ["current stream"]),
        ((1, 2), {"num_warps": 3}, "TRI0713", ["num_warps cannot be 3", "1, 2, 4, 8, 16 or 32"]),
        ((1, 2), {"num_stages": -1}, "TRI0713", ["num_stages cannot be -1"]),
        ((1, 2), {"num_ctas": 0}, "TRI0713", ["num_ctas cannot be 0"]),
        ((1, 2), {"maxnreg": "many"}, "TRI0713", ["maxnreg cannot be 'many'"]),
        ((1, 2), {"debug": "yes"}, "TRI0713", ["debug cannot be 'yes'"]),
        ((1, 2), {"backend": "gpu"}, "TRI0731", ["no backend `gpu`"]),
    ],
)
def test_calls_that_do_not_bind(args, kwargs, code, words) -> None:
    with pytest.raises(ArgumentError if code != "TRI0731" else LaunchError) as caught:
        put[(1,)](*args, **kwargs)
    assert caught.value.code == code
    for word in words:
        assert word in str(caught.value)


def test_a_misspelt_parameter_is_named_with_the_right_one() -> None:
    x = np.zeros(4, np.float32)
    with pytest.raises(UnknownOptionError, match="`BLOK`") as caught:
        copy[(1,)](x, x, 4, BLOK=128)
    assert "did you mean `BLOCK`?" in str(caught.value)
    with pytest.raises(KeyError, match="did you mean `BLOCK`"):
        copy[(1,)](x, x, 4, block=128)


def test_defaults_and_keywords_bind_as_in_python() -> None:
    @triton.jit
    def sums(out, a=1, b=10, *, c=100, BLOCK: tl.constexpr = 2):
        tl.store(out, a + b + c + BLOCK)

    out = np.zeros(1, np.int32)
    for call, expected in [
        (lambda: sums[(1,)](out), 113),
        (lambda: sums[(1,)](out, 2, BLOCK=4), 116),
        (lambda: sums[(1,)](b=20, out=out), 123),
        (lambda: sums[(1,)](out, 2, 3, c=4), 11),
    ]:
        call()
        assert out[0] == expected
    with pytest.raises(ArgumentError, match="takes 4 positional arguments, and 5 are given"):
        sums[(1,)](out, 1, 2, 3, 4)


def test_variadic_parameters_make_a_tuple() -> None:
    @triton.jit
    def total(out, *values):
        result = 0
        for i in tl.static_range(len(values)):
            result += values[i]
        tl.store(out, result)

    out = np.zeros(1, np.int32)
    total[(1,)](out, 1, 2, 3)
    assert out[0] == 6


def test_options_and_parameters_of_any_name() -> None:
    @triton.jit
    def kernel(bind, _options, _default_0=3):
        tl.store(bind, _options + _default_0)

    out = np.zeros(1, np.int32)
    compiled = kernel[(1,)](out, 4, num_warps=np.int64(8), num_stages=tl.constexpr(2))
    assert out[0] == 7 and (compiled.metadata.num_warps, compiled.metadata.num_stages) == (8, 2)


def test_an_option_that_is_also_a_parameter_goes_to_both() -> None:
    @triton.jit
    def warps(out, num_warps: tl.constexpr):
        tl.store(out, num_warps)

    out = np.zeros(1, np.int32)
    kernel = warps[(1,)](out, num_warps=8)
    assert out[0] == 8 and kernel.metadata.num_warps == 8


# ---- grids -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "grid, instances",
    [
        ((3,), 3),
        ((3, 2), 6),
        ((3, 2, 2), 12),
        ([3], 3),
        (3, 3),
        (lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),), 3),
        (lambda meta: [meta["BLOCK"] // 2], 2),
        ((np.int64(3),), 3),
        ((torch.tensor(3),), 3),
        (lambda meta: (meta["num_warps"],), 8),
        ((0,), 0),
        ((3, 0), 0),
    ],
)
def test_grids(grid, instances) -> None:
    @triton.jit
    def count(out, n, BLOCK: tl.constexpr):
        tl.atomic_add(out, 1)

    out = np.zeros(1, np.int32)
    count[grid](out, 12, BLOCK=4, num_warps=8)
    assert out[0] == instances


@pytest.mark.parametrize(
    "grid, code",
    [
        ((), "TRI0706"),
        ((1, 1, 1, 1), "TRI0706"),
        (("a",), "TRI0706"),
        ((1.5,), "TRI0706"),
        (None, "TRI0706"),
        ("abc", "TRI0706"),
        (lambda meta: None, "TRI0706"),
        ((torch.zeros(2),), "TRI0706"),
        ((-1,), "TRI0708"),
        ((2**31,), "TRI0707"),
        ((1, 2**31), "TRI0707"),
        ((1, 1, 2**31), "TRI0707"),
    ],
)
def test_grids_that_are_none(grid, code) -> None:
    with pytest.raises(LaunchError) as caught:
        put[grid](np.zeros(1, np.int32), 1)
    assert caught.value.code == code


def test_an_empty_grid_still_checks_the_call() -> None:
    out = np.zeros(1, np.float32)
    with pytest.raises(ArgumentError, match="needs a value for"):
        put[(0,)](out)
    with pytest.raises(ArgumentError, match="str 'a'"):
        put[(0,)](out, "a")
    with pytest.raises(TritiumError, match="read-only"):
        put[(0,)](np.broadcast_to(np.float32(0), (4,)), 1.0)
    assert put[(0,)](out, 1.0) is not None and out[0] == 0


# ---- numbers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value, dtype, stored",
    [
        (7, np.int32, 7),
        (1, np.int32, 1),
        (2**31, np.int64, 2**31),
        (-(2**63), np.int64, -(2**63)),
        (2**64 - 1, np.uint64, 2**64 - 1),
        (True, np.int8, 1),
        (False, np.bool_, False),
        (1.5, np.float32, 1.5),
        (1e300, np.float32, np.inf),
        (np.float32(1.5), np.float32, 1.5),
        (np.float64(1.5), np.float32, 1.5),
        (np.float16(1.5), np.float32, 1.5),
        (ml_dtypes.bfloat16(1.5), np.float32, 1.5),
        (np.int8(-3), np.int32, -3),
        (np.uint64(2**63), np.uint64, 2**63),
        (np.bool_(True), np.int8, 1),
        (enum.IntEnum("E", "A B").B, np.int32, 2),
        (tl.constexpr(9), np.int32, 9),
    ],
)
def test_numbers(value, dtype, stored) -> None:
    out = np.zeros(1, dtype)
    put[(1,)](out, value)
    assert out[0] == stored


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1])
def test_integers_that_no_type_holds(value) -> None:
    with pytest.raises(ArgumentRangeError, match="argument `value`") as caught:
        put[(1,)](np.zeros(1, np.int64), value)
    assert isinstance(caught.value, OverflowError)


@pytest.mark.parametrize(
    "value, got",
    [
        ("fast", "str 'fast'"),
        ({"a": 1}, "dict"),
        (object(), "object"),
        (1j, "complex"),
        (torch.float32, "dtype"),
        (lambda: 1, "function"),
        (np.datetime64("2020-01-01"), "datetime64"),
    ],
)
def test_values_that_kernels_do_not_take(value, got) -> None:
    with pytest.raises(ArgumentError, match="argument `value`") as caught:
        put[(1,)](np.zeros(1, np.float32), value)
    assert got in str(caught.value)


def test_annotations_fix_the_type_of_numbers() -> None:
    @triton.jit
    def wide(out, x: tl.float64, n: tl.int64, small: "i8", flag: bool, count: int):  # noqa: F821, UP037
        tl.static_assert(x.dtype == tl.float64)
        tl.static_assert(n.dtype == tl.int64)
        tl.static_assert(small.dtype == tl.int8)
        tl.static_assert(flag.dtype == tl.int1)
        tl.static_assert(count.dtype == tl.int32)
        tl.store(out, x)
        tl.store(out + 1, n.to(tl.float64))

    out = np.zeros(2)
    wide[(1,)](out, 0.1, 1, -128, True, 1)
    assert out.tolist() == [0.1, 1.0]
    wide[(1,)](out, 3, 1, 0, 1, 5)
    assert out.tolist() == [3.0, 1.0]
    with pytest.raises(ArgumentRangeError, match=r"`small` is 128.*annotated int8"):
        wide[(1,)](out, 0.1, 1, 128, True, 1)
    with pytest.raises(ArgumentRangeError, match="`count` is 2147483648"):
        wide[(1,)](out, 0.1, 1, 1, True, 2**31)
    with pytest.raises(ArgumentError, match=r"`n` is the float 0\.5"):
        wide[(1,)](out, 0.1, 0.5, 1, True, 1)
    with pytest.raises(ArgumentError, match="`n` is an array of fp64"):
        wide[(1,)](out, 0.1, out, 1, True, 1)


def test_annotations_of_pointers() -> None:
    @triton.jit
    def bits(x: "*i32", out, n: "tl.constexpr"):  # noqa: F722, UP037
        tl.store(out, tl.load(x))

    out = np.zeros(1, np.int32)
    bits[(1,)](np.array([1.0], np.float32), out, 3)
    assert out[0] == np.float32(1.0).view(np.int32)
    with pytest.raises(ArgumentError, match="array of fp64"):
        bits[(1,)](np.zeros(1), out, 3)
    with pytest.raises(ArgumentError, match="the int 5"):
        bits[(1,)](5, out, 3)


def test_none_and_tuples_arrive_as_they_are() -> None:
    Pair = namedtuple("Pair", "first second")

    @triton.jit
    def nested(out, pair, optional):
        (a, b), c = pair.first, pair.second
        if optional is None:
            tl.store(out, a + b + c)
        else:
            tl.store(out, tl.load(optional))

    out = np.zeros(1, np.int32)
    nested[(1,)](out, Pair((1, 16), np.int32(100)), None)
    assert out[0] == 117
    nested[(1,)](out, Pair([1, 16], 100), np.array([5], np.int32))
    assert out[0] == 5
    with pytest.raises(ArgumentError, match=r"argument `pair\[0\]\[1\]` is str"):
        nested[(1,)](out, Pair((1, "x"), 100), None)


def test_arrays_inside_tuples_are_written() -> None:
    @triton.jit
    def both(pair):
        x, (y, n) = pair
        tl.store(y, tl.load(x) + n)

    x, y = np.array([2.0], np.float32), torch.zeros(1)
    both[(1,)]((x, (y, 3)))
    assert y.item() == 5


# ---- arrays ------------------------------------------------------------------------------------------

DTYPES = [
    *(np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64),
    *(np.float16, np.float32, np.float64, ml_dtypes.bfloat16),
    *(ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
def test_numpy_dtypes(dtype) -> None:
    x = np.array([0, 1, 2, 3, 1], np.float32).astype(dtype)
    out = np.zeros_like(x)
    copy[(1,)](x, out, 5, BLOCK=8)
    assert out.tobytes() == x.tobytes()


@pytest.mark.parametrize(
    "dtype",
    [
        *(
            torch.bool,
            torch.uint8,
            torch.int8,
            torch.int16,
            torch.int32,
            torch.int64,
            torch.uint16,
            torch.uint32,
        ),
        *(
            torch.float16,
            torch.bfloat16,
            torch.float32,
            torch.float64,
            torch.float8_e5m2,
            torch.float8_e4m3fn,
        ),
    ],
    ids=str,
)
def test_torch_dtypes(dtype) -> None:
    x = torch.tensor([0.0, 1.0, 1.0, 0.0, 1.0]).to(dtype)
    out = torch.zeros(5).to(dtype)
    copy[(1,)](x, out, 5, BLOCK=8)
    assert torch.equal(out.view(torch.uint8), x.view(torch.uint8))


@pytest.mark.parametrize("dtype", [np.complex64, "U3", object, "M8[s]", ">f4", np.longdouble])
def test_dtypes_that_kernels_do_not_have(dtype) -> None:
    with pytest.raises(ArgumentError, match="argument `x` has elements of type") as caught:
        copy[(1,)](np.zeros(4, dtype), np.zeros(4, np.float32), 4, BLOCK=4)
    assert caught.value.code == "TRI0711"


BASE = np.arange(48, dtype=np.float32).reshape(6, 8)
VIEWS = {
    "whole": BASE,
    "transposed": BASE.T,
    "fortran": np.asfortranarray(BASE),
    "every second column": BASE[:, ::2],
    "reversed rows": BASE[::-1],
    "reversed both": BASE[::-1, ::-1],
    "inner block": BASE[2:5, 3:6],
    "one row repeated": np.broadcast_to(BASE[2], (5, 8)),
    "one element repeated": np.broadcast_to(BASE[2, 3], (4, 4)),
    "as strided": np.lib.stride_tricks.as_strided(BASE, (4, 4), (4, 4)),
    "no rows": BASE[:0],
    "a subclass": BASE.view(np.matrix),
}


@pytest.mark.parametrize("name", VIEWS)
def test_numpy_views(name) -> None:
    x = VIEWS[name]
    out = np.full(x.shape, -1, np.float32)
    rows, cols = x.shape
    copy_strided[(1,)](x, out, rows, cols, *element_strides(x), *element_strides(out), BLOCK=8)
    np.testing.assert_array_equal(out, np.asarray(x))


def test_stores_go_through_views() -> None:
    for make in (lambda a: a[::-1, ::-2], lambda a: a.T, lambda a: a[1:, 3:]):
        base = np.zeros((6, 8), np.float32)
        view = make(base)
        source = np.arange(view.size, dtype=np.float32).reshape(view.shape)
        copy_strided[(1,)](
            source, view, *view.shape, *element_strides(source), *element_strides(view), BLOCK=8
        )
        np.testing.assert_array_equal(view, source)


def test_torch_views() -> None:
    base = torch.arange(48, dtype=torch.float32).reshape(6, 8)
    for x in (base.T, base[:, ::2], base[2:5, 3:6], base[2].expand(5, 8), base[:1].expand(4, 8), base[:0]):
        out = torch.full(tuple(x.shape), -1.0)
        copy_strided[(1,)](x, out, *x.shape, *x.stride(), *out.stride(), BLOCK=8)
        assert torch.equal(out, x)


def test_arrays_without_axes() -> None:
    for x in (np.array(2.5, np.float32), torch.tensor(2.5)):
        out = np.zeros((), np.float32)
        copy[(1,)](x, out, 1, BLOCK=1)
        assert out == 2.5


def test_parameters_of_modules_and_requires_grad() -> None:
    x = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    out = torch.zeros(2, requires_grad=True)
    copy[(1,)](x, out, 2, BLOCK=2)
    assert out.tolist() == [1.0, 2.0]


class Interface:
    """An array that offers nothing but the array interface."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    @property
    def __array_interface__(self) -> dict:
        return self.array.__array_interface__


class DLPack:
    """An array that offers nothing but DLPack, of version 1 or 0."""

    def __init__(self, array, version: int = 1) -> None:
        self.array = array
        if version == 0:
            self.__class__ = OldDLPack

    def __dlpack__(self, **kw):
        return self.array.__dlpack__(**kw)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OldDLPack(DLPack):
    def __dlpack__(self, *, stream=None):
        return self.array.__dlpack__()


@pytest.mark.parametrize("wrap", [Interface, DLPack, OldDLPack])
def test_arrays_known_by_their_protocol(wrap) -> None:
    x, out = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
    copy[(1,)](wrap(x), wrap(out), 6, BLOCK=8)
    np.testing.assert_array_equal(out, x)
    rows, cols = np.arange(12, dtype=np.float32).reshape(4, 3)[::2], np.zeros((2, 3), np.float32)
    copy_strided[(1,)](wrap(rows), wrap(cols), 2, 3, 6, 1, 3, 1, BLOCK=4)
    np.testing.assert_array_equal(cols, rows)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.bool, torch.uint16, torch.float8_e4m3fn])
def test_dlpack_of_types_that_numpy_lacks(dtype) -> None:
    x, out = torch.tensor([1.0, 0.0, 1.0]).to(dtype), torch.zeros(3).to(dtype)
    copy[(1,)](DLPack(x), DLPack(out), 3, BLOCK=4)
    assert torch.equal(out.view(torch.uint8), x.view(torch.uint8))


def test_dlpack_marked_read_only_is_not_written() -> None:
    x = np.arange(4, dtype=np.float32)
    x.flags.writeable = False
    out = np.zeros(4, np.float32)
    copy[(1,)](DLPack(x), out, 4, BLOCK=4)
    assert out.tolist() == [0, 1, 2, 3]
    with pytest.raises(TritiumError, match="read-only"):
        copy[(1,)](out, DLPack(x), 4, BLOCK=4)


def test_dlpack_that_fails_or_is_elsewhere() -> None:
    class Broken:
        def __dlpack__(self, **kw):
            raise BufferError("not today")

    with pytest.raises(ArgumentError, match="not today"):
        copy[(1,)](Broken(), np.zeros(1, np.float32), 1, BLOCK=1)
    with pytest.raises(ArgumentError, match="DLPack type 5 of 64 bits"):
        copy[(1,)](DLPack(np.zeros(1, np.complex64)), np.zeros(1, np.float32), 1, BLOCK=1)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: torch.zeros(4).to_sparse(), "without memory"),
        (lambda: torch.zeros(4, device="meta"), "meta"),
        (lambda: triton.MockTensor(torch.float32), "mock"),
        (lambda: np.ma.masked_array(np.zeros(4, np.float32), [1, 0, 0, 0]), "masked"),
        (lambda: np.ndarray((2,), np.float32, np.zeros(12, np.uint8), 0, (6,)), "strides"),
        (lambda: torch._neg_view(torch.ones(4)), "negation"),
    ],
)
def test_arrays_that_cannot_be_passed(make, words) -> None:
    with pytest.raises(ArgumentError, match="argument `x`") as caught:
        copy[(1,)](make(), np.zeros(4, np.float32), 4, BLOCK=4)
    assert words in str(caught.value) and "help:" in str(caught.value)


def test_read_only_arrays_are_refused_only_where_they_are_stored_to() -> None:
    x = np.arange(4, dtype=np.float32)
    x.flags.writeable = False
    out = np.zeros(4, np.float32)
    copy[(1,)](x, out, 4, BLOCK=4)
    assert out.tolist() == [0, 1, 2, 3]
    with pytest.raises(TritiumError, match="writes to `out`, which is read-only") as caught:
        copy[(1,)](out, x, 4, BLOCK=4)
    assert caught.value.code == "TRI0806" and "tl.store(out + i" in str(caught.value)
    assert x.tolist() == [0, 1, 2, 3]
    with pytest.raises(TritiumError, match="`out`"):
        copy[(0,)](out, x, 4, BLOCK=4)


def test_reinterpretation() -> None:
    x = torch.tensor([1.0, -1.0])
    out = np.zeros(2, np.int32)
    copy[(1,)](triton.reinterpret(x, tl.int32), out, 2, BLOCK=2)
    assert out.tolist() == [0x3F800000, 0x3F800000 - 2**31]
    again = triton.reinterpret(triton.reinterpret(x, tl.int32), torch.float32)
    assert again is x
    numbers = np.zeros(2, np.float32)
    copy[(1,)](triton.reinterpret(np.array([0x38, 0x3C], np.uint8), tl.float8e4nv), numbers, 2, BLOCK=2)
    assert numbers.tolist() == [1.0, 1.5]
    with pytest.raises(ArgumentError, match="argument `tensor`"):
        triton.reinterpret(3, tl.int32)


def test_constexpr_parameters_take_what_can_be_hashed() -> None:
    @triton.jit
    def show(out, C: tl.constexpr):
        tl.static_assert(C == C)
        tl.store(out, 1)

    out = np.zeros(1, np.int32)
    for value in (1, True, 1.0, "a", None, (1, ("b", 2.0)), [1, 2], tl.float32, put, np.int32(4)):
        show[(1,)](out, C=value)
    with pytest.raises(ArgumentError, match=r"`C`.*the parameter is tl\.constexpr"):
        show[(1,)](out, C=np.zeros(2))
    with pytest.raises(ArgumentError, match="dict"):
        show[(1,)](out, C={})


def test_constants_that_are_equal_but_of_other_types_are_kept_apart() -> None:
    @triton.jit
    def half(out, C: tl.constexpr):
        tl.store(out, C / 2)

    out = np.zeros(1, np.float32)
    kernels = {half[(1,)](out, C=value).hash for value in (1, 1.0, True, 0.0, -0.0)}
    assert len(kernels) == 5
    half[(1,)](out, C=-0.0)
    assert np.signbit(out[0])
