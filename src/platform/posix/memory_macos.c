/* memory_macos.c - totals by sysctl and the Mach host statistics. */
#include <mach/mach.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include "platform/memory.h"

int64_t mx_memory_total(void)
{
    int64_t value = 0;
    size_t n_bytes = sizeof value;
    return sysctlbyname("hw.memsize", &value, &n_bytes, NULL, 0) == 0 ? value : INT64_MAX;
}

int64_t mx_memory_available(void)
{
    vm_statistics64_data_t stat;
    mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
    if (host_statistics64(mach_host_self(), HOST_VM_INFO64, (host_info64_t)&stat, &count) != KERN_SUCCESS) {
        return INT64_MAX;
    }
    const int64_t n_pages = (int64_t)stat.free_count + stat.inactive_count + stat.purgeable_count;
    return n_pages * (int64_t)sysconf(_SC_PAGESIZE);
}
