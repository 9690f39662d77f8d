/* repr.c - str() and repr() of values. */
#include <inttypes.h>
#include <stdio.h>

#include "text/template/chars.h"
#include "text/template/run.h"

static mx_status put_at(mx_tpl_run *run, mx_tpl_value v, int depth);

static mx_status put_escape(mx_tpl_run *run, int32_t c)
{
    char text[16];
    const int n = snprintf(text, sizeof text,
                           c < 0x100     ? "\\x%02" PRIx32
                           : c < 0x10000 ? "\\u%04" PRIx32
                                         : "\\U%08" PRIx32,
                           (uint32_t)c);
    return mx_tpl_put(run, (mx_str){text, (size_t)n});
}

static const char *simple_escape(int32_t c)
{
    return c == '\\' ? "\\\\" : c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : NULL;
}

mx_status mx_tpl_put_str_repr(mx_tpl_run *run, mx_str s)
{
    const bool has_single = s.len && memchr(s.ptr, '\'', s.len);
    const bool has_double = s.len && memchr(s.ptr, '"', s.len);
    const char quote = has_single && !has_double ? '"' : '\'';
    MX_TRY(mx_tpl_put_char(run, quote));
    size_t from = 0;
    for (size_t at = 0; at < s.len;) {
        const size_t before = at;
        const int32_t c = mx_tpl_char_at(s, &at);
        const char *escape = simple_escape(c);
        if (!escape && c != quote && mx_tpl_is_printable(c)) {
            continue;
        }
        MX_TRY(mx_tpl_put(run, mx_str_slice(s, from, before)));
        from = at;
        if (c == quote) {
            MX_TRY(mx_tpl_put_char(run, '\\'));
            MX_TRY(mx_tpl_put_char(run, quote));
        } else if (escape) {
            MX_TRY(mx_tpl_put(run, mx_str_from(escape)));
        } else {
            MX_TRY(put_escape(run, c));
        }
    }
    MX_TRY(mx_tpl_put(run, mx_str_slice(s, from, s.len)));
    return mx_tpl_put_char(run, quote);
}

mx_status mx_tpl_put_ascii(mx_tpl_run *run, mx_str s)
{
    for (size_t at = 0; at < s.len;) {
        const int32_t c = mx_tpl_char_at(s, &at);
        MX_TRY(c < 128 ? mx_tpl_put_char(run, (char)c) : put_escape(run, c));
    }
    return MX_OK;
}

static mx_status put_bytes_repr(mx_tpl_run *run, mx_str s)
{
    const char quote = s.len && memchr(s.ptr, '\'', s.len) && !memchr(s.ptr, '"', s.len) ? '"' : '\'';
    MX_TRY(mx_tpl_put_char(run, 'b'));
    MX_TRY(mx_tpl_put_char(run, quote));
    for (size_t i = 0; i < s.len; i++) {
        const unsigned char c = (unsigned char)s.ptr[i];
        const char *escape = simple_escape(c);
        if (escape) {
            MX_TRY(mx_tpl_put(run, mx_str_from(escape)));
        } else if (c < 32 || c >= 127) {
            MX_TRY(put_escape(run, c));
        } else {
            if (c == (unsigned char)quote) {
                MX_TRY(mx_tpl_put_char(run, '\\'));
            }
            MX_TRY(mx_tpl_put_char(run, (char)c));
        }
    }
    return mx_tpl_put_char(run, quote);
}

static mx_status put_items(mx_tpl_run *run, const mx_tpl_list *list, const char *open, const char *close, int depth)
{
    MX_TRY(mx_tpl_put(run, mx_str_from(open)));
    for (size_t i = 0; i < list->n; i++) {
        if (i) {
            MX_TRY(mx_tpl_put(run, MX_STR(", ")));
        }
        MX_TRY(put_at(run, list->items[i], depth));
    }
    return mx_tpl_put(run, mx_str_from(close));
}

static mx_status put_dict(mx_tpl_run *run, const mx_tpl_dict *dict, int depth)
{
    MX_TRY(mx_tpl_put_char(run, '{'));
    for (size_t i = 0; i < dict->n; i++) {
        if (i) {
            MX_TRY(mx_tpl_put(run, MX_STR(", ")));
        }
        MX_TRY(put_at(run, dict->entries[i].key, depth));
        MX_TRY(mx_tpl_put(run, MX_STR(": ")));
        MX_TRY(put_at(run, dict->entries[i].value, depth));
    }
    return mx_tpl_put_char(run, '}');
}

/* dict_keys(['a']) and the like */
static mx_status put_view(mx_tpl_run *run, mx_tpl_value v, int depth)
{
    MX_TRY(mx_tpl_put(run, mx_str_from(mx_tpl_type_name(v))));
    MX_TRY(mx_tpl_put(run, MX_STR("([")));
    mx_tpl_cursor cursor;
    MX_TRY(mx_tpl_cursor_open(run, v, &cursor));
    for (size_t i = 0;; i++) {
        mx_tpl_value item;
        bool has_item = false;
        MX_TRY(mx_tpl_cursor_next(run, &cursor, &item, &has_item));
        if (!has_item) {
            return mx_tpl_put(run, MX_STR("])"));
        }
        if (i) {
            MX_TRY(mx_tpl_put(run, MX_STR(", ")));
        }
        MX_TRY(put_at(run, item, depth));
    }
}

