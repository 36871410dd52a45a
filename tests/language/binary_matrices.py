"""Every binary operator against every pair of dtypes, and against literals written in every way."""

from __future__ import annotations

from collections.abc import Callable

from .matrix import DTYPES, Matrix, Snippet, scalar, tile

OPERATORS = ("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "<", ">=", "==", "!=")
FUNCTIONS = ("where", "maximum", "minimum", "fdiv", "div_rn", "umulhi")


def apply(op: str, x: str, y: str) -> str:
    """The text of `op` on two operands; a word is a `tl` function, anything else an infix operator."""
    if op == "where":
        return f"tl.where(tl.arange(0, 8) < 4, {x}, {y})"
    if op == "where0":
        return f"tl.where(tl.program_id(0) < 4, {x}, {y})"
    return f"tl.{op}({x}, {y})" if op.isidentifier() else f"{x} {op} {y}"


def _two(
    left: Callable[..., tuple[dict[str, str], list[str]]],
    right: Callable[..., tuple[dict[str, str], list[str]]],
):
    def snippet(op: str, lhs: str, rhs: str) -> Snippet:
        (p, a), (q, b) = left("x", lhs), right("y", rhs)
        return Snippet({**p, **q}, [*a, *b, f"r{{i}} = {apply(op, 'x{i}', 'y{i}')}"])

    return snippet


def _literal_right(op: str, dtype: str, literal: str) -> Snippet:
    params, body = tile("x", dtype)
    return Snippet(params, [*body, f"r{{i}} = {apply(op, 'x{i}', literal)}"])


def _literal_left(op: str, dtype: str, literal: str) -> Snippet:
    params, body = tile("x", dtype)
    return Snippet(params, [*body, f"r{{i}} = {apply(op, literal, 'x{i}')}"])


def _assigned(op: str, dtype: str, literal: str) -> Snippet:
    params, body = tile("x", dtype)
    return Snippet(params, [*body, f"y{{i}} = {literal}", f"r{{i}} = {apply(op, 'x{i}', 'y{i}')}"])


def _annotated(op: str, dtype: str, literal: str) -> Snippet:
    params, body = tile("x", dtype)
    return Snippet(
        params, [*body, f"y{{i}}: tl.constexpr = {literal}", f"r{{i}} = {apply(op, 'x{i}', 'y{i}')}"]
    )


def _constexpr(op: str, dtype: str, literal: str) -> Snippet:
    params, body = tile("x", dtype)
    constant = eval(literal, {"float": float})
    return Snippet(params, [*body, f"r{{i}} = {apply(op, 'x{i}', 'C{i}')}"], constexprs={"C{i}": constant})


LITERALS = (
    *("0", "1", "-1", "127", "200", "-129", "40000", "2147483648", "4294967296", "-2147483649"),
    *("9223372036854775808", "18446744073709551615", "36893488147419103232"),
    *("1.5", "1e-50", "1e300", 'float("inf")', "True", "False"),
)
FEW_LITERALS = ("1", "-1", "300", "2147483648", "1.5", "1e300", "True")

BINARY = (
    Matrix(
        "tile_tile",
        [("op", OPERATORS + FUNCTIONS), ("lhs", DTYPES), ("rhs", DTYPES)],
        _two(tile, tile),
    ),
    Matrix(
        "tile_scalar",
        [("op", ("+", "/", "//", "&", ">>", "<", "where", "maximum")), ("lhs", DTYPES), ("rhs", DTYPES)],
        _two(tile, scalar),
    ),
    Matrix(
        "scalar_tile",
        [("op", ("-", "%", "==", "minimum")), ("lhs", DTYPES), ("rhs", DTYPES)],
        _two(scalar, tile),
    ),
    Matrix(
        "scalar_scalar",
        [("op", ("*", "/", "//", "|", "<<", ">=", "where0", "maximum")), ("lhs", DTYPES), ("rhs", DTYPES)],
        _two(scalar, scalar),
    ),
    Matrix(
        "tile_literal",
        [
            (
                "op",
                (
                    "+",
                    "-",
                    "*",
                    "/",
                    "//",
                    "%",
                    "&",
                    "<<",
                    ">>",
                    "<",
                    "==",
                    "where",
                    "maximum",
                    "fdiv",
                    "div_rn",
                ),
            ),
            ("dtype", DTYPES),
            ("literal", LITERALS),
        ],
        _literal_right,
    ),
    Matrix(
        "literal_tile",
        [
            ("op", ("+", "-", "/", "//", "%", "|", ">>", "<", "where", "minimum")),
            ("dtype", DTYPES),
            ("literal", FEW_LITERALS),
        ],
        _literal_left,
    ),
    Matrix(
        "tile_assigned_literal",
        [
            ("op", ("+", "/", "//", "&", "<", "where", "maximum")),
            ("dtype", DTYPES),
            ("literal", FEW_LITERALS),
        ],
        _assigned,
    ),
    Matrix(
        "tile_annotated_constant",
        [("op", ("*", "/", "where", "minimum")), ("dtype", DTYPES), ("literal", FEW_LITERALS)],
        _annotated,
    ),
    Matrix(
        "tile_constexpr_parameter",
        [("op", ("+", "%", "^", "where", "maximum")), ("dtype", DTYPES), ("literal", FEW_LITERALS)],
        _constexpr,
    ),
)
