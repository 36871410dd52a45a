extern "C" __global__ void __launch_bounds__(32) matmul_tile(float* a_ptr, float* b_ptr, float* c_ptr, int M, int N, int K) {
  __shared__ __align__(16) float shared_a[128];
  __shared__ __align__(16) float shared_b[128];
  int tile_j = threadIdx.x % 8;
  int b_j = threadIdx.x % 16;
  int tile_i = threadIdx.x / 8;
  int b_i = threadIdx.x / 16;
  // rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
  int pid_x = blockIdx.x;
  // cols = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
  int pid_y = blockIdx.y;
  int v11 = pid_y * 16;
  // a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
  int v20 = tile_j;
  bool v27 = v20 < K;
  // cols = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
  int v13 = b_j;
  int cols = v11 + v13;
  // b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
  bool v45 = cols < N;
  // rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
  int v8_0_0 = tile_i;
  int v8_1_0 = tile_i + 4;
  int v8_2_0 = tile_i + 8;
  int v8_3_0 = tile_i + 12;
  int rows_0_0 = pid_x * 16 + v8_0_0;
  int rows_1_0 = pid_x * 16 + v8_1_0;
  int rows_2_0 = pid_x * 16 + v8_2_0;
  int rows_3_0 = pid_x * 16 + v8_3_0;
  // a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
  int v17_0_0 = rows_0_0 * K;
  int v17_1_0 = rows_1_0 * K;
  int v17_2_0 = rows_2_0 * K;
  int v17_3_0 = rows_3_0 * K;
  float* v19_0_0 = a_ptr + v17_0_0;
  float* v19_1_0 = a_ptr + v17_1_0;
  float* v19_2_0 = a_ptr + v17_2_0;
  float* v19_3_0 = a_ptr + v17_3_0;
  float* v23_0_0 = v19_0_0 + v20;
  float* v23_1_0 = v19_1_0 + v20;
  float* v23_2_0 = v19_2_0 + v20;
  float* v23_3_0 = v19_3_0 + v20;
  bool v25_0_0 = rows_0_0 < M;
  bool v25_1_0 = rows_1_0 < M;
  bool v25_2_0 = rows_2_0 < M;
  bool v25_3_0 = rows_3_0 < M;
  bool v30_0_0 = v25_0_0 && v27;
  bool v30_1_0 = v25_1_0 && v27;
  bool v30_2_0 = v25_2_0 && v27;
  bool v30_3_0 = v25_3_0 && v27;
  shared_a[tile_i * 8 + tile_j] = v30_0_0 ? *v23_0_0 : 0.0f;
  shared_a[(tile_i + 4) * 8 + tile_j] = v30_1_0 ? *v23_1_0 : 0.0f;
  shared_a[(tile_i + 8) * 8 + tile_j] = v30_2_0 ? *v23_2_0 : 0.0f;
  shared_a[(tile_i + 12) * 8 + tile_j] = v30_3_0 ? *v23_3_0 : 0.0f;
  // b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
  int v32_0_0 = b_i;
  int v32_1_0 = b_i + 2;
  int v32_2_0 = b_i + 4;
  int v32_3_0 = b_i + 6;
  int v34_0_0 = v32_0_0 * N;
  int v34_1_0 = v32_1_0 * N;
  int v34_2_0 = v32_2_0 * N;
  int v34_3_0 = v32_3_0 * N;
  float* v36_0_0 = b_ptr + v34_0_0;
  float* v36_1_0 = b_ptr + v34_1_0;
  float* v36_2_0 = b_ptr + v34_2_0;
  float* v36_3_0 = b_ptr + v34_3_0;
  float* v39_0_0 = v36_0_0 + cols;
  float* v39_1_0 = v36_1_0 + cols;
  float* v39_2_0 = v36_2_0 + cols;
  float* v39_3_0 = v36_3_0 + cols;
  bool v41_0_0 = v32_0_0 < K;
  bool v41_1_0 = v32_1_0 < K;
  bool v41_2_0 = v32_2_0 < K;
  bool v41_3_0 = v32_3_0 < K;
  bool v48_0_0 = v41_0_0 && v45;
  bool v48_1_0 = v41_1_0 && v45;
  bool v48_2_0 = v41_2_0 && v45;
  bool v48_3_0 = v41_3_0 && v45;
  shared_b[b_i * 16 + b_j] = v48_0_0 ? *v39_0_0 : 0.0f;
  shared_b[(b_i + 2) * 16 + b_j] = v48_1_0 ? *v39_1_0 : 0.0f;
  shared_b[(b_i + 4) * 16 + b_j] = v48_2_0 ? *v39_2_0 : 0.0f;
  shared_b[(b_i + 6) * 16 + b_j] = v48_3_0 ? *v39_3_0 : 0.0f;
  // acc = tl.dot(a, b, input_precision="ieee")
  __syncthreads();
  float acc_0_0 = 0.0f;
  float acc_0_1 = 0.0f;
  float acc_1_0 = 0.0f;
  float acc_1_1 = 0.0f;
  float acc_2_0 = 0.0f;
  float acc_2_1 = 0.0f;
  float acc_3_0 = 0.0f;
  float acc_3_1 = 0.0f;
  #pragma unroll
  for (int dot_k_acc = 0; dot_k_acc < 8; ++dot_k_acc) {
    acc_0_0 += shared_a[tile_i * 8 + dot_k_acc] * shared_b[dot_k_acc * 16 + tile_j];
    acc_0_1 += shared_a[tile_i * 8 + dot_k_acc] * shared_b[dot_k_acc * 16 + (tile_j + 8)];
    acc_1_0 += shared_a[(tile_i + 4) * 8 + dot_k_acc] * shared_b[dot_k_acc * 16 + tile_j];
    acc_1_1 += shared_a[(tile_i + 4) * 8 + dot_k_acc] * shared_b[dot_k_acc * 16 + (tile_j + 8)];
    acc_2_0 += shared_a[(tile_i + 8) * 8 + dot_k_acc] * shared_b[dot_k_acc * 16 + tile_j];
    acc_2_1 += shared_a[(tile_i + 8) * 8 + dot_k_acc] * shared_b[dot_k_acc * 16 + (tile_j + 8)];
    acc_3_0 += shared_a[(tile_i + 12) * 8 + dot_k_acc] * shared_b[dot_k_acc * 16 + tile_j];
    acc_3_1 += shared_a[(tile_i + 12) * 8 + dot_k_acc] * shared_b[dot_k_acc * 16 + (tile_j + 8)];
  }
  __syncthreads();
  // tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))
  int v51_0_0 = rows_0_0 * N;
  int v51_1_0 = rows_1_0 * N;
  int v51_2_0 = rows_2_0 * N;
  int v51_3_0 = rows_3_0 * N;
  float* v53_0_0 = c_ptr + v51_0_0;
  float* v53_1_0 = c_ptr + v51_1_0;
  float* v53_2_0 = c_ptr + v51_2_0;
  float* v53_3_0 = c_ptr + v51_3_0;
  // cols = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
  int v12_0_0 = tile_j;
  int v12_0_1 = tile_j + 8;
  int cols_1_0_0 = v11 + v12_0_0;
  int cols_1_0_1 = v11 + v12_0_1;
  // b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
  bool v44_0_0 = cols_1_0_0 < N;
  bool v44_0_1 = cols_1_0_1 < N;
  // tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))
  float* v56_0_0 = v53_0_0 + cols_1_0_0;
  float* v56_0_1 = v53_0_0 + cols_1_0_1;
  float* v56_1_0 = v53_1_0 + cols_1_0_0;
  float* v56_1_1 = v53_1_0 + cols_1_0_1;
  float* v56_2_0 = v53_2_0 + cols_1_0_0;
  float* v56_2_1 = v53_2_0 + cols_1_0_1;
  float* v56_3_0 = v53_3_0 + cols_1_0_0;
  float* v56_3_1 = v53_3_0 + cols_1_0_1;
  bool v59_0_0 = v25_0_0 && v44_0_0;
  bool v59_0_1 = v25_0_0 && v44_0_1;
  bool v59_1_0 = v25_1_0 && v44_0_0;
  bool v59_1_1 = v25_1_0 && v44_0_1;
  bool v59_2_0 = v25_2_0 && v44_0_0;
  bool v59_2_1 = v25_2_0 && v44_0_1;
  bool v59_3_0 = v25_3_0 && v44_0_0;
  bool v59_3_1 = v25_3_0 && v44_0_1;
  if (v59_0_0) {
    *v56_0_0 = acc_0_0;
  }
  if (v59_0_1) {
    *v56_0_1 = acc_0_1;
  }
  if (v59_1_0) {
    *v56_1_0 = acc_1_0;
  }
  if (v59_1_1) {
    *v56_1_1 = acc_1_1;
  }
  if (v59_2_0) {
    *v56_2_0 = acc_2_0;
  }
  if (v59_2_1) {
    *v56_2_1 = acc_2_1;
  }
  if (v59_3_0) {
    *v56_3_0 = acc_3_0;
  }
  if (v59_3_1) {
    *v56_3_1 = acc_3_1;
  }
}
