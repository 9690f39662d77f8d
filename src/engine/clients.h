/* clients.h - who has had how much: fair queueing by virtual time.
 *
 * Each client has a clock that runs by the tokens computed for it; the one whose clock is behind goes first. A client
 * that comes back begins at the clock of those who are here, so that nobody saves up time. With clients = API keys, one
 * that sends a hundred requests gets no more than one that sends two.
 * Source: Demers, Keshav & Shenker, "Analysis and simulation of a fair queueing algorithm", 1989.
 */
#ifndef MX_ENGINE_CLIENTS_H
#define MX_ENGINE_CLIENTS_H

#include <stdint.h>

#include "base/error.h"

typedef struct mx_client {
    uint64_t id;
    int32_t n_jobs; /* waiting or running */
    int64_t clock;  /* tokens */
} mx_client;

typedef struct mx_clients {
    mx_client *rows; /* owned [n_rows] */
    int32_t n_rows;
} mx_clients;

/* max_jobs: jobs that there may be at once, so that there is a row for each one's client. MX_NO_MEMORY. */
mx_status mx_clients_init(mx_clients *clients, int32_t max_jobs, mx_error *err) MX_NODISCARD;
void mx_clients_deinit(mx_clients *clients);

/* One more job of this client. Returns the client's row. */
int32_t mx_clients_enter(mx_clients *clients, uint64_t id);

/* One less. */
void mx_clients_leave(mx_clients *clients, int32_t i_client);

#endif
