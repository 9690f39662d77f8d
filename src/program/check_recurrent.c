/* check_recurrent.c - views of values, weights as vectors, states: what the recurrent operations ask of them. */
#include "program/check_recurrent.h"

/* Whether v is f32 with a row for each token, and the view's n_cols columns lie in it. */
static bool is_view(const mx_program *p, mx_value v, const mx_columns *view, int64_t n_cols)
{
    const mx_value_info *info = &p->values[v];
    if (info->rows != MX_ROWS_TOKENS || info->row_factor != 1 || info->type != MX_VALUE_F32) {
        return false;
    }
    if (n_cols < 1 || view->first < 0 || view->n_group < 1 || view->stride < 0 || n_cols % view->n_group != 0) {
        return false;
    }
    const int64_t n_groups = n_cols / view->n_group;
    return view->first < info->n_cols && view->stride <= info->n_cols &&
           view->first + (n_groups - 1) * view->stride + view->n_group <= info->n_cols;
}

static bool is_whole(const mx_program *p, mx_value v, int64_t n_cols)
{
    const mx_columns all = {.n_group = n_cols};
    return p->values[v].n_cols == n_cols && is_view(p, v, &all, n_cols);
}

/* Whether the weight holds n numbers, of whatever shape; absent is fine where it may be. */
static bool has_numbers(const mx_program *p, int32_t weight, int64_t n, bool is_optional)
{
    if (weight == MX_NO_WEIGHT) {
        return is_optional;
    }
    if (weight < 0 || weight >= p->n_weights) {
        return false;
    }
    const mx_weight *w = &p->weights[weight];
    return w->n_experts == 1 && w->n_rows * w->n_cols == n;
}

static bool is_state(const mx_program *p, int32_t i_state, int64_t n_rows, int64_t n_cols)
{
    return i_state >= 0 && i_state < p->n_states && p->states[i_state].n_rows == n_rows &&
           p->states[i_state].n_cols == n_cols;
}

const char *mx_check_slice(const mx_program *p, const mx_op *op)
{
    const int64_t n_cols = p->values[op->out[0]].n_cols;
    const bool fits = is_whole(p, op->out[0], n_cols) && is_view(p, op->in[0], &op->u.slice.x, n_cols);
    return fits ? NULL : "the view is not inside of the input";
}

const char *mx_check_conv(const mx_program *p, const mx_op *op)
{
    const mx_conv_params *c = &op->u.conv;
    const int64_t n_cols = p->values[op->out[0]].n_cols;
    if (c->width < 2 || c->width > MX_CONV_MAX_WIDTH) {
        return "the width is out of range";
    }
    if (!is_whole(p, op->out[0], n_cols) || !is_view(p, op->in[0], &c->x, n_cols)) {
        return "the view is not inside of the input";
    }
    if ((op->in[1] != MX_NO_VALUE && !is_view(p, op->in[1], &c->in_gate, n_cols)) ||
        (op->in[2] != MX_NO_VALUE && !is_view(p, op->in[2], &c->out_gate, n_cols))) {
        return "a gate is not inside of its input";
    }
    if (c->weight < 0 || c->weight >= p->n_weights || c->first_channel < 0) {
        return "there is no such weight";
    }
    const mx_weight *w = &p->weights[c->weight];
    if (w->n_experts != 1 || w->n_cols != c->width || w->n_rows < c->first_channel + n_cols) {
        return "the weight does not fit the channels and the width";
    }
    if (!has_numbers(p, c->bias, w->n_rows, true)) {
        return "the bias does not fit the channels";
    }
    return is_state(p, c->i_state, n_cols, c->width - 1) ? NULL : "the state does not fit";
}

