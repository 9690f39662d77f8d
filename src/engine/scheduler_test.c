/* Many texts at once on the fake executor, whose answers depend on every token that it finds in the pages. */
#include "engine/scheduler.h"

#include "base/mem.h"
#include "tests/engine_bench.h"

enum {
    N_CTX = 256,
    N_CLIENTS = 16,
};
static const mx_engine_limits roomy = {
    .n_vocab = BENCH_VOCAB, .n_ctx = N_CTX, .max_seqs = 4, .max_step_tokens = 48, .max_samples = 20};
static const mx_engine_limits tight = {
    .n_vocab = BENCH_VOCAB, .n_ctx = N_CTX, .max_seqs = 6, .max_step_tokens = 40, .max_samples = 20, .n_pages = 10};
static const mx_scheduler_options plain = {.max_queue = 64};
static const mx_engine_limits recurrent = {
    .n_vocab = BENCH_VOCAB, .n_ctx = N_CTX, .max_seqs = 5, .max_step_tokens = 40, .n_checkpoints = 6, .n_pages = 14};
static const mx_scheduler_options with_states = {.max_queue = 64, .is_recurrent = true};

/* Some with sampling, drafts, stop strings and log-probabilities. Prompts of equal i % 4 begin alike. */
static mx_generation_request mixed_request(client *c, int32_t i)
{
    static const mx_str stops[] = {MX_STR_INIT("dcj"), MX_STR_INIT("ab"), MX_STR_INIT("hh")};
    const int32_t n_prompt = 5 + (i * 37) % 150;
    make_prompt(c, n_prompt, (uint32_t)i % 4);
    mx_generation_request r = bench_request(c, n_prompt, 20 + (i * 13) % 60);
    if (i % 3 == 1) {
        r.sampling.temperature = 0.7f;
        r.sampling.frequency_penalty = 0.3f;
        r.sampling.seed = (uint64_t)i;
    }
    r.n_draft = i % 2 ? 4 : 0;
    if (i % 5 == 2) {
        r.stops = stops;
        r.n_stops = 3;
    }
    if (i % 4 == 3) {
        r.wants_logprobs = true;
        r.n_top = 3;
    }
    return r;
}

/* Each text by itself, without a cache of prefixes. */
static void run_alone(char texts[N_CLIENTS][BENCH_MAX_OUT])
{
    static const mx_scheduler_options without = {.max_queue = 1, .is_without_prefixes = true};
    static client c;
    for (int32_t i = 0; i < N_CLIENTS; i++) {
        bench b;
        if (open_bench(&b, &roomy, &without)) {
            mx_generation_request r = mixed_request(&c, i);
            r.n_draft = 0;
            open_client(&b, &c, &r);
            add_client(&b, &c);
            run_all(&b);
            MX_CHECK_I64(c.status, MX_OK);
            snprintf(texts[i], BENCH_MAX_OUT, "%s", c.text);
            close_client(&c);
        }
        close_bench(&b);
    }
}

static client clients[N_CLIENTS];
static char alone[N_CLIENTS][BENCH_MAX_OUT];

static void check_texts_together(const mx_engine_limits *limits, const mx_scheduler_options *options, int32_t n_rounds)
{
    bench b;
    run_alone(alone);
    if (open_bench(&b, limits, options)) {
        for (int32_t round = 0; round < n_rounds; round++) {
            for (int32_t i = 0; i < N_CLIENTS; i++) {
                mx_generation_request r = mixed_request(&clients[i], i);
                r.n_draft = options->is_recurrent ? 0 : r.n_draft; /* a state takes no rows back */
                open_client(&b, &clients[i], &r);
                clients[i].job.priority = i % 7 == 3;
                clients[i].job.client = (uint64_t)(i % 3);
                add_client(&b, &clients[i]);
                for (int32_t j = 0; j < (i + round) % 5; j++) { /* they come one by one */
                    mx_scheduler_step(&b.scheduler);
                }
            }
            run_all(&b);
            for (int32_t i = 0; i < N_CLIENTS; i++) {
                MX_CHECK_I64(clients[i].status, MX_OK);
                MX_CHECK_CSTR(clients[i].text, alone[i]);
                MX_CHECK_I64(clients[i].n_token_bytes, strlen(alone[i]));
                close_client(&clients[i]);
            }
        }
        MX_CHECK(b.scheduler.counts.n_reused > 500);
        MX_CHECK(options->is_recurrent || (b.scheduler.counts.n_drafts > 100 && b.scheduler.counts.n_right > 0));
        MX_CHECK_I64(b.scheduler.counts.n_jobs_over, n_rounds * N_CLIENTS);
        if (limits != &roomy) {
            MX_CHECK(b.scheduler.counts.n_preemptions > 0);
        }
    }
    close_bench(&b);
}

