"""Every kind of call and argument: the stub's kernel and results are those of the long way."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tritium.language as tl
from tests.stub import kernels
from tests.stub.kernels import long_ways
from tritium.errors import TritiumError
from tritium.runtime.stub import load

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_BACKEND", "cpu")


@pytest.fixture
def k() -> SimpleNamespace:
    return kernels.make()


def test_the_stub_works_here() -> None:
    assert load.why_not() == "" and load.stub() is not None


def make_numpy(n: int, dtype: str = "float32") -> Any:
    return np.arange(n).astype(dtype)


def make_torch(n: int, dtype: str = "float32") -> Any:
    return torch.arange(n).to(getattr(torch, dtype))


def host(array: Any) -> np.ndarray[Any, Any]:
    return array if isinstance(array, np.ndarray) else array.detach().numpy()


@pytest.mark.parametrize("make", [make_numpy, make_torch])
def test_a_known_call_takes_the_short_way(k: SimpleNamespace, make: Any) -> None:
    x, y, out = (make(128) for _ in range(3))
    first = k.add[(1,)](x, y, out, 100, BLOCK=128)
    assert k.add[(1,)](x, y, out, 100, BLOCK=128) is first
    with long_ways(k.add) as count:
        z, w = make(128) + 1, make(128) * 0
        assert k.add[(1,)](z, y, w, 99, BLOCK=128) is first
        assert k.add.run(z, y, w, 99, BLOCK=128, grid=(1,)) is first
        assert count() == 0
    assert host(w)[:99].tolist() == [2 * i + 1 for i in range(99)] and not host(w)[99:].any()


def outcome(launch: Any) -> Any:
    try:
        return launch()
    except TritiumError as error:
        return type(error), error.code, error.message


def same_both_ways(kernel: Any, grid: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Launch the long way and twice the short way on copies of `args`; kernels, errors and arrays are compared."""
    results: list[Any] = []
    for way in (lambda *a, **k: kernel.run_checked(*a, grid=grid, **k), kernel[grid], kernel[grid]):
        copies = [
            a.copy() if isinstance(a, np.ndarray) else a.clone() if hasattr(a, "clone") else a for a in args
        ]
        answer = outcome(lambda way=way, copies=copies: way(*copies, **kwargs))
        arrays = [host(c).tobytes() for c in copies if isinstance(c, np.ndarray) or hasattr(c, "clone")]
        results.append((answer, arrays))
    assert results[0][1] == results[1][1] == results[2][1]
    assert results[0][0] == results[1][0] == results[2][0]
    return results[0][0]


NUMBERS = [
    0,
    1,
    2,
    16,
    -16,
    -1,
    100,
    2**31 - 1,
    2**31,
    -(2**31),
    2**63 - 1,
    2**63,
    -(2**63),
    2**64 - 1,
    2**64,
]
OTHERS = [
    True,
    False,
    0.5,
    1.0,
    float("inf"),
    -0.0,
    None,
    np.int32(7),
    np.float32(2.5),
    np.bool_(True),
    "text",
]


@pytest.mark.parametrize("make", [make_numpy, make_torch])
@pytest.mark.parametrize("number", [*NUMBERS, *OTHERS], ids=str)
def test_every_number(k: SimpleNamespace, make: Any, number: Any) -> None:
    k.optional[(1,)](make(16), None, 2, False, 16)
    same_both_ways(k.optional, (1,), [make(16), None, number, True, 16], {})
    same_both_ways(k.optional, (1,), [make(16), make(16), 2.5, number, 16], {})
    same_both_ways(k.optional, (1,), [make(16), None, 1, False, number], {"MODE": "twice"})


@pytest.mark.parametrize("seed", range(6))
def test_random_calls(k: SimpleNamespace, seed: int) -> None:
    rng = random.Random(seed)
    arrays = [
        make(32, dtype) for make in (make_numpy, make_torch) for dtype in ("float32", "int32", "float64")
    ]
    arrays += [a[1:] for a in arrays] + [a[::2] for a in arrays]
    for _ in range(25):
        x, bias = rng.choice(arrays), rng.choice([None, *arrays])
        args = [x, bias, rng.choice([*NUMBERS[:8], *OTHERS[:-1]]), rng.choice([True, False, 0, 1, None]), 16]
        kwargs: dict[str, Any] = rng.choice(
            [{}, {"MODE": "twice"}, {"BLOCK": 8}, {"num_warps": 2}, {"MODE": "plain"}]
        )
        same_both_ways(k.optional, rng.choice([(1,), (1, 1), 1, [1], (0,), lambda m: (1,)]), args, kwargs)
    assert k.optional._stub.count > 3


