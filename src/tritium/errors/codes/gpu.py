"""TRI0760 to TRI0779: code generation for GPUs."""

from tritium.errors.codes.entry import Entry
from tritium.errors.exceptions import CompilationError

ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="TRI0760",
        cls=CompilationError,
        title="an operation that CUDA cannot run yet",
        message="`{op}` cannot be compiled for CUDA yet{problem}",
        explanation="""
The operation is part of the language, and the interpreter runs it, but the CUDA backend of this version has no code for
it, or not for these types. Nothing was compiled: a kernel is never run in part.
""",
        hint='use backend="interpret" for this kernel, or write the step with other operations',
    ),
)
