"""Running the command line in a process of its own, as its users do."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

SRC = Path(__file__).resolve().parents[2] / "src"

HEAD = """\
import numpy as np
import triton
import triton.language as tl
"""

ADD = (
    HEAD
    + """

@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = offsets < n
    x = tl.load(x_ptr + offsets, mask=live)
    y = tl.load(y_ptr + offsets, mask=live)
    tl.store(out_ptr + offsets, x + y, mask=live)


def add(x, y):
    out = np.empty_like(x)
    add_kernel[(triton.cdiv(x.size, 4),)](x, y, out, x.size, BLOCK=4)
    return out


if __name__ == "__main__":
    print(add(np.arange(6, dtype=np.float32), np.ones(6, np.float32)))
"""
)


def tritium(
    *args: str,
    cwd: Path | None = None,
    stdin: str | None = None,
    path: Sequence[str | Path] = (),
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """``python -m tritium ARGS``: with what it printed and its status."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TRITIUM_", "TRITON_", "PYTHON"))}
    env["PYTHONPATH"] = os.pathsep.join(map(str, [SRC, *path]))
    env["NO_COLOR"] = "1"
    if "TRITIUM_CACHE_DIR" in os.environ:
        env["TRITIUM_CACHE_DIR"] = os.environ["TRITIUM_CACHE_DIR"]
    return subprocess.run(
        [sys.executable, "-m", "tritium", *args],
        cwd=cwd,
        input=stdin,
        env={**env, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def write(folder: Path, name: str, text: str) -> Path:
    """A file with the dedented text."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    return file
