/* executor.c - the table of devices, and the calls that every open executor answers. */
#include "backend/executor.h"

#include <stdio.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/cuda_image.h"
#include "base/compiler.h"

static const mx_backend *const backends[] = {
    &mx_backend_cpu,
    &mx_backend_cuda,
};

/* Whether `device` is the back end called `name`, alone or with a number behind a colon, which goes to *number. */
static bool is_device(const char *device, const char *name, int32_t *number)
{
    const size_t n = strlen(name);
    if (strncmp(device, name, n) != 0) {
        return false;
    }
    *number = -1;
    if (device[n] == ':' && device[n + 1]) {
        int32_t value = 0;
        const char *at = device + n + 1;
        while (*at >= '0' && *at <= '9' && value < 1000) {
            value = value * 10 + (*at++ - '0');
        }
        *number = value;
        return *at == '\0';
    }
    return device[n] == '\0';
}

/* The back end of a device, and the number behind its name. */
static mx_status find_backend(const char *device, const mx_backend **out, int32_t *number, mx_error *err)
{
    char names[128] = "";
    for (size_t i = 0; i < MX_COUNTOF(backends); i++) {
        const size_t n_used = strlen(names);
        *out = backends[i];
        if (is_device(device, backends[i]->name, number)) {
            return MX_OK;
        }
        if (backends[i] != &mx_backend_cuda || mx_cuda_image_get()) {
            (void)snprintf(names + n_used, sizeof names - n_used, "%s%s", i ? ", " : "", backends[i]->name);
        }
    }
    return mx_fail(err, MX_INVALID, "there is no device \"%s\"; this build has: %s", device, names);
}

mx_status mx_executor_check_device(const char *device, mx_error *err)
{
    const mx_backend *backend;
    int32_t number;
    return find_backend(device, &backend, &number, err);
}

mx_status mx_executor_open(const char *device, const mx_plan *plan, const mx_executor_options *options,
                           mx_executor **out, mx_error *err)
{
    const mx_backend *backend;
    mx_executor_options with_number = *options;
    *out = NULL;
    MX_TRY(find_backend(device, &backend, &with_number.i_device, err));
    return backend->open(plan, &with_number, out, err);
}

mx_status mx_executor_run(mx_executor *executor, const mx_batch *batch, mx_error *err)
{
    return executor->run(executor, batch, err);
}

const float *mx_executor_view_logits(const mx_executor *executor)
{
    return executor->view_logits(executor);
}

mx_status mx_executor_copy_state(mx_executor *executor, int32_t from_slot, int32_t to_slot, mx_error *err)
{
    return executor->copy_state(executor, from_slot, to_slot, err);
}

void mx_executor_close(mx_executor *executor)
{
    if (executor) {
        executor->close(executor);
    }
}
