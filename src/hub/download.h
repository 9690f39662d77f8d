/* download.h - a whole model from a hub into the store.
 *
 * One process works on a model at a time; others wait for it and then find the model whole. Whatever ends a download,
 * also the end of the process, the next one goes on with the bytes that are there. A folder gets its final name when
 * every file in it has its length and hash, so nothing half done ever counts as a model.
 */
#ifndef MX_HUB_DOWNLOAD_H
#define MX_HUB_DOWNLOAD_H

#include "hub/repo_info.h"
#include "hub/store.h"
#include "platform/atomic.h"

typedef enum mx_download_phase {
    MX_DOWNLOAD_ASKING,  /* the hub for its list of files */
    MX_DOWNLOAD_WAITING, /* for another process that downloads this model */
    MX_DOWNLOAD_FILES,   /* they come */
    MX_DOWNLOAD_DONE,
} mx_download_phase;

typedef enum mx_download_file_state {
    MX_DOWNLOAD_FILE_WAITS,
    MX_DOWNLOAD_FILE_COMES,
    MX_DOWNLOAD_FILE_IS_THERE,
} mx_download_file_state;

typedef struct mx_download_file {
    const mx_repo_file *file;
    mx_atomic_i64 n_done; /* bytes that are there */
    mx_atomic_u32 state;  /* mx_download_file_state */
} mx_download_file;

/* What a progress display sees. */
typedef struct mx_download {
    mx_download_phase phase;
    const char *owner;
    const char *name;
    const char *revision;
    const char *commit;      /* NULL until the hub has answered */
    const char *dir;         /* where the model will lie; NULL until then */
    mx_download_file *files; /* [n_files], the smaller ones first */
    size_t n_files;
    int64_t n_bytes; /* of all files, as far as the hub says */
    bool was_there;  /* DONE without anything to do */
} mx_download;

typedef struct mx_download_options {
    int32_t n_parallel;  /* files at a time; 0: 4 */
    int32_t max_retries; /* failures in a row for one file */
    bool is_offline;     /* ask no network: MX_NOT_FOUND says so */
    bool must_verify;    /* hash also what was downloaded before, and fetch again what is wrong */
    /* Called from the calling thread about ten times a second, and at each change of phase. May be NULL. */
    void (*on_progress)(void *arg, mx_download *download);
    bool (*should_stop)(void *arg); /* from any thread; may be NULL */
    void *arg;
} mx_download_options;

/* Downloads what `name` (not a path) stands for; *dir, in the arena, becomes its folder. What is whole already is not
 * fetched again, but the hub is asked whether the revision has moved on.
 *
 * MX_NOT_FOUND  no such repository or revision, no access to it (with what to do), or off line
 * MX_FORMAT     the hub's list or a file is wrong, also after a second try
 * MX_IO         network, server or disk; a full disk says how much is missing, before a byte is fetched where possible
 * MX_CANCELLED, MX_INVALID (environment), MX_NO_MEMORY
 */
mx_status mx_download_model(mx_store *store, const mx_model_name *name, const mx_download_options *options,
                            mx_arena *arena, const char **dir, mx_error *err) MX_NODISCARD;

#endif
