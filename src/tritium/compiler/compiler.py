"""``triton.compile(ASTSource(...))``: compile a kernel for given types, without arguments and without a GPU."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tritium import config
from tritium.backends.compiler import BaseBackend, GPUTarget
from tritium.errors import make_error
from tritium.frontend.signature import Constant, DescriptorOf, RunTime, Signature, TupleOf
from tritium.ir.core import Function
from tritium.ir.parser import parse_function
from tritium.ir.types import float32
from tritium.ops.base import REGISTRY
from tritium.pipeline import Compilation, compile_kernel
from tritium.runtime.backend import executor_of
from tritium.runtime.binder import OPTIONS, check_options, signature_text
from tritium.runtime.compiled import CompiledKernel, Metadata
from tritium.runtime.jit import JITFunction
from tritium.runtime.specialize import DescriptorArg, RuntimeArg, Spec, Specs, TupleArg, const_arg


class ASTSource:
    """A kernel with the types to compile it for.

    fn           the jit function
    signature    ``{"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}``
    constexprs   values of the compile-time parameters, by name or by index path: ``{"BLOCK": 64}``, ``{(2,): 64}``
    attrs        promises by index path: ``{(0,): [["tt.divisibility", 16]]}``
    """

    ext = "ttir"

    def __init__(
        self,
        fn: JITFunction,
        signature: Mapping[str, Any] | str,
        constexprs: Mapping[Any, Any] | None = None,
        attrs: Mapping[Any, Any] | None = None,
    ) -> None:
        if not isinstance(fn, JITFunction):
            raise make_error("TRI0104", got=type(fn).__name__)
        self.fn = fn
        self.name = fn.__name__
        if isinstance(signature, str):
            signature = dict(zip(fn.arg_names, (t.strip() for t in signature.split(",")), strict=False))
        self.signature = dict(signature)
        self.constants = {
            (fn.arg_names.index(k),) if isinstance(k, str) else k: v for k, v in (constexprs or {}).items()
        }
        self.attrs = dict(attrs or {})

    def specs(self) -> Specs:
        """The same as launch specialisation would have found. ArgumentError for text that is no type."""
        try:
            parsed = Signature.parse(self.fn.arg_names, self.signature, self.constants, self.attrs)
        except (ValueError, KeyError) as broken:
            problem = str(broken.args[0])
            raise make_error(
                "TRI0906",
                text=str(self.signature),
                function=self.name,
                problem=problem,
                signature=signature_text(self.fn.params),
            ) from None
        return tuple((name, _spec(argument, name)) for name, argument in parsed.arguments)

    def hash(self) -> str:
        return hashlib.sha256(f"{self.fn.cache_key}|{self.specs()}".encode()).hexdigest()


def _spec(argument: Any, name: str) -> Spec:
    if isinstance(argument, Constant):
        return const_arg(argument.value, name)
    if isinstance(argument, TupleOf):
        return TupleArg(tuple(_spec(a, name) for a in argument.items), argument.cls)
    if isinstance(argument, DescriptorOf):
        return DescriptorArg(argument.element, argument.block_shape, argument.padding)
    assert isinstance(argument, RunTime)
    facts = dict(argument.facts)
    return RuntimeArg(argument.type, facts.get("divisibility", 1) % 16 == 0)


class IRSource:
    """Tile IR from a file, to be compiled from there on."""

    def __init__(self, path: str | Path, context: Any = None, backend: Any = None) -> None:
        self.path = Path(path)
        self.ext = self.path.suffix.lstrip(".")
        self.src = self.path.read_text()
        self.function: Function = parse_function(self.src, REGISTRY, str(path))
        self.name = self.function.name

    def hash(self) -> str:
        return hashlib.sha256(self.src.encode()).hexdigest()


class LazyDict:
    """A dictionary whose values may be functions, called when asked for."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.extras: list[tuple[Any, tuple[Any, ...]]] = []

    def get(self) -> dict[str, Any]:
        for fn, args in self.extras:
            self.data = {**self.data, **fn(*args)}
        self.extras.clear()
        return self.data

    def add(self, fn: Any, args: tuple[Any, ...]) -> None:
        self.extras.append((fn, args))


class TritiumBackend(BaseBackend):
    """What `make_backend` gives: options and identity of Tritium's compiler for a target."""

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend in ("cuda", "cpu")

    def hash(self) -> str:
        from tritium.runtime.cache import triton_key

        return f"{triton_key()}-{self.target.backend}-{self.target.arch}"

    def parse_options(self, options: dict[str, Any]) -> Any:
        known = {**OPTIONS, **{k: v for k, v in options.items() if k in OPTIONS}}
        return SimpleNamespace(**known)

    def add_stages(self, stages: dict[str, Any], options: Any, language: Any = None) -> None:
        from tritium.pipeline import stages_of

        for stage in stages_of("interpret"):
            stages[stage.name] = stage.run


def make_backend(target: GPUTarget) -> TritiumBackend:
    """The compiler backend for `target`."""
    return TritiumBackend(target)


def compile(
    src: ASTSource | IRSource | str | Path,
    target: GPUTarget | None = None,
    options: Mapping[str, Any] | None = None,
    _env_vars: Any = None,
) -> CompiledKernel:
    """Compile for the given types; the result has ``.asm``, ``.metadata`` and can be launched on host arrays.

    `target` is recorded; code for GPUs is made by the CUDA backend, where this version has one.
    """
    if isinstance(src, (str, Path)):
        src = IRSource(src)
    if isinstance(src, IRSource):
        return _from_ir(src, options)
    given = {k: v for k, v in dict(options or {}).items() if k in OPTIONS}
    checked = check_options(src.name, src.fn.params, given)
    checked["debug"] = bool(checked["debug"] or src.fn.debug or config.get("triton_debug"))
    if target is not None:
        checked["arch"] = f"{target.backend}:{target.arch}"
    specs = src.specs()
    return src.fn.find(specs, checked, "interpret")


def _from_ir(src: IRSource, options: Mapping[str, Any] | None) -> CompiledKernel:
    done = Compilation(_TextSource(src), Signature(()), dict(options or {}))  # type: ignore[arg-type]
    done.artefacts["opt.tir"] = src.function
    specs = tuple((a.name, RuntimeArg(a.type)) for a in src.function.args)  # type: ignore[arg-type]
    return CompiledKernel(done, specs, {**OPTIONS, **(options or {})}, "interpret", executor_of("interpret"))


class _TextSource:
    """Stands for the kernel source where a compilation starts from IR text."""

    def __init__(self, src: IRSource) -> None:
        self.text = src.src
        self.name = src.name
        self.cache_key = src.hash()


__all__ = [
    "ASTSource",
    "CompiledKernel",
    "IRSource",
    "LazyDict",
    "Metadata",
    "compile",
    "compile_kernel",
    "float32",
    "make_backend",
]
