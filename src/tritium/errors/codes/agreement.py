"""TRI0440 to TRI0459: control flow whose ways do not agree in type, and conditions that are none."""

from tritium.errors.codes.entry import Entry, kernel
from tritium.errors.exceptions import CompilationError

ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="TRI0440",
        cls=CompilationError,
        title="a variable has another type in each branch of an `if`",
        message="`{name}` is {got} in one branch and {expected} in the other",
        explanation="""
The condition is known only while the kernel runs, so a variable used after the `if` must have one type
and shape on both ways. A number assigned in a branch has a type of its own: `v = 0` is an int32.
""",
        hint="convert one branch with .to(...), or write 0.0 for a float",
        broken=kernel("""
value = tl.load(x_ptr)
if value > 0:
    value = tl.arange(0, 8)
tl.store(x_ptr + value, 1.0)
"""),
        mended=kernel("""
value = tl.load(x_ptr)
if value > 0:
    value = value + 1
tl.store(x_ptr, value)
"""),
    ),
    Entry(
        code="TRI0441",
        cls=CompilationError,
        title="a variable changes its type in a loop",
        message="`{name}` enters the loop as {expected}, and the body makes it {got}",
        explanation="""
A variable carried from one turn of a loop to the next keeps one type and shape. Most often the start
value is a number (`acc = 0` is an int32) and the body adds floats, or the start is a number and the body
makes it a tile.
""",
        hint="start with the type the body gives: tl.zeros(shape, dtype), or 0.0 for a float",
        broken=kernel("""
acc = 0
for i in range(8):
    acc += tl.load(x_ptr + i)
tl.store(x_ptr, acc)
"""),
        mended=kernel("""
acc = 0.0
for i in range(8):
    acc += tl.load(x_ptr + i)
tl.store(x_ptr, acc)
"""),
    ),
    Entry(
        code="TRI0442",
        cls=CompilationError,
        title="returns of different types",
        message="`{function}` returns {got} here and {expected} in line {line}",
        explanation="""
A function has one result type. When a run-time condition decides which `return` is reached, all of them
must agree in type and shape, and a way that ends without `return` counts as returning nothing.
""",
        hint="make every return give the same type and shape",
        broken=kernel(
            "tl.store(x_ptr, pick(tl.load(x_ptr)))",
            before="""
@triton.jit
def pick(value):
    if value > 0:
        return value
    return 0
""",
        ),
        mended=kernel(
            "tl.store(x_ptr, pick(tl.load(x_ptr)))",
            before="""
@triton.jit
def pick(value):
    if value > 0:
        return value
    return 0.0
""",
        ),
    ),
    Entry(
        code="TRI0443",
        cls=CompilationError,
        title="a conditional expression with two types",
        message="this conditional expression gives {expected} or {got}",
        explanation="""
With a run-time condition both values of `a if c else b` are computed and one is chosen, so both must have
one type. With a compile-time condition only the chosen one is compiled and the other may be anything.
""",
        hint="convert one side, or use tl.where, which promotes",
        broken=kernel("v = tl.load(x_ptr)\ntl.store(x_ptr, v if v > 0 else 0)"),
        mended=kernel("v = tl.load(x_ptr)\ntl.store(x_ptr, v if v > 0 else 0.0)"),
    ),
    Entry(
        code="TRI0444",
        cls=CompilationError,
        title="a condition that is a tile",
        message="the condition of `{construct}` has shape {shape}; it must be a single truth value",
        explanation="""
A program instance takes one way or the other as a whole. To choose for each element, use tl.where; to ask
whether any or all elements satisfy the condition, reduce it first.
""",
        hint="use tl.where(condition, a, b), or reduce: tl.max(condition.to(tl.int32)) > 0",
        broken=kernel("""
v = tl.load(x_ptr + tl.arange(0, 8))
if v > 0:
    tl.store(x_ptr, 1.0)
"""),
        mended=kernel("""
v = tl.load(x_ptr + tl.arange(0, 8))
if tl.max(v) > 0:
    tl.store(x_ptr, 1.0)
"""),
    ),
    Entry(
        code="TRI0445",
        cls=CompilationError,
        title="a `while` condition that is not a truth value",
        message="the condition of `while` is {got}, not a truth value (int1)",
        explanation="""
The condition of a run-time `while` is evaluated on every turn and must be a comparison or another truth
value; Triton does not read an integer as one here.
""",
        hint="compare with zero: while n != 0",
        broken=kernel("while n:\n    n -= 1\ntl.store(x_ptr, n)", params="x_ptr, n", args="x, 8"),
        mended=kernel("while n != 0:\n    n -= 1\ntl.store(x_ptr, n)", params="x_ptr, n", args="x, 8"),
    ),
    Entry(
        code="TRI0446",
        cls=CompilationError,
        title="a condition that cannot be true or false",
        message="the condition of `{construct}` is {got}, which is neither true nor false",
        explanation="""
Conditions are truth values, numbers (true when not zero), or compile-time values such as None. A
descriptor or a function has no truth value.
""",
        hint="compare it with something, or test it with `is not None`",
    ),
    Entry(
        code="TRI0447",
        cls=CompilationError,
        title="loop bounds that are not integers",
        message="the {which} of `range` is {got}, not an integer",
        explanation="""
Start, stop and step of a loop are single integers. A float here usually comes from `/`; for the number of
blocks use tl.cdiv or `//`.
""",
        hint="use // or tl.cdiv for division, or convert with .to(tl.int32)",
        broken=kernel(
            "for i in range(0, n / 2):\n    tl.store(x_ptr + i, 1.0)", params="x_ptr, n", args="x, 8"
        ),
        mended=kernel(
            "for i in range(0, n // 2):\n    tl.store(x_ptr + i, 1.0)", params="x_ptr, n", args="x, 8"
        ),
    ),
    Entry(
        code="TRI0448",
        cls=CompilationError,
        title="a loop step that never reaches the end",
        message="the step of `range` is {value}",
        explanation="""
A step of zero would run for ever. A negative step has to be a compile-time number, because the test for
the end depends on its sign.
""",
        hint="use a step that is not zero",
        broken=kernel("for i in range(0, 8, 0):\n    tl.store(x_ptr + i, 1.0)"),
        mended=kernel("for i in range(0, 8, 1):\n    tl.store(x_ptr + i, 1.0)"),
    ),
)
