/* cmd_inspect.c - mlxcel inspect: what a model directory holds, and the program that it becomes. */
#include <inttypes.h>

#include "base/json.h"
#include "cli/prompt.h"
#include "cli/text_io.h"
#include "model/model.h"
#include "platform/memory.h"
#include "program/print.h"
#include "weights/quant.h"

enum { MAX_FORMATS = 32 };

/* Weights that are stored alike. */
typedef struct weight_format {
    mx_quant quant;
    mx_dtype dtype;
    int32_t n_weights;
    int64_t n_bytes;
} weight_format;

static double mib(int64_t n_bytes)
{
    return (double)n_bytes / (double)((int64_t)1 << 20);
}

/* Counts the program's weights by format; the last row takes what has no row of its own. */
static int32_t count_formats(const mx_program *program, weight_format rows[MAX_FORMATS])
{
    int32_t n_rows = 0;
    for (int32_t i = 0; i < program->n_weights; i++) {
        const mx_weight *w = &program->weights[i];
        int32_t row = 0;
        while (row < n_rows && !(rows[row].quant.mode == w->quant.mode && rows[row].quant.bits == w->quant.bits &&
                                 rows[row].quant.group_size == w->quant.group_size && rows[row].dtype == w->dtype)) {
            row++;
        }
        row = MX_MIN(row, MAX_FORMATS - 1);
        if (row == n_rows) {
            rows[n_rows++] = (weight_format){.quant = w->quant, .dtype = w->dtype};
        }
        rows[row].n_weights++;
        rows[row].n_bytes += mx_weight_bytes(w);
    }
    return n_rows;
}

static mx_status print_weights(const mx_program *program, mx_buf *out, mx_error *err)
{
    static const char *const modes[] = {
        [MX_QUANT_NONE] = "dense",  [MX_QUANT_AFFINE] = "affine", [MX_QUANT_MXFP4] = "mxfp4",
        [MX_QUANT_NVFP4] = "nvfp4", [MX_QUANT_MXFP8] = "mxfp8",
    };
    weight_format rows[MAX_FORMATS];
    const int32_t n_rows = count_formats(program, rows);
    int64_t n_bytes = 0;
    for (int32_t i = 0; i < n_rows; i++) {
        n_bytes += rows[i].n_bytes;
    }
    MX_TRY(mx_buf_printf(out, err, "weights        %.1f MiB\n", mib(n_bytes)));
    for (int32_t i = 0; i < n_rows; i++) {
        MX_TRY(mx_buf_printf(out, err, "  %9.1f MiB in %d tensors: %s", mib(rows[i].n_bytes), (int)rows[i].n_weights,
                             modes[rows[i].quant.mode]));
        if (rows[i].quant.mode != MX_QUANT_NONE) {
            MX_TRY(
                mx_buf_printf(out, err, " %d-bit, group %d", (int)rows[i].quant.bits, (int)rows[i].quant.group_size));
        }
        MX_TRY(mx_buf_printf(out, err, ", %s\n", mx_dtype_name(rows[i].dtype)));
    }
    return MX_OK;
}

static int64_t kv_bytes(const mx_program *program)
{
    int64_t n_numbers = 0;
    for (int32_t i = 0; i < program->n_caches; i++) {
        n_numbers += program->caches[i].n_kv_heads * mx_cache_cols(&program->caches[i]);
    }
    return n_numbers * 2; /* f16 */
}

