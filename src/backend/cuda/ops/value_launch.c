/* value_launch.c - the operations on whole values, and the table of all operations. */
#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/kernels/values.params.h"

mx_cuda_op_run *const mx_cuda_ops[MX_OP_COUNT] = {
    [MX_OP_EMBED] = mx_cuda_embed_op,
    [MX_OP_GATHER_ROWS] = mx_cuda_gather_rows_op,
    [MX_OP_ADD_POSITIONS] = mx_cuda_add_positions_op,
    [MX_OP_RMSNORM] = mx_cuda_rmsnorm_op,
    [MX_OP_LAYERNORM] = mx_cuda_layernorm_op,
    [MX_OP_ADD] = mx_cuda_add,
    [MX_OP_SCALE] = mx_cuda_scale,
    [MX_OP_SOFTCAP] = mx_cuda_softcap,
    [MX_OP_CLIP] = mx_cuda_clip,
    [MX_OP_MULTIPLY] = mx_cuda_multiply,
    [MX_OP_XIELU] = mx_cuda_xielu,
    [MX_OP_SCALE_CHOSEN] = mx_cuda_scale_chosen,
    [MX_OP_CUTOFF] = mx_cuda_cutoff,
    [MX_OP_CONCAT] = mx_cuda_concat,
    [MX_OP_MATCH_RMS] = mx_cuda_match_rms,
    [MX_OP_MIX_STREAMS] = mx_cuda_mix_streams,
    [MX_OP_ADD_STREAMS] = mx_cuda_add_streams,
    [MX_OP_SLICE] = mx_cuda_slice,
    [MX_OP_ACTIVATION] = mx_cuda_activation,
    [MX_OP_GLU] = mx_cuda_glu,
    [MX_OP_LINEAR] = mx_cuda_linear,
    [MX_OP_ROPE] = mx_cuda_rope_op,
    [MX_OP_KV_APPEND] = mx_cuda_kv_append,
    [MX_OP_ATTENTION] = mx_cuda_attention,
    [MX_OP_ROUTE] = mx_cuda_route_op,
    [MX_OP_EXPERT_LINEAR] = mx_cuda_expert_linear,
    [MX_OP_EXPERT_COMBINE] = mx_cuda_expert_combine_op,
};

/* One block for each of n_blocks things; nothing where there are none. */
static mx_status launch_blocks(mx_cuda *cuda, mx_cuda_kernel kernel, int64_t n_blocks, uint32_t n_threads,
                               uint32_t n_shared_bytes, void *params, mx_error *err)
{
    const mx_cuda_grid grid = {{(uint32_t)n_blocks, 1, 1}, n_threads, n_shared_bytes};
    return n_blocks > 0 ? mx_cuda_launch(cuda, kernel, grid, params, err) : MX_OK;
}

static mx_status launch_values(mx_cuda *cuda, const mx_op *op, mx_cuda_kernel kernel, float factor, int32_t act,
                               mx_error *err)
{
    value_params params = {
        .a = mx_cuda_value(cuda, op->in[0]),
        .b = op->in[1] == MX_NO_VALUE ? 0 : mx_cuda_value(cuda, op->in[1]),
        .y = mx_cuda_value(cuda, op->out[0]),
        .n = mx_cuda_n_rows(cuda, op->out[0]) * mx_cuda_n_cols(cuda, op->out[0]),
        .factor = factor,
        .act = act,
    };
    return launch_blocks(cuda, kernel, (params.n + 255) / 256, 256, 0, &params, err);
}

mx_status mx_cuda_add(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    return launch_values(cuda, op, MX_CUDA_value_add, 0.0f, 0, err);
}

mx_status mx_cuda_scale(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    return launch_values(cuda, op, MX_CUDA_value_scale, op->u.scale.factor, 0, err);
}

mx_status mx_cuda_softcap(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    return launch_values(cuda, op, MX_CUDA_value_softcap, op->u.scale.factor, 0, err);
}

