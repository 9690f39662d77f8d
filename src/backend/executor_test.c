/* executor_test.c - opening and running an executor: what it takes, what it refuses. */
#include "backend/executor.h"

#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda_image.h"
#include "base/mem.h"
#include "program/passes.h"
#include "tests/test.h"
#include "tests/tiny_decoder.h"

#define N_TOKENS 40

typedef struct fixture {
    tiny_decoder tiny;
    mx_plan plan;
    mx_executor_options options;
    mx_batch batch;
    int32_t tokens[N_TOKENS];
    int32_t positions[N_TOKENS];
    int32_t row_start[2];
    int32_t kv_len[1];
    int32_t state_slots[1];
    int32_t pages[TINY_CTX / MX_PAGE_TOKENS];
    int32_t sample_rows[1];
} fixture;

static void fixture_open(fixture *f, const tiny_settings *settings)
{
    mx_error err = {0};
    *f =
        (fixture){.options = {.n_pages = TINY_CTX / MX_PAGE_TOKENS, .n_state_slots = 1, .max_seqs = 1, .n_threads = 2}};
    MX_CHECK_OK(tiny_decoder_build(&f->tiny, settings, &err), &err);
    MX_CHECK_OK(mx_passes_run(&f->tiny.program, &err), &err);
    MX_CHECK_OK(mx_plan_init(&f->plan, &f->tiny.program, N_TOKENS, 1, &err), &err);
    for (int32_t i = 0; i < TINY_CTX / MX_PAGE_TOKENS; i++) {
        f->pages[i] = i;
    }
}

static void fixture_close(fixture *f)
{
    mx_plan_deinit(&f->plan);
    tiny_decoder_deinit(&f->tiny);
}

/* Tokens at positions [from, from + n) of the only sequence; the last one's logits are wanted. */
static const mx_batch *step(fixture *f, int32_t from, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        f->tokens[i] = (7 * (from + i) + 3) % TINY_VOCAB;
        f->positions[i] = from + i;
    }
    f->row_start[1] = n;
    f->kv_len[0] = from + n;
    f->sample_rows[0] = n - 1;
    f->batch = (mx_batch){.n_tokens = n,
                          .n_seqs = 1,
                          .n_samples = 1,
                          .n_page_cols = TINY_CTX / MX_PAGE_TOKENS,
                          .tokens = f->tokens,
                          .positions = f->positions,
                          .row_start = f->row_start,
                          .kv_len = f->kv_len,
                          .page_table = f->pages,
                          .state_slots = f->state_slots,
                          .sample_rows = f->sample_rows};
    return &f->batch;
}

static const tiny_settings settings[] = {
    {0},
    {.has_head_norms = true, .has_bias = true, .has_experts = true},
    {.has_latents = true},
    {.has_post_norms = true, .has_caps = true, .window = 20, .is_tied = true},
    {.has_states = true},
};

MX_TEST(tuned_logits_are_those_of_the_plain_operations)
{
    for (size_t i = 0; i < MX_COUNTOF(settings); i++) {
        static fixture f;
        mx_error err = {0};
        mx_executor *plain = NULL;
        mx_executor *tuned = NULL;
        fixture_open(&f, &settings[i]);
        f.options.kv_type = MX_KV_F32;
        f.options.cpu_mode = MX_CPU_REFERENCE;
        MX_CHECK_OK(mx_executor_open("cpu", &f.plan, &f.options, &plain, &err), &err);
        f.options.cpu_mode = MX_CPU_EXACT;
        MX_CHECK_OK(mx_executor_open("cpu", &f.plan, &f.options, &tuned, &err), &err);
        for (int32_t from = 0, n = N_TOKENS; plain && tuned && from < 100; from += n, n = n / 3 + 1) {
            const mx_batch *batch = step(&f, from, n);
            MX_CHECK_OK(mx_executor_run(plain, batch, &err), &err);
            MX_CHECK_OK(mx_executor_run(tuned, batch, &err), &err);
            for (int32_t v = 0; v < TINY_VOCAB; v++) {
                MX_CHECK_NEAR(mx_executor_view_logits(tuned)[v], mx_executor_view_logits(plain)[v], 2e-5);
            }
        }
        mx_executor_close(plain);
        mx_executor_close(tuned);
        fixture_close(&f);
    }
}

MX_TEST(a_step_allocates_nothing)
{
    static const mx_cpu_mode modes[] = {MX_CPU_EXACT, MX_CPU_FAST, MX_CPU_REFERENCE};
    for (size_t i = 0; i < MX_COUNTOF(modes); i++) {
        static fixture f;
        mx_error err = {0};
        mx_executor *executor = NULL;
        fixture_open(&f, &settings[1]);
        f.options.n_threads = 1; /* the counter is this thread's */
        f.options.cpu_mode = modes[i];
        MX_CHECK_OK(mx_executor_open("cpu", &f.plan, &f.options, &executor, &err), &err);
        mx_mem_fail_at(0);
        MX_CHECK_OK(mx_executor_run(executor, step(&f, 0, N_TOKENS), &err), &err);
        MX_CHECK_OK(mx_executor_run(executor, step(&f, N_TOKENS, 1), &err), &err);
        MX_CHECK_I64(mx_mem_count(), 0);
        mx_executor_close(executor);
        fixture_close(&f);
    }
}

