"""The device functions that generated sources may call; each source holds only those it uses.

A function keeps a promise that plain C++ does not: integers wrap, division by zero has a written value, floats convert
with one rounding, narrow floats exist at all.
"""

from __future__ import annotations

from collections.abc import Iterable

from tritium.backends.cuda.prelude_tensor import pieces

_FN = "__device__ __forceinline__"

_PIECES: dict[str, tuple[str, tuple[str, ...]]] = {}
"""Name -> (text, names it needs)."""


def _piece(name: str, text: str, *needs: str) -> None:
    _PIECES[name] = (text.strip("\n").replace("FN ", f"{_FN} "), needs)


_piece("names", """
typedef signed char i8;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
""")  # fmt: skip

_piece("wrapping", """
// Integers of the language wrap; signed overflow in C++ does not.
template <class T> struct unsigned_of { typedef T type; };
template <> struct unsigned_of<int> { typedef u32 type; };
template <> struct unsigned_of<i64> { typedef u64 type; };
template <class T> FN T wrapping_add(T x, T y) { typedef typename unsigned_of<T>::type U; return T(U(x) + U(y)); }
template <class T> FN T wrapping_sub(T x, T y) { typedef typename unsigned_of<T>::type U; return T(U(x) - U(y)); }
template <class T> FN T wrapping_mul(T x, T y) { typedef typename unsigned_of<T>::type U; return T(U(x) * U(y)); }
""", "names")  # fmt: skip
for _name in ("wrapping_add", "wrapping_sub", "wrapping_mul"):
    _piece(_name, "", "wrapping")

_piece("quotient", """
// x / y toward zero; 0 where y is 0.
template <class T> FN T quotient(T x, T y) {
  if (y == T(0)) return T(0);
  if (T(-1) < T(0) && y == T(-1)) return wrapping_sub(T(0), x);
  return x / y;
}
""", "wrapping")  # fmt: skip
_piece("remainder", """
// The remainder of quotient(x, y), with the sign of x; x where y is 0.
template <class T> FN T remainder(T x, T y) {
  if (y == T(0)) return x;
  if (T(-1) < T(0) && y == T(-1)) return T(0);
  return x % y;
}
""")  # fmt: skip
_piece("shift_left", """
// x << y; 0 where y reaches the width.
template <class T> FN T shift_left(T x, T y) {
  u64 by = sizeof(T) == 8 ? u64(y) : sizeof(T) == 4 ? u64(u32(y)) : sizeof(T) == 2 ? u64(u16(y)) : u64(u8(y));
  return by < 8 * sizeof(T) ? T(u64(x) << by) : T(0);
}
""", "names")  # fmt: skip
_piece("shift_right", """
// x >> y; copies of the sign, or 0, where y reaches the width.
template <class T> FN T shift_right(T x, T y) {
  u64 by = sizeof(T) == 8 ? u64(y) : sizeof(T) == 4 ? u64(u32(y)) : sizeof(T) == 2 ? u64(u16(y)) : u64(u8(y));
  return by < 8 * sizeof(T) ? T(x >> by) : x < T(0) ? T(-1) : T(0);
}
""", "names")  # fmt: skip
_piece("magnitude", """
// |x|; the most negative number stays as it is.
template <class T> FN T magnitude(T x) { return x < T(0) ? T(0 - u64(x)) : x; }
""", "names")  # fmt: skip
_piece("high_product", """
FN int high_product(int x, int y) { return int(__umulhi(u32(x), u32(y))); }
FN u32 high_product(u32 x, u32 y) { return __umulhi(x, y); }
FN i64 high_product(i64 x, i64 y) { return i64(__umul64hi(u64(x), u64(y))); }
FN u64 high_product(u64 x, u64 y) { return __umul64hi(x, y); }
""", "names")  # fmt: skip