MX_TEST(each_text_is_the_one_that_it_is_alone)
{
    check_texts_together(&roomy, &plain, 2);
}

MX_TEST(texts_stay_the_same_when_pages_run_out)
{
    check_texts_together(&tight, &plain, 3);
}

MX_TEST(texts_with_recurrent_states_go_on_from_checkpoints)
{
    check_texts_together(&recurrent, &with_states, 3);
}

MX_TEST(cancelled_texts_free_their_pages_within_a_step_and_spoil_nothing)
{
    bench b;
    uint32_t state = 3;
    run_alone(alone);
    if (open_bench(&b, &tight, &plain)) {
        for (int32_t round = 0; round < 60; round++) {
            for (int32_t i = 0; i < N_CLIENTS; i++) {
                const mx_generation_request r = mixed_request(&clients[i], i);
                open_client(&b, &clients[i], &r);
                add_client(&b, &clients[i]);
            }
            for (int32_t i = 0; i < round % 20; i++) {
                mx_scheduler_step(&b.scheduler);
            }
            for (int32_t i = 0; i < N_CLIENTS; i++) {
                state = state * 1664525u + 1013904223u;
                if (state >> 31) {
                    mx_atomic_store_u32(&clients[i].job.is_cancelled, 1);
                }
            }
            mx_scheduler_step(&b.scheduler);
            for (int32_t i = 0; i < N_CLIENTS; i++) {
                MX_CHECK(clients[i].is_over || !mx_atomic_load_u32(&clients[i].job.is_cancelled));
                MX_CHECK(!clients[i].is_over || clients[i].job.generation.sequence.n_pages == 0);
            }
            run_all(&b);
            for (int32_t i = 0; i < N_CLIENTS; i++) {
                MX_CHECK(clients[i].is_over && clients[i].status == MX_OK);
                if (clients[i].finish != MX_FINISH_CANCELLED) {
                    MX_CHECK_CSTR(clients[i].text, alone[i]);
                } else {
                    MX_CHECK(strncmp(clients[i].text, alone[i], strlen(clients[i].text)) == 0 || i % 5 == 2);
                }
                close_client(&clients[i]);
            }
        }
    }
    close_bench(&b);
}

/* Runs one greedy text of n_new tokens to its end. */
static void run_one(bench *b, client *c, int32_t n_prompt, int32_t n_new)
{
    const mx_generation_request r = bench_request(c, n_prompt, n_new);
    open_client(b, c, &r);
    add_client(b, c);
    run_all(b);
    close_client(c);
}

MX_TEST(the_same_prompt_again_is_computed_but_for_its_end)
{
    bench b;
    static client c;
    char first[BENCH_MAX_OUT];
    if (open_bench(&b, &roomy, &plain)) {
        make_prompt(&c, 128, 1);
        run_one(&b, &c, 128, 10);
        memcpy(first, c.text, sizeof first);
        MX_CHECK_I64(c.job.n_reused, 0);
        for (int i = 0; i < 3; i++) {
            run_one(&b, &c, 128, 10);
            MX_CHECK_CSTR(c.text, first);
            MX_CHECK_I64(c.job.n_reused, 96);
            MX_CHECK_I64(c.job.n_computed, 32);
        }
        run_one(&b, &c, 40, 10); /* a beginning of it */
        MX_CHECK_I64(c.job.n_reused, 32);
        c.prompt[3] ^= 1;
        run_one(&b, &c, 128, 10);
        MX_CHECK_I64(c.job.n_reused, 0);
        MX_CHECK(strcmp(c.text, first) != 0);
    }
    close_bench(&b);
}

MX_TEST(an_answer_is_reused_as_part_of_the_next_prompt)
{
    bench b;
    static client c;
    if (open_bench(&b, &roomy, &plain)) {
        make_prompt(&c, 50, 1);
        const mx_generation_request r = bench_request(&c, 50, 60);
        open_client(&b, &c, &r);
        add_client(&b, &c);
        run_all(&b);
        memcpy(c.prompt, c.job.generation.sequence.tokens, 110 * sizeof c.prompt[0]);
        close_client(&c);
        run_one(&b, &c, 110, 5);
        MX_CHECK_I64(c.job.n_reused, 96);
    }
    close_bench(&b);
}

