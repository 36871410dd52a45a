"""What `bench/cpu.py` measures: kernels as a user writes them, and the library calls that do the same.

Library calls write into arrays that exist already, as the kernels do, so that nobody pays for fresh memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tritium as triton
import tritium.language as tl

Call = Callable[[], Any]
BLOCKS = ((64, 64, 32), (128, 128, 32), (128, 64, 64))


@dataclass
class Workload:
    """One row of the table.

    calls   "ours" first, then the peers
    target  the least ratio, time of the fastest peer by ours, that is aimed at; by number of threads
    note    what the row compares, where that is not obvious
    """

    name: str
    calls: dict[str, Call]
    target: float | None = None
    note: str = ""
    more: dict[str, Any] = field(default_factory=dict)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax(x, y, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    v = tl.load(x + row * stride + cols, mask=mask, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * stride + cols, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def layernorm(x, y, weight, bias, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    v = tl.load(x + row * stride + cols, mask=mask, other=0.0)
    mean = tl.sum(v, axis=0) / n
    d = tl.where(mask, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, axis=0) / n + eps)
    w, b = tl.load(weight + cols, mask=mask), tl.load(bias + cols, mask=mask)
    tl.store(y + row * stride + cols, d * scale * w + b, mask=mask)


@triton.jit
def gelu(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    v = tl.load(x + i, mask=mask)
    tl.store(y + i, 0.5 * v * (1 + tl.erf(v * 0.7071067811865476)), mask=mask)


@triton.jit
def matmul(
    a,
    b,
    c,
    M,
    N,
    K,
    sam,
    sak,
    sbk,
    sbn,
    scm,
    scn,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    ACC: tl.constexpr,
):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        lhs = tl.load(
            a + rm[:, None] * sam + rk[None, :] * sak, mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0
        )
        rhs = tl.load(
            b + rk[:, None] * sbk + rn[None, :] * sbn, mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0
        )
        acc += tl.dot(lhs, rhs)
    out_mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(c + rm[:, None] * scm + rn[None, :] * scn, acc, mask=out_mask)


@triton.jit
def attention(q, k, v, out, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1) * n * D
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + head + rows[:, None] * D + d[None, :])
    best = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        cols = start + tl.arange(0, BN)
        keys = tl.load(k + head + cols[:, None] * D + d[None, :])
        scores = tl.dot(query, tl.trans(keys)) * scale
        new = tl.maximum(best, tl.max(scores, axis=1))
        p = tl.exp(scores - new[:, None])
        alpha = tl.exp(best - new)
        total = total * alpha + tl.sum(p, axis=1)
        values = tl.load(v + head + cols[:, None] * D + d[None, :])
        acc = tl.dot(p, values, acc * alpha[:, None])
        best = new
    tl.store(out + head + rows[:, None] * D + d[None, :], acc / total[:, None])


# ---- workloads --------------------------------------------------------------------------------------------------


def close(have: Any, want: Any, tolerance: float) -> None:
    a, b = np.asarray(have, np.float64), np.asarray(want, np.float64)
    gap = float(np.max(np.abs(a - b)))
    assert gap <= tolerance * max(1.0, float(np.max(np.abs(b)))), gap


Fastest = Callable[[dict[str, Call]], str]
"""Which of several calls takes least time."""


def matmuls(torch: Any, fastest: Fastest) -> Iterator[Workload]:
    for n in (256, 512, 1024, 1021, 2048):
        yield _square(torch, n, fastest)
    n = 1024
    single, _ = _tuned(torch.randn(n, n), torch.randn(n, n), torch.zeros(n, n), n, fastest)
    for name in ("bfloat16", "float16"):
        a, b = (torch.randn(n, n).to(getattr(torch, name)) for _ in range(2))
        c = torch.zeros(n, n)
        ours, blocks = _tuned(a, b, c, n, fastest)
        ours()
        close(c, a.float() @ b.float(), 1e-3)
        yield Workload(f"matmul {n} {name}", {"ours": ours, "our fp32": single}, 0.6, f"blocks {blocks}")
    a, b = (torch.randint(-128, 128, (n, n), dtype=torch.int8) for _ in range(2))
    c = torch.zeros(n, n, dtype=torch.int32)
    ours, blocks = _tuned(a, b, c, n, fastest, tl.int32)
    ours()
    assert torch.equal(c, a.int() @ b.int())
    yield Workload(f"matmul {n} int8", {"ours": ours, "our fp32": single}, None, f"blocks {blocks}")


def _square(torch: Any, n: int, fastest: Fastest) -> Workload:
    a, b = torch.randn(n, n), torch.randn(n, n)
    c, d, e = torch.zeros(n, n), torch.zeros(n, n), np.zeros((n, n), np.float32)
    an, bn = a.numpy(), b.numpy()
    ours, blocks = _tuned(a, b, c, n, fastest)
    ours()
    close(c, an @ bn, 1e-4)
    calls = {"ours": ours, "numpy": lambda: np.matmul(an, bn, out=e), "torch": lambda: torch.mm(a, b, out=d)}
    return Workload(f"matmul {n} fp32", calls, 0.9, f"blocks {blocks}")


def _tuned(a: Any, b: Any, c: Any, n: int, fastest: Fastest, acc: Any = tl.float32) -> tuple[Call, str]:
    """The product with the fastest of a few tile shapes, as `autotune` would choose."""

    def launch(blocks: tuple[int, int, int]) -> Call:
        bm, bn, bk = blocks
        grid = (-(-n // bm), -(-n // bn))
        return lambda: matmul[grid](a, b, c, n, n, n, n, 1, n, 1, n, 1, BM=bm, BN=bn, BK=bk, ACC=acc)

    calls = {"x".join(map(str, blocks)): launch(blocks) for blocks in BLOCKS}
    best = fastest(calls)
    return calls[best], best


def adds(torch: Any, fastest: Fastest) -> Iterator[Workload]:
    for n, target in ((1 << 20, None), (32 << 20, 1.2)):
        yield _sum(torch, n, target)


def _sum(torch: Any, n: int, target: float | None) -> Workload:
    x, y, out, other = torch.rand(n), torch.rand(n), torch.zeros(n), torch.zeros(n)
    xn, yn, third = x.numpy(), y.numpy(), np.zeros(n, np.float32)
    calls: dict[str, Call] = {
        "ours": lambda: add[(-(-n // 1024),)](x, y, out, n, BLOCK=1024),
        "numpy": lambda: np.add(xn, yn, out=third),
        "torch": lambda: torch.add(x, y, out=other),
    }
    calls["ours"]()
    assert torch.equal(out, x + y)
    return Workload(f"add {n >> 20} M", calls, target)


def softmaxes(torch: Any, fastest: Fastest) -> Iterator[Workload]:
    x, y, z = torch.randn(4096, 1024), torch.zeros(4096, 1024), torch.zeros(4096, 1024)
    calls: dict[str, Call] = {
        "ours": lambda: softmax[(4096,)](x, y, 1024, 1024, BLOCK=1024),
        "torch": lambda: torch.softmax(x, 1, out=z),
    }
    calls["ours"]()
    close(y, torch.softmax(x, 1), 1e-6)
    yield Workload("softmax 4096x1024", calls, 1.3)


def layernorms(torch: Any, fastest: Fastest) -> Iterator[Workload]:
    x, y, w, b = torch.randn(4096, 1024), torch.zeros(4096, 1024), torch.randn(1024), torch.randn(1024)
    out = {"out0": torch.zeros(4096, 1024), "out1": torch.zeros(4096, 1), "out2": torch.zeros(4096, 1)}
    calls: dict[str, Call] = {
        "ours": lambda: layernorm[(4096,)](x, y, w, b, 1024, 1024, 1e-5, BLOCK=1024),
        "torch": lambda: torch.ops.aten.native_layer_norm.out(x, [1024], w, b, 1e-5, **out),
    }
    calls["ours"]()
    close(y, torch.nn.functional.layer_norm(x, (1024,), w, b), 1e-5)
    yield Workload("layernorm 4096x1024", calls, 1.1)


def gelus(torch: Any, fastest: Fastest) -> Iterator[Workload]:
    n = 4 << 20
    x, y, z = torch.randn(n), torch.zeros(n), torch.zeros(n)
    calls: dict[str, Call] = {
        "ours": lambda: gelu[(n // 1024,)](x, y, n, BLOCK=1024),
        "torch": lambda: torch.ops.aten.gelu.out(x, out=z),
    }
    calls["ours"]()
    close(y, torch.nn.functional.gelu(x), 1e-6)
    yield Workload("gelu 4 M", calls, 2.0)


def attentions(torch: Any, fastest: Fastest) -> Iterator[Workload]:
    q, k, v = (torch.randn(1, 4, 1024, 64) for _ in range(3))
    out = torch.zeros_like(q)

    def launch(bm: int, bn: int) -> Call:
        return lambda: attention[(1024 // bm, 4)](q, k, v, out, 1024, 0.125, D=64, BM=bm, BN=bn)

    candidates = {f"{bm}x{bn}": launch(bm, bn) for bm, bn in ((64, 64), (128, 64), (64, 128))}
    best = fastest(candidates)
    calls: dict[str, Call] = {
        "ours": candidates[best],
        "torch": lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v),
    }
    calls["ours"]()
    close(out, torch.nn.functional.scaled_dot_product_attention(q, k, v), 1e-5)
    yield Workload("attention 1x4x1024x64", calls, 1.2, f"blocks {best}")


WORKLOADS: dict[str, Callable[[Any, Fastest], Iterator[Workload]]] = {
    "matmul": matmuls, "add": adds, "softmax": softmaxes, "layernorm": layernorms, "gelu": gelus,
    "attention": attentions,
}  # fmt: skip
