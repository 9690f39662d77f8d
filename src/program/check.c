/* check.c - one small function a kind of operation; each gives the first thing that does not fit, or NULL. */
#include "program/check.h"

#include "base/mem.h"
#include "program/check_recurrent.h"
#include "program/check_streams.h"

#define CHECK_MAX_STATE (1 << 28) /* numbers of one state of one sequence: far above any model */

typedef const char *(*op_check)(const mx_program *p, const mx_op *op);

static const mx_value_info *info_of(const mx_program *p, mx_value v)
{
    return &p->values[v];
}

static bool same_rows(const mx_value_info *a, const mx_value_info *b)
{
    return a->rows == b->rows && a->row_factor == b->row_factor;
}

static bool same_shape(const mx_program *p, mx_value a, mx_value b)
{
    const mx_value_info *x = info_of(p, a);
    const mx_value_info *y = info_of(p, b);
    return same_rows(x, y) && x->n_cols == y->n_cols && x->type == y->type;
}

static bool is_shape(const mx_value_info *v, int32_t row_factor, int64_t n_cols, mx_value_type type)
{
    return v->row_factor == row_factor && v->n_cols == n_cols && v->type == type;
}

static bool has_weight(const mx_program *p, int32_t weight)
{
    return weight >= 0 && weight < p->n_weights;
}

/* weight is absent where it may be, or a vector of n values an expert */
static bool is_vector(const mx_program *p, int32_t weight, int64_t n_experts, int64_t n)
{
    if (!has_weight(p, weight)) {
        return weight == MX_NO_WEIGHT;
    }
    const mx_weight *w = &p->weights[weight];
    return w->n_experts == n_experts && w->n_rows == 1 && w->n_cols == n;
}

static const char *check_norm(const mx_program *p, const mx_norm_params *norm, int64_t n_group_cols)
{
    if (norm->n_group_cols != n_group_cols || norm->is_wide) {
        return "the norm's group is not of the right size, or has weights of its own";
    }
    if (norm->is_centered && !is_vector(p, norm->bias, 1, n_group_cols)) {
        return "the norm's bias does not fit its group";
    }
    return is_vector(p, norm->weight, 1, n_group_cols) ? NULL : "the norm's weight does not fit its group";
}

static const char *check_embed(const mx_program *p, const mx_op *op)
{
    const mx_value_info *y = info_of(p, op->out[0]);
    if (!is_shape(info_of(p, op->in[0]), 1, 1, MX_VALUE_I32)) {
        return "the input is not a column of token ids";
    }
    if (!has_weight(p, op->u.embed.weight)) {
        return "there is no such weight";
    }
    const mx_weight *w = &p->weights[op->u.embed.weight];
    return w->n_experts == 1 && w->n_rows <= p->n_vocab && w->n_cols == y->n_cols ? NULL : "the table does not fit";
}

static const char *check_positions(const mx_program *p, const mx_op *op)
{
    const mx_value_info *x = info_of(p, op->in[0]);
    if (x->rows != MX_ROWS_TOKENS || x->row_factor != 1 || !same_shape(p, op->in[0], op->out[0])) {
        return "rows must be those of tokens";
    }
    if (!has_weight(p, op->u.position.weight)) {
        return "there is no such weight";
    }
    const mx_weight *w = &p->weights[op->u.position.weight];
    return w->n_experts == 1 && w->n_rows >= p->n_ctx && w->n_cols == x->n_cols ? NULL : "the table does not fit";
}

static const char *check_gather(const mx_program *p, const mx_op *op)
{
    const mx_value_info *x = info_of(p, op->in[0]);
    const mx_value_info *y = info_of(p, op->out[0]);
    if (x->rows != MX_ROWS_TOKENS || y->rows != MX_ROWS_SAMPLES || x->row_factor != 1) {
        return "rows must go from tokens to samples";
    }
    return is_shape(y, 1, x->n_cols, x->type) ? NULL : "columns differ";
}