static mx_status print_summary(const mx_model *model, mx_buf *out, mx_error *err)
{
    const mx_model_config *c = mx_model_view_config(model);
    const mx_program *program = mx_model_view_program(model);
    MX_TRY(mx_buf_printf(out, err,
                         "family         %s\nlayers         %d, width %" PRId64 ", feed-forward %" PRId64 "\n"
                         "attention      %d heads of %d, %d for keys and values\n",
                         c->model_type, (int)c->n_layers, c->d_model, c->d_ff, (int)c->n_heads, (int)c->head_dim,
                         (int)c->n_kv_heads));
    if (c->window > 0) {
        MX_TRY(mx_buf_printf(out, err, "window         %d tokens, in sliding layers\n", (int)c->window));
    }
    if (c->n_experts > 0) {
        MX_TRY(mx_buf_printf(out, err, "experts        %" PRId64 ", %d for each token, feed-forward %" PRId64 "\n",
                             c->n_experts, (int)c->top_k, c->d_ff_expert));
    }
    MX_TRY(mx_buf_printf(out, err, "context        %d tokens, %.1f KiB of key-value cache for each\n",
                         (int)program->n_ctx, (double)kv_bytes(program) / 1024.0));
    MX_TRY(mx_buf_printf(out, err, "vocabulary     %d\nend tokens    ", (int)program->n_vocab));
    int32_t n_ids;
    const int32_t *ids = mx_model_view_eos_ids(model, &n_ids);
    for (int32_t i = 0; i < n_ids; i++) {
        MX_TRY(mx_buf_printf(out, err, " %d", (int)ids[i]));
    }
    MX_TRY(mx_buf_append_char(out, '\n', err));
    return print_weights(program, out, err);
}

/* Whether text goes in and out; what is wrong with tokenizer or template does not stop the rest. */
static mx_status print_text_side(const mx_cli_options *options, mx_buf *out, mx_error *err)
{
    mlxcel_error api;
    mlxcel_model *text = NULL;
    if (mx_cli_open_text(options, &text, &api) != MLXCEL_OK) {
        return mx_buf_printf(out, err, "text           %s\n", api.message);
    }
    mlxcel_model_info info = {.n_struct_bytes = sizeof info};
    mlxcel_model_get_info(text, &info);
    const mx_status st = mx_buf_printf(out, err, "tokenizer      %d ids\nchat template  %s\n", (int)info.n_vocab,
                                       info.has_chat_template ? "yes" : "none");
    mlxcel_model_close(text);
    return st;
}

/* A decode step of one sequence in the middle of a context of 4096 tokens, or of what the model takes. */
static mx_status print_program(const mx_model *model, const mx_cli_options *options, mx_buf *out, mx_error *err)
{
    const mx_program *program = mx_model_view_program(model);
    const mx_print_settings settings = {
        .step = {.n_tokens = 1, .n_samples = 1, .n_seqs = 1, .n_kv = MX_MIN(program->n_ctx, 4096) / 2, .kv_bytes = 2},
        .bytes_per_second = (options->bandwidth.is_set ? options->bandwidth.value : 20.0) * 1e9,
        .flops_per_second = (options->gflops.is_set ? options->gflops.value : 100.0) * 1e9,
    };
    return mx_program_print(program, &settings, out, err);
}

/* What weights and a cache for this context and this many texts at once take, against what the machine has free.
 * Buffers of a step come on top; they are small beside these. */
typedef struct memory_figures {
    int64_t n_ctx;
    int64_t n_texts;
    int64_t n_weight_bytes;
    int64_t n_kv_bytes;
    int64_t n_free_bytes;
} memory_figures;

static memory_figures count_memory(const mx_model *model, const mx_cli_options *options)
{
    const mx_program *program = mx_model_view_program(model);
    memory_figures m = {
        .n_ctx = options->n_ctx.value > 0 ? options->n_ctx.value : MX_MIN(program->n_ctx, 4096),
        .n_texts = options->n_texts.is_set ? options->n_texts.value : 1,
        .n_free_bytes = mx_memory_available(),
    };
    for (int32_t i = 0; i < program->n_weights; i++) {
        m.n_weight_bytes += mx_weight_bytes(&program->weights[i]);
    }
    m.n_kv_bytes = kv_bytes(program) * m.n_ctx * m.n_texts;
    return m;
}

