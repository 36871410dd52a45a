"""``triton.backends.nvidia``: the names by which programs ask about NVIDIA GPUs."""

from tritium.compat.nvidia import compiler, driver

__all__ = ["compiler", "driver"]
