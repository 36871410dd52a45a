"""Result types and accepted dtypes of the ops other than binary operators."""

from __future__ import annotations

from .matrix import ACCIDENT, DTYPES, FP8, INTS, TL_NAME, Matrix, Snippet, dtype_name, scalar, tile

ALL_FP8 = (*FP8, "fp8e4b8", "fp8e5b16")
MATH = (
    *("abs", "ceil", "cos", "erf", "exp", "exp2", "floor", "log", "log2", "rsqrt", "sigmoid", "sin", "sqrt"),
    *("sqrt_rn", "softmax"),
)
PREFIX = ("-", "+", "~", "not ")


def _unary(form: str, op: str, dtype: str) -> Snippet:
    params, body = (tile if form == "tile" else scalar)("x", dtype)
    call = f"tl.{op}(x{{i}})" if op.isidentifier() else f"{op}x{{i}}"
    return Snippet(params, [*body, f"r{{i}} = {call}"])


def _plus(coordinates: tuple[str, ...]) -> str | None:
    """Triton lacks unary plus on tensors; it means what it says."""
    form, op, dtype = coordinates
    return dtype_name(dtype) + (" 8" if form == "tile" else "") if op == "+" else None


def _foreign_fp8(coordinates: tuple[str, ...]) -> str | None:
    """Which 8-bit floats exist is a property of the target."""
    return ACCIDENT if coordinates[-1] in ("fp8e4b8", "fp8e5b16") else None


def _as_asked(coordinates: tuple[str, ...], outcome: str) -> bool:
    """A reduction with `dtype=` gives that dtype; Triton forgets it for fp8e4b15."""
    _, asked, dtype = coordinates[0].partition("dtype=tl.")
    return not asked or outcome.split()[0] == dtype[:-1].replace("float", "fp")


def _cast(form: str, source: str, target: str) -> Snippet:
    params, body = tile("x", source)
    option = {"to": "", "bitcast": ", bitcast=True"}.get(form, f', fp_downcast_rounding="{form}"')
    return Snippet(params, [*body, f"r{{i}} = x{{i}}.to({TL_NAME[target]}{option})"])


def _is_target(coordinates: tuple[str, ...], outcome: str) -> bool:
    return outcome.split()[0] == dtype_name(coordinates[-1])


def _scalar_cast(source: str, target: str) -> Snippet:
    params, body = scalar("x", source)
    return Snippet(params, [*body, f"r{{i}} = tl.cast(x{{i}}, {TL_NAME[target]})"])


def _reduction(op: str, dtype: str) -> Snippet:
    params, body = tile("x", dtype)
    call, _, names = op.partition(" -> ")
    targets = [f"{name}{{i}}" for name in (names or "r").split()]
    return Snippet(params, [*body, f"{', '.join(targets)} = {call.replace('$', 'x{i}')}"], targets)


REDUCTIONS = (
    *("tl.sum($)", "tl.sum($, axis=0)", "$.sum(0, keep_dims=True)", "tl.sum($, 0, dtype=tl.float32)"),
    *("tl.sum($, 0, dtype=tl.int8)", "tl.sum($, 0, dtype=tl.float64)", "tl.sum($, 0, dtype=tl.int64)"),
    *("tl.max($, 0)", "tl.min($, 0)", "tl.max($, 0, keep_dims=True)", "$.min()"),
    *("tl.max($, 0, return_indices=True) -> r s", "tl.min($, 0, return_indices=True) -> r s"),
    "tl.max($, 0, return_indices=True, return_indices_tie_break_left=False) -> r s",
    *("tl.argmax($, 0)", "tl.argmin($, 0)", "tl.argmin($, 0, keep_dims=True)"),
    *("tl.xor_sum($, 0)", "tl.reduce_or($, 0)"),
    *("tl.cumsum($, 0)", "tl.cumsum($, 0, reverse=True)", "tl.cumsum($, 0, dtype=tl.float32)"),
    *("tl.cumsum($, 0, dtype=tl.int64)", "tl.cumprod($, 0)", "$.cumprod(0, reverse=True)"),
    *("tl.sort($)", "tl.topk($, 4)", "tl.flip($, 0)", "tl.histogram($, 16)"),
    *("tl.gather($, tl.arange(0, 4), 0)", "tl.reduce($, 0, add)", "tl.associative_scan($, 0, add)"),
    *("tl.reduce($, 0, pick_left)", "tl.zeros_like($)", "tl.ravel($)", "tl.cdiv($, 2)"),
    *("tl.clamp($, 0.0, 1.0)", "tl.softmax($, 0)"),
)
COMBINE = """
@triton.jit
def add(a, b):
    return a + b

@triton.jit
def pick_left(a, b):
    return a
"""


