"""The page ``docs/compatibility.md``, written from the tables by ``python -m tritium.compat.page FILE``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from tritium.compat.modules import ANSWERED, REFUSED, module_for
from tritium.compat.names import REFUSED_NAMES
from tritium.config import TRITON_VERSION
from tritium.runtime.options import OPTIONS, REPLACED

_HEAD = f"""\
# Compatibility with Triton

`tritium run PROGRAM` and `tritium.install()` make `import triton` mean Tritium, for the program and for the Python
processes that it starts; PyTorch's own imports of Triton are left alone. `triton.__version__` is {TRITON_VERSION}: types
and values are that release's, and [the tests](../tests/runtime/test_compatibility.py) compare the names of all its
modules with what Tritium answers. This page is written from the same tables by `make docs`.

What a program can rely on:

- every public module below answers, with Triton's names; what Tritium keeps elsewhere is found under both names;
- a part that Tritium does not have is an `ImportError` (a module), or an `AttributeError` (a name), whose text says
  what to use instead, so that feature checks of programs work as they do with an older Triton;
- a knob or a launch option that steers Triton's own toolchain is accepted and has no effect.
"""

_RUNTIME = """\
## Where the runtime behaves differently

| in Triton | in Tritium |
| --- | --- |
| a kernel whose globals changed after it was compiled: RuntimeError | it is compiled again with the new values |
| tuning runs every configuration on the caller's arrays | on copies of what the kernel writes; configurations whose \
results differ are reported |
| a tuner of which every configuration fails picks the first | an error with the reason of each |
| a value for a parameter that a tuner's configurations set: ValueError or TypeError | an error that is both a \
ValueError and an AutotunerError |
| NumPy arrays and numbers are refused | they are taken without a copy, and so is what offers DLPack or an array \
interface |
| a list is refused as an argument | it counts as a tuple |
| tiles have extents that are powers of two, up to 1,048,576 elements | any extents |
| `copy.deepcopy` and pickling of a kernel fail | a kernel is copied as itself and pickled by its name |
| a store to a read-only array goes through | an error before anything is written |
| `driver.active.get_current_target()` needs a GPU | without one it is `GPUTarget("cpu", 0, 1)` |
| `kernel.asm` has ttir, ttgir, llir, ptx, cubin | it has the stages that `tritium stages` lists; ttir and ttgir stand \
for the optimised tile IR |
| `metadata.shared`, `n_regs`, `n_spills` | 0 where the target has no such resource |
| `set_allocator` is asked for scratch memory | kept, and asked by backends that need scratch memory |
"""


def render_page() -> str:
    """The page, in Markdown."""
    parts = [_HEAD, _RUNTIME, _modules(), _refused_modules(), _refused_names(), _options()]
    return "\n".join(parts)


def _modules() -> str:
    rows = [f"| `{name}` | `{module_for(name)}` |" for name in sorted(ANSWERED)]
    return _table("## Modules that answer", ("Triton's module", "answered by"), rows)


def _refused_modules() -> str:
    rows = [f"| `{name}` | {reason} |" for name, reason in sorted(REFUSED.items())]
    return _table("## Modules that are refused", ("module, with all inside it", "why, or what to use"), rows)


def _refused_names() -> str:
    rows: list[str] = []
    for module, names in sorted(REFUSED_NAMES.items()):
        by_reason: dict[str, list[str]] = {}
        for name, reason in sorted(names.items()):
            by_reason.setdefault(reason, []).append(f"`{name}`")
        rows += [f"| `{module}` | {', '.join(found)} | {reason} |" for reason, found in by_reason.items()]
    return _table("## Names that are refused", ("module", "names", "why, or what to use"), rows)


def _options() -> str:
    accepted = ", ".join(f"`{name}`" for name in OPTIONS)
    replaced = "".join(f"| `{name}` | {reason} |\n" for name, reason in REPLACED.items())
    return f"""\
## Launch options

Accepted at a launch: {accepted}. On the interpreter only `backend`, `debug`, `sanitize_overflow`, `ir_override`
and `default_dot_input_precision` change anything. Refused, with what stands in their place:

| option | |
| --- | --- |
{replaced}"""


def _table(title: str, heads: Iterable[str], rows: Iterable[str]) -> str:
    heads = list(heads)
    lines = [title, "", f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}", *rows, ""]
    return "\n".join(lines)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render_page(), encoding="utf-8")
