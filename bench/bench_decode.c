/* bench_decode.c - prefill and decode of whole models with random weights, as shares of the machine's read bandwidth.
 *
 *     bench_decode [shape=llama-3.2-1b] [bits=4] [group=64] [threads=0] [mode=exact|fast|reference] [isa=avx2]
 *                  [context=128] [tokens=16] [rounds=9] [prompt=512]
 *
 * Each round reads memory once with the same threads, decodes some tokens and is judged by its own ratio, so that other
 * programs on the machine disturb both alike; medians of the rounds are printed. prompt=0 leaves prefill out, bits=16
 * means dense bf16.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/executor.h"
#include "bench/bandwidth.h"
#include "bench/synthetic.h"
#include "platform/clock.h"
#include "platform/cpu.h"

#define MAX_ROUNDS 99
#define MAX_PROMPT 4096

typedef struct settings {
    const synthetic_shape *shape;
    int32_t bits, group, n_threads, n_context, n_tokens, n_rounds, n_prompt;
    mx_cpu_mode mode;
    const char *isa;
} settings;

typedef struct session {
    synthetic_model model;
    mx_executor *executor;
    int32_t *tokens;
    int32_t *positions;
    int32_t *pages;
    int32_t n_page_cols;
} session;

static bool parse(settings *s, int argc, char **argv)
{
    static const char *const modes[] = {
        [MX_CPU_EXACT] = "exact", [MX_CPU_FAST] = "fast", [MX_CPU_REFERENCE] = "reference"};
    const struct {
        const char *name;
        int32_t *value;
    } numbers[] = {{"bits=", &s->bits},         {"group=", &s->group},     {"threads=", &s->n_threads},
                   {"context=", &s->n_context}, {"tokens=", &s->n_tokens}, {"rounds=", &s->n_rounds},
                   {"prompt=", &s->n_prompt}};
    for (int i = 1; i < argc; i++) {
        bool is_known = false;
        for (size_t j = 0; j < MX_COUNTOF(numbers); j++) {
            const size_t n = strlen(numbers[j].name);
            if (strncmp(argv[i], numbers[j].name, n) == 0) {
                *numbers[j].value = (int32_t)strtol(argv[i] + n, NULL, 10);
                is_known = true;
            }
        }
        for (size_t j = 0; strncmp(argv[i], "mode=", 5) == 0 && j < MX_COUNTOF(modes); j++) {
            if (strcmp(argv[i] + 5, modes[j]) == 0) {
                s->mode = (mx_cpu_mode)j;
                is_known = true;
            }
        }
        if (strncmp(argv[i], "shape=", 6) == 0) {
            s->shape = synthetic_shape_find(argv[i] + 6);
            is_known = s->shape != NULL;
        } else if (strncmp(argv[i], "isa=", 4) == 0) {
            s->isa = argv[i] + 4;
            is_known = true;
        }
        if (!is_known) {
            fprintf(stderr, "bench_decode: \"%s\" is not an option, or not a value that it has\n", argv[i]);
            return false;
        }
    }
    s->n_rounds = MX_MIN(MX_MAX(s->n_rounds, 1), MAX_ROUNDS);
    s->n_prompt = MX_MIN(s->n_prompt, MAX_PROMPT);
    return true;
}

static mx_status session_open(session *s, const settings *set, mx_error *err)
{
    const int32_t n_ctx = MX_MAX(set->n_context + set->n_tokens, set->n_prompt) + 1;
    const mx_quant quant =
        set->bits == 16 ? (mx_quant){MX_QUANT_NONE, 0, 0} : (mx_quant){MX_QUANT_AFFINE, set->bits, set->group};
    const int32_t n_step = MX_MAX(MX_MIN(MX_MAX(set->n_prompt, set->n_context), 512), 1);
    *s = (session){.n_page_cols = n_ctx / MX_PAGE_TOKENS + 1};
    MX_TRY(synthetic_model_open(&s->model, set->shape, quant, MX_DTYPE_BF16, n_ctx, n_step, err));
    s->tokens = (int32_t *)calloc((size_t)n_ctx, sizeof(int32_t));
    s->positions = (int32_t *)calloc((size_t)n_ctx, sizeof(int32_t));
    s->pages = (int32_t *)calloc((size_t)s->n_page_cols, sizeof(int32_t));
    if (!s->tokens || !s->positions || !s->pages) {
        return mx_fail(err, MX_NO_MEMORY, "out of memory");
    }
    for (int32_t i = 0; i < n_ctx; i++) {
        s->tokens[i] = (int32_t)((uint32_t)i * 2654435761u % (uint32_t)set->shape->n_vocab);
        s->positions[i] = i;
    }
    for (int32_t i = 0; i < s->n_page_cols; i++) {
        s->pages[i] = i;
    }
    const mx_executor_options options = {.n_pages = s->n_page_cols,
                                         .max_seqs = 1,
                                         .kv_type = MX_KV_F16,
                                         .n_threads = set->n_threads,
                                         .cpu_mode = set->mode,
                                         .cpu_isa = set->isa};
    return mx_executor_open("cpu", &s->model.plan, &options, &s->executor, err);
}

/* Tokens [from, to) of the only sequence, in steps of at most 512. */
static mx_status run_tokens(session *s, int32_t from, int32_t to, mx_error *err)
{
    while (from < to) {
        const int32_t n = MX_MIN(to - from, s->model.plan.max_tokens);
        const int32_t row_start[2] = {0, n};
        const int32_t kv_len = from + n;
        const int32_t last = n - 1;
        const mx_batch batch = {.n_tokens = n,
                                .n_seqs = 1,
                                .n_samples = 1,
                                .n_page_cols = s->n_page_cols,
                                .tokens = s->tokens + from,
                                .positions = s->positions + from,
                                .row_start = row_start,
                                .kv_len = &kv_len,
                                .page_table = s->pages,
                                .sample_rows = &last};
        MX_TRY(mx_executor_run(s->executor, &batch, err));
        from += n;
    }
    return MX_OK;
}

