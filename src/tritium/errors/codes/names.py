"""TRI03: names that lead nowhere, or to something a kernel cannot use."""

from tritium.errors.codes.entry import Entry, kernel
from tritium.errors.exceptions import CompilationError, OutsideKernelError

ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="TRI0301",
        cls=CompilationError,
        title="a name that is not defined",
        message="`{name}` is not defined",
        explanation="""
The name is no local variable, no parameter, no variable of an enclosing function and no global of the
module that defines the kernel. A similar name that does exist is suggested.
""",
        hint="check the spelling, or pass the value as an argument",
        broken=kernel("value = 1.0\ntl.store(x_ptr, valve)"),
        mended=kernel("value = 1.0\ntl.store(x_ptr, value)"),
    ),
    Entry(
        code="TRI0302",
        cls=CompilationError,
        title="the language has no such function or type",
        message="`{module}` has no `{name}`",
        explanation="""
Names of the Triton language are known to the compiler; this one is none of them. Functions that PyTorch
or NumPy have often go by another name here, and device-library functions live in `tl.extra.libdevice`.
""",
        hint="see the reference of operations",
        broken=kernel("tl.store(x_ptr, tl.minimun(tl.load(x_ptr), 1.0))"),
        mended=kernel("tl.store(x_ptr, tl.minimum(tl.load(x_ptr), 1.0))"),
    ),
    Entry(
        code="TRI0303",
        cls=CompilationError,
        title="a variable that only one branch of an `if` defines",
        message="`{name}` is defined only when the condition in line {line} is {branch}",
        explanation="""
The condition is known only while the kernel runs, so both branches are compiled, and a variable used
after the `if` must have a value whichever way it goes.
""",
        hint="give `{name}` a value before the `if`, or in its other branch",
        broken=kernel("""
if tl.load(x_ptr) > 0:
    value = 1.0
tl.store(x_ptr, value)
"""),
        mended=kernel("""
value = 0.0
if tl.load(x_ptr) > 0:
    value = 1.0
tl.store(x_ptr, value)
"""),
    ),
    Entry(
        code="TRI0304",
        cls=CompilationError,
        title="a variable that only the body of a loop defines",
        message="`{name}` is defined only inside the loop in line {line}",
        explanation="""
A loop may run zero times, and then a variable that first appears in its body has no value after it. The
same holds for a variable that the body reads before it writes: it needs a value to start from.
""",
        hint="give `{name}` a value before the loop, of the type it has inside",
        broken=kernel("""
for i in range(4):
    last = i * 2
tl.store(x_ptr, last)
"""),
        mended=kernel("""
last = 0
for i in range(4):
    last = i * 2
tl.store(x_ptr, last)
"""),
    ),
    Entry(
        code="TRI0305",
        cls=CompilationError,
        title="a global that is not a compile-time constant",
        message="the global `{name}` is {got}, not a tl.constexpr",
        explanation="""
Globals are read when the kernel is compiled, so a plain number there would look like a variable and
behave like a constant. Triton asks for it to be said: `NAME = tl.constexpr(value)`. Modules, types,
functions with `@triton.jit` and named tuple classes may be used as they are.
TRITON_ALLOW_NON_CONSTEXPR_GLOBALS=1 lifts the rule.
""",
        hint="write {name} = tl.constexpr({name}), or pass it as a tl.constexpr parameter",
        broken=kernel("tl.store(x_ptr, SCALE)", before="SCALE = 2.0"),
        mended=kernel("tl.store(x_ptr, SCALE)", before="SCALE = tl.constexpr(2.0)"),
    ),
    Entry(
        code="TRI0306",
        cls=CompilationError,
        title="a Python built-in that kernels do not have",
        message="the built-in `{name}` is not available in kernels",
        explanation="""
Kernels know the built-ins `len`, `list`, `range`, `float`, `int`, `isinstance`, `getattr`, `hasattr`,
`print`, `min` and `max`. For work on tiles, use the language's own functions.
""",
        hint="use the function of tl with that meaning",
        broken=kernel("v = tl.load(x_ptr + tl.arange(0, 8))\ntl.store(x_ptr, sum(v))"),
        mended=kernel("v = tl.load(x_ptr + tl.arange(0, 8))\ntl.store(x_ptr, tl.sum(v))"),
    ),
    Entry(
        code="TRI0307",
        cls=CompilationError,
        title="a value has no such attribute or method",
        message="{owner} has no attribute `{name}`",
        explanation="""
Tiles have `shape`, `numel`, `dtype`, `type`, `T`, and the functions of the language as methods. Pointers
and numbers are tiles without axes. A similar name that does exist is suggested.
""",
        hint="check the spelling, or use a function of tl",
        broken=kernel("v = tl.load(x_ptr + tl.arange(0, 8))\ntl.store(x_ptr, v.mean())"),
        mended=kernel("v = tl.load(x_ptr + tl.arange(0, 8))\ntl.store(x_ptr, v.sum() / v.numel)"),
    ),
    Entry(
        code="TRI0308",
        cls=CompilationError,
        title="a plain Python function called from a kernel",
        message="`{name}` is a plain Python function; a kernel cannot call it",
        explanation="""
Kernels never run as Python, so a function has to be compiled with the kernel: `@triton.jit` for code that
works on run-time values, `@triton.constexpr_function` for Python that computes compile-time values.
""",
        hint="put @triton.jit above the `def` of `{name}`",
        broken=kernel("tl.store(x_ptr, double(1.0))", before="def double(v):\n    return v + v"),
        mended=kernel("tl.store(x_ptr, double(1.0))", before="@triton.jit\ndef double(v):\n    return v + v"),
    ),
    Entry(
        code="TRI0309",
        cls=CompilationError,
        title="an object that kernels cannot use",
        message="`{name}` is {got}, which a kernel cannot use",
        explanation="""
What a kernel may refer to outside itself: compile-time constants, types, modules, functions with
`@triton.jit` or `@triton.constexpr_function`, aggregates and named tuple classes. Arrays and tensors must
be passed as arguments.
""",
        hint="pass it as an argument",
        broken=kernel("tl.store(TABLE, 1.0)", before="TABLE = np.zeros(8, dtype=np.float32)"),
        mended=kernel("tl.store(table_ptr, 1.0)", params="table_ptr", args="np.zeros(8, dtype=np.float32)"),
    ),
    Entry(
        code="TRI0310",
        cls=CompilationError,
        title="a variable that is used before it has a value",
        message="`{name}` is used before it has a value",
        explanation="""
The function assigns to this name further down, which makes it a local variable everywhere in the
function, as in Python; at this point it has not been assigned yet.
""",
        hint="assign to `{name}` above this line",
        broken=kernel("tl.store(x_ptr, value)\nvalue = 1.0"),
        mended=kernel("value = 1.0\ntl.store(x_ptr, value)"),
    ),
    Entry(
        code="TRI0311",
        cls=CompilationError,
        title="something that is not a function is called",
        message="`{name}` is {got} and cannot be called",
        explanation="""
What stands before the parentheses has to be a function of the language, one with `@triton.jit`, a type to
cast to, or a function passed as a compile-time argument.
""",
        hint="check the name before the parentheses",
        broken=kernel("v = tl.load(x_ptr)\ntl.store(x_ptr, v(1))"),
        mended=kernel("v = tl.load(x_ptr)\ntl.store(x_ptr, v + 1)"),
    ),
    Entry(
        code="TRI0312",
        cls=OutsideKernelError,
        title="a function of the language called outside a kernel",
        message="`{function}` works in kernels only",
        explanation="""
Functions of `tl` stand for operations of a running kernel. Ordinary Python code cannot call them; most often the
decorator is missing above the function that does.
""",
        hint="put @triton.jit above the function that calls it",
        broken="tl.arange(0, 8)\n",
        mended=kernel("offs = tl.arange(0, 8)\ntl.store(x_ptr + offs, 1.0)"),
    ),
)
