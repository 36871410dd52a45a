"""The error of this package."""

from __future__ import annotations


class LayoutError(ValueError):
    """A layout, shape or coordinate that makes no sense; the message is a full sentence that says why."""
