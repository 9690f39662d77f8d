/* rig.c - see rig.h. */
#include "tests/ops/rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/batch.h"

#define AFFINE(bits, group, dtype)                                                                  \
    {                                                                                               \
#bits " bits, group " #group ", " #dtype, {MX_QUANT_AFFINE, bits, group }, MX_DTYPE_##dtype \
    }

const rig_format rig_formats[RIG_N_FORMATS] = {
    AFFINE(4, 64, BF16),
    AFFINE(4, 32, F16),
    AFFINE(4, 128, F32),
    AFFINE(2, 64, F16),
    AFFINE(2, 32, F32),
    AFFINE(2, 128, BF16),
    AFFINE(3, 64, BF16),
    AFFINE(3, 32, F16),
    AFFINE(3, 128, F32),
    AFFINE(5, 64, F16),
    AFFINE(5, 32, BF16),
    AFFINE(5, 128, F16),
    AFFINE(6, 64, F32),
    AFFINE(6, 32, BF16),
    AFFINE(6, 128, F16),
    AFFINE(8, 64, BF16),
    AFFINE(8, 32, F32),
    AFFINE(8, 128, F16),
    {"mxfp4", {MX_QUANT_MXFP4, 4, 32}, MX_DTYPE_U8},
    {"nvfp4", {MX_QUANT_NVFP4, 4, 16}, MX_DTYPE_U8},
    {"mxfp8", {MX_QUANT_MXFP8, 8, 32}, MX_DTYPE_U8},
    {"f32", {MX_QUANT_NONE, 0, 0}, MX_DTYPE_F32},
    {"f16", {MX_QUANT_NONE, 0, 0}, MX_DTYPE_F16},
    {"bf16", {MX_QUANT_NONE, 0, 0}, MX_DTYPE_BF16},
};

const rig_format *rig_format_named(const char *name)
{
    for (size_t i = 0; i < RIG_N_FORMATS; i++) {
        if (strcmp(rig_formats[i].name, name) == 0) {
            return &rig_formats[i];
        }
    }
    fprintf(stderr, "there is no storage format \"%s\"\n", name);
    abort();
}

#define RIG_MAX_ITEMS 32

uint32_t rig_next(rig_rng *rng)
{
    rng->state = rng->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(rng->state >> 32);
}

float rig_uniform(rig_rng *rng, float from, float to)
{
    return from + (to - from) * (float)(rig_next(rng) >> 8) / 16777216.0f;
}

float rig_normal(rig_rng *rng)
{
    float sum = -6.0f;
    for (int32_t i = 0; i < 12; i++) {
        sum += rig_uniform(rng, 0.0f, 1.0f);
    }
    return sum;
}

int32_t rig_below(rig_rng *rng, int32_t n)
{
    return (int32_t)(rig_next(rng) % (uint32_t)n);
}

static void *need(rig *r, size_t n_bytes)
{
    void *ptr = mx_arena_alloc(&r->program.arena, n_bytes);
    if (!ptr) {
        printf("out of memory in the test itself\n");
        exit(2);
    }
    return ptr;
}

void rig_init(rig *r, uint64_t seed)
{
    *r = (rig){.rng = {seed * 2654435761u + 12345}};
    mx_arena_init(&r->program.arena, (size_t)1 << 30);
    r->program.values = (mx_value_info *)need(r, RIG_MAX_ITEMS * sizeof(mx_value_info));
    r->program.ops = (mx_op *)need(r, RIG_MAX_ITEMS * sizeof(mx_op));
    r->program.weights = (mx_weight *)need(r, RIG_MAX_ITEMS * sizeof(mx_weight));
    r->program.caches = (mx_cache_spec *)need(r, sizeof(mx_cache_spec));
    r->program.ropes = (mx_rope_spec *)need(r, sizeof(mx_rope_spec));
    r->program.states = (mx_state_spec *)need(r, 2 * sizeof(mx_state_spec));
    r->program.n_ctx = RIG_MAX_HISTORY;
    r->program.n_vocab = RIG_N_VOCAB;
    r->program.tokens = rig_value(r, MX_ROWS_TOKENS, 1, 1, MX_VALUE_I32);
    rig_forget(r);
}

