"""Binding a call's arguments to a kernel's parameters, by one generated function per kernel.

Python's own call protocol does the work: the generated function has the kernel's parameters and gives them back in
order, with whatever keywords are left (launch options). Only when that raises is the call taken apart again, to say
which argument is wrong.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tritium.errors import make_error
from tritium.ir.types import DType, dtype_named
from tritium.ops.handles import unwrap
from tritium.runtime.specialize import Rules

OPTIONS: dict[str, Any] = {
    "num_warps": 4,
    "num_stages": 3,
    "num_ctas": 1,
    "maxnreg": None,
    "enable_fp_fusion": True,
    "launch_cooperative_grid": False,
    "launch_pdl": False,
    "cluster_dims": (1, 1, 1),
    "debug": None,
    "sanitize_overflow": True,
    "ir_override": None,
    "extern_libs": None,
    "backend": None,
    "arch": None,
    "backend_name": None,
    "allowed_dot_input_precisions": None,
    "default_dot_input_precision": None,
    "deprecated_fp8_dot_operand_dtypes": None,
    "supported_fp8_dtypes": None,
    "max_num_imprecise_acc_default": None,
    "instrumentation_mode": None,
    "ptx_version": None,
    "ptx_options": None,
    "warp_size": 32,
    "minRegAutoWS": None,
    "maxRegAutoWS": None,
    "waves_per_eu": None,
    "matrix_instr_nonkdim": None,
    "kpack": None,
}
"""Launch options with their defaults. Those that only GPUs (or only AMD GPUs) read are accepted everywhere."""

_POWERS = {1, 2, 4, 8, 16, 32}


class Parameter:
    """One kernel parameter: where it stands, how it is annotated, how it is specialised."""

    def __init__(self, num: int, raw: inspect.Parameter, specialize: bool, align: bool) -> None:
        self.num = num
        self.name = raw.name
        self.default = raw.default
        self.kind = raw.kind
        self.has_default = raw.default is not inspect.Parameter.empty
        self.annotation = raw.annotation
        text = _annotation_text(raw.annotation)
        self.is_constexpr = "constexpr" in text
        self.is_const = not self.is_constexpr and (text in ("const", "tl.const") or text.startswith("*k"))
        self.do_not_specialize = not specialize
        self.do_not_specialize_on_alignment = not align
        fixed = None if self.is_constexpr or self.is_const else _fixed_type(raw.annotation, text)
        self.rules = Rules(raw.name, self.is_constexpr, fixed, self.is_const, specialize, align)

    @property
    def annotation_type(self) -> str:
        return self.rules.fixed.mangle() if self.rules.fixed else ""

    def __repr__(self) -> str:
        return f"<parameter {self.num} {self.name}>"


def _annotation_text(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    if isinstance(annotation, str):
        return annotation.strip("'\" ")
    return getattr(annotation, "__name__", "") or str(annotation)


_BY_ANNOTATION = {"int": "int32", "float": "fp32", "bool": "int1", "u1": "int1", "i1": "int1"}


def _fixed_type(annotation: Any, text: str) -> DType | None:
    if isinstance(annotation, DType):
        return annotation
    name = text.removeprefix("tl.").removeprefix("triton.language.")
    try:
        return dtype_named(_BY_ANNOTATION.get(name, name))
    except KeyError:
        return None  # torch.Tensor and other annotations say nothing about scalars


Bind = Callable[..., tuple[tuple[Any, ...], dict[str, Any]]]


def make_binder(name: str, parameters: list[Parameter]) -> Bind:
    """The function ``(*args, **kwargs) -> (values in parameter order, remaining keywords)``."""
    scope: dict[str, Any] = {}
    heads: list[str] = []
    for p in parameters:
        if p.kind is inspect.Parameter.VAR_POSITIONAL:
            heads.append(f"*{p.name}")
        elif p.has_default:
            scope[f"_default_{p.num}"] = p.default
            heads.append(f"{p.name}=_default_{p.num}")
        else:
            heads.append(p.name)
    names = "".join(f"{p.name}, " for p in parameters)
    exec(f"def bind({', '.join([*heads, '**_options'])}):\n    return ({names}), _options\n", scope)
    bind: Bind = scope["bind"]
    bind.__qualname__ = bind.__name__ = name
    return bind


def signature_text(parameters: Sequence[Parameter]) -> str:
    """The names of the parameters as a call would list them."""
    return f"({', '.join(p.name for p in parameters)})"


def explain_failure(
    name: str, parameters: list[Parameter], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Exception:
    """The catalogue error for a call that the binder refused."""
    plain = [p for p in parameters if p.kind is not inspect.Parameter.VAR_POSITIONAL]
    if len(args) > len(plain) and len(plain) == len(parameters):
        signature = signature_text(parameters)
        return make_error("TRI0701", function=name, expected=len(plain), got=len(args), signature=signature)
    for p in plain[: len(args)]:
        if p.name in kwargs:
            return make_error("TRI0710", function=name, name=p.name)
    missing = [p.name for p in plain[len(args) :] if not p.has_default and p.name not in kwargs]
    return make_error("TRI0703", function=name, name=", ".join(f"`{m}`" for m in missing))


def check_options(name: str, parameters: list[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """Launch options with defaults filled in. Raises for unknown names and impossible values."""
    out = dict(OPTIONS)
    for key, raw in given.items():
        if key not in OPTIONS:
            near = _nearest(key, [*(p.name for p in parameters), *OPTIONS])
            hint = f"did you mean `{near}`?" if near else None
            signature = signature_text(parameters)
            raise make_error("TRI0702", function=name, name=key, hint=hint, signature=signature)
        value = unwrap(raw)
        if key == "num_warps" and value not in _POWERS:
            raise make_error("TRI0713", name=key, got=repr(value), expected="1, 2, 4, 8, 16 or 32")
        if key in ("num_stages", "num_ctas") and (not isinstance(value, int) or value < (key == "num_ctas")):
            raise make_error("TRI0713", name=key, got=repr(value), expected="a positive integer")
        out[key] = value
    return out


def _nearest(name: str, known: list[str]) -> str:
    import difflib

    found = difflib.get_close_matches(name, known, 1)
    return found[0] if found else ""
