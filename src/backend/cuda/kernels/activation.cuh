/* activation.cuh - activations and gated units; program.h says what they are. */
#ifndef MX_CUDA_ACTIVATION_CUH
#define MX_CUDA_ACTIVATION_CUH

#include "backend/cuda/kernels/device.cuh"
#include "backend/cuda/kernels/params.h"

__device__ __forceinline__ float activate(float x, int32_t act)
{
    if (act == ACT_SILU) {
        return x / (1.0f + expf(-x));
    }
    if (act == ACT_GELU) {
        return x * 0.5f * (1.0f + erff(x * 0.707106781f));
    }
    if (act == ACT_GELU_TANH) {
        return x * 0.5f * (1.0f + tanhf(0.797884561f * (x + 0.044715f * x * x * x)));
    }
    if (act == ACT_GELU_QUICK) {
        return x / (1.0f + expf(-1.702f * x));
    }
    if (act == ACT_SIGMOID) {
        return 1.0f / (1.0f + expf(-x));
    }
    const float positive = fmaxf(x, 0.0f);
    return act == ACT_RELU ? positive : act == ACT_RELU2 ? positive * positive : x;
}

/* act(x) * up */
__device__ __forceinline__ float gated(float x, float up, int32_t act)
{
    if (act == ACT_SWIGLU_OAI) {
        const float g = fminf(x, 7.0f);
        return g / (1.0f + expf(-1.702f * g)) * (fminf(fmaxf(up, -7.0f), 7.0f) + 1.0f);
    }
    return activate(x, act) * up;
}

#endif
