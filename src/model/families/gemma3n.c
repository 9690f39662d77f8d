/* gemma3n.c - Gemma 3n, the text model.
 *
 * The stream is n_streams values side by side (AltUp): each layer guesses all of them from all, computes one, and
 * corrects the others by what it was wrong there. Beside attention stands a product of low rank (Laurel); gates of the
 * first layers keep only what lies far above their mean. The rest is shared with Gemma 4: layers without keys, small
 * embeddings.
 */
#include <math.h>
#include <stdio.h>

#include "model/families/gemma_parts.h"

typedef struct gemma3n_config {
    int64_t d_small;
    int64_t n_small_vocab;
    int32_t n_shared_layers;
    int32_t n_streams;
    int32_t i_active; /* the stream that layers compute */
    int32_t laurel_rank;
    bool scales_correction;
    const double *cutoffs; /* [n_layers] standard deviations; -HUGE_VAL: none. NULL until they are read */
} gemma3n_config;

static const gemma3n_config gemma3n_own = {.d_small = 256,
                                           .n_small_vocab = 262144,
                                           .n_shared_layers = 15,
                                           .n_streams = 4,
                                           .laurel_rank = 64,
                                           .scales_correction = true};

static const mx_field gemma3n_fields[] = {
    MX_FIELD(gemma3n_config, I64, d_small, "hidden_size_per_layer_input", 1, 1 << 20),
    MX_FIELD(gemma3n_config, I64, n_small_vocab, "vocab_size_per_layer_input", 1, 1 << 24),
    MX_FIELD(gemma3n_config, I32, n_shared_layers, "num_kv_shared_layers", 0, 1024),
    MX_FIELD(gemma3n_config, I32, n_streams, "altup_num_inputs", 1, 16),
    MX_FIELD(gemma3n_config, I32, i_active, "altup_active_idx", 0, 15),
    MX_FIELD(gemma3n_config, I32, laurel_rank, "laurel_rank", 1, 1 << 20),
    MX_FIELD(gemma3n_config, BOOL, scales_correction, "altup_correct_scale", 0, 0),
    MX_FIELD_END,
};

static const mx_model_config gemma3n_defaults = {
    .model_type = "gemma3n_text",
    .n_layers = 35,
    .n_heads = 8,
    .n_kv_heads = 2,
    .head_dim = 256,
    .n_ctx = 32768,
    .d_model = 2048,
    .d_ff = 16384,
    .n_vocab = 262400,
    .norm_eps = 1e-6,
    .act = MX_ACT_GELU_TANH,
    .is_tied = true,
    .scales_embedding = true,
    .window = 512,
    .sliding_pattern = 5,
    .attention_scale = 1,
    .logit_softcap = 30,
    .ropes = {MX_ROPE_PLAIN(1e6), MX_ROPE_PLAIN(1e4)},
    .has_local_rope = true,
    .eos_ids = {1},
    .n_eos_ids = 1,
};

/* Where a standard normal variable lies with probability `share` below: Newton's method, from the side from which it
 * never overshoots. */
static double normal_quantile(double share)
{
    double z = 0;
    for (int32_t i = 0; i < 200; i++) {
        const double below = 0.5 * erfc(-z * sqrt(0.5));
        const double density = exp(-0.5 * z * z) * 0.3989422804014327; /* 1 / sqrt(2 pi) */
        z += (share - below) / density;
    }
    return z;
}

/* "activation_sparsity_pattern": a share for all layers, or one for each; else 0.95 in the first ten of more than ten.
 */
static mx_status read_cutoffs(yyjson_val *obj, const mx_model_config *c, double *cutoffs, mx_error *err)
{
    yyjson_val *pattern = yyjson_obj_get(obj, "activation_sparsity_pattern");
    const bool is_list = yyjson_is_arr(pattern);
    if (is_list && yyjson_arr_size(pattern) != (size_t)c->n_layers) {
        return mx_fail(err, MX_FORMAT, "\"activation_sparsity_pattern\" has %zu entries, but there are %d layers",
                       yyjson_arr_size(pattern), c->n_layers);
    }
    yyjson_arr_iter it = yyjson_arr_iter_with(pattern);
    for (int32_t i = 0; i < c->n_layers; i++) {
        yyjson_val *val = is_list ? yyjson_arr_iter_next(&it) : pattern;
        const double share = yyjson_is_num(val) ? yyjson_get_num(val) : c->n_layers > 10 && i < 10 ? 0.95 : 0;
        if (!(share >= 0 && share < 0.9999)) {
            return mx_fail(err, MX_FORMAT, "layer %d: \"activation_sparsity_pattern\" must be from 0 to 0.9999", i);
        }
        cutoffs[i] = share > 0 ? normal_quantile(share) : -HUGE_VAL;
    }
    return MX_OK;
}

static mx_status gemma3n_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    gemma3n_config *own = c->own;
    double *cutoffs = mx_arena_array(arena, double, c->n_layers);
    if (!cutoffs) {
        return mx_fail(err, MX_NO_MEMORY, "out of memory: a model of %d layers", c->n_layers);
    }
    own->cutoffs = cutoffs;
    if (own->i_active >= own->n_streams) {
        return mx_fail(err, MX_FORMAT, "\"altup_active_idx\" is %d, but there are %d streams", own->i_active,
                       own->n_streams);
    }
    return read_cutoffs(obj, c, cutoffs, err);
}

static mx_status gemma3n_layers(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    const gemma3n_config *own = c->own;
    (void)obj;
    return mx_share_last_keys(c, layers, own->n_shared_layers, err);
}

