/* normalize.c - running the operations, each from one buffer into the other. */
#include <utf8proc.h>

#include "base/utf8.h"
#include "text/tokenizer/bytechars.h"
#include "text/tokenizer/normalizer.h"

#define NOTHING (-1)

/* One operation at work. */
typedef struct op_run {
    mx_normalizer_run *run;
    const mx_norm_op *op;
    mx_norm_out o;
    mx_error *err;
} op_run;

static mx_status put_char(op_run *r, int32_t code_point)
{
    char bytes[4];
    return mx_buf_append(r->o.buf, (mx_str){bytes, mx_utf8_encode(code_point, bytes)}, r->err);
}

static mx_status form(op_run *r)
{
    const mx_str in = {r->o.in.ptr, r->o.in.len};
    size_t copied = 0; /* input before it is done */
    size_t before = 0; /* where the character before `at` begins */
    for (size_t at = 0, size; at < in.len; before = at, at += size) {
        if (mx_form_is_safe(r->op->form, mx_utf8_next(in.ptr + at, &size))) {
            continue;
        }
        /* From the character before, which this one may join, up to the next that is safe. */
        size_t end = at + size;
        for (size_t next; end < in.len && !mx_form_is_safe(r->op->form, mx_utf8_next(in.ptr + end, &next));) {
            end += next;
        }
        MX_TRY(mx_norm_copy(&r->o, copied, before, r->err));
        const size_t start = r->o.buf->len;
        MX_TRY(mx_form_append(r->o.buf, mx_str_slice(in, before, end), r->op->form, r->run->unicode, &r->run->form,
                              r->err));
        if (before < r->o.in.n_origin && start < r->o.buf->len) {
            r->o.n_origin = start + mx_utf8_size(r->o.buf->data[start]);
        }
        copied = end;
        if (end == in.len) {
            return MX_OK;
        }
        at = end;
        size = mx_utf8_size(in.ptr[end]);
    }
    return mx_norm_copy(&r->o, copied, in.len, r->err);
}

static mx_status lowercase(op_run *r)
{
    for (size_t at = 0, size; at < r->o.in.len; at += size) {
        int32_t lower[2];
        const size_t n = mx_unicode_lower(mx_utf8_next(r->o.in.ptr + at, &size), lower);
        for (size_t i = 0; i < n; i++) {
            MX_TRY(put_char(r, lower[i]));
        }
        mx_norm_mark(&r->o, at + size);
    }
    return MX_OK;
}

static mx_status strip(op_run *r)
{
    const char *s = r->o.in.ptr;
    size_t start = 0;
    size_t end = r->o.in.len;
    if (r->op->strips_left) {
        start = mx_unicode_skip(r->run->unicode, s, 0, end, MX_UC_SPACE);
    }
    while (r->op->strips_right && end > start) {
        const size_t before = end - mx_utf8_last_size(s, end);
        size_t size;
        if (!(mx_unicode_at(r->run->unicode, s + before, &size) & MX_UC_SPACE)) {
            break;
        }
        end = before;
    }
    return mx_norm_copy(&r->o, start, end, r->err);
}

static mx_status drop(op_run *r)
{
    for (size_t at = 0, size; at < r->o.in.len; at += size) {
        if (!(mx_unicode_at(r->run->unicode, r->o.in.ptr + at, &size) & r->op->classes)) {
            MX_TRY(mx_norm_copy(&r->o, at, at + size, r->err));
        }
    }
    return MX_OK;
}

