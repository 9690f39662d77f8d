/* cmd_perplexity.c - mlxcel perplexity: how well a model foretells a text.
 *
 *     perplexity = exp(mean over tokens of -ln p(token | the tokens of its window before it))
 *
 * The text is cut into windows of --ctx-size tokens that do not overlap; the first token of a window, for which nothing
 * is known, does not count. Where the tokenizer begins texts with a token of its own, every window begins with it.
 * Figures of different window lengths or tokenizers cannot be compared. It runs on plans and executors as the engine
 * does, since it wants the logits of every row.
 */
#include <math.h>

#include "backend/cuda/cuda_driver.h"
#include "backend/executor.h"
#include "cli/prompt.h"
#include "cli/text_io.h"
#include "model/model.h"
#include "platform/signal.h"

enum { STEP_TOKENS = 64, DEFAULT_WINDOW = 512 };

typedef struct run {
    mx_arena arena; /* owned */
    mx_model *model;
    mx_plan plan;
    mx_executor *executor;
    int32_t n_window;
    int32_t n_pages;
    int32_t *page_table; /* [n_pages] */
    double sum;          /* of -ln p */
    double sum_squares;
    int64_t n;
} run;

/* "auto" is a GPU if one can be used, else the CPU. */
static mx_status open_device(run *r, const char *device, const mx_executor_options *options, mx_error *err)
{
    if (device && strcmp(device, "auto") != 0) {
        return mx_executor_open(device, &r->plan, options, &r->executor, err);
    }
    if (mx_cuda_is_installed()) {
        if (mx_executor_open("cuda", &r->plan, options, &r->executor, err) == MX_OK) {
            return MX_OK;
        }
        mx_cli_note("mlxcel: running on the CPU: %s\n", err->message);
    }
    return mx_executor_open("cpu", &r->plan, options, &r->executor, err);
}

static mx_status open_run(run *r, const mx_cli_options *options, mx_error *err)
{
    MX_TRY(mx_model_open(options->model, NULL, &r->model, err));
    const mx_program *program = mx_model_view_program(r->model);
    const int64_t wanted = options->n_ctx.value > 0 ? options->n_ctx.value : DEFAULT_WINDOW;
    if (wanted > program->n_ctx || wanted < 2) {
        return mx_fail(err, MX_INVALID, "--ctx-size %lld: windows have 2 to %d tokens with this model",
                       (long long)wanted, (int)program->n_ctx);
    }
    r->n_window = (int32_t)wanted;
    r->n_pages = (r->n_window + MX_PAGE_TOKENS - 1) / MX_PAGE_TOKENS;
    r->page_table = mx_arena_array(&r->arena, int32_t, r->n_pages);
    if (!r->page_table) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a window of %d tokens", (int)r->n_window);
    }
    for (int32_t i = 0; i < r->n_pages; i++) {
        r->page_table[i] = i;
    }
    const mx_executor_options executor = {.n_pages = r->n_pages,
                                          .n_state_slots = 1,
                                          .max_seqs = 1,
                                          .kv_type = MX_KV_F16,
                                          .n_threads = (int32_t)options->n_threads.value,
                                          .i_device = -1};
    MX_TRY(mx_plan_init(&r->plan, program, STEP_TOKENS, STEP_TOKENS, err));
    return open_device(r, options->device, &executor, err);
}

static void close_run(run *r)
{
    mx_executor_close(r->executor);
    mx_plan_deinit(&r->plan);
    mx_model_close(r->model);
    mx_arena_deinit(&r->arena);
}

/* -ln of the probability that a row of logits gives to a token. */
static double surprise(const float *logits, int32_t n_vocab, int32_t token)
{
    float largest = logits[0];
    double sum = 0.0;
    for (int32_t i = 1; i < n_vocab; i++) {
        largest = logits[i] > largest ? logits[i] : largest;
    }
    for (int32_t i = 0; i < n_vocab; i++) {
        sum += exp((double)logits[i] - (double)largest);
    }
    return log(sum) + (double)largest - (double)logits[token];
}

/* Tokens [from, from + n) of a window; row i foretells token from + i + 1. */
static mx_status run_step(run *r, const int32_t *window, int32_t n_window, int32_t from, int32_t n, mx_error *err)
{
    static const int32_t slot = 0;
    int32_t positions[STEP_TOKENS];
    int32_t rows[STEP_TOKENS];
    const int32_t row_start[2] = {0, n};
    const int32_t kv_len = from + n;
    for (int32_t i = 0; i < n; i++) {
        positions[i] = from + i;
        rows[i] = i;
    }
    const mx_batch batch = {.n_tokens = n,
                            .n_seqs = 1,
                            .n_samples = n,
                            .n_page_cols = r->n_pages,
                            .tokens = window + from,
                            .positions = positions,
                            .row_start = row_start,
                            .kv_len = &kv_len,
                            .page_table = r->page_table,
                            .state_slots = &slot,
                            .sample_rows = rows};
    MX_TRY(mx_executor_run(r->executor, &batch, err));
    const int32_t n_vocab = r->plan.program->n_vocab;
    const float *logits = mx_executor_view_logits(r->executor);
    for (int32_t i = 0; i < n && from + i + 1 < n_window; i++) {
        const double s = surprise(logits + (int64_t)i * n_vocab, n_vocab, window[from + i + 1]);
        if (!isfinite(s)) {
            return mx_fail(err, MX_DEVICE, "the model's output holds no finite number; its weights may be damaged");
        }
        r->sum += s;
        r->sum_squares += s * s;
        r->n++;
    }
    return MX_OK;
}

