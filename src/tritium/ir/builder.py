"""Where new ops go: an insertion region, a location, and the act of appending."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TypeVar

from tritium.errors import Loc
from tritium.ir.core import Op, Region

OpT = TypeVar("OpT", bound=Op)


class Builder:
    """Appends ops to `region` (or inserts them before `anchor`), stamping `loc` on those that have none."""

    def __init__(self, region: Region, loc: Loc | None = None) -> None:
        self.region = region
        self.loc = loc
        self.anchor: Op | None = None

    def insert(self, op: OpT) -> OpT:
        if op.loc is None:
            op.loc = self.loc
        if self.anchor is not None:
            self.region.insert_before(self.anchor, op)
        else:
            self.region.append(op)
        return op

    @contextmanager
    def into(self, region: Region) -> Generator[Region]:
        """Within the block, new ops go to the end of `region`."""
        saved = self.region, self.anchor
        self.region, self.anchor = region, None
        try:
            yield region
        finally:
            self.region, self.anchor = saved

    @contextmanager
    def before(self, op: Op) -> Generator[None]:
        """Within the block, new ops go in front of `op`."""
        saved = self.region, self.anchor
        assert op.parent is not None
        self.region, self.anchor = op.parent, op
        try:
            yield
        finally:
            self.region, self.anchor = saved

    @contextmanager
    def at(self, loc: Loc | None) -> Generator[None]:
        """Within the block, new ops carry `loc`."""
        saved = self.loc
        self.loc = loc if loc is not None else saved
        try:
            yield
        finally:
            self.loc = saved
