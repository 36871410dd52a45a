"""``--signature``: the types of a kernel's parameters as text.

::

    "*fp32:16, *fp32, i32, BLOCK=128"

One entry per parameter, in order or as NAME=ENTRY; parameters with defaults may be left out. An entry is

==============================  ========================================================================
``*fp32``, ``i32``, ``fp16``    the type of a run-time argument
``*fp32:16``, ``i32:16``        the same with the promise that it is aligned to, or divisible by, 16
``128``, ``None``, ``"fast"``   a compile-time value, as Python writes it
``fp16`` for a constexpr        a type, or a kernel of the file by its name
``(*fp32, i32)``                a tuple of entries
``tensordesc<fp16[64,32]>``     a tensor descriptor made on the host
==============================  ========================================================================
"""

from __future__ import annotations

import ast
from typing import Any

from tritium.errors import make_error
from tritium.frontend.signature import DescriptorOf, RunTime, Signature, parse_type
from tritium.ir.types import DType
from tritium.runtime.binder import KernelParam, signature_text
from tritium.runtime.jit import JITFunction
from tritium.runtime.specialize import DescriptorArg, RuntimeArg, Spec, Specs, TupleArg, const_arg, specialize


def parse_signature(kernel: JITFunction, text: str) -> Specs:
    """The specs that `text` says for the parameters of `kernel`. ArgumentError for text that is no signature of it."""
    by_name: dict[str, str] = {}
    names = kernel.arg_names
    for position, entry in enumerate(_entries(text)):
        name, separator, rest = entry.partition("=")
        named = bool(separator) and name.strip().isidentifier()
        if named and name.strip() not in names:
            raise _unreadable(kernel, text, f"`{name.strip()}` is no parameter")
        if not named and position >= len(names):
            raise _unreadable(kernel, text, f"it has more entries than the {len(names)} parameters")
        key = name.strip() if named else names[position]
        if key in by_name:
            raise _unreadable(kernel, text, f"`{key}` is there twice")
        by_name[key] = rest.strip() if named else entry
    return tuple((p.name, _parameter(kernel, p, by_name, text)) for p in kernel.params)


def _parameter(kernel: JITFunction, p: KernelParam, by_name: dict[str, str], text: str) -> Spec:
    entry = by_name.get(p.name)
    if entry is None:
        if not p.has_default:
            raise _unreadable(kernel, text, f"`{p.name}` has no entry")
        return specialize(p.default, p.rules)
    return _constant(kernel, p, entry, text) if p.is_constexpr else _entry(kernel, p, entry, text)


def _unreadable(kernel: JITFunction, text: str, problem: str) -> Exception:
    signature = signature_text(kernel.params)
    return make_error("TRI0906", text=text, function=kernel.__name__, problem=problem, signature=signature)


def _entries(text: str) -> list[str]:
    """`text` cut at its commas, but not at those inside brackets or quotes."""
    out: list[str] = []
    depth, quote, current = 0, "", ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        depth += (character in "([{<") - (character in ")]}>") if not quote else 0
        if character == "," and depth == 0 and not quote:
            out.append(current.strip())
            current = ""
        else:
            current += character
    return [*out, current.strip()] if current.strip() or out else []


def _constant(kernel: JITFunction, p: KernelParam, entry: str, text: str) -> Spec:
    try:
        return const_arg(ast.literal_eval(entry), p.name)
    except (ValueError, SyntaxError):
        pass
    try:
        return const_arg(parse_type(entry.removeprefix("tl.")), p.name)
    except ValueError:
        pass
    found = kernel.__globals__.get(entry)
    if found is None:
        raise _unreadable(kernel, text, f"{entry!r} is no value for the compile-time parameter `{p.name}`")
    return const_arg(found, p.name)


def _entry(kernel: JITFunction, p: KernelParam, entry: str, text: str) -> Spec:
    if entry.startswith("(") and entry.endswith(")"):
        return TupleArg(tuple(_entry(kernel, p, inner, text) for inner in _entries(entry[1:-1])))
    kind, _, promise = entry.partition(":")
    if promise and promise.strip() != "16":
        raise _unreadable(kernel, text, f"{entry!r}: the promise after the colon can only be 16")
    try:
        parsed: Any = Signature.parse([p.name], {p.name: kind.strip()}).arguments[0][1]
    except (ValueError, KeyError):
        return _literal(kernel, p, entry, text)
    if isinstance(parsed, DescriptorOf):
        return DescriptorArg(parsed.element, parsed.block_shape, parsed.padding)
    assert isinstance(parsed, RunTime)
    if isinstance(parsed.type, DType) and promise and not parsed.type.is_int():
        raise _unreadable(kernel, text, f"{entry!r}: only integers and pointers can be divisible by 16")
    return RuntimeArg(parsed.type, bool(promise))


def _literal(kernel: JITFunction, p: KernelParam, entry: str, text: str) -> Spec:
    try:
        value = ast.literal_eval(entry)
    except (ValueError, SyntaxError):
        raise _unreadable(kernel, text, f"{entry!r} is neither a type nor a literal") from None
    return const_arg(value, p.name)
