/* convert_gguf.c - tensors of a GGUF file under Hugging Face's names, in MLX's formats.
 *
 * llama.cpp stores the query and key rows of Llama with each head's halves interleaved; they are put back.
 * Source: llama.cpp, gguf-py/gguf/tensor_mapping.py, and convert_hf_to_gguf.py for the order of rows.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "hub/convert_config.h"
#include "hub/gguf_config.h"
#include "hub/gguf_text.h"
#include "platform/file.h"
#include "platform/map.h"
#include "platform/path.h"
#include "weights/gguf_blocks.h"
#include "weights/quantizer.h"
#include "weights/safetensors_writer.h"

#define MAX_ARENA_BYTES ((size_t)1 << 30)

enum part { PART_FLOATS, PART_WEIGHT, PART_SCALES, PART_BIASES };

/* Where the bytes of a planned tensor come from. */
typedef struct source {
    const mx_gguf_tensor *tensor;
    const mx_gguf_format *format;
    enum part part;
    int64_t n_heads; /* whose rows are interleaved; 0: the rows are in order */
} source;

typedef struct conversion {
    const mx_convert_options *options;
    mx_arena arena;
    mx_map map;
    mx_gguf gguf;
    mx_gguf_config config;
    mx_st_plan plan;
    source *sources; /* owned; one for each of the plan's items */
    size_t cap;
    int64_t n_of_fit[4]; /* tensors by mx_gguf_fit */
    int32_t bits;        /* of most quantised tensors; 0 where there is none */
    mx_buf scales;       /* of the matrix that was written last, and the next likewise */
    mx_buf biases;
} conversion;

