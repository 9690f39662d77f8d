/* progress.c - bars that are drawn over, plain lines, or lines of JSON. */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "cli/text_io.h"
#include "platform/clock.h"
#include "platform/console.h"

#define SECOND ((int64_t)1000000000)

enum {
    MAX_BARS = 8, /* files that are shown at once */
    NAME_WIDTH = 34,
    PLAIN_EVERY_S = 5,
};

void mx_progress_init(mx_progress *progress, mx_progress_kind kind)
{
    if (kind == MX_PROGRESS_AUTO) {
        kind = mx_console_takes_escapes(MX_STDERR) ? MX_PROGRESS_BAR : MX_PROGRESS_PLAIN;
    }
    *progress = (mx_progress){.kind = kind};
}

void mx_progress_format_bytes(int64_t n_bytes, char out[16])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)n_bytes;
    size_t unit = 0;
    while (value >= 999.5 && unit + 1 < MX_COUNTOF(units)) {
        value /= 1000.0;
        unit++;
    }
    const int n_decimals = unit == 0 || value >= 99.5 ? 0 : value < 9.995 ? 2 : 1;
    (void)snprintf(out, 16, "%.*f %s", n_decimals, value, units[unit]);
}

static int64_t count_done(mx_download *d)
{
    int64_t n = 0;
    for (size_t i = 0; i < d->n_files; i++) {
        n += mx_atomic_load_i64(&d->files[i].n_done);
    }
    return n;
}

/* Bytes a second over the last few seconds. */
static void measure(mx_progress *p, int64_t n_done, int64_t now)
{
    if (p->start_ns == 0) {
        p->start_ns = p->last_ns = now;
        p->n_at_start = p->n_at_last = n_done;
    }
    const int64_t passed = now - p->last_ns;
    if (passed >= SECOND / 2) {
        const double recent = (double)(n_done - p->n_at_last) * (double)SECOND / (double)passed;
        p->speed = p->speed > 0.0 ? 0.7 * p->speed + 0.3 * recent : recent;
        p->last_ns = now;
        p->n_at_last = n_done;
    }
}

static void format_left(const mx_progress *p, int64_t n_left, char out[32])
{
    const double seconds = p->speed > 0.0 ? (double)n_left / p->speed : -1.0;
    out[0] = '\0';
    if (n_left > 0 && seconds >= 0.0 && seconds < 360000.0) {
        const int s = (int)seconds;
        (void)snprintf(out, 32, s >= 3600 ? ", %d:%02d:%02d left" : ", %d:%02d left", s >= 3600 ? s / 3600 : s / 60,
                       s >= 3600 ? s / 60 % 60 : s % 60, s % 60);
    }
}

/* "42 % of 620 MB, 11.2 MB/s, 0:33 left" */
static void format_total(const mx_progress *p, const mx_download *d, int64_t n_done, char *out, size_t cap)
{
    char total[16];
    char speed[16];
    char left[32];
    const int percent = d->n_bytes > 0 ? (int)(100.0 * (double)n_done / (double)d->n_bytes) : 0;
    mx_progress_format_bytes(d->n_bytes, total);
    mx_progress_format_bytes((int64_t)p->speed, speed);
    format_left(p, d->n_bytes - n_done, left);
    (void)snprintf(out, cap, "%d %% of %s, %s/s%s", percent, total, speed, left);
}

/* ---- bars ---- */

static void draw_bar(mx_buf *out, const char *name, int64_t n_done, int64_t n_bytes, int32_t width)
{
    char done[16];
    const int n_name = (int)MX_MIN(strlen(name), (size_t)NAME_WIDTH);
    const int n_cells = MX_MAX(width - NAME_WIDTH - 24, 0);
    const double share = n_bytes > 0 ? MX_MIN((double)n_done / (double)n_bytes, 1.0) : 0.0;
    const int n_full = (int)(share * n_cells);
    mx_progress_format_bytes(n_done, done);
    mx_status st =
        mx_buf_printf(out, NULL, "\x1b[2K  %-*.*s ", NAME_WIDTH, n_name, name + strlen(name) - (size_t)n_name);
    for (int i = 0; st == MX_OK && i < n_cells; i++) {
        st = mx_buf_append_char(out, i < n_full ? '=' : i == n_full ? '>' : ' ', NULL);
    }
    st = st == MX_OK ? mx_buf_printf(out, NULL, " %3d %% %9s\n", (int)(share * 100.0), done) : st;
    (void)st; /* a bar that does not fit the buffer is not drawn */
}

static void draw_bars(mx_progress *p, mx_download *d, int64_t n_done)
{
    char total[128];
    mx_buf out = {.max = 1 << 16};
    const int32_t width = mx_console_width(MX_STDERR);
    int32_t n_rows = 0;
    mx_status st = p->n_rows > 0 ? mx_buf_printf(&out, NULL, "\x1b[%dA", (int)p->n_rows) : MX_OK;
    for (size_t i = 0; i < d->n_files && n_rows < MAX_BARS; i++) {
        mx_download_file *f = &d->files[i];
        if (mx_atomic_load_u32(&f->state) == MX_DOWNLOAD_FILE_COMES) {
            draw_bar(&out, f->file->name, mx_atomic_load_i64(&f->n_done), f->file->n_bytes, width);
            n_rows++;
        }
    }
    format_total(p, d, n_done, total, sizeof total);
    st = st == MX_OK ? mx_buf_printf(&out, NULL, "\x1b[2K%.*s\n\x1b[J", MX_MAX(width - 1, 20), total) : st;
    st = st == MX_OK ? mx_console_write(MX_STDERR, mx_buf_view(&out), NULL) : st;
    (void)st; /* standard error is where it would be said */
    p->n_rows = n_rows + 1;
    mx_buf_deinit(&out);
}

