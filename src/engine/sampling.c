/* sampling.c - ranges and names of the settings. */
#include "engine/sampling.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const char *const kind_names[] = {
    [MX_SAMPLER_PENALTIES] = "penalties", [MX_SAMPLER_DRY] = "dry",       [MX_SAMPLER_TOP_N_SIGMA] = "top_n_sigma",
    [MX_SAMPLER_TOP_K] = "top_k",         [MX_SAMPLER_TYPICAL] = "typ_p", [MX_SAMPLER_TOP_P] = "top_p",
    [MX_SAMPLER_MIN_P] = "min_p",         [MX_SAMPLER_XTC] = "xtc",       [MX_SAMPLER_TEMPERATURE] = "temperature",
};
_Static_assert(MX_COUNTOF(kind_names) == MX_N_SAMPLERS, "one name per sampler");

#define UNLIMITED 1e30 /* still a number, so that infinities are out of range */

/* A float setting: where it lies, from what to what it goes. */
static const struct {
    const char *name;
    size_t offset;
    double least, most;
    const char *range;
} float_rows[] = {
    {"temperature", offsetof(mx_sampling, temperature), 0, UNLIMITED, "0 or more"},
    {"dynamic temperature range", offsetof(mx_sampling, dynatemp_range), 0, UNLIMITED, "0 or more"},
    {"dynamic temperature exponent", offsetof(mx_sampling, dynatemp_exponent), 0, UNLIMITED, "0 or more"},
    {"top-p", offsetof(mx_sampling, top_p), 0, 1, "from 0 to 1"},
    {"min-p", offsetof(mx_sampling, min_p), 0, 1, "from 0 to 1"},
    {"typical-p", offsetof(mx_sampling, typical_p), 0, 1, "from 0 to 1"},
    {"top-n-sigma", offsetof(mx_sampling, top_n_sigma), 0, UNLIMITED, "0 (all) or more"},
    {"xtc probability", offsetof(mx_sampling, xtc_probability), 0, 1, "from 0 to 1"},
    {"xtc threshold", offsetof(mx_sampling, xtc_threshold), 0, 1, "from 0 to 1"},
    {"repeat penalty", offsetof(mx_sampling, repeat_penalty), 1e-30, UNLIMITED, "above 0"},
    {"presence penalty", offsetof(mx_sampling, presence_penalty), -UNLIMITED, UNLIMITED, "a number"},
    {"frequency penalty", offsetof(mx_sampling, frequency_penalty), -UNLIMITED, UNLIMITED, "a number"},
    {"dry multiplier", offsetof(mx_sampling, dry_multiplier), 0, UNLIMITED, "0 (off) or more"},
    {"mirostat tau", offsetof(mx_sampling, mirostat_tau), 0, UNLIMITED, "0 or more"},
    {"mirostat eta", offsetof(mx_sampling, mirostat_eta), 0, UNLIMITED, "0 or more"},
};

/* A whole number, likewise. */
static const struct {
    const char *name;
    size_t offset;
    int32_t least, most;
    const char *range;
} int_rows[] = {
    {"top-k", offsetof(mx_sampling, top_k), 0, INT32_MAX, "0 (all) or more"},
    {"repeat last n", offsetof(mx_sampling, repeat_last_n), -1, INT32_MAX, "-1 (all) or more"},
    {"dry allowed length", offsetof(mx_sampling, dry_allowed_length), 0, INT32_MAX, "0 or more"},
    {"dry last n", offsetof(mx_sampling, dry_last_n), -1, INT32_MAX, "-1 (all) or more"},
    {"mirostat", offsetof(mx_sampling, mirostat), 0, 2, "0 (off), 1 or 2"},
    {"the number of logit biases", offsetof(mx_sampling, n_biases), 0, INT32_MAX, "0 or more"},
    {"the number of samplers", offsetof(mx_sampling, n_order), 0, MX_N_SAMPLERS, "0 (the usual order) to 9"},
};

static mx_status check_numbers(const mx_sampling *s, mx_error *err)
{
    for (size_t i = 0; i < MX_COUNTOF(float_rows); i++) {
        const double value = (double)*(const float *)((const char *)s + float_rows[i].offset);
        if (!(value >= float_rows[i].least && value <= float_rows[i].most)) {
            return mx_fail(err, MX_INVALID, "%s %g: it must be %s", float_rows[i].name, value, float_rows[i].range);
        }
    }
    for (size_t i = 0; i < MX_COUNTOF(int_rows); i++) {
        const int32_t value = *(const int32_t *)((const char *)s + int_rows[i].offset);
        if (value < int_rows[i].least || value > int_rows[i].most) {
            return mx_fail(err, MX_INVALID, "%s %d: it must be %s", int_rows[i].name, (int)value, int_rows[i].range);
        }
    }
    return MX_OK;
}

mx_status mx_sampling_check(const mx_sampling *s, int32_t n_vocab, mx_error *err)
{
    MX_TRY(check_numbers(s, err));
    if (s->dry_multiplier > 0.0f && !(s->dry_base >= 1.0f && isfinite(s->dry_base))) {
        return mx_fail(err, MX_INVALID, "dry base %g: it must be 1 or more", (double)s->dry_base);
    }
    for (int32_t i = 0; i < s->n_biases; i++) {
        const mx_logit_bias *b = &s->biases[i];
        if (b->token_id < 0 || b->token_id >= n_vocab) {
            return mx_fail(err, MX_INVALID, "the logit bias names token %d, and the model's vocabulary has %d",
                           (int)b->token_id, (int)n_vocab);
        }
        if (isnan(b->bias) || b->bias == INFINITY) {
            return mx_fail(err, MX_INVALID, "the logit bias of token %d is no finite number", (int)b->token_id);
        }
    }
    bool is_named[MX_N_SAMPLERS] = {0};
    for (int32_t i = 0; i < s->n_order; i++) {
        if (s->order[i] >= MX_N_SAMPLERS || is_named[s->order[i]]) {
            return mx_fail(err, MX_INVALID, "the order of samplers names %s",
                           s->order[i] < MX_N_SAMPLERS ? "one of them twice" : "one that there is not");
        }
        is_named[s->order[i]] = true;
    }
    return MX_OK;
}

bool mx_sampler_kind_find(const char *name, mx_sampler_kind *kind)
{
    for (int32_t i = 0; i < MX_N_SAMPLERS; i++) {
        if (strcmp(name, kind_names[i]) == 0) {
            *kind = (mx_sampler_kind)i;
            return true;
        }
    }
    return false;
}

bool mx_sampling_is_plain_greedy(const mx_sampling *s)
{
    return s->temperature == 0.0f && s->n_biases == 0 && s->dry_multiplier == 0.0f && s->presence_penalty == 0.0f &&
           s->frequency_penalty == 0.0f && (s->repeat_penalty == 1.0f || s->repeat_last_n == 0);
}
