/* plan.h - a program with a place for every value.
 *
 * Values live in one block (the scratch arena); two values share bytes when their lifetimes do not meet. Offsets are
 * computed for the largest step, so a step allocates nothing and a value never moves.
 */
#ifndef MX_PROGRAM_PLAN_H
#define MX_PROGRAM_PLAN_H

#include "program/program.h"

#define MX_PLAN_ALIGN 64 /* bytes; every offset is a multiple */

typedef struct mx_plan {
    const mx_program *program; /* borrowed */
    int32_t max_tokens;        /* T and S of the largest step */
    int32_t max_samples;
    int64_t *offsets; /* owned [n_values]; bytes into the scratch block; -1 for a value that no op makes or reads */
    int64_t n_scratch_bytes;
} mx_plan;

/* Places the values of `program` for steps of up to max_tokens tokens and max_samples sampled rows.
 * The program must outlive the plan. MX_NO_MEMORY. */
mx_status mx_plan_init(mx_plan *plan, const mx_program *program, int32_t max_tokens, int32_t max_samples,
                       mx_error *err) MX_NODISCARD;

/* Frees the plan. A zeroed plan is fine. */
void mx_plan_deinit(mx_plan *plan);

#endif
