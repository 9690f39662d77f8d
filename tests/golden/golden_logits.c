/* golden_logits.c - the logits of tiny models against those of an independent implementation.
 *
 *     golden-logits DIR [piece of a name ...]
 *
 * DIR holds one folder a case, as tests/golden/make_goldens.py makes them: a model directory and golden.safetensors.
 * Each run of a case is opened in every mode of the CPU, with the passes and (in the modes that are exact) without, and
 * read at once, in pieces, token by token, and beside other sequences in one ragged batch, with all rows sampled or
 * only the last of each sequence. Last, the model is divided among ranks and stages; numbers that two ranks cannot
 * share are told, and checked by nobody. MLXCEL_TEST_SAMPLE=23 in the environment takes each 23rd of these ways,
 * counted over all cases, so that every case and every way is still met: for emulators and sanitizers.
 *
 * Error model. Errors are measured against the largest |logit| of the run, as the root of the mean square over all
 * logits, and at the worst one.
 *   reference  Both sides are f32 and add in another order: 2^-24 a sum, over some 10 products a layer, and the
 *              frequencies of rotary embeddings are f64 here and f32 there, 6e-8 of an angle of up to 75. transformers
 *              and mlx-lm differ by up to 8e-7 at the worst logit; 1e-5 leaves a factor of 10.
 *   exact      Inputs of quantised products are rounded to int16: 2.3e-5 relative RMS each, 6.4e-5 with outliers. Some
 *              20 in a row, added as independent errors: 1.0e-4 to 2.9e-4 of the logits' RMS, which is about a third of
 *              the largest; doubled by softmax and norms, 2e-4. The worst of 5000 logits at 6 times that.
 *   fast       The same with int8, 5.3e-3 to 1.2e-2 each: 5e-2.
 *   cuda       Activations and weights go into products as f16, 1.4e-4 each on average and so 2e-4 to 3e-4 a product:
 * by the same sum 1.5e-3, the worst at 6 times that. MLXCEL_TEST_DEVICE=cuda in the environment runs this mode and no
 * other. An f16 cache rounds keys and values to 2^-12 = 2.4e-4 on average; two layers to four: 4e-4 with the rest.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "model/model.h"
#include "platform/env.h"
#include "tests/golden/golden_folders.h"
#include "tests/run_sequences.h"
#include "weights/safetensors.h"

typedef struct cpu_setting {
    const char *device;
    const char *name;
    mx_cpu_mode cpu_mode;
    mx_kv_type kv_type;
    double rms;        /* allowed, of the largest logit */
    double worst;      /* the same for a single logit */
    bool is_plain_too; /* programs without passes are run as well */
    run_layout layout; /* zeroed: not divided */
} cpu_setting;

static const cpu_setting modes[] = {
    {"cpu", "reference", MX_CPU_REFERENCE, MX_KV_F32, 2e-6, 1e-5, true, {0}},
    {"cpu", "exact", MX_CPU_EXACT, MX_KV_F32, 2e-4, 1.2e-3, true, {0}},
    {"cpu", "exact, f16 cache", MX_CPU_EXACT, MX_KV_F16, 4e-4, 2.4e-3, false, {0}},
    {"cpu", "fast", MX_CPU_FAST, MX_KV_F32, 5e-2, 0.3, false, {0}},
    {"cpu", "2 ranks", MX_CPU_REFERENCE, MX_KV_F32, 2e-6, 1e-5, false, {.n_ranks = 2, .n_stages = 1}},
    {"cpu", "2 ranks, exact", MX_CPU_EXACT, MX_KV_F32, 2e-4, 1.2e-3, false, {.n_ranks = 2, .n_stages = 1}},
    {"cpu", "4 ranks, exact", MX_CPU_EXACT, MX_KV_F32, 2e-4, 1.2e-3, false, {.n_ranks = 4, .n_stages = 1}},
    {"cpu", "2 stages", MX_CPU_REFERENCE, MX_KV_F32, 2e-6, 1e-5, false, {.n_ranks = 1, .n_stages = 2}},
    {"cpu", "2 stages of 2 ranks, exact", MX_CPU_EXACT, MX_KV_F32, 2e-4, 1.2e-3, false, {.n_ranks = 2, .n_stages = 2}},
    {"cuda", "cuda", MX_CPU_EXACT, MX_KV_F16, 1.5e-3, 9e-3, true, {0}},
};

