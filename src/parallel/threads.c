/* threads.c - ranks show each other their buffers and meet: once when all are shown, once when all have been read.
 *
 * One lock guards the group. A rank does its copying and adding outside of it, between the two meetings; every rank
 * adds all inputs by itself in the order of the ranks, which costs n_ranks reads of the input and gives all the same
 * bits.
 */
#include "parallel/threads.h"

#include <string.h>

#include "base/mem.h"
#include "platform/thread.h"

/* What one rank has shown: its input of a call of all, or what it sends. */
typedef struct shown {
    const void *ptr; /* NULL: nothing */
    int64_t n;
} shown;

typedef struct thread_rank {
    mx_communicator base; /* first: a mx_communicator * is a thread_rank * */
    mx_thread_ranks *group;
} thread_rank;

struct mx_thread_ranks {
    int32_t n_ranks;
    thread_rank *ranks; /* owned [n_ranks] */
    shown *inputs;      /* owned [n_ranks] */
    shown *sent;        /* owned [n_ranks, n_ranks]: from, to */
    mx_mutex mutex;     /* of all below, and of what is shown */
    mx_cond changed;
    int32_t n_arrived; /* at the meeting that is on */
    uint32_t n_met;    /* meetings that have ended */
    bool is_cancelled;
};

static mx_status fail_cancelled(const thread_rank *r, mx_error *err)
{
    return mx_fail(err, MX_CANCELLED, "rank %d of %d: another rank has given up", r->base.i_rank, r->base.n_ranks);
}

/* Waits until all ranks are here. The lock is held. False when the group is cancelled. */
static bool meet(mx_thread_ranks *g)
{
    const uint32_t n_met = g->n_met;
    if (!g->is_cancelled && ++g->n_arrived == g->n_ranks) {
        g->n_arrived = 0;
        g->n_met++;
        mx_cond_wake_all(&g->changed);
    }
    while (!g->is_cancelled && g->n_met == n_met) {
        mx_cond_wait(&g->changed, &g->mutex);
    }
    return g->n_met != n_met;
}

/* Shows x to all and waits until all have shown theirs. Ranks that disagree about n all find it out here. */
static mx_status begin_sharing(thread_rank *r, const void *x, int64_t n, mx_error *err)
{
    mx_thread_ranks *g = r->group;
    mx_mutex_lock(&g->mutex);
    g->inputs[r->base.i_rank] = (shown){x, n};
    mx_status st = meet(g) ? MX_OK : fail_cancelled(r, err);
    for (int32_t q = 0; q < g->n_ranks && st == MX_OK; q++) {
        if (g->inputs[q].n != n) {
            g->is_cancelled = true;
            st = mx_fail(err, MX_INVALID, "rank %d shares %lld numbers, rank %d %lld", r->base.i_rank, (long long)n, q,
                         (long long)g->inputs[q].n);
        }
    }
    mx_mutex_unlock(&g->mutex);
    return st;
}

/* Waits until nobody reads x any more. */
static mx_status end_sharing(thread_rank *r, mx_error *err)
{
    mx_mutex_lock(&r->group->mutex);
    const mx_status st = meet(r->group) ? MX_OK : fail_cancelled(r, err);
    mx_mutex_unlock(&r->group->mutex);
    return st;
}

static mx_status threads_allreduce(mx_communicator *c, float *y, const float *x, int64_t n, mx_error *err)
{
    thread_rank *r = (thread_rank *)c;
    MX_TRY(begin_sharing(r, x, n, err));
    memcpy(y, r->group->inputs[0].ptr, (size_t)n * sizeof *y);
    for (int32_t q = 1; q < c->n_ranks; q++) {
        const float *other = (const float *)r->group->inputs[q].ptr;
        for (int64_t i = 0; i < n; i++) {
            y[i] += other[i];
        }
    }
    return end_sharing(r, err);
}

static mx_status threads_allgather(mx_communicator *c, float *y, const float *x, int64_t n, mx_error *err)
{
    thread_rank *r = (thread_rank *)c;
    MX_TRY(begin_sharing(r, x, n, err));
    for (int32_t q = 0; q < c->n_ranks; q++) {
        memcpy(y + q * n, r->group->inputs[q].ptr, (size_t)n * sizeof *y);
    }
    return end_sharing(r, err);
}

static mx_status check_peer(const mx_communicator *c, int32_t peer, mx_error *err)
{
    return peer >= 0 && peer < c->n_ranks && peer != c->i_rank
               ? MX_OK
               : mx_fail(err, MX_INVALID, "rank %d of %d cannot talk to rank %d", c->i_rank, c->n_ranks, peer);
}

