/* cmd_version.c - mlxcel version: what this program is and what it was built for. */
#include <stdio.h>

#include "backend/cuda/cuda_image.h"
#include "cli/text_io.h"
#include "mlxcel.h"

#if defined(_WIN32)
#define SYSTEM "windows"
#elif defined(__APPLE__)
#define SYSTEM "macos"
#else
#define SYSTEM "linux"
#endif

int mx_cmd_version(const mx_cli_options *options)
{
    (void)options;
    char text[256];
    const mx_cuda_image *image = mx_cuda_image_get();
    (void)snprintf(text, sizeof text, "mlxcel %s (" SYSTEM " %s, %s%s)\n", mlxcel_version(),
                   MX_ARCH_X86_64    ? "x86_64"
                   : MX_ARCH_AARCH64 ? "aarch64"
                                     : "unknown processor",
                   image ? "NVIDIA GPUs of " : "no GPU kernels: built without nvcc", image ? image->archs : "");
    return mx_cli_print(mx_str_from(text));
}
