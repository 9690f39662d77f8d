/* cpu_x86.c - name, features and caches by the CPUID instruction, on every system.
 *
 * Source: Intel 64 and IA-32 Software Developer's Manual, volume 2, CPUID; AMD64 Programmer's Manual, volume 3.
 */
#include <string.h>

#include "platform/cpu_detect.h"

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#else
#include <cpuid.h>
#endif

typedef struct cpuid_regs {
    uint32_t r[4]; /* eax, ebx, ecx, edx */
} cpuid_regs;
enum { EAX, EBX, ECX, EDX };

/* The answer of a leaf, all zero where the processor has no such leaf. */
static cpuid_regs cpuid(uint32_t leaf, uint32_t subleaf)
{
    cpuid_regs regs = {{0}};
#if defined(_MSC_VER) && !defined(__clang__)
    int found[4];
    __cpuid(found, (int)(leaf & 0x80000000u));
    if (leaf <= (uint32_t)found[0]) {
        __cpuidex(found, (int)leaf, (int)subleaf);
        memcpy(regs.r, found, sizeof regs.r);
    }
#else
    (void)__get_cpuid_count(leaf, subleaf, &regs.r[EAX], &regs.r[EBX], &regs.r[ECX], &regs.r[EDX]);
#endif
    return regs;
}

/* The register sets that the operating system saves (XCR0); 0 where it uses no XSAVE. */
static uint64_t saved_state(const cpuid_regs *leaf1)
{
    if (!(leaf1->r[ECX] >> 27 & 1)) {
        return 0;
    }
#if defined(_MSC_VER) && !defined(__clang__)
    return _xgetbv(0);
#else
    uint32_t lo;
    uint32_t hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return (uint64_t)hi << 32 | lo;
#endif
}

#define XCR0_AVX    0x06u    /* XMM and YMM */
#define XCR0_AVX512 0xe6u    /* and opmask, upper halves, upper registers */
#define XCR0_AMX    0x60000u /* tile configuration and data */

static void detect_features(mx_cpu_info *info)
{
    const cpuid_regs leaf[] = {cpuid(1, 0), cpuid(7, 0), cpuid(7, 1)};
    static const struct {
        uint8_t feature, leaf, reg, bit;
        uint32_t needs;
    } table[] = {
        {MX_CPU_FMA, 0, ECX, 12, XCR0_AVX},
        {MX_CPU_F16C, 0, ECX, 29, XCR0_AVX},
        {MX_CPU_AVX2, 1, EBX, 5, XCR0_AVX},
        {MX_CPU_AVX_VNNI, 2, EAX, 4, XCR0_AVX},
        {MX_CPU_AVX512F, 1, EBX, 16, XCR0_AVX512},
        {MX_CPU_AVX512BW, 1, EBX, 30, XCR0_AVX512},
        {MX_CPU_AVX512DQ, 1, EBX, 17, XCR0_AVX512},
        {MX_CPU_AVX512VL, 1, EBX, 31, XCR0_AVX512},
        {MX_CPU_AVX512_VNNI, 1, ECX, 11, XCR0_AVX512},
        {MX_CPU_AVX512_VBMI, 1, ECX, 1, XCR0_AVX512},
        {MX_CPU_AVX512_BF16, 2, EAX, 5, XCR0_AVX512},
        {MX_CPU_AMX_INT8, 1, EDX, 25, XCR0_AMX},
        {MX_CPU_AMX_BF16, 1, EDX, 22, XCR0_AMX},
        {MX_CPU_SHA_NI, 1, EBX, 29, 0},
    };
    const uint64_t saved = saved_state(&leaf[0]);
    for (size_t i = 0; i < MX_COUNTOF(table); i++) {
        const bool is_there = leaf[table[i].leaf].r[table[i].reg] >> table[i].bit & 1;
        if (is_there && (saved & table[i].needs) == table[i].needs) {
            info->features |= 1u << table[i].feature;
        }
    }
}

/* Leaf 4 (Intel) and leaf 0x8000001D (AMD) list caches in one format. */
static void detect_caches(mx_cpu_info *info)
{
    uint32_t list = 4;
    if ((cpuid(4, 0).r[EAX] & 31) == 0) {
        list = 0x8000001du;
    }
    for (uint32_t i = 0; i < 16; i++) {
        const cpuid_regs cache = cpuid(list, i);
        const uint32_t type = cache.r[EAX] & 31; /* 0 no more, 1 data, 2 instructions, 3 both */
        if (type == 0) {
            return;
        }
        const int64_t n_ways = (int64_t)(cache.r[EBX] >> 22) + 1;
        const int64_t n_partitions = (cache.r[EBX] >> 12 & 1023) + 1;
        const int64_t line = (cache.r[EBX] & 4095) + 1;
        const int64_t n_bytes = n_ways * n_partitions * line * ((int64_t)cache.r[ECX] + 1);
        const uint32_t level = cache.r[EAX] >> 5 & 7;
        if (level == 1 && type != 2) {
            info->l1d_bytes = n_bytes;
        } else if (level == 2) {
            info->l2_bytes = n_bytes;
        } else if (level == 3) {
            info->l3_bytes = n_bytes;
        }
    }
}

static void detect_name(mx_cpu_info *info)
{
    char name[49] = {0};
    for (uint32_t i = 0; i < 3; i++) {
        const cpuid_regs part = cpuid(0x80000002u + i, 0);
        memcpy(name + 16 * i, part.r, 16);
    }
    const char *start = name + strspn(name, " ");
    memcpy(info->name, start, strlen(start) + 1);
}

void mx_cpu_detect_isa(mx_cpu_info *info)
{
    detect_features(info);
    detect_caches(info);
    detect_name(info);
}