static const char *check_norm_op(const mx_program *p, const mx_op *op)
{
    if (op->u.norm.is_centered != (op->kind == MX_OP_LAYERNORM)) {
        return "the parameters are those of another norm";
    }
    const int64_t n_cols = info_of(p, op->in[0])->n_cols;
    const int64_t n_group_cols = op->u.norm.n_group_cols;
    mx_norm_params norm = op->u.norm;
    if (n_group_cols < 1 || n_cols % n_group_cols != 0 || !same_shape(p, op->in[0], op->out[0])) {
        return "the groups do not divide the columns, or shapes differ";
    }
    if (op->u.norm.is_wide) {
        return !op->u.norm.is_centered && is_vector(p, op->u.norm.weight, 1, n_cols)
                   ? NULL
                   : "the norm's weight does not fit the columns";
    }
    if (norm.is_centered && mx_norm_has_group_weights(p, &norm, n_cols / n_group_cols)) {
        norm.weight = MX_NO_WEIGHT; /* which fits */
    }
    return check_norm(p, &norm, n_group_cols);
}

static const char *check_unary(const mx_program *p, const mx_op *op)
{
    return same_shape(p, op->in[0], op->out[0]) ? NULL : "shapes differ";
}

static const char *check_multiply(const mx_program *p, const mx_op *op)
{
    const int32_t weight = op->u.vector.weight;
    if (!has_weight(p, weight) || !same_shape(p, op->in[0], op->out[0])) {
        return "there is no such weight, or shapes differ";
    }
    return is_vector(p, weight, 1, 1) || is_vector(p, weight, 1, info_of(p, op->in[0])->n_cols)
               ? NULL
               : "the weight is neither one number nor one a column";
}

static const char *check_xielu(const mx_program *p, const mx_op *op)
{
    const int32_t weights[] = {op->u.xielu.alpha_p, op->u.xielu.alpha_n, op->u.xielu.beta, op->u.xielu.eps};
    for (size_t i = 0; i < MX_COUNTOF(weights); i++) {
        if (!has_weight(p, weights[i]) || !is_vector(p, weights[i], 1, 1)) {
            return "a parameter is not one number";
        }
    }
    return check_unary(p, op);
}

static const char *check_binary(const mx_program *p, const mx_op *op)
{
    return same_shape(p, op->in[0], op->out[0]) && same_shape(p, op->in[1], op->out[0]) ? NULL : "shapes differ";
}

/* What LINEAR and EXPERT_LINEAR share: weights, biases and columns; rows are the callers' matter. */
static const char *check_weights(const mx_program *p, const mx_op *op)
{
    const mx_linear_params *lin = &op->u.linear;
    const int64_t n_in = info_of(p, op->in[0])->n_cols;
    if (lin->n_weights < 1 || lin->n_weights > MX_OP_MAX_OUT || (lin->has_glu && lin->n_weights != 2) ||
        (lin->has_act && (lin->has_glu || lin->n_weights != 1))) {
        return "the number of weights is wrong";
    }
    for (int32_t i = 0; i < lin->n_weights; i++) {
        if (!has_weight(p, lin->weights[i])) {
            return "there is no such weight";
        }
        const mx_weight *w = &p->weights[lin->weights[i]];
        const mx_value out = lin->has_glu ? op->out[0] : op->out[i];
        if (out == MX_NO_VALUE || w->n_cols != n_in || w->n_rows != info_of(p, out)->n_cols) {
            return "a weight does not fit the input or the output";
        }
        if (!is_vector(p, lin->biases[i], w->n_experts, w->n_rows)) {
            return "a bias does not fit its weight";
        }
        if (w->n_experts != p->weights[lin->weights[0]].n_experts) {
            return "weights differ in their experts";
        }
    }
    for (int32_t i = lin->has_glu ? 1 : lin->n_weights; i < MX_OP_MAX_OUT; i++) {
        if (op->out[i] != MX_NO_VALUE) {
            return "there are more outputs than weights";
        }
    }
    return lin->has_norm ? check_norm(p, &lin->norm, n_in) : NULL;
}

static const char *check_linear(const mx_program *p, const mx_op *op)
{
    const char *problem = check_weights(p, op);
    if (problem) {
        return problem;
    }
    if (p->weights[op->u.linear.weights[0]].n_experts != 1) {
        return "a stack of experts needs EXPERT_LINEAR";
    }
    for (int32_t i = 0; i < MX_OP_MAX_OUT && op->out[i] != MX_NO_VALUE; i++) {
        if (!same_rows(info_of(p, op->in[0]), info_of(p, op->out[i]))) {
            return "rows differ";
        }
    }
    if (op->in[1] == MX_NO_VALUE) {
        return NULL;
    }
    if (op->u.linear.n_weights != 1) {
        return "only a single product takes a residual";
    }
    return same_shape(p, op->in[1], op->out[0]) ? NULL : "the residual has another shape";
}

