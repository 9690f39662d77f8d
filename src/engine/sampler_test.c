/* The wanted probabilities were worked out by hand from logits that are logarithms of simple fractions. */
#include "engine/sampler.h"

#include "base/mem.h"
#include "engine/logprobs.h"
#include "tests/test.h"

#define LN2 0.69314718f
#define LN4 1.38629436f
#define LN5 1.60943791f

/* Probabilities 1/10, 4/10, 0, 5/10 of the tokens 0 to 3. */
static const float tenths[4] = {0.0f, LN4, -INFINITY, LN5};

static mx_sampling plain(void)
{
    return (mx_sampling){.temperature = 1.0f, .top_p = 1.0f, .repeat_penalty = 1.0f, .repeat_last_n = 64};
}

typedef struct wanted {
    int32_t token_id;
    double p;
} wanted;

static mx_status new_sampler(mx_sampler *sampler, mx_sampler_scratch *scratch, const mx_sampling *settings,
                             int32_t n_vocab, mx_error *err)
{
    MX_TRY(mx_sampling_check(settings, n_vocab, err));
    mx_sampler_init(sampler, settings);
    return mx_sampler_scratch_init(scratch, n_vocab, 64, err);
}

/* The prompt is the first token of the history; the rest counts as answer. */
static void check_candidates(const mx_sampling *settings, const float *logits, int32_t n_vocab, const int32_t *history,
                             int32_t n_history, const wanted *rows, int32_t n_rows)
{
    mx_error err;
    mx_sampler sampler;
    mx_sampler_scratch scratch;
    if (!MX_CHECK_OK(new_sampler(&sampler, &scratch, settings, n_vocab, &err), &err)) {
        return;
    }
    const mx_sampler_input input = {
        .logits = logits, .history = history, .n_history = n_history, .n_prompt = MX_MIN(n_history, 1)};
    mx_candidates c = {0};
    if (MX_CHECK_OK(mx_sampler_get_candidates(&sampler, &scratch, &input, &c, &err), &err) &&
        MX_CHECK_I64(c.n, n_rows)) {
        for (int32_t i = 0; i < c.n; i++) {
            MX_CHECK_I64(c.items[i].token_id, rows[i].token_id);
            MX_CHECK_NEAR(c.items[i].p, rows[i].p, 1e-6);
        }
    }
    for (int32_t i = 0; i < n_vocab; i++) {
        MX_CHECK(scratch.n_seen[i] == 0);
    }
    mx_sampler_scratch_deinit(&scratch);
}

MX_TEST(without_filters_the_probabilities_are_the_softmax)
{
    const mx_sampling s = plain();
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{0, 0.1}, {1, 0.4}, {2, 0.0}, {3, 0.5}}, 4);
}

MX_TEST(temperature_two_takes_square_roots_of_the_odds)
{
    mx_sampling s = plain();
    s.temperature = 2.0f; /* weights 1, 2, 0, sqrt(5) */
    const double sum = 3.0 + sqrt(5.0);
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{0, 1.0 / sum}, {1, 2.0 / sum}, {2, 0.0}, {3, sqrt(5.0) / sum}},
                     4);
}

MX_TEST(top_k_keeps_the_best_in_order_and_shares_out_their_mass)
{
    mx_sampling s = plain();
    s.top_k = 2;
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{3, 5.0 / 9.0}, {1, 4.0 / 9.0}}, 2);
    s.top_k = 100; /* more than there are */
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{0, 0.1}, {1, 0.4}, {2, 0.0}, {3, 0.5}}, 4);
}

MX_TEST(top_p_keeps_the_fewest_that_reach_it)
{
    mx_sampling s = plain();
    s.top_p = 0.49f;
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{3, 1.0}}, 1);
    s.top_p = 0.51f;
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{3, 5.0 / 9.0}, {1, 4.0 / 9.0}}, 2);
    s.top_p = 0.91f;
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{3, 0.5}, {1, 0.4}, {0, 0.1}}, 3);
    s.top_p = 0.0f;
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{3, 1.0}}, 1);
}

