// What generated CUDA C++ needs of a GPU, on the host: threads as coroutines, barriers, shuffles, intrinsics.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <ucontext.h>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n)
#define __restrict__

struct Triple { unsigned x, y, z; };
static Triple threadIdx, blockIdx, gridDim, blockDim;
using std::max;
using std::min;

namespace emulation {
void** parameters;
void body();
const unsigned NOT_STARTED = 0, RUNNING = 1, AT_BARRIER = 2, AT_EXCHANGE = 3, DONE = 4;
struct Thread { ucontext_t context; std::vector<char> stack; unsigned state; unsigned long long given, mask; };
std::vector<Thread> threads;
ucontext_t scheduler;
unsigned current;
std::string failure;
unsigned char* dynamic_shared;

void start() { body(); threads[current].state = DONE; swapcontext(&threads[current].context, &scheduler); }
void wait(unsigned how) {
  unsigned me = current;
  threads[me].state = how;
  swapcontext(&threads[me].context, &scheduler);
  current = me;
  threadIdx.x = me;
}
void resume(unsigned i) {
  current = i;
  threadIdx.x = i;
  threads[i].state = RUNNING;
  swapcontext(&scheduler, &threads[i].context);
}
bool all(unsigned first, unsigned last, unsigned state) {
  for (unsigned i = first; i < last; ++i) if (threads[i].state != state) return false;
  return true;
}
void block(unsigned count, std::mt19937& random) {
  std::vector<unsigned> order(count);
  for (unsigned i = 0; i < count; ++i) {
    order[i] = i;
    Thread& t = threads[i];
    t.state = NOT_STARTED;
    getcontext(&t.context);
    t.context.uc_stack.ss_sp = t.stack.data();
    t.context.uc_stack.ss_size = t.stack.size();
    t.context.uc_link = &scheduler;
    makecontext(&t.context, start, 0);
  }
  while (failure.empty()) {
    std::shuffle(order.begin(), order.end(), random);
    bool moved = false;
    for (unsigned i : order) if (threads[i].state <= RUNNING) { resume(i); moved = true; }
    for (unsigned w = 0; w < count; w += 32) {  // a warp whose lanes have all arrived at an exchange goes on
      unsigned end = std::min(w + 32, count);
      if (all(w, end, AT_EXCHANGE)) { for (unsigned i = w; i < end; ++i) threads[i].state = RUNNING; moved = true; }
    }
    if (all(0, count, DONE)) return;
    if (all(0, count, AT_BARRIER)) { for (Thread& t : threads) t.state = RUNNING; moved = true; }
    if (!moved) failure = "threads of a block wait for each other at different places";
  }
}
}  // namespace emulation

static void __syncthreads() { emulation::wait(emulation::AT_BARRIER); }
static void __syncwarp(unsigned = ~0u) {}
template <class T> static T exchange(T x, unsigned source) {
  using namespace emulation;
  threads[current].given = 0;
  std::memcpy(&threads[current].given, &x, sizeof(T));
  wait(AT_EXCHANGE);
  unsigned long long got = threads[current / 32 * 32 + source % 32].given;
  wait(AT_EXCHANGE);
  T y;
  std::memcpy(&y, &got, sizeof(T));
  return y;
}
template <class T> static T __shfl_xor_sync(unsigned, T x, int mask) { return exchange(x, (threadIdx.x % 32) ^ mask); }
template <class T> static T __shfl_sync(unsigned, T x, int lane) { return exchange(x, lane); }
template <class T> static T __shfl_up_sync(unsigned, T x, unsigned by) {
  unsigned lane = threadIdx.x % 32;
  T y = exchange(x, lane >= by ? lane - by : lane);
  return y;
}

template <class To, class From> static To reinterpreted(From x) { To y; std::memcpy(&y, &x, sizeof(To)); return y; }
static float __uint_as_float(unsigned x) { return reinterpreted<float>(x); }
static float __int_as_float(int x) { return reinterpreted<float>(x); }
static unsigned __float_as_uint(float x) { return reinterpreted<unsigned>(x); }
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
using std::signbit;

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

extern "C" const char* emulate(unsigned x, unsigned y, unsigned z, unsigned count, unsigned dynamic, void** parameters, unsigned seed) {
  using namespace emulation;
  emulation::parameters = parameters;
  gridDim = {x, y, z};
  blockDim = {count, 1, 1};
  failure.clear();
  threads.resize(count);
  for (Thread& t : threads) t.stack.resize(256 * 1024);
  std::vector<unsigned char> memory(dynamic + 16, 0x7f);
  dynamic_shared = reinterpret_cast<unsigned char*>((reinterpret_cast<size_t>(memory.data()) + 15) / 16 * 16);
  std::mt19937 random(seed);
  for (blockIdx.z = 0; blockIdx.z < z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < x && failure.empty(); ++blockIdx.x) block(count, random);
  return failure.empty() ? nullptr : failure.c_str();
}
