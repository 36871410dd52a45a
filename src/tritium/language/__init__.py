"""The Triton language: what kernels import as ``tl``.

Everything here exists at compile time only. Functions can be called in kernels (functions with ``@triton.jit``);
types and constants can be used anywhere.
"""

from __future__ import annotations

from tritium.language import core, extra, math, random, semantic, standard, target_info
from tritium.language.core import TRITON_MAX_TENSOR_NUMEL, PropagateNan, constexpr_function
from tritium.language.functions import functions_of, publish
from tritium.language.types import TYPE_NAMES

__all__ = [
    "TRITON_MAX_TENSOR_NUMEL",
    "PropagateNan",
    "constexpr_function",
    "core",
    "extra",
    "math",
    "random",
    "semantic",
    "standard",
    "target_info",
]

publish(globals(), {**TYPE_NAMES, **functions_of("tl")}, __all__)
