/* mamba.c - Mamba 1, Mamba 2 and Falcon-Mamba: nothing but state spaces. There are no positions, so a context may have
 * any length. */
#include <float.h>

#include "model/families/families.h"
#include "model/mamba_layers.h"
#include "model/recurrent.h"

#define MAMBA_CTX (1 << 20)

static const mx_mamba1_config mamba1_own = {
    .d_state = 16, .conv_width = 4, .expand = 2, .has_conv_bias = true, .norm_eps = 1e-6};

static const mx_field mamba1_own_fields[] = {
    MX_FIELD(mx_mamba1_config, I32, d_state, "state_size", 1, 4096),
    MX_FIELD(mx_mamba1_config, I32, conv_width, "conv_kernel", 2, MX_CONV_MAX_WIDTH),
    MX_FIELD(mx_mamba1_config, I32, expand, "expand", 1, 64),
    MX_FIELD(mx_mamba1_config, BOOL, has_conv_bias, "use_conv_bias", 0, 0),
    MX_FIELD(mx_mamba1_config, BOOL, has_proj_bias, "use_bias", 0, 0),
    MX_FIELD(mx_mamba1_config, F64_ABOVE, norm_eps, "mixer_rms_eps", 0, 1),
    MX_FIELD_END,
};

static const mx_mamba2_config mamba2_own = {.n_heads = 128,
                                            .head_dim = 64,
                                            .d_state = 128,
                                            .n_groups = 8,
                                            .conv_width = 4,
                                            .has_conv_bias = true,
                                            .dt_max = (double)FLT_MAX};

static const mx_field mamba2_own_fields[] = {
    MX_FIELD(mx_mamba2_config, I32, n_heads, "num_heads", 1, 1 << 16),
    MX_FIELD(mx_mamba2_config, I32, head_dim, "head_dim", 1, 4096),
    MX_FIELD(mx_mamba2_config, I32, d_state, "state_size", 1, 4096),
    MX_FIELD(mx_mamba2_config, I32, n_groups, "n_groups", 1, 4096),
    MX_FIELD(mx_mamba2_config, I32, conv_width, "conv_kernel", 2, MX_CONV_MAX_WIDTH),
    MX_FIELD(mx_mamba2_config, BOOL, has_conv_bias, "use_conv_bias", 0, 0),
    MX_FIELD(mx_mamba2_config, BOOL, has_proj_bias, "use_bias", 0, 0),
    MX_FIELD_END,
};

#define MAMBA_DEFAULTS(type_, d_model_, n_layers_, n_vocab_, is_tied_, eos_)                                        \
    {                                                                                                               \
        .model_type = (type_), .n_layers = (n_layers_), .n_heads = 1, .head_dim = 64, .n_ctx = MAMBA_CTX,           \
        .d_model = (d_model_), .d_ff = 0, .n_vocab = (n_vocab_), .norm_eps = 1e-5, .act = MX_ACT_SILU,              \
        .is_tied = (is_tied_), .ropes = {MX_ROPE_PLAIN(1e4), MX_ROPE_PLAIN(1e4)}, .eos_ids = {eos_}, .n_eos_ids = 1 \
    }

static const mx_model_config mamba_defaults = MAMBA_DEFAULTS("mamba", 768, 32, 50280, true, 0);
static const mx_model_config falcon_mamba_defaults = MAMBA_DEFAULTS("falcon_mamba", 768, 32, 50280, true, 0);
static const mx_model_config mamba2_defaults = MAMBA_DEFAULTS("mamba2", 4096, 64, 32768, false, 2);

static const mx_field mamba_shared[] = {
    MX_FIELD(mx_model_config, F64_ABOVE, norm_eps, "layer_norm_epsilon", 0, 1),
    MX_FIELD_END,
};

static const mx_rename mamba_renames[] = {
    {"embed_tokens", "embeddings"},
    {"norm", "norm_f"},
    {NULL, NULL},
};

