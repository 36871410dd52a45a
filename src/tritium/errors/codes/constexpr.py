"""TRI05: values that must be known when the kernel is compiled."""

from tritium.errors.codes.entry import Entry, kernel
from tritium.errors.exceptions import CompilationError, CompileTimeAssertionFailure

ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="TRI0501",
        cls=CompilationError,
        title="a compile-time value is needed",
        message="{what} must be known at compile time, and this is {got}",
        explanation="""
Shapes, axes, options and the bounds of tl.arange decide what code is made, so they have to be known when
the kernel is compiled: numbers in the source, tl.constexpr parameters and globals, and what is computed
from them.
""",
        hint="annotate the parameter with tl.constexpr",
        broken=kernel("tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)", params="x_ptr, BLOCK", args="x, BLOCK=8"),
        mended=kernel(
            "tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)",
            params="x_ptr, BLOCK: tl.constexpr",
            args="x, BLOCK=8",
        ),
    ),
    Entry(
        code="TRI0502",
        cls=CompileTimeAssertionFailure,
        title="a `tl.static_assert` is false",
        message="static assertion failed: {text}",
        explanation="""
The kernel states a condition on its compile-time values, and it does not hold for those of this launch.
While tuning, a configuration that fails so is left out.
""",
        hint="change the compile-time arguments so that the condition holds",
        broken=kernel(
            "tl.static_assert(BLOCK <= 8, 'BLOCK is too large')\ntl.store(x_ptr, 1.0)",
            params="x_ptr, BLOCK: tl.constexpr",
            args="x, BLOCK=16",
        ),
        mended=kernel(
            "tl.static_assert(BLOCK <= 8, 'BLOCK is too large')\ntl.store(x_ptr, 1.0)",
            params="x_ptr, BLOCK: tl.constexpr",
            args="x, BLOCK=8",
        ),
    ),
    Entry(
        code="TRI0503",
        cls=CompilationError,
        title="a `tl.static_assert` on something that is not a compile-time truth value",
        message="tl.static_assert needs a compile-time truth value, and this is {got}",
        explanation="""
The assertion is decided when the kernel is compiled. What depends on data is checked while the kernel
runs, by tl.device_assert.
""",
        hint="use tl.device_assert for run-time values",
        broken=kernel("tl.static_assert(tl.load(x_ptr) == 0)"),
        mended=kernel("tl.device_assert(tl.load(x_ptr) == 0)"),
    ),
    Entry(
        code="TRI0504",
        cls=CompilationError,
        title="bounds of `tl.arange` that make no tile",
        message="tl.arange({start}, {end}) has no elements or leaves int32",
        explanation="""
The end must be greater than the start, and both must be int32 numbers. Triton also asks for a length that
is a power of two; Tritium takes any length.
""",
        hint="give a start below the end",
        broken=kernel("tl.store(x_ptr + tl.arange(8, 8), 1.0)"),
        mended=kernel("tl.store(x_ptr + tl.arange(0, 8), 1.0)"),
    ),
    Entry(
        code="TRI0505",
        cls=CompilationError,
        title="bounds of `tl.static_range` that are not compile-time integers",
        message="the {which} of tl.static_range is {got}",
        explanation="""
tl.static_range is unrolled: its body is compiled once for every turn, so start, stop and step are
compile-time integers and the step is not zero.
""",
        hint="use // for division; for bounds known only at run time use range(...)",
        broken=kernel("for i in tl.static_range(8 / 2):\n    tl.store(x_ptr + i, 1.0)"),
        mended=kernel("for i in tl.static_range(8 // 2):\n    tl.store(x_ptr + i, 1.0)"),
    ),
    Entry(
        code="TRI0506",
        cls=CompilationError,
        title="a shape that is not made of positive compile-time integers",
        message="a shape needs positive compile-time integers, and this holds {got}",
        explanation="""
Every extent of a tile is known when the kernel is compiled and is at least 1. Triton also asks for powers
of two; Tritium takes any extent.
""",
        hint="use numbers or tl.constexpr values of at least 1",
        broken=kernel("tl.store(x_ptr, tl.sum(tl.zeros((0,), tl.float32)))"),
        mended=kernel("tl.store(x_ptr, tl.sum(tl.zeros((8,), tl.float32)))"),
    ),
    Entry(
        code="TRI0507",
        cls=CompilationError,
        title="a compile-time name that is given another value",
        message="`{name}` is a compile-time value and cannot be assigned again",
        explanation="""
A local variable annotated with tl.constexpr, like a tl.constexpr parameter, is a name for one
compile-time value.
""",
        hint="use another name, or leave the annotation out",
        broken=kernel("N: tl.constexpr = 4\nN: tl.constexpr = 5\ntl.store(x_ptr, N)"),
        mended=kernel("N: tl.constexpr = 4\nM: tl.constexpr = 5\ntl.store(x_ptr, N + M)"),
    ),
    Entry(
        code="TRI0508",
        cls=CompilationError,
        title="arithmetic on compile-time values fails",
        message="this compile-time expression fails: {problem}",
        explanation="""
Operations between compile-time values are done by Python when the kernel is compiled, with Python's
rules: `//` rounds down, and division by zero is an error.
""",
        hint="check the compile-time values that go in",
        broken=kernel("tl.store(x_ptr, 8 // N)", params="x_ptr, N: tl.constexpr", args="x, N=0"),
        mended=kernel("tl.store(x_ptr, 8 // N)", params="x_ptr, N: tl.constexpr", args="x, N=2"),
    ),
    Entry(
        code="TRI0509",
        cls=CompilationError,
        title="a compile-time function raised an exception",
        message="the compile-time function `{function}` raised {problem}",
        explanation="""
A function with `@triton.constexpr_function` is ordinary Python, run when the kernel is compiled with the
values of its compile-time arguments.
""",
        hint="check its arguments, or the function itself",
        broken=kernel(
            "tl.store(x_ptr, half(3))",
            before="""
@triton.constexpr_function
def half(n):
    if n % 2:
        raise ValueError("odd")
    return n // 2
""",
        ),
        mended=kernel(
            "tl.store(x_ptr, half(4))",
            before="""
@triton.constexpr_function
def half(n):
    if n % 2:
        raise ValueError("odd")
    return n // 2
""",
        ),
    ),
    Entry(
        code="TRI0510",
        cls=CompilationError,
        title="a type is needed",
        message="{what} needs a type such as tl.float32, and this is {got}",
        explanation="""
Types are tl.float32 and its like, the `dtype` of a tile, or a tl.constexpr parameter that holds one.
Names of NumPy or PyTorch types are not types of the language.
""",
        hint="write tl.float32, or pass the type as a tl.constexpr argument",
        broken=kernel("tl.store(x_ptr, tl.load(x_ptr).to(1))"),
        mended=kernel("tl.store(x_ptr, tl.load(x_ptr).to(tl.float16))"),
    ),
)
