/* scan_test.c - the scanners against the regular expressions that they stand for, over random text. */
#include "text/tokenizer/scan.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "tests/tokenizer_testing.h"
#include "text/tokenizer/regex.h"

static mx_unicode *unicode;

/* Characters that sit at the borders of the patterns' classes, and runs of one. */
static void make_text(uint64_t *state, mx_buf *out)
{
    static const char *const pieces[] = {
        " ",          " ",      "\n",         "\r",         "\r\n",       "\t",           "a",
        "b",          "Z",      "E",          "'s",         "'S",         "'\u017f",      "'ll",
        "'Re",        "'",      "1",          "23",         "\u00bd",     "\u0663",       "!",
        "/",          "...",    "$",          "\u00e9",     "e\u0301",    "\u0301",       "\u01c5",
        "\u02b0",     "\u65e5", "\u3042",     "\u30fc",     "\u3007",     "\u9fa6",       "\u00a0",
        "\xC2\x85",   "\u2028", "\u3000",     "\ufeff",     "\u180e",     "\u200d",       "",
        "\x1c",       "\x7f",   "\U0001f600", "\U0001d400", "\U00020000", "\u1e9e",       "\u0130",
        "_",          "-",      "\u203f",     "\u2460",     "\u0e33",     "\u0915\u094d", "\u0378",
        "\U0010ffff",
    };
    mx_error err;
    out->len = 0;
    const uint32_t n = testing_random(state) % 24;
    for (uint32_t i = 0; i < n; i++) {
        const char *piece = pieces[testing_random(state) % MX_COUNTOF(pieces)];
        const uint32_t n_times = testing_random(state) % 8 ? 1 : 1 + testing_random(state) % 5;
        for (uint32_t k = 0; k < n_times; k++) {
            MX_CHECK_OK(mx_buf_append(out, *piece ? mx_str_from(piece) : (mx_str){"", 1}, &err), &err);
        }
        if (testing_random(state) % 6 == 0) { /* any character at all */
            char bytes[4];
            int32_t c = (int32_t)(testing_random(state) % 0x30000);
            c = c >= 0xD800 && c < 0xE000 ? 0x41 : c;
            MX_CHECK_OK(mx_buf_append(out, (mx_str){bytes, mx_utf8_encode(c, bytes)}, &err), &err);
        }
    }
}

/* False at the first match that differs. */
static bool same_matches(mx_scan_fn scan, const mx_regex *regex, mx_regex_scratch *scratch, mx_str text)
{
    mx_error err;
    for (size_t from = 0; from < text.len;) {
        size_t start[2] = {0, 0};
        size_t end[2] = {0, 0};
        bool found = false;
        const bool scanned = scan(unicode, text.ptr, text.len, from, &start[0], &end[0]);
        MX_CHECK_OK(mx_regex_find(regex, scratch, text, from, &found, &start[1], &end[1], &err), &err);
        if (scanned != found || (found && (start[0] != start[1] || end[0] != end[1]))) {
            MX_TEST_FAIL("\"%.*s\" from %zu: scanner %zu..%zu, expression %zu..%zu (found %d, %d)", MX_STR_ARG(text),
                         from, start[0], end[0], start[1], end[1], scanned, found);
            return false;
        }
        if (!found) {
            return true;
        }
        from = end[0];
    }
    return true;
}

MX_TEST(scanners_find_what_their_expressions_find)
{
    mx_error err;
    mx_buf text = {.max = TESTING_MAX};
    mx_regex_scratch scratch = {0};
    unicode = mx_malloc(sizeof *unicode);
    if (!unicode) {
        MX_TEST_FAIL("out of memory");
        return;
    }
    mx_unicode_init(unicode);
    for (size_t i = 0; mx_scan_pattern(i).ptr; i++) {
        mx_regex regex = {0};
        uint64_t state = i;
        MX_CHECK_OK(mx_regex_init(&regex, mx_scan_pattern(i), &err), &err);
        bool is_same = true;
        for (int n = 0; n < 4000 && is_same; n++) {
            make_text(&state, &text);
            is_same = same_matches(mx_scan_find(mx_scan_pattern(i)), &regex, &scratch, mx_buf_view(&text));
        }
        mx_regex_deinit(&regex);
    }
    mx_regex_scratch_deinit(&scratch);
    mx_buf_deinit(&text);
    mx_free(unicode);
}

MX_TEST(only_the_exact_pattern_has_a_scanner)
{
    MX_CHECK(mx_scan_find(mx_scan_gpt2_pattern) != NULL);
    MX_CHECK(mx_scan_find(MX_STR("\\p{N}{1,3}")) != NULL);
    MX_CHECK(mx_scan_find(MX_STR("\\p{N}{1,4}")) == NULL);
    MX_CHECK(mx_scan_find(MX_STR("")) == NULL);
}

MX_TEST_MAIN(MX_CASE(scanners_find_what_their_expressions_find), MX_CASE(only_the_exact_pattern_has_a_scanner))