/* The device whose modes are run. */
static const char *device = "cpu";

/* Ways of running a case: each sample_every-th is taken, n_ways were met so far. */
static int64_t sample_every = 1;
static int64_t n_ways;

/* One run of a case. */
typedef struct golden {
    int32_t n_ctx;
    int32_t n_tokens;
    int32_t *tokens;     /* [n_tokens] */
    const float *logits; /* [n_tokens, n_vocab], unaligned: read by mx_load_le32 */
    int64_t n_logits;
} golden;

static const mx_tensor *find(const mx_tensors *tensors, const char *what, int32_t i_run)
{
    char name[32];
    snprintf(name, sizeof name, "%s.%d", what, (int)i_run);
    for (size_t i = 0; i < tensors->n; i++) {
        if (mx_str_eq_cstr(tensors->items[i].name, name)) {
            return &tensors->items[i];
        }
    }
    return NULL;
}

/* Run i_run of the file; false when there is none. */
static bool read_golden(mx_arena *arena, const mx_tensors *tensors, int32_t i_run, golden *out)
{
    const mx_tensor *n_ctx = find(tensors, "n_ctx", i_run);
    const mx_tensor *tokens = find(tensors, "tokens", i_run);
    const mx_tensor *logits = find(tensors, "logits", i_run);
    if (!n_ctx || !tokens || !logits || tokens->n_bytes < 4) {
        return false;
    }
    *out = (golden){.n_ctx = (int32_t)mx_load_le32(n_ctx->data),
                    .n_tokens = (int32_t)tokens->shape[0],
                    .tokens = mx_arena_array(arena, int32_t, tokens->shape[0]),
                    .n_logits = (int64_t)(logits->n_bytes / sizeof(float))};
    float *values = mx_arena_array(arena, float, out->n_logits);
    if (!out->tokens || !values) {
        return false;
    }
    for (int32_t i = 0; i < out->n_tokens; i++) {
        out->tokens[i] = (int32_t)mx_load_le32(tokens->data + 4 * i);
    }
    mx_dtype_to_f32(values, logits->data, MX_DTYPE_F32, out->n_logits);
    out->logits = values;
    return true;
}

/* How the sequences of a schedule are fed: tokens of each in a step, over and over. Sequence 0 is the golden one. */
typedef struct schedule {
    const char *name;
    int32_t n_seqs;
    int32_t n_steps; /* rows of counts before they repeat */
    bool samples_last;
    bool is_for_divided; /* models that are divided, too, are fed so */
    int32_t counts[4][RUN_MAX_SEQS];
} schedule;

static const schedule schedules[] = {
    {"at once", 1, 1, false, true, {{1 << 20}}},
    {"in pieces", 1, 4, false, false, {{5}, {33}, {1}, {13}}},
    {"token by token", 1, 1, false, false, {{1}}},
    {"in a ragged batch", 4, 4, false, true, {{7, 1, 0, 19}, {1, 12, 3, 1}, {0, 1, 1, 1}, {17, 1, 1, 0}}},
    {"the same, sampled at the ends", 4, 3, true, true, {{3, 1, 8, 1}, {1, 1, 1, 1}, {2, 40, 0, 1}}},
};

/* The other sequences of a batch: the golden one from the end, and turned by some tokens. */
static void make_others(mx_arena *arena, const golden *g, run_seq seqs[RUN_MAX_SEQS])
{
    for (int32_t i = 1; i < RUN_MAX_SEQS; i++) {
        int32_t *tokens = mx_arena_array(arena, int32_t, g->n_tokens);
        for (int32_t j = 0; tokens && j < g->n_tokens; j++) {
            tokens[j] = g->tokens[i == 1 ? g->n_tokens - 1 - j : (j + 3 * i) % g->n_tokens];
        }
        seqs[i].tokens = tokens;
        seqs[i].n_tokens = tokens ? g->n_tokens - 2 * i : 0;
    }
}