/* Shows x to one rank and waits until that one has taken it. */
static mx_status threads_send(mx_communicator *c, const void *x, int64_t n_bytes, int32_t to, mx_error *err)
{
    thread_rank *r = (thread_rank *)c;
    mx_thread_ranks *g = r->group;
    MX_TRY(check_peer(c, to, err));
    shown *slot = &g->sent[c->i_rank * g->n_ranks + to];
    mx_mutex_lock(&g->mutex);
    *slot = (shown){x, n_bytes};
    mx_cond_wake_all(&g->changed);
    while (slot->ptr && !g->is_cancelled) {
        mx_cond_wait(&g->changed, &g->mutex);
    }
    const mx_status st = slot->ptr ? fail_cancelled(r, err) : MX_OK;
    mx_mutex_unlock(&g->mutex);
    return st;
}

/* Copies under the lock: the sender's buffer stays as it is until the slot is empty. */
static mx_status threads_recv(mx_communicator *c, void *y, int64_t n_bytes, int32_t from, mx_error *err)
{
    thread_rank *r = (thread_rank *)c;
    mx_thread_ranks *g = r->group;
    mx_status st = MX_OK;
    MX_TRY(check_peer(c, from, err));
    shown *slot = &g->sent[from * g->n_ranks + c->i_rank];
    mx_mutex_lock(&g->mutex);
    while (!slot->ptr && !g->is_cancelled) {
        mx_cond_wait(&g->changed, &g->mutex);
    }
    if (g->is_cancelled) {
        st = fail_cancelled(r, err);
    } else if (slot->n != n_bytes) {
        g->is_cancelled = true;
        st = mx_fail(err, MX_INVALID, "rank %d waits for %lld bytes of rank %d, which sends %lld", c->i_rank,
                     (long long)n_bytes, from, (long long)slot->n);
    } else {
        memcpy(y, slot->ptr, (size_t)n_bytes);
        *slot = (shown){0};
    }
    mx_cond_wake_all(&g->changed);
    mx_mutex_unlock(&g->mutex);
    return st;
}

mx_status mx_thread_ranks_new(int32_t n_ranks, mx_thread_ranks **out, mx_error *err)
{
    if (n_ranks < 1 || n_ranks > MX_THREAD_RANKS_MAX) {
        return mx_fail(err, MX_INVALID, "%d ranks: 1 to %d are possible", n_ranks, MX_THREAD_RANKS_MAX);
    }
    const size_t n = (size_t)n_ranks;
    mx_thread_ranks *g = mx_calloc(1, sizeof *g);
    if (!g) {
        return mx_fail_no_memory(err, sizeof *g, "a group of ranks");
    }
    g->n_ranks = n_ranks;
    g->ranks = mx_calloc(n, sizeof *g->ranks);
    g->inputs = mx_calloc(n, sizeof *g->inputs);
    g->sent = mx_calloc(n * n, sizeof *g->sent);
    mx_mutex_init(&g->mutex);
    mx_cond_init(&g->changed);
    if (!g->ranks || !g->inputs || !g->sent) {
        mx_thread_ranks_free(g);
        return mx_fail_no_memory(err, n * n * sizeof *g->sent, "a group of ranks");
    }
    for (int32_t i = 0; i < n_ranks; i++) {
        g->ranks[i] = (thread_rank){.base = {.i_rank = i,
                                             .n_ranks = n_ranks,
                                             .allreduce = threads_allreduce,
                                             .allgather = threads_allgather,
                                             .send = threads_send,
                                             .recv = threads_recv},
                                    .group = g};
    }
    *out = g;
    return MX_OK;
}

void mx_thread_ranks_free(mx_thread_ranks *g)
{
    if (!g) {
        return;
    }
    mx_cond_deinit(&g->changed);
    mx_mutex_deinit(&g->mutex);
    mx_free(g->ranks);
    mx_free(g->inputs);
    mx_free(g->sent);
    mx_free(g);
}

mx_communicator *mx_thread_ranks_view(mx_thread_ranks *g, int32_t i_rank)
{
    return &g->ranks[i_rank].base;
}

void mx_thread_ranks_cancel(mx_thread_ranks *g)
{
    mx_mutex_lock(&g->mutex);
    g->is_cancelled = true;
    mx_cond_wake_all(&g->changed);
    mx_mutex_unlock(&g->mutex);
}
