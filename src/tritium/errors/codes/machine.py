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
    Entry(
        code="TRI0822",
        cls=InterpreterError,
        title="shared memory used while a copy to it is under way",
        message="`{op}` uses elements of shared memory that an asynchronous copy may still be writing",
        explanation="""
Machine IR runs on the interpreter with a shadow of shared memory. An asynchronous copy is complete only for the thread
that waited for it, and for others after the next barrier; here the wait is missing, or it leaves too many groups of
copies pending, or the wrong stage is used. This is a fault of the compiler, or of machine IR edited by hand, not of the
kernel.
""",
        hint="report the case with the kernel; TRITIUM_SPECIALIZE=none avoids most rewrites",
    ),
)
