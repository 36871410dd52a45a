"""TRI0820 to TRI0829: machine IR on the interpreter."""

from tritium.errors.codes.entry import Entry
from tritium.errors.exceptions import InterpreterError

ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="TRI0820",
        cls=InterpreterError,
        title="a race on shared memory",
        message="`{op}` races: an element of shared memory it uses {what} by another thread since the last barrier",
        explanation="""
Machine IR runs on the interpreter with a shadow of shared memory. Two threads used the same element, at least one of
them wrote, and no barrier lies between. This is a fault of the compiler, or of machine IR edited by hand, not of the
kernel.
""",
        hint="report the case with the kernel; TRITIUM_SPECIALIZE=none avoids most rewrites",
    ),
    Entry(
        code="TRI0821",
        cls=InterpreterError,
        title="shared memory read before it was written",
        message="`{op}` reads elements of shared memory that no thread has written",
        explanation="""
Machine IR runs on the interpreter with a shadow of shared memory, which starts out as unwritten. This is a fault of the
compiler, or of machine IR edited by hand, not of the kernel.
""",
        hint="report the case with the kernel; TRITIUM_SPECIALIZE=none avoids most rewrites",
    ),
)
