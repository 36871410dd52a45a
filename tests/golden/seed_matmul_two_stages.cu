extern "C" __global__ void __launch_bounds__(32) matmul_loop(float* a_ptr, float* b_ptr, float* c_ptr, int M, int N, int K) {
  __shared__ __align__(16) float shared_a[272];
  __shared__ __align__(16) float shared_b[256];
  int tile_j = threadIdx.x % 8;
  int tile_i = threadIdx.x / 8;
  int a_i = threadIdx.x / 16;
  int a_j = threadIdx.x % 16;
  // rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
  int pid_x = blockIdx.x;
  int v4 = pid_x * 8;
  // cols = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
  int pid_y = blockIdx.y;
  // rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
  int v9_0_0 = a_i;
  int v9_1_0 = a_i + 2;
  int v9_2_0 = a_i + 4;
  int v9_3_0 = a_i + 6;
  int rows_0_0 = v4 + v9_0_0;
  int rows_1_0 = v4 + v9_1_0;
  int rows_2_0 = v4 + v9_2_0;
  int rows_3_0 = v4 + v9_3_0;
  // a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
  int v21_0_0 = rows_0_0 * K;
  int v21_1_0 = rows_1_0 * K;
  int v21_2_0 = rows_2_0 * K;
  int v21_3_0 = rows_3_0 * K;
  float* v23_0_0 = a_ptr + v21_0_0;
  float* v23_1_0 = a_ptr + v21_1_0;
  float* v23_2_0 = a_ptr + v21_2_0;
  float* v23_3_0 = a_ptr + v21_3_0;
  bool v28_0_0 = rows_0_0 < M;
  bool v28_1_0 = rows_1_0 < M;
  bool v28_2_0 = rows_2_0 < M;
  bool v28_3_0 = rows_3_0 < M;
  // cols = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
  int v14 = tile_j;
  int cols = pid_y * 8 + v14;
  // b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
  bool v37 = cols < N;
  // for k in range(0, K, BK):
  float acc_0_0 = 0.0f;
  float acc_1_0 = 0.0f;
  for (int k = 0; k < K; k += 16) {
    // acc += tl.dot(a, b, input_precision="ieee")
    int dot_stage = (k / 16) & 1;
    // ks = k + tl.arange(0, BK)
    int ks = k + a_j;
    // a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
    int v42 = ks;
    bool v45 = v42 < K;
    float* v44_0_0 = v23_0_0 + v42;
    float* v44_1_0 = v23_1_0 + v42;
    float* v44_2_0 = v23_2_0 + v42;
    float* v44_3_0 = v23_3_0 + v42;
    bool v47_0_0 = v28_0_0 && v45;
    bool v47_1_0 = v28_1_0 && v45;
    bool v47_2_0 = v28_2_0 && v45;
    bool v47_3_0 = v28_3_0 && v45;
    shared_a[dot_stage * 136 + a_i * 17 + a_j] = v47_0_0 ? *v44_0_0 : 0.0f;
    shared_a[dot_stage * 136 + (a_i + 2) * 17 + a_j] = v47_1_0 ? *v44_1_0 : 0.0f;
    shared_a[dot_stage * 136 + (a_i + 4) * 17 + a_j] = v47_2_0 ? *v44_2_0 : 0.0f;
    shared_a[dot_stage * 136 + (a_i + 6) * 17 + a_j] = v47_3_0 ? *v44_3_0 : 0.0f;
    // ks = k + tl.arange(0, BK)
    int ks_1_0 = k + tile_i;
    int ks_1_1 = k + (tile_i + 4);
    int ks_1_2 = k + (tile_i + 8);
    int ks_1_3 = k + (tile_i + 12);
    // b = tl.load(b_ptr + ks[:, None] * N + cols, mask=(ks[:, None] < K) & (cols < N), other=0.0)
    int v48_0_0 = ks_1_0;
    int v48_1_0 = ks_1_1;
    int v48_2_0 = ks_1_2;
    int v48_3_0 = ks_1_3;
    int v49_0_0 = v48_0_0 * N;
    int v49_1_0 = v48_1_0 * N;
    int v49_2_0 = v48_2_0 * N;
    int v49_3_0 = v48_3_0 * N;
    float* v50_0_0 = b_ptr + v49_0_0;
    float* v50_1_0 = b_ptr + v49_1_0;
    float* v50_2_0 = b_ptr + v49_2_0;
    float* v50_3_0 = b_ptr + v49_3_0;
    float* v52_0_0 = v50_0_0 + cols;
    float* v52_1_0 = v50_1_0 + cols;
    float* v52_2_0 = v50_2_0 + cols;
    float* v52_3_0 = v50_3_0 + cols;
    bool v53_0_0 = v48_0_0 < K;
    bool v53_1_0 = v48_1_0 < K;
    bool v53_2_0 = v48_2_0 < K;
    bool v53_3_0 = v48_3_0 < K;
    bool v55_0_0 = v53_0_0 && v37;
    bool v55_1_0 = v53_1_0 && v37;
    bool v55_2_0 = v53_2_0 && v37;
    bool v55_3_0 = v53_3_0 && v37;
    shared_b[dot_stage * 128 + tile_i * 8 + tile_j] = v55_0_0 ? *v52_0_0 : 0.0f;
    shared_b[dot_stage * 128 + (tile_i + 4) * 8 + tile_j] = v55_1_0 ? *v52_1_0 : 0.0f;
    shared_b[dot_stage * 128 + (tile_i + 8) * 8 + tile_j] = v55_2_0 ? *v52_2_0 : 0.0f;
    shared_b[dot_stage * 128 + (tile_i + 12) * 8 + tile_j] = v55_3_0 ? *v52_3_0 : 0.0f;
    // acc += tl.dot(a, b, input_precision="ieee")
    __syncthreads();
    float v59_0_0 = 0.0f;
    float v59_1_0 = 0.0f;
    #pragma unroll
    for (int dot_k_59 = 0; dot_k_59 < 16; ++dot_k_59) {
      v59_0_0 += shared_a[dot_stage * 136 + tile_i * 17 + dot_k_59] * shared_b[dot_stage * 128 + dot_k_59 * 8 + tile_j];
      v59_1_0 += shared_a[dot_stage * 136 + (tile_i + 4) * 17 + dot_k_59] * shared_b[dot_stage * 128 + dot_k_59 * 8 + tile_j];
    }
    float acc_1_0_0 = acc_0_0 + v59_0_0;
    float acc_1_1_0 = acc_1_0 + v59_1_0;
    acc_0_0 = acc_1_0_0;
    acc_1_0 = acc_1_1_0;
  }
  // rows = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
  int v8_0_0 = tile_i;
  int v8_1_0 = tile_i + 4;
  int rows_1_0_0 = v4 + v8_0_0;
  int rows_1_1_0 = v4 + v8_1_0;
  // tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))
  int v61_0_0 = rows_1_0_0 * N;
  int v61_1_0 = rows_1_1_0 * N;
  float* v63_0_0 = c_ptr + v61_0_0;
  float* v63_1_0 = c_ptr + v61_1_0;
  float* v66_0_0 = v63_0_0 + cols;
  float* v66_1_0 = v63_1_0 + cols;
  // a = tl.load(a_ptr + rows * K + ks[None, :], mask=(rows < M) & (ks[None, :] < K), other=0.0)
  bool v27_0_0 = rows_1_0_0 < M;
  bool v27_1_0 = rows_1_1_0 < M;
  // tl.store(c_ptr + rows * N + cols, acc, mask=(rows < M) & (cols < N))
  bool v69_0_0 = v27_0_0 && v37;
  bool v69_1_0 = v27_1_0 && v37;
  if (v69_0_0) {
    *v66_0_0 = acc_0_0;
  }
  if (v69_1_0) {
    *v66_1_0 = acc_1_0;
  }
}
