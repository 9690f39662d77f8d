/* synthetic.c - a decoder of the builder's blocks, over weights that share one block of random bytes.
 *
 * The source holds as many bytes as the largest weight and hands the same bytes out for every weight; the executor
 * packs each into memory of its own, so what a step reads is as large as in a real model.
 */
#include "bench/synthetic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "program/builder.h"
#include "program/passes.h"

const synthetic_shape synthetic_shapes[] = {
    {"smollm2-135m", 30, 9, 3, 64, 576, 1536, 49152, false},
    {"qwen3-0.6b", 28, 16, 8, 128, 1024, 3072, 151936, true},
    {"llama-3.2-1b", 16, 32, 8, 64, 2048, 8192, 128256, false},
    {"qwen3-4b", 36, 32, 8, 128, 2560, 9728, 151936, true},
    {"llama-3.1-8b", 32, 32, 8, 128, 4096, 14336, 128256, false},
    {0},
};

const synthetic_shape *synthetic_shape_find(const char *name)
{
    for (const synthetic_shape *s = synthetic_shapes; s->name; s++) {
        if (strcmp(s->name, name) == 0) {
            return s;
        }
    }
    return NULL;
}

typedef struct source {
    synthetic_model *model;
    const synthetic_shape *shape;
} source;

static bool ends_with(mx_str path, const char *end)
{
    const size_t n = strlen(end);
    return path.len >= n && memcmp(path.ptr + path.len - n, end, n) == 0;
}

static void find_dims(const synthetic_shape *s, mx_str path, int64_t *n_rows, int64_t *n_cols)
{
    const struct {
        const char *end;
        int64_t n_rows, n_cols;
    } dims[] = {
        {"embed_tokens", s->n_vocab, s->d_model},
        {"q_proj", (int64_t)s->n_heads * s->head_dim, s->d_model},
        {"k_proj", (int64_t)s->n_kv_heads * s->head_dim, s->d_model},
        {"v_proj", (int64_t)s->n_kv_heads * s->head_dim, s->d_model},
        {"o_proj", s->d_model, (int64_t)s->n_heads * s->head_dim},
        {"gate_proj", s->d_ff, s->d_model},
        {"up_proj", s->d_ff, s->d_model},
        {"down_proj", s->d_model, s->d_ff},
        {"q_norm", 1, s->head_dim},
        {"k_norm", 1, s->head_dim},
        {"", 1, s->d_model},
    };
    size_t i = 0;
    while (!ends_with(path, dims[i].end)) {
        i++;
    }
    *n_rows = dims[i].n_rows;
    *n_cols = dims[i].n_cols;
}

static mx_status resolve(void *object, mx_str path, mx_weight *out, mx_error *err)
{
    source *s = (source *)object;
    synthetic_model *model = s->model;
    int64_t n_rows = 0;
    int64_t n_cols = 0;
    find_dims(s->shape, path, &n_rows, &n_cols);
    const bool is_vector = n_rows == 1;
    const uint8_t *bytes = (const uint8_t *)model->weights.ptr;
    *out = (mx_weight){.name = mx_arena_copy_str(&model->arena, path),
                       .quant = is_vector ? (mx_quant){MX_QUANT_NONE, 0, 0} : model->quant,
                       .dtype = is_vector ? MX_DTYPE_BF16 : model->dtype,
                       .n_experts = 1,
                       .n_rows = n_rows,
                       .n_cols = n_cols,
                       .data = bytes,
                       .global_scale = 1.0f};
    if (!out->name.ptr) {
        return mx_fail(err, MX_NO_MEMORY, "out of memory for names");
    }
    if (!is_vector && model->quant.mode != MX_QUANT_NONE) {
        out->scales = bytes;
        out->biases = model->quant.mode == MX_QUANT_AFFINE ? bytes + 2 : NULL;
    }
    return MX_OK;
}

/* Bytes that are small numbers in every 16- and 32-bit float format: 0x3c.. is between 0.007 and 0.03 in bf16, about 1
 * in f16. */
static mx_status make_bytes(synthetic_model *model, const synthetic_shape *s, mx_error *err)
{
    const int64_t n_values = MX_MAX(s->n_vocab * s->d_model, s->d_ff * s->d_model);
    const int32_t bits = model->quant.mode == MX_QUANT_NONE ? 8 * (int32_t)mx_dtype_size(model->dtype) : 8;
    MX_TRY(mx_block_alloc((size_t)(n_values * bits / 8) + 64, &model->weights, err));
    uint8_t *bytes = (uint8_t *)model->weights.ptr;
    uint32_t random = 1;
    for (size_t i = 0; i < model->weights.n_bytes; i++) {
        random = random * 1664525u + 1013904223u;
        bytes[i] = i % 2 ? (uint8_t)(0x3c | random >> 31 << 7) : (uint8_t)(random >> 24);
    }
    return MX_OK;
}

