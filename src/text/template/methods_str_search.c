/* methods_str_search.c - methods of strings that look into text: find, count, startswith, isdigit ... */
#include "text/template/chars.h"
#include "text/template/methods.h"

#define METHOD(name) \
    static mx_status name(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)

/* The bytes of self that [start, end) means, as a slice would; *first is the number of their first character.
 * *is_valid false where start is beyond the end, in which nothing is found, not even nothing. */
static mx_status window(mx_tpl_run *run, mx_tpl_value self, mx_tpl_value start, mx_tpl_value end, mx_str *out,
                        int64_t *first, bool *is_valid)
{
    int64_t n = 0;
    int64_t from = 0;
    int64_t to = INT64_MAX;
    MX_TRY(mx_tpl_bytes_walked(run, self.len));
    MX_TRY(mx_tpl_length(run, self, &n));
    MX_TRY(mx_tpl_is_absent(start) ? MX_OK : mx_tpl_to_index(run, start, &from));
    MX_TRY(mx_tpl_is_absent(end) ? MX_OK : mx_tpl_to_index(run, end, &to));
    from = from < 0 ? MX_MAX(from + n, 0) : from;
    to = to < 0 ? MX_MAX(to + n, 0) : MX_MIN(to, n);
    *is_valid = from <= n && from <= to;
    *first = from;
    const mx_str s = mx_tpl_view(self);
    if (*is_valid) {
        const size_t at = mx_tpl_char_offset(s, (size_t)from);
        const mx_str rest = mx_str_slice(s, at, s.len);
        *out = mx_str_slice(rest, 0, mx_tpl_char_offset(rest, (size_t)(to - from)));
    }
    return MX_OK;
}

static mx_status search(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, bool from_right, int64_t *out)
{
    mx_str s;
    int64_t first = 0;
    bool is_valid = false;
    *out = -1;
    if (!mx_tpl_is_str(args[0])) {
        return mx_tpl_fail_type(run, "must be str, not %s", mx_tpl_type_name(args[0]));
    }
    MX_TRY(window(run, self, args[1], args[2], &s, &first, &is_valid));
    if (!is_valid) {
        return MX_OK;
    }
    const mx_str needle = mx_tpl_view(args[0]);
    const size_t at = from_right ? mx_str_find_last(s, needle) : mx_str_find(s, needle, 0);
    if (at != MX_STR_NPOS) {
        *out = first + (int64_t)mx_tpl_count_chars(mx_str_slice(s, 0, at));
    }
    return MX_OK;
}

METHOD(str_find)
{
    int64_t at = 0;
    MX_TRY(search(run, self, args, false, &at));
    *out = mx_tpl_int(at);
    return MX_OK;
}

METHOD(str_rfind)
{
    int64_t at = 0;
    MX_TRY(search(run, self, args, true, &at));
    *out = mx_tpl_int(at);
    return MX_OK;
}

METHOD(str_index)
{
    int64_t at = 0;
    MX_TRY(search(run, self, args, false, &at));
    *out = mx_tpl_int(at);
    return at < 0 ? mx_tpl_fail_type(run, "substring not found") : MX_OK;
}

METHOD(str_rindex)
{
    int64_t at = 0;
    MX_TRY(search(run, self, args, true, &at));
    *out = mx_tpl_int(at);
    return at < 0 ? mx_tpl_fail_type(run, "substring not found") : MX_OK;
}

METHOD(str_count)
{
    mx_str s;
    int64_t first = 0;
    int64_t n = 0;
    bool is_valid = false;
    if (!mx_tpl_is_str(args[0])) {
        return mx_tpl_fail_type(run, "must be str, not %s", mx_tpl_type_name(args[0]));
    }
    MX_TRY(window(run, self, args[1], args[2], &s, &first, &is_valid));
    const mx_str needle = mx_tpl_view(args[0]);
    if (is_valid && needle.len == 0) {
        n = (int64_t)mx_tpl_count_chars(s) + 1;
    } else if (is_valid) {
        for (size_t at = mx_str_find(s, needle, 0); at != MX_STR_NPOS; at = mx_str_find(s, needle, at + needle.len)) {
            n++;
        }
    }
    *out = mx_tpl_int(n);
    return MX_OK;
}

/* startswith and endswith take one string or a tuple of them. */
static mx_status has_edge(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, bool (*fits)(mx_str, mx_str),
                          mx_tpl_value *out)
{
    mx_str s;
    int64_t first = 0;
    bool is_valid = false;
    bool found = false;
    const bool is_tuple = args[0].kind == MX_TPL_TUPLE;
    const size_t n = is_tuple ? args[0].as.list->n : 1;
    MX_TRY(window(run, self, args[1], args[2], &s, &first, &is_valid));
    for (size_t i = 0; i < n && !found; i++) {
        const mx_tpl_value edge = is_tuple ? args[0].as.list->items[i] : args[0];
        if (!mx_tpl_is_str(edge)) {
            return mx_tpl_fail_type(run, "first arg must be str or a tuple of str, not %s", mx_tpl_type_name(edge));
        }
        found = is_valid && fits(s, mx_tpl_view(edge));
    }
    *out = mx_tpl_bool(found);
    return MX_OK;
}

