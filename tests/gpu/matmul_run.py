"""Matmuls of random sizes and tiles on the GPU, against fp64: odd tiles too, both policies, fp32, fp16 and bf16 inputs."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tests.cuda_codegen.seed_kernels import matmul_loop, tile_ir, tiles
from tests.gpu.on_device import Storages
from tritium.backends.cuda import assemble, driver, generate
from tritium.errors import OutOfResources
from tritium.runtime.arrays import view_of

TYPES = {"fp32": np.float32, "fp16": np.float16, "bf16": ml_dtypes.bfloat16}
POISON = 0x7FC0DEAD
EDGES = [  # every promise of the seed documents about sizes, and their odd tile
    ("seed", "fp32", 1, (8, 8, 8), (8, 8, 8)),
    ("seed", "fp32", 1, (8, 8, 8), (8, 8, 40)),
    ("seed", "fp32", 1, (16, 16, 8), (30, 19, 33)),
    ("seed", "fp32", 1, (3, 17, 5), (37, 41, 7)),
    ("seed", "fp16", 1, (16, 16, 16), (50, 20, 100)),
    ("seed", "bf16", 1, (16, 16, 16), (50, 20, 100)),
    ("default", "fp32", 8, (128, 128, 16), (1000, 777, 513)),
    ("default", "fp32", 4, (3, 17, 5), (37, 41, 7)),
]


@dataclass(frozen=True)
class MatmulCase:
    """One product: policy, input type, warps, tile (M, N, K) and sizes (M, N, K)."""

    layouts: str
    dtype: str
    warps: int
    tile: tuple[int, int, int]
    sizes: tuple[int, int, int]

    def __str__(self) -> str:
        tile, sizes = ("x".join(map(str, t)) for t in (self.tile, self.sizes))
        return f"{self.layouts} {self.dtype} {sizes} in tiles of {tile} on {self.warps} warps"

    @property
    def facts(self) -> dict[tuple[int], Any]:
        """What a launch with these sizes promises: alignment, and sizes divisible by 16."""
        divisible = [True] * 3 + [n % 16 == 0 for n in self.sizes]
        return {(i,): [("tt.divisibility", 16)] for i, yes in enumerate(divisible) if yes}

    def source(self, arch: str) -> generate.CudaSource:
        types = {"a_ptr": f"*{self.dtype}", "b_ptr": f"*{self.dtype}"}
        function = tile_ir(matmul_loop, types, self.facts, **tiles(*self.tile))
        return generate.generate(function, {"layouts": self.layouts, "num_warps": self.warps}, arch)

    def run(self, source: generate.CudaSource, binary: Any) -> float:
        """The largest error, relative to the size of the sums. AssertionError for bytes that must not change."""
        m, n, k = self.sizes
        rng = np.random.default_rng(hash(self.sizes) % 2**32)
        a, b = (rng.standard_normal(s).astype(TYPES[self.dtype]) for s in ((m, k), (k, n)))
        whole = np.full((m * n + 64,), np.uint32(POISON)).view(np.float32)
        c = whole[32 : 32 + m * n].reshape(m, n)
        storages = Storages()
        views = [storages.moved(view_of(x)) for x in (a, b, c)]
        program = assemble.program_of(source, binary, [f"arg{i}" for i in range(6)], {})
        program.run((-(-m // self.tile[0]), -(-n // self.tile[1]), 1), [*views, m, n, k], stream=0)
        storages.back()
        edges = np.concatenate([whole[:32], whole[32 + m * n :]]).view(np.uint32)
        assert (edges == POISON).all(), "bytes outside the result changed"
        wide = [x.astype(np.float64) for x in (a, b)]
        scale = np.abs(wide[0]) @ np.abs(wide[1]) + 1e-30
        return float(np.max(np.abs(c - wide[0] @ wide[1]) / scale))


def random_cases(count: int, seed: int = 0) -> list[MatmulCase]:
    """`count` cases after the fixed ones."""
    pick = random.Random(seed)
    made = [MatmulCase(*e) for e in EDGES]
    known = set(made)
    while len(made) < count:
        layouts = pick.choice(["default", "default", "seed"])
        warps = pick.choice([1, 2, 4, 8, 16]) if layouts == "default" else 1
        top = 5 if layouts == "seed" else 7
        tile = tuple(pick.choice([2**e, 3 * 2 ** pick.randrange(3), pick.randrange(1, 40)])
                     for e in (pick.randrange(2, top), pick.randrange(2, top), pick.randrange(2, 6)))  # fmt: skip
        sizes = tuple(pick.choice([1, pick.randrange(1, 300), 16 * pick.randrange(1, 20)]) for _ in range(3))
        case = MatmulCase(layouts, pick.choice(list(TYPES)), warps, tile, sizes)  # type: ignore[arg-type]
        if case not in known:
            known.add(case)
            made.append(case)
    return made


def run_all(cases: list[MatmulCase], arch: str) -> dict[str, str]:
    """By case "ok", or what went wrong. Compiles in parallel first."""

    def compiled(case: MatmulCase) -> Any:
        try:
            source = case.source(arch)
            return source, assemble.assemble(source, {"arch": arch})
        except OutOfResources as error:
            return error
        except Exception as error:
            return AssertionError(f"{type(error).__name__}: {error}")

    with ThreadPoolExecutor() as pool:
        made = list(pool.map(compiled, cases))
    found: dict[str, str] = {}
    with driver.device(0).current():
        for case, built in zip(cases, made, strict=True):
            if isinstance(built, OutOfResources):
                found[str(case)] = "refused: too much of a resource"
                continue
            if isinstance(built, Exception):
                found[str(case)] = str(built)
                continue
            try:
                error = case.run(*built)
                found[str(case)] = "ok" if error < 2e-6 else f"wrong: relative error {error:.3g}"
            except Exception as error:
                found[str(case)] = f"{type(error).__name__}: {error}"
    return found
