/* grammar_fuzz.c - grammars in all notations, and texts for them: one byte that chooses, the grammar, a zero, the text.
 */
#include "tests/fuzz/fuzz.h"
#include "text/grammar/grammar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const mx_token_table no_tokens = {0};
    if (size < 1 || size > 4096) {
        return 0;
    }
    const mx_str rest = {(const char *)data + 1, size - 1};
    const size_t zero = mx_str_find(rest, (mx_str){"\0", 1}, 0);
    const mx_str source = mx_str_slice(rest, 0, zero == MX_STR_NPOS ? rest.len : zero);
    mx_grammar *grammar = NULL;
    mx_matcher *matcher = NULL;
    if (mx_grammar_open((mx_grammar_kind)(data[0] % 3), source, &grammar, NULL) == MX_OK &&
        mx_matcher_new(grammar, &no_tokens, &matcher, NULL) == MX_OK) {
        for (size_t i = source.len + 1; i < rest.len; i++) {
            if (mx_matcher_accept_bytes(matcher, mx_str_slice(rest, i, i + 1), NULL) != MX_OK) {
                break;
            }
        }
    }
    mx_matcher_free(matcher);
    mx_grammar_close(grammar);
    return 0;
}