static const char *check_expert_linear(const mx_program *p, const mx_op *op)
{
    const mx_value_info *x = info_of(p, op->in[0]);
    const mx_value_info *ids = info_of(p, op->in[1]);
    const mx_value_info *y = info_of(p, op->out[0]);
    if (ids->type != MX_VALUE_I32 || ids->row_factor != 1 || y->row_factor != ids->n_cols) {
        return "rows of the output are not tokens times chosen experts";
    }
    if (x->row_factor != 1 && x->row_factor != ids->n_cols) {
        return "rows of the input are neither tokens nor tokens times chosen experts";
    }
    return op->u.linear.has_norm ? "experts take no norm" : check_weights(p, op);
}

static const char *check_rope_spec(const mx_program *p, int32_t rope, int64_t head_dim)
{
    if (rope < 0 || rope >= p->n_ropes) {
        return "there is no such rotary embedding";
    }
    const int32_t rot_dim = p->ropes[rope].rot_dim;
    return rot_dim > 0 && rot_dim % 2 == 0 && rot_dim <= head_dim ? NULL : "more columns rotate than a head has";
}

static const char *check_rope(const mx_program *p, const mx_op *op)
{
    const mx_rope_params *rope = &op->u.rope;
    if (!same_shape(p, op->in[0], op->out[0]) ||
        info_of(p, op->in[0])->n_cols != (int64_t)rope->n_heads * rope->head_dim) {
        return "columns are not heads times head_dim";
    }
    return check_rope_spec(p, rope->rope, rope->head_dim);
}

static const char *check_kv(const mx_program *p, int32_t i_cache, mx_value k, mx_value v)
{
    if (i_cache < 0 || i_cache >= p->n_caches) {
        return "there is no such cache";
    }
    const mx_cache_spec *cache = &p->caches[i_cache];
    if (cache->is_latent != (v == MX_NO_VALUE) || (cache->is_latent && cache->v_dim > cache->k_dim)) {
        return "a cache has values of its own, or a part of its keys";
    }
    const bool fits =
        is_shape(info_of(p, k), 1, (int64_t)cache->n_kv_heads * cache->k_dim, MX_VALUE_F32) &&
        (cache->is_latent || is_shape(info_of(p, v), 1, (int64_t)cache->n_kv_heads * cache->v_dim, MX_VALUE_F32));
    return fits ? NULL : "keys or values do not fit the cache";
}

static const char *check_kv_append(const mx_program *p, const mx_op *op)
{
    return check_kv(p, op->u.kv_append.i_cache, op->in[0], op->in[1]);
}

static const char *check_fused_attention(const mx_program *p, const mx_op *op)
{
    const mx_attention_params *a = &op->u.attention;
    if (op->in[1] == MX_NO_VALUE) {
        return "the fused form needs keys";
    }
    const char *problem = check_kv(p, a->i_cache, op->in[1], op->in[2]);
    const int32_t k_dim = problem ? 0 : p->caches[a->i_cache].k_dim;
    if (!problem && a->has_qk_norm && (a->q_norm.is_centered || a->k_norm.is_centered)) {
        problem = "norms of queries and keys must be RMSNORM";
    }
    if (!problem && a->has_qk_norm) {
        problem = check_norm(p, &a->q_norm, k_dim);
    }
    if (!problem && a->has_qk_norm) {
        problem = check_norm(p, &a->k_norm, k_dim);
    }
    if (!problem && a->rope != MX_NO_ROPE) {
        problem = check_rope_spec(p, a->rope, k_dim);
    }
    return problem;
}

static const char *check_attention(const mx_program *p, const mx_op *op)
{
    const mx_attention_params *a = &op->u.attention;
    if (a->i_cache < 0 || a->i_cache >= p->n_caches) {
        return "there is no such cache";
    }
    const mx_cache_spec *cache = &p->caches[a->i_cache];
    if (a->n_heads < 1 || a->n_heads % cache->n_kv_heads != 0) {
        return "query heads are not a multiple of key heads";
    }
    if (!is_shape(info_of(p, op->in[0]), 1, (int64_t)a->n_heads * cache->k_dim, MX_VALUE_F32) ||
        !is_shape(info_of(p, op->out[0]), 1, (int64_t)a->n_heads * cache->v_dim, MX_VALUE_F32)) {
        return "queries or the output do not fit the heads";
    }
    if (a->sharpening.beta != 0.0f && (a->sharpening.n_positions < 1 || a->sharpening.shift < 0)) {
        return "queries are sharpened by no number of positions";
    }
    if (!is_vector(p, a->sinks, 1, a->n_heads)) {
        return "sinks do not fit the heads";
    }
    if (!a->has_append) {
        return op->in[1] == MX_NO_VALUE && op->in[2] == MX_NO_VALUE ? NULL : "the plain form takes queries alone";
    }
    return check_fused_attention(p, op);
}

