/* cpu_check.c - plans come from our own passes, but formats and shapes in them come from files. */
#include "backend/cpu/cpu_check.h"

#include <inttypes.h>

#include "base/mem.h"

static const char *const quant_names[] = {
    [MX_QUANT_NONE] = "dense",  [MX_QUANT_AFFINE] = "affine", [MX_QUANT_MXFP4] = "mxfp4",
    [MX_QUANT_NVFP4] = "nvfp4", [MX_QUANT_MXFP8] = "mxfp8",
};

static bool is_known_format(const mx_weight *w)
{
    const mx_quant *q = &w->quant;
    switch (q->mode) {
    case MX_QUANT_NONE: return mx_dtype_is_weight_float(w->dtype);
    case MX_QUANT_AFFINE:
        return mx_dtype_is_weight_float(w->dtype) && q->bits >= 2 && q->bits <= 8 && q->bits != 7 &&
               (q->group_size == 32 || q->group_size == 64 || q->group_size == 128);
    case MX_QUANT_MXFP4: return q->bits == 4 && q->group_size == 32;
    case MX_QUANT_NVFP4: return q->bits == 4 && q->group_size == 16;
    case MX_QUANT_MXFP8: return q->bits == 8 && q->group_size == 32;
    }
    return false;
}

static mx_status check_matrix(const mx_program *program, const mx_op *op, int32_t weight, int64_t n_cols, mx_error *err)
{
    const mx_weight *w = &program->weights[weight];
    const char *op_name = mx_op_infos[op->kind].name;
    if (!is_known_format(w)) {
        return mx_fail(err, MX_UNSUPPORTED,
                       "%s of layer %d: \"%.*s\" is %s with %d bits, group %d, %s: the CPU cannot read it", op_name,
                       op->i_layer, MX_STR_ARG(w->name), quant_names[w->quant.mode], w->quant.bits, w->quant.group_size,
                       mx_dtype_name(w->dtype));
    }
    if (w->n_cols != n_cols || w->n_rows <= 0 || n_cols <= 0 ||
        (w->quant.group_size && w->n_cols % w->quant.group_size != 0)) {
        return mx_fail(err, MX_INVALID,
                       "%s of layer %d: \"%.*s\" is [%" PRId64 ", %" PRId64 "], its input has %" PRId64 " columns",
                       op_name, op->i_layer, MX_STR_ARG(w->name), w->n_rows, w->n_cols, n_cols);
    }
    return MX_OK;
}

static mx_status check_linear(const mx_program *program, const mx_op *op, mx_error *err)
{
    const mx_linear_params *p = &op->u.linear;
    if (p->n_weights < 1 || p->n_weights > MX_OP_MAX_OUT || (p->has_glu && p->n_weights != 2)) {
        return mx_fail(err, MX_INVALID, "%s of layer %d has %d weights", mx_op_infos[op->kind].name, op->i_layer,
                       p->n_weights);
    }
    for (int32_t i = 0; i < p->n_weights; i++) {
        const mx_weight *w = &program->weights[p->weights[i]];
        const int64_t n_heads = op->kind == MX_OP_HEAD_LINEAR ? w->n_experts : 1;
        MX_TRY(check_matrix(program, op, p->weights[i], program->values[op->in[0]].n_cols / n_heads, err));
        if (program->values[op->out[p->has_glu ? 0 : i]].n_cols != w->n_rows * n_heads) {
            return mx_fail(err, MX_INVALID,
                           "%s of layer %d: \"%.*s\" has %" PRId64 " rows, its output another number of columns",
                           mx_op_infos[op->kind].name, op->i_layer, MX_STR_ARG(w->name), w->n_rows);
        }
    }
    return MX_OK;
}

static mx_status check_attention(const mx_program *program, const mx_op *op, mx_error *err)
{
    const mx_attention_params *p = &op->u.attention;
    const mx_cache_spec *spec = &program->caches[p->i_cache];
    if (spec->n_kv_heads <= 0 || p->n_heads <= 0 || p->n_heads % spec->n_kv_heads != 0 || spec->k_dim <= 0 ||
        spec->v_dim <= 0 || program->values[op->in[0]].n_cols != (int64_t)p->n_heads * spec->k_dim ||
        program->values[op->out[0]].n_cols != (int64_t)p->n_heads * spec->v_dim) {
        return mx_fail(err, MX_INVALID,
                       "ATTENTION of layer %d: %d heads over %d heads in the cache do not fit its input", op->i_layer,
                       p->n_heads, spec->n_kv_heads);
    }
    return MX_OK;
}

