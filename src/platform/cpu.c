/* cpu.c - asks once and settles the number of usable threads. */
#include "platform/cpu.h"

#include "platform/cpu_detect.h"
#include "platform/thread.h"

static mx_cpu_info cpu_info;
static mx_once cpu_once;

static void detect(void)
{
    mx_cpu_info *info = &cpu_info;
    mx_cpu_detect_isa(info);
    mx_cpu_detect_counts(info);
    info->n_logical = MX_MAX(info->n_logical, 1);
    info->n_allowed = info->n_allowed > 0 ? info->n_allowed : info->n_logical;
    info->n_physical = info->n_physical > 0 ? info->n_physical : info->n_logical;
    info->n_usable = info->n_allowed;
    if (info->quota > 0 && info->quota < info->n_allowed) {
        const int32_t whole = (int32_t)info->quota;
        info->n_usable = MX_MAX(1, whole + (info->quota > whole));
    }
}

const mx_cpu_info *mx_cpu_get(void)
{
    mx_once_run(&cpu_once, detect);
    return &cpu_info;
}

const char *mx_cpu_feature_name(mx_cpu_feature feature)
{
    static const char *const names[] = {
#define X(name, text) text,
        MX_CPU_FEATURE_LIST(X)
#undef X
    };
    return names[feature];
}
