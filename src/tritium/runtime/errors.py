"""``triton.runtime.errors``: the exception classes under the names programs catch."""

from tritium.errors import AutotunerError, InterpreterError, OutOfResources, PTXASError, TritiumError

TritonError = TritiumError

__all__ = ["AutotunerError", "InterpreterError", "OutOfResources", "PTXASError", "TritonError"]
