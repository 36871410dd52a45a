"""Binding a call's arguments to a kernel's parameters, by one generated function per kernel.

Python's own call protocol does the work: the generated function has the kernel's parameters and gives them back in
order, with whatever keywords are left (launch options). Only when that raises is the call taken apart again, to say
which argument is wrong.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from tritium.errors import make_error
from tritium.runtime.classify import Classifier, classifier_of
from tritium.runtime.options import OPTIONS, nearest
from tritium.runtime.specialize import Rules
from tritium.runtime.type_names import annotated_type, normalized_annotation


class KernelParam:
    """One kernel parameter: where it stands, how it is annotated, how it is specialised.

    annotation       as text, a type by its short name (``i64``, ``*fp16``); "" without one
    annotation_type  the same where it fixes the type of the argument, else ""
    """

    def __init__(
        self,
        num: int,
        param: inspect.Parameter,
        do_not_specialize: bool,
        do_not_specialize_on_alignment: bool,
    ) -> None:
        self.num = num
        self.name = param.name
        self.default = param.default
        self.kind = param.kind
        self.has_default = param.default is not inspect.Parameter.empty
        empty = param.annotation is inspect.Parameter.empty or param.annotation is None
        text = "" if empty else normalized_annotation(param.annotation)
        self.annotation = text
        self.is_constexpr = "constexpr" in text
        self.is_const = not self.is_constexpr and ("const" in text or text.startswith("*k"))
        self.do_not_specialize = do_not_specialize
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment
        fixed = None if self.is_constexpr else annotated_type(text)
        self.annotation_type = text if fixed is not None else ""
        self.rules = Rules(
            *(param.name, self.is_constexpr, fixed, self.is_const),
            specialize=not do_not_specialize,
            align=not do_not_specialize_on_alignment,
        )

    @cached_property
    def classify(self) -> Classifier:
        """What an argument contributes to the launch key."""
        return classifier_of(self.rules)

    def __repr__(self) -> str:
        return f"<parameter {self.num} {self.name}>"


Bind = Callable[..., tuple[tuple[Any, ...], dict[str, Any]]]


def make_binder(name: str, parameters: Sequence[KernelParam]) -> Bind:
    """The function ``(*args, **kwargs) -> (values in parameter order, remaining keywords)``."""
    scope: dict[str, Any] = {}
    heads: list[str] = []
    starred = False
    for p in parameters:
        if p.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
            heads.append("*")
            starred = True
        if p.kind is inspect.Parameter.VAR_POSITIONAL:
            heads.append(f"*{p.name}")
            starred = True
        elif p.has_default:
            scope[f"__default_{p.num}__"] = p.default
            heads.append(f"{p.name}=__default_{p.num}__")
        else:
            heads.append(p.name)
    names = "".join(f"{p.name}, " for p in parameters)
    rest = "__keywords_left__"
    exec(f"def bind({', '.join([*heads, f'**{rest}'])}):\n    return ({names}), {rest}\n", scope)
    bind: Bind = scope["bind"]
    bind.__qualname__ = bind.__name__ = name
    return bind


def signature_text(parameters: Sequence[KernelParam]) -> str:
    """The parameters as an error shows them."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*"}
    return ", ".join(stars.get(p.kind, "") + p.name for p in parameters)


def explain_failure(
    name: str, parameters: Sequence[KernelParam], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Exception:
    """The catalogue error for a call that the binder refused."""
    signature = signature_text(parameters)
    positional = [
        p
        for p in parameters
        if p.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.KEYWORD_ONLY)
    ]
    variadic = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)
    if len(args) > len(positional) and not variadic:
        return make_error(
            "TRI0701", function=name, expected=len(positional), got=len(args), signature=signature
        )
    for p in positional[: len(args)]:
        if p.name in kwargs:
            return make_error("TRI0710", function=name, name=p.name)
    known = {p.name for p in parameters}
    given = known & kwargs.keys() | {p.name for p in positional[: len(args)]}
    missing = [
        p.name
        for p in parameters
        if not p.has_default and p.name not in given and p.kind is not inspect.Parameter.VAR_POSITIONAL
    ]
    for keyword in kwargs:
        near = nearest(keyword, missing) if keyword not in known and keyword not in OPTIONS else ""
        if near:
            hint = f"did you mean `{near}`?"
            return make_error("TRI0702", function=name, name=keyword, hint=hint, signature=signature)
    shown = " and ".join(f"`{m}`" for m in missing)
    example = f"pass it by position or as {missing[0]}=..." if len(missing) == 1 else None
    hint = example or f"pass each by position or by name; the parameters are {signature}"
    return make_error("TRI0703", function=name, name=shown, hint=hint, signature=signature)
