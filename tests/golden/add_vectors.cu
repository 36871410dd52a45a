// `N` neighbouring elements that move as one.
template <class T, int N> struct alignas(sizeof(T) * N) vec { T v[N]; };
template <int N, class T> __device__ __forceinline__ vec<T, N> load_vec(const T* from) { return *reinterpret_cast<const vec<T, N>*>(from); }
template <int N, class T> __device__ __forceinline__ void store_vec(T* to, const vec<T, N>& x) { *reinterpret_cast<vec<T, N>*>(to) = x; }

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
    mask[i] = offs[i] < n;
  }
  float x[8];
  float y[8];
  #pragma unroll
  for (int i = 0; i < 8; i += 4) {
    // x = tl.load(x_ptr + offs, mask=mask)
    if (mask[i]) {
      vec<float, 4> t = load_vec<4>(x_ptr + offs[i]);
      x[i] = t.v[0];
      x[i + 1] = t.v[1];
      x[i + 2] = t.v[2];
      x[i + 3] = t.v[3];
    } else {
      x[i] = 0.0f;
      x[i + 1] = 0.0f;
      x[i + 2] = 0.0f;
      x[i + 3] = 0.0f;
    }
    // y = tl.load(y_ptr + offs, mask=mask)
    if (mask[i]) {
      vec<float, 4> t = load_vec<4>(y_ptr + offs[i]);
      y[i] = t.v[0];
      y[i + 1] = t.v[1];
      y[i + 2] = t.v[2];
      y[i + 3] = t.v[3];
    } else {
      y[i] = 0.0f;
      y[i + 1] = 0.0f;
      y[i + 2] = 0.0f;
      y[i + 3] = 0.0f;
    }
  }
  #pragma unroll
  for (int i = 0; i < 8; i += 4) {
    // tl.store(out_ptr + offs, x + y, mask=mask)
    if (mask[i]) store_vec(out_ptr + offs[i], vec<float, 4>{{x[i] + y[i], x[i + 1] + y[i + 1], x[i + 2] + y[i + 2], x[i + 3] + y[i + 3]}});
  }
}
