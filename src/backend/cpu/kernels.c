/* kernels.c - the instruction sets that this build knows, and the choice among them. */
#include "backend/cpu/kernels.h"

#include <string.h>

#include "base/compiler.h"
#include "platform/cpu.h"
#include "platform/thread.h"

#define MAX_NEEDS 6
#define MAX_FILLS 4

typedef struct instruction_set {
    const char *name;
    int32_t n_needs;
    mx_cpu_feature needs[MAX_NEEDS];
    void (*fills[MAX_FILLS])(mx_cpu_kernels *k); /* after the generic ones */
} instruction_set;

/* Best first. */
static const instruction_set instruction_sets[] = {
#if MX_ARCH_X86_64
    {"avx512",
     6,
     {MX_CPU_AVX512F, MX_CPU_AVX512BW, MX_CPU_AVX512DQ, MX_CPU_AVX512VL, MX_CPU_AVX512_VNNI, MX_CPU_F16C},
     {mx_cpu_kernels_fill_rows_avx512, mx_cpu_kernels_fill_packed_avx512, mx_cpu_kernels_fill_attend_avx512,
      mx_cpu_kernels_fill_recurrent_avx512}},
    {"avx2",
     3,
     {MX_CPU_AVX2, MX_CPU_FMA, MX_CPU_F16C},
     {mx_cpu_kernels_fill_rows_avx2, mx_cpu_kernels_fill_packed_avx2, mx_cpu_kernels_fill_attend_avx2,
      mx_cpu_kernels_fill_recurrent_avx2}},
#endif
#if MX_ARCH_AARCH64
    {"dotprod",
     1,
     {MX_CPU_NEON_DOTPROD},
     {mx_cpu_kernels_fill_packed_dotprod, mx_cpu_kernels_fill_attend_neon, mx_cpu_kernels_fill_recurrent_neon}},
    {"neon",
     1,
     {MX_CPU_NEON},
     {mx_cpu_kernels_fill_packed_neon, mx_cpu_kernels_fill_attend_neon, mx_cpu_kernels_fill_recurrent_neon}},
#endif
    {"generic", 0, {0}, {0}},
};

static mx_cpu_kernels tables[MX_COUNTOF(instruction_sets)];
static bool is_there[MX_COUNTOF(instruction_sets)];
static mx_once tables_once;

static void fill_tables(void)
{
    for (size_t i = 0; i < MX_COUNTOF(instruction_sets); i++) {
        const instruction_set *set = &instruction_sets[i];
        is_there[i] = true;
        for (int32_t j = 0; j < set->n_needs; j++) {
            is_there[i] = is_there[i] && mx_cpu_has(set->needs[j]);
        }
        mx_cpu_kernels_fill_packed_generic(&tables[i]);
        mx_cpu_kernels_fill_rows_generic(&tables[i]);
        mx_cpu_kernels_fill_attend_generic(&tables[i]);
        mx_cpu_kernels_fill_recurrent_generic(&tables[i]);
        for (int32_t j = 0; j < MAX_FILLS && set->fills[j]; j++) {
            set->fills[j](&tables[i]);
        }
        tables[i].name = set->name;
    }
}

const mx_cpu_kernels *mx_cpu_kernels_find(const char *isa)
{
    mx_once_run(&tables_once, fill_tables);
    for (size_t i = 0; i < MX_COUNTOF(instruction_sets); i++) {
        if (is_there[i] && (!isa || strcmp(isa, instruction_sets[i].name) == 0)) {
            return &tables[i];
        }
    }
    return NULL;
}

int32_t mx_cpu_kernels_list(const char **names, int32_t n)
{
    int32_t n_there = 0;
    mx_once_run(&tables_once, fill_tables);
    for (size_t i = 0; i < MX_COUNTOF(instruction_sets); i++) {
        if (is_there[i] && n_there < n) {
            names[n_there] = instruction_sets[i].name;
        }
        n_there += is_there[i];
    }
    return n_there;
}
