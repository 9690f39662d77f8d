/* tiny_decoder.h - a small decoder with random weights in memory, for tests of programs: every block of builder.h, in
 * mixes that a struct chooses.
 *
 *     tiny_decoder tiny;
 *     MX_CHECK_OK(tiny_decoder_build(&tiny, &(tiny_settings){.has_head_norms = true}, &err), &err);
 *     ... tiny.program ...
 *     tiny_decoder_deinit(&tiny);
 */
#ifndef MX_TESTS_TINY_DECODER_H
#define MX_TESTS_TINY_DECODER_H

#include <math.h>
#include <stdio.h>

#include "base/arena.h"
#include "program/builder.h"

#define TINY_LAYERS   2
#define TINY_HEADS    4
#define TINY_KV_HEADS 2
#define TINY_HEAD_DIM 8
#define TINY_MODEL    24
#define TINY_RANK     12 /* of latents */
#define TINY_FF       40
#define TINY_EXPERTS  5
#define TINY_VOCAB    50
#define TINY_CTX      256
#define TINY_MAX      192 /* weights */

typedef struct tiny_settings {
    bool has_head_norms;
    bool has_post_norms; /* norms behind the blocks too, as in Gemma */
    bool has_bias;
    bool has_experts;  /* in the last layer */
    bool has_states;   /* recurrences beside the first layer */
    bool has_latents;  /* attention over a compressed cache in the first layer */
    bool has_caps;     /* soft caps on scores and logits, a scaled embedding */
    bool has_rarities; /* in the first layer: what single families have */
    bool is_like_gpt;  /* layer norms before MLPs, of which the first is plain, and learned positions */
    bool has_adapter;  /* DoRA on the first layer's o_proj */
    int32_t window;
    bool is_tied;
} tiny_settings;

typedef struct tiny_weight {
    const char *path;
    mx_weight weight;
} tiny_weight;

typedef struct tiny_decoder {
    mx_arena arena; /* owned */
    tiny_weight weights[TINY_MAX];
    size_t n_weights;
    uint64_t random;
    bool has_adapter;
    mx_program program; /* owned */
} tiny_decoder;

/* Uniform in [-1, 1), the same on every run. */
static inline float tiny_random(tiny_decoder *tiny)
{
    tiny->random = tiny->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (float)(tiny->random >> 40) / (float)(1 << 23) - 1.0f;
}

/* A dense f32 weight; values have a variance of about 1 / n_cols, those of vectors are near 1. */
static inline void tiny_add(tiny_decoder *tiny, const char *path, int64_t n_experts, int64_t n_rows, int64_t n_cols)
{
    const int64_t n = n_experts * n_rows * n_cols;
    float *data = mx_arena_array(&tiny->arena, float, n);
    if (!data || tiny->n_weights == TINY_MAX) {
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const float r = tiny_random(tiny);
        data[i] = n_rows == 1 ? 1.0f + 0.3f * r : r * 1.7f / sqrtf((float)n_cols);
    }
    tiny->weights[tiny->n_weights++] = (tiny_weight){
        .path = mx_arena_printf(&tiny->arena, "%s", path),
        .weight = {.name = {"tiny", 4},
                   .dtype = MX_DTYPE_F32,
                   .n_experts = n_experts,
                   .n_rows = n_rows,
                   .n_cols = n_cols,
                   .data = (const uint8_t *)data,
                   .global_scale = 1.0f},
    };
}

static inline mx_status tiny_resolve(void *object, mx_str path, mx_weight *out, mx_error *err)
{
    const tiny_decoder *tiny = (const tiny_decoder *)object;
    for (size_t i = 0; i < tiny->n_weights; i++) {
        if (mx_str_eq_cstr(path, tiny->weights[i].path)) {
            *out = tiny->weights[i].weight;
            return MX_OK;
        }
    }
    return mx_fail(err, MX_NOT_FOUND, "no tensor \"%.*s\"", MX_STR_ARG(path));
}

