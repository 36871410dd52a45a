"""The one non-linear step of a memory layout: XOR of address bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tritium.layout.faults import LayoutError


@dataclass(frozen=True)
class Swizzle:
    """XOR of `bits` address bits: bits [base+shift, base+shift+bits) into [base, base+bits) of the byte address.

    The three hardware modes are (3, 4, 3), (2, 4, 3) and (1, 4, 3) for 128, 64 and 32 bytes (CUDA driver API,
    `CUtensorMapSwizzle`). LayoutError unless bits >= 1, base >= 0 and shift >= bits, where the map is its own
    inverse.
    """

    bits: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        if self.bits < 1 or self.base < 0 or self.shift < self.bits:
            raise LayoutError(
                f"Swizzle({self.bits}, {self.base}, {self.shift}) is not a permutation that undoes itself: "
                "it needs bits >= 1, base >= 0 and shift >= bits."
            )

    @property
    def mask(self) -> int:
        """The address bits that change."""
        return ((1 << self.bits) - 1) << self.base

    @property
    def period(self) -> int:
        """Bytes after which the pattern repeats: the alignment a swizzled buffer needs."""
        return 1 << (self.base + self.shift + self.bits)

    def apply(self, address: Any) -> Any:
        """The swizzled address; `address` is an integer or an integer array."""
        return address ^ ((address >> self.shift) & self.mask)