void rig_deinit(rig *r)
{
    rig_close(r);
    mx_program_deinit(&r->program);
}

mx_value rig_value(rig *r, mx_row_kind rows, int32_t row_factor, int64_t n_cols, mx_value_type type)
{
    r->program.values[r->program.n_values] = (mx_value_info){rows, row_factor, n_cols, type, "value"};
    return r->program.n_values++;
}

mx_op *rig_op(rig *r, mx_op_kind kind, mx_value in0, mx_value in1, mx_value in2, mx_value out)
{
    mx_op *op = &r->program.ops[r->program.n_ops++];
    *op = (mx_op){.kind = kind,
                  .in = {in0, in1, in2, MX_NO_VALUE, MX_NO_VALUE},
                  .out = {out, MX_NO_VALUE, MX_NO_VALUE, MX_NO_VALUE}};
    return op;
}

int32_t rig_weight(rig *r, const mx_weight *w)
{
    r->program.weights[r->program.n_weights] = *w;
    return r->program.n_weights++;
}

static mx_weight dense_f32(rig *r, int64_t n_rows, int64_t n_cols, float **values)
{
    *values = (float *)need(r, (size_t)(n_rows * n_cols) * sizeof(float));
    for (int64_t i = 0; i < n_rows * n_cols; i++) {
        (*values)[i] = rig_normal(&r->rng);
    }
    return (mx_weight){.name = mx_str_from("test.dense"),
                       .dtype = MX_DTYPE_F32,
                       .n_experts = 1,
                       .n_rows = n_rows,
                       .n_cols = n_cols,
                       .data = (const uint8_t *)*values,
                       .global_scale = 1.0f};
}

mx_value rig_input(rig *r, int64_t n_cols, const float **table)
{
    float *values;
    const mx_weight w = dense_f32(r, RIG_N_VOCAB, n_cols, &values);
    const mx_value x = rig_value(r, MX_ROWS_TOKENS, 1, n_cols, MX_VALUE_F32);
    mx_op *op = rig_op(r, MX_OP_EMBED, r->program.tokens, MX_NO_VALUE, MX_NO_VALUE, x);
    op->u.embed = (mx_embed_params){.weight = rig_weight(r, &w), .scale = 1.0f};
    *table = values;
    return x;
}

int32_t rig_random_vector(rig *r, int64_t n, const float **values)
{
    float *v;
    const mx_weight w = dense_f32(r, 1, n, &v);
    *values = v;
    return rig_weight(r, &w);
}

static size_t store_scale(uint8_t *dst, mx_dtype dtype, float value)
{
    const uint16_t half = dtype == MX_DTYPE_F16 ? mx_f16_from_f32(value) : mx_bf16_from_f32(value);
    if (dtype == MX_DTYPE_F32) {
        memcpy(dst, &value, 4);
        return 4;
    }
    memcpy(dst, &half, 2);
    return 2;
}

