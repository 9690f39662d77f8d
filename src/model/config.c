/* config.c - config.json into numbers that fit each other. What varies is in tables; rope_config.c reads the rest. */
#include "model/config.h"

#include <string.h>

#include "model/family.h"
#include "model/rope_scaling.h"

#define CONFIG_MAX_LAYERS  1024
#define CONFIG_MAX_HEADS   4096
#define CONFIG_MAX_COLS    (1 << 20) /* of the residual stream */
#define CONFIG_MAX_FF      (1 << 24)
#define CONFIG_MAX_VOCAB   (1 << 24)
#define CONFIG_MAX_EXPERTS 4096
#define CONFIG_MAX_FACTOR  1000000000

#define FIELD(type, member, key, min, max) MX_FIELD(mx_model_config, type, member, key, min, max)

/* Official names last: of two that a file has, the later row wins. */
static const mx_field fields[] = {
    FIELD(I32, n_layers, "n_layer", 1, CONFIG_MAX_LAYERS),
    FIELD(I32, n_layers, "n_layers", 1, CONFIG_MAX_LAYERS),
    FIELD(I32, n_layers, "num_layers", 1, CONFIG_MAX_LAYERS),
    FIELD(I32, n_layers, "num_hidden_layers", 1, CONFIG_MAX_LAYERS),
    FIELD(I32, n_heads, "n_head", 1, CONFIG_MAX_HEADS),
    FIELD(I32, n_heads, "n_heads", 1, CONFIG_MAX_HEADS),
    FIELD(I32, n_heads, "num_attention_heads", 1, CONFIG_MAX_HEADS),
    FIELD(I32, n_kv_heads, "num_key_value_heads", 1, CONFIG_MAX_HEADS),
    FIELD(I32, head_dim, "head_dim", 2, MX_MAX_HEAD_DIM),
    FIELD(I32, n_ctx, "n_positions", 1, MX_MAX_CTX),
    FIELD(I32, n_ctx, "max_position_embeddings", 1, MX_MAX_CTX),
    FIELD(I64, d_model, "n_embd", 1, CONFIG_MAX_COLS),
    FIELD(I64, d_model, "d_model", 1, CONFIG_MAX_COLS),
    FIELD(I64, d_model, "hidden_size", 1, CONFIG_MAX_COLS),
    FIELD(I64, n_vocab, "vocab_size", 1, CONFIG_MAX_VOCAB),
    FIELD(F64_ABOVE, norm_eps, "layer_norm_epsilon", 0, 1),
    FIELD(F64_ABOVE, norm_eps, "layer_norm_eps", 0, 1),
    FIELD(F64_ABOVE, norm_eps, "norm_eps", 0, 1),
    FIELD(F64_ABOVE, norm_eps, "rms_norm_eps", 0, 1),
    FIELD(BOOL, has_mlp_bias, "mlp_bias", 0, 0),
    FIELD(BOOL, is_tied, "tie_word_embeddings", 0, 0),
    FIELD(F64, query_scale, "query_pre_attn_scalar", 0, CONFIG_MAX_FACTOR),
    FIELD(F64_OR_NULL, logit_softcap, "final_logit_softcapping", 0, CONFIG_MAX_FACTOR),
    FIELD(I64, n_experts, "num_experts", 1, CONFIG_MAX_EXPERTS),
    FIELD(I64, n_experts, "num_local_experts", 0, CONFIG_MAX_EXPERTS),
    FIELD(I64, n_experts, "n_routed_experts", 1, CONFIG_MAX_EXPERTS),
    FIELD(I64, d_ff_expert, "moe_intermediate_size", 1, CONFIG_MAX_FF),
    FIELD(I32, top_k, "num_experts_per_tok", 0, CONFIG_MAX_EXPERTS),
    FIELD(BOOL, normalize_top_k, "norm_topk_prob", 0, 0),
    MX_FIELD_END,
};

static const struct activation_name {
    const char *name;
    mx_activation act;
} activation_names[] = {
    {"silu", MX_ACT_SILU},
    {"swish", MX_ACT_SILU},
    {"gelu", MX_ACT_GELU},
    {"gelu_pytorch_tanh", MX_ACT_GELU_TANH},
    {"gelu_new", MX_ACT_GELU_TANH},
    {"gelu_fast", MX_ACT_GELU_TANH},
    {"quick_gelu", MX_ACT_GELU_QUICK},
    {"relu", MX_ACT_RELU},
    {"relu2", MX_ACT_RELU2},
};