static mx_status put_range(mx_tpl_run *run, const mx_tpl_range *r)
{
    char text[96];
    int n = snprintf(text, sizeof text, "range(%" PRId64 ", %" PRId64, r->start, r->stop);
    if (r->step != 1) {
        n += snprintf(text + n, sizeof text - (size_t)n, ", %" PRId64, r->step);
    }
    text[n++] = ')';
    return mx_tpl_put(run, (mx_str){text, (size_t)n});
}

static mx_status put_macro(mx_tpl_run *run, const mx_tpl_macro *macro)
{
    const mx_str name = mx_tpl_macro_name(macro);
    MX_TRY(mx_tpl_put(run, MX_STR("<Macro ")));
    MX_TRY(name.ptr ? mx_tpl_put_str_repr(run, name) : mx_tpl_put(run, MX_STR("anonymous")));
    return mx_tpl_put_char(run, '>');
}

static mx_status put_object(mx_tpl_run *run, mx_tpl_value v)
{
    MX_TRY(mx_tpl_put_char(run, '<'));
    MX_TRY(mx_tpl_put(run, mx_str_from(mx_tpl_type_name(v))));
    if (v.kind == MX_TPL_FUNCTION || v.kind == MX_TPL_METHOD) {
        MX_TRY(mx_tpl_put_char(run, ' '));
        MX_TRY(mx_tpl_put(run, mx_str_from(v.kind == MX_TPL_METHOD ? v.as.bound->method->name : v.as.function->name)));
    }
    return mx_tpl_put(run, MX_STR(" object>"));
}

static mx_status put_at(mx_tpl_run *run, mx_tpl_value v, int depth)
{
    MX_TRY(mx_tpl_steps(run, 1));
    if (depth > MX_TPL_MAX_VALUE_DEPTH) {
        return mx_tpl_fail(run, MX_TEMPLATE_LIMIT, "a value nested more than %d deep is printed",
                           MX_TPL_MAX_VALUE_DEPTH);
    }
    switch ((mx_tpl_kind)v.kind) {
    case MX_TPL_MISSING: return mx_tpl_put(run, MX_STR("missing"));
    case MX_TPL_UNDEFINED: return mx_tpl_put(run, MX_STR("Undefined"));
    case MX_TPL_NONE: return mx_tpl_put(run, MX_STR("None"));
    case MX_TPL_BOOL: return mx_tpl_put(run, v.as.b ? MX_STR("True") : MX_STR("False"));
    case MX_TPL_INT:
    case MX_TPL_BIG: return mx_tpl_put_int(run, v);
    case MX_TPL_FLOAT: return mx_tpl_put_float(run, v.as.f);
    case MX_TPL_STR:
        if (!mx_tpl_is_markup(v)) {
            return mx_tpl_put_str_repr(run, mx_tpl_view(v));
        }
        MX_TRY(mx_tpl_put(run, MX_STR("Markup(")));
        MX_TRY(mx_tpl_put_str_repr(run, mx_tpl_view(v)));
        return mx_tpl_put_char(run, ')');
    case MX_TPL_BYTES: return put_bytes_repr(run, mx_tpl_view(v));
    case MX_TPL_LIST: return put_items(run, v.as.list, "[", "]", depth + 1);
    case MX_TPL_TUPLE: return put_items(run, v.as.list, "(", v.as.list->n == 1 ? ",)" : ")", depth + 1);
    case MX_TPL_SLICE: return put_items(run, v.as.list, "slice(", ")", depth + 1);
    case MX_TPL_DICT: return put_dict(run, v.as.dict, depth + 1);
    case MX_TPL_KEYS:
    case MX_TPL_VALUES:
    case MX_TPL_ITEMS: return put_view(run, v, depth + 1);
    case MX_TPL_RANGE: return put_range(run, v.as.range);
    case MX_TPL_NAMESPACE:
        MX_TRY(mx_tpl_put(run, MX_STR("<Namespace ")));
        MX_TRY(put_dict(run, v.as.dict, depth + 1));
        return mx_tpl_put_char(run, '>');
    case MX_TPL_MACRO: return put_macro(run, v.as.macro);
    case MX_TPL_LOOP: return mx_tpl_put_loop(run, v.as.loop);
    default: return put_object(run, v);
    }
}

mx_status mx_tpl_put_repr(mx_tpl_run *run, mx_tpl_value v)
{
    return put_at(run, v, 0);
}

mx_status mx_tpl_put_str(mx_tpl_run *run, mx_tpl_value v)
{
    if (v.kind == MX_TPL_UNDEFINED) {
        return MX_OK;
    }
    return mx_tpl_is_str(v) ? mx_tpl_put(run, mx_tpl_view(v)) : put_at(run, v, 0);
}

mx_status mx_tpl_to_str(mx_tpl_run *run, mx_tpl_value v, mx_tpl_value *out)
{
    if (mx_tpl_is_str(v)) {
        *out = v;
        out->flags &= (uint8_t)~MX_TPL_MARKUP;
        return MX_OK;
    }
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_str(run, v));
    return mx_tpl_take(run, mark, 0, out);
}

mx_status mx_tpl_to_soft_str(mx_tpl_run *run, mx_tpl_value v, mx_tpl_value *out)
{
    if (mx_tpl_is_str(v)) {
        *out = v;
        return MX_OK;
    }
    return mx_tpl_to_str(run, v, out);
}
