/* print.c - the table of `mlxcel inspect --program`. */
#include "program/print.h"

#include <inttypes.h>

static const char *const act_names[MX_ACT_COUNT] = {
    [MX_ACT_SILU] = "silu",           [MX_ACT_GELU] = "gelu",
    [MX_ACT_GELU_TANH] = "gelu_tanh", [MX_ACT_GELU_QUICK] = "gelu_quick",
    [MX_ACT_RELU] = "relu",           [MX_ACT_RELU2] = "relu2",
    [MX_ACT_SIGMOID] = "sigmoid",     [MX_ACT_SWIGLU_OAI] = "swiglu_oai",
};

static const char *const score_names[] = {
    [MX_SCORE_SOFTMAX] = "softmax",
    [MX_SCORE_SIGMOID] = "sigmoid",
    [MX_SCORE_SPARSEMIXER] = "sparsemixer",
};

/* "T x 576", "S x 49152", "8T x 768" */
static mx_status put_shape(const mx_program *p, mx_value v, mx_buf *out, mx_error *err)
{
    const mx_value_info *info = &p->values[v];
    if (info->row_factor != 1) {
        MX_TRY(mx_buf_printf(out, err, "%d", info->row_factor));
    }
    return mx_buf_printf(out, err, "%s x %" PRId64, info->rows == MX_ROWS_TOKENS ? "T" : "S", info->n_cols);
}

/* "%12 layers.0.mlp.glu [T x 1536], ..." */
static mx_status put_values(const mx_program *p, const mx_value *values, int32_t n, mx_buf *out, mx_error *err)
{
    const char *comma = "";
    for (int32_t i = 0; i < n; i++) {
        if (values[i] == MX_NO_VALUE) {
            continue;
        }
        MX_TRY(mx_buf_printf(out, err, "%s%%%d %s [", comma, values[i], p->values[values[i]].name));
        MX_TRY(put_shape(p, values[i], out, err));
        MX_TRY(mx_buf_append_char(out, ']', err));
        comma = ", ";
    }
    return MX_OK;
}

/* "4-bit g64", "bf16" */
static mx_status put_format(const mx_weight *w, mx_buf *out, mx_error *err)
{
    if (w->quant.mode == MX_QUANT_NONE) {
        return mx_buf_printf(out, err, "%s", mx_dtype_name(w->dtype));
    }
    return mx_buf_printf(out, err, "%d-bit g%d", w->quant.bits, w->quant.group_size);
}

static mx_status put_linear(const mx_program *p, const mx_op *op, mx_buf *out, mx_error *err)
{
    const mx_linear_params *lin = &op->u.linear;
    for (int32_t i = 0; i < lin->n_weights; i++) {
        MX_TRY(mx_buf_printf(out, err, "%s", i ? ", " : " ("));
        MX_TRY(put_format(&p->weights[lin->weights[i]], out, err));
        MX_TRY(mx_buf_printf(out, err, "%s", lin->biases[i] == MX_NO_WEIGHT ? "" : " + bias"));
    }
    MX_TRY(mx_buf_append_char(out, ')', err));
    if (lin->has_norm) {
        MX_TRY(mx_buf_printf(out, err, " after %s", lin->norm.is_centered ? "layer norm" : "norm"));
    }
    if (lin->has_glu) {
        MX_TRY(mx_buf_printf(out, err, " then glu %s", act_names[lin->act]));
    }
    if (lin->has_act) {
        MX_TRY(mx_buf_printf(out, err, " then %s", act_names[lin->act]));
    }
    const bool has_residual = op->kind == MX_OP_LINEAR && op->in[1] != MX_NO_VALUE;
    return has_residual ? mx_buf_printf(out, err, " + residual") : MX_OK;
}

static mx_status put_attention(const mx_op *op, mx_buf *out, mx_error *err)
{
    const mx_attention_params *a = &op->u.attention;
    MX_TRY(mx_buf_printf(out, err, " cache %d, %d heads", a->i_cache, a->n_heads));
    if (a->window) {
        MX_TRY(mx_buf_printf(out, err, ", window %d", a->window));
    }
    if (a->chunk) {
        MX_TRY(mx_buf_printf(out, err, ", chunks of %d", a->chunk));
    }
    if (a->softcap > 0) {
        MX_TRY(mx_buf_printf(out, err, ", softcap %g", (double)a->softcap));
    }
    if (a->sharpening.beta != 0.0f) {
        MX_TRY(mx_buf_printf(out, err, ", sharpened every %d", a->sharpening.n_positions));
    }
    if (a->has_append) {
        MX_TRY(mx_buf_printf(out, err, ", with %s%sappend", a->has_qk_norm ? "norms, " : "",
                             a->rope == MX_NO_ROPE ? "" : "rope, "));
    }
    return MX_OK;
}

