"""``triton.compiler``: compiling without launching."""

from tritium.compiler import code_generator
from tritium.compiler.compiler import ASTSource, CompiledKernel, IRSource, LazyDict, compile, make_backend
from tritium.compiler.errors import (
    CompilationError,
    CompileTimeAssertionFailure,
    UnsupportedLanguageConstruct,
)

__all__ = [
    "ASTSource",
    "CompilationError",
    "CompileTimeAssertionFailure",
    "CompiledKernel",
    "IRSource",
    "LazyDict",
    "UnsupportedLanguageConstruct",
    "code_generator",
    "compile",
    "make_backend",
]
