"""``make_backend``: options and identity of Tritium's compiler, as programs that drive a compiler ask for them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from tritium import config, knobs
from tritium.backends.compiler import BaseBackend, GPUTarget, Language
from tritium.pipeline import stages_of
from tritium.runtime.backend import host_backend
from tritium.runtime.cache import triton_key
from tritium.runtime.compiled import HOST_TARGET
from tritium.runtime.options import OPTIONS, check_options


class CompileOptions(SimpleNamespace):
    """Options by attribute."""

    def hash(self) -> str:
        """A digest of all of them."""
        text = "_".join(f"{name}-{value}" for name, value in sorted(self.__dict__.items()))
        return hashlib.sha256(text.encode()).hexdigest()


class TritiumBackend(BaseBackend):
    """Tritium's compiler for a target."""

    binary_ext = "order.tir"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend in ("cuda", "cpu")

    @staticmethod
    def for_host() -> TritiumBackend:
        """The backend for this machine's own processor."""
        return TritiumBackend(HOST_TARGET)

    def hash(self) -> str:
        return f"{triton_key()}-{self.target.backend}-{self.target.arch}"

    def parse_options(self, options: Mapping[str, Any]) -> CompileOptions:
        """The options among `options`, checked, with defaults; other names are left out."""
        known = {name: value for name, value in options.items() if name in OPTIONS}
        return CompileOptions(**check_options("the kernel", (), known))

    def pack_metadata(self, metadata: Any) -> tuple[Any, ...]:
        """The part of the metadata that a launch passes on."""
        return (metadata.num_warps, metadata.num_ctas, metadata.shared, *metadata.cluster_dims)

    def get_codegen_implementation(self, options: Any) -> dict[str, Any]:
        """What Triton's front end asks its backends for: the least extents of a dot, which are 1 here."""
        return {"min_dot_size": lambda lhs, rhs: (1, 1, 1)}

    def add_stages(self, stages: dict[str, Any], options: Any, language: Language = Language.TRITON) -> None:
        """Enter the stages by name, and let ``knobs.runtime.add_stages_inspection_hook`` see them."""
        for stage in stages_of(host_backend(config.current())):
            stages[stage.name] = stage.run
        if knobs.runtime.add_stages_inspection_hook is not None:
            knobs.runtime.add_stages_inspection_hook(self, stages, options, language, self.target.arch)


def make_backend(target: GPUTarget) -> TritiumBackend:
    """The compiler backend for `target`. RuntimeError for one that Tritium does not compile for."""
    if not TritiumBackend.supports_target(target):
        raise RuntimeError(f"there is no backend for {target.backend!r}; Tritium has cpu and cuda")
    return TritiumBackend(target)
