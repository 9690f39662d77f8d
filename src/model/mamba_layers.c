/* mamba_layers.c - the layers of Mamba 1 and Mamba 2.
 *
 * Projections are fused as the checkpoints have them; their parts are views of one product, so that the quantised
 * matrix is one product too. Only what is gated or normed becomes a value of its own.
 */
#include "model/mamba_layers.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#define MAMBA_MAX_PATH 64

/* "<path>.<name>" */
static const char *part(char buffer[MAMBA_MAX_PATH], const char *path, const char *name)
{
    snprintf(buffer, MAMBA_MAX_PATH, "%s.%s", path, name);
    return buffer;
}

/* A number, or the largest float where the file says that it is infinite. */
static bool read_limit(yyjson_val *val, double *out)
{
    yyjson_val *named = yyjson_is_obj(val) ? yyjson_obj_get(val, "__float__") : val;
    if (yyjson_is_num(named)) {
        *out = fmin(yyjson_get_num(named), (double)FLT_MAX);
        return *out >= 0;
    }
    *out = (double)FLT_MAX;
    return yyjson_is_null(named) || yyjson_equals_str(named, "Infinity") || yyjson_equals_str(named, "inf");
}

mx_status mx_mamba2_read_limits(yyjson_val *obj, mx_mamba2_config *config, mx_error *err)
{
    yyjson_val *arr = NULL;
    MX_TRY(mx_json_get_arr(obj, "time_step_limit", &arr, err));
    if (!arr) {
        return MX_OK;
    }
    if (yyjson_arr_size(arr) != 2 || !read_limit(yyjson_arr_get(arr, 0), &config->dt_min) ||
        !read_limit(yyjson_arr_get(arr, 1), &config->dt_max) || !(config->dt_min <= config->dt_max)) {
        return mx_fail(err, MX_FORMAT, "\"time_step_limit\" must be two rising numbers from 0 on");
    }
    return MX_OK;
}

/* A part of a Mamba 2 layer's projection, with its factor where there is one. */
typedef struct mamba_part {
    mx_value value;
    mx_columns columns;
} mamba_part;

static mamba_part take(mx_builder *b, mx_value in, int64_t first, int64_t n, double factor, const char *name)
{
    if (factor == 1) {
        return (mamba_part){in, mx_columns_from(first, n)};
    }
    const mx_value slice = mx_slice(b, in, mx_columns_from(first, n), n, name);
    return (mamba_part){mx_scale(b, slice, (float)factor), mx_columns_from(0, n)};
}

static mx_value convolve(mx_builder *b, const mx_mamba2_config *m, const mx_mamba2_settings *s, mamba_part x,
                         int64_t first, int64_t n, int64_t n_all)
{
    char path[MAMBA_MAX_PATH];
    const mx_conv_settings conv = {
        .x = x.value,
        .x_columns = x.columns,
        .in_gate = MX_NO_VALUE,
        .out_gate = MX_NO_VALUE,
        .n_channels = n,
        .width = m->conv_width,
        .path = part(path, s->path, "conv1d"),
        .n_all_channels = n_all,
        .first_channel = (int32_t)first,
        .has_bias = m->has_conv_bias,
        .has_silu = true,
    };
    return mx_causal_conv(b, &conv);
}

static mx_value scan(mx_builder *b, const mx_mamba2_config *m, const mx_mamba2_settings *s, mx_value in)
{
    char path[MAMBA_MAX_PATH];
    const int64_t d = (int64_t)m->n_heads * m->head_dim;
    const int64_t n_b = (int64_t)m->n_groups * m->d_state;
    const int64_t n_conv = d + 2 * n_b;
    const double *f = s->factors;
    const mamba_part dt = take(b, in, d + n_conv, m->n_heads, f ? f[4] : 1, "dt");
    mx_ssm_params params = {
        .n_heads = m->n_heads,
        .head_dim = m->head_dim,
        .d_state = m->d_state,
        .n_groups = m->n_groups,
        .x = mx_columns_from(0, d),
        .dt = dt.columns,
        .a_log = mx_builder_numbers(b, part(path, s->path, "A_log"), "", 1, m->n_heads),
        .skip = mx_builder_numbers(b, part(path, s->path, "D"), "", 1, m->n_heads),
        .dt_bias = mx_builder_numbers(b, part(path, s->path, "dt_bias"), "", 1, m->n_heads),
        .dt_min = (float)m->dt_min,
        .dt_max = (float)m->dt_max,
    };
    mx_ssm_inputs inputs = {.dt = dt.value};
    if (f) {
        inputs.x = convolve(b, m, s, take(b, in, d, d, f[1], "x"), 0, d, n_conv);
        inputs.b = convolve(b, m, s, take(b, in, 2 * d, n_b, f[2], "b"), d, n_b, n_conv);
        inputs.c = convolve(b, m, s, take(b, in, 2 * d + n_b, n_b, f[3], "c"), d + n_b, n_b, n_conv);
        params.b = params.c = mx_columns_from(0, n_b);
    } else {
        inputs.x = inputs.b = inputs.c = convolve(b, m, s, take(b, in, d, n_conv, 1, "xbc"), 0, n_conv, n_conv);
        params.b = mx_columns_from(d, n_b);
        params.c = mx_columns_from(d + n_b, n_b);
    }
    return mx_ssm_scan(b, &inputs, params, part(path, s->path, "scan"));
}