static mx_status put_route(const mx_program *p, const mx_op *op, mx_buf *out, mx_error *err)
{
    const mx_route_params *r = &op->u.route;
    MX_TRY(mx_buf_printf(out, err, " top %d of %" PRId64 " by %s", r->top_k, p->values[op->in[0]].n_cols,
                         score_names[r->score]));
    if (r->bias != MX_NO_WEIGHT) {
        MX_TRY(mx_buf_printf(out, err, " + bias"));
    }
    if (r->n_groups > 1) {
        MX_TRY(mx_buf_printf(out, err, " in %d of %d groups", r->top_groups, r->n_groups));
    }
    return mx_buf_printf(out, err, "%s", r->normalize ? ", normalised" : "");
}

static mx_status put_params(const mx_program *p, const mx_op *op, mx_buf *out, mx_error *err)
{
    switch (op->kind) {
    case MX_OP_EMBED:
        MX_TRY(mx_buf_printf(out, err, " ("));
        MX_TRY(put_format(&p->weights[op->u.embed.weight], out, err));
        return mx_buf_append_char(out, ')', err);
    case MX_OP_LINEAR:
    case MX_OP_EXPERT_LINEAR:
    case MX_OP_HEAD_LINEAR: return put_linear(p, op, out, err);
    case MX_OP_ATTENTION: return put_attention(op, out, err);
    case MX_OP_KV_APPEND: return mx_buf_printf(out, err, " cache %d", op->u.kv_append.i_cache);
    case MX_OP_ROPE:
        return mx_buf_printf(out, err, " %d of %d columns", p->ropes[op->u.rope.rope].rot_dim, op->u.rope.head_dim);
    case MX_OP_ADD_POSITIONS:
        MX_TRY(mx_buf_printf(out, err, " ("));
        MX_TRY(put_format(&p->weights[op->u.position.weight], out, err));
        return mx_buf_append_char(out, ')', err);
    case MX_OP_ACTIVATION:
    case MX_OP_GLU: return mx_buf_printf(out, err, " %s", act_names[op->u.glu.act]);
    case MX_OP_SCALE:
    case MX_OP_CLIP:
    case MX_OP_CUTOFF:
    case MX_OP_MATCH_RMS:
    case MX_OP_SOFTCAP: return mx_buf_printf(out, err, " %g", (double)op->u.scale.factor);
    case MX_OP_MIX_STREAMS:
    case MX_OP_ADD_STREAMS: return mx_buf_printf(out, err, " %d streams", op->u.streams.n_streams);
    case MX_OP_ROUTE: return put_route(p, op, out, err);
    case MX_OP_ALLREDUCE:
        return mx_buf_printf(out, err, " of %d ranks%s", p->shard.n_ranks,
                             op->in[1] == MX_NO_VALUE ? "" : " + residual");
    case MX_OP_ALLGATHER: return mx_buf_printf(out, err, " of %d ranks", p->shard.n_ranks);
    case MX_OP_SEND: return mx_buf_printf(out, err, " to stage %d", op->u.peer.i_stage);
    case MX_OP_RECV: return mx_buf_printf(out, err, " from stage %d", op->u.peer.i_stage);
    case MX_OP_SLICE: return mx_buf_printf(out, err, " from column %" PRId64, op->u.slice.x.first);
    case MX_OP_CAUSAL_CONV:
        return mx_buf_printf(out, err, " state %d, width %d%s%s", op->u.conv.i_state, op->u.conv.width,
                             op->u.conv.bias == MX_NO_WEIGHT ? "" : " + bias", op->u.conv.has_silu ? " then silu" : "");
    case MX_OP_SSM_SCAN:
        return mx_buf_printf(out, err, " state %d, %d heads of %d x %d", op->u.ssm.i_state, op->u.ssm.n_heads,
                             op->u.ssm.head_dim, op->u.ssm.d_state);
    case MX_OP_RG_LRU:
        return mx_buf_printf(out, err, " state %d, %d heads of %d", op->u.lru.i_state, op->u.lru.n_heads,
                             op->u.lru.width);
    case MX_OP_DELTA_RULE:
        return mx_buf_printf(out, err, " state %d, %d heads of %d x %d, a gate a %s", op->u.delta.i_state,
                             op->u.delta.n_v_heads, op->u.delta.k_dim, op->u.delta.v_dim,
                             op->u.delta.has_channel_gate ? "channel" : "head");
    case MX_OP_GATHER_ROWS:
    case MX_OP_RMSNORM:
    case MX_OP_LAYERNORM:
    case MX_OP_ADD:
    case MX_OP_HEAD_COLUMNS:
    case MX_OP_CONCAT:
    case MX_OP_SCALE_CHOSEN:
    case MX_OP_MULTIPLY:
    case MX_OP_XIELU:
    case MX_OP_EXPERT_COMBINE:
    case MX_OP_COUNT: return MX_OK;
    }
    return MX_OK;
}

