"""`docs/semantics.md`: the text of `semantics.in.md` with tables that type rules and kernels fill.

A line ``::: name`` asks for a table. ``::: values a: i32 -7, x: f32 [1.0, nan]`` starts a list of expressions, up to ``:::``,
which one kernel computes from these values; ``expression ;; note`` adds a remark.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from docs.generators.kernels import run
from docs.generators.type_rules import asked, results
from tritium.errors import TritiumError
from tritium.ir.types import DType, dtype_named
from tritium.numerics.formats import format_of
from tritium.ops.handles import constexpr
from tritium.ops.surface import OPERATORS, SURFACES

ROOT = Path(__file__).resolve().parents[2]
SHORT = {
    **{"i1": "int1", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64"},
    **{"u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64"},
    **{"f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "e5": "fp8e5", "e4": "fp8e4nv"},
}
TYPES = {short: dtype_named(name) for short, name in SHORT.items()}
NAMES = {ty: short for short, ty in TYPES.items()}
_ARRAYS: dict[str, Any] = {
    **{
        "i1": np.bool_,
        "bf16": ml_dtypes.bfloat16,
        "e5": ml_dtypes.float8_e5m2,
        "e4": ml_dtypes.float8_e4m3fn,
    },
    **{
        s: np.dtype(f"{'uint' if s[0] == 'u' else 'int'}{s[1:]}") for s in SHORT if s[0] in "iu" and s != "i1"
    },
    **{"f16": np.float16, "f32": np.float32, "f64": np.float64},
}


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [" | ".join(head), " | ".join("---" for _ in head), *(" | ".join(row) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines)


def code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


# ---- values ---------------------------------------------------------------------------------------------------------


def values(given: str, lines: Sequence[str]) -> str:
    """The table of expressions that a kernel computed."""
    arguments: dict[str, Any] = {}
    setup: list[str] = []
    for name, kind, number in re.findall(r"(\w+): (\*?\w+) (\[[^\]]*\]|[^,]+)", given):
        value = eval(number, {"nan": np.nan, "inf": np.inf})
        array = np.array(value, np.float64 if "f" in kind or "e" in kind else None).astype(
            _ARRAYS[kind.lstrip("*")]
        )
        arguments[f"{name}_ptr"] = np.atleast_1d(array)
        lanes = f" + tl.arange(0, {array.size})" if array.ndim else ""
        setup.append(f"{name} = {name}_ptr" if kind[0] == "*" else f"{name} = tl.load({name}_ptr{lanes})")
    pairs = [line.partition(" ;; ") for line in lines]
    ran = run([*setup, *(f"show(results, {expression})" for expression, _, _ in pairs)], arguments)
    rows = []
    for (expression, _, note), shown in zip(pairs, ran.shown, strict=True):
        ty = NAMES.get(shown.ty, "") if shown.ty else ""
        rows.append([code(expression), shown.text(), ty, note])
    intro = "" if given.startswith("none") else f"With {_listed(given)}:\n\n"
    return intro + table(["expression", "value", "type", ""], rows)


def _listed(given: str) -> str:
    found = re.findall(r"(\w+): (\*?\w+) (\[[^\]]*\]|[^,]+)", given)
    return ", ".join(f"`{n}` = {v} ({k.replace('*', 'pointer to ')})" for n, k, v in found)


# ---- types ----------------------------------------------------------------------------------------------------------


def type_of(operator: str, *operands: Any) -> str:
    """The type of `operator` on operands that are types (strong) or numbers (weak), "-" if it is refused."""
    try:
        found = asked(OPERATORS[operator], *operands)
    except TritiumError:
        return "-"
    return NAMES.get(found.dtype, str(found.dtype))


def promotion(operator: str) -> str:
    rows = [[f"**{a}**", *(type_of(operator, TYPES[a], TYPES[b]) for b in TYPES)] for a in TYPES]
    return table([operator, *TYPES], rows)


def operators() -> str:
    """How every other operator's types compare with those of `+`, found by comparing all pairs."""
    plus = {(a, b): type_of("+", TYPES[a], TYPES[b]) for a in TYPES for b in TYPES}
    rows = []
    for operator in ("-", "*", "//", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">="):
        found = {pair: type_of(operator, TYPES[pair[0]], TYPES[pair[1]]) for pair in plus}
        rows.append([code(f"x {operator} y"), _compared(found, plus)])
    return table(["operator", "types"], rows)