def _index(op: str, dtype: str) -> Snippet:
    params, body = tile("x", dtype)
    return Snippet(params, [*body, f"r{{i}} = {op}"])


def _ternary(op: str, first: str, second: str) -> Snippet:
    (p, a), (q, b) = tile("x", first), tile("y", second)
    return Snippet({**p, **q}, [*a, *b, f"r{{i}} = {op}"])


def _dot(option: str, lhs: str, rhs: str) -> Snippet:
    params = {"xp{i}": f"*{lhs}", "yp{i}": f"*{rhs}"}
    tail = f", {option}" if option else ""
    body = [
        "o{i} = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]",
        f"r{{i}} = tl.dot(tl.load(xp{{i}} + o{{i}}), tl.load(yp{{i}} + o{{i}}){tail})",
    ]
    return Snippet(params, body)


def _dot_acc(dtype: str, out: str, acc: str) -> Snippet:
    params = {"xp{i}": f"*{dtype}", "yp{i}": f"*{dtype}"}
    tail = "" if out == "none" else f", out_dtype={TL_NAME[out]}"
    body = [
        "o{i} = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]",
        f"a{{i}} = tl.zeros((32, 32), {TL_NAME[acc]})",
        f"r{{i}} = tl.dot(tl.load(xp{{i}} + o{{i}}), tl.load(yp{{i}} + o{{i}}), a{{i}}{tail})",
    ]
    return Snippet(params, body)


def _dot_results(dtype: str) -> tuple[str, ...]:
    """What a product of `dtype` operands can be."""
    exact = {"i8": ("i32",), "bf16": ("fp32",), "fp32": ("fp32",), "fp64": ("fp64",)}
    return exact.get(dtype, ("fp32", "fp16"))


def _acc_is_the_result(coordinates: tuple[str, ...], outcome: str) -> bool:
    dtype, _, acc = coordinates
    return acc in _dot_results(dtype) and outcome.split()[0] == dtype_name(acc)


def _follows_acc(coordinates: tuple[str, ...]) -> str | None:
    """With no out_dtype the result follows an accumulator that the operands allow, as newer Triton does.

    Where out_dtype has no say Triton still compares it with the accumulator; either answer will do.
    """
    dtype, out, acc = coordinates
    if acc not in _dot_results(dtype):
        return None
    if out == "none":
        return f"{dtype_name(acc)} 32 32"
    return ACCIDENT if len(_dot_results(dtype)) == 1 else None


DOT_OPTIONS = (
    "",
    *("out_dtype=tl.float16", "out_dtype=tl.float32", "out_dtype=tl.bfloat16", "out_dtype=tl.float64"),
    *("out_dtype=tl.int32", "allow_tf32=False", "allow_tf32=True", "max_num_imprecise_acc=16"),
    *(f'input_precision="{name}"' for name in ("tf32", "ieee", "tf32x3", "bf16x3", "bf16x6", "TF32", "fp32")),
    'allow_tf32=True, input_precision="ieee"',
)
DOT_SAME = ("i8", "u8", "i16", "i32", "fp16", "bf16", "fp32", "fp64", *FP8)


def _dot_same(dtype: str, option: str) -> Snippet:
    return _dot(option, dtype, dtype)


def _dot_pair(lhs: str, rhs: str) -> Snippet:
    return _dot("", lhs, rhs)


def _load_other(pointee: str, other: str) -> Snippet:
    if other in TL_NAME:
        params, body = tile("y", other)
        value = "y{i}"
    else:
        params, body, value = {}, [], other
    load = f"tl.load(xp{{i}} + tl.arange(0, 8), mask=tl.arange(0, 8) < 4, other={value})"
    return Snippet({"xp{i}": f"*{pointee}", **params}, [*body, f"r{{i}} = {load}"])


