/* blocks_recurrent.c - the blocks of layers that remember a state instead of keys and values. */
#include <stdio.h>

#include "program/builder_core.h"

/* The description of f32 rows, one a token. */
static mx_value_info rows_of(int64_t n_cols)
{
    return (mx_value_info){.rows = MX_ROWS_TOKENS, .row_factor = 1, .n_cols = n_cols};
}

static mx_value emit(mx_builder *b, mx_op *op, int64_t n_cols, const char *name)
{
    const mx_value_info info = rows_of(n_cols);
    op->out[0] = mx_builder_add_value(b, &info, name);
    mx_builder_add_op(b, op);
    return op->out[0];
}

static int32_t add_state(mx_builder *b, int64_t n_rows, int64_t n_cols)
{
    const mx_state_spec spec = {.n_rows = (int32_t)MX_MIN(n_rows, (int64_t)INT32_MAX),
                                .n_cols = (int32_t)MX_MIN(n_cols, (int64_t)INT32_MAX)};
    return mx_builder_add(b, &b->states, &spec, sizeof spec);
}

mx_columns mx_columns_from(int64_t first, int64_t n)
{
    return (mx_columns){.first = first, .n_group = n, .stride = n};
}

mx_value mx_slice(mx_builder *b, mx_value x, mx_columns view, int64_t n_cols, const char *name)
{
    mx_op op = mx_builder_op(b, MX_OP_SLICE);
    op.in[0] = x;
    op.u.slice.x = view;
    return emit(b, &op, n_cols, name);
}

mx_value mx_rmsnorm_groups(mx_builder *b, mx_value x, const char *path, int64_t n_group_cols, float eps, bool is_wide)
{
    mx_op op = mx_builder_op(b, MX_OP_RMSNORM);
    const int64_t n_cols = mx_builder_view_value(b, x)->n_cols;
    op.in[0] = x;
    op.u.norm = (mx_norm_params){
        .weight = path ? mx_builder_numbers(b, path, "", 1, is_wide ? n_cols : n_group_cols) : MX_NO_WEIGHT,
        .eps = eps,
        .n_group_cols = n_group_cols,
        .is_wide = is_wide && n_group_cols != n_cols,
        .bias = MX_NO_WEIGHT,
    };
    return emit(b, &op, n_cols, path ? path : "norm");
}

mx_value mx_gate(mx_builder *b, mx_value gate, mx_value x, mx_activation act, const char *name)
{
    mx_op op = mx_builder_op(b, MX_OP_GLU);
    op.in[0] = gate;
    op.in[1] = x;
    op.u.glu.act = act;
    return emit(b, &op, mx_builder_view_value(b, x)->n_cols, name);
}

mx_value mx_causal_conv(mx_builder *b, const mx_conv_settings *s)
{
    mx_op op = mx_builder_op(b, MX_OP_CAUSAL_CONV);
    const int64_t n_all = MX_MAX(s->n_all_channels, s->n_channels);
    op.in[0] = s->x;
    op.in[1] = s->in_gate;
    op.in[2] = s->out_gate;
    op.u.conv = (mx_conv_params){
        .i_state = add_state(b, s->n_channels, s->width - 1),
        .x = s->x_columns,
        .in_gate = s->in_gate_columns,
        .out_gate = s->out_gate_columns,
        .width = s->width,
        .weight = mx_builder_numbers(b, s->path, "", n_all, s->width),
        .bias = s->has_bias ? mx_builder_numbers(b, s->path, ".bias", 1, n_all) : MX_NO_WEIGHT,
        .first_channel = s->first_channel,
        .has_silu = s->has_silu,
    };
    return emit(b, &op, s->n_channels, s->path);
}

mx_value mx_ssm_scan(mx_builder *b, const mx_ssm_inputs *in, mx_ssm_params params, const char *name)
{
    mx_op op = mx_builder_op(b, MX_OP_SSM_SCAN);
    op.in[0] = in->x;
    op.in[1] = in->dt;
    op.in[2] = in->b;
    op.in[3] = in->c;
    params.i_state = add_state(b, params.n_heads, (int64_t)params.head_dim * params.d_state);
    op.u.ssm = params;
    return emit(b, &op, (int64_t)params.n_heads * params.head_dim, name);
}

mx_value mx_delta_rule(mx_builder *b, const mx_delta_inputs *in, mx_delta_params params, const char *name)
{
    mx_op op = mx_builder_op(b, MX_OP_DELTA_RULE);
    op.in[0] = in->q;
    op.in[1] = in->k;
    op.in[2] = in->v;
    op.in[3] = in->gate;
    op.in[4] = in->beta;
    params.i_state = add_state(b, params.n_v_heads, (int64_t)params.k_dim * params.v_dim);
    op.u.delta = params;
    return emit(b, &op, (int64_t)params.n_v_heads * params.v_dim, name);
}

mx_value mx_rg_lru(mx_builder *b, mx_value x, const char *path, int32_t n_heads)
{
    const int64_t n = mx_builder_view_value(b, x)->n_cols;
    const int64_t width = n / n_heads;
    mx_op op = mx_builder_op(b, MX_OP_RG_LRU);
    op.in[0] = x;
    op.u.lru = (mx_lru_params){
        .i_state = add_state(b, n_heads, width),
        .n_heads = n_heads,
        .width = (int32_t)width,
        .input_weight = mx_builder_numbers(b, path, ".input_gate_weight", n, width),
        .input_bias = mx_builder_numbers(b, path, ".input_gate_bias", 1, n),
        .recurrent_weight = mx_builder_numbers(b, path, ".recurrent_gate_weight", n, width),
        .recurrent_bias = mx_builder_numbers(b, path, ".recurrent_gate_bias", 1, n),
        .decay = mx_builder_numbers(b, path, ".recurrent_param", 1, n),
    };
    return emit(b, &op, n, path);
}