MX_TEST(top_p_counts_the_mass_that_top_k_left)
{
    mx_sampling s = plain();
    s.top_k = 2;
    s.top_p = 0.54f; /* token 3 has 5/9 = 0.556 of the two, though only 0.5 of all */
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{3, 1.0}}, 1);
}

MX_TEST(min_p_is_a_share_of_the_best)
{
    mx_sampling s = plain();
    s.min_p = 0.5f; /* 0.4 >= 0.25 stays, 0.1 does not */
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{1, 4.0 / 9.0}, {3, 5.0 / 9.0}}, 2);
    s.min_p = 0.15f;
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{0, 0.1}, {1, 0.4}, {3, 0.5}}, 3);
    s.top_k = 3; /* sorted when a filter sorts */
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{3, 0.5}, {1, 0.4}, {0, 0.1}}, 3);
}

MX_TEST(filters_see_the_distribution_before_the_temperature)
{
    mx_sampling s = plain();
    s.top_p = 0.51f;
    s.temperature = 0.5f; /* weights 25 and 16; had the temperature come first, token 3 alone would hold 25/42 */
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{3, 25.0 / 41.0}, {1, 16.0 / 41.0}}, 2);
}

MX_TEST(the_penalty_divides_positive_and_multiplies_negative_logits_once)
{
    static const float logits[3] = {LN4, -LN2, 0.0f};
    mx_sampling s = plain();
    s.repeat_penalty = 2.0f; /* LN4 -> ln 2, -LN2 -> -ln 4, 0 stays */
    const double sum = 2.0 + 0.25 + 1.0;
    check_candidates(&s, logits, 3, (int32_t[]){0, 1, 0, 0, 2, 99, -1}, 7,
                     (wanted[]){{0, 2.0 / sum}, {1, 0.25 / sum}, {2, 1.0 / sum}}, 3);
    s.repeat_last_n = 1; /* only token 1 is recent */
    check_candidates(&s, logits, 3, (int32_t[]){0, 0, 1}, 3,
                     (wanted[]){{0, 4.0 / 5.25}, {1, 0.25 / 5.25}, {2, 1.0 / 5.25}}, 3);
    s.repeat_last_n = 0;
    check_candidates(&s, logits, 3, (int32_t[]){0, 1}, 2, (wanted[]){{0, 4.0 / 5.5}, {1, 0.5 / 5.5}, {2, 1.0 / 5.5}},
                     3);
    s.repeat_last_n = -1;
    check_candidates(&s, logits, 3, (int32_t[]){1, 2, 2, 2, 2}, 5,
                     (wanted[]){{0, 4.0 / 5.25}, {1, 0.25 / 5.25}, {2, 1.0 / 5.25}}, 3);
}

MX_TEST(presence_and_frequency_count_the_answer_alone)
{
    static const float logits[3] = {LN4, LN4, LN4};
    const int32_t history[] = {0, 1, 1, 2, 99}; /* token 0 is the prompt's */
    mx_sampling s = plain();
    s.presence_penalty = LN2;
    check_candidates(&s, logits, 3, history, 5, (wanted[]){{0, 0.5}, {1, 0.25}, {2, 0.25}}, 3);
    s.presence_penalty = 0.0f;
    s.frequency_penalty = LN2; /* weights 4, 1, 2 */
    check_candidates(&s, logits, 3, history, 5, (wanted[]){{0, 4.0 / 7.0}, {1, 1.0 / 7.0}, {2, 2.0 / 7.0}}, 3);
    s.frequency_penalty = -LN2; /* weights 4, 16, 8 */
    check_candidates(&s, logits, 3, history, 5, (wanted[]){{0, 1.0 / 7.0}, {1, 4.0 / 7.0}, {2, 2.0 / 7.0}}, 3);
}

