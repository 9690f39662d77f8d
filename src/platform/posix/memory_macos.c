/* memory_macos.c - anonymous mappings; totals by sysctl and the Mach host statistics. */
#include <mach/mach.h>
#include <mach/mach_vm.h>
#include <sys/mman.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "platform/memory.h"

mx_status mx_block_alloc(size_t n_bytes, mx_block *out, mx_error *err)
{
    *out = (mx_block){0};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (n_bytes > SIZE_MAX / 2) {
        return mx_fail_no_memory(err, n_bytes, "a block");
    }
    const size_t n = MX_MAX((n_bytes + page - 1) / page * page, page);
    const mach_vm_offset_t mask = n >= ((size_t)2 << 20) ? ((size_t)2 << 20) - 1 : 0;
    mach_vm_address_t address = 0;
    if (mach_vm_map(mach_task_self(), &address, n, mask, VM_FLAGS_ANYWHERE, MEMORY_OBJECT_NULL, 0, 0,
                    VM_PROT_READ | VM_PROT_WRITE, VM_PROT_READ | VM_PROT_WRITE, VM_INHERIT_COPY) != KERN_SUCCESS) {
        return mx_fail_no_memory(err, n_bytes, "a block");
    }
    *out = (mx_block){.ptr = (void *)(uintptr_t)address, .n_bytes = n};
    return MX_OK;
}

void mx_block_free(mx_block *block)
{
    if (block->ptr) {
        munmap(block->ptr, block->n_bytes);
    }
    *block = (mx_block){0};
}

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
