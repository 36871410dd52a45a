"""TRI0640 to TRI0669: arguments of loads, stores, atomics, block pointers and descriptors."""

from tritium.errors.codes.entry import Entry, kernel
from tritium.errors.exceptions import CompilationError

_OFFS = "offs = tl.arange(0, 8)\n"
_BLOCK = "p = tl.make_block_ptr(x_ptr, (8,), (1,), (0,), (8,), (0,))\n"

ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="TRI0640",
        cls=CompilationError,
        title="a tile of masks or values with a single pointer",
        message="`{function}` has a single pointer and a {what} of shape {shape}",
        explanation="""
Mask, value and other are stretched to the shape of the pointer, never the other way round: one address
with eight values would leave open which of them to store.
""",
        hint="add offsets to the pointer so that it has the shape {shape}",
        broken=kernel(_OFFS + "tl.store(x_ptr, 1.0, mask=offs < 4)"),
        mended=kernel(_OFFS + "tl.store(x_ptr + offs, 1.0, mask=offs < 4)"),
    ),
    Entry(
        code="TRI0641",
        cls=CompilationError,
        title="`other` without `mask`",
        message="tl.load has `other` but no `mask`",
        explanation="""
`other` is the value of the elements that the mask leaves out. Without a mask there are none.
""",
        hint="add a mask, or remove `other`",
        broken=kernel(_OFFS + "tl.store(x_ptr + offs, tl.load(x_ptr + offs, other=0.0))"),
        mended=kernel(_OFFS + "tl.store(x_ptr + offs, tl.load(x_ptr + offs, mask=offs < 4, other=0.0))"),
    ),
    Entry(
        code="TRI0642",
        cls=CompilationError,
        title="a mask that is not made of truth values",
        message="the mask of `{function}` is {got}, not int1",
        explanation="""
A mask says yes or no for each element: it is a comparison, or several joined with `&` and `|`.
""",
        hint="write a comparison: mask=m != 0",
        broken=kernel(_OFFS + "tl.store(x_ptr + offs, 1.0, mask=offs)"),
        mended=kernel(_OFFS + "tl.store(x_ptr + offs, 1.0, mask=offs != 0)"),
    ),
    Entry(
        code="TRI0643",
        cls=CompilationError,
        title="a mask or value whose shape does not fit the pointer",
        message="the {what} of `{function}` has shape {got}, which does not stretch to the pointer's {shape}",
        explanation="""
Mask, value and other are stretched to the shape of the pointer tile by the usual rules: axes aligned at
the end, each extent equal or 1. They cannot have more axes than the pointer.
""",
        hint="give it the pointer's shape, or an axis of extent 1 with [:, None]",
        broken=kernel(_OFFS + "tl.store(x_ptr + offs, tl.arange(0, 4))"),
        mended=kernel(_OFFS + "tl.store(x_ptr + offs, tl.arange(0, 8))"),
    ),
    Entry(
        code="TRI0644",
        cls=CompilationError,
        title="a cache modifier that does not exist",
        message='`{function}` has no cache modifier "{got}"',
        explanation="""
Cache modifiers are hints to a GPU and change no value: ".ca", ".cg", ".cs" and ".cv" for loads, ".wb",
".cg", ".cs" and ".wt" for stores.
""",
        hint="use one of {expected}, or none",
        broken=kernel('tl.store(x_ptr, tl.load(x_ptr, cache_modifier=".wb"))'),
        mended=kernel('tl.store(x_ptr, tl.load(x_ptr, cache_modifier=".ca"))'),
    ),
    Entry(
        code="TRI0645",
        cls=CompilationError,
        title="an eviction policy that does not exist",
        message='`{function}` has no eviction policy "{got}"',
        explanation='The policies are "evict_first" and "evict_last", hints to a GPU that change no value.',
        hint="use one of {expected}, or none",
        broken=kernel('tl.store(x_ptr, 1.0, eviction_policy="never")'),
        mended=kernel('tl.store(x_ptr, 1.0, eviction_policy="evict_first")'),
    ),
    Entry(
        code="TRI0646",
        cls=CompilationError,
        title="a block-pointer option with plain pointers",
        message="`{argument}` of `{function}` needs a block pointer, and this is {got}",
        explanation="""
Only a block pointer knows the shape it points into, so only there can bounds be checked by name of the
axis. Plain pointers are guarded with a mask.
""",
        hint="use mask= instead",
        broken=kernel(_OFFS + "tl.store(x_ptr + offs, 1.0, boundary_check=(0,))"),
        mended=kernel(_OFFS + "tl.store(x_ptr + offs, 1.0, mask=offs < 8)"),
    ),
    Entry(
        code="TRI0647",
        cls=CompilationError,
        title="a mask with a block pointer",
        message="`{argument}` of `{function}` cannot be used with a block pointer",
        explanation="""
A block pointer is guarded by boundary_check, and padding_option says what lies outside.
""",
        hint="use boundary_check= and padding_option=",
        broken=kernel(_BLOCK + "tl.store(p, tl.load(p, mask=tl.arange(0, 8) < 4))"),
        mended=kernel(_BLOCK + "tl.store(p, tl.load(p, boundary_check=(0,)))"),
    ),
    Entry(
        code="TRI0648",
        cls=CompilationError,
        title="padding with NaN for integers",
        message='padding_option="nan" needs floats, and the elements are {got}',
        explanation="Integers have no NaN. Outside elements of integer blocks are zero or left undefined.",
        hint='use padding_option="zero"',
        broken=kernel(
            "p = tl.make_block_ptr(n_ptr, (8,), (1,), (0,), (8,), (0,))\n"
            'tl.store(p, tl.load(p, boundary_check=(0,), padding_option="nan"))',
            params="n_ptr",
            args="n",
        ),
        mended=kernel(
            "p = tl.make_block_ptr(n_ptr, (8,), (1,), (0,), (8,), (0,))\n"
            'tl.store(p, tl.load(p, boundary_check=(0,), padding_option="zero"))',
            params="n_ptr",
            args="n",
        ),
    ),
    Entry(
        code="TRI0649",
        cls=CompilationError,
        title="a block pointer whose parts differ in length",
        message="the {what} of tl.{function} has {got} values, and the block has {expected} axes",
        explanation="""
Shape, strides, offsets, block_shape and order of a block pointer, and the offsets of tl.advance, have one
value for each axis.
""",
        hint="give one value for each axis",
        broken=kernel(
            "p = tl.make_block_ptr(x_ptr, (8,), (1, 1), (0,), (8,), (0,))\ntl.store(p, tl.load(p))"
        ),
        mended=kernel("p = tl.make_block_ptr(x_ptr, (8,), (1,), (0,), (8,), (0,))\ntl.store(p, tl.load(p))"),
    ),
    Entry(
        code="TRI0650",
        cls=CompilationError,
        title="an atomic operation on a type that has none",
        message="`{function}` does not exist for {got}",
        explanation="""
Additions exist for 32- and 64-bit integers and for fp16, bf16, fp32 and fp64; minimum and maximum for 32-
and 64-bit integers, fp32 and fp64; and, or, xor and exchange for 32 and 64 bits; compare-and-swap for 16,
32 and 64 bits.
""",
        hint="use a type that the operation has: {expected}",
        broken=kernel("tl.atomic_add(b_ptr, 1)", params="b_ptr", args="np.zeros(1, dtype=np.int8)"),
        mended=kernel("tl.atomic_add(b_ptr, 1)", params="b_ptr", args="np.zeros(1, dtype=np.int32)"),
    ),
    Entry(
        code="TRI0651",
        cls=CompilationError,
        title="a memory order or scope that does not exist",
        message='`{function}` has no {what} "{got}"',
        explanation="""
Orders (`sem`) are "relaxed", "acquire", "release" and "acq_rel", the default; scopes are "cta", "gpu",
the default, and "sys".
""",
        hint="use one of {expected}",
        broken=kernel('tl.atomic_add(x_ptr, 1.0, sem="seq_cst")'),
        mended=kernel('tl.atomic_add(x_ptr, 1.0, sem="acq_rel")'),
    ),
    Entry(
        code="TRI0652",
        cls=CompilationError,
        title="a tensor descriptor that cannot be made",
        message="this tensor descriptor cannot be made: {problem}",
        explanation="""
A descriptor has 1 to 5 axes; shape, strides and block shape have one value for each; the last stride is
the compile-time number 1, the last extent of the block covers at least 16 bytes, and the base is 16-byte
aligned.
""",
        hint="give {expected}",
        broken=kernel("""
d = tl.make_tensor_descriptor(x_ptr, [4, 2], [1, 4], [4, 2])
d.store([0, 0], d.load([0, 0]))
"""),
        mended=kernel("""
d = tl.make_tensor_descriptor(x_ptr, [2, 4], [4, 1], [2, 4])
d.store([0, 0], d.load([0, 0]))
"""),
    ),
    Entry(
        code="TRI0653",
        cls=CompilationError,
        title="offsets that do not fit the descriptor",
        message="the descriptor has {expected} axes, and {got} offsets are given",
        explanation="""
An access through a descriptor names the first element of the block, with one offset for each axis.
""",
        hint="give one offset for each axis",
        broken=kernel("""
d = tl.make_tensor_descriptor(x_ptr, [2, 4], [4, 1], [2, 4])
d.store([0, 0], d.load([0]))
"""),
        mended=kernel("""
d = tl.make_tensor_descriptor(x_ptr, [2, 4], [4, 1], [2, 4])
d.store([0, 0], d.load([0, 0]))
"""),
    ),
    Entry(
        code="TRI0654",
        cls=CompilationError,
        title="a value that does not fit the block of the descriptor",
        message="the descriptor stores blocks of {expected}, and the value is {got}",
        explanation="""
A block is stored whole: the value has the block's shape, and is converted to its element type.
""",
        hint="give the value the block's shape",
        broken=kernel("""
d = tl.make_tensor_descriptor(x_ptr, [2, 4], [4, 1], [2, 4])
d.store([0, 0], tl.zeros((4, 4), tl.float32))
"""),
        mended=kernel("""
d = tl.make_tensor_descriptor(x_ptr, [2, 4], [4, 1], [2, 4])
d.store([0, 0], tl.zeros((2, 4), tl.float32))
"""),
    ),
    Entry(
        code="TRI0655",
        cls=CompilationError,
        title="gather or scatter through a descriptor that does not allow it",
        message="`{function}` through this descriptor is not possible: {problem}",
        explanation="""
Rows are gathered and scattered through descriptors with two axes whose block is one row, for at least 8
rows that are given as a tile of int16 or int32 numbers.
""",
        hint="use a block shape of (1, N) and at least 8 row numbers",
    ),
    Entry(
        code="TRI0656",
        cls=CompilationError,
        title="operands of compare-and-swap that differ in type",
        message="tl.atomic_cas on {expected} cannot compare with {got}",
        explanation="""
Compare-and-swap compares bits, so nothing is converted: the pointer's elements, the value compared with
and the new value have one type.
""",
        hint="convert with .to(...) to the type that the pointer points to",
        broken=kernel(
            "tl.atomic_cas(n_ptr, tl.full((), 1, tl.int64), tl.full((), 2, tl.int64))",
            params="n_ptr",
            args="n",
        ),
        mended=kernel("tl.atomic_cas(n_ptr, 1, 2)", params="n_ptr", args="n"),
    ),
)
