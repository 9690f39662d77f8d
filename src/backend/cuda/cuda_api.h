/* cuda_api.h - the part of NVIDIA's driver API that we use, declared by us: no toolkit header is needed to build.
 *
 * Names of functions are the versioned names that the library exports; its C prototypes are those of CUDA 12 and later.
 * No function here takes or gives a C `long`, a host callback or another function's address, so a bridge can forward
 * each of them between Windows and Linux.
 * Source: the CUDA driver API reference.
 */
#ifndef MX_BACKEND_CUDA_CUDA_API_H
#define MX_BACKEND_CUDA_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define MX_CUDA_CALL __stdcall
#else
#define MX_CUDA_CALL
#endif

typedef int32_t mx_cu_result; /* 0: no error */
typedef int32_t mx_cu_device;
typedef uint64_t mx_cu_ptr; /* an address on the device */
typedef struct mx_cu_context_ *mx_cu_context;
typedef struct mx_cu_module_ *mx_cu_module;
typedef struct mx_cu_function_ *mx_cu_function;
typedef struct mx_cu_stream_ *mx_cu_stream;
typedef struct mx_cu_graph_ *mx_cu_graph;
typedef struct mx_cu_graph_exec_ *mx_cu_graph_exec;

enum {
    MX_CU_SUCCESS = 0,
    MX_CU_OUT_OF_MEMORY = 2,
    MX_CU_STUB_LIBRARY = 34,
    MX_CU_DEVICE_UNAVAILABLE = 46,
    MX_CU_NO_DEVICE = 100,
    MX_CU_INVALID_DEVICE = 101,
    MX_CU_NO_BINARY_FOR_GPU = 209,
    MX_CU_UNSUPPORTED_PTX_VERSION = 222,
    MX_CU_OPERATING_SYSTEM = 304,
    MX_CU_SYSTEM_NOT_READY = 802,
    MX_CU_SYSTEM_DRIVER_MISMATCH = 803,
    MX_CU_COMPAT_NOT_SUPPORTED = 804,
};

enum { /* attributes of devices and functions, flags */
       MX_CU_ATTRIBUTE_N_SMS = 16,
       MX_CU_ATTRIBUTE_SHARED_BYTES = 97, /* that a block may have at most */
       MX_CU_ATTRIBUTE_CC_MAJOR = 75,
       MX_CU_ATTRIBUTE_CC_MINOR = 76,
       MX_CU_FUNC_MAX_DYNAMIC_SHARED = 8,
       MX_CU_STREAM_NON_BLOCKING = 1,
       MX_CU_CAPTURE_THREAD_LOCAL = 1,
       MX_CU_LAUNCH_PROGRAMMATIC = 6, /* a launch attribute: programmatic stream serialization */
};

typedef struct mx_cu_launch_attribute {
    int32_t id;
    int32_t reserved;
    union {
        int32_t flag;
        char bytes[64];
    } value;
} mx_cu_launch_attribute;

typedef struct mx_cu_launch_config {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t n_shared_bytes;
    mx_cu_stream stream;
    mx_cu_launch_attribute *attributes;
    uint32_t n_attributes;
} mx_cu_launch_config;

#if !defined(__cplusplus)
_Static_assert(sizeof(mx_cu_launch_attribute) == 72, "as the driver has it");
_Static_assert(sizeof(mx_cu_launch_config) == 56, "as the driver has it");
#endif

/* name, parameters; every one returns mx_cu_result */
#define MX_CUDA_PROBE_FUNCTIONS(X)                                      \
    X(cuInit, (uint32_t flags))                                         \
    X(cuDriverGetVersion, (int32_t * version))                          \
    X(cuGetErrorName, (mx_cu_result result, const char **name))         \
    X(cuGetErrorString, (mx_cu_result result, const char **text))       \
    X(cuDeviceGetCount, (int32_t * count))                              \
    X(cuDeviceGet, (mx_cu_device * device, int32_t ordinal))            \
    X(cuDeviceGetName, (char *name, int32_t size, mx_cu_device device)) \
    X(cuDeviceTotalMem_v2, (size_t * n_bytes, mx_cu_device device))     \
    X(cuDeviceGetAttribute, (int32_t * value, int32_t attribute, mx_cu_device device))

#define MX_CUDA_RUN_FUNCTIONS(X)                                                                                   \
    X(cuDevicePrimaryCtxRetain, (mx_cu_context * context, mx_cu_device device))                                    \
    X(cuDevicePrimaryCtxRelease_v2, (mx_cu_device device))                                                         \
    X(cuCtxSetCurrent, (mx_cu_context context))                                                                    \
    X(cuMemGetInfo_v2, (size_t * n_free, size_t * n_total))                                                        \
    X(cuMemAlloc_v2, (mx_cu_ptr * ptr, size_t n_bytes))                                                            \
    X(cuMemFree_v2, (mx_cu_ptr ptr))                                                                               \
    X(cuMemHostAlloc, (void **ptr, size_t n_bytes, uint32_t flags))                                                \
    X(cuMemFreeHost, (void *ptr))                                                                                  \
    X(cuMemcpyHtoDAsync_v2, (mx_cu_ptr to, const void *from, size_t n_bytes, mx_cu_stream stream))                 \
    X(cuMemcpyDtoHAsync_v2, (void *to, mx_cu_ptr from, size_t n_bytes, mx_cu_stream stream))                       \
    X(cuMemsetD8Async, (mx_cu_ptr to, uint8_t value, size_t n_bytes, mx_cu_stream stream))                         \
    X(cuModuleLoadData, (mx_cu_module * module, const void *image))                                                \
    X(cuModuleUnload, (mx_cu_module module))                                                                       \
    X(cuModuleGetFunction, (mx_cu_function * function, mx_cu_module module, const char *name))                     \
    X(cuFuncSetAttribute, (mx_cu_function function, int32_t attribute, int32_t value))                             \
    X(cuLaunchKernelEx, (const mx_cu_launch_config *config, mx_cu_function function, void **params, void **extra)) \
    X(cuStreamCreate, (mx_cu_stream * stream, uint32_t flags))                                                     \
    X(cuStreamDestroy_v2, (mx_cu_stream stream))                                                                   \
    X(cuStreamSynchronize, (mx_cu_stream stream))                                                                  \
    X(cuStreamBeginCapture_v2, (mx_cu_stream stream, int32_t mode))                                                \
    X(cuStreamEndCapture, (mx_cu_stream stream, mx_cu_graph * graph))                                              \
    X(cuGraphInstantiateWithFlags, (mx_cu_graph_exec * exec, mx_cu_graph graph, uint64_t flags))                   \
    X(cuGraphLaunch, (mx_cu_graph_exec exec, mx_cu_stream stream))                                                 \
    X(cuGraphExecDestroy, (mx_cu_graph_exec exec))                                                                 \
    X(cuGraphDestroy, (mx_cu_graph graph))

typedef struct mx_cuda_api {
#define X(name, params) mx_cu_result(MX_CUDA_CALL *name) params;
    MX_CUDA_PROBE_FUNCTIONS(X)
    MX_CUDA_RUN_FUNCTIONS(X)
#undef X
} mx_cuda_api;

#endif
