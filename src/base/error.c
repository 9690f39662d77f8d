/* error.c - filling and naming errors. */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static const struct {
    const char *name;
    const char *text;
    int http;
} status_info[] = {
#define X(name, http, text) {#name, text, http},
    MX_STATUS_LIST(X)
#undef X
};

/* Stores a message that vsnprintf may have cut within a character. */
static void set_message(mx_error *err, char message[sizeof err->message])
{
    const mx_str text = mx_str_from(message);
    if (text.len == sizeof err->message - 1) {
        message[text.len - mx_utf8_incomplete_tail(text)] = '\0';
    }
    memcpy(err->message, message, sizeof err->message);
}

mx_status mx_fail_at(mx_error *err, mx_status status, int64_t native, const char *file, int line, const char *fmt, ...)
{
    if (!err) {
        return status;
    }
    /* The message may quote the one that err already holds, so it is made aside. */
    char message[sizeof err->message];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);

    err->status = status;
    err->native = native;
    err->file = file;
    err->line = line;
    set_message(err, message);
    return status;
}

mx_status mx_error_prefix(mx_error *err, mx_status status, const char *fmt, ...)
{
    if (!err) {
        return status;
    }
    char message[sizeof err->message];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof message) {
        snprintf(message + n, sizeof message - (size_t)n, ": %s", err->message);
    }
    set_message(err, message);
    return err->status;
}

const char *mx_status_name(mx_status status)
{
    return (size_t)status < MX_COUNTOF(status_info) ? status_info[status].name : "?";
}

const char *mx_status_text(mx_status status)
{
    return (size_t)status < MX_COUNTOF(status_info) ? status_info[status].text : "unknown status";
}

int mx_status_http(mx_status status)
{
    return (size_t)status < MX_COUNTOF(status_info) ? status_info[status].http : 500;
}