MX_TEST(a_conversation_with_recurrent_states_computes_what_is_new)
{
    static const mx_engine_limits limits = {
        .n_vocab = BENCH_VOCAB, .n_ctx = N_CTX, .max_seqs = 2, .max_step_tokens = 48, .n_checkpoints = 4};
    static client c;
    bench b;
    if (open_bench(&b, &limits, &with_states)) {
        make_prompt(&c, 70, 1);
        for (int32_t n_prompt = 70; n_prompt < 200; n_prompt += 50) {
            const mx_generation_request r = bench_request(&c, n_prompt, 45);
            open_client(&b, &c, &r);
            add_client(&b, &c);
            run_all(&b);
            MX_CHECK_I64(c.status, MX_OK);
            MX_CHECK(n_prompt == 70 ? c.job.n_reused == 0 : c.job.n_computed <= 5 + 2 * MX_PAGE_TOKENS);
            memcpy(c.prompt, c.job.generation.sequence.tokens, (size_t)(n_prompt + 45) * sizeof c.prompt[0]);
            close_client(&c);
        }
        run_one(&b, &c, 200, 5); /* the same again, but for its end */
        const int32_t n_first = c.job.n_reused;
        run_one(&b, &c, 200, 5);
        MX_CHECK(n_first > 64 && c.job.n_reused == 192);
    }
    close_bench(&b);
}

MX_TEST(texts_with_another_key_share_nothing)
{
    bench b;
    static client c;
    if (open_bench(&b, &roomy, &plain)) {
        make_prompt(&c, 100, 1);
        run_one(&b, &c, 100, 5);
        const mx_generation_request r = bench_request(&c, 100, 5);
        open_client(&b, &c, &r);
        c.job.prefix_key = 7;
        add_client(&b, &c);
        run_all(&b);
        MX_CHECK_I64(c.job.n_reused, 0);
        close_client(&c);
    }
    close_bench(&b);
}

MX_TEST(texts_of_one_prompt_compute_it_once)
{
    bench b;
    if (open_bench(&b, &roomy, &plain)) {
        for (int32_t i = 0; i < 4; i++) {
            make_prompt(&clients[i], 100, 1);
            mx_generation_request r = bench_request(&clients[i], 100, 20);
            r.sampling.temperature = 1.0f;
            r.sampling.seed = (uint64_t)i;
            open_client(&b, &clients[i], &r);
            clients[i].job.leader = i > 0 ? &clients[0].job : NULL;
            add_client(&b, &clients[i]);
        }
        run_all(&b);
        for (int32_t i = 0; i < 4; i++) {
            MX_CHECK_I64(clients[i].job.n_reused, i > 0 ? 96 : 0);
            MX_CHECK(i == 0 || strcmp(clients[i].text, clients[0].text) != 0);
            close_client(&clients[i]);
        }
        MX_CHECK_I64(b.scheduler.counts.n_computed, 100 + 3 * 4);
    }
    close_bench(&b);
}

MX_TEST(answers_go_on_while_a_long_prompt_is_read)
{
    bench b;
    if (open_bench(&b, &roomy, &plain)) {
        for (int32_t i = 0; i < 2; i++) {
            const int32_t n_prompt = i == 0 ? 10 : 240;
            make_prompt(&clients[i], n_prompt, (uint32_t)i);
            const mx_generation_request r = bench_request(&clients[i], n_prompt, 15);
            open_client(&b, &clients[i], &r);
            add_client(&b, &clients[i]);
            mx_scheduler_step(&b.scheduler);
        }
        int32_t n_steps = 0;
        while (clients[1].job.generation.n_new == 0 && n_steps < 20) {
            const int32_t n_before = clients[0].job.generation.n_new;
            mx_scheduler_step(&b.scheduler);
            n_steps++;
            MX_CHECK_I64(clients[0].job.generation.n_new, n_before + 1);
        }
        MX_CHECK_I64(n_steps, 5); /* 47 rows a step, the first of which was made above: ceil(240 / 47) - 1 */
        run_all(&b);
        close_client(&clients[0]);
        close_client(&clients[1]);
    }
    close_bench(&b);
}

