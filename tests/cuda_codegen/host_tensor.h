// Asynchronous copies, ldmatrix and mma.sync on the host, lane by lane after the tables of the PTX ISA. A copy arrives when
// its thread waits for it, never earlier.
#pragma once
#include <cstdint>
#include <vector>

namespace emulation {
static uintptr_t shared_high;
static unsigned char* at_shared(u32 at) { return reinterpret_cast<unsigned char*>(shared_high | at); }
struct Copy { unsigned char* to; unsigned size; unsigned char data[16]; };
struct Copies { std::vector<Copy> started; std::vector<std::vector<Copy>> groups; };
static Copies& mine() { static Copies of[1024]; return of[threadIdx.x]; }
}  // namespace emulation

static u32 shared_address(const void* at) {
  emulation::shared_high = reinterpret_cast<uintptr_t>(at) >> 32 << 32;
  return u32(reinterpret_cast<uintptr_t>(at));
}
template <int N> static void copy_async(u32 to, const void* from, bool wanted) {
  if (to % N || (wanted && reinterpret_cast<uintptr_t>(from) % N)) __assertfail("a copy is not aligned", "", 0, "", 0);
  emulation::Copy copy{emulation::at_shared(to), N, {}};
  if (wanted) std::memcpy(copy.data, from, N);
  emulation::mine().started.push_back(copy);
}
static const char* moved(const char* at, i64 by) { return at + by; }
static void commit_copies() {
  emulation::Copies& copies = emulation::mine();
  copies.groups.push_back(copies.started);
  copies.started.clear();
}
template <int N> static void wait_copies() {
  auto& groups = emulation::mine().groups;
  while (groups.size() > N) {
    for (const emulation::Copy& c : groups.front()) std::memcpy(c.to, c.data, c.size);
    groups.erase(groups.begin());
  }
}

static u32 read_shared_32(u32 at) { u32 x; std::memcpy(&x, emulation::at_shared(at), 4); return x; }
static u32 read_shared_16(u32 at) { u16 x; std::memcpy(&x, emulation::at_shared(at), 2); return x; }
static u32 read_shared_8(u32 at) { return *emulation::at_shared(at); }

template <int N, bool transposed> static void load_matrices(u32 at, u32 (&out)[N]) {
  if (at % 16) __assertfail("a row for ldmatrix is not aligned", "", 0, "", 0);
  emulation::give(at);
  unsigned lane = threadIdx.x % 32, group = lane / 4, place = lane % 4;
  for (int q = 0; q < N; ++q) {
    if (!transposed) {
      out[q] = read_shared_32(u32(emulation::given_by(8 * q + group)) + 4 * place);
    } else {
      u32 low = read_shared_16(u32(emulation::given_by(8 * q + 2 * place)) + 2 * group);
      u32 high = read_shared_16(u32(emulation::given_by(8 * q + 2 * place + 1)) + 2 * group);
      out[q] = low | high << 16;
    }
  }
  emulation::go_on();
}
template <bool transposed> static void load_four(u32 at, u32& r0, u32& r1, u32& r2, u32& r3) {
  u32 out[4];
  load_matrices<4, transposed>(at, out);
  r0 = out[0], r1 = out[1], r2 = out[2], r3 = out[3];
}
template <bool transposed> static void load_two(u32 at, u32& r0, u32& r1) {
  u32 out[2];
  load_matrices<2, transposed>(at, out);
  r0 = out[0], r1 = out[1];
}
static void ldmatrix_x4(u32 at, u32& r0, u32& r1, u32& r2, u32& r3) { load_four<false>(at, r0, r1, r2, r3); }
static void ldmatrix_trans_x4(u32 at, u32& r0, u32& r1, u32& r2, u32& r3) { load_four<true>(at, r0, r1, r2, r3); }
static void ldmatrix_x2(u32 at, u32& r0, u32& r1) { load_two<false>(at, r0, r1); }
static void ldmatrix_trans_x2(u32 at, u32& r0, u32& r1) { load_two<true>(at, r0, r1); }

// Element h of a 32-bit register of operands of each kind.
struct Half { static const int each = 2; typedef float sum; static float of(u32 x, int h) {
  return float(reinterpreted<_Float16>(u16(x >> 16 * h))); } };
struct Bfloat { static const int each = 2; typedef float sum; static float of(u32 x, int h) {
  return __uint_as_float((x >> 16 * h & 0xffffu) << 16); } };
struct Tf32 { static const int each = 1; typedef float sum; static float of(u32 x, int) {
  return __uint_as_float(x & 0xffffe000u); } };
struct Byte { static const int each = 4; typedef int sum; static int of(u32 x, int h) { return (signed char)(x >> 8 * h); } };
template <int M> struct Float8 { static const int each = 4; typedef float sum; static float of(u32 x, int h) {
  u32 code = x >> 8 * h & 0xffu, exponent = code >> M & ((1u << (7 - M)) - 1), mantissa = code & ((1u << M) - 1);
  const int bias = M == 3 ? 7 : 15;
  if (M == 3 ? (code & 0x7f) == 0x7f : exponent == 31 && mantissa) return NAN;
  float size = M == 2 && exponent == 31 ? INFINITY
             : exponent ? std::ldexp(float((1u << M) + mantissa), int(exponent) - bias - M)
                        : std::ldexp(float(mantissa), 1 - bias - M);
  return code & 0x80 ? -size : size;
} };

template <class A, class B, class T> static void multiply(T& c0, T& c1, T& c2, T& c3, const u32 (&a)[4], const u32 (&b)[2]) {
  struct Given { u32 a[4], b[2]; } own;
  std::memcpy(own.a, a, sizeof own.a);
  std::memcpy(own.b, b, sizeof own.b);
  emulation::give(reinterpret_cast<uintptr_t>(&own));
  unsigned lane = threadIdx.x % 32, group = lane / 4, place = lane % 4;
  T* sums[2][2] = {{&c0, &c1}, {&c2, &c3}};
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 2; ++column)
      for (int half = 0; half < 2; ++half)
        for (int t = 0; t < 4; ++t) {
          auto left = reinterpret_cast<const Given*>(emulation::given_by(4 * group + t));
          auto right = reinterpret_cast<const Given*>(emulation::given_by(4 * (2 * place + column) + t));
          for (int h = 0; h < A::each; ++h)
            *sums[row][column] += A::of(left->a[row + 2 * half], h) * B::of(right->b[half], h);
        }
  emulation::go_on();
}
#define PRODUCT(NAME, A, B, T) \
  static void mma_##NAME(T& c0, T& c1, T& c2, T& c3, const u32 (&a)[4], const u32 (&b)[2]) { \
    multiply<A, B, T>(c0, c1, c2, c3, a, b); \
  }
PRODUCT(f16_f16, Half, Half, float)
PRODUCT(bf16_bf16, Bfloat, Bfloat, float)
PRODUCT(tf32_tf32, Tf32, Tf32, float)
PRODUCT(s8_s8, Byte, Byte, int)
PRODUCT(e4m3_e4m3, Float8<3>, Float8<3>, float)
PRODUCT(e4m3_e5m2, Float8<3>, Float8<2>, float)
PRODUCT(e5m2_e4m3, Float8<2>, Float8<3>, float)
PRODUCT(e5m2_e5m2, Float8<2>, Float8<2>, float)
static u32 tf32_part(u32 x) { return (x & 0x7fffffffu) < 0x7f800000u ? (x + 0x1000u) & 0xffffe000u : x & 0xffffe000u; }