static mx_status print_memory(const mx_model *model, const mx_cli_options *options, mx_buf *out, mx_error *err)
{
    const memory_figures m = count_memory(model, options);
    const int64_t n_need = m.n_weight_bytes + m.n_kv_bytes;
    return mx_buf_printf(out, err,
                         "memory         %.1f MiB of weights and %.1f MiB of cache for %" PRId64 " text%s of %" PRId64
                         " tokens: %s the %.1f MiB that are free\n",
                         mib(m.n_weight_bytes), mib(m.n_kv_bytes), m.n_texts, m.n_texts == 1 ? "" : "s", m.n_ctx,
                         n_need <= m.n_free_bytes ? "fits into" : "is more than", mib(m.n_free_bytes));
}

static mx_status print_json(const mx_model *model, const mx_cli_options *options, mx_buf *out, mx_error *err)
{
    const mx_model_config *c = mx_model_view_config(model);
    const mx_program *program = mx_model_view_program(model);
    const memory_figures m = count_memory(model, options);
    weight_format rows[MAX_FORMATS];
    const int32_t n_rows = count_formats(program, rows);
    MX_TRY(mx_buf_printf(out, err, "{\"dir\": "));
    MX_TRY(mx_json_append_str(out, mx_str_from(options->model), err));
    MX_TRY(mx_buf_printf(out, err, ", \"family\": "));
    MX_TRY(mx_json_append_str(out, mx_str_from(c->model_type), err));
    MX_TRY(mx_buf_printf(out, err,
                         ", \"layers\": %d, \"width\": %" PRId64 ", \"heads\": %d, \"kv_heads\": %d, \"head_dim\": %d, "
                         "\"experts\": %" PRId64 ", \"context\": %d, \"vocabulary\": %d,\n \"weights\": [",
                         (int)c->n_layers, c->d_model, (int)c->n_heads, (int)c->n_kv_heads, (int)c->head_dim,
                         c->n_experts, (int)program->n_ctx, (int)program->n_vocab));
    for (int32_t i = 0; i < n_rows; i++) {
        MX_TRY(mx_buf_printf(
            out, err,
            "%s{\"mode\": \"%s\", \"bits\": %d, \"group_size\": %d, \"dtype\": \"%s\", \"tensors\": %d, "
            "\"bytes\": %" PRId64 "}",
            i ? ", " : "", mx_quant_mode_name(rows[i].quant.mode), (int)rows[i].quant.bits,
            (int)rows[i].quant.group_size, mx_dtype_name(rows[i].dtype), (int)rows[i].n_weights, rows[i].n_bytes));
    }
    return mx_buf_printf(out, err,
                         "],\n \"memory\": {\"texts\": %" PRId64 ", \"context\": %" PRId64
                         ", \"weight_bytes\": %" PRId64 ", \"cache_bytes\": %" PRId64 ", \"free_bytes\": %" PRId64
                         "}}\n",
                         m.n_texts, m.n_ctx, m.n_weight_bytes, m.n_kv_bytes, m.n_free_bytes);
}

int mx_cmd_inspect(const mx_cli_options *options)
{
    mx_error err;
    mx_model *model = NULL;
    mx_buf out = {.max = (size_t)1 << 30};
    mx_status st;

    MX_TRY_OR(done, st, mx_cli_need_model(options, &err));
    MX_TRY_OR(done, st, mx_model_open(options->model, NULL, &model, &err));
    if (options->show_program) {
        st = print_program(model, options, &out, &err);
    } else if (options->as_json) {
        st = print_json(model, options, &out, &err);
    } else {
        MX_TRY_OR(done, st, print_summary(model, &out, &err));
        MX_TRY_OR(done, st, print_memory(model, options, &out, &err));
        st = print_text_side(options, &out, &err);
    }
done:;
    const int code = st == MX_OK ? mx_cli_print(mx_buf_view(&out)) : mx_cli_fail(&err);
    mx_model_close(model);
    mx_buf_deinit(&out);
    return code;
}