MX_TEST(biases_force_and_ban)
{
    mx_sampling s = plain();
    s.biases = (mx_logit_bias[]){{0, LN4}, {3, -INFINITY}};
    s.n_biases = 2;
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{0, 0.5}, {1, 0.5}, {2, 0.0}, {3, 0.0}}, 4);
    s.temperature = 0.0f;
    s.biases = (mx_logit_bias[]){{0, 100.0f}};
    s.n_biases = 1;
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{0, 1.0}}, 1);
}

MX_TEST(typical_keeps_what_is_nearest_to_the_entropy)
{
    mx_sampling s = plain();
    s.typical_p = 0.39f; /* entropy 0.943; surprises 2.303, 0.916, inf, 0.693: token 1 is nearest, then token 3 */
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{1, 1.0}}, 1);
    s.typical_p = 0.41f;
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{1, 4.0 / 9.0}, {3, 5.0 / 9.0}}, 2);
    s.typical_p = 0.91f;
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{1, 0.4}, {3, 0.5}, {0, 0.1}}, 3);
    s.top_p = 0.55f; /* filters behind it sort anew */
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{3, 5.0 / 9.0}, {1, 4.0 / 9.0}}, 2);
}

MX_TEST(top_n_sigma_measures_in_standard_deviations)
{
    mx_sampling s = plain();
    s.top_n_sigma = 1.0f; /* mean 0.9986, deviation 0.7120 of the finite ones: from 0.8975 on */
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{1, 4.0 / 9.0}, {3, 5.0 / 9.0}}, 2);
    s.top_n_sigma = 0.2f;
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{3, 1.0}}, 1);
    s.top_n_sigma = 3.0f;
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{0, 0.1}, {1, 0.4}, {3, 0.5}}, 3);
}

MX_TEST(xtc_leaves_the_least_of_the_top_choices)
{
    mx_sampling s = plain();
    s.xtc_probability = 1.0f;
    s.xtc_threshold = 0.3f;
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{0, 0.2}, {1, 0.8}, {2, 0.0}}, 3);
    s.xtc_threshold = 0.45f; /* one choice alone is left as it is */
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{0, 0.1}, {1, 0.4}, {2, 0.0}, {3, 0.5}}, 4);
    s.xtc_threshold = 0.09f;
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{0, 1.0}, {2, 0.0}}, 2);
}

MX_TEST(a_dynamic_temperature_follows_the_entropy)
{
    mx_sampling s = plain();
    s.dynatemp_range = 0.5f; /* entropy 0.943348 of at most ln 4, a share of 0.680482: temperature 1.180482 */
    const double w1 = pow(4.0, 1.0 / 1.180482);
    const double w3 = pow(5.0, 1.0 / 1.180482);
    const double sum = 1.0 + w1 + w3;
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{0, 1.0 / sum}, {1, w1 / sum}, {2, 0.0}, {3, w3 / sum}}, 4);
}

