/* rope_config.c - reads rotary embeddings from config.json, whose shape has changed three times:
 *   "rope_theta": 1e6, "rope_scaling": {"type": "linear", "factor": 4}
 *   the same with "rope_type", and fields that only some kinds have
 *   "rope_parameters": {"rope_theta": 1e6, "rope_type": ...}, or one such object for each type of layer
 */
#include "model/rope_scaling.h"

#include <math.h>

#define ROPE_MAX_THETA  1e15
#define ROPE_MAX_FACTOR 1e6

static const struct kind_name {
    const char *name;
    mx_rope_kind kind;
} kind_names[] = {
    {"default", MX_ROPE_DEFAULT},
    {"linear", MX_ROPE_LINEAR},
    {"dynamic", MX_ROPE_DYNAMIC},
    {"yarn", MX_ROPE_YARN},
    {"llama3", MX_ROPE_LLAMA3},
    {"longrope", MX_ROPE_LONGROPE},
    {"su", MX_ROPE_LONGROPE}, /* its first name */
    {"proportional", MX_ROPE_PROPORTIONAL},
};

static const struct number_field {
    const char *key;
    size_t offset;
} number_fields[] = {
    {"rope_theta", offsetof(mx_rope_config, theta)},
    {"partial_rotary_factor", offsetof(mx_rope_config, partial_factor)},
    {"factor", offsetof(mx_rope_config, factor)},
    {"attention_factor", offsetof(mx_rope_config, attention_factor)},
    {"low_freq_factor", offsetof(mx_rope_config, low_freq_factor)},
    {"high_freq_factor", offsetof(mx_rope_config, high_freq_factor)},
    {"beta_fast", offsetof(mx_rope_config, beta_fast)},
    {"beta_slow", offsetof(mx_rope_config, beta_slow)},
    {"mscale", offsetof(mx_rope_config, mscale)},
    {"mscale_all_dim", offsetof(mx_rope_config, mscale_all_dim)},
    {"short_mscale", offsetof(mx_rope_config, short_mscale)},
    {"long_mscale", offsetof(mx_rope_config, long_mscale)},
    {"alpha", offsetof(mx_rope_config, alpha)},
    {"llama_4_scaling_beta", offsetof(mx_rope_config, query_beta)},
};

static mx_status read_kind(yyjson_val *obj, mx_rope_kind *kind, mx_error *err)
{
    mx_str name = {NULL, 0};
    MX_TRY(mx_json_get_str(obj, "type", &name, err));
    MX_TRY(mx_json_get_str(obj, "rope_type", &name, err)); /* the newer key wins */
    if (!name.ptr) {
        return MX_OK;
    }
    for (size_t i = 0; i < MX_COUNTOF(kind_names); i++) {
        if (mx_str_eq_cstr(name, kind_names[i].name)) {
            *kind = kind_names[i].kind;
            return MX_OK;
        }
    }
    return mx_fail(err, MX_UNSUPPORTED,
                   "rotary embedding of type \"%.*s\" is not supported; known are default, linear, dynamic, yarn, "
                   "llama3, longrope and proportional",
                   MX_STR_ARG(name));
}

static mx_status read_factors(yyjson_val *obj, const char *key, mx_arena *arena, const double **out, int32_t *n,
                              mx_error *err)
{
    yyjson_val *arr = NULL;
    MX_TRY(mx_json_get_arr(obj, key, &arr, err));
    const size_t n_items = yyjson_arr_size(arr);
    if (n_items == 0) {
        return MX_OK;
    }
    if (n_items > MX_MAX_HEAD_DIM) {
        return mx_fail(err, MX_FORMAT, "\"%s\" has %zu entries, more than any head", key, n_items);
    }
    double *values = mx_arena_array(arena, double, n_items);
    if (!values) {
        return mx_fail(err, MX_NO_MEMORY, "out of memory: \"%s\" has %zu entries", key, n_items);
    }
    yyjson_arr_iter it = yyjson_arr_iter_with(arr);
    for (size_t i = 0; i < n_items; i++) {
        yyjson_val *val = yyjson_arr_iter_next(&it);
        values[i] = yyjson_get_num(val); /* 0 where it is not a number */
        if (!(values[i] > 0 && values[i] <= ROPE_MAX_FACTOR)) {
            return mx_fail(err, MX_FORMAT, "entry %zu of \"%s\" must be a number above 0", i, key);
        }
    }
    *out = values;
    *n = (int32_t)n_items;
    return MX_OK;
}

