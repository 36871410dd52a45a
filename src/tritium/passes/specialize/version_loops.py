"""Two versions of a loop, chosen at run time by the divisibility of the kernel's integer arguments.

Launches tell whether an integer is a multiple of 16; rows of 10,000 bytes are multiples of 16 bytes although their 5,000
elements are not a multiple of 16. Where a plan needs no more than such facts, the loop is written twice::

    %r = tile.for(...) {...}
    =>
    %r = tile.if(stride % 8 == 0 and K % 8 == 0) { the loop for the plan } else { the loop as it was }

The test is the same for all threads, and is made once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tritium.analysis.value_facts import ValueFacts
from tritium.ir.builder import Builder
from tritium.ir.core import Function, Op, Region, Value
from tritium.ir.types import DType, int1
from tritium.ops.bitwise import And
from tritium.ops.compare import Equal
from tritium.ops.control import For, If, Yield
from tritium.ops.create import Constant
from tritium.ops.facts import Unknown
from tritium.ops.memory import Load


def undecided(
    function: Function, loads: Iterable[Load], facts: ValueFacts, multiple: int
) -> tuple[Value, ...]:
    """Integer arguments that addresses and masks of `loads` depend on and that are not known multiples of `multiple`."""
    found: dict[Value, None] = {}
    for load in loads:
        polys = [facts[load.ptr].poly]
        if load.mask is not None:
            polys += [p for b in facts[load.mask].bounds for p in (b.left - b.right,)]
        for poly in polys:
            for atom in poly.atoms() if poly is not None else ():
                if isinstance(atom, Unknown):
                    found[atom.value] = None
    integers = (
        a for a in function.args if isinstance(a.type, DType) and a.type.is_int() and a.type is not int1
    )
    return tuple(a for a in integers if a in found and facts[a].divisibility % multiple)


def assuming(function: Function, arguments: Sequence[Value], multiple: int) -> ValueFacts:
    """The facts of `function` if `arguments` are multiples of `multiple`."""
    return ValueFacts(function, dict.fromkeys(arguments, multiple))


def version(loop: For, arguments: Sequence[Value], multiple: int) -> tuple[For, dict[Op, Op]]:
    """Put `loop` where `arguments` are multiples of `multiple`, and a copy of it where they are not.

    Gives the copy, and the copies of the ops in `loop`.
    """
    assert loop.parent is not None
    mapping: dict[Value, Value] = {}
    copy = loop.clone(mapping)
    assert isinstance(copy, For)
    other, then = Region(), Region()
    other.append(copy)
    other.append(Yield(copy.results, loc=loop.loc))
    end = then.append(Yield(loop.results, loc=loop.loc))
    builder = Builder(loop.parent, loop.loc)
    with builder.before(loop):
        holds = _all_multiples(builder, arguments, multiple)
        made = builder.insert(If(holds, then_region=then, else_region=other, loc=loop.loc))
    made.attrs["layout"] = loop.attrs["layout"]
    for old, new in zip(loop.results, made.results, strict=True):
        new.name = old.name
        for user, index in list(old.uses):
            if user is not end:
                user.set_operand(index, new)
    loop.parent.remove(loop)
    then.insert(0, loop)
    pairs = {old.owner: new.owner for old, new in mapping.items()}
    return copy, {a: b for a, b in pairs.items() if isinstance(a, Op) and isinstance(b, Op)}


def _all_multiples(builder: Builder, arguments: Sequence[Value], multiple: int) -> Value:
    holds: Value | None = None
    for arg in arguments:
        rest = builder.insert(
            And(arg, builder.insert(Constant(value=multiple - 1, type=arg.type)).result)
        ).result
        zero = builder.insert(Constant(value=0, type=arg.type)).result
        one = builder.insert(Equal(rest, zero)).result
        holds = one if holds is None else builder.insert(And(holds, one)).result
    assert holds is not None
    return holds
