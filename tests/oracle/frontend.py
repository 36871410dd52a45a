"""Triton's own frontend as a :class:`Frontend`, with no GPU: only types are inferred, nothing is lowered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import triton
import triton.language as tl
from language.observe import Frontend
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import ASTSource, make_backend
from triton.compiler.errors import CompilationError

TARGET = GPUTarget("cuda", 90, 32)


class _NoDevice:
    """What Triton asks of a driver while it compiles for a given target."""

    def get_current_target(self) -> GPUTarget:
        return TARGET

    def get_current_device(self) -> int:
        return 0


def triton_frontend() -> Frontend:
    """Triton's frontend for compute capability 9.0. Raises RuntimeError unless it is Triton 3.6.0."""
    if triton.__version__ != "3.6.0":
        raise RuntimeError(f"the oracle is Triton 3.6.0, found {triton.__version__}")
    triton.runtime.driver.set_active(_NoDevice())
    backend = make_backend(TARGET)
    options = backend.parse_options({})
    implementation, modules = backend.get_codegen_implementation(options), backend.get_module_map()

    def compile_types(kernel: Any, signature: Mapping[str, str], constexprs: Mapping[str, Any]) -> object:
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        source = ASTSource(kernel, dict(signature), dict(constexprs))
        return source.make_ir(TARGET, options, implementation, modules, context)

    return Frontend(triton, tl, compile_types, CompilationError)
