"""Launch options: what ``kernel[grid](..., num_warps=8)`` may say besides the parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tritium.errors import make_error
from tritium.ops.handles import unwrap

OPTIONS: dict[str, Any] = {
    "num_warps": 4,
    "num_stages": 3,
    "num_ctas": 1,
    "maxnreg": None,
    "enable_fp_fusion": True,
    "enable_reflect_ftz": True,
    "launch_cooperative_grid": False,
    "launch_pdl": False,
    "cluster_dims": (1, 1, 1),
    "debug": False,
    "sanitize_overflow": True,
    "ir_override": None,
    "extern_libs": None,
    "backend": None,
    "arch": None,
    "backend_name": None,
    "allowed_dot_input_precisions": ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"),
    "default_dot_input_precision": None,
    "deprecated_fp8_dot_operand_dtypes": (),
    "supported_fp8_dtypes": ("fp8e4b15", "fp8e4b8", "fp8e4nv", "fp8e5", "fp8e5b16"),
    "max_num_imprecise_acc_default": None,
    "instrumentation_mode": "",
    "ptx_version": None,
    "ptx_options": None,
    "warp_size": 32,
    "minRegAutoWS": None,
    "maxRegAutoWS": None,
    "allow_flush_denorm": False,
    "kpack": 1,
    "matrix_instr_nonkdim": 0,
    "schedule_hint": "none",
    "waves_per_eu": 0,
}
"""Options with their defaults. Those that only GPUs (or only AMD GPUs, the last five) read are accepted everywhere."""

REPLACED = {
    "device": "the arrays say where a kernel runs",
    "device_type": "the arrays say where a kernel runs",
    "stream": "a launch uses the current stream of its device",
    "num_buffers_warp_spec": "warp specialisation is planned by the compiler",
    "num_consumer_groups": "warp specialisation is planned by the compiler",
    "reg_dec_producer": "warp specialisation is planned by the compiler",
    "reg_inc_consumer": "warp specialisation is planned by the compiler",
}
"""Options of older versions of Triton, with what stands in their place."""

_POWERS = (1, 2, 4, 8, 16, 32)
_FLAGS = frozenset(name for name, default in OPTIONS.items() if isinstance(default, bool))


def check_options(name: str, parameters: Iterable[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Options for a launch of kernel `name`, defaults filled in. ArgumentError for unknown names and impossible values."""
    out = dict(OPTIONS)
    for key, raw in given.items():
        if key not in OPTIONS:
            raise _unknown(name, list(parameters), key)
        value = unwrap(raw)
        value = value.item() if isinstance(value, np.generic) else value
        _check(key, value)
        out[key] = OPTIONS[key] if value is None else value
    return out


def _unknown(name: str, parameters: list[str], key: str) -> Exception:
    signature = ", ".join(parameters)
    if key in REPLACED:
        hint = f"leave it out: {REPLACED[key]}"
        return make_error("TRI0702", function=name, name=key, hint=hint, signature=signature)
    near = nearest(key, [*parameters, *OPTIONS])
    hint = f"did you mean `{near}`?" if near else None
    return make_error("TRI0702", function=name, name=key, hint=hint, signature=signature)


def _check(key: str, value: Any) -> None:
    if value is None:
        return
    if key == "num_warps":
        _demand(key, value, type(value) is int and value in _POWERS, "1, 2, 4, 8, 16 or 32")
    elif key in ("num_stages", "num_ctas"):
        least = 1 if key == "num_ctas" else 0
        _demand(key, value, type(value) is int and value >= least, f"an integer of at least {least}")
    elif key == "maxnreg":
        _demand(key, value, type(value) is int and value > 0, "a positive integer or None")
    elif key in _FLAGS:
        _demand(key, value, isinstance(value, (bool, int)), "True or False")


def _demand(key: str, value: Any, holds: bool, expected: str) -> None:
    if not holds:
        raise make_error("TRI0713", name=key, got=repr(value), expected=expected)


def nearest(name: str, known: Iterable[str]) -> str:
    """The most similar of the known names, or ""."""
    import difflib

    known = list(known)
    found = difflib.get_close_matches(name, known, 1)
    if not found:  # BLOK for BLOCK_SIZE, block for BLOCK
        lower = {k.lower(): k for k in reversed(known)}
        found = [lower[n] for n in difflib.get_close_matches(name.lower(), lower, 1)]
    return found[0] if found else ""


def options_key(options: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """`options` as a key."""
    return tuple((k, v if _hashable(v) else repr(v)) for k, v in sorted(options.items()))


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
