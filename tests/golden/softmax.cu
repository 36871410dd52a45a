typedef signed char i8;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
// e to the power of x: 2 ulp of the result, and half an ulp of the exponent's product with log2(e).
__device__ __forceinline__ float fast_exp(float x) { return exp2f(x * 1.442695041f); }
template <class To, class From> __device__ __forceinline__ To bits_as(From x) {
  static_assert(sizeof(To) == sizeof(From), "the width stays");
  union { From from; To to; } bits = {x};
  return bits.to;
}
// x of the lane whose number differs in the bits of `mask`; all lanes of the warp take part.
template <class T> __device__ __forceinline__ T from_lane(T x, int mask) {
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

extern "C" __global__ void __launch_bounds__(128) softmax(float* x_ptr, float* out_ptr, int n) {
  __shared__ __align__(16) float exchange_parts[4];
  __shared__ __align__(16) float exchange_parts_1[4];
  int tile_i = threadIdx.x;
  int tile_i_1 = threadIdx.x / 32;
  // row = tl.program_id(0)
  int row = blockIdx.x;
  // x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=-float("inf"))
  int v2 = row * n;
  bool v7[4];
  float x[4];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    v7[i] = tile_i + i * 128 < n;
    x[i] = v7[i] ? (x_ptr + v2)[tile_i + i * 128] : __int_as_float(0xff800000);
  }
  // weights = tl.exp(x - tl.max(x, axis=0))
  float v9_part = x[0];
  #pragma unroll
  for (int i = 1; i < 4; ++i) {
    v9_part = fmaxf(v9_part, x[i]);
  }
  v9_part = fmaxf(v9_part, from_lane(v9_part, 1));
  v9_part = fmaxf(v9_part, from_lane(v9_part, 2));
  v9_part = fmaxf(v9_part, from_lane(v9_part, 4));
  v9_part = fmaxf(v9_part, from_lane(v9_part, 8));
  v9_part = fmaxf(v9_part, from_lane(v9_part, 16));
  float v9 = v9_part;
  if (threadIdx.x % 32 == 0) exchange_parts[tile_i_1] = v9;
  __syncthreads();
  float v11[4];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    v11[i] = exchange_parts[i];
  }
  float v12_part = v11[0];
  #pragma unroll
  for (int i = 1; i < 4; ++i) {
    v12_part = fmaxf(v12_part, v11[i]);
  }
  float v12 = v12_part;
  float weights[4];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    weights[i] = fast_exp(x[i] - v12);
  }
  // tl.store(out_ptr + row * n + cols, weights / tl.sum(weights, axis=0), mask=cols < n)
  float v20_part = weights[0];
  #pragma unroll
  for (int i = 1; i < 4; ++i) {
    v20_part = v20_part + weights[i];
  }
  v20_part = v20_part + from_lane(v20_part, 1);
  v20_part = v20_part + from_lane(v20_part, 2);
  v20_part = v20_part + from_lane(v20_part, 4);
  v20_part = v20_part + from_lane(v20_part, 8);
  v20_part = v20_part + from_lane(v20_part, 16);
  float v20 = v20_part;
  if (threadIdx.x % 32 == 0) exchange_parts_1[tile_i_1] = v20;
  __syncthreads();
  float v22[4];
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    v22[i] = exchange_parts_1[i];
  }
  float v23_part = v22[0];
  #pragma unroll
  for (int i = 1; i < 4; ++i) {
    v23_part = v23_part + v22[i];
  }
  float v23 = v23_part;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (v7[i]) (out_ptr + v2)[tile_i + i * 128] = weights[i] / v23;
  }
}
