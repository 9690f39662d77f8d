/* cmd_download.c - mlxcel download: a model from a hub, its folder on standard output. */
#include "cli/progress.h"
#include "cli/text_io.h"
#include "hub/download.h"
#include "platform/signal.h"

#define MAX_ARENA_BYTES ((size_t)256 << 20)

static bool should_stop(void *arg)
{
    (void)arg;
    return mx_signal_is_interrupted();
}

static mx_status choose_progress(const mx_cli_options *options, mx_progress_kind *out, mx_error *err)
{
    static const char *const kinds[] = {"auto", "bar", "plain", "json"}; /* in the order of mx_progress_kind */
    *out = options->quiet ? MX_PROGRESS_NONE : MX_PROGRESS_AUTO;
    for (size_t i = 0; options->progress && i < MX_COUNTOF(kinds); i++) {
        if (strcmp(options->progress, kinds[i]) == 0) {
            *out = options->quiet ? MX_PROGRESS_NONE : (mx_progress_kind)i;
            return MX_OK;
        }
    }
    return options->progress
               ? mx_fail(err, MX_INVALID, "--progress %s: there are auto, bar, plain and json", options->progress)
               : MX_OK;
}

static mx_status read_name(const mx_cli_options *options, mx_arena *arena, mx_model_name *name, mx_error *err)
{
    if (options->n_operands != 1) {
        return mx_fail(err, MX_INVALID, "download takes one model, such as Qwen3-0.6B-4bit or owner/name");
    }
    MX_TRY(mx_model_name_parse(arena, options->operands[0], name, err));
    if (name->path) {
        return mx_fail(err, MX_INVALID, "%s is a path: download takes a repository, owner/name", name->path);
    }
    return MX_OK;
}

int mx_cmd_download(const mx_cli_options *options)
{
    mx_error err;
    mx_arena arena;
    mx_store store = {0};
    mx_model_name name;
    mx_progress progress;
    mx_progress_kind kind;
    const char *dir = NULL;
    mx_status st;

    mx_arena_init(&arena, MAX_ARENA_BYTES);
    MX_TRY_OR(done, st, read_name(options, &arena, &name, &err));
    MX_TRY_OR(done, st, choose_progress(options, &kind, &err));
    MX_TRY_OR(done, st, mx_store_open(&store, &err));
    mx_progress_init(&progress, kind);
    const mx_download_options download = {
        .n_parallel = (int32_t)options->n_parallel.value,
        .max_retries = options->max_retries.is_set ? (int32_t)options->max_retries.value : 8,
        .is_offline = options->offline,
        .must_verify = options->must_verify,
        .on_progress = mx_progress_show,
        .should_stop = should_stop,
        .arg = &progress,
    };
    mx_signal_install();
    st = mx_download_model(&store, &name, &download, &arena, &dir, &err);
    mx_progress_end(&progress);
done:;
    int code = st == MX_CANCELLED ? MX_EXIT_INTERRUPTED : MX_EXIT_OK;
    if (st != MX_OK) {
        const int failed = mx_cli_fail(&err);
        code = st == MX_CANCELLED ? code : failed;
    } else {
        const char *line = mx_arena_printf(&arena, "%s\n", dir);
        code = mx_cli_print(mx_str_from(line));
    }
    mx_store_close(&store);
    mx_arena_deinit(&arena);
    return code;
}
