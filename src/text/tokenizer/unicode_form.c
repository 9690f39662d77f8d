/* unicode_form.c - decomposing and composing by utf8proc, ordering of marks by ourselves: utf8proc sorts a run of marks
 * by swapping neighbours, which takes hours for a megabyte of hostile ones. */
#include "text/tokenizer/unicode_form.h"

#include <utf8proc.h>

#include "base/compiler.h"
#include "base/mem.h"
#include "base/utf8.h"

#define MAX_DECOMPOSED 32 /* code points of one character; U+FDFA has 18 */
#define CHARS_MAX      ((size_t)1 << 31)

typedef struct code_range {
    int32_t first, last;
} code_range;

static bool is_in(const code_range *ranges, size_t n, int32_t c)
{
    for (size_t i = 0; i < n && ranges[i].first <= c; i++) {
        if (c <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

/* Characters whose decomposition is younger than the tables of the Rust library. */
static const code_range too_young[] = {
    {0x32FF, 0x32FF},   {0xA7F2, 0xA7F4},   {0xAB69, 0xAB69},   {0x10781, 0x107BA},
    {0x11938, 0x11938}, {0x1E030, 0x1E06D}, {0x1FBF0, 0x1FBF9},
};

bool mx_form_is_safe(mx_unicode_form form, int32_t c)
{
    static const code_range common[] = {{0x3400, 0x4DBF}, {0x4E00, 0x9FFF}};
    static const code_range composed[] = {
        {0x400, 0x482},   {0x5D0, 0x5EA},   {0x621, 0x64A},     {0x3041, 0x3096},
        {0x30A1, 0x30FA}, {0xAC00, 0xD7A3}, {0x1F300, 0x1F6FF}, {0x1F900, 0x1FAFF},
    };
    static const int32_t below[] = {
        [MX_FORM_NFC] = 0x300, [MX_FORM_NFD] = 0xC0, [MX_FORM_NFKC] = 0xA0, [MX_FORM_NFKD] = 0xA0};
    if (c < below[form]) {
        return true;
    }
    return is_in(common, MX_COUNTOF(common), c) ||
           ((form == MX_FORM_NFC || form == MX_FORM_NFKC) &&
            (is_in(composed, MX_COUNTOF(composed), c) || (c >= 0xC0 && c <= 0x131)));
}

void mx_form_scratch_deinit(mx_form_scratch *scratch)
{
    mx_free(scratch->chars);
    mx_free(scratch->sorted);
    *scratch = (mx_form_scratch){0};
}

static mx_status grow(int32_t **chars, size_t *cap, size_t n, mx_error *err)
{
    int32_t *grown = mx_array_grow(*chars, cap, n, sizeof *grown, CHARS_MAX);
    if (!grown) {
        return mx_fail_no_memory(err, n * sizeof *grown, "normalizing a text");
    }
    *chars = grown;
    return MX_OK;
}

static int combining_class(const mx_unicode *unicode, int32_t c)
{
    return mx_unicode_get(unicode, c) & MX_UC_COMBINING ? utf8proc_get_property(c)->combining_class : 0;
}

/* Sorts a run of marks by combining class, keeping the order of equal ones. */
static mx_status sort_run(int32_t *run, size_t n, const mx_unicode *unicode, mx_form_scratch *scratch, mx_error *err)
{
    if (n < 16) {
        for (size_t i = 1; i < n; i++) {
            const int32_t c = run[i];
            const int class_of_c = combining_class(unicode, c);
            size_t k = i;
            for (; k > 0 && combining_class(unicode, run[k - 1]) > class_of_c; k--) {
                run[k] = run[k - 1];
            }
            run[k] = c;
        }
        return MX_OK;
    }
    size_t start[257] = {0};
    MX_TRY(grow(&scratch->sorted, &scratch->sorted_cap, n, err));
    for (size_t i = 0; i < n; i++) {
        start[combining_class(unicode, run[i]) + 1]++;
    }
    for (size_t b = 0; b < 256; b++) {
        start[b + 1] += start[b];
    }
    for (size_t i = 0; i < n; i++) {
        scratch->sorted[start[combining_class(unicode, run[i])]++] = run[i];
    }
    memcpy(run, scratch->sorted, n * sizeof *run);
    return MX_OK;
}

static mx_status sort_marks(int32_t *chars, size_t n, const mx_unicode *unicode, mx_form_scratch *scratch,
                            mx_error *err)
{
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && combining_class(unicode, chars[end]) != 0) {
            end++;
        }
        if (end - i > 1) {
            MX_TRY(sort_run(chars + i, end - i, unicode, scratch, err));
        }
        i = end + 1;
    }
    return MX_OK;
}

mx_status mx_form_append(mx_buf *out, mx_str s, mx_unicode_form form, const mx_unicode *unicode,
                         mx_form_scratch *scratch, mx_error *err)
{
    static const utf8proc_option_t options[] = {
        [MX_FORM_NFC] = UTF8PROC_STABLE | UTF8PROC_COMPOSE,
        [MX_FORM_NFD] = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE,
        [MX_FORM_NFKC] = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT,
        [MX_FORM_NFKD] = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT,
    };
    size_t n = 0;
    for (size_t at = 0, size; at < s.len; at += size) {
        const int32_t c = mx_utf8_next(s.ptr + at, &size);
        MX_TRY(grow(&scratch->chars, &scratch->chars_cap, n + MAX_DECOMPOSED, err));
        if (is_in(too_young, MX_COUNTOF(too_young), c)) {
            scratch->chars[n++] = c;
            continue;
        }
        int last_class = 0;
        const utf8proc_ssize_t made =
            utf8proc_decompose_char(c, scratch->chars + n, MAX_DECOMPOSED, options[form], &last_class);
        if (made < 0 || made > MAX_DECOMPOSED) {
            return mx_fail(err, MX_INVALID, "U+%04X cannot be normalized", (unsigned)c);
        }
        n += (size_t)made;
    }
    MX_TRY(sort_marks(scratch->chars, n, unicode, scratch, err));
    if (form == MX_FORM_NFC || form == MX_FORM_NFKC) {
        const utf8proc_ssize_t left = utf8proc_normalize_utf32(scratch->chars, (utf8proc_ssize_t)n, options[form]);
        n = left < 0 ? 0 : (size_t)left;
    }
    for (size_t i = 0; i < n; i++) {
        char bytes[4];
        MX_TRY(mx_buf_append(out, (mx_str){bytes, mx_utf8_encode(scratch->chars[i], bytes)}, err));
    }
    return MX_OK;
}

size_t mx_unicode_lower(int32_t code_point, int32_t lower[2])
{
    /* Capital letters that are younger than utf8proc's tables; the small one is `delta` away. */
    static const struct {
        int32_t first, last, delta;
    } young[] = {
        {0x1C89, 0x1C89, 1},      {0xA7CB, 0xA7CB, 0x264 - 0xA7CB},
        {0xA7CC, 0xA7CC, 1},      {0xA7CE, 0xA7CE, 1},
        {0xA7D2, 0xA7D2, 1},      {0xA7D4, 0xA7D4, 1},
        {0xA7DA, 0xA7DA, 1},      {0xA7DC, 0xA7DC, 0x19B - 0xA7DC},
        {0x10D50, 0x10D65, 0x20}, {0x16EA0, 0x16EB8, 0x1B},
    };
    if (code_point == 0x130) { /* the only one that becomes two */
        lower[0] = 'i';
        lower[1] = 0x307;
        return 2;
    }
    if (code_point < 0x80) {
        lower[0] = code_point >= 'A' && code_point <= 'Z' ? code_point + 0x20 : code_point;
        return 1;
    }
    lower[0] = utf8proc_tolower(code_point);
    for (size_t i = 0; i < MX_COUNTOF(young) && young[i].first <= code_point; i++) {
        if (code_point <= young[i].last) {
            lower[0] = code_point + young[i].delta;
        }
    }
    return 1;
}
