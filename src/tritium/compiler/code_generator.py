"""``triton.compiler.code_generator``: names that programs import from it."""

from tritium.errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct
from tritium.frontend.lower import lower_kernel

__all__ = ["CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct", "lower_kernel"]
