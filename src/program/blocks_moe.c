/* blocks_moe.c - the blocks of mixtures of experts. */
#include "program/builder_core.h"

static mx_value add_value(mx_builder *b, int32_t row_factor, int64_t n_cols, mx_value_type type, const char *name)
{
    const mx_value_info info = {.rows = MX_ROWS_TOKENS, .row_factor = row_factor, .n_cols = n_cols, .type = type};
    return mx_builder_add_value(b, &info, name);
}

/* The chosen experts of each token, and what each of them counts. */
typedef struct choice {
    mx_value ids;
    mx_value weights;
} choice;

static choice route(mx_builder *b, mx_value scores, const mx_route_params *params, const char *path)
{
    char buffer[BLOCK_MAX_PATH];
    choice c;
    mx_op op = mx_builder_op(b, MX_OP_ROUTE);
    op.in[0] = scores;
    op.u.route = *params;
    c.weights = add_value(b, 1, params->top_k, MX_VALUE_F32, part(buffer, path, "route.weights"));
    c.ids = add_value(b, 1, params->top_k, MX_VALUE_I32, part(buffer, path, "route.ids"));
    op.out[0] = c.ids;
    op.out[1] = c.weights;
    mx_builder_add_op(b, &op);
    return c;
}

/* sum over a token's rows of x by their weights: [T, n_cols]. */
static mx_value combine(mx_builder *b, mx_value x, mx_value weights, const char *name)
{
    mx_op op = mx_builder_op(b, MX_OP_EXPERT_COMBINE);
    op.in[0] = x;
    op.in[1] = weights;
    op.out[0] = add_value(b, 1, mx_builder_view_value(b, x)->n_cols, MX_VALUE_F32, name);
    mx_builder_add_op(b, &op);
    return op.out[0];
}

static mx_value expert_linear(mx_builder *b, mx_value x, mx_value ids, const char *path, int64_t n_out,
                              const mx_moe_settings *s)
{
    mx_op op = mx_builder_op(b, MX_OP_EXPERT_LINEAR);
    op.in[0] = x;
    op.in[1] = ids;
    op.u.linear.n_weights = 1;
    op.u.linear.weights[0] = mx_builder_weight(b, path, "", s->n_experts, n_out, mx_builder_view_value(b, x)->n_cols);
    op.u.linear.biases[0] =
        s->has_expert_bias ? mx_builder_weight(b, path, ".bias", s->n_experts, 1, n_out) : MX_NO_WEIGHT;
    op.out[0] = add_value(b, (int32_t)mx_builder_view_value(b, ids)->n_cols, n_out, MX_VALUE_F32, path);
    mx_builder_add_op(b, &op);
    return op.out[0];
}

static int32_t choice_bias(mx_builder *b, const mx_moe_settings *s)
{
    const bool is_there = s->choice_bias && (!s->may_lack_choice_bias || mx_builder_has_weight(b, s->choice_bias));
    return is_there ? mx_builder_weight(b, s->choice_bias, "", 1, 1, s->n_experts) : MX_NO_WEIGHT;
}

static mx_value gated_experts(mx_builder *b, mx_value h, mx_value ids, const char *path, int64_t n_out,
                              const mx_moe_settings *s)
{
    char buffer[BLOCK_MAX_PATH];
    const mx_value gate = expert_linear(b, h, ids, part(buffer, path, "switch_mlp.gate_proj"), s->d_ff, s);
    const mx_value up = expert_linear(b, h, ids, part(buffer, path, "switch_mlp.up_proj"), s->d_ff, s);
    const mx_value g = mx_builder_glu(b, gate, up, part(buffer, path, "switch_mlp.glu"));
    return expert_linear(b, g, ids, part(buffer, path, "switch_mlp.down_proj"), n_out, s);
}

static mx_value plain_experts(mx_builder *b, mx_value h, mx_value ids, const char *path, int64_t n_out,
                              const mx_moe_settings *s)
{
    char buffer[BLOCK_MAX_PATH];
    const mx_value up = expert_linear(b, h, ids, part(buffer, path, "switch_mlp.fc1"), s->d_ff, s);
    mx_op op = mx_builder_op(b, MX_OP_ACTIVATION);
    op.in[0] = up;
    op.u.glu.act = b->shape.act;
    op.out[0] = add_value(b, mx_builder_view_value(b, up)->row_factor, s->d_ff, MX_VALUE_F32,
                          part(buffer, path, "switch_mlp.act"));
    mx_builder_add_op(b, &op);
    return expert_linear(b, op.out[0], ids, part(buffer, path, "switch_mlp.fc2"), n_out, s);
}

static mx_value scale_chosen(mx_builder *b, const choice *c, const mx_moe_settings *s)
{
    mx_op op = mx_builder_op(b, MX_OP_SCALE_CHOSEN);
    op.in[0] = c->weights;
    op.in[1] = c->ids;
    op.u.vector.weight = mx_builder_weight(b, s->expert_scale, "", 1, 1, s->n_experts);
    op.out[0] = add_value(b, 1, s->route.top_k, MX_VALUE_F32, s->expert_scale);
    mx_builder_add_op(b, &op);
    return op.out[0];
}

mx_value mx_moe_mlp(mx_builder *b, mx_value x, const char *path, const mx_moe_settings *s)
{
    char buffer[BLOCK_MAX_PATH];
    const mx_value scores = mx_linear(b, x, part(buffer, path, "gate"), s->n_experts, s->has_router_bias);
    return mx_moe_by_scores(b, x, scores, path, s);
}

mx_value mx_moe_by_scores(mx_builder *b, mx_value x, mx_value scores, const char *path, const mx_moe_settings *s)
{
    char buffer[BLOCK_MAX_PATH];
    const int64_t d_model = mx_builder_view_value(b, x)->n_cols;
    mx_route_params params = s->route;
    params.bias = choice_bias(b, s);
    choice c = route(b, scores, &params, path);
    c.weights = s->expert_scale ? scale_chosen(b, &c, s) : c.weights;

    const mx_value h = s->scales_input ? combine(b, x, c.weights, part(buffer, path, "scaled")) : x;
    const mx_value y =
        s->is_plain ? plain_experts(b, h, c.ids, path, d_model, s) : gated_experts(b, h, c.ids, path, d_model, s);
    const mx_value sum = s->scales_input ? y : combine(b, y, c.weights, path);
    if (s->d_ff_shared == 0) {
        return sum;
    }
    return mx_add(b, sum, mx_glu_mlp(b, x, part(buffer, path, "shared_experts"), s->d_ff_shared, s->has_shared_bias));
}

/* The sigmoid is that of a router with one expert, which is always chosen. */
mx_value mx_gate_rows(mx_builder *b, mx_value x, mx_value score, const char *name)
{
    const mx_route_params params = {.top_k = 1, .score = MX_SCORE_SIGMOID, .bias = MX_NO_WEIGHT, .scale = 1.0f};
    return combine(b, x, route(b, score, &params, name).weights, name);
}

mx_value mx_gated_mlp(mx_builder *b, mx_value x, const char *path, const char *gate_path, int64_t d_ff)
{
    const mx_value y = mx_glu_mlp(b, x, path, d_ff, false);
    return mx_gate_rows(b, y, mx_linear(b, x, gate_path, 1, false), path);
}
