/* Texts that follow a grammar, on the fake device. */
#include "engine/guide.h"

#include "tests/engine_bench.h"

static const mx_engine_limits limits = {
    .n_vocab = BENCH_VOCAB, .n_ctx = 128, .max_seqs = 2, .max_step_tokens = 40, .max_samples = 10};
static const mx_scheduler_options plain = {.max_queue = 8};
static const int32_t end_ids[] = {11};

/* Answers a prompt under a GBNF grammar; the text is in c. */
static void run_guided(const char *source, const char *after, uint64_t seed, int32_t n_draft, client *c)
{
    mx_error err;
    bench b;
    mx_guide guide = {0};
    mx_token_table table = {0};
    mx_grammar *grammar = NULL;
    if (open_bench(&b, &limits, &plain) &&
        MX_CHECK_OK(mx_token_table_init(&table, b.tokenizer, BENCH_VOCAB, &err), &err) &&
        MX_CHECK_OK(mx_grammar_open(MX_GRAMMAR_GBNF, mx_str_from(source), &grammar, &err), &err) &&
        MX_CHECK_OK(mx_guide_init(&guide, b.tokenizer, &table, grammar, mx_str_from(after), &err), &err)) {
        make_prompt(c, 10, (uint32_t)seed);
        mx_generation_request r = bench_request(c, 10, 60);
        r.sampling.temperature = 1.0f;
        r.sampling.seed = seed;
        r.end_ids = end_ids;
        r.n_end_ids = 1;
        r.guide = &guide;
        r.n_draft = n_draft;
        open_client(&b, c, &r);
        add_client(&b, c);
        run_all(&b);
        close_client(c);
    }
    mx_guide_deinit(&guide);
    mx_grammar_close(grammar);
    mx_token_table_deinit(&table);
    close_bench(&b);
}

MX_TEST(a_guided_text_is_one_of_the_grammar)
{
    static client c;
    static client drafted;
    int32_t n_lengths[61] = {0};
    for (uint64_t seed = 0; seed < 30; seed++) {
        run_guided("root ::= (\"ab\" | \"cd\"){0,8} \"e\" (\" \" [f-h])?", "", seed, 0, &c);
        const size_t n = strlen(c.text);
        MX_CHECK_I64(c.status, MX_OK);
        MX_CHECK(c.finish == MX_FINISH_END);
        const size_t n_pairs = strcspn(c.text, "e");
        MX_CHECK(n_pairs % 2 == 0 && n_pairs <= 16 && (n == n_pairs + 1 || n == n_pairs + 3));
        for (size_t i = 0; i < n_pairs; i += 2) {
            MX_CHECK(strncmp(c.text + i, "ab", 2) == 0 || strncmp(c.text + i, "cd", 2) == 0);
        }
        n_lengths[MX_MIN(n, 60)]++;
        run_guided("root ::= (\"ab\" | \"cd\"){0,8} \"e\" (\" \" [f-h])?", "", seed, 4, &drafted);
        MX_CHECK_CSTR(drafted.text, c.text);
    }
    MX_CHECK(n_lengths[1] + n_lengths[3] > 0 && n_lengths[5] + n_lengths[7] > 0);
}

MX_TEST(a_grammar_may_begin_behind_a_text)
{
    static client c;
    int32_t n_begun = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        run_guided("root ::= \"dd\"", "a", seed, 0, &c);
        const char *at = strstr(c.text, "a");
        MX_CHECK_I64(c.status, MX_OK);
        MX_CHECK(!at || strcmp(at, "add") == 0 || c.finish == MX_FINISH_LENGTH);
        n_begun += at != NULL;
    }
    MX_CHECK(n_begun > 0);
}

MX_TEST(a_grammar_that_no_token_can_follow_ends_in_words)
{
    static client c;
    run_guided("root ::= \"a\" \"x\"", "", 1, 0, &c);
    MX_CHECK_I64(c.status, MX_INVALID);
}

MX_TEST_MAIN(MX_CASE(a_guided_text_is_one_of_the_grammar), MX_CASE(a_grammar_may_begin_behind_a_text),
             MX_CASE(a_grammar_that_no_token_can_follow_ends_in_words))
