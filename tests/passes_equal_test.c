/* passes_equal_test.c - a program gives the same logits before and after every pass, alone and one after the other, on
 * the reference kernels. Both sides are f32 and may add in another order: 1e-5 of the largest logit. */
#include "program/check.h"
#include "program/passes.h"
#include "tests/run_sequences.h"
#include "tests/test.h"
#include "tests/tiny_decoder.h"

#define N_TOKENS 70 /* past two pages and, where there is one, the window */

static const tiny_settings mixes[] = {
    {0},
    {.has_bias = true, .window = 9},
    {.has_head_norms = true, .is_tied = true},
    {.has_experts = true, .has_bias = true},
    {.has_states = true},
    {.has_rarities = true, .has_experts = true},
    {.has_latents = true, .has_bias = true},
    {.has_head_norms = true, .has_post_norms = true, .has_caps = true, .window = 20},
};

/* Two sequences in steps of different sizes; logits [2 * N_TOKENS, TINY_VOCAB]. */
static void run(const mx_program *program, float *logits)
{
    static const int32_t counts[][RUN_MAX_SEQS] = {{5, 33}, {1, 1}, {40, 0}, {1, 12}};
    mx_error err;
    run_machine m = {0};
    int32_t tokens[2 * N_TOKENS];
    for (int32_t i = 0; i < 2 * N_TOKENS; i++) {
        tokens[i] = (i * i + 7 * i) % TINY_VOCAB;
    }
    run_seq seqs[RUN_MAX_SEQS] = {
        {.tokens = tokens, .n_tokens = N_TOKENS, .logits = logits},
        {.tokens = tokens + N_TOKENS, .n_tokens = N_TOKENS, .logits = logits + (size_t)N_TOKENS * TINY_VOCAB}};
    const mx_executor_options options = {.kv_type = MX_KV_F32, .n_threads = 2, .cpu_mode = MX_CPU_REFERENCE};
    if (MX_CHECK_OK(run_open(&m, program, TINY_CTX, 2 * N_TOKENS, options, &err), &err)) {
        for (size_t i = 0; seqs[0].n_done < N_TOKENS || seqs[1].n_done < N_TOKENS; i++) {
            if (!MX_CHECK_OK(run_step(&m, seqs, counts[i % MX_COUNTOF(counts)], 2, &err), &err)) {
                break;
            }
        }
    }
    run_close(&m);
}

static void check_equal(const float *found, const float *wanted, const char *what)
{
    double range = 0;
    double worst = 0;
    for (int32_t i = 0; i < 2 * N_TOKENS * TINY_VOCAB; i++) {
        range = fmax(range, fabs((double)wanted[i]));
        worst = isfinite(found[i]) ? fmax(worst, fabs((double)found[i] - (double)wanted[i])) : HUGE_VAL;
    }
    if (!(range > 0.1 && worst <= 1e-5 * range)) {
        MX_TEST_FAIL("%s: off by %.2e of %.2e", what, worst, range);
    }
}

static float plain[2 * N_TOKENS * TINY_VOCAB];
static float fused[2 * N_TOKENS * TINY_VOCAB];

MX_TEST(each_pass_alone_changes_no_logit)
{
    mx_error err;
    for (size_t i = 0; i < MX_COUNTOF(mixes); i++) {
        for (const mx_pass *pass = mx_passes; pass->name; pass++) {
            tiny_decoder tiny;
            MX_CHECK_OK(tiny_decoder_build(&tiny, &mixes[i], &err), &err);
            run(&tiny.program, plain);
            pass->run(&tiny.program);
            MX_CHECK_OK(mx_program_check(&tiny.program, &err), &err);
            run(&tiny.program, fused);
            check_equal(fused, plain, pass->name);
            tiny_decoder_deinit(&tiny);
        }
    }
}

MX_TEST(all_passes_one_after_the_other_change_no_logit)
{
    mx_error err;
    for (size_t i = 0; i < MX_COUNTOF(mixes); i++) {
        tiny_decoder tiny;
        MX_CHECK_OK(tiny_decoder_build(&tiny, &mixes[i], &err), &err);
        run(&tiny.program, plain);
        for (const mx_pass *pass = mx_passes; pass->name; pass++) {
            pass->run(&tiny.program);
            run(&tiny.program, fused);
            check_equal(fused, plain, pass->name);
        }
        tiny_decoder_deinit(&tiny);
    }
}

MX_TEST_MAIN(MX_CASE(each_pass_alone_changes_no_logit), MX_CASE(all_passes_one_after_the_other_change_no_logit))
