/* once.c - running something once, on top of sleeping on a word. */
#include "platform/thread.h"

void mx_once_run(mx_once *once, void (*run)(void))
{
    uint32_t state = mx_atomic_load_u32(&once->state);
    if (state == 2) {
        return;
    }
    state = 0;
    if (mx_atomic_compare_exchange_u32(&once->state, &state, 1)) {
        run();
        mx_atomic_store_u32(&once->state, 2);
        mx_wake_all(&once->state);
        return;
    }
    while (mx_atomic_load_u32(&once->state) != 2) {
        mx_wait_on_address(&once->state, 1);
    }
}
