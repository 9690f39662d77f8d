/* sampler.c - the chain of steps, mirostat, and the draw. */
#include "engine/sampler.h"

#include <assert.h>
#include <math.h>

#include "base/mem.h"
#include "engine/penalties.h"
#include "engine/rng.h"

enum {
    MIROSTAT_M = 100, /* candidates that version 1 estimates the shape of the distribution from */
};

mx_status mx_sampler_scratch_init(mx_sampler_scratch *scratch, int32_t n_vocab, int32_t max_history, mx_error *err)
{
    assert(n_vocab > 0 && max_history > 0);
    *scratch = (mx_sampler_scratch){.n_vocab = n_vocab, .max_history = max_history};
    scratch->candidates = (mx_candidate *)mx_calloc((size_t)n_vocab, sizeof(mx_candidate));
    scratch->n_seen = (int32_t *)mx_calloc((size_t)n_vocab, sizeof(int32_t));
    scratch->matches = (int32_t *)mx_calloc((size_t)max_history, sizeof(int32_t));
    if (!scratch->candidates || !scratch->n_seen || !scratch->matches) {
        mx_sampler_scratch_deinit(scratch);
        return mx_fail_no_memory(err, (size_t)n_vocab * (sizeof(mx_candidate) + sizeof(int32_t)), "the sampler");
    }
    return MX_OK;
}

void mx_sampler_scratch_deinit(mx_sampler_scratch *scratch)
{
    mx_free(scratch->candidates);
    mx_free(scratch->n_seen);
    mx_free(scratch->matches);
    *scratch = (mx_sampler_scratch){0};
}

void mx_sampler_init(mx_sampler *sampler, const mx_sampling *settings)
{
    *sampler = (mx_sampler){.settings = *settings, .mirostat_mu = 2.0f * settings->mirostat_tau};
}

/* ---- the steps of a chain ---- */

/* What a step works on. */
typedef struct chain {
    mx_sampler *sampler;
    mx_sampler_scratch *scratch;
    const mx_sampler_input *input;
    mx_candidates list;
} chain;

static double draw(mx_sampler *sampler)
{
    return mx_rng_uniform(sampler->settings.seed, sampler->n_draws++);
}

static void step_penalties(chain *c)
{
    mx_penalties_apply(&c->sampler->settings, c->scratch, c->input, &c->list);
}

static void step_dry(chain *c)
{
    mx_penalties_apply_dry(&c->sampler->settings, c->scratch, c->input, &c->list);
}

static void step_top_n_sigma(chain *c)
{
    mx_candidates_keep_top_n_sigma(&c->list, c->sampler->settings.top_n_sigma);
}

static void step_top_k(chain *c)
{
    mx_candidates_keep_top_k(&c->list, c->sampler->settings.top_k);
}

static void step_typical(chain *c)
{
    mx_candidates_keep_typical(&c->list, c->sampler->settings.typical_p);
}

static void step_top_p(chain *c)
{
    mx_candidates_keep_top_p(&c->list, c->sampler->settings.top_p);
}

static void step_min_p(chain *c)
{
    mx_candidates_keep_min_p(&c->list, c->sampler->settings.min_p);
}

static void step_xtc(chain *c)
{
    if (draw(c->sampler) < (double)c->sampler->settings.xtc_probability) {
        mx_candidates_cut_top_choices(&c->list, c->sampler->settings.xtc_threshold);
    }
}

static void step_temperature(chain *c)
{
    const mx_sampling *s = &c->sampler->settings;
    if (s->dynatemp_range > 0.0f) {
        const float least = s->temperature > s->dynatemp_range ? s->temperature - s->dynatemp_range : 0.0f;
        const float exponent = s->dynatemp_exponent > 0.0f ? s->dynatemp_exponent : 1.0f;
        mx_candidates_apply_dynamic_temperature(&c->list, least, s->temperature + s->dynatemp_range, exponent);
    } else {
        mx_candidates_apply_temperature(&c->list, s->temperature);
    }
}

static bool has_penalties(const mx_sampling *s, int32_t n_vocab)
{
    (void)n_vocab;
    return s->repeat_penalty != 1.0f || s->presence_penalty != 0.0f || s->frequency_penalty != 0.0f;
}

static bool has_dry(const mx_sampling *s, int32_t n_vocab)
{
    (void)n_vocab;
    return s->dry_multiplier > 0.0f;
}

static bool has_top_n_sigma(const mx_sampling *s, int32_t n_vocab)
{
    (void)n_vocab;
    return s->top_n_sigma > 0.0f && s->mirostat == 0;
}

static bool has_top_k(const mx_sampling *s, int32_t n_vocab)
{
    return s->top_k > 0 && s->top_k < n_vocab && s->mirostat == 0;
}