MX_TEST(dry_penalises_what_would_lengthen_a_repetition)
{
    static const float logits[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    const int32_t history[] = {3, 0, 1, 2, 3, 0, 1}; /* after 3 0 1 came 2 */
    mx_sampling s = plain();
    s.dry_multiplier = LN2;
    s.dry_base = 2.0f;
    s.dry_allowed_length = 2;
    s.dry_last_n = -1; /* a repetition of 3: ln 2 * 2^1, weight 1/4 */
    check_candidates(&s, logits, 4, history, 7,
                     (wanted[]){{0, 1 / 3.25}, {1, 1 / 3.25}, {2, 0.25 / 3.25}, {3, 1 / 3.25}}, 4);
    s.dry_allowed_length = 4;
    check_candidates(&s, logits, 4, history, 7, (wanted[]){{0, 0.25}, {1, 0.25}, {2, 0.25}, {3, 0.25}}, 4);
    s.dry_allowed_length = 2;
    s.dry_last_n = 5; /* 1 2 3 0 1: a repetition of 1 */
    check_candidates(&s, logits, 4, history, 7, (wanted[]){{0, 0.25}, {1, 0.25}, {2, 0.25}, {3, 0.25}}, 4);
    s.dry_last_n = -1;
    s.dry_breakers = (uint32_t[]){1u << 3}; /* 3 ends it: a repetition of 2, weight 1/2 */
    check_candidates(&s, logits, 4, history, 7, (wanted[]){{0, 1 / 3.5}, {1, 1 / 3.5}, {2, 0.5 / 3.5}, {3, 1 / 3.5}},
                     4);
    s.dry_breakers = (uint32_t[]){1u << 1}; /* the text ends with a breaker */
    check_candidates(&s, logits, 4, history, 7, (wanted[]){{0, 0.25}, {1, 0.25}, {2, 0.25}, {3, 0.25}}, 4);
    s.dry_breakers = (uint32_t[]){1u << 2}; /* a breaker itself is never penalised */
    check_candidates(&s, logits, 4, history, 7, (wanted[]){{0, 0.25}, {1, 0.25}, {2, 0.25}, {3, 0.25}}, 4);
}

/* What the definition says, with a loop for each place. */
static int32_t longest_repetition(const int32_t *history, int32_t n, int32_t token)
{
    int32_t longest = 0;
    for (int32_t i = 0; i + 1 < n; i++) {
        int32_t len = 0;
        while (len <= i && history[i - len] == history[n - 1 - len]) {
            len++;
        }
        longest = history[i + 1] == token && len > longest ? len : longest;
    }
    return longest;
}

MX_TEST(dry_finds_the_longest_repetition_in_any_text)
{
    static const float logits[3] = {0.0f, 0.0f, 0.0f};
    uint32_t state = 7;
    for (int round = 0; round < 200; round++) {
        int32_t history[40];
        const int32_t n = 1 + (int32_t)(state >> 8) % 40;
        for (int32_t i = 0; i < n; i++) {
            state = state * 1664525u + 1013904223u;
            history[i] = (int32_t)(state >> 16) % 3;
        }
        mx_sampling s = plain();
        s.dry_multiplier = 0.01f;
        s.dry_base = 1.1f;
        s.dry_last_n = -1;
        double weights[3];
        for (int32_t t = 0; t < 3; t++) {
            const int32_t len = longest_repetition(history, n, t);
            weights[t] = len > 0 ? exp(-0.01 * pow(1.1, len)) : 1.0;
        }
        const double sum = weights[0] + weights[1] + weights[2];
        check_candidates(&s, logits, 3, history, n,
                         (wanted[]){{0, weights[0] / sum}, {1, weights[1] / sum}, {2, weights[2] / sum}}, 3);
    }
}

MX_TEST(steps_are_taken_in_the_order_that_is_asked_for)
{
    mx_sampling s = plain();
    s.top_p = 0.51f;
    s.temperature = 0.5f; /* the temperature first: token 3 alone has 25/42 = 0.595 */
    s.order[0] = MX_SAMPLER_TEMPERATURE;
    s.order[1] = MX_SAMPLER_TOP_P;
    s.n_order = 2;
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{3, 1.0}}, 1);
    s.n_order = 1; /* top_p is left out */
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{0, 1.0 / 42}, {1, 16.0 / 42}, {2, 0.0}, {3, 25.0 / 42}}, 4);
    s.order[0] = MX_SAMPLER_TOP_P; /* the temperature is left out */
    check_candidates(&s, tenths, 4, NULL, 0, (wanted[]){{3, 5.0 / 9.0}, {1, 4.0 / 9.0}}, 2);
    s.repeat_penalty = 1e9f; /* penalties of what a filter left */
    s.order[1] = MX_SAMPLER_PENALTIES;
    s.n_order = 2;
    check_candidates(&s, tenths, 4, (int32_t[]){3}, 1, (wanted[]){{3, 0.2}, {1, 0.8}}, 2);
}

