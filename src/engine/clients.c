/* clients.c - a small table, searched from end to end. */
#include "engine/clients.h"

#include <assert.h>

#include "base/mem.h"

mx_status mx_clients_init(mx_clients *clients, int32_t max_jobs, mx_error *err)
{
    assert(max_jobs > 0);
    *clients = (mx_clients){.n_rows = max_jobs};
    clients->rows = (mx_client *)mx_calloc((size_t)max_jobs, sizeof *clients->rows);
    return clients->rows ? MX_OK : mx_fail_no_memory(err, (size_t)max_jobs * sizeof *clients->rows, "the clients");
}

void mx_clients_deinit(mx_clients *clients)
{
    mx_free(clients->rows);
    *clients = (mx_clients){0};
}

/* The clock of the client that is furthest behind, of those with jobs; 0 where there is none. */
static int64_t least_clock(const mx_clients *clients)
{
    int64_t least = INT64_MAX;
    for (int32_t i = 0; i < clients->n_rows; i++) {
        if (clients->rows[i].n_jobs > 0 && clients->rows[i].clock < least) {
            least = clients->rows[i].clock;
        }
    }
    return least < INT64_MAX ? least : 0;
}

int32_t mx_clients_enter(mx_clients *clients, uint64_t id)
{
    int32_t i_row = -1;
    for (int32_t i = 0; i < clients->n_rows; i++) {
        mx_client *row = &clients->rows[i];
        if (row->id == id && (row->n_jobs > 0 || row->clock > 0)) {
            i_row = i;
            break;
        }
        /* else the row of whoever is gone and had the least: nothing is lost with that */
        if (row->n_jobs == 0 && (i_row < 0 || row->clock < clients->rows[i_row].clock)) {
            i_row = i;
        }
    }
    assert(i_row >= 0);
    mx_client *row = &clients->rows[i_row];
    if (row->n_jobs == 0) {
        const int64_t now = least_clock(clients);
        const int64_t own = row->id == id ? row->clock : 0;
        *row = (mx_client){.id = id, .clock = own > now ? own : now};
    }
    row->n_jobs++;
    return i_row;
}

void mx_clients_leave(mx_clients *clients, int32_t i_client)
{
    assert(clients->rows[i_client].n_jobs > 0);
    clients->rows[i_client].n_jobs--;
}
