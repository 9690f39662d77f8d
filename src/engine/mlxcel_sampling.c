/* mlxcel_sampling.c - the public interface: how tokens are drawn. */
#include <string.h>

#include "base/mem.h"
#include "engine/mlxcel_private.h"

#define X(name) _Static_assert((int)MLXCEL_SAMPLER_##name == (int)MX_SAMPLER_##name, "the same number for " #name);
X(PENALTIES)
X(DRY)
X(TOP_N_SIGMA)
X(TOP_K)
X(TYPICAL)
X(TOP_P)
X(MIN_P)
X(XTC)
X(TEMPERATURE)
#undef X

#define DEFAULT_DRY_BASE     1.75f
#define DEFAULT_DRY_LENGTH   2
#define DEFAULT_MIROSTAT_TAU 5.0f
#define DEFAULT_MIROSTAT_ETA 0.1f

mlxcel_status mlxcel_sampler_find(const char *name, mlxcel_sampler *out, mlxcel_error *err)
{
    mx_error error;
    mx_sampler_kind kind = MX_SAMPLER_PENALTIES;
    const mx_status st =
        mx_sampler_kind_find(name, &kind) ? MX_OK : mx_fail(&error, MX_INVALID, "there is no sampler \"%s\"", name);
    *out = (mlxcel_sampler)kind;
    return mx_api_result(st, &error, err);
}

void mlxcel_model_get_sampling(const mlxcel_model *model, mlxcel_sampling *out)
{
    const mx_sampling *s = &model->sampling;
    const mlxcel_sampling found = {
        .temperature = s->temperature,
        .top_k = s->top_k,
        .top_p = s->top_p,
        .min_p = s->min_p,
        .repeat_penalty = s->repeat_penalty,
        .repeat_last_n = s->repeat_last_n,
        .seed = s->seed,
    };
    mx_api_write_struct(out, &found, sizeof found);
}

mx_status mx_api_find_breakers(const mx_tokenizer *tokenizer, const char *const *texts, int32_t n_texts,
                               int32_t n_vocab, uint32_t *set, mx_error *err)
{
    mx_status st = MX_OK;
    mx_buf text = {.max = (size_t)1 << 20};
    for (int32_t id = 0; id < n_vocab; id++) {
        text.len = 0;
        MX_TRY_OR(done, st, mx_decode(tokenizer, &id, 1, false, &text, err));
        for (int32_t i = 0; i < n_texts; i++) {
            if (mx_str_find(mx_buf_view(&text), mx_str_from(texts[i]), 0) != MX_STR_NPOS) {
                set[id / 32] |= 1u << (id % 32);
            }
        }
    }
done:
    mx_buf_deinit(&text);
    return st;
}

static mx_status read_biases(const mlxcel_sampling *from, mx_arena *arena, mx_sampling *to, mx_error *err)
{
    mx_logit_bias *biases = mx_arena_array(arena, mx_logit_bias, from->n_biases);
    if (!biases) {
        return mx_fail_no_memory(err, (size_t)from->n_biases * sizeof *biases, "the logit biases");
    }
    for (int32_t i = 0; i < from->n_biases; i++) {
        biases[i] = (mx_logit_bias){.token_id = from->biases[i].token_id, .bias = from->biases[i].bias};
    }
    to->biases = biases;
    to->n_biases = from->n_biases;
    return MX_OK;
}

static mx_status read_breakers(const mlxcel_model *model, const mlxcel_sampling *from, mx_arena *arena, mx_sampling *to,
                               mx_error *err)
{
    const int32_t n_vocab = mx_model_view_program(model->model)->n_vocab;
    uint32_t *set = mx_arena_array(arena, uint32_t, n_vocab / 32 + 1);
    if (!set) {
        return mx_fail_no_memory(err, (size_t)n_vocab / 8, "the tokens that end repetitions");
    }
    to->dry_breakers = set;
    return mx_api_find_breakers(model->tokenizer, from->dry_breakers, from->n_dry_breakers, n_vocab, set, err);
}

mx_status mx_api_read_sampling(const mlxcel_model *model, const mlxcel_sampling *given, mx_arena *arena,
                               mx_sampling *to, mx_error *err)
{
    if (!given) {
        *to = model->sampling;
        return MX_OK;
    }
    mlxcel_sampling s;
    mx_api_read_struct(&s, sizeof s, given);
    *to = (mx_sampling){
        .temperature = s.temperature,
        .dynatemp_range = s.dynatemp_range,
        .dynatemp_exponent = s.dynatemp_exponent,
        .top_k = s.top_k,
        .top_p = s.top_p,
        .min_p = s.min_p,
        .typical_p = s.typical_p,
        .top_n_sigma = s.top_n_sigma,
        .xtc_probability = s.xtc_probability,
        .xtc_threshold = s.xtc_threshold,
        .repeat_penalty = s.repeat_penalty,
        .repeat_last_n = s.repeat_last_n,
        .presence_penalty = s.presence_penalty,
        .frequency_penalty = s.frequency_penalty,
        .dry_multiplier = s.dry_multiplier,
        .dry_base = s.dry_base != 0.0f ? s.dry_base : DEFAULT_DRY_BASE,
        .dry_allowed_length = s.dry_allowed_length != 0 ? s.dry_allowed_length : DEFAULT_DRY_LENGTH,
        .dry_last_n = s.dry_last_n != 0 ? s.dry_last_n : -1,
        .mirostat = s.mirostat,
        .mirostat_tau = s.mirostat_tau != 0.0f ? s.mirostat_tau : DEFAULT_MIROSTAT_TAU,
        .mirostat_eta = s.mirostat_eta != 0.0f ? s.mirostat_eta : DEFAULT_MIROSTAT_ETA,
        .seed = s.seed,
        .n_order = s.n_order,
    };
    if (s.n_biases < 0 || s.n_dry_breakers < 0 || s.n_order < 0 || s.n_order > MX_N_SAMPLERS) {
        return mx_fail(err, MX_INVALID,
                       "%d logit biases, %d texts that end repetitions, %d samplers: one is impossible",
                       (int)s.n_biases, (int)s.n_dry_breakers, (int)s.n_order);
    }
    for (int32_t i = 0; i < s.n_order; i++) {
        to->order[i] = s.order[i] <= MLXCEL_SAMPLER_TEMPERATURE ? (uint8_t)s.order[i] : (uint8_t)MX_N_SAMPLERS;
    }
    if (s.n_biases > 0) {
        MX_TRY(read_biases(&s, arena, to, err));
    }
    if (s.n_dry_breakers > 0 && s.dry_multiplier > 0.0f) {
        MX_TRY(read_breakers(model, &s, arena, to, err));
    }
    return MX_OK;
}
