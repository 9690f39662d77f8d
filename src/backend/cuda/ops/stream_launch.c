/* stream_launch.c - SLICE, and the operations on several values side by side. */
#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/kernels/streams.params.h"

static mx_status launch_rows(mx_cuda *cuda, const mx_op *op, mx_cuda_kernel kernel, int32_t n_streams, void *params,
                             mx_error *err)
{
    const int64_t n_rows = mx_cuda_n_rows(cuda, op->out[0]);
    const mx_cuda_grid grid = {{(uint32_t)n_rows, (uint32_t)n_streams, 1}, 256, 0};
    return n_rows > 0 ? mx_cuda_launch(cuda, kernel, grid, params, err) : MX_OK;
}

mx_status mx_cuda_slice(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    const mx_columns *view = &op->u.slice.x;
    (void)data;
    slice_params params = {
        .x = mx_cuda_value(cuda, op->in[0]),
        .y = mx_cuda_value(cuda, op->out[0]),
        .n_x_cols = mx_cuda_n_cols(cuda, op->in[0]),
        .n_y_cols = mx_cuda_n_cols(cuda, op->out[0]),
        .first = view->first,
        .n_group = view->n_group,
        .stride = view->stride,
    };
    return launch_rows(cuda, op, MX_CUDA_slice, 1, &params, err);
}

static row_pair_params pair_of(const mx_cuda *cuda, const mx_op *op)
{
    const bool has_b = op->in[1] != MX_NO_VALUE;
    return (row_pair_params){
        .a = mx_cuda_value(cuda, op->in[0]),
        .b = has_b ? mx_cuda_value(cuda, op->in[1]) : 0,
        .y = mx_cuda_value(cuda, op->out[0]),
        .n_a_cols = mx_cuda_n_cols(cuda, op->in[0]),
        .n_b_cols = has_b ? mx_cuda_n_cols(cuda, op->in[1]) : 0,
    };
}

mx_status mx_cuda_concat(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    row_pair_params params = pair_of(cuda, op);
    return launch_rows(cuda, op, MX_CUDA_concat_rows, 1, &params, err);
}

mx_status mx_cuda_match_rms(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    row_pair_params params = pair_of(cuda, op);
    params.least = op->u.scale.factor;
    return launch_rows(cuda, op, MX_CUDA_match_rms, 1, &params, err);
}

mx_status mx_cuda_cutoff(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    row_pair_params params = pair_of(cuda, op);
    params.least = op->u.scale.factor;
    return launch_rows(cuda, op, MX_CUDA_cutoff, 1, &params, err);
}

/* Without what ADD_STREAMS adds. */
static streams_params streams_of(const mx_cuda *cuda, const mx_op *op)
{
    const mx_streams_params *p = &op->u.streams;
    return (streams_params){
        .x = mx_cuda_value(cuda, op->in[0]),
        .y = mx_cuda_value(cuda, op->out[0]),
        .n_cols = mx_cuda_n_cols(cuda, op->in[0]) / p->n_streams,
        .n_streams = p->n_streams,
        .first = p->first,
        .offset = p->offset,
    };
}

mx_status mx_cuda_mix_streams(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    streams_params params = streams_of(cuda, op);
    params.m = mx_cuda_value(cuda, op->in[1]);
    return launch_rows(cuda, op, MX_CUDA_mix_streams, op->u.streams.n_streams, &params, err);
}

mx_status mx_cuda_add_streams(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    streams_params params = streams_of(cuda, op);
    params.a = mx_cuda_value(cuda, op->in[1]);
    params.m = op->in[2] == MX_NO_VALUE ? 0 : mx_cuda_value(cuda, op->in[2]);
    return launch_rows(cuda, op, MX_CUDA_add_streams, op->u.streams.n_streams, &params, err);
}
