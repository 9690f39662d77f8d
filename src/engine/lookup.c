/* lookup.c - one pass from the end to the beginning. */
#include "engine/lookup.h"

#include <string.h>

#include "base/compiler.h"

enum {
    LEAST_MATCH = 2,
    MOST_MATCH = 4,
};

int32_t mx_lookup_drafts(const int32_t *tokens, int32_t n_tokens, int32_t *drafts, int32_t max_drafts)
{
    int32_t best_len = LEAST_MATCH - 1;
    int32_t best_next = 0;
    for (int32_t i = n_tokens - 2; i >= 0 && best_len < MOST_MATCH; i--) { /* the match would end with token i */
        int32_t len = 0;
        while (len < MOST_MATCH && len <= i && tokens[i - len] == tokens[n_tokens - 1 - len]) {
            len++;
        }
        if (len > best_len) {
            best_len = len;
            best_next = i + 1;
        }
    }
    if (best_len < LEAST_MATCH) {
        return 0;
    }
    const int32_t n = MX_MIN(max_drafts, n_tokens - best_next);
    if (n > 0) {
        memcpy(drafts, tokens + best_next, (size_t)n * sizeof *drafts);
    }
    return MX_MAX(n, 0);
}
