/* shard_weights.c - parts of weights: views of rows, of whole groups of columns, or of experts, without a copy. */
#include "base/mem.h"
#include "program/shard_rules.h"

static mx_weight slice_of(const mx_weight *w, const mx_weight_part *part)
{
    return part->kind == MX_PART_COLS ? mx_weight_slice_cols(w, part->from, part->n)
                                      : mx_weight_slice_rows(w, part->from, part->n);
}

/* Experts [from, from + n); the list of those that are tensors of their own is `out`'s. */
static mx_weight slice_experts(const mx_weight *w, int64_t from, int64_t n)
{
    const mx_weight first = mx_weight_expert(w, from);
    mx_weight part = *w;
    part.n_experts = n;
    part.experts = w->experts ? w->experts + from : NULL;
    part.data = w->experts ? NULL : first.data;
    part.scales = w->experts ? NULL : first.scales;
    part.biases = w->experts ? NULL : first.biases;
    return n == 1 ? first : part;
}

/* The part as a weight; of experts, the same part of each. Only those that are tensors of their own need a list. */
static mx_status make_part(mx_sharding *s, const mx_weight_part *part, mx_weight *out)
{
    const mx_weight *w = &s->out->weights[part->weight];
    if (part->kind == MX_PART_EXPERTS || !w->experts) {
        *out = part->kind == MX_PART_EXPERTS ? slice_experts(w, part->from, part->n) : slice_of(w, part);
        return MX_OK;
    }
    mx_weight *experts = mx_arena_array(&s->out->arena, mx_weight, w->n_experts);
    if (!experts) {
        return mx_fail_no_memory(s->err, (size_t)w->n_experts * sizeof *experts, "the experts of a divided program");
    }
    for (int64_t i = 0; i < w->n_experts; i++) {
        experts[i] = slice_of(&w->experts[i], part);
    }
    *out = experts[0];
    out->name = w->name;
    out->n_experts = w->n_experts;
    out->experts = experts;
    out->data = NULL;
    out->scales = NULL;
    out->biases = NULL;
    return MX_OK;
}

mx_status mx_shard_part_of_weight(mx_sharding *s, const mx_op *op, mx_weight_part part, int32_t *place)
{
    if (part.weight == MX_NO_WEIGHT) {
        *place = MX_NO_WEIGHT;
        return MX_OK;
    }
    const mx_weight *w = &s->in->weights[part.weight];
    const int64_t group = MX_MAX(w->quant.group_size, 1);
    if (part.kind == MX_PART_COLS && (part.from % group != 0 || part.n % group != 0)) {
        return mx_shard_fail(
            s, op,
            mx_fail(s->err, MX_INVALID,
                    "tensor \"%.*s\": rank %d of %d has columns %lld to %lld, which cuts groups of %lld",
                    MX_STR_ARG(w->name), s->shard.i_rank, s->shard.n_ranks, (long long)part.from,
                    (long long)(part.from + part.n), (long long)group));
    }
    const int32_t n_known = s->out->n_weights - s->in->n_weights;
    for (int32_t i = 0; i < n_known; i++) {
        const mx_weight_part *known = &s->parts[i];
        if (known->weight == part.weight && known->kind == part.kind && known->from == part.from &&
            known->n == part.n) {
            *place = s->in->n_weights + i;
            return MX_OK;
        }
    }
    MX_TRY(make_part(s, &part, &s->out->weights[s->out->n_weights]));
    s->parts[n_known] = part;
    *place = s->out->n_weights++;
    return MX_OK;
}
