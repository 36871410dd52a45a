"""TRI08: what can go wrong while a kernel runs."""

from tritium.errors.codes.entry import Entry, kernel
from tritium.errors.exceptions import DeviceAssertError, InterpreterError, OutOfBoundsError

ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="TRI0801",
        cls=OutOfBoundsError,
        title="an access outside every array of the launch",
        message="this {access} reaches memory outside every array that was passed to `{function}`",
        explanation="""
The address belongs to none of the arrays that the launch passed, so touching it could change or read
anything. The report names the program instance, the element of the tile and how far the address lies from
the nearest array. `tritium check` says which axis went wrong and what bound its mask lacks.
""",
        hint="mask the access: mask=offsets < size",
        broken=kernel("offs = tl.arange(0, 16)\ntl.store(x_ptr + offs, 1.0)"),
        mended=kernel("offs = tl.arange(0, 16)\ntl.store(x_ptr + offs, 1.0, mask=offs < 8)"),
    ),
    Entry(
        code="TRI0802",
        cls=DeviceAssertError,
        title="a `tl.device_assert` or `assert` is false",
        message="assertion failed: {text}",
        explanation="""
The condition is false for the element and the program instance named. Assertions are compiled in when
debug is on: the option debug=True, or TRITON_DEBUG=1.
""",
        hint="look at the values with tl.device_print, or stop there with breakpoint()",
        broken=kernel("tl.device_assert(tl.load(x_ptr) > 0, 'x must be positive')", args="x, debug=True"),
        mended=kernel("tl.device_assert(tl.load(x_ptr) >= 0, 'x must be positive')", args="x, debug=True"),
    ),
    Entry(
        code="TRI0803",
        cls=InterpreterError,
        title="program instances wait for each other for ever",
        message="{count} program instances wait for a change in memory that no instance will make",
        explanation="""
Each of the remaining instances turns in a loop that reads memory, and none of them writes what another
waits for: a lock that is never released, or a flag set by an instance that has already ended without
setting it.
""",
        hint="check that each lock is released, and each flag set, on every way through the kernel",
        broken=kernel("while tl.atomic_add(n_ptr, 0) != 0:\n    pass", params="n_ptr", args="n"),
        mended=kernel("while tl.atomic_add(n_ptr, -1) > 0:\n    pass", params="n_ptr", args="n"),
    ),
    Entry(
        code="TRI0805",
        cls=InterpreterError,
        title="a combine function that depends on the program instance",
        message="the interpreter cannot execute `{op}`: {problem}",
        explanation="""
The interpreter applies the function of tl.reduce, tl.associative_scan and tl.map_elementwise to the
elements of many program instances at once, so it can use its arguments and compile-time values only.
""",
        hint="apply what depends on the program instance before or after",
        broken=kernel(
            "v = tl.load(x_ptr + tl.arange(0, 8))\ntl.store(x_ptr, tl.reduce(v, 0, add))",
            before="@triton.jit\ndef add(a, b):\n    return a + b + tl.program_id(0)",
            grid="(2,)",
        ),
        mended=kernel(
            "v = tl.load(x_ptr + tl.arange(0, 8))\ntl.store(x_ptr, tl.reduce(v, 0, add) + tl.program_id(0))",
            before="@triton.jit\ndef add(a, b):\n    return a + b",
            grid="(2,)",
        ),
    ),
    Entry(
        code="TRI0806",
        cls=InterpreterError,
        title="a store to a read-only array",
        message="`{function}` writes to {name}, which is read-only",
        explanation="""
The array was made read-only by its owner (NumPy's `writeable` flag, or a library that exports it so). A
GPU could not tell; here the store is refused before anything is written.
""",
        hint="pass a copy of the array, or make it writable",
        broken=kernel("tl.store(x_ptr, 1.0)", args="np.broadcast_to(np.float32(0), 8)"),
        mended=kernel("tl.store(x_ptr, 1.0)"),
    ),
    Entry(
        code="TRI0807",
        cls=InterpreterError,
        title="a loop with step zero",
        message="the step of this loop is 0 for some program instance, so it would never end",
        explanation="""
The step of `range` is computed at run time here, and came out as zero. On a GPU such a loop hangs.
""",
        hint="make the step at least 1",
        broken=kernel(
            "for i in range(0, 4, n):\n    tl.store(x_ptr + i, 1.0)", params="x_ptr, n", args="x, 0"
        ),
        mended=kernel(
            "for i in range(0, 4, n):\n    tl.store(x_ptr + i, 1.0)", params="x_ptr, n", args="x, 2"
        ),
    ),
    Entry(
        code="TRI0808",
        cls=InterpreterError,
        title="a fault of the interpreter itself",
        message="the interpreter failed while executing `{op}`: {problem}",
        explanation="""
This is a fault of Tritium, not of the kernel. The line is the kernel's line that was being executed; the
underlying exception is the `__cause__`. Please report it with the kernel.
""",
        hint="report it, with the kernel and the arguments",
    ),
)
