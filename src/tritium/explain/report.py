"""What ``tritium explain`` says about a kernel, as data and as text."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tritium.analysis.access import AccessAnalysis
from tritium.analysis.alias import AliasAnalysis
from tritium.analysis.demand import DemandAnalysis
from tritium.analysis.memory_order import MemoryOrder
from tritium.ir.core import Function
from tritium.pipeline import Compilation, stages_of


def report(done: Compilation, target: str) -> dict[str, Any]:
    """Everything known about one compilation, ready for JSON."""
    function: Function = done.artefacts["opt.tir"]
    accesses = AccessAnalysis(function)
    demand = DemandAnalysis(function, accesses.facts)
    return {
        "kernel": function.name,
        "target": target,
        "arguments": [
            {"name": a.name, "type": str(a.type), **facts}
            for a, facts in zip(function.args, function.arg_attrs, strict=True)
        ],
        "constants": {n: str(v) for n, v in _constants(done).items()},
        "stages": [
            {"name": s.name, "title": s.title, "milliseconds": round(done.seconds.get(s.name, 0.0) * 1e3, 3)}
            for s in stages_of(target)
            if s.name in done.artefacts
        ],
        "operations": dict(Counter(op.name for op in function.walk()).most_common()),
        "accesses": [
            {
                "line": op.loc.line if op.loc else None,
                "kind": access.kind,
                "array": AliasAnalysis(function).class_of(op.operands[0]).describe(function),
                "text": access.describe(),
                "needed": _needed(demand, op),
            }
            for op, access in accesses.accesses.items()
        ],
        "order": _order(function),
        "decisions": [d.to_json() for d in done.record],
    }


def _constants(done: Compilation) -> dict[str, Any]:
    from tritium.frontend.signature import Constant

    return {n: a.value for n, a in done.signature.arguments if isinstance(a, Constant)}


def _needed(demand: DemandAnalysis, op: Any) -> str:
    if not op.results:
        return ""
    wanted = demand[op.results[0]]
    if wanted is None:
        return "nothing"
    return "where " + " and ".join(map(str, wanted)) if wanted else "everything"


def _order(function: Function) -> list[dict[str, Any]]:
    order = MemoryOrder(function)
    return [
        {
            "token": token,
            "op": op.name,
            "line": op.loc.line if op.loc else None,
            "after": list(order.after[op]),
        }
        for op, token in order.token.items()
        if not op.regions
    ]


def as_text(found: dict[str, Any]) -> str:
    """The report as a person reads it in a terminal."""
    lines = [f"kernel {found['kernel']} for {found['target']}", "", "arguments"]
    for a in found["arguments"]:
        promise = f", divisible by {a['divisibility']}" if a.get("divisibility", 1) != 1 else ""
        lines.append(f"  {a['name']}: {a['type']}{promise}")
    lines += [f"  {n} = {v} (compile time)" for n, v in found["constants"].items()]
    lines += ["", "stages"]
    lines += [f"  {s['name']:<10} {s['milliseconds']:8.2f} ms  {s['title']}" for s in found["stages"]]
    lines += ["", "operations after the passes"]
    lines += [f"  {count:4d}  {name}" for name, count in found["operations"].items()]
    lines += ["", "memory accesses"]
    for a in found["accesses"]:
        lines += ["  " + part for part in a["text"].splitlines()]
        if a["needed"]:
            lines.append(f"    elements needed: {a['needed']}")
    lines += ["", "memory order (token: must follow)"]
    for o in found["order"]:
        after = ", ".join(map(str, o["after"])) or "nothing"
        lines.append(f"  {o['token']}: {o['op']} line {o['line']} after {after}")
    lines += ["", "decisions"]
    for d in found["decisions"]:
        where = f"line {d['line']}: " if d["line"] else ""
        lines.append(f"  {where}{d['name']} {'applied' if d['applied'] else 'not applied'}: {d['text']}")
        if d["hint"]:
            lines.append(f"    help: {d['hint']}")
    return "\n".join(lines) + "\n"
