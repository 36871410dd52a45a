"""Rewrites of tile IR that only the CPU backend wants, before anything is lowered.

`advance_uniformly`   a tile that a loop carries and moves by the same amount for all its elements (the pointers of a
                      matmul) becomes its first value plus one carried number
`fuse_accumulators`   ``acc + dot(a, b)`` becomes ``dot(a, b, acc)``, which sums in place
"""

from __future__ import annotations

from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.match import Record
from tritium.ir.types import DType, PointerType, int64, like
from tritium.ops.arithmetic import Add
from tritium.ops.cast import Cast
from tritium.ops.control import For
from tritium.ops.create import Constant
from tritium.ops.dot import Dot
from tritium.ops.memory import AddPtr
from tritium.ops.shape import Broadcast


def run(function: Function, record: Record) -> None:
    """Rewrite `function` in place."""
    fuse_accumulators(function, record)
    _loops(function.body, record)


def fuse_accumulators(function: Function, record: Record) -> None:
    for add in function.find(Add):
        for at in (1, 0):
            dot = add.operands[at].defining_op
            if isinstance(dot, Dot) and dot.acc is None and len(dot.result.uses) == 1:
                other = add.operands[1 - at]
                if dot.parent is not add.parent or dot.out.is_fp16() or dot.out.is_bf16():
                    continue
                made = Dot(dot.a, dot.b, other, out=dot.out, precision=dot.precision,
                           imprecise=dot.imprecise, loc=dot.loc)  # fmt: skip
                assert add.parent is not None
                add.parent.insert_before(add, made)
                add.replace_with([made.result])
                dot.erase()
                record.plan("sum the product into the accumulator", "acc + a @ b in place", made)
                break


def _loops(region: Region, record: Record) -> None:
    for op in list(region.ops):
        for nested in op.regions:
            _loops(nested, record)
        if isinstance(op, For):
            for i in range(len(op.inits)):
                if _advance(op, i):
                    record.plan("advance by one number", f"carried tile {i} of the loop", op)


def _advance(loop: For, i: int) -> bool:
    arg, init, result = loop.body.args[1 + i], loop.inits[i], loop.results[i]
    if not arg.type.shape:
        return False
    end = loop.body.ops[-1]
    moved = end.operands[i].defining_op
    pointer = isinstance(arg.type.scalar, PointerType)
    if pointer:
        if not isinstance(moved, AddPtr) or moved.ptr is not arg:
            return False
        step = _uniform(moved.offset_, loop.body)
    else:
        if (
            not isinstance(moved, Add)
            or not isinstance(arg.type.scalar, DType)
            or not arg.type.scalar.is_int()
        ):
            return False
        if arg.type.scalar.is_bool() or arg not in moved.operands:
            return False
        other = moved.operands[1] if moved.operands[0] is arg else moved.operands[0]
        step = _uniform(other, loop.body)
    if step is None:
        return False
    number = int64 if pointer else arg.type.scalar
    assert loop.parent is not None
    zero = loop.parent.insert_before(loop, Constant(value=0, type=number))
    ty = arg.type
    arg.type = result.type = number
    loop.set_operand(3 + i, zero.results[0])
    _shift(arg, init, ty, loop.body, 0)
    _shift(result, init, ty, loop.parent, loop.parent.ops.index(loop) + 1)
    at = loop.body.ops.index(end)
    if isinstance(step, Constant):
        made: Op = loop.body.insert(at, Constant(value=step.value, type=step.type.scalar))
        at += 1
        amount = made.results[0]
    else:
        amount = step
    if amount.type is not number:
        made = loop.body.insert(at, Cast(amount, to=number))
        at += 1
        amount = made.results[0]
    following = loop.body.insert(at, Add(arg, amount, sanitize_overflow=False))
    end.set_operand(i, following.results[0])
    return True


def _shift(number: Value, init: Value, ty: object, region: Region, at: int) -> None:
    """Let ``init + number`` stand for the tile that `number` used to be."""
    users = list(number.uses)
    dims = init.type.shape
    spread = region.insert(at, Broadcast(number, shape=dims))
    if isinstance(init.type.scalar, PointerType):
        size = init.type.scalar.element_ty.itemsize
        del size
        tile = region.insert(at + 1, AddPtr(init, spread.results[0]))
    else:
        tile = region.insert(at + 1, Add(init, spread.results[0], sanitize_overflow=False))
    for op, index in users:
        op.set_operand(index, tile.results[0])
    assert tile.results[0].type == like(init.type, init.type.scalar)


def _uniform(value: Value, body: Region) -> Value | Constant | None:
    """The number that every element of `value` equals: a scalar, or the constant op."""
    op = value.defining_op
    if isinstance(op, Constant):
        return op
    if isinstance(op, Broadcast) and not op.x.type.shape:
        return op.x
    return None