static inline mx_status tiny_adapt(void *object, mx_str path, mx_adaptation *out, bool *found, mx_error *err)
{
    const tiny_decoder *tiny = (const tiny_decoder *)object;
    *found = tiny->has_adapter && mx_str_eq_cstr(path, "layers.0.attn.o_proj");
    if (!*found) {
        return MX_OK;
    }
    *out = (mx_adaptation){.scale = 0.7f};
    MX_TRY(tiny_resolve(object, mx_str_from("adapter.a"), &out->a, err));
    MX_TRY(tiny_resolve(object, mx_str_from("adapter.b"), &out->b, err));
    return tiny_resolve(object, mx_str_from("adapter.m"), &out->factors, err);
}

static inline mx_weight_source tiny_source(tiny_decoder *tiny)
{
    return (mx_weight_source){.object = tiny, .resolve = tiny_resolve, .adapt = tiny_adapt};
}

static inline void tiny_add_projection(tiny_decoder *tiny, int32_t i_layer, const char *path, int64_t n_experts,
                                       int64_t n_rows, int64_t n_cols)
{
    char name[96];
    snprintf(name, sizeof name, "layers.%d.%s", (int)i_layer, path);
    tiny_add(tiny, name, n_experts, n_rows, n_cols);
    snprintf(name, sizeof name, "layers.%d.%s.bias", (int)i_layer, path);
    if (n_rows > 1 && n_experts == 1) {
        tiny_add(tiny, name, 1, 1, n_rows);
    }
}

