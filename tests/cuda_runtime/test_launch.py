"""Launching, on a driver that records: what the kernel gets, on which GPU and stream, and how failures are told."""

from __future__ import annotations

import math
import struct
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.cuda_runtime.fake_driver import FakeDriver
from tests.cuda_runtime.sources import ADD_NAMES, ADD_TYPES, FLOATS, SCALARS_NAMES, SCALARS_TYPES
from tritium.backends.cuda import driver
from tritium.backends.cuda.launch import Frames, Parameter, parameters_of
from tritium.backends.cuda.module import LaunchShape
from tritium.backends.cuda.nvrtc import Binary
from tritium.backends.cuda.program import Program
from tritium.backends.cuda.resources import ParameterSlot, Resources
from tritium.errors import ArgumentError, LaunchError, OutOfResources
from tritium.ir import types as T

ADD_SIZES = (8, 8, 8, 4)
SCALARS_SIZES = (8, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 128)


def slots_of(sizes: tuple[int, ...]) -> tuple[ParameterSlot, ...]:
    found: list[ParameterSlot] = []
    at = 0
    for size in sizes:
        at += -at % min(size, 8)
        found.append(ParameterSlot(at, size))
        at += size
    return tuple(found)


def binary(sizes: tuple[int, ...] = ADD_SIZES, **resources: Any) -> Binary:
    fields = {"registers": 40, "spill_stores": 0, "spill_loads": 0, "stack": 0, "shared": 0, "barriers": 0}
    taken = Resources(**{**fields, "max_threads": 128, **resources}, parameters=slots_of(sizes))
    return Binary("add", "sm_90a", b"machine code", "", taken)


def program(fake: FakeDriver, shape: LaunchShape | None = None, **resources: Any) -> Program:
    fake.slots = list(ADD_SIZES)
    return Program(binary(**resources), shape or LaunchShape(128), ADD_NAMES, ADD_TYPES)


@dataclass
class View:
    """An array as the runtime describes it, as far as a launch looks."""

    address: int
    device: str = "cuda:0"
    owner: object = None


X, Y, OUT = View(0x1000), View(0x2000), View(0x3000)


def numbers(raw: list[bytes]) -> list[int]:
    return [int.from_bytes(r, "little") for r in raw]


def test_parameters_arrive_as_they_were_given(fake: FakeDriver) -> None:
    program(fake).run((5, 2, 3), [X, Y, OUT, -7])
    (launched,) = fake.launches
    assert numbers(launched.parameters[:3]) == [0x1000, 0x2000, 0x3000]
    assert launched.parameters[3] == struct.pack("<i", -7)
    assert (launched.grid, launched.block, launched.shared, launched.stream) == ((5, 2, 3), (128, 1, 1), 0, 0)
    assert launched.function == 2100, "the function of GPU 0"


def scalars(fake: FakeDriver, *values: Any) -> list[bytes]:
    fake.slots = list(SCALARS_SIZES)
    made = Program(binary(SCALARS_SIZES), LaunchShape(32), SCALARS_NAMES, SCALARS_TYPES)
    made.run((1, 1, 1), [X, *values])
    return fake.launches[-1].parameters[1:]


def test_every_type_of_number(fake: FakeDriver) -> None:
    block = bytes(range(128))
    given = (True, -1, -2, -3, -(2**40), 255, 65535, 2**32 - 1, 2**64 - 1, 1.5, -2.5, 0.1, 0.1, block)
    formats = ("?", "b", "h", "i", "q", "B", "H", "I", "Q", "e", None, "f", "d", None)
    got = scalars(fake, *given)
    for value, form, raw in zip(given, formats, got, strict=True):
        if form:
            assert raw == struct.pack(f"<{form}", value)
    assert got[10] == struct.pack("<H", 0xC020), "-2.5 in bf16"
    assert got[13] == block


