/* cuda_driver.c - opening the driver's library and finding out what can be used. */
#include "backend/cuda/cuda_driver.h"

#include <stdio.h>
#include <string.h>

#include "backend/cuda/cuda_image.h"
#include "base/arena.h"
#include "platform/env.h"

#define MIN_DRIVER_VERSION 12000 /* the newest functions of the table came with CUDA 12.0 */
#define MIN_CC_MAJOR       8

static const char *const library_names[] = {
#if defined(_WIN32)
    "nvcuda.dll",
#else
    "libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", /* Windows' Linux subsystem */
    "/run/opengl-driver/lib/libcuda.so.1",           /* NixOS */
    "/usr/local/nvidia/lib64/libcuda.so.1",          /* containers of some clouds */
#endif
};

static const struct {
    const char *name;
    const char *advice;
} problem_info[] = {
#define X(name, text, advice) {text, advice},
    MX_CUDA_PROBLEM_LIST(X)
#undef X
};

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define X(name, params) {#name, offsetof(mx_cuda_api, name)},
    MX_CUDA_PROBE_FUNCTIONS(X) MX_CUDA_RUN_FUNCTIONS(X)
#undef X
};

/* What cuInit's results mean beyond the driver's own text. */
static const struct {
    mx_cu_result result;
    const char *meaning;
} init_results[] = {
    {MX_CU_STUB_LIBRARY, "the library found is the toolkit's stub, not a driver"},
    {MX_CU_DEVICE_UNAVAILABLE, "another process holds the GPU alone"},
    {MX_CU_OPERATING_SYSTEM, "the driver's device files cannot be opened"},
    {MX_CU_SYSTEM_NOT_READY, "the machine's NVSwitch fabric manager is not running"},
    {MX_CU_SYSTEM_DRIVER_MISMATCH,
     "the library and the kernel's driver are of different versions: restart the machine"},
    {MX_CU_COMPAT_NOT_SUPPORTED, "a compatibility library was found that this GPU does not allow: remove it"},
};

const char *mx_cuda_problem_name(mx_cuda_problem problem)
{
    return problem_info[problem].name;
}

const char *mx_cuda_problem_advice(mx_cuda_problem problem)
{
    return problem_info[problem].advice;
}

static mx_status report(mx_cuda_driver *driver, mx_cuda_problem problem, int64_t native, mx_error *err)
{
    driver->problem = problem;
    return mx_fail_native(err, MX_DEVICE, native, "%s; %s", driver->sentence, mx_cuda_problem_advice(problem));
}

/* Puts a sentence into driver->sentence and makes the error from it. */
#define REPORT(driver, problem, native, err, ...)                               \
    ((void)snprintf((driver)->sentence, sizeof(driver)->sentence, __VA_ARGS__), \
     report((driver), (problem), (native), (err)))

static const char *result_name(const mx_cuda_driver *driver, mx_cu_result result)
{
    const char *name = NULL;
    return driver->api.cuGetErrorName(result, &name) == MX_CU_SUCCESS && name ? name : "an unknown error";
}

mx_status mx_cuda_check(const mx_cuda_driver *driver, mx_cu_result result, const char *what, mx_error *err)
{
    if (result == MX_CU_SUCCESS) {
        return MX_OK;
    }
    const char *text = NULL;
    if (driver->api.cuGetErrorString(result, &text) != MX_CU_SUCCESS || !text) {
        text = "the driver has no text for it";
    }
    return mx_fail_native(err, result == MX_CU_OUT_OF_MEMORY ? MX_NO_MEMORY : MX_DEVICE, result, "%s: %s (%s)", what,
                          result_name(driver, result), text);
}

static mx_status open_library(const char *library, mx_cuda_driver *driver, mx_error *err)
{
    mx_error first = {0};
    const char *const *names = library ? &library : library_names;
    const size_t n_names = library ? 1 : MX_COUNTOF(library_names);
    for (size_t i = 0; i < n_names; i++) {
        if (mx_library_open(names[i], &driver->library, i == 0 ? &first : NULL) == MX_OK) {
            (void)snprintf(driver->library_name, sizeof driver->library_name, "%s", names[i]);
            return MX_OK;
        }
    }
    return REPORT(driver, MX_CUDA_NO_LIBRARY, 0, err, "no NVIDIA driver: %s", first.message);
}

