#include "engine/prefix_tree.h"

#include "base/mem.h"
#include "engine/sequence.h"
#include "program/batch.h"
#include "tests/test.h"

enum {
    N_PAGES = 8,
};

typedef struct bench {
    mx_kv_pages pool;
    mx_prefix_tree tree;
} bench;

static bool open_bench(bench *b)
{
    mx_error err;
    *b = (bench){0};
    return MX_CHECK_OK(mx_kv_pages_init(&b->pool, N_PAGES, &err), &err) &&
           MX_CHECK_OK(mx_prefix_tree_init(&b->tree, &b->pool, 2, &err), &err);
}

static void close_bench(bench *b)
{
    mx_prefix_tree_deinit(&b->tree);
    MX_CHECK_I64(b->pool.n_free, N_PAGES);
    mx_kv_pages_deinit(&b->pool);
}

/* n tokens that begin with `first` and go on with 0. */
static bool new_sequence(bench *b, mx_sequence *seq, int32_t n, int32_t first)
{
    mx_error err;
    bool is_fine = MX_CHECK_OK(mx_sequence_init(seq, &b->pool, 6 * MX_PAGE_TOKENS, &err), &err);
    for (int32_t i = 0; is_fine && i < n; i++) {
        is_fine = mx_sequence_append(seq, i == 0 ? &first : &(int32_t){0}, 1, &err) == MX_OK;
    }
    return is_fine;
}

/* What a step does. */
static void compute(bench *b, mx_sequence *seq, uint64_t key)
{
    mx_error err;
    MX_CHECK_OK(mx_sequence_reserve(seq, seq->n_tokens, &err), &err);
    seq->n_cached = seq->n_tokens;
    mx_sequence_publish(seq, &b->tree, key);
}

MX_TEST(a_text_finds_the_pages_of_one_with_the_same_beginning)
{
    bench b;
    mx_sequence first, same, other, keyed;
    if (open_bench(&b) && new_sequence(&b, &first, 70, 1) && new_sequence(&b, &same, 70, 1) &&
        new_sequence(&b, &other, 70, 2) && new_sequence(&b, &keyed, 70, 1)) {
        compute(&b, &first, 0);
        MX_CHECK_I64(b.tree.n_pages, 2); /* the third is not full */
        MX_CHECK_I64(mx_sequence_reuse(&same, &b.tree, 0), 64);
        MX_CHECK(same.n_pages == 2 && same.pages[0] == first.pages[0] && same.pages[1] == first.pages[1]);
        MX_CHECK_I64(mx_sequence_reuse(&other, &b.tree, 0), 0);
        MX_CHECK_I64(mx_sequence_reuse(&keyed, &b.tree, 9), 0);
        mx_sequence_deinit(&first);
        mx_sequence_deinit(&same);
        mx_sequence_deinit(&other);
        mx_sequence_deinit(&keyed);
        MX_CHECK_I64(b.pool.n_free, N_PAGES - 2); /* kept for the next one */
    }
    close_bench(&b);
}

MX_TEST(one_token_is_always_left_to_compute)
{
    bench b;
    mx_sequence first, again, longer;
    if (open_bench(&b) && new_sequence(&b, &first, 64, 1) && new_sequence(&b, &again, 64, 1) &&
        new_sequence(&b, &longer, 65, 1)) {
        compute(&b, &first, 0);
        MX_CHECK_I64(mx_sequence_reuse(&again, &b.tree, 0), 32);
        MX_CHECK_I64(mx_sequence_reuse(&longer, &b.tree, 0), 64);
        compute(&b, &again, 0); /* the second page anew: the tree's takes its place */
        MX_CHECK_I64(again.pages[1], first.pages[1]);
        MX_CHECK_I64(b.tree.n_pages, 2);
    }
    mx_sequence_deinit(&first);
    mx_sequence_deinit(&again);
    mx_sequence_deinit(&longer);
    close_bench(&b);
}

MX_TEST(pages_appear_while_their_text_is_still_being_computed)
{
    bench b;
    mx_sequence first, second;
    if (open_bench(&b) && new_sequence(&b, &first, 100, 1) && new_sequence(&b, &second, 100, 1)) {
        mx_error err;
        MX_CHECK_OK(mx_sequence_reserve(&first, 40, &err), &err);
        first.n_cached = 40;
        mx_sequence_publish(&first, &b.tree, 0);
        MX_CHECK_I64(mx_sequence_reuse(&second, &b.tree, 0), 32);
        MX_CHECK_I64(mx_sequence_reuse(&second, &b.tree, 0), 0);
        compute(&b, &first, 0);
        MX_CHECK_I64(mx_sequence_reuse(&second, &b.tree, 0), 64);
    }
    mx_sequence_deinit(&first);
    mx_sequence_deinit(&second);
    close_bench(&b);
}

