"""TRI0701 to TRI0729: the call `kernel[grid](...)`, its grid and its arguments."""

from tritium.errors.codes.entry import Entry, kernel
from tritium.errors.exceptions import (
    ArgumentError,
    ArgumentRangeError,
    LaunchError,
    UnknownOptionError,
)

_STORE = "tl.store(x_ptr, 1.0)"

ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="TRI0701",
        cls=ArgumentError,
        title="too many arguments",
        message="`{function}` takes {expected} positional arguments, and {got} are given",
        explanation="The launch gives more values than the kernel has parameters.",
        hint="compare the call with the parameters: {signature}",
        broken=kernel(_STORE, args="x, 8"),
        mended=kernel(_STORE),
    ),
    Entry(
        code="TRI0702",
        cls=UnknownOptionError,
        title="a keyword that is neither a parameter nor an option",
        message="`{function}` has no parameter `{name}`, and it is no launch option",
        explanation="""
Keywords at a launch are the kernel's parameters and the options of a launch: num_warps, num_stages,
num_ctas, maxnreg, enable_fp_fusion, debug and the like. A similar name that does exist is suggested.
""",
        hint="check the spelling; the parameters are {signature}",
        broken=kernel(_STORE, args="x, num_wraps=4"),
        mended=kernel(_STORE, args="x, num_warps=4"),
    ),
    Entry(
        code="TRI0703",
        cls=ArgumentError,
        title="an argument is missing",
        message="`{function}` needs a value for {name}",
        explanation="A parameter without a default value is given neither by position nor by keyword.",
        hint="pass it by position or as {name}=...",
        broken=kernel("tl.store(x_ptr, value)", params="x_ptr, value"),
        mended=kernel("tl.store(x_ptr, value)", params="x_ptr, value", args="x, 1.0"),
    ),
    Entry(
        code="TRI0704",
        cls=ArgumentError,
        title="an argument that a kernel cannot take",
        message="argument `{name}` is {got}, which a kernel cannot take",
        explanation="""
Kernels take numbers, booleans, None, arrays (NumPy, PyTorch, and what offers DLPack or an array
interface), tensor descriptors, tuples of these, and functions with `@triton.jit`. Text and other objects
can be given to tl.constexpr parameters only.
""",
        hint="pass an array or a number, or annotate the parameter with tl.constexpr",
        broken=kernel("tl.store(x_ptr, mode)", params="x_ptr, mode", args='x, "fast"'),
        mended=kernel(
            'if mode == "fast":\n    tl.store(x_ptr, 1.0)',
            params="x_ptr, mode: tl.constexpr",
            args='x, "fast"',
        ),
    ),
    Entry(
        code="TRI0705",
        cls=ArgumentRangeError,
        title="an integer argument that no type holds",
        message="argument `{name}` is {value}, outside every integer type of a kernel",
        explanation="Integer arguments become int32, int64 or uint64, the first that holds the value.",
        hint="pass a value from -2**63 to 2**64 - 1",
        broken=kernel("tl.store(x_ptr, value)", params="x_ptr, value", args="x, 2**64"),
        mended=kernel("tl.store(x_ptr, value)", params="x_ptr, value", args="x, 2**63"),
    ),
    Entry(
        code="TRI0706",
        cls=LaunchError,
        title="a grid that is not one to three integers",
        message="the grid is {got}",
        explanation="""
A grid is a tuple or list of one to three integers, or a function that gets the arguments by name and
returns one. It counts program instances, not elements. A grid with a zero launches nothing.
""",
        hint="write kernel[(blocks,)](...), with triton.cdiv(n, BLOCK) blocks",
        broken=kernel(_STORE, grid="(1, 1, 1, 1)"),
        mended=kernel(_STORE, grid="(1, 1, 1)"),
    ),
    Entry(
        code="TRI0707",
        cls=LaunchError,
        title="a grid beyond the limits of an axis",
        message="the grid has {value} program instances on axis {axis}; at most {limit} are possible",
        explanation="""
Program ids are int32, so an axis has at most 2**31 - 1 instances. A count above that is usually a number
of elements where a number of blocks was meant.
""",
        hint="divide the number of elements by the block size: triton.cdiv(n, BLOCK)",
        broken=kernel(_STORE, grid="(2**31,)"),
        mended=kernel(_STORE, grid="(triton.cdiv(2**31, 2**24),)"),
    ),
    Entry(
        code="TRI0708",
        cls=LaunchError,
        title="a negative grid",
        message="the grid has {value} program instances on axis {axis}",
        explanation="""
Counts of program instances are zero or more. A negative one is usually a size gone wrong.
""",
        hint="check how the grid is computed",
        broken=kernel(_STORE, grid="(-1,)"),
        mended=kernel(_STORE, grid="(1,)"),
    ),
    Entry(
        code="TRI0709",
        cls=LaunchError,
        title="a kernel called like a function",
        message="`{function}` is a kernel and cannot be called directly",
        explanation="""
A kernel runs as a grid of program instances, so a launch names the grid in brackets. Calls without one
are for functions used inside other kernels.
""",
        hint="write {function}[grid](...)",
        broken=kernel(_STORE).replace("kernel[(1,)](x)", "kernel(x)"),
        mended=kernel(_STORE),
    ),
    Entry(
        code="TRI0710",
        cls=ArgumentError,
        title="an argument given twice",
        message="`{function}` is given `{name}` by position and by keyword",
        explanation="Each parameter gets one value, either by its position in the call or by its name.",
        hint="remove one of the two",
        broken=kernel("tl.store(x_ptr, value)", params="x_ptr, value", args="x, 1.0, value=2.0"),
        mended=kernel("tl.store(x_ptr, value)", params="x_ptr, value", args="x, value=2.0"),
    ),
    Entry(
        code="TRI0711",
        cls=ArgumentError,
        title="an array whose elements a kernel cannot take",
        message="argument `{name}` has elements of type {got}, which the language does not have",
        explanation="""
Element types are booleans, integers of 8 to 64 bits with and without sign, fp16, bf16, fp32, fp64 and the
8-bit floats. Complex numbers, text, dates and Python objects have no counterpart.
""",
        hint="convert the array first; a complex array can be viewed as real pairs",
        broken=kernel(_STORE, args="np.zeros(8, dtype=np.complex64)"),
        mended=kernel(_STORE, args="np.zeros(8, dtype=np.complex64).view(np.float32)"),
    ),
    Entry(
        code="TRI0712",
        cls=ArgumentError,
        title="an array given to a compile-time parameter",
        message="argument `{name}` is {got}, but the parameter is tl.constexpr",
        explanation="""
The value of a tl.constexpr parameter becomes part of the compiled code and of the key under which it is
kept, so it must be hashable and small: a number, a boolean, text, a type, a function, or a tuple of
those.
""",
        hint="remove tl.constexpr from the parameter, or pass a number",
        broken=kernel(_STORE, params="x_ptr: tl.constexpr"),
        mended=kernel(_STORE),
    ),
    Entry(
        code="TRI0713",
        cls=ArgumentError,
        title="a launch option with a value it cannot have",
        message="the option {name} cannot be {got}",
        explanation="""
num_warps is a power of two from 1 to 32; num_stages and num_ctas are positive integers; maxnreg is a
positive integer or None; the rest are True or False.
""",
        hint="use {expected}",
        broken=kernel(_STORE, args="x, num_warps=3"),
        mended=kernel(_STORE, args="x, num_warps=4"),
    ),
    Entry(
        code="TRI0715",
        cls=ArgumentError,
        title="a host tensor descriptor that cannot be made",
        message="this tensor descriptor cannot be made: {problem}",
        explanation="""
A TensorDescriptor has 1 to 5 axes, a 16-byte aligned base, outer strides that are multiples of 16 bytes,
and a last stride of 1.
""",
        hint="make the array contiguous along its last axis, and its rows a multiple of 16 bytes",
    ),
    Entry(
        code="TRI0716",
        cls=LaunchError,
        title="specialisation data that cannot be used",
        message="this specialisation data cannot be used for `{function}`: {problem}",
        explanation="""
`kernel.preload` takes the text that the knob `jit_cache_hook` got as `specialization_data` for the same
kernel, in this process or another one. Constants that are neither numbers, text, types nor kernels of an
importable module are not stored in it.
""",
        hint="launch the kernel instead, or record the data again",
    ),
)
