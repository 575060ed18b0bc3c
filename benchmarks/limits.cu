// Appended to field.cu: how fast this device does what a pair of tokens costs, from registers alone.

#define CHAINS 8

// CHAINS * passes fused multiply-adds in each thread.
extern "C" __global__ void multiply_adds(real *out, int passes) {
    real value[CHAINS];
    for (int k = 0; k < CHAINS; ++k) value[k] = (real)(threadIdx.x + k);
    for (int pass = 0; pass < passes; ++pass)
#pragma unroll
        for (int k = 0; k < CHAINS; ++k) value[k] = value[k] * (real)0.999 + (real)0.5;
    real sum = 0;
    for (int k = 0; k < CHAINS; ++k) sum += value[k];
    out[(long long)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// CHAINS * passes exponentials in each thread, each with one addition.
extern "C" __global__ void exponentials(real *out, int passes) {
    real value[CHAINS];
    for (int k = 0; k < CHAINS; ++k) value[k] = (real)0.001 * (real)(threadIdx.x + k);
    for (int pass = 0; pass < passes; ++pass)
#pragma unroll
        for (int k = 0; k < CHAINS; ++k) value[k] = power_of_two(-value[k]);
    real sum = 0;
    for (int k = 0; k < CHAINS; ++k) sum += value[k];
    out[(long long)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
