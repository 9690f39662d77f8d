#include "parallel/threads.h"

#include "base/mem.h"
#include "platform/thread.h"
#include "tests/test.h"

#define N_RANKS  3
#define N_ROUNDS 50
#define N        257

typedef struct rank_test {
    mx_communicator *comm;
    void (*run)(struct rank_test *t);
    mx_status st;
    mx_error err;
    float x[N];
    float y[N_RANKS * N];
    int32_t n_wrong;
} rank_test;

static void start(void *arg)
{
    rank_test *t = (rank_test *)arg;
    t->run(t);
}

static rank_test tests[N_RANKS];

/* The function on all ranks, each a thread. */
static void run_all(mx_thread_ranks *group, void (*run)(rank_test *t))
{
    mx_thread threads[N_RANKS];
    mx_error err;
    for (int32_t i = 0; i < N_RANKS; i++) {
        tests[i] = (rank_test){.comm = mx_thread_ranks_view(group, i), .run = run};
        MX_CHECK_OK(mx_thread_start(&threads[i], "rank", start, &tests[i], &err), &err);
    }
    for (int32_t i = 0; i < N_RANKS; i++) {
        mx_thread_join(&threads[i]);
    }
}

static mx_thread_ranks *open_group(void)
{
    mx_error err;
    mx_thread_ranks *group = NULL;
    MX_CHECK_OK(mx_thread_ranks_new(N_RANKS, &group, &err), &err);
    return group;
}

static float value_of(int32_t rank, int32_t round, int32_t i)
{
    return 1.0f / (float)(1 + rank * 31 + round * 7 + i);
}

static void reduce_often(rank_test *t)
{
    for (int32_t round = 0; round < N_ROUNDS && t->st == MX_OK; round++) {
        const int32_t n = round % 2 ? N : 1;
        for (int32_t i = 0; i < n; i++) {
            t->x[i] = value_of(t->comm->i_rank, round, i);
        }
        t->st = t->comm->allreduce(t->comm, t->y, t->x, n, &t->err);
        for (int32_t i = 0; i < n; i++) {
            const float sum = value_of(0, round, i) + value_of(1, round, i);
            t->n_wrong += t->y[i] != sum + value_of(2, round, i);
        }
    }
}

MX_TEST(a_sum_is_added_in_the_order_of_the_ranks_on_each)
{
    mx_thread_ranks *group = open_group();
    run_all(group, reduce_often);
    for (int32_t i = 0; i < N_RANKS; i++) {
        MX_CHECK_OK(tests[i].st, &tests[i].err);
        MX_CHECK_I64(tests[i].n_wrong, 0);
    }
    mx_thread_ranks_free(group);
}

static void gather_often(rank_test *t)
{
    for (int32_t round = 0; round < N_ROUNDS && t->st == MX_OK; round++) {
        for (int32_t i = 0; i < N; i++) {
            t->x[i] = value_of(t->comm->i_rank, round, i);
        }
        t->st = t->comm->allgather(t->comm, t->y, t->x, N, &t->err);
        for (int32_t i = 0; i < N_RANKS * N; i++) {
            t->n_wrong += t->y[i] != value_of(i / N, round, i % N);
        }
    }
}

MX_TEST(what_is_gathered_lies_in_the_order_of_the_ranks)
{
    mx_thread_ranks *group = open_group();
    run_all(group, gather_often);
    for (int32_t i = 0; i < N_RANKS; i++) {
        MX_CHECK_OK(tests[i].st, &tests[i].err);
        MX_CHECK_I64(tests[i].n_wrong, 0);
    }
    mx_thread_ranks_free(group);
}

/* Rank 0 to 1 to 2, two messages a round. */
static void pass_on(rank_test *t)
{
    const int32_t rank = t->comm->i_rank;
    for (int32_t round = 0; round < N_ROUNDS && t->st == MX_OK; round++) {
        for (int32_t part = 0; part < 2 && t->st == MX_OK; part++) {
            t->x[0] = value_of(0, round, part);
            if (rank > 0) {
                t->st = t->comm->recv(t->comm, t->y, sizeof t->x[0], rank - 1, &t->err);
                t->n_wrong += t->y[0] != t->x[0];
            }
            if (rank < N_RANKS - 1 && t->st == MX_OK) {
                t->st = t->comm->send(t->comm, t->x, sizeof t->x[0], rank + 1, &t->err);
            }
        }
    }
}

