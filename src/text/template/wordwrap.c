/* wordwrap.c - wrapping a line of text, as Python's textwrap.wrap does with tabs and white space left as they are. */
#include "text/template/chars.h"
#include "text/template/strings.h"

/* textwrap counts only these as white space, so that no-break spaces do not break. */
static bool is_blank(char c)
{
    return c == '\t' || c == '\n' || c == '\v' || c == '\f' || c == '\r' || c == ' ';
}

static bool is_word(int32_t c)
{
    return c == '_' || mx_tpl_is_alnum(c);
}

/* A letter of a word: no digit, as 2-3 is not broken at its hyphen. */
static bool is_letter(int32_t c)
{
    return is_word(c) && !mx_tpl_is_decimal(c);
}

static int32_t char_before(mx_str s, size_t at, size_t *before)
{
    *before = at;
    return at > 0 ? mx_tpl_char_before(s, before) : 0;
}

static int32_t peek(mx_str s, size_t at)
{
    return at < s.len ? mx_tpl_char_at(s, &at) : 0;
}

static bool before_dash(int32_t c)
{
    return is_word(c) || (c && c < 128 && strchr("!\"'&.,?", (char)c));
}

/* Dashes at `at`: two or more, with a word before and behind. The place behind them, or `at`. */
static size_t em_dash(mx_str s, size_t at)
{
    size_t before;
    size_t end = at;
    if (!before_dash(char_before(s, at, &before))) {
        return at;
    }
    while (end < s.len && s.ptr[end] == '-') {
        end++;
    }
    return end - at >= 2 && is_word(peek(s, end)) ? end : at;
}

/* Whether a word may be broken behind the hyphen that ends at `end`: letters around it on both sides. */
static bool breaks_at_hyphen(mx_str s, size_t end)
{
    size_t at;
    size_t next = end;
    const int32_t first = char_before(s, end - 1, &at);
    const int32_t second = char_before(s, at, &at);
    bool fits = is_letter(first) && is_letter(second);
    if (!fits && is_letter(first) && second == '-') {
        fits = is_letter(char_before(s, at, &at));
    }
    if (!fits || !is_letter(peek(s, end))) {
        return false;
    }
    (void)mx_tpl_char_at(s, &next);
    next += next < s.len && s.ptr[next] == '-';
    return is_letter(peek(s, next));
}

/* End of the piece that begins at `from`: white space, dashes, or a word up to where it may be broken. */
static size_t piece_end(mx_str s, size_t from, bool break_hyphens)
{
    size_t at = from;
    if (is_blank(s.ptr[at])) {
        while (at < s.len && is_blank(s.ptr[at])) {
            at++;
        }
        return at;
    }
    if (break_hyphens && em_dash(s, at) > at) {
        return em_dash(s, at);
    }
    for (;;) {
        const bool is_hyphen = s.ptr[at] == '-';
        (void)mx_tpl_char_at(s, &at);
        if (at >= s.len || is_blank(s.ptr[at])) {
            return at;
        }
        if (!break_hyphens) {
            continue;
        }
        if ((is_hyphen && at > from + 1 && breaks_at_hyphen(s, at)) || em_dash(s, at) > at) {
            return at;
        }
    }
}

typedef struct wrapper {
    mx_tpl_value line;
    int64_t width;
    bool break_long;
    bool break_hyphens;
    mx_tpl_vec pieces;
    size_t i_piece;
} wrapper;

static int64_t chars_of(mx_tpl_value piece)
{
    return (int64_t)mx_tpl_count_chars(mx_tpl_view(piece));
}

/* Looks at n_chars characters and no more: a long piece is asked for each line that is cut off it. */
static bool is_longer(mx_tpl_value piece, int64_t n_chars)
{
    return mx_tpl_char_offset(mx_tpl_view(piece), (size_t)n_chars) < piece.len;
}

/* Splits the piece that is longer than a line so that its beginning fills what is left of this one. */
static void break_piece(wrapper *w, int64_t room, bool line_is_empty, size_t *end)
{
    mx_tpl_value *piece = &w->pieces.items[w->i_piece];
    const mx_str s = mx_tpl_view(*piece);
    if (!w->break_long) {
        if (line_is_empty) {
            *end += s.len;
            w->i_piece++;
        }
        return;
    }
    size_t cut = mx_tpl_char_offset(s, (size_t)room);
    if (w->break_hyphens && is_longer(*piece, room)) {
        size_t hyphen = 0;
        for (size_t i = 0; i < cut; i++) {
            hyphen = s.ptr[i] == '-' ? i : hyphen;
        }
        bool has_other = false;
        for (size_t i = 0; i < hyphen; i++) {
            has_other = has_other || s.ptr[i] != '-';
        }
        cut = hyphen > 0 && has_other ? hyphen + 1 : cut;
    }
    *end += cut;
    *piece = mx_tpl_part(*piece, cut, s.len);
}

/* Takes pieces for one line; they lie side by side, so a line is a part of the text. */
static mx_status take_line(mx_tpl_run *run, wrapper *w, bool is_first, size_t *at, mx_tpl_vec *lines)
{
    int64_t room = w->width;
    size_t last_blank = MX_STR_NPOS; /* where the line would end without the white space at its end */
    if (!is_first && mx_tpl_trim(mx_tpl_view(w->pieces.items[w->i_piece]), true, true).len == 0) {
        *at += w->pieces.items[w->i_piece++].len;
    }
    const size_t begin = *at;
    size_t end = begin;
    while (w->i_piece < w->pieces.n) {
        const mx_tpl_value piece = w->pieces.items[w->i_piece];
        if (is_longer(piece, room)) {
            break;
        }
        room -= chars_of(piece);
        last_blank = mx_tpl_trim(mx_tpl_view(piece), true, true).len == 0 ? end : MX_STR_NPOS;
        end += piece.len;
        w->i_piece++;
    }
    if (w->i_piece < w->pieces.n && is_longer(w->pieces.items[w->i_piece], w->width)) {
        const size_t before = end;
        break_piece(w, MX_MAX(room, w->width < 1 ? 1 : 0), end == begin, &end);
        last_blank = end > before ? MX_STR_NPOS : last_blank;
    }
    *at = end;
    end = last_blank != MX_STR_NPOS ? last_blank : end;
    return end > begin ? mx_tpl_vec_push(run, lines, mx_tpl_part(w->line, begin, end)) : MX_OK;
}

mx_status mx_tpl_wrap_line(mx_tpl_run *run, mx_tpl_value line, int64_t width, bool break_long, bool break_hyphens,
                           mx_tpl_vec *lines)
{
    wrapper w = {.line = line, .width = width, .break_long = break_long, .break_hyphens = break_hyphens};
    const mx_str s = mx_tpl_view(line);
    if (width <= 0) {
        return mx_tpl_fail_type(run, "invalid width %lld (must be > 0)", (long long)width);
    }
    MX_TRY(mx_tpl_bytes_walked(run, s.len));
    for (size_t at = 0; at < s.len;) {
        const size_t end = piece_end(s, at, break_hyphens);
        MX_TRY(mx_tpl_vec_push(run, &w.pieces, mx_tpl_part(line, at, end)));
        at = end;
    }
    for (size_t at = 0; w.i_piece < w.pieces.n;) {
        MX_TRY(mx_tpl_steps(run, 1));
        MX_TRY(take_line(run, &w, lines->n == 0, &at, lines));
    }
    return MX_OK;
}
