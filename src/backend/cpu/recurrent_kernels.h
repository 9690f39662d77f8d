/* recurrent_kernels.h - the inner loops of recurrences, which an instruction set can do faster; part of kernels.h.
 *
 * Chunks of a long part of a sequence are computed by products of small matrices, single tokens by passes over the
 * state; both keep the state in f32.
 */
#ifndef MX_BACKEND_CPU_RECURRENT_KERNELS_H
#define MX_BACKEND_CPU_RECURRENT_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#define MX_CONV_LANES 16

/* Rows of up to MX_CONV_LANES neighbouring channels of one sequence. Gates NULL: none. */
typedef struct mx_conv_part {
    const float *x, *in_gate, *out_gate;
    int64_t x_stride, in_stride, out_stride; /* from row to row */
    float *y;
    int64_t y_stride;
    const float *w;    /* [n_channels, width] */
    const float *bias; /* [n_channels] or NULL */
    float *state;      /* [n_channels, width - 1] */
    int32_t width;
    int32_t n_channels;
    int64_t n_rows;
    bool has_silu;
} mx_conv_part;

/* y[i, j] = (adds ? y[i, j] : 0) + sum_k a[i * a_row + k * a_col] * b[k * b_row + j], for m x n results. */
typedef struct mx_small_product {
    float *y;
    int64_t y_row;
    const float *a;
    int64_t a_row, a_col;
    const float *b;
    int64_t b_row;
    int32_t m, n, k;
    bool adds;
} mx_small_product;

typedef struct mx_recurrent_kernels {
    void (*convolve)(const mx_conv_part *part);
    void (*multiply)(const mx_small_product *p);

    /* y[i] = exp(x[i]); y may be x. */
    void (*exponentials)(float *y, const float *x, int64_t n);

    /* One token of a state s [n_rows, n_cols]: s[i,:] = decay * s[i,:] + b[i] * x, y = sum_i c[i] * s[i,:] + skip * x.
     */
    void (*ssm_step)(float *s, const float *x, const float *b, const float *c, float decay, float skip, int32_t n_rows,
                     int32_t n_cols, float *y);

    /* One token of a channel with a decay for each number: s[i] = exp(dt * a[i]) * s[i] + dt * x * b[i]; returns
     * sum_i c[i] * s[i]. */
    float (*ssm_channel_step)(float *s, const float *a, const float *b, const float *c, float dt, float x, int32_t n);

    /* One token of the delta rule; decay [n_rows], change and y [n_cols]; recurrent_ops.h. */
    void (*delta_step)(float *s, const float *q, const float *k, const float *decay, const float *v, float beta,
                       int32_t n_rows, int32_t n_cols, float *change, float *y);
} mx_recurrent_kernels;

#endif
