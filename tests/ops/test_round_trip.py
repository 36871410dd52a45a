"""Every op of creation, shape, reduction, products, randomness and debugging survives text, clone, verifier and passes."""

from __future__ import annotations

import numpy as np
import pytest

from ops.emulate import Kernel
from tritium.errors import TritiumError
from tritium.ir.parser import parse_function
from tritium.ir.printer import print_function
from tritium.ir.types import bfloat16, float32, int32, uint8
from tritium.ir.verify import verify
from tritium.ops.base import REGISTRY
from tritium.ops.combine import check_isolated
from tritium.ops.control import Return
from tritium.ops.map import MapElementwise
from tritium.ops.reduce import Reduce
from tritium.ops.surface import OPERATORS
from tritium.passes import eliminate_common, hoist_invariants

MODULES = (
    *("create", "shape", "reshape", "join", "index", "reduce", "scan", "sort", "gather", "histogram"),
    *("dot", "dot_scaled", "random", "debug", "hints", "map"),
)


def shapes(k, x, f, i):
    k.tl("broadcast_to", k.tl("expand_dims", x, 0), 4, 2, 3)
    for name, *args in (("reshape", 6), ("trans",), ("flip", 0)):
        k.tl(name, x, *args)
    k.tl("split", k.tl("join", x, x))
    k.tl("cat", x, x, dim=1)
    k.tl("internal.getitem", x, (i, slice(0, 3, 2)))
    k.tl("empty", (2,), float32)
    k.tl("program_id", 0)
    k.tl("num_programs", 1)


def combinations(k, x, f, i):
    k.tl("sum", f, 1)
    k.tl("max", f, 1, return_indices=True)
    k.tl("cumsum", f, 0, reverse=True)
    k.tl("sort", f)
    k.tl("topk", f, 2)
    k.tl("gather", x, x, 1)
    k.tl("histogram", k.tl("ravel", x), 4, mask=True)
    k.tl("map_elementwise", lambda s, a, b: (b, a), k.tl("join", x, x), pack=2)


def products(k, x, f, i):
    k.tl("dot", f, k.tl("trans", f))
    k.tl("dot", f, k.tl("trans", f), acc=k.tl("zeros", (2, 2), float32), input_precision="tf32x3")
    a, b = k.arg(np.ones((2, 32)), bfloat16), k.arg(np.ones((32, 2)), bfloat16)
    k.tl("dot_scaled", a, k.arg([[1], [1]], uint8), "bf16", b, None, "bf16")
    k.tl("rand", 1, x)


def debugging(k, x, f, i):
    k.tl("device_print", 'a "b": \n', x, f, hex=True)
    k.tl("device_assert", True, "m", mask=True)
    k.tl("debug_barrier")
    k.tl("builtin.breakpoint")
    k.tl("assume", True)
    k.tl("multiple_of", x, (1, 8))
    k.tl("expect_zero", x, True)


GROUPS = (shapes, combinations, products, debugging)


def built(*groups):
    k = Kernel(debug=True)
    x, f = k.arg(np.arange(6).reshape(2, 3), int32), k.arg(np.arange(6).reshape(2, 3), float32)
    i = k.arg(1, int32)
    for group in groups:
        group(k, x, f, i)
    k.s.emit(Return)
    return k


def test_every_op_is_here():
    names = {op.name for op in built(*GROUPS).function.walk()}
    mine = {n for n, op in REGISTRY.items() if op.__module__.split(".")[-1] in MODULES}
    assert mine <= names


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: g.__name__)
def test_text_clone_and_verifier(group):
    function = built(group).function
    text = print_function(function)
    assert print_function(parse_function(text, REGISTRY)) == text
    assert print_function(function.clone()) == text
    verify(function, level="total")


def scaled_sum(s, a, b):
    return OPERATORS["+"](s, OPERATORS["*"](s, a, 2.5), b)


def test_common_values_stay_out_of_combine_regions():
    """The constant outside is the same as the one inside, and the region must keep its own."""
    k = Kernel()
    x = k.arg(np.arange(6).reshape(2, 3), float32)
    k.operator("*", k.s.scalar(2.5, float32), k.s.scalar(3.0, float32))
    out = k.tl("reduce", x, 1, scaled_sum)
    mapped = k.tl("map_elementwise", lambda s, a: OPERATORS["*"](s, a, 2.5), x)
    before = [a.tobytes() for a in k.arrays(out, mapped)]
    k.s.emit(Return)
    eliminate_common.run(k.function)
    verify(k.function, level="total")
    assert before == [a.tobytes() for a in k.arrays(out, mapped)]


def test_invariants_stay_in_combine_regions():
    from tritium.ops.control import For, Yield

    k = Kernel()
    x = k.arg(np.arange(3), float32)
    low, high, step = (k.s.scalar(v, int32) for v in (0, 4, 1))

    def body(i, total):
        again = OPERATORS["+"](k.s, x, total)
        return [k.tl("reduce", again, 0, scaled_sum)]

    zero = k.s.scalar(0.0, float32)
    region = k.s.region([int32, float32], body)
    k.s.emit(For, low, high, step, [zero], body=region)
    k.s.emit(Return)
    assert hoist_invariants.run(k.function) is False
    verify(k.function, level="total")
    assert isinstance(region.terminator, Yield)


@pytest.mark.parametrize("cls", [Reduce, MapElementwise])
def test_the_verifier_refuses_captures(cls):
    k = Kernel()
    x = k.arg(np.arange(3), float32)
    outside = k.s.scalar(1.0, float32)
    if cls is Reduce:
        k.tl("reduce", x, 0, lambda s, a, b: OPERATORS["+"](s, a, outside))
    else:
        k.tl("map_elementwise", lambda s, a: OPERATORS["+"](s, a, outside), x)
    (op,) = k.function.find(cls)
    with pytest.raises(Exception, match="from outside"):
        check_isolated(op.name, op.regions[0])
    k.s.emit(Return)
    with pytest.raises(TritiumError, match="from outside"):
        verify(k.function)
