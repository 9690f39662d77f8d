/* download_files.c - workers that take one file after the other from the list. */
#include "hub/download_files.h"

#include "base/mem.h"
#include "hub/fetch.h"
#include "platform/file.h"
#include "platform/path.h"
#include "platform/thread.h"

#define MAX_PATH_BYTES ((size_t)1 << 20)
#define MAX_WORKERS    16
#define SHOW_EVERY_MS  100

/* What the workers share. */
typedef struct crew {
    const mx_download_job *job;
    mx_http_settings http; /* the job's, which also stop when a worker has failed */
    mx_download *d;
    mx_atomic_u32 next; /* file that nobody has taken yet */
    mx_atomic_u32 has_failed;
    mx_mutex lock; /* for the rest */
    mx_cond ended;
    int32_t n_running;
    mx_status status; /* of the first failure */
    mx_error err;
    mx_http_response response;
} crew;

static bool crew_must_stop(void *arg)
{
    crew *c = (crew *)arg;
    return mx_atomic_load_u32(&c->has_failed) ||
           (c->job->http->should_stop && c->job->http->should_stop(c->job->http->arg));
}

/* Whether the file lies there under its final name: then it was checked when it came. */
static bool is_there(const mx_download_job *job, const mx_http_settings *http, const mx_fetch_file *fetch,
                     mx_download_file *f)
{
    int64_t n_bytes = 0;
    mx_sha256 sha;
    if (mx_file_kind_at(fetch->path) != MX_FILE_REGULAR || mx_file_size(fetch->path, &n_bytes, NULL) != MX_OK ||
        (fetch->n_bytes >= 0 && n_bytes != fetch->n_bytes)) {
        return false;
    }
    if (job->must_verify && fetch->sha256) {
        if (mx_fetch_hash(http, fetch->path, &sha, &f->n_done, NULL) != MX_OK) {
            return false;
        }
        const mx_sha256_digest found = mx_sha256_end(&sha);
        if (memcmp(&found, fetch->sha256, sizeof found) != 0) {
            mx_atomic_store_i64(&f->n_done, 0);
            return false;
        }
    }
    mx_atomic_store_i64(&f->n_done, n_bytes);
    return true;
}

mx_status mx_download_verify(mx_arena *arena, const mx_download_job *job, mx_download *d, bool *is_whole, mx_error *err)
{
    *is_whole = true;
    for (size_t i = 0; *is_whole && i < d->n_files; i++) {
        mx_download_file *f = &d->files[i];
        const mx_fetch_file file = {
            .path = mx_path_join(arena, job->part, mx_str_from(f->file->name)),
            .n_bytes = f->file->n_bytes,
            .sha256 = f->file->has_sha256 ? &f->file->sha256 : NULL,
        };
        if (!file.path) {
            return mx_fail(err, MX_NO_MEMORY, "no memory for a path");
        }
        if (job->on_progress) {
            job->on_progress(job->arg, d);
        }
        *is_whole = is_there(job, job->http, &file, f);
        if (job->http->should_stop && job->http->should_stop(job->http->arg)) {
            return mx_fail(err, MX_CANCELLED, "the check was interrupted; the model stays as it is");
        }
    }
    return MX_OK;
}

/* The folder of a file that lies deeper. */
static mx_status make_folder(mx_arena *arena, const char *part, const char *name, mx_error *err)
{
    const char *slash = strrchr(name, '/');
    if (!slash) {
        return MX_OK;
    }
    const char *folder = mx_path_join(arena, part, (mx_str){name, (size_t)(slash - name)});
    return folder ? mx_dir_create_all(folder, err) : mx_fail(err, MX_NO_MEMORY, "no memory for a path");
}

static mx_status bring(crew *c, mx_arena *arena, mx_http *http, mx_download_file *f, mx_http_response *response,
                       mx_error *err)
{
    const mx_fetch_policy policy = {.max_retries = c->job->max_retries};
    const char *escaped = c->job->escape(arena, f->file->name, true);
    const char *path = mx_path_join(arena, c->job->part, mx_str_from(f->file->name));
    const mx_fetch_file fetch = {
        .url = escaped ? mx_arena_printf(arena, "%s/%s", c->job->url, escaped) : NULL,
        .path = path,
        .part_path = path ? mx_arena_printf(arena, "%s.part", path) : NULL,
        .n_bytes = f->file->n_bytes,
        .sha256 = f->file->has_sha256 ? &f->file->sha256 : NULL,
        .n_done = &f->n_done,
    };
    if (!fetch.url || !fetch.part_path) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a path");
    }
    mx_atomic_store_u32(&f->state, MX_DOWNLOAD_FILE_COMES);
    if (!is_there(c->job, &c->http, &fetch, f)) {
        MX_TRY(make_folder(arena, c->job->part, f->file->name, err));
        MX_TRY(mx_fetch_file_get(http, &c->http, &policy, &fetch, response, err));
    }
    mx_atomic_store_u32(&f->state, MX_DOWNLOAD_FILE_IS_THERE);
    return MX_OK;
}

