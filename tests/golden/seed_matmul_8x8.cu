extern "C" __global__ void __launch_bounds__(32) matmul_tile(float* a_ptr, float* b_ptr, float* c_ptr, int M, int N, int K) {
  __shared__ __align__(16) float shared_a[64];
  __shared__ __align__(16) float shared_b[64];
  int tile_j = threadIdx.x % 8;
  int tile_i = threadIdx.x / 8;
  // rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
  int pid_x = blockIdx.x;
  // cols = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
  int pid_y = blockIdx.y;
  int v9 = tile_j;
  // a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
  bool v21 = v9 < K;
  // cols = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
  int cols = pid_y * 8 + v9;
  // b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
  bool v35 = cols < N;
  // rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
  int v5_0_0 = tile_i;
  int v5_1_0 = tile_i + 4;
  int rows_0_0 = pid_x * 8 + v5_0_0;
  int rows_1_0 = pid_x * 8 + v5_1_0;
  // a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
  int v12_0_0 = rows_0_0 * K;
  int v12_1_0 = rows_1_0 * K;
  float* v14_0_0 = a_ptr + v12_0_0;
  float* v14_1_0 = a_ptr + v12_1_0;
  float* v17_0_0 = v14_0_0 + v9;
  float* v17_1_0 = v14_1_0 + v9;
  bool v19_0_0 = rows_0_0 < M;
  bool v19_1_0 = rows_1_0 < M;
  bool v24_0_0 = v19_0_0 && v21;
  bool v24_1_0 = v19_1_0 && v21;
  shared_a[tile_i * 8 + tile_j] = v24_0_0 ? *v17_0_0 : 0.0f;
  shared_a[(tile_i + 4) * 8 + tile_j] = v24_1_0 ? *v17_1_0 : 0.0f;
  // b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
  int v27_0_0 = v5_0_0 * N;
  int v27_1_0 = v5_1_0 * N;
  float* v29_0_0 = b_ptr + v27_0_0;
  float* v29_1_0 = b_ptr + v27_1_0;
  float* v32_0_0 = v29_0_0 + cols;
  float* v32_1_0 = v29_1_0 + cols;
  bool v33_0_0 = v5_0_0 < K;
  bool v33_1_0 = v5_1_0 < K;
  bool v38_0_0 = v33_0_0 && v35;
  bool v38_1_0 = v33_1_0 && v35;
  shared_b[tile_i * 8 + tile_j] = v38_0_0 ? *v32_0_0 : 0.0f;
  shared_b[(tile_i + 4) * 8 + tile_j] = v38_1_0 ? *v32_1_0 : 0.0f;
  // acc = tl.dot(a, b, input_precision="ieee")
  __syncthreads();
  float acc_0_0 = 0.0f;
  float acc_1_0 = 0.0f;
  #pragma unroll
  for (int dot_k_acc = 0; dot_k_acc < 8; ++dot_k_acc) {
    acc_0_0 += shared_a[tile_i * 8 + dot_k_acc] * shared_b[dot_k_acc * 8 + tile_j];
    acc_1_0 += shared_a[(tile_i + 4) * 8 + dot_k_acc] * shared_b[dot_k_acc * 8 + tile_j];
  }
  __syncthreads();
  // tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))
  int v39_0_0 = rows_0_0 * N;
  int v39_1_0 = rows_1_0 * N;
  float* v41_0_0 = c_ptr + v39_0_0;
  float* v41_1_0 = c_ptr + v39_1_0;
  float* v43_0_0 = v41_0_0 + cols;
  float* v43_1_0 = v41_1_0 + cols;
  bool v44_0_0 = v19_0_0 && v35;
  bool v44_1_0 = v19_1_0 && v35;
  if (v44_0_0) {
    *v43_0_0 = acc_0_0;
  }
  if (v44_1_0) {
    *v43_1_0 = acc_1_0;
  }
}
