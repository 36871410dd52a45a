"""TRI0730 to TRI0759: backends, devices, resources and tuning."""

from tritium.errors.codes.entry import Entry
from tritium.errors.exceptions import (
    ArgumentError,
    AutotunerError,
    ConflictingParametersError,
    LaunchError,
)

_DOUBLE = """\
@triton.jit
def double(x_ptr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, tl.load(x_ptr + offs) * 2)


x = np.arange(8, dtype=np.float32)
"""

_TUNED = '@triton.autotune([triton.Config({{"BLOCK": 4}}), triton.Config({{"BLOCK": 8}})], key=[]{})\n'
_LAUNCH = 'double[lambda args: (8 // args["BLOCK"],)](x)\n'

ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="TRI0731",
        cls=LaunchError,
        title="an unknown backend",
        message="there is no backend `{name}`",
        explanation="""
Backends are interpret, cpu and cuda. Without a choice, the arguments decide: where the data is.
""",
        hint="use one of interpret, cpu, cuda",
        broken=_DOUBLE + 'double[(1,)](x, BLOCK=8, backend="gpu")\n',
        mended=_DOUBLE + 'double[(1,)](x, BLOCK=8, backend="interpret")\n',
    ),
    Entry(
        code="TRI0732",
        cls=ArgumentError,
        title="an argument on the wrong device",
        message="argument `{name}` is on {got}, and the kernel runs on {expected}",
        explanation="""
The CUDA backend uses memory of the GPU it runs on and does not copy arrays to it. The interpreter and the
CPU backend copy device arrays in and out when they are chosen explicitly.
""",
        hint="move the array first, or choose another backend",
    ),
    Entry(
        code="TRI0735",
        cls=LaunchError,
        title="a kernel needs scratch memory and no allocator is set",
        message="`{function}` needs {size} bytes of scratch memory, and no allocator is set",
        explanation="""
Tensor descriptors made inside a kernel live in global memory on NVIDIA GPUs. The program says where that
comes from.
""",
        hint="call triton.set_allocator(lambda size, alignment, stream: ...) before the launch",
    ),
    Entry(
        code="TRI0740",
        cls=AutotunerError,
        title="no configuration works",
        message="none of the {count} configurations of `{function}` works",
        explanation="""
Every configuration failed to compile, did not fit the device or failed a static assertion. The reason of
each is listed below the message.
""",
        hint="add a configuration with smaller blocks, or mend the reasons listed",
        broken="""\
@triton.autotune([triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 32})], key=[])
@triton.jit
def fill(x_ptr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK <= 8)
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, 1.0, mask=offs < 8)


x = np.zeros(8, dtype=np.float32)
fill[lambda args: (triton.cdiv(8, args["BLOCK"]),)](x)
""",
        mended="""\
@triton.autotune([triton.Config({"BLOCK": 4}), triton.Config({"BLOCK": 8})], key=[])
@triton.jit
def fill(x_ptr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK <= 8)
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, 1.0, mask=offs < 8)


x = np.zeros(8, dtype=np.float32)
fill[lambda args: (triton.cdiv(8, args["BLOCK"]),)](x)
""",
    ),
    Entry(
        code="TRI0741",
        cls=AutotunerError,
        title="configurations that disagree",
        message="configurations of `{function}` disagree about `{name}`: {got}",
        explanation="""
Every configuration of a kernel has to compute the same result, up to rounding. Tuning runs each on a copy
of the data, and these gave different ones: usually a block size that a mask or a loop does not take into
account.
""",
        hint="check masks and loop bounds for the block sizes named",
    ),
    Entry(
        code="TRI0742",
        cls=ConflictingParametersError,
        title="an argument that the tuner also sets",
        message="`{name}` is set by the configurations and also given at the launch",
        explanation="The configurations under `@triton.autotune` choose this parameter, so a launch cannot.",
        hint="remove `{name}` from the call, or from the configurations",
        broken=_TUNED.format("") + _DOUBLE + "double[(1,)](x, BLOCK=8)\n",
        mended=_TUNED.format("") + _DOUBLE + _LAUNCH,
    ),
    Entry(
        code="TRI0743",
        cls=AutotunerError,
        title="tuning names a parameter that the kernel does not have",
        message="{what} of `{function}` names `{name}`, which is not a parameter",
        explanation="""
`key`, `reset_to_zero`, `restore_value`, the configurations and `@triton.heuristics` refer to parameters
of the kernel by name.
""",
        hint="use one of {expected}",
        broken=_TUNED.format(', restore_value=["y_ptr"]') + _DOUBLE + _LAUNCH,
        mended=_TUNED.format(', restore_value=["x_ptr"]') + _DOUBLE + _LAUNCH,
    ),
)
