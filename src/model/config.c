/* config.c - config.json into numbers that fit each other. What varies is in tables; rope_config.c reads the rest. */
#include "model/config.h"

#include <stddef.h>

#include "model/family.h"
#include "model/rope_scaling.h"

#define CONFIG_MAX_LAYERS  1024
#define CONFIG_MAX_HEADS   4096
#define CONFIG_MAX_COLS    (1 << 20) /* of the residual stream */
#define CONFIG_MAX_FF      (1 << 24)
#define CONFIG_MAX_VOCAB   (1 << 24)
#define CONFIG_MAX_EXPERTS 4096

typedef enum field_type {
    FIELD_I32,
    FIELD_I64,
    FIELD_F64,
    FIELD_BOOL,
} field_type;

typedef struct field {
    const char *key;
    field_type type;
    size_t offset;
    int64_t min; /* of whole numbers */
    int64_t max;
} field;

#define FIELD(key, type, member, min, max)                                 \
    {                                                                      \
        key, FIELD_##type, offsetof(mx_model_config, member), (min), (max) \
    }

/* A later row of the same member wins. */
static const field fields[] = {
    FIELD("num_hidden_layers", I32, n_layers, 1, CONFIG_MAX_LAYERS),
    FIELD("num_attention_heads", I32, n_heads, 1, CONFIG_MAX_HEADS),
    FIELD("num_key_value_heads", I32, n_kv_heads, 1, CONFIG_MAX_HEADS),
    FIELD("head_dim", I32, head_dim, 2, MX_MAX_HEAD_DIM),
    FIELD("max_position_embeddings", I32, n_ctx, 1, MX_MAX_CTX),
    FIELD("hidden_size", I64, d_model, 1, CONFIG_MAX_COLS),
    FIELD("intermediate_size", I64, d_ff, 1, CONFIG_MAX_FF),
    FIELD("vocab_size", I64, n_vocab, 1, CONFIG_MAX_VOCAB),
    FIELD("rms_norm_eps", F64, norm_eps, 0, 0),
    FIELD("mlp_bias", BOOL, has_mlp_bias, 0, 0),
    FIELD("tie_word_embeddings", BOOL, is_tied, 0, 0),
    FIELD("query_pre_attn_scalar", F64, query_scale, 0, 0),
    FIELD("final_logit_softcapping", F64, logit_softcap, 0, 0),
    FIELD("num_experts", I64, n_experts, 1, CONFIG_MAX_EXPERTS),
    FIELD("num_local_experts", I64, n_experts, 1, CONFIG_MAX_EXPERTS),
    FIELD("moe_intermediate_size", I64, d_ff_expert, 1, CONFIG_MAX_FF),
    FIELD("num_experts_per_tok", I32, top_k, 1, CONFIG_MAX_EXPERTS),
    FIELD("norm_topk_prob", BOOL, normalize_top_k, 0, 0),
};

static const struct activation_name {
    const char *name;
    mx_activation act;
} activation_names[] = {
    {"silu", MX_ACT_SILU},          {"swish", MX_ACT_SILU},
    {"gelu", MX_ACT_GELU},          {"gelu_pytorch_tanh", MX_ACT_GELU_TANH},
    {"gelu_new", MX_ACT_GELU_TANH},
};

static mx_status read_field(yyjson_val *obj, const field *f, mx_model_config *c, mx_error *err)
{
    void *member = (char *)c + f->offset;
    int64_t value = 0;
    switch (f->type) {
    case FIELD_I32:
        value = *(int32_t *)member;
        MX_TRY(mx_json_get_i64(obj, f->key, f->min, f->max, &value, err));
        *(int32_t *)member = (int32_t)value;
        return MX_OK;
    case FIELD_I64: return mx_json_get_i64(obj, f->key, f->min, f->max, (int64_t *)member, err);
    case FIELD_F64: return mx_json_get_f64(obj, f->key, (double *)member, err);
    case FIELD_BOOL: return mx_json_get_bool(obj, f->key, (bool *)member, err);
    }
    return MX_OK;
}

static mx_status read_activation(yyjson_val *obj, mx_activation *act, mx_error *err)
{
    mx_str name = {NULL, 0};
    MX_TRY(mx_json_get_str(obj, "hidden_act", &name, err));
    MX_TRY(mx_json_get_str(obj, "hidden_activation", &name, err)); /* Gemma's key, which wins */
    if (!name.ptr) {
        return MX_OK;
    }
    for (size_t i = 0; i < MX_COUNTOF(activation_names); i++) {
        if (mx_str_eq_cstr(name, activation_names[i].name)) {
            *act = activation_names[i].act;
            return MX_OK;
        }
    }
    return mx_fail(err, MX_UNSUPPORTED, "activation \"%.*s\" is not supported", MX_STR_ARG(name));
}