static const char *check_route(const mx_program *p, const mx_op *op)
{
    const mx_route_params *r = &op->u.route;
    const int32_t k = r->top_k;
    const int64_t n_experts = info_of(p, op->in[0])->n_cols;
    if (k < 1 || k > n_experts) {
        return "more experts are chosen than there are";
    }
    if (r->n_groups > 1 && (n_experts % r->n_groups != 0 || r->top_groups < 1 || r->top_groups > r->n_groups ||
                            n_experts / r->n_groups * r->top_groups < k)) {
        return "the groups do not divide the experts, or those that stay have too few";
    }
    if (!is_vector(p, r->bias, 1, n_experts)) {
        return "the bias does not fit the experts";
    }
    if (r->score == MX_SCORE_SPARSEMIXER && (r->n_groups > 1 || r->bias != MX_NO_WEIGHT || r->normalize)) {
        return "sparsemixer takes neither groups nor a bias nor a sum";
    }
    const bool fits = op->out[1] != MX_NO_VALUE && is_shape(info_of(p, op->out[0]), 1, k, MX_VALUE_I32) &&
                      is_shape(info_of(p, op->out[1]), 1, k, MX_VALUE_F32);
    return fits ? NULL : "ids or weights do not fit top_k";
}

static const char *check_head_linear(const mx_program *p, const mx_op *op)
{
    const mx_linear_params *lin = &op->u.linear;
    const mx_value_info *x = info_of(p, op->in[0]);
    const mx_value_info *y = info_of(p, op->out[0]);
    if (lin->n_weights != 1 || lin->has_norm || lin->has_glu || lin->has_act || lin->biases[0] != MX_NO_WEIGHT ||
        !has_weight(p, lin->weights[0])) {
        return "heads take one stack of matrices and nothing else";
    }
    const mx_weight *w = &p->weights[lin->weights[0]];
    const bool fits = same_rows(x, y) && x->row_factor == 1 && x->rows == MX_ROWS_TOKENS &&
                      x->n_cols == w->n_experts * w->n_cols && y->n_cols == w->n_experts * w->n_rows;
    return fits ? NULL : "columns are not heads times those of the matrices";
}

static bool has_columns(const mx_value_info *x, int32_t n_heads, int32_t first, int32_t n)
{
    return x->n_cols % n_heads == 0 && first >= 0 && n >= 1 && (int64_t)first + n <= x->n_cols / n_heads;
}

static const char *check_columns(const mx_program *p, const mx_op *op)
{
    const mx_columns_params *c = &op->u.columns;
    const mx_value_info *a = info_of(p, op->in[0]);
    if (c->n_heads < 1 || !has_columns(a, c->n_heads, c->first, c->n_first)) {
        return "the first input does not have these columns";
    }
    if (op->in[1] == MX_NO_VALUE ? c->n_second != 0
                                 : !same_rows(a, info_of(p, op->in[1])) ||
                                       !has_columns(info_of(p, op->in[1]), c->n_heads, c->second, c->n_second)) {
        return "the second input does not have these columns";
    }
    const int64_t n_cols = (int64_t)c->n_heads * ((int64_t)c->n_first + c->n_second);
    const bool fits = same_rows(a, info_of(p, op->out[0])) && info_of(p, op->out[0])->n_cols == n_cols;
    return fits ? NULL : "the output is not both parts of every head";
}

static const char *check_scale_chosen(const mx_program *p, const mx_op *op)
{
    const mx_value_info *ids = info_of(p, op->in[1]);
    const int32_t weight = op->u.vector.weight;
    if (!same_shape(p, op->in[0], op->out[0]) || !same_rows(info_of(p, op->in[0]), ids)) {
        return "shapes differ";
    }
    const bool fits = ids->type == MX_VALUE_I32 && ids->n_cols == info_of(p, op->in[0])->n_cols &&
                      has_weight(p, weight) && is_vector(p, weight, 1, p->weights[weight].n_cols);
    return fits ? NULL : "ids or factors do not fit the chosen experts";
}

