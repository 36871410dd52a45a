"""``triton.runtime.errors``: the exception classes under the names programs catch."""

from tritium.errors import AutotunerError, InterpreterError, OutOfResources, PTXASError

__all__ = ["AutotunerError", "InterpreterError", "OutOfResources", "PTXASError"]