/* GGUF's names of a layer's parts, behind "blk.N.". */
static const char *const layer_names[][2] = {
    {"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
    {"attn_output", "self_attn.o_proj"}, {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"}, {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
};

static const char *const top_names[][2] = {
    {"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};

/* The part of a name before its last dot, and what is behind: "weight" or "bias". */
static const char *find_path(conversion *c, mx_str name, mx_str *suffix)
{
    size_t dot = name.len;
    while (dot > 0 && name.ptr[dot - 1] != '.') {
        dot--;
    }
    *suffix = mx_str_slice(name, dot, name.len);
    const mx_str stem = mx_str_slice(name, 0, dot > 0 ? dot - 1 : 0);
    for (size_t i = 0; i < MX_COUNTOF(top_names); i++) {
        if (mx_str_eq_cstr(stem, top_names[i][0])) {
            return top_names[i][1];
        }
    }
    const mx_str prefix = MX_STR("blk.");
    size_t at = prefix.len;
    while (at < stem.len && stem.ptr[at] >= '0' && stem.ptr[at] <= '9') {
        at++;
    }
    if (!mx_str_starts_with(stem, prefix) || at == prefix.len || at >= stem.len || stem.ptr[at] != '.') {
        return NULL;
    }
    for (size_t i = 0; i < MX_COUNTOF(layer_names); i++) {
        if (mx_str_eq_cstr(mx_str_slice(stem, at + 1, stem.len), layer_names[i][0])) {
            return mx_arena_printf(&c->arena, "model.layers.%.*s.%s", (int)(at - prefix.len), stem.ptr + prefix.len,
                                   layer_names[i][1]);
        }
    }
    return NULL;
}

static mx_status add_item(conversion *c, const char *name, mx_dtype dtype, const int64_t *shape, int32_t n_dims,
                          source from, mx_error *err)
{
    source *grown = mx_array_grow(c->sources, &c->cap, c->plan.n + 1, sizeof *grown, (size_t)1 << 24);
    if (!grown || !name) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a list of tensors");
    }
    c->sources = grown;
    c->sources[c->plan.n] = from;
    return mx_st_plan_add(&c->plan, name, dtype, shape, n_dims, err);
}

/* The heads whose rows, or numbers of a bias, llama.cpp has interleaved. */
static int64_t interleaved_heads(const conversion *c, const char *path)
{
    const mx_str s = mx_str_from(path);
    if (strcmp(c->config.family, "llama") != 0) {
        return 0;
    }
    return mx_str_ends_with(s, MX_STR(".q_proj"))   ? c->config.n_heads
           : mx_str_ends_with(s, MX_STR(".k_proj")) ? c->config.n_kv_heads
                                                    : 0;
}

static mx_status plan_tensor(conversion *c, const mx_gguf_tensor *t, mx_error *err)
{
    static const char *const suffixes[] = {"", "weight", "scales", "biases"};
    mx_str suffix;
    const char *path = find_path(c, t->name, &suffix);
    source from = {.tensor = t, .format = mx_gguf_format_find(t->format), .part = PART_FLOATS};
    const bool is_weight = mx_str_eq_cstr(suffix, "weight");
    if (!path || t->n_dims > 2 || !(is_weight || mx_str_eq_cstr(suffix, "bias"))) {
        return mx_fail(err, MX_UNSUPPORTED, "%.*s: the family %s as it is known here has no such tensor%s",
                       MX_STR_ARG(t->name), c->config.family,
                       mx_str_starts_with(t->name, MX_STR("rope_freqs")) ? "; scaled rotary tables are not converted"
                                                                         : "");
    }
    from.n_heads = interleaved_heads(c, path);
    if (from.n_heads > 0 && t->shape[0] % (2 * from.n_heads) != 0) {
        return mx_fail(err, MX_FORMAT, "%.*s: its %" PRId64 " rows are not those of %" PRId64 " heads",
                       MX_STR_ARG(t->name), t->shape[0], from.n_heads);
    }
    c->n_of_fit[from.format->fit]++;
    if (from.format->fit == MX_GGUF_IS_FLOAT) {
        return add_item(c, mx_arena_printf(&c->arena, "%s.%.*s", path, MX_STR_ARG(suffix)), from.format->dtype,
                        t->shape, t->n_dims, from, err);
    }
    if (t->n_dims != 2 || !is_weight) {
        return mx_fail(err, MX_UNSUPPORTED, "%.*s: a quantised vector", MX_STR_ARG(t->name));
    }
    for (int part = PART_WEIGHT; part <= PART_BIASES; part++) {
        const int64_t shape[2] = {t->shape[0], part == PART_WEIGHT ? t->shape[1] * from.format->bits / 32
                                                                   : t->shape[1] / MX_GGUF_GROUP};
        from.part = (enum part)part;
        MX_TRY(add_item(c, mx_arena_printf(&c->arena, "%s.%s", path, suffixes[part]),
                        part == PART_WEIGHT ? MX_DTYPE_U32 : MX_DTYPE_F16, shape, 2, from, err));
    }
    return MX_OK;
}

/* ---- bytes ---- */

/* The row of the file that becomes row i: within a head, halves that were interleaved come apart again. */
static int64_t source_row(const source *from, int64_t n_rows, int64_t i)
{
    if (from->n_heads == 0) {
        return i;
    }
    const int64_t head_dim = n_rows / from->n_heads;
    const int64_t in_head = i % head_dim;
    return i - in_head + in_head % (head_dim / 2) * 2 + in_head / (head_dim / 2);
}

/* One row: packed codes to `packed`, scales and biases behind those of the rows before. */
static mx_status convert_row(conversion *c, const mx_gguf_format *f, const uint8_t *row, int64_t n_cols,
                             uint8_t *packed, mx_error *err)
{
    uint8_t q[256];
    float w[256];
    float scales[8];
    float biases[8];
    const size_t n_scales = (size_t)(n_cols / MX_GGUF_GROUP) * 2;
    MX_TRY(mx_buf_reserve(&c->scales, n_scales, err));
    MX_TRY(mx_buf_reserve(&c->biases, n_scales, err));
    memset(packed, 0, (size_t)(n_cols * f->bits / 8));
    uint8_t *s = (uint8_t *)c->scales.data + c->scales.len;
    uint8_t *b = (uint8_t *)c->biases.data + c->biases.len;
    for (int64_t at = 0; at < n_cols; at += f->n_values, row += f->n_bytes) {
        const int64_t n_groups = f->n_values / MX_GGUF_GROUP;
        if (f->fit == MX_GGUF_REQUANTISED) {
            f->dequantise(row, w);
            mx_quantize(w, f->n_values, (mx_quant){MX_QUANT_AFFINE, f->bits, MX_GGUF_GROUP}, MX_DTYPE_F16,
                        packed + at * f->bits / 8, s, b);
        } else {
            f->unpack(row, q, scales, biases);
            for (int32_t i = 0; i < f->n_values; i++) {
                mx_quant_pack(packed, at + i, f->bits, q[i]);
            }
            for (int64_t i = 0; i < n_groups; i++) {
                mx_dtype_store(s + 2 * i, MX_DTYPE_F16, scales[i]);
                mx_dtype_store(b + 2 * i, MX_DTYPE_F16, biases[i]);
            }
        }
        s += 2 * n_groups;
        b += 2 * n_groups;
    }
    c->scales.len += n_scales;
    c->biases.len += n_scales;
    return MX_OK;
}

static mx_status write_rows(conversion *c, const source *from, mx_write_file *out, mx_error *err)
{
    const mx_gguf_tensor *t = from->tensor;
    const bool has_rows = t->n_dims == 2 || from->n_heads > 0; /* those of an interleaved bias are single numbers */
    const int64_t n_rows = has_rows ? t->shape[0] : 1;
    const int64_t n_cols = t->n_dims == 2 ? t->shape[1] : t->shape[0] / n_rows;
    const size_t n_row_bytes = (size_t)(n_cols / from->format->n_values * from->format->n_bytes);
    const size_t n_packed = (size_t)(n_cols * from->format->bits / 8);
    uint8_t *packed = (uint8_t *)mx_malloc(n_packed);
    mx_status st = packed ? MX_OK : mx_fail_no_memory(err, n_packed, "a row");
    c->scales.len = 0;
    c->biases.len = 0;
    for (int64_t i = 0; st == MX_OK && i < n_rows; i++) {
        const uint8_t *row = t->data + (size_t)source_row(from, n_rows, i) * n_row_bytes;
        if (from->part == PART_FLOATS) {
            st = mx_write_file_append(out, (mx_str){(const char *)row, n_row_bytes}, err);
        } else {
            st = convert_row(c, from->format, row, n_cols, packed, err);
            st = st == MX_OK ? mx_write_file_append(out, (mx_str){(const char *)packed, n_packed}, err) : st;
        }
    }
    mx_free(packed);
    return st;
}

static mx_status produce(void *arg, size_t i_item, mx_write_file *out, mx_error *err)
{
    conversion *c = (conversion *)arg;
    const source *from = &c->sources[i_item];
    const mx_convert_options *o = c->options;
    if (o->should_stop && o->should_stop(o->arg)) {
        return mx_fail(err, MX_CANCELLED, "the conversion was interrupted; nothing is left of it");
    }
    if (from->part == PART_SCALES || from->part == PART_BIASES) {
        return mx_write_file_append(out, mx_buf_view(from->part == PART_SCALES ? &c->scales : &c->biases), err);
    }
    if (o->on_tensor) {
        o->on_tensor(o->arg, c->plan.items[i_item].name, i_item, c->plan.n);
    }
    return write_rows(c, from, out, err);
}

/* ---- config.json ---- */

static mx_status append_quantization(const conversion *c, mx_buf *out, mx_error *err)
{
    MX_TRY(mx_buf_printf(out, err, "{\"group_size\": %d, \"bits\": %d", MX_GGUF_GROUP, (int)c->bits));
    for (size_t i = 0; i < c->plan.n; i++) {
        const source *from = &c->sources[i];
        const mx_str name = mx_str_from(c->plan.items[i].name);
        if (from->part == PART_WEIGHT && from->format->bits != c->bits) {
            MX_TRY(mx_buf_printf(out, err, ",\n    \"%.*s\": {\"group_size\": %d, \"bits\": %d}", (int)name.len - 7,
                                 name.ptr, MX_GGUF_GROUP, (int)from->format->bits));
        }
    }
    return mx_buf_append_char(out, '}', err);
}

static mx_status append_config(const conversion *c, mx_buf *out, mx_error *err)
{
    MX_TRY(mx_gguf_config_append(&c->config, out, err));
    if (c->bits > 0) {
        MX_TRY(mx_buf_printf(out, err, ",\n  \"quantization\": "));
        MX_TRY(append_quantization(c, out, err));
        MX_TRY(mx_buf_printf(out, err, ",\n  \"quantization_config\": "));
        MX_TRY(append_quantization(c, out, err));
    }
    return mx_buf_append(out, MX_STR("\n}\n"), err);
}

static mx_status write_config(conversion *c, const char *out, mx_error *err)
{
    mx_buf text = {.max = (size_t)64 << 20};
    const char *path = mx_path_join(&c->arena, out, MX_STR("config.json"));
    mx_status st = path ? append_config(c, &text, err) : mx_fail(err, MX_NO_MEMORY, "no memory for a path");
    st = st == MX_OK ? mx_file_write(path, mx_buf_view(&text), err) : st;
    mx_buf_deinit(&text);
    return st;
}

/* ---- */

/* The width that most values have, which config.json names once. */
static void choose_bits(conversion *c)
{
    int64_t n_values[9] = {0};
    for (size_t i = 0; i < c->plan.n; i++) {
        const source *from = &c->sources[i];
        n_values[from->part == PART_WEIGHT ? from->format->bits : 0] += from->tensor->shape[0];
    }
    for (int32_t bits = 1; bits <= 8; bits++) {
        c->bits = n_values[bits] > (c->bits > 0 ? n_values[c->bits] : 0) ? bits : c->bits;
    }
}

static void note_losses(const conversion *c, const char *tokenizer)
{
    char text[256];
    if (!c->options->on_note) {
        return;
    }
    if (c->n_of_fit[MX_GGUF_ROUNDS] > 0) {
        (void)snprintf(text, sizeof text,
                       "%" PRId64 " tensors keep their values, with scales rounded to 16 bits (at most 1 in 2048 off)",
                       c->n_of_fit[MX_GGUF_ROUNDS]);
        c->options->on_note(c->options->arg, text);
    }
    if (c->n_of_fit[MX_GGUF_REQUANTISED] > 0) {
        (void)snprintf(text, sizeof text,
                       "%" PRId64 " tensors in Q6_K, whose groups MLX does not have, were quantised anew with 8 bits",
                       c->n_of_fit[MX_GGUF_REQUANTISED]);
        c->options->on_note(c->options->arg, text);
    }
    if (tokenizer[0]) {
        (void)snprintf(text, sizeof text,
                       "the tokenizer is %s and was not taken over: put the tokenizer.json of the original model into "
                       "the folder",
                       tokenizer);
        c->options->on_note(c->options->arg, text);
    }
}

static mx_status convert_into(conversion *c, const char *path, const char *out, mx_error *err)
{
    const char *tokenizer = "";
    MX_TRY(mx_map_open(path, &c->map, err));
    MX_TRY(mx_gguf_parse(&c->arena, c->map.data, c->map.n_bytes, path, &c->gguf, err));
    MX_TRY(mx_gguf_config_read(&c->gguf, path, &c->config, err));
    for (size_t i = 0; i < c->gguf.n_tensors; i++) {
        MX_TRY(plan_tensor(c, &c->gguf.tensors[i], err));
    }
    choose_bits(c);
    MX_TRY(write_config(c, out, err));
    MX_TRY(mx_gguf_text_write(&c->gguf, out, &tokenizer, err));
    MX_TRY(mx_st_plan_write(&c->plan, out, MX_ST_SHARD_BYTES, produce, c, err));
    note_losses(c, tokenizer);
    return MX_OK;
}

static void deinit(conversion *c)
{
    mx_buf_deinit(&c->scales);
    mx_buf_deinit(&c->biases);
    mx_free(c->sources);
    mx_st_plan_deinit(&c->plan);
    mx_map_close(&c->map);
    mx_arena_deinit(&c->arena);
}

mx_status mx_convert_gguf(const char *path, const char *out, const mx_convert_options *options, mx_error *err)
{
    conversion c = {.options = options, .scales = {.max = (size_t)1 << 36}, .biases = {.max = (size_t)1 << 36}};
    const char *part = NULL;
    mx_arena_init(&c.arena, MAX_ARENA_BYTES);
    mx_status st = mx_convert_begin(&c.arena, out, &part, err);
    if (st == MX_OK) {
        st = mx_convert_end(part, out, convert_into(&c, path, part, err), err);
    }
    deinit(&c);
    return st;
}
