/* urlize.c - addresses in text as links, by jinja2's rules of what an address is. */
#include "text/template/chars.h"
#include "text/template/filters.h"

static bool is_word(int32_t c)
{
    return c == '_' || mx_tpl_is_alnum(c);
}

/* Number of characters of `s` from `at` on that are words, or one of `more`; *end is behind them. */
static size_t run_of(mx_str s, size_t at, const char *more, size_t *end)
{
    size_t n = 0;
    while (at < s.len) {
        size_t next = at;
        const int32_t c = mx_tpl_char_at(s, &next);
        if (!is_word(c) && !(c < 128 && strchr(more, (char)c))) {
            break;
        }
        at = next;
        n++;
    }
    *end = at;
    return n;
}

static bool is_lower_word(mx_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        const char c = (char)(s.ptr[i] | 0x20);
        if (c < 'a' || c > 'z') {
            return false;
        }
    }
    return true;
}

static bool has_prefix(mx_str s, const char *prefix)
{
    const size_t n = strlen(prefix);
    for (size_t i = 0; i < n; i++) {
        if (i >= s.len || (s.ptr[i] >= 'A' && s.ptr[i] <= 'Z' ? s.ptr[i] + 32 : s.ptr[i]) != prefix[i]) {
            return false;
        }
    }
    return true;
}

/* Port, path, query and fragment up to the end. */
static bool is_rest(mx_str s)
{
    size_t at = 0;
    if (s.len && s.ptr[0] == ':') {
        for (at = 1; at < s.len && s.ptr[at] >= '0' && s.ptr[at] <= '9'; at++) {
        }
        if (at == 1 || at > 6) {
            return false;
        }
    }
    return at == s.len || strchr("/?#", s.ptr[at]) != NULL;
}

static bool is_top_domain(mx_str label, bool has_scheme)
{
    static const char *const basic[] = {"com", "net", "int", "edu", "gov", "org", "info", "mil"};
    if (has_scheme) {
        return (label.len >= 2 && label.len <= 63 && is_lower_word(label)) || has_prefix(label, "xn--");
    }
    for (size_t i = 0; i < MX_COUNTOF(basic); i++) {
        if (label.len == strlen(basic[i]) && has_prefix(label, basic[i])) {
            return true;
        }
    }
    return false;
}

/* a.b.c with a known end: labels of word characters, % and -. */
static bool is_host(mx_str s, bool has_scheme)
{
    size_t n_labels = 0;
    for (size_t at = 0;;) {
        size_t end = 0;
        const size_t n = run_of(s, at, "%-", &end);
        const bool goes_on = end < s.len && s.ptr[end] == '.';
        const mx_str label = mx_str_slice(s, at, end);
        /* The last label may be cut before characters that belong to the rest. */
        if (n && is_top_domain(label, has_scheme) && (has_scheme || n_labels > 0) &&
            is_rest(mx_str_slice(s, end, s.len))) {
            return true;
        }
        if (!goes_on || n == 0 || (!has_scheme && (n < 2 || n > 63))) {
            return false;
        }
        n_labels++;
        at = end + 1;
    }
}

static bool is_ipv4(mx_str s)
{
    size_t at = 0;
    for (int part = 0; part < 4; part++) {
        const size_t from = at;
        while (at < s.len && at < from + 3 && s.ptr[at] >= '0' && s.ptr[at] <= '9') {
            at++;
        }
        if (at == from || (part < 3 && (at >= s.len || s.ptr[at++] != '.'))) {
            return false;
        }
    }
    return is_rest(mx_str_slice(s, at, s.len));
}

