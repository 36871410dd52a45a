"""What generated CUDA says and how: names, lines, wrapping integers, refusals."""

from __future__ import annotations

import pytest

import tritium as triton
import tritium.language as tl
from tests.cuda_codegen.seed_kernels import cuda, matmul_loop, tile_ir, tiles
from tritium.errors import CompilationError
from tritium.ir.printer import print_function, value_names


@triton.jit
def hashed(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    mixed = (x * 1103515245 + 12345) % 97
    tl.store(out_ptr + offs, mixed, mask=offs < n)


def test_integers_wrap_where_the_program_can_tell() -> None:
    """Offsets are plain C++; a hash, whose overflow is meant, is computed with numbers that wrap."""
    text = cuda(tile_ir(hashed, {"x_ptr": "*i32", "out_ptr": "*i32"}, BLOCK=128)).text
    assert "wrapping_add(wrapping_mul(x, 1103515245), 12345) % 97" in text
    assert "blockIdx.x" in text and "pid_x * 128 + tile_i" in text


@triton.jit
def divides(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + offs), tl.load(y_ptr + offs)
    tl.store(x_ptr + offs, x // y + x // 3 + (x << y) + (x >> 2))


def test_division_and_shifts_have_a_value_for_every_operand() -> None:
    text = cuda(tile_ir(divides, {"x_ptr": "*i32", "y_ptr": "*i32"}, BLOCK=128)).text
    assert "quotient(x, y)" in text and "x / 3" in text
    assert "shift_left(x, y)" in text and "x >> 2" in text


@triton.jit
def odd_names(float_ptr, i, BLOCK: tl.constexpr):
    double = tl.arange(0, BLOCK)
    int_ = tl.load(float_ptr + double, mask=double < i)
    threadIdx = int_ + 1.0
    größe = threadIdx * 2.0
    tl.store(float_ptr + double, größe, mask=double < i)


def test_names_that_c_does_not_allow() -> None:
    text = cuda(tile_ir(odd_names, {"float_ptr": "*fp32"}, BLOCK=256)).text
    assert "int double[" not in text and "int i)" not in text
    assert "threadIdx_1" in text and "int i_1)" in text and "gr__e" in text


def test_numbered_values_are_those_of_the_machine_ir() -> None:
    from tritium.backends.cuda.generate import lay_out, lower
    from tritium.ir.match import Record
    from tritium.ops.gpu_shared import DotFma

    machine = lower(
        lay_out(tile_ir(matmul_loop, **tiles(8, 8, 8)), {"layouts": "seed"}, Record()),
        {"layouts": "seed"},
        Record(),
    )
    (dot,) = machine.find(DotFma)
    number = value_names(machine)[dot.results[0]]
    assert f"%{number} = gpu.dot_fma" in print_function(machine)
    assert f"float v{number}_0_0" in cuda(tile_ir(matmul_loop, **tiles(8, 8, 8)), layouts="seed").text


def test_lines_lead_back_to_the_kernel() -> None:
    source = cuda(tile_ir(matmul_loop, **tiles(8, 8, 8)), layouts="seed")
    lines = source.text.splitlines()
    (barrier,) = [i + 1 for i, line in enumerate(lines) if "__syncthreads" in line]
    loc = source.lines[barrier]
    assert loc.file.endswith("seed_kernels.py")
    assert "// acc += tl.dot(a, b" in "\n".join(lines[:barrier])
    with open(loc.file, encoding="utf-8") as file:
        assert "tl.dot" in file.read().splitlines()[loc.line - 1]


@triton.jit
def stopping(x_ptr):
    x = tl.load(x_ptr)
    breakpoint()
    tl.store(x_ptr, x)


def test_what_cuda_cannot_do_yet_is_refused_by_name_and_line() -> None:
    function = tile_ir(stopping)
    with pytest.raises(
        CompilationError, match=r"`tile\.breakpoint` cannot be compiled for CUDA yet"
    ) as caught:
        cuda(function)
    assert caught.value.code == "TRI0760"
    assert caught.value.loc is not None and caught.value.loc.line == stopping.fn.__code__.co_firstlineno + 3


@triton.jit
def in_place(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs)
    tl.store(x_ptr + offs, x * 2.0)
    tl.store(x_ptr + (BLOCK - 1 - offs), x)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs))


def test_barriers_where_threads_could_overtake_each_other() -> None:
    """Reading and writing one's own element needs none; another thread's element does, in either direction."""
    text = cuda(tile_ir(in_place, BLOCK=128)).text
    assert text.count("__syncthreads();") == 2
    first = text.index("__syncthreads")
    assert text.index("* 2.0f") < first, "the update in place comes without one"
