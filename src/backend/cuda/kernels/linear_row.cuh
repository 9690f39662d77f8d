/* linear_row.cuh - rows of x, four columns at a time. */
#ifndef MX_CUDA_LINEAR_ROW_CUH
#define MX_CUDA_LINEAR_ROW_CUH

#include "backend/cuda/kernels/device.cuh"

/* Columns k .. k + 3 of a row whose length is no multiple of 4; zeros past its end. */
__device__ static float4 load_odd_4(const float *x, int32_t k, int32_t n_cols)
{
    float4 v;
    v.x = k < n_cols ? load_f32(x + k) : 0.0f;
    v.y = k + 1 < n_cols ? load_f32(x + k + 1) : 0.0f;
    v.z = k + 2 < n_cols ? load_f32(x + k + 2) : 0.0f;
    v.w = k + 3 < n_cols ? load_f32(x + k + 3) : 0.0f;
    return v;
}

__device__ __forceinline__ float4 load_4(const float *x, int32_t k, int32_t n_cols)
{
    if (n_cols % 4) {
        return load_odd_4(x, k, n_cols);
    }
    float4 zero = {0.0f, 0.0f, 0.0f, 0.0f};
    return k < n_cols ? __ldcg((const float4 *)(x + k)) : zero;
}

#endif