static bool is_ipv6(mx_str s)
{
    size_t at = 1;
    size_t n_colons = 0;
    if (s.len == 0 || s.ptr[0] != '[') {
        return false;
    }
    for (; at < s.len && s.ptr[at] != ']'; at++) {
        const char c = (char)(s.ptr[at] | 0x20);
        const bool is_hex = (s.ptr[at] >= '0' && s.ptr[at] <= '9') || (c >= 'a' && c <= 'f');
        n_colons += s.ptr[at] == ':';
        if (!is_hex && s.ptr[at] != ':') {
            return false;
        }
    }
    return at < s.len && n_colons >= 2 && is_rest(mx_str_slice(s, at + 1, s.len));
}

static bool is_http(mx_str s)
{
    const size_t scheme = has_prefix(s, "https://") ? 8 : has_prefix(s, "http://") ? 7 : 0;
    const size_t www = has_prefix(s, "www.") ? 4 : 0;
    const mx_str rest = mx_str_slice(s, scheme + (scheme ? 0 : www), s.len);
    if ((scheme || www) && is_host(rest, true)) {
        return true;
    }
    if (is_host(s, false)) {
        return true;
    }
    return scheme && (is_ipv4(rest) || is_ipv6(rest));
}

/* ^\S+@\w[\w.-]*\.\w+$ */
static bool is_email(mx_str s)
{
    for (size_t at = 1; at < s.len; at++) {
        if (s.ptr[at] != '@') {
            continue;
        }
        size_t end = 0;
        const mx_str host = mx_str_slice(s, at + 1, s.len);
        (void)run_of(host, 0, ".-", &end);
        size_t dot = end;
        while (dot > 0 && host.ptr[dot - 1] != '.') {
            dot--;
        }
        size_t last = 0;
        const bool ends_in_word = dot > 1 && run_of(host, dot, "", &last) > 0 && last == host.len;
        size_t first = 0;
        if (end == host.len && ends_in_word && is_word(mx_tpl_char_at(host, &first))) {
            return true;
        }
    }
    return false;
}

static size_t count_of(mx_str s, const char *what)
{
    size_t n = 0;
    const mx_str needle = mx_str_from(what);
    for (size_t at = mx_str_find(s, needle, 0); at != MX_STR_NPOS; at = mx_str_find(s, needle, at + needle.len)) {
        n++;
    }
    return n;
}

/* Takes brackets and punctuation off both ends; closing brackets that a bracket inside opens stay. */
static void take_edges(mx_str word, size_t *from, size_t *to)
{
    static const char *const heads[] = {"(", "<", "&lt;"};
    static const char *const tails[] = {")", ">", ".", ",", "\n", "&gt;"};
    static const char *const pairs[][2] = {{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}};
    *from = 0;
    *to = word.len;
    for (size_t i = 0; i < MX_COUNTOF(heads);) {
        const bool fits = mx_str_starts_with(mx_str_slice(word, *from, word.len), mx_str_from(heads[i]));
        *from += fits ? strlen(heads[i]) : 0;
        i = fits ? 0 : i + 1;
    }
    for (size_t i = 0; i < MX_COUNTOF(tails);) {
        const bool fits = mx_str_ends_with(mx_str_slice(word, *from, *to), mx_str_from(tails[i]));
        *to -= fits ? strlen(tails[i]) : 0;
        i = fits ? 0 : i + 1;
    }
    for (size_t i = 0; i < MX_COUNTOF(pairs); i++) {
        const size_t n_open = count_of(mx_str_slice(word, *from, *to), pairs[i][0]);
        if (n_open <= count_of(mx_str_slice(word, *from, *to), pairs[i][1])) {
            continue;
        }
        size_t n = MX_MIN(n_open, count_of(mx_str_slice(word, *to, word.len), pairs[i][1]));
        for (; n; n--) {
            *to = mx_str_find(word, mx_str_from(pairs[i][1]), *to) + strlen(pairs[i][1]);
        }
    }
}

static mx_status put_attribute(mx_tpl_run *run, const char *name, mx_str value)
{
    if (value.len == 0) {
        return MX_OK;
    }
    MX_TRY(mx_tpl_put(run, mx_str_from(name)));
    MX_TRY(mx_tpl_put_escaped(run, value));
    return mx_tpl_put_char(run, '"');
}

