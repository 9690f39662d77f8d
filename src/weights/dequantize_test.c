/* dequantize_test.c - the f32 meaning of every storage format, against MLX. */
#include "base/bytes.h"
#include "platform/file.h"
#include "tests/quantize.h"
#include "tests/test.h"
#include "weights/checkpoint.h"
#include "weights/quant.h"
#include "weights/weight.h"

static mx_error err;

/* ---- worked examples: groups quantised by MLX's CPU back end, re-derived by hand ---- */

static void fill_ramp(float *w, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        w[i] = -1.0f + (float)i / 32.0f;
    }
}

static void fill_sine(float *w, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        w[i] = mx_bf16_to_f32(mx_bf16_from_f32((float)(0.05 * sin(0.7 * i))));
    }
}

static void fill_constant(float *w, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        w[i] = 0.30078125f;
    }
}

static void fill_zero(float *w, int32_t n)
{
    memset(w, 0, (size_t)n * sizeof *w);
}

typedef struct affine_example {
    const char *name;
    void (*fill)(float *w, int32_t n);
    int32_t bits, group_size;
    int32_t n_words; /* known of the packed group, at most 10 */
    uint32_t words[10];
    uint32_t scale_bits, bias_bits; /* as f32; where is_bf16, rounded to it */
    bool is_bf16;
} affine_example;

static const affine_example affine_examples[] = {
    {"ramp, 4 bits",
     fill_ramp,
     4,
     64,
     8,
     {0x22111000, 0x44333222, 0x66555444, 0x88777666, 0xaa999888, 0xccbbbaaa, 0xeedddccc, 0xfffffeee},
     0x3E000000,
     0xBF800000,
     false},
    {"ramp, 3 bits",
     fill_ramp,
     3,
     64,
     6,
     {0x49248000, 0xa4924922, 0x9246db6d, 0x6db6c924, 0xedb6db6b, 0xffffffff},
     0x3E800000,
     0xBF800000,
     false},
    {"ramp, 5 bits",
     fill_ramp,
     5,
     64,
     10,
     {0xc4210400, 0x63148420, 0x250841cc, 0x8c62d4a5, 0x83dce735, 0xe5294610, 0x6b5694a4, 0x6718c5ed, 0x9ce6f5ad,
      0xfffdef77},
     0x3D800000,
     0xBF800000,
     false},
    {"ramp, 6 bits", fill_ramp, 6, 64, 3, {0x440c2040, 0xa2481c61, 0x3ce34c2c}, 0x3D000000, 0xBF800000, false},
    {"ramp, 8 bits", fill_ramp, 8, 64, 3, {0x0c080400, 0x1c181410, 0x2d292520}, 0x3BFC0FC1, 0xBF800000, false},
    {"sine, 4 bits",
     fill_sine,
     4,
     32,
     4,
     {0xffb51038, 0xfb51038d, 0xb61038df, 0x61028dff},
     0xBBCB0000,
     0x3D4B0000,
     true},
    {"sine, 3 bits", fill_sine, 3, 32, 3, {0x67feb20c, 0x8337f590, 0x6419bfcc}, 0xBC4B0000, 0x3D4B0000, true},
    {"constant", fill_constant, 4, 32, 4, {0}, 0xB3D70000, 0x3E9A0000, true},
    {"zero", fill_zero, 4, 32, 4, {0}, 0xB3D70000, 0x00000000, true},
};

MX_TEST(affine_groups_are_packed_and_read_as_mlx_does)
{
    for (size_t k = 0; k < MX_COUNTOF(affine_examples); k++) {
        const affine_example *e = &affine_examples[k];
        float values[64];
        float row[64];
        uint8_t q[64] = {0};
        uint8_t packed[64] = {0};
        float scale;
        float bias;
        e->fill(values, e->group_size);
        mx_test_quantize_affine(values, e->group_size, e->bits, q, &scale, &bias);
        for (int32_t i = 0; i < e->group_size; i++) {
            mx_test_pack(packed, i, e->bits, q[i]);
        }
        for (int32_t i = 0; i < e->n_words; i++) {
            if (mx_load_le32(packed + 4 * i) != e->words[i]) {
                MX_TEST_FAIL("%s: word %d is %08x, wanted %08x", e->name, (int)i,
                             (unsigned)mx_load_le32(packed + 4 * i), (unsigned)e->words[i]);
            }
        }
        if (e->is_bf16) {
            scale = mx_bf16_to_f32(mx_bf16_from_f32(scale));
            bias = mx_bf16_to_f32(mx_bf16_from_f32(bias));
        }
        MX_CHECK_I64(mx_f32_bits(scale), e->scale_bits);
        MX_CHECK_I64(mx_f32_bits(bias), e->bias_bits);

        const uint32_t stored[] = {mx_f32_bits(scale), mx_f32_bits(bias)};
        uint8_t bytes[8];
        for (size_t i = 0; i < sizeof bytes; i++) {
            bytes[i] = (uint8_t)(stored[i / 4] >> (8 * (i % 4)));
        }
        const mx_weight w = {.quant = {MX_QUANT_AFFINE, e->bits, e->group_size},
                             .dtype = MX_DTYPE_F32,
                             .n_experts = 1,
                             .n_rows = 1,
                             .n_cols = e->group_size,
                             .data = packed,
                             .scales = bytes,
                             .biases = bytes + 4,
                             .global_scale = 1};
        mx_weight_dequantize_row(&w, 0, 0, row);
        for (int32_t i = 0; i < e->group_size; i++) {
            const float product = scale * (float)q[i];
            MX_CHECK(row[i] == product + bias);
        }
    }
}

