"""C++ names for values: the kernel's own variable names where there are any, else ``v29`` as in the printed IR."""

from __future__ import annotations

import re

from tritium.backends.cuda.prelude import RESERVED
from tritium.ir.core import Value

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
        fmin fminf fmax fmaxf signbit round trunc clock assert printf malloc free main i j k l u t i8 u8 u16 u32 i64 u64
        f16 bf16 unsigned_of vec to_float to_odd
        """,
    )
)
_TAKEN = _CPP | _CUDA | RESERVED


class Names:
    """Hands out names, each once."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._number = 0

    def of(self, value: Value, hint: str = "") -> str:
        """A name for a value: after its variable, else numbered."""
        wanted = hint or value.name
        if not wanted:
            made = f"v{self._number}"
            self._number += 1
            return self.fresh(made)
        return self.fresh(wanted)

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
