/* download.c - the list, the lock, the workers, and the folder's final name. */
#include "hub/download.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "hub/download_files.h"
#include "hub/fetch.h"
#include "hub/hub_env.h"
#include "platform/clock.h"
#include "platform/file.h"
#include "platform/path.h"
#include "platform/write_file.h"

#define MAX_LIST_BYTES ((size_t)64 << 20)
#define MIB            ((double)((int64_t)1 << 20))

/* One call of mx_download_model. */
typedef struct session {
    mx_store *store;
    mx_arena *arena;
    const mx_download_options *options;
    mx_hub_env env;
    mx_http_settings http;
    mx_download d;
    mx_repo_info info;
    const char *repo; /* folder of the repository */
    const char *part; /* <commit>.part */
    mx_file_lock lock;
} session;

static void show(session *s, mx_download_phase phase)
{
    s->d.phase = phase;
    if (s->options->on_progress) {
        s->options->on_progress(s->options->arg, &s->d);
    }
}

/* The sentence for an HTTP status that says something about the repository; other failures keep their own. */
static mx_status explain(const session *s, const mx_http_response *r, mx_status st, mx_error *err)
{
    const mx_download *d = &s->d;
    const bool is_gated = strcmp(r->error_code, "GatedRepo") == 0;
    if (strcmp(r->error_code, "RevisionNotFound") == 0) {
        return mx_fail(err, MX_NOT_FOUND, "%s/%s has no revision \"%s\"", d->owner, d->name, d->revision);
    }
    if (is_gated || r->status == 403) {
        return mx_fail(err, MX_NOT_FOUND, "%s/%s is gated, and %s: ask for access at %s/%s/%s%s", d->owner, d->name,
                       s->env.token ? "your token has no access to it" : "no token was given", s->env.endpoint,
                       d->owner, d->name, s->env.token ? "" : ", then set HF_TOKEN");
    }
    if (r->status == 401 && s->env.token) {
        return mx_fail(
            err, MX_NOT_FOUND,
            "%s/%s cannot be had with this token: there is no such model, or the token is not valid any more", d->owner,
            d->name);
    }
    if (r->status == 401) {
        return mx_fail(err, MX_NOT_FOUND,
                       "there is no public model %s/%s at %s; a private or gated one needs a token: set HF_TOKEN",
                       d->owner, d->name, s->env.endpoint);
    }
    if (r->status == 404 && d->phase == MX_DOWNLOAD_FILES) {
        return mx_error_prefix(err, st, "%s/%s is there, but not one of the files in its list", d->owner, d->name);
    }
    if (r->status == 404) {
        return mx_fail(err, MX_NOT_FOUND, "there is no model %s/%s%s%s at %s", d->owner, d->name,
                       strcmp(d->revision, MX_DEFAULT_REVISION) == 0 ? "" : "@",
                       strcmp(d->revision, MX_DEFAULT_REVISION) == 0 ? "" : d->revision, s->env.endpoint);
    }
    return st;
}

/* The text with every byte that is not plain in an address written as %XX; '/' stays where keep_slashes. */
static const char *escape(mx_arena *arena, const char *text, bool keep_slashes)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    mx_buf out = {.max = 4096};
    mx_status st = MX_OK;
    for (const char *c = text; st == MX_OK && *c; c++) {
        st = strchr(plain, *c) || (keep_slashes && *c == '/')
                 ? mx_buf_append_char(&out, *c, NULL)
                 : mx_buf_printf(&out, NULL, "%%%02X", (unsigned)(unsigned char)*c);
    }
    const char *copy = st == MX_OK ? mx_arena_copy_str(arena, mx_buf_view(&out)).ptr : NULL;
    mx_buf_deinit(&out);
    return copy;
}

static mx_status ask_hub(session *s, mx_error *err)
{
    mx_http *http = NULL;
    mx_buf text = {.max = MAX_LIST_BYTES};
    mx_http_response response;
    const mx_fetch_policy policy = {.max_retries = s->options->max_retries};
    const char *revision = escape(s->arena, s->d.revision, false);
    const char *id = mx_arena_printf(s->arena, "%s/%s", s->d.owner, s->d.name);
    const char *url =
        revision ? mx_arena_printf(s->arena, "%s/api/models/%s/revision/%s?blobs=true", s->env.endpoint, id, revision)
                 : NULL;
    mx_status st;
    if (!url || !id) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for an address");
    }
    MX_TRY(mx_http_open(&s->http, &http, err));
    st = mx_fetch_text(http, &s->http, &policy, url, &text, &response, err);
    if (st == MX_OK) {
        st = mx_repo_info_parse(s->arena, mx_buf_view(&text), id, &s->info, err);
    } else {
        st = explain(s, &response, st, err);
    }
    mx_http_close(http);
    mx_buf_deinit(&text);
    return st;
}