mx_status mx_cuda_clip(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    return launch_values(cuda, op, MX_CUDA_value_clip, op->u.scale.factor, 0, err);
}

mx_status mx_cuda_multiply(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    multiply_params params = {
        .x = mx_cuda_value(cuda, op->in[0]),
        .w = mx_cuda_vector(cuda, op->u.vector.weight),
        .y = mx_cuda_value(cuda, op->out[0]),
        .n = mx_cuda_n_rows(cuda, op->out[0]) * mx_cuda_n_cols(cuda, op->out[0]),
        .n_w = cuda->program->weights[op->u.vector.weight].n_cols,
    };
    return launch_blocks(cuda, MX_CUDA_multiply, (params.n + 255) / 256, 256, 0, &params, err);
}

mx_status mx_cuda_scale_chosen(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    scale_chosen_params params = {
        .weights = mx_cuda_value(cuda, op->in[0]),
        .ids = mx_cuda_value(cuda, op->in[1]),
        .w = mx_cuda_vector(cuda, op->u.vector.weight),
        .y = mx_cuda_value(cuda, op->out[0]),
        .n = mx_cuda_n_rows(cuda, op->out[0]) * mx_cuda_n_cols(cuda, op->out[0]),
    };
    return launch_blocks(cuda, MX_CUDA_scale_chosen, (params.n + 255) / 256, 256, 0, &params, err);
}

mx_status mx_cuda_xielu(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    xielu_params params = {
        .x = mx_cuda_value(cuda, op->in[0]),
        .alpha_p = mx_cuda_vector(cuda, op->u.xielu.alpha_p),
        .alpha_n = mx_cuda_vector(cuda, op->u.xielu.alpha_n),
        .beta = mx_cuda_vector(cuda, op->u.xielu.beta),
        .eps = mx_cuda_vector(cuda, op->u.xielu.eps),
        .y = mx_cuda_value(cuda, op->out[0]),
        .n = mx_cuda_n_rows(cuda, op->out[0]) * mx_cuda_n_cols(cuda, op->out[0]),
    };
    return launch_blocks(cuda, MX_CUDA_xielu, (params.n + 255) / 256, 256, 0, &params, err);
}

mx_status mx_cuda_activation(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    return launch_values(cuda, op, MX_CUDA_value_activation, 0.0f, (int32_t)op->u.glu.act, err);
}

mx_status mx_cuda_glu(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    return launch_values(cuda, op, MX_CUDA_value_glu, 0.0f, (int32_t)op->u.glu.act, err);
}

mx_status mx_cuda_embed_op(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    embed_params params = {
        .table = data->table,
        .tokens = mx_cuda_value(cuda, op->in[0]),
        .y = mx_cuda_value(cuda, op->out[0]),
        .scale = op->u.embed.scale,
        .n_rows = (int32_t)cuda->program->weights[op->u.embed.weight].n_rows,
    };
    return launch_blocks(cuda, MX_CUDA_embed, mx_cuda_n_rows(cuda, op->out[0]), 256, 0, &params, err);
}

mx_status mx_cuda_add_positions_op(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    add_positions_params params = {
        .table = data->table,
        .positions = mx_cuda_batch_at(cuda, cuda->batch_layout.positions),
        .x = mx_cuda_value(cuda, op->in[0]),
        .y = mx_cuda_value(cuda, op->out[0]),
    };
    return launch_blocks(cuda, MX_CUDA_add_positions, mx_cuda_n_rows(cuda, op->out[0]), 256, 0, &params, err);
}

mx_status mx_cuda_gather_rows_op(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    gather_rows_params params = {
        .x = mx_cuda_value(cuda, op->in[0]),
        .y = mx_cuda_value(cuda, op->out[0]),
        .rows = mx_cuda_batch_at(cuda, cuda->batch_layout.sample_rows),
        .n_cols = mx_cuda_n_cols(cuda, op->in[0]),
    };
    return launch_blocks(cuda, MX_CUDA_gather_rows, cuda->step.n_samples, 256, 0, &params, err);
}

