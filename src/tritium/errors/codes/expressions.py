"""TRI0220 to TRI0239: Python expressions that have no meaning in a kernel."""

from tritium.errors.codes.entry import Entry, kernel
from tritium.errors.exceptions import UnsupportedLanguageConstruct

ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="TRI0220",
        cls=UnsupportedLanguageConstruct,
        title="an expression that kernels do not support",
        message="kernels do not support {construct}",
        explanation="""
Expressions in kernels are names, attributes, constants, tuples, lists (as shapes), operators,
comparisons, conditional expressions, subscripts and calls. Common others have codes of their own; this is
for the rest.
""",
        hint="compute it outside the kernel and pass the result in",
        broken=kernel("while (v := tl.load(x_ptr)) > 1.0:\n    tl.store(x_ptr, v / 2)"),
        mended=kernel("v = tl.load(x_ptr)\nwhile v > 1.0:\n    v = v / 2\ntl.store(x_ptr, v)"),
    ),
    Entry(
        code="TRI0221",
        cls=UnsupportedLanguageConstruct,
        title="`lambda` in a kernel",
        message="kernels do not support `lambda`",
        explanation="""
Functions that a kernel calls, or hands to tl.reduce and tl.associative_scan, are functions of their own
with `@triton.jit`: their source and their types can then be shown in errors.
""",
        hint="write a function with @triton.jit outside the kernel",
        broken=kernel("""
v = tl.load(x_ptr + tl.arange(0, 8))
tl.store(x_ptr, tl.reduce(v, 0, lambda a, b: a * b))
"""),
        mended=kernel(
            "v = tl.load(x_ptr + tl.arange(0, 8))\ntl.store(x_ptr, tl.reduce(v, 0, times))",
            before="@triton.jit\ndef times(a, b):\n    return a * b",
        ),
    ),
    Entry(
        code="TRI0222",
        cls=UnsupportedLanguageConstruct,
        title="`yield` or `await` in a kernel",
        message="kernels do not support `{construct}`",
        explanation="A kernel runs to its end; it cannot be suspended and resumed.",
        hint="store the results through a pointer",
        broken=kernel("yield tl.load(x_ptr)"),
        mended=kernel("tl.store(x_ptr, tl.load(x_ptr))"),
    ),
    Entry(
        code="TRI0223",
        cls=UnsupportedLanguageConstruct,
        title="a dict or set in a kernel",
        message="kernels do not support {construct}",
        explanation="""
Dicts and sets need hashing at run time. Where the keys are known, separate names or a named tuple defined
outside the kernel do the same.
""",
        hint="use separate names, a tuple or a named tuple",
        broken=kernel("scale = {'a': 2.0}\ntl.store(x_ptr, scale['a'])"),
        mended=kernel("scale_a = 2.0\ntl.store(x_ptr, scale_a)"),
    ),
    Entry(
        code="TRI0224",
        cls=UnsupportedLanguageConstruct,
        title="a comprehension that kernels do not support",
        message="kernels do not support {construct}",
        explanation="""
A list comprehension with one `for` over a tuple is unrolled at compile time. Conditions, several `for`
parts, generator expressions, and dict or set comprehensions are not supported.
""",
        hint="write out the elements, or loop with tl.static_range",
        broken=kernel("parts = [v for v in (1.0, 2.0) if v > 1.0]\ntl.store(x_ptr, parts[0])"),
        mended=kernel("parts = [v * 2 for v in (1.0, 2.0)]\ntl.store(x_ptr, parts[0])"),
    ),
    Entry(
        code="TRI0225",
        cls=UnsupportedLanguageConstruct,
        title="`in` with a run-time value",
        message="kernels do not support `{operator}` on {got}",
        explanation="""
Membership is decided at compile time, between compile-time values. For values that are known only while
the kernel runs, compare and combine.
""",
        hint="write (x == a) | (x == b)",
        broken=kernel("""
v = tl.load(x_ptr)
if v in (1.0, 2.0):
    tl.store(x_ptr, 0.0)
"""),
        mended=kernel("""
v = tl.load(x_ptr)
if (v == 1.0) | (v == 2.0):
    tl.store(x_ptr, 0.0)
"""),
    ),
    Entry(
        code="TRI0227",
        cls=UnsupportedLanguageConstruct,
        title="text that depends on run-time values",
        message="an f-string in a kernel can hold only compile-time values, and `{name}` is {got}",
        explanation="""
Text is made at compile time, for tl.static_print, tl.static_assert and the like. To see run-time values,
give them to tl.device_print, which takes a fixed prefix and then values.
""",
        hint='write tl.device_print("{name}", {name})',
        broken=kernel("v = tl.load(x_ptr)\ntl.static_print(f'v is {v}')"),
        mended=kernel("v = tl.load(x_ptr)\ntl.device_print('v', v)"),
    ),
    Entry(
        code="TRI0228",
        cls=UnsupportedLanguageConstruct,
        title="a starred argument whose length is not known",
        message="`*{name}` needs a tuple, and this is {got}",
        explanation="""
`*args` in a call spreads a tuple, whose length is known at compile time. A tile is one value, not a
sequence of arguments, and `**` needs a dict, which kernels do not have.
""",
        hint="pass the value itself, or a tuple of values",
        broken=kernel(
            "offs = tl.arange(0, 8)\ntl.store(x_ptr, add(*offs))",
            before="@triton.jit\ndef add(a, b):\n    return a + b",
        ),
        mended=kernel(
            "pair = (1.0, 2.0)\ntl.store(x_ptr, add(*pair))",
            before="@triton.jit\ndef add(a, b):\n    return a + b",
        ),
    ),
    Entry(
        code="TRI0229",
        cls=UnsupportedLanguageConstruct,
        title="a constant that kernels do not have",
        message="a kernel has no use for {got}",
        explanation="""
Constants are numbers, booleans, None and text. Bytes and `...` outside a subscript stand for nothing a
kernel can compute with.
""",
        hint="use a number, a boolean, None or text",
        broken=kernel("tl.store(x_ptr, b'1')"),
        mended=kernel("tl.store(x_ptr, 1)"),
    ),
)
