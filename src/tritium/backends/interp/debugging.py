"""Looking inside a running kernel: prints, assertions, traced lines, and the prompt of ``breakpoint()``."""

from __future__ import annotations

import cmd
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tritium.backends.interp.batch import Extents
from tritium.backends.interp.faults import first_true
from tritium.errors import make_error
from tritium.ir.core import Op, Value
from tritium.ir.types import DType, PointerType, Type
from tritium.ops.base import BATCH_AXES, Array

if TYPE_CHECKING:
    from tritium.backends.interp.machine import Interpreter

_WHOLE = {"threshold": sys.maxsize, "max_line_width": 1 << 16}


def tile_of(value: Array, position: Extents, ty: Type) -> Any:
    """What `value` is for the instance at `position` of the batch: a tile of the type's shape, or a scalar."""
    at = tuple(p if n > 1 else 0 for p, n in zip(position, value.shape, strict=False))
    return np.broadcast_to(value[at], ty.shape)


def formatted(tile: Array, ty: Type, as_hex: bool = False) -> str:
    """A tile as NumPy prints it, never abbreviated; with `as_hex` its bits, as wide as the type."""
    scalar = ty.scalar
    if as_hex:
        digits = 2 * scalar.itemsize if isinstance(scalar, (DType, PointerType)) else 1
        bits = np.ascontiguousarray(tile).view(f"u{tile.dtype.itemsize}").reshape(tile.shape)
        return np.array2string(bits, formatter={"int": lambda v: f"0x{int(v):0{digits}x}"}, **_WHOLE)  # type: ignore[call-overload]
    if tile.ndim == 0:
        return str(tile[()])
    if tile.dtype.kind not in "biuf":  # 8-bit and bfloat16 floats print as the numbers they are
        tile = tile.astype(np.float32)
    return np.array2string(tile, **_WHOLE)  # type: ignore[call-overload]


def print_values(m: Interpreter, op: Op, prefix: str, values: Sequence[Array], **how: Any) -> None:
    """One line per program instance: its ids, the prefix, and every value as a whole. `hex` prints bits."""
    as_hex = bool(how.get("hex", False))
    types = [v.type for v in op.operands]
    lines: list[str] = []
    for position in m.frame.batch.positions():
        texts = [formatted(tile_of(v, position, t), t, as_hex) for v, t in zip(values, types, strict=True)]
        where = m.frame.batch.program(position) if m.frame.batch.ids else "(combine)"
        lead = f"{where} {prefix}".rstrip()
        lines.append(
            " ".join([f"{lead}:" if prefix and texts and not prefix.rstrip().endswith(":") else lead, *texts])
        )
    m.options.write("".join(f"{line}\n" for line in lines))


def check(m: Interpreter, op: Op, condition: Array, message: str, mask: Array | None) -> None:
    """Raise DeviceAssertError for the first lane, in program order, whose condition is false and whose mask is not."""
    if condition.all():
        return
    failed = ~condition if mask is None else ~condition & mask
    if not failed.any():
        return
    position = first_true(failed)
    batch = m.frame.batch
    place = tuple(p if n > 1 else 0 for p, n in zip(position, failed.shape, strict=False))
    program = batch.program(place[:BATCH_AXES])
    lane = list(position[BATCH_AXES:])
    got = batch.label(place[:BATCH_AXES]) + (f", element {lane} of the tile" if lane else "")
    raise make_error(
        "TRI0802", op.loc, text=message or "the condition is false", got=got, program=program, lane=lane
    )


# ---- variables ------------------------------------------------------------------------------------------


def variables(m: Interpreter) -> dict[str, Value]:
    """The kernel's variables that have a value now, innermost and latest definition first wins."""
    found: dict[str, Value] = {}
    frame: Any = m.frame
    while frame is not None:
        for value in reversed(frame):
            if isinstance(value, Value) and value.name:
                found.setdefault(value.name, value)
        frame = frame.parent
    return dict(sorted(found.items()))


def _shown(m: Interpreter, names: Mapping[str, Value], position: Extents) -> Iterator[tuple[str, Any, Type]]:
    for name, value in names.items():
        yield name, tile_of(m.plain(m.frame[value]), position, value.type), value.type