/* Fills the table; a library without one of the functions is older than any that we can use. */
static mx_status load_functions(mx_cuda_driver *driver, mx_error *err)
{
    for (size_t i = 0; i < MX_COUNTOF(functions); i++) {
        const mx_library_function function = mx_library_symbol(&driver->library, functions[i].name);
        if (!function) {
            return REPORT(driver, MX_CUDA_LIBRARY_TOO_OLD, 0, err,
                          "the NVIDIA driver library %s has no function %s: drivers from CUDA %d.0 on have it",
                          driver->library_name, functions[i].name, MIN_DRIVER_VERSION / 1000);
        }
        memcpy((char *)&driver->api + functions[i].offset, &function, sizeof function);
    }
    return MX_OK;
}

/* cuDriverGetVersion works before cuInit, so the version can be told even where that fails. */
static mx_status check_version(mx_cuda_driver *driver, mx_error *err)
{
    const mx_cuda_image *image = mx_cuda_image_get();
    const int32_t wanted =
        image && image->driver_version > MIN_DRIVER_VERSION ? image->driver_version : MIN_DRIVER_VERSION;
    if (driver->api.cuDriverGetVersion(&driver->version) != MX_CU_SUCCESS) {
        driver->version = 0;
    }
    if (driver->version < wanted) {
        return REPORT(driver, MX_CUDA_DRIVER_TOO_OLD, 0, err,
                      "the NVIDIA driver supports CUDA %d.%d, this program needs one that supports CUDA %d.%d",
                      driver->version / 1000, driver->version % 1000 / 10, wanted / 1000, wanted % 1000 / 10);
    }
    return MX_OK;
}

static mx_status report_no_device(mx_cuda_driver *driver, mx_cu_result result, mx_error *err)
{
    mx_arena arena;
    mx_arena_init(&arena, 1 << 16);
    const char *visible = mx_env_get(&arena, "CUDA_VISIBLE_DEVICES");
    mx_status st;
    if (visible) {
        st = REPORT(driver, MX_CUDA_HIDDEN, result, err,
                    "the NVIDIA driver (CUDA %d.%d) shows no GPU, and CUDA_VISIBLE_DEVICES is set to \"%.60s\"",
                    driver->version / 1000, driver->version % 1000 / 10, visible);
    } else {
        st = REPORT(driver, MX_CUDA_NO_DEVICE, result, err, "the NVIDIA driver (CUDA %d.%d) finds no GPU",
                    driver->version / 1000, driver->version % 1000 / 10);
    }
    mx_arena_deinit(&arena);
    return st;
}

static mx_status init(mx_cuda_driver *driver, mx_error *err)
{
    const mx_cu_result result = driver->api.cuInit(0);
    if (result == MX_CU_NO_DEVICE || result == MX_CU_INVALID_DEVICE) {
        return report_no_device(driver, result, err);
    }
    if (result != MX_CU_SUCCESS) {
        const char *meaning = "the driver cannot start";
        for (size_t i = 0; i < MX_COUNTOF(init_results); i++) {
            meaning = init_results[i].result == result ? init_results[i].meaning : meaning;
        }
        return REPORT(driver, MX_CUDA_INIT_FAILED, result, err, "the NVIDIA driver (CUDA %d.%d): %s: %s (error %d)",
                      driver->version / 1000, driver->version % 1000 / 10, meaning, result_name(driver, result),
                      result);
    }
    int32_t count = 0;
    if (driver->api.cuDeviceGetCount(&count) != MX_CU_SUCCESS || count <= 0) {
        return report_no_device(driver, MX_CU_NO_DEVICE, err);
    }
    driver->n_devices = MX_MIN(count, MX_CUDA_MAX_DEVICES);
    return MX_OK;
}

