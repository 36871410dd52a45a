"""A refused call: its code, its place, and that it says what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ops.emulate import LOC
from tritium.errors import CompilationError


def refused(code: str, call: Callable[..., Any], *args: Any, **kw: Any) -> CompilationError:
    """Run ``call(...)``, which must fail with the catalogue error `code` at the kernel's line."""
    with pytest.raises(CompilationError) as caught:
        call(*args, **kw)
    error = caught.value
    assert error.code == code, str(error)
    assert error.loc == LOC and error.hint and error.message
    return error
