/* fetch.h - files and small texts over HTTP, until they are whole: tried again, gone on with, and checked. */
#ifndef MX_HUB_FETCH_H
#define MX_HUB_FETCH_H

#include "base/buf.h"
#include "hub/http.h"
#include "hub/sha256.h"
#include "platform/atomic.h"

typedef struct mx_fetch_policy {
    int32_t max_retries; /* attempts in a row that may fail without a byte of progress */
} mx_fetch_policy;

/* Fetches a text of at most out->max bytes. The statuses of mx_http_get. */
mx_status mx_fetch_text(mx_http *http, const mx_http_settings *settings, const mx_fetch_policy *policy, const char *url,
                        mx_buf *out, mx_http_response *response, mx_error *err) MX_NODISCARD;

typedef struct mx_fetch_file {
    const char *url;
    const char *path;               /* of the finished file */
    const char *part_path;          /* of what has come so far, left there when the fetch fails */
    int64_t n_bytes;                /* what it must have; -1 where unknown */
    const mx_sha256_digest *sha256; /* what it must hash to; NULL where unknown: then the server's own word is taken */
    mx_atomic_i64 *n_done;          /* bytes that are there; changes as they come */
} mx_fetch_file;

/* Brings a file: goes on behind the bytes of part_path, hashes while it writes, and gives it its name only when length
 * and hash are right. A file whose hash is wrong is fetched once more from its start.
 *
 * MX_FORMAT  length or hash stay wrong, or a web page came instead
 * MX_IO      the network or the server, after all retries; the disk, with mx_disk_is_full
 * MX_CANCELLED, MX_NO_MEMORY
 */
mx_status mx_fetch_file_get(mx_http *http, const mx_http_settings *settings, const mx_fetch_policy *policy,
                            const mx_fetch_file *file, mx_http_response *response, mx_error *err) MX_NODISCARD;

/* Hashes a file. MX_CANCELLED, MX_IO. */
mx_status mx_fetch_hash(const mx_http_settings *settings, const char *path, mx_sha256 *sha, mx_atomic_i64 *n_done,
                        mx_error *err) MX_NODISCARD;

#endif
