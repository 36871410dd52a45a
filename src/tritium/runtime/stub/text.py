"""The launch stub as LLVM IR: three functions that Python calls as builtins.

::

    launch(grid, *args, **kwargs)     classify, find, launch; else call the slow way with the same arguments
    describe(grid, *args, **kwargs)   the key that `launch` looks for, as bytes; None if it has none
    repeat(*args)                     a bound launch

``self`` is a tuple whose first item is the address of an `Fn` or `Bound` record; the other items keep alive what the
records refer to. Rules that the code keeps:

* Every reference that a call returned is given up again on every path; arguments, and what records hold, are borrowed.
* Nothing is launched before everything has been checked. Whatever is unknown or fails before that is a miss: the error
  is dropped and the slow way, which words all errors, gets the whole call.
* Guards and entries are looked at after the arguments, which may run Python code, and without running any between.
* From the find on, a reference to the entry's owner is held, since other threads may replace the entry meanwhile.
* The GIL is released around kernels and around the driver's launch call, which waits when its queue is full: a host
  function in the queue may need the GIL.
"""

from __future__ import annotations

from dataclasses import dataclass

from tritium.runtime.stub import array_text, classify_text, entry_text, find_text, records, run_text

API = {
    "PyObject_Vectorcall": "ptr (ptr, ptr, i64, ptr)",
    "PyObject_VectorcallMethod": "ptr (ptr, ptr, i64, ptr)",
    "PyObject_GetAttr": "ptr (ptr, ptr)",
    "PyLong_AsLongLongAndOverflow": "i64 (ptr, ptr)",
    "PyLong_AsVoidPtr": "ptr (ptr)",
    "PyLong_FromLongLong": "ptr (i64)",
    "PyFloat_AsDouble": "double (ptr)",
    "PyTuple_Size": "i64 (ptr)",
    "PyTuple_GetItem": "ptr (ptr, i64)",
    "PyList_Size": "i64 (ptr)",
    "PyDict_New": "ptr ()",
    "PyDict_SetItem": "i32 (ptr, ptr, ptr)",
    "PyDict_GetItemWithError": "ptr (ptr, ptr)",
    "PyCell_Get": "ptr (ptr)",
    "PyContextVar_Get": "i32 (ptr, ptr, ptr)",
    "PyBytes_FromStringAndSize": "ptr (ptr, i64)",
    "PyCallable_Check": "i32 (ptr)",
    "PyType_IsSubtype": "i32 (ptr, ptr)",
    "PyErr_Occurred": "ptr ()",
    "PyErr_Clear": "void ()",
    "PyErr_ExceptionMatches": "i32 (ptr)",
    "PyEval_SaveThread": "ptr ()",
    "PyEval_RestoreThread": "void (ptr)",
    "Py_IncRef": "void (ptr)",
    "Py_DecRef": "void (ptr)",
}
"""Functions of Python's C API, by name, with their types."""

OBJECTS = {
    "None": None,
    "True": True,
    "False": False,
    "Integer": int,
    "Float": float,
    "Tuple": tuple,
    "Exception": Exception,
}
"""Python objects that the code compares with, by the name of their symbol."""

LIBC = {
    "posix_memalign": "i32 (ptr, i64, i64)",
    "free": "void (ptr)",
    "clock_gettime": "i32 (i32, ptr)",
}


@dataclass(frozen=True, slots=True)
class Layout:
    """Where Python and NumPy keep what has no function in the C API, in bytes from an object's start.

    type_at   an object's type
    array_at  the first field of an array (`PyArrayObject_fields`), 0 where NumPy's arrays are not known
    size_at   in a dtype, the size of an element, of which 32 bits are read
    version_at  in a dictionary, the number that every change gives another value; 0 where there is none
    clock     the number of the monotonic clock
    stream    arrays of more bytes than this are taken not to stay in the caches
    sharing   nanoseconds of work that a second thread is worth
    """

    type_at: int
    array_at: int
    size_at: int
    version_at: int
    clock: int
    stream: int
    sharing: int


EXPORTED = ("launch", "describe", "repeat")


def module(layout: Layout) -> str:
    """The whole module."""
    numbers: dict[str, int | str] = {
        name: value for name, value in vars(records).items() if name.isupper() and isinstance(value, int)
    }
    numbers |= {
        "TYPE_AT": layout.type_at,
        "ARRAY_AT": layout.array_at,
        "SIZE_AT": layout.size_at,
        "STREAM": layout.stream,
        "SHARING": f"{layout.sharing}.0",
        "VERSION_AT": layout.version_at,
        "VERSIONED": str(layout.version_at > 0).lower(),
        "CLOCK": layout.clock,
        "KEY": records.HEAD + 2 * records.SLOTS,
        "KEY1": records.HEAD + 2 * records.SLOTS + 1,
        "MEMO_MASK": records.MEMO - 1,
        "SPANS": 2 * records.ARRAYS,
        "BLOCK": records.SLOTS + 4,
    }
    declarations = [_declaration(name, ty) for name, ty in {**API, **LIBC}.items()]
    declarations += [f"@{name} = external global i8" for name in OBJECTS]
    declarations.append("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    parts = [classify_text.CLASSIFY, array_text.ARRAYS, array_text.EXTRACT, find_text.FIND, find_text.GRID]
    body = "".join([*parts, run_text.RUN, entry_text.ENTRY_POINTS, entry_text.REPEAT])
    for name in sorted(numbers, key=len, reverse=True):  # no name inside a longer one
        body = body.replace(f"${name}", str(numbers[name]))
    return "\n".join(declarations) + "\n" + records.expand(body)


def _declaration(name: str, ty: str) -> str:
    result, _, arguments = ty.partition(" ")
    return f"declare {result} @{name}{arguments}"