_piece("f16", """
struct f16 { u16 bits; };
FN float to_float(f16 x) { float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits)); return y; }
FN f16 to_f16(float x) { f16 y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); return y; }
FN f16 to_f16(double x) { f16 y; asm("cvt.rn.f16.f64 %0, %1;" : "=h"(y.bits) : "d"(x)); return y; }
FN f16 to_f16_rz(float x) { f16 y; asm("cvt.rz.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); return y; }
FN f16 to_f16_rz(double x) { f16 y; asm("cvt.rz.f16.f64 %0, %1;" : "=h"(y.bits) : "d"(x)); return y; }
FN f16 to_f16(int x) { f16 y; asm("cvt.rn.f16.s32 %0, %1;" : "=h"(y.bits) : "r"(x)); return y; }
FN f16 to_f16(u32 x) { f16 y; asm("cvt.rn.f16.u32 %0, %1;" : "=h"(y.bits) : "r"(x)); return y; }
FN f16 to_f16(i64 x) { f16 y; asm("cvt.rn.f16.s64 %0, %1;" : "=h"(y.bits) : "l"(x)); return y; }
FN f16 to_f16(u64 x) { f16 y; asm("cvt.rn.f16.u64 %0, %1;" : "=h"(y.bits) : "l"(x)); return y; }
""", "names")  # fmt: skip
_piece("odd", """
// fp32 rounded to odd: a second rounding to fewer bits then gives what one rounding would have given.
FN float to_odd(double x) {
  float y = __double2float_rz(x);
  return double(y) != x && x == x ? __uint_as_float(__float_as_uint(y) | 1u) : y;
}
FN float to_odd(i64 x) {
  float y = __ll2float_rz(x);
  return x != 0 && (y >= 9223372036854775808.0f || i64(y) != x) ? __uint_as_float(__float_as_uint(y) | 1u) : y;
}
FN float to_odd(u64 x) {
  float y = __ull2float_rz(x);
  return x != 0 && (y >= 18446744073709551616.0f || u64(y) != x) ? __uint_as_float(__float_as_uint(y) | 1u) : y;
}
""", "names")  # fmt: skip
_piece("bf16", """
struct bf16 { u16 bits; };
FN float to_float(bf16 x) { return __uint_as_float(u32(x.bits) << 16); }
FN bf16 to_bf16(float x) { bf16 y; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); return y; }
FN bf16 to_bf16_rz(float x) {
  bf16 y = {u16(__float_as_uint(x) >> 16)};
  if (x != x) y.bits = 0x7fff;
  return y;
}
FN bf16 to_bf16(double x) { return to_bf16(to_odd(x)); }
FN bf16 to_bf16_rz(double x) { return to_bf16_rz(__double2float_rz(x)); }
FN bf16 to_bf16(int x) { return to_bf16(to_odd(i64(x))); }
FN bf16 to_bf16(u32 x) { return to_bf16(to_odd(i64(x))); }
FN bf16 to_bf16(i64 x) { return to_bf16(to_odd(x)); }
FN bf16 to_bf16(u64 x) { return to_bf16(to_odd(x)); }
""", "names", "odd")  # fmt: skip

_piece("to_integer", """
// Toward zero; out of range gives the nearest end, NaN gives 0.
FN int to_i32(float x) { return __float2int_rz(x); }
FN int to_i32(double x) { return x != x ? 0 : __double2int_rz(x); }
FN u32 to_u32(float x) { return __float2uint_rz(x); }
FN u32 to_u32(double x) { return x != x ? 0u : __double2uint_rz(x); }
FN i64 to_i64(float x) { return x != x ? 0ll : __float2ll_rz(x); }
FN i64 to_i64(double x) { return x != x ? 0ll : __double2ll_rz(x); }
FN u64 to_u64(float x) { return x != x ? 0ull : __float2ull_rz(x); }
FN u64 to_u64(double x) { return x != x ? 0ull : __double2ull_rz(x); }
template <class T> FN i8 to_i8(T x) { return i8(min(max(to_i32(x), -128), 127)); }
template <class T> FN u8 to_u8(T x) { return u8(min(max(to_i32(x), 0), 255)); }
template <class T> FN short to_i16(T x) { return short(min(max(to_i32(x), -32768), 32767)); }
template <class T> FN u16 to_u16(T x) { return u16(min(max(to_i32(x), 0), 65535)); }
""", "names")  # fmt: skip
for _name in ("to_i8", "to_u8", "to_i16", "to_u16", "to_i32", "to_u32", "to_i64", "to_u64"):
    _piece(_name, "", "to_integer")
