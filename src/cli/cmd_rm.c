/* cmd_rm.c - mlxcel rm: removes models that mlxcel has downloaded. */
#include "cli/progress.h"
#include "cli/text_io.h"
#include "hub/store.h"
#include "platform/console.h"

#define MAX_ARENA_BYTES ((size_t)1 << 30)

/* Whether a line from the user says yes. */
static bool is_confirmed(const char *question)
{
    mx_buf line;
    bool is_end;
    mx_cli_note("%s [y/N] ", question);
    const bool is_read = mx_console_read_line(1000, &line, &is_end, NULL) == MX_OK && line.len > 0;
    const bool is_yes = is_read && (line.data[0] == 'y' || line.data[0] == 'Y');
    mx_buf_deinit(&line);
    return is_yes;
}

static bool is_meant(const mx_store_entry *e, const mx_model_name *name)
{
    return !e->is_in_hf_cache && strcmp(e->owner, name->owner) == 0 && strcmp(e->name, name->name) == 0 &&
           (!name->has_revision || strcmp(e->commit, name->revision) == 0 ||
            (e->revision && strcmp(e->revision, name->revision) == 0));
}

static mx_status remove_entry(mx_store *store, mx_arena *arena, const mx_store_entry *e, bool is_yes, mx_error *err)
{
    char size[16];
    mx_progress_format_bytes(e->n_bytes, size);
    const char *question =
        mx_arena_printf(arena, "remove %s/%s (%.12s%s), %s?", e->owner, e->name, e->revision ? e->revision : e->commit,
                        e->is_partial ? ", half downloaded" : "", size);
    if (!question) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a question");
    }
    if (!is_yes && !mx_console_is_terminal(MX_STDIN)) {
        return mx_fail(err, MX_INVALID, "rm asks before it removes, and nobody is there to answer: give --yes");
    }
    if (!is_yes && !is_confirmed(question)) {
        mx_cli_note("kept\n");
        return MX_OK;
    }
    MX_TRY(mx_store_remove(store, e, err));
    mx_cli_note("removed %s/%s, %s\n", e->owner, e->name, size);
    return MX_OK;
}

static mx_status remove_model(mx_store *store, mx_arena *arena, const char *text, bool is_yes, mx_error *err)
{
    mx_model_name name;
    mx_store_list list;
    size_t n_removed = 0;
    const mx_store_entry *foreign = NULL;
    MX_TRY(mx_model_name_parse(arena, text, &name, err));
    if (name.path) {
        return mx_fail(err, MX_INVALID, "%s is a path: rm removes only what `mlxcel list` shows, by its name", text);
    }
    MX_TRY(mx_store_list_models(store, arena, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        const mx_store_entry *e = &list.items[i];
        if (is_meant(e, &name)) {
            MX_TRY(remove_entry(store, arena, e, is_yes, err));
            n_removed++;
        } else if (e->is_in_hf_cache && strcmp(e->owner, name.owner) == 0 && strcmp(e->name, name.name) == 0) {
            foreign = e;
        }
    }
    if (n_removed == 0 && foreign) {
        return mx_store_remove(store, foreign, err); /* which says why it does not */
    }
    if (n_removed == 0) {
        const char *nearest = mx_store_suggest(arena, &list, text);
        return mx_fail(err, MX_NOT_FOUND, "%s/%s%s%s is not in the store%s%s%s", name.owner, name.name,
                       name.has_revision ? "@" : "", name.has_revision ? name.revision : "",
                       nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    }
    return MX_OK;
}

int mx_cmd_rm(const mx_cli_options *options)
{
    mx_error err;
    mx_arena arena;
    mx_store store = {0};
    mx_status st;
    mx_arena_init(&arena, MAX_ARENA_BYTES);
    if (options->n_operands == 0) {
        st = mx_fail(&err, MX_INVALID, "rm takes the names of models, as `mlxcel list` shows them");
        goto done;
    }
    MX_TRY_OR(done, st, mx_store_open(&store, &err));
    for (int32_t i = 0; i < options->n_operands; i++) {
        MX_TRY_OR(done, st, remove_model(&store, &arena, options->operands[i], options->yes, &err));
    }
done:;
    const int code = st == MX_OK ? MX_EXIT_OK : mx_cli_fail(&err);
    mx_store_close(&store);
    mx_arena_deinit(&arena);
    return code;
}
