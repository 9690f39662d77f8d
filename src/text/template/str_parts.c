/* str_parts.c - stripping, splitting, replacing and padding strings. */
#include "text/template/chars.h"
#include "text/template/strings.h"

mx_tpl_value mx_tpl_part(mx_tpl_value s, size_t from, size_t to)
{
    const mx_str part = mx_str_slice(mx_tpl_view(s), from, to);
    return mx_tpl_str_raw(part.len ? part : MX_STR(""), s.flags | (part.len ? 0 : MX_TPL_ASCII));
}

mx_tpl_value mx_tpl_first_chars(mx_tpl_value s, int64_t n)
{
    if (n <= 0) {
        return mx_tpl_part(s, 0, 0);
    }
    const bool is_ascii = (s.flags & MX_TPL_ASCII) != 0;
    const size_t to = is_ascii ? (size_t)MX_MIN(n, (int64_t)s.len) : mx_tpl_char_offset(mx_tpl_view(s), (size_t)n);
    return mx_tpl_part(s, 0, to);
}

/* *n_walked grows by the bytes of chars that were looked at. */
static bool has_char(mx_str chars, int32_t c, size_t *n_walked)
{
    size_t at = 0;
    bool found = false;
    while (at < chars.len && !found) {
        found = mx_tpl_char_at(chars, &at) == c;
    }
    *n_walked += at;
    return found;
}

/* Takes characters of the set off one end of text [*from, *to). */
static mx_status strip_end(mx_tpl_run *run, mx_str text, mx_str set, bool is_left, size_t *from, size_t *to)
{
    size_t n_walked = 0; /* counted in large portions, so that short sets count too */
    while (*from < *to) {
        size_t next = is_left ? *from : *to;
        const int32_t c = is_left ? mx_tpl_char_at(text, &next) : mx_tpl_char_before(text, &next);
        if (!has_char(set, c, &n_walked)) {
            break;
        }
        *(is_left ? from : to) = next;
        if (n_walked >= 4096) {
            MX_TRY(mx_tpl_bytes_walked(run, n_walked));
            n_walked = 0;
        }
    }
    return mx_tpl_bytes_walked(run, n_walked);
}

mx_status mx_tpl_str_strip(mx_tpl_run *run, mx_tpl_value s, mx_tpl_value chars, bool left, bool right,
                           mx_tpl_value *out)
{
    const mx_str text = mx_tpl_view(s);
    if (chars.kind == MX_TPL_NONE || chars.kind == MX_TPL_MISSING) {
        const mx_str trimmed = mx_tpl_trim(text, left, right);
        const size_t from = (size_t)(trimmed.ptr - text.ptr);
        *out = mx_tpl_part(s, from, from + trimmed.len);
        return mx_tpl_bytes_walked(run, text.len - trimmed.len);
    }
    if (!mx_tpl_is_str(chars)) {
        return mx_tpl_fail_type(run, "strip arg must be None or str, not %s", mx_tpl_type_name(chars));
    }
    size_t from = 0;
    size_t to = text.len;
    MX_TRY(left ? strip_end(run, text, mx_tpl_view(chars), true, &from, &to) : MX_OK);
    MX_TRY(right ? strip_end(run, text, mx_tpl_view(chars), false, &from, &to) : MX_OK);
    *out = mx_tpl_part(s, from, to);
    return MX_OK;
}

/* An empty `old` is found before every character and at the end. */
static mx_status put_between(mx_tpl_run *run, mx_str s, mx_str new_text, int64_t count)
{
    for (size_t at = 0; at <= s.len; count--) {
        if (count != 0) {
            MX_TRY(mx_tpl_put(run, new_text));
        }
        if (at == s.len) {
            return MX_OK;
        }
        const size_t from = at;
        (void)mx_tpl_char_at(s, &at);
        MX_TRY(mx_tpl_put(run, count == 0 ? mx_str_slice(s, from, s.len) : mx_str_slice(s, from, at)));
        if (count == 0) {
            return MX_OK;
        }
    }
    return MX_OK;
}