METHOD(str_startswith)
{
    return has_edge(run, self, args, mx_str_starts_with, out);
}

METHOD(str_endswith)
{
    return has_edge(run, self, args, mx_str_ends_with, out);
}

/* Whether every character passes, and there is one (empty_fits: or none). */
static mx_status all_are(mx_tpl_run *run, mx_tpl_value self, bool (*passes)(int32_t), bool empty_fits,
                         mx_tpl_value *out)
{
    const mx_str s = mx_tpl_view(self);
    MX_TRY(mx_tpl_bytes_walked(run, s.len));
    bool all = s.len > 0 || empty_fits;
    for (size_t at = 0; all && at < s.len;) {
        all = passes(mx_tpl_char_at(s, &at));
    }
    *out = mx_tpl_bool(all);
    return MX_OK;
}

static bool is_ascii(int32_t c)
{
    return c < 128;
}

#define ALL_METHOD(name, passes, empty_fits)                    \
    METHOD(name)                                                \
    {                                                           \
        (void)args;                                             \
        return all_are(run, self, (passes), (empty_fits), out); \
    }
ALL_METHOD(str_isalpha, mx_tpl_is_alpha, false)
ALL_METHOD(str_isalnum, mx_tpl_is_alnum, false)
ALL_METHOD(str_isdigit, mx_tpl_is_digit, false)
ALL_METHOD(str_isdecimal, mx_tpl_is_decimal, false)
ALL_METHOD(str_isnumeric, mx_tpl_is_numeric, false)
ALL_METHOD(str_isspace, mx_tpl_is_space, false)
ALL_METHOD(str_isprintable, mx_tpl_is_printable, true)
ALL_METHOD(str_isascii, is_ascii, true)

METHOD(str_isidentifier)
{
    (void)args;
    (void)run;
    const mx_str s = mx_tpl_view(self);
    bool is_one = s.len > 0;
    for (size_t at = 0; is_one && at < s.len;) {
        const bool is_first = at == 0;
        const int32_t c = mx_tpl_char_at(s, &at);
        is_one = is_first ? mx_tpl_is_identifier_start(c) : mx_tpl_is_identifier_part(c);
    }
    *out = mx_tpl_bool(is_one);
    return MX_OK;
}

METHOD(str_isupper)
{
    (void)args;
    return mx_tpl_call_filter(run, mx_tpl_find_test(MX_STR("upper")), self, NULL, out);
}

METHOD(str_islower)
{
    (void)args;
    return mx_tpl_call_filter(run, mx_tpl_find_test(MX_STR("lower")), self, NULL, out);
}

/* Capitals begin words and only they do. */
METHOD(str_istitle)
{
    (void)args;
    (void)run;
    bool has_cased = false;
    bool after_cased = false;
    const mx_str s = mx_tpl_view(self);
    *out = mx_tpl_bool(false);
    for (size_t at = 0; at < s.len;) {
        const int32_t c = mx_tpl_char_at(s, &at);
        const bool is_capital = mx_tpl_is_upper(c) || mx_tpl_is_title(c);
        const bool is_small = mx_tpl_is_lower(c);
        if ((is_capital && after_cased) || (is_small && !after_cased)) {
            return MX_OK;
        }
        after_cased = is_capital || is_small;
        has_cased = has_cased || after_cased;
    }
    *out = mx_tpl_bool(has_cased);
    return MX_OK;
}

static const mx_tpl_filter rows[] = {
    {"find", str_find, "_ _ _", 1, NULL},         {"rfind", str_rfind, "_ _ _", 1, NULL},
    {"index", str_index, "_ _ _", 1, NULL},       {"rindex", str_rindex, "_ _ _", 1, NULL},
    {"count", str_count, "_ _ _", 1, NULL},       {"startswith", str_startswith, "_ _ _", 1, NULL},
    {"endswith", str_endswith, "_ _ _", 1, NULL}, {"isalpha", str_isalpha, NULL, 0, NULL},
    {"isalnum", str_isalnum, NULL, 0, NULL},      {"isdigit", str_isdigit, NULL, 0, NULL},
    {"isdecimal", str_isdecimal, NULL, 0, NULL},  {"isnumeric", str_isnumeric, NULL, 0, NULL},
    {"isspace", str_isspace, NULL, 0, NULL},      {"isprintable", str_isprintable, NULL, 0, NULL},
    {"isascii", str_isascii, NULL, 0, NULL},      {"isidentifier", str_isidentifier, NULL, 0, NULL},
    {"isupper", str_isupper, NULL, 0, NULL},      {"islower", str_islower, NULL, 0, NULL},
    {"istitle", str_istitle, NULL, 0, NULL},
};
const mx_tpl_table mx_tpl_str_search_methods = {rows, MX_COUNTOF(rows)};