def _compared(found: dict[tuple[str, str], str], plus: dict[tuple[str, str], str]) -> str:
    if found == plus:
        return "as `+`"
    if {found[p] for p in found if found[p] != "-"} == {"i1"}:
        return "i1" + ("" if "-" not in found.values() else ", refused where `+` is")
    parts = []
    integers = {p for p in plus if TYPES[p[0]].is_int() and TYPES[p[1]].is_int()}
    mixed = {p for p in integers if TYPES[p[0]].kind != TYPES[p[1]].kind}
    refused = {p for p in found if found[p] == "-" and plus[p] != "-"}
    if refused >= {p for p in plus if p not in integers and plus[p] != "-"}:
        parts.append("refused for floats")
    if refused & integers == mixed:
        parts.append("refused for integers of different signs")
    changed: dict[str, list[str]] = {}
    for pair in found:
        if found[pair] not in (plus[pair], "-"):
            changed.setdefault(found[pair], []).append(f"{pair[0]} with {pair[1]}")
    for result, pairs in changed.items():
        parts.append(
            f"{result} where `+` gives {' or '.join(sorted({plus[tuple(p.split(' with '))] for p in pairs}))}"
        )  # type: ignore[index]
    return "as `+`, but " + "; ".join(parts)


def weak() -> str:
    """The type of a value and a number, weak or assigned first."""
    numbers: dict[str, Any] = {
        "True": True,
        "1": 1,
        "-1": -1,
        "300": 300,
        "2**31": 2**31,
        "1.5": 1.5,
        "1e300": 1e300,
    }
    rows = [[f"**{t}**", *(type_of("+", TYPES[t], number) for number in numbers.values())] for t in TYPES]
    weak_table = table(["x + number", *numbers], rows)
    forms = [
        ["`h * 1.5`", _form("h * 1.5")],
        ["`s = 1.5; h * s`", _form("h * s", "s = 1.5")],
        ["`s: tl.constexpr = 1.5; h * s`", _form("h * s", "s: tl.constexpr = 1.5")],
        ["`h / 2.0`", _form("h / 2.0")],
        ["`h < 1.5`", _form("h < 1.5")],
        ["`tl.maximum(h, 0.0)`", _form("tl.maximum(h, 0.0)")],
        ["`tl.where(h > 0, h, 1.5)`", _form("tl.where(h > 0, h, 1.5)")],
        ["`h * x`, x a 0-d fp32 value", _form("h * x", "x = tl.num_programs(0).to(tl.float32)")],
    ]
    return weak_table + "\n\nWith `h` an fp16 tile:\n\n" + table(["expression", "type"], forms)


def _form(expression: str, *setup: str) -> str:
    ran = run(["h = tl.full((2,), 1.0, tl.float16)", *setup, f"show(results, {expression})"])
    ty = ran.shown[0].ty
    return NAMES[ty] if ty else "compile time"


def types() -> str:
    """Every number type: bits, range, how it is held in memory."""
    rows = []
    for short, ty in TYPES.items():
        fmt = format_of(ty.text)
        if ty.is_int():
            low, high = ty.get_int_min_value(), ty.get_int_max_value()
            what = "0 and 1" if ty.is_int1() else f"{low} to {high}"
        else:
            what = f"{fmt.mantissa_bits} bits of mantissa, largest {fmt.max_finite:.7g}"
        rows.append([short, code(f"tl.{_tl_name(ty)}"), str(ty.itemsize), what])
    return table(["short", "type", "bytes", "numbers"], rows)


def _tl_name(ty: DType) -> str:
    return "bfloat16" if ty.name == "bf16" else ty.name.replace("fp", "float")


def casts() -> str:
    """Which conversions there are."""

    def possible(source: DType, to: DType) -> str:
        try:
            asked(SURFACES["tl.cast"], source, constexpr(to))
        except TritiumError:
            return "-"
        return "yes"

    rows = [[f"**{a}**", *(possible(TYPES[a], TYPES[b]) for b in TYPES)] for a in TYPES]
    return table(["from \\ to", *TYPES], rows)


