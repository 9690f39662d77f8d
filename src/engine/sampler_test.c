/* The wanted probabilities were worked out by hand from logits that are logarithms of simple fractions. */
#include "engine/sampler.h"

#include "base/mem.h"
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

static void check_candidates(const mx_sampling *settings, const float *logits, int32_t n_vocab, const int32_t *history,
                             int32_t n_history, const wanted *rows, int32_t n_rows)
{
    mx_error err;
    mx_sampler sampler;
    if (!MX_CHECK_OK(mx_sampler_init(&sampler, settings, n_vocab, &err), &err)) {
        return;
    }
    const mx_candidate *c = NULL;
    int32_t n = 0;
    if (MX_CHECK_OK(mx_sampler_get_candidates(&sampler, logits, history, n_history, &c, &n, &err), &err) &&
        MX_CHECK_I64(n, n_rows)) {
        for (int32_t i = 0; i < n; i++) {
            MX_CHECK_I64(c[i].token_id, rows[i].token_id);
            MX_CHECK_NEAR(c[i].p, rows[i].p, 1e-6);
        }
    }
    mx_sampler_deinit(&sampler);
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

MX_TEST(greedy_takes_the_best_and_the_lowest_id_of_equals)
{
    static const float logits[5] = {1.0f, 3.0f, NAN, 3.0f, 2.0f};
    mx_error err;
    mx_sampling s = plain();
    s.temperature = 0.0f;
    mx_sampler sampler;
    if (!MX_CHECK_OK(mx_sampler_init(&sampler, &s, 5, &err), &err)) {
        return;
    }
    int32_t id = -1;
    MX_CHECK_OK(mx_sampler_pick(&sampler, logits, NULL, 0, &id, &err), &err);
    MX_CHECK_I64(id, 1);
    MX_CHECK_I64(sampler.n_draws, 0);
    mx_sampler_deinit(&sampler);
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
        if (!MX_CHECK_OK(mx_sampler_init(&sampler, &s, n_vocab, &err), &err)) {
            return;
        }
        const mx_candidate *c = NULL;
        int32_t n = 0;
        MX_CHECK_OK(mx_sampler_get_candidates(&sampler, logits, NULL, 0, &c, &n, &err), &err);
        MX_CHECK(n >= 1 && n <= n_vocab);
        for (int32_t i = 1; i < n; i++) {
            MX_CHECK(c[i - 1].logit > c[i].logit ||
                     (c[i - 1].logit == c[i].logit && c[i - 1].token_id < c[i].token_id));
        }
        mx_sampler_deinit(&sampler);
    }
}

MX_TEST(draws_follow_the_probabilities_and_the_seed)
{
    enum { N = 20000 };
    mx_error err;
    mx_sampling s = plain();
    s.seed = 42;
    mx_sampler a;
    mx_sampler b;
    if (!MX_CHECK_OK(mx_sampler_init(&a, &s, 4, &err), &err)) {
        return;
    }
    if (!MX_CHECK_OK(mx_sampler_init(&b, &s, 4, &err), &err)) {
        mx_sampler_deinit(&a);
        return;
    }
    int counts[4] = {0};
    for (int i = 0; i < N; i++) {
        int32_t from_a = -1;
        int32_t from_b = -1;
        MX_CHECK_OK(mx_sampler_pick(&a, tenths, NULL, 0, &from_a, &err), &err);
        MX_CHECK_OK(mx_sampler_pick(&b, tenths, NULL, 0, &from_b, &err), &err);
        MX_CHECK_I64(from_a, from_b);
        counts[from_a & 3]++;
    }
    MX_CHECK_NEAR(counts[0], 0.1 * N, 5.0 * sqrt(0.09 * N));
    MX_CHECK_NEAR(counts[1], 0.4 * N, 5.0 * sqrt(0.24 * N));
    MX_CHECK_I64(counts[2], 0);
    mx_sampler_deinit(&a);
    mx_sampler_deinit(&b);
}

MX_TEST(logits_without_a_finite_number_are_an_error)
{
    static const float logits[3] = {NAN, -INFINITY, NAN};
    mx_error err;
    const mx_sampling s = plain();
    mx_sampler sampler;
    if (!MX_CHECK_OK(mx_sampler_init(&sampler, &s, 3, &err), &err)) {
        return;
    }
    int32_t id = -1;
    MX_CHECK_FAILS(mx_sampler_pick(&sampler, logits, NULL, 0, &id, &err), MX_DEVICE, &err, "no finite number");
    mx_sampler_deinit(&sampler);
}

MX_TEST(settings_out_of_range_are_named)
{
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
    };
    for (size_t i = 0; i < MX_COUNTOF(rows); i++) {
        mx_error err;
        mx_sampler sampler;
        MX_CHECK_FAILS(mx_sampler_init(&sampler, &rows[i].settings, 4, &err), MX_INVALID, &err, rows[i].piece);
    }
    for (int n = 1; n <= 2; n++) {
        mx_error err;
        const mx_sampling s = plain();
        mx_sampler sampler;
        mx_mem_fail_at(n);
        MX_CHECK_FAILS(mx_sampler_init(&sampler, &s, 4, &err), MX_NO_MEMORY, &err, "sampler");
        mx_mem_fail_at(0);
    }
}

MX_TEST_MAIN(MX_CASE(without_filters_the_probabilities_are_the_softmax),
             MX_CASE(temperature_two_takes_square_roots_of_the_odds),
             MX_CASE(top_k_keeps_the_best_in_order_and_shares_out_their_mass),
             MX_CASE(top_p_keeps_the_fewest_that_reach_it), MX_CASE(top_p_counts_the_mass_that_top_k_left),
             MX_CASE(min_p_is_a_share_of_the_best), MX_CASE(filters_see_the_distribution_before_the_temperature),
             MX_CASE(the_penalty_divides_positive_and_multiplies_negative_logits_once),
             MX_CASE(greedy_takes_the_best_and_the_lowest_id_of_equals), MX_CASE(equal_logits_are_ordered_by_id),
             MX_CASE(the_heap_sorts_any_vocabulary), MX_CASE(draws_follow_the_probabilities_and_the_seed),
             MX_CASE(logits_without_a_finite_number_are_an_error), MX_CASE(settings_out_of_range_are_named))
