"""The short way of a launch, as machine code: a builtin that LLVM compiles once, driven by records that Python writes.

::

    text.py, *_text.py    the code, in LLVM IR
    records.py            what it reads
    load.py               compiling, testing, making builtins of it
    table.py              the records of one kernel: parameters, ways to call it, entries
    guards.py             what has to hold for entries to be right
    learn.py              from a launch by the long way to an entry

See ``docs/decisions/launch_stub.md`` for why it is so.
"""
