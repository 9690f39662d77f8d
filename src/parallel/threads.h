/* threads.h - communicators for ranks that are threads of one process: executors on the nodes or devices of one
 * machine, and tests. They read each other's memory; nothing is allocated after mx_thread_ranks_new. */
#ifndef MX_PARALLEL_THREADS_H
#define MX_PARALLEL_THREADS_H

#include "parallel/communicator.h"

#define MX_THREAD_RANKS_MAX 64

typedef struct mx_thread_ranks mx_thread_ranks;

/* A group of n_ranks. MX_INVALID (not 1 to MX_THREAD_RANKS_MAX), MX_NO_MEMORY. */
mx_status mx_thread_ranks_new(int32_t n_ranks, mx_thread_ranks **out, mx_error *err) MX_NODISCARD;

/* Frees the group, which no rank may be using. NULL is fine. */
void mx_thread_ranks_free(mx_thread_ranks *group);

/* One rank's end, borrowed until the group is freed. */
mx_communicator *mx_thread_ranks_view(mx_thread_ranks *group, int32_t i_rank);

/* Ends the calls that wait and those to come with MX_CANCELLED: for a rank that cannot go on. From any thread. Another
 * rank may still be reading, so buffers stay until all ranks have returned. */
void mx_thread_ranks_cancel(mx_thread_ranks *group);

#endif