MX_TEST(guesses_that_are_right_save_steps_and_change_nothing)
{
    bench b;
    int32_t script[60];
    static client c;
    for (int32_t i = 0; i < 60; i++) {
        script[i] = i < 30 ? (i * i) % 10 % (i + 3) : script[i - 30]; /* says the same twice */
    }
    if (open_bench(&b, &roomy, &plain)) {
        b.fake->script = script;
        b.fake->n_script = 60;
        b.fake->script_from = 1;
        make_prompt(&c, 2, 1);
        run_one(&b, &c, 2, 60);
        char text[BENCH_MAX_OUT];
        memcpy(text, c.text, sizeof text);
        const int64_t n_plain = b.scheduler.counts.n_steps;
        mx_generation_request r = bench_request(&c, 2, 60);
        r.n_draft = 4;
        open_client(&b, &c, &r);
        add_client(&b, &c);
        run_all(&b);
        MX_CHECK_CSTR(c.text, text);
        MX_CHECK_I64(c.job.generation.n_new, 60);
        MX_CHECK(b.scheduler.counts.n_steps - n_plain < 45 && n_plain == 60);
        MX_CHECK(b.scheduler.counts.n_right > 15);
        close_client(&c);
    }
    close_bench(&b);
}

MX_TEST(clients_get_equal_shares)
{
    static const mx_engine_limits one = {.n_vocab = BENCH_VOCAB, .n_ctx = N_CTX, .max_seqs = 1, .max_step_tokens = 48};
    bench b;
    if (open_bench(&b, &one, &plain)) {
        n_clients_over = 0;
        for (int32_t i = 0; i < 12; i++) { /* ten of one client, then two of another */
            make_prompt(&clients[i], 20, (uint32_t)i);
            const mx_generation_request r = bench_request(&clients[i], 20, 10);
            open_client(&b, &clients[i], &r);
            clients[i].job.client = i < 10 ? 1 : 2;
            add_client(&b, &clients[i]);
        }
        run_all(&b);
        MX_CHECK(clients[10].n_order <= 2 && clients[11].n_order <= 4);
        MX_CHECK_I64(clients[9].n_order, 11);
        for (int32_t i = 0; i < 12; i++) {
            close_client(&clients[i]);
        }
    }
    close_bench(&b);
}

MX_TEST(a_higher_priority_goes_first)
{
    static const mx_engine_limits one = {.n_vocab = BENCH_VOCAB, .n_ctx = N_CTX, .max_seqs = 1, .max_step_tokens = 48};
    bench b;
    if (open_bench(&b, &one, &plain)) {
        n_clients_over = 0;
        for (int32_t i = 0; i < 6; i++) {
            make_prompt(&clients[i], 20, (uint32_t)i);
            const mx_generation_request r = bench_request(&clients[i], 20, 4);
            open_client(&b, &clients[i], &r);
            clients[i].job.priority = i == 4 ? 1 : i == 2 ? -1 : 0;
            add_client(&b, &clients[i]);
        }
        run_all(&b);
        MX_CHECK_I64(clients[4].n_order, 0);
        MX_CHECK_I64(clients[2].n_order, 5);
        for (int32_t i = 0; i < 6; i++) {
            close_client(&clients[i]);
        }
    }
    close_bench(&b);
}

MX_TEST(more_jobs_than_may_be_are_refused)
{
    static const mx_scheduler_options small = {.max_queue = 2};
    bench b;
    mx_error err;
    if (open_bench(&b, &roomy, &small)) {
        for (int32_t i = 0; i < 7; i++) {
            make_prompt(&clients[i], 20, (uint32_t)i);
            const mx_generation_request r = bench_request(&clients[i], 20, 4);
            open_client(&b, &clients[i], &r);
            if (i < 6) {
                add_client(&b, &clients[i]);
            }
        }
        MX_CHECK_FAILS(mx_scheduler_add(&b.scheduler, &clients[6].job, &err), MX_BUSY, &err, "6 texts");
        run_all(&b);
        add_client(&b, &clients[6]);
        run_all(&b);
        for (int32_t i = 0; i < 7; i++) {
            MX_CHECK(clients[i].is_over && clients[i].n_tokens == 4);
            close_client(&clients[i]);
        }
    }
    close_bench(&b);
}

