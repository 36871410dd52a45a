"""All ops of tile IR, one class each; importing this package fills the registries."""

from tritium.ops import arithmetic, cast, control, create, memory, reduce, shape

__all__ = ["arithmetic", "cast", "control", "create", "memory", "reduce", "shape"]
