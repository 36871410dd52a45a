"""``triton.runtime.interpreter``: kernels that always run on the interpreter.

``TRITON_INTERPRET=1`` makes ``@triton.jit`` give these. They are jit functions in every respect.
"""

from __future__ import annotations

from tritium.errors import InterpreterError
from tritium.runtime.interface import KernelInterface
from tritium.runtime.jit import JITFunction


class InterpretedFunction(JITFunction):
    """A kernel for the interpreter, wherever its arrays are (device arrays are copied in and out)."""

    forced_backend = "interpret"


__all__ = ["InterpretedFunction", "InterpreterError", "KernelInterface"]
