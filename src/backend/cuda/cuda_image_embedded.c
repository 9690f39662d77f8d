/* cuda_image_embedded.c - the kernels that the build embedded; cmake/cuda.cmake says for which GPUs. */
#include "backend/cuda/cuda_image.h"

extern const uint8_t mx_cuda_fatbin[]; /* cuda_fatbin.S */
extern const uint8_t mx_cuda_fatbin_end[];

const mx_cuda_image *mx_cuda_image_get(void)
{
    static const mx_cuda_image image = {
        .bytes = mx_cuda_fatbin,
        .end = mx_cuda_fatbin_end,
        .archs = MX_CUDA_ARCHS_TEXT,
        .toolkit = MX_CUDA_TOOLKIT,
        .driver_version = MX_CUDA_DRIVER_VERSION,
    };
    return &image;
}