static mx_status read_object(yyjson_val *obj, mx_arena *arena, mx_rope_config *rope, mx_error *err)
{
    MX_TRY(read_kind(obj, &rope->kind, err));
    for (size_t i = 0; i < MX_COUNTOF(number_fields); i++) {
        MX_TRY(mx_json_get_f64(obj, number_fields[i].key, (double *)((char *)rope + number_fields[i].offset), err));
    }
    int64_t original = rope->original_n_ctx;
    MX_TRY(mx_json_get_i64(obj, "original_max_position_embeddings", 2, MX_MAX_CTX, &original, err));
    rope->original_n_ctx = (int32_t)original;
    MX_TRY(mx_json_get_bool(obj, "truncate", &rope->truncate, err));
    MX_TRY(read_factors(obj, "short_factor", arena, &rope->short_factors, &rope->n_short_factors, err));
    return read_factors(obj, "long_factor", arena, &rope->long_factors, &rope->n_long_factors, err);
}

/* A number that must be there and in (min, max]. Written so that NaN fails. */
static mx_status check_number(double value, double min, double max, const char *key, mx_error *err)
{
    if (value > min && value <= max) {
        return MX_OK;
    }
    return mx_fail(err, MX_FORMAT, "\"%s\" of the rotary embedding is %g, must be above %g and at most %g", key, value,
                   min, max);
}

/* The same for a number that may be 0: not said. */
static mx_status check_optional(double value, const char *key, mx_error *err)
{
    return value == 0 ? MX_OK : check_number(value, 0, ROPE_MAX_FACTOR, key, err);
}

static mx_status check_llama3(const mx_rope_config *rope, mx_error *err)
{
    MX_TRY(check_number(rope->low_freq_factor, 0, ROPE_MAX_FACTOR, "low_freq_factor", err));
    return check_number(rope->high_freq_factor, rope->low_freq_factor, ROPE_MAX_FACTOR, "high_freq_factor", err);
}

static mx_status check_longrope(const mx_rope_config *rope, int32_t rot_dim, mx_error *err)
{
    if (rope->n_short_factors == rot_dim / 2 && rope->n_long_factors == rot_dim / 2) {
        return MX_OK;
    }
    return mx_fail(err, MX_FORMAT,
                   "a longrope needs %d entries in \"short_factor\" and \"long_factor\" (half of the %d columns that "
                   "rotate), found %d and %d",
                   rot_dim / 2, rot_dim, rope->n_short_factors, rope->n_long_factors);
}