MX_TEST(a_grammar_takes_tokens_out_before_everything_else)
{
    mx_error err;
    mx_sampling s = plain();
    mx_sampler sampler;
    mx_sampler_scratch scratch;
    if (!MX_CHECK_OK(new_sampler(&sampler, &scratch, &s, 4, &err), &err)) {
        return;
    }
    const uint32_t allowed[] = {1u << 0 | 1u << 1};
    mx_candidates c = {0};
    const mx_sampler_input input = {.logits = tenths, .allowed = allowed};
    MX_CHECK_OK(mx_sampler_get_candidates(&sampler, &scratch, &input, &c, &err), &err);
    MX_CHECK_NEAR(c.items[0].p, 0.2, 1e-6);
    MX_CHECK_NEAR(c.items[1].p, 0.8, 1e-6);
    MX_CHECK_NEAR(c.items[3].p, 0.0, 1e-6);
    sampler.settings.temperature = 0.0f;
    int32_t id = -1;
    MX_CHECK_OK(mx_sampler_pick(&sampler, &scratch, &input, &id, &err), &err);
    MX_CHECK_I64(id, 1);
    mx_sampler_scratch_deinit(&scratch);
}

/* Draws once from each of many seeds; counts[] of the tokens, and the last mu of each. */
static void draw_mirostat(int32_t version, float tau, int counts[4], float mu[4])
{
    mx_error err;
    mx_sampler_scratch scratch;
    mx_sampling s = plain();
    s.mirostat = version;
    s.mirostat_tau = tau;
    s.mirostat_eta = 0.1f;
    s.top_k = 1; /* has no say with mirostat */
    mx_sampler sampler;
    if (!MX_CHECK_OK(new_sampler(&sampler, &scratch, &s, 4, &err), &err)) {
        return;
    }
    for (uint64_t seed = 0; seed < 300; seed++) {
        int32_t id = 2;
        s.seed = seed;
        mx_sampler_init(&sampler, &s);
        const mx_sampler_input input = {.logits = tenths};
        MX_CHECK_OK(mx_sampler_pick(&sampler, &scratch, &input, &id, &err), &err);
        counts[id & 3]++;
        mu[id & 3] = sampler.mirostat_mu;
    }
    mx_sampler_scratch_deinit(&scratch);
}

MX_TEST(mirostat_2_drops_what_surprises_and_steers)
{
    int counts[4] = {0};
    float mu[4] = {0};
    draw_mirostat(2, 1.0f, counts, mu); /* mu is 2 bits: at least 1/4, so tokens 1 and 3 with 4/9 and 5/9 */
    MX_CHECK(counts[0] == 0 && counts[2] == 0 && counts[1] > 90 && counts[3] > 120);
    MX_CHECK_NEAR(mu[1], 2.0 - 0.1 * (log2(9.0 / 4.0) - 1.0), 1e-5);
    MX_CHECK_NEAR(mu[3], 2.0 - 0.1 * (log2(9.0 / 5.0) - 1.0), 1e-5);
    int best[4] = {0};
    draw_mirostat(2, 0.1f, best, mu); /* nothing is as probable as 2^-0.2: the best is kept */
    MX_CHECK_I64(best[3], 300);
}

MX_TEST(mirostat_1_counts_the_tokens_to_keep)
{
    int counts[4] = {0};
    float mu[4] = {0};
    draw_mirostat(1, 0.5f, counts, mu); /* s = 1.11152, k = (0.778543 * 2^1)^(1/s) = 1.49 */
    MX_CHECK_I64(counts[3], 300);
    int three[4] = {0};
    draw_mirostat(1, 1.0f, three, mu); /* k = (0.778543 * 2^2)^(1/s) = 2.78 */
    MX_CHECK(three[0] > 10 && three[1] > 80 && three[2] == 0 && three[3] > 100);
}

