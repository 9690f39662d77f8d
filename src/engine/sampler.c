/* sampler.c - filters as lengths of a sorted beginning.
 *
 * top_k, top_p and min_p each keep a beginning of the sorted tokens, so together they keep the shortest of the three.
 * The order is found by a heap that hands out the best token next: sorting all of a vocabulary of 256,000 for 40
 * candidates would cost more than the rest together.
 */
#include "engine/sampler.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "engine/rng.h"

static mx_status check_settings(const mx_sampling *s, mx_error *err)
{
    if (!(s->temperature >= 0.0f) || !isfinite(s->temperature)) {
        return mx_fail(err, MX_INVALID, "temperature %g: it must be 0 or more", (double)s->temperature);
    }
    if (s->top_k < 0) {
        return mx_fail(err, MX_INVALID, "top-k %d: it must be 0 (all) or more", (int)s->top_k);
    }
    if (!(s->top_p >= 0.0f && s->top_p <= 1.0f)) {
        return mx_fail(err, MX_INVALID, "top-p %g: it must be from 0 to 1", (double)s->top_p);
    }
    if (!(s->min_p >= 0.0f && s->min_p <= 1.0f)) {
        return mx_fail(err, MX_INVALID, "min-p %g: it must be from 0 to 1", (double)s->min_p);
    }
    if (!(s->repeat_penalty > 0.0f) || !isfinite(s->repeat_penalty)) {
        return mx_fail(err, MX_INVALID, "repeat penalty %g: it must be above 0", (double)s->repeat_penalty);
    }
    if (s->repeat_last_n < -1) {
        return mx_fail(err, MX_INVALID, "repeat last n %d: it must be -1 (all) or more", (int)s->repeat_last_n);
    }
    return MX_OK;
}

mx_status mx_sampler_init(mx_sampler *sampler, const mx_sampling *settings, int32_t n_vocab, mx_error *err)
{
    assert(n_vocab > 0);
    *sampler = (mx_sampler){.settings = *settings, .n_vocab = n_vocab};
    MX_TRY(check_settings(settings, err));
    sampler->candidates = (mx_candidate *)mx_calloc((size_t)n_vocab, sizeof(mx_candidate));
    sampler->is_penalised = (uint8_t *)mx_calloc((size_t)n_vocab, 1);
    if (!sampler->candidates || !sampler->is_penalised) {
        mx_sampler_deinit(sampler);
        return mx_fail_no_memory(err, (size_t)n_vocab * (sizeof(mx_candidate) + 1), "the sampler");
    }
    return MX_OK;
}

void mx_sampler_deinit(mx_sampler *sampler)
{
    mx_free(sampler->candidates);
    mx_free(sampler->is_penalised);
    *sampler = (mx_sampler){0};
}

/* Divides (or multiplies) the logits of recent tokens, each once however often it occurs. */
static void penalise(mx_sampler *sampler, const int32_t *history, int32_t n_history)
{
    const int32_t last_n = sampler->settings.repeat_last_n;
    const float penalty = sampler->settings.repeat_penalty;
    const int32_t from = last_n < 0 || last_n > n_history ? 0 : n_history - last_n;
    for (int32_t i = from; i < n_history; i++) {
        const int32_t id = history[i];
        if (id < 0 || id >= sampler->n_vocab || sampler->is_penalised[id]) {
            continue;
        }
        sampler->is_penalised[id] = 1;
        float *logit = &sampler->candidates[id].logit;
        *logit = *logit > 0.0f ? *logit / penalty : *logit * penalty;
    }
    for (int32_t i = from; i < n_history; i++) {
        if (history[i] >= 0 && history[i] < sampler->n_vocab) {
            sampler->is_penalised[history[i]] = 0;
        }
    }
}

static inline bool is_before(const mx_candidate *a, const mx_candidate *b)
{
    return a->logit > b->logit || (a->logit == b->logit && a->token_id < b->token_id);
}