/* Stream i of x. */
static mx_value stream_of(mx_builder *b, const mx_model_config *c, mx_value x, int32_t i)
{
    return mx_slice(b, x, mx_columns_from(i * c->d_model, c->d_model), c->d_model, "stream");
}

/* x times the i-th matrix of a list, as large as `like`. */
static mx_value project(mx_builder *b, const mx_model_config *c, mx_value x, const char *list, int32_t i, mx_value like)
{
    char path[48];
    snprintf(path, sizeof path, "%s.%d", list, (int)i);
    return mx_match_rms(b, mx_linear(b, x, path, c->d_model, false), like, 1e-5f);
}

static void gemma3n_begin(mx_builder *b, const mx_model_config *c)
{
    const gemma3n_config *own = c->own;
    const mx_value x = mx_stream(b);
    mx_set_side(b, mx_small_embeddings(b, c, own->d_small, own->n_small_vocab));
    mx_value all = x;
    for (int32_t i = 1; i < own->n_streams; i++) {
        all = mx_concat(b, all, project(b, c, x, "altup_projections", i - 1, x));
    }
    mx_set_stream(b, all);
}

static void gemma3n_end(mx_builder *b, const mx_model_config *c)
{
    const gemma3n_config *own = c->own;
    const mx_value first = stream_of(b, c, mx_stream(b), 0);
    mx_value sum = first;
    for (int32_t i = 1; i < own->n_streams; i++) {
        const mx_value x = stream_of(b, c, mx_stream(b), i);
        sum = mx_add(b, sum, project(b, c, x, "altup_unembed_projections", i - 1, first));
    }
    mx_set_stream(b, mx_scale(b, sum, 1.0f / (float)own->n_streams));
}

/* n numbers a token by which streams are mixed, from one of them. */
static mx_value mixing(mx_builder *b, const mx_model_config *c, mx_value x, const char *path, int64_t n)
{
    const gemma3n_config *own = c->own;
    const mx_value h = mx_scale(b, mx_norm(b, x, "altup.router_norm"), (float)(1 / (double)c->d_model));
    const mx_value routed = mx_linear(b, h, "altup.modality_router", own->n_streams, false);
    return mx_linear(b, mx_softcap(b, routed, 1.0f), path, n, false);
}

static mx_value gemma3n_mlp(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value x)
{
    const gemma3n_config *own = c->own;
    const int64_t d_ff = c->layers[i_layer].d_ff;
    const double cutoff = own->cutoffs[i_layer];
    mx_value gate = mx_linear(b, x, "mlp.gate_proj", d_ff, false);
    gate = isfinite(cutoff) ? mx_cutoff(b, gate, (float)cutoff) : gate;
    const mx_value h = mx_gate(b, gate, mx_linear(b, x, "mlp.up_proj", d_ff, false), c->act, "mlp.glu");
    return mx_linear(b, h, "mlp.down_proj", c->d_model, false);
}

/* What a layer makes of its stream, x. */
static mx_value compute_stream(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value x)
{
    const gemma3n_config *own = c->own;
    const mx_value h = mx_norm(b, x, "input_layernorm");
    mx_value laurel = mx_linear(b, h, "laurel.linear_left", own->laurel_rank, false);
    laurel = mx_linear(b, laurel, "laurel.linear_right", c->d_model, false);
    laurel = mx_add(b, h, mx_norm(b, laurel, "laurel.post_laurel_norm"));
    const mx_value a = mx_shared_key_attention(b, c, i_layer, h, false);
    const mx_value y = mx_add(b, x, mx_norm(b, a, "post_attention_layernorm"));
    const mx_value z = mx_scale(b, mx_add(b, y, laurel), (float)sqrt(0.5));
    const mx_value m = gemma3n_mlp(b, c, i_layer, mx_norm(b, z, "pre_feedforward_layernorm"));
    return mx_add(b, z, mx_norm(b, m, "post_feedforward_layernorm"));
}

static void gemma3n_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const gemma3n_config *own = c->own;
    const int32_t n = own->n_streams;
    const mx_value before = stream_of(b, c, mx_stream(b), own->i_active);
    const mx_value guess =
        mx_mix_streams(b, mx_stream(b), mixing(b, c, before, "altup.prediction_coefs", (int64_t)n * n), n);
    const mx_value active = stream_of(b, c, guess, own->i_active);
    const mx_value y = compute_stream(b, c, i_layer, active);
    const mx_value error = mx_add(b, y, mx_scale(b, active, -1.0f));
    const mx_streams_params correct = {.n_streams = n, .offset = 1.0f};
    const mx_value all = mx_add_streams(b, guess, error, mixing(b, c, y, "altup.correction_coefs", n), correct);

    mx_value x = stream_of(b, c, all, own->i_active);
    x = own->scales_correction ? mx_multiply(b, x, "altup.correct_output_scale", c->d_model) : x;
    const mx_streams_params others = {.n_streams = n, .first = 1};
    mx_set_stream(b,
                  mx_add_streams(b, all, mx_small_embedding_mlp(b, c, i_layer, own->d_small, x), MX_NO_VALUE, others));
}

const mx_family mx_family_gemma3n = {
    .model_types = {"gemma3n_text", "gemma3n"},
    .title = "Gemma 3n",
    .limits = "text only",
    .source = "transformers, models/gemma3n/modeling_gemma3n.py",
    .defaults = &gemma3n_defaults,
    .own = {sizeof(gemma3n_config), &gemma3n_own, gemma3n_fields},
    .read = gemma3n_read,
    .sliding = mx_sliding_pattern,
    .layers = gemma3n_layers,
    .begin = gemma3n_begin,
    .end = gemma3n_end,
    .layer = gemma3n_layer,
};
