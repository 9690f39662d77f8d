/* activation.cuh - gated units; program.h says what their activations are. */
#ifndef MX_CUDA_ACTIVATION_CUH
#define MX_CUDA_ACTIVATION_CUH

#include "backend/cuda/kernels/device.cuh"
#include "backend/cuda/kernels/params.h"

/* act(x) * up */
__device__ __forceinline__ float gated(float x, float up, int32_t act)
{
    if (act == ACT_SILU) {
        return x / (1.0f + expf(-x)) * up;
    }
    if (act == ACT_GELU) {
        return x * 0.5f * (1.0f + erff(x * 0.707106781f)) * up;
    }
    if (act == ACT_SIGMOID) {
        return up / (1.0f + expf(-x));
    }
    if (act == ACT_SWIGLU_OAI) {
        const float g = fminf(x, 7.0f);
        return g / (1.0f + expf(-1.702f * g)) * (fminf(fmaxf(up, -7.0f), 7.0f) + 1.0f);
    }
    return x * 0.5f * (1.0f + tanhf(0.797884561f * (x + 0.044715f * x * x * x))) * up;
}

#endif