static void compare(const golden *g, const float *found, double *rms, double *worst)
{
    double range = 0;
    double sum = 0;
    *worst = 0;
    for (int64_t i = 0; i < g->n_logits; i++) {
        const double difference = fabs((double)found[i] - (double)g->logits[i]);
        range = fmax(range, fabs((double)g->logits[i]));
        *worst = isfinite(difference) ? fmax(*worst, difference) : HUGE_VAL;
        sum += difference * difference;
    }
    *worst /= range;
    *rms = isfinite(*worst) ? sqrt(sum / (double)g->n_logits) / range : HUGE_VAL;
}

static mx_status run_schedule(const mx_program *program, const cpu_setting *mode, bool without_passes,
                              const schedule *s, const golden *g, mx_arena *arena, double *rms, double *worst,
                              mx_error *err)
{
    run_machine machine = {.device = device, .layout = mode->layout};
    mx_status st;
    run_seq seqs[RUN_MAX_SEQS] = {{.tokens = g->tokens, .n_tokens = g->n_tokens}};
    const mx_executor_options options = {
        .kv_type = mode->kv_type, .n_threads = s->n_seqs > 1 ? 2 : 1, .cpu_mode = mode->cpu_mode};
    make_others(arena, g, seqs);
    for (int32_t i = 0; i < RUN_MAX_SEQS; i++) {
        seqs[i].logits = mx_arena_array(arena, float, g->n_logits);
        if (!seqs[i].logits) {
            return mx_fail(err, MX_NO_MEMORY, "out of memory: logits");
        }
    }
    if (s->samples_last) { /* rows that are not sampled count as right */
        memcpy(seqs[0].logits, g->logits, (size_t)g->n_logits * sizeof *g->logits);
    }
    machine.layout.without_passes = without_passes;
    MX_TRY_OR(done, st, run_open(&machine, program, g->n_ctx, RUN_MAX_SEQS * g->n_tokens, options, err));
    machine.samples_last = s->samples_last;
    for (int32_t i = 0; seqs[0].n_done < g->n_tokens; i++) {
        MX_TRY_OR(done, st, run_step(&machine, seqs, s->counts[i % s->n_steps], s->n_seqs, err));
    }
    compare(g, seqs[0].logits, rms, worst);
done:
    run_close(&machine);
    return st;
}

/* Whether every rank and every stage can have its part: MX_INVALID where they cannot share what err names. */
static mx_status divide(const mx_program *program, const run_layout *layout, mx_error *err)
{
    mx_status st = MX_OK;
    for (int32_t i = 0; i < layout->n_ranks && st == MX_OK; i++) {
        mx_program rank = {0};
        st = mx_pass_shard(program, i, layout->n_ranks, &rank, err);
        mx_program_deinit(&rank);
    }
    for (int32_t i = 0; i < layout->n_stages && st == MX_OK; i++) {
        mx_program stage = {0};
        st = mx_pass_cut(program, i, layout->n_stages, &stage, err);
        mx_program_deinit(&stage);
    }
    return st;
}

/* All schedules of one run in one mode. Returns the worst error; -1 where nothing was run: the model cannot be divided
 * so, or the sample has none of this. */
