/* cmd_bench.c - mlxcel bench: tokens a second of prompts and answers. */
#include <inttypes.h>

#include "base/mem.h"
#include "cli/engine_use.h"
#include "cli/text_io.h"
#include "platform/signal.h"

/* One row of the table. */
typedef struct figures {
    int32_t n_prompt;
    int32_t n_answer;
    double prompt_speed; /* tokens a second, the best round */
    double answer_speed;
} figures;

static int should_stop(void *arg)
{
    (void)arg;
    return mx_signal_is_interrupted();
}

/* Ids that mean nothing, others each time, so that no prompt begins as one before it. */
static void make_prompt(int32_t *ids, int32_t n, int32_t n_vocab, uint32_t seed)
{
    uint32_t state = seed * 2654435761u + 1u;
    for (int32_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        ids[i] = (int32_t)((state >> 8) % (uint32_t)n_vocab);
    }
}

static mx_status measure(mlxcel_engine *engine, int32_t n_vocab, int32_t n_rounds, figures *f, mx_error *err)
{
    const mlxcel_sampling greedy = {.n_struct_bytes = sizeof greedy, .top_p = 1.0f, .repeat_penalty = 1.0f};
    int32_t *ids = (int32_t *)mx_calloc((size_t)f->n_prompt, sizeof *ids);
    mx_status st = ids ? MX_OK : mx_fail(err, MX_NO_MEMORY, "no memory for a prompt of %d tokens", (int)f->n_prompt);
    for (int32_t i = 0; st == MX_OK && i < n_rounds; i++) {
        mlxcel_error api;
        mlxcel_result result = {.n_struct_bytes = sizeof result};
        make_prompt(ids, f->n_prompt, n_vocab, (uint32_t)(f->n_prompt * 1000 + i));
        const mlxcel_request request = {
            .n_struct_bytes = sizeof request,
            .prompt = ids,
            .n_prompt = f->n_prompt,
            .max_new_tokens = f->n_answer,
            .sampling = &greedy,
            .ignore_end = 1,
            .should_stop = should_stop,
        };
        if (mlxcel_generate(engine, &request, &result, &api) != MLXCEL_OK) {
            st = mx_fail(err, (mx_status)api.status, "%s", api.message);
        } else if (result.finish == MLXCEL_FINISH_CANCELLED) {
            st = mx_fail(err, MX_CANCELLED, "interrupted");
        }
        f->prompt_speed = MX_MAX(f->prompt_speed, mx_cli_per_second(f->n_prompt, result.prompt_s));
        f->answer_speed = MX_MAX(f->answer_speed, mx_cli_per_second(result.n_new_tokens - 1, result.generate_s));
    }
    mx_free(ids);
    return st;
}

static mx_status print_row(const figures *f, bool as_json, bool is_first, mx_error *err)
{
    mx_buf out = {.max = 4096};
    mx_status st = as_json
                       ? mx_buf_printf(&out, err,
                                       "%s{\"prompt_tokens\": %d, \"answer_tokens\": %d, \"prompt_per_second\": %.2f, "
                                       "\"answer_per_second\": %.2f}",
                                       is_first ? "[" : ",\n ", (int)f->n_prompt, (int)f->n_answer, f->prompt_speed,
                                       f->answer_speed)
                       : mx_buf_printf(&out, err, "%s%8d %14.1f %8d %14.1f\n",
                                       is_first ? "  prompt       tokens/s   answer       tokens/s\n" : "",
                                       (int)f->n_prompt, f->prompt_speed, (int)f->n_answer, f->answer_speed);
    if (st == MX_OK && mx_cli_print(mx_buf_view(&out)) != MX_EXIT_OK) {
        st = mx_fail(err, MX_IO, "standard output takes no more");
    }
    mx_buf_deinit(&out);
    return st;
}

/* Prompts of 1, 32, 128, 512, ... tokens, up to the longest. */
static mx_status run(mlxcel_engine *engine, int32_t n_vocab, int32_t n_longest, const mx_cli_options *options,
                     mx_error *err)
{
    const int32_t n_rounds = options->n_rounds.is_set ? (int32_t)options->n_rounds.value : 3;
    const int32_t n_answer = options->bench_answer.is_set ? (int32_t)options->bench_answer.value : 64;
    bool is_first = true;
    for (int64_t n = 1;; n = n < 32 ? 32 : n * 4) {
        figures f = {.n_prompt = (int32_t)MX_MIN(n, n_longest), .n_answer = n_answer};
        MX_TRY(measure(engine, n_vocab, n_rounds, &f, err));
        MX_TRY(print_row(&f, options->as_json, is_first, err));
        is_first = false;
        if (n >= n_longest) {
            break;
        }
    }
    return options->as_json && mx_cli_print(MX_STR("]\n")) != MX_EXIT_OK
               ? mx_fail(err, MX_IO, "standard output takes no more")
               : MX_OK;
}

int mx_cmd_bench(const mx_cli_options *options)
{
    mx_error err;
    mlxcel_error api;
    mlxcel_model *model = NULL;
    mlxcel_engine *engine = NULL;
    mlxcel_model_info info = {.n_struct_bytes = sizeof info};
    const int32_t n_longest = options->bench_prompt.is_set ? (int32_t)options->bench_prompt.value : 512;
    const int64_t n_ctx = (int64_t)n_longest + (options->bench_answer.is_set ? options->bench_answer.value : 64) + 1;
    mx_status st = mx_cli_need_model(options, &err);
    if (st != MX_OK) {
        return mx_cli_fail(&err);
    }
    int code = MX_EXIT_OK;
    if (mlxcel_model_open(options->model, NULL, &model, &api) != MLXCEL_OK) {
        code = mx_cli_fail_api(&api);
        goto done;
    }
    mlxcel_model_get_info(model, &info);
    if (n_ctx > info.n_ctx) {
        mx_cli_note("mlxcel: %" PRId64 " tokens: this model takes at most %d\n", n_ctx, (int)info.n_ctx);
        code = MX_EXIT_USAGE;
        goto done;
    }
    if (mx_cli_open_engine(model, options, (int32_t)n_ctx, &engine, &api) != MLXCEL_OK) {
        code = mx_cli_fail_api(&api);
        goto done;
    }
    mx_signal_install();
    st = run(engine, info.n_vocab, n_longest, options, &err);
    if (st != MX_OK) {
        code = mx_cli_fail(&err);
        code = st == MX_CANCELLED ? MX_EXIT_INTERRUPTED : code;
    }
done:
    mlxcel_engine_close(engine);
    mlxcel_model_close(model);
    return code;
}