static const mx_stem mamba_stems[] = {
    {"backbone.", "layers.", "", false},
    {"model.", "layers.", "", false},
    {NULL, NULL, NULL, false},
};

static mx_status mamba1_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    void *own = NULL;
    MX_TRY(mx_own_edit(arena, c, sizeof(mx_mamba1_config), &own, err));
    mx_mamba1_config *config = (mx_mamba1_config *)own;
    config->d_inner = c->d_ff > 0 ? c->d_ff : c->d_model * config->expand; /* Falcon-Mamba's differ: the width wins */
    return mx_mamba1_read_rank(obj, "time_step_rank", c, config, err);
}

static mx_status mamba2_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    void *own = NULL;
    MX_TRY(mx_own_edit(arena, c, sizeof(mx_mamba2_config), &own, err));
    return mx_mamba2_read_limits(obj, (mx_mamba2_config *)own, err);
}

static void add_mixer(mx_builder *b, const mx_model_config *c, mx_mamba1_norms norms)
{
    const mx_value x = mx_stream(b);
    const mx_value h = mx_rmsnorm(b, x, "norm");
    mx_set_stream(b, mx_add(b, x, mx_mamba1(b, c, (const mx_mamba1_config *)c->own, "mixer", norms, h)));
}

static void mamba_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    (void)i_layer;
    add_mixer(b, c, MX_MAMBA1_NO_NORMS);
}

static void falcon_mamba_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    (void)i_layer;
    add_mixer(b, c, MX_MAMBA1_BARE_NORMS);
}

static void mamba2_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_mamba2_config *own = (const mx_mamba2_config *)c->own;
    const mx_mamba2_settings settings = {.path = "mixer",
                                         .norm = MX_MAMBA_NORM_LAST,
                                         .n_norm_groups = own->n_groups,
                                         .norm_eps = (float)c->norm_eps,
                                         .has_out_bias = own->has_proj_bias};
    (void)i_layer;
    const mx_value x = mx_stream(b);
    mx_set_stream(b, mx_add(b, x, mx_mamba2(b, c, own, &settings, mx_rmsnorm(b, x, "norm"))));
}

const mx_family mx_family_mamba = {
    .model_types = {"mamba"},
    .title = "Mamba",
    .limits = "CPU only",
    .source = "transformers, models/mamba/modeling_mamba.py",
    .defaults = &mamba_defaults,
    .renames = mamba_renames,
    .stems = mamba_stems,
    .fields = mamba_shared,
    .own = {sizeof(mx_mamba1_config), &mamba1_own, mamba1_own_fields},
    .read = mamba1_read,
    .layers = mx_layers_all_recurrent,
    .layer = mamba_layer,
};

const mx_family mx_family_falcon_mamba = {
    .model_types = {"falcon_mamba"},
    .title = "Falcon-Mamba",
    .limits = "CPU only",
    .source = "transformers, models/falcon_mamba/modeling_falcon_mamba.py",
    .defaults = &falcon_mamba_defaults,
    .renames = mamba_renames,
    .stems = mamba_stems,
    .fields = mamba_shared,
    .own = {sizeof(mx_mamba1_config), &mamba1_own, mamba1_own_fields},
    .read = mamba1_read,
    .layers = mx_layers_all_recurrent,
    .layer = falcon_mamba_layer,
};

const mx_family mx_family_mamba2 = {
    .model_types = {"mamba2"},
    .title = "Mamba 2",
    .limits = "CPU only",
    .source = "transformers, models/mamba2/modeling_mamba2.py",
    .defaults = &mamba2_defaults,
    .renames = mamba_renames,
    .stems = mamba_stems,
    .fields = mamba_shared,
    .own = {sizeof(mx_mamba2_config), &mamba2_own, mamba2_own_fields},
    .read = mamba2_read,
    .layers = mx_layers_all_recurrent,
    .layer = mamba2_layer,
};
