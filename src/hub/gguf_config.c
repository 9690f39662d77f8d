/* gguf_config.c - every key of a family is carried over, known to change nothing, or refused by its name.
 *
 * Source: llama.cpp, gguf-py/gguf/constants.py for the keys, src/llama-model.cpp for what is assumed where one is
 * missing.
 */
#include "hub/gguf_config.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_COUNT  ((int64_t)1 << 24)
#define MAX_HEADS  ((int64_t)1 << 16)
#define MAX_FACTOR 1e6

static const char *const families[] = {"llama", "qwen2", "qwen3"};

/* Keys behind "<family>." that are read below, or change no result. */
static const char *const known_keys[] = {
    "block_count",
    "embedding_length",
    "feed_forward_length",
    "context_length",
    "vocab_size", /* the embedding's rows count */
    "tensor_data_layout",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.value_length",
    "attention.layer_norm_rms_epsilon",
    "attention.sliding_window",
    "attention.causal",
    "expert_count",
    "expert_used_count",
    "rope.freq_base",
    "rope.dimension_count",
    "rope.scale_linear",
    "rope.scaling.type",
    "rope.scaling.factor",
    "rope.scaling.original_context_length",
    "rope.scaling.finetuned",
    "rope.scaling.attn_factor",
    "rope.scaling.yarn_attn_factor",
    "rope.scaling.yarn_ext_factor",
    "rope.scaling.yarn_beta_fast",
    "rope.scaling.yarn_beta_slow",
};

typedef struct reader {
    const mx_gguf *gguf;
    const char *path;
    char key[128]; /* the one that name_key made last */
    mx_gguf_config *c;
} reader;

static const char *name_key(reader *r, const char *name)
{
    (void)snprintf(r->key, sizeof r->key, "%s.%s", r->c->family, name);
    return r->key;
}

static mx_status read_count(reader *r, const char *name, int64_t min, int64_t max, int64_t *value, mx_error *err)
{
    return mx_gguf_get_i64(r->gguf, name_key(r, name), min, max, value, err);
}

static mx_status read_number(reader *r, const char *name, double min, double max, double *value, mx_error *err)
{
    return mx_gguf_get_f64(r->gguf, name_key(r, name), min, max, value, err);
}

static mx_status read_needed(reader *r, const char *name, int64_t max, int64_t *value, mx_error *err)
{
    if (!mx_gguf_find(r->gguf, name_key(r, name))) {
        return mx_fail(err, MX_FORMAT, "%s: the GGUF file has no %s", r->path, r->key);
    }
    return read_count(r, name, 1, max, value, err);
}

static mx_status find_family(reader *r, mx_error *err)
{
    const mx_str name = mx_gguf_view_str(mx_gguf_find(r->gguf, "general.architecture"));
    for (size_t i = 0; i < MX_COUNTOF(families); i++) {
        if (mx_str_eq_cstr(name, families[i])) {
            r->c->family = families[i];
            return MX_OK;
        }
    }
    return mx_fail(err, MX_UNSUPPORTED,
                   "%s: GGUF files of the family \"%.*s\" are not converted; llama, qwen2 and qwen3 are", r->path,
                   MX_STR_ARG(name));
}

/* No key of the family may be one whose meaning is lost. */
static mx_status check_keys(const reader *r, mx_error *err)
{
    const size_t n_family = strlen(r->c->family);
    for (size_t i = 0; i < r->gguf->n_values; i++) {
        const mx_str key = r->gguf->values[i].key;
        if (!mx_str_starts_with(key, mx_str_from(r->c->family)) || key.len <= n_family || key.ptr[n_family] != '.') {
            continue;
        }
        bool is_known = false;
        for (size_t j = 0; j < MX_COUNTOF(known_keys); j++) {
            is_known = is_known || mx_str_eq_cstr(mx_str_slice(key, n_family + 1, key.len), known_keys[j]);
        }
        if (!is_known) {
            return mx_fail(err, MX_UNSUPPORTED, "%s: %.*s is not known, and the model may be another with it", r->path,
                           MX_STR_ARG(key));
        }
    }
    return MX_OK;
}

/* A number that only one value of is converted. */
static mx_status need_plain(reader *r, const char *name, double plain, mx_error *err)
{
    double value = plain;
    MX_TRY(read_number(r, name, -1e30, 1e30, &value, err));
    return value == plain
               ? MX_OK
               : mx_fail(err, MX_UNSUPPORTED, "%s: %s is %g; only %g is converted", r->path, r->key, value, plain);
}