mx_status mx_tpl_put_replaced(mx_tpl_run *run, mx_str s, mx_str old, mx_str new_text, int64_t count)
{
    MX_TRY(mx_tpl_bytes_walked(run, s.len));
    if (old.len == 0) {
        return count ? put_between(run, s, new_text, count) : mx_tpl_put(run, s);
    }
    size_t from = 0;
    while (count != 0) {
        const size_t at = mx_str_find(s, old, from);
        if (at == MX_STR_NPOS) {
            break;
        }
        MX_TRY(mx_tpl_steps(run, 1));
        MX_TRY(mx_tpl_put(run, mx_str_slice(s, from, at)));
        MX_TRY(mx_tpl_put(run, new_text));
        from = at + old.len;
        count -= count > 0;
    }
    return mx_tpl_put(run, mx_str_slice(s, from, s.len));
}

/* Where the white space at `at` ends, or `at` itself. */
static size_t skip_space(mx_str s, size_t at)
{
    while (at < s.len) {
        size_t next = at;
        if (!mx_tpl_is_space(mx_tpl_char_at(s, &next))) {
            break;
        }
        at = next;
    }
    return at;
}

static size_t skip_word(mx_str s, size_t at)
{
    while (at < s.len) {
        size_t next = at;
        if (mx_tpl_is_space(mx_tpl_char_at(s, &next))) {
            break;
        }
        at = next;
    }
    return at;
}

static mx_status split_words(mx_tpl_run *run, mx_tpl_value s, int64_t max_split, mx_tpl_vec *out)
{
    const mx_str text = mx_tpl_view(s);
    size_t at = skip_space(text, 0);
    while (at < text.len) {
        if (max_split == 0) {
            return mx_tpl_vec_push(run, out, mx_tpl_part(s, at, text.len));
        }
        const size_t end = skip_word(text, at);
        MX_TRY(mx_tpl_vec_push(run, out, mx_tpl_part(s, at, end)));
        at = skip_space(text, end);
        max_split -= max_split > 0;
    }
    return MX_OK;
}

static mx_status split_words_right(mx_tpl_run *run, mx_tpl_value s, int64_t max_split, mx_tpl_vec *out)
{
    const mx_str text = mx_tpl_view(s);
    size_t end = mx_tpl_trim(text, false, true).len;
    while (end > 0) {
        size_t from = end;
        if (max_split == 0) {
            return mx_tpl_vec_push(run, out, mx_tpl_part(s, 0, end));
        }
        while (from > 0) {
            size_t before = from;
            if (mx_tpl_is_space(mx_tpl_char_before(text, &before))) {
                break;
            }
            from = before;
        }
        MX_TRY(mx_tpl_vec_push(run, out, mx_tpl_part(s, from, end)));
        end = mx_tpl_trim(mx_str_slice(text, 0, from), false, true).len;
        max_split -= max_split > 0;
    }
    return MX_OK;
}

static mx_status split_at(mx_tpl_run *run, mx_tpl_value s, mx_str sep, int64_t max_split, mx_tpl_vec *out)
{
    const mx_str text = mx_tpl_view(s);
    size_t from = 0;
    for (; max_split != 0; max_split -= max_split > 0) {
        const size_t at = mx_str_find(text, sep, from);
        if (at == MX_STR_NPOS) {
            break;
        }
        MX_TRY(mx_tpl_vec_push(run, out, mx_tpl_part(s, from, at)));
        from = at + sep.len;
    }
    return mx_tpl_vec_push(run, out, mx_tpl_part(s, from, text.len));
}

static size_t find_last(mx_str text, mx_str sep, size_t end)
{
    for (size_t at = end < sep.len ? 0 : end - sep.len + 1; at-- > 0;) {
        if (memcmp(text.ptr + at, sep.ptr, sep.len) == 0) {
            return at;
        }
    }
    return MX_STR_NPOS;
}

