/* cpu_check.h - whether the CPU can run a plan. */
#ifndef MX_BACKEND_CPU_CPU_CHECK_H
#define MX_BACKEND_CPU_CPU_CHECK_H

#include "backend/cpu/cpu_backend.h"

/* Checks every operation of the program: that the table has it, that its weights are of a format that we read, and
 * that shapes fit. MX_UNSUPPORTED or MX_INVALID, naming the operation and the weight. */
mx_status mx_cpu_check_program(const mx_program *program, const mx_cpu_op *ops, mx_error *err) MX_NODISCARD;

/* Whether the options have the communicators that this part of a divided model needs: MX_INVALID with the numbers. */
mx_status mx_cpu_check_shard(const mx_shard *shard, const mx_executor_options *options, mx_error *err) MX_NODISCARD;

/* Calls visit(arg, weight) for each weight that the operation uses as a vector: norms, biases and sinks. */
void mx_cpu_visit_vectors(const mx_op *op, void (*visit)(void *arg, int32_t weight), void *arg);

#endif
