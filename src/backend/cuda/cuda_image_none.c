/* cuda_image_none.c - a build without nvcc. */
#include "backend/cuda/cuda_image.h"

#include <stddef.h>

const mx_cuda_image *mx_cuda_image_get(void)
{
    return NULL;
}