MX_TEST(eviction_takes_the_least_recently_used_leaf_that_nobody_uses)
{
    bench b;
    mx_sequence a, c, d;
    if (open_bench(&b) && new_sequence(&b, &a, 65, 1) && new_sequence(&b, &c, 65, 2) && new_sequence(&b, &d, 65, 1)) {
        compute(&b, &a, 0);
        compute(&b, &c, 0);
        const int32_t a0 = a.pages[0], a1 = a.pages[1], c0 = c.pages[0], c1 = c.pages[1];
        MX_CHECK(!mx_prefix_tree_evict(&b.tree)); /* all in use */
        MX_CHECK_I64(mx_prefix_tree_count_evictable(&b.tree), 0);
        mx_prefix_tree_touch(&b.tree, c1);
        mx_sequence_drop_pages(&c);
        mx_prefix_tree_touch(&b.tree, a1); /* newer than c */
        mx_sequence_drop_pages(&a);
        MX_CHECK_I64(mx_prefix_tree_count_evictable(&b.tree), 4);
        MX_CHECK(mx_prefix_tree_evict(&b.tree));
        MX_CHECK_I64(b.pool.n_users[c1], 0); /* leaves before what they hang on */
        MX_CHECK_I64(b.pool.n_users[c0], 1);
        MX_CHECK_I64(mx_sequence_reuse(&d, &b.tree, 0), 64);
        MX_CHECK(mx_prefix_tree_evict(&b.tree));
        MX_CHECK_I64(b.pool.n_users[c0], 0);
        MX_CHECK(!mx_prefix_tree_evict(&b.tree)); /* d uses the rest */
        MX_CHECK(b.pool.n_users[a0] == 2 && b.pool.n_users[a1] == 2);
    }
    mx_sequence_deinit(&a);
    mx_sequence_deinit(&c);
    mx_sequence_deinit(&d);
    close_bench(&b);
}

MX_TEST(checkpoints_go_round_and_go_with_their_pages)
{
    bench b;
    mx_sequence a, c;
    if (open_bench(&b) && new_sequence(&b, &a, 96, 1) && new_sequence(&b, &c, 32, 2)) {
        compute(&b, &a, 0);
        compute(&b, &c, 0);
        MX_CHECK_I64(mx_prefix_tree_add_checkpoint(&b.tree, a.pages[0]), 0);
        MX_CHECK_I64(mx_prefix_tree_add_checkpoint(&b.tree, a.pages[0]), -1);
        MX_CHECK_I64(mx_prefix_tree_add_checkpoint(&b.tree, a.pages[2]), 1);
        MX_CHECK_I64(mx_prefix_tree_add_checkpoint(&b.tree, c.pages[0]), 0); /* that of the oldest page */
        MX_CHECK_I64(mx_prefix_tree_view_checkpoint(&b.tree, a.pages[0]), -1);
        MX_CHECK_I64(mx_prefix_tree_view_checkpoint(&b.tree, c.pages[0]), 0);
        mx_sequence_drop_pages(&c);
        mx_sequence_drop_pages(&a);
        mx_prefix_tree_clear(&b.tree);
        MX_CHECK(b.tree.checkpoints[0] == MX_NO_PAGE && b.tree.checkpoints[1] == MX_NO_PAGE);
    }
    mx_sequence_deinit(&a);
    mx_sequence_deinit(&c);
    close_bench(&b);
}

MX_TEST(out_of_memory_is_told)
{
    mx_error err;
    mx_kv_pages pool;
    mx_prefix_tree tree;
    MX_CHECK_OK(mx_kv_pages_init(&pool, N_PAGES, &err), &err);
    for (int n = 1; n <= 3; n++) {
        mx_mem_fail_at(n);
        MX_CHECK_FAILS(mx_prefix_tree_init(&tree, &pool, 2, &err), MX_NO_MEMORY, &err, "prefix tree");
        mx_mem_fail_at(0);
    }
    mx_kv_pages_deinit(&pool);
}

MX_TEST_MAIN(MX_CASE(a_text_finds_the_pages_of_one_with_the_same_beginning),
             MX_CASE(one_token_is_always_left_to_compute),
             MX_CASE(pages_appear_while_their_text_is_still_being_computed),
             MX_CASE(eviction_takes_the_least_recently_used_leaf_that_nobody_uses),
             MX_CASE(checkpoints_go_round_and_go_with_their_pages), MX_CASE(out_of_memory_is_told))
