#include "backend/cpu/state_pool.h"

#include "base/mem.h"
#include "tests/test.h"

static mx_state_spec specs[] = {{3, 5}, {1, 1}, {2, 40}};
static const mx_program program = {.states = specs, .n_states = 3};

MX_TEST(every_state_of_every_slot_has_a_place_of_its_own)
{
    mx_error err;
    mx_state_pool pool;
    MX_CHECK_I64(mx_program_state_bytes(&program), (15 + 1 + 80) * 4);
    if (MX_CHECK_OK(mx_state_pool_init(&pool, &program, 3, &err), &err)) {
        for (int32_t i = 0; i < 9; i++) {
            float *state = mx_state_pool_at(&pool, i / 3, i % 3);
            const mx_state_spec *spec = &specs[i % 3];
            MX_CHECK(state[0] == 0.0f && (uintptr_t)state % 64 == 0);
            for (int32_t j = 0; j < spec->n_rows * spec->n_cols; j++) {
                state[j] = (float)(i + 1);
            }
        }
        for (int32_t i = 0; i < 9; i++) {
            const mx_state_spec *spec = &specs[i % 3];
            const float *state = mx_state_pool_at(&pool, i / 3, i % 3);
            MX_CHECK(state[0] == (float)(i + 1) && state[spec->n_rows * spec->n_cols - 1] == (float)(i + 1));
        }
    }
    mx_state_pool_deinit(&pool);
}

MX_TEST(a_copy_takes_all_states_of_a_slot_and_no_others)
{
    mx_error err;
    mx_state_pool pool;
    if (MX_CHECK_OK(mx_state_pool_init(&pool, &program, 3, &err), &err)) {
        for (int32_t i = 0; i < 9; i++) {
            mx_state_pool_at(&pool, i / 3, i % 3)[0] = (float)i;
        }
        mx_state_pool_copy(&pool, 0, 2);
        mx_state_pool_copy(&pool, 1, 1);
        for (int32_t i = 0; i < 9; i++) {
            MX_CHECK(mx_state_pool_at(&pool, i / 3, i % 3)[0] == (float)(i / 3 == 2 ? i % 3 : i));
        }
    }
    mx_state_pool_deinit(&pool);
}

MX_TEST(slots_are_asked_for_only_where_there_are_states)
{
    mx_error err;
    mx_state_pool pool;
    static const mx_program none = {0};
    MX_CHECK_FAILS(mx_state_pool_init(&pool, &program, 0, &err), MX_INVALID, &err, "at least one");
    mx_state_pool_deinit(&pool);
    MX_CHECK_OK(mx_state_pool_init(&pool, &none, 0, &err), &err);
    mx_state_pool_deinit(&pool);
    mx_mem_fail_at(1);
    MX_CHECK_FAILS(mx_state_pool_init(&pool, &program, 2, &err), MX_NO_MEMORY, &err, "list of states");
    mx_mem_fail_at(0);
    mx_state_pool_deinit(&pool);
}

MX_TEST_MAIN(MX_CASE(every_state_of_every_slot_has_a_place_of_its_own),
             MX_CASE(a_copy_takes_all_states_of_a_slot_and_no_others),
             MX_CASE(slots_are_asked_for_only_where_there_are_states))