static mx_status name_folders(session *s, mx_error *err)
{
    s->repo = mx_store_repo_dir(s->store, s->arena, s->d.owner, s->d.name);
    s->d.commit = s->info.commit;
    s->d.dir = s->repo ? mx_path_join(s->arena, s->repo, mx_str_from(s->d.commit)) : NULL;
    s->part = s->d.dir ? mx_arena_printf(s->arena, "%s.part", s->d.dir) : NULL;
    return s->part ? MX_OK : mx_fail(err, MX_NO_MEMORY, "no memory for a path");
}

/* Takes the lock of the repository; another process that has it is waited for. */
static mx_status take_lock(session *s, mx_error *err)
{
    const char *path = mx_store_lock_path(s->store, s->arena, s->d.owner, s->d.name);
    if (!path) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a path");
    }
    MX_TRY(mx_dir_create_all(s->store->locks, err));
    for (;;) {
        const mx_status st = mx_file_lock_take(path, &s->lock, err);
        if (st != MX_BUSY) {
            return st;
        }
        if (s->http.should_stop && s->http.should_stop(s->http.arg)) {
            return mx_fail(err, MX_CANCELLED, "interrupted while another process downloads this model");
        }
        show(s, MX_DOWNLOAD_WAITING);
        mx_clock_sleep_ms(100);
    }
}

static int compare_sizes(const void *a, const void *b)
{
    const mx_repo_file *x = (const mx_repo_file *)a;
    const mx_repo_file *y = (const mx_repo_file *)b;
    return x->n_bytes != y->n_bytes ? (x->n_bytes < y->n_bytes ? -1 : 1) : strcmp(x->name, y->name);
}

/* Small files first: what is wrong with a model shows before its gigabytes come. */
static mx_status make_files(session *s, mx_error *err)
{
    qsort(s->info.files, s->info.n_files, sizeof *s->info.files, compare_sizes);
    s->d.files = mx_arena_array(s->arena, mx_download_file, s->info.n_files);
    if (!s->d.files) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a list of files");
    }
    s->d.n_files = s->info.n_files;
    for (size_t i = 0; i < s->d.n_files; i++) {
        s->d.files[i].file = &s->info.files[i];
        s->d.n_bytes += MX_MAX(s->info.files[i].n_bytes, 0);
    }
    return MX_OK;
}

static mx_status check_space(session *s, mx_error *err)
{
    const int64_t n_missing = s->d.n_bytes - mx_download_count_present(s->arena, s->part, &s->d);
    const int64_t n_free = mx_disk_free(s->part);
    if (n_missing > n_free) {
        return mx_fail(err, MX_IO,
                       "%s/%s needs %.0f MiB more, and the disk of %s has %.0f MiB free: make room, or set "
                       "MLXCEL_CACHE_DIR to a folder on a larger disk",
                       s->d.owner, s->d.name, (double)n_missing / MIB, s->store->models, (double)n_free / MIB);
    }
    return MX_OK;
}

static mx_status write_manifest(session *s, mx_error *err)
{
    mx_buf text = {.max = MAX_LIST_BYTES};
    const char *path = mx_path_join(s->arena, s->part, MX_STR(MX_MANIFEST_NAME));
    mx_status st;
    MX_TRY_OR(done, st,
              mx_buf_printf(&text, err, "{\"repo\": \"%s/%s\", \"commit\": \"%s\", \"endpoint\": ", s->d.owner,
                            s->d.name, s->d.commit));
    MX_TRY_OR(done, st, mx_json_append_str(&text, mx_str_from(s->env.endpoint), err));
    MX_TRY_OR(done, st, mx_buf_printf(&text, err, ", \"files\": ["));
    for (size_t i = 0; i < s->d.n_files; i++) {
        const mx_repo_file *file = s->d.files[i].file;
        char hex[65];
        mx_sha256_to_hex(&file->sha256, hex);
        MX_TRY_OR(done, st, mx_buf_printf(&text, err, "%s\n  {\"name\": ", i ? "," : ""));
        MX_TRY_OR(done, st, mx_json_append_str(&text, mx_str_from(file->name), err));
        MX_TRY_OR(done, st,
                  mx_buf_printf(&text, err, ", \"bytes\": %" PRId64, mx_atomic_load_i64(&s->d.files[i].n_done)));
        MX_TRY_OR(done, st,
                  file->has_sha256 ? mx_buf_printf(&text, err, ", \"sha256\": \"%s\"}", hex)
                                   : mx_buf_append_char(&text, '}', err));
    }
    MX_TRY_OR(done, st, mx_buf_append(&text, MX_STR("\n]}\n"), err));
    st = path ? mx_file_write(path, mx_buf_view(&text), err) : mx_fail(err, MX_NO_MEMORY, "no memory for a path");
done:
    mx_buf_deinit(&text);
    return st;
}

