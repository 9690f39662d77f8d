/* format_braces.c - 'text {}'.format(values), with the sandbox's view of attributes. */
#include "text/template/chars.h"
#include "text/template/format.h"

#define MAX_NESTING 2 /* a specification may hold fields, and those no further ones */

typedef struct braces_state {
    mx_tpl_run *run;
    const mx_tpl_args *args;
    mx_tpl_value mapping; /* of format_map, or MISSING */
    int64_t i_next;       /* number of the next {} */
    bool is_automatic;    /* {} was used */
    bool is_manual;       /* {0} was used */
    bool escapes;         /* the format is markup */
} braces_state;

static mx_status put_fields(braces_state *s, mx_str format, int depth);

static mx_status positional(braces_state *s, int64_t i, mx_tpl_value *out)
{
    if (i < 0 || (size_t)i >= s->args->n_pos || s->mapping.kind != MX_TPL_MISSING) {
        return mx_tpl_fail_type(s->run, "replacement index %lld out of range for positional args tuple", (long long)i);
    }
    *out = s->args->pos[i];
    return MX_OK;
}

static mx_status named(braces_state *s, mx_str name, mx_tpl_value *out)
{
    bool found = false;
    if (s->mapping.kind == MX_TPL_DICT) {
        found = mx_tpl_dict_find_str(s->mapping.as.dict, name, out);
    } else if (s->mapping.kind == MX_TPL_MISSING) {
        for (size_t i = 0; i < s->args->n_named && !found; i++) {
            found = mx_str_eq(s->args->names[i], name);
            *out = s->args->named[i];
        }
    } else {
        return mx_tpl_fail_type(s->run, "format_map() needs a mapping, not '%s'", mx_tpl_type_name(s->mapping));
    }
    return found ? MX_OK : mx_tpl_fail_type(s->run, "format has no value for '%.*s'", MX_STR_ARG(name));
}

static bool digits_of(mx_str text, int64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || *out > INT32_MAX) {
            return false;
        }
        *out = *out * 10 + (text.ptr[i] - '0');
    }
    return text.len > 0;
}

/* The first part of a field's name: nothing, a number or a name. */
static mx_status first_value(braces_state *s, mx_str name, bool is_whole, mx_tpl_value *out)
{
    int64_t i = 0;
    if (name.len == 0 && is_whole) {
        if (s->is_manual) {
            return mx_tpl_fail_type(s->run,
                                    "cannot switch from manual field specification to automatic field numbering");
        }
        s->is_automatic = true;
        return positional(s, s->i_next++, out);
    }
    if (digits_of(name, &i)) {
        if (s->is_automatic && is_whole) {
            return mx_tpl_fail_type(s->run,
                                    "cannot switch from automatic field numbering to manual field specification");
        }
        s->is_manual = s->is_manual || is_whole;
        return positional(s, i, out);
    }
    return named(s, name, out);
}

static size_t find_of(mx_str s, const char *set, size_t from)
{
    while (from < s.len && !strchr(set, s.ptr[from])) {
        from++;
    }
    return from;
}

/* name.attribute[item] */
static mx_status field_value(braces_state *s, mx_str field, mx_tpl_value *out)
{
    size_t at = find_of(field, ".[", 0);
    MX_TRY(first_value(s, mx_str_slice(field, 0, at), at == field.len, out));
    while (at < field.len) {
        const bool is_attr = field.ptr[at] == '.';
        const size_t from = at + 1;
        const size_t end = find_of(field, is_attr ? ".[" : "]", from);
        const mx_str part = mx_str_slice(field, from, end);
        if (part.len == 0) {
            return mx_tpl_fail_type(s->run, "empty attribute in format string");
        }
        if (is_attr) {
            MX_TRY(mx_tpl_getattr(s->run, *out, part, out));
            at = end;
            continue;
        }
        if (end == field.len) {
            return mx_tpl_fail_type(s->run, "missing ']' in format string");
        }
        int64_t i = 0;
        MX_TRY(mx_tpl_getitem(s->run, *out, digits_of(part, &i) ? mx_tpl_int(i) : mx_tpl_str(part), out));
        at = end + 1;
        if (at < field.len && field.ptr[at] != '.' && field.ptr[at] != '[') {
            return mx_tpl_fail_type(s->run, "only '.' or '[' may follow ']' in format field specifier");
        }
    }
    return MX_OK;
}

