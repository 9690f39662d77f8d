/* state_pool.c - places of recurrent states. */
#include "backend/cpu/state_pool.h"

#include <string.h>

#include "base/mem.h"

#define STATE_ALIGN 64

mx_status mx_state_pool_init(mx_state_pool *pool, const mx_program *program, int32_t n_slots, mx_error *err)
{
    *pool = (mx_state_pool){0};
    if (program->n_states == 0) {
        return MX_OK;
    }
    if (n_slots <= 0) {
        return mx_fail(err, MX_INVALID, "%d slots of recurrent state: the model needs at least one", n_slots);
    }
    pool->offsets = (int64_t *)mx_calloc((size_t)program->n_states, sizeof *pool->offsets);
    if (!pool->offsets) {
        return mx_fail_no_memory(err, (size_t)program->n_states * sizeof *pool->offsets, "the list of states");
    }
    for (int32_t i = 0; i < program->n_states; i++) {
        const mx_state_spec *spec = &program->states[i];
        const int64_t n_bytes = (int64_t)spec->n_rows * spec->n_cols * (int64_t)sizeof(float);
        pool->offsets[i] = pool->n_slot_bytes;
        pool->n_slot_bytes += (n_bytes + STATE_ALIGN - 1) / STATE_ALIGN * STATE_ALIGN;
    }
    int64_t n_bytes = 0;
    if (!mx_mul_i64(pool->n_slot_bytes, n_slots, &n_bytes) || n_bytes > INT64_MAX / 4) {
        return mx_fail(err, MX_NO_MEMORY, "%d slots of recurrent state are too large", n_slots);
    }
    const mx_status st = mx_block_alloc((size_t)n_bytes, &pool->block, err);
    return st == MX_OK ? MX_OK : mx_error_prefix(err, st, "%d slots of recurrent state", n_slots);
}

void mx_state_pool_deinit(mx_state_pool *pool)
{
    mx_free(pool->offsets);
    mx_block_free(&pool->block);
    *pool = (mx_state_pool){0};
}

static uint8_t *slot_at(const mx_state_pool *pool, int32_t slot)
{
    return (uint8_t *)pool->block.ptr + slot * pool->n_slot_bytes;
}

float *mx_state_pool_at(const mx_state_pool *pool, int32_t slot, int32_t i_state)
{
    return (float *)(slot_at(pool, slot) + pool->offsets[i_state]);
}

void mx_state_pool_copy(const mx_state_pool *pool, int32_t from_slot, int32_t to_slot)
{
    if (from_slot != to_slot && pool->n_slot_bytes > 0) {
        memcpy(slot_at(pool, to_slot), slot_at(pool, from_slot), (size_t)pool->n_slot_bytes);
    }
}
