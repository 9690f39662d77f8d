/* passes.h - rewriting a plain program into one with fewer and richer operations.
 *
 * A pass is a function of the list alone: it looks for one pattern, rewrites every place where it is found and leaves
 * the rest. It changes no result beyond rounding, allocates nothing and cannot fail. Values that lose their last reader
 * stay in the list of values and get no place in a plan.
 */
#ifndef MX_PROGRAM_PASSES_H
#define MX_PROGRAM_PASSES_H

#include "program/program.h"

typedef struct mx_pass {
    const char *name;
    const char *what; /* one line, for printing */
    void (*run)(mx_program *program);
} mx_pass;

/* In the order in which they run; ends with a row without a name. */
extern const mx_pass mx_passes[];

/* Runs all of them and checks the result (mx_program_check). MX_FORMAT is a mistake of ours; MX_NO_MEMORY. */
mx_status mx_passes_run(mx_program *program, mx_error *err) MX_NODISCARD;

/* Norms on heads, rope and KV_APPEND become parameters of the ATTENTION that they are for. */
void mx_pass_fold_attention(mx_program *program);

/* GLU of two products of one x becomes one LINEAR or EXPERT_LINEAR with has_glu; ACTIVATION of one product, one with
 * has_act. */
void mx_pass_fold_glu(mx_program *program);

/* Products of one x become one LINEAR with several outputs: q, k and v. */
void mx_pass_merge_linears(mx_program *program);

/* An RMSNORM or LAYERNORM that only one LINEAR reads becomes part of it. */
void mx_pass_fold_norm(mx_program *program);

/* ADD of a product and something made before it becomes the product's residual. */
void mx_pass_fold_residual(mx_program *program);

/* Operations whose results nobody reads are removed. */
void mx_pass_remove_dead(mx_program *program);

#endif
