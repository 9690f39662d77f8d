/* recurrent_ops.h - parameters of the operations that remember a state, and of views of values; part of program.h.
 *
 * Source of the recurrences: Gu & Dao, "Mamba", arXiv 2312.00752; Dao & Gu, "Transformers are SSMs", arXiv 2405.21060;
 * Yang et al., "Gated Delta Networks", arXiv 2412.06464; "Kimi Linear", arXiv 2510.26692, for the gate by channel.
 */
#ifndef MX_PROGRAM_RECURRENT_OPS_H
#define MX_PROGRAM_RECURRENT_OPS_H

#include <stdbool.h>
#include <stdint.h>

/* Some columns of a wider value, in groups: column c of the view is column first + c / n_group * stride + c % n_group
 * of the value. */
typedef struct mx_columns {
    int64_t first;
    int64_t n_group; /* columns that lie side by side; divides the columns of the view */
    int64_t stride;  /* from one group to the next */
} mx_columns;

/* Where column c of the view lies in the value. */
static inline int64_t mx_columns_at(const mx_columns *view, int64_t c)
{
    return view->first + c / view->n_group * view->stride + c % view->n_group;
}

typedef struct mx_slice_params {
    mx_columns x;
} mx_slice_params;

#define MX_CONV_MAX_WIDTH 8

/* in = {x, in_gate, out_gate}, each a view, the gates or MX_NO_VALUE.
 *
 *   z = x * in_gate;  y[t,c] = act(bias[c] + sum_j w[c,j] * z[t - width + 1 + j, c]) * out_gate[t,c]
 *
 * The state holds z of the width - 1 tokens before, oldest first: [n_cols, width - 1]. */
typedef struct mx_conv_params {
    int32_t i_state;                 /* place in mx_program.states here and below */
    mx_columns x, in_gate, out_gate; /* as many columns as the output has */
    int32_t width;                   /* from 2 to MX_CONV_MAX_WIDTH */
    int32_t weight;                  /* [at least first_channel + n_cols, width] */
    int32_t bias;                    /* a vector of as many, or MX_NO_WEIGHT */
    int32_t first_channel;
    bool has_silu;
} mx_conv_params;

/* Mamba 1 (head_dim 1, a decay for each of d_state) and Mamba 2 (one decay a head).
 * in = {x [T, n_heads * head_dim], dt [T, n_heads], b, c [T, n_groups * d_state]}, each a view; head h reads group
 * g = h / (n_heads / n_groups).
 *
 *   d = min(max(softplus(dt[t,h] + dt_bias[h]), dt_min), dt_max);  a = -exp(a_log[h,n] or a_log[h])
 *   s[h,p,n] = exp(d * a) * s[h,p,n] + d * x[t,h,p] * b[t,g,n]
 *   y[t,h,p] = sum_n s[h,p,n] * c[t,g,n] + skip[h] * x[t,h,p]
 *
 * The state is s, as [n_heads, d_state * head_dim]. */
typedef struct mx_ssm_params {
    int32_t i_state;
    int32_t n_heads;
    int32_t head_dim;
    int32_t d_state;
    int32_t n_groups; /* divides n_heads */
    mx_columns x, dt, b, c;
    int32_t a_log;   /* [n_heads], or [n_heads, d_state] */
    int32_t skip;    /* [n_heads] or MX_NO_WEIGHT */
    int32_t dt_bias; /* [n_heads] or MX_NO_WEIGHT */
    float dt_min;
    float dt_max;
} mx_ssm_params;

/* in = {q, k [T, n_k_heads * k_dim], v [T, n_v_heads * v_dim], gate, beta [T, n_v_heads]}, each a view; value head h
 * reads key head h / (n_v_heads / n_k_heads). gate is [T, n_v_heads], or with has_channel_gate [T, n_v_heads * k_dim]:
 * then each row of the state decays by its own.
 *
 *   k = k[t] / sqrt(sum k[t]^2 + 1e-6), q the same times q_scale;  b = 1 / (1 + exp(-beta[t,h]))
 *   s[i,:] = exp(-exp(a_log[h]) * softplus(gate[t,h(,i)] + dt_bias[h(,i)])) * s[i,:]
 *   s[i,:] = s[i,:] + k[i] * b * (v[t,h,:] - sum_i k[i] * s[i,:]);  y[t,h,:] = sum_i q[i] * s[i,:]
 *
 * The state is s: [n_v_heads, k_dim * v_dim]. */
typedef struct mx_delta_params {
    int32_t i_state;
    int32_t n_k_heads;
    int32_t n_v_heads; /* a multiple of n_k_heads */
    int32_t k_dim;
    int32_t v_dim;
    mx_columns q, k, v, gate, beta;
    bool has_channel_gate;
    int32_t a_log;   /* [n_v_heads] */
    int32_t dt_bias; /* [n_v_heads], with has_channel_gate [n_v_heads * k_dim]; or MX_NO_WEIGHT */
    float q_scale;
} mx_delta_params;

/* The real-gated linear recurrent unit of Griffin: in = {x [T, n_heads * width]}; gates are products within a head.
 *
 *   i[t,j] = 1 / (1 + exp(-(sum_k x[t,k] * input_weight[h,k,j] + input_bias[h,j]))), r the same by recurrent_*
 *   l[t,j] = -8 * r[t,j] * softplus(decay[h,j])
 *   y[t,j] = exp(l) * y[t-1,j] + sqrt(1 - exp(2 l)) * i[t,j] * x[t,j];  at position 0: i[t,j] * x[t,j]
 *
 * The state is y of the last token: [n_heads, width]. Source: De et al., "Griffin", arXiv 2402.19427. */
typedef struct mx_lru_params {
    int32_t i_state;
    int32_t n_heads;
    int32_t width;
    int32_t input_weight; /* [n_heads * width, width] */
    int32_t input_bias;   /* [n_heads * width] here and below */
    int32_t recurrent_weight;
    int32_t recurrent_bias;
    int32_t decay;
} mx_lru_params;

#endif
