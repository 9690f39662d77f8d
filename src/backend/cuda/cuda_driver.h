/* cuda_driver.h - NVIDIA's driver, found at run time: its library, its version, its devices, or what is missing.
 *
 * A machine without the driver is a normal machine: nothing here is needed to start the program. Everything that can be
 * wrong is told apart, said with the versions found, and followed by what the user can do.
 * Opened by one thread; afterwards the table of functions is read-only and as thread-safe as the driver.
 */
#ifndef MX_BACKEND_CUDA_CUDA_DRIVER_H
#define MX_BACKEND_CUDA_CUDA_DRIVER_H

#include <stdbool.h>

#include "backend/cuda/cuda_api.h"
#include "base/error.h"
#include "platform/library.h"

/* name in code, name in doctor's JSON, what the user can do */
#define MX_CUDA_PROBLEM_LIST(X)                                                                                        \
    X(NONE, "none", "")                                                                                                \
    X(NOT_BUILT, "not_built", "use a program that was built where nvcc was found (docs/cuda.md)")                      \
    X(NO_LIBRARY, "no_library",                                                                                        \
      "install NVIDIA's display driver; in a container, start it with access to the GPUs (--gpus all)")                \
    X(LIBRARY_TOO_OLD, "library_too_old", "install a newer NVIDIA display driver")                                     \
    X(DRIVER_TOO_OLD, "driver_too_old", "install a newer NVIDIA display driver")                                       \
    X(NO_DEVICE, "no_device",                                                                                          \
      "check that nvidia-smi lists a GPU; a GPU in MIG mode needs a slice, and a container needs access (--gpus all)") \
    X(HIDDEN, "hidden", "unset CUDA_VISIBLE_DEVICES, or set it to the numbers that nvidia-smi -L lists")               \
    X(INIT_FAILED, "init_failed", "run nvidia-smi: it names the cause where the driver itself is at fault")            \
    X(DEVICE_TOO_OLD, "device_too_old",                                                                                \
      "GPUs from compute capability 8.0 on (Ampere: A100, RTX 30) are supported; use --device cpu")

typedef enum mx_cuda_problem {
#define X(name, text, advice) MX_CUDA_##name,
    MX_CUDA_PROBLEM_LIST(X)
#undef X
} mx_cuda_problem;

#define MX_CUDA_MAX_DEVICES 32

typedef struct mx_cuda_device_info {
    char name[96];
    int32_t cc_major; /* compute capability */
    int32_t cc_minor;
    int32_t n_sms;
    int64_t n_bytes;         /* memory */
    bool is_mig;             /* a slice of a GPU */
    mx_cuda_problem problem; /* NONE or DEVICE_TOO_OLD */
} mx_cuda_device_info;

typedef struct mx_cuda_driver {
    mx_library library; /* owned */
    char library_name[64];
    mx_cuda_api api;
    mx_cuda_problem problem; /* why no device can be used; NONE where one can */
    char sentence[480];      /* the problem in words, with what was found; "" where there is none */
    int32_t version;         /* the CUDA version that the driver supports, 1000 * major + 10 * minor; 0 unknown */
    int32_t n_devices;
    mx_cuda_device_info devices[MX_CUDA_MAX_DEVICES];
} mx_cuda_driver;

/* Opens the driver and asks it for its devices.
 *
 * library   path or name of the library, or NULL for the places where the system keeps it
 * *driver   filled as far as it went, in both cases; the caller closes it
 *
 * MX_DEVICE with the sentence and the advice when no device can be used. */
mx_status mx_cuda_driver_open(const char *library, mx_cuda_driver *driver, mx_error *err) MX_NODISCARD;

/* Whether the driver's library is on this machine at all. */
bool mx_cuda_is_installed(void);

/* A zeroed object is fine. */
void mx_cuda_driver_close(mx_cuda_driver *driver);

/* "no_library", and what the user can do. Static. */
const char *mx_cuda_problem_name(mx_cuda_problem problem);
const char *mx_cuda_problem_advice(mx_cuda_problem problem);

/* Fills err with "<what>: <the driver's name and text for the result>": MX_NO_MEMORY where device memory ran out, else
 * MX_DEVICE. MX_OK for result 0. */
mx_status mx_cuda_check(const mx_cuda_driver *driver, mx_cu_result result, const char *what,
                        mx_error *err) MX_NODISCARD;

#endif
