/* mamba_layers.h - the layers of Mamba 1 and Mamba 2, of which several families are made. */
#ifndef MX_MODEL_MAMBA_LAYERS_H
#define MX_MODEL_MAMBA_LAYERS_H

#include "model/family.h"

/* The norm on the output of a Mamba 2 layer. */
typedef enum mx_mamba_norm {
    MX_MAMBA_NO_NORM,    /* the output is only gated */
    MX_MAMBA_NORM_LAST,  /* of the gated output */
    MX_MAMBA_NORM_FIRST, /* then gated */
} mx_mamba_norm;

/* A family's own fields may begin with this. */
typedef struct mx_mamba2_config {
    int32_t n_heads;
    int32_t head_dim;
    int32_t d_state;
    int32_t n_groups;
    int32_t conv_width;
    bool has_conv_bias;
    bool has_proj_bias;
    double dt_min; /* of the steps, after softplus */
    double dt_max;
} mx_mamba2_config;

typedef struct mx_mamba2_settings {
    const char *path; /* "mamba": below it lie in_proj, conv1d, A_log, D, dt_bias, norm and out_proj */
    mx_mamba_norm norm;
    int32_t n_norm_groups;
    float norm_eps;
    bool has_out_bias;
    const double *factors; /* [5] on gate, x, b, c and steps, before the convolution; NULL: none */
} mx_mamba2_settings;

/* Reads "time_step_limit", [least, largest]; an infinite number may be written in any way that Python does. */
mx_status mx_mamba2_read_limits(yyjson_val *obj, mx_mamba2_config *config, mx_error *err);

/* A Mamba 2 layer without its first norm: [T, d_model]. */
mx_value mx_mamba2(mx_builder *b, const mx_model_config *c, const mx_mamba2_config *config,
                   const mx_mamba2_settings *settings, mx_value h);

typedef enum mx_mamba1_norms {
    MX_MAMBA1_NO_NORMS,
    MX_MAMBA1_BARE_NORMS, /* of steps, b and c, without weights (Falcon-Mamba) */
    MX_MAMBA1_NORMS,      /* dt_layernorm, b_layernorm and c_layernorm (Jamba) */
} mx_mamba1_norms;

typedef struct mx_mamba1_config {
    int32_t d_state;
    int32_t conv_width;
    int32_t dt_rank; /* 0: d_model / 16, rounded up */
    int32_t expand;
    int64_t d_inner; /* channels: expand * d_model, or what the file says */
    bool has_conv_bias;
    bool has_proj_bias;
    double norm_eps;
} mx_mamba1_config;

/* Takes "time_step_rank" or "mamba_dt_rank" (a number, or "auto") under `key`. */
mx_status mx_mamba1_read_rank(yyjson_val *obj, const char *key, const mx_model_config *c, mx_mamba1_config *config,
                              mx_error *err);

/* A Mamba 1 layer at `path` without its first norm: [T, d_model]. */
mx_value mx_mamba1(mx_builder *b, const mx_model_config *c, const mx_mamba1_config *config, const char *path,
                   mx_mamba1_norms norms, mx_value h);

#endif
