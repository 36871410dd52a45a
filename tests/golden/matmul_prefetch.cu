// `N` neighbouring elements that move as one.
template <class T, int N> struct alignas(sizeof(T) * N) vec { T v[N]; };
template <int N, class T> __device__ __forceinline__ vec<T, N> load_vec(const T* from) { return *reinterpret_cast<const vec<T, N>*>(from); }
template <int N, class T> __device__ __forceinline__ void store_vec(T* to, const vec<T, N>& x) { *reinterpret_cast<vec<T, N>*>(to) = x; }

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
    if (v31[i] && ks[0] < K && v46) {
      vec<float, 4> t = load_vec<4>(v26[i] + ks[0]);
      a[i][0] = t.v[0];
      a[i][1] = t.v[1];
      a[i][2] = t.v[2];
      a[i][3] = t.v[3];
    } else {
      a[i][0] = 0.0f;
      a[i][1] = 0.0f;
      a[i][2] = 0.0f;
      a[i][3] = 0.0f;
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
    v42[i] = cols[i] < N;
  }
  float b[2][4];
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    if (ks_1[i] < K && v42[0] && v46) {
      vec<float, 4> t = load_vec<4>(b_ptr + ks_1[i] * N + cols[0]);
      b[i][0] = t.v[0];
      b[i][1] = t.v[1];
      b[i][2] = t.v[2];
      b[i][3] = t.v[3];
    } else {
      b[i][0] = 0.0f;
      b[i][1] = 0.0f;
      b[i][2] = 0.0f;
      b[i][3] = 0.0f;
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
      if (v31[i] && ks_2[0] < K && v68) {
        vec<float, 4> t = load_vec<4>(v26[i] + ks_2[0]);
        a_1[i][0] = t.v[0];
        a_1[i][1] = t.v[1];
        a_1[i][2] = t.v[2];
        a_1[i][3] = t.v[3];
      } else {
        a_1[i][0] = 0.0f;
        a_1[i][1] = 0.0f;
        a_1[i][2] = 0.0f;
        a_1[i][3] = 0.0f;
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
      if (ks_3[i] < K && v42[0] && v68) {
        vec<float, 4> t = load_vec<4>(b_ptr + ks_3[i] * N + cols[0]);
        b_1[i][0] = t.v[0];
        b_1[i][1] = t.v[1];
        b_1[i][2] = t.v[2];
        b_1[i][3] = t.v[3];
      } else {
        b_1[i][0] = 0.0f;
        b_1[i][1] = 0.0f;
        b_1[i][2] = 0.0f;
        b_1[i][3] = 0.0f;
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
    if (rows_1[i] < M && cols_1[0] < N) store_vec(c_ptr + rows_1[i] * N + cols_1[0], vec<float, 4>{{acc[i][0], acc[i][1], acc[i][2], acc[i][3]}});
  }
}