def test_numbers_beyond_their_type(fake: FakeDriver) -> None:
    """Floats overflow to infinity and integers wrap, as a conversion in C would; none is an error of `struct`."""
    given = (2, 128, 32768, 2**31, 2**63, -1, -1, -1, -1, 1e6, 1e39, 1e300, 1e308, bytes(128))
    got = scalars(fake, *given)
    assert got[0] == b"\1"
    assert numbers(got[1:5]) == [128, 32768, 2**31, 2**63]
    assert numbers(got[5:9]) == [255, 65535, 2**32 - 1, 2**64 - 1]
    assert struct.unpack("<e", got[9])[0] == math.inf
    assert got[10] == struct.pack("<H", 0x7F80)
    assert struct.unpack("<f", got[11])[0] == math.inf and struct.unpack("<d", got[12])[0] == 1e308


def test_numpy_numbers(fake: FakeDriver) -> None:
    got = scalars(
        fake,
        *(np.bool_(True), np.int8(-1), np.int16(-2), np.int32(-3), np.int64(-4), np.uint8(5), np.uint16(6)),
        *(np.uint32(7), np.uint64(8), np.float16(1.5), np.float32(2.5), np.float32(3.5), np.float64(4.5)),
        bytes(128),
    )
    assert numbers(got[:9]) == [1, 255, 65534, 2**32 - 3, 2**64 - 4, 5, 6, 7, 8]
    assert struct.unpack("<e", got[9])[0] == 1.5 and struct.unpack("<f", got[11])[0] == 3.5


def test_floats_for_integers_and_integers_for_floats(fake: FakeDriver) -> None:
    got = scalars(fake, 0.0, 1.0, 2.0, 3.75, -4.5, 5.0, 6.0, 7.0, 8.0, 9, 10, 11, 12, bytes(128))
    assert got[0] == b"\0" and numbers(got[3:4]) == [3] and numbers(got[4:5]) == [2**64 - 4]
    assert struct.unpack("<e", got[9])[0] == 9 and struct.unpack("<f", got[11])[0] == 11


def test_a_block_of_bytes_is_aligned_for_tensor_maps(fake: FakeDriver) -> None:
    frames = Frames([Parameter("n", T.int32, 4), Parameter("map", None, 128), Parameter("m", T.int32, 4)])
    assert frames.offsets == [0, 64, 192]
    for _ in range(20):
        buffer, start, address, _ = frames.fresh()
        assert (address - frames.pointers_at) % 64 == 0
        frames.struct.pack_into(buffer, start, 1, bytes(128), 2)


@pytest.mark.parametrize(
    "types, sizes",
    [
        ((FLOATS, T.int32), (8,)),
        ((FLOATS, T.int32), (8, 8)),
        ((T.int64,), (4,)),
        ((T.float32,), (8,)),
        ((FLOATS,), (4,)),
        ((T.bfloat16,), (4,)),
    ],
)
def test_machine_code_with_other_parameters_is_refused(types: Any, sizes: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="parameter"):
        parameters_of([f"p{i}" for i in range(len(types))], types, slots_of(sizes))


def test_a_bool_may_take_more_room() -> None:
    (wide,) = parameters_of(["b"], [T.int1], slots_of((4,)))
    assert wide.code == "i" and wide.encode(True) == b"\1\0\0\0"


# ---- devices, contexts, streams --------------------------------------------------------------------------


def test_each_gpu_loads_the_kernel_once(fake: FakeDriver) -> None:
    made = program(fake)
    for ordinal in (0, 1, 0, 1):
        made.run(
            (1, 1, 1),
            [View(16, f"cuda:{ordinal}"), View(32, f"cuda:{ordinal}"), View(48, f"cuda:{ordinal}"), 1],
        )
    assert [context for context, _ in fake.loads] == [100, 101]
    assert [launched.function for launched in fake.launches] == [2100, 2101, 2100, 2101]


def test_a_thread_without_a_context_gets_the_right_one(fake: FakeDriver) -> None:
    fake.checks_context = True
    made = program(fake)
    made.run((1, 1, 1), [X, Y, OUT, 1])
    assert fake.launches[-1].context == 100 and fake.context == 100, "it stays, as PyTorch would do it"

    def other() -> None:
        made.run((1, 1, 1), [X, Y, OUT, 2])

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert [launched.context for launched in fake.launches] == [100, 100]


def test_a_launch_on_another_gpu_leaves_the_current_one(fake: FakeDriver) -> None:
    fake.checks_context = True
    fake.context = 100
    there = [View(a, "cuda:1") for a in (16, 32, 48)]
    program(fake).run((1, 1, 1), [*there, 1])
    assert fake.launches[-1].context == 101 and fake.context == 100


