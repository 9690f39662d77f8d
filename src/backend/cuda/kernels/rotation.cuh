/* rotation.cuh - one column of a rotated head. Source: Su et al., "RoFormer", arXiv 2104.09864. */
#ifndef MX_CUDA_ROTATION_CUH
#define MX_CUDA_ROTATION_CUH

#include "backend/cuda/kernels/device.cuh"

/* Column d of `head`; the angle is position * inv_freq in f32, as the reference has it. */
template <typename LOAD>
__device__ __forceinline__ float rotated(LOAD head, int32_t d, const float *inv_freq, int32_t rot_dim,
                                         int32_t is_interleaved, float factor, int32_t position)
{
    if (d >= rot_dim) {
        return head(d);
    }
    const int32_t n_pairs = rot_dim / 2;
    const int32_t i = is_interleaved ? d / 2 : d % n_pairs;
    const bool is_second = is_interleaved ? d % 2 : d >= n_pairs;
    const float a = head(is_interleaved ? 2 * i : i);
    const float b = head(is_interleaved ? 2 * i + 1 : i + n_pairs);
    const float angle = (float)position * inv_freq[i];
    const float c = cosf(angle) * factor;
    const float s = sinf(angle) * factor;
    return is_second ? b * c + a * s : a * c - b * s;
}

#endif
