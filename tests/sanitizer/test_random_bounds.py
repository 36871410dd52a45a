"""Random kernels with a bound dropped: findings exactly where the address oracle says that accesses leave their view."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tritium as triton
import tritium.language as tl
from tritium.errors import register_source
from tritium.sanitizer import Session, checked

from .oracle import oracle_of

_numbers = itertools.count()


@dataclass(frozen=True)
class Plan:
    """A kernel over a matrix: which conditions its mask has, how the array lies in its storage, how it is walked."""

    rows: int
    cols: int
    block: int
    layout: str
    row_bound: str | None
    col_bound: str | None
    looped: bool
    shift: int

    def text(self) -> str:
        conditions = []
        if self.row_bound is not None:
            conditions.append(f"(r[:, None] {self.row_bound})")
        if self.col_bound is not None:
            conditions.append(f"(c[None, :] {self.col_bound})")
        if self.shift < 0:
            conditions.append("(c[None, :] >= 0)" if self.row_bound is not None else "(c[None, :] > -9)")
        mask = " & ".join(conditions) or "(r[:, None] == r[:, None])"
        walk = (
            "for c0 in range(0, N, B):\n        c = c0 + tl.arange(0, B) + S"
            if self.looped
            else "c = tl.program_id(1) * B + tl.arange(0, B) + S\n    if True:"
        )
        return f"""
def kernel(x, out, M, N, sm, sn, S: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros((B, B), tl.float32)
    {walk}
        total += tl.load(x + r[:, None] * sm + c[None, :] * sn, mask={mask}, other=0.0)
    tl.store(out + tl.program_id(0), tl.sum(total))
"""


def plans() -> st.SearchStrategy[Plan]:
    bound = lambda limit: st.sampled_from(
        [f"< {limit}", f"<= {limit}", f"< {limit} - 1", f"< {limit} + 2", None]
    )
    return st.builds(
        Plan,
        rows=st.integers(1, 9),
        cols=st.integers(1, 9),
        block=st.sampled_from([2, 3, 4, 8]),
        layout=st.sampled_from(
            ["rows", "padded", "columns", "slice", "every_other", "reversed", "broadcast"]
        ),
        row_bound=bound("M"),
        col_bound=bound("N"),
        looped=st.booleans(),
        shift=st.sampled_from([0, 0, 0, 1, -1]),
    )


def placed(plan: Plan) -> np.ndarray:
    """A view of the plan's shape; there is always room around it."""
    m, n = plan.rows, plan.cols
    storage = np.zeros(4096, np.float32)
    whole = storage[1024:]
    if plan.layout == "rows":
        return whole[: m * n].reshape(m, n)
    if plan.layout == "padded":
        return whole[: m * (n + 3)].reshape(m, n + 3)[:, :n]
    if plan.layout == "columns":
        return whole[: m * n].reshape(n, m).T
    if plan.layout == "slice":
        return whole[: (m + 2) * (n + 2)].reshape(m + 2, n + 2)[1:-1, 1:-1]
    if plan.layout == "every_other":
        return whole[: 4 * m * n].reshape(2 * m, 2 * n)[::2, ::2]
    if plan.layout == "reversed":
        return whole[: m * n].reshape(m, n)[::-1, ::-1]
    return np.broadcast_to(whole[:n], (m, n))


def kernel_of(plan: Plan) -> triton.JITFunction:
    text, file = plan.text(), f"<random kernel {next(_numbers)}>"
    register_source(file, text)
    scope = {"tl": tl}
    exec(compile(text, file, "exec"), scope)
    return triton.jit(scope["kernel"])  # type: ignore[arg-type]


def launch(plan: Plan, kernel: triton.JITFunction) -> None:
    x = placed(plan)
    sm, sn = (s // 4 for s in x.strides)
    grid = (triton.cdiv(plan.rows, plan.block), 1 if plan.looped else triton.cdiv(plan.cols, plan.block))
    kernel[grid](x, np.zeros(grid[0], np.float32), plan.rows, plan.cols, sm, sn, S=plan.shift, B=plan.block)


def bounds_found(session: Session) -> list[int]:
    return [f.count for f in session.findings if f.kind in ("out-of-view", "out-of-allocation")]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(plans())
def test_findings_appear_exactly_when_the_oracle_says_so(plan: Plan) -> None:
    kernel = kernel_of(plan)
    oracle = oracle_of(lambda: launch(plan, kernel))
    assert oracle.failed is None  # there is room around the view
    with checked(raise_findings=False, disable=["write-race", "uninitialised"]) as session:
        launch(plan, kernel)
    assert bool(bounds_found(session)) == bool(oracle.outside)
    assert sum(bounds_found(session)) == oracle.count
    for finding in session.findings:
        assert finding.kind in ("out-of-view", "out-of-allocation") and finding.argument is not None
        assert finding.argument.shape == (plan.rows, plan.cols)
        assert "axis" in finding.message or "element" in finding.message


def test_both_outcomes_are_common() -> None:
    """Half of the plans or so break something, so that the property above says something."""
    seen: list[bool] = []

    @settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(plans())
    def collect(plan: Plan) -> None:
        kernel = kernel_of(plan)
        seen.append(bool(oracle_of(lambda: launch(plan, kernel)).outside))

    collect()
    assert len(seen) // 10 < sum(seen) < len(seen) - len(seen) // 10
