/* store.c - the places of models, finding one by name, removing one. */
#include "hub/store.h"

#include "platform/env.h"
#include "platform/file.h"
#include "platform/path.h"
#include "platform/write_file.h"

#define MAX_STORE_BYTES ((size_t)4 << 20)
#define MAX_REF_BYTES   256

static const char *get_folder(mx_arena *arena, const char *variable)
{
    const char *value = mx_env_get(arena, variable);
    return value && value[0] ? value : NULL;
}

/* As huggingface_hub finds it, on every system. */
static const char *find_hf_hub(mx_arena *arena)
{
    const char *folder = get_folder(arena, "HF_HUB_CACHE");
    if (folder) {
        return folder;
    }
    folder = get_folder(arena, "HF_HOME");
    if (folder) {
        return mx_path_join(arena, folder, MX_STR("hub"));
    }
    folder = get_folder(arena, "XDG_CACHE_HOME");
    if (folder) {
        return mx_path_join(arena, folder, MX_STR("huggingface/hub"));
    }
    folder = get_folder(arena, "HOME");
    folder = folder ? folder : get_folder(arena, "USERPROFILE");
    return folder ? mx_path_join(arena, folder, MX_STR(".cache/huggingface/hub")) : NULL;
}

mx_status mx_store_open(mx_store *out, mx_error *err)
{
    *out = (mx_store){0};
    mx_arena_init(&out->arena, MAX_STORE_BYTES);
    const char *cache = mx_path_cache_dir(&out->arena);
    if (!cache) {
        return mx_fail(err, MX_NOT_FOUND, "there is no folder for models: set MLXCEL_CACHE_DIR");
    }
    out->models = mx_path_join(&out->arena, cache, MX_STR("models"));
    out->locks = mx_path_join(&out->arena, cache, MX_STR("locks"));
    out->hf_hub = find_hf_hub(&out->arena);
    return out->models && out->locks ? MX_OK : mx_fail(err, MX_NO_MEMORY, "no memory for a path");
}

void mx_store_close(mx_store *store)
{
    mx_arena_deinit(&store->arena);
    *store = (mx_store){0};
}

const char *mx_store_repo_dir(mx_store *store, mx_arena *arena, const char *owner, const char *name)
{
    return mx_arena_printf(arena, "%s/%s/%s", store->models, owner, name);
}

const char *mx_store_lock_path(mx_store *store, mx_arena *arena, const char *owner, const char *name)
{
    return mx_arena_printf(arena, "%s/%s--%s", store->locks, owner, name);
}

const char *mx_store_ref_path(mx_arena *arena, const char *repo_dir, const char *revision)
{
    mx_buf text = {.max = 4096};
    mx_status st = mx_buf_printf(&text, NULL, "%s/refs/", repo_dir);
    for (const char *c = revision; st == MX_OK && *c; c++) {
        st = *c == '/' ? mx_buf_append(&text, MX_STR("%2F"), NULL) : mx_buf_append_char(&text, *c, NULL);
    }
    const char *path = st == MX_OK ? mx_arena_copy_str(arena, mx_buf_view(&text)).ptr : NULL;
    mx_buf_deinit(&text);
    return path;
}

/* The commit that a file under refs/ names; NULL where there is none. */
static const char *read_ref(mx_arena *arena, const char *path)
{
    mx_buf text;
    const char *commit = NULL;
    if (path && mx_file_read(path, MAX_REF_BYTES, &text, NULL) == MX_OK) {
        mx_str s = mx_buf_view(&text);
        while (s.len > 0 && (s.ptr[s.len - 1] == '\n' || s.ptr[s.len - 1] == '\r')) {
            s.len--;
        }
        commit = mx_is_commit(s) ? mx_arena_copy_str(arena, s).ptr : NULL;
    }
    if (path) {
        mx_buf_deinit(&text);
    }
    return commit;
}

static const char *find_commit(mx_arena *arena, const char *ref_path, const mx_model_name *name)
{
    return mx_is_commit(mx_str_from(name->revision)) ? name->revision : read_ref(arena, ref_path);
}

/* *dir becomes the folder where the place has one, whole or not. */
static mx_status find_in_hf_cache(mx_store *store, mx_arena *arena, const mx_model_name *name, const char **dir,
                                  mx_error *err)
{
    *dir = NULL;
    if (!store->hf_hub) {
        return MX_OK;
    }
    const char *repo = mx_arena_printf(arena, "%s/models--%s--%s", store->hf_hub, name->owner, name->name);
    const char *ref = repo ? mx_arena_printf(arena, "%s/refs/%s", repo, name->revision) : NULL;
    if (!ref) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a path");
    }
    const char *commit = find_commit(arena, ref, name);
    const char *path = commit ? mx_arena_printf(arena, "%s/snapshots/%s", repo, commit) : NULL;
    if (path && mx_file_kind_at(path) == MX_FILE_DIR) {
        *dir = path;
    }
    return MX_OK;
}