/* bos: the token that begins every window; -1 for none. */
static mx_status run_windows(run *r, const int32_t *ids, int32_t n_ids, int32_t bos, mx_error *err)
{
    int32_t *window = mx_arena_array(&r->arena, int32_t, r->n_window);
    const int32_t n_front = bos >= 0 ? 1 : 0;
    if (!window) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a window of %d tokens", (int)r->n_window);
    }
    for (int32_t at = 0; at < n_ids;) {
        const int32_t n = MX_MIN(r->n_window - n_front, n_ids - at) + n_front;
        window[0] = bos;
        memcpy(window + n_front, ids + at, (size_t)(n - n_front) * sizeof *ids);
        for (int32_t from = 0; from < n; from += STEP_TOKENS) {
            if (mx_signal_is_interrupted()) {
                return mx_fail(err, MX_CANCELLED, "interrupted");
            }
            MX_TRY(run_step(r, window, n, from, MX_MIN(STEP_TOKENS, n - from), err));
        }
        at += n - n_front;
    }
    return r->n > 0 ? MX_OK : mx_fail(err, MX_INVALID, "the text has %d tokens: too few to foretell one", (int)n_ids);
}

/* The text's tokens, and the one that the tokenizer puts before a text. */
static mx_status tokenize(const mx_cli_options *options, mx_str text, mlxcel_tokens *ids, int32_t *bos, mx_error *err)
{
    mlxcel_error api;
    mlxcel_model *model = NULL;
    mlxcel_tokens special = {0};
    mx_status st = MX_OK;
    *bos = -1;
    if (mx_cli_open_text(options, &model, &api) != MLXCEL_OK ||
        mlxcel_tokenize(model, text.ptr, text.len, 0, ids, &api) != MLXCEL_OK ||
        mlxcel_tokenize(model, "", 0, MLXCEL_TEXT_ADD_SPECIAL, &special, &api) != MLXCEL_OK) {
        st = mx_fail(err, (mx_status)api.status, "%s", api.message);
    } else if (special.n_ids > 0) {
        *bos = special.ids[0];
    }
    mlxcel_tokens_free(&special);
    mlxcel_model_close(model);
    return st;
}

int mx_cmd_perplexity(const mx_cli_options *options)
{
    mx_error err;
    mx_buf text = {0};
    mx_buf out = {.max = 4096};
    mlxcel_tokens ids = {0};
    run r = {0};
    int32_t bos;
    mx_status st;
    mx_arena_init(&r.arena, (size_t)1 << 28);
    MX_TRY_OR(done, st, mx_cli_need_model(options, &err));
    MX_TRY_OR(done, st, mx_cli_read_text(options, &text, &err));
    MX_TRY_OR(done, st, tokenize(options, mx_buf_view(&text), &ids, &bos, &err));
    MX_TRY_OR(done, st, open_run(&r, options, &err));
    mx_signal_install();
    MX_TRY_OR(done, st, run_windows(&r, ids.ids, ids.n_ids, bos, &err));
    const double mean = r.sum / (double)r.n;
    const double deviation = sqrt(fmax(r.sum_squares / (double)r.n - mean * mean, 0.0) / (double)r.n);
    if (!isfinite(exp(mean))) {
        st = mx_fail(&err, MX_DEVICE, "the perplexity is beyond all numbers; the model's weights may be damaged");
        goto done;
    }
    st = options->as_json
             ? mx_buf_printf(&out, &err, "{\"perplexity\": %.6f, \"error\": %.6f, \"tokens\": %lld, \"window\": %d}\n",
                             exp(mean), exp(mean) * deviation, (long long)r.n, (int)r.n_window)
             : mx_buf_printf(&out, &err, "perplexity %.4f +- %.4f over %lld tokens, windows of %d\n", exp(mean),
                             exp(mean) * deviation, (long long)r.n, (int)r.n_window);
done:;
    int code = st == MX_OK ? mx_cli_print(mx_buf_view(&out)) : mx_cli_fail(&err);
    code = st == MX_CANCELLED ? MX_EXIT_INTERRUPTED : code;
    close_run(&r);
    mlxcel_tokens_free(&ids);
    mx_buf_deinit(&out);
    mx_buf_deinit(&text);
    return code;
}
