/* buf.h - a growing byte string with a cap from birth. */
#ifndef MX_BASE_BUF_H
#define MX_BASE_BUF_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

typedef struct mx_buf {
    char *data; /* owned; not terminated; NULL while empty */
    size_t len;
    size_t cap;
    size_t max; /* bytes; more is refused with MX_INVALID */
} mx_buf;

/* An empty buffer that may grow to max bytes. {.max = n} does the same. Allocates nothing. */
static inline void mx_buf_init(mx_buf *buf, size_t max)
{
    *buf = (mx_buf){.max = max};
}

/* Frees the bytes; the buffer is then empty and usable again. A zeroed buffer is fine. */
void mx_buf_deinit(mx_buf *buf);

/* Room for n_more bytes behind the present ones. MX_NO_MEMORY, or MX_INVALID when the cap would be passed. */
mx_status mx_buf_reserve(mx_buf *buf, size_t n_more, mx_error *err) MX_NODISCARD;

/* Appends bytes; the statuses of mx_buf_reserve. The buffer is unchanged on failure. */
mx_status mx_buf_append(mx_buf *buf, mx_str bytes, mx_error *err) MX_NODISCARD;
mx_status mx_buf_append_char(mx_buf *buf, char c, mx_error *err) MX_NODISCARD;
mx_status mx_buf_printf(mx_buf *buf, mx_error *err, const char *fmt, ...) MX_NODISCARD MX_PRINTF(3, 4);

/* The bytes, borrowed until the buffer next changes. */
static inline mx_str mx_buf_view(const mx_buf *buf)
{
    return (mx_str){buf->data, buf->len};
}

/* The bytes followed by a zero, borrowed until the buffer next changes; NULL when out of memory. */
const char *mx_buf_view_cstr(mx_buf *buf);

#endif
