/* store_list.c - what is on this machine, and which of it a mistyped name may mean. */
#include <stdlib.h>

#include "base/mem.h"
#include "hub/store.h"
#include "platform/file.h"
#include "platform/path.h"

#define MAX_ENTRIES 100000

typedef struct name_list {
    const mx_str *items;
    size_t n;
} name_list;

/* The entries of a list that grows on the heap. */
typedef struct builder {
    mx_arena *arena;
    mx_store_entry *items; /* owned */
    size_t n;
    size_t cap;
} builder;

/* The folders in `path`, none where it is missing. */
static name_list list_dir(mx_arena *arena, const char *path)
{
    name_list list = {0};
    if (!path || mx_file_kind_at(path) != MX_FILE_DIR ||
        mx_dir_list(arena, path, &list.items, &list.n, NULL) != MX_OK) {
        return (name_list){0};
    }
    return list;
}

static int64_t count_bytes(mx_arena *arena, const char *dir)
{
    int64_t total = 0;
    const name_list files = list_dir(arena, dir);
    for (size_t i = 0; i < files.n; i++) {
        int64_t n_bytes = 0;
        const char *path = mx_path_join(arena, dir, files.items[i]);
        if (path && mx_file_size(path, &n_bytes, NULL) == MX_OK) {
            total += n_bytes;
        }
    }
    return total;
}

/* The name under refs/ that stands for the commit; "main" before others. */
static const char *find_revision(mx_arena *arena, const char *repo, mx_str commit)
{
    const char *refs = mx_path_join(arena, repo, MX_STR("refs"));
    const name_list names = list_dir(arena, refs);
    const char *found = NULL;
    for (size_t i = 0; i < names.n; i++) {
        mx_buf text = {0};
        const char *path = mx_path_join(arena, refs, names.items[i]);
        const bool is_read = path && mx_file_read(path, 256, &text, NULL) == MX_OK;
        const bool is_it = is_read && mx_str_starts_with(mx_buf_view(&text), commit);
        mx_buf_deinit(&text);
        if (is_it && (!found || mx_str_eq_cstr(names.items[i], MX_DEFAULT_REVISION))) {
            found = mx_arena_copy_str(arena, names.items[i]).ptr;
        }
    }
    return found;
}

static mx_status add(builder *b, const char *repo, const char *dir, mx_str owner, mx_str name, mx_str commit,
                     bool is_in_hf_cache, mx_error *err)
{
    mx_store_entry *grown = mx_array_grow(b->items, &b->cap, b->n + 1, sizeof *grown, MAX_ENTRIES);
    if (!grown || !dir) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a list of %zu models", b->n);
    }
    b->items = grown;
    const mx_str suffix = MX_STR(".part");
    const bool is_partial = mx_str_ends_with(commit, suffix);
    commit.len -= is_partial ? suffix.len : 0;
    mx_error why;
    mx_store_entry entry = {
        .owner = mx_arena_copy_str(b->arena, owner).ptr,
        .name = mx_arena_copy_str(b->arena, name).ptr,
        .commit = mx_arena_copy_str(b->arena, commit).ptr,
        .dir = dir,
        .n_bytes = count_bytes(b->arena, dir),
        .is_partial = is_partial,
        .is_in_hf_cache = is_in_hf_cache,
    };
    if (!entry.owner || !entry.name || !entry.commit) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a list of %zu models", b->n);
    }
    entry.revision = is_partial ? NULL : find_revision(b->arena, repo, commit);
    if (is_partial) {
        entry.complaint = "its download was interrupted; `mlxcel download` goes on with it";
    } else if (mx_model_dir_check(dir, &why) == MX_OK) {
        entry.is_complete = true;
    } else {
        entry.complaint = mx_arena_copy_str(b->arena, mx_str_from(why.message)).ptr;
    }
    if (!is_in_hf_cache && !is_partial) {
        const char *manifest = mx_path_join(b->arena, dir, MX_STR(MX_MANIFEST_NAME));
        entry.used_s = manifest ? mx_file_modified_s(manifest) : 0;
    }
    b->items[b->n++] = entry;
    return MX_OK;
}

/* Commits, whole or not, in a repository's folder. The Hugging Face cache holds models of every kind: those without a
 * config.json are not ours. */
