/* safetensors_fuzz.c - any bytes as a safetensors file: every tensor that is accepted lies inside it and has the size
 * that its dtype and shape ask for. */
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "weights/safetensors.h"

static void check_tensor(const mx_tensor *t, const uint8_t *data, size_t n_bytes)
{
    size_t n_wanted = mx_dtype_size(t->dtype);
    for (int32_t i = 0; i < t->n_dims; i++) {
        n_wanted *= (size_t)t->shape[i];
    }
    if (t->n_bytes != n_wanted || t->data < data + 8 || t->n_bytes > n_bytes ||
        t->data > data + (n_bytes - t->n_bytes)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    mx_arena arena;
    mx_tensors tensors;
    mx_error err;
    mx_arena_init(&arena, (size_t)1 << 28);
    if (mx_safetensors_parse(&arena, data, n_bytes, "input", &tensors, &err) == MX_OK) {
        for (size_t i = 0; i < tensors.n; i++) {
            check_tensor(&tensors.items[i], data, n_bytes);
        }
    }
    mx_arena_deinit(&arena);
    return 0;
}
