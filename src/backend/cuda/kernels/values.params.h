/* values.params.h - the operations on whole values: element by element, and row by row. */
#ifndef MX_CUDA_VALUES_PARAMS_H
#define MX_CUDA_VALUES_PARAMS_H

#include "backend/cuda/kernels/tiles.params.h"

/* value_add: y = a + b;  value_scale: y = a * factor;  value_softcap: y = factor * tanh(a / factor);
 * value_clip: y = min(max(a, -factor), factor);
 * value_activation: y = act(a);  value_glu: y = act(a) * b */
typedef struct value_params {
    MX_DEVPTR(const float) a;
    MX_DEVPTR(const float) b;
    MX_DEVPTR(float) y; /* [n]; may be a or b */
    int64_t n;
    float factor;
    int32_t act;
} value_params;
MX_PARAMS_SIZE(value_params, 40);

/* y[i] = x[i] * w[i % n_w] */
typedef struct multiply_params {
    MX_DEVPTR(const float) x;
    MX_DEVPTR(const float) w; /* [n_w] */
    MX_DEVPTR(float) y;       /* [n]; may be x */
    int64_t n;
    int64_t n_w;
} multiply_params;
MX_PARAMS_SIZE(multiply_params, 40);

/* y = softplus(alpha_p) * x^2 + beta * x where x > 0, else (beta + softplus(alpha_n)) * (expm1(min(x, eps)) - x) + beta
 * * x */
typedef struct xielu_params {
    MX_DEVPTR(const float) x;
    MX_DEVPTR(const float) alpha_p; /* [1], as the next three */
    MX_DEVPTR(const float) alpha_n;
    MX_DEVPTR(const float) beta;
    MX_DEVPTR(const float) eps;
    MX_DEVPTR(float) y; /* [n]; may be x */
    int64_t n;
} xielu_params;
MX_PARAMS_SIZE(xielu_params, 56);

/* y[t,c] = scale * W[token[t], c] */
typedef struct embed_params {
    raw_matrix table;
    MX_DEVPTR(const int32_t) tokens; /* [n_tokens] */
    MX_DEVPTR(float) y;              /* [n_tokens, n_cols] */
    float scale;
    int32_t n_rows; /* of the table: tokens past them are row 0 */
} embed_params;
MX_PARAMS_SIZE(embed_params, 80);

/* y[t,c] = x[t,c] + W[positions[t], c] */
typedef struct add_positions_params {
    raw_matrix table;
    MX_DEVPTR(const int32_t) positions; /* [n_tokens] */
    MX_DEVPTR(const float) x;           /* [n_tokens, n_cols] */
    MX_DEVPTR(float) y;                 /* may be x */
} add_positions_params;
MX_PARAMS_SIZE(add_positions_params, 80);

/* y[s,c] = x[rows[s], c] */
typedef struct gather_rows_params {
    MX_DEVPTR(const float) x;
    MX_DEVPTR(float) y;
    MX_DEVPTR(const int32_t) rows;
    int64_t n_cols;
} gather_rows_params;
MX_PARAMS_SIZE(gather_rows_params, 32);

/* y = x / sqrt(mean(x^2) + eps) * (w + weight_offset), each group of n_cols neighbours for itself */
typedef struct rmsnorm_params {
    MX_DEVPTR(const float) x;
    MX_DEVPTR(const float) w; /* [n_weight_groups, n_cols] or null */
    MX_DEVPTR(float) y;       /* may be x */
    int32_t n_cols;
    float eps;
    float weight_offset;
    int32_t n_weight_groups; /* groups of a row that have weights of their own; 1: one for all */
} rmsnorm_params;
MX_PARAMS_SIZE(rmsnorm_params, 40);

/* y = (x - mean(x)) / sqrt(variance(x) + eps) * (w + weight_offset) + bias, each group of n_cols neighbours for itself
 */
typedef struct layernorm_params {
    MX_DEVPTR(const float) x;
    MX_DEVPTR(const float) w;    /* [n_weights, n_cols] or null */
    MX_DEVPTR(const float) bias; /* [n_cols] or null */
    MX_DEVPTR(float) y;          /* may be x */
    int32_t n_cols;
    float eps;
    float weight_offset;
    int32_t n_weights; /* groups in a row, where each has its own, or 1 */
} layernorm_params;
MX_PARAMS_SIZE(layernorm_params, 48);

/* mx_route_params of program.h */
typedef struct route_params {
    MX_DEVPTR(const float) scores; /* [n_tokens, n_experts] */
    MX_DEVPTR(int32_t) ids;
    MX_DEVPTR(float) weights;
    MX_DEVPTR(const float) bias; /* [n_experts] or null */
    int32_t n_experts;
    int32_t top_k;
    int32_t score;
    int32_t n_groups;
    int32_t top_groups;
    int32_t ranks_by_top_two;
    int32_t is_normalized;
    float min_sum;
    float scale;
    float jitter;
} route_params;
MX_PARAMS_SIZE(route_params, 72);

/* y[i] = weights[i] * w[ids[i]] */
typedef struct scale_chosen_params {
    MX_DEVPTR(const float) weights;
    MX_DEVPTR(const int32_t) ids;
    MX_DEVPTR(const float) w;
    MX_DEVPTR(float) y; /* [n] */
    int64_t n;
} scale_chosen_params;
MX_PARAMS_SIZE(scale_chosen_params, 40);

/* y[t,c] = sum_j weights[t,j] * x[t * top_k + j, c], in the order of j */
typedef struct expert_combine_params {
    MX_DEVPTR(const float) x;
    MX_DEVPTR(const float) weights;
    MX_DEVPTR(float) y;
    int32_t n_cols;
    int32_t top_k;
} expert_combine_params;
MX_PARAMS_SIZE(expert_combine_params, 32);

#endif