mx_status mx_cuda_rmsnorm_op(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    const mx_norm_params *p = &op->u.norm;
    const int64_t n_row_groups = mx_cuda_n_cols(cuda, op->in[0]) / p->n_group_cols;
    rmsnorm_params params = {
        .x = mx_cuda_value(cuda, op->in[0]),
        .w = mx_cuda_vector(cuda, p->weight),
        .y = mx_cuda_value(cuda, op->out[0]),
        .n_cols = (int32_t)p->n_group_cols,
        .eps = p->eps,
        .weight_offset = p->weight_offset,
        .n_weight_groups = p->is_wide ? (int32_t)n_row_groups : 1,
    };
    const int64_t n_groups = mx_cuda_n_rows(cuda, op->in[0]) * n_row_groups;
    return launch_blocks(cuda, MX_CUDA_rmsnorm, n_groups, p->n_group_cols > 512 ? 256 : 32, 0, &params, err);
}

mx_status mx_cuda_layernorm_op(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    const mx_norm_params *p = &op->u.norm;
    const int64_t n_in_row = mx_cuda_n_cols(cuda, op->in[0]) / p->n_group_cols;
    layernorm_params params = {
        .x = mx_cuda_value(cuda, op->in[0]),
        .w = mx_cuda_vector(cuda, p->weight),
        .bias = mx_cuda_vector(cuda, p->bias),
        .y = mx_cuda_value(cuda, op->out[0]),
        .n_cols = (int32_t)p->n_group_cols,
        .eps = p->eps,
        .weight_offset = p->weight_offset,
        .n_weights = mx_norm_has_group_weights(cuda->program, p, n_in_row) ? (int32_t)n_in_row : 1,
    };
    const int64_t n_groups = mx_cuda_n_rows(cuda, op->in[0]) * n_in_row;
    return launch_blocks(cuda, MX_CUDA_layernorm, n_groups, p->n_group_cols > 512 ? 256 : 32, 0, &params, err);
}

mx_status mx_cuda_route_op(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    const mx_route_params *r = &op->u.route;
    route_params params = {
        .scores = mx_cuda_value(cuda, op->in[0]),
        .ids = mx_cuda_value(cuda, op->out[0]),
        .weights = mx_cuda_value(cuda, op->out[1]),
        .n_experts = (int32_t)mx_cuda_n_cols(cuda, op->in[0]),
        .bias = mx_cuda_vector(cuda, r->bias),
        .top_k = r->top_k,
        .score = (int32_t)r->score,
        .n_groups = r->n_groups,
        .top_groups = r->top_groups,
        .ranks_by_top_two = r->ranks_by_top_two,
        .is_normalized = r->normalize,
        .min_sum = r->min_sum,
        .scale = r->scale,
        .jitter = r->jitter,
    };
    const uint32_t n_shared = (uint32_t)(2 * params.n_experts + MX_MAX(params.n_groups, 0)) * 4;
    return launch_blocks(cuda, MX_CUDA_route, cuda->step.n_tokens, 32, n_shared, &params, err);
}

mx_status mx_cuda_expert_combine_op(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    expert_combine_params params = {
        .x = mx_cuda_value(cuda, op->in[0]),
        .weights = mx_cuda_value(cuda, op->in[1]),
        .y = mx_cuda_value(cuda, op->out[0]),
        .n_cols = (int32_t)mx_cuda_n_cols(cuda, op->in[0]),
        .top_k = (int32_t)mx_cuda_n_cols(cuda, op->in[1]),
    };
    return launch_blocks(cuda, MX_CUDA_expert_combine, cuda->step.n_tokens, 256, 0, &params, err);
}