/* Families whose queries, keys and values always have biases (Qwen2) are not asked. */
static mx_status read_attention_bias(yyjson_val *obj, mx_model_config *c, mx_error *err)
{
    if (c->has_qkv_bias) {
        return MX_OK;
    }
    MX_TRY(mx_json_get_bool(obj, "attention_bias", &c->has_qkv_bias, err));
    c->has_o_bias = c->has_qkv_bias;
    return MX_OK;
}

static mx_status read_eos(yyjson_val *obj, mx_model_config *c, mx_error *err)
{
    yyjson_val *val = yyjson_obj_get(obj, "eos_token_id");
    if (!val || yyjson_is_null(val)) {
        return MX_OK;
    }
    const size_t n_ids = yyjson_is_arr(val) ? yyjson_arr_size(val) : 1;
    if (n_ids > MX_MAX_EOS_IDS) {
        return mx_fail(err, MX_FORMAT, "\"eos_token_id\" has %zu ids, at most %d are supported", n_ids, MX_MAX_EOS_IDS);
    }
    for (size_t i = 0; i < n_ids; i++) {
        yyjson_val *id = yyjson_is_arr(val) ? yyjson_arr_get(val, i) : val;
        if (!yyjson_is_int(id) || yyjson_get_sint(id) < 0 || yyjson_get_sint(id) >= CONFIG_MAX_VOCAB) {
            return mx_fail(err, MX_FORMAT, "\"eos_token_id\" must be a token id or a list of them");
        }
        c->eos_ids[i] = (int32_t)yyjson_get_sint(id);
    }
    c->n_eos_ids = (int32_t)n_ids;
    return MX_OK;
}

/* A key that is null says that there is no window, one that is absent leaves the family's default. */
static mx_status read_window(yyjson_val *obj, const mx_family *family, mx_model_config *c, mx_error *err)
{
    int64_t window = family->sliding ? c->window : 0;
    if (family->sliding && yyjson_is_null(yyjson_obj_get(obj, "sliding_window"))) {
        window = 0;
    }
    if (family->sliding) {
        MX_TRY(mx_json_get_i64(obj, "sliding_window", 0, MX_MAX_CTX, &window, err));
    }
    c->window = (int32_t)window;
    return MX_OK;
}

static mx_status read_layers(yyjson_val *obj, const mx_family *family, mx_arena *arena, mx_model_config *c,
                             mx_error *err)
{
    mx_layer_config *layers = mx_arena_array(arena, mx_layer_config, c->n_layers);
    if (!layers) {
        return mx_fail(err, MX_NO_MEMORY, "out of memory: a model of %d layers", c->n_layers);
    }
    c->layers = layers;
    if (c->window > 0) {
        MX_TRY(family->sliding(obj, c, layers, err));
    }
    bool is_any_sliding = false;
    for (int32_t i = 0; i < c->n_layers; i++) {
        is_any_sliding = is_any_sliding || layers[i].is_sliding;
    }
    c->window = is_any_sliding ? c->window : 0;
    return family->sparse ? family->sparse(obj, c, layers, err) : MX_OK;
}

static mx_status check_positive(double value, const char *key, mx_error *err)
{
    if (value > 0 && value <= 1e9) {
        return MX_OK;
    }
    return mx_fail(err, MX_FORMAT, "\"%s\" is %g, must be above 0 and at most 1e9", key, value);
}

/* Fills what is derived, and holds the numbers to each other. */
static mx_status finish_shape(mx_model_config *c, mx_error *err)
{
    c->n_kv_heads = c->n_kv_heads ? c->n_kv_heads : c->n_heads;
    if (c->n_heads % c->n_kv_heads != 0) {
        return mx_fail(err, MX_FORMAT,
                       "\"num_attention_heads\" is %d, which is not a multiple of \"num_key_value_heads\", %d",
                       c->n_heads, c->n_kv_heads);
    }
    if (c->head_dim == 0 && c->d_model % c->n_heads != 0) {
        return mx_fail(err, MX_FORMAT,
                       "\"head_dim\" is absent and \"hidden_size\", %lld, is not a multiple of %d heads",
                       (long long)c->d_model, c->n_heads);
    }
    const int64_t head_dim = c->head_dim ? c->head_dim : c->d_model / c->n_heads;
    if (head_dim < 2 || head_dim > MX_MAX_HEAD_DIM) {
        return mx_fail(err, MX_FORMAT, "heads of %lld columns: must be from 2 to %d", (long long)head_dim,
                       MX_MAX_HEAD_DIM);
    }
    c->head_dim = (int32_t)head_dim;
    c->query_scale = c->query_scale == 0 ? c->head_dim : c->query_scale;
    MX_TRY(check_positive(c->query_scale, "query_pre_attn_scalar", err));
    MX_TRY(check_positive(c->norm_eps, "rms_norm_eps", err));
    if (c->logit_softcap != 0) {
        MX_TRY(check_positive(c->logit_softcap, "final_logit_softcapping", err));
    }
    if (c->n_experts > 0 && c->top_k > c->n_experts) {
        return mx_fail(err, MX_FORMAT, "\"num_experts_per_tok\" is %d, but there are %lld experts", c->top_k,
                       (long long)c->n_experts);
    }
    return MX_OK;
}

