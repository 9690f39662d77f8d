/* unicode.c - the generated rows, spread out. They are kept as ranges in the program, since that is 15 kB rather than
 * 256, and spreading them takes some 20 microseconds. */
#include "text/tokenizer/unicode.h"

#include "base/compiler.h"

static const struct {
    int32_t first; /* up to the next row's first */
    uint16_t classes;
} rows[] = {
#include "text/tokenizer/unicode_classes.inc"
};

void mx_unicode_init(mx_unicode *unicode)
{
    for (size_t i = 0; i < MX_COUNTOF(rows) && rows[i].first < MX_UNICODE_N_DIRECT; i++) {
        const bool is_last = i + 1 == MX_COUNTOF(rows) || rows[i + 1].first > MX_UNICODE_N_DIRECT;
        const int32_t end = is_last ? MX_UNICODE_N_DIRECT : rows[i + 1].first;
        for (int32_t c = rows[i].first; c < end; c++) {
            unicode->direct[c] = rows[i].classes;
        }
    }
    unicode->direct['\n'] |= MX_UC_NEWLINE;
    unicode->direct['\r'] |= MX_UC_NEWLINE;
}

uint16_t mx_unicode_find(int32_t code_point)
{
    size_t lo = 0;
    size_t hi = MX_COUNTOF(rows); /* the row is in lo..hi */
    while (hi - lo > 1) {
        const size_t mid = lo + (hi - lo) / 2;
        if (rows[mid].first <= code_point) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return rows[lo].classes;
}
