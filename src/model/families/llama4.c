/* llama4.c - Llama 4, the text model: alone ("llama4_text") or inside of the vision model ("llama4").
 *
 * Most layers rotate and see their own chunk of positions alone; every fourth does neither, and sharpens queries that
 * stand far back. Each token has one expert, which reads the stream times its weight, and one that all share.
 */
#include <math.h>

#include "model/families/families.h"
#include "model/moe.h"

typedef struct own_config {
    int64_t d_ff_dense;
    int32_t nope_interval; /* every so-many-th layer does not rotate */
    int32_t moe_step;      /* every so-many-th layer has experts */
    int32_t chunk;         /* positions; 0: none */
    int32_t floor_scale;
    bool has_qk_norm;
    bool is_sharpened;
    double attn_scale;
} own_config;

static const own_config llama4_own = {.d_ff_dense = 16384,
                                      .nope_interval = 4,
                                      .moe_step = 1,
                                      .chunk = 8192,
                                      .floor_scale = 8192,
                                      .has_qk_norm = true,
                                      .is_sharpened = true,
                                      .attn_scale = 0.1};

static const mx_field llama4_own_fields[] = {
    MX_FIELD(own_config, I64, d_ff_dense, "intermediate_size_mlp", 1, 1 << 24),
    MX_FIELD(own_config, I32, nope_interval, "no_rope_layer_interval", 1, 1 << 20),
    MX_FIELD(own_config, I32, moe_step, "interleave_moe_layer_step", 1, 1 << 20),
    MX_FIELD(own_config, I32, chunk, "attention_chunk_size", 1, MX_MAX_CTX),
    MX_FIELD(own_config, I32, floor_scale, "floor_scale", 1, MX_MAX_CTX),
    MX_FIELD(own_config, BOOL, has_qk_norm, "use_qk_norm", 0, 0),
    MX_FIELD(own_config, BOOL, is_sharpened, "attn_temperature_tuning", 0, 0),
    MX_FIELD(own_config, F64, attn_scale, "attn_scale", 0, 1000),
    MX_FIELD_END,
};

