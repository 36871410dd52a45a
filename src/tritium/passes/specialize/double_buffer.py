"""Two stages of shared memory for the canonical K loop, and one barrier an iteration instead of two.

::

    for k in range(0, K, BK):                     dot_stage = (k / BK) & 1
        a = tl.load(... k ...)                    writes go to that stage,
        b = tl.load(... k ...)                    barrier,
        acc += tl.dot(a, b)                       reads come from it

The next iteration writes the other stage, so threads that are still reading this one are safe: before anyone writes it
again, all have met at the next iteration's barrier. Copy and arithmetic do not overlap. A loop inside another loop gets
one barrier in front: its first iteration may write the stage that the last one of the previous run still reads.

That offsets are the counter plus a coordinate is asked for as if integers never wrapped. It may be: the stage follows from
the counter alone, which does not wrap, and the copies go where the kernel's own pointers say.
"""

from __future__ import annotations

from dataclasses import dataclass

from tritium.analysis.access import AccessAnalysis, TileAccess
from tritium.analysis.value_facts import ValueFacts
from tritium.ir.builder import Builder
from tritium.ir.core import Function, Op, Value
from tritium.ir.match import Record, Reject, matching
from tritium.ir.types import int32
from tritium.ops.arithmetic import Add, IntDiv
from tritium.ops.base import Effect, TileOp
from tritium.ops.bitwise import And
from tritium.ops.control import For, If, While
from tritium.ops.create import Constant
from tritium.ops.dot import Dot
from tritium.ops.facts import Axis, Poly, Trip
from tritium.ops.memory import Load

NAME = "double_buffer"
STAGES = 2


@dataclass(frozen=True)
class StagePlan:
    """Double buffering of one dot: its loop, the width `depth` of the reduction, and whether a loop lies around it."""

    dot: Dot
    loop: For
    depth: int
    nested: bool
    stage_count: int = STAGES

    def __str__(self) -> str:
        barrier = "; one barrier before the loop, which is inside another" if self.nested else ""
        return (
            f"{self.stage_count} stages picked by (k / {self.depth}) & 1, one barrier an iteration{barrier}"
        )

    def stage_value(self, builder: Builder) -> Value:
        """The stage of the current iteration, computed once for writes and reads."""
        depth = builder.insert(Constant(value=self.depth, type=int32)).result
        one = builder.insert(Constant(value=self.stage_count - 1, type=int32)).result
        trip = builder.insert(IntDiv(self.loop.body.args[0], depth)).result
        return builder.insert(And(trip, one, result_names=("dot_stage",))).result


def match_double_buffer(loop: For, accesses: AccessAnalysis) -> StagePlan | Reject:
    """The canonical K loop; everything else keeps one stage and two barriers."""
    body = loop.body
    dots = [op for op in body.walk() if isinstance(op, Dot)]
    with matching() as m:
        m.require(_constant(loop.lower) == 0, "the loop does not start at 0", at=loop)
        step = _constant(loop.step)
        m.require(step is not None and step > 0, "the step is no positive compile-time number", at=loop)
        m.require(loop.body.args[0].type is int32, "the loop counts in another type than int32", at=loop)
        m.require(
            not any(isinstance(op, (For, While)) for op in body.walk()), "a loop is nested in it", at=loop
        )
        m.require(not any(isinstance(op, If) for op in body.walk()), "the loop has branches", at=loop)
        m.require(len(dots) == 1, f"the loop has {len(dots)} dots, not one", at=loop)
        (dot,) = dots
        m.require(len(dot.result.type.shape) == 2, "the dot has a batch axis", at=dot)
        depth = dot.a.type.shape[1]
        m.require(step == depth, f"the step is {step}, the dot reduces {depth}", at=loop)
        a, b = dot.a.defining_op, dot.b.defining_op
        staged = all(isinstance(x, Load) and x.parent is body and len(x.result.uses) == 1 for x in (a, b))
        m.require(staged, "an operand of the dot is not a load of its own in the loop", at=dot)
        assert a is not None and b is not None
        m.require(_moves(accesses[a], 1, loop, depth), "the loop's counter is not A's column offset", at=a)
        m.require(_moves(accesses[b], 0, loop, depth), "the loop's counter is not B's row offset", at=b)
        m.require(len(loop.inits) == 1, f"the loop carries {len(loop.inits)} values, not one", at=loop)
        add = body.ops[-1].operands[0].defining_op
        carried = body.args[1]
        sums = isinstance(add, Add) and set(add.operands) == {carried, dot.result}
        m.require(sums and dot.acc is None, "the loop does not yield exactly accumulator + dot", at=loop)
        m.require(len(carried.uses) == 1, "another operation uses the accumulator", at=loop)
        m.require(len(dot.result.uses) == 1, "another operation uses the dot's result", at=dot)
        m.require(all(_harmless(op) for op in body.ops), "the loop writes memory or waits", at=loop)
        return StagePlan(dot, loop, depth, _enclosing_loop(loop))
    return m.reject


def _constant(value: Value) -> int | None:
    op = value.defining_op
    return op.value if isinstance(op, Constant) else None


def _moves(access: TileAccess, axis: int, loop: For, step: int) -> bool:
    """Whether the index along `axis` is exactly the loop's counter plus the tile coordinate."""
    if len(access.axes) != 2 or not access.axes[axis].linear:
        return False
    counter = Poly.atom(Axis(axis)) + Poly.atom(Trip(loop)) * Poly.constant(step)
    other = access.axes[1 - axis].index
    return access.axes[axis].index == counter and Trip(loop) not in other.atoms()


def _harmless(op: Op) -> bool:
    assert isinstance(op, TileOp)
    return not op.effects() & (Effect.WRITE | Effect.ATOMIC | Effect.BARRIER | Effect.VOLATILE)


def _enclosing_loop(op: Op) -> bool:
    holder = op.parent_op()
    while holder is not None:
        if isinstance(holder, (For, While)):
            return True
        holder = holder.parent_op()
    return False


def find(function: Function, record: Record) -> dict[Op, StagePlan]:
    """Plans by dot; every loop with a dot leaves a plan or a reason in `record`."""
    for op in function.find(While):
        if any(x.parent_op() is op for x in function.find(Dot)):
            record.reject(NAME, Reject("the loop may be left before its end", op.loc))
    loops = [op for op in function.find(For) if any(isinstance(x, Dot) for r in op.regions for x in r.walk())]
    if not loops:
        return {}
    accesses = AccessAnalysis(function, ValueFacts(function))
    plans: dict[Op, StagePlan] = {}
    for loop in loops:
        assert isinstance(loop, For)
        found = match_double_buffer(loop, accesses)
        if isinstance(found, Reject):
            record.reject(NAME, found)
        else:
            record.plan(NAME, str(found), at=loop)
            plans[found.dot] = found
    return plans
