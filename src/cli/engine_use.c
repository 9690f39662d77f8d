/* engine_use.c - settings of the command line as those of the engine. */
#include "cli/engine_use.h"

#include "cli/generate_json.h"
#include "cli/text_io.h"

mlxcel_status mx_cli_open_engine(const mlxcel_model *model, const mx_cli_options *options, int32_t n_ctx,
                                 mlxcel_engine **out, mlxcel_error *err)
{
    const char *why_no_gpu = "";
    const mlxcel_engine_options engine_options = {
        .n_struct_bytes = sizeof engine_options,
        .n_ctx = n_ctx,
        .n_threads = (int32_t)options->n_threads.value,
        .device = options->device,
        .n_draft = (int32_t)options->n_draft.value,
    };
    const mlxcel_status st = mlxcel_engine_open(model, &engine_options, out, err);
    if (st == MLXCEL_OK) {
        (void)mlxcel_engine_get_device(*out, &why_no_gpu);
        if (why_no_gpu[0]) {
            mx_cli_note("mlxcel: running on the CPU: %s\n", why_no_gpu);
        }
    }
    return st;
}

double mx_cli_per_second(int32_t n, double seconds)
{
    return seconds > 0.0 ? (double)n / seconds : 0.0;
}

void mx_cli_print_statistics(const mlxcel_result *r, const mlxcel_sampling *s, const char *begin)
{
    mx_cli_note("%sprompt: %d tokens, %.1f tokens/s; generation: %d tokens", begin, (int)r->n_prompt_tokens,
                mx_cli_per_second(r->n_prompt_tokens, r->prompt_s), (int)r->n_new_tokens);
    if (r->n_new_tokens > 1) {
        mx_cli_note(", %.1f tokens/s", mx_cli_per_second(r->n_new_tokens - 1, r->generate_s));
    }
    if (s->temperature > 0.0f) {
        mx_cli_note("; seed %llu", (unsigned long long)s->seed);
    }
    mx_cli_note("; %s\n", mx_cli_finish_text(r->finish));
}