static mx_status add_commits(builder *b, const char *repo, const char *dir, mx_str owner, mx_str name,
                             bool is_in_hf_cache, mx_error *err)
{
    const name_list commits = list_dir(b->arena, dir);
    for (size_t i = 0; i < commits.n; i++) {
        const mx_str commit = commits.items[i];
        const bool is_commit = mx_is_commit(mx_str_slice(commit, 0, 40)) &&
                               (commit.len == 40 || mx_str_eq_cstr(mx_str_slice(commit, 40, commit.len), ".part"));
        const char *path = mx_path_join(b->arena, dir, commit);
        const char *config = path && is_in_hf_cache ? mx_path_join(b->arena, path, MX_STR("config.json")) : NULL;
        if (config && mx_file_kind_at(config) != MX_FILE_REGULAR) {
            continue;
        }
        if (is_commit && path && mx_file_kind_at(path) == MX_FILE_DIR) {
            MX_TRY(add(b, repo, path, owner, name, commit, is_in_hf_cache, err));
        }
    }
    return MX_OK;
}

static mx_status add_store(builder *b, const mx_store *store, mx_error *err)
{
    const name_list owners = list_dir(b->arena, store->models);
    for (size_t i = 0; i < owners.n; i++) {
        const char *owner = mx_path_join(b->arena, store->models, owners.items[i]);
        const name_list names = list_dir(b->arena, owner);
        for (size_t k = 0; k < names.n; k++) {
            const char *repo = mx_path_join(b->arena, owner, names.items[k]);
            MX_TRY(add_commits(b, repo, repo, owners.items[i], names.items[k], false, err));
        }
    }
    return MX_OK;
}

static mx_status add_hf_cache(builder *b, const mx_store *store, mx_error *err)
{
    const mx_str prefix = MX_STR("models--");
    const name_list repos = list_dir(b->arena, store->hf_hub);
    for (size_t i = 0; i < repos.n; i++) {
        const mx_str id = mx_str_slice(repos.items[i], prefix.len, repos.items[i].len);
        const size_t dashes = mx_str_find(id, MX_STR("--"), 0);
        const char *repo = mx_path_join(b->arena, store->hf_hub, repos.items[i]);
        const char *snapshots = repo ? mx_path_join(b->arena, repo, MX_STR("snapshots")) : NULL;
        if (mx_str_starts_with(repos.items[i], prefix) && dashes != MX_STR_NPOS && snapshots) {
            MX_TRY(add_commits(b, repo, snapshots, mx_str_slice(id, 0, dashes), mx_str_slice(id, dashes + 2, id.len),
                               true, err));
        }
    }
    return MX_OK;
}

static int compare_entries(const void *a, const void *b)
{
    const mx_store_entry *x = (const mx_store_entry *)a;
    const mx_store_entry *y = (const mx_store_entry *)b;
    const int by_owner = strcmp(x->owner, y->owner);
    const int by_name = by_owner != 0 ? by_owner : strcmp(x->name, y->name);
    const int by_place = by_name != 0 ? by_name : (int)x->is_in_hf_cache - (int)y->is_in_hf_cache;
    return by_place != 0 ? by_place : strcmp(x->commit, y->commit);
}

mx_status mx_store_list_models(mx_store *store, mx_arena *arena, mx_store_list *out, mx_error *err)
{
    builder b = {.arena = arena};
    mx_status st;
    *out = (mx_store_list){0};
    MX_TRY_OR(done, st, add_store(&b, store, err));
    MX_TRY_OR(done, st, add_hf_cache(&b, store, err));
    out->items = mx_arena_array(arena, mx_store_entry, b.n);
    if (!out->items) {
        st = mx_fail(err, MX_NO_MEMORY, "no memory for a list of %zu models", b.n);
        goto done;
    }
    if (b.n > 0) {
        memcpy(out->items, b.items, b.n * sizeof *b.items);
        qsort(out->items, b.n, sizeof *out->items, compare_entries);
    }
    out->n = b.n;
done:
    mx_free(b.items);
    return st;
}

const char *mx_store_suggest(mx_arena *arena, const mx_store_list *list, const char *text)
{
    const mx_str wanted = mx_str_from(text);
    const bool has_owner = memchr(text, '/', wanted.len) != NULL;
    const char *nearest = NULL;
    size_t least = MX_MAX(wanted.len / 3, 3);
    for (size_t i = 0; i < list->n; i++) {
        const char *id = mx_arena_printf(arena, "%s/%s", list->items[i].owner, list->items[i].name);
        const size_t distance =
            id ? mx_str_distance(wanted, mx_str_from(has_owner ? id : list->items[i].name)) : SIZE_MAX;
        if (list->items[i].is_complete && distance < least) {
            least = distance;
            nearest = id;
        }
    }
    return nearest;
}
