"""Groups of generated kernels: every operator against every dtype, and the like.

A :class:`Matrix` spans named axes. `snippet(*coordinates)` gives the lines for one combination, with ``{i}``
in place of a suffix, so that many accepted combinations can share one kernel while a refused one stands alone.
The results recorded for a matrix are one string per row (all axes but the last), one letter per column.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from .observe import KernelText

INTS = ("i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("fp16", "bf16", "fp32", "fp64")
FP8 = ("fp8e5", "fp8e4nv", "fp8e4b15")
DTYPES = INTS + FLOATS + FP8
TL_NAME = {
    **{f"i{n}": f"tl.int{n}" for n in (1, 8, 16, 32, 64)},
    **{f"u{n}": f"tl.uint{n}" for n in (8, 16, 32, 64)},
    **{"fp16": "tl.float16", "bf16": "tl.bfloat16", "fp32": "tl.float32", "fp64": "tl.float64"},
    **{"fp8e5": "tl.float8e5", "fp8e4nv": "tl.float8e4nv", "fp8e4b15": "tl.float8e4b15"},
    **{"fp8e4b8": "tl.float8e4b8", "fp8e5b16": "tl.float8e5b16"},
}


def dtype_name(kind: str) -> str:
    """How a dtype prints: signature type `i32` is `int32`, `u8` is `uint8`, floats keep their name."""
    return f"{'int' if kind[0] == 'i' else 'uint'}{kind[1:]}" if kind[0] in "iu" else kind


@dataclass(frozen=True)
class Snippet:
    """Parameters (name -> signature type) and body lines of one combination; `shows` are printed after them."""

    params: dict[str, str]
    body: Sequence[str]
    shows: Sequence[str] = ("r{i}",)
    constexprs: dict[str, object] = field(default_factory=dict)


def _any_outcome(coordinates: tuple[str, ...], outcome: str) -> bool:
    return True


def _no_extension(coordinates: tuple[str, ...]) -> str | None:
    return None


@dataclass(frozen=True)
class Matrix:
    """A family of snippets over the product of `axes`; `prelude` defines helper functions they share."""

    name: str
    axes: Sequence[tuple[str, Sequence[str]]]
    snippet: Callable[..., Snippet]
    prelude: str = ""
    in_loop: bool = False  # types are printed in a loop body, which Triton walks twice: repeats are dropped
    plausible: Callable[[tuple[str, ...], str], bool] = (
        _any_outcome  # False: accepted by oversight, an accident
    )
    extended: Callable[[tuple[str, ...]], str | None] = (
        _no_extension  # what Tritium gives where Triton refuses
    )

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Coordinates of all rows, in recorded order."""
        return itertools.product(*(values for _, values in self.axes[:-1]))

    @property
    def columns(self) -> Sequence[str]:
        """Values of the last axis: one letter each in a recorded row."""
        return self.axes[-1][1]


def kernel_text(matrix: Matrix, combinations: Sequence[tuple[str, ...]]) -> KernelText:
    """One kernel that holds all `combinations` one after the other, each with its own suffix."""
    signature: dict[str, str] = {}
    constexprs: dict[str, object] = {}
    lines: list[str] = []
    for index, coordinates in enumerate(combinations):
        snippet = matrix.snippet(*coordinates)
        suffix = str(index)
        for name, kind in snippet.params.items():
            signature[name.replace("{i}", suffix)] = kind
        for name, constant in snippet.constexprs.items():
            signature[name.replace("{i}", suffix)] = "constexpr"
            constexprs[name.replace("{i}", suffix)] = constant
        shown = [f"show({name})" for name in snippet.shows]
        lines += [line.replace("{i}", suffix) for line in (*snippet.body, *shown)]
    parameters = ", ".join(
        f"{n}: tl.constexpr" if kind == "constexpr" else n for n, kind in signature.items()
    )
    body = "\n".join(f"    {line}" for line in lines)
    source = f"{matrix.prelude}\n@triton.jit\ndef kernel({parameters}):\n{body}\n"
    return KernelText(source, signature, constexprs)


# Operand forms. A tile has 8 elements and is loaded; a 0-d value is a loaded scalar.


def tile(name: str, dtype: str) -> tuple[dict[str, str], list[str]]:
    """A tile of 8 elements called `name{i}`, loaded through the parameter `name` + `p{i}`."""
    return {f"{name}p{{i}}": f"*{dtype}"}, [f"{name}{{i}} = tl.load({name}p{{i}} + tl.arange(0, 8))"]


def scalar(name: str, dtype: str) -> tuple[dict[str, str], list[str]]:
    """A 0-d value called `name{i}`."""
    return {f"{name}p{{i}}": f"*{dtype}"}, [f"{name}{{i}} = tl.load({name}p{{i}})"]


# Recorded results. A row is a string; `legend` maps each letter to printed lines or to one of two marks.

REFUSED = "refused"
ACCIDENT = "accident"  # Triton falls over inside itself; either answer is fine, a crash is not


def outcome_text(matrix: Matrix, coordinates: tuple[str, ...], printed: Sequence[str]) -> str:
    """The printed types of one combination as one text: `fp32 8 | int32 8`."""
    lines = list(dict.fromkeys(printed)) if matrix.in_loop else list(printed)
    text = " | ".join(lines)
    return text if matrix.plausible(coordinates, text) else ACCIDENT
