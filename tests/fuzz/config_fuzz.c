/* config_fuzz.c - any bytes as a config.json and as a generation_config.json: what is accepted must be sane. */
#include <math.h>
#include <stdlib.h>

#include "model/config.h"
#include "model/rope_scaling.h"
#include "tests/fuzz/fuzz.h"

static void must(bool is_sane)
{
    if (!is_sane) {
        abort();
    }
}

static void check_rope(const mx_rope_config *rope, const mx_model_config *c, int32_t n_ctx)
{
    float inv_freq[MX_MAX_HEAD_DIM / 2];
    float factor = 0;
    const int32_t rot_dim = mx_rope_rot_dim(rope);
    must(rot_dim >= 2 && rot_dim <= rope->head_dim && rot_dim % 2 == 0);
    must(mx_rope_max_ctx(rope, c->n_ctx) >= c->n_ctx);
    mx_rope_table(rope, n_ctx, c->n_ctx, inv_freq, &factor);
    must(isfinite(factor) && factor > 0);
    for (int32_t i = 0; i < rot_dim / 2; i++) {
        must(isfinite(inv_freq[i]) && inv_freq[i] >= 0);
    }
}

static void check_config(const mx_model_config *c)
{
    must(c->n_layers > 0 && c->n_heads > 0 && c->n_kv_heads > 0 && c->n_heads % c->n_kv_heads == 0);
    must(c->head_dim >= 2 && c->head_dim <= MX_MAX_HEAD_DIM && c->n_ctx > 0 && c->n_ctx <= MX_MAX_CTX);
    must(c->d_model > 0 && c->d_ff >= 0 && c->n_vocab > 0); /* no columns: a model without MLPs, such as Mamba */
    must(c->norm_eps > 0 && c->query_scale >= 0 && c->logit_softcap >= 0 && c->window >= 0);
    must(c->n_eos_ids >= 0 && c->n_eos_ids <= MX_MAX_EOS_IDS);
    for (int32_t i = 0; i < c->n_layers; i++) {
        must(!c->layers[i].is_sliding || c->window > 0);
        must(!c->layers[i].is_moe || (c->n_experts > 0 && c->top_k > 0 && c->top_k <= c->n_experts));
    }
    for (int32_t i = 0; i < (c->has_local_rope ? MX_LAYER_ROPE_COUNT : 1); i++) {
        check_rope(&c->ropes[i], c, 1);
        check_rope(&c->ropes[i], c, mx_rope_max_ctx(&c->ropes[i], c->n_ctx));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    mx_error err;
    mx_json json = {0};
    mx_arena arena;
    mx_model_config config = {0};
    mx_sampling_defaults sampling;
    const mx_family *family = NULL;
    mx_arena_init(&arena, (size_t)1 << 26);
    if (mx_json_parse((mx_str){(const char *)data, n_bytes}, "input", &json, &err) == MX_OK) {
        if (mx_model_config_read(json.root, "input", &arena, &config, &family, &err) == MX_OK) {
            check_config(&config);
        }
        if (mx_generation_config_read(json.root, "input", &config, &sampling, &err) == MX_OK) {
            must(config.n_eos_ids >= 0 && config.n_eos_ids <= MX_MAX_EOS_IDS);
        }
    }
    mx_json_close(&json);
    mx_arena_deinit(&arena);
    return 0;
}