static bool has_typical(const mx_sampling *s, int32_t n_vocab)
{
    (void)n_vocab;
    return s->typical_p > 0.0f && s->typical_p < 1.0f && s->mirostat == 0;
}

static bool has_top_p(const mx_sampling *s, int32_t n_vocab)
{
    (void)n_vocab;
    return s->top_p < 1.0f && s->mirostat == 0;
}

static bool has_min_p(const mx_sampling *s, int32_t n_vocab)
{
    (void)n_vocab;
    return s->min_p > 0.0f && s->mirostat == 0;
}

static bool has_xtc(const mx_sampling *s, int32_t n_vocab)
{
    (void)n_vocab;
    return s->xtc_probability > 0.0f && s->xtc_threshold <= 0.5f && s->mirostat == 0;
}

static bool has_temperature(const mx_sampling *s, int32_t n_vocab)
{
    (void)n_vocab;
    return s->temperature != 1.0f || s->dynatemp_range > 0.0f;
}

static const struct {
    bool (*is_on)(const mx_sampling *s, int32_t n_vocab);
    void (*run)(chain *c);
    bool counts_when_greedy; /* it changes which token is the most probable */
} steps[] = {
    [MX_SAMPLER_PENALTIES] = {has_penalties, step_penalties, true},
    [MX_SAMPLER_DRY] = {has_dry, step_dry, true},
    [MX_SAMPLER_TOP_N_SIGMA] = {has_top_n_sigma, step_top_n_sigma, false},
    [MX_SAMPLER_TOP_K] = {has_top_k, step_top_k, false},
    [MX_SAMPLER_TYPICAL] = {has_typical, step_typical, false},
    [MX_SAMPLER_TOP_P] = {has_top_p, step_top_p, false},
    [MX_SAMPLER_MIN_P] = {has_min_p, step_min_p, false},
    [MX_SAMPLER_XTC] = {has_xtc, step_xtc, false},
    [MX_SAMPLER_TEMPERATURE] = {has_temperature, step_temperature, false},
};
_Static_assert(MX_COUNTOF(steps) == MX_N_SAMPLERS, "one step per sampler");

/* The steps that are on, in the order asked for. */
static void run_steps(chain *c)
{
    const mx_sampling *s = &c->sampler->settings;
    const int32_t n = s->n_order > 0 ? s->n_order : MX_N_SAMPLERS;
    for (int32_t i = 0; i < n; i++) {
        const int32_t kind = s->n_order > 0 ? s->order[i] : i;
        if ((s->temperature > 0.0f || steps[kind].counts_when_greedy) && steps[kind].is_on(s, c->scratch->n_vocab)) {
            steps[kind].run(c);
        }
    }
}

/* ---- from logits to candidates ---- */

static void fill(mx_sampler_scratch *scratch, const mx_sampler_input *input)
{
    for (int32_t i = 0; i < scratch->n_vocab; i++) {
        const bool is_banned =
            isnan(input->logits[i]) || (input->allowed && !(input->allowed[i / 32] >> (i % 32) & 1u));
        scratch->candidates[i] = (mx_candidate){.token_id = i, .logit = is_banned ? -INFINITY : input->logits[i]};
    }
    for (int32_t i = 0; i < input->n_also_allowed; i++) {
        const int32_t id = input->also_allowed[i];
        if (id >= 0 && id < scratch->n_vocab && !isnan(input->logits[id])) {
            scratch->candidates[id].logit = input->logits[id];
        }
    }
    for (int32_t i = 0; i < input->n_banned; i++) {
        if (input->banned[i] >= 0 && input->banned[i] < scratch->n_vocab) {
            scratch->candidates[input->banned[i]].logit = -INFINITY;
        }
    }
}

static mx_status check_finite(const mx_candidates *c, mx_error *err)
{
    if (!isfinite(c->items[mx_candidates_find_best(c)].logit)) {
        return mx_fail(err, MX_DEVICE, "the model's output holds no finite number; its weights may be damaged");
    }
    return MX_OK;
}

mx_status mx_sampler_get_candidates(mx_sampler *sampler, mx_sampler_scratch *scratch, const mx_sampler_input *input,
                                    mx_candidates *out, mx_error *err)
{
    const mx_sampling *s = &sampler->settings;
    chain c = {sampler, scratch, input, {.items = scratch->candidates, .n = scratch->n_vocab}};
    fill(scratch, input);
    MX_TRY(check_finite(&c.list, err));
    for (int32_t i = 0; i < s->n_biases; i++) {
        scratch->candidates[s->biases[i].token_id].logit += s->biases[i].bias;
    }
    run_steps(&c);
    if (!isfinite(c.list.items[mx_candidates_find_best(&c.list)].logit)) {
        return mx_fail(err, MX_INVALID, "the logit biases leave no token that could come next");
    }
    if (s->temperature == 0.0f) {
        const mx_candidate best = c.list.items[mx_candidates_find_best(&c.list)];
        c.list.items[0] = best;
        c.list.n = 1;
        c.list.is_sorted = true;
    }
    mx_candidates_set_p(&c.list);
    *out = c.list;
    return MX_OK;
}

