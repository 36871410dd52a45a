"""TRI0401 to TRI0439: values whose type or shape does not suit what is done with them."""

from tritium.errors.codes.entry import Entry, kernel
from tritium.errors.exceptions import CompilationError

_OFFS = "offs = tl.arange(0, 8)\n"

ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="TRI0400",
        cls=CompilationError,
        title="an operation that does not accept its operands",
        message="the operands of this operation do not fit it",
        explanation="""
Every operation has a rule for the types and shapes of its operands, and these break it. Most mistakes
have a code of their own that says more; this one comes from the rule itself, whose sentence it shows.
""",
        hint="compare the types named with the reference of the operation",
    ),
    Entry(
        code="TRI0401",
        cls=CompilationError,
        title="operand types do not go together",
        message="`{operator}` cannot combine {lhs} and {rhs}",
        explanation="""
Numbers of any two types combine after promotion, 8-bit floats with floats only. Pointers combine only
with integer offsets, by `+` and `-`, and are compared as integers: p.to(tl.int64). Tuples, text, types
and None do not take part in arithmetic.
""",
        hint="convert one side with .to(...), or check what each side holds",
        broken=kernel("tl.store(x_ptr, tl.load(x_ptr) * x_ptr)"),
        mended=kernel("tl.store(x_ptr, tl.load(x_ptr) * tl.load(x_ptr))"),
    ),
    Entry(
        code="TRI0402",
        cls=CompilationError,
        title="pointer arithmetic with something other than an integer",
        message="a pointer takes an integer offset, not {got}",
        explanation="""
`pointer + n` moves by `n` elements, so `n` has to be an integer or a tile of integers. Two pointers
cannot be added or subtracted, and an integer cannot have a pointer subtracted from it. A float offset
usually comes from `/`, which always gives a float; `//` stays with integers.
""",
        hint="make the offset an integer: use // for division, or .to(tl.int32)",
        broken=kernel("tl.store(x_ptr + n / 2, 1.0)", params="x_ptr, n", args="x, 8"),
        mended=kernel("tl.store(x_ptr + n // 2, 1.0)", params="x_ptr, n", args="x, 8"),
    ),
    Entry(
        code="TRI0403",
        cls=CompilationError,
        title="a number does not fit the type of the other operand",
        message="{value} does not fit {dtype}",
        explanation="""
A Python number takes the type of the tile it is combined with, so that `x + 1` keeps the type of `x`. A
number outside the range of that type has no such form, and wrapping it silently would give another
number.
""",
        hint="widen the tile first: x.to(tl.int32), or a wider type",
        broken=kernel("v = tl.load(n_ptr).to(tl.int8)\ntl.store(n_ptr, v + 300)", params="n_ptr", args="n"),
        mended=kernel(
            "v = tl.load(n_ptr).to(tl.int8)\ntl.store(n_ptr, v.to(tl.int32) + 300)", params="n_ptr", args="n"
        ),
    ),
    Entry(
        code="TRI0404",
        cls=CompilationError,
        title="a negative number with an unsigned operand",
        message="{value} is negative, and the other operand has the unsigned type {dtype}",
        explanation="""
The number would take the unsigned type and wrap to a large value. Subtracting the positive number, or
converting the tile to a signed type first, says what is meant.
""",
        hint="convert the tile to a signed type first, or subtract the positive number",
        broken=kernel("v = tl.load(n_ptr).to(tl.uint32)\ntl.store(n_ptr, v + -1)", params="n_ptr", args="n"),
        mended=kernel(
            "v = tl.load(n_ptr).to(tl.uint32)\ntl.store(n_ptr, v.to(tl.int32) + -1)", params="n_ptr", args="n"
        ),
    ),
    Entry(
        code="TRI0405",
        cls=CompilationError,
        title="division of a signed by an unsigned integer",
        message="`{operator}` needs both integers signed or both unsigned, not {lhs} and {rhs}",
        explanation="""
Quotient and remainder depend on whether the bits are read as signed or unsigned, and with one of each
there is no reading that is right for both.
""",
        hint="convert one side with .to(...)",
        broken=kernel("v = tl.load(n_ptr)\ntl.store(n_ptr, v // v.to(tl.uint32))", params="n_ptr", args="n"),
        mended=kernel("v = tl.load(n_ptr)\ntl.store(n_ptr, v // v)", params="n_ptr", args="n"),
    ),
    Entry(
        code="TRI0406",
        cls=CompilationError,
        title="`//` on floats",
        message="`//` needs integers, not {lhs} and {rhs}",
        explanation="""
On tiles `//` is integer division, which truncates toward zero. For floats, divide and round the way that
is meant: tl.floor for Python's meaning.
""",
        hint="write tl.floor(a / b)",
        broken=kernel("tl.store(x_ptr, tl.load(x_ptr) // 2.0)"),
        mended=kernel("tl.store(x_ptr, tl.floor(tl.load(x_ptr) / 2.0))"),
    ),
    Entry(
        code="TRI0407",
        cls=CompilationError,
        title="shapes do not broadcast",
        message="shapes {lhs} and {rhs} do not broadcast: axis {axis} has {lhs_extent} and {rhs_extent}",
        explanation="""
Shapes are aligned at their last axis, as in NumPy. Along each axis the extents must be equal, or one of
them 1; missing leading axes count as 1.
""",
        hint="insert an axis with [:, None] or [None, :], or make the extents equal",
        broken=kernel("tl.store(x_ptr, tl.sum(tl.arange(0, 8) + tl.arange(0, 4)))"),
        mended=kernel("tl.store(x_ptr, tl.sum(tl.arange(0, 8)[:, None] + tl.arange(0, 4)[None, :]))"),
    ),
    Entry(
        code="TRI0408",
        cls=CompilationError,
        title="an operation on bits of floats",
        message="`{operator}` works on the bits of integers, not on {got}",
        explanation="""
`&`, `|`, `^`, `~`, `<<` and `>>` need integers or booleans. For the bits of a float, reinterpret it as
the integer type of the same width.
""",
        hint="convert with .to(tl.int32), or reinterpret with .to(tl.int32, bitcast=True)",
        broken=kernel("tl.store(x_ptr, tl.load(x_ptr) & 1)"),
        mended=kernel("tl.store(x_ptr, tl.load(x_ptr).to(tl.int32) & 1)"),
    ),
    Entry(
        code="TRI0409",
        cls=CompilationError,
        title="a function that is not defined for this type",
        message="`{function}` is not defined for {got}",
        explanation="""
The mathematical functions compute in fp32 or fp64 and do not widen narrower types by themselves, so that
the cost and the rounding stay visible. Some functions need integers, some need floats.
""",
        hint="convert the argument first: x.to(tl.float32)",
        broken=kernel("tl.store(x_ptr, tl.exp(tl.load(x_ptr).to(tl.float16)))"),
        mended=kernel("tl.store(x_ptr, tl.exp(tl.load(x_ptr)))"),
    ),
    Entry(
        code="TRI0410",
        cls=CompilationError,
        title="`**` on run-time values",
        message="`**` works on compile-time numbers only, not on {lhs} and {rhs}",
        explanation="""
A power is a product for small whole exponents and a library function for the rest, which differ in cost
and rounding. Write the one that is meant.
""",
        hint="write x * x, or tl.extra.libdevice.pow(x, y)",
        broken=kernel("tl.store(x_ptr, tl.load(x_ptr) ** 2)"),
        mended=kernel("v = tl.load(x_ptr)\ntl.store(x_ptr, v * v)"),
    ),
    Entry(
        code="TRI0411",
        cls=CompilationError,
        title="`and`, `or` or `not` on something that is not a truth value",
        message="`{operator}` needs truth values (int1), not {got}",
        explanation="""
On run-time values `and`, `or` and `not` combine truth values, the results of comparisons, and evaluate
both sides. An integer is not a truth value: `a and b` on integers would give one of the integers in
Python.
""",
        hint="compare with zero: (x != 0)",
        broken=kernel("if n and n > 4:\n    tl.store(x_ptr, 1.0)", params="x_ptr, n", args="x, 8"),
        mended=kernel("if n != 0 and n > 4:\n    tl.store(x_ptr, 1.0)", params="x_ptr, n", args="x, 8"),
    ),
    Entry(
        code="TRI0412",
        cls=CompilationError,
        title="a conversion that does not exist",
        message="{got} cannot be converted to {target}",
        explanation="""
Numbers convert to numbers of any type, except that 8-bit floats convert from and to floats only. Pointers
convert to other pointers, to int64 and back, and to int1 (is it non-null), and to nothing else.
""",
        hint="convert in two steps, through int64 for pointers",
        broken=kernel("tl.store(x_ptr, x_ptr.to(tl.float32))"),
        mended=kernel("tl.store(x_ptr, x_ptr.to(tl.int64).to(tl.float32))"),
    ),
    Entry(
        code="TRI0413",
        cls=CompilationError,
        title="reinterpretation between types of different width",
        message="{got} ({got_bits} bits) cannot be reinterpreted as {target} ({target_bits} bits)",
        explanation="""
`bitcast=True` keeps the bits and changes how they are read, so both types must have the same width.
""",
        hint="choose a type of {got_bits} bits, or leave bitcast out to convert the value",
        broken=kernel("tl.store(x_ptr, tl.load(x_ptr).to(tl.int16, bitcast=True))"),
        mended=kernel("tl.store(x_ptr, tl.load(x_ptr).to(tl.int32, bitcast=True))"),
    ),
    Entry(
        code="TRI0415",
        cls=CompilationError,
        title="a value that is not a number or a tile",
        message="{what} needs a number or a tile, and this is {got}",
        explanation="""
Tuples, text, types, functions and None exist in kernels at compile time only. They cannot be stored,
compared with tiles or computed with.
""",
        hint="check where the value comes from; a parameter that may be None is tested with `is not None`",
        broken=kernel("tl.store(x_ptr, bias)", params="x_ptr, bias", args="x, None"),
        mended=kernel(
            "if bias is not None:\n    tl.store(x_ptr, bias)", params="x_ptr, bias", args="x, None"
        ),
    ),
    Entry(
        code="TRI0416",
        cls=CompilationError,
        title="a pointer is needed",
        message="`{function}` needs a pointer or a tile of pointers, and this is {got}",
        explanation="""
Loads, stores and atomics take addresses: a pointer argument, or such an argument plus offsets. The
offsets alone say nothing about where memory is.
""",
        hint="add the offsets to a pointer argument",
        broken=kernel("offs = tl.arange(0, 8)\ntl.store(x_ptr + offs, tl.load(offs))"),
        mended=kernel("offs = tl.arange(0, 8)\ntl.store(x_ptr + offs, tl.load(x_ptr + offs))"),
    ),
    Entry(
        code="TRI0417",
        cls=CompilationError,
        title="a store through a pointer to constant data",
        message="`{name}` points to constant data, so nothing can be stored through it",
        explanation="""
A parameter annotated `tl.const` promises that the kernel only reads there. Loads may be cached or moved
on the strength of that promise.
""",
        hint="remove the tl.const annotation, or store through another pointer",
        broken=kernel("tl.store(x_ptr, 1.0)", params="x_ptr: tl.const"),
        mended=kernel("tl.store(x_ptr, 1.0)"),
    ),
    Entry(
        code="TRI0418",
        cls=CompilationError,
        title="a subscript that tiles do not take",
        message="a tile of shape {shape} cannot be indexed with {got}",
        explanation="""
A subscript of a tile is made of `:`, None, integers and slices with compile-time bounds, at most one for
each axis, and `...`, with NumPy's meaning. A slice has at least one element. To pick elements by a tile
of indices use tl.gather.
""",
        hint="use integers or slices with compile-time bounds, or tl.gather(x, index, axis)",
        broken=kernel(_OFFS + "v = tl.load(x_ptr + offs)\ntl.store(x_ptr, v[0, 1])"),
        mended=kernel(_OFFS + "v = tl.load(x_ptr + offs)\ntl.store(x_ptr, v[1])"),
    ),
    Entry(
        code="TRI0419",
        cls=CompilationError,
        title="an index outside the tile or tuple",
        message="index {index} is outside {what} of length {length}",
        explanation="""
Indices into tuples and tiles are compile-time numbers and are checked when the kernel is compiled.
Negative ones count from the end.
""",
        hint="use an index from -{length} to {length} - 1",
        broken=kernel("pair = (1.0, 2.0)\ntl.store(x_ptr, pair[2])"),
        mended=kernel("pair = (1.0, 2.0)\ntl.store(x_ptr, pair[1])"),
    ),
    Entry(
        code="TRI0420",
        cls=CompilationError,
        title="unpacking gives another number of values",
        message="{targets} names for {got}",
        explanation="""
`a, b = value` needs a tuple with as many values as there are names. A tile is one value, whatever its
shape.
""",
        hint="give one name for each value",
        broken=kernel("first, second = (1.0, 2.0, 3.0)\ntl.store(x_ptr, first)"),
        mended=kernel("first, second, third = (1.0, 2.0, 3.0)\ntl.store(x_ptr, first)"),
    ),
)
