"""TRI0601 to TRI0639: arguments that an operation of the language does not accept."""

from tritium.errors.codes.entry import Entry, kernel
from tritium.errors.exceptions import CompilationError

_SQUARE = """
rows = tl.arange(0, 16)
a = tl.load(a_ptr + rows[:, None] * 16 + rows[None, :])
"""
_SQUARE_ARGS = "np.ones((16, 16), dtype=np.float32)"
_STORE_SQUARE = "tl.store(a_ptr + rows[:, None] * 16 + rows[None, :], product)"
_EIGHT = "v = tl.load(x_ptr + tl.arange(0, 8))\n"


def _on_square(lines: str) -> str:
    return kernel(_SQUARE + lines + "\n" + _STORE_SQUARE, params="a_ptr", args=_SQUARE_ARGS)


ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="TRI0601",
        cls=CompilationError,
        title="a call that does not fit the function",
        message="the call does not fit `{function}{signature}`: {problem}",
        explanation="""
An argument is missing, is given twice, is one too many, or has a name that the function does not know. A
similar name that it does know is suggested.
""",
        hint="compare the call with the signature shown",
        broken=kernel("tl.store(x_ptr, 1.0, masked=True)"),
        mended=kernel("tl.store(x_ptr, 1.0, mask=True)"),
    ),
    Entry(
        code="TRI0602",
        cls=CompilationError,
        title="an axis that the tile does not have",
        message="`{function}` has no axis {axis}: the tile has {rank} axes",
        explanation="""
Axes count from 0, and negative ones from the end. A single value has no axes.
""",
        hint="use an axis from -{rank} to {rank} - 1",
        broken=kernel(_EIGHT + "tl.store(x_ptr, tl.sum(v, axis=1))"),
        mended=kernel(_EIGHT + "tl.store(x_ptr, tl.sum(v, axis=0))"),
    ),
    Entry(
        code="TRI0603",
        cls=CompilationError,
        title="an option with a value it cannot have",
        message="`{argument}` of `{function}` cannot be {got}",
        explanation="The option takes one of a few fixed values, which are listed.",
        hint="use one of {expected}",
        broken=kernel("tl.store(x_ptr, tl.load(x_ptr).to(tl.float16, fp_downcast_rounding='up'))"),
        mended=kernel("tl.store(x_ptr, tl.load(x_ptr).to(tl.float16, fp_downcast_rounding='rtz'))"),
    ),
    Entry(
        code="TRI0604",
        cls=CompilationError,
        title="`tl.dot` on shapes that do not multiply",
        message="tl.dot cannot multiply {lhs} by {rhs}",
        explanation="""
The operands have two axes, or three with equal leading (batch) extents; the last extent of the first
equals the last but one of the second. Triton also asks for minimum sizes; Tritium takes any.
""",
        hint="the columns of the first operand must equal the rows of the second; tl.trans swaps axes",
        broken=_on_square("product = tl.dot(a, tl.arange(0, 8)[:, None] + tl.zeros((8, 16), tl.float32))"),
        mended=_on_square("product = tl.dot(a, tl.arange(0, 16)[:, None] + tl.zeros((16, 16), tl.float32))"),
    ),
    Entry(
        code="TRI0605",
        cls=CompilationError,
        title="`tl.dot` on types that do not multiply",
        message="tl.dot cannot multiply {lhs} by {rhs}",
        explanation="""
Both operands have the same type: int8, fp16, bf16, fp32, fp64 or an 8-bit float (two 8-bit floats may
differ). Nothing is converted, since that would decide the precision of the product silently.
""",
        hint="convert one operand to the type of the other with .to(...)",
        broken=_on_square("product = tl.dot(a, a.to(tl.float16))"),
        mended=_on_square("product = tl.dot(a.to(tl.float16), a.to(tl.float16))"),
    ),
    Entry(
        code="TRI0606",
        cls=CompilationError,
        title="an accumulator or result type that does not fit `tl.dot`",
        message="the {what} of tl.dot is {got}",
        explanation="""
The accumulator has the shape and type of the result: int32 for int8, fp64 for fp64, fp32 for fp32 and
bf16, and fp32 or fp16 for fp16 and 8-bit floats.
""",
        hint="use {expected}",
        broken=_on_square("product = tl.dot(a, a, acc=tl.zeros((16, 8), tl.float32))"),
        mended=_on_square("product = tl.dot(a, a, acc=tl.zeros((16, 16), tl.float32))"),
    ),
    Entry(
        code="TRI0607",
        cls=CompilationError,
        title="two options that say the same thing differently",
        message="`{first}` and `{second}` of `{function}` cannot be given together",
        explanation="""
`allow_tf32` is the older spelling of `input_precision`: True means "tf32" and False means "ieee".
""",
        hint="keep `{first}` and remove `{second}`",
        broken=_on_square('product = tl.dot(a, a, input_precision="ieee", allow_tf32=True)'),
        mended=_on_square('product = tl.dot(a, a, input_precision="ieee")'),
    ),
    Entry(
        code="TRI0608",
        cls=CompilationError,
        title="a reshape to another number of elements",
        message="a tile of shape {shape} ({numel} elements) cannot take the shape {target} ({target_numel})",
        explanation="Reshaping keeps every element, in row-major order, so both shapes have equally many.",
        hint="make the product of the extents {numel}",
        broken=kernel(_EIGHT + "tl.store(x_ptr, tl.sum(tl.reshape(v, (2, 3))))"),
        mended=kernel(_EIGHT + "tl.store(x_ptr, tl.sum(tl.reshape(v, (2, 4))))"),
    ),
    Entry(
        code="TRI0609",
        cls=CompilationError,
        title="a broadcast that cannot be done",
        message="a tile of shape {shape} cannot be broadcast to {target}",
        explanation="""
tl.broadcast_to stretches axes of extent 1. The number of axes stays the same, except for a single value,
which fills any shape.
""",
        hint="insert axes with [:, None] first",
        broken=kernel(_EIGHT + "tl.store(x_ptr, tl.sum(tl.broadcast_to(v, (8, 4))))"),
        mended=kernel(_EIGHT + "tl.store(x_ptr, tl.sum(tl.broadcast_to(v[:, None], (8, 4))))"),
    ),
    Entry(
        code="TRI0610",
        cls=CompilationError,
        title="a list of axes that is not a permutation",
        message="{got} is not an order of the axes of a tile with {rank} axes",
        explanation="tl.permute and tl.trans name every axis once. tl.trans without axes swaps the last two.",
        hint="name each of the axes 0 to {rank} - 1 once",
        broken=_on_square("product = tl.permute(a, (0, 0))"),
        mended=_on_square("product = tl.permute(a, (1, 0))"),
    ),
    Entry(
        code="TRI0611",
        cls=CompilationError,
        title="shapes that cannot be joined or split",
        message="`{function}` cannot take {got}",
        explanation="""
tl.join puts two tiles of one shape side by side on a new last axis of extent 2, and tl.split undoes it,
so it needs a last axis of extent 2. tl.cat needs equal extents on all other axes.
""",
        hint="give it {expected}",
        broken=kernel(_EIGHT + "a, b = tl.split(v)\ntl.store(x_ptr, tl.sum(a))"),
        mended=kernel(_EIGHT + "a, b = tl.split(tl.reshape(v, (4, 2)))\ntl.store(x_ptr, tl.sum(a))"),
    ),
    Entry(
        code="TRI0612",
        cls=CompilationError,
        title="a combine function that does not fit",
        message="the function given to `{function}` {problem}",
        explanation="""
tl.reduce and tl.associative_scan take a function with `@triton.jit` of two values (2n for n tiles) that
returns one (n). It is applied in any order that associativity allows, and its result has the type of its
arguments. tl.map_elementwise takes a function of scalars that returns scalars, as many of one type in a
row as one call handles elements.
""",
        hint="write a @triton.jit function of scalars that returns as many, of the same types, as are combined",
        broken=kernel(
            _EIGHT + "tl.store(x_ptr, tl.reduce(v, 0, both))",
            before="@triton.jit\ndef both(a, b):\n    return a, b",
        ),
        mended=kernel(
            _EIGHT + "tl.store(x_ptr, tl.reduce(v, 0, add))",
            before="@triton.jit\ndef add(a, b):\n    return a + b",
        ),
    ),
    Entry(
        code="TRI0613",
        cls=CompilationError,
        title="a `k` that tl.topk cannot take",
        message="tl.topk of {extent} elements cannot give {k}",
        explanation="`k` is a compile-time number from 1 to the extent of the axis.",
        hint="use a k from 1 to {extent}",
        broken=kernel(_EIGHT + "tl.store(x_ptr, tl.sum(tl.topk(v, 16)))"),
        mended=kernel(_EIGHT + "tl.store(x_ptr, tl.sum(tl.topk(v, 4)))"),
    ),
    Entry(
        code="TRI0615",
        cls=CompilationError,
        title="`tl.histogram` of something that cannot be counted",
        message="tl.histogram needs a tile of integers with one axis, and this is {got}",
        explanation="Each element is the number of a bin. Convert floats to bin numbers first.",
        hint="convert to bin numbers with .to(tl.int32), and use tl.ravel for more axes",
        broken=kernel(_EIGHT + "tl.store(x_ptr, tl.sum(tl.histogram(v, 8)))"),
        mended=kernel(_EIGHT + "tl.store(x_ptr, tl.sum(tl.histogram(v.to(tl.int32), 8)))"),
    ),
    Entry(
        code="TRI0616",
        cls=CompilationError,
        title="an index tile that does not fit `tl.gather`",
        message="tl.gather along axis {axis} cannot take source {shape} and index {index_shape}",
        explanation="""
Source and index have equally many axes and equal extents on every axis but the one gathered along. The
index holds integers.
""",
        hint="make the other extents equal; convert the index with .to(tl.int32)",
        broken=kernel(_EIGHT + "tl.store(x_ptr, tl.sum(tl.gather(v, tl.zeros((2, 4), tl.int32), 0)))"),
        mended=kernel(_EIGHT + "tl.store(x_ptr, tl.sum(tl.gather(v, tl.zeros((4,), tl.int32), 0)))"),
    ),
    Entry(
        code="TRI0617",
        cls=CompilationError,
        title="a rounding mode on a conversion that does not round",
        message="fp_downcast_rounding applies to a narrower float only, not from {got} to {target}",
        explanation="""
A conversion to a float that is as wide or wider is exact, and one to an integer truncates.
""",
        hint="remove fp_downcast_rounding",
        broken=kernel("tl.store(x_ptr, tl.load(x_ptr).to(tl.float64, fp_downcast_rounding='rtz'))"),
        mended=kernel("tl.store(x_ptr, tl.load(x_ptr).to(tl.float64))"),
    ),
    Entry(
        code="TRI0618",
        cls=CompilationError,
        title="a grid axis that does not exist",
        message="`{function}` has no axis {axis}: a grid has the axes 0, 1 and 2",
        explanation="""
Grids have up to three axes. An axis that the launch leaves out has one program instance.
""",
        hint="use axis 0, 1 or 2; compute further indices with // and %",
        broken=kernel("tl.store(x_ptr, tl.program_id(3))"),
        mended=kernel("tl.store(x_ptr, tl.program_id(2))"),
    ),
    Entry(
        code="TRI0619",
        cls=CompilationError,
        title="a hint with the wrong number of values",
        message="`{function}` needs {expected} values, one for each axis, not {got}",
        explanation="""
tl.multiple_of, tl.max_contiguous and tl.max_constancy state a fact for each axis of the tile.
""",
        hint="give one compile-time integer for each axis",
        broken=kernel("offs = tl.multiple_of(tl.arange(0, 8), (8, 1))\ntl.store(x_ptr + offs, 1.0)"),
        mended=kernel("offs = tl.multiple_of(tl.arange(0, 8), (8,))\ntl.store(x_ptr + offs, 1.0)"),
    ),
    Entry(
        code="TRI0620",
        cls=CompilationError,
        title="`tl.device_print` without a fixed prefix",
        message="the prefix of tl.device_print must be fixed text, and this is {got}",
        explanation="The first argument is text known at compile time; the values to print follow it.",
        hint='write tl.device_print("value", x)',
        broken=kernel("tl.device_print(tl.load(x_ptr))"),
        mended=kernel('tl.device_print("x", tl.load(x_ptr))'),
    ),
    Entry(
        code="TRI0621",
        cls=CompilationError,
        title="inline assembly that this backend cannot run",
        message="the {backend} backend cannot run this inline assembly",
        explanation="""
Inline assembly is text for one GPU. The interpreter and the CPU backend know what a few common
instructions compute and run those; the rest runs on the GPU only.
""",
        hint="choose the instruction by target, with a plain expression for the others",
        broken=kernel("""
v = tl.inline_asm_elementwise("made.up $0, $1;", "=r,r", [tl.load(x_ptr)], tl.float32, True, 1)
tl.store(x_ptr, v)
"""),
        mended=kernel("v = tl.load(x_ptr)\ntl.store(x_ptr, v)"),
    ),
    Entry(
        code="TRI0622",
        cls=CompilationError,
        title="operands that do not fit `tl.dot_scaled`",
        message="tl.dot_scaled: {problem}",
        explanation="""
Formats are "e2m1" (two to a byte), "e4m3", "e5m2", "bf16" and "fp16"; scales are uint8 exponents, one for
32 elements along K, in tiles of shape (M, K / 32) and (N, K / 32).
""",
        hint="compare shapes and formats with the reference of tl.dot_scaled",
    ),
    Entry(
        code="TRI0623",
        cls=CompilationError,
        title="a result that is thrown away",
        message="the result of `{function}` is not used",
        explanation="""
Tiles and block pointers are values: the function makes a new one and leaves its argument as it was, so a
call whose result is not used does nothing.
""",
        hint="assign the result: p = tl.advance(p, ...)",
        broken=kernel("""
p = tl.make_block_ptr(x_ptr, (8,), (1,), (0,), (4,), (0,))
tl.advance(p, (4,))
tl.store(p, tl.zeros((4,), tl.float32))
"""),
        mended=kernel("""
p = tl.make_block_ptr(x_ptr, (8,), (1,), (0,), (4,), (0,))
p = tl.advance(p, (4,))
tl.store(p, tl.zeros((4,), tl.float32))
"""),
    ),
    Entry(
        code="TRI0624",
        cls=CompilationError,
        title="a seed or offset that is not an integer",
        message="the {what} of `{function}` must be an integer, and this is {got}",
        explanation="Random numbers are computed from a seed and the offset of each element, both integers.",
        hint="convert with .to(tl.int32)",
        broken=kernel("offs = tl.arange(0, 8)\ntl.store(x_ptr + offs, tl.rand(0.5, offs))"),
        mended=kernel("offs = tl.arange(0, 8)\ntl.store(x_ptr + offs, tl.rand(5, offs))"),
    ),
)
