"""Calls of the device math library, random words, functions mapped over elements, and what kernels print and assert."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tritium.backends.cuda import memory, reductions, shared
from tritium.backends.cuda.groups import Statement
from tritium.backends.cuda.memory import all_of
from tritium.backends.cuda.registers import Coordinate, Held, Uniform
from tritium.backends.cuda.types import cpp_type
from tritium.ir.core import Op, Value
from tritium.ir.types import DType, PointerType, dtype_named
from tritium.ops.debug import DeviceAssert, DevicePrint
from tritium.ops.emit import Expr, binary, call
from tritium.ops.libdevice import LibraryCall
from tritium.ops.map import MapElementwise
from tritium.ops.random import Philox

if TYPE_CHECKING:
    from tritium.backends.cuda.emitter import Emitter

_BY_TYPE = {  # functions whose names do not follow the rule: by the type of the first argument
    "abs": {"i32": "abs", "i64": "llabs", "f32": "fabsf", "f64": "fabs"},
    "isnan": {"f32": "isnanf", "f64": "isnand"},
    "isinf": {"f32": "isinff", "f64": "isinfd"},
    "signbit": {"f32": "signbitf", "f64": "signbitd"},
    "clz": {"i32": "clz", "i64": "clzll"},
    "popc": {"i32": "popc", "i64": "popcll"},
    "ffs": {"i32": "ffs", "i64": "ffsll"},
    "brev": {"i32": "brev", "i64": "brevll"},
    "mulhi": {"i32": "mulhi", "u32": "umulhi", "i64": "mul64hi", "u64": "umul64hi"},
    "mul24": {"i32": "mul24", "u32": "umul24"},
    "hadd": {"i32": "hadd", "u32": "uhadd"},
    "rhadd": {"i32": "rhadd", "u32": "urhadd"},
    "sad": {"i32": "sad", "u32": "usad"},
}
_ROUNDED = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "div": "div",
    "rcp": "rcp",
    "sqrt": "sqrt",
    "rsqrt": "rsqrt",
}
_FORMATS = {"i1": "%d", "i8": "%d", "i16": "%d", "i32": "%d", "u8": "%u", "u16": "%u", "u32": "%u", "i64": "%lld",
            "u64": "%llu"}  # fmt: skip


def symbol(function: str, arguments: Sequence[str]) -> str:
    """The name of a function of libdevice for arguments of these formats."""
    first = arguments[0]
    if function in _BY_TYPE:
        return f"__nv_{_BY_TYPE[function][first]}"
    if function == "pow" and arguments[1] == "i32":
        function = "powi"
    stem, _, rounding = function.rpartition("_")
    if rounding in ("rn", "rz", "rd", "ru"):
        if stem == "fma":
            return f"__nv_fma{'f' if first == 'f32' else ''}_{rounding}"
        if stem in _ROUNDED:
            return f"__nv_{'f' if first == 'f32' else 'd'}{stem}_{rounding}"
        return f"__nv_{function}"
    named = function.startswith("fast_") or function in (
        "saturatef",
        "rcp64h",
        "finitef",
        "isfinited",
        "byte_perm",
    )
    converts = any(part in function for part in ("_as_", "2", "int2double")) and function not in (
        "exp2",
        "log2",
        "atan2",
    )
    if named or converts:
        return f"__nv_{function}"
    floats = [a for a in arguments if a in ("f32", "f64")]
    return f"__nv_{function}{'f' if floats and floats[0] == 'f32' else ''}"


def call_library(e: Emitter, op: Op, *x: Expr) -> Expr:
    assert isinstance(op, LibraryCall)
    variant = op.variant
    name = symbol(op.function, variant.arguments)
    truth = variant.result == "i1"
    result = "int" if truth else cpp_type(dtype_named(variant.result))
    kinds = ", ".join(cpp_type(dtype_named(a)) for a in variant.arguments)
    e.declared[name] = f'extern "C" __device__ {result} {name}({kinds});'
    out = call(name, *x)
    return binary("!=", out, Expr("0")) if truth else out


def several(e: Emitter, op: Op, lines: Callable[[Coordinate, Sequence[Held]], list[str]]) -> None:
    """An op of several results, element by element: `lines` set the registers of the results."""
    if not op.results[0].type.shape:
        e.flush()
        e.w.at(op.loc)
        for r in op.results:
            name = e.names.of(r)
            e.w.line(f"{e.type(r.type.scalar)} {name};")  # type: ignore[arg-type]
            e.held[r] = Uniform(Expr(name))
        e.w.all(lines((), [e.held[r] for r in op.results]))
        return
    layout = e.layout(op.results[0])
    group = e.group_for(layout)
    for v in op.operands:
        e.need(v, group)
    targets = [e.local(r, layout) for r in op.results]
    for r in op.results:
        e.placed[r] = group
    group.ops.add(op)
    group.arrays += targets
    group.statements.append(Statement(op.loc, layout.register_shape, lambda index: lines(index, targets)))


def philox(e: Emitter, op: Op) -> None:
    assert isinstance(op, Philox)

    def lines(index: Coordinate, targets: Sequence[Held]) -> list[str]:
        words = [t.at(index) for t in targets]
        counter = [e.text(v, index) for v in op.operands[:4]]
        key = [e.text(v, index) for v in op.operands[4:]]
        made = [f"{w} = {c};" for w, c in zip(words, counter, strict=True)]
        return [*made, f"{e.helper('philox', *words, *key, str(op.rounds))};"]

    several(e, op, lines)


def map_elements(e: Emitter, op: Op) -> None:
    assert isinstance(op, MapElementwise)
    if op.pack != 1:
        e.unsupported(op, f" in packs of {op.pack}")
    function = reductions.region_function(e, op.body)

    def lines(index: Coordinate, targets: Sequence[Held]) -> list[str]:
        operands = [e.text(v, index) for v in op.inputs]
        return [f"{call(function, *operands, *(t.at(index) for t in targets))};"]

    several(e, op, lines)


# ---- debugging -----------------------------------------------------------------------------------


def assertion(e: Emitter, op: Op) -> None:
    assert isinstance(op, DeviceAssert)
    e.declared["__assertfail"] = (
        'extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, decltype(sizeof(0)));'
    )
    loc = op.loc
    where = [
        json.dumps(loc.file if loc else "?"),
        str(loc.line if loc else 0),
        json.dumps(loc.function if loc else "?"),
    ]
    fail = f"__assertfail({json.dumps(op.message or 'device_assert')}, {', '.join(where)}, 1);"

    def lines(index: Coordinate) -> list[str]:
        conditions = [Expr(f"!{e.text(op.condition, index).within(15)}", 15)]
        conditions += [e.text(op.mask, index)] if op.mask is not None else []
        conditions += memory.inside(e, e.layout(op.condition), index) if op.condition.type.shape else []
        return [f"if ({all_of(conditions)}) {fail}"]

    _each_element(e, op, op.condition, lines)


def print_values(e: Emitter, op: Op) -> None:
    """A line for each element: program ids, position in the tile, prefix, value."""
    assert isinstance(op, DevicePrint)
    program = "(int)blockIdx.x, (int)blockIdx.y, (int)blockIdx.z"
    if not op.values:
        e.flush()
        e.w.at(op.loc)
        e.w.line(
            f"if (threadIdx.x == 0) printf({_quoted(f'pid (%d, %d, %d) {_plain(op.prefix)}')}, {program});"
        )
    for v in op.values:
        _print(e, op, v, program)


def _print(e: Emitter, op: DevicePrint, value: Value, program: str) -> None:
    shape = value.type.shape
    places = f" idx ({', '.join('%d' for _ in shape)})" if shape else ""
    form, convert = _format(e, value, op.hex)
    text = _quoted(f"pid (%d, %d, %d){places} {_plain(op.prefix)}: {form}")

    def lines(index: Coordinate) -> list[str]:
        at = [str(p) for p in shared.place(e, e.layout(value), index)] if shape else []
        conditions = (
            [*memory.first_of_replicas(e, e.layout(value)), *memory.inside(e, e.layout(value), index)]
            if shape
            else [Expr("threadIdx.x == 0", 9)]
        )
        out = f"printf({', '.join([text, program, *at, convert(e.text(value, index))])});"
        return [f"if ({all_of(conditions)}) {out}" if conditions else out]

    _each_element(e, op, value, lines)


def _format(e: Emitter, value: Value, as_hex: bool) -> tuple[str, Callable[[Expr], str]]:
    """The format of printf, and how the element is passed to it."""
    scalar = value.type.scalar
    if isinstance(scalar, PointerType):
        return "%p", str
    assert isinstance(scalar, DType)
    if scalar.is_floating():
        return "%f", lambda x: f"(double){e.widened(x, scalar).within(15)}"
    if as_hex:
        digits = scalar.primitive_bitwidth // 4 or 1
        return f"0x%0{digits}llx", lambda x: f"(unsigned long long){x.within(15)}"
    return _FORMATS[scalar.text], lambda x: f"({cpp_type(scalar)}){x.within(15)}"


def _each_element(e: Emitter, op: Op, value: Value, lines: Callable[[Coordinate], list[str]]) -> None:
    """`lines` for every register of `value`, in order with everything else."""
    if not value.type.shape:
        e.flush()
        e.w.at(op.loc)
        e.w.all(lines(()))
        return
    layout = e.layout(value)
    group = e.group_for(layout, stores=True)
    for v in op.operands:
        e.need(v, group)
    group.ops.add(op)
    group.statements.append(Statement(op.loc, layout.register_shape, lines))
    e.flush()


def _plain(prefix: str) -> str:
    return prefix.rstrip().rstrip(":").replace("%", "%%")


def _quoted(text: str) -> str:
    return json.dumps(text + "\n")