static mx_status read_activation(yyjson_val *obj, const mx_family *family, mx_activation *act, mx_error *err)
{
    mx_str name = {NULL, 0};
    MX_TRY(mx_json_get_str(obj, "activation_function", &name, err)); /* the keys of GPT-2, */
    MX_TRY(mx_json_get_str(obj, "hidden_act", &name, err));
    MX_TRY(mx_json_get_str(obj, "hidden_activation", &name, err)); /* and of Gemma, which wins */
    if (!name.ptr || (family->own_activation && mx_str_eq_cstr(name, family->own_activation))) {
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

/* "intermediate_size": a number, or one for each layer. */
static mx_status read_d_ff(yyjson_val *obj, mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    yyjson_val *arr = yyjson_obj_get(obj, "intermediate_size");
    const size_t n = yyjson_arr_size(arr); /* 0 of what is not an array */
    if (yyjson_is_arr(arr) && n != (size_t)c->n_layers) {
        return mx_fail(err, MX_FORMAT, "\"intermediate_size\" has %zu entries, but there are %d layers", n,
                       c->n_layers);
    }
    yyjson_arr_iter it = yyjson_arr_iter_with(arr);
    for (int32_t i = 0; i < (int32_t)n; i++) {
        yyjson_val *val = yyjson_arr_iter_next(&it);
        layers[i].d_ff = yyjson_is_int(val) ? yyjson_get_sint(val) : 0;
        if (layers[i].d_ff < 1 || layers[i].d_ff > CONFIG_MAX_FF) {
            return mx_fail(err, MX_FORMAT, "entry %d of \"intermediate_size\" must be from 1 to %d", i, CONFIG_MAX_FF);
        }
    }
    return MX_OK;
}

static mx_status check_heads(int32_t n_heads, int32_t n_kv_heads, int64_t head_dim, mx_error *err)
{
    if (n_heads % n_kv_heads != 0) {
        return mx_fail(err, MX_FORMAT,
                       "\"num_attention_heads\" is %d, which is not a multiple of \"num_key_value_heads\", %d", n_heads,
                       n_kv_heads);
    }
    if (head_dim < 2 || head_dim > MX_MAX_HEAD_DIM) {
        return mx_fail(err, MX_FORMAT, "heads of %lld columns: must be from 2 to %d", (long long)head_dim,
                       MX_MAX_HEAD_DIM);
    }
    return MX_OK;
}

/* What the rules of a family have made of the layers, held together. */
static mx_status check_layers(const mx_model_config *c, mx_error *err)
{
    for (int32_t i = 0; i < c->n_layers; i++) {
        const mx_layer_config *layer = &c->layers[i];
        MX_TRY(check_heads(layer->n_heads, layer->n_kv_heads, layer->head_dim, err));
        if (layer->rope != MX_LAYER_ROPE_NONE && layer->head_dim < mx_rope_rot_dim(&c->ropes[layer->rope])) {
            return mx_fail(err, MX_FORMAT, "layer %d: more columns rotate than its heads have, %d", i, layer->head_dim);
        }
        if (layer->is_moe && (c->n_experts < 1 || c->top_k < 1)) {
            return mx_fail(err, MX_FORMAT,
                           "layer %d has experts, but \"num_experts\" is %lld and \"num_experts_per_tok\" %d", i,
                           (long long)c->n_experts, c->top_k);
        }
        const mx_layer_config *kv = &c->layers[layer->i_kv_layer];
        if (layer->i_kv_layer > i || kv->i_kv_layer != layer->i_kv_layer || kv->head_dim != layer->head_dim ||
            layer->n_heads % kv->n_kv_heads != 0 || (kv->is_sliding && !layer->is_sliding)) {
            return mx_fail(err, MX_FORMAT, "layer %d cannot attend to the keys of layer %d", i, layer->i_kv_layer);
        }
    }
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
    for (int32_t i = 0; i < c->n_layers; i++) {
        layers[i] = (mx_layer_config){.n_heads = c->n_heads,
                                      .n_kv_heads = c->n_kv_heads,
                                      .head_dim = c->head_dim,
                                      .i_kv_layer = i,
                                      .d_ff = c->d_ff};
    }
    MX_TRY(read_d_ff(obj, c, layers, err));
    if (c->window > 0) {
        MX_TRY(family->sliding(obj, c, layers, err));
    }
    bool is_any_sliding = false;
    for (int32_t i = 0; i < c->n_layers; i++) {
        is_any_sliding = is_any_sliding || layers[i].is_sliding;
        layers[i].rope = c->has_local_rope && layers[i].is_sliding ? MX_LAYER_ROPE_LOCAL : MX_LAYER_ROPE_GLOBAL;
    }
    c->window = is_any_sliding ? c->window : 0;
    if (family->sparse) {
        MX_TRY(family->sparse(obj, c, layers, err));
    }
    if (family->layers) {
        MX_TRY(family->layers(obj, c, layers, err));
    }
    return check_layers(c, err);
}

/* Fills what is derived, and holds the numbers to each other. */
static mx_status finish_shape(mx_model_config *c, mx_error *err)
{
    c->n_kv_heads = c->n_kv_heads ? c->n_kv_heads : c->n_heads;
    if (c->head_dim == 0 && c->d_model % c->n_heads != 0) {
        return mx_fail(err, MX_FORMAT,
                       "\"head_dim\" is absent and \"hidden_size\", %lld, is not a multiple of %d heads",
                       (long long)c->d_model, c->n_heads);
    }
    const int64_t head_dim = c->head_dim ? c->head_dim : c->d_model / c->n_heads;
    MX_TRY(check_heads(c->n_heads, c->n_kv_heads, head_dim, err));
    c->head_dim = (int32_t)head_dim;
    if (!(c->norm_eps > 0)) {
        return mx_fail(err, MX_FORMAT, "\"rms_norm_eps\" is absent, and this family has no default for it");
    }
    if (c->n_experts > 0 && c->top_k > c->n_experts) {
        return mx_fail(err, MX_FORMAT, "\"num_experts_per_tok\" is %d, but there are %lld experts", c->top_k,
                       (long long)c->n_experts);
    }
    return MX_OK;
}

/* The family's own fields, in a struct of their own. */
static mx_status read_own(yyjson_val *obj, const mx_own_fields *own, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    void *copy = mx_arena_alloc(arena, own->n_bytes);
    if (!copy) {
        return mx_fail(err, MX_NO_MEMORY, "out of memory: a configuration");
    }
    memcpy(copy, own->defaults, own->n_bytes);
    c->own = copy;
    return mx_fields_read(obj, own->fields, copy, err);
}

/* "intermediate_size" where it is one number; read_d_ff reads a list of them. */
static mx_status read_shared_d_ff(yyjson_val *obj, mx_model_config *c, mx_error *err)
{
    static const char *const keys[] = {"n_inner", "ffn_dim", "intermediate_size"};
    for (size_t i = 0; i < MX_COUNTOF(keys); i++) {
        if (!yyjson_is_arr(yyjson_obj_get(obj, keys[i]))) {
            MX_TRY(mx_json_get_i64(obj, keys[i], 1, CONFIG_MAX_FF, &c->d_ff, err));
        }
    }
    return MX_OK;
}

static mx_status read_text_config(yyjson_val *obj, const mx_family *family, mx_arena *arena, mx_model_config *c,
                                  mx_error *err)
{
    MX_TRY(mx_fields_read(obj, fields, c, err));
    MX_TRY(read_shared_d_ff(obj, c, err));
    MX_TRY(read_activation(obj, family, &c->act, err));
    MX_TRY(read_attention_bias(obj, c, err));
    if (family->fields) {
        MX_TRY(mx_fields_read(obj, family->fields, c, err));
    }
    if (family->own.n_bytes > 0) {
        MX_TRY(read_own(obj, &family->own, arena, c, err));
    }
    if (family->read) {
        MX_TRY(family->read(obj, arena, c, err));
    }
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
    yyjson_val *text = NULL;
    MX_TRY(mx_json_get_obj(root, "text_config", &text, err));
    if (yyjson_get_str(yyjson_obj_get(text, "model_type"))) { /* one picture model, text models of several families */
        model_type = mx_json_view_str(yyjson_obj_get(text, "model_type"));
        *family = mx_family_find(model_type);
    }
    if (!*family) {
        return mx_family_fail_unknown(model_type, err);
    }
    *c = *(*family)->defaults;
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

/* What the sampler takes, and no number to pass over. */
static const mx_field sampling_fields[] = {
    MX_FIELD(mx_sampling_defaults, F64, temperature, "temperature", 0, 100),
    MX_FIELD(mx_sampling_defaults, F64, top_p, "top_p", 0, 1),
    MX_FIELD(mx_sampling_defaults, F64, min_p, "min_p", 0, 1),
    MX_FIELD(mx_sampling_defaults, F64_ABOVE, repetition_penalty, "repetition_penalty", 0, 100),
    MX_FIELD_END,
};

static mx_status read_generation(yyjson_val *root, mx_model_config *config, mx_sampling_defaults *out, mx_error *err)
{
    int64_t top_k = -1;
    MX_TRY(read_eos(root, config, err));
    MX_TRY(mx_json_get_bool(root, "do_sample", &out->do_sample, err));
    MX_TRY(mx_fields_read(root, sampling_fields, out, err));
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