static double run_mode(const char *dir, bool without_passes, const cpu_setting *mode, const golden *g,
                       golden_tally *tally)
{
    mx_error err;
    mx_model *model = NULL;
    double largest = -1;
    const bool is_divided = mode->layout.n_ranks > 0;
    char adapter[1024];
    snprintf(adapter, sizeof adapter, "%s/adapter", dir);
    const mx_model_options options = {
        .n_ctx = g->n_ctx,
        .without_passes = without_passes || is_divided,
        .adapter_dir = mx_file_kind_at(adapter) == MX_FILE_DIR ? adapter : NULL,
    };
    const char *passes = without_passes ? "without passes" : "with passes";
    mx_status st = mx_model_open(dir, &options, &model, &err);
    if (st == MX_OK && (int64_t)mx_model_view_program(model)->n_vocab * g->n_tokens != g->n_logits) {
        st = mx_fail(&err, MX_FORMAT, "golden.safetensors is not of this model");
    }
    if (st == MX_OK && is_divided) {
        st = divide(mx_model_view_program(model), &mode->layout, &err);
    }
    if (st == MX_INVALID && is_divided) {
        if (!without_passes) {
            printf("%s is not divided, %s: %s\n", dir, mode->name, err.message);
        }
        mx_model_close(model);
        return -1;
    }
    for (size_t i = 0; i < MX_COUNTOF(schedules); i++) {
        if ((is_divided && !schedules[i].is_for_divided) || n_ways++ % sample_every != 0) {
            continue;
        }
        double rms = HUGE_VAL;
        double worst = HUGE_VAL;
        mx_arena arena;
        mx_arena_init(&arena, (size_t)1 << 28);
        const mx_status run_st = st != MX_OK ? st
                                             : run_schedule(mx_model_view_program(model), mode, without_passes,
                                                            &schedules[i], g, &arena, &rms, &worst, &err);
        mx_arena_deinit(&arena);
        if (run_st == MX_OK && rms <= mode->rms && worst <= mode->worst) {
            tally->n_passed++;
        } else {
            tally->n_failed++;
            printf("failed: %s, %d tokens, %s, %s, %s: ", dir, (int)g->n_tokens, mode->name, passes, schedules[i].name);
            if (run_st != MX_OK) {
                printf("%s\n", err.message);
            } else {
                printf("off by %.1e RMS, %.1e at the worst; allowed %.0e and %.0e\n", rms, worst, mode->rms,
                       mode->worst);
            }
        }
        largest = fmax(largest, worst);
    }
    mx_model_close(model);
    return largest;
}

static void run_case(void *ctx, const char *dir, mx_str name, golden_tally *tally)
{
    (void)ctx;
    (void)name;
    mx_error err = {0};
    mx_arena arena;
    mx_buf file = {0};
    mx_tensors tensors = {0};
    golden g;
    mx_arena_init(&arena, (size_t)1 << 28);
    const char *path = mx_path_join(&arena, dir, MX_STR("golden.safetensors"));
    if (!path || mx_file_read(path, (size_t)1 << 28, &file, &err) != MX_OK ||
        mx_safetensors_parse(&arena, (const uint8_t *)file.data, file.len, path, &tensors, &err) != MX_OK ||
        !read_golden(&arena, &tensors, 0, &g)) {
        printf("failed: %s: %s\n", dir, err.message);
        tally->n_failed++;
    }
    for (int32_t i_run = 0; read_golden(&arena, &tensors, i_run, &g); i_run++) {
        double worst[MX_COUNTOF(modes)];
        for (size_t i = 0; i < MX_COUNTOF(modes); i++) {
            if (strcmp(modes[i].device, device) != 0) {
                continue;
            }
            const double plain = modes[i].is_plain_too ? run_mode(dir, true, &modes[i], &g, tally) : -1;
            worst[i] = fmax(plain, run_mode(dir, false, &modes[i], &g, tally));
        }
        printf("%s, %d tokens: at the worst", dir, (int)g.n_tokens);
        const char *between = "";
        for (size_t i = 0; i < MX_COUNTOF(modes); i++) {
            if (strcmp(modes[i].device, device) == 0 && worst[i] >= 0) {
                printf("%s %s %.1e", between, modes[i].name, worst[i]);
                between = ",";
            }
        }
        printf("\n");
    }
    mx_buf_deinit(&file);
    mx_arena_deinit(&arena);
}

int main(int argc, char **argv)
{
    mx_arena arena;
    mx_arena_init(&arena, (size_t)1 << 20);
    const char *wanted = mx_env_get(&arena, "MLXCEL_TEST_DEVICE");
    const char *sample = mx_env_get(&arena, "MLXCEL_TEST_SAMPLE");
    device = wanted ? wanted : device;
    sample_every = sample ? strtoll(sample, NULL, 10) : 1;
    if (argc < 2 || sample_every < 1) {
        fprintf(stderr, "usage: [MLXCEL_TEST_SAMPLE=N] golden-logits DIR [piece of a name ...]\n");
        return 2;
    }
    const int code = golden_run(argv[1], argv + 2, argc - 2, run_case, NULL);
    mx_arena_deinit(&arena);
    return code;
}