static mx_status split_at_right(mx_tpl_run *run, mx_tpl_value s, mx_str sep, int64_t max_split, mx_tpl_vec *out)
{
    const mx_str text = mx_tpl_view(s);
    size_t end = text.len;
    for (; max_split != 0; max_split -= max_split > 0) {
        const size_t at = find_last(text, sep, end);
        if (at == MX_STR_NPOS) {
            break;
        }
        MX_TRY(mx_tpl_vec_push(run, out, mx_tpl_part(s, at + sep.len, end)));
        end = at;
    }
    return mx_tpl_vec_push(run, out, mx_tpl_part(s, 0, end));
}

static void reverse(mx_tpl_vec *vec)
{
    for (size_t i = 0; i < vec->n / 2; i++) {
        const mx_tpl_value swapped = vec->items[i];
        vec->items[i] = vec->items[vec->n - 1 - i];
        vec->items[vec->n - 1 - i] = swapped;
    }
}

mx_status mx_tpl_str_split(mx_tpl_run *run, mx_tpl_value s, mx_tpl_value sep, int64_t max_split, bool from_right,
                           mx_tpl_value *out)
{
    mx_tpl_vec parts = {0};
    MX_TRY(mx_tpl_bytes_walked(run, s.len));
    if (sep.kind == MX_TPL_NONE || sep.kind == MX_TPL_MISSING) {
        MX_TRY(from_right ? split_words_right(run, s, max_split, &parts) : split_words(run, s, max_split, &parts));
    } else if (!mx_tpl_is_str(sep)) {
        return mx_tpl_fail_type(run, "must be str or None, not %s", mx_tpl_type_name(sep));
    } else if (sep.len == 0) {
        return mx_tpl_fail_type(run, "empty separator");
    } else {
        MX_TRY(from_right ? split_at_right(run, s, mx_tpl_view(sep), max_split, &parts)
                          : split_at(run, s, mx_tpl_view(sep), max_split, &parts));
    }
    if (from_right) {
        reverse(&parts);
    }
    return mx_tpl_vec_to(run, &parts, MX_TPL_LIST, out);
}

static bool is_line_end(int32_t c)
{
    return (c >= 10 && c <= 13) || (c >= 28 && c <= 30) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

mx_status mx_tpl_str_splitlines(mx_tpl_run *run, mx_tpl_value s, bool keep_ends, mx_tpl_vec *out)
{
    const mx_str text = mx_tpl_view(s);
    MX_TRY(mx_tpl_bytes_walked(run, s.len));
    size_t from = 0;
    for (size_t at = 0; at < text.len;) {
        const size_t end = at;
        const int32_t c = mx_tpl_char_at(text, &at);
        if (!is_line_end(c)) {
            continue;
        }
        at += c == '\r' && at < text.len && text.ptr[at] == '\n';
        MX_TRY(mx_tpl_vec_push(run, out, mx_tpl_part(s, from, keep_ends ? at : end)));
        from = at;
    }
    return from < text.len ? mx_tpl_vec_push(run, out, mx_tpl_part(s, from, text.len)) : MX_OK;
}

mx_status mx_tpl_str_pad(mx_tpl_run *run, mx_tpl_value s, int64_t width, mx_str fill, bool left, bool right,
                         mx_tpl_value *out)
{
    int64_t n = 0;
    MX_TRY(mx_tpl_length(run, s, &n));
    const int64_t missing = width > n ? width - n : 0;
    if (missing == 0) {
        *out = s;
        return MX_OK;
    }
    int64_t before = left ? missing : 0;
    if (left && right) {
        before = missing / 2 + (missing & width & 1);
    }
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_fill(run, fill, (size_t)before));
    MX_TRY(mx_tpl_put(run, mx_tpl_view(s)));
    MX_TRY(mx_tpl_put_fill(run, fill, (size_t)(missing - before)));
    return mx_tpl_take(run, mark, s.flags & MX_TPL_MARKUP, out);
}
