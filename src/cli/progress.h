/* progress.h - how far a download is, on standard error. */
#ifndef MX_CLI_PROGRESS_H
#define MX_CLI_PROGRESS_H

#include "hub/download.h"

typedef enum mx_progress_kind {
    MX_PROGRESS_AUTO, /* bars on a terminal, else lines */
    MX_PROGRESS_BAR,
    MX_PROGRESS_PLAIN,
    MX_PROGRESS_JSON,
    MX_PROGRESS_NONE,
} mx_progress_kind;

typedef struct mx_progress {
    mx_progress_kind kind;
    mx_download_phase phase; /* shown last */
    bool has_begun;
    int32_t n_rows;     /* of the terminal, that are drawn over the next time */
    int64_t start_ns;   /* when the files began to come */
    int64_t shown_ns;   /* when something was last printed */
    int64_t n_at_start; /* bytes that were there then */
    int64_t last_ns;    /* for the speed: a moment some seconds ago, and what was there then */
    int64_t n_at_last;
    double speed; /* bytes a second */
} mx_progress;

void mx_progress_init(mx_progress *progress, mx_progress_kind kind);

/* For mx_download_options.on_progress, with a mx_progress as its arg. */
void mx_progress_show(void *progress, mx_download *download);

/* Leaves the terminal fit for the next line. */
void mx_progress_end(mx_progress *progress);

/* A number of bytes for people: "431 kB", "1.24 GB". */
void mx_progress_format_bytes(int64_t n_bytes, char out[16]);

#endif
