"""The exception classes: one base that carries code, location and remedy, and the classes programs catch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tritium.errors.location import Loc
from tritium.errors.render import render


def _text(value: object) -> str | None:
    return None if value is None else str(value)


class TritiumError(Exception):
    """Base of every error that Tritium raises for something a user can mend.

    `code` is the stable catalogue code ("" for an error built by hand), `loc` the place in the user's source,
    `expected` and `got` what was wanted and what came, `hint` what to do, `notes` further sentences, `fields`
    the values that filled the message. `str()` is the full rendering with the source excerpt.
    """

    code: str
    message: str
    loc: Loc | None
    expected: str | None
    got: str | None
    hint: str | None
    notes: tuple[str, ...]
    fields: dict[str, Any]

    def __init__(
        self,
        message: str = "",
        *,
        code: str = "",
        loc: Loc | None = None,
        expected: object = None,
        got: object = None,
        hint: str | None = None,
        notes: Iterable[str] = (),
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.loc = loc
        self.expected = _text(expected)
        self.got = _text(got)
        self.hint = hint
        self.notes = tuple(notes)
        self.fields = {name: _plain(value) for name, value in (fields or {}).items()}

    @classmethod
    def from_fields(cls, message: str, fields: Mapping[str, Any], **rest: Any) -> TritiumError:
        """Build the error from a filled message; classes with own constructor arguments override it."""
        return cls(message, fields=fields, **rest)

    def to_json(self) -> dict[str, Any]:
        """Every field as plain JSON values, for editors and other tools."""
        return {
            "code": self.code,
            "class": type(self).__name__,
            "message": self.message,
            "loc": None if self.loc is None else self.loc.to_json(),
            "expected": self.expected,
            "got": self.got,
            "hint": self.hint,
            "notes": list(self.notes),
            "fields": dict(self.fields),
        }

    def __str__(self) -> str:
        return render(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, self.__dict__.copy())


def _plain(value: object) -> object:
    """Values that pickle and turn into JSON as they are; anything else as its text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value)


def _rebuild(cls: type[TritiumError], args: tuple[Any, ...], state: dict[str, Any]) -> TritiumError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class CompilationError(TritiumError):
    """The kernel's source does not form a valid kernel for these arguments."""


class CompileTimeAssertionFailure(CompilationError):
    """A `tl.static_assert` is false."""


class UnsupportedLanguageConstruct(CompilationError):
    """A Python construct that has no meaning inside a kernel."""


class SourceUnavailableError(CompilationError, OSError, ValueError):
    """The source text of a function cannot be had: OSError as from `inspect`, ValueError as from Triton."""


class OutsideKernelError(TritiumError, ValueError):
    """A function of the language was called by ordinary Python code; Triton raises ValueError."""


class ArgumentError(TritiumError, TypeError):
    """A launch argument that does not fit the kernel's parameter, or a call that does not bind."""


class ArgumentRangeError(ArgumentError, OverflowError):
    """A launch argument whose value does not fit any type its parameter can have."""


class UnknownOptionError(ArgumentError, KeyError):
    """A keyword at launch that is neither a parameter nor an option; Triton raises KeyError."""


class UnsupportedModuleError(TritiumError, ImportError):
    """A module of Triton that Tritium does not have."""


class UnsupportedNameError(TritiumError, AttributeError):
    """A name in a module of Triton that Tritium does not have."""


class LaunchError(TritiumError, RuntimeError):
    """The launch itself is impossible: grid, device, backend or kernel state."""


class InterpreterError(TritiumError):
    """The kernel did something while running that stops the execution."""


class DeviceAssertError(InterpreterError):
    """A `tl.device_assert` or `assert` is false for some element."""


class OutOfBoundsError(InterpreterError):
    """An access outside every array that the launch passed."""


class OutOfResources(TritiumError):
    """The kernel needs more of a hardware resource than the device has."""

    def __init__(self, required: int = 0, limit: int = 0, name: str = "", **rest: Any) -> None:
        message = rest.pop("message", None) or (
            f"out of resource: {name} (required: {required}, hardware limit: {limit})"
        )
        super().__init__(message, **rest)
        self.required = required
        self.limit = limit
        self.name = name

    @classmethod
    def from_fields(cls, message: str, fields: Mapping[str, Any], **rest: Any) -> TritiumError:
        required, limit = fields.get("required", 0), fields.get("limit", 0)
        return cls(required, limit, str(fields.get("name", "")), message=message, fields=fields, **rest)


class AutotunerError(TritiumError):
    """Tuning cannot choose a configuration."""


class ConflictingParametersError(AutotunerError, ValueError):
    """A launch gives a parameter that the tuner's configurations set; Triton raises ValueError."""


class PTXASError(TritiumError):
    """The GPU assembler refused generated code."""