def _store(pointee: str, value: str) -> Snippet:
    if value in TL_NAME:
        params, body = tile("y", value)
        text = "y{i}"
    else:
        params, body, text = {}, [], value
    return Snippet(
        {"xp{i}": f"*{pointee}", **params}, [*body, f"tl.store(xp{{i}} + tl.arange(0, 8), {text})"], ()
    )


def _atomic(op: str, pointee: str) -> Snippet:
    params, body = tile("y", pointee)
    return Snippet(
        {"xp{i}": f"*{pointee}", **params},
        [*body, f"r{{i}} = tl.atomic_{op}(xp{{i}} + tl.arange(0, 8), y{{i}})"],
    )


def _atomic_value(op: str, pointee: str, value: str) -> Snippet:
    params, body = tile("y", value)
    return Snippet(
        {"xp{i}": f"*{pointee}", **params},
        [*body, f"r{{i}} = tl.atomic_{op}(xp{{i}} + tl.arange(0, 8), y{{i}})"],
    )


def _atomic_cas(pointee: str) -> Snippet:
    (p, a), (q, b) = tile("y", pointee), tile("z", pointee)
    body = [*a, *b, "r{i} = tl.atomic_cas(xp{i} + tl.arange(0, 8), y{i}, z{i})"]
    return Snippet({"xp{i}": f"*{pointee}", **p, **q}, body)


def _pointer(form: str, dtype: str) -> Snippet:
    params, body = (scalar if form.startswith("0-d") else tile)("y", dtype)
    expression = form.split(": ")[1].replace("p", "p{i}").replace("y", "y{i}")
    return Snippet({"p{i}": "*fp32", **params}, [*body, f"r{{i}} = {expression}"])


def _full(value: str, dtype: str) -> Snippet:
    return Snippet({}, [f"r{{i}} = tl.full((8,), {value}, {TL_NAME[dtype]})"])


def _range(low: str, high: str) -> Snippet:
    (p, a), (q, b) = scalar("x", low), scalar("y", high)
    return Snippet({**p, **q}, [*a, *b, "for w{i} in range(x{i}, y{i}):", "    show(w{i})"], ())


def _range_literal(bounds: str, dtype: str) -> Snippet:
    params, body = scalar("x", dtype)
    return Snippet(
        params, [*body, f"for w{{i}} in range({bounds.replace('x', 'x{i}')}):", "    show(w{i})"], ()
    )


def _boolean(op: str, lhs: str, rhs: str) -> Snippet:
    (p, a), (q, b) = scalar("x", lhs), scalar("y", rhs)
    return Snippet({**p, **q}, [*a, *b, f"r{{i}} = x{{i}} {op} y{{i}}"])


def _condition(form: str, dtype: str) -> Snippet:
    params, body = scalar("x", dtype)
    if form == "if":
        lines = ["r{i} = 1", "if x{i}:", "    r{i} = 2"]
    elif form == "conditional expression":
        lines = ["r{i} = 1 if x{i} else 2"]
    else:
        lines = ["r{i} = 1", "while x{i}:", "    r{i} += 1"]
    return Snippet(params, [*body, *lines])


INDEX_OPS = (
    *("x{i}[:, None]", "x{i}[None, :]", "x{i}[None, :, None]", "x{i}.reshape(2, 4)", "x{i}.broadcast_to(8)"),
    *("tl.join(x{i}, x{i})", "tl.interleave(x{i}, x{i})", "tl.cat(x{i}, x{i}, can_reorder=True)"),
    *(
        "tl.broadcast_to(x{i}[:, None], 8, 4)",
        "tl.trans(x{i}[:, None])",
        "x{i}[:, None].T",
        "tl.view(x{i}, 4, 2)",
    ),
    *(
        "tl.reshape(x{i}, 2, 2, 2).permute(2, 0, 1)",
        "tl.expand_dims(x{i}, (0, 2))",
        "tl.split(x{i}.reshape(4, 2))[1]",
    ),
)

