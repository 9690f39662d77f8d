/* cmd_doctor.c - mlxcel doctor: what this machine offers, what is missing for its GPUs, and the health of its models.
 */
#include <inttypes.h>
#include <stdio.h>

#include "backend/cuda/cuda_driver.h"
#include "backend/cuda/cuda_image.h"
#include "base/json.h"
#include "cli/text_io.h"
#include "hub/store.h"
#include "mlxcel.h"
#include "platform/cpu.h"
#include "platform/memory.h"

#define GIB           ((double)((int64_t)1 << 30))
#define MAX_REPORT    ((size_t)1 << 24)
#define VERSION(v)    (v) / 1000, (v) % 1000 / 10
#define VERSION_WORDS "%d.%d"

static mx_status print_processor(mx_buf *out, mx_error *err)
{
    const mx_cpu_info *cpu = mx_cpu_get();
    MX_TRY(mx_buf_printf(out, err, "mlxcel %s\nprocessor  %s, %d of %d threads may be used\ninstructions ",
                         mlxcel_version(), cpu->name[0] ? cpu->name : "of an unknown kind", cpu->n_usable,
                         cpu->n_logical));
    for (int32_t i = 0; i < MX_CPU_FEATURE_COUNT; i++) {
        if (mx_cpu_has((mx_cpu_feature)i)) {
            MX_TRY(mx_buf_printf(out, err, " %s", mx_cpu_feature_name((mx_cpu_feature)i)));
        }
    }
    return mx_buf_printf(out, err, "\nmemory     %.1f GiB, %.1f GiB free\n", (double)mx_memory_total() / GIB,
                         (double)mx_memory_available() / GIB);
}

static mx_status print_gpus(mx_buf *out, const mx_cuda_driver *driver, mx_error *err)
{
    const mx_cuda_image *image = mx_cuda_image_get();
    if (image) {
        MX_TRY(mx_buf_printf(out, err, "kernels    for NVIDIA GPUs of %s, by CUDA " VERSION_WORDS "\n", image->archs,
                             VERSION(image->toolkit)));
    } else {
        MX_TRY(mx_buf_printf(out, err, "kernels    none for GPUs in this program\n"));
    }
    if (driver->version > 0) {
        MX_TRY(mx_buf_printf(out, err, "driver     %s, supports CUDA " VERSION_WORDS "\n", driver->library_name,
                             VERSION(driver->version)));
    }
    for (int32_t i = 0; i < driver->n_devices; i++) {
        const mx_cuda_device_info *d = &driver->devices[i];
        MX_TRY(mx_buf_printf(out, err, "GPU %d      %s, compute capability %d.%d, %d multiprocessors, %.1f GiB%s%s\n",
                             i, d->name, d->cc_major, d->cc_minor, d->n_sms, (double)d->n_bytes / GIB,
                             d->is_mig ? ", a slice of a GPU" : "",
                             d->problem == MX_CUDA_NONE ? "" : ": too old to be used"));
    }
    if (driver->problem == MX_CUDA_NONE) {
        return mx_buf_printf(out, err, "GPUs can be used\n");
    }
    return mx_buf_printf(out, err, "GPUs cannot be used: %s\n  %s\n", driver->sentence,
                         mx_cuda_problem_advice(driver->problem));
}

static mx_status append_member(mx_buf *out, const char *key, const char *value, mx_error *err)
{
    MX_TRY(mx_buf_printf(out, err, "\"%s\": ", key));
    MX_TRY(mx_json_append_str(out, mx_str_from(value), err));
    return mx_buf_printf(out, err, ", ");
}

static mx_status append_processor(mx_buf *out, mx_error *err)
{
    const mx_cpu_info *cpu = mx_cpu_get();
    MX_TRY(mx_buf_printf(out, err, "{"));
    MX_TRY(append_member(out, "version", mlxcel_version(), err));
    MX_TRY(mx_buf_printf(out, err, "\"processor\": {"));
    MX_TRY(append_member(out, "name", cpu->name, err));
    MX_TRY(mx_buf_printf(out, err, "\"threads\": %d, \"usable_threads\": %d, \"features\": [", cpu->n_logical,
                         cpu->n_usable));
    const char *between = "";
    for (int32_t i = 0; i < MX_CPU_FEATURE_COUNT; i++) {
        if (mx_cpu_has((mx_cpu_feature)i)) {
            MX_TRY(mx_buf_printf(out, err, "%s\"%s\"", between, mx_cpu_feature_name((mx_cpu_feature)i)));
            between = ", ";
        }
    }
    return mx_buf_printf(out, err, "]}, \"memory\": {\"bytes\": %" PRId64 ", \"free_bytes\": %" PRId64 "}, ",
                         mx_memory_total(), mx_memory_available());
}

