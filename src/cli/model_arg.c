/* model_arg.c - names of models: what is here, else what a hub has. */
#include "cli/model_arg.h"

#include "cli/progress.h"
#include "hub/download.h"
#include "hub/hub_env.h"

enum { DEFAULT_RETRIES = 8 };

/* Puts "did you mean" behind the sentence where a model of this machine has nearly this name. */
static mx_status suggest(mx_store *store, mx_arena *arena, const char *text, mx_status st, mx_error *err)
{
    mx_store_list list;
    if (st != MX_NOT_FOUND && st != MX_INVALID && st != MX_IO) {
        return st;
    }
    const char *nearest =
        mx_store_list_models(store, arena, &list, NULL) == MX_OK ? mx_store_suggest(arena, &list, text) : NULL;
    if (!nearest) {
        return st;
    }
    const mx_error why = *err;
    return mx_fail_native(err, why.status, why.native, "%s; did you mean %s, which is on this machine?", why.message,
                          nearest);
}

static mx_status find(mx_store *store, mx_arena *arena, mx_cli_options *options, mx_error *err)
{
    mx_model_name name;
    mx_error why;
    mx_status st = mx_model_name_parse(arena, options->model, &name, err);
    if (st != MX_OK || name.path) {
        return st;
    }
    st = mx_store_find(store, arena, &name, &options->model, &why);
    if (st != MX_NOT_FOUND) {
        return st == MX_OK ? MX_OK : mx_fail(err, st, "%s", why.message);
    }
    mx_hub_env env;
    MX_TRY(mx_hub_env_read(arena, &env, err));
    if (options->offline || env.is_offline) {
        return mx_fail(err, MX_NOT_FOUND, "%s, and %s forbids to download it", why.message,
                       options->offline ? "--offline" : "HF_HUB_OFFLINE");
    }
    mx_progress progress;
    mx_progress_init(&progress, MX_PROGRESS_AUTO);
    const mx_download_options download = {
        .max_retries = DEFAULT_RETRIES, .on_progress = mx_progress_show, .arg = &progress};
    st = mx_download_model(store, &name, &download, arena, &options->model, err);
    mx_progress_end(&progress);
    return st;
}

mx_status mx_cli_find_model(mx_arena *arena, mx_cli_options *options, mx_error *err)
{
    mx_store store;
    if (!options->model || !*options->model) {
        return MX_OK;
    }
    const char *text = options->model;
    mx_status st = mx_store_open(&store, err);
    if (st == MX_OK) {
        st = find(&store, arena, options, err);
        st = suggest(&store, arena, text, st, err);
    }
    if (st == MX_OK) {
        mx_store_note_use(options->model);
    }
    mx_store_close(&store);
    return st;
}