/* What a character becomes: itself, a space, or NOTHING. */
static int32_t nmt_of(const mx_unicode *unicode, int32_t c)
{
    (void)unicode;
    if ((c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F) {
        return NOTHING;
    }
    const bool is_space = c == 9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
                          c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
    return is_space ? ' ' : c;
}

static int32_t bert_clean_of(const mx_unicode *unicode, int32_t c)
{
    const unsigned classes = mx_unicode_get(unicode, c);
    if (c == 0 || c == 0xFFFD || (classes & MX_UC_CONTROL)) {
        return NOTHING;
    }
    return classes & MX_UC_SPACE ? ' ' : c;
}

static mx_status map_chars(op_run *r, int32_t (*map)(const mx_unicode *unicode, int32_t c))
{
    for (size_t at = 0, size; at < r->o.in.len; at += size) {
        const int32_t c = map(r->run->unicode, mx_utf8_next(r->o.in.ptr + at, &size));
        if (c != NOTHING) {
            MX_TRY(put_char(r, c));
            mx_norm_mark(&r->o, at + size);
        }
    }
    return MX_OK;
}

static mx_status nmt(op_run *r)
{
    return map_chars(r, nmt_of);
}

static mx_status bert_clean(op_run *r)
{
    return map_chars(r, bert_clean_of);
}

static bool is_chinese(int32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
           (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

static mx_status bert_cjk(op_run *r)
{
    for (size_t at = 0, size; at < r->o.in.len; at += size) {
        const int32_t c = mx_utf8_next(r->o.in.ptr + at, &size);
        const bool spaced = is_chinese(c);
        MX_TRY(mx_buf_append(r->o.buf, spaced ? MX_STR(" ") : MX_STR(""), r->err));
        MX_TRY(put_char(r, c));
        MX_TRY(mx_buf_append(r->o.buf, spaced ? MX_STR(" ") : MX_STR(""), r->err));
        mx_norm_mark(&r->o, at + size);
    }
    return MX_OK;
}

/* Where the grapheme cluster that begins at `at` ends. */
static size_t grapheme_end(mx_str s, size_t at)
{
    size_t size;
    int32_t before = mx_utf8_next(s.ptr + at, &size);
    utf8proc_int32_t state = 0;
    for (at += size; at < s.len; at += size) {
        const int32_t c = mx_utf8_next(s.ptr + at, &size);
        if (utf8proc_grapheme_break_stateful(before, c, &state)) {
            break;
        }
        before = c;
    }
    return at;
}

/* The part start..end of the text and what it becomes. Of a part that reaches beyond the origin, the first character is
 * the origin's; when all of the text so far has become nothing, the origin passes on. */
static mx_status put_mapped(op_run *r, size_t start, size_t end, mx_str replacement)
{
    const size_t n_before = r->o.buf->len;
    MX_TRY(mx_buf_append(r->o.buf, replacement, r->err));
    if (end > r->o.in.n_origin && start < r->o.in.n_origin && replacement.len) {
        r->o.n_origin = n_before + mx_utf8_size(replacement.ptr[0]);
    }
    mx_norm_mark(&r->o, end);
    if (r->o.buf->len == 0 && end >= r->o.in.n_origin && r->o.in.n_origin) {
        r->o.in.n_origin = end < r->o.in.len ? end + mx_utf8_size(r->o.in.ptr[end]) : end;
    }
    return MX_OK;
}

static mx_status precompiled(op_run *r)
{
    const mx_str in = {r->o.in.ptr, r->o.in.len};
    const mx_charsmap *map = &r->op->charsmap;
    mx_str replacement;
    for (size_t at = 0, end; at < in.len; at = end) {
        const uint8_t c = (uint8_t)in.ptr[at];
        const bool is_alone =
            at + 1 == in.len || (uint8_t)in.ptr[at + 1] < 0x80; /* a cluster: only CR LF has two ASCII */
        if (c < 0x80 && is_alone && c != '\r' && !map->maps_ascii[c]) {
            end = at + 1;
            MX_TRY(mx_norm_copy(&r->o, at, end, r->err));
            continue;
        }
        end = grapheme_end(in, at);
        if (end - at < 6 && mx_charsmap_find(map, mx_str_slice(in, at, end), &replacement)) {
            MX_TRY(put_mapped(r, at, end, replacement));
            continue;
        }
        for (size_t i = at, size; i < end; i += size) {
            size = mx_utf8_size(in.ptr[i]);
            const mx_str chr = mx_str_slice(in, i, i + size);
            MX_TRY(put_mapped(r, i, i + size, mx_charsmap_find(map, chr, &replacement) ? replacement : chr));
        }
    }
    return MX_OK;
}

static mx_status replace(op_run *r)
{
    mx_pattern_walk walk = {.pattern = &r->op->pattern,
                            .unicode = r->run->unicode,
                            .scratch = r->run->regex,
                            .text = {r->o.in.ptr, r->o.in.len}};
    size_t done = 0;
    for (bool found;;) {
        MX_TRY(mx_pattern_next(&walk, &found, r->err));
        if (!found) {
            return mx_norm_copy(&r->o, done, walk.text.len, r->err);
        }
        MX_TRY(mx_norm_copy(&r->o, done, walk.start, r->err));
        MX_TRY(mx_buf_append(r->o.buf, (mx_str){r->op->text, r->op->text_len}, r->err));
        done = walk.end;
        mx_norm_mark(&r->o, done);
    }
}

static mx_status prepend(op_run *r)
{
    MX_TRY(mx_buf_append(r->o.buf, (mx_str){r->op->text, r->op->text_len}, r->err));
    return mx_norm_copy(&r->o, 0, r->o.in.len, r->err);
}

static mx_status to_bytes(op_run *r)
{
    for (size_t at = 0; at < r->o.in.len; at++) {
        MX_TRY(mx_bytechars_append(r->o.buf, (mx_str){r->o.in.ptr + at, 1}, r->err));
        mx_norm_mark(&r->o, at + 1);
    }
    return MX_OK;
}

static mx_status (*const op_runs[])(op_run *r) = {
    [MX_NORM_FORM] = form,         [MX_NORM_LOWERCASE] = lowercase,
    [MX_NORM_STRIP] = strip,       [MX_NORM_DROP] = drop,
    [MX_NORM_NMT] = nmt,           [MX_NORM_BERT_CLEAN] = bert_clean,
    [MX_NORM_BERT_CJK] = bert_cjk, [MX_NORM_PRECOMPILED] = precompiled,
    [MX_NORM_REPLACE] = replace,   [MX_NORM_PREPEND] = prepend,
    [MX_NORM_BYTES] = to_bytes,
};

/* True when an operation surely changes nothing, so that a long text need not be copied. */
static bool is_idle(const mx_norm_op *op, mx_piece in)
{
    if (op->kind == MX_NORM_REPLACE && op->pattern.literal) {
        return mx_str_find((mx_str){in.ptr, in.len}, (mx_str){op->pattern.literal, op->pattern.literal_len}, 0) ==
               MX_STR_NPOS;
    }
    if (op->kind != MX_NORM_FORM) {
        return false;
    }
    for (size_t at = 0, size; at < in.len; at += size) {
        if (!mx_form_is_safe(op->form, mx_utf8_next(in.ptr + at, &size))) {
            return false;
        }
    }
    return true;
}

mx_status mx_normalize(mx_normalizer_run *run, mx_piece in, mx_piece *out, mx_error *err)
{
    size_t i_buf = 0;
    for (size_t i = 0; i < run->norm->n_ops && in.len; i++) {
        if (is_idle(&run->norm->ops[i], in)) {
            continue;
        }
        mx_buf *buf = &run->bufs[i_buf];
        i_buf ^= 1;
        buf->len = 0;
        op_run r = {.run = run, .op = &run->norm->ops[i], .o = {.in = in, .buf = buf}, .err = err};
        MX_TRY(mx_buf_reserve(buf, in.len, err));
        MX_TRY(op_runs[r.op->kind](&r));
        in = (mx_piece){buf->data, buf->len, r.o.n_origin};
    }
    *out = in;
    return MX_OK;
}

void mx_normalizer_run_init(mx_normalizer_run *run, const mx_normalizer *norm, const mx_unicode *unicode,
                            mx_regex_scratch *regex)
{
    *run = (mx_normalizer_run){.norm = norm, .unicode = unicode, .regex = regex};
    run->bufs[0].max = UINT32_MAX;
    run->bufs[1].max = UINT32_MAX;
}

void mx_normalizer_run_deinit(mx_normalizer_run *run)
{
    mx_buf_deinit(&run->bufs[0]);
    mx_buf_deinit(&run->bufs[1]);
    mx_form_scratch_deinit(&run->form);
}