const char *mx_check_ssm(const mx_program *p, const mx_op *op)
{
    const mx_ssm_params *s = &op->u.ssm;
    if (s->n_heads < 1 || s->head_dim < 1 || s->d_state < 1 || s->n_groups < 1 || s->n_heads % s->n_groups != 0) {
        return "the groups do not divide the heads";
    }
    const int64_t n_x = (int64_t)s->n_heads * s->head_dim;
    const int64_t n_b = (int64_t)s->n_groups * s->d_state;
    if (!is_view(p, op->in[0], &s->x, n_x) || !is_view(p, op->in[1], &s->dt, s->n_heads) ||
        !is_view(p, op->in[2], &s->b, n_b) || !is_view(p, op->in[3], &s->c, n_b) || !is_whole(p, op->out[0], n_x)) {
        return "a view is not inside of its input, or the output does not fit";
    }
    if (s->b.n_group % s->d_state != 0 || s->c.n_group % s->d_state != 0 || s->x.n_group % s->head_dim != 0) {
        return "a view cuts a head";
    }
    if (!(s->dt_min <= s->dt_max)) {
        return "the smallest step is larger than the largest";
    }
    if (!has_numbers(p, s->a_log, s->n_heads, false) &&
        !has_numbers(p, s->a_log, (int64_t)s->n_heads * s->d_state, false)) {
        return "the decays do not fit the heads";
    }
    if (!has_numbers(p, s->skip, s->n_heads, true) || !has_numbers(p, s->dt_bias, s->n_heads, true)) {
        return "a vector does not fit the heads";
    }
    return is_state(p, s->i_state, s->n_heads, (int64_t)s->head_dim * s->d_state) ? NULL : "the state does not fit";
}

const char *mx_check_delta(const mx_program *p, const mx_op *op)
{
    const mx_delta_params *d = &op->u.delta;
    if (d->n_k_heads < 1 || d->n_v_heads < 1 || d->k_dim < 1 || d->v_dim < 1 || d->n_v_heads % d->n_k_heads != 0) {
        return "value heads are not a multiple of key heads";
    }
    const int64_t n_k = (int64_t)d->n_k_heads * d->k_dim;
    const int64_t n_v = (int64_t)d->n_v_heads * d->v_dim;
    const int64_t n_gates = d->has_channel_gate ? (int64_t)d->n_v_heads * d->k_dim : d->n_v_heads;
    if (!is_view(p, op->in[0], &d->q, n_k) || !is_view(p, op->in[1], &d->k, n_k) ||
        !is_view(p, op->in[2], &d->v, n_v) || !is_view(p, op->in[3], &d->gate, n_gates) ||
        !is_view(p, op->in[4], &d->beta, d->n_v_heads) || !is_whole(p, op->out[0], n_v)) {
        return "a view is not inside of its input, or the output does not fit";
    }
    if (d->q.n_group % d->k_dim != 0 || d->k.n_group % d->k_dim != 0 || d->v.n_group % d->v_dim != 0 ||
        (d->has_channel_gate && d->gate.n_group % d->k_dim != 0)) {
        return "a view cuts a head";
    }
    if (!has_numbers(p, d->a_log, d->n_v_heads, false) || !has_numbers(p, d->dt_bias, n_gates, true)) {
        return "a vector does not fit the heads";
    }
    return is_state(p, d->i_state, d->n_v_heads, (int64_t)d->k_dim * d->v_dim) ? NULL : "the state does not fit";
}

const char *mx_check_lru(const mx_program *p, const mx_op *op)
{
    const mx_lru_params *l = &op->u.lru;
    if (l->n_heads < 1 || l->width < 1) {
        return "there are no heads";
    }
    const int64_t n = (int64_t)l->n_heads * l->width;
    if (!is_whole(p, op->in[0], n) || !is_whole(p, op->out[0], n)) {
        return "the input or the output does not fit the heads";
    }
    if (!has_numbers(p, l->input_weight, n * l->width, false) ||
        !has_numbers(p, l->recurrent_weight, n * l->width, false)) {
        return "the weights of a gate do not fit the heads";
    }
    if (!has_numbers(p, l->input_bias, n, false) || !has_numbers(p, l->recurrent_bias, n, false) ||
        !has_numbers(p, l->decay, n, false)) {
        return "a vector does not fit the heads";
    }
    return is_state(p, l->i_state, l->n_heads, l->width) ? NULL : "the state does not fit";
}