static inline void tiny_add_all(tiny_decoder *tiny)
{
    static const struct {
        const char *path;
        int64_t n_experts, n_rows, n_cols;
    } rows[] = {
        {"input_norm", 1, 1, TINY_MODEL},
        {"attn.q_proj", 1, TINY_HEADS * TINY_HEAD_DIM, TINY_MODEL},
        {"attn.k_proj", 1, TINY_KV_HEADS * TINY_HEAD_DIM, TINY_MODEL},
        {"attn.v_proj", 1, TINY_KV_HEADS * TINY_HEAD_DIM, TINY_MODEL},
        {"attn.q_norm", 1, 1, TINY_HEAD_DIM},
        {"attn.k_norm", 1, 1, TINY_HEAD_DIM},
        {"mla.q_a_proj", 1, TINY_RANK, TINY_MODEL},
        {"mla.q_a_layernorm", 1, 1, TINY_RANK},
        {"mla.q_b_proj", 1, TINY_HEADS * 2 * TINY_HEAD_DIM, TINY_RANK},
        {"mla.kv_a_proj_with_mqa", 1, TINY_RANK + TINY_HEAD_DIM, TINY_MODEL},
        {"mla.kv_a_layernorm", 1, 1, TINY_RANK},
        {"mla.embed_q", TINY_HEADS, TINY_RANK, TINY_HEAD_DIM},
        {"mla.unembed_out", TINY_HEADS, TINY_HEAD_DIM, TINY_RANK},
        {"attn.o_proj", 1, TINY_MODEL, TINY_HEADS * TINY_HEAD_DIM},
        {"attn.post_norm", 1, 1, TINY_MODEL},
        {"mix.in_proj", 1, 54, TINY_MODEL},
        {"mix.conv", 1, 48, 4},
        {"mix.decay", 1, 1, 2},
        {"mix.out_proj", 1, TINY_MODEL, 16},
        {"mix.scan_proj", 1, TINY_MODEL, 8},
        {"mix.lru.input_gate_weight", 1, 8, 4},
        {"mix.lru.input_gate_bias", 1, 1, 8},
        {"mix.lru.recurrent_gate_weight", 1, 8, 4},
        {"mix.lru.recurrent_gate_bias", 1, 1, 8},
        {"mix.lru.recurrent_param", 1, 1, 8},
        {"rare.scores", 1, 4, TINY_MODEL},
        {"rare.scale", 1, 1, TINY_MODEL},
        {"rare.up_proj", 1, TINY_FF, TINY_MODEL},
        {"rare.down_proj", 1, TINY_MODEL, TINY_FF},
        {"rare.act_fn.alpha_p", 1, 1, 1},
        {"rare.act_fn.alpha_n", 1, 1, 1},
        {"rare.act_fn.beta", 1, 1, 1},
        {"rare.act_fn.eps", 1, 1, 1},
        {"mlp_norm", 1, 1, TINY_MODEL},
        {"mlp.gate_proj", 1, TINY_FF, TINY_MODEL},
        {"mlp.up_proj", 1, TINY_FF, TINY_MODEL},
        {"mlp.down_proj", 1, TINY_MODEL, TINY_FF},
        {"mlp.post_norm", 1, 1, TINY_MODEL},
        {"mlp.gate", 1, TINY_EXPERTS, TINY_MODEL},
        {"mlp.expert_scale", 1, 1, TINY_EXPERTS},
        {"mlp.switch_mlp.gate_proj", TINY_EXPERTS, TINY_FF, TINY_MODEL},
        {"mlp.switch_mlp.up_proj", TINY_EXPERTS, TINY_FF, TINY_MODEL},
        {"mlp.switch_mlp.down_proj", TINY_EXPERTS, TINY_MODEL, TINY_FF},
    };
    tiny_add(tiny, "embed", 1, TINY_VOCAB, TINY_MODEL);
    tiny_add(tiny, "positions", 1, TINY_CTX, TINY_MODEL);
    tiny_add(tiny, "norm", 1, 1, TINY_MODEL);
    tiny_add(tiny, "adapter.a", 1, 4, TINY_HEADS * TINY_HEAD_DIM);
    tiny_add(tiny, "adapter.b", 1, TINY_MODEL, 4);
    tiny_add(tiny, "adapter.m", 1, 1, TINY_MODEL);
    tiny_add(tiny, "head", 1, TINY_VOCAB, TINY_MODEL);
    for (int32_t i = 0; i < TINY_LAYERS; i++) {
        for (size_t j = 0; j < sizeof rows / sizeof rows[0]; j++) {
            tiny_add_projection(tiny, i, rows[j].path, rows[j].n_experts, rows[j].n_rows, rows[j].n_cols);
        }
    }
}

/* A delta rule, and a state space before a linear recurrent unit, over one convolution. */
static inline mx_value tiny_recurrence(mx_builder *b, mx_value x)
{
    const mx_value in = mx_linear(b, x, "mix.in_proj", 54, false);
    const mx_conv_settings conv = {.x = in,
                                   .x_columns = mx_columns_from(0, 48),
                                   .in_gate = MX_NO_VALUE,
                                   .out_gate = MX_NO_VALUE,
                                   .n_channels = 48,
                                   .width = 4,
                                   .path = "mix.conv",
                                   .has_silu = true};
    const mx_value c = mx_causal_conv(b, &conv);
    const mx_value gate = mx_slice(b, in, mx_columns_from(48, 2), 2, "mix.gate");
    const int32_t decay = mx_builder_numbers(b, "mix.decay", "", 1, 2);
    const mx_delta_params delta = {.n_k_heads = 1,
                                   .n_v_heads = 2,
                                   .k_dim = 8,
                                   .v_dim = 8,
                                   .q = mx_columns_from(0, 8),
                                   .k = mx_columns_from(8, 8),
                                   .v = mx_columns_from(16, 16),
                                   .gate = mx_columns_from(0, 2),
                                   .beta = mx_columns_from(50, 2),
                                   .a_log = decay,
                                   .dt_bias = MX_NO_WEIGHT,
                                   .q_scale = 0.35f};
    const mx_ssm_params ssm = {.n_heads = 2,
                               .head_dim = 4,
                               .d_state = 4,
                               .n_groups = 1,
                               .x = mx_columns_from(32, 8),
                               .dt = mx_columns_from(52, 2),
                               .b = mx_columns_from(40, 4),
                               .c = mx_columns_from(44, 4),
                               .a_log = decay,
                               .skip = MX_NO_WEIGHT,
                               .dt_bias = MX_NO_WEIGHT,
                               .dt_max = 10.0f};
    const mx_value y = mx_delta_rule(b, &(mx_delta_inputs){c, c, c, gate, in}, delta, "mix.delta");
    const mx_value z = mx_ssm_scan(b, &(mx_ssm_inputs){c, in, c, c}, ssm, "mix.scan");
    return mx_add(b, mx_linear(b, y, "mix.out_proj", TINY_MODEL, false),
                  mx_linear(b, mx_rg_lru(b, z, "mix.lru", 2), "mix.scan_proj", TINY_MODEL, false));
}

