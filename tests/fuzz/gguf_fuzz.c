/* gguf_fuzz.c - any bytes as a GGUF file: tensors that are accepted lie in the file, and unpack. */
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "weights/gguf.h"
#include "weights/gguf_blocks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    mx_arena arena;
    mx_error err;
    mx_gguf gguf;
    mx_arena_init(&arena, (size_t)64 << 20);
    if (mx_gguf_parse(&arena, data, n_bytes, "a.gguf", &gguf, &err) == MX_OK) {
        for (size_t i = 0; i < gguf.n_tensors; i++) {
            const mx_gguf_tensor *t = &gguf.tensors[i];
            const mx_gguf_format *f = mx_gguf_format_find(t->format);
            uint8_t q[256];
            float numbers[256];
            float biases[8];
            if (t->data < data || t->n_bytes > n_bytes || (size_t)(t->data - data) > n_bytes - t->n_bytes) {
                abort();
            }
            if (f->unpack) {
                f->unpack(t->data, q, numbers, biases);
            } else if (f->dequantise) {
                f->dequantise(t->data, numbers);
            }
        }
        for (size_t i = 0; i < gguf.n_values; i++) {
            (void)mx_gguf_number(&gguf.values[i], gguf.values[i].n - 1);
            (void)mx_gguf_view_str(&gguf.values[i]);
        }
    }
    mx_arena_deinit(&arena);
    return 0;
}
