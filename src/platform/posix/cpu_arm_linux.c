/* cpu_arm_linux.c - features from the kernel's hwcaps, caches from sysfs. */
#include <asm/hwcap.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "platform/cpu_detect.h"

static void detect_features(mx_cpu_info *info)
{
    static const struct {
        mx_cpu_feature feature;
        unsigned long key; /* AT_HWCAP or AT_HWCAP2 */
        unsigned long mask;
    } table[] = {
        {MX_CPU_NEON, AT_HWCAP, HWCAP_ASIMD},           {MX_CPU_NEON_FP16, AT_HWCAP, HWCAP_ASIMDHP},
        {MX_CPU_NEON_DOTPROD, AT_HWCAP, HWCAP_ASIMDDP}, {MX_CPU_NEON_I8MM, AT_HWCAP2, HWCAP2_I8MM},
        {MX_CPU_NEON_BF16, AT_HWCAP2, HWCAP2_BF16},     {MX_CPU_NEON_SHA2, AT_HWCAP, HWCAP_SHA2},
    };
    for (size_t i = 0; i < MX_COUNTOF(table); i++) {
        if (getauxval(table[i].key) & table[i].mask) {
            info->features |= 1u << table[i].feature;
        }
    }
}

/* One line of /sys/devices/system/cpu/cpu0/cache/index<i>/<file>; false where there is none. */
static bool read_line(int i, const char *file, char *line, int cap)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", i, file);
    FILE *stream = fopen(path, "re");
    if (!stream) {
        return false;
    }
    const bool is_read = fgets(line, cap, stream) != NULL;
    fclose(stream);
    return is_read;
}

static void detect_caches(mx_cpu_info *info)
{
    char type[32];
    char text[32];
    for (int i = 0; i < 8 && read_line(i, "type", type, (int)sizeof type); i++) {
        int level = 0;
        long long n_kib = 0;
        if (type[0] == 'I' || !read_line(i, "level", text, (int)sizeof text) || sscanf(text, "%d", &level) != 1 ||
            !read_line(i, "size", text, (int)sizeof text) || sscanf(text, "%lldK", &n_kib) != 1) {
            continue;
        }
        int64_t *fields[] = {&info->l1d_bytes, &info->l2_bytes, &info->l3_bytes};
        if (level >= 1 && level <= 3) {
            *fields[level - 1] = (int64_t)n_kib * 1024;
        }
    }
}

void mx_cpu_detect_isa(mx_cpu_info *info)
{
    detect_features(info);
    detect_caches(info);
}
