/* gguf_config.h - the metadata of a GGUF file as the fields of config.json. Private to hub/. */
#ifndef MX_HUB_GGUF_CONFIG_H
#define MX_HUB_GGUF_CONFIG_H

#include "base/buf.h"
#include "weights/gguf.h"

/* Checked: every number is whole where it counts something, and in a range that cannot overflow. */
typedef struct mx_gguf_config {
    const char *family; /* "llama", "qwen2" or "qwen3" */
    int64_t n_layers;
    int64_t d_model;
    int64_t d_ff;
    int64_t n_ctx;
    int64_t n_heads;
    int64_t n_kv_heads;
    int64_t head_dim; /* 0: d_model / n_heads, and the file does not say it */
    int64_t n_vocab;
    int64_t bos_id; /* -1: the file names none; the next likewise */
    int64_t eos_id;
    bool is_tied; /* the embedding is the output matrix too */
    bool has_attention_bias;
    bool has_mlp_bias;
    double norm_eps;
    double theta;
    const char *scaling; /* "linear", "yarn"; NULL: frequencies are not scaled */
    double scaling_factor;
    double beta_fast; /* of yarn, as are the next */
    double beta_slow;
    int64_t original_n_ctx; /* 0: not said */
} mx_gguf_config;

/* Reads what changes a model's results. `path` names the file in errors.
 * MX_FORMAT (a number that is missing or cannot be), MX_UNSUPPORTED (a family, or a key of it, that is not converted:
 * named). */
mx_status mx_gguf_config_read(const mx_gguf *gguf, const char *path, mx_gguf_config *out, mx_error *err) MX_NODISCARD;

/* Appends the fields, "{" first and without the closing brace. MX_NO_MEMORY. */
mx_status mx_gguf_config_append(const mx_gguf_config *config, mx_buf *out, mx_error *err) MX_NODISCARD;

#endif
