/* text.c - putting texts together at the end of run->text. */
#include "text/template/run.h"

#include "base/mem.h"
#include "base/utf8.h"

/* Strings shorter than this are copied when something is added to them; longer ones get room to grow. */
#define GROWING_MIN 256

static mx_status fail_text(mx_tpl_run *run, mx_status st)
{
    if (st == MX_NO_MEMORY) {
        run->fault = MX_TEMPLATE_NO_MEMORY;
        return mx_fail_no_memory(run->err, run->text.len, "rendering a chat template");
    }
    return mx_tpl_fail(run, MX_TEMPLATE_LIMIT, "the template makes more than %zu bytes of text", run->text.max);
}

mx_status mx_tpl_put(mx_tpl_run *run, mx_str s)
{
    MX_TRY(mx_tpl_bytes_walked(run, s.len));
    const mx_status st = mx_buf_append(&run->text, s, NULL);
    return st == MX_OK ? st : fail_text(run, st);
}

mx_status mx_tpl_put_char(mx_tpl_run *run, char c)
{
    return mx_tpl_put(run, (mx_str){&c, 1});
}

mx_status mx_tpl_put_code(mx_tpl_run *run, int32_t code_point)
{
    char bytes[4];
    return mx_tpl_put(run, (mx_str){bytes, mx_utf8_encode(code_point, bytes)});
}

mx_status mx_tpl_put_fill(mx_tpl_run *run, mx_str piece, size_t n_times)
{
    size_t n_bytes = 0;
    if (!mx_mul_size(piece.len, n_times, &n_bytes)) {
        return fail_text(run, MX_INVALID);
    }
    if (n_bytes == 0) {
        return MX_OK;
    }
    MX_TRY(mx_tpl_bytes_walked(run, n_bytes));
    const mx_status st = mx_buf_reserve(&run->text, n_bytes, NULL);
    if (st != MX_OK) {
        return fail_text(run, st);
    }
    char *to = run->text.data + run->text.len;
    if (piece.len == 1) {
        memset(to, piece.ptr[0], n_times);
    } else {
        for (size_t i = 0; i < n_times; i++) {
            memcpy(to + i * piece.len, piece.ptr, piece.len);
        }
    }
    run->text.len += n_bytes;
    return MX_OK;
}

static const char *entity_of(char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '\'': return "&#39;";
    case '"': return "&#34;";
    default: return NULL;
    }
}

mx_status mx_tpl_put_escaped(mx_tpl_run *run, mx_str s)
{
    size_t from = 0;
    for (size_t i = 0; i < s.len; i++) {
        const char *entity = entity_of(s.ptr[i]);
        if (entity) {
            MX_TRY(mx_tpl_put(run, mx_str_slice(s, from, i)));
            MX_TRY(mx_tpl_put(run, mx_str_from(entity)));
            from = i + 1;
        }
    }
    return mx_tpl_put(run, mx_str_slice(s, from, s.len));
}

mx_status mx_tpl_put_escaped_value(mx_tpl_run *run, mx_tpl_value v)
{
    if (mx_tpl_is_markup(v)) {
        return mx_tpl_put(run, mx_tpl_view(v));
    }
    if (!mx_tpl_is_str(v)) {
        MX_TRY(mx_tpl_to_str(run, v, &v));
    }
    return mx_tpl_put_escaped(run, mx_tpl_view(v));
}

mx_status mx_tpl_new_str(mx_tpl_run *run, mx_str s, unsigned flags, mx_tpl_value *out)
{
    if (s.len > MX_TPL_MAX_STR) {
        return fail_text(run, MX_INVALID);
    }
    char *copy = NULL;
    MX_TRY(mx_tpl_alloc(run, s.len + 1, 1, &copy));
    if (s.len) {
        memcpy(copy, s.ptr, s.len);
    }
    *out = mx_tpl_str((mx_str){copy, s.len});
    out->flags |= (uint8_t)flags;
    return MX_OK;
}

mx_status mx_tpl_take(mx_tpl_run *run, size_t mark, unsigned flags, mx_tpl_value *out)
{
    const mx_str made = {run->text.data ? run->text.data + mark : "", run->text.len - mark};
    MX_TRY(mx_tpl_new_str(run, made, flags, out));
    run->text.len = mark;
    return MX_OK;
}

/* The growing memory that ends exactly where s ends and has room for n_more bytes. */
static mx_tpl_growing *find_growing(mx_tpl_run *run, mx_str s, size_t n_more)
{
    for (size_t i = 0; i < MX_TPL_N_GROWING; i++) {
        mx_tpl_growing *g = &run->growing[i];
        if (g->data && s.ptr == g->data && s.len == g->len && n_more <= g->cap - g->len) {
            return g;
        }
    }
    return NULL;
}

/* Strings never change, but behind the end of the newest one nobody looks: that is where the next piece goes. */
mx_status mx_tpl_concat(mx_tpl_run *run, mx_tpl_value a, mx_tpl_value b, mx_tpl_value *out)
{
    const mx_str left = mx_tpl_view(a);
    const mx_str right = mx_tpl_view(b);
    const size_t n = left.len + right.len;
    if (n > MX_TPL_MAX_STR) {
        return fail_text(run, MX_INVALID);
    }
    if (left.len == 0 || right.len == 0) {
        const unsigned markup = (a.flags | b.flags) & MX_TPL_MARKUP;
        *out = left.len ? a : b;
        out->flags |= (uint8_t)markup;
        return MX_OK;
    }
    MX_TRY(mx_tpl_bytes_walked(run, right.len));
    mx_tpl_growing *g = n >= GROWING_MIN ? find_growing(run, left, right.len) : NULL;
    char *data = g ? g->data : NULL;
    if (!data) {
        const size_t cap = n >= GROWING_MIN ? n + n / 2 : n;
        MX_TRY(mx_tpl_alloc(run, cap, 1, &data));
        memcpy(data, left.ptr, left.len);
        if (n >= GROWING_MIN) {
            g = &run->growing[run->i_growing++ % MX_TPL_N_GROWING];
            *g = (mx_tpl_growing){.data = data, .cap = cap};
        }
    }
    memcpy(data + left.len, right.ptr, right.len);
    if (g) {
        g->len = n;
    }
    const unsigned flags = (a.flags & b.flags & MX_TPL_ASCII) | ((a.flags | b.flags) & MX_TPL_MARKUP);
    *out = mx_tpl_str_raw((mx_str){data, n}, flags);
    return MX_OK;
}
