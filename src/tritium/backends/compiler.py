"""``triton.backends.compiler``: targets and the base class of compiler backends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import Any


@dataclass(frozen=True)
class GPUTarget:
    """What to compile for: ``GPUTarget("cuda", 90, 32)``, ``GPUTarget("cpu", 0, 1)``."""

    backend: str
    arch: int | str
    warp_size: int


class Language(Enum):
    """Input languages of a backend."""

    TRITON = 0
    GLUON = 1


class BaseBackend(ABC):
    """Base of compiler backends, as third-party code subclasses it."""

    supports_native_tensor_specialization = True

    def __init__(self, target: GPUTarget) -> None:
        self.target = target

    @staticmethod
    @abstractmethod
    def supports_target(target: GPUTarget) -> bool: ...

    @abstractmethod
    def hash(self) -> str: ...

    @abstractmethod
    def parse_options(self, options: dict[str, Any]) -> Any: ...

    @abstractmethod
    def add_stages(
        self, stages: dict[str, Any], options: Any, language: Language = Language.TRITON
    ) -> None: ...

    def get_module_map(self) -> dict[str, Any]:
        return {}

    def load_dialects(self, context: Any) -> None:
        """Tritium has no MLIR context, so there is nothing to load into it."""
        return None
