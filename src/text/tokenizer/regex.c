/* regex.c - PCRE2 with limits.
 *
 * A pattern comes from a file that anybody may have written, so its size is bounded when it is compiled, and its steps
 * when it runs: a pattern that explodes ends with an error. */
#include "text/tokenizer/regex.h"

#include "base/mem.h"
#include "text/tokenizer/onig_syntax.h"

#define MAX_PATTERN  ((size_t)16 << 10) /* bytes as written; published ones have some hundreds */
#define MAX_COMPILED ((size_t)1 << 20)
#define MAX_STEPS    10000000u
#define MAX_HEAP_KIB 65536u
#define STACK_START  ((size_t)32 << 10)
#define STACK_MAX    ((size_t)4 << 20)

static void *pcre_malloc(size_t n_bytes, void *ctx)
{
    (void)ctx;
    return mx_malloc(n_bytes);
}

static void pcre_free(void *ptr, void *ctx)
{
    (void)ctx;
    mx_free(ptr);
}

static mx_status compile(mx_regex *regex, mx_str translated, bool needs_sets, mx_error *err)
{
    pcre2_general_context *general = pcre2_general_context_create(pcre_malloc, pcre_free, NULL);
    pcre2_compile_context *context = general ? pcre2_compile_context_create(general) : NULL;
    mx_status st = MX_OK;
    if (!context) {
        st = mx_fail_no_memory(err, 256, "compiling a pattern");
        goto done;
    }
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_set_bsr(context, PCRE2_BSR_UNICODE);
    pcre2_set_max_pattern_compiled_length(context, MAX_COMPILED);
    const uint32_t flags = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | (needs_sets ? PCRE2_ALT_EXTENDED_CLASS : 0);
    int why = 0;
    PCRE2_SIZE at = 0;
    regex->code = pcre2_compile((PCRE2_SPTR)translated.ptr, translated.len, flags, &why, &at, context);
    if (!regex->code && why == PCRE2_ERROR_HEAP_FAILED) {
        st = mx_fail_no_memory(err, translated.len, "compiling a pattern");
    } else if (!regex->code) {
        PCRE2_UCHAR text[128] = "unknown error";
        pcre2_get_error_message(why, text, sizeof text);
        st = mx_fail(err, MX_FORMAT, "the pattern \"%.*s\" is not valid: %s",
                     (int)MX_MIN(regex->source_len, (size_t)120), regex->source, (const char *)text);
    } else {
        /* Where the machine or its rules have no room for new code, the interpreter runs the pattern instead. */
        (void)pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE);
    }
done:
    pcre2_compile_context_free(context);
    pcre2_general_context_free(general);
    return st;
}

mx_status mx_regex_init(mx_regex *regex, mx_str pattern, mx_error *err)
{
    *regex = (mx_regex){0};
    if (pattern.len > MAX_PATTERN) {
        return mx_fail(err, MX_FORMAT, "a pattern has %zu bytes, must have at most %zu", pattern.len, MAX_PATTERN);
    }
    mx_buf translated = {.max = MAX_PATTERN * 16};
    bool needs_sets = false;
    regex->source = mx_malloc(pattern.len);
    regex->source_len = pattern.len;
    mx_status st = MX_OK;
    if (!regex->source) {
        st = mx_fail_no_memory(err, pattern.len, "a pattern");
        goto done;
    }
    if (pattern.len) {
        memcpy(regex->source, pattern.ptr, pattern.len);
    }
    st = mx_onig_translate(pattern, &translated, &needs_sets, err);
    if (st != MX_OK) {
        mx_error_prefix(err, st, "the pattern \"%.*s\"", (int)MX_MIN(pattern.len, (size_t)120), pattern.ptr);
        goto done;
    }
    MX_TRY_OR(done, st, mx_buf_reserve(&translated, 1, err));
    MX_TRY_OR(done, st, compile(regex, mx_buf_view(&translated), needs_sets, err));
done:
    mx_buf_deinit(&translated);
    if (st != MX_OK) {
        mx_regex_deinit(regex);
    }
    return st;
}

void mx_regex_deinit(mx_regex *regex)
{
    pcre2_code_free(regex->code);
    mx_free(regex->source);
    *regex = (mx_regex){0};
}

static mx_status make_scratch(mx_regex_scratch *scratch, mx_error *err)
{
    pcre2_general_context *general = pcre2_general_context_create(pcre_malloc, pcre_free, NULL);
    if (general) {
        scratch->data = pcre2_match_data_create(1, general);
        scratch->context = pcre2_match_context_create(general);
        scratch->stack = pcre2_jit_stack_create(STACK_START, STACK_MAX, general);
    }
    pcre2_general_context_free(general);
    if (!scratch->data || !scratch->context) {
        mx_regex_scratch_deinit(scratch);
        return mx_fail_no_memory(err, 1024, "matching patterns");
    }
    pcre2_set_match_limit(scratch->context, MAX_STEPS);
    pcre2_set_heap_limit(scratch->context, MAX_HEAP_KIB);
    if (scratch->stack) {
        pcre2_jit_stack_assign(scratch->context, NULL, scratch->stack);
    }
    return MX_OK;
}

void mx_regex_scratch_deinit(mx_regex_scratch *scratch)
{
    pcre2_match_data_free(scratch->data);
    pcre2_match_context_free(scratch->context);
    pcre2_jit_stack_free(scratch->stack);
    *scratch = (mx_regex_scratch){0};
}

mx_status mx_regex_find(const mx_regex *regex, mx_regex_scratch *scratch, mx_str text, size_t from, bool *found,
                        size_t *start, size_t *end, mx_error *err)
{
    if (!scratch->data) {
        MX_TRY(make_scratch(scratch, err));
    }
    const PCRE2_SPTR subject = (PCRE2_SPTR)(text.len ? text.ptr : "");
    int rc = pcre2_match(regex->code, subject, text.len, from, PCRE2_NO_UTF_CHECK, scratch->data, scratch->context);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
        rc = pcre2_match(regex->code, subject, text.len, from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, scratch->data,
                         scratch->context);
    }
    *found = rc >= 0;
    if (rc == PCRE2_ERROR_NOMATCH) {
        return MX_OK;
    }
    if (rc == PCRE2_ERROR_NOMEMORY) {
        return mx_fail_no_memory(err, text.len, "matching a pattern");
    }
    if (rc < 0) {
        PCRE2_UCHAR why[128] = "unknown error";
        pcre2_get_error_message(rc, why, sizeof why);
        return mx_fail(err, MX_INVALID, "the tokenizer's pattern \"%.*s\" gives up on this text: %s",
                       (int)MX_MIN(regex->source_len, (size_t)120), regex->source, (const char *)why);
    }
    const PCRE2_SIZE *place = pcre2_get_ovector_pointer(scratch->data);
    if (place[0] > place[1] || place[0] < from) { /* \K in a lookaround can do that */
        return mx_fail(err, MX_INVALID, "the tokenizer's pattern \"%.*s\" matches backwards",
                       (int)MX_MIN(regex->source_len, (size_t)120), regex->source);
    }
    *start = place[0];
    *end = place[1];
    return MX_OK;
}
