/* variants.h - the ways of computing that every operation is tested in: the plain kernels, and each mode with each
 * instruction set that this processor has.
 */
#ifndef MX_TESTS_OPS_VARIANTS_H
#define MX_TESTS_OPS_VARIANTS_H

#include "backend/cpu/kernels.h"
#include "backend/executor.h"

#define MAX_ISAS     8
#define MAX_VARIANTS (1 + 2 * MAX_ISAS)

/* Fills options for each variant; returns how many. */
static inline int32_t list_variants(mx_executor_options options[MAX_VARIANTS])
{
    const char *names[MAX_ISAS];
    const int32_t n_names = mx_cpu_kernels_list(names, MAX_ISAS);
    int32_t n = 0;
    options[n++] = (mx_executor_options){.kv_type = MX_KV_F32, .n_threads = 3, .cpu_mode = MX_CPU_REFERENCE};
    for (int32_t i = 0; i < n_names && i < MAX_ISAS; i++) {
        for (int32_t mode = MX_CPU_EXACT; mode <= MX_CPU_FAST; mode++) {
            options[n++] = (mx_executor_options){
                .kv_type = MX_KV_F32, .n_threads = 1 + i % 3, .cpu_mode = (mx_cpu_mode)mode, .cpu_isa = names[i]};
        }
    }
    return n;
}

static inline const char *variant_name(const mx_executor_options *o)
{
    return o->cpu_mode == MX_CPU_REFERENCE ? "reference" : o->cpu_isa;
}

#endif
