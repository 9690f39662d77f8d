/* golden_quantize.c - our quantiser against mlx.core.quantize: every format, every type, bit for bit.
 *
 *     golden-quantize DIR      DIR holds what tests/golden/quantize/make.py made
 */
#include "tests/test.h"
#include "weights/checkpoint.h"
#include "weights/quantizer.h"

#define MAX_VALUES (4 * 256)

static const char *folder;

static bool is_equal(const mx_checkpoint *c, const char *prefix, const char *part, const uint8_t *found)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%s.%s", prefix, part);
    const mx_tensor *t = mx_checkpoint_find(c, mx_str_from(name));
    if (!t) {
        MX_TEST_FAIL("%s is missing", name);
        return false;
    }
    for (size_t i = 0; i < t->n_bytes; i++) {
        if (t->data[i] != found[i]) {
            MX_TEST_FAIL("%s: byte %zu of %zu is %02x, wanted %02x", name, i, t->n_bytes, found[i], t->data[i]);
            return false;
        }
    }
    return true;
}

static void check_format(const mx_checkpoint *c, const char *type, mx_dtype dtype, mx_quant quant, const char *mode)
{
    static float w[MAX_VALUES];
    static uint8_t packed[MAX_VALUES];
    static uint8_t scales[MAX_VALUES];
    static uint8_t biases[MAX_VALUES];
    char name[64];
    (void)snprintf(name, sizeof name, "%s.w", type);
    const mx_tensor *t = mx_checkpoint_find(c, mx_str_from(name));
    MX_CHECK(t && t->dtype == dtype);
    if (!t) {
        return;
    }
    mx_dtype_to_f32(w, t->data, dtype, MAX_VALUES);
    mx_quantize(w, MAX_VALUES, quant, dtype, packed, scales, biases);
    (void)snprintf(name, sizeof name, "%s.%s.%d.%d", type, mode, (int)quant.bits, (int)quant.group_size);
    const bool is_good = is_equal(c, name, "weight", packed) && is_equal(c, name, "scales", scales);
    if (is_good && quant.mode == MX_QUANT_AFFINE) {
        MX_CHECK(is_equal(c, name, "biases", biases));
    }
}

MX_TEST(quantises_as_mlx_does_on_a_cpu)
{
    static const struct {
        const char *name;
        mx_dtype dtype;
    } types[] = {{"f32", MX_DTYPE_F32}, {"f16", MX_DTYPE_F16}, {"bf16", MX_DTYPE_BF16}};
    static const int32_t widths[] = {2, 3, 4, 5, 6, 8};
    static const int32_t groups[] = {32, 64, 128};
    mx_error err = {0};
    mx_checkpoint *c = NULL;
    MX_CHECK_OK(mx_checkpoint_open(folder, &c, &err), &err);
    for (size_t t = 0; c && t < MX_COUNTOF(types); t++) {
        for (size_t b = 0; b < MX_COUNTOF(widths); b++) {
            for (size_t g = 0; g < MX_COUNTOF(groups); g++) {
                const mx_quant quant = {MX_QUANT_AFFINE, widths[b], groups[g]};
                check_format(c, types[t].name, types[t].dtype, quant, "affine");
            }
        }
        check_format(c, types[t].name, types[t].dtype, (mx_quant){MX_QUANT_MXFP4, 4, 32}, "mxfp4");
        check_format(c, types[t].name, types[t].dtype, (mx_quant){MX_QUANT_NVFP4, 4, 16}, "nvfp4");
        check_format(c, types[t].name, types[t].dtype, (mx_quant){MX_QUANT_MXFP8, 8, 32}, "mxfp8");
    }
    mx_checkpoint_close(c);
}

int main(int argc, char **argv)
{
    static const mx_test_case cases[] = {MX_CASE(quantises_as_mlx_does_on_a_cpu)};
    folder = argc > 1 ? argv[1] : "tests/golden/quantize";
    return mx_test_main(1, argv, cases, MX_COUNTOF(cases));
}
