"""CUDA C++ by hand, as the generator would hand it over: kernels, and how to launch them."""

from __future__ import annotations

from tritium.ir import types as T

FLOATS = T.pointer(T.float32)

ADD = """\
extern "C" __global__ void __launch_bounds__(128)
add(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out, int n) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) out[i] = x[i] + y[i];
}
"""
ADD_NAMES, ADD_TYPES = ("x", "y", "out", "n"), (FLOATS, FLOATS, FLOATS, T.int32)

REVERSE = """\
extern "C" __global__ void __launch_bounds__(256) reverse(float* x) {
    __shared__ float tile[256];
    tile[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    x[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}
"""

SPILLS = """\
extern "C" __global__ void __launch_bounds__(1024) spills(float* x) {
    float a[200];
    for (int i = 0; i < 200; i++) a[i] = x[i * threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 200; i++) a[i] += a[(i * 7) % 200] * x[i];
    for (int i = 0; i < 200; i++) x[i * threadIdx.x] = a[i];
}
"""

DYNAMIC = """\
extern "C" __global__ void __launch_bounds__(64) dynamic(float* x, int n) {
    extern __shared__ float tile[];
    for (int i = threadIdx.x; i < n; i += 64) tile[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 64) x[i] = tile[n - 1 - i];
}
"""

# every kind of scalar parameter, written out again so that a GPU shows what arrived
SCALARS = """\
struct alignas(64) Block { char bytes[128]; };
extern "C" __global__ void __launch_bounds__(32)
scalars(double* out, bool flag, signed char i8, short i16, int i32, long long i64, unsigned char u8, unsigned short u16,
        unsigned u32, unsigned long long u64, unsigned short f16, unsigned short bf16, float f32, double f64,
        const __grid_constant__ Block block) {
    if (threadIdx.x == 0) {
        out[0] = flag; out[1] = i8; out[2] = i16; out[3] = i32; out[4] = (double)i64; out[5] = u8; out[6] = u16;
        out[7] = u32; out[8] = (double)u64; out[9] = f16; out[10] = bf16; out[11] = f32; out[12] = f64;
        out[13] = block.bytes[0]; out[14] = block.bytes[127]; out[15] = (double)((unsigned long long)&block % 64);
    }
}
"""
SCALARS_NAMES = (
    *(
        "out",
        "flag",
        "i8",
        "i16",
        "i32",
        "i64",
        "u8",
        "u16",
        "u32",
        "u64",
        "f16",
        "bf16",
        "f32",
        "f64",
        "block",
    ),
)
SCALARS_TYPES = (
    *(T.pointer(T.float64), T.int1, T.int8, T.int16, T.int32, T.int64, T.uint8, T.uint16, T.uint32, T.uint64),
    *(T.float16, T.bfloat16, T.float32, T.float64, None),
)
