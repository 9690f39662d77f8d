#include "platform/thread.h"

#include "base/compiler.h"
#include "platform/cpu.h"
#include "tests/test.h"

#define N_THREADS 4
#define N_ROUNDS  2000

typedef struct shared_count {
    mx_mutex mutex;
    mx_cond cond;
    int64_t under_mutex;
    mx_atomic_i64 atomic;
    mx_atomic_u32 word;
    int32_t turn;
} shared_count;

static void count_up(void *arg)
{
    shared_count *shared = arg;
    for (int i = 0; i < N_ROUNDS; i++) {
        mx_mutex_lock(&shared->mutex);
        shared->under_mutex++;
        mx_mutex_unlock(&shared->mutex);
        mx_atomic_add_i64(&shared->atomic, 1);
    }
}

MX_TEST(threads_lose_no_step_under_a_mutex_or_in_an_atomic)
{
    static shared_count shared;
    mx_thread threads[N_THREADS];
    mx_error err = {0};
    mx_mutex_init(&shared.mutex);
    for (size_t i = 0; i < N_THREADS; i++) {
        MX_CHECK_OK(mx_thread_start(&threads[i], "count", count_up, &shared, &err), &err);
    }
    for (size_t i = 0; i < N_THREADS; i++) {
        mx_thread_join(&threads[i]);
    }
    MX_CHECK_I64(shared.under_mutex, N_THREADS * N_ROUNDS);
    MX_CHECK_I64(mx_atomic_load_i64(&shared.atomic), N_THREADS * N_ROUNDS);
    mx_mutex_deinit(&shared.mutex);
}

static void take_odd_turns(void *arg)
{
    shared_count *shared = arg;
    mx_mutex_lock(&shared->mutex);
    for (int i = 0; i < N_ROUNDS; i++) {
        while (shared->turn % 2 == 0) {
            mx_cond_wait(&shared->cond, &shared->mutex);
        }
        shared->turn++;
        mx_cond_wake_one(&shared->cond);
    }
    mx_mutex_unlock(&shared->mutex);
}

MX_TEST(two_threads_alternate_by_a_condition)
{
    static shared_count shared;
    mx_thread thread;
    mx_error err = {0};
    mx_mutex_init(&shared.mutex);
    mx_cond_init(&shared.cond);
    MX_CHECK_OK(mx_thread_start(&thread, "odd turns", take_odd_turns, &shared, &err), &err);
    mx_mutex_lock(&shared.mutex);
    for (int i = 0; i < N_ROUNDS; i++) {
        while (shared.turn % 2 == 1) {
            mx_cond_wait(&shared.cond, &shared.mutex);
        }
        shared.turn++;
        mx_cond_wake_all(&shared.cond);
    }
    mx_mutex_unlock(&shared.mutex);
    mx_thread_join(&thread);
    MX_CHECK_I64(shared.turn, 2 * N_ROUNDS);
    mx_cond_deinit(&shared.cond);
    mx_mutex_deinit(&shared.mutex);
}

MX_TEST(a_timed_wait_ends_by_itself)
{
    static shared_count shared;
    mx_mutex_init(&shared.mutex);
    mx_cond_init(&shared.cond);
    mx_mutex_lock(&shared.mutex);
    mx_cond_wait_ms(&shared.cond, &shared.mutex, 1);
    mx_mutex_unlock(&shared.mutex);
    mx_cond_deinit(&shared.cond);
    mx_mutex_deinit(&shared.mutex);
}

static void answer_words(void *arg)
{
    shared_count *shared = arg;
    for (uint32_t i = 0; i < N_ROUNDS; i++) {
        while (mx_atomic_load_u32(&shared->word) != 2 * i + 1) {
            mx_wait_on_address(&shared->word, 2 * i);
        }
        mx_atomic_store_u32(&shared->word, 2 * i + 2);
        mx_wake_one(&shared->word);
    }
}

MX_TEST(a_wake_after_the_change_of_a_word_is_not_lost)
{
    static shared_count shared;
    mx_thread thread;
    mx_error err = {0};
    MX_CHECK_OK(mx_thread_start(&thread, "answer", answer_words, &shared, &err), &err);
    for (uint32_t i = 0; i < N_ROUNDS; i++) {
        mx_atomic_store_u32(&shared.word, 2 * i + 1);
        mx_wake_all(&shared.word);
        while (mx_atomic_load_u32(&shared.word) == 2 * i + 1) {
            mx_wait_on_address(&shared.word, 2 * i + 1);
        }
    }
    mx_thread_join(&thread);
    MX_CHECK_I64(mx_atomic_load_u32(&shared.word), 2 * N_ROUNDS);
}

MX_TEST(a_wait_for_another_value_returns_at_once)
{
    mx_atomic_u32 word = {7};
    mx_wait_on_address(&word, 6);
    MX_CHECK_I64(mx_atomic_load_u32(&word), 7);
}

static mx_once once;
static int64_t n_once;

static void run_once(void)
{
    for (int i = 0; i < 10000; i++) {
        mx_cpu_pause(); /* the others come while it runs */
    }
    n_once++;
}

static void ask_once(void *arg)
{
    mx_once_run(&once, run_once);
    *(int64_t *)arg = n_once;
}

MX_TEST(once_means_once_and_all_wait_for_its_end)
{
    mx_thread threads[N_THREADS];
    int64_t seen[N_THREADS] = {0};
    mx_error err = {0};
    for (size_t i = 0; i < N_THREADS; i++) {
        MX_CHECK_OK(mx_thread_start(&threads[i], "once", ask_once, &seen[i], &err), &err);
    }
    for (size_t i = 0; i < N_THREADS; i++) {
        mx_thread_join(&threads[i]);
        MX_CHECK_I64(seen[i], 1);
    }
}

MX_TEST(atomics_exchange_and_compare)
{
    mx_atomic_u32 word = {5};
    MX_CHECK_I64(mx_atomic_exchange_u32(&word, 6), 5);
    uint32_t expected = 5;
    MX_CHECK(!mx_atomic_compare_exchange_u32(&word, &expected, 9));
    MX_CHECK_I64(expected, 6);
    MX_CHECK(mx_atomic_compare_exchange_u32(&word, &expected, 9));
    MX_CHECK_I64(mx_atomic_add_u32(&word, 0xFFFFFFFFu), 9);
    MX_CHECK_I64(mx_atomic_load_u32(&word), 8);

    mx_atomic_i64 wide = {INT64_C(1) << 40};
    MX_CHECK_I64(mx_atomic_add_i64(&wide, -1), INT64_C(1) << 40);
    MX_CHECK_I64(mx_atomic_exchange_i64(&wide, -5), (INT64_C(1) << 40) - 1);
    mx_atomic_store_i64(&wide, INT64_MIN);
    MX_CHECK_I64(mx_atomic_load_i64(&wide), INT64_MIN);

    int target = 0;
    mx_atomic_ptr pointer = {NULL};
    void *none = NULL;
    MX_CHECK(mx_atomic_compare_exchange_ptr(&pointer, &none, &target));
    MX_CHECK(mx_atomic_load_ptr(&pointer) == &target);
}

MX_TEST_MAIN(MX_CASE(threads_lose_no_step_under_a_mutex_or_in_an_atomic), MX_CASE(two_threads_alternate_by_a_condition),
             MX_CASE(a_timed_wait_ends_by_itself), MX_CASE(a_wake_after_the_change_of_a_word_is_not_lost),
             MX_CASE(a_wait_for_another_value_returns_at_once), MX_CASE(once_means_once_and_all_wait_for_its_end),
             MX_CASE(atomics_exchange_and_compare))