static void sift_down(mx_candidate *heap, int32_t n, int32_t i)
{
    const mx_candidate moving = heap[i];
    for (;;) {
        int32_t child = 2 * i + 1;
        if (child >= n) {
            break;
        }
        if (child + 1 < n && is_before(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!is_before(&heap[child], &moving)) {
            break;
        }
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = moving;
}

/* Sorts the best candidates to the front: top_k of them, or as many as reach the mass top_p. Returns how many.
 * The heap [0, n_heap) shrinks from its end, where each one that it hands out is put: [ heap | third second best ]. */
static int32_t select_best(mx_candidate *c, int32_t n, int32_t top_k, float top_p, float best)
{
    const int32_t n_most = top_k > 0 && top_k < n ? top_k : n;
    double mass_wanted = (double)INFINITY;
    if (n_most == n && top_p < 1.0f) {
        double total = 0.0;
        for (int32_t i = 0; i < n; i++) {
            total += (double)expf(c[i].logit - best);
        }
        mass_wanted = total * (double)top_p;
    }
    for (int32_t i = n / 2 - 1; i >= 0; i--) {
        sift_down(c, n, i);
    }
    double mass = 0.0;
    int32_t n_kept = 0;
    while (n_kept < n_most && (n_kept == 0 || mass < mass_wanted)) {
        const mx_candidate next = c[0];
        const int32_t n_heap = n - ++n_kept;
        c[0] = c[n_heap];
        c[n_heap] = next;
        sift_down(c, n_heap, 0);
        mass += (double)expf(next.logit - best);
    }
    for (int32_t i = 0; i < n_kept && i < n - 1 - i; i++) {
        const mx_candidate other = c[i];
        c[i] = c[n - 1 - i];
        c[n - 1 - i] = other;
    }
    if (n_most == n || top_p >= 1.0f) {
        return n_kept;
    }
    mass_wanted = mass * (double)top_p; /* of what top_k left */
    mass = 0.0;
    int32_t n_cut = 0;
    while (n_cut < n_kept && (n_cut == 0 || mass < mass_wanted)) {
        mass += (double)expf(c[n_cut++].logit - best);
    }
    return n_cut;
}

/* Drops what is less probable than min_p times the best, keeping the order. */
static int32_t keep_min_p(mx_candidate *c, int32_t n, float min_p, float best)
{
    const float least = best + logf(min_p);
    int32_t n_kept = 0;
    for (int32_t i = 0; i < n; i++) {
        if (c[i].logit >= least) {
            c[n_kept++] = c[i];
        }
    }
    return n_kept;
}

static void set_probabilities(mx_candidate *c, int32_t n, float temperature, float best)
{
    double total = 0.0;
    for (int32_t i = 0; i < n; i++) {
        c[i].p = expf((c[i].logit - best) / temperature);
        total += (double)c[i].p;
    }
    for (int32_t i = 0; i < n; i++) {
        c[i].p = (float)((double)c[i].p / total);
    }
}

mx_status mx_sampler_get_candidates(mx_sampler *sampler, const float *logits, const int32_t *history, int32_t n_history,
                                    const mx_candidate **candidates, int32_t *n_candidates, mx_error *err)
{
    const mx_sampling *s = &sampler->settings;
    mx_candidate *c = sampler->candidates;
    int32_t n = sampler->n_vocab;
    for (int32_t i = 0; i < n; i++) {
        c[i] = (mx_candidate){.token_id = i, .logit = isnan(logits[i]) ? -INFINITY : logits[i]};
    }
    if (s->repeat_penalty != 1.0f) {
        penalise(sampler, history, n_history);
    }
    int32_t i_best = 0;
    for (int32_t i = 1; i < n; i++) {
        i_best = c[i].logit > c[i_best].logit ? i : i_best;
    }
    const float best = c[i_best].logit;
    if (!isfinite(best)) {
        return mx_fail(err, MX_DEVICE, "the model's output holds no finite number; its weights may be damaged");
    }
    if (s->temperature == 0.0f) {
        c[0] = (mx_candidate){.token_id = c[i_best].token_id, .logit = best, .p = 1.0f};
        n = 1;
    } else {
        if ((s->top_k > 0 && s->top_k < n) || s->top_p < 1.0f) {
            n = select_best(c, n, s->top_k, s->top_p, best);
        }
        if (s->min_p > 0.0f) {
            n = keep_min_p(c, n, s->min_p, best);
        }
        set_probabilities(c, n, s->temperature, best);
    }
    *candidates = c;
    *n_candidates = n;
    return MX_OK;
}

mx_status mx_sampler_pick(mx_sampler *sampler, const float *logits, const int32_t *history, int32_t n_history,
                          int32_t *token_id, mx_error *err)
{
    const mx_candidate *c;
    int32_t n;
    MX_TRY(mx_sampler_get_candidates(sampler, logits, history, n_history, &c, &n, err));
    if (sampler->settings.temperature == 0.0f) {
        *token_id = c[0].token_id;
        return MX_OK;
    }
    double total = 0.0;
    for (int32_t i = 0; i < n; i++) {
        total += (double)c[i].p;
    }
    const double target = mx_rng_uniform(sampler->settings.seed, sampler->n_draws++) * total;
    double sum = 0.0;
    int32_t i_drawn = 0;
    for (int32_t i = 0; i < n; i++) {
        if (c[i].p > 0.0f) {
            i_drawn = i; /* the last possible one, should rounding leave the sum below the target */
            sum += (double)c[i].p;
            if (sum > target) {
                break;
            }
        }
    }
    *token_id = c[i_drawn].token_id;
    return MX_OK;
}