/* refs/<revision>, replaced in one step. */
static mx_status write_ref(session *s, mx_error *err)
{
    if (mx_is_commit(mx_str_from(s->d.revision))) {
        return MX_OK;
    }
    const char *refs = mx_path_join(s->arena, s->repo, MX_STR("refs"));
    const char *path = mx_store_ref_path(s->arena, s->repo, s->d.revision);
    const char *fresh = path ? mx_arena_printf(s->arena, "%s.new", path) : NULL;
    if (!refs || !fresh) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a path");
    }
    MX_TRY(mx_dir_create_all(refs, err));
    MX_TRY(mx_file_write(fresh, mx_str_from(s->d.commit), err));
    return mx_file_rename(fresh, path, err);
}

/* A folder under its final name that is not whole, or was found damaged, becomes work in progress again. */
static mx_status reopen(session *s, mx_error *err)
{
    if (mx_file_kind_at(s->d.dir) != MX_FILE_DIR) {
        return mx_dir_create_all(s->part, err);
    }
    MX_TRY(mx_file_remove_tree(s->part, err));
    return mx_file_rename(s->d.dir, s->part, err);
}

static mx_download_job make_job(const session *s, const char *folder)
{
    return (mx_download_job){
        .http = &s->http,
        .max_retries = s->options->max_retries,
        .n_parallel = s->options->n_parallel > 0 ? s->options->n_parallel : 4,
        .must_verify = s->options->must_verify,
        .part = folder,
        .url = mx_arena_printf(s->arena, "%s/%s/%s/resolve/%s", s->env.endpoint, s->d.owner, s->d.name, s->d.commit),
        .on_progress = s->options->on_progress,
        .arg = s->options->arg,
        .escape = escape,
    };
}

static mx_status fetch_all(session *s, mx_error *err)
{
    mx_http_response response = {0};
    const mx_download_job job = make_job(s, s->part);
    if (!job.url) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for an address");
    }
    s->d.phase = MX_DOWNLOAD_FILES;
    const mx_status st = mx_download_files(s->arena, &job, &s->d, &response, err);
    return st == MX_OK ? MX_OK : explain(s, &response, st, err);
}

/* Whether the folder under its final name is whole, down to the hashes where they are asked for. It keeps its name
 * while they are made. */
static mx_status check_present(session *s, bool *is_whole, mx_error *err)
{
    const mx_download_job job = make_job(s, s->d.dir);
    *is_whole = mx_model_dir_check(s->d.dir, NULL) == MX_OK;
    if (!*is_whole || !s->options->must_verify) {
        return MX_OK;
    }
    s->d.phase = MX_DOWNLOAD_FILES;
    return mx_download_verify(s->arena, &job, &s->d, is_whole, err);
}

static mx_status download(session *s, mx_error *err)
{
    show(s, MX_DOWNLOAD_ASKING);
    MX_TRY(mx_http_start(err));
    MX_TRY(ask_hub(s, err));
    MX_TRY(name_folders(s, err));
    MX_TRY(take_lock(s, err));
    MX_TRY(make_files(s, err));
    bool is_whole;
    MX_TRY(check_present(s, &is_whole, err));
    if (is_whole) {
        s->d.was_there = true;
        return write_ref(s, err);
    }
    MX_TRY(reopen(s, err));
    MX_TRY(check_space(s, err));
    MX_TRY(fetch_all(s, err));
    MX_TRY(write_manifest(s, err));
    MX_TRY(mx_model_dir_check(s->part, err));
    MX_TRY(mx_file_rename(s->part, s->d.dir, err));
    return write_ref(s, err);
}

mx_status mx_download_model(mx_store *store, const mx_model_name *name, const mx_download_options *options,
                            mx_arena *arena, const char **dir, mx_error *err)
{
    session s = {.store = store,
                 .arena = arena,
                 .options = options,
                 .d = {.owner = name->owner, .name = name->name, .revision = name->revision}};
    MX_TRY(mx_hub_env_read(arena, &s.env, err));
    if (options->is_offline || s.env.is_offline) {
        return mx_fail(err, MX_NOT_FOUND, "%s/%s is not on this machine, and %s forbids to download it", name->owner,
                       name->name, options->is_offline ? "--offline" : "HF_HUB_OFFLINE");
    }
    s.http = (mx_http_settings){
        .token = s.env.token, .timeout_s = s.env.timeout_s, .should_stop = options->should_stop, .arg = options->arg};
    const mx_status st = download(&s, err);
    mx_file_lock_release(&s.lock);
    if (st == MX_OK) {
        *dir = s.d.dir;
        show(&s, MX_DOWNLOAD_DONE);
    }
    return st;
}
