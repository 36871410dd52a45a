"""``tl.target_info``: what a kernel may ask at compile time about the target it is compiled for."""

from __future__ import annotations

from typing import Any

from tritium.frontend.constexpr_functions import constexpr_function
from tritium.frontend.lower import current_options


@constexpr_function
def current_target() -> Any:
    """The target (`backend`, `arch`, `warp_size`), or None outside a compilation and for the interpreter."""
    return current_options().get("target")


@constexpr_function
def is_cuda() -> bool:
    """Whether the kernel is compiled for an NVIDIA GPU."""
    return getattr(current_target(), "backend", None) == "cuda"


@constexpr_function
def cuda_capability_geq(major: int, minor: int = 0) -> bool:
    """Whether the target is an NVIDIA GPU of at least this compute capability."""
    return is_cuda() and int(current_target().arch) >= major * 10 + minor


@constexpr_function
def is_hip() -> bool:
    """Whether the kernel is compiled for an AMD GPU; never so."""
    return False


is_hip_cdna3 = is_hip_cdna4 = is_hip_gfx1250 = is_hip

__all__ = [
    "cuda_capability_geq",
    "current_target",
    "is_cuda",
    "is_hip",
    "is_hip_cdna3",
    "is_hip_cdna4",
    "is_hip_gfx1250",
]
