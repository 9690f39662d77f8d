/* attention_paged.h - ATTENTION of the tuned modes.
 *
 * Work is split by kv heads, and in prefill by blocks of tokens as well. Where every sequence brings one token, the
 * thread that appends a head's key is the one that reads it, and no barrier is needed in between, unless there are
 * fewer kv heads than threads: then the threads share a head's queries.
 */
#ifndef MX_BACKEND_CPU_ATTENTION_PAGED_H
#define MX_BACKEND_CPU_ATTENTION_PAGED_H

#include "backend/cpu/cpu_backend.h"

void mx_cpu_paged_attention(const mx_cpu_task *task);
mx_cpu_need mx_cpu_paged_attention_need(const mx_cpu *cpu, const mx_op *op);

#endif