static mx_status convert(braces_state *s, char conversion, mx_tpl_value *v)
{
    const size_t mark = mx_tpl_mark(s->run);
    switch (conversion) {
    case '\0': return MX_OK;
    case 's': return mx_tpl_to_str(s->run, *v, v);
    case 'r':
    case 'a':
        MX_TRY(mx_tpl_put_repr(s->run, *v));
        MX_TRY(mx_tpl_take(s->run, mark, 0, v));
        if (conversion == 'a') {
            MX_TRY(mx_tpl_put_ascii(s->run, mx_tpl_view(*v)));
            MX_TRY(mx_tpl_take(s->run, mark, 0, v));
        }
        return MX_OK;
    default: return mx_tpl_fail_type(s->run, "unknown conversion specifier %c", conversion);
    }
}

static mx_status put_value(braces_state *s, mx_tpl_value value, mx_str spec)
{
    mx_tpl_run *run = s->run;
    if (!s->escapes) {
        return mx_tpl_put_formatted(run, value, spec);
    }
    if (mx_tpl_is_markup(value)) {
        return spec.len ? mx_tpl_fail_type(run, "unsupported format specification for Markup")
                        : mx_tpl_put(run, mx_tpl_view(value));
    }
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_formatted(run, value, spec));
    MX_TRY(mx_tpl_take(run, mark, 0, &value));
    return mx_tpl_put_escaped(run, mx_tpl_view(value));
}

/* The text between the braces of a field. */
static mx_status put_field(braces_state *s, mx_str field, int depth)
{
    mx_tpl_value value;
    mx_tpl_value spec;
    size_t end = 0;
    for (bool in_brackets = false; end < field.len; end++) {
        const char c = field.ptr[end];
        if (c == '{' || c == '}') {
            return mx_tpl_fail_type(s->run, "unexpected '{' in field name");
        }
        in_brackets = c == '[' || (in_brackets && c != ']');
        if (!in_brackets && (c == '!' || c == ':')) {
            break;
        }
    }
    char conversion = '\0';
    size_t spec_at = end;
    if (end < field.len && field.ptr[end] == '!') {
        if (end + 1 >= field.len) {
            return mx_tpl_fail_type(s->run, "end of string while looking for conversion specifier");
        }
        conversion = field.ptr[end + 1];
        spec_at = end + 2;
        if (spec_at < field.len && field.ptr[spec_at] != ':') {
            return mx_tpl_fail_type(s->run, "expected ':' after conversion specifier");
        }
    }
    MX_TRY(field_value(s, mx_str_slice(field, 0, end), &value));
    MX_TRY(convert(s, conversion, &value));
    const size_t mark = mx_tpl_mark(s->run);
    const bool escapes = s->escapes;
    s->escapes = false;
    MX_TRY(put_fields(s, mx_str_slice(field, spec_at + 1, field.len), depth + 1));
    s->escapes = escapes;
    MX_TRY(mx_tpl_take(s->run, mark, 0, &spec));
    return put_value(s, value, mx_tpl_view(spec));
}

/* Where the field that begins behind `from` ends: at the brace that closes it. */
static size_t find_field_end(mx_str format, size_t from)
{
    int depth = 1;
    for (bool in_brackets = false; from < format.len; from++) {
        const char c = format.ptr[from];
        in_brackets = depth == 1 && (c == '[' || (in_brackets && c != ']'));
        if (!in_brackets) {
            depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        }
        if (depth == 0) {
            return from;
        }
    }
    return MX_STR_NPOS;
}

static mx_status put_fields(braces_state *s, mx_str format, int depth)
{
    mx_tpl_run *run = s->run;
    for (size_t at = 0; at < format.len;) {
        const size_t brace = find_of(format, "{}", at);
        MX_TRY(mx_tpl_put(run, mx_str_slice(format, at, brace)));
        if (brace == format.len) {
            return MX_OK;
        }
        at = brace + 1;
        if (at < format.len && format.ptr[at] == format.ptr[brace]) {
            MX_TRY(mx_tpl_put_char(run, format.ptr[brace]));
            at++;
            continue;
        }
        const size_t end = format.ptr[brace] == '{' ? find_field_end(format, at) : MX_STR_NPOS;
        if (end == MX_STR_NPOS) {
            return mx_tpl_fail_type(run, "single '%c' encountered in format string", format.ptr[brace]);
        }
        if (depth >= MAX_NESTING) {
            return mx_tpl_fail_type(run, "max string recursion exceeded");
        }
        MX_TRY(put_field(s, mx_str_slice(format, at, end), depth));
        at = end + 1;
    }
    return MX_OK;
}

mx_status mx_tpl_format_braces(mx_tpl_run *run, mx_tpl_value format, const mx_tpl_args *args, mx_tpl_value mapping,
                               mx_tpl_value *out)
{
    braces_state s = {.run = run, .args = args, .mapping = mapping, .escapes = mx_tpl_is_markup(format)};
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(put_fields(&s, mx_tpl_view(format), 0));
    return mx_tpl_take(run, mark, format.flags & MX_TPL_MARKUP, out);
}
