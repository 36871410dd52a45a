"""What a kernel is compiled from: a jit function with types in Triton's spelling, or a file of tile IR."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritium.backends.compiler import Language
from tritium.errors import make_error
from tritium.frontend.signature import Argument, Constant, DescriptorOf, RunTime, Signature, TupleOf
from tritium.ir.core import Function
from tritium.ir.parser import parse_function
from tritium.ops.base import REGISTRY
from tritium.runtime.specialize import ConstArg, DescriptorArg, RuntimeArg, Spec, Specs, TupleArg, const_arg
from tritium.runtime.type_names import Path as IndexPath
from tritium.runtime.type_names import short_name

if TYPE_CHECKING:
    from tritium.runtime.jit import JITFunction

DIVISIBLE = [["tt.divisibility", 16]]


class ASTSource:
    """A kernel with the types to compile it for.

    fn           the jit function
    signature    ``{"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}``
    constexprs   values of the compile-time parameters, by name or by index path: ``{"BLOCK": 64}``, ``{(2,): 64}``
    attrs        promises by index path: ``{(0,): [["tt.divisibility", 16]]}``
    """

    ext = "ttir"
    language = Language.TRITON

    def __init__(
        self,
        fn: JITFunction,
        signature: Mapping[str, Any] | str,
        constexprs: Mapping[Any, Any] | None = None,
        attrs: Mapping[Any, Any] | None = None,
    ) -> None:
        if not hasattr(fn, "specs_of"):
            raise make_error("TRI0104", got=type(fn).__name__)
        self.fn = fn
        self.name: str = fn.__name__
        if isinstance(signature, str):
            signature = dict(zip(fn.arg_names, (t.strip() for t in signature.split(",")), strict=False))
        if any(not isinstance(key, str) for key in signature):
            raise TypeError("the keys of a signature are parameter names")
        self.signature: dict[str, Any] = dict(signature)
        self.constants: dict[IndexPath, Any] = {
            self._path(key): value for key, value in (constexprs or {}).items()
        }
        self.attrs: dict[IndexPath, Any] = {self._path(key): value for key, value in (attrs or {}).items()}

    def _path(self, key: Any) -> IndexPath:
        if isinstance(key, str):
            if key not in self.fn.arg_names:
                problem = f"`{key}` is no parameter"
                raise self._unreadable(problem)
            return (self.fn.arg_names.index(key),)
        return (key,) if isinstance(key, int) else tuple(key)

    def _unreadable(self, problem: str) -> Exception:
        parameters = ", ".join(self.fn.arg_names)
        return make_error(
            *("TRI0906", None),
            text=str(getattr(self, "signature", "")),
            function=self.name,
            problem=problem,
            signature=parameters,
        )

    def specs(self) -> Specs:
        """The same as launch specialisation would have found. ArgumentError for text that is no type."""
        unknown = [name for name in self.signature if name not in self.fn.arg_names]
        if unknown:
            raise self._unreadable(f"`{unknown[0]}` is no parameter")
        known = dict(self.constants)
        for p in self.fn.params:
            if (p.num,) not in known and p.name not in self.signature and p.has_default:
                known[(p.num,)] = p.default
        try:
            parsed = Signature.parse(self.fn.arg_names, self.signature, known, self.attrs)
        except (ValueError, KeyError) as broken:
            raise self._unreadable(str(broken.args[0])) from None
        return tuple((name, _spec(argument, name)) for name, argument in parsed.arguments)

    def hash(self) -> str:
        return hashlib.sha256(f"{self.fn.cache_key}|{self.specs()}".encode()).hexdigest()

    def parse_options(self) -> dict[str, Any]:
        """Options that the source itself fixes: none."""
        return {}


def _spec(argument: Argument, name: str) -> Spec:
    if isinstance(argument, Constant):
        return const_arg(argument.value, name)
    if isinstance(argument, TupleOf):
        return TupleArg(tuple(_spec(a, name) for a in argument.items), argument.cls)
    if isinstance(argument, DescriptorOf):
        return DescriptorArg(argument.element, argument.block_shape, argument.padding)
    assert isinstance(argument, RunTime)
    facts = dict(argument.facts)
    return RuntimeArg(argument.type, facts.get("divisibility", 1) % 16 == 0)


# ---- from specs back to Triton's spelling ------------------------------------------------------------


def source_of(fn: JITFunction, specs: Specs) -> ASTSource:
    """The source that has these specs, as hooks and ``CompiledKernel.src`` show it."""
    constants: dict[IndexPath, Any] = {}
    attrs: dict[IndexPath, Any] = {}
    signature = {name: _spelled(spec, (i,), constants, attrs) for i, (name, spec) in enumerate(specs)}
    return ASTSource(fn, signature, constants, attrs)


def _spelled(
    spec: Spec, path: IndexPath, constants: dict[IndexPath, Any], attrs: dict[IndexPath, Any]
) -> Any:
    if isinstance(spec, ConstArg):
        constants[path] = spec.value
        return "constexpr"
    if isinstance(spec, TupleArg):
        items = [_spelled(item, (*path, i), constants, attrs) for i, item in enumerate(spec.items)]
        return tuple(items) if spec.cls is None else spec.cls._make(items)  # type: ignore[attr-defined]
    if isinstance(spec, DescriptorArg):
        return f"tensordesc<{spec.dtype.mangle()}{list(spec.block_shape)}>"
    if spec.divisible:
        attrs[path] = [list(fact) for fact in DIVISIBLE]
    return short_name(spec.type)


class IRSource:
    """Tile IR from a file, to be compiled from there on. The file's ending names the stage: ``x.opt.tir``."""

    language = Language.TRITON

    def __init__(self, path: str | Path, context: Any = None, backend: Any = None) -> None:
        self.path = Path(path)
        self.ext = self.path.suffix.lstrip(".")
        try:
            self.src = self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as broken:
            problem = getattr(broken, "strerror", None) or str(broken)
            raise make_error("TRI0901", problem=f"{path} cannot be read: {problem}") from None
        self.function: Function = parse_function(self.src, REGISTRY, str(path))
        self.name = self.function.name

    def hash(self) -> str:
        return hashlib.sha256(self.src.encode()).hexdigest()

    def parse_options(self) -> dict[str, Any]:
        """Options that the source itself fixes: none."""
        return {}