/* ---- mirostat ---- */

/* Exponent of the power law that the first candidates follow: the least-squares fit of ln(p_i / p_i+1) over
 * ln((i + 2) / (i + 1)). */
static double fit_exponent(const mx_candidates *c)
{
    double products = 0.0;
    double squares = 0.0;
    for (int32_t i = 0; i + 1 < c->n && i + 1 < MIROSTAT_M && c->items[i + 1].p > 0.0f; i++) {
        const double t = log((double)(i + 2) / (double)(i + 1));
        products += t * log((double)c->items[i].p / (double)c->items[i + 1].p);
        squares += t * t;
    }
    return squares > 0.0 ? products / squares : 1.0;
}

/* Drops what is too surprising. Version 1 counts how many tokens to keep from the fitted exponent s:
 * k = ((e * 2^mu) / (1 - n^-e))^(1/s) with e = s - 1. Version 2 keeps those whose surprise is at most mu.
 * Source: Basu et al., "Mirostat: a neural text decoding algorithm", arXiv 2007.14966. */
static void cut_surprising(const mx_sampler *sampler, int32_t n_vocab, mx_candidates *c)
{
    const double mu = (double)sampler->mirostat_mu;
    if (sampler->settings.mirostat == 1) {
        mx_candidates_keep_top_k(c, c->n);
        mx_candidates_set_p(c);
        const double s = fit_exponent(c);
        const double e = s - 1.0;
        const double share = fabs(e) < 1e-9 ? 1.0 / log((double)n_vocab) : e / (1.0 - pow((double)n_vocab, -e));
        const double k = pow(share * exp2(mu), 1.0 / s);
        mx_candidates_keep_top_k(c, k >= 1.0 && k < (double)c->n ? (int32_t)round(k) : k >= 1.0 ? c->n : 1);
    } else {
        const double least_p = exp2(-mu);
        const int32_t i_best = mx_candidates_find_best(c);
        const mx_candidate best = c->items[i_best];
        int32_t n_kept = 0;
        for (int32_t i = 0; i < c->n; i++) {
            if ((double)c->items[i].p >= least_p) {
                c->items[n_kept++] = c->items[i];
            }
        }
        if (n_kept == 0) {
            c->items[n_kept++] = best;
        }
        c->n = n_kept;
    }
    mx_candidates_set_p(c);
}

/* ---- the draw ---- */

static int32_t draw_index(mx_sampler *sampler, const mx_candidates *c)
{
    double total = 0.0;
    for (int32_t i = 0; i < c->n; i++) {
        total += (double)c->items[i].p;
    }
    const double target = draw(sampler) * total;
    double sum = 0.0;
    int32_t i_drawn = 0;
    for (int32_t i = 0; i < c->n; i++) {
        if (c->items[i].p > 0.0f) {
            i_drawn = i; /* the last possible one, should rounding leave the sum below the target */
            sum += (double)c->items[i].p;
            if (sum > target) {
                break;
            }
        }
    }
    return i_drawn;
}

/* The largest logit, which needs no list. */
static mx_status pick_best(const mx_sampler_scratch *scratch, const float *logits, int32_t *token_id, mx_error *err)
{
    int32_t i_best = 0;
    float best = -INFINITY;
    for (int32_t i = 0; i < scratch->n_vocab; i++) {
        if (logits[i] > best) {
            best = logits[i];
            i_best = i;
        }
    }
    *token_id = i_best;
    const mx_candidate one = {.logit = best};
    return check_finite(&(mx_candidates){.items = (mx_candidate[]){one}, .n = 1}, err);
}

mx_status mx_sampler_pick(mx_sampler *sampler, mx_sampler_scratch *scratch, const mx_sampler_input *input,
                          int32_t *token_id, mx_error *err)
{
    const mx_sampling *s = &sampler->settings;
    if (!input->allowed && input->n_banned == 0 && mx_sampling_is_plain_greedy(s)) {
        return pick_best(scratch, input->logits, token_id, err);
    }
    mx_candidates c;
    MX_TRY(mx_sampler_get_candidates(sampler, scratch, input, &c, err));
    if (s->temperature == 0.0f) {
        *token_id = c.items[0].token_id;
        return MX_OK;
    }
    if (s->mirostat > 0) {
        cut_surprising(sampler, scratch->n_vocab, &c);
    }
    const mx_candidate drawn = c.items[draw_index(sampler, &c)];
    if (s->mirostat > 0) {
        sampler->mirostat_mu -= s->mirostat_eta * (-log2f(drawn.p) - s->mirostat_tau);
    }
    *token_id = drawn.token_id;
    return MX_OK;
}