@pytest.mark.parametrize("number", [*NUMBERS, *OTHERS], ids=str)
def test_annotated_parameters(k: SimpleNamespace, number: Any) -> None:
    plain: list[Any] = [np.zeros(6), 5, 3, 1.5, 7, 9, 2.5]
    k.annotated[(1,)](*plain)
    for i in range(1, 7):
        given = plain.copy()
        given[i] = number
        same_both_ways(k.annotated, (1,), given, {})


def test_keywords_in_any_order(k: SimpleNamespace) -> None:
    x, y, out = (make_numpy(32) for _ in range(3))
    first = k.add[(1,)](x, y, out, 32, BLOCK=32)
    ways = [
        lambda: k.add[(1,)](x, y, out, n=32, BLOCK=32),
        lambda: k.add[(1,)](BLOCK=32, n=32, out=out, y=y, x=x),
        lambda: k.add[(1,)](x, y, BLOCK=32, out=out, n=32),
        lambda: k.add[(1,)](*[x, y, out], **{"n": 32, "BLOCK": 32}),
    ]
    for way in ways:
        assert way() is way() is first
        out[:] = 0
        with long_ways(k.add) as count:
            assert way() is first and count() == 0
        assert out.tolist() == [2 * i for i in range(32)]
    warm = lambda warps: k.add[(1,)](x, y, out, 32, BLOCK=32, num_warps=warps)
    assert warm(4) is warm(4) is not warm(8)
    assert warm(8) is warm(8)


def test_calls_that_do_not_bind(k: SimpleNamespace) -> None:
    x, y, out = (make_numpy(32) for _ in range(3))
    k.add[(1,)](x, y, out, 32, BLOCK=32)
    for args, kwargs in [
        ([x, y, out, 32], {}),
        ([x, y, out, 32, 32, 5], {}),
        ([x, y, out, 32], {"BLOK": 32}),
        ([x, y, out, 32], {"BLOCK": 32, "x": x}),
        ([x, y, out, 32], {"BLOCK": 32, "num_wraps": 4}),
        ([x, y, out, 32], {"BLOCK": x}),
        ([], {}),
    ]:
        assert same_both_ways(k.add, (1,), list(args), kwargs)[1].startswith("TRI0")


def test_compile_time_values(k: SimpleNamespace) -> None:
    """1, True and 1.0 are equal and compile differently; equal texts compile alike, whichever object they are."""
    seen = set()
    for mode in (
        "plain",
        "twice",
        1,
        True,
        1.0,
        0.0,
        -0.0,
        None,
        tl.float32,
        tl.int32,
        2**70,
        (1, 2),
        "".join(["twi", "ce"]),
    ):
        args = [make_numpy(16), None, 2, False, 16]
        seen.add(id(same_both_ways(k.optional, (1,), args, {"MODE": mode})))
    assert len(seen) == 12


# ---- arrays ------------------------------------------------------------------------------------------------


def test_arrays_that_share_memory(k: SimpleNamespace) -> None:
    """A kernel's loads come before its stores also where input and output overlap."""
    for make in (make_numpy, make_torch):
        apart = make(64), make(64)
        for _ in range(3):
            k.shift[(1,)](*apart, BLOCK=32)
        for _ in range(4):
            whole = make(64)
            k.shift[(1,)](whole[:32], whole[1:33], BLOCK=32)
            assert host(whole)[1:33].tolist() == [i + 1 for i in range(32)]
            k.shift[(1,)](*apart, BLOCK=32)


def test_read_only_arrays(k: SimpleNamespace) -> None:
    x, y, out = (make_numpy(32) for _ in range(3))
    x.flags.writeable = False
    for _ in range(3):
        k.add[(1,)](x, y, out, 32, BLOCK=32)
    with long_ways(k.add) as count:
        k.add[(1,)](x, y, out, 32, BLOCK=32)
        assert count() == 0
        out.flags.writeable = False
        for _ in range(3):
            with pytest.raises(TritiumError, match="TRI0806"):
                k.add[(1,)](x, y, out, 32, BLOCK=32)