/* The kind of scaled frequencies; a factor alone is a linear one. */
static mx_status read_scaling(reader *r, mx_error *err)
{
    static const char *const kinds[] = {"linear", "yarn"};
    const mx_gguf_value *type = mx_gguf_find(r->gguf, name_key(r, "rope.scaling.type"));
    const mx_str name = type ? mx_gguf_view_str(type) : MX_STR("linear");
    MX_TRY(read_number(r, "rope.scale_linear", 0, MAX_FACTOR, &r->c->scaling_factor, err));
    MX_TRY(read_number(r, "rope.scaling.factor", 0, MAX_FACTOR, &r->c->scaling_factor, err));
    MX_TRY(need_plain(r, "rope.scaling.attn_factor", 1, err));
    MX_TRY(need_plain(r, "rope.scaling.yarn_attn_factor", 1, err));
    MX_TRY(need_plain(r, "rope.scaling.yarn_ext_factor", 1, err));
    MX_TRY(read_number(r, "rope.scaling.yarn_beta_fast", 1e-6, MAX_FACTOR, &r->c->beta_fast, err));
    MX_TRY(read_number(r, "rope.scaling.yarn_beta_slow", 1e-6, MAX_FACTOR, &r->c->beta_slow, err));
    MX_TRY(read_count(r, "rope.scaling.original_context_length", 0, (int64_t)1 << 30, &r->c->original_n_ctx, err));
    if (mx_str_eq_cstr(name, "none")) {
        return MX_OK;
    }
    for (size_t i = 0; i < MX_COUNTOF(kinds); i++) {
        if (mx_str_eq_cstr(name, kinds[i])) {
            const bool is_scaled = r->c->scaling_factor != 0 && r->c->scaling_factor != 1;
            r->c->scaling = is_scaled ? kinds[i] : NULL;
            return MX_OK;
        }
    }
    return mx_fail(err, MX_UNSUPPORTED, "%s: %s.rope.scaling.type \"%.*s\" is not converted; none, linear and yarn are",
                   r->path, r->c->family, MX_STR_ARG(name));
}

/* What the families as MLX has them cannot do. */
static mx_status check_plain(reader *r, mx_error *err)
{
    const mx_gguf_config *c = r->c;
    const int64_t head_dim = c->head_dim > 0 ? c->head_dim : c->d_model / c->n_heads;
    int64_t n_value = head_dim;
    int64_t n_rotated = head_dim;
    int64_t window = 0;
    double n_pieces = 1;
    MX_TRY(read_count(r, "attention.value_length", 1, MAX_COUNT, &n_value, err));
    MX_TRY(read_count(r, "rope.dimension_count", 1, MAX_COUNT, &n_rotated, err));
    MX_TRY(read_count(r, "attention.sliding_window", 0, INT32_MAX, &window, err));
    MX_TRY(need_plain(r, "attention.causal", 1, err));
    MX_TRY(need_plain(r, "expert_count", 0, err));
    MX_TRY(mx_gguf_get_f64(r->gguf, "split.count", 0, 65536, &n_pieces, err));
    if (n_value != head_dim || n_rotated != head_dim) {
        return mx_fail(err, MX_UNSUPPORTED,
                       "%s: %s.%s is %" PRId64 ", and heads have %" PRId64 " columns: only the same is converted",
                       r->path, c->family, n_value != head_dim ? "attention.value_length" : "rope.dimension_count",
                       n_value != head_dim ? n_value : n_rotated, head_dim);
    }
    if (window > 0 && window < c->n_ctx) {
        return mx_fail(err, MX_UNSUPPORTED,
                       "%s: %s.attention.sliding_window is %" PRId64 "; models that look back over a window are not "
                       "converted",
                       r->path, c->family, window);
    }
    return n_pieces > 1 ? mx_fail(err, MX_UNSUPPORTED, "%s: is one of %.0f pieces; only whole files are converted",
                                  r->path, n_pieces)
                        : MX_OK;
}

/* A token's number; -1, or 32 bits of ones, says that there is none. */
static mx_status read_id(const reader *r, const char *key, int64_t *id, mx_error *err)
{
    *id = -1;
    MX_TRY(mx_gguf_get_i64(r->gguf, key, -1, UINT32_MAX, id, err));
    *id = *id == UINT32_MAX ? -1 : *id;
    return *id < r->c->n_vocab ? MX_OK
                               : mx_fail(err, MX_FORMAT, "%s: %s is %" PRId64 ", and there are %" PRId64 " tokens",
                                         r->path, key, *id, r->c->n_vocab);
}

