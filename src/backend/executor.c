/* executor.c - the table of devices, and the calls that every open executor answers. */
#include "backend/executor.h"

#include <stdio.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cuda/cuda_backend.h"
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

mx_status mx_executor_open(const char *device, const mx_plan *plan, const mx_executor_options *options,
                           mx_executor **out, mx_error *err)
{
    *out = NULL;
    for (size_t i = 0; i < MX_COUNTOF(backends); i++) {
        mx_executor_options with_number = *options;
        if (is_device(device, backends[i]->name, &with_number.i_device)) {
            return backends[i]->open(plan, &with_number, out, err);
        }
    }
    char names[128] = "";
    for (size_t i = 0; i < MX_COUNTOF(backends); i++) {
        const size_t n_used = strlen(names);
        (void)snprintf(names + n_used, sizeof names - n_used, "%s%s", i ? ", " : "", backends[i]->name);
    }
    return mx_fail(err, MX_INVALID, "there is no device \"%s\"; this build has: %s", device, names);
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
