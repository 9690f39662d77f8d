/* memory_need.c - a sum and a sentence. */
#include "engine/memory_need.h"

static double gib(int64_t n_bytes)
{
    return (double)n_bytes / (double)((int64_t)1 << 30);
}

mx_status mx_memory_check(const mx_memory_need *need, int64_t n_available, mx_error *err)
{
    const double sum = (double)need->n_weight_bytes + (double)need->n_kv_bytes + (double)need->n_scratch_bytes;
    if (sum <= (double)n_available) {
        return MX_OK;
    }
    const char *advice = need->n_kv_bytes > need->n_weight_bytes ? "take a smaller context, or close other programs"
                                                                 : "take a smaller model, or close other programs";
    return mx_fail(err, MX_NO_MEMORY,
                   "the model needs %.2f GiB of memory (weights %.2f, context of %d tokens %.2f, buffers %.2f) and "
                   "%.2f are free: %s",
                   sum / (double)((int64_t)1 << 30), gib(need->n_weight_bytes), (int)need->n_ctx, gib(need->n_kv_bytes),
                   gib(need->n_scratch_bytes), gib(n_available), advice);
}
