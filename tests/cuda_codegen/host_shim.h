// What generated CUDA C++ needs of a GPU, on the host; `host_scheduler.cpp` holds the coroutines behind it.
#include <cmath>
#include <cstring>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n)
#define __restrict__

struct Triple { unsigned x, y, z; };
extern Triple threadIdx, blockIdx, gridDim, blockDim;
template <class T> static T max(T x, T y) { return x < y ? y : x; }
template <class T> static T min(T x, T y) { return y < x ? y : x; }

namespace emulation {
void wait_at_barrier();
unsigned long long exchange(unsigned long long given, unsigned source);
void give(unsigned long long given);
unsigned long long given_by(unsigned lane);
void go_on();
extern unsigned char* dynamic_shared;
}  // namespace emulation

extern "C" void __assertfail(const char* message, const char* file, unsigned line, const char* function, size_t size);
static void __syncthreads() { emulation::wait_at_barrier(); }
static void __syncwarp(unsigned = ~0u) {}
template <class T> static T exchange(T x, unsigned source) {
  unsigned long long given = 0;
  std::memcpy(&given, &x, sizeof(T));
  given = emulation::exchange(given, source);
  std::memcpy(&x, &given, sizeof(T));
  return x;
}
template <class T> static T __shfl_xor_sync(unsigned, T x, int mask) { return exchange(x, (threadIdx.x % 32) ^ mask); }
template <class T> static T __shfl_sync(unsigned, T x, int lane) { return exchange(x, lane); }
template <class T> static T __shfl_up_sync(unsigned, T x, unsigned by) {
  unsigned lane = threadIdx.x % 32;
  T y = exchange(x, lane >= by ? lane - by : lane);
  return y;
}
template <class T> static T __shfl_down_sync(unsigned, T x, unsigned by) {
  unsigned lane = threadIdx.x % 32;
  return exchange(x, lane + by < 32 ? lane + by : lane);
}

template <class To, class From> static To reinterpreted(From x) { To y; std::memcpy(&y, &x, sizeof(To)); return y; }
static float __uint_as_float(unsigned x) { return reinterpreted<float>(x); }
static float __int_as_float(int x) { return reinterpreted<float>(x); }
static unsigned __float_as_uint(float x) { return reinterpreted<unsigned>(x); }
static int __float_as_int(float x) { return reinterpreted<int>(x); }
static long long __double_as_longlong(double x) { return reinterpreted<long long>(x); }
static double __longlong_as_double(long long x) { return reinterpreted<double>(x); }
template <class To, class From> static To saturated(From x, double low, double high, To bottom, To top) {
  return x != x ? To(0) : double(x) <= low ? bottom : double(x) >= high ? top : To(x);
}
static int __float2int_rz(float x) { return saturated<int>(x, -2147483648.0, 2147483648.0, -2147483647 - 1, 2147483647); }
static int __double2int_rz(double x) { return saturated<int>(x, -2147483648.0, 2147483647.0, -2147483647 - 1, 2147483647); }
static unsigned __float2uint_rz(float x) { return saturated<unsigned>(x, 0.0, 4294967296.0, 0u, ~0u); }
static unsigned __double2uint_rz(double x) { return saturated<unsigned>(x, 0.0, 4294967295.0, 0u, ~0u); }
static long long __double2ll_rz(double x) {
  return saturated<long long>(x, -9223372036854775808.0, 9223372036854775808.0, 1ll << 63, ~(1ll << 63));
}
static long long __float2ll_rz(float x) { return __double2ll_rz(x); }
static unsigned long long __double2ull_rz(double x) { return saturated<unsigned long long>(x, 0.0, 18446744073709551616.0, 0ull, ~0ull); }
static unsigned long long __float2ull_rz(float x) { return __double2ull_rz(x); }
static float toward_zero(double x, float y) { return std::isfinite(x) && std::fabs(double(y)) > std::fabs(x) ? std::nextafterf(y, 0.0f) : y; }
static float __double2float_rz(double x) { return toward_zero(x, float(x)); }
static float __ll2float_rz(long long x) { float y = float(x); return std::fabs((long double)y) > std::fabs((long double)x) ? std::nextafterf(y, 0.0f) : y; }
static float __ull2float_rz(unsigned long long x) { float y = float(x); return (long double)y > (long double)x ? std::nextafterf(y, 0.0f) : y; }
static unsigned __umulhi(unsigned x, unsigned y) { return unsigned((unsigned long long)x * y >> 32); }
static unsigned long long __umul64hi(unsigned long long x, unsigned long long y) { return (unsigned long long)((unsigned __int128)x * y >> 64); }
static float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
static double rsqrt(double x) { return 1.0 / std::sqrt(x); }
template <class W> static W load_if(bool wanted, const void* from, W x) {
  if (wanted) std::memcpy(&x, from, sizeof(W));
  return x;
}
template <class W> static void store_if(bool wanted, void* to, const W& x) {
  if (wanted) std::memcpy(to, &x, sizeof(W));
}
static unsigned joined(unsigned short low, unsigned short high) { return low | unsigned(high) << 16; }
using std::signbit;
static float __fdiv_rn(float x, float y) { return x / y; }
static float fast_sqrt(float x) { return std::sqrt(x); }

#define CONVERSIONS_F16 \
  static float to_float(f16 x) { return float(reinterpreted<_Float16>(x.bits)); } \
  template <class T> static f16 to_f16(T x) { return {reinterpreted<u16>(_Float16(x))}; } \
  template <class T> static f16 to_f16_rz(T x) { \
    _Float16 y = _Float16(x); \
    u16 bits = reinterpreted<u16>(y); \
    if (std::isfinite(double(x)) && std::fabs(double(y)) > std::fabs(double(x))) --bits; \
    return {bits}; \
  }
#define CONVERSIONS_BF16 \
  static bf16 to_bf16(float x) { \
    u32 bits = reinterpreted<u32>(x); \
    return {u16(x != x ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16)}; \
  }

// atomics: coroutines never overlap
template <class T, class F> static T update(T* at, F f) { T old = *at; *at = f(old); return old; }
template <class T> static T atomicAdd(T* at, T x) { return update(at, [x](T o) { return T(o + x); }); }
template <class T> static T atomicMax(T* at, T x) { return update(at, [x](T o) { return o > x ? o : x; }); }
template <class T> static T atomicMin(T* at, T x) { return update(at, [x](T o) { return o < x ? o : x; }); }
template <class T> static T atomicAnd(T* at, T x) { return update(at, [x](T o) { return T(o & x); }); }
template <class T> static T atomicOr(T* at, T x) { return update(at, [x](T o) { return T(o | x); }); }
template <class T> static T atomicXor(T* at, T x) { return update(at, [x](T o) { return T(o ^ x); }); }
template <class T> static T atomicExch(T* at, T x) { return update(at, [x](T) { return x; }); }
template <class T> static T atomicCAS(T* at, T compare, T x) { return update(at, [=](T o) { return o == compare ? x : o; }); }
static void __threadfence() {}
static void __threadfence_block() {}