MX_TEST(greedy_takes_the_best_and_the_lowest_id_of_equals)
{
    static const float logits[5] = {1.0f, 3.0f, NAN, 3.0f, 2.0f};
    mx_error err;
    mx_sampling s = plain();
    s.temperature = 0.0f;
    mx_sampler sampler;
    mx_sampler_scratch scratch;
    if (!MX_CHECK_OK(new_sampler(&sampler, &scratch, &s, 5, &err), &err)) {
        return;
    }
    const mx_sampler_input input = {.logits = logits, .history = (int32_t[]){1}, .n_history = 1, .n_prompt = 1};
    int32_t id = -1;
    MX_CHECK_OK(mx_sampler_pick(&sampler, &scratch, &input, &id, &err), &err);
    MX_CHECK_I64(id, 1);
    sampler.settings.repeat_penalty = 2.0f;
    MX_CHECK_OK(mx_sampler_pick(&sampler, &scratch, &input, &id, &err), &err);
    MX_CHECK_I64(id, 3);
    MX_CHECK_I64(sampler.n_draws, 0);
    mx_sampler_scratch_deinit(&scratch);
}

MX_TEST(equal_logits_are_ordered_by_id)
{
    float logits[33];
    for (int i = 0; i < 33; i++) {
        logits[i] = 1.5f;
    }
    mx_sampling s = plain();
    s.top_k = 5;
    check_candidates(&s, logits, 33, NULL, 0, (wanted[]){{0, 0.2}, {1, 0.2}, {2, 0.2}, {3, 0.2}, {4, 0.2}}, 5);
}

MX_TEST(the_heap_sorts_any_vocabulary)
{
    enum { N_MAX = 200 };
    mx_error err;
    uint32_t state = 1;
    for (int32_t n_vocab = 2; n_vocab <= N_MAX; n_vocab += 11) {
        float logits[N_MAX];
        for (int32_t i = 0; i < n_vocab; i++) {
            state = state * 1664525u + 1013904223u;
            logits[i] = (float)(state >> 27) * 0.25f; /* many equal ones */
        }
        mx_sampling s = plain();
        s.top_p = 0.9999999f;
        mx_sampler sampler;
        mx_sampler_scratch scratch;
        if (!MX_CHECK_OK(new_sampler(&sampler, &scratch, &s, n_vocab, &err), &err)) {
            return;
        }
        mx_candidates c = {0};
        const mx_sampler_input input = {.logits = logits};
        MX_CHECK_OK(mx_sampler_get_candidates(&sampler, &scratch, &input, &c, &err), &err);
        MX_CHECK(c.n >= 1 && c.n <= n_vocab);
        for (int32_t i = 1; i < c.n; i++) {
            MX_CHECK(c.items[i - 1].logit > c.items[i].logit ||
                     (c.items[i - 1].logit == c.items[i].logit && c.items[i - 1].token_id < c.items[i].token_id));
        }
        mx_sampler_scratch_deinit(&scratch);
    }
}

MX_TEST(draws_follow_the_probabilities_and_the_seed)
{
    enum { N = 20000 };
    mx_error err;
    mx_sampling s = plain();
    s.seed = 42;
    mx_sampler a;
    mx_sampler_scratch scratch;
    if (!MX_CHECK_OK(new_sampler(&a, &scratch, &s, 4, &err), &err)) {
        return;
    }
    mx_sampler b = a;
    const mx_sampler_input input = {.logits = tenths};
    int counts[4] = {0};
    for (int i = 0; i < N; i++) {
        int32_t from_a = -1;
        int32_t from_b = -1;
        MX_CHECK_OK(mx_sampler_pick(&a, &scratch, &input, &from_a, &err), &err);
        MX_CHECK_OK(mx_sampler_pick(&b, &scratch, &input, &from_b, &err), &err);
        MX_CHECK_I64(from_a, from_b);
        counts[from_a & 3]++;
    }
    MX_CHECK_NEAR(counts[0], 0.1 * N, 5.0 * sqrt(0.09 * N));
    MX_CHECK_NEAR(counts[1], 0.4 * N, 5.0 * sqrt(0.24 * N));
    MX_CHECK_I64(counts[2], 0);
    mx_sampler_scratch_deinit(&scratch);
}