/* Fills what the kind derives, and checks what it needs. */
static mx_status finish(mx_rope_config *rope, const mx_model_config *c, mx_error *err)
{
    MX_TRY(check_number(rope->theta, 1, ROPE_MAX_THETA, "rope_theta", err));
    MX_TRY(check_number(rope->partial_factor, 0, 1, "partial_rotary_factor", err));
    rope->head_dim = rope->head_dim ? rope->head_dim : c->head_dim;
    const int32_t rot_dim = mx_rope_rot_dim(rope);
    if (rot_dim < 2 || (rot_dim < 4 && rope->kind == MX_ROPE_DYNAMIC)) {
        return mx_fail(err, MX_FORMAT, "too few columns rotate: \"partial_rotary_factor\" is %g, heads have %d columns",
                       rope->partial_factor, rope->head_dim);
    }
    if (rope->kind == MX_ROPE_DYNAMIC && rope->alpha != 0) {
        MX_TRY(check_number(rope->alpha, 0, ROPE_MAX_FACTOR, "alpha", err));
        rope->theta *= pow(rope->alpha, rot_dim / (rot_dim - 2.0));
        rope->kind = MX_ROPE_DEFAULT;
        MX_TRY(check_number(rope->theta, 1, ROPE_MAX_THETA, "rope_theta", err));
    }
    rope->original_n_ctx = rope->original_n_ctx ? rope->original_n_ctx : c->n_ctx;
    rope->factor = rope->factor == 0 && rope->kind == MX_ROPE_PROPORTIONAL ? 1 : rope->factor;
    if (rope->factor == 0 && rope->kind == MX_ROPE_YARN) {
        return mx_fail(err, MX_FORMAT, "a rotary embedding of type yarn needs a \"factor\", and has none");
    }
    if (rope->factor == 0 && (rope->kind == MX_ROPE_LONGROPE || rope->kind == MX_ROPE_DEFAULT)) {
        rope->factor = (double)c->n_ctx / rope->original_n_ctx;
    }
    MX_TRY(check_number(rope->factor, 0, ROPE_MAX_FACTOR, "factor", err));
    MX_TRY(check_optional(rope->attention_factor, "attention_factor", err));
    MX_TRY(check_optional(rope->mscale, "mscale", err));
    MX_TRY(check_optional(rope->mscale_all_dim, "mscale_all_dim", err));
    MX_TRY(check_optional(rope->short_mscale, "short_mscale", err));
    MX_TRY(check_optional(rope->long_mscale, "long_mscale", err));
    MX_TRY(check_number(rope->beta_fast, 0, ROPE_MAX_FACTOR, "beta_fast", err));
    MX_TRY(check_optional(rope->query_beta, "llama_4_scaling_beta", err));
    MX_TRY(check_number(rope->beta_slow, 0, ROPE_MAX_FACTOR, "beta_slow", err));
    if (rope->kind == MX_ROPE_LLAMA3) {
        MX_TRY(check_llama3(rope, err));
    }
    return rope->kind == MX_ROPE_LONGROPE ? check_longrope(rope, rot_dim, err) : MX_OK;
}

/* One object for each type of layer: {"full_attention": {...}, "sliding_attention": {...}}. */
static mx_status read_by_layer_type(yyjson_val *params, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    yyjson_val *obj = NULL;
    MX_TRY(mx_json_get_obj(params, "full_attention", &obj, err));
    MX_TRY(read_object(obj, arena, &c->ropes[MX_LAYER_ROPE_GLOBAL], err));
    MX_TRY(mx_json_get_obj(params, "sliding_attention", &obj, err));
    if (obj && !c->has_local_rope) {
        c->has_local_rope = true;
        c->ropes[MX_LAYER_ROPE_LOCAL] = c->ropes[MX_LAYER_ROPE_GLOBAL];
        c->ropes[MX_LAYER_ROPE_LOCAL].kind = MX_ROPE_DEFAULT;
    }
    return read_object(obj, arena, &c->ropes[MX_LAYER_ROPE_LOCAL], err);
}

mx_status mx_rope_config_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    mx_rope_config *global = &c->ropes[MX_LAYER_ROPE_GLOBAL];
    mx_rope_config *local = &c->ropes[MX_LAYER_ROPE_LOCAL];
    MX_TRY(mx_json_get_f64(obj, "rope_theta", &global->theta, err));
    MX_TRY(mx_json_get_f64(obj, "partial_rotary_factor", &global->partial_factor, err));
    MX_TRY(mx_json_get_f64(obj, "rope_local_base_freq", &local->theta, err));

    yyjson_val *params = NULL;
    MX_TRY(mx_json_get_obj(obj, "rope_scaling", &params, err));
    if (!params) {
        MX_TRY(mx_json_get_obj(obj, "rope_parameters", &params, err));
    }
    if (yyjson_obj_get(params, "full_attention") || yyjson_obj_get(params, "sliding_attention")) {
        MX_TRY(read_by_layer_type(params, arena, c, err));
    } else {
        MX_TRY(read_object(params, arena, global, err));
    }
    int64_t original = global->original_n_ctx; /* outside of the object (Phi), it comes before the one inside */
    MX_TRY(mx_json_get_i64(obj, "original_max_position_embeddings", 2, MX_MAX_CTX, &original, err));
    global->original_n_ctx = (int32_t)original;

    MX_TRY(finish(global, c, err));
    local->theta = local->theta != 0 ? local->theta : global->theta;
    return c->has_local_rope ? finish(local, c, err) : MX_OK;
}