_piece("choose", """
// x or y, both of which are computed.
template <class T> FN T choose(bool first, T x, T y) { return first ? x : y; }
""")  # fmt: skip
_piece("fast_exp", """
// e to the power of x: 2 ulp of the result, and half an ulp of the exponent's product with log2(e).
FN float fast_exp(float x) { return exp2f(x * 1.442695041f); }
""")  # fmt: skip
_piece("fast_sqrt", """
FN float fast_sqrt(float x) { float y; asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
""")  # fmt: skip
_piece("fma_f16", """
FN f16 fma_f16(f16 x, f16 y, f16 z) {
  f16 r;
  asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r.bits) : "h"(x.bits), "h"(y.bits), "h"(z.bits));
  return r;
}
""", "f16")  # fmt: skip
_piece("fma_bf16", """
FN bf16 fma_bf16(bf16 x, bf16 y, bf16 z) {
  bf16 r;
  asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(r.bits) : "h"(x.bits), "h"(y.bits), "h"(z.bits));
  return r;
}
""", "bf16")  # fmt: skip
_piece("to_f16", "", "f16")
_piece("to_f16_rz", "", "f16")
_piece("to_bf16", "", "bf16")
_piece("to_bf16_rz", "", "bf16")
_piece("bits_as", """
template <class To, class From> FN To bits_as(From x) {
  static_assert(sizeof(To) == sizeof(From), "the width stays");
  union { From from; To to; } bits = {x};
  return bits.to;
}
""")  # fmt: skip
_piece("extremum_nan", """
// A NaN wins.
template <class T> FN T max_nan(T x, T y) { return x != x ? x : y != y ? y : x < y || (x == y && signbit(x)) ? y : x; }
template <class T> FN T min_nan(T x, T y) { return x != x ? x : y != y ? y : y < x || (x == y && signbit(y)) ? y : x; }
""")  # fmt: skip
_piece("max_nan", "", "extremum_nan")
_piece("min_nan", "", "extremum_nan")
_piece("vec", """
// `N` neighbouring elements that move as one.
template <class T, int N> struct alignas(sizeof(T) * N) vec { T v[N]; };
template <int N, class T> FN vec<T, N> load_vec(const T* from) { return *reinterpret_cast<const vec<T, N>*>(from); }
template <int N, class T> FN void store_vec(T* to, const vec<T, N>& x) { *reinterpret_cast<vec<T, N>*>(to) = x; }
""")  # fmt: skip
_piece("words", """
// `N` neighbouring 32-bit words, which hold elements of up to their size: a word stays in one register.
template <int N> struct alignas(4 * N) words { u32 v[N]; };
template <int N> FN words<N> load_words(const void* from) { return *reinterpret_cast<const words<N>*>(from); }
template <class T> FN T part_of(u32 word, int place) {
  if constexpr (sizeof(T) == 4) return bits_as<T>(word);
  else if constexpr (sizeof(T) == 2) return bits_as<T>(u16(word >> 16 * place));
  else return bits_as<T>(u8(word >> 8 * place));
}
template <int N> FN void store_words(void* to, const words<N>& x) { *reinterpret_cast<words<N>*>(to) = x; }
FN u32 joined(u16 low, u16 high) { u32 x; asm("mov.b32 %0, {%1, %2};" : "=r"(x) : "h"(low), "h"(high)); return x; }
template <class T> FN u32 word_of(T a) { return bits_as<u32>(a); }
template <class T> FN u32 word_of(T a, T b) { return joined(bits_as<u16>(a), bits_as<u16>(b)); }
template <class T> FN u32 word_of(T a, T b, T c, T d) {
  return u32(bits_as<u8>(a)) | u32(bits_as<u8>(b)) << 8 | u32(bits_as<u8>(c)) << 16 | u32(bits_as<u8>(d)) << 24;
}
""", "names", "bits_as")  # fmt: skip


