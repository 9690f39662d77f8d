/* cpu_macos.c - everything by sysctl. macOS has no affinity masks and no quotas. */
#include <sys/sysctl.h>

#include "platform/cpu_detect.h"

static int64_t read_number(const char *name)
{
    int64_t value = 0; /* little-endian, so a 32-bit answer fills the lower half */
    size_t n_bytes = sizeof value;
    return sysctlbyname(name, &value, &n_bytes, NULL, 0) == 0 ? value : 0;
}

#if MX_ARCH_AARCH64
void mx_cpu_detect_isa(mx_cpu_info *info)
{
    static const struct {
        mx_cpu_feature feature;
        const char *name;
    } table[] = {
        {MX_CPU_NEON, "hw.optional.neon"},
        {MX_CPU_NEON_FP16, "hw.optional.arm.FEAT_FP16"},
        {MX_CPU_NEON_DOTPROD, "hw.optional.arm.FEAT_DotProd"},
        {MX_CPU_NEON_I8MM, "hw.optional.arm.FEAT_I8MM"},
        {MX_CPU_NEON_BF16, "hw.optional.arm.FEAT_BF16"},
    };
    for (size_t i = 0; i < MX_COUNTOF(table); i++) {
        if (read_number(table[i].name) == 1) {
            info->features |= 1u << table[i].feature;
        }
    }
    info->l1d_bytes = read_number("hw.perflevel0.l1dcachesize");
    info->l2_bytes = read_number("hw.perflevel0.l2cachesize");
    size_t n_bytes = sizeof info->name;
    if (sysctlbyname("machdep.cpu.brand_string", info->name, &n_bytes, NULL, 0) != 0) {
        info->name[0] = '\0';
    }
}
#endif

void mx_cpu_detect_counts(mx_cpu_info *info)
{
    info->n_logical = (int32_t)read_number("hw.logicalcpu");
    info->n_physical = (int32_t)read_number("hw.physicalcpu");
}
