/* candidates.c - sorting as far as needed, and cutting.
 *
 * Filters that need an order take tokens off a heap, best first, until they have enough: sorting all of a vocabulary of
 * 256,000 for 40 candidates would cost more than the rest together.
 */
#include "engine/candidates.h"

#include <assert.h>
#include <math.h>

#include "base/compiler.h"

#define LEAST_TEMPERATURE 1e-4f /* what a dynamic temperature may come down to */

static inline bool is_before(const mx_candidate *a, const mx_candidate *b)
{
    return a->p > b->p || (a->p == b->p && a->token_id < b->token_id);
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

int32_t mx_candidates_find_best(const mx_candidates *c)
{
    int32_t i_best = 0;
    for (int32_t i = 1; i < c->n; i++) {
        i_best = c->items[i].logit > c->items[i_best].logit ? i : i_best;
    }
    return i_best;
}

static float best_logit(const mx_candidates *c)
{
    return c->items[c->is_sorted ? 0 : mx_candidates_find_best(c)].logit;
}

/* sum_i exp(logit_i - best) */
static double sum_weights(const mx_candidates *c, float best)
{
    double total = 0.0;
    for (int32_t i = 0; i < c->n; i++) {
        total += (double)expf(c->items[i].logit - best);
    }
    return total;
}

void mx_candidates_set_p(mx_candidates *c)
{
    const float best = best_logit(c);
    const double total = sum_weights(c, best);
    for (int32_t i = 0; i < c->n; i++) {
        c->items[i].p = (float)((double)expf(c->items[i].logit - best) / total);
    }
}

/* Brings the tokens with the largest p to the front in order, until there are n_most or the weights exp(logit - best)
 * reach the mass, and cuts the rest. The heap [0, n_heap) shrinks from its end, where each one that it hands out is
 * put: [ heap | third second best ]. */
static void take_front(mx_candidates *list, int32_t n_most, double mass_wanted, float best)
{
    mx_candidate *c = list->items;
    const int32_t n = list->n;
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
    list->n = n_kept;
}

static void order_by_logit(mx_candidates *c)
{
    for (int32_t i = 0; i < c->n; i++) {
        c->items[i].p = c->items[i].logit;
    }
}

void mx_candidates_keep_top_k(mx_candidates *c, int32_t k)
{
    assert(k > 0);
    if (c->is_sorted) {
        c->n = MX_MIN(c->n, k);
        return;
    }
    order_by_logit(c);
    take_front(c, MX_MIN(c->n, k), (double)INFINITY, 0.0f);
    c->is_sorted = true;
}

void mx_candidates_keep_top_p(mx_candidates *c, float top_p)
{
    const float best = best_logit(c);
    const double mass_wanted = sum_weights(c, best) * (double)top_p;
    if (!c->is_sorted) {
        order_by_logit(c);
        take_front(c, c->n, mass_wanted, best);
        c->is_sorted = true;
        return;
    }
    double mass = 0.0;
    int32_t n_kept = 0;
    while (n_kept < c->n && (n_kept == 0 || mass < mass_wanted)) {
        mass += (double)expf(c->items[n_kept++].logit - best);
    }
    c->n = n_kept;
}

/* Drops logits below `least`, keeping the order. */
static void keep_from(mx_candidates *c, float least)
{
    int32_t n_kept = 0;
    for (int32_t i = 0; i < c->n; i++) {
        if (c->items[i].logit >= least) {
            c->items[n_kept++] = c->items[i];
        }
    }
    c->n = n_kept;
}

void mx_candidates_keep_min_p(mx_candidates *c, float min_p)
{
    keep_from(c, best_logit(c) + logf(min_p));
}

void mx_candidates_keep_top_n_sigma(mx_candidates *c, float n)
{
    double sum = 0.0;
    double n_finite = 0.0;
    for (int32_t i = 0; i < c->n; i++) {
        if (isfinite(c->items[i].logit)) {
            sum += (double)c->items[i].logit;
            n_finite += 1.0;
        }
    }
    const double mean = sum / n_finite;
    double squares = 0.0;
    for (int32_t i = 0; i < c->n; i++) {
        if (isfinite(c->items[i].logit)) {
            const double d = (double)c->items[i].logit - mean;
            squares += d * d;
        }
    }
    keep_from(c, best_logit(c) - n * (float)sqrt(squares / n_finite));
}

/* The entropy in nats; the probabilities are set. */
static double entropy(const mx_candidates *c)
{
    double h = 0.0;
    for (int32_t i = 0; i < c->n; i++) {
        const double p = (double)c->items[i].p;
        h -= p > 0.0 ? p * log(p) : 0.0;
    }
    return h;
}

void mx_candidates_keep_typical(mx_candidates *c, float mass)
{
    const float best = best_logit(c);
    const double total = sum_weights(c, best);
    mx_candidates_set_p(c);
    const double h = entropy(c);
    for (int32_t i = 0; i < c->n; i++) {
        const double surprise = log(total) - (double)(c->items[i].logit - best);
        c->items[i].p = (float)-fabs(surprise - h);
    }
    take_front(c, c->n, total * (double)mass, best);
    c->is_sorted = c->n == 1;
}

void mx_candidates_cut_top_choices(mx_candidates *c, float threshold)
{
    mx_candidates_set_p(c);
    int32_t i_least = -1;
    for (int32_t i = 0; i < c->n; i++) {
        const mx_candidate *item = &c->items[i];
        if (item->p >= threshold && (i_least < 0 || is_before(&c->items[i_least], item))) {
            i_least = i;
        }
    }
    int32_t n_kept = 0;
    for (int32_t i = 0; i < c->n; i++) {
        if (c->items[i].p < threshold || i == i_least) {
            c->items[n_kept++] = c->items[i];
        }
    }
    c->n = n_kept;
}

void mx_candidates_apply_temperature(mx_candidates *c, float temperature)
{
    const float best = best_logit(c);
    for (int32_t i = 0; i < c->n; i++) {
        c->items[i].logit = (c->items[i].logit - best) / temperature; /* no overflow, whatever the temperature */
    }
}

void mx_candidates_apply_dynamic_temperature(mx_candidates *c, float least, float most, float exponent)
{
    float temperature = most;
    if (c->n > 1) {
        mx_candidates_set_p(c);
        const double share = entropy(c) / log((double)c->n);
        temperature = least + (most - least) * powf((float)fmin(share, 1.0), exponent);
    }
    mx_candidates_apply_temperature(c, temperature > LEAST_TEMPERATURE ? temperature : LEAST_TEMPERATURE);
}