static const mx_model_config llama4_defaults = {
    .model_type = "llama4_text",
    .n_layers = 48,
    .n_heads = 40,
    .n_kv_heads = 8,
    .head_dim = 128,
    .n_ctx = 131072,
    .d_model = 5120,
    .d_ff = 8192,
    .n_vocab = 202048,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .is_rope_interleaved = true,
    .n_experts = 16,
    .top_k = 1,
    .ropes = {MX_ROPE_PLAIN(5e5)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static mx_status llama4_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    own_config *own = (own_config *)c->own;
    (void)arena;
    if (yyjson_is_null(yyjson_obj_get(obj, "attention_chunk_size"))) {
        own->chunk = 0;
    }
    if (c->top_k != 1) {
        return mx_fail(err, MX_UNSUPPORTED, "\"num_experts_per_tok\" is %d: Llama 4 is supported with 1", c->top_k);
    }
    c->d_ff_expert = c->d_ff;
    c->d_ff = own->d_ff_dense;
    return MX_OK;
}

/* "moe_layers": [1, 3, ...]; or else by "interleave_moe_layer_step". */
static mx_status llama4_sparse(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    const own_config *own = (const own_config *)c->own;
    yyjson_val *listed = NULL;
    MX_TRY(mx_json_get_arr(obj, "moe_layers", &listed, err));
    for (int32_t i = 0; i < c->n_layers && !listed; i++) {
        layers[i].is_moe = (i + 1) % own->moe_step == 0;
    }
    yyjson_arr_iter it = yyjson_arr_iter_with(listed);
    for (yyjson_val *val = yyjson_arr_iter_next(&it); val; val = yyjson_arr_iter_next(&it)) {
        const int64_t i_layer = yyjson_is_int(val) ? yyjson_get_sint(val) : -1;
        if (i_layer < 0 || i_layer >= c->n_layers) {
            return mx_fail(err, MX_FORMAT, "\"moe_layers\" must list layers from 0 to %d", c->n_layers - 1);
        }
        layers[i_layer].is_moe = true;
    }
    return MX_OK;
}

/* "no_rope_layers": [1, 1, 1, 0, ...], 1 where a layer rotates; or else by "no_rope_layer_interval". */
static mx_status llama4_layers(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    const own_config *own = (const own_config *)c->own;
    yyjson_val *rotates = NULL;
    MX_TRY(mx_json_get_arr(obj, "no_rope_layers", &rotates, err));
    const size_t n = yyjson_arr_size(rotates);
    if (n > 0 && n != (size_t)c->n_layers) {
        return mx_fail(err, MX_FORMAT, "\"no_rope_layers\" has %zu entries, but there are %d layers", n, c->n_layers);
    }
    yyjson_arr_iter it = yyjson_arr_iter_with(rotates);
    for (int32_t i = 0; i < c->n_layers; i++) {
        yyjson_val *val = n > 0 ? yyjson_arr_iter_next(&it) : NULL;
        const bool is_turned = n > 0 ? yyjson_get_int(val) != 0 : (i + 1) % own->nope_interval != 0;
        layers[i].rope = is_turned ? MX_LAYER_ROPE_GLOBAL : MX_LAYER_ROPE_NONE;
    }
    return MX_OK;
}

/* Norms without weights on whole heads are the same before they turn as after. */
static mx_value llama4_attention(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value h)
{
    const own_config *own = (const own_config *)c->own;
    const bool is_turned = c->layers[i_layer].rope != MX_LAYER_ROPE_NONE;
    mx_attention_settings settings = {.scale = (float)(1 / sqrt((double)c->head_dim))};
    mx_qkv t = mx_linear_qkv(b, h, "self_attn", c->has_qkv_bias);
    if (is_turned && own->has_qk_norm) {
        t.q = mx_rmsnorm_heads(b, t.q, NULL);
        t.k = mx_rmsnorm_heads(b, t.k, NULL);
    }
    if (is_turned) {
        t = mx_rope(b, t, MX_LAYER_ROPE_GLOBAL);
        settings.chunk = own->chunk;
    } else if (own->is_sharpened) {
        settings.sharpening =
            (mx_sharpening){.beta = (float)own->attn_scale, .n_positions = own->floor_scale, .shift = 1};
    }
    return mx_linear(b, mx_attention(b, t, &settings), "self_attn.o_proj", c->d_model, c->has_o_bias);
}

static void llama4_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_value x = mx_stream(b);
    const mx_value y = mx_add(b, x, llama4_attention(b, c, i_layer, mx_rmsnorm(b, x, "input_layernorm")));
    const mx_value z = mx_rmsnorm(b, y, "post_attention_layernorm");
    mx_moe_settings moe = mx_moe_settings_of(c);
    moe.route.score = MX_SCORE_SIGMOID;
    moe.scales_input = true;
    moe.d_ff_shared = c->d_ff_expert;
    mx_set_stream(b, mx_add(b, y, mx_moe_layer_mlp(b, c, i_layer, z, &moe)));
}

static const mx_rename llama4_renames[] = {
    {"mlp.gate", "feed_forward.router"},
    {"mlp.switch_mlp.gate_proj", "feed_forward.experts.gate_proj"},
    {"mlp.switch_mlp.up_proj", "feed_forward.experts.up_proj"},
    {"mlp.shared_experts", "feed_forward.shared_expert"},
    {"mlp.", "feed_forward."},
    {NULL, NULL},
};

/* The original files: gate and up side by side, and everything the other way round. */
static const mx_fusion llama4_fusions[] = {
    {"mlp.switch_mlp.gate_proj", "feed_forward.experts.gate_up_proj", MX_PART_TURNED_FIRST_HALF},
    {"mlp.switch_mlp.up_proj", "feed_forward.experts.gate_up_proj", MX_PART_TURNED_SECOND_HALF},
    {"mlp.switch_mlp.down_proj", "feed_forward.experts.down_proj", MX_PART_TURNED},
    {NULL, NULL, MX_PART_TURNED},
};

const mx_family mx_family_llama4 = {
    .model_types = {"llama4_text", "llama4"},
    .title = "Llama 4",
    .source = "transformers, models/llama4/modeling_llama4.py",
    .defaults = &llama4_defaults,
    .renames = llama4_renames,
    .fusions = llama4_fusions,
    .own = {sizeof(own_config), &llama4_own, llama4_own_fields},
    .read = llama4_read,
    .sparse = llama4_sparse,
    .layers = llama4_layers,
    .layer = llama4_layer,
};
