/* blocks_streams.c - several values side by side, and what Gemma 3n does with them. */
#include "program/builder_core.h"

static mx_value emit(mx_builder *b, mx_op op, mx_value like, int64_t n_cols, const char *name)
{
    mx_value_info info = *mx_builder_view_value(b, like);
    info.n_cols = n_cols;
    op.out[0] = mx_builder_add_value(b, &info, name);
    mx_builder_add_op(b, &op);
    return op.out[0];
}

static int64_t n_cols_of(const mx_builder *b, mx_value x)
{
    return mx_builder_view_value(b, x)->n_cols;
}

mx_value mx_cutoff(mx_builder *b, mx_value x, float n_deviations)
{
    mx_op op = mx_builder_op(b, MX_OP_CUTOFF);
    op.in[0] = x;
    op.u.scale.factor = n_deviations;
    return emit(b, op, x, n_cols_of(b, x), "cutoff");
}

mx_value mx_concat(mx_builder *b, mx_value x, mx_value y)
{
    mx_op op = mx_builder_op(b, MX_OP_CONCAT);
    op.in[0] = x;
    op.in[1] = y;
    return emit(b, op, x, n_cols_of(b, x) + n_cols_of(b, y), "concat");
}

mx_value mx_match_rms(mx_builder *b, mx_value x, mx_value like, float least)
{
    mx_op op = mx_builder_op(b, MX_OP_MATCH_RMS);
    op.in[0] = x;
    op.in[1] = like;
    op.u.scale.factor = least;
    return emit(b, op, x, n_cols_of(b, x), "match_rms");
}

mx_value mx_mix_streams(mx_builder *b, mx_value x, mx_value m, int32_t n_streams)
{
    mx_op op = mx_builder_op(b, MX_OP_MIX_STREAMS);
    op.in[0] = x;
    op.in[1] = m;
    op.u.streams.n_streams = n_streams;
    return emit(b, op, x, n_cols_of(b, x), "streams.mixed");
}

mx_value mx_add_streams(mx_builder *b, mx_value x, mx_value a, mx_value m, mx_streams_params params)
{
    mx_op op = mx_builder_op(b, MX_OP_ADD_STREAMS);
    op.in[0] = x;
    op.in[1] = a;
    op.in[2] = m;
    op.u.streams = params;
    return emit(b, op, x, n_cols_of(b, x), "streams.added");
}