mx_status mx_gguf_config_read(const mx_gguf *gguf, const char *path, mx_gguf_config *out, mx_error *err)
{
    reader r = {.gguf = gguf, .path = path, .c = out};
    *out = (mx_gguf_config){.norm_eps = 1e-5, .theta = 10000.0, .beta_fast = 32, .beta_slow = 1};
    MX_TRY(find_family(&r, err));
    MX_TRY(check_keys(&r, err));
    const mx_gguf_tensor *embedding = mx_gguf_find_tensor(gguf, "token_embd.weight");
    if (!embedding || embedding->n_dims != 2) {
        return mx_fail(err, MX_FORMAT, "%s: has no matrix token_embd.weight", path);
    }
    out->n_vocab = embedding->shape[0];
    out->is_tied = !mx_gguf_find_tensor(gguf, "output.weight");
    out->has_attention_bias = mx_gguf_find_tensor(gguf, "blk.0.attn_q.bias") != NULL;
    out->has_mlp_bias = mx_gguf_find_tensor(gguf, "blk.0.ffn_up.bias") != NULL;
    MX_TRY(read_needed(&r, "embedding_length", MAX_COUNT, &out->d_model, err));
    MX_TRY(read_needed(&r, "block_count", MAX_HEADS, &out->n_layers, err));
    MX_TRY(read_needed(&r, "feed_forward_length", MAX_COUNT, &out->d_ff, err));
    MX_TRY(read_needed(&r, "context_length", (int64_t)1 << 30, &out->n_ctx, err));
    MX_TRY(read_needed(&r, "attention.head_count", MAX_HEADS, &out->n_heads, err));
    out->n_kv_heads = out->n_heads;
    MX_TRY(read_count(&r, "attention.head_count_kv", 1, MAX_HEADS, &out->n_kv_heads, err));
    MX_TRY(read_count(&r, "attention.key_length", 1, MAX_COUNT, &out->head_dim, err));
    MX_TRY(read_number(&r, "attention.layer_norm_rms_epsilon", 1e-20, 1, &out->norm_eps, err));
    MX_TRY(read_number(&r, "rope.freq_base", 1, 1e15, &out->theta, err));
    MX_TRY(read_id(&r, "tokenizer.ggml.bos_token_id", &out->bos_id, err));
    MX_TRY(read_id(&r, "tokenizer.ggml.eos_token_id", &out->eos_id, err));
    MX_TRY(read_scaling(&r, err));
    return check_plain(&r, err);
}

mx_status mx_gguf_config_append(const mx_gguf_config *c, mx_buf *out, mx_error *err)
{
    const struct {
        const char *key;
        int64_t value;
        int64_t min; /* below it the field is left out */
    } counts[] = {
        {"hidden_size", c->d_model, 0},
        {"num_hidden_layers", c->n_layers, 0},
        {"intermediate_size", c->d_ff, 0},
        {"num_attention_heads", c->n_heads, 0},
        {"num_key_value_heads", c->n_kv_heads, 0},
        {"max_position_embeddings", c->n_ctx, 0},
        {"vocab_size", c->n_vocab, 0},
        {"head_dim", c->head_dim, 1},
        {"bos_token_id", c->bos_id, 0},
        {"eos_token_id", c->eos_id, 0},
    };
    MX_TRY(mx_buf_printf(out, err, "{\n  \"model_type\": \"%s\"", c->family));
    for (size_t i = 0; i < MX_COUNTOF(counts); i++) {
        MX_TRY(counts[i].value >= counts[i].min
                   ? mx_buf_printf(out, err, ",\n  \"%s\": %" PRId64, counts[i].key, counts[i].value)
                   : MX_OK);
    }
    MX_TRY(mx_buf_printf(out, err,
                         ",\n  \"rms_norm_eps\": %.9g,\n  \"rope_theta\": %.9g,\n  \"tie_word_embeddings\": %s",
                         c->norm_eps, c->theta, c->is_tied ? "true" : "false"));
    if (c->has_attention_bias && strcmp(c->family, "qwen2") != 0) { /* which always has them */
        MX_TRY(mx_buf_printf(out, err, ",\n  \"attention_bias\": true"));
    }
    if (c->has_mlp_bias) {
        MX_TRY(mx_buf_printf(out, err, ",\n  \"mlp_bias\": true"));
    }
    if (!c->scaling) {
        return MX_OK;
    }
    MX_TRY(mx_buf_printf(out, err, ",\n  \"rope_scaling\": {\"rope_type\": \"%s\", \"factor\": %.9g", c->scaling,
                         c->scaling_factor));
    if (strcmp(c->scaling, "yarn") == 0) {
        MX_TRY(mx_buf_printf(out, err, ", \"beta_fast\": %.9g, \"beta_slow\": %.9g", c->beta_fast, c->beta_slow));
        MX_TRY(c->original_n_ctx > 0
                   ? mx_buf_printf(out, err, ", \"original_max_position_embeddings\": %" PRId64, c->original_n_ctx)
                   : MX_OK);
    }
    return mx_buf_append_char(out, '}', err);
}
