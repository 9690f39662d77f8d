/* rotation.cuh - one column of a rotated head. Source: Su et al., "RoFormer", arXiv 2104.09864. */
#ifndef MX_CUDA_ROTATION_CUH
#define MX_CUDA_ROTATION_CUH

#include "backend/cuda/kernels/device.cuh"

struct rotated_pair {
    int32_t i; /* of the pair */
    int32_t first;
    int32_t second;
    bool is_second; /* which of them column d is */
};

__device__ __forceinline__ rotated_pair pair_of(int32_t d, int32_t rot_dim, int32_t is_interleaved)
{
    const int32_t n_pairs = rot_dim / 2;
    if (is_interleaved) {
        return {d / 2, d / 2 * 2, d / 2 * 2 + 1, d % 2 != 0};
    }
    const int32_t i = d < n_pairs ? d : d - n_pairs;
    return {i, i, i + n_pairs, d >= n_pairs};
}

/* Column d of `head`; the angle is position * inv_freq in f32, as the reference has it. */
__device__ __forceinline__ float rotated(const float *head, int32_t d, const float *inv_freq, int32_t rot_dim,
                                         int32_t is_interleaved, float factor, int32_t position)
{
    if (d >= rot_dim) {
        return load_f32(head + d);
    }
    const rotated_pair pair = pair_of(d, rot_dim, is_interleaved);
    const float a = load_f32(head + pair.first);
    const float b = load_f32(head + pair.second);
    const float angle = (float)position * inv_freq[pair.i];
    const float c = cosf(angle) * factor;
    const float s = sinf(angle) * factor;
    return pair.is_second ? b * c + a * s : a * c - b * s;
}

#endif