static mx_status append_gpus(mx_buf *out, const mx_cuda_driver *driver, mx_error *err)
{
    const mx_cuda_image *image = mx_cuda_image_get();
    MX_TRY(mx_buf_printf(out, err, "\"cuda\": {"));
    MX_TRY(append_member(out, "kernels", image ? image->archs : "", err));
    MX_TRY(append_member(out, "library", driver->library_name, err));
    MX_TRY(append_member(out, "problem", mx_cuda_problem_name(driver->problem), err));
    MX_TRY(append_member(out, "message", driver->sentence, err));
    MX_TRY(append_member(out, "advice", mx_cuda_problem_advice(driver->problem), err));
    MX_TRY(mx_buf_printf(out, err, "\"driver_cuda_version\": %d, \"devices\": [", driver->version));
    for (int32_t i = 0; i < driver->n_devices; i++) {
        const mx_cuda_device_info *d = &driver->devices[i];
        MX_TRY(mx_buf_printf(out, err, "%s{", i ? ", " : ""));
        MX_TRY(append_member(out, "name", d->name, err));
        MX_TRY(mx_buf_printf(out, err,
                             "\"compute_capability\": \"%d.%d\", \"multiprocessors\": %d, \"bytes\": %" PRId64
                             ", \"is_mig\": %s, \"usable\": %s}",
                             d->cc_major, d->cc_minor, d->n_sms, d->n_bytes, d->is_mig ? "true" : "false",
                             d->problem == MX_CUDA_NONE ? "true" : "false"));
    }
    return mx_buf_printf(out, err, "]}}\n");
}

/* The models on this machine; *n_bad becomes how many are damaged. Half downloaded ones are not: they are gone on with.
 */
static mx_status append_store(mx_buf *out, mx_arena *arena, bool as_json, int32_t *n_bad, mx_error *err)
{
    mx_store store = {0};
    mx_store_list list;
    mx_status st;
    MX_TRY_OR(done, st, mx_store_open(&store, err));
    MX_TRY_OR(done, st, mx_store_list_models(&store, arena, &list, err));
    MX_TRY_OR(done, st,
              as_json ? mx_buf_printf(out, err, "\"damaged_models\": [")
                      : mx_buf_printf(out, err, "models     %zu, in %s\n", list.n, store.models));
    for (size_t i = 0; i < list.n; i++) {
        const mx_store_entry *e = &list.items[i];
        if (!e->complaint || (e->is_partial && as_json)) {
            continue;
        }
        if (as_json) {
            MX_TRY_OR(done, st, mx_buf_printf(out, err, "%s{", *n_bad ? ", " : ""));
            MX_TRY_OR(done, st, append_member(out, "complaint", e->complaint, err));
            MX_TRY_OR(done, st, mx_buf_printf(out, err, "\"name\": \"%s/%s\"}", e->owner, e->name));
        } else {
            MX_TRY_OR(done, st, mx_buf_printf(out, err, "  %s/%s: %s\n", e->owner, e->name, e->complaint));
        }
        *n_bad += !e->is_partial;
    }
    st = as_json ? mx_buf_printf(out, err, "], ") : MX_OK;
done:
    mx_store_close(&store);
    return st;
}

int mx_cmd_doctor(const mx_cli_options *options)
{
    mx_error err;
    mx_arena arena;
    mx_cuda_driver driver;
    mx_buf report = {.max = MAX_REPORT};
    int32_t n_bad = 0;
    mx_arena_init(&arena, (size_t)1 << 30);
    /* A driver that is missing is what the report tells, not a failure of the command. */
    const bool has_gpu = mx_cuda_driver_open(NULL, &driver, NULL) == MX_OK;
    (void)has_gpu;
    mx_status st = options->as_json ? append_processor(&report, &err) : print_processor(&report, &err);
    st = st == MX_OK ? append_store(&report, &arena, options->as_json, &n_bad, &err) : st;
    if (st == MX_OK) {
        st = options->as_json ? append_gpus(&report, &driver, &err) : print_gpus(&report, &driver, &err);
    }
    int code = st == MX_OK ? mx_cli_print(mx_buf_view(&report)) : mx_cli_fail(&err);
    code = code == MX_EXIT_OK && n_bad > 0 ? MX_EXIT_FAILED : code;
    mx_cuda_driver_close(&driver);
    mx_buf_deinit(&report);
    mx_arena_deinit(&arena);
    return code;
}
