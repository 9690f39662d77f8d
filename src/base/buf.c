/* buf.c - the growing byte string. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"

void mx_buf_deinit(mx_buf *buf)
{
    mx_free(buf->data);
    *buf = (mx_buf){.max = buf->max};
}

/* Room for n_needed bytes in all. The limit has been checked; a terminator may lie one past it. */
static mx_status ensure_cap(mx_buf *buf, size_t n_needed, mx_error *err)
{
    if (n_needed <= buf->cap) {
        return MX_OK;
    }
    char *data = mx_array_grow(buf->data, &buf->cap, n_needed, 1, SIZE_MAX);
    if (!data) {
        return mx_fail_no_memory(err, n_needed, "a text");
    }
    buf->data = data;
    return MX_OK;
}

static mx_status check_limit(const mx_buf *buf, size_t n_more, mx_error *err)
{
    if (n_more > buf->max || buf->len > buf->max - n_more) {
        return mx_fail(err, MX_INVALID, "a text would pass its limit of %zu bytes", buf->max);
    }
    return MX_OK;
}

mx_status mx_buf_reserve(mx_buf *buf, size_t n_more, mx_error *err)
{
    MX_TRY(check_limit(buf, n_more, err));
    return ensure_cap(buf, buf->len + n_more, err);
}

mx_status mx_buf_append(mx_buf *buf, mx_str bytes, mx_error *err)
{
    MX_TRY(mx_buf_reserve(buf, bytes.len, err));
    if (bytes.len) {
        memcpy(buf->data + buf->len, bytes.ptr, bytes.len);
    }
    buf->len += bytes.len;
    return MX_OK;
}

mx_status mx_buf_append_char(mx_buf *buf, char c, mx_error *err)
{
    return mx_buf_append(buf, (mx_str){&c, 1}, err);
}

mx_status mx_buf_printf(mx_buf *buf, mx_error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    mx_status st = n < 0 ? mx_fail(err, MX_INVALID, "a text could not be formatted: %s", fmt) : MX_OK;
    if (st == MX_OK) {
        st = check_limit(buf, (size_t)n, err);
    }
    if (st == MX_OK) {
        st = ensure_cap(buf, buf->len + (size_t)n + 1, err);
    }
    if (st == MX_OK) {
        vsnprintf(buf->data + buf->len, (size_t)n + 1, fmt, again);
        buf->len += (size_t)n;
    }
    va_end(again);
    return st;
}

const char *mx_buf_view_cstr(mx_buf *buf)
{
    if (ensure_cap(buf, buf->len + 1, NULL) != MX_OK) {
        return NULL;
    }
    buf->data[buf->len] = '\0';
    return buf->data;
}
