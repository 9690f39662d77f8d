/* repo_info.h - what a hub's API says of a repository: the commit, and the files that we want of it.
 *
 * Source: https://huggingface.co/docs/hub/api, GET /api/models/{repo}/revision/{revision}?blobs=true.
 */
#ifndef MX_HUB_REPO_INFO_H
#define MX_HUB_REPO_INFO_H

#include "base/arena.h"
#include "base/error.h"
#include "hub/sha256.h"

typedef struct mx_repo_file {
    const char *name; /* within the repository; safe as a path below a folder, '/' between its parts */
    int64_t n_bytes;  /* -1 where the hub does not say */
    bool has_sha256;  /* large files have one, small ones in git do not */
    mx_sha256_digest sha256;
} mx_repo_file;

typedef struct mx_repo_info {
    const char *commit; /* 40 digits */
    mx_repo_file *files;
    size_t n_files;
    size_t n_other; /* files that are not wanted */
} mx_repo_info;

/* Reads the API's answer. Everything in it is untrusted: names that are not safe, or that two files share (also when
 * upper and lower case are the same, as on Windows), are refused. `name` names the answer in errors.
 *
 * MX_FORMAT     not JSON, no commit, an unsafe name, sizes out of range
 * MX_NOT_FOUND  the repository has no safetensors; the sentence says what it has instead
 * MX_NO_MEMORY
 */
mx_status mx_repo_info_parse(mx_arena *arena, mx_str json, const char *name, mx_repo_info *out,
                             mx_error *err) MX_NODISCARD;

/* Whether a repository's file belongs to a model as we use it: configuration, tokenizer, chat template, weights. */
bool mx_repo_file_is_wanted(mx_str name);

#endif
