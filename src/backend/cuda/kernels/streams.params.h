/* streams.params.h - several values side by side, and columns of a value. */
#ifndef MX_CUDA_STREAMS_PARAMS_H
#define MX_CUDA_STREAMS_PARAMS_H

#include "backend/cuda/kernels/params.h"

/* y[r,c] = x[r, first + c / n_group * stride + c % n_group] */
typedef struct slice_params {
    MX_DEVPTR(const float) x;
    MX_DEVPTR(float) y;
    int64_t n_x_cols;
    int64_t n_y_cols;
    int64_t first;
    int64_t n_group;
    int64_t stride;
} slice_params;
MX_PARAMS_SIZE(slice_params, 56);

/* concat_rows: y[r,:] = a[r,:], b[r,:];  match_rms: y = a * sqrt(mean(b^2) / max(mean(a^2), least)), n_b_cols =
 * n_a_cols; cutoff: y = max(a - mean(a) - least * deviation(a), 0), without b */
typedef struct row_pair_params {
    MX_DEVPTR(const float) a;
    MX_DEVPTR(const float) b;
    MX_DEVPTR(float) y;
    int64_t n_a_cols;
    int64_t n_b_cols;
    float least;
    int32_t reserved;
} row_pair_params;
MX_PARAMS_SIZE(row_pair_params, 48);

/* mix_streams: y[r,j,c] = x[r,j,c] + sum_i m[r,j,i] * x[r,i,c], without a
 * add_streams: y[r,j,c] = x[r,j,c] + (m ? m[r,j] + offset : 1) * a[r,c], from j = first on */
typedef struct streams_params {
    MX_DEVPTR(const float) x; /* [n_rows, n_streams, n_cols] */
    MX_DEVPTR(const float) a; /* [n_rows, n_cols] or null */
    MX_DEVPTR(const float) m; /* [n_rows, n_streams, n_streams] or [n_rows, n_streams]; null */
    MX_DEVPTR(float) y;
    int64_t n_cols;
    int32_t n_streams;
    int32_t first;
    float offset;
    int32_t reserved;
} streams_params;
MX_PARAMS_SIZE(streams_params, 56);

#endif