def _predicated(count: int) -> tuple[str, str]:
    """A load and a store of `count` words behind a predicate, on one line each."""
    suffix = f".v{count}.b32" if count > 1 else ".b32"
    data = ", ".join(f"%{i}" for i in range(count))
    data = f"{{{data}}}" if count > 1 else data
    begin = f'asm volatile("{{ .reg .pred p; setp.ne.b32 p, %{count + 1}, 0; @p'
    load = f'{begin} ld.global{suffix} {data}, [%{count}]; }}" : '
    load += ", ".join(f'"+r"(x.v[{i}])' for i in range(count))
    store = f'{begin} st.global{suffix} [%{count}], {data}; }}" :: '
    store += ", ".join(f'"r"(x.v[{i}])' for i in range(count))
    wanted = '"r"(int(wanted)) : "memory");'
    return (
        f"FN words<{count}> load_if(bool wanted, const void* from, words<{count}> x) {{ "
        f'{load} : "l"(__cvta_generic_to_global(from)), {wanted} return x; }}',
        f"FN void store_if(bool wanted, void* to, const words<{count}>& x) {{ "
        f'{store}, "l"(__cvta_generic_to_global(to)), {wanted} }}',
    )


_LOADS, _STORES = zip(*map(_predicated, (1, 2, 4)), strict=True)
_piece("load_if", "\n".join((
    "// What is at `from` where it is wanted, else x, without a branch that would keep other code from moving past.",
    *_LOADS)), "words")  # fmt: skip
_piece("store_if", "\n".join((
    "// x to `to` where it is wanted; without a branch, into which the computation of x would move.",
    *_STORES)), "words")  # fmt: skip