mx_weight rig_random_weight(rig *r, mx_quant quant, mx_dtype dtype, int64_t n_experts, int64_t n_rows, int64_t n_cols)
{
    const bool is_dense = quant.mode == MX_QUANT_NONE;
    const float unit = 1.0f / sqrtf((float)n_cols);
    const int64_t n = n_experts * n_rows * n_cols;
    const size_t n_bytes = is_dense ? (size_t)n * mx_dtype_size(dtype) : (size_t)(n * quant.bits / 8);
    /* one byte in front: file bytes have no alignment */
    uint8_t *data = (uint8_t *)need(r, n_bytes + 1) + 1;
    mx_weight w = {.name = mx_str_from("test.weight"),
                   .quant = quant,
                   .dtype = dtype,
                   .n_experts = n_experts,
                   .n_rows = n_rows,
                   .n_cols = n_cols,
                   .data = data,
                   .global_scale = 1.0f};
    if (is_dense) {
        for (uint8_t *at = data; at < data + n_bytes;) {
            at += store_scale(at, dtype, unit * rig_normal(&r->rng));
        }
        return w;
    }
    for (size_t i = 0; i < n_bytes; i++) {
        data[i] = (uint8_t)rig_next(&r->rng);
        data[i] = quant.mode == MX_QUANT_MXFP8 && (data[i] & 127) == 127 ? 0 : data[i]; /* not a number */
    }
    const int64_t n_scales = n / quant.group_size;
    uint8_t *scales = (uint8_t *)need(r, (size_t)n_scales * 4 + 1) + 1;
    uint8_t *biases = (uint8_t *)need(r, (size_t)n_scales * 4 + 1) + 1;
    w.scales = scales;
    w.biases = quant.mode == MX_QUANT_AFFINE ? biases : NULL;
    const float range = (float)((1 << quant.bits) - 1);
    for (int64_t i = 0; i < n_scales; i++) {
        const float scale = (rig_next(&r->rng) & 1 ? 1.0f : -1.0f) * unit * rig_uniform(&r->rng, 1.0f, 4.0f) / range;
        if (quant.mode == MX_QUANT_AFFINE) {
            scales += store_scale(scales, dtype, scale);
            biases += store_scale(biases, dtype, -scale * range * rig_uniform(&r->rng, 0.4f, 0.6f));
        } else if (quant.mode == MX_QUANT_NVFP4) {
            *scales++ = (uint8_t)rig_below(&r->rng, 64);
            w.global_scale = 0.37f;
        } else {
            *scales++ =
                (uint8_t)(quant.mode == MX_QUANT_MXFP8 ? 112 + rig_below(&r->rng, 3) : 120 + rig_below(&r->rng, 4));
        }
    }
    return w;
}

/* The formats again, from their definitions -------------------------------------------------------------------------
 */

static double true_minifloat(uint32_t bits, int32_t n_exponent, int32_t n_mantissa)
{
    const uint32_t sign = bits >> (n_exponent + n_mantissa) & 1;
    const int32_t exponent = (int32_t)(bits >> n_mantissa & ((1u << n_exponent) - 1));
    const double mantissa = (double)(bits & ((1u << n_mantissa) - 1)) / (double)(1 << n_mantissa);
    const int32_t bias = (1 << (n_exponent - 1)) - 1;
    const double value = exponent == 0 ? ldexp(mantissa, 1 - bias) : ldexp(1.0 + mantissa, exponent - bias);
    return sign ? -value : value;
}

static double true_scalar(const uint8_t *src, int64_t i, mx_dtype dtype)
{
    float value;
    uint16_t half;
    if (dtype == MX_DTYPE_F32) {
        memcpy(&value, src + 4 * i, 4);
        return (double)value;
    }
    memcpy(&half, src + 2 * i, 2);
    return dtype == MX_DTYPE_F16 ? true_minifloat(half, 5, 10) : true_minifloat(half, 8, 7);
}