static mx_status read_text_config(yyjson_val *obj, const mx_family *family, mx_arena *arena, mx_model_config *c,
                                  mx_error *err)
{
    for (size_t i = 0; i < MX_COUNTOF(fields); i++) {
        MX_TRY(read_field(obj, &fields[i], c, err));
    }
    MX_TRY(read_activation(obj, &c->act, err));
    MX_TRY(read_attention_bias(obj, c, err));
    MX_TRY(read_window(obj, family, c, err));
    MX_TRY(read_eos(obj, c, err));
    MX_TRY(finish_shape(c, err));
    MX_TRY(mx_rope_config_read(obj, arena, c, err));
    return read_layers(obj, family, arena, c, err);
}

static mx_status read_root(yyjson_val *root, mx_arena *arena, mx_model_config *c, const mx_family **family,
                           mx_error *err)
{
    mx_str model_type = {NULL, 0};
    MX_TRY(mx_json_get_str(root, "model_type", &model_type, err));
    if (!model_type.ptr) {
        return mx_fail(err, MX_FORMAT, "there is no \"model_type\"");
    }
    *family = mx_family_find(model_type);
    if (!*family) {
        return mx_family_fail_unknown(model_type, err);
    }
    *c = *(*family)->defaults;
    yyjson_val *text = NULL;
    MX_TRY(mx_json_get_obj(root, "text_config", &text, err));
    MX_TRY(read_text_config(text ? text : root, *family, arena, c, err));
    MX_TRY(read_eos(root, c, err));
    return mx_json_get_bool(root, "tie_word_embeddings", &c->is_tied, err);
}

mx_status mx_model_config_read(yyjson_val *root, const char *name, mx_arena *arena, mx_model_config *out,
                               const mx_family **family, mx_error *err)
{
    *family = NULL;
    if (!yyjson_is_obj(root)) {
        return mx_fail(err, MX_FORMAT, "%s: not a JSON object", name);
    }
    const mx_status st = read_root(root, arena, out, family, err);
    return st == MX_OK ? MX_OK : mx_error_prefix(err, st, "%s", name);
}

mx_sampling_defaults mx_sampling_defaults_none(void)
{
    return (mx_sampling_defaults){.temperature = -1, .top_p = -1, .min_p = -1, .repetition_penalty = -1, .top_k = -1};
}

static mx_status read_generation(yyjson_val *root, mx_model_config *config, mx_sampling_defaults *out, mx_error *err)
{
    int64_t top_k = -1;
    MX_TRY(read_eos(root, config, err));
    MX_TRY(mx_json_get_bool(root, "do_sample", &out->do_sample, err));
    MX_TRY(mx_json_get_f64(root, "temperature", &out->temperature, err));
    MX_TRY(mx_json_get_f64(root, "top_p", &out->top_p, err));
    MX_TRY(mx_json_get_f64(root, "min_p", &out->min_p, err));
    MX_TRY(mx_json_get_f64(root, "repetition_penalty", &out->repetition_penalty, err));
    MX_TRY(mx_json_get_i64(root, "top_k", -1, CONFIG_MAX_VOCAB, &top_k, err));
    out->top_k = (int32_t)top_k;
    return MX_OK;
}

mx_status mx_generation_config_read(yyjson_val *root, const char *name, mx_model_config *config,
                                    mx_sampling_defaults *out, mx_error *err)
{
    *out = mx_sampling_defaults_none();
    if (!yyjson_is_obj(root)) {
        return mx_fail(err, MX_FORMAT, "%s: not a JSON object", name);
    }
    const mx_status st = read_generation(root, config, out, err);
    return st == MX_OK ? MX_OK : mx_error_prefix(err, st, "%s", name);
}