_piece("load_vec", "", "vec")
_piece("store_vec", "", "vec")
_piece("from_lane", """
// x of the lane whose number differs in the bits of `mask`; all lanes of the warp take part.
template <class T> FN T from_lane(T x, int mask) {
  if constexpr (sizeof(T) == 8) {
    return bits_as<T>(__shfl_xor_sync(~0u, bits_as<u64>(x), mask));
  } else if constexpr (sizeof(T) == 4) {
    return bits_as<T>(__shfl_xor_sync(~0u, bits_as<u32>(x), mask));
  } else if constexpr (sizeof(T) == 2) {
    return bits_as<T>(u16(__shfl_xor_sync(~0u, u32(bits_as<u16>(x)), mask)));
  } else {
    return bits_as<T>(u8(__shfl_xor_sync(~0u, u32(bits_as<u8>(x)), mask)));
  }
}
""", "names", "bits_as")  # fmt: skip
_piece("from_lane_before", """
// x of the lane whose number is `by` less; where there is none, x itself. All lanes of the warp take part.
template <class T> FN T from_lane_before(T x, int by) {
  if constexpr (sizeof(T) == 8) return bits_as<T>(__shfl_up_sync(~0u, bits_as<u64>(x), by));
  else if constexpr (sizeof(T) == 4) return bits_as<T>(__shfl_up_sync(~0u, bits_as<u32>(x), by));
  else if constexpr (sizeof(T) == 2) return bits_as<T>(u16(__shfl_up_sync(~0u, u32(bits_as<u16>(x)), by)));
  else return bits_as<T>(u8(__shfl_up_sync(~0u, u32(bits_as<u8>(x)), by)));
}
""", "names", "bits_as")  # fmt: skip
_piece("from_lane_after", """
// x of the lane whose number is `by` more; where there is none, x itself. All lanes of the warp take part.
template <class T> FN T from_lane_after(T x, int by) {
  if constexpr (sizeof(T) == 8) return bits_as<T>(__shfl_down_sync(~0u, bits_as<u64>(x), by));
  else if constexpr (sizeof(T) == 4) return bits_as<T>(__shfl_down_sync(~0u, bits_as<u32>(x), by));
  else if constexpr (sizeof(T) == 2) return bits_as<T>(u16(__shfl_down_sync(~0u, u32(bits_as<u16>(x)), by)));
  else return bits_as<T>(u8(__shfl_down_sync(~0u, u32(bits_as<u8>(x)), by)));
}
""", "names", "bits_as")  # fmt: skip
_piece("atomic", """
// Atomic operations give what was there before. Floats compare as their bits do: -NaN < -inf < ... < inf < NaN.
template <class T> struct word_of { typedef T type; };
template <> struct word_of<i64> { typedef u64 type; };
template <> struct word_of<float> { typedef u32 type; };
template <> struct word_of<double> { typedef u64 type; };
template <class T> FN typename word_of<T>::type* words(T* at) { return reinterpret_cast<typename word_of<T>::type*>(at); }
template <class T> FN typename word_of<T>::type word(T x) { return bits_as<typename word_of<T>::type>(x); }
template <class T> FN T atomic_exchange(T* at, T x) { return bits_as<T>(atomicExch(words(at), word(x))); }
template <class T> FN T atomic_cas(T* at, T was, T x) { return bits_as<T>(atomicCAS(words(at), word(was), word(x))); }
template <class T> FN T atomic_and(T* at, T x) { return bits_as<T>(atomicAnd(words(at), word(x))); }
template <class T> FN T atomic_or(T* at, T x) { return bits_as<T>(atomicOr(words(at), word(x))); }
template <class T> FN T atomic_xor(T* at, T x) { return bits_as<T>(atomicXor(words(at), word(x))); }
template <class T> FN T atomic_add(T* at, T x) { return bits_as<T>(atomicAdd(words(at), word(x))); }
template <> FN float atomic_add(float* at, float x) { return atomicAdd(at, x); }
template <> FN double atomic_add(double* at, double x) { return atomicAdd(at, x); }
template <class T> FN T atomic_max(T* at, T x) { return atomicMax(at, x); }
template <class T> FN T atomic_min(T* at, T x) { return atomicMin(at, x); }
template <> FN float atomic_max(float* at, float x) {
  int bits = bits_as<int>(x);
  return bits >= 0 ? bits_as<float>(atomicMax((int*)at, bits)) : bits_as<float>(atomicMin((u32*)at, u32(bits)));
}
template <> FN float atomic_min(float* at, float x) {
  int bits = bits_as<int>(x);
  return bits >= 0 ? bits_as<float>(atomicMin((int*)at, bits)) : bits_as<float>(atomicMax((u32*)at, u32(bits)));
}
template <> FN double atomic_max(double* at, double x) {
  i64 bits = bits_as<i64>(x);
  return bits >= 0 ? bits_as<double>(atomicMax((i64*)at, bits)) : bits_as<double>(atomicMin((u64*)at, u64(bits)));
}
template <> FN double atomic_min(double* at, double x) {
  i64 bits = bits_as<i64>(x);
  return bits >= 0 ? bits_as<double>(atomicMin((i64*)at, bits)) : bits_as<double>(atomicMax((u64*)at, u64(bits)));
}
""", "names", "bits_as")  # fmt: skip
for _name in ("exchange", "cas", "and", "or", "xor", "add", "max", "min"):
    _piece(f"atomic_{_name}", "", "atomic")