static const char *check_combine(const mx_program *p, const mx_op *op)
{
    const mx_value_info *x = info_of(p, op->in[0]);
    const mx_value_info *weights = info_of(p, op->in[1]);
    if (weights->row_factor != 1 || x->row_factor != weights->n_cols) {
        return "rows are not tokens times chosen experts";
    }
    return is_shape(info_of(p, op->out[0]), 1, x->n_cols, MX_VALUE_F32) ? NULL : "columns differ";
}

static const char *check_allreduce(const mx_program *p, const mx_op *op)
{
    if (p->shard.n_ranks < 2) {
        return "there are no other ranks";
    }
    const bool fits = same_shape(p, op->in[0], op->out[0]) && info_of(p, op->out[0])->type == MX_VALUE_F32 &&
                      (op->in[1] == MX_NO_VALUE || same_shape(p, op->in[1], op->out[0]));
    return fits ? NULL : "shapes differ, or the values are no floats";
}

static const char *check_allgather(const mx_program *p, const mx_op *op)
{
    if (p->shard.n_ranks < 2) {
        return "there are no other ranks";
    }
    const mx_value_info *x = info_of(p, op->in[0]);
    const mx_value_info *y = info_of(p, op->out[0]);
    int64_t from = 0;
    int64_t to = 0;
    mx_shard_part(y->n_cols, p->shard.i_rank, p->shard.n_ranks, &from, &to);
    const bool fits = same_rows(x, y) && x->n_cols == to - from && to > from && x->type == y->type;
    return fits ? NULL : "the input is not this rank's part of the output";
}

static const char *check_peer(const mx_program *p, const mx_op *op)
{
    const int32_t i_stage = op->u.peer.i_stage;
    return i_stage >= 0 && i_stage < p->shard.n_stages && i_stage != p->shard.i_stage ? NULL : "there is no such stage";
}

static const op_check checks[MX_OP_COUNT] = {
    [MX_OP_EMBED] = check_embed,
    [MX_OP_ADD_POSITIONS] = check_positions,
    [MX_OP_GATHER_ROWS] = check_gather,
    [MX_OP_RMSNORM] = check_norm_op,
    [MX_OP_LAYERNORM] = check_norm_op,
    [MX_OP_ADD] = check_binary,
    [MX_OP_SCALE] = check_unary,
    [MX_OP_SOFTCAP] = check_unary,
    [MX_OP_CLIP] = check_unary,
    [MX_OP_MULTIPLY] = check_multiply,
    [MX_OP_XIELU] = check_xielu,
    [MX_OP_CUTOFF] = check_unary,
    [MX_OP_CONCAT] = mx_check_concat,
    [MX_OP_MATCH_RMS] = check_binary,
    [MX_OP_MIX_STREAMS] = mx_check_mix_streams,
    [MX_OP_ADD_STREAMS] = mx_check_add_streams,
    [MX_OP_ACTIVATION] = check_unary,
    [MX_OP_GLU] = check_binary,
    [MX_OP_LINEAR] = check_linear,
    [MX_OP_ROPE] = check_rope,
    [MX_OP_KV_APPEND] = check_kv_append,
    [MX_OP_ATTENTION] = check_attention,
    [MX_OP_ROUTE] = check_route,
    [MX_OP_EXPERT_LINEAR] = check_expert_linear,
    [MX_OP_HEAD_LINEAR] = check_head_linear,
    [MX_OP_HEAD_COLUMNS] = check_columns,
    [MX_OP_SCALE_CHOSEN] = check_scale_chosen,
    [MX_OP_EXPERT_COMBINE] = check_combine,
    [MX_OP_ALLREDUCE] = check_allreduce,
    [MX_OP_ALLGATHER] = check_allgather,
    [MX_OP_SEND] = check_peer,
    [MX_OP_RECV] = check_peer,
    [MX_OP_SLICE] = mx_check_slice,
    [MX_OP_CAUSAL_CONV] = mx_check_conv,
    [MX_OP_SSM_SCAN] = mx_check_ssm,
    [MX_OP_DELTA_RULE] = mx_check_delta,
    [MX_OP_RG_LRU] = mx_check_lru,
};

