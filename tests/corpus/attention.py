"""Attention forward with an online softmax: full, causal, ragged batches, grouped heads; one-query decoding."""

from __future__ import annotations

import math

import numpy as np

import tritium as triton
import tritium.language as tl

from .arrays import DTYPES, integers, normals, placed, poisoned
from .protocol import Args, Case, Launch
from .rounding import narrow, tolerance, wide


@triton.jit
def attention_forward(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    lse_ptr,
    length_ptr,
    scale,
    S,
    heads,
    GROUP: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    tile = tl.program_id(0)
    batch = tl.program_id(1) // heads
    head = tl.program_id(1) % heads
    length = tl.load(length_ptr + batch)
    if tile * BLOCK_M >= length:
        return
    q_base = (batch * heads + head).to(tl.int64) * S * WIDTH
    kv_base = (batch * (heads // GROUP) + head // GROUP).to(tl.int64) * S * WIDTH
    rows = tile * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, BLOCK_D)
    row_mask = (rows[:, None] < length) & (dims[None, :] < WIDTH)
    q = tl.load(q_ptr + q_base + rows[:, None] * WIDTH + dims[None, :], mask=row_mask, other=0.0)
    peak = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), dtype=tl.float32)
    last = length
    if CAUSAL:
        last = tl.minimum(length, (tile + 1) * BLOCK_M)
    for start in range(0, last, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        col_mask = (cols[:, None] < length) & (dims[None, :] < WIDTH)
        at = kv_base + cols[:, None] * WIDTH + dims[None, :]
        k = tl.load(k_ptr + at, mask=col_mask, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        visible = cols[None, :] < length
        if CAUSAL:
            visible = visible & (cols[None, :] <= rows[:, None])
        scores = tl.where(visible, scores, -float("inf"))
        higher = tl.maximum(peak, tl.max(scores, axis=1))
        weights = tl.exp(scores - higher[:, None])
        shrink = tl.exp(peak - higher)
        total = total * shrink + tl.sum(weights, axis=1)
        v = tl.load(v_ptr + at, mask=col_mask, other=0.0)
        acc = acc * shrink[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")
        peak = higher
    out = acc / total[:, None]
    tl.store(out_ptr + q_base + rows[:, None] * WIDTH + dims[None, :], out, mask=row_mask)
    tl.store(lse_ptr + (batch * heads + head) * S + rows, peak + tl.log(total), mask=rows < length)


@triton.jit
def attention_decode(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, S, WIDTH: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr
):
    head = tl.program_id(0)
    dims = tl.arange(0, BLOCK_D)
    q = tl.load(q_ptr + head * WIDTH + dims, mask=dims < WIDTH, other=0.0).to(tl.float32)
    peak = -float("inf")
    total = 0.0
    acc = tl.zeros((BLOCK_D,), dtype=tl.float32)
    for start in range(0, S, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        at = (head * S + cols[:, None]) * WIDTH + dims[None, :]
        mask = (cols[:, None] < S) & (dims[None, :] < WIDTH)
        k = tl.load(k_ptr + at, mask=mask, other=0.0).to(tl.float32)
        scores = tl.where(cols < S, tl.sum(q[None, :] * k, axis=1) * scale, -float("inf"))
        higher = tl.maximum(peak, tl.max(scores, axis=0))
        weights = tl.exp(scores - higher)
        shrink = tl.exp(peak - higher)
        v = tl.load(v_ptr + at, mask=mask, other=0.0).to(tl.float32)
        total = total * shrink + tl.sum(weights, axis=0)
        acc = acc * shrink + tl.sum(weights[:, None] * v, axis=0)
        peak = higher
    tl.store(out_ptr + head * WIDTH + dims, acc / total, mask=dims < WIDTH)


def _forward(batches: int, heads: int, group: int, s: int, width: int, dtype: str, ragged: bool, block: int):
    def make(rng: np.random.Generator) -> Launch:
        kind = DTYPES[dtype]
        shapes = [(batches, heads, s, width)] + [(batches, heads // group, s, width)] * 2
        q, k, v = (placed(normals(rng, shape, kind)) for shape in shapes)
        lengths = integers(rng, batches, np.int32, 1, s) if ragged else np.full(batches, s, np.int32)
        args: Args = {
            "q_ptr": q,
            "k_ptr": k,
            "v_ptr": v,
            "out_ptr": poisoned(q.shape, kind),
            "S": s,
            "heads": heads,
        }
        args |= {"lse_ptr": poisoned((batches, heads, s), np.float32), "length_ptr": placed(lengths)}
        args["scale"] = 1 / math.sqrt(width)
        return Launch(args, (triton.cdiv(s, block), batches * heads))

    return make


def _forward_reference(args: Args) -> dict[str, np.ndarray]:
    q, out, lse = wide(args["q_ptr"]), args["out_ptr"], args["lse_ptr"]
    k, v = (np.repeat(wide(args[name]), args["GROUP"], axis=1) for name in ("k_ptr", "v_ptr"))
    for batch, length in enumerate(args["length_ptr"]):
        scores = (
            q[batch, :, :length]
            @ k[batch, :, :length].transpose(0, 2, 1)
            * np.float64(np.float32(args["scale"]))
        )
        if args["CAUSAL"]:
            scores[:, ~np.tri(length, dtype=bool)] = -np.inf
        peak = scores.max(axis=-1, keepdims=True)
        weights = np.exp(scores - peak)
        total = weights.sum(axis=-1, keepdims=True)
        out[batch, :, :length] = narrow(weights / total @ v[batch, :, :length], out.dtype)
        lse[batch, :, :length] = (peak + np.log(total))[..., 0]
    return {"out_ptr": out, "lse_ptr": lse}


def _decode(heads: int, s: int, width: int, dtype: str):
    def make(rng: np.random.Generator) -> Launch:
        shapes = [(heads, width), (heads, s, width), (heads, s, width)]
        q, k, v = (placed(normals(rng, shape, DTYPES[dtype])) for shape in shapes)
        args = {"q_ptr": q, "k_ptr": k, "v_ptr": v, "out_ptr": poisoned(q.shape, q.dtype), "S": s}
        return Launch(args | {"scale": 1 / math.sqrt(width)}, (heads,))

    return make


def _decode_reference(args: Args) -> dict[str, np.ndarray]:
    q, k, v = (wide(args[name]) for name in ("q_ptr", "k_ptr", "v_ptr"))
    scores = np.einsum("hd,hsd->hs", q, k) * args["scale"]
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    out = np.einsum("hs,hsd->hd", weights / weights.sum(axis=1, keepdims=True), v)
    return {"out_ptr": narrow(out, args["out_ptr"].dtype)}


SPECS = [
    ("one", 1, 1, 1, 1, 16, "f32", False, False),
    ("full", 1, 2, 1, 48, 16, "f32", False, False),
    ("causal", 1, 2, 1, 48, 16, "f32", True, False),
    ("ragged", 3, 1, 1, 61, 16, "f32", False, True),
    ("causal-ragged", 3, 2, 1, 61, 24, "f32", True, True),
    ("grouped-heads", 2, 4, 2, 40, 32, "f16", True, False),
    ("half", 1, 2, 1, 97, 32, "f16", False, False),
    ("bfloat", 1, 2, 1, 97, 40, "bf16", True, True),
    ("large", 2, 3, 1, 257, 64, "f16", True, True),
]


def _limits(dtype: str) -> dict[str, float]:
    # The softmax weights are rounded to the type of v before the second dot.
    stored = {"f32": 0.0, "f16": 2**-10, "bf16": 2**-7}[dtype]
    return {"rtol": tolerance(DTYPES[dtype])["rtol"] + 1e-5, "atol": 1e-5 + stored}


def _cases() -> list[Case]:
    cases = []
    for label, batches, heads, group, s, width, dtype, causal, ragged in SPECS:
        block_d = max(16, triton.next_power_of_2(width))
        sizes = {
            "WIDTH": width,
            "BLOCK_M": 16,
            "BLOCK_N": 16,
            "BLOCK_D": block_d,
            "CAUSAL": causal,
            "GROUP": group,
        }
        make = _forward(batches, heads, group, s, width, dtype, ragged, 16)
        name, tags = f"attention/attention_forward/{label}", {"dot"} | ({"large"} if s > 200 else set())
        bounds = _limits(dtype)
        reference = _forward_reference
        cases.append(
            Case(name, attention_forward, make, reference, **bounds, constexprs=sizes, tags=frozenset(tags))
        )
    for heads, s, width, dtype in ((1, 1, 1, "f32"), (3, 40, 24, "f32"), (2, 97, 64, "f16")):
        sizes = {"WIDTH": width, "BLOCK_N": 16, "BLOCK_D": triton.next_power_of_2(width)}
        name, make = (
            f"attention/attention_decode/{dtype}-{heads}x{s}x{width}",
            _decode(heads, s, width, dtype),
        )
        bounds = tolerance(DTYPES[dtype], terms=s)
        bounds["rtol"] += 1e-5
        cases.append(Case(name, attention_decode, make, _decode_reference, **bounds, constexprs=sizes))
    return cases


CASES = _cases()
