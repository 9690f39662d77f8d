/* filters_html.c - filters for HTML and URLs. */
#include "text/template/filters.h"
#include "text/template/strings.h"

static mx_status filter_escape(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_escaped_value(run, self));
    return mx_tpl_take(run, mark, MX_TPL_MARKUP, out);
}

static mx_status filter_forceescape(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    MX_TRY(mx_tpl_to_str(run, self, &self));
    return filter_escape(run, self, args, out);
}

static mx_status filter_safe(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    MX_TRY(mx_tpl_to_str(run, self, out));
    out->flags |= MX_TPL_MARKUP;
    return MX_OK;
}

/* Where the tag or comment at s[at] ends, or MX_STR_NPOS. */
static size_t find_tag_end(mx_str s, size_t at)
{
    const bool is_comment = mx_str_starts_with(mx_str_slice(s, at, s.len), MX_STR("<!--"));
    const size_t end = is_comment ? mx_str_find(s, MX_STR("-->"), at + 4) : mx_str_find(s, MX_STR(">"), at);
    return end == MX_STR_NPOS ? end : end + (is_comment ? 3 : 1);
}

static mx_status put_without_tags(mx_tpl_run *run, mx_str s)
{
    size_t from = 0;
    for (;;) {
        const size_t tag = mx_str_find(s, MX_STR("<"), from);
        const size_t end = tag == MX_STR_NPOS ? tag : find_tag_end(s, tag);
        if (end == MX_STR_NPOS) {
            return mx_tpl_put(run, mx_str_slice(s, from, s.len));
        }
        MX_TRY(mx_tpl_put(run, mx_str_slice(s, from, tag)));
        from = end;
    }
}

static mx_status filter_striptags(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    mx_tpl_value words;
    MX_TRY(mx_tpl_to_str(run, self, &self));
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(put_without_tags(run, mx_tpl_view(self)));
    MX_TRY(mx_tpl_take(run, mark, 0, &self));
    MX_TRY(mx_tpl_str_split(run, self, mx_tpl_none(), -1, false, &words));
    for (size_t i = 0; i < words.as.list->n; i++) {
        MX_TRY(mx_tpl_put(run, i ? MX_STR(" ") : MX_STR("")));
        MX_TRY(mx_tpl_put(run, mx_tpl_view(words.as.list->items[i])));
    }
    MX_TRY(mx_tpl_take(run, mark, 0, &self));
    MX_TRY(mx_tpl_put_unescaped(run, mx_tpl_view(self)));
    return mx_tpl_take(run, mark, 0, out);
}

/* Bytes that need no %; in a query a blank becomes + and / is not safe. */
static mx_status put_quoted(mx_tpl_run *run, mx_tpl_value v, bool is_query)
{
    static const char hex[] = "0123456789ABCDEF";
    MX_TRY(mx_tpl_to_str(run, v, &v));
    for (uint32_t i = 0; i < v.len; i++) {
        const unsigned char c = (unsigned char)v.as.s[i];
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                              c == '.' || c == '-' || c == '~' || (c == '/' && !is_query);
        const char coded[3] = {'%', hex[c >> 4], hex[c & 15]};
        MX_TRY(is_plain               ? mx_tpl_put_char(run, (char)c)
               : c == ' ' && is_query ? mx_tpl_put_char(run, '+')
                                      : mx_tpl_put(run, (mx_str){coded, 3}));
    }
    return MX_OK;
}

static mx_status filter_urlencode(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    const size_t mark = mx_tpl_mark(run);
    if (mx_tpl_is_str(self) || !mx_tpl_is_iterable(self)) {
        MX_TRY(put_quoted(run, self, false));
        return mx_tpl_take(run, mark, 0, out);
    }
    mx_tpl_cursor cursor;
    if (self.kind == MX_TPL_DICT) {
        self.kind = MX_TPL_ITEMS;
    }
    MX_TRY(mx_tpl_cursor_open(run, self, &cursor));
    for (bool has_item = true, is_first = true;; is_first = false) {
        mx_tpl_value item;
        mx_tpl_value pair[2];
        MX_TRY(mx_tpl_cursor_next(run, &cursor, &item, &has_item));
        if (!has_item) {
            return mx_tpl_take(run, mark, 0, out);
        }
        MX_TRY(mx_tpl_unpack(run, item, 2, pair));
        MX_TRY(mx_tpl_put(run, is_first ? MX_STR("") : MX_STR("&")));
        MX_TRY(put_quoted(run, pair[0], true));
        MX_TRY(mx_tpl_put_char(run, '='));
        MX_TRY(put_quoted(run, pair[1], true));
    }
}

