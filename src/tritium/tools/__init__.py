"""``triton.tools``: host-side helpers."""
