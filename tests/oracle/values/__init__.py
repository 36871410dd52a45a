"""Kernels with explicit inputs and expected outputs, computed with NumPy, in the sense of compiled Triton 3.6."""
