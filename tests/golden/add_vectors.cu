typedef signed char i8;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
template <class To, class From> __device__ __forceinline__ To bits_as(From x) {
  static_assert(sizeof(To) == sizeof(From), "the width stays");
  union { From from; To to; } bits = {x};
  return bits.to;
}
// `N` neighbouring 32-bit words, which hold elements of up to their size: a word stays in one register.
template <int N> struct alignas(4 * N) words { u32 v[N]; };
template <int N> __device__ __forceinline__ words<N> load_words(const void* from) { return *reinterpret_cast<const words<N>*>(from); }
template <class T> __device__ __forceinline__ T part_of(u32 word, int place) {
  if constexpr (sizeof(T) == 4) return bits_as<T>(word);
  else if constexpr (sizeof(T) == 2) return bits_as<T>(u16(word >> 16 * place));
  else return bits_as<T>(u8(word >> 8 * place));
}
template <int N> __device__ __forceinline__ void store_words(void* to, const words<N>& x) { *reinterpret_cast<words<N>*>(to) = x; }
__device__ __forceinline__ u32 joined(u16 low, u16 high) { u32 x; asm("mov.b32 %0, {%1, %2};" : "=r"(x) : "h"(low), "h"(high)); return x; }
template <class T> __device__ __forceinline__ u32 word_of(T a) { return bits_as<u32>(a); }
template <class T> __device__ __forceinline__ u32 word_of(T a, T b) { return joined(bits_as<u16>(a), bits_as<u16>(b)); }
template <class T> __device__ __forceinline__ u32 word_of(T a, T b, T c, T d) {
  return u32(bits_as<u8>(a)) | u32(bits_as<u8>(b)) << 8 | u32(bits_as<u8>(c)) << 16 | u32(bits_as<u8>(d)) << 24;
}
// What is at `from` where it is wanted, else x, without a branch that would keep other code from moving past.
__device__ __forceinline__ words<1> load_if(bool wanted, const void* from, words<1> x) { asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p ld.global.b32 %0, [%1]; }" : "+r"(x.v[0]) : "l"(__cvta_generic_to_global(from)), "r"(int(wanted)) : "memory"); return x; }
__device__ __forceinline__ words<2> load_if(bool wanted, const void* from, words<2> x) { asm volatile("{ .reg .pred p; setp.ne.b32 p, %3, 0; @p ld.global.v2.b32 {%0, %1}, [%2]; }" : "+r"(x.v[0]), "+r"(x.v[1]) : "l"(__cvta_generic_to_global(from)), "r"(int(wanted)) : "memory"); return x; }
__device__ __forceinline__ words<4> load_if(bool wanted, const void* from, words<4> x) { asm volatile("{ .reg .pred p; setp.ne.b32 p, %5, 0; @p ld.global.v4.b32 {%0, %1, %2, %3}, [%4]; }" : "+r"(x.v[0]), "+r"(x.v[1]), "+r"(x.v[2]), "+r"(x.v[3]) : "l"(__cvta_generic_to_global(from)), "r"(int(wanted)) : "memory"); return x; }
// x to `to` where it is wanted; without a branch, into which the computation of x would move.
__device__ __forceinline__ void store_if(bool wanted, void* to, const words<1>& x) { asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p st.global.b32 [%1], %0; }" :: "r"(x.v[0]), "l"(__cvta_generic_to_global(to)), "r"(int(wanted)) : "memory"); }
__device__ __forceinline__ void store_if(bool wanted, void* to, const words<2>& x) { asm volatile("{ .reg .pred p; setp.ne.b32 p, %3, 0; @p st.global.v2.b32 [%2], {%0, %1}; }" :: "r"(x.v[0]), "r"(x.v[1]), "l"(__cvta_generic_to_global(to)), "r"(int(wanted)) : "memory"); }
__device__ __forceinline__ void store_if(bool wanted, void* to, const words<4>& x) { asm volatile("{ .reg .pred p; setp.ne.b32 p, %5, 0; @p st.global.v4.b32 [%4], {%0, %1, %2, %3}; }" :: "r"(x.v[0]), "r"(x.v[1]), "r"(x.v[2]), "r"(x.v[3]), "l"(__cvta_generic_to_global(to)), "r"(int(wanted)) : "memory"); }

extern "C" __global__ void __launch_bounds__(128) add(float* x_ptr, float* y_ptr, float* out_ptr, int n) {
  int tile_i = threadIdx.x * 4;
  // offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
  int pid_x = blockIdx.x;
  int offs[8];
  bool mask[8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    offs[i] = pid_x * 1024 + (tile_i + i % 4 + i / 4 * 512);
    // mask = offs < n
    mask[i] = offs[i / 4 * 4] < n;
  }
  float x[8];
  float y[8];
  #pragma unroll
  for (int i = 0; i < 8; i += 4) {
    // x = tl.load(x_ptr + offs, mask=mask)
    { words<4> t = load_if(mask[i], x_ptr + offs[i], words<4>{{word_of<float>(0.0f), word_of<float>(0.0f), word_of<float>(0.0f), word_of<float>(0.0f)}});
      x[i] = part_of<float>(t.v[0], 0);
      x[i + 1] = part_of<float>(t.v[1], 0);
      x[i + 2] = part_of<float>(t.v[2], 0);
      x[i + 3] = part_of<float>(t.v[3], 0);
    }
    // y = tl.load(y_ptr + offs, mask=mask)
    { words<4> t = load_if(mask[i], y_ptr + offs[i], words<4>{{word_of<float>(0.0f), word_of<float>(0.0f), word_of<float>(0.0f), word_of<float>(0.0f)}});
      y[i] = part_of<float>(t.v[0], 0);
      y[i + 1] = part_of<float>(t.v[1], 0);
      y[i + 2] = part_of<float>(t.v[2], 0);
      y[i + 3] = part_of<float>(t.v[3], 0);
    }
  }
  #pragma unroll
  for (int i = 0; i < 8; i += 4) {
    // tl.store(out_ptr + offs, x + y, mask=mask)
    store_if(mask[i], out_ptr + offs[i], words<4>{{word_of<float>(x[i] + y[i]), word_of<float>(x[i + 1] + y[i + 1]), word_of<float>(x[i + 2] + y[i + 2]), word_of<float>(x[i + 3] + y[i + 3])}});
  }
}
