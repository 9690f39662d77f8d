/* stop_text.c - looks at each end of a character for a stop string that ends there. */
#include "engine/stop_text.h"

#include <string.h>

#include "base/utf8.h"

enum {
    PIECE_BYTES = 4096, /* room from the start for a piece of text; a token is rarely longer than 100 bytes */
};

mx_status mx_stop_text_init(mx_stop_text *s, const mx_str *stops, size_t n_stops, mx_error *err)
{
    *s = (mx_stop_text){.stops = stops, .n_stops = n_stops};
    if (n_stops > MX_STOP_MAX_STRINGS) {
        return mx_fail(err, MX_INVALID, "%zu stop strings: at most %d can be given", n_stops, MX_STOP_MAX_STRINGS);
    }
    for (size_t i = 0; i < n_stops; i++) {
        if (stops[i].len == 0) {
            return mx_fail(err, MX_INVALID, "stop string %zu is empty: it would end every text at once", i + 1);
        }
        if (stops[i].len > MX_STOP_MAX_BYTES) {
            return mx_fail(err, MX_INVALID, "stop string %zu has %zu bytes: at most %d are taken", i + 1, stops[i].len,
                           MX_STOP_MAX_BYTES);
        }
        if (!mx_utf8_is_valid(stops[i])) {
            return mx_fail(err, MX_INVALID, "stop string %zu is not UTF-8 text", i + 1);
        }
        s->max_stop = stops[i].len > s->max_stop ? stops[i].len : s->max_stop;
    }
    mx_buf_init(&s->pending, SIZE_MAX);
    return mx_buf_reserve(&s->pending, s->max_stop + PIECE_BYTES, err);
}

void mx_stop_text_deinit(mx_stop_text *s)
{
    mx_buf_deinit(&s->pending);
    *s = (mx_stop_text){0};
}

/* Length of the longest stop string that ends at byte `end`, 0 for none. */
static size_t longest_ending_at(mx_stop_text *s, size_t end)
{
    size_t longest = 0;
    const mx_str text = {s->pending.data, end};
    for (size_t i = 0; i < s->n_stops; i++) {
        if (s->stops[i].len > longest && mx_str_ends_with(text, s->stops[i])) {
            longest = s->stops[i].len;
            s->i_stop = (int32_t)i;
        }
    }
    return longest;
}

/* Length of the longest end of the pending text that begins a stop string without being one. */
static size_t held_back(const mx_stop_text *s)
{
    const mx_str text = mx_buf_view(&s->pending);
    for (size_t n = text.len < s->max_stop ? text.len : s->max_stop; n > 0; n--) {
        const mx_str tail = mx_str_slice(text, text.len - n, text.len);
        for (size_t i = 0; i < s->n_stops; i++) {
            if (mx_str_starts_with(s->stops[i], tail)) {
                return n;
            }
        }
    }
    return 0;
}

mx_status mx_stop_text_push(mx_stop_text *s, mx_str piece, mx_str *out, mx_error *err)
{
    *out = (mx_str){0};
    if (s->has_stopped) {
        return MX_OK;
    }
    const size_t n_held = s->pending.len - s->n_ready; /* what went out with the last call makes room */
    if (n_held > 0 && s->n_ready > 0) {
        memmove(s->pending.data, s->pending.data + s->n_ready, n_held);
    }
    s->pending.len = n_held;
    s->n_ready = 0;
    MX_TRY(mx_buf_append(&s->pending, piece, err));
    for (size_t end = n_held + 1; end <= s->pending.len; end++) {
        const size_t n_stop = longest_ending_at(s, end);
        if (n_stop > 0) {
            s->has_stopped = true;
            s->pending.len = s->n_ready = end - n_stop;
            *out = mx_buf_view(&s->pending);
            return MX_OK;
        }
    }
    s->n_ready = s->pending.len - held_back(s);
    *out = (mx_str){s->pending.data, s->n_ready};
    return MX_OK;
}

mx_str mx_stop_text_finish(mx_stop_text *s)
{
    const mx_str rest = mx_str_slice(mx_buf_view(&s->pending), s->n_ready, s->pending.len);
    s->n_ready = s->pending.len;
    return rest;
}
