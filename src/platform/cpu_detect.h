/* cpu_detect.h - the two halves of mx_cpu_get, each written once a system or instruction set. Private to platform/. */
#ifndef MX_PLATFORM_CPU_DETECT_H
#define MX_PLATFORM_CPU_DETECT_H

#include "platform/cpu.h"

/* Fills name, features and cache sizes. */
void mx_cpu_detect_isa(mx_cpu_info *info);

/* Fills n_logical, n_physical, n_allowed and quota. What stays 0 is unknown. */
void mx_cpu_detect_counts(mx_cpu_info *info);

#endif