def test_arguments_on_two_gpus_are_named(fake: FakeDriver) -> None:
    with pytest.raises(ArgumentError, match="TRI0733") as caught:
        program(fake).run((1, 1, 1), [X, View(32, "cuda:1"), OUT, 1])
    assert caught.value.message == "argument `y` is on cuda:1, and `x` is on cuda:0"
    assert not fake.launches


def test_an_argument_on_the_host_is_named(fake: FakeDriver) -> None:
    with pytest.raises(ArgumentError, match="TRI0732") as caught:
        program(fake).run((1, 1, 1), [X, Y, View(0x3000, "cpu"), 1])
    assert "`out`" in caught.value.message and not fake.launches


def test_pinned_host_memory_is_reached_where_the_gpu_sees_it(fake: FakeDriver) -> None:
    fake.pinned[0x3000] = 0x7000
    program(fake).run((1, 1, 1), [X, Y, View(0x3000, "cpu"), 1])
    assert numbers(fake.launches[0].parameters[:3]) == [0x1000, 0x2000, 0x7000]


def test_the_stream_is_the_current_one(fake: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(driver, "stream_reader", lambda owners: lambda ordinal: asked.append(ordinal) or 0x55)
    program(fake).run((1, 1, 1), [View(a, "cuda:1") for a in (16, 32, 48)] + [1])
    assert asked == [1] and fake.launches[0].stream == 0x55
    program(fake).run((1, 1, 1), [X, Y, OUT, 1], stream=0x77)
    assert fake.launches[1].stream == 0x77


@dataclass
class Exported:
    """An array whose interface says on which stream its content is made."""

    stream: int | None

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"stream": self.stream}


@pytest.mark.parametrize(
    "streams, waits",
    [
        ((None, None), []),
        ((1, None), []),
        ((7, 7), ["create", "record 7", "0 waits", "destroy"]),
        ((2, None), ["create", "record 2", "0 waits", "destroy"]),
    ],
)
def test_a_launch_waits_for_the_stream_that_makes_an_array(
    fake: FakeDriver, streams: tuple[int | None, int | None], waits: list[str]
) -> None:
    views = [View(16 * (i + 1), owner=Exported(stream)) for i, stream in enumerate(streams)]
    program(fake).run((1, 1, 1), [*views, OUT, 1], stream=0)
    assert fake.events == waits and len(fake.launches) == 1


# ---- shapes ----------------------------------------------------------------------------------------------


def test_attributes_go_through_the_extended_call(fake: FakeDriver) -> None:
    shape = LaunchShape(96, 512, (2, 1, 1), cooperative=True, programmatic=True)
    made = program(fake, shape)
    for n in (1, 2):
        made.run((n, 1, 1), [X, Y, OUT, n], stream=n)
    for n, launched in enumerate(fake.launches, 1):
        assert (launched.grid, launched.block, launched.shared) == ((n, 1, 1), (96, 1, 1), 512)
        assert launched.stream == n and numbers(launched.parameters[3:]) == [n]
        cluster = launched.attributes["cluster"].clusterDim
        assert (cluster.x, cluster.y, cluster.z) == (2, 1, 1)
        assert launched.attributes["cooperative"].cooperative == 1
        assert launched.attributes["programmatic"].programmaticStreamSerializationAllowed == 1


def test_much_shared_memory_is_asked_for(fake: FakeDriver) -> None:
    program(fake, LaunchShape(128, 100_000), shared=1024).run((1, 1, 1), [X, Y, OUT, 1])
    assert fake.function_settings == {8: 100_000} and fake.launches[0].shared == 100_000
    fake.function_settings.clear()
    program(fake, LaunchShape(128, 40_000)).run((1, 1, 1), [X, Y, OUT, 1])
    assert fake.function_settings == {}


def test_large_clusters_are_asked_for(fake: FakeDriver) -> None:
    program(fake, LaunchShape(128, cluster=(16, 1, 1))).run((16, 1, 1), [X, Y, OUT, 1])
    assert fake.function_settings == {14: 1}