mx_status mx_cpu_check_program(const mx_program *program, const mx_cpu_op *ops, mx_error *err)
{
    for (int32_t i = 0; i < program->n_ops; i++) {
        const mx_op *op = &program->ops[i];
        if (op->kind < 0 || op->kind >= MX_OP_COUNT || !ops[op->kind].run) {
            return mx_fail(err, MX_UNSUPPORTED, "the CPU cannot run operation %d, %s", i,
                           op->kind >= 0 && op->kind < MX_OP_COUNT ? mx_op_infos[op->kind].name : "of an unknown kind");
        }
        if (op->kind == MX_OP_EMBED) {
            MX_TRY(check_matrix(program, op, op->u.embed.weight, program->values[op->out[0]].n_cols, err));
        } else if (op->kind == MX_OP_ADD_POSITIONS) {
            MX_TRY(check_matrix(program, op, op->u.position.weight, program->values[op->out[0]].n_cols, err));
        } else if (mx_op_is_linear(op->kind)) {
            MX_TRY(check_linear(program, op, err));
        } else if (op->kind == MX_OP_ATTENTION) {
            MX_TRY(check_attention(program, op, err));
        }
    }
    return MX_OK;
}

static mx_status check_communicator(const mx_communicator *c, const char *what, int32_t i, int32_t n, mx_error *err)
{
    if (n <= 1 || (c && c->i_rank == i && c->n_ranks == n)) {
        return MX_OK;
    }
    return mx_fail(err, MX_INVALID, "the program is of %s %d of %d, its communicator of %d of %d", what, i, n,
                   c ? c->i_rank : 0, c ? c->n_ranks : 0);
}

mx_status mx_cpu_check_shard(const mx_shard *shard, const mx_executor_options *options, mx_error *err)
{
    MX_TRY(check_communicator(options->ranks, "rank", shard->i_rank, shard->n_ranks, err));
    return check_communicator(options->stages, "stage", shard->i_stage, shard->n_stages, err);
}

static void visit_norm(const mx_norm_params *norm, void (*visit)(void *arg, int32_t weight), void *arg)
{
    if (norm->weight != MX_NO_WEIGHT) {
        visit(arg, norm->weight);
    }
    if (norm->is_centered && norm->bias != MX_NO_WEIGHT) {
        visit(arg, norm->bias);
    }
}

static void visit_some(const int32_t *weights, int32_t n, void (*visit)(void *arg, int32_t weight), void *arg)
{
    for (int32_t i = 0; i < n; i++) {
        if (weights[i] != MX_NO_WEIGHT) {
            visit(arg, weights[i]);
        }
    }
}

/* Vectors of the operations that have a state. */
static void visit_recurrent(const mx_op *op, void (*visit)(void *arg, int32_t weight), void *arg)
{
    if (op->kind == MX_OP_CAUSAL_CONV) {
        visit_some((const int32_t[]){op->u.conv.weight, op->u.conv.bias}, 2, visit, arg);
    } else if (op->kind == MX_OP_SSM_SCAN) {
        visit_some((const int32_t[]){op->u.ssm.a_log, op->u.ssm.skip, op->u.ssm.dt_bias}, 3, visit, arg);
    } else if (op->kind == MX_OP_DELTA_RULE) {
        visit_some((const int32_t[]){op->u.delta.a_log, op->u.delta.dt_bias}, 2, visit, arg);
    } else if (op->kind == MX_OP_RG_LRU) {
        const mx_lru_params *l = &op->u.lru;
        visit_some((const int32_t[]){l->input_weight, l->input_bias, l->recurrent_weight, l->recurrent_bias, l->decay},
                   5, visit, arg);
    }
}

void mx_cpu_visit_vectors(const mx_op *op, void (*visit)(void *arg, int32_t weight), void *arg)
{
    if (op->kind == MX_OP_RMSNORM || op->kind == MX_OP_LAYERNORM) {
        visit_norm(&op->u.norm, visit, arg);
    } else if (mx_op_is_linear(op->kind)) {
        for (int32_t i = 0; i < op->u.linear.n_weights; i++) {
            if (op->u.linear.biases[i] != MX_NO_WEIGHT) {
                visit(arg, op->u.linear.biases[i]);
            }
        }
        if (op->u.linear.has_norm) {
            visit_norm(&op->u.linear.norm, visit, arg);
        }
    } else if (op->kind == MX_OP_MULTIPLY || op->kind == MX_OP_SCALE_CHOSEN) {
        visit(arg, op->u.vector.weight);
    } else if (op->kind == MX_OP_XIELU) {
        const mx_xielu_params *x = &op->u.xielu;
        visit_some((const int32_t[]){x->alpha_p, x->alpha_n, x->beta, x->eps}, 4, visit, arg);
    } else if (op->kind == MX_OP_ROUTE) {
        if (op->u.route.bias != MX_NO_WEIGHT) {
            visit(arg, op->u.route.bias);
        }
    } else if (op->kind == MX_OP_ATTENTION) {
        if (op->u.attention.has_qk_norm) {
            visit_norm(&op->u.attention.q_norm, visit, arg);
            visit_norm(&op->u.attention.k_norm, visit, arg);
        }
        if (op->u.attention.sinks != MX_NO_WEIGHT) {
            visit(arg, op->u.attention.sinks);
        }
    } else {
        visit_recurrent(op, visit, arg);
    }
}