void rig_true_row(const mx_weight *w, int64_t expert, int64_t row, double *out, double *scale_of)
{
    const int64_t first = (expert * w->n_rows + row) * w->n_cols;
    for (int64_t c = 0; c < w->n_cols; c++) {
        uint32_t code = 0;
        double scale = 1.0;
        if (w->quant.mode == MX_QUANT_NONE) {
            out[c] = true_scalar(w->data, first + c, w->dtype);
            continue;
        }
        for (int32_t b = 0; b < w->quant.bits; b++) {
            const int64_t bit = (first + c) * w->quant.bits + b;
            code |= (uint32_t)(w->data[bit / 8] >> bit % 8 & 1) << b;
        }
        const int64_t g = (first + c) / w->quant.group_size;
        double amplitude = (double)code;
        switch (w->quant.mode) {
        case MX_QUANT_AFFINE:
            scale = true_scalar(w->scales, g, w->dtype);
            out[c] = scale * (double)code + true_scalar(w->biases, g, w->dtype);
            break;
        case MX_QUANT_NVFP4:
            scale = true_minifloat(w->scales[g], 4, 3) * (double)w->global_scale;
            out[c] = scale * true_minifloat(code, 2, 1);
            amplitude = 12.0;
            break;
        case MX_QUANT_MXFP4:
            scale = ldexp(1.0, w->scales[g] - 127);
            out[c] = scale * true_minifloat(code, 2, 1);
            amplitude = 12.0;
            break;
        default:
            scale = ldexp(1.0, w->scales[g] - 127);
            out[c] = scale * true_minifloat(code, 4, 3);
            amplitude = 0.0;
            break;
        }
        if (scale_of) {
            scale_of[c] = fabs(scale) * amplitude;
        }
    }
}

/* Steps ---------------------------------------------------------------------------------------------------------------
 */

mx_status rig_open(rig *r, mx_value output, const mx_executor_options *options, mx_error *err)
{
    mx_executor_options o = *options;
    o.n_pages = RIG_MAX_PAGES;
    o.n_state_slots = RIG_MAX_SEQS;
    o.max_seqs = RIG_MAX_SEQS;
    r->program.logits = output;
    MX_TRY(mx_plan_init(&r->plan, &r->program, RIG_MAX_TOKENS, RIG_MAX_TOKENS, err));
    return mx_executor_open(r->device ? r->device : "cpu", &r->plan, &o, &r->executor, err);
}

void rig_close(rig *r)
{
    mx_executor_close(r->executor);
    r->executor = NULL;
    mx_plan_deinit(&r->plan);
}

void rig_forget(rig *r)
{
    memset(r->kv_len, 0, sizeof r->kv_len);
    r->n_free_page = RIG_MAX_PAGES - 1;
    memset(r->page_table, 0, sizeof r->page_table);
    for (int32_t i = 0; i < RIG_MAX_SEQS; i++) { /* not in the order of the sequences */
        r->state_slots[i] = (5 * i + 3) % RIG_MAX_SEQS;
    }
    rig_begin_step(r);
}

void rig_begin_step(rig *r)
{
    r->batch = (mx_batch){.n_page_cols = RIG_PAGE_COLS,
                          .tokens = r->tokens,
                          .positions = r->positions,
                          .row_start = r->row_start,
                          .kv_len = r->kv_len,
                          .page_table = r->page_table,
                          .state_slots = r->state_slots,
                          .sample_rows = r->sample_rows};
    r->row_start[0] = 0;
}

void rig_add_tokens(rig *r, int32_t i_seq, int32_t n_new)
{
    mx_batch *b = &r->batch;
    while (b->n_seqs < i_seq) { /* sequences without rows in this step */
        r->row_start[++b->n_seqs] = b->n_tokens;
    }
    for (int32_t i = 0; i < n_new; i++) {
        const int32_t position = r->kv_len[i_seq]++;
        if (position % MX_PAGE_TOKENS == 0) {
            r->page_table[i_seq * RIG_PAGE_COLS + position / MX_PAGE_TOKENS] = r->n_free_page--;
        }
        r->tokens[b->n_tokens] = rig_below(&r->rng, RIG_N_VOCAB);
        r->history[i_seq][position] = r->tokens[b->n_tokens];
        r->positions[b->n_tokens] = position;
        r->sample_rows[b->n_tokens] = b->n_tokens;
        b->n_tokens++;
    }
    b->n_samples = b->n_tokens;
    r->row_start[++b->n_seqs] = b->n_tokens;
}

mx_status rig_run(rig *r, mx_error *err)
{
    return mx_executor_run(r->executor, &r->batch, err);
}