for _kind in ("f16", "bf16"):
    _piece(f"atomic_{_kind}", f"""
FN {_kind} atomic_cas({_kind}* at, {_kind} was, {_kind} x) {{
  {_kind} old = {{atomicCAS(reinterpret_cast<unsigned short*>(at), was.bits, x.bits)}};
  return old;
}}
FN {_kind} atomic_add({_kind}* at, {_kind} x) {{
  {_kind} seen = *at;
  while (true) {{
    {_kind} found = atomic_cas(at, seen, to_{_kind}(to_float(seen) + to_float(x)));
    if (found.bits == seen.bits) return found;
    seen = found;
  }}
}}
""", "atomic", _kind)  # fmt: skip
_piece("philox", """
// Rounds of the counter-based random generator Philox on the counter (a, b, c, d) with the key (k, l).
FN u32 low_and_high(u32 x, u32 y, u32& high) { high = __umulhi(x, y); return x * y; }
FN u64 low_and_high(u64 x, u64 y, u64& high) { high = __umul64hi(x, y); return x * y; }
template <class T> FN void philox(T& a, T& b, T& c, T& d, T k, T l, int rounds) {
  const bool wide = sizeof(T) == 8;
  const T by_a = wide ? T(0xD2E7470EE14C6C93ull) : T(0xD2511F53u), by_c = wide ? T(0xCA5A826395121157ull) : T(0xCD9E8D57u);
  const T step_k = wide ? T(0x9E3779B97F4A7C15ull) : T(0x9E3779B9u), step_l = wide ? T(0xBB67AE8584CAA73Bull) : T(0xBB67AE85u);
  #pragma unroll
  for (int i = 0; i < rounds; ++i) {
    T high_a, high_c;
    T low_a = low_and_high(a, by_a, high_a), low_c = low_and_high(c, by_c, high_c);
    a = high_c ^ b ^ k;
    b = low_c;
    c = high_a ^ d ^ l;
    d = low_a;
    k += step_k;
    l += step_l;
  }
}
""", "names")  # fmt: skip
_piece("float8", """
// 8-bit floats: `M` mantissa bits, exponent bias `B`; codes up to `LARGEST` are finite.
template <int M, int B> FN float from_code(u32 code) {
  u32 exponent = code >> M & ((1u << (7 - M)) - 1), mantissa = code & ((1u << M) - 1);
  float size = exponent ? __uint_as_float((exponent + 127 - B) << 23 | mantissa << (23 - M))
                        : float(mantissa) * __uint_as_float((127 + 1 - B - M) << 23);
  return code & 0x80 ? -size : size;
}
// The code of |x|, which is finite, rounded once: to nearest even, toward zero, or ties away.
template <int M, int B> FN u32 to_code(float x, int how) {
  u32 bits = __float_as_uint(x) & 0x7fffffffu;
  int exponent = int(bits >> 23) - 127;
  if (exponent < 1 - B) exponent = 1 - B;
  float units = __uint_as_float(bits) * __uint_as_float(u32(127 + M - exponent) << 23);
  float whole = how == 1 ? truncf(units) : how == 2 ? floorf(units + 0.5f) : rintf(units);
  return u32(int(whole) + ((exponent - 1 + B) << M));
}
""", "names")  # fmt: skip
for _f8, _m, _b, _largest, _nan in (
    ("f8e5", 2, 15, 0x7B, 0x7F),
    ("f8e4nv", 3, 7, 0x7E, 0x7F),
    ("f8e4b8", 3, 8, 0x7F, 0x80),
    ("f8e5b16", 2, 16, 0x7F, 0x80),
    ("f8e4b15", 3, 15, 0x7E, 0x7E),
):
    _unsigned_zero = _nan == 0x80
    _odd = _f8 == "f8e4b15"
    _read_special = {
        "f8e5": "  if ((x.bits & 0x7f) >= 0x7c) return __uint_as_float(u32(x.bits & 0x80) << 24 | "
        "((x.bits & 3) ? 0x7fc00000u : 0x7f800000u));\n",
        "f8e4nv": "  if ((x.bits & 0x7f) == 0x7f) return __uint_as_float(0x7fc00000u);\n",
        "f8e4b15": "",
    }.get(_f8, "  if (x.bits == 0x80) return __uint_as_float(0x7fc00000u);\n")
    _infinite = "inf && how == 1 ? 0x7c : " if _f8 == "f8e5" else ""
    _piece(_f8, f"""
struct {_f8} {{ u8 bits; }};
FN float to_float({_f8} x) {{
{_read_special}  return from_code<{_m}, {_b}>(x.bits);
}}
FN {_f8} round_to_{_f8}(float x, int how) {{
  if (x != x) return {_f8}{{{_nan:#x}}};
  bool inf = (__float_as_uint(x) & 0x7fffffffu) == 0x7f800000u;
  u32 code = inf ? {_largest + 1:#x}u : to_code<{_m}, {_b}>(x, how);
  code = {_infinite}code > {_largest:#x}u ? {_largest:#x}u : code;
  code |= {"code == 0 ? 0u : " if _unsigned_zero else ""}__float_as_uint(x) >> 24 & 0x80u;
  return {_f8}{{u8(code)}};
}}
FN {_f8} to_{_f8}(float x) {{ return round_to_{_f8}(x, {2 if _odd else 0}); }}
FN {_f8} to_{_f8}(double x) {{ return round_to_{_f8}(to_odd(x), {2 if _odd else 0}); }}
FN {_f8} to_{_f8}_rz(float x) {{ return round_to_{_f8}(x, 1); }}
FN {_f8} to_{_f8}_rz(double x) {{ return round_to_{_f8}(__double2float_rz(x), 1); }}
template <class T> FN {_f8} to_{_f8}(T x) {{ return to_{_f8}(to_odd(i64(x))); }}
FN {_f8} to_{_f8}(u64 x) {{ return to_{_f8}(to_odd(x)); }}
""", "float8", "odd")  # fmt: skip
    _piece(f"to_{_f8}", "", _f8)
    _piece(f"to_{_f8}_rz", "", _f8)
