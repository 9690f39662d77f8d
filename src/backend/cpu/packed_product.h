/* packed_product.h - LINEAR and EXPERT_LINEAR on packed weights.
 *
 * Rows of activations are normalised where the operation says so and quantised once, in blocks of up to 8 rows that the
 * kernels take together; after a barrier every thread works on its own tiles of the weights. A plain product is one
 * segment of rows; with experts there is a segment for each expert that has rows, in the order of the experts.
 */
#ifndef MX_BACKEND_CPU_PACKED_PRODUCT_H
#define MX_BACKEND_CPU_PACKED_PRODUCT_H

#include "backend/cpu/cpu_backend.h"

void mx_cpu_packed_linear(const mx_cpu_task *task);
void mx_cpu_packed_expert_linear(const mx_cpu_task *task);
void mx_cpu_packed_head_linear(const mx_cpu_task *task);

/* Work space of both. */
mx_cpu_need mx_cpu_packed_product_need(const mx_cpu *cpu, const mx_op *op);

#endif