typedef struct link_style {
    int64_t limit;
    mx_str rel;
    mx_str target;
} link_style;

static mx_status put_link(mx_tpl_run *run, const link_style *style, const char *scheme, mx_str address, mx_str shown)
{
    MX_TRY(mx_tpl_put(run, MX_STR("<a href=\"")));
    MX_TRY(mx_tpl_put(run, mx_str_from(scheme)));
    MX_TRY(mx_tpl_put(run, address));
    MX_TRY(mx_tpl_put_char(run, '"'));
    if (style) {
        MX_TRY(put_attribute(run, " rel=\"", style->rel));
        MX_TRY(put_attribute(run, " target=\"", style->target));
    }
    MX_TRY(mx_tpl_put_char(run, '>'));
    const bool is_cut = style && style->limit >= 0 && (int64_t)mx_tpl_count_chars(shown) > style->limit;
    MX_TRY(mx_tpl_put(run, is_cut ? mx_str_slice(shown, 0, mx_tpl_char_offset(shown, (size_t)style->limit)) : shown));
    MX_TRY(is_cut ? mx_tpl_put(run, MX_STR("...")) : MX_OK);
    return mx_tpl_put(run, MX_STR("</a>"));
}

static mx_status put_address(mx_tpl_run *run, const link_style *style, mx_str s, const mx_tpl_list *schemes)
{
    if (is_http(s)) {
        const bool has_scheme = mx_str_starts_with(s, MX_STR("https://")) || mx_str_starts_with(s, MX_STR("http://"));
        return put_link(run, style, has_scheme ? "" : "https://", s, s);
    }
    if (mx_str_starts_with(s, MX_STR("mailto:")) && is_email(mx_str_slice(s, 7, s.len))) {
        return put_link(run, NULL, "", s, mx_str_slice(s, 7, s.len));
    }
    if (mx_str_find(s, MX_STR("@"), 0) != MX_STR_NPOS && !mx_str_starts_with(s, MX_STR("www.")) && s.ptr[0] != '@' &&
        mx_str_find(s, MX_STR(":"), 0) == MX_STR_NPOS && is_email(s)) {
        return put_link(run, NULL, "mailto:", s, s);
    }
    for (size_t i = 0; i < schemes->n; i++) {
        const mx_str scheme = mx_tpl_is_str(schemes->items[i]) ? mx_tpl_view(schemes->items[i]) : MX_STR("");
        if (scheme.len && s.len > scheme.len && mx_str_starts_with(s, scheme)) {
            const link_style whole = {-1, style->rel, style->target};
            return put_link(run, &whole, "", s, s);
        }
    }
    return mx_tpl_put(run, s);
}

mx_status mx_tpl_put_urlized(mx_tpl_run *run, mx_str text, int64_t limit, mx_str rel, mx_str target,
                             const mx_tpl_list *schemes)
{
    const link_style style = {limit, rel, target};
    for (size_t at = 0; at < text.len;) {
        size_t end = at;
        bool is_gap = false;
        while (end < text.len) {
            size_t next = end;
            const bool is_space = mx_tpl_is_space(mx_tpl_char_at(text, &next));
            if (end > at && is_space != is_gap) {
                break;
            }
            is_gap = is_space;
            end = next;
        }
        const mx_str word = mx_str_slice(text, at, end);
        size_t from = 0;
        size_t to = is_gap ? 0 : word.len;
        if (!is_gap) {
            take_edges(word, &from, &to);
        }
        MX_TRY(mx_tpl_steps(run, 1));
        MX_TRY(mx_tpl_put(run, mx_str_slice(word, 0, from)));
        MX_TRY(to > from ? put_address(run, &style, mx_str_slice(word, from, to), schemes) : MX_OK);
        MX_TRY(mx_tpl_put(run, mx_str_slice(word, to, word.len)));
        at = end;
    }
    return MX_OK;
}
