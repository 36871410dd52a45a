"""What an op's ``execute`` may ask of the interpreter. The machine itself is `tritium.backends.interp`.

All arrays follow the convention of `tritium.ops.base`: three batch axes, then tile axes, extent 1 meaning "the same".
Methods whose name starts with ``run_`` are generators: an ``execute`` returns one (``return m.run_if(...)``) or
goes through it (``result = yield from m.run_if(...)``). What they yield is for the machine alone: the regions to run
next, and the places where the fair scheduler may switch to another program instance.

Arrays that the machine hands out are never written to, neither by ops nor by the machine.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tritium.ir.core import Op, Region
from tritium.ir.types import DType, PointerType
from tritium.ops.base import Array

if TYPE_CHECKING:
    from tritium.ops.gpu_memory import SharedMemory

Steps = Generator[Any, Any, list[Array]]


class Machine(Protocol):
    """The executing side of ops with effects or regions."""

    @property
    def batch(self) -> tuple[int, int, int]:
        """Extents of the batch axes: how many program instances run together."""
        ...

    def program_id(self, axis: int) -> Array: ...

    def num_programs(self, axis: int) -> Array: ...

    def load(
        self,
        op: Op,
        ptr: Array,
        mask: Array | None,
        other: Array | None,
        element: DType | PointerType | None = None,
    ) -> Array:
        """The elements at byte addresses `ptr`, of type `element` (by default what the op's first operand points at).

        `mask` and `other` broadcast against `ptr`; dead lanes touch no memory and give `other`, else zero.
        """
        ...

    def store(
        self, op: Op, ptr: Array, value: Array, mask: Array | None, element: DType | PointerType | None = None
    ) -> None:
        """Write the live lanes; where lanes share an address, the last one in program and lane order wins."""
        ...

    def atomic_rmw(self, op: Op, kind: str, ptr: Array, value: Array, mask: Array | None) -> Array:
        """Apply `kind` (add, max, umax, fadd, xchg, ...) per lane; every lane counts. Returns the old values.

        Lanes apply in order of program ids, then in lane order. Dead lanes give zero.
        """
        ...

    def atomic_cas(self, op: Op, ptr: Array, compare: Array, value: Array) -> Array: ...

    def barrier(self, op: Op) -> None: ...

    def shared_memory(self) -> SharedMemory:
        """The shared memory of the program instance that runs; machine IR runs one instance at a time."""
        ...

    def print_values(self, op: Op, prefix: str, values: Sequence[Array], **how: Any) -> None: ...

    def check(self, op: Op, condition: Array, message: str, mask: Array | None) -> None:
        """device_assert: raise for the first lane that fails, naming it."""
        ...

    def breakpoint(self, op: Op) -> None: ...

    def apply_region(self, region: Region, args: Sequence[Array]) -> list[Array]:
        """Run a combine region on scalars held as arrays of one shape, elementwise; control flow allowed.

        The first three axes are the batch axes; any others are lanes. Gives arrays of the joint shape.
        """
        ...

    def run_if(self, op: Op, condition: Array) -> Steps: ...

    def run_for(self, op: Op, lower: Array, upper: Array, step: Array, inits: Sequence[Array]) -> Steps: ...

    def run_while(self, op: Op, inits: Sequence[Array]) -> Steps: ...