/* Heads of queries and keys have TINY_HEAD_DIM columns that do not rotate, and as many that do. */
static inline mx_value tiny_latent_attention(mx_builder *b, mx_value h, const tiny_settings *s)
{
    const mx_mla_settings mla = {.q_rank = TINY_RANK,
                                 .kv_rank = TINY_RANK,
                                 .nope_dim = TINY_HEAD_DIM,
                                 .rope_dim = TINY_HEAD_DIM,
                                 .v_dim = TINY_HEAD_DIM,
                                 .scale = 0.25f,
                                 .norm_eps = 1e-6f,
                                 .has_bias = s->has_bias};
    return mx_mla(b, h, "mla", &mla);
}

static inline mx_value tiny_plain_attention(mx_builder *b, mx_value h, const tiny_settings *s, int32_t i_layer)
{
    mx_qkv t = mx_linear_qkv(b, h, "attn", s->has_bias);
    if (s->has_head_norms) {
        t.q = mx_rmsnorm_heads(b, t.q, "attn.q_norm");
        t.k = mx_rmsnorm_heads(b, t.k, "attn.k_norm");
    }
    const mx_attention_settings attention = {
        .scale = 0.35f, .softcap = s->has_caps ? 2.0f : 0.0f, .window = i_layer == 0 ? s->window : 0};
    return mx_attention(b, mx_rope(b, t, 0), &attention);
}

/* In two streams, clipped, multiplied by numbers of the model, and through a trained activation. */
static inline mx_value tiny_rarities(mx_builder *b, mx_value x)
{
    const mx_value scores = mx_linear(b, x, "rare.scores", 4, false);
    const mx_value mixed = mx_mix_streams(b, mx_concat(b, x, mx_cutoff(b, x, 0.5f)), scores, 2);
    const mx_streams_params second = {.n_streams = 2, .first = 1};
    const mx_value added = mx_add_streams(b, mixed, mx_match_rms(b, x, mx_side(b), 1e-5f), MX_NO_VALUE, second);
    x = mx_slice(b, added, mx_columns_from(TINY_MODEL, TINY_MODEL), TINY_MODEL, "rare.stream");
    return mx_xielu_mlp(b, mx_multiply(b, mx_clip(b, x, 0.8f), "rare.scale", TINY_MODEL), "rare", TINY_FF);
}