def saturation() -> str:
    """Floats that the integer type cannot hold."""
    numbers = np.array([300.7, -300.7, 3e9, -3e9, np.inf, -np.inf, np.nan], np.float32)
    kinds = [t for t in TYPES.values() if t.is_int() and not t.is_int1()]
    body = ["x = tl.load(p + tl.arange(0, 7))", *(f"show(results, x.to(tl.{_tl_name(t)}))" for t in kinds)]
    shown = run(body, {"p": numbers}).shown
    rows = [[f"**{NAMES[t]}**", *(str(v) for v in s.value)] for t, s in zip(kinds, shown, strict=True)]
    return table(["from fp32", *(str(v) for v in numbers)], rows)


def fp8() -> str:
    rows = []
    for name in ("fp8e5", "fp8e5b16", "fp8e4nv", "fp8e4b8", "fp8e4b15"):
        ty = dtype_named(name)
        fmt = format_of(ty.text)
        infinities = "yes" if fmt.has_inf else "no"
        rows.append([code(f"tl.{_tl_name(ty)}"), str(fmt.exponent_bits), str(fmt.mantissa_bits), str(fmt.bias),
                     f"{fmt.max_finite:g}", infinities])  # fmt: skip
    return table(["type", "exponent", "mantissa", "bias", "largest", "infinities"], rows)


def reductions() -> str:
    functions = ("sum", "max", "argmax", "xor_sum", "cumsum", "cumprod", "sort", "topk")
    rows = []
    for short, ty in TYPES.items():
        cells = [_short(results(SURFACES[f"tl.{f}"], ty)) for f in functions]
        cells.insert(2, _with_indices(ty))
        rows.append([f"**{short}**", *cells])
    head = [f"`{f}`" for f in functions]
    head.insert(2, "`max` with indices")
    return table(["", *head], rows)


def _with_indices(ty: DType) -> str:
    found = asked(SURFACES["tl.max"], ty, constexpr(0), return_indices=True, dims=(8,))
    return ", ".join(NAMES[part.dtype] for part in found)


def _short(name: str | None) -> str:
    return "-" if name is None else ", ".join(NAMES.get(dtype_named(n), n) for n in name.split(", "))


def dots() -> str:
    rows = []
    for short, ty in TYPES.items():
        plain = results(SURFACES["tl.dot"], ty)
        if plain is not None:
            others = [
                NAMES[out] for out in TYPES.values() if out is not dtype_named(plain) and _dot_gives(ty, out)
            ]
            rows.append([short, _short(plain), ", ".join(others)])
    return table(["operands", "result", "`out_dtype` or `acc` may ask for"], rows)


def _dot_gives(ty: DType, out: DType) -> bool:
    try:
        return asked(SURFACES["tl.dot"], ty, ty, out_dtype=constexpr(out), dims=(16, 16)).dtype is out
    except TritiumError:
        return False


# ---- differences ----------------------------------------------------------------------------------------------------


def differences() -> str:
    """The section made of the docstrings of tests/language/test_differences.py."""
    path = ROOT / "tests" / "language" / "test_differences.py"
    parts = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            title, _, fields = inspect.cleandoc(ast.get_docstring(node) or "").partition("\n\n")
            items = re.split(r"\n(?=[A-Z]\w*: )", fields)
            lines = [f"- {' '.join(item.split())}" for item in items]
            parts.append(
                "\n".join(
                    [
                        f"### {title}",
                        "",
                        *lines,
                        f"- Test: `{path.relative_to(ROOT).as_posix()}::{node.name}`",
                    ]
                )
            )
    return "\n\n".join(parts)


_TABLES: dict[str, Callable[..., str]] = {
    **{"types": types, "weak": weak, "promotion": promotion, "operators": operators, "casts": casts},
    **{
        "saturation": saturation,
        "fp8": fp8,
        "reductions": reductions,
        "dots": dots,
        "differences": differences,
    },
}


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of the page."""
    lines = Path(__file__).with_name("semantics.in.md").read_text(encoding="utf-8").splitlines()
    out: list[str] = []
    while lines:
        line = lines.pop(0)
        if line.startswith("::: values "):
            end = lines.index(":::")
            out.append(values(line.removeprefix("::: values "), lines[:end]))
            del lines[: end + 1]
        elif line.startswith("::: "):
            name, *arguments = line.removeprefix("::: ").split()
            out.append(_TABLES[name](*arguments))
        else:
            out.append(line)
    yield "docs/semantics.md", "\n".join(out) + "\n"
