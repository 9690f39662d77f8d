/* cost.h - what an operation must move and compute: the floor that a kernel is measured against. */
#ifndef MX_PROGRAM_COST_H
#define MX_PROGRAM_COST_H

#include "program/program.h"

/* A step to count for. */
typedef struct mx_cost_step {
    int64_t n_tokens;  /* T */
    int64_t n_samples; /* S */
    int64_t n_seqs;
    int64_t n_kv;     /* positions of each sequence after the step */
    int64_t kv_bytes; /* of one number in the cache: 2 for f16 */
} mx_cost_step;

typedef struct mx_cost {
    int64_t weight_bytes; /* as stored; of experts at most one pass over each that can be chosen */
    int64_t value_bytes;  /* inputs read and outputs written once, 4 bytes a number; what goes over a link between ranks
                             or stages counts so too, at the speed of memory */
    int64_t cache_bytes;  /* keys and values, and recurrent states */
    int64_t flops;        /* a multiply and an add are two; only products, attention and recurrences count */
} mx_cost;

/* Counts operation `op` of a program. Attention's positions are counted as if each of a sequence's tokens saw all that
 * are in reach of its last. */
mx_cost mx_cost_of(const mx_program *program, const mx_op *op, const mx_cost_step *step);

#endif