static mx_status filter_xmlattr(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    const bool has_blank = !mx_tpl_is_given(args[0]) || mx_tpl_truth(run, args[0]);
    const size_t mark = mx_tpl_mark(run);
    if (self.kind == MX_TPL_UNDEFINED) {
        return mx_tpl_fail_undefined(run, self);
    }
    if (self.kind != MX_TPL_DICT) {
        return mx_tpl_fail_type(run, "'%s' object has no attribute 'items'", mx_tpl_type_name(self));
    }
    for (size_t i = 0; i < self.as.dict->n; i++) {
        const mx_tpl_entry *entry = &self.as.dict->entries[i];
        if (entry->value.kind == MX_TPL_NONE || entry->value.kind == MX_TPL_UNDEFINED) {
            continue;
        }
        if (!mx_tpl_is_str(entry->key)) {
            return mx_tpl_fail_type(run, "expected string or bytes-like object, got '%s'",
                                    mx_tpl_type_name(entry->key));
        }
        for (uint32_t k = 0; k < entry->key.len; k++) {
            if (entry->key.as.s[k] && strchr(" \t\n\r\f\v/>=", entry->key.as.s[k])) {
                return mx_tpl_fail_type(run, "invalid character in attribute name: '%.*s'",
                                        MX_STR_ARG(mx_tpl_view(entry->key)));
            }
        }
        MX_TRY(mx_tpl_put(run, has_blank || mx_tpl_mark(run) > mark ? MX_STR(" ") : MX_STR("")));
        MX_TRY(mx_tpl_put_escaped_value(run, entry->key));
        MX_TRY(mx_tpl_put(run, MX_STR("=\"")));
        MX_TRY(mx_tpl_put_escaped_value(run, entry->value));
        MX_TRY(mx_tpl_put_char(run, '"'));
    }
    return mx_tpl_take(run, mark, run->autoescape ? MX_TPL_MARKUP : 0, out);
}

/* The words of rel and "noopener" (and "nofollow"), sorted and each once. */
static mx_status rel_words(mx_tpl_run *run, mx_tpl_value rel, bool nofollow, mx_tpl_value *out)
{
    mx_tpl_value words;
    mx_tpl_vec unique = {0};
    MX_TRY(mx_tpl_str_split(run, mx_tpl_is_str(rel) ? rel : MX_TPL_LITERAL(""), mx_tpl_none(), -1, false, &words));
    mx_tpl_vec all = {.items = words.as.list->items, .n = words.as.list->n, .cap = words.as.list->n};
    MX_TRY(mx_tpl_vec_push(run, &all, MX_TPL_LITERAL("noopener")));
    if (nofollow) {
        MX_TRY(mx_tpl_vec_push(run, &all, MX_TPL_LITERAL("nofollow")));
    }
    MX_TRY(mx_tpl_sort(run, all.items, all.items, all.n, false));
    const size_t mark = mx_tpl_mark(run);
    for (size_t i = 0; i < all.n; i++) {
        if (unique.n && mx_str_eq(mx_tpl_view(unique.items[unique.n - 1]), mx_tpl_view(all.items[i]))) {
            continue;
        }
        MX_TRY(mx_tpl_put(run, unique.n ? MX_STR(" ") : MX_STR("")));
        MX_TRY(mx_tpl_put(run, mx_tpl_view(all.items[i])));
        MX_TRY(mx_tpl_vec_push(run, &unique, all.items[i]));
    }
    return mx_tpl_take(run, mark, 0, out);
}

static mx_status filter_urlize(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    mx_tpl_value rel;
    mx_tpl_vec schemes = {0};
    int64_t limit = -1;
    const mx_str target = mx_tpl_is_str(args[2]) ? mx_tpl_view(args[2]) : MX_STR("");
    if (!mx_tpl_is_absent(args[0])) {
        MX_TRY(mx_tpl_to_index(run, args[0], &limit));
    }
    if (!mx_tpl_is_absent(args[4])) {
        MX_TRY(mx_tpl_to_vec(run, args[4], &schemes));
    }
    MX_TRY(rel_words(run, args[3], mx_tpl_truth(run, args[1]), &rel));
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_escaped_value(run, self));
    MX_TRY(mx_tpl_take(run, mark, 0, &self));
    const mx_tpl_list list = {schemes.items, schemes.n};
    MX_TRY(mx_tpl_put_urlized(run, mx_tpl_view(self), limit, mx_tpl_view(rel), target, &list));
    return mx_tpl_take(run, mark, run->autoescape ? MX_TPL_MARKUP : 0, out);
}

static const mx_tpl_filter rows[] = {
    {"escape", filter_escape, NULL, 0, NULL},
    {"e", filter_escape, NULL, 0, NULL},
    {"forceescape", filter_forceescape, NULL, 0, NULL},
    {"safe", filter_safe, NULL, 0, NULL},
    {"striptags", filter_striptags, NULL, 0, NULL},
    {"urlencode", filter_urlencode, NULL, 0, NULL},
    {"xmlattr", filter_xmlattr, "autospace", 0, NULL},
    {"urlize", filter_urlize, "trim_url_limit nofollow target rel extra_schemes", 0, NULL},
};
const mx_tpl_table mx_tpl_html_filters = {rows, MX_COUNTOF(rows)};
