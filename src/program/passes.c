/* passes.c - the order of the passes.
 *
 * Attention first, as it frees k and v of other readers; GLU before merging, so that gate and up do not become a plain
 * pair; merging before norms, so that q, k and v are one reader of their norm.
 */
#include "program/passes.h"

#include "program/check.h"

const mx_pass mx_passes[] = {
    {"fold-attention", "norms on heads, rope and the append to the cache into attention", mx_pass_fold_attention},
    {"fold-glu", "activations, and gate with up, into the products that they follow", mx_pass_fold_glu},
    {"merge-linears", "q, k and v into one operation", mx_pass_merge_linears},
    {"fold-norm", "norms into the products that read them", mx_pass_fold_norm},
    {"fold-residual", "residual sums into the products before them", mx_pass_fold_residual},
    {"remove-dead", "operations that nobody reads are removed", mx_pass_remove_dead},
    {NULL, NULL, NULL},
};

mx_status mx_passes_run(mx_program *program, mx_error *err)
{
    for (const mx_pass *pass = mx_passes; pass->name; pass++) {
        pass->run(program);
    }
    return mx_program_check(program, err);
}