static double seconds_since(int64_t start_ns)
{
    return (double)(mx_clock_ns() - start_ns) * 1e-9;
}

static mx_status measure(session *s, const settings *set, bandwidth *bw, mx_error *err)
{
    static double read[MAX_ROUNDS], decode[MAX_ROUNDS], share[MAX_ROUNDS], prefill[MAX_ROUNDS];
    MX_TRY(run_tokens(s, 0, set->n_context, err));
    for (int32_t i = -1; i < set->n_rounds; i++) { /* round -1 warms up and is overwritten */
        const int32_t at = MX_MAX(i, 0);
        const double before = bandwidth_measure(bw);
        int64_t start_ns = mx_clock_ns();
        for (int32_t t = 0; t < set->n_tokens; t++) {
            MX_TRY(run_tokens(s, set->n_context + t, set->n_context + t + 1, err));
        }
        decode[at] = set->n_tokens / seconds_since(start_ns);
        read[at] = (before + bandwidth_measure(bw)) / 2.0;
        share[at] = decode[at] * (double)s->model.n_weight_bytes / read[at];
        start_ns = mx_clock_ns();
        MX_TRY(run_tokens(s, 0, set->n_prompt, err));
        prefill[at] = set->n_prompt / seconds_since(start_ns);
    }
    const double n_gb = (double)s->model.n_weight_bytes * 1e-9;
    printf("read %.1f GB/s | decode at context %d: %.1f tok/s = %.1f GB/s of weights, %.0f %% of the read test",
           bench_median(read, set->n_rounds) * 1e-9, set->n_context, bench_median(decode, set->n_rounds),
           bench_median(decode, set->n_rounds) * n_gb, 100.0 * bench_median(share, set->n_rounds));
    if (set->n_prompt > 0) {
        printf(" | prefill %d: %.1f tok/s", set->n_prompt, bench_median(prefill, set->n_rounds));
    }
    printf("\n");
    return MX_OK;
}

int main(int argc, char **argv)
{
    mx_error err = {0};
    session s = {0};
    bandwidth bw = {0};
    settings set = {.shape = synthetic_shape_find("llama-3.2-1b"),
                    .bits = 4,
                    .group = 64,
                    .n_context = 128,
                    .n_tokens = 16,
                    .n_rounds = 9,
                    .n_prompt = 512,
                    .mode = MX_CPU_EXACT};
    if (!parse(&set, argc, argv)) {
        return 2;
    }
    const int64_t start_ns = mx_clock_ns();
    mx_status st = session_open(&s, &set, &err);
    if (st == MX_OK) {
        printf("%s, %d bits, group %d, %.3f GB of weights; %s; ready in %.2f s\n", set.shape->name, set.bits, set.group,
               (double)s.model.n_weight_bytes * 1e-9, mx_cpu_get()->name, seconds_since(start_ns));
        st = bandwidth_open(&bw, set.n_threads, (size_t)512 << 20, &err);
    }
    if (st == MX_OK) {
        st = measure(&s, &set, &bw, &err);
    }
    if (st != MX_OK) {
        fprintf(stderr, "bench_decode: %s\n", err.message);
    }
    bandwidth_close(&bw);
    mx_executor_close(s.executor);
    synthetic_model_close(&s.model);
    free(s.tokens);
    free(s.positions);
    free(s.pages);
    return st == MX_OK ? 0 : 1;
}
