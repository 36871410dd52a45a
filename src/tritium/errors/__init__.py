"""Errors that users see: locations, exception classes, the catalogue of codes, rendering."""

from tritium.errors.catalogue import entries, entry_of, make_error
from tritium.errors.context import UserErrorContext
from tritium.errors.exceptions import (
    ArgumentError,
    ArgumentRangeError,
    AutotunerError,
    CompilationError,
    CompileTimeAssertionFailure,
    DeviceAssertError,
    InterpreterError,
    LaunchError,
    OutOfBoundsError,
    OutOfResources,
    OutsideKernelError,
    PTXASError,
    SourceUnavailableError,
    TritiumError,
    UnknownOptionError,
    UnsupportedLanguageConstruct,
)
from tritium.errors.location import Loc, character_column, register_source, source_line

__all__ = [
    "ArgumentError",
    "ArgumentRangeError",
    "AutotunerError",
    "CompilationError",
    "CompileTimeAssertionFailure",
    "DeviceAssertError",
    "InterpreterError",
    "LaunchError",
    "Loc",
    "OutOfBoundsError",
    "OutOfResources",
    "OutsideKernelError",
    "PTXASError",
    "SourceUnavailableError",
    "TritiumError",
    "UnknownOptionError",
    "UnsupportedLanguageConstruct",
    "UserErrorContext",
    "character_column",
    "entries",
    "entry_of",
    "make_error",
    "register_source",
    "source_line",
]
