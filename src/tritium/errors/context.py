"""Give a location to errors raised by code that knows none."""

from __future__ import annotations

from types import TracebackType

from tritium.errors.exceptions import TritiumError
from tritium.errors.location import Loc


class UserErrorContext:
    """`with UserErrorContext(loc):` stamps `loc` onto a TritiumError that leaves the block without one.

    Type rules, analyses and the runtime raise what is wrong; whoever walks the user's source knows where.
    The innermost context wins.
    """

    __slots__ = ("loc",)

    def __init__(self, loc: Loc | None) -> None:
        self.loc = loc

    def __enter__(self) -> UserErrorContext:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, TritiumError) and error.loc is None:
            error.loc = self.loc
