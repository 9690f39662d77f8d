/* communicator.h - what executors that share a model say to one another.
 *
 * parallel/ holds one file a way of talking: threads.h for ranks that are threads of one process. A communicator is one
 * rank's end; an executor gets two of them (mx_executor_options): `ranks`, among which every matrix is divided, and
 * `stages`, among which the layers are. It is used by one thread at a time.
 *
 * allreduce and allgather are called by all ranks, in the same order and with the same n; each returns when its result
 * is there and its input may be written again. Statuses: MX_CANCELLED when another rank has given up, MX_INVALID when
 * ranks disagree about n, MX_DEVICE when a link fails. After a failure no call succeeds any more.
 */
#ifndef MX_PARALLEL_COMMUNICATOR_H
#define MX_PARALLEL_COMMUNICATOR_H

#include <stdint.h>

#include "base/error.h"

typedef struct mx_communicator mx_communicator;

struct mx_communicator {
    int32_t i_rank;
    int32_t n_ranks;

    /* y[i] = sum over the ranks of their x[i], added in the order of the ranks: the same bits on every rank, on which
     * the choice of experts relies. x, y [n] f32, which must not overlap. */
    mx_status (*allreduce)(mx_communicator *c, float *y, const float *x, int64_t n, mx_error *err);

    /* y[q, i] = x[i] of rank q. x [n], y [n_ranks, n] f32, which must not overlap. */
    mx_status (*allgather)(mx_communicator *c, float *y, const float *x, int64_t n, mx_error *err);

    /* n_bytes from one rank to another, which asks for as many; what one sends to another arrives in the order of
     * sending. send may wait until the other has received. */
    mx_status (*send)(mx_communicator *c, const void *x, int64_t n_bytes, int32_t to, mx_error *err);
    mx_status (*recv)(mx_communicator *c, void *y, int64_t n_bytes, int32_t from, mx_error *err);
};

#endif
