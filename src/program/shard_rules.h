/* shard_rules.h - how each kind of operation is divided among ranks: the table that pass_shard.c and pass_cut.c go by.
 * For files of program/ only.
 *
 * On a rank, a value is whole (all of it, the same on every rank), split (some of its columns), or a part of a sum
 * (all columns, of numbers that are right once they are added over the ranks). The pass goes through the program twice:
 *   - from its end: wishes. Attention wants queries split by heads, the KV cache keys and values by key heads, a GLU
 *     between products its inputs by groups of columns of the product behind it.
 *   - from its start: products whose output is wished split read those rows of their weight. Products of a split input
 *     read those columns, and make a part of a sum. Whoever needs a whole value and finds a part of a sum gets an
 *     ALLREDUCE before it, who finds a split one an ALLGATHER. Attention that finds whole queries (behind a norm over
 *     all heads) takes its columns of them. What fits nowhere is an error that names the operation and the numbers.
 */
#ifndef MX_PROGRAM_SHARD_RULES_H
#define MX_PROGRAM_SHARD_RULES_H

#include "program/program.h"

typedef enum mx_layout_kind {
    MX_LAYOUT_WHOLE,
    MX_LAYOUT_SPLIT,
    MX_LAYOUT_PART_OF_SUM,
} mx_layout_kind;

/* What this rank has of a value: columns [from, from + n). */
typedef struct mx_layout {
    mx_layout_kind kind;
    int64_t from;
    int64_t n;
} mx_layout;

/* How a value is wished to be split: in whole units of columns. n_units 0: no wish. */
typedef struct mx_split_wish {
    int64_t n_units;
    int64_t unit_cols;
    bool is_repeated; /* with fewer units than ranks, neighbours have the same one (key heads) */
} mx_split_wish;

typedef enum mx_part_kind {
    MX_PART_ROWS, /* of each expert, here and below */
    MX_PART_COLS,
    MX_PART_EXPERTS,
} mx_part_kind;

/* A part of a weight of the undivided program, place n_weights of that program + its place in the list. */
typedef struct mx_weight_part {
    int32_t weight;
    mx_part_kind kind;
    int64_t from;
    int64_t n;
} mx_weight_part;

typedef struct mx_sharding {
    const mx_program *in;
    mx_program
        *out; /* has room for the whole of every value, and for two slices and two parts of weights an operation */
    mx_shard shard;
    mx_split_wish *wishes; /* of the values of `in` */
    mx_layout *layouts;    /* of the values of `in` */
    mx_value *wholes;      /* of the values of `in`: the whole value, summed or gathered; or MX_NO_VALUE */
    mx_weight_part *parts; /* behind the weights of `in` */
    int32_t i_op;          /* of `in`, where the pass stands */
    mx_error *err;
} mx_sharding;

typedef struct mx_shard_rule {
    /* Hands wishes for the outputs on to the inputs, and adds the operation's own. NULL: it has none and hands on none.
     */
    void (*wish)(mx_sharding *s, const mx_op *op);

    /* Makes this rank's operation of `made`, which is a copy of op, and gives the outputs their layouts. NULL: the
     * operation cannot be divided. */
    mx_status (*divide)(mx_sharding *s, const mx_op *op, mx_op *made);

    /* The places of the cache and of the state that the operation uses, for a pipeline to renumber; NULL: none. */
    int32_t *(*cache)(mx_op *op);
    int32_t *(*state)(mx_op *op);
} mx_shard_rule;

extern const mx_shard_rule mx_shard_rules[MX_OP_COUNT];

/* Puts "operation 7, RMSNORM of \"...\"" before the sentence of a failure; gives st. */
mx_status mx_shard_fail(const mx_sharding *s, const mx_op *op, mx_status st);

/* shard_weights.c: the place of a part of a weight in the divided program. MX_NO_WEIGHT stays what it is. MX_INVALID
 * (groups of the quantisation would be cut), MX_NO_MEMORY. */
mx_status mx_shard_part_of_weight(mx_sharding *s, const mx_op *op, mx_weight_part part, int32_t *place) MX_NODISCARD;

/* The whole of a value of `in` that is split evenly or a part of a sum, for the logits: appends what makes it. */
mx_status mx_shard_gather(mx_sharding *s, mx_value v, mx_value *out) MX_NODISCARD;

/* MX_UNSUPPORTED naming the operation where the table has no row for its kind. */
mx_status mx_shard_check_known(const mx_program *program, int32_t i_op, mx_error *err) MX_NODISCARD;

#endif