def test_unusual_arrays(k: SimpleNamespace) -> None:
    class Sub(np.ndarray[Any, Any]):
        pass

    base = np.arange(200, dtype=np.float32)
    out, y = np.zeros(32, np.float32), np.ones(32, np.float32)
    unusual = [
        *(base[::-1], base[5:], base[::3], base.reshape(10, 20).T, np.frombuffer(base.tobytes(), np.float32)),
        *(base.view(Sub), base.view(Sub)[3:].view(np.ndarray), np.broadcast_to(np.float32(2), (64,))),
        *(np.zeros(0, np.float32), np.lib.stride_tricks.as_strided(base[:4], (3,), (4,)), base.astype(">f4")),
        *(np.zeros(4, "f4,f4")["f1"], np.ma.masked_array(base), torch.zeros(0), torch.zeros(64)[::2]),
        *(
            torch.nn.Parameter(torch.ones(64)),
            torch.ones(64, dtype=torch.complex64).conj().imag,
            torch.ones(64)[1:],
        ),
        *(torch.ones(8).to_sparse(), torch.empty(8, device="meta"), torch.ones(64).as_subclass(Tagged)),
    ]
    k.add[(1,)](y, y, out, 0, BLOCK=32)
    for _ in range(2):
        for array in unusual:
            results = []
            for way in (lambda *a, **kw: k.add.run_checked(*a, grid=(1,), **kw), k.add[(1,)], k.add[(1,)]):
                out[:] = 0
                n = 4 if len(array) > 4 else 0
                answer = outcome(lambda way=way, a=array, n=n: way(a, y, out, n, BLOCK=32))
                results.append((answer, out.tobytes()))
            assert results[0] == results[1] == results[2]


class Tagged(torch.Tensor):
    """A class of tensors of its own."""


def test_a_tensor_that_changes(k: SimpleNamespace) -> None:
    """Type, memory and dtype are read at every launch."""
    x, y, out = (make_torch(32) for _ in range(3))
    for _ in range(3):
        k.add[(1,)](x, y, out, 32, BLOCK=32)
    x.set_(torch.full((32,), 5.0))
    k.add[(1,)](x, y, out, 32, BLOCK=32)
    assert out.tolist() == [5.0 + i for i in range(32)]
    x.data = torch.full((32,), 7, dtype=torch.int32)
    k.add[(1,)](x, y, out, 32, BLOCK=32)
    assert out.tolist() == [7.0 + i for i in range(32)]
    storage = torch.arange(33, dtype=torch.float32)
    x.data = storage[1:]
    k.add[(1,)](x, y, out, 32, BLOCK=32)
    assert out.tolist() == [2.0 * i + 1 for i in range(32)]


# ---- grids ---------------------------------------------------------------------------------------------------

GRIDS: list[Any] = [
    *(
        (3,),
        (3, 2),
        (3, 2, 1),
        [3, 2],
        3,
        np.int64(3),
        (np.int64(3), 1),
        (0,),
        (2, 0),
        (True,),
        (-1,),
        (2.5,),
        (),
    ),
    *(
        (1, 2, 3, 4),
        (2**31,),
        (2**63,),
        (2**64,),
        "three",
        None,
        lambda m: (m["BLOCK"] // 8,),
        lambda m: [1, 2],
    ),
    *(lambda m: 7, lambda m: (0,), lambda m: "x", lambda m: (m["num_warps"],)),
]


@pytest.mark.parametrize("grid", GRIDS, ids=range(len(GRIDS)))
def test_every_form_of_a_grid(k: SimpleNamespace, grid: Any) -> None:
    k.counted[(1,)](make_numpy(64), BLOCK=16, num_warps=2)
    same_both_ways(k.counted, grid, [make_numpy(2048)], {"BLOCK": 16, "num_warps": 2})


def test_errors_of_grid_functions_are_the_programs(k: SimpleNamespace) -> None:
    x = make_numpy(64)
    for _ in range(2):
        k.counted[(1,)](x, BLOCK=16)

    def broken(meta: dict[str, Any]) -> Any:
        raise KeyError(meta["BLOCK"])

    before = x.copy()
    with pytest.raises(KeyError, match="16"):
        k.counted[broken](x, BLOCK=16)
    with pytest.raises(TypeError):
        k.counted[lambda: (1,)](x, BLOCK=16)
    assert np.array_equal(x, before)


def test_faults_name_the_program(k: SimpleNamespace) -> None:
    x = np.arange(8, dtype=np.int32)
    for _ in range(3):
        k.asserting[(8,)](x, 100, debug=True)
    x[5] = 200
    for grid in ((8,), (1,)):
        messages = []
        for way in (
            lambda *a, **kw: k.asserting.run_checked(*a, grid=grid, **kw),
            k.asserting[grid],
            k.asserting[grid],
        ):
            messages.append(
                outcome(lambda way=way: way(x.copy() if grid == (8,) else x[5:].copy(), 100, debug=True))
            )
        assert messages[0] == messages[1] == messages[2] and messages[0][1] == "TRI0802"


def test_many_instances(k: SimpleNamespace) -> None:
    """Launches that the worker pool takes, and those it does not."""
    for count in (1, 2, 3, 50, 5000, 3, 1):
        for _ in range(3):
            x = np.zeros(16 * count, np.float32)
            k.counted[(count, 2)](x, BLOCK=16)
            assert (x == 3).all() or count > 1  # instances along the second axis meet
            y = np.zeros(16 * count, np.float32)
            k.counted[(count,)](y, BLOCK=16)
            assert (y == 1).all()
