"""``tritium stages``: the pipeline as a table."""

from __future__ import annotations

from tritium.pipeline import STAGES, TILE_PASSES, stages_of


def stages(target: str | None) -> None:
    """Print the stages of one target or of all, and the passes over tile IR."""
    for name in [target] if target else STAGES:
        print(f"{name}:")
        for stage in stages_of(name):
            resume = "" if stage.read else "  (cannot be resumed from)"
            print(f"  {stage.name:<10} {stage.title}{resume}")
    print("\npasses between tir and opt.tir:")
    for step in TILE_PASSES:
        print(f"  {step.name:<24} {step.why}")