MX_TEST(logits_without_a_finite_number_are_an_error)
{
    static const float logits[3] = {NAN, -INFINITY, NAN};
    static const float fine[3] = {1.0f, 2.0f, 3.0f};
    mx_error err;
    mx_sampling s = plain();
    mx_sampler sampler;
    mx_sampler_scratch scratch;
    if (!MX_CHECK_OK(new_sampler(&sampler, &scratch, &s, 3, &err), &err)) {
        return;
    }
    int32_t id = -1;
    mx_sampler_input input = {.logits = logits};
    MX_CHECK_FAILS(mx_sampler_pick(&sampler, &scratch, &input, &id, &err), MX_DEVICE, &err, "no finite number");
    sampler.settings.temperature = 0.0f;
    MX_CHECK_FAILS(mx_sampler_pick(&sampler, &scratch, &input, &id, &err), MX_DEVICE, &err, "no finite number");
    input.logits = fine;
    sampler.settings.biases = (mx_logit_bias[]){{0, -INFINITY}, {1, -INFINITY}, {2, -INFINITY}};
    sampler.settings.n_biases = 3;
    MX_CHECK_FAILS(mx_sampler_pick(&sampler, &scratch, &input, &id, &err), MX_INVALID, &err, "leave no token");
    mx_sampler_scratch_deinit(&scratch);
}

MX_TEST(settings_out_of_range_are_named)
{
    static const mx_logit_bias absent[] = {{4, 1.0f}};
    static const mx_logit_bias infinite[] = {{1, INFINITY}};
    static const struct {
        mx_sampling settings;
        const char *piece;
    } rows[] = {
        {{.temperature = -0.1f, .top_p = 1, .repeat_penalty = 1}, "temperature -0.1"},
        {{.temperature = NAN, .top_p = 1, .repeat_penalty = 1}, "temperature nan"},
        {{.top_k = -1, .top_p = 1, .repeat_penalty = 1}, "top-k -1"},
        {{.top_p = 1.5f, .repeat_penalty = 1}, "top-p 1.5"},
        {{.top_p = 1, .min_p = -1, .repeat_penalty = 1}, "min-p -1"},
        {{.top_p = 1, .repeat_penalty = 0}, "repeat penalty 0"},
        {{.top_p = 1, .repeat_penalty = 1, .repeat_last_n = -2}, "repeat last n -2"},
        {{.top_p = 1, .repeat_penalty = 1, .presence_penalty = INFINITY}, "presence penalty inf"},
        {{.top_p = 1, .repeat_penalty = 1, .dry_multiplier = 1, .dry_base = 0.5f}, "dry base 0.5"},
        {{.top_p = 1, .repeat_penalty = 1, .mirostat = 3}, "mirostat 3"},
        {{.top_p = 1, .repeat_penalty = 1, .biases = absent, .n_biases = 1}, "names token 4"},
        {{.top_p = 1, .repeat_penalty = 1, .biases = infinite, .n_biases = 1}, "no finite number"},
        {{.top_p = 1, .repeat_penalty = 1, .n_order = 2}, "one of them twice"},
        {{.top_p = 1, .repeat_penalty = 1, .n_order = 1, .order = {99}}, "one that there is not"},
    };
    mx_error err;
    for (size_t i = 0; i < MX_COUNTOF(rows); i++) {
        MX_CHECK_FAILS(mx_sampling_check(&rows[i].settings, 4, &err), MX_INVALID, &err, rows[i].piece);
    }
    for (int n = 1; n <= 3; n++) {
        mx_sampler_scratch scratch;
        mx_mem_fail_at(n);
        MX_CHECK_FAILS(mx_sampler_scratch_init(&scratch, 4, 8, &err), MX_NO_MEMORY, &err, "sampler");
        mx_mem_fail_at(0);
    }
}