OPS = (
    Matrix(
        "unary", [("form", ("tile", "0-d")), ("op", MATH + PREFIX), ("dtype", DTYPES)], _unary, extended=_plus
    ),
    Matrix(
        "cast",
        [("form", ("to", "bitcast", "rtne", "rtz")), ("source", DTYPES), ("target", (*DTYPES, *ALL_FP8[3:]))],
        _cast,
        plausible=_is_target,
        extended=_foreign_fp8,
    ),
    Matrix("scalar_cast", [("source", DTYPES), ("target", DTYPES)], _scalar_cast, plausible=_is_target),
    Matrix("reduction", [("op", REDUCTIONS), ("dtype", DTYPES)], _reduction, COMBINE, plausible=_as_asked),
    Matrix("shape_op", [("op", INDEX_OPS), ("dtype", ("i1", "u8", "i64", "bf16", "fp64", "fp8e5"))], _index),
    Matrix(
        "ternary",
        [
            (
                "op",
                (
                    "tl.fma(x{i}, y{i}, x{i})",
                    "tl.clamp(x{i}, y{i}, x{i})",
                    "tl.clamp(x{i}, 0.0, y{i})",
                    "tl.fma(x{i}, x{i}, y{i})",
                ),
            ),
            ("x", DTYPES),
            ("y", DTYPES),
        ],
        _ternary,
    ),
    Matrix("dot", [("dtype", DOT_SAME), ("option", DOT_OPTIONS)], _dot_same),
    Matrix("dot_pair", [("lhs", DOT_SAME), ("rhs", DOT_SAME)], _dot_pair),
    Matrix(
        "dot_acc",
        [
            ("dtype", ("i8", "fp16", "bf16", "fp32", "fp64", "fp8e5", "fp8e4nv")),
            ("out_dtype", ("none", "fp16", "fp32", "fp64", "i32")),
            ("acc", ("i32", "i64", "fp16", "bf16", "fp32", "fp64")),
        ],
        _dot_acc,
        plausible=_acc_is_the_result,
        extended=_follows_acc,
    ),
    Matrix(
        "load_other",
        [
            ("pointee", DTYPES),
            ("other", (*DTYPES, "0", "0.0", "-1", "300", "1.5", "True", 'float("-inf")', "4294967296")),
        ],
        _load_other,
    ),
    Matrix(
        "store",
        [("pointee", DTYPES), ("value", (*DTYPES, "0", "0.0", "-1", "300", "1.5", "True", "1e300"))],
        _store,
    ),
    Matrix("atomic", [("op", ("add", "max", "min", "and", "or", "xor", "xchg")), ("dtype", DTYPES)], _atomic),
    Matrix(
        "atomic_value",
        [("op", ("add", "max")), ("pointee", ("i32", "u64", "fp16", "fp32")), ("value", DTYPES)],
        _atomic_value,
    ),
    Matrix("atomic_cas", [("dtype", DTYPES)], _atomic_cas),
    Matrix(
        "pointer",
        [
            (
                "form",
                (
                    "0-d: p + y",
                    "tile: p + y",
                    "tile: y + p",
                    "0-d: p - y",
                    "tile: p - y",
                    "tile: y - p",
                    "tile: p * y",
                    "tile: p < y",
                ),
            ),
            ("dtype", DTYPES),
        ],
        _pointer,
    ),
    Matrix(
        "full",
        [
            ("value", ("0", "1", "-1", "300", "4294967296", "1.5", "1e300", "True", 'float("nan")')),
            ("dtype", DTYPES),
        ],
        _full,
    ),
    Matrix("range_bounds", [("low", INTS), ("high", INTS)], _range, in_loop=True),
    Matrix(
        "range_literal",
        [
            ("bounds", ("x", "0, x", "x, 10", "0, 10, x", "x, 4294967296", "x, 0, -1", "0, x, 2")),
            ("dtype", (*INTS, "fp32")),
        ],
        _range_literal,
        in_loop=True,
    ),
    Matrix("boolean", [("op", ("and", "or")), ("lhs", (*INTS, "fp32")), ("rhs", (*INTS, "fp32"))], _boolean),
    Matrix("condition", [("form", ("if", "conditional expression", "while")), ("dtype", DTYPES)], _condition),
)
