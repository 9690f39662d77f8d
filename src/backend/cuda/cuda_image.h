/* cuda_image.h - the compiled GPU kernels inside this program.
 *
 * nvcc compiles kernels/ ahead of time, for each GPU generation and as PTX for later ones, into one compressed "fatbin"
 * that is embedded as bytes. A build without nvcc has none.
 */
#ifndef MX_BACKEND_CUDA_CUDA_IMAGE_H
#define MX_BACKEND_CUDA_CUDA_IMAGE_H

#include <stdint.h>

typedef struct mx_cuda_image {
    const uint8_t *bytes;
    const uint8_t *end;
    const char *archs;      /* "80 86 89 90a 100 120 ptx80": compute capabilities without the dot */
    int32_t toolkit;        /* of the compiler: 13000 for CUDA 13.0 */
    int32_t driver_version; /* the CUDA version that a driver must support to load it */
} mx_cuda_image;

/* NULL in a build without GPU kernels. Static. */
const mx_cuda_image *mx_cuda_image_get(void);

#endif
