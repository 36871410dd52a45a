"""C++ names for values: the kernel's own variable names where there are any, else ``v29`` as in the printed IR."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

from tritium.backends.cuda.prelude import RESERVED
from tritium.ir.core import Function, Value
from tritium.ir.printer import value_names

_CPP = frozenset(
    re.findall(
        r"\w+",
        """
        alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl const
        const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit export extern
        false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or
        or_eq private protected public register reinterpret_cast return short signed sizeof static static_assert
        static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned
        using virtual void volatile wchar_t while xor xor_eq
        """,
    )
)
_CUDA = frozenset(
    re.findall(
        r"\w+",
        """
        threadIdx blockIdx blockDim gridDim warpSize dim3 float2 float4 int2 int4 min max abs fabs fabsf exp expf exp2f
        log logf log2f cos cosf sin sinf tan pow powf sqrt sqrtf rsqrtf erff floor floorf ceil ceilf fmod fmodf fma fmaf
        shared_memory fmin fminf fmax fmaxf signbit round trunc clock assert printf malloc free main i j r s t
        i8 u8 u16 u32 i64 u64 f16 bf16 unsigned_of vec to_float to_odd
        """,
    )
)
_TAKEN = _CPP | _CUDA | RESERVED


class Names:
    """Hands out names, each once."""

    def __init__(self, function: Function) -> None:
        self._used: set[str] = set()
        self._printed = value_names(function)

    def of(self, value: Value, hint: str = "") -> str:
        """A name for a value: after its variable, else numbered."""
        wanted = hint or value.name
        return self.fresh(wanted or f"v{self._printed[value]}")

    def of_registers(self, value: Value, shape: Sequence[int]) -> str:
        """A name for a value whose registers get names of their own, ``acc_0_1``, none of which is taken."""
        suffixes = ["_".join(["", *map(str, c)]) for c in product(*map(range, shape))]
        if len(suffixes) == 1:
            return self.of(value)
        base = self.of(value)
        hint = base
        while any(base + s in self._used for s in suffixes):
            base = self.fresh(f"{hint}_")
        self._used.update(base + s for s in suffixes)
        return base

    def fresh(self, wanted: str) -> str:
        """`wanted` made legal, with a number if it is taken."""
        legal = re.sub(r"\W", "_", wanted, flags=re.ASCII)
        if not legal or legal[0].isdigit() or legal.startswith("__"):
            legal = f"v_{legal.lstrip('_')}"
        made, n = legal, 0
        while made in self._used or made in _TAKEN:
            n += 1
            made = f"{legal}_{n}"
        self._used.add(made)
        return made