def trace(m: Interpreter, op: Op) -> None:
    """Print what an op on a traced line gives, or gets if it gives nothing, for the first instances of the batch.

    Only values that are variables of the kernel have names to print.
    """
    names = {v.name: v for v in op.results or op.operands if v.name}
    if not names or op.loc is None:
        return
    batch = m.frame.batch
    limit = m.options.trace_programs
    out: list[str] = []
    for position in batch.positions()[:limit]:
        for name, tile, ty in _shown(m, names, position):
            out.append(
                f"{op.loc.file}:{op.loc.line} {batch.program(position)} {name} = {formatted(tile, ty)}\n"
            )
    if batch.count > limit:
        out.append(f"{op.loc.file}:{op.loc.line} ... and {batch.count - limit} more program instances\n")
    m.options.write("".join(out))


# ---- the prompt -----------------------------------------------------------------------------------------


def stop_at(m: Interpreter, op: Op) -> None:
    """``breakpoint()``: a prompt over the variables; without a terminal they are printed and the kernel goes on."""
    prompt = Prompt(m, op)
    if sys.stdin is not None and sys.stdin.isatty():
        prompt.cmdloop()
    else:
        prompt.onecmd("vars")


class Prompt(cmd.Cmd):
    """``breakpoint()`` in a kernel. Names are the kernel's variables as NumPy arrays, for one program instance."""

    def __init__(self, m: Interpreter, op: Op, stdin: Any = None) -> None:
        super().__init__(stdin=stdin, stdout=None)
        if stdin is not None:
            self.use_rawinput = False
        self.machine = m
        self.op = op
        self.position: Extents = (0, 0, 0)
        self.intro = self._where()
        self._set_prompt()

    def _write(self, text: str) -> None:
        self.machine.options.write(text + "\n")

    def _where(self) -> str:
        batch = self.machine.frame.batch
        place = f"{self.op.loc}" if self.op.loc is not None else self.machine.program.function.name
        more = f", {batch.count} instances stand here; `prog X Y Z` changes over" if batch.count > 1 else ""
        return f"breakpoint at {place}{more}. vars, p EXPR, c (continue), q (quit)"

    def _set_prompt(self) -> None:
        self.prompt = f"{self.machine.frame.batch.program(self.position)} > "

    def _namespace(self) -> dict[str, Any]:
        names = variables(self.machine)
        return {"np": np, **{name: tile for name, tile, _ in _shown(self.machine, names, self.position)}}

    def do_vars(self, _: str) -> None:
        """Print every variable."""
        for name, tile, ty in _shown(self.machine, variables(self.machine), self.position):
            self._write(f"{self.machine.frame.batch.program(self.position)} {name} = {formatted(tile, ty)}")

    def do_p(self, text: str) -> None:
        """p EXPR: print the value of a Python expression over the variables and np."""
        try:
            self._write(str(eval(text, self._namespace())))
        except Exception as error:
            self._write(f"{type(error).__name__}: {error}")

    def default(self, line: str) -> None:
        if line == "EOF":
            self._write("")
            self.cmdqueue.append("c")
            return
        self.do_p(line)

    def do_prog(self, text: str) -> None:
        """prog X Y Z: look at another of the program instances that stand here."""
        batch = self.machine.frame.batch
        try:
            wanted = [int(x) for x in text.replace(",", " ").split()]
        except ValueError:
            wanted = []
        wanted += [0] * (BATCH_AXES - len(wanted))
        for position in batch.positions():
            if list(batch.program(position)) == wanted:
                self.position = position
                self._set_prompt()
                return
        self._write(f"no instance {tuple(wanted)} stands here")

    def do_c(self, _: str) -> bool:
        """Go on with the kernel."""
        return True

    do_continue = do_c

    def do_q(self, _: str) -> None:
        """Stop the kernel."""
        raise KeyboardInterrupt

    do_quit = do_q

    def emptyline(self) -> bool:
        return False


__all__ = ["Prompt", "check", "print_values", "stop_at", "trace", "variables"]