typedef struct float_example {
    mx_quant quant;
    int32_t n_words;
    uint32_t words[4];
    uint8_t scales[2];
    float first[7]; /* values, where known */
} float_example;

static const float_example float_examples[] = {
    {{MX_QUANT_MXFP4, 4, 32},
     4,
     {0xffc47760, 0xfc47760e, 0xc47760ef, 0x47761eff},
     {0x78, 0x78},
     {0, .03125f, .046875f, .046875f, .015625f, -.015625f, -.046875f}},
    {{MX_QUANT_MXFP8, 8, 32}, 1, {0x7b7d7800}, {0x72, 0x72}, {0}},
    {{MX_QUANT_NVFP4, 4, 16}, 0, {0}, {0x04, 0x04}, {0}},
};

MX_TEST(float_groups_are_packed_and_read_as_mlx_does)
{
    for (size_t k = 0; k < MX_COUNTOF(float_examples); k++) {
        const float_example *e = &float_examples[k];
        const int32_t group = e->quant.group_size;
        float values[32];
        float row[32];
        uint8_t q[32] = {0};
        uint8_t packed[32] = {0};
        uint8_t scales[2];
        fill_sine(values, 32);
        for (int32_t g = 0; g < 32 / group; g++) {
            mx_test_quantize_float(values + g * group, e->quant, q + g * group, &scales[g]);
            MX_CHECK_I64(scales[g], e->scales[g]);
        }
        for (int32_t i = 0; i < 32; i++) {
            mx_test_pack(packed, i, e->quant.bits, q[i]);
        }
        for (int32_t i = 0; i < e->n_words; i++) {
            MX_CHECK_I64(mx_load_le32(packed + 4 * i), e->words[i]);
        }
        const mx_weight w = {.quant = e->quant,
                             .dtype = MX_DTYPE_U8,
                             .n_experts = 1,
                             .n_rows = 1,
                             .n_cols = 32,
                             .data = packed,
                             .scales = scales,
                             .global_scale = 1};
        mx_weight_dequantize_row(&w, 0, 0, row);
        for (size_t i = 0; i < MX_COUNTOF(e->first) && e->first[1] != 0; i++) {
            MX_CHECK(row[i] == e->first[i]);
        }
    }
}

/* ---- vectors made with MLX ---- */

static void check_vector(const mx_checkpoint *checkpoint, const mx_quant_config *quant, const mx_tensor *expected,
                         mx_str name)
{
    mx_weight w;
    float row[256];
    float wanted[256];
    if (!MX_CHECK_OK(mx_weight_resolve(checkpoint, quant, name, &w, &err), &err) || w.n_cols > 256) {
        return;
    }
    const mx_quant q = mx_quant_config_find(quant, name);
    MX_CHECK(memcmp(&q, &w.quant, sizeof q) == 0);
    MX_CHECK_I64(expected->n_bytes, 4 * w.n_experts * w.n_rows * w.n_cols);
    for (int64_t r = 0; r < w.n_experts * w.n_rows; r++) {
        mx_weight_dequantize_row(&w, r / w.n_rows, r % w.n_rows, row);
        mx_dtype_to_f32(wanted, expected->data + 4 * r * w.n_cols, MX_DTYPE_F32, w.n_cols);
        for (int64_t c = 0; c < w.n_cols; c++) {
            /* MLX may fuse the product into the sum: a rounding of the product, whose size is that of the group. */
            if (!(fabsf(row[c] - wanted[c]) <= 0x1p-22f * (fabsf(wanted[c]) + 1.0f))) {
                MX_TEST_FAIL("%.*s [%lld, %lld] is %.9g, wanted %.9g", MX_STR_ARG(name), (long long)r, (long long)c,
                             (double)row[c], (double)wanted[c]);
            }
        }
    }
}

