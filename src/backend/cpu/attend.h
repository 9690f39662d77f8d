/* attend.h - softmax attention of some query rows over the pages of one sequence and one kv head.
 *
 * Query rows are heads that share the kv head, of one or more neighbouring tokens. Pages are taken in order, each first
 * scored for all rows, then folded into running sums (online softmax):
 *
 *     s[p] = softcap(q . k[p]), visible positions only        m' = max(m, max_p s[p])
 *     l' = l * exp(m - m') + sum_p exp(s[p] - m')             o' = o * exp(m - m') + sum_p exp(s[p] - m') * v[p]
 *
 * A page of which a row sees nothing leaves the row's sums as they are, bit for bit, so a row's result does not depend
 * on the rows beside it. Dot products add over ascending columns, weighted sums over ascending positions.
 */
#ifndef MX_BACKEND_CPU_ATTEND_H
#define MX_BACKEND_CPU_ATTEND_H

#include <stddef.h>
#include <stdint.h>

#include "backend/executor.h"

#define MX_ATTEND_MAX_QUERIES 64

typedef struct mx_attend {
    mx_kv_type kv_type;
    int32_t k_dim;
    int32_t v_dim;
    int32_t n_queries;                     /* 1 to MX_ATTEND_MAX_QUERIES */
    float softcap;                         /* 0: none */
    const float *q[MX_ATTEND_MAX_QUERIES]; /* [k_dim] each, times the scale */
    float *y[MX_ATTEND_MAX_QUERIES];       /* [v_dim] each */
    int32_t first[MX_ATTEND_MAX_QUERIES];  /* positions that a row sees: first to last */
    int32_t last[MX_ATTEND_MAX_QUERIES];
    float sinks[MX_ATTEND_MAX_QUERIES]; /* one more logit in the sum; -INFINITY for none */
    const int32_t *pages;               /* the sequence's */
    const uint8_t *keys;                /* of the kv head in page 0 (kv_cache.h) */
    const uint8_t *values;              /* NULL: the last v_dim columns of the keys (a latent cache) */
    size_t key_stride;                  /* bytes from page to page */
    size_t value_stride;
    float *work; /* mx_attend_work_bytes, 64-byte aligned */
} mx_attend;

size_t mx_attend_work_bytes(int32_t k_dim, int32_t v_dim);

#endif