MX_TEST(a_failed_step_fails_its_texts_and_the_next_ones_work)
{
    bench b;
    if (open_bench(&b, &roomy, &plain)) {
        for (int32_t round = 0; round < 2; round++) {
            b.fake->fail_at = round == 0 ? 5 : 0;
            for (int32_t i = 0; i < 4; i++) {
                make_prompt(&clients[i], 60, (uint32_t)i);
                const mx_generation_request r = bench_request(&clients[i], 60, 10);
                open_client(&b, &clients[i], &r);
                add_client(&b, &clients[i]);
            }
            run_all(&b);
            int32_t n_failed = 0;
            for (int32_t i = 0; i < 4; i++) {
                MX_CHECK(clients[i].is_over);
                MX_CHECK(clients[i].status == MX_OK || clients[i].status == MX_DEVICE);
                n_failed += clients[i].status != MX_OK;
                close_client(&clients[i]);
            }
            MX_CHECK(round == 0 ? n_failed > 0 : n_failed == 0);
        }
        MX_CHECK_I64(b.scheduler.counts.n_failed_steps, 1);
    }
    close_bench(&b);
}

MX_TEST(nothing_of_the_cache_is_used_after_a_failed_step)
{
    bench b;
    char text[BENCH_MAX_OUT];
    if (open_bench(&b, &roomy, &plain)) {
        make_prompt(&clients[0], 100, 0);
        make_prompt(&clients[1], 200, 1);
        run_one(&b, &clients[0], 100, 10);
        memcpy(text, clients[0].text, sizeof text);
        mx_prefix_tree_clear(&b.scheduler.tree);
        const mx_generation_request r0 = bench_request(&clients[0], 100, 10);
        open_client(&b, &clients[0], &r0);
        add_client(&b, &clients[0]);
        mx_scheduler_step(&b.scheduler);
        MX_CHECK(b.scheduler.tree.n_pages > 0);
        const mx_generation_request r1 = bench_request(&clients[1], 200, 10);
        open_client(&b, &clients[1], &r1);
        clients[1].job.priority = 1; /* has all rows of the step that fails */
        add_client(&b, &clients[1]);
        b.fake->fail_at = b.fake->n_runs + 1;
        mx_scheduler_step(&b.scheduler);
        MX_CHECK(clients[1].is_over && clients[1].status == MX_DEVICE && !clients[0].is_over);
        MX_CHECK_I64(b.engine.pages.n_free, b.engine.pages.n_pages);
        memset(b.fake->cache, 0, (size_t)b.engine.pages.n_pages * MX_PAGE_TOKENS * sizeof *b.fake->cache);
        run_all(&b);
        MX_CHECK_I64(clients[0].status, MX_OK);
        MX_CHECK_CSTR(clients[0].text, text);
        close_client(&clients[0]);
        close_client(&clients[1]);
    }
    close_bench(&b);
}

MX_TEST(a_text_that_waits_for_room_takes_nothing)
{
    static const mx_engine_limits few = {.n_vocab = BENCH_VOCAB,
                                         .n_ctx = N_CTX,
                                         .max_seqs = 2,
                                         .max_step_tokens = 256,
                                         .n_checkpoints = 4,
                                         .n_pages = 8};
    bench b;
    if (open_bench(&b, &few, &with_states)) {
        make_prompt(&clients[0], 70, 0);
        make_prompt(&clients[1], 200, 0);
        run_one(&b, &clients[0], 70, 2); /* leaves pages and a state that the long one begins with */
        make_prompt(&clients[0], 100, 1);
        const mx_generation_request r0 = bench_request(&clients[0], 100, 20);
        const mx_generation_request r1 = bench_request(&clients[1], 200, 2);
        open_client(&b, &clients[0], &r0);
        open_client(&b, &clients[1], &r1);
        add_client(&b, &clients[0]);
        mx_scheduler_step(&b.scheduler);
        mx_scheduler_step(&b.scheduler);
        add_client(&b, &clients[1]);
        const int32_t n_copies = b.fake->n_copies;
        for (int32_t i = 0; i < 5; i++) {
            mx_scheduler_step(&b.scheduler);
        }
        MX_CHECK_I64(clients[1].job.state, MX_JOB_QUEUED);
        MX_CHECK_I64(b.fake->n_copies, n_copies);
        run_all(&b);
        MX_CHECK_I64(clients[1].status, MX_OK);
        close_client(&clients[0]);
        close_client(&clients[1]);
    }
    close_bench(&b);
}

