"""Device functions for tensor cores and asynchronous copies: one PTX instruction each, as a rule.

Sources: PTX ISA, "cp.async", "ldmatrix", "mma"; the shapes are those of `tritium.ops.gpu_mma`.
"""

from __future__ import annotations

from collections.abc import Iterator

Piece = tuple[str, str, tuple[str, ...]]
"""Name, text, and the names of the pieces that it needs."""


def pieces() -> Iterator[Piece]:
    """All of them; ``FN`` stands for the declaration of a device function."""
    yield "shared_address", _SHARED_ADDRESS, ("names",)
    yield "swizzled", _SWIZZLED, ("names",)
    yield "copy_async", _COPY_ASYNC, ("names",)
    yield "ldmatrix", "".join(_ldmatrix(f, n) for f in ("", "_trans") for n in (2, 4)), ("names",)
    yield "read_shared", _READ_SHARED, ("names",)
    for name in ("f16", "bf16", "tf32"):
        yield f"mma_{name}_{name}", _mma(name, name, 32 // (4 if name == "tf32" else 2), "float"), ("names",)
    yield "mma_s8_s8", _mma("s8", "s8", 32, "int"), ("names",)
    yield "f16_pairs", _F16_PAIRS, ("names",)
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            yield f"mma_{a}_{b}", _mma_f8(a, b), ("f16_pairs", "mma_f16_f16")
    yield "mma_tf32", _TF32, ("mma_tf32_tf32",)
    yield "mma_tf32x3", _TF32X3, ("mma_tf32_tf32",)


_SHARED_ADDRESS = """
FN u32 shared_address(const void* at) { return u32(__cvta_generic_to_shared(at)); }
"""
_SWIZZLED = """
// Higher bits of an address exclusive-ored into lower ones; the same again undoes it.
template <int shift, u32 mask> FN u32 swizzled(u32 at) { return at ^ (at >> shift & mask); }
"""
_COPY_ASYNC = """
// Starts to copy N bytes to shared memory, or N zeros where they are not wanted.
template <int N> FN void copy_async(u32 to, const void* from, bool wanted) {
  if constexpr (N == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(wanted ? 16 : 0) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(N), "r"(wanted ? N : 0) : "memory");
  }
}
// Written so that no compiler keeps the sums of all steps in registers through a loop instead of adding again.
FN const char* moved(const char* at, i64 by) { asm("add.s64 %0, %0, %1;" : "+l"(at) : "l"(by)); return at; }
FN void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> FN void wait_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
"""
_READ_SHARED = """
FN u32 read_shared_32(u32 at) { u32 x; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(at) : "memory"); return x; }
FN u32 read_shared_16(u32 at) { u16 x; asm volatile("ld.shared.u16 %0, [%1];" : "=h"(x) : "r"(at) : "memory"); return x; }
FN u32 read_shared_8(u32 at) { u32 x; asm volatile("ld.shared.u8 %0, [%1];" : "=r"(x) : "r"(at) : "memory"); return x; }
"""
_F16_PAIRS = """
// The lower and the upper two of four 8-bit floats, as fp16.
FN u32 f16_of_e4m3(u16 x) { u32 y; asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(y) : "h"(x)); return y; }
FN u32 f16_of_e5m2(u16 x) { u32 y; asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(y) : "h"(x)); return y; }
"""
_TF32 = """
// The low 13 bits of the operands are ignored.
FN void mma_tf32(float& c0, float& c1, float& c2, float& c3, const u32 (&a)[4], const u32 (&b)[2]) {
  mma_tf32_tf32(c0, c1, c2, c3, a, b);
}
"""
_TF32X3 = """
// Each operand is a rounded part and the rest. The products with a rest are summed first, and dropped where they are NaN:
// an infinity times a rest of 0 must not reach the result.
FN u32 tf32_part(u32 x) { u32 y; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(__uint_as_float(x))); return y; }
FN u32 tf32_rest(u32 x) { return __float_as_uint(__uint_as_float(x) - __uint_as_float(tf32_part(x))); }
FN float number_or_zero(float x) { return x == x ? x : 0.0f; }
FN void mma_tf32x3(float& c0, float& c1, float& c2, float& c3, const u32 (&a)[4], const u32 (&b)[2]) {
  u32 x[4] = {tf32_part(a[0]), tf32_part(a[1]), tf32_part(a[2]), tf32_part(a[3])};
  u32 p[4] = {tf32_rest(a[0]), tf32_rest(a[1]), tf32_rest(a[2]), tf32_rest(a[3])};
  u32 y[2] = {tf32_part(b[0]), tf32_part(b[1])}, q[2] = {tf32_rest(b[0]), tf32_rest(b[1])};
  float d0 = 0.0f, d1 = 0.0f, d2 = 0.0f, d3 = 0.0f;
  mma_tf32_tf32(d0, d1, d2, d3, p, y);
  mma_tf32_tf32(d0, d1, d2, d3, x, q);
  c0 += number_or_zero(d0);
  c1 += number_or_zero(d1);
  c2 += number_or_zero(d2);
  c3 += number_or_zero(d3);
  mma_tf32_tf32(c0, c1, c2, c3, x, y);
}
"""


def _ldmatrix(form: str, count: int) -> str:
    names = [f"r{i}" for i in range(count)]
    parameters = ", ".join(f"u32& {n}" for n in names)
    outputs = ", ".join(f'"=r"({n})' for n in names)
    registers = ", ".join(f"%{i}" for i in range(count))
    text = (
        f"ldmatrix.sync.aligned.m8n8.x{count}{form.replace('_', '.')}.shared.b16 {{{registers}}}, [%{count}];"
    )
    return f"""
FN void ldmatrix{form}_x{count}(u32 at, {parameters}) {{
  asm volatile("{text}" : {outputs} : "r"(at) : "memory");
}}
"""


def _mma(a: str, b: str, depth: int, result: str) -> str:
    sums = [f"c{i}" for i in range(4)]
    letter, out = ("f", "f32") if result == "float" else ("r", "s32")
    cells = ", ".join(f'"+{letter}"({c})' for c in sums)
    text = f"mma.sync.aligned.m16n8k{depth}.row.col.{out}.{a}.{b}.{out}"
    form = "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
    return f"""
FN void mma_{a}_{b}({", ".join(f"{result}& {c}" for c in sums)}, const u32 (&a)[4], const u32 (&b)[2]) {{
  asm("{text} {form}"
      : {cells}
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}}
"""


def _mma_f8(a: str, b: str) -> str:
    """sm_90 has no such instruction: there two of fp16 take its place, whose sums are those of fp32."""
    head, body = _mma(a, b, 32, "float").strip().split("{\n", 1)
    halves: list[str] = []
    for shift in ("", " >> 16"):
        x = ", ".join(f"f16_of_{a}(u16(a[{i}]{shift}))" for i in range(4))
        y = ", ".join(f"f16_of_{b}(u16(b[{i}]{shift}))" for i in range(2))
        halves.append(f"  {{ u32 x[4] = {{{x}}}, y[2] = {{{y}}}; mma_f16_f16(c0, c1, c2, c3, x, y); }}")
    return "\n".join(
        [
            "",
            f"{head}{{",
            "#if __CUDA_ARCH__ == 900",
            *halves,
            "#else",
            body.rstrip("}\n "),
            "#endif",
            "}",
            "",
        ]
    )
