/* fetch.c - attempts, back-off, and files that grow until they are whole. */
#include "hub/fetch.h"

#include <inttypes.h>
#include <stdio.h>

#include "platform/clock.h"
#include "platform/file.h"
#include "platform/map.h"
#include "platform/write_file.h"

enum {
    FIRST_WAIT_MS = 300, /* doubled with each failure in a row */
    LONGEST_WAIT_MS = 20000,
    LONGEST_RETRY_AFTER_S = 300,
    HASH_PIECE = 4 << 20,
};

static bool must_stop(const mx_http_settings *settings)
{
    return settings->should_stop && settings->should_stop(settings->arg);
}

static mx_status fail_stopped(mx_error *err)
{
    return mx_fail(err, MX_CANCELLED, "the download was interrupted; the same command goes on with it");
}

/* Waits before attempt `n_failed` + 1, as long as the server asks or twice as long as the last time. */
static mx_status wait_before_retry(const mx_http_settings *settings, const mx_http_response *response, int32_t n_failed,
                                   mx_error *err)
{
    int64_t wait_ms = MX_MIN((int64_t)FIRST_WAIT_MS << MX_MIN(n_failed - 1, 10), LONGEST_WAIT_MS);
    if (response->retry_after_s > 0) {
        wait_ms = (int64_t)MX_MIN(response->retry_after_s, LONGEST_RETRY_AFTER_S) * 1000;
    }
    for (int64_t waited = 0; waited < wait_ms; waited += 50) {
        if (must_stop(settings)) {
            return fail_stopped(err);
        }
        mx_clock_sleep_ms(MX_MIN(50, wait_ms - waited));
    }
    return MX_OK;
}

/* ---- texts ---- */

static mx_status begin_text(void *arg, const mx_http_response *response, mx_error *err)
{
    mx_buf *out = (mx_buf *)arg;
    (void)err;
    (void)response;
    out->len = 0;
    return MX_OK;
}

static mx_status write_text(void *arg, mx_str bytes, mx_error *err)
{
    return mx_buf_append((mx_buf *)arg, bytes, err);
}

mx_status mx_fetch_text(mx_http *http, const mx_http_settings *settings, const mx_fetch_policy *policy, const char *url,
                        mx_buf *out, mx_http_response *response, mx_error *err)
{
    const mx_http_sink sink = {.begin = begin_text, .write = write_text, .arg = out};
    for (int32_t n_failed = 0;;) {
        const mx_status st = mx_http_get(http, url, 0, &sink, response, err);
        if (st == MX_OK || !response->is_transient || n_failed++ >= policy->max_retries) {
            return st;
        }
        MX_TRY(wait_before_retry(settings, response, n_failed, err));
    }
}

/* ---- files ---- */

/* A file on its way. */
typedef struct growing {
    const mx_fetch_file *file;
    mx_write_file out;
    mx_sha256 sha;        /* of the bytes in `out` */
    bool has_other_range; /* the server sent another part than was asked for */
} growing;

static mx_status restart(growing *g, mx_error *err)
{
    mx_sha256_init(&g->sha);
    mx_atomic_store_i64(g->file->n_done, 0);
    return mx_write_file_truncate(&g->out, 0, err);
}

static mx_status fail_length(const growing *g, int64_t n_bytes, mx_error *err)
{
    return mx_fail(err, MX_FORMAT, "%s: the server has %" PRId64 " bytes of it, the hub's list says %" PRId64,
                   g->file->url, n_bytes, g->file->n_bytes);
}

static mx_status begin_file(void *arg, const mx_http_response *r, mx_error *err)
{
    growing *g = (growing *)arg;
    if (r->is_html) {
        return mx_fail(err, MX_FORMAT,
                       "%s: a web page came instead of the file; is there a login page between here and the hub?",
                       g->file->url);
    }
    const bool is_part = r->status == 206;
    if (is_part && r->range_start != g->out.n_bytes) {
        g->has_other_range = true;
        return mx_fail(err, MX_IO, "%s: the server sent another part than was asked for", g->file->url);
    }
    const int64_t n_whole = is_part ? r->range_total : r->n_content;
    if (g->file->n_bytes >= 0 && n_whole >= 0 && n_whole != g->file->n_bytes) {
        return fail_length(g, n_whole, err);
    }
    return is_part ? MX_OK : restart(g, err);
}

static mx_status write_file(void *arg, mx_str bytes, mx_error *err)
{
    growing *g = (growing *)arg;
    if (g->file->n_bytes >= 0 && (int64_t)bytes.len > g->file->n_bytes - g->out.n_bytes) {
        return fail_length(g, g->out.n_bytes + (int64_t)bytes.len, err);
    }
    MX_TRY(mx_write_file_append(&g->out, bytes, err));
    mx_sha256_update(&g->sha, bytes.ptr, bytes.len);
    mx_atomic_store_i64(g->file->n_done, g->out.n_bytes);
    return MX_OK;
}

