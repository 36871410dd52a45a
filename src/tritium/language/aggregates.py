"""`aggregate`: classes whose objects live in kernels."""

from tritium.frontend.aggregates import aggregate, aggregate_replace

__all__ = ["aggregate", "aggregate_replace"]
