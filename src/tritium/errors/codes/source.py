"""TRI01: where a kernel's source comes from, and what kind of function can be a kernel."""

from tritium.errors.codes.entry import Entry, kernel
from tritium.errors.exceptions import (
    CompilationError,
    SourceUnavailableError,
    UnsupportedLanguageConstruct,
)

ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="TRI0101",
        cls=SourceUnavailableError,
        title="the source of a kernel cannot be had",
        message="the source of `{function}` cannot be had",
        explanation="""
A kernel is compiled from the text of its function, so that text has to be within reach: in a file, in the
notebook's or the prompt's history, or registered by whoever called `exec`. A function whose code object
came from elsewhere (an extension module, a pickle, a deleted file) has none.
""",
        hint="define the kernel in a file, or call tritium.errors.register_source(file, text) before exec",
    ),
    Entry(
        code="TRI0103",
        cls=CompilationError,
        title="a function calls itself without end",
        message="`{function}` calls itself, and nothing known at compile time ends the recursion",
        explanation="""
Calls between kernels' functions are inlined, so a function that calls itself would grow for ever.
Recursion is accepted only where constexpr arguments end it: each level is then a function of its own.
""",
        hint="write a loop, or let a tl.constexpr argument decide when to stop",
        broken=kernel(
            "tl.store(x_ptr, half(tl.load(x_ptr)))",
            before="""
@triton.jit
def half(value):
    if value > 1:
        return half(value / 2)
    return value
""",
        ),
        mended=kernel(
            "value = tl.load(x_ptr)\nwhile value > 1:\n    value = value / 2\ntl.store(x_ptr, value)",
        ),
    ),
    Entry(
        code="TRI0104",
        cls=CompilationError,
        title="`jit` was applied to something that is not a plain function",
        message="`jit` needs a plain Python function",
        explanation="""
`@triton.jit` compiles a function written with `def`. A class, an instance with `__call__`, a built-in
function or a `functools.partial` has no kernel text of its own.
""",
        hint="put @triton.jit directly above a `def`",
        broken="""\
@triton.jit
class Kernel:
    def __call__(self, x_ptr):
        tl.store(x_ptr, 1.0)
""",
        mended=kernel("tl.store(x_ptr, 1.0)"),
    ),
    Entry(
        code="TRI0105",
        cls=SourceUnavailableError,
        title="the text found for a kernel is not its source",
        message="the text found for `{function}` in {file} is not its source: it holds no such function",
        explanation="""
The line numbers in the compiled function lead to text that defines something else, most often because the
file was edited after it was imported.
""",
        hint="run the program again, or reload the module that was edited",
    ),
    Entry(
        code="TRI0106",
        cls=CompilationError,
        title="the text of a kernel is not valid Python",
        message="the text of this kernel is not valid Python: {problem}",
        explanation="""
Kernels from strings and from edited files are parsed when they are compiled. The place named is the one
that Python's parser names.
""",
        hint="mend the text at the place shown",
    ),
    Entry(
        code="TRI0107",
        cls=UnsupportedLanguageConstruct,
        title="a generator or coroutine cannot be a kernel",
        message="`{function}` is {kind}, and a kernel has to be a plain function",
        explanation="""
A kernel runs to its end as one program instance; it cannot be suspended, so it cannot be `async` and
cannot hold `yield`.
""",
        hint="write a plain `def` that stores its results through pointers",
        broken="""\
@triton.jit
async def kernel(x_ptr):
    tl.store(x_ptr, 1.0)


x = np.zeros(1, dtype=np.float32)
kernel[(1,)](x)
""",
        mended="""\
@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, 1.0)


x = np.zeros(1, dtype=np.float32)
kernel[(1,)](x)
""",
    ),
    Entry(
        code="TRI0108",
        cls=UnsupportedLanguageConstruct,
        title="a parameter kind that kernels do not have",
        message="`{function}` has the parameter `{parameter}`, a kind that kernels do not have",
        explanation="""
Parameters may be given by position or by keyword, may have default values, may be keyword-only, and a
helper may take `*args`. A `**kwargs` parameter has no set of names that could be compiled, and
positional-only parameters (before a `/`) are not supported.
""",
        hint="name each parameter",
        broken=kernel(
            "tl.store(x_ptr, double(2.0))",
            before="@triton.jit\ndef double(value, **options):\n    return value + value",
        ),
        mended=kernel(
            "tl.store(x_ptr, double(2.0))", before="@triton.jit\ndef double(value):\n    return value + value"
        ),
    ),
    Entry(
        code="TRI0109",
        cls=CompilationError,
        title="calls are nested too deeply",
        message="calls are nested {depth} deep at the call of `{function}`; at most {limit} are inlined",
        explanation="""
Every call of a function with `@triton.jit` is inlined. A chain as long as this one is nearly always a
recursion whose compile-time arguments never reach the value that ends it.
""",
        hint="check what ends the recursion of `{function}`",
        broken=kernel(
            "tl.store(x_ptr, count_down(1, 3))",
            before="""
@triton.jit
def count_down(value, N: tl.constexpr):
    if N == 0:
        return value
    else:
        return count_down(value * 2, N - 2)
""",
        ),
        mended=kernel(
            "tl.store(x_ptr, count_down(1, 4))",
            before="""
@triton.jit
def count_down(value, N: tl.constexpr):
    if N == 0:
        return value
    else:
        return count_down(value * 2, N - 2)
""",
        ),
    ),
)