static inline void tiny_layer(mx_builder *b, const tiny_settings *s, int32_t i_layer)
{
    const mx_value x = mx_stream(b);
    const mx_value h = mx_rmsnorm(b, x, "input_norm");
    const mx_value a =
        s->has_latents && i_layer == 0 ? tiny_latent_attention(b, h, s) : tiny_plain_attention(b, h, s, i_layer);
    mx_value o = mx_linear(b, a, "attn.o_proj", TINY_MODEL, s->has_bias);
    o = s->has_post_norms ? mx_rmsnorm(b, o, "attn.post_norm") : o;
    mx_value y = mx_add(b, x, o);
    y = s->has_states && i_layer == 0 ? mx_add(b, y, tiny_recurrence(b, x)) : y;
    y = s->has_rarities && i_layer == 0 ? mx_add(b, y, tiny_rarities(b, x)) : y;
    const mx_value z = s->is_like_gpt ? mx_norm(b, y, "mlp_norm") : mx_rmsnorm(b, y, "mlp_norm");
    const mx_moe_settings moe = {
        .n_experts = TINY_EXPERTS,
        .d_ff = TINY_FF,
        .route = {.top_k = 2, .normalize = true, .scale = 1},
        .expert_scale = s->has_rarities ? "mlp.expert_scale" : NULL,
    };
    mx_value m = s->has_experts && i_layer == TINY_LAYERS - 1 ? mx_moe_mlp(b, z, "mlp", &moe)
                 : s->is_like_gpt && i_layer == 0             ? mx_plain_mlp(b, z, "mlp", TINY_FF, s->has_bias)
                                                              : mx_glu_mlp(b, z, "mlp", TINY_FF, s->has_bias);
    m = s->has_post_norms ? mx_rmsnorm(b, m, "mlp.post_norm") : m;
    mx_set_stream(b, mx_add(b, y, m));
}

static inline mx_value tiny_build_blocks(mx_builder *b, const tiny_settings *s)
{
    static const float inv_freq[TINY_HEAD_DIM / 2] = {1.0f, 0.2f, 0.05f, 0.01f};
    const mx_rope_spec rope = {.rot_dim = TINY_HEAD_DIM, .inv_freq = inv_freq, .factor = 1.0f};
    (void)mx_builder_add_rope(b, &rope);
    mx_set_stream(b, mx_embed(b, "embed", s->has_caps ? 3.0f : 1.0f));
    mx_set_side(b, mx_stream(b));
    if (s->is_like_gpt) {
        mx_set_stream(b, mx_add_positions(b, mx_stream(b), "positions", TINY_CTX));
    }
    for (int32_t i = 0; i < TINY_LAYERS; i++) {
        mx_builder_set_layer(b, i);
        tiny_layer(b, s, i);
    }
    mx_builder_set_layer(b, -1);
    const mx_value x = mx_rmsnorm(b, mx_gather_samples(b, mx_stream(b)), "norm");
    const mx_value y = mx_logits(b, x, s->is_tied ? "embed" : "head", false);
    return s->has_caps ? mx_softcap(b, mx_scale(b, y, 0.5f), 4.0f) : y;
}

static inline mx_status tiny_decoder_build(tiny_decoder *tiny, const tiny_settings *s, mx_error *err)
{
    const mx_builder_shape shape = {.n_layers = TINY_LAYERS,
                                    .n_ctx = TINY_CTX,
                                    .n_heads = TINY_HEADS,
                                    .n_kv_heads = TINY_KV_HEADS,
                                    .head_dim = TINY_HEAD_DIM,
                                    .d_model = TINY_MODEL,
                                    .n_vocab = TINY_VOCAB,
                                    .norm_eps = 1e-5f,
                                    .norm = MX_NORM_LAYER,
                                    .act = MX_ACT_SILU};
    *tiny = (tiny_decoder){.random = 1};
    mx_arena_init(&tiny->arena, (size_t)1 << 24);
    tiny_add_all(tiny);
    tiny->has_adapter = s->has_adapter;
    mx_builder *b = NULL;
    MX_TRY(mx_builder_new(&shape, tiny_source(tiny), &b, err));
    const mx_value logits = tiny_build_blocks(b, s);
    const mx_status st = mx_builder_finish(b, logits, &tiny->program, err);
    mx_builder_free(b);
    return st;
}

static inline void tiny_decoder_deinit(tiny_decoder *tiny)
{
    mx_program_deinit(&tiny->program);
    mx_arena_deinit(&tiny->arena);
}

#endif
