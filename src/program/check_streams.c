/* check_streams.c - rows are the same throughout, and columns add up. */
#include "program/check_streams.h"

static bool is_like(const mx_program *p, mx_value v, mx_value of, int64_t n_cols)
{
    const mx_value_info *a = &p->values[v];
    const mx_value_info *b = &p->values[of];
    return a->rows == b->rows && a->row_factor == b->row_factor && a->type == MX_VALUE_F32 && b->type == MX_VALUE_F32 &&
           a->n_cols == n_cols;
}

const char *mx_check_concat(const mx_program *p, const mx_op *op)
{
    const int64_t n_cols = p->values[op->in[0]].n_cols + p->values[op->in[1]].n_cols;
    const bool fits =
        is_like(p, op->in[1], op->in[0], p->values[op->in[1]].n_cols) && is_like(p, op->out[0], op->in[0], n_cols);
    return fits ? NULL : "columns do not add up";
}

/* The columns of one stream, 0 where they do not divide. */
static int64_t stream_cols(const mx_program *p, const mx_op *op)
{
    const int64_t n_cols = p->values[op->in[0]].n_cols;
    const int32_t n = op->u.streams.n_streams;
    const bool is_same = is_like(p, op->out[0], op->in[0], n_cols);
    return n > 0 && is_same && n_cols % n == 0 ? n_cols / n : 0;
}

const char *mx_check_mix_streams(const mx_program *p, const mx_op *op)
{
    const int32_t n = op->u.streams.n_streams;
    const bool fits = stream_cols(p, op) > 0 && is_like(p, op->in[1], op->in[0], (int64_t)n * n);
    return fits ? NULL : "the streams or their weights do not fit";
}

const char *mx_check_add_streams(const mx_program *p, const mx_op *op)
{
    const mx_streams_params *s = &op->u.streams;
    const int64_t n_cols = stream_cols(p, op);
    const bool fits = n_cols > 0 && is_like(p, op->in[1], op->in[0], n_cols) && s->first >= 0 &&
                      (op->in[2] == MX_NO_VALUE || is_like(p, op->in[2], op->in[0], s->n_streams));
    return fits ? NULL : "the streams or their weights do not fit";
}
