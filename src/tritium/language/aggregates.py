"""`aggregate`: classes whose objects live in kernels."""

from tritium.frontend.aggregates import aggregate

__all__ = ["aggregate"]
