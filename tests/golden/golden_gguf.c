/* golden_gguf.c - our reading of GGUF's block formats against the values of the Python package gguf.
 *
 *     golden-gguf DIR      DIR holds what tests/golden/gguf/make.py made
 */
#include "base/bytes.h"
#include "platform/file.h"
#include "tests/test.h"
#include "weights/gguf.h"
#include "weights/gguf_blocks.h"

static const char *folder;

/* One block as floats, by whichever way the format has. */
static void decode(const mx_gguf_format *f, const uint8_t *block, float *w)
{
    uint8_t q[256];
    float scales[8];
    float biases[8];
    if (f->dequantise) {
        f->dequantise(block, w);
        return;
    }
    f->unpack(block, q, scales, biases);
    for (int32_t i = 0; i < f->n_values; i++) {
        w[i] = scales[i / MX_GGUF_GROUP] * (float)q[i] + biases[i / MX_GGUF_GROUP];
    }
}

static void check_tensor(const mx_gguf_tensor *t, const uint8_t *wanted)
{
    const mx_gguf_format *f = mx_gguf_format_find(t->format);
    const int64_t n_values = t->shape[0] * t->shape[1];
    for (int64_t at = 0; at < n_values; at += f->n_values) {
        float w[256];
        decode(f, t->data + at / f->n_values * f->n_bytes, w);
        for (int32_t i = 0; i < f->n_values; i++) {
            const float value = mx_f32_from_bits(mx_load_le32(wanted + 4 * (at + i)));
            /* Where scale and bias are f16 numbers every step is exact; products of them are rounded in another order.
             */
            const float tolerance = f->fit == MX_GGUF_IS_EXACT ? 0.0f : 4e-6f;
            if (!(fabsf(w[i] - value) <= tolerance)) {
                MX_TEST_FAIL("%.*s: value %lld is %.9g, wanted %.9g", MX_STR_ARG(t->name), (long long)(at + i),
                             (double)w[i], (double)value);
                return;
            }
        }
    }
}

MX_TEST(blocks_have_the_values_of_the_reference)
{
    char path[1024];
    mx_error err = {0};
    mx_arena arena;
    mx_gguf gguf;
    mx_buf file = {0};
    mx_buf values = {0};
    mx_arena_init(&arena, 1 << 20);
    (void)snprintf(path, sizeof path, "%s/blocks.gguf", folder);
    MX_CHECK_OK(mx_file_read(path, 1 << 24, &file, &err), &err);
    (void)snprintf(path, sizeof path, "%s/values.f32", folder);
    MX_CHECK_OK(mx_file_read(path, 1 << 24, &values, &err), &err);
    MX_CHECK_OK(mx_gguf_parse(&arena, (const uint8_t *)file.data, file.len, "blocks.gguf", &gguf, &err), &err);
    MX_CHECK_I64(gguf.n_tensors, 8);
    MX_CHECK_I64(values.len, 8 * 1024 * 4);
    for (size_t i = 0; i < gguf.n_tensors && values.len == 8 * 1024 * 4; i++) {
        check_tensor(&gguf.tensors[i], (const uint8_t *)values.data + i * 4096);
    }
    mx_buf_deinit(&file);
    mx_buf_deinit(&values);
    mx_arena_deinit(&arena);
}

int main(int argc, char **argv)
{
    static const mx_test_case cases[] = {MX_CASE(blocks_have_the_values_of_the_reference)};
    folder = argc > 1 ? argv[1] : "tests/golden/gguf";
    return mx_test_main(1, argv, cases, MX_COUNTOF(cases));
}