static mx_status put_cost(const mx_print_settings *s, const mx_cost *cost, mx_buf *out, mx_error *err)
{
    const double bytes = (double)(cost->weight_bytes + cost->value_bytes + cost->cache_bytes);
    const double by_memory = bytes / s->bytes_per_second;
    const double by_compute = (double)cost->flops / s->flops_per_second;
    return mx_buf_printf(out, err, "%10.3f MB %10.3f Mflop %9.1f us", bytes / 1e6, (double)cost->flops / 1e6,
                         MX_MAX(by_memory, by_compute) * 1e6);
}

static mx_status put_op(const mx_program *p, const mx_op *op, int32_t i_op, mx_buf *out, mx_error *err)
{
    MX_TRY(mx_buf_printf(out, err, "  %3d %s", i_op, mx_op_infos[op->kind].name));
    MX_TRY(put_params(p, op, out, err));
    MX_TRY(mx_buf_printf(out, err, ": "));
    MX_TRY(put_values(p, op->in, MX_OP_MAX_IN, out, err));
    if (op->out[0] != MX_NO_VALUE) {
        MX_TRY(mx_buf_printf(out, err, " -> "));
        MX_TRY(put_values(p, op->out, MX_OP_MAX_OUT, out, err));
    }
    return mx_buf_append_char(out, '\n', err);
}

mx_status mx_program_print(const mx_program *p, const mx_print_settings *s, mx_buf *out, mx_error *err)
{
    MX_TRY(mx_buf_printf(out, err,
                         "%d layers, %d operations, %d weights, vocabulary of %d, context of %d\n"
                         "a step of T = %" PRId64 " tokens of %" PRId64 " sequences with %" PRId64
                         " positions each, S = %" PRId64 " rows sampled; memory %.1f GB/s, %.1f Gflop/s\n\n",
                         p->n_layers, p->n_ops, p->n_weights, p->n_vocab, p->n_ctx, s->step.n_tokens, s->step.n_seqs,
                         s->step.n_kv, s->step.n_samples, s->bytes_per_second / 1e9, s->flops_per_second / 1e9));
    mx_cost total = {0};
    double seconds = 0;
    for (int32_t i = 0; i < p->n_ops; i++) {
        const mx_cost cost = mx_cost_of(p, &p->ops[i], &s->step);
        total.weight_bytes += cost.weight_bytes;
        total.value_bytes += cost.value_bytes;
        total.cache_bytes += cost.cache_bytes;
        total.flops += cost.flops;
        const double bytes = (double)(cost.weight_bytes + cost.value_bytes + cost.cache_bytes);
        seconds += MX_MAX(bytes / s->bytes_per_second, (double)cost.flops / s->flops_per_second);
        MX_TRY(put_cost(s, &cost, out, err));
        MX_TRY(put_op(p, &p->ops[i], i, out, err));
    }
    return mx_buf_printf(out, err,
                         "\ntotal: weights %.3f MB, values %.3f MB, cache %.3f MB, %.3f Mflop; at best %.1f us\n",
                         (double)total.weight_bytes / 1e6, (double)total.value_bytes / 1e6,
                         (double)total.cache_bytes / 1e6, (double)total.flops / 1e6, seconds * 1e6);
}
