/* sampling_options.c - a table from options to settings. */
#include "cli/sampling_options.h"

#include <stdio.h>
#include <string.h>

#include "platform/clock.h"

#define DEFAULT_XTC_THRESHOLD 0.1f

enum {
    NAME_BYTES = 32,
};

#define ROW(name)                                                       \
    {                                                                   \
        offsetof(mx_cli_options, name), offsetof(mlxcel_sampling, name) \
    }
static const struct {
    size_t option;  /* mx_cli_float */
    size_t setting; /* float */
} float_rows[] = {
    ROW(temperature),       ROW(top_p),          ROW(min_p),           ROW(repeat_penalty), ROW(presence_penalty),
    ROW(frequency_penalty), ROW(typical_p),      ROW(xtc_probability), ROW(xtc_threshold),  ROW(dynatemp_range),
    ROW(dynatemp_exponent), ROW(dry_multiplier), ROW(dry_base),        ROW(mirostat_tau),   ROW(mirostat_eta),
};
static const struct {
    size_t option;  /* mx_cli_int */
    size_t setting; /* int32_t */
} int_rows[] = {
    ROW(top_k), ROW(repeat_last_n), ROW(dry_allowed_length), ROW(dry_last_n), ROW(mirostat),
};
#undef ROW

/* A seed that is new each time and short enough to type. */
static uint64_t new_seed(void)
{
    const int64_t times[] = {mx_clock_wall_s(), mx_clock_ns()};
    return mx_str_hash((mx_str){(const char *)times, sizeof times}) & UINT32_MAX;
}

static mx_status read_order(const char *list, mx_cli_sampling *out, mx_error *err)
{
    while (*list) {
        char name[NAME_BYTES];
        const size_t n = strcspn(list, ";");
        mlxcel_error why;
        (void)snprintf(name, sizeof name, "%.*s", (int)MX_MIN(n, sizeof name - 1), list);
        if (out->settings.n_order == MX_CLI_MAX_SAMPLERS) {
            return mx_fail(err, MX_INVALID, "--samplers: there are %d, and more are named", MX_CLI_MAX_SAMPLERS);
        }
        if (mlxcel_sampler_find(name, &out->order[out->settings.n_order], &why) != MLXCEL_OK) {
            return mx_fail(err, MX_INVALID,
                           "--samplers: there is no \"%s\", but penalties, dry, top_n_sigma, top_k, typ_p, top_p, "
                           "min_p, xtc and temperature",
                           name);
        }
        out->settings.n_order++;
        list += n + (list[n] == ';');
    }
    out->settings.order = out->order;
    return MX_OK;
}

mx_status mx_cli_read_sampling(const mlxcel_model *model, const mx_cli_options *options, mx_cli_sampling *out,
                               mx_error *err)
{
    mlxcel_sampling *s = &out->settings;
    *out = (mx_cli_sampling){.settings = {.n_struct_bytes = sizeof out->settings}};
    mlxcel_model_get_sampling(model, s);
    s->xtc_threshold = DEFAULT_XTC_THRESHOLD;
    for (size_t i = 0; i < MX_COUNTOF(float_rows); i++) {
        const mx_cli_float *option = (const mx_cli_float *)((const char *)options + float_rows[i].option);
        if (option->is_set) {
            *(float *)((char *)s + float_rows[i].setting) = (float)option->value;
        }
    }
    for (size_t i = 0; i < MX_COUNTOF(int_rows); i++) {
        const mx_cli_int *option = (const mx_cli_int *)((const char *)options + int_rows[i].option);
        if (option->is_set) {
            *(int32_t *)((char *)s + int_rows[i].setting) = (int32_t)option->value;
        }
    }
    s->top_n_sigma = options->top_n_sigma.value > 0.0 ? (float)options->top_n_sigma.value : 0.0f;
    s->seed = options->seed.is_set && options->seed.value >= 0 ? (uint64_t)options->seed.value : new_seed();
    return options->samplers ? read_order(options->samplers, out, err) : MX_OK;
}
