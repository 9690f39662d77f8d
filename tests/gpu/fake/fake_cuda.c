/* fake_cuda.c - a stand-in for the driver's library, for tests of the loader on machines without a GPU.
 *
 * It exports what libcuda.so.1 and nvcuda.dll export of cuda_api.h. FAKE_CUDA in the environment, or a call of
 * fake_cuda_set, names how it behaves; with FAKE_CUDA_OLD defined it is a library that is too old to have
 * cuLaunchKernelEx. It runs nothing: functions beyond the probing ones answer "not supported".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda_api.h"

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT
#endif

#define NOT_SUPPORTED 801

typedef struct fake_device {
    const char *name;
    int32_t cc_major;
    int32_t cc_minor;
    int32_t n_sms;
    size_t n_bytes;
} fake_device;

typedef struct fake_mode {
    const char *name;
    mx_cu_result init;
    int32_t version;
    int32_t n_devices;
    fake_device devices[2];
} fake_mode;

#define GIB ((size_t)1 << 30)

static const fake_mode modes[] = {
    {"h200", 0, 13000, 1, {{"Fake H200", 9, 0, 132, 140 * GIB}}},
    {"two", 0, 13000, 2, {{"Fake H200", 9, 0, 132, 140 * GIB}, {"Fake V100", 7, 0, 80, 16 * GIB}}},
    {"v100", 0, 13000, 1, {{"Fake V100", 7, 0, 80, 16 * GIB}}},
    {"mig", 0, 13000, 1, {{"Fake H200 MIG 1g.18gb", 9, 0, 16, 18 * GIB}}},
    {"old_driver", 0, 11080, 1, {{"Fake A100", 8, 0, 108, 80 * GIB}}},
    {"none", MX_CU_NO_DEVICE, 13000, 0, {{0}}},
    {"empty", 0, 13000, 0, {{0}}},
    {"mismatch", MX_CU_SYSTEM_DRIVER_MISMATCH, 13000, 0, {{0}}},
    {"unknown", 999, 13000, 0, {{0}}},
};

static const fake_mode *chosen;

EXPORT int fake_cuda_set(const char *name);
int fake_cuda_set(const char *name)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(modes[i].name, name) == 0) {
            chosen = &modes[i];
            return 1;
        }
    }
    return 0;
}

static const fake_mode *current(void)
{
    if (!chosen) {
        const char *name = getenv("FAKE_CUDA");
        if (!name || !fake_cuda_set(name)) {
            chosen = &modes[0];
        }
    }
    return chosen;
}

#if defined(FAKE_CUDA_OLD)
#define cuLaunchKernelEx cuLaunchKernel /* the only one there was before CUDA 11.8 */
#endif
#define X(name, params) EXPORT mx_cu_result MX_CUDA_CALL name params;
MX_CUDA_PROBE_FUNCTIONS(X)
MX_CUDA_RUN_FUNCTIONS(X)
#undef X

mx_cu_result MX_CUDA_CALL cuInit(uint32_t flags)
{
    return flags == 0 ? current()->init : 1;
}

mx_cu_result MX_CUDA_CALL cuDriverGetVersion(int32_t *version)
{
    *version = current()->version;
    return MX_CU_SUCCESS;
}

mx_cu_result MX_CUDA_CALL cuGetErrorName(mx_cu_result result, const char **name)
{
    *name = result == MX_CU_NO_DEVICE                ? "CUDA_ERROR_NO_DEVICE"
            : result == MX_CU_SYSTEM_DRIVER_MISMATCH ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
                                                     : NULL;
    return *name ? MX_CU_SUCCESS : 1;
}

mx_cu_result MX_CUDA_CALL cuGetErrorString(mx_cu_result result, const char **text)
{
    *text = result == MX_CU_NO_DEVICE ? "no CUDA-capable device is detected" : NULL;
    return *text ? MX_CU_SUCCESS : 1;
}

mx_cu_result MX_CUDA_CALL cuDeviceGetCount(int32_t *count)
{
    *count = current()->n_devices;
    return MX_CU_SUCCESS;
}

mx_cu_result MX_CUDA_CALL cuDeviceGet(mx_cu_device *device, int32_t ordinal)
{
    *device = 10 + ordinal; /* a handle is not an ordinal */
    return ordinal >= 0 && ordinal < current()->n_devices ? MX_CU_SUCCESS : MX_CU_INVALID_DEVICE;
}

mx_cu_result MX_CUDA_CALL cuDeviceGetName(char *name, int32_t size, mx_cu_device device)
{
    snprintf(name, (size_t)size, "%s", current()->devices[device - 10].name);
    return MX_CU_SUCCESS;
}

mx_cu_result MX_CUDA_CALL cuDeviceTotalMem_v2(size_t *n_bytes, mx_cu_device device)
{
    *n_bytes = current()->devices[device - 10].n_bytes;
    return MX_CU_SUCCESS;
}

mx_cu_result MX_CUDA_CALL cuDeviceGetAttribute(int32_t *value, int32_t attribute, mx_cu_device device)
{
    const fake_device *d = &current()->devices[device - 10];
    *value = attribute == MX_CU_ATTRIBUTE_N_SMS      ? d->n_sms
             : attribute == MX_CU_ATTRIBUTE_CC_MAJOR ? d->cc_major
             : attribute == MX_CU_ATTRIBUTE_CC_MINOR ? d->cc_minor
                                                     : -1;
    return *value >= 0 ? MX_CU_SUCCESS : 1;
}

#define X(name, params)                   \
    mx_cu_result MX_CUDA_CALL name params \
    {                                     \
        return NOT_SUPPORTED;             \
    }
MX_CUDA_RUN_FUNCTIONS(X)
#undef X