_piece("order_key", """
// Integers in the order of the numbers: -0 before +0, and every NaN after them; all bits but a NaN's sign are kept.
FN int order_key(float x) {
  int bits = __float_as_int(x);
  return x != x ? bits & 0x7fffffff : bits < 0 ? bits ^ 0x7fffffff : bits;
}
FN i64 order_key(double x) {
  i64 bits = __double_as_longlong(x);
  return x != x ? bits & 0x7fffffffffffffffll : bits < 0 ? bits ^ 0x7fffffffffffffffll : bits;
}
""", "names")  # fmt: skip
_piece("of_order_key", """
// What order_key made a key of.
template <class T, class K> FN T of_order_key(K key) {
  if constexpr (T(0.5) == T(0)) return T(key);
  else if constexpr (sizeof(T) == 4) return bits_as<T>(key < 0 ? key ^ 0x7fffffff : key);
  else return bits_as<T>(key < 0 ? key ^ 0x7fffffffffffffffll : key);
}
""", "bits_as")  # fmt: skip
_piece("in_order", """
// The first of two keys into a, the other into b: the larger one first if `DOWN`.
template <bool DOWN, class T> FN void in_order(T& a, T& b) {
  T low = min(a, b), high = max(a, b);
  a = DOWN ? high : low;
  b = DOWN ? low : high;
}
""")  # fmt: skip
_piece("read_globaltimer", """
FN i64 read_globaltimer() { i64 t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); return t; }
""", "names")  # fmt: skip
_piece("read_smid", """
FN int read_smid() { int n; asm volatile("mov.u32 %0, %smid;" : "=r"(n)); return n; }
""")  # fmt: skip
_piece("dependency", """
// Launches that overlap: sm_90 and later; before, launches never do.
#if __CUDA_ARCH__ >= 900
FN void dependency_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
FN void dependency_launch() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
#else
FN void dependency_wait() {}
FN void dependency_launch() {}
#endif
""")  # fmt: skip
for _name in ("wait", "launch"):
    _piece(f"dependency_{_name}", "", "dependency")
_piece("trip_count", """
// How often a loop from `lower` to `upper` in steps of `step` runs.
template <class T> FN i64 trip_count(T lower, T upper, T step) {
  if (step > T(0)) return lower < upper ? i64((u64(upper) - u64(lower) - 1) / u64(step)) + 1 : 0;
  return lower > upper ? i64((u64(lower) - u64(upper) - 1) / (u64(0) - u64(step))) + 1 : 0;
}
""", "names")  # fmt: skip

for _name, _text, _needs in pieces():
    _piece(_name, _text, *_needs)

RESERVED = frozenset(_PIECES)


def known(name: str) -> bool:
    """Whether the prelude has a function of this name."""
    return name in _PIECES


def prelude(wanted: Iterable[str]) -> str:
    """The text of everything in `wanted` and what that needs, in the order of this file."""
    needed: set[str] = set()
    work = list(wanted)
    while work:
        name = work.pop()
        if name not in needed:
            needed.add(name)
            work += _PIECES[name][1]
    return "\n".join(text for name, (text, _) in _PIECES.items() if name in needed and text)