mx_value mx_mamba2(mx_builder *b, const mx_model_config *c, const mx_mamba2_config *m, const mx_mamba2_settings *s,
                   mx_value h)
{
    char path[MAMBA_MAX_PATH];
    const int64_t d = (int64_t)m->n_heads * m->head_dim;
    const int64_t n_in = 2 * d + 2 * (int64_t)m->n_groups * m->d_state + m->n_heads;
    const mx_value in = mx_linear(b, h, part(path, s->path, "in_proj"), n_in, m->has_proj_bias);
    mx_value z = mx_slice(b, in, mx_columns_from(0, d), d, part(path, s->path, "z"));
    z = s->factors && s->factors[0] != 1 ? mx_scale(b, z, (float)s->factors[0]) : z;
    mx_value y = scan(b, m, s, in);
    const int64_t n_group_cols = d / MX_MAX(s->n_norm_groups, 1);
    if (s->norm == MX_MAMBA_NORM_FIRST) {
        y = mx_rmsnorm_groups(b, y, part(path, s->path, "norm"), n_group_cols, s->norm_eps, true);
    }
    y = mx_gate(b, z, y, MX_ACT_SILU, part(path, s->path, "gated"));
    if (s->norm == MX_MAMBA_NORM_LAST) {
        y = mx_rmsnorm_groups(b, y, part(path, s->path, "norm"), n_group_cols, s->norm_eps, true);
    }
    return mx_linear(b, y, part(path, s->path, "out_proj"), c->d_model, s->has_out_bias);
}

mx_status mx_mamba1_read_rank(yyjson_val *obj, const char *key, const mx_model_config *c, mx_mamba1_config *config,
                              mx_error *err)
{
    int64_t rank = (c->d_model + 15) / 16;
    yyjson_val *val = yyjson_obj_get(obj, key);
    if (!yyjson_equals_str(val, "auto")) {
        MX_TRY(mx_json_get_i64(obj, key, 1, 1 << 20, &rank, err));
    }
    config->dt_rank = (int32_t)rank;
    return MX_OK;
}

/* A part of x_proj's output, normed: a value of its own. */
static mx_value take_normed(mx_builder *b, const mx_mamba1_config *m, mx_value x, int64_t first, int64_t n,
                            const char *path, const char *norm, bool has_weight)
{
    char name[MAMBA_MAX_PATH];
    const mx_value slice = mx_slice(b, x, mx_columns_from(first, n), n, part(name, path, norm));
    return mx_rmsnorm_groups(b, slice, has_weight ? part(name, path, norm) : NULL, n, (float)m->norm_eps, false);
}

mx_value mx_mamba1(mx_builder *b, const mx_model_config *c, const mx_mamba1_config *m, const char *path,
                   mx_mamba1_norms norms, mx_value h)
{
    char name[MAMBA_MAX_PATH];
    const int64_t d = m->d_inner;
    const int64_t rank = m->dt_rank;
    const bool has_weight = norms == MX_MAMBA1_NORMS;
    const mx_value in = mx_linear(b, h, part(name, path, "in_proj"), 2 * d, m->has_proj_bias);
    const mx_conv_settings conv = {
        .x = in,
        .x_columns = mx_columns_from(0, d),
        .in_gate = MX_NO_VALUE,
        .out_gate = MX_NO_VALUE,
        .n_channels = d,
        .width = m->conv_width,
        .path = part(name, path, "conv1d"),
        .has_bias = m->has_conv_bias,
        .has_silu = true,
    };
    const mx_value x = mx_causal_conv(b, &conv);
    const mx_value steps = mx_linear(b, x, part(name, path, "x_proj"), rank + 2 * (int64_t)m->d_state, false);
    mx_ssm_inputs inputs = {.x = x, .b = steps, .c = steps};
    mx_ssm_params params = {
        .n_heads = (int32_t)d,
        .head_dim = 1,
        .d_state = m->d_state,
        .n_groups = 1,
        .x = mx_columns_from(0, d),
        .dt = mx_columns_from(0, d),
        .b = mx_columns_from(rank, m->d_state),
        .c = mx_columns_from(rank + m->d_state, m->d_state),
        .a_log = mx_builder_numbers(b, part(name, path, "A_log"), "", d, m->d_state),
        .skip = mx_builder_numbers(b, part(name, path, "D"), "", 1, d),
        .dt_bias = MX_NO_WEIGHT, /* dt_proj's */
        .dt_max = FLT_MAX,
    };
    mx_value dt;
    if (norms == MX_MAMBA1_NO_NORMS) {
        dt = mx_slice(b, steps, mx_columns_from(0, rank), rank, part(name, path, "dt"));
    } else {
        dt = take_normed(b, m, steps, 0, rank, path, "dt_layernorm", has_weight);
        inputs.b = take_normed(b, m, steps, rank, m->d_state, path, "b_layernorm", has_weight);
        inputs.c = take_normed(b, m, steps, rank + m->d_state, m->d_state, path, "c_layernorm", has_weight);
        params.b = params.c = mx_columns_from(0, m->d_state);
    }
    inputs.dt = mx_linear(b, dt, part(name, path, "dt_proj"), d, true);
    const mx_value y = mx_ssm_scan(b, &inputs, params, part(name, path, "scan"));
    const mx_value z = mx_slice(b, in, mx_columns_from(d, d), d, part(name, path, "z"));
    const mx_value g = mx_gate(b, z, y, MX_ACT_SILU, part(name, path, "gated"));
    return mx_linear(b, g, part(name, path, "out_proj"), c->d_model, m->has_proj_bias);
}
