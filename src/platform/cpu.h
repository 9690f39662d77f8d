/* cpu.h - what the processor can do, and how much of it this process may use. */
#ifndef MX_PLATFORM_CPU_H
#define MX_PLATFORM_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#if MX_ARCH_X86_64
#include <immintrin.h>
#endif

/* name in code, name for people; usable means that the operating system saves the registers too */
#define MX_CPU_FEATURE_LIST(X)    \
    X(AVX2, "avx2")               \
    X(FMA, "fma")                 \
    X(F16C, "f16c")               \
    X(AVX_VNNI, "avx_vnni")       \
    X(AVX512F, "avx512f")         \
    X(AVX512BW, "avx512bw")       \
    X(AVX512DQ, "avx512dq")       \
    X(AVX512VL, "avx512vl")       \
    X(AVX512_VNNI, "avx512_vnni") \
    X(AVX512_VBMI, "avx512_vbmi") \
    X(AVX512_BF16, "avx512_bf16") \
    X(AMX_INT8, "amx_int8")       \
    X(AMX_BF16, "amx_bf16")       \
    X(SHA_NI, "sha_ni")           \
    X(NEON, "neon")               \
    X(NEON_FP16, "fp16")          \
    X(NEON_DOTPROD, "dotprod")    \
    X(NEON_I8MM, "i8mm")          \
    X(NEON_BF16, "bf16")          \
    X(NEON_SHA2, "sha2")

typedef enum mx_cpu_feature {
#define X(name, text) MX_CPU_##name,
    MX_CPU_FEATURE_LIST(X)
#undef X
        MX_CPU_FEATURE_COUNT
} mx_cpu_feature;

typedef struct mx_cpu_info {
    char name[64];      /* "AMD EPYC 9354 32-Core Processor"; "" where unknown */
    uint32_t features;  /* bit 1 << MX_CPU_x for each usable feature */
    int32_t n_logical;  /* hardware threads that are on line */
    int32_t n_physical; /* cores */
    int32_t n_allowed;  /* hardware threads in this process's affinity mask */
    double quota;       /* processors' worth of time that a container may use; 0 where nothing is set */
    int32_t n_usable;   /* n_allowed, less where the quota is smaller (rounded up), at least 1 */
    int64_t l1d_bytes;  /* of one core; 0 where unknown, so are the next two */
    int64_t l2_bytes;   /* of one core or cluster */
    int64_t l3_bytes;   /* of one socket or chiplet */
} mx_cpu_info;

/* Asked of the machine once, at the first call; safe from any thread. Static. */
const mx_cpu_info *mx_cpu_get(void);

static inline bool mx_cpu_has(mx_cpu_feature feature)
{
    return mx_cpu_get()->features >> feature & 1;
}

/* "avx2". Static. */
const char *mx_cpu_feature_name(mx_cpu_feature feature);

/* Tells the core that this is a waiting loop. */
static inline void mx_cpu_pause(void)
{
#if MX_ARCH_X86_64
    _mm_pause();
#elif MX_ARCH_AARCH64
    __asm__ volatile("isb" ::: "memory"); /* yield does nothing on most cores; isb waits some 20 cycles */
#endif
}

#endif
