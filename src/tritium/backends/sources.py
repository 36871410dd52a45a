"""The identity of the compiler, for keys of what it made and keeps."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path


@cache
def compiler_digest() -> str:
    """A digest of all source files of the package: anything kept is of the compiler that would make it now."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
