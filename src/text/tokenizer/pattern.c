/* pattern.c - strings, expressions, and expressions that have a scanner. */
#include "text/tokenizer/pattern.h"

#include "base/mem.h"

mx_status mx_pattern_init_regex(mx_pattern *pattern, mx_str regex, mx_error *err)
{
    *pattern = (mx_pattern){.scan = mx_scan_find(regex)};
    return pattern->scan ? MX_OK : mx_regex_init(&pattern->regex, regex, err);
}

mx_status mx_pattern_init(mx_pattern *pattern, yyjson_val *obj, mx_error *err)
{
    *pattern = (mx_pattern){0};
    yyjson_val *val = NULL;
    mx_str literal = {0};
    mx_str regex = {0};
    MX_TRY(mx_json_get_obj(obj, "pattern", &val, err));
    MX_TRY(mx_json_get_str(val, "String", &literal, err));
    MX_TRY(mx_json_get_str(val, "Regex", &regex, err));
    if (regex.ptr) {
        return mx_pattern_init_regex(pattern, regex, err);
    }
    if (!literal.ptr) {
        return mx_fail(err, MX_FORMAT, "\"pattern\" must be {\"String\": ...} or {\"Regex\": ...}");
    }
    if (literal.len == 0) {
        return mx_regex_init(&pattern->regex, literal, err); /* matches at every place, as an empty expression does */
    }
    pattern->literal = mx_malloc(literal.len);
    if (!pattern->literal) {
        return mx_fail_no_memory(err, literal.len, "a pattern");
    }
    memcpy(pattern->literal, literal.ptr, literal.len);
    pattern->literal_len = literal.len;
    return MX_OK;
}

void mx_pattern_deinit(mx_pattern *pattern)
{
    mx_free(pattern->literal);
    mx_regex_deinit(&pattern->regex);
    *pattern = (mx_pattern){0};
}

static mx_status next_regex(mx_pattern_walk *walk, bool *found, mx_error *err)
{
    for (;;) {
        *found = false;
        if (walk->from > walk->text.len) {
            return MX_OK;
        }
        MX_TRY(mx_regex_find(&walk->pattern->regex, walk->scratch, walk->text, walk->from, found, &walk->start,
                             &walk->end, err));
        if (!*found) {
            return MX_OK;
        }
        if (walk->start == walk->end && walk->last_match == walk->end + 1) {
            /* An empty match right behind the last one: look again one character on. */
            walk->from += walk->from < walk->text.len ? mx_utf8_size(walk->text.ptr[walk->from]) : 1;
            continue;
        }
        walk->from = walk->end;
        walk->last_match = walk->end + 1;
        return MX_OK;
    }
}

mx_status mx_pattern_next(mx_pattern_walk *walk, bool *found, mx_error *err)
{
    const mx_pattern *p = walk->pattern;
    if (p->scan) {
        *found = p->scan(walk->unicode, walk->text.ptr, walk->text.len, walk->from, &walk->start, &walk->end);
        walk->from = *found ? walk->end : walk->text.len;
        return MX_OK;
    }
    if (p->literal) {
        walk->start = mx_str_find(walk->text, (mx_str){p->literal, p->literal_len}, walk->from);
        *found = walk->start != MX_STR_NPOS;
        walk->end = *found ? walk->start + p->literal_len : 0;
        walk->from = *found ? walk->end : walk->text.len;
        return MX_OK;
    }
    return next_regex(walk, found, err);
}
