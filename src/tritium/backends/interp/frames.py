"""Values at run time: frames hold them, activations are regions being executed on a frame."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from tritium.backends.interp.batch import Batch, Selection
from tritium.backends.interp.program import RegionPlan
from tritium.ir.core import Value
from tritium.ops.gpu_memory import SharedMemory

Steps = Generator[Any, Any, list[Any]]


class Frame(dict[Value, Any]):
    """The values of one batch. A value of the enclosing batch is brought over when it is first read.

    shared   in the outermost frame of an instance that has used it, its shared memory
    """

    __slots__ = ("batch", "parent", "selection", "shared")

    def __init__(self, batch: Batch, parent: Frame | None = None, selection: Any = None) -> None:
        super().__init__()
        self.batch = batch
        self.shared: SharedMemory | None = None
        self.parent = parent
        self.selection = selection  # takes values of the parent's batch to values of this one

    def __missing__(self, value: Value) -> Any:
        inner: list[Frame] = []
        frame: Frame = self
        while value not in frame:
            inner.append(frame)
            if frame.parent is None:
                raise KeyError(value)
            frame = frame.parent
        found = dict.__getitem__(frame, value)
        for below in reversed(inner):
            found = below.selection.take(found)
            below[value] = found
        return found

    def narrowed(self, selection: Selection) -> Frame:
        """A frame for the selected instances only."""
        return Frame(self.batch.select(selection), self, selection)


class Activation:
    """A region being executed: its plan, its frame, and the step that comes next."""

    __slots__ = ("at", "frame", "plan", "waiting")

    def __init__(self, plan: RegionPlan, frame: Frame, args: Sequence[Any] = ()) -> None:
        self.plan = plan
        self.frame = frame
        self.at = 0
        self.waiting: Steps | None = None  # what the step before `at` needs driven
        if args:
            frame.update(zip(plan.args, args, strict=True))

    @property
    def done(self) -> bool:
        return self.waiting is None

    def finish(self, results: Sequence[Any]) -> None:
        """The step that was driven has ended with `results`."""
        step = self.plan.steps[self.at - 1]
        frame = self.frame
        if step.results:
            frame.update(zip(step.results, results, strict=True))
        for value in step.dead:
            frame.pop(value, None)

    def results(self) -> list[Any]:
        """What the region yields, once it has run to its end."""
        return [self.frame[v] for v in self.plan.yields]
