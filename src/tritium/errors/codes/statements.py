"""TRI0201 to TRI0219: Python statements that have no meaning in a kernel."""

from tritium.errors.codes.entry import Entry, kernel
from tritium.errors.exceptions import UnsupportedLanguageConstruct

ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="TRI0201",
        cls=UnsupportedLanguageConstruct,
        title="a statement that kernels do not support",
        message="kernels do not support {construct}",
        explanation="""
Kernels are written in a part of Python: assignment, `if`, `for`, `while`, `return`, `break`, `continue`,
`assert`, `pass` and calls. Everything else needs the Python interpreter at run time, which a kernel has
not. Common statements have codes of their own; this one is for the rest, such as `type` in Python 3.12.
""",
        hint="compute it outside the kernel and pass the result in",
    ),
    Entry(
        code="TRI0202",
        cls=UnsupportedLanguageConstruct,
        title="`try` in a kernel",
        message="kernels do not support `try`: nothing raises exceptions while a kernel runs",
        explanation="""
A running kernel has no exceptions to catch. Division by zero, overflow and NaN give written values (see
the page on semantics), and accesses are guarded with masks.
""",
        hint="guard the operation with a mask or an `if`",
        broken=kernel("""
try:
    tl.store(x_ptr, 1.0)
except ValueError:
    pass
"""),
        mended=kernel("tl.store(x_ptr, 1.0)"),
    ),
    Entry(
        code="TRI0203",
        cls=UnsupportedLanguageConstruct,
        title="`with` in a kernel",
        message="kernels do not support `with {manager}`",
        explanation="""
Context managers run Python code on entry and exit, which a kernel cannot do. Only the language's own
scheduling blocks may follow `with`.
""",
        hint="remove the `with` and keep its body",
        broken=kernel("with open('log'):\n    tl.store(x_ptr, 1.0)"),
        mended=kernel("tl.store(x_ptr, 1.0)"),
    ),
    Entry(
        code="TRI0204",
        cls=UnsupportedLanguageConstruct,
        title="`class` in a kernel",
        message="kernels do not support `class`",
        explanation="""
Types are settled before a kernel is compiled. To group values, use a tuple, a named tuple defined outside
the kernel, or a class with `@triton.aggregate`, also defined outside.
""",
        hint="define the class outside the kernel, with @triton.aggregate, or use a tuple",
        broken=kernel("class Pair:\n    pass\ntl.store(x_ptr, 1.0)"),
        mended=kernel("pair = (1.0, 2.0)\ntl.store(x_ptr, pair[0])"),
    ),
    Entry(
        code="TRI0205",
        cls=UnsupportedLanguageConstruct,
        title="`global` or `nonlocal` in a kernel",
        message="kernels do not support `{construct}`",
        explanation="""
Kernels read globals at compile time and cannot assign to them: program instances run in parallel, perhaps
on another device, and share nothing but memory.
""",
        hint="pass the value as an argument; return results by storing them through a pointer",
        broken=kernel("global total\ntotal = 1\ntl.store(x_ptr, total)", before="total = tl.constexpr(0)"),
        mended=kernel("total = 1\ntl.store(x_ptr, total)"),
    ),
    Entry(
        code="TRI0206",
        cls=UnsupportedLanguageConstruct,
        title="a function defined inside a kernel",
        message="kernels do not support a function inside a function (`{name}`)",
        explanation="""
A nested `def` would be a closure over values that exist only while the kernel runs. Helpers are functions
of their own with `@triton.jit`, and get what they need as arguments.
""",
        hint="move `{name}` out of the kernel and put @triton.jit above it",
        broken=kernel("def double(v):\n    return v + v\ntl.store(x_ptr, double(1.0))"),
        mended=kernel(
            "tl.store(x_ptr, double(1.0))",
            before="@triton.jit\ndef double(v):\n    return v + v",
        ),
    ),
    Entry(
        code="TRI0207",
        cls=UnsupportedLanguageConstruct,
        title="`import` in a kernel",
        message="kernels do not support `import`",
        explanation="Modules are read at compile time; import them at the top of the file, as usual.",
        hint="move the import to the top of the file",
        broken=kernel("import math\ntl.store(x_ptr, 1.0)"),
        mended=kernel("tl.store(x_ptr, 1.0)"),
    ),
    Entry(
        code="TRI0208",
        cls=UnsupportedLanguageConstruct,
        title="`del` in a kernel",
        message="kernels do not support `del`",
        explanation="""
Values live as long as they are used: the compiler knows the last use of each, and `del` would tell it
nothing.
""",
        hint="remove the `del`",
        broken=kernel("v = tl.load(x_ptr)\ntl.store(x_ptr, v + 1)\ndel v"),
        mended=kernel("v = tl.load(x_ptr)\ntl.store(x_ptr, v + 1)"),
    ),
    Entry(
        code="TRI0209",
        cls=UnsupportedLanguageConstruct,
        title="`else` after a loop",
        message="kernels do not support `else` after `{loop}`",
        explanation="""
The `else` of a loop runs when no `break` was taken. A flag says the same and is easier to read.
""",
        hint="set a flag before `break`, and test it after the loop",
        broken=kernel("""
last = 0
for i in range(8):
    last = i
else:
    last = -1
tl.store(x_ptr, last)
"""),
        mended=kernel("""
last = 0
for i in range(8):
    last = i
tl.store(x_ptr, last)
"""),
    ),
    Entry(
        code="TRI0210",
        cls=UnsupportedLanguageConstruct,
        title="a loop over something other than a range or a tuple",
        message="`for` cannot loop over {got}",
        explanation="""
A run-time loop counts: `range`, or `tl.range` with scheduling hints. A compile-time loop is unrolled:
`tl.static_range`, or a tuple whose length is known. A tile is one value whose elements are worked on at
once; there is nothing to loop over.
""",
        hint="loop over range(...), or work on the whole tile at once",
        broken=kernel("""
total = 0.0
for v in tl.load(x_ptr + tl.arange(0, 8)):
    total += v
tl.store(x_ptr, total)
"""),
        mended=kernel("""
total = tl.sum(tl.load(x_ptr + tl.arange(0, 8)))
tl.store(x_ptr, total)
"""),
    ),
    Entry(
        code="TRI0211",
        cls=UnsupportedLanguageConstruct,
        title="assignment to an element, a slice or an attribute",
        message="kernels do not support assignment to {target}",
        explanation="""
Tiles are values, as numbers are: an operation makes a new tile and never changes one in place. Memory is
changed only by stores and atomics.
""",
        hint="build the new tile with tl.where, or store through a pointer",
        broken=kernel("""
offs = tl.arange(0, 8)
v = tl.load(x_ptr + offs)
v[0] = 1.0
tl.store(x_ptr + offs, v)
"""),
        mended=kernel("""
offs = tl.arange(0, 8)
v = tl.load(x_ptr + offs)
v = tl.where(offs == 0, 1.0, v)
tl.store(x_ptr + offs, v)
"""),
    ),
    Entry(
        code="TRI0212",
        cls=UnsupportedLanguageConstruct,
        title="an assignment target that kernels do not support",
        message="kernels do not support {target} as an assignment target",
        explanation="""
A target is a name or a tuple of targets. A starred target would collect a number of values that the code
below cannot see, and a subscript as a target of `+=` would change a tile in place.
""",
        hint="assign to names, one for each value",
        broken=kernel("first, *rest = (1.0, 2.0, 3.0)\ntl.store(x_ptr, first)"),
        mended=kernel("first, second, third = (1.0, 2.0, 3.0)\ntl.store(x_ptr, first)"),
    ),
    Entry(
        code="TRI0213",
        cls=UnsupportedLanguageConstruct,
        title="`raise` that is reached in a kernel",
        message="this `raise` is reached when the kernel is compiled",
        explanation="""
A kernel cannot raise while it runs. A `raise` in a branch that a compile-time condition leaves out is
ignored; one that is reached is reported with its text.
""",
        hint="check the compile-time condition above it; for run-time checks use tl.device_assert",
        broken=kernel(
            "if MODE == 0:\n    tl.store(x_ptr, 0.0)\nelse:\n    raise ValueError('unknown mode')",
            params="x_ptr, MODE: tl.constexpr",
            args="x, MODE=1",
        ),
        mended=kernel(
            "if MODE == 0:\n    tl.store(x_ptr, 0.0)\nelse:\n    raise ValueError('unknown mode')",
            params="x_ptr, MODE: tl.constexpr",
            args="x, MODE=0",
        ),
    ),
    Entry(
        code="TRI0214",
        cls=UnsupportedLanguageConstruct,
        title="`match` in a kernel",
        message="kernels do not support `match`",
        explanation="""
Pattern matching looks at Python objects; a chain of `if` and `elif` says what is meant.
""",
        hint="write if / elif / else",
        broken=kernel(
            "match MODE:\n    case 0:\n        tl.store(x_ptr, 0.0)",
            params="x_ptr, MODE: tl.constexpr",
            args="x, MODE=0",
        ),
        mended=kernel(
            "if MODE == 0:\n    tl.store(x_ptr, 0.0)",
            params="x_ptr, MODE: tl.constexpr",
            args="x, MODE=0",
        ),
    ),
)