static mx_status find_in_store(mx_store *store, mx_arena *arena, const mx_model_name *name, const char **dir,
                               mx_error *err)
{
    *dir = NULL;
    const char *repo = mx_store_repo_dir(store, arena, name->owner, name->name);
    const char *ref = repo ? mx_store_ref_path(arena, repo, name->revision) : NULL;
    if (!ref) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a path");
    }
    const char *commit = find_commit(arena, ref, name);
    const char *path = commit ? mx_path_join(arena, repo, mx_str_from(commit)) : NULL;
    if (path && mx_file_kind_at(path) == MX_FILE_DIR) {
        *dir = path;
    }
    return MX_OK;
}

mx_status mx_store_find(mx_store *store, mx_arena *arena, const mx_model_name *name, const char **out, mx_error *err)
{
    const char *dirs[2];
    mx_error why = {0};
    MX_TRY(find_in_store(store, arena, name, &dirs[0], err));
    MX_TRY(find_in_hf_cache(store, arena, name, &dirs[1], err));
    for (size_t i = 0; i < MX_COUNTOF(dirs); i++) {
        mx_error *first = why.message[0] ? NULL : &why;
        if (dirs[i] && mx_model_dir_check(dirs[i], first) == MX_OK) {
            *out = dirs[i];
            return MX_OK;
        }
    }
    if (why.message[0]) {
        return mx_fail(err, MX_NOT_FOUND, "%s/%s is here but not whole: %s", name->owner, name->name, why.message);
    }
    return mx_fail(err, MX_NOT_FOUND, "%s/%s%s%s is not on this machine", name->owner, name->name,
                   name->has_revision ? "@" : "", name->has_revision ? name->revision : "");
}

void mx_store_note_use(const char *dir)
{
    mx_arena arena;
    mx_arena_init(&arena, MAX_STORE_BYTES);
    const char *manifest = mx_path_join(&arena, dir, MX_STR(MX_MANIFEST_NAME));
    if (manifest && mx_file_kind_at(manifest) == MX_FILE_REGULAR) {
        mx_file_touch(manifest);
    }
    mx_arena_deinit(&arena);
}

/* Removes the names under refs/ that stand for this commit, and folders that are then empty. */
static void remove_refs(mx_arena *arena, const char *repo, const char *commit)
{
    const mx_str *names;
    size_t n_names;
    const char *refs = mx_path_join(arena, repo, MX_STR("refs"));
    if (!refs || mx_dir_list(arena, refs, &names, &n_names, NULL) != MX_OK) {
        return;
    }
    for (size_t i = 0; i < n_names; i++) {
        const char *path = mx_path_join(arena, refs, names[i]);
        const char *found = path ? read_ref(arena, path) : NULL;
        if (found && strcmp(found, commit) == 0 && mx_file_remove(path, NULL) != MX_OK) {
            return; /* a name for a commit that is not there means nothing: it is left for the next time */
        }
    }
}

mx_status mx_store_remove(mx_store *store, const mx_store_entry *entry, mx_error *err)
{
    mx_arena arena;
    mx_file_lock lock = {0};
    mx_status st;
    mx_arena_init(&arena, MAX_STORE_BYTES);
    const char *repo = mx_store_repo_dir(store, &arena, entry->owner, entry->name);
    const char *lock_path = mx_store_lock_path(store, &arena, entry->owner, entry->name);
    const char *owner = mx_path_join(&arena, store->models, mx_str_from(entry->owner));
    if (!repo || !lock_path || !owner) {
        st = mx_fail(err, MX_NO_MEMORY, "no memory for a path");
        goto done;
    }
    if (entry->is_in_hf_cache) {
        st = mx_fail(err, MX_INVALID,
                     "%s/%s lies in the Hugging Face cache, which is used but never changed: remove it with `hf cache`",
                     entry->owner, entry->name);
        goto done;
    }
    MX_TRY_OR(done, st, mx_dir_create_all(store->locks, err));
    st = mx_file_lock_take(lock_path, &lock, err);
    if (st == MX_BUSY) {
        st = mx_fail(err, MX_BUSY, "%s/%s is being downloaded by another process: stop that first", entry->owner,
                     entry->name);
    }
    MX_TRY_OR(done, st, st);
    /* Under its own name a folder counts as whole, so that goes first. */
    const char *doomed = mx_arena_printf(&arena, "%s/%s.part", repo, entry->commit);
    if (!doomed) {
        st = mx_fail(err, MX_NO_MEMORY, "no memory for a path");
        goto done;
    }
    if (!entry->is_partial) {
        MX_TRY_OR(done, st, mx_file_remove_tree(doomed, err));
        MX_TRY_OR(done, st, mx_file_rename(entry->dir, doomed, err));
        remove_refs(&arena, repo, entry->commit);
    }
    MX_TRY_OR(done, st, mx_file_remove_tree(doomed, err));
    const char *refs = mx_path_join(&arena, repo, MX_STR("refs"));
    const bool was_last = refs && mx_dir_remove(refs, NULL) == MX_OK && mx_dir_remove(repo, NULL) == MX_OK &&
                          mx_dir_remove(owner, NULL) == MX_OK;
    (void)was_last; /* folders go once they are empty */
done:
    mx_file_lock_release(&lock);
    mx_arena_deinit(&arena);
    return st;
}