/* How many inputs an operation of this kind cannot do without. */
static int32_t n_required_inputs(const mx_op *op)
{
    const bool has_optional = op->kind == MX_OP_LINEAR || op->kind == MX_OP_ATTENTION || op->kind == MX_OP_ALLREDUCE ||
                              op->kind == MX_OP_CAUSAL_CONV || op->kind == MX_OP_KV_APPEND ||
                              op->kind == MX_OP_HEAD_COLUMNS;
    if (op->kind == MX_OP_ADD_STREAMS) {
        return 2;
    }
    return has_optional ? 1 : mx_op_infos[op->kind].n_in;
}

static const char *check_values(const mx_program *p, const mx_op *op, bool *is_made)
{
    for (int32_t i = 0; i < MX_OP_MAX_IN; i++) {
        if (op->in[i] == MX_NO_VALUE) {
            if (i < n_required_inputs(op)) {
                return "an input is missing";
            }
            continue;
        }
        if (i >= mx_op_infos[op->kind].n_in || op->in[i] < 0 || op->in[i] >= p->n_values) {
            return "there is an input too many, or no such value";
        }
        if (!is_made[op->in[i]]) {
            return "an input is read before it is made";
        }
    }
    for (int32_t i = 0; i < MX_OP_MAX_OUT; i++) {
        if (op->out[i] == MX_NO_VALUE) {
            if (i == 0 && mx_op_infos[op->kind].n_out > 0) {
                return "the output is missing";
            }
            continue;
        }
        if (i >= mx_op_infos[op->kind].n_out || op->out[i] < 0 || op->out[i] >= p->n_values) {
            return "there is an output too many, or no such value";
        }
        if (is_made[op->out[i]]) {
            return "an output is made twice";
        }
        is_made[op->out[i]] = true;
    }
    return NULL;
}

static const char *name_of(const mx_program *p, const mx_op *op)
{
    const mx_value v = op->out[0] != MX_NO_VALUE ? op->out[0] : op->in[0];
    return v >= 0 && v < p->n_values && p->values[v].name ? p->values[v].name : "?";
}

static mx_status check_states(const mx_program *p, mx_error *err)
{
    for (int32_t i = 0; i < p->n_states; i++) {
        const mx_state_spec *s = &p->states[i];
        if (s->n_rows < 1 || s->n_cols < 1 || (int64_t)s->n_rows * s->n_cols > CHECK_MAX_STATE) {
            return mx_fail(err, MX_FORMAT, "state %d of %d x %d numbers: must be from 1 to %d in all", i, s->n_rows,
                           s->n_cols, CHECK_MAX_STATE);
        }
    }
    return MX_OK;
}

mx_status mx_program_check(const mx_program *p, mx_error *err)
{
    MX_TRY(check_states(p, err));
    const bool has_logits = p->shard.i_stage + 1 >= p->shard.n_stages; /* the last stage, or all of the model */
    if (p->tokens < 0 || p->tokens >= p->n_values || p->logits >= p->n_values || has_logits != (p->logits >= 0)) {
        return mx_fail(err, MX_FORMAT, "a program without an input or an output");
    }
    bool *is_made = mx_calloc((size_t)p->n_values, sizeof *is_made);
    if (!is_made) {
        return mx_fail_no_memory(err, (size_t)p->n_values, "the check of a program");
    }
    mx_status st = MX_OK;
    is_made[p->tokens] = true;
    for (int32_t i = 0; i < p->n_ops && st == MX_OK; i++) {
        const mx_op *op = &p->ops[i];
        const char *problem = check_values(p, op, is_made);
        problem = problem ? problem : checks[op->kind](p, op);
        if (problem) {
            st = mx_fail(err, MX_FORMAT, "operation %d, %s of \"%s\": %s", i, mx_op_infos[op->kind].name,
                         name_of(p, op), problem);
        }
    }
    const mx_value_info *logits = has_logits ? &p->values[p->logits] : NULL;
    if (st == MX_OK && logits &&
        (!is_made[p->logits] || logits->rows != MX_ROWS_SAMPLES || logits->n_cols != p->n_vocab)) {
        st = mx_fail(err, MX_FORMAT, "no operation makes the logits, or they are not [S, n_vocab]");
    }
    mx_free(is_made);
    return st;
}