/* ---- JSON ---- */

static void print_json(mx_download *d, const char *event, int64_t n_done, double speed)
{
    mx_buf out = {.max = 1 << 22};
    mx_status st = mx_buf_printf(&out, NULL, "{\"event\": \"%s\", \"model\": \"%s/%s\", \"revision\": \"%s\"", event,
                                 d->owner, d->name, d->revision);
    if (st == MX_OK && d->commit) {
        st = mx_buf_printf(&out, NULL, ", \"commit\": \"%s\", \"dir\": ", d->commit);
        st = st == MX_OK ? mx_json_append_str(&out, mx_str_from(d->dir), NULL) : st;
    }
    if (st == MX_OK && d->n_files > 0) {
        st = mx_buf_printf(&out, NULL,
                           ", \"bytes\": %" PRId64 ", \"total_bytes\": %" PRId64 ", \"bytes_per_second\": %.0f"
                           ", \"files\": [",
                           n_done, d->n_bytes, speed);
        for (size_t i = 0; st == MX_OK && i < d->n_files; i++) {
            st = mx_buf_printf(&out, NULL, "%s{\"name\": ", i ? ", " : "");
            st = st == MX_OK ? mx_json_append_str(&out, mx_str_from(d->files[i].file->name), NULL) : st;
            st = st == MX_OK ? mx_buf_printf(&out, NULL, ", \"bytes\": %" PRId64 ", \"total_bytes\": %" PRId64 "}",
                                             mx_atomic_load_i64(&d->files[i].n_done), d->files[i].file->n_bytes)
                             : st;
        }
        st = st == MX_OK ? mx_buf_append_char(&out, ']', NULL) : st;
    }
    st = st == MX_OK ? mx_buf_append(&out, MX_STR("}\n"), NULL) : st;
    st = st == MX_OK ? mx_console_write(MX_STDERR, mx_buf_view(&out), NULL) : st;
    (void)st; /* standard error is where it would be said */
    mx_buf_deinit(&out);
}

/* ---- */

static void show_phase(mx_progress *p, mx_download *d)
{
    char total[16];
    const char *where = d->dir ? d->dir : "";
    if (p->kind == MX_PROGRESS_JSON) {
        static const char *const events[] = {"asking", "waiting", "downloading", "done"};
        print_json(d, events[d->phase], count_done(d), p->speed);
        return;
    }
    mx_progress_format_bytes(d->n_bytes, total);
    switch (d->phase) {
    case MX_DOWNLOAD_ASKING: break;
    case MX_DOWNLOAD_WAITING:
        mx_cli_note("another process downloads %s/%s: waiting for it\n", d->owner, d->name);
        break;
    case MX_DOWNLOAD_FILES:
        mx_cli_note("downloading %s/%s: %zu files, %s, to %s\n", d->owner, d->name, d->n_files, total, where);
        break;
    case MX_DOWNLOAD_DONE:
        if (d->was_there) {
            mx_cli_note("%s/%s is here and up to date\n", d->owner, d->name);
        } else {
            const double seconds = (double)(mx_clock_ns() - p->start_ns) / (double)SECOND;
            mx_cli_note("downloaded %s/%s: %s in %.1f s\n", d->owner, d->name, total, p->start_ns ? seconds : 0.0);
        }
        break;
    }
}

static void show_files(mx_progress *p, mx_download *d, int64_t now)
{
    char total[128];
    const int64_t n_done = count_done(d);
    measure(p, n_done, now);
    if (p->kind == MX_PROGRESS_BAR) {
        draw_bars(p, d, n_done);
    } else if (p->kind == MX_PROGRESS_JSON && now - p->shown_ns >= SECOND / 2) {
        print_json(d, "progress", n_done, p->speed);
        p->shown_ns = now;
    } else if (p->kind == MX_PROGRESS_PLAIN && now - p->shown_ns >= PLAIN_EVERY_S * SECOND) {
        format_total(p, d, n_done, total, sizeof total);
        mx_cli_note("%s\n", total);
        p->shown_ns = now;
    }
}

void mx_progress_show(void *progress, mx_download *d)
{
    mx_progress *p = (mx_progress *)progress;
    const int64_t now = mx_clock_ns();
    if (p->kind == MX_PROGRESS_NONE) {
        return;
    }
    if (!p->has_begun || d->phase != p->phase) {
        if (d->phase == MX_DOWNLOAD_DONE) {
            mx_progress_end(p);
        }
        show_phase(p, d);
        p->has_begun = true;
        p->phase = d->phase;
        p->shown_ns = now;
    }
    if (d->phase == MX_DOWNLOAD_FILES) {
        show_files(p, d, now);
    }
}

void mx_progress_end(mx_progress *progress)
{
    if (progress->kind == MX_PROGRESS_BAR && progress->n_rows > 0) {
        char up[24]; /* the bars go, the cursor stands where they began */
        const int n = snprintf(up, sizeof up, "\x1b[%dA\x1b[J", (int)progress->n_rows);
        const mx_status st = mx_console_write(MX_STDERR, (mx_str){up, (size_t)n}, NULL);
        (void)st; /* standard error is where it would be said */
        progress->n_rows = 0;
    }
}