MX_TEST(messages_arrive_in_the_order_of_sending)
{
    mx_thread_ranks *group = open_group();
    run_all(group, pass_on);
    for (int32_t i = 0; i < N_RANKS; i++) {
        MX_CHECK_OK(tests[i].st, &tests[i].err);
        MX_CHECK_I64(tests[i].n_wrong, 0);
    }
    mx_thread_ranks_free(group);
}

static void disagree(rank_test *t)
{
    t->st = t->comm->allreduce(t->comm, t->y, t->x, t->comm->i_rank == 1 ? 4 : 5, &t->err);
}

MX_TEST(ranks_that_disagree_about_the_size_all_fail)
{
    mx_thread_ranks *group = open_group();
    run_all(group, disagree);
    for (int32_t i = 0; i < N_RANKS; i++) {
        MX_CHECK_FAILS(tests[i].st, MX_INVALID, &tests[i].err, "shares");
    }
    run_all(group, disagree);
    MX_CHECK_FAILS(tests[0].st, MX_CANCELLED, &tests[0].err, "given up");
    mx_thread_ranks_free(group);
}

static mx_thread_ranks *cancelled_group;

static void wait_for_rank_2(rank_test *t)
{
    if (t->comm->i_rank == 2) {
        mx_thread_ranks_cancel(cancelled_group);
    } else if (t->comm->i_rank == 1) {
        t->st = t->comm->recv(t->comm, t->y, 4, 2, &t->err);
    } else {
        t->st = t->comm->send(t->comm, t->x, 4, 2, &t->err);
    }
}

MX_TEST(a_rank_that_gives_up_wakes_those_who_wait)
{
    cancelled_group = open_group();
    run_all(cancelled_group, wait_for_rank_2);
    MX_CHECK_FAILS(tests[0].st, MX_CANCELLED, &tests[0].err, "rank 0 of 3");
    MX_CHECK_FAILS(tests[1].st, MX_CANCELLED, &tests[1].err, "rank 1 of 3");
    mx_thread_ranks_free(cancelled_group);
}

MX_TEST(what_cannot_be_is_refused)
{
    mx_error err;
    float x = 0;
    mx_thread_ranks *group = NULL;
    MX_CHECK_FAILS(mx_thread_ranks_new(0, &group, &err), MX_INVALID, &err, "0 ranks");
    MX_CHECK_FAILS(mx_thread_ranks_new(MX_THREAD_RANKS_MAX + 1, &group, &err), MX_INVALID, &err, "possible");
    for (int64_t n = 1; n <= 4; n++) {
        mx_mem_fail_at(n);
        MX_CHECK_FAILS(mx_thread_ranks_new(2, &group, &err), MX_NO_MEMORY, &err, "ranks");
    }
    mx_mem_fail_at(0);
    group = open_group();
    mx_communicator *comm = mx_thread_ranks_view(group, 1);
    MX_CHECK_FAILS(comm->send(comm, &x, 4, 1, &err), MX_INVALID, &err, "rank 1 of 3 cannot talk to rank 1");
    MX_CHECK_FAILS(comm->recv(comm, &x, 4, 3, &err), MX_INVALID, &err, "rank 3");
    mx_thread_ranks_free(group);
}

MX_TEST_MAIN(MX_CASE(a_sum_is_added_in_the_order_of_the_ranks_on_each),
             MX_CASE(what_is_gathered_lies_in_the_order_of_the_ranks), MX_CASE(messages_arrive_in_the_order_of_sending),
             MX_CASE(ranks_that_disagree_about_the_size_all_fail), MX_CASE(a_rank_that_gives_up_wakes_those_who_wait),
             MX_CASE(what_cannot_be_is_refused))