static mx_status work_through(crew *c, mx_arena *arena, mx_http_response *response, mx_error *err)
{
    mx_http *http = NULL;
    mx_status st;
    MX_TRY(mx_http_open(&c->http, &http, err));
    for (;;) {
        const uint32_t i = mx_atomic_add_u32(&c->next, 1);
        if (i >= c->d->n_files) {
            st = MX_OK;
            break;
        }
        st = crew_must_stop(c) ? mx_fail(err, MX_CANCELLED,
                                         "the download was interrupted; the same command goes on "
                                         "with it")
                               : bring(c, arena, http, &c->d->files[i], response, err);
        mx_arena_reset(arena);
        if (st != MX_OK) {
            break;
        }
    }
    mx_http_close(http);
    return st;
}

static void work(void *arg)
{
    crew *c = (crew *)arg;
    mx_arena arena;
    mx_error err = {0};
    mx_http_response response = {0};
    mx_arena_init(&arena, MAX_PATH_BYTES);
    const mx_status st = work_through(c, &arena, &response, &err);
    mx_arena_deinit(&arena);
    mx_mutex_lock(&c->lock);
    if (st != MX_OK && c->status == MX_OK) { /* the others stop because of this one */
        c->status = st;
        c->err = err;
        c->response = response;
        mx_atomic_store_u32(&c->has_failed, 1);
    }
    c->n_running--;
    mx_cond_wake_all(&c->ended);
    mx_mutex_unlock(&c->lock);
}

int64_t mx_download_count_present(mx_arena *arena, const char *part, mx_download *d)
{
    int64_t total = 0;
    for (size_t i = 0; i < d->n_files; i++) {
        int64_t n_bytes = 0;
        const char *path = mx_path_join(arena, part, mx_str_from(d->files[i].file->name));
        const char *half = path ? mx_arena_printf(arena, "%s.part", path) : NULL;
        if ((path && mx_file_kind_at(path) == MX_FILE_REGULAR && mx_file_size(path, &n_bytes, NULL) == MX_OK) ||
            (half && mx_file_kind_at(half) == MX_FILE_REGULAR && mx_file_size(half, &n_bytes, NULL) == MX_OK)) {
            total += n_bytes;
        }
    }
    return total;
}

mx_status mx_download_files(mx_arena *arena, const mx_download_job *job, mx_download *d, mx_http_response *response,
                            mx_error *err)
{
    mx_thread threads[MAX_WORKERS];
    const int32_t n_wanted = (int32_t)MX_MIN(d->n_files, (size_t)MX_MIN(job->n_parallel, MAX_WORKERS));
    int32_t n_started = 0;
    mx_status st = MX_OK;
    crew *c = mx_arena_new(arena, crew);
    if (!c) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a download");
    }
    *c = (crew){.job = job, .http = *job->http, .d = d, .n_running = n_wanted};
    c->http.should_stop = crew_must_stop;
    c->http.arg = c;
    mx_mutex_init(&c->lock);
    mx_cond_init(&c->ended);
    while (n_started < n_wanted && st == MX_OK) {
        st = mx_thread_start(&threads[n_started], "download", work, c, err);
        n_started += st == MX_OK;
    }
    mx_mutex_lock(&c->lock);
    c->n_running -= n_wanted - n_started;
    if (st != MX_OK) {
        mx_atomic_store_u32(&c->has_failed, 1);
    }
    while (c->n_running > 0) {
        mx_cond_wait_ms(&c->ended, &c->lock, SHOW_EVERY_MS);
        mx_mutex_unlock(&c->lock);
        if (job->on_progress) {
            job->on_progress(job->arg, d);
        }
        mx_mutex_lock(&c->lock);
    }
    mx_mutex_unlock(&c->lock);
    for (int32_t i = 0; i < n_started; i++) {
        mx_thread_join(&threads[i]);
    }
    mx_cond_deinit(&c->ended);
    mx_mutex_deinit(&c->lock);
    *response = c->response;
    if (st == MX_OK && c->status != MX_OK) {
        st = mx_fail_native(err, c->status, c->err.native, "%s", c->err.message);
    }
    return st;
}