MX_TEST(samplers_have_names)
{
    mx_sampler_kind kind = MX_N_SAMPLERS;
    MX_CHECK(mx_sampler_kind_find("typ_p", &kind) && kind == MX_SAMPLER_TYPICAL);
    MX_CHECK(!mx_sampler_kind_find("top", &kind));
}

MX_TEST(log_probabilities_are_those_before_everything)
{
    float logprob = 0.0f;
    mx_logprob top[4];
    mx_logprobs_get(tenths, 4, 1, &logprob, top, 3);
    MX_CHECK_NEAR(logprob, log(0.4), 1e-6);
    MX_CHECK_I64(top[0].token_id, 3);
    MX_CHECK_NEAR(top[0].logprob, log(0.5), 1e-6);
    MX_CHECK_I64(top[1].token_id, 1);
    MX_CHECK_I64(top[2].token_id, 0);
    MX_CHECK_NEAR(top[2].logprob, log(0.1), 1e-6);
    mx_logprobs_get(tenths, 4, 2, &logprob, top, 4);
    MX_CHECK_NEAR(logprob, MX_LEAST_LOGPROB, 0.0); /* finite, whatever the logit */
    MX_CHECK_NEAR(top[3].logprob, MX_LEAST_LOGPROB, 0.0);
    static const float equal[5] = {1.0f, 1.0f, NAN, 1.0f, 1.0f};
    mx_logprobs_get(equal, 5, 4, &logprob, top, 2);
    MX_CHECK_NEAR(logprob, log(0.25), 1e-6);
    MX_CHECK(top[0].token_id == 0 && top[1].token_id == 1);
    mx_logprobs_get(equal, 5, 4, &logprob, NULL, 0);
    MX_CHECK_NEAR(logprob, log(0.25), 1e-6);
}

MX_TEST_MAIN(
    MX_CASE(without_filters_the_probabilities_are_the_softmax), MX_CASE(temperature_two_takes_square_roots_of_the_odds),
    MX_CASE(top_k_keeps_the_best_in_order_and_shares_out_their_mass), MX_CASE(top_p_keeps_the_fewest_that_reach_it),
    MX_CASE(top_p_counts_the_mass_that_top_k_left), MX_CASE(min_p_is_a_share_of_the_best),
    MX_CASE(filters_see_the_distribution_before_the_temperature),
    MX_CASE(the_penalty_divides_positive_and_multiplies_negative_logits_once),
    MX_CASE(presence_and_frequency_count_the_answer_alone), MX_CASE(biases_force_and_ban),
    MX_CASE(typical_keeps_what_is_nearest_to_the_entropy), MX_CASE(top_n_sigma_measures_in_standard_deviations),
    MX_CASE(xtc_leaves_the_least_of_the_top_choices), MX_CASE(a_dynamic_temperature_follows_the_entropy),
    MX_CASE(dry_penalises_what_would_lengthen_a_repetition), MX_CASE(dry_finds_the_longest_repetition_in_any_text),
    MX_CASE(steps_are_taken_in_the_order_that_is_asked_for), MX_CASE(a_grammar_takes_tokens_out_before_everything_else),
    MX_CASE(mirostat_2_drops_what_surprises_and_steers), MX_CASE(mirostat_1_counts_the_tokens_to_keep),
    MX_CASE(greedy_takes_the_best_and_the_lowest_id_of_equals), MX_CASE(equal_logits_are_ordered_by_id),
    MX_CASE(the_heap_sorts_any_vocabulary), MX_CASE(draws_follow_the_probabilities_and_the_seed),
    MX_CASE(logits_without_a_finite_number_are_an_error), MX_CASE(settings_out_of_range_are_named),
    MX_CASE(samplers_have_names), MX_CASE(log_probabilities_are_those_before_everything))
