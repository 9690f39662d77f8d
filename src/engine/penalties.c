/* penalties.c - counts over the text, and a search for its repetitions. */
#include "engine/penalties.h"

#include <math.h>

#define MOST_DRY 1e6f /* enough to rule a token out, and still a number */

static bool is_known(const mx_sampler_scratch *scratch, int32_t id)
{
    return id >= 0 && id < scratch->n_vocab;
}

static void count(mx_sampler_scratch *scratch, const int32_t *tokens, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        if (is_known(scratch, tokens[i])) {
            scratch->n_seen[tokens[i]]++;
        }
    }
}

/* The last n of the text, or all of it where n is -1 or more than there is. */
static int32_t last_n_from(int32_t n, int32_t n_history)
{
    return n < 0 || n > n_history ? 0 : n_history - n;
}

static void forget(mx_sampler_scratch *scratch, const int32_t *tokens, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        if (is_known(scratch, tokens[i])) {
            scratch->n_seen[tokens[i]] = 0;
        }
    }
}

static void apply_repetition(float penalty, const mx_sampler_scratch *scratch, mx_candidates *list)
{
    for (int32_t i = 0; i < list->n; i++) {
        mx_candidate *c = &list->items[i];
        if (scratch->n_seen[c->token_id] > 0) {
            c->logit = c->logit > 0.0f ? c->logit / penalty : c->logit * penalty;
        }
    }
}

static void apply_presence(const mx_sampling *s, const mx_sampler_scratch *scratch, mx_candidates *list)
{
    for (int32_t i = 0; i < list->n; i++) {
        mx_candidate *c = &list->items[i];
        if (scratch->n_seen[c->token_id] > 0) {
            c->logit -= s->presence_penalty + s->frequency_penalty * (float)scratch->n_seen[c->token_id];
        }
    }
}

void mx_penalties_apply(const mx_sampling *s, mx_sampler_scratch *scratch, const mx_sampler_input *input,
                        mx_candidates *list)
{
    if (s->repeat_penalty != 1.0f) {
        const int32_t from = last_n_from(s->repeat_last_n, input->n_history);
        count(scratch, input->history + from, input->n_history - from);
        apply_repetition(s->repeat_penalty, scratch, list);
        forget(scratch, input->history + from, input->n_history - from);
    }
    if (s->presence_penalty != 0.0f || s->frequency_penalty != 0.0f) {
        const int32_t *answer = input->history + input->n_prompt;
        const int32_t n_answer = input->n_history - input->n_prompt;
        count(scratch, answer, n_answer);
        apply_presence(s, scratch, list);
        forget(scratch, answer, n_answer);
    }
    list->is_sorted = false;
}

static bool is_breaker(const mx_sampling *s, const mx_sampler_scratch *scratch, int32_t id)
{
    return !is_known(scratch, id) || (s->dry_breakers && (s->dry_breakers[id / 32] >> (id % 32) & 1u));
}

/* matches[k] = length of the longest common beginning of the reversed text r and r[k..], where r[0] is the last token:
 * the Z function. r(i) is end[-1 - i]. */
static void find_matches(const int32_t *end, int32_t n, int32_t *matches)
{
    int32_t left = 0;
    int32_t right = 0; /* r[left, right) equals r[0, right - left), with the largest right so far */
    matches[0] = n;
    for (int32_t k = 1; k < n; k++) {
        int32_t len = 0;
        if (k < right) {
            len = matches[k - left] < right - k ? matches[k - left] : right - k;
        }
        while (k + len < n && end[-1 - len] == end[-1 - k - len]) {
            len++;
        }
        if (k + len > right) {
            left = k;
            right = k + len;
        }
        matches[k] = len;
    }
}

/* n_seen of each token becomes the length of the longest repetition that it would lengthen. */
static void find_repetitions(const mx_sampling *s, mx_sampler_scratch *scratch, const int32_t *end, int32_t n,
                             int32_t n_open)
{
    find_matches(end, n, scratch->matches);
    for (int32_t k = 1; k < n; k++) { /* r[k..] repeats the end of the text; the token after it is r[k - 1] */
        const int32_t len = scratch->matches[k] < n_open ? scratch->matches[k] : n_open;
        const int32_t next = end[-k];
        if (len > 0 && len >= s->dry_allowed_length && !is_breaker(s, scratch, next)) {
            scratch->n_seen[next] = len > scratch->n_seen[next] ? len : scratch->n_seen[next];
        }
    }
}

void mx_penalties_apply_dry(const mx_sampling *s, mx_sampler_scratch *scratch, const mx_sampler_input *input,
                            mx_candidates *list)
{
    const int32_t from = last_n_from(s->dry_last_n, input->n_history);
    const int32_t n = MX_MIN(input->n_history - from, scratch->max_history);
    const int32_t *end = input->history + input->n_history;
    int32_t n_open = 0; /* tokens at the end that hold no breaker */
    while (n_open < n && !is_breaker(s, scratch, end[-1 - n_open])) {
        n_open++;
    }
    if (n_open == 0 || n_open < s->dry_allowed_length) {
        return;
    }
    find_repetitions(s, scratch, end, n, n_open);
    for (int32_t i = 0; i < list->n; i++) {
        mx_candidate *c = &list->items[i];
        const int32_t len = scratch->n_seen[c->token_id];
        if (len > 0) {
            const float penalty = s->dry_multiplier * powf(s->dry_base, (float)(len - s->dry_allowed_length));
            c->logit -= penalty < MOST_DRY ? penalty : MOST_DRY;
        }
    }
    forget(scratch, end - n, n);
    list->is_sorted = false;
}