MX_TEST(clients_do_not_pay_for_tokens_that_are_reused)
{
    static const mx_engine_limits one = {.n_vocab = BENCH_VOCAB, .n_ctx = N_CTX, .max_seqs = 1, .max_step_tokens = 48};
    static const struct {
        int32_t n_prompt;
        uint32_t seed;
        uint64_t client;
    } rows[] = {{128, 0, 1}, {60, 1, 2}, {20, 2, 2}, {20, 3, 1}};
    bench b;
    if (open_bench(&b, &one, &plain)) {
        make_prompt(&clients[0], 128, 0);
        run_one(&b, &clients[0], 128, 5); /* so that the first of client 1 computes 32 */
        n_clients_over = 0;
        for (int32_t i = 0; i < 4; i++) {
            make_prompt(&clients[i], rows[i].n_prompt, rows[i].seed);
            const mx_generation_request r = bench_request(&clients[i], rows[i].n_prompt, 10);
            open_client(&b, &clients[i], &r);
            clients[i].job.client = rows[i].client;
            add_client(&b, &clients[i]);
        }
        run_all(&b);
        MX_CHECK_I64(clients[3].n_order, 2);
        MX_CHECK_I64(clients[2].n_order, 3);
        for (int32_t i = 0; i < 4; i++) {
            close_client(&clients[i]);
        }
    }
    close_bench(&b);
}

MX_TEST(steps_allocate_nothing)
{
    bench b;
    if (open_bench(&b, &roomy, &plain)) {
        for (int32_t i = 0; i < 4; i++) {
            make_prompt(&clients[i], 60, (uint32_t)i);
            mx_generation_request r = bench_request(&clients[i], 60, 50);
            r.n_draft = 3;
            r.wants_logprobs = true;
            r.n_top = 5;
            open_client(&b, &clients[i], &r);
            add_client(&b, &clients[i]);
        }
        while (clients[3].job.generation.n_new < 2) { /* detokenizers make their buffers with the first token */
            mx_scheduler_step(&b.scheduler);
        }
        mx_mem_fail_at(0);
        run_all(&b);
        MX_CHECK_I64(mx_mem_count(), 0);
        for (int32_t i = 0; i < 4; i++) {
            close_client(&clients[i]);
        }
    }
    close_bench(&b);
}

MX_TEST(every_failed_allocation_is_told)
{
    bench b;
    mx_error err;
    if (open_bench(&b, &roomy, &plain)) {
        for (int n = 1; n <= 10; n++) {
            mx_scheduler s;
            mx_mem_fail_at(n);
            MX_CHECK_FAILS(mx_scheduler_init(&s, &b.engine, &plain, &err), MX_NO_MEMORY, &err, "");
            mx_mem_fail_at(0);
        }
    }
    close_bench(&b);
}

MX_TEST_MAIN(MX_CASE(each_text_is_the_one_that_it_is_alone), MX_CASE(texts_stay_the_same_when_pages_run_out),
             MX_CASE(texts_with_recurrent_states_go_on_from_checkpoints),
             MX_CASE(cancelled_texts_free_their_pages_within_a_step_and_spoil_nothing),
             MX_CASE(the_same_prompt_again_is_computed_but_for_its_end),
             MX_CASE(an_answer_is_reused_as_part_of_the_next_prompt),
             MX_CASE(a_conversation_with_recurrent_states_computes_what_is_new),
             MX_CASE(texts_with_another_key_share_nothing), MX_CASE(texts_of_one_prompt_compute_it_once),
             MX_CASE(answers_go_on_while_a_long_prompt_is_read),
             MX_CASE(guesses_that_are_right_save_steps_and_change_nothing), MX_CASE(clients_get_equal_shares),
             MX_CASE(a_higher_priority_goes_first), MX_CASE(more_jobs_than_may_be_are_refused),
             MX_CASE(a_failed_step_fails_its_texts_and_the_next_ones_work),
             MX_CASE(nothing_of_the_cache_is_used_after_a_failed_step),
             MX_CASE(a_text_that_waits_for_room_takes_nothing), MX_CASE(clients_do_not_pay_for_tokens_that_are_reused),
             MX_CASE(steps_allocate_nothing), MX_CASE(every_failed_allocation_is_told))