@pytest.mark.parametrize(
    "shape, resources, code",
    [
        (LaunchShape(2048), {"max_threads": 0}, "TRI0734"),
        (LaunchShape(256), {}, "TRI0734"),
        (LaunchShape(128, 232_449), {}, "TRI0734"),
        (LaunchShape(128, 232_000), {"shared": 449}, "TRI0734"),
        (LaunchShape(1024), {"max_threads": 1024, "registers": 80}, "TRI0734"),
    ],
)
def test_what_does_not_fit_is_said_before_loading(
    fake: FakeDriver, shape: LaunchShape, resources: dict[str, int], code: str
) -> None:
    with pytest.raises(OutOfResources, match=code) as caught:
        program(fake, shape, **resources).run((1, 1, 1), [X, Y, OUT, 1])
    assert "Fake GPU (cuda:0)" in caught.value.message and not fake.loads


# ---- failures --------------------------------------------------------------------------------------------


def test_a_device_error_names_the_kernel(fake: FakeDriver) -> None:
    made = program(fake)
    fake.launch_codes = [719]
    with pytest.raises(LaunchError, match="TRI0739") as caught:
        made.run((1, 1, 1), [X, Y, OUT, 1])
    assert caught.value.message == "the GPU reported CUDA_ERROR_719 (in words) when `add` was launched"
    made.run((1, 1, 1), [X, Y, OUT, 1])
    assert len(fake.launches) == 1


@pytest.mark.parametrize("grid, axis", [((1, 65536, 1), 1), ((1, 1, 70000), 2)])
def test_a_grid_beyond_the_hardware_is_named(fake: FakeDriver, grid: tuple[int, int, int], axis: int) -> None:
    fake.launch_codes = [1]
    with pytest.raises(LaunchError, match="TRI0707") as caught:
        program(fake).run(grid, [X, Y, OUT, 1])
    assert f"axis {axis}" in caught.value.message and "65535" in caught.value.message


def test_too_many_registers_at_launch(fake: FakeDriver) -> None:
    fake.launch_codes = [701]
    with pytest.raises(OutOfResources, match="registers"):
        program(fake).run((1, 1, 1), [X, Y, OUT, 1])


def test_machine_code_for_another_gpu_is_named(fake: FakeDriver) -> None:
    fake.load_code = 209
    made = Program(
        Binary("add", "sm_100", b"", "", binary().resources), LaunchShape(128), ADD_NAMES, ADD_TYPES
    )
    with pytest.raises(LaunchError, match="TRI0753") as caught:
        made.run((1, 1, 1), [X, Y, OUT, 1])
    assert "sm_100" in caught.value.message and "sm_90a" in caught.value.message


def test_a_refused_module_is_reported(fake: FakeDriver) -> None:
    fake.load_code = 2
    with pytest.raises(LaunchError, match="CUDA_ERROR_2"):
        program(fake).run((1, 1, 1), [X, Y, OUT, 1])


# ---- threads ---------------------------------------------------------------------------------------------


def test_threads_never_share_parameters(fake: FakeDriver) -> None:
    """Each launch's parameters agree with each other, although the call of one thread runs while others pack."""
    made = program(fake)
    _, launch = made.on(0)
    ready = threading.Barrier(8)

    def work(worker: int) -> None:
        ready.wait()
        for i in range(500):
            v = worker * 1000 + i
            launch(v, 1, 1, v, v, v, v, v)

    threads = [threading.Thread(target=work, args=(w,)) for w in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(fake.launches) == 4000
    for launched in fake.launches:
        assert set(numbers(launched.parameters)) == {launched.grid[0]} == {launched.stream}
    assert len({launched.grid[0] for launched in fake.launches}) == 4000


def test_threads_load_a_kernel_once(fake: FakeDriver) -> None:
    made = program(fake)
    ready = threading.Barrier(8)

    def work() -> None:
        ready.wait()
        made.run((1, 1, 1), [X, Y, OUT, 1])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(fake.loads) == 1 and len(fake.launches) == 8


def test_a_kernel_without_parameters(fake: FakeDriver) -> None:
    fake.slots = []
    Program(binary(()), LaunchShape(128), (), ()).run((3, 1, 1), [])
    assert fake.launches[0].grid == (3, 1, 1) and fake.launches[0].parameters == []