MX_TEST(every_format_equals_mlx)
{
    mx_buf config = {0};
    mx_json json = {0};
    mx_quant_config quant = {0};
    mx_checkpoint *checkpoint = NULL;
    int32_t n_cases = 0;
    MX_CHECK_OK(mx_file_read(MX_GOLDEN_DIR "/quant/config.json", 1 << 20, &config, &err), &err);
    MX_CHECK_OK(mx_json_parse(mx_buf_view(&config), "config.json", &json, &err), &err);
    MX_CHECK_OK(mx_quant_config_parse(json.root, "config.json", &quant, &err), &err);
    if (MX_CHECK_OK(mx_checkpoint_open(MX_GOLDEN_DIR "/quant", &checkpoint, &err), &err)) {
        for (size_t i = 0; i < mx_checkpoint_n_tensors(checkpoint); i++) {
            const mx_tensor *t = mx_checkpoint_at(checkpoint, i);
            const mx_str suffix = MX_STR(".expected");
            if (mx_str_ends_with(t->name, suffix)) {
                check_vector(checkpoint, &quant, t, mx_str_slice(t->name, 0, t->name.len - suffix.len));
                n_cases++;
            }
        }
        MX_CHECK_I64(n_cases, 29);
    }
    mx_checkpoint_close(checkpoint);
    mx_quant_config_close(&quant);
    mx_json_close(&json);
    mx_buf_deinit(&config);
}

/* ---- parts of a matrix ---- */

MX_TEST(rows_and_columns_of_a_matrix_read_as_in_the_whole)
{
    enum { N_ROWS = 5, N_COLS = 384, FROM = 128, N = 128 };
    static const mx_weight formats[] = {
        {.dtype = MX_DTYPE_F32},
        {.dtype = MX_DTYPE_BF16},
        {.quant = {MX_QUANT_AFFINE, 2, 32}, .dtype = MX_DTYPE_F16},
        {.quant = {MX_QUANT_AFFINE, 3, 64}, .dtype = MX_DTYPE_F32},
        {.quant = {MX_QUANT_AFFINE, 4, 128}, .dtype = MX_DTYPE_BF16},
        {.quant = {MX_QUANT_AFFINE, 5, 32}, .dtype = MX_DTYPE_BF16},
        {.quant = {MX_QUANT_AFFINE, 6, 64}, .dtype = MX_DTYPE_F16},
        {.quant = {MX_QUANT_AFFINE, 8, 32}, .dtype = MX_DTYPE_F32},
        {.quant = {MX_QUANT_MXFP4, 4, 32}, .dtype = MX_DTYPE_U8},
        {.quant = {MX_QUANT_NVFP4, 4, 16}, .dtype = MX_DTYPE_U8},
        {.quant = {MX_QUANT_MXFP8, 8, 32}, .dtype = MX_DTYPE_U8},
    };
    static uint8_t data[N_ROWS * N_COLS * 4];
    static uint8_t scales[N_ROWS * N_COLS / 16 * 4];
    static uint8_t biases[N_ROWS * N_COLS / 16 * 4];
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * i * 7 + i / 3);
    }
    for (size_t i = 0; i < sizeof scales; i++) {
        scales[i] = (uint8_t)(48 + i * 5 % 16);
        biases[i] = (uint8_t)(48 + i * 7 % 16);
    }
    for (size_t k = 0; k < MX_COUNTOF(formats); k++) {
        float whole[N_COLS];
        float part[N];
        mx_weight w = formats[k];
        w.n_experts = 1;
        w.n_rows = N_ROWS;
        w.n_cols = N_COLS;
        w.data = data;
        w.scales = w.quant.mode == MX_QUANT_NONE ? NULL : scales;
        w.biases = w.quant.mode == MX_QUANT_AFFINE ? biases : NULL;
        w.global_scale = 1;
        const mx_weight cols = mx_weight_slice_cols(&w, FROM, N);
        const mx_weight last = mx_weight_slice_rows(&cols, N_ROWS - 1, 1);
        MX_CHECK_I64(mx_weight_bytes(&cols) * N_COLS, mx_weight_bytes(&w) * N);
        for (int64_t row = 0; row < N_ROWS; row++) {
            mx_weight_dequantize_row(&w, 0, row, whole);
            mx_weight_dequantize_row(&cols, 0, row, part);
            MX_CHECK(memcmp(part, whole + FROM, sizeof part) == 0);
        }
        mx_weight_dequantize_row(&last, 0, 0, part);
        MX_CHECK(memcmp(part, whole + FROM, sizeof part) == 0);
    }
}

MX_TEST_MAIN(MX_CASE(rows_and_columns_of_a_matrix_read_as_in_the_whole),
             MX_CASE(affine_groups_are_packed_and_read_as_mlx_does),
             MX_CASE(float_groups_are_packed_and_read_as_mlx_does), MX_CASE(every_format_equals_mlx))
