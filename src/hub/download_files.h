/* download_files.h - the files of one model, several at a time. Private to hub/. */
#ifndef MX_HUB_DOWNLOAD_FILES_H
#define MX_HUB_DOWNLOAD_FILES_H

#include "hub/download.h"
#include "hub/http.h"

typedef struct mx_download_job {
    const mx_http_settings *http;
    int32_t max_retries;
    int32_t n_parallel;
    bool must_verify;
    const char *part; /* folder that the files go to, or lie in */
    const char *url;  /* address that "/" and a file's name are put behind */
    void (*on_progress)(void *arg, mx_download *download);
    void *arg;
    const char *(*escape)(mx_arena *arena, const char *text, bool keep_slashes); /* text as part of an address */
} mx_download_job;

/* Bytes of the files that lie in the folder `part`, whole or not. */
int64_t mx_download_count_present(mx_arena *arena, const char *part, mx_download *d);

/* Hashes every file of `d` in the job's folder whose hash is known, and compares the lengths of the others; changes
 * nothing there. MX_CANCELLED, MX_NO_MEMORY. */
mx_status mx_download_verify(mx_arena *arena, const mx_download_job *job, mx_download *d, bool *is_whole,
                             mx_error *err) MX_NODISCARD;

/* Brings every file of `d` that is not there. After a failure *response is that of the file that failed. The statuses
 * of mx_fetch_file_get. */
mx_status mx_download_files(mx_arena *arena, const mx_download_job *job, mx_download *d, mx_http_response *response,
                            mx_error *err) MX_NODISCARD;

#endif