static void build_layer(mx_builder *b, const synthetic_shape *s)
{
    const mx_value x = mx_stream(b);
    mx_qkv t = mx_linear_qkv(b, mx_rmsnorm(b, x, "input_layernorm"), "self_attn", false);
    if (s->has_head_norms) {
        t.q = mx_rmsnorm_heads(b, t.q, "self_attn.q_norm");
        t.k = mx_rmsnorm_heads(b, t.k, "self_attn.k_norm");
    }
    const mx_attention_settings attention = {.scale = 1.0f / sqrtf((float)s->head_dim)};
    const mx_value a = mx_attention(b, mx_rope(b, t, 0), &attention);
    const mx_value y = mx_add(b, x, mx_linear(b, a, "self_attn.o_proj", s->d_model, false));
    mx_set_stream(b, mx_add(b, y, mx_glu_mlp(b, mx_rmsnorm(b, y, "post_attention_layernorm"), "mlp", s->d_ff, false)));
}

static mx_status build(synthetic_model *model, const synthetic_shape *s, int32_t n_ctx, mx_error *err)
{
    float inv_freq[128];
    for (int32_t i = 0; i < s->head_dim / 2; i++) {
        inv_freq[i] = powf(500000.0f, -2.0f * (float)i / (float)s->head_dim);
    }
    source src = {model, s};
    const mx_builder_shape shape = {.n_layers = s->n_layers,
                                    .n_ctx = n_ctx,
                                    .n_heads = s->n_heads,
                                    .n_kv_heads = s->n_kv_heads,
                                    .head_dim = s->head_dim,
                                    .d_model = s->d_model,
                                    .n_vocab = s->n_vocab,
                                    .norm_eps = 1e-5f,
                                    .act = MX_ACT_SILU};
    const mx_rope_spec rope = {.rot_dim = s->head_dim, .inv_freq = inv_freq, .factor = 1.0f};
    mx_builder *b = NULL;
    MX_TRY(mx_builder_new(&shape, (mx_weight_source){.object = &src, .resolve = resolve}, &b, err));
    (void)mx_builder_add_rope(b, &rope);
    mx_set_stream(b, mx_embed(b, "embed_tokens", 1.0f));
    for (int32_t i = 0; i < s->n_layers; i++) {
        mx_builder_set_layer(b, i);
        build_layer(b, s);
    }
    mx_builder_set_layer(b, -1);
    const mx_value x = mx_rmsnorm(b, mx_gather_samples(b, mx_stream(b)), "norm");
    const mx_value logits = mx_linear(b, x, "embed_tokens", s->n_vocab, false);
    const mx_status st = mx_builder_finish(b, logits, &model->program, err);
    mx_builder_free(b);
    return st;
}

static int64_t count_weight_bytes(const mx_program *program)
{
    int64_t n_bytes = 0;
    for (int32_t i = 0; i < program->n_ops; i++) {
        const mx_op *op = &program->ops[i];
        for (int32_t j = 0; op->kind == MX_OP_LINEAR && j < op->u.linear.n_weights; j++) {
            n_bytes += mx_weight_bytes(&program->weights[op->u.linear.weights[j]]);
        }
    }
    return n_bytes;
}

mx_status synthetic_model_open(synthetic_model *model, const synthetic_shape *shape, mx_quant quant, mx_dtype dtype,
                               int32_t n_ctx, int32_t max_tokens, mx_error *err)
{
    *model = (synthetic_model){.quant = quant, .dtype = dtype};
    mx_arena_init(&model->arena, (size_t)1 << 24);
    MX_TRY(make_bytes(model, shape, err));
    MX_TRY(build(model, shape, n_ctx, err));
    MX_TRY(mx_passes_run(&model->program, err));
    model->n_weight_bytes = count_weight_bytes(&model->program);
    return mx_plan_init(&model->plan, &model->program, max_tokens, 1, err);
}

void synthetic_model_close(synthetic_model *model)
{
    mx_plan_deinit(&model->plan);
    mx_program_deinit(&model->program);
    mx_block_free(&model->weights);
    mx_arena_deinit(&model->arena);
    *model = (synthetic_model){0};
}
