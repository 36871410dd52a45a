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
// `N` neighbouring elements that move as one.
template <class T, int N> struct alignas(sizeof(T) * N) vec { T v[N]; };
template <int N, class T> __device__ __forceinline__ vec<T, N> load_vec(const T* from) { return *reinterpret_cast<const vec<T, N>*>(from); }
template <int N, class T> __device__ __forceinline__ void store_vec(T* to, const vec<T, N>& x) { *reinterpret_cast<vec<T, N>*>(to) = x; }
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

extern "C" __global__ void __launch_bounds__(128) matmul_loop(float* a_ptr, float* b_ptr, float* c_ptr, int M, int N, int K) {
  __shared__ __align__(16) float shared_a[2176];
  __shared__ __align__(16) float shared_b[2048];
  int tile_j = (threadIdx.x % 8) * 4 + (threadIdx.x / 64) * 32;
  int b_j = (threadIdx.x % 16) * 4;
  int tile_i = (threadIdx.x / 8 % 4) * 4 + (threadIdx.x / 32 % 2) * 32;
  int a_i = threadIdx.x / 4;
  int b_i = threadIdx.x / 16;
  int a_j = (threadIdx.x % 4) * 4;
  // rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
  int pid_x = blockIdx.x;
  int v4 = pid_x * 64;
  // cols = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
  int pid_y = blockIdx.y;
  int v14 = pid_y * 64;
  // acc += tl.dot(a, b, input_precision="ieee")
  bool v46 = 0 < K;
  float* v26[2];
  bool v31[2];
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    // rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    int rows = v4 + (a_i + i * 32);
    // a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
    v26[i] = a_ptr + rows * K;
    v31[i] = rows < M;
  }
  int ks[4];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    // ks = k + tl.arange(0, BK)
    ks[i] = a_j + i;
  }
  float a[2][4];
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    // a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
    { words<4> t = load_if(v31[i] && ks[0] < K && v46, v26[i] + ks[0], words<4>{{word_of<float>(0.0f), word_of<float>(0.0f), word_of<float>(0.0f), word_of<float>(0.0f)}});
      a[i][0] = part_of<float>(t.v[0], 0);
      a[i][1] = part_of<float>(t.v[1], 0);
      a[i][2] = part_of<float>(t.v[2], 0);
      a[i][3] = part_of<float>(t.v[3], 0);
    }
  }
  int ks_1[2];
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    // ks = k + tl.arange(0, BK)
    ks_1[i] = b_i + i * 8;
  }
  int cols[4];
  bool v42[4];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    // cols = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    cols[i] = v14 + (b_j + i);
    // b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
    v42[i] = cols[i / 4 * 4] < N;
  }
  float b[2][4];
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    { words<4> t = load_if(ks_1[i] < K && v42[0] && v46, b_ptr + ks_1[i] * N + cols[0], words<4>{{word_of<float>(0.0f), word_of<float>(0.0f), word_of<float>(0.0f), word_of<float>(0.0f)}});
      b[i][0] = part_of<float>(t.v[0], 0);
      b[i][1] = part_of<float>(t.v[1], 0);
      b[i][2] = part_of<float>(t.v[2], 0);
      b[i][3] = part_of<float>(t.v[3], 0);
    }
  }
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      // acc += tl.dot(a, b, input_precision="ieee")
      shared_a[(a_j + j) * 68 + (a_i + i * 32)] = a[i][j];
    }
  }
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      shared_b[(b_i + i * 8) * 64 + (b_j + j)] = b[i][j];
    }
  }
  __syncthreads();
  // for k in range(0, K, BK):
  float acc[8][4];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      acc[i][j] = 0.0f;
    }
  }
  int stage = 0;
  for (int k = 0; k < K; k += 16) {
    // acc += tl.dot(a, b, input_precision="ieee")
    int v67 = k + 16;
    bool v68 = v67 < K;
    int ks_2[4];
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
      // ks = k + tl.arange(0, BK)
      ks_2[i] = v67 + (a_j + i);
    }
    float a_1[2][4];
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      // a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
      { words<4> t = load_if(v31[i] && ks_2[0] < K && v68, v26[i] + ks_2[0], words<4>{{word_of<float>(0.0f), word_of<float>(0.0f), word_of<float>(0.0f), word_of<float>(0.0f)}});
        a_1[i][0] = part_of<float>(t.v[0], 0);
        a_1[i][1] = part_of<float>(t.v[1], 0);
        a_1[i][2] = part_of<float>(t.v[2], 0);
        a_1[i][3] = part_of<float>(t.v[3], 0);
      }
    }
    int ks_3[2];
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      // ks = k + tl.arange(0, BK)
      ks_3[i] = v67 + (b_i + i * 8);
    }
    float b_1[2][4];
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      // b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
      { words<4> t = load_if(ks_3[i] < K && v42[0] && v68, b_ptr + ks_3[i] * N + cols[0], words<4>{{word_of<float>(0.0f), word_of<float>(0.0f), word_of<float>(0.0f), word_of<float>(0.0f)}});
        b_1[i][0] = part_of<float>(t.v[0], 0);
        b_1[i][1] = part_of<float>(t.v[1], 0);
        b_1[i][2] = part_of<float>(t.v[2], 0);
        b_1[i][3] = part_of<float>(t.v[3], 0);
      }
    }
    // acc += tl.dot(a, b, input_precision="ieee")
    #pragma unroll
    for (int kk = 0; kk < 16; ++kk) {
      float a_run[8];
      #pragma unroll
      for (int i = 0; i < 8; i += 4) {
        vec<float, 4> t = load_vec<4>(&shared_a[stage * 1088 + kk * 68 + (tile_i + i % 4 + i / 4 * 16)]);
        a_run[i] = t.v[0];
        a_run[i + 1] = t.v[1];
        a_run[i + 2] = t.v[2];
        a_run[i + 3] = t.v[3];
      }
      float b_run[4];
      #pragma unroll
      for (int i = 0; i < 4; i += 4) {
        vec<float, 4> t = load_vec<4>(&shared_b[stage * 1024 + kk * 64 + tile_j]);
        b_run[i] = t.v[0];
        b_run[i + 1] = t.v[1];
        b_run[i + 2] = t.v[2];
        b_run[i + 3] = t.v[3];
      }
      #pragma unroll
      for (int i = 0; i < 8; ++i) {
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
          acc[i][j] = fmaf(a_run[i], b_run[j], acc[i][j]);
        }
      }
    }
    int next_stage = stage ^ 1;
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        shared_a[next_stage * 1088 + (a_j + j) * 68 + (a_i + i * 32)] = a_1[i][j];
      }
    }
    #pragma unroll
    for (int i = 0; i < 2; ++i) {
      #pragma unroll
      for (int j = 0; j < 4; ++j) {
        shared_b[next_stage * 1024 + (b_i + i * 8) * 64 + (b_j + j)] = b_1[i][j];
      }
    }
    __syncthreads();
    stage = next_stage;
  }
  int rows_1[8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    // rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    rows_1[i] = v4 + (tile_i + i % 4 + i / 4 * 16);
  }
  int cols_1[4];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    // cols = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    cols_1[i] = v14 + (tile_j + i);
  }
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    // tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))
    store_if(rows_1[i / 4 * 4] < M && cols_1[0] < N, c_ptr + rows_1[i] * N + cols_1[0], words<4>{{word_of<float>(acc[i][0]), word_of<float>(acc[i][1]), word_of<float>(acc[i][2]), word_of<float>(acc[i][3])}});
  }
}
