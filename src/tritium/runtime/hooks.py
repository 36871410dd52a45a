"""What the knobs ``jit_cache_hook`` and ``jit_post_compile_hook`` are told, and kernels from such data (``preload``)."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tritium.errors import make_error
from tritium.frontend.source import JitCallable
from tritium.ir.types import DType, dtype_named
from tritium.ops.handles import constexpr
from tritium.runtime.ast_source import ASTSource, source_of
from tritium.runtime.options import OPTIONS
from tritium.runtime.specialize import Specs
from tritium.runtime.type_names import tuples_of

if TYPE_CHECKING:
    from tritium.runtime.jit import JITFunction

_SHOWN = ("num_warps", "num_ctas", "num_stages", "enable_fp_fusion", "launch_cooperative_grid")


@dataclass
class JitFunctionInfo:
    """Which kernel a hook is called for."""

    module: ModuleType | str
    name: str
    jit_function: Any


def call_hook(
    hook: Any, fn: JITFunction, key: str, specs: Specs, options: dict[str, Any], device: int, is_warmup: bool
) -> bool:
    """Tell `hook` about a compilation. Whether it answered that this need not be compiled."""
    source = source_of(fn, specs)
    arguments = ", ".join(f"{name}: {ty}" for name, ty in source.signature.items())
    shown = ", ".join(f"{name}={options[name]}" for name in _SHOWN)
    told = {
        "key": key,
        "signature": source.signature,
        "device": device,
        "constants": source.constants,
        **{name: options[name] for name in _SHOWN},
        "extern_libs": options["extern_libs"],
        "configs": [source.attrs],
        "specialization_data": specialization_data(fn, source, options, key),
        "is_warmup": is_warmup,
    }
    answer = hook(
        key=key,
        repr=f"{fn.__qualname__}[{shown}]({arguments})",
        fn=JitFunctionInfo(fn.module, fn.__qualname__, fn),
        compile=told,
        is_manual_warmup=is_warmup,
        already_compiled=False,
    )
    return bool(answer)


# ---- specialisation data -----------------------------------------------------------------------------


def specialization_data(fn: JITFunction, source: ASTSource, options: dict[str, Any], key: str) -> str:
    """One specialisation as JSON, for ``kernel.preload`` in another process."""
    return json.dumps(
        {
            "name": fn.source.qualified_name,
            "signature": source.signature,
            "constant_keys": [list(path) for path in source.constants],
            "constant_vals": [_plain(value) for value in source.constants.values()],
            "attrs_keys": [list(path) for path in source.attrs],
            "attrs_vals": list(source.attrs.values()),
            "options": {k: v for k, v in options.items() if k in OPTIONS},
            "key": key,
        },
        default=str,
    )


def _plain(value: Any) -> Any:
    if isinstance(value, DType):
        return {"dtype": value.name}
    if isinstance(value, constexpr):
        return {"constexpr": _plain(value.value)}
    if isinstance(value, JitCallable):
        return {"function": [value.fn.__module__, value.fn.__qualname__]}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return {"unreadable": f"{type(value).__name__} {value!r}"}


def _restored(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_restored(item) for item in value)
    if not isinstance(value, dict):
        return value
    if "dtype" in value:
        return dtype_named(value["dtype"])
    if "constexpr" in value:
        return constexpr(_restored(value["constexpr"]))
    if "function" in value:
        module, path = value["function"]
        found: Any = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
        return found
    raise ValueError(f"the constant {value.get('unreadable', value)} was not stored")


def read_specialization(fn: JITFunction, text: str) -> tuple[ASTSource, dict[str, Any]]:
    """The source and options in specialisation data. LaunchError if it is not of this kernel or damaged."""
    name = fn.source.qualified_name
    try:
        found = json.loads(text)
        if found["name"] != name:
            raise ValueError(f"it is for {found['name']}")
        constants = {
            tuple(path): _restored(value)
            for path, value in zip(found["constant_keys"], found["constant_vals"], strict=True)
        }
        attrs = dict(zip(map(tuple, found["attrs_keys"]), found["attrs_vals"], strict=True))
        signature = {key: tuples_of(value) for key, value in found["signature"].items()}
        options = {key: tuples_of(value) for key, value in found["options"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, ImportError) as broken:
        raise make_error("TRI0716", function=name, problem=str(broken)) from None
    return ASTSource(fn, signature, constants, attrs), options
