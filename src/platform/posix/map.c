/* map.c - mmap, and what happens when a mapped file is cut short.
 *
 * Reading past the new end of such a file raises SIGBUS. There is no way back into the code that read, so all that can
 * be done is to tell which file it was: mappings are kept in a list that the handler walks.
 */
#include "platform/map.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "platform/atomic.h"
#include "platform/os_error.h"
#include "platform/posix/io.h"
#include "platform/thread.h"

/* One open mapping of a program that has asked for reports; never freed, but taken again by a later mapping. */
typedef struct known_map {
    struct known_map *next;
    mx_atomic_ptr data; /* NULL: free to be taken */
    size_t n_bytes;
    char path[512]; /* the end of it, where it is longer */
} known_map;

static const uint8_t empty_file[1];

static mx_atomic_ptr first_known; /* known_map; the handler reads, so it only ever grows at its head */
static mx_mutex known_mutex;      /* of those who write */
static bool has_reports;
static const char *report_prefix;
static int report_exit_code;

static void remember(const mx_map *map, const char *path)
{
    if (!has_reports) {
        return;
    }
    mx_mutex_lock(&known_mutex);
    known_map *known = mx_atomic_load_ptr(&first_known);
    while (known && mx_atomic_load_ptr(&known->data)) {
        known = known->next;
    }
    const bool is_new = !known;
    known = is_new ? mx_calloc(1, sizeof *known) : known;
    if (known) { /* else: one file less that could be named */
        const size_t len = strlen(path);
        memcpy(known->path, path + (len < sizeof known->path ? 0 : len - sizeof known->path + 1),
               MX_MIN(len, sizeof known->path - 1) + 1);
        known->n_bytes = map->n_bytes;
        mx_atomic_store_ptr(&known->data, (void *)(uintptr_t)map->data);
        if (is_new) {
            known->next = mx_atomic_load_ptr(&first_known);
            mx_atomic_store_ptr(&first_known, known);
        }
    }
    mx_mutex_unlock(&known_mutex);
}

static void forget(const mx_map *map)
{
    for (known_map *k = mx_atomic_load_ptr(&first_known); k; k = k->next) {
        if (mx_atomic_load_ptr(&k->data) == map->data) {
            mx_atomic_store_ptr(&k->data, NULL);
            return;
        }
    }
}

/* Only calls that a signal handler may make. */
static void write_text(const char *text)
{
    const ssize_t unused = write(STDERR_FILENO, text, strlen(text));
    (void)unused;
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    for (const known_map *k = mx_atomic_load_ptr(&first_known); k; k = k->next) {
        const uintptr_t from = (uintptr_t)mx_atomic_load_ptr((mx_atomic_ptr *)(uintptr_t)&k->data);
        const uintptr_t at = (uintptr_t)info->si_addr;
        if (from && at >= from && at - from < k->n_bytes) {
            write_text(report_prefix);
            write_text(k->path);
            write_text(" cannot be read any more: it was cut short or its disk has failed while it was in use\n");
            _exit(report_exit_code);
        }
    }
    signal(number, SIG_DFL); /* not ours: the read is made again and ends the process as it would have */
}

void mx_map_report_faults(const char *prefix, int exit_code)
{
    struct sigaction action;
    mx_mutex_init(&known_mutex);
    report_prefix = prefix;
    report_exit_code = exit_code;
    has_reports = true;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, NULL);
}

mx_status mx_map_open(const char *path, mx_map *out, mx_error *err)
{
    *out = (mx_map){0};
    int fd;
    int64_t n_bytes = 0;
    MX_TRY(mx_io_open_regular(path, &fd, &n_bytes, err));
    mx_status st = MX_OK;
    if (n_bytes == 0) {
        out->data = empty_file; /* mmap refuses a length of zero */
    } else if ((uint64_t)n_bytes > SIZE_MAX) {
        st = mx_fail(err, MX_NO_MEMORY, "%s: %lld bytes do not fit this machine's address space", path,
                     (long long)n_bytes);
    } else {
        void *data = mmap(NULL, (size_t)n_bytes, PROT_READ, MAP_SHARED, fd, 0);
        if (data == MAP_FAILED) {
            st = mx_fail_os(err, "map", path);
        } else {
            *out = (mx_map){.data = data, .n_bytes = (size_t)n_bytes};
            remember(out, path);
        }
    }
    close(fd);
    return st;
}

void mx_map_close(mx_map *map)
{
    if (map->n_bytes > 0) {
        forget(map);
        munmap((void *)(uintptr_t)map->data, map->n_bytes);
    }
    *map = (mx_map){0};
}