mx_status mx_fetch_hash(const mx_http_settings *settings, const char *path, mx_sha256 *sha, mx_atomic_i64 *n_done,
                        mx_error *err)
{
    mx_map map = {0};
    mx_sha256_init(sha);
    MX_TRY(mx_map_open(path, &map, err));
    mx_status st = MX_OK;
    for (size_t at = 0; st == MX_OK && at < map.n_bytes; at += HASH_PIECE) {
        mx_sha256_update(sha, map.data + at, MX_MIN(map.n_bytes - at, (size_t)HASH_PIECE));
        mx_atomic_store_i64(n_done, (int64_t)MX_MIN(map.n_bytes, at + HASH_PIECE));
        st = must_stop(settings) ? fail_stopped(err) : MX_OK;
    }
    mx_map_close(&map);
    return st;
}

/* Hashes what has come so far, then opens it: Windows maps no file that is open for writing. */
static mx_status open_part(const mx_http_settings *settings, growing *g, mx_error *err)
{
    mx_sha256_init(&g->sha);
    if (mx_file_kind_at(g->file->part_path) == MX_FILE_REGULAR) {
        MX_TRY(mx_fetch_hash(settings, g->file->part_path, &g->sha, g->file->n_done, err));
    }
    MX_TRY(mx_write_file_open(g->file->part_path, &g->out, err));
    const bool is_too_long = g->file->n_bytes >= 0 && g->out.n_bytes > g->file->n_bytes;
    return is_too_long || (uint64_t)g->out.n_bytes != g->sha.n_bytes ? restart(g, err) : MX_OK;
}

/* Asks until every byte is there. Only bytes that there never were before count as progress: a server may break off at
 * one place for ever, and refuse to go on from it. */
static mx_status fetch_rest(mx_http *http, const mx_http_settings *settings, const mx_fetch_policy *policy, growing *g,
                            mx_http_response *response, mx_error *err)
{
    const mx_http_sink sink = {.begin = begin_file, .write = write_file, .arg = g};
    int64_t furthest = g->out.n_bytes;
    for (int32_t n_failed = 0; g->file->n_bytes < 0 || g->out.n_bytes < g->file->n_bytes;) {
        g->has_other_range = false;
        mx_status st = mx_http_get(http, g->file->url, g->out.n_bytes, &sink, response, err);
        const bool is_bad_range = g->has_other_range || response->status == 416;
        if (st == MX_OK && g->file->n_bytes < 0) {
            return MX_OK;
        }
        if (st == MX_OK && g->out.n_bytes < g->file->n_bytes) {
            st = mx_fail(err, MX_IO, "%s: the server sent less than it said", g->file->url);
        } else if (st != MX_OK && !response->is_transient && !is_bad_range) {
            return st;
        }
        if (st != MX_OK) {
            n_failed = g->out.n_bytes > furthest ? 1 : n_failed + 1;
            furthest = MX_MAX(furthest, g->out.n_bytes);
            if (n_failed > policy->max_retries) {
                return st;
            }
            if (is_bad_range) {
                MX_TRY(restart(g, err));
            }
            MX_TRY(wait_before_retry(settings, response, n_failed, err));
        }
    }
    return MX_OK;
}

/* What the bytes must hash to: the caller's word, or else the server's; false where nobody knows. */
static bool find_wanted(const mx_fetch_file *file, const mx_http_response *response, mx_sha256_digest *out)
{
    if (file->sha256) {
        *out = *file->sha256;
        return true;
    }
    return mx_sha256_from_hex(mx_str_from(response->linked_etag), out);
}

static mx_status fetch_checked(mx_http *http, const mx_http_settings *settings, const mx_fetch_policy *policy,
                               growing *g, mx_http_response *response, mx_error *err)
{
    for (int attempt = 0;; attempt++) {
        mx_sha256_digest wanted;
        MX_TRY(fetch_rest(http, settings, policy, g, response, err));
        const mx_sha256_digest found = mx_sha256_end(&g->sha);
        if (!find_wanted(g->file, response, &wanted) || memcmp(&found, &wanted, sizeof found) == 0) {
            return mx_write_file_sync(&g->out, err);
        }
        MX_TRY(restart(g, err));
        if (attempt == 1) {
            char texts[2][65];
            mx_sha256_to_hex(&found, texts[0]);
            mx_sha256_to_hex(&wanted, texts[1]);
            return mx_fail(err, MX_FORMAT, "%s: came twice with wrong bytes: its SHA-256 is %s, the hub says %s",
                           g->file->url, texts[0], texts[1]);
        }
    }
}

mx_status mx_fetch_file_get(mx_http *http, const mx_http_settings *settings, const mx_fetch_policy *policy,
                            const mx_fetch_file *file, mx_http_response *response, mx_error *err)
{
    growing g = {.file = file};
    mx_status st;
    *response = (mx_http_response){.n_content = -1, .range_start = -1, .range_total = -1};
    MX_TRY_OR(done, st, open_part(settings, &g, err));
    MX_TRY_OR(done, st, fetch_checked(http, settings, policy, &g, response, err));
    mx_write_file_close(&g.out);
    st = mx_file_rename(file->part_path, file->path, err);
done:
    mx_write_file_close(&g.out);
    return st;
}