static mx_status describe_device(mx_cuda_driver *driver, int32_t ordinal, mx_error *err)
{
    const mx_cuda_api *api = &driver->api;
    mx_cuda_device_info *info = &driver->devices[ordinal];
    mx_cu_device device = 0;
    size_t n_bytes = 0;
    MX_TRY(mx_cuda_check(driver, api->cuDeviceGet(&device, ordinal), "asking for a GPU", err));
    MX_TRY(mx_cuda_check(driver, api->cuDeviceGetName(info->name, (int32_t)sizeof info->name, device),
                         "asking for a GPU's name", err));
    MX_TRY(mx_cuda_check(driver, api->cuDeviceTotalMem_v2(&n_bytes, device), "asking for a GPU's memory", err));
    MX_TRY(mx_cuda_check(driver, api->cuDeviceGetAttribute(&info->cc_major, MX_CU_ATTRIBUTE_CC_MAJOR, device),
                         "asking for a GPU's compute capability", err));
    MX_TRY(mx_cuda_check(driver, api->cuDeviceGetAttribute(&info->cc_minor, MX_CU_ATTRIBUTE_CC_MINOR, device),
                         "asking for a GPU's compute capability", err));
    MX_TRY(mx_cuda_check(driver, api->cuDeviceGetAttribute(&info->n_sms, MX_CU_ATTRIBUTE_N_SMS, device),
                         "asking for a GPU's multiprocessors", err));
    info->name[sizeof info->name - 1] = '\0';
    info->n_bytes = (int64_t)n_bytes;
    info->is_mig = strstr(info->name, " MIG ") != NULL;
    info->problem = info->cc_major < MIN_CC_MAJOR ? MX_CUDA_DEVICE_TOO_OLD : MX_CUDA_NONE;
    return MX_OK;
}

static mx_status describe_devices(mx_cuda_driver *driver, mx_error *err)
{
    int32_t n_usable = 0;
    for (int32_t i = 0; i < driver->n_devices; i++) {
        mx_error why = {0};
        if (describe_device(driver, i, &why) != MX_OK) {
            return REPORT(driver, MX_CUDA_INIT_FAILED, why.native, err, "the NVIDIA driver (CUDA %d.%d): %s",
                          driver->version / 1000, driver->version % 1000 / 10, why.message);
        }
        n_usable += driver->devices[i].problem == MX_CUDA_NONE;
    }
    if (n_usable == 0) {
        const mx_cuda_device_info *info = &driver->devices[0];
        return REPORT(driver, MX_CUDA_DEVICE_TOO_OLD, 0, err, "the GPU \"%s\" has compute capability %d.%d", info->name,
                      info->cc_major, info->cc_minor);
    }
    return MX_OK;
}

static mx_status open_driver(const char *library, mx_cuda_driver *driver, mx_error *err)
{
    MX_TRY(open_library(library, driver, err));
    MX_TRY(load_functions(driver, err));
    MX_TRY(check_version(driver, err));
    MX_TRY(init(driver, err));
    return describe_devices(driver, err);
}

mx_status mx_cuda_driver_open(const char *library, mx_cuda_driver *driver, mx_error *err)
{
    *driver = (mx_cuda_driver){0};
    const mx_status st = open_driver(library, driver, err);
    if (st != MX_OK && !library && !mx_cuda_image_get()) { /* whatever is wrong with the driver, mending it helps not */
        return REPORT(driver, MX_CUDA_NOT_BUILT, 0, err, "this build has no GPU kernels");
    }
    MX_TRY(st);
    if (!mx_cuda_image_get()) {
        return REPORT(driver, MX_CUDA_NOT_BUILT, 0, err,
                      "the GPU \"%s\" is there, but this program was built without GPU kernels",
                      driver->devices[0].name);
    }
    return MX_OK;
}

bool mx_cuda_is_installed(void)
{
    mx_cuda_driver driver = {0};
    const bool is_installed = open_library(NULL, &driver, NULL) == MX_OK;
    mx_library_close(&driver.library);
    return is_installed;
}

void mx_cuda_driver_close(mx_cuda_driver *driver)
{
    mx_library_close(&driver->library);
    *driver = (mx_cuda_driver){0};
}
