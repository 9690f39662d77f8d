/* state_pool.h - recurrent states of the CPU, one slot a sequence.
 *
 *     slot 0: [ state 0 of the program | state 1 | ... ]   slot 1: [ ... ]   ...
 *
 * A slot's states lie together, so a checkpoint is one copy; each begins at a multiple of 64 bytes. Memory is taken
 * page by page at first use. A new pool is all zeros, and slots are used again without being cleared (batch.h).
 */
#ifndef MX_BACKEND_CPU_STATE_POOL_H
#define MX_BACKEND_CPU_STATE_POOL_H

#include <stdint.h>

#include "platform/memory.h"
#include "program/program.h"

typedef struct mx_state_pool {
    mx_block block;   /* owned */
    int64_t *offsets; /* owned [n_states] bytes into a slot */
    int64_t n_slot_bytes;
} mx_state_pool;

/* Reserves n_slots slots of a program's states; none for a program that has no states. MX_INVALID (no slots where there
 * are states), MX_NO_MEMORY. */
mx_status mx_state_pool_init(mx_state_pool *pool, const mx_program *program, int32_t n_slots,
                             mx_error *err) MX_NODISCARD;

/* A zeroed pool is fine. */
void mx_state_pool_deinit(mx_state_pool *pool);

/* State i_state of a slot, [n_rows, n_cols] f32. */
float *mx_state_pool_at(const mx_state_pool *pool, int32_t slot, int32_t i_state);

void mx_state_pool_copy(const mx_state_pool *pool, int32_t from_slot, int32_t to_slot);

#endif
