/* passes.h - rewriting a plain program into one with fewer and richer operations.
 *
 * A pass of the table below is a function of the list alone: it looks for one pattern, rewrites every place where it is
 * found and leaves the rest. It changes no result beyond rounding, allocates nothing and cannot fail. Values that lose
 * their last reader stay in the list of values and get no place in a plan.
 */
#ifndef MX_PROGRAM_PASSES_H
#define MX_PROGRAM_PASSES_H

#include "program/program.h"

typedef struct mx_pass {
    const char *name;
    const char *what; /* one line, for printing */
    void (*run)(mx_program *program);
} mx_pass;

/* Dividing a model among several executors, before any other pass has run. Both leave the program as it is and make
 * another, which borrows weight bytes alone; what cannot be divided is an error that names the operation or the tensor
 * and the numbers. MX_INVALID (no such part, numbers that do not divide, a cache that two stages would share),
 * MX_UNSUPPORTED (an operation that nobody knows how to divide), MX_NO_MEMORY. *out is written on success alone. */

/* Rank i_rank of n_ranks, each with a part of every matrix: heads, columns between products, the vocabulary of the
 * logits (shard_rules.h says how). A divided layer has two sums over the ranks; every
 * rank ends with all logits. */
mx_status mx_pass_shard(const mx_program *program, int32_t i_rank, int32_t n_ranks, mx_program *out,
                        mx_error *err) MX_NODISCARD;

/* Stage i_stage of n_stages, each with as many layers as the others or one more. What later stages read is sent from
 * each stage to the next. The last stage makes the logits. Of a program that mx_pass_shard has made, or any other. */
mx_status mx_pass_cut(const mx_program *program, int32_t i_stage, int32_t n_stages, mx_program *out,
                      mx_error *err) MX_NODISCARD;

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