MX_TEST(refuses_token_ids_outside_the_vocabulary)
{
    static fixture f;
    mx_error err = {0};
    mx_executor *executor = NULL;
    fixture_open(&f, &settings[0]);
    MX_CHECK_OK(mx_executor_open("cpu", &f.plan, &f.options, &executor, &err), &err);
    (void)step(&f, 0, 3);
    f.tokens[1] = TINY_VOCAB;
    MX_CHECK_FAILS(mx_executor_run(executor, &f.batch, &err), MX_INVALID, &err, "token id 50");
    f.tokens[1] = -1;
    MX_CHECK_FAILS(mx_executor_run(executor, &f.batch, &err), MX_INVALID, &err, "token id -1");
    MX_CHECK_OK(mx_executor_run(executor, step(&f, 0, 3), &err), &err);
    mx_executor_close(executor);
    fixture_close(&f);
}

MX_TEST(refuses_what_it_cannot_run_by_name)
{
    static fixture f;
    mx_error err = {0};
    mx_executor *executor = NULL;
    fixture_open(&f, &settings[0]);
    MX_CHECK_FAILS(mx_executor_open("abacus", &f.plan, &f.options, &executor, &err), MX_INVALID, &err, "cpu");
    f.options.cpu_isa = "mmx";
    MX_CHECK_FAILS(mx_executor_open("cpu", &f.plan, &f.options, &executor, &err), MX_UNSUPPORTED, &err, "mmx");
    f.options.cpu_isa = NULL;
    f.options.n_pages = 0;
    MX_CHECK_FAILS(mx_executor_open("cpu", &f.plan, &f.options, &executor, &err), MX_INVALID, &err, "0 pages");
    f.options.n_pages = 8;
    for (int32_t i = 0; i < f.tiny.program.n_ops; i++) {
        mx_op *op = &f.tiny.program.ops[i];
        if (op->kind == MX_OP_LINEAR) {
            f.tiny.program.weights[op->u.linear.weights[0]].quant = (mx_quant){MX_QUANT_AFFINE, 7, 64};
        }
    }
    MX_CHECK_FAILS(mx_executor_open("cpu", &f.plan, &f.options, &executor, &err), MX_UNSUPPORTED, &err, "7 bits");
    MX_CHECK(executor == NULL);
    mx_executor_close(NULL);
    fixture_close(&f);
}

MX_TEST(reports_every_allocation_that_fails)
{
    static fixture f;
    mx_error err = {0};
    mx_executor *executor = NULL;
    mx_status st = MX_NO_MEMORY;
    fixture_open(&f, &settings[1]);
    for (int64_t n = 1; st != MX_OK && n < 1000; n++) {
        mx_mem_fail_at(n);
        st = mx_executor_open("cpu", &f.plan, &f.options, &executor, &err);
        mx_mem_fail_at(0);
        MX_CHECK(st == MX_OK || (st == MX_NO_MEMORY && executor == NULL));
    }
    MX_CHECK(st == MX_OK);
    mx_executor_close(executor);
    fixture_close(&f);
}

MX_TEST(devices_are_those_that_the_build_has_kernels_for)
{
    static const mx_executor_options options = {0};
    mx_executor *executor = NULL;
    mx_error err = {0};
    MX_CHECK_OK(mx_executor_check_device("cpu", &err), &err);
    MX_CHECK_OK(mx_executor_check_device("cuda:1", &err), &err);
    MX_CHECK_FAILS(mx_executor_check_device("foo", &err), MX_INVALID, &err, "no device \"foo\"; this build has: cpu");
    MX_CHECK((strstr(err.message, "cuda") != NULL) == (mx_cuda_image_get() != NULL));
    if (!mx_cuda_image_get()) {
        MX_CHECK_FAILS(mx_executor_open("cuda", NULL, &options, &executor, &err), MX_DEVICE, &err,
                       "this build has no GPU kernels");
    }
}

MX_TEST_MAIN(MX_CASE(devices_are_those_that_the_build_has_kernels_for),
             MX_CASE(tuned_logits_are_those_of_the_plain_operations), MX_CASE(a_step_allocates_nothing),
             MX_CASE(refuses_token_ids_outside_the_vocabulary), MX_CASE(refuses_what_it_cannot_run_by_name),
             MX_CASE(reports_every_allocation_that_fails))
