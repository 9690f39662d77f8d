/* vocab_test.c - both directions of the table. */
#include "text/tokenizer/vocab.h"

#include "tests/tokenizer_testing.h"

MX_TEST(finds_strings_by_id_and_ids_by_string)
{
    mx_error err;
    mx_vocab vocab;
    char text[16];
    MX_CHECK_OK(mx_vocab_init(&vocab, 10, 10, &err), &err); /* too small: it grows */
    for (int32_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "token%" PRId32, i);
        MX_CHECK_OK(mx_vocab_add(&vocab, mx_str_from(text), i * 2, &err), &err);
    }
    for (int32_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "token%" PRId32, i);
        MX_CHECK_I64(mx_vocab_find(&vocab, mx_str_from(text)), i * 2);
        MX_CHECK_STR(mx_vocab_view(&vocab, i * 2), mx_str_from(text));
    }
    MX_CHECK(mx_vocab_view(&vocab, 1).ptr == NULL); /* a hole */
    MX_CHECK(mx_vocab_view(&vocab, -1).ptr == NULL);
    MX_CHECK(mx_vocab_view(&vocab, 10000).ptr == NULL);
    MX_CHECK_I64(mx_vocab_find(&vocab, MX_STR("token")), -1);
    MX_CHECK_I64(vocab.n_tokens, 5000);
    mx_vocab_deinit(&vocab);
}

MX_TEST(repeated_strings_move_and_repeated_ids_keep_both_strings)
{
    mx_error err;
    mx_vocab vocab;
    MX_CHECK_OK(mx_vocab_init(&vocab, 4, 4, &err), &err);
    MX_CHECK_OK(mx_vocab_add(&vocab, MX_STR("a"), 1, &err), &err);
    MX_CHECK_OK(mx_vocab_add(&vocab, MX_STR("a"), 2, &err), &err);
    MX_CHECK_I64(mx_vocab_find(&vocab, MX_STR("a")), 2);
    MX_CHECK(mx_vocab_view(&vocab, 1).ptr == NULL);
    MX_CHECK_OK(mx_vocab_add(&vocab, MX_STR("b"), 2, &err), &err);
    MX_CHECK_I64(mx_vocab_find(&vocab, MX_STR("a")), 2);
    MX_CHECK_I64(mx_vocab_find(&vocab, MX_STR("b")), 2);
    MX_CHECK_STR(mx_vocab_view(&vocab, 2), MX_STR("b"));
    MX_CHECK_OK(mx_vocab_add_hidden(&vocab, MX_STR("hidden"), 7, &err), &err);
    MX_CHECK_I64(mx_vocab_find(&vocab, MX_STR("hidden")), -1);
    MX_CHECK_STR(mx_vocab_view(&vocab, 7), MX_STR("hidden"));
    mx_vocab_deinit(&vocab);
}

MX_TEST(strings_of_every_length_are_told_apart)
{
    mx_error err;
    mx_vocab vocab;
    char text[64];
    memset(text, 'x', sizeof text);
    MX_CHECK_OK(mx_vocab_init(&vocab, 64, 64, &err), &err);
    for (size_t n = 0; n < sizeof text; n++) {
        MX_CHECK_OK(mx_vocab_add(&vocab, (mx_str){text, n}, (int64_t)n, &err), &err);
    }
    for (size_t n = 0; n < sizeof text; n++) {
        MX_CHECK_I64(mx_vocab_find(&vocab, (mx_str){text, n}), (int64_t)n);
        for (size_t i = 0; i < n; i++) {
            text[i] = 'y';
            MX_CHECK_I64(mx_vocab_find(&vocab, (mx_str){text, n}), -1);
            text[i] = 'x';
        }
    }
    mx_vocab_deinit(&vocab);
}

MX_TEST(ids_out_of_range_are_refused)
{
    mx_error err;
    mx_vocab vocab;
    MX_CHECK_OK(mx_vocab_init(&vocab, 4, 4, &err), &err);
    MX_CHECK_FAILS(mx_vocab_add(&vocab, MX_STR("big"), (int64_t)MX_TOKENIZER_MAX_IDS, &err), MX_FORMAT, &err,
                   "\"big\" has the id");
    MX_CHECK_FAILS(mx_vocab_add(&vocab, MX_STR("low"), -1, &err), MX_FORMAT, &err, "must be from 0");
    mx_vocab_deinit(&vocab);
}

MX_TEST_MAIN(MX_CASE(finds_strings_by_id_and_ids_by_string),
             MX_CASE(repeated_strings_move_and_repeated_ids_keep_both_strings),
             MX_CASE(strings_of_every_length_are_told_apart), MX_CASE(ids_out_of_range_are_refused))
