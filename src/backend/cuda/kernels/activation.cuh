/* activation.cuh - the activations of gated units; program.h says what they are. */
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
    return x * 0.5f * (1.0f + tanhf(0.797884561f * (x + 0.044715f * x * x * x)));
}

#endif
