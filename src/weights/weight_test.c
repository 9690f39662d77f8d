#include "weights/weight.h"

#include "base/bytes.h"
#include "platform/file.h"
#include "tests/quantize.h"
#include "tests/test.h"
#include "tests/tmpdir.h"
#include "tests/write_safetensors.h"
#include "weights/checkpoint.h"
#include "weights/quant.h"

/* A checkpoint of a few tensors and a configuration, in a temporary folder. */
static struct {
    mx_tmpdir dir;
    mx_st_writer writer;
    mx_checkpoint *checkpoint;
    mx_json json;
    mx_quant_config quant;
} f;
static mx_error err;

static void begin(void)
{
    mx_tmpdir_open(&f.dir);
    mx_st_writer_init(&f.writer);
}

static void add(const char *name, const char *dtype, const char *shape, const void *bytes, size_t n_bytes)
{
    mx_st_writer_add(&f.writer, name, dtype, shape, bytes, n_bytes);
}

/* A tensor of zeros; n_bytes must fit dtype and shape. */
static void add_zeros(const char *name, const char *dtype, const char *shape, size_t n_bytes)
{
    add(name, dtype, shape, mx_arena_alloc(&f.dir.arena, n_bytes), n_bytes);
}

static void open_with(const char *config)
{
    mx_tmpdir_write(&f.dir, "model.safetensors", mx_st_writer_finish(&f.writer));
    MX_CHECK_OK(mx_checkpoint_open(f.dir.path, &f.checkpoint, &err), &err);
    MX_CHECK_OK(mx_json_parse(mx_str_from(config), "config.json", &f.json, &err), &err);
    MX_CHECK_OK(mx_quant_config_parse(f.json.root, "config.json", &f.quant, &err), &err);
}

static void end(void)
{
    mx_quant_config_close(&f.quant);
    mx_json_close(&f.json);
    mx_checkpoint_close(f.checkpoint);
    mx_st_writer_deinit(&f.writer);
    mx_tmpdir_close(&f.dir);
}

static mx_status resolve(const char *path, mx_weight *w)
{
    return mx_weight_resolve(f.checkpoint, &f.quant, mx_str_from(path), w, &err);
}

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

static void check_vector(const mx_tensor *expected, mx_str name)
{
    mx_weight w;
    float row[256];
    float wanted[256];
    if (!MX_CHECK_OK(mx_weight_resolve(f.checkpoint, &f.quant, name, &w, &err), &err) || w.n_cols > 256) {
        return;
    }
    const mx_quant q = mx_quant_config_find(&f.quant, name);
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
    int32_t n_cases = 0;
    MX_CHECK_OK(mx_file_read(MX_GOLDEN_DIR "/quant/config.json", 1 << 20, &config, &err), &err);
    MX_CHECK_OK(mx_json_parse(mx_buf_view(&config), "config.json", &f.json, &err), &err);
    MX_CHECK_OK(mx_quant_config_parse(f.json.root, "config.json", &f.quant, &err), &err);
    if (MX_CHECK_OK(mx_checkpoint_open(MX_GOLDEN_DIR "/quant", &f.checkpoint, &err), &err)) {
        for (size_t i = 0; i < mx_checkpoint_n_tensors(f.checkpoint); i++) {
            const mx_tensor *t = mx_checkpoint_at(f.checkpoint, i);
            const mx_str suffix = MX_STR(".expected");
            if (mx_str_ends_with(t->name, suffix)) {
                check_vector(t, mx_str_slice(t->name, 0, t->name.len - suffix.len));
                n_cases++;
            }
        }
        MX_CHECK_I64(n_cases, 29);
    }
    mx_checkpoint_close(f.checkpoint);
    mx_quant_config_close(&f.quant);
    mx_json_close(&f.json);
    mx_buf_deinit(&config);
}

/* ---- finding and checking ---- */

MX_TEST(a_dense_weight_keeps_its_type_and_shape)
{
    const uint8_t values[] = {0x80, 0x3F, 0x00, 0xC0, 0x00, 0x00, 0x40, 0x40, 0x80, 0x40, 0xA0, 0x40};
    mx_weight w;
    float row[3];
    begin();
    add("odd", "U8", "[1]", "x", 1); /* what follows is unaligned */
    add("a.weight", "BF16", "[2,3]", values, 12);
    add("a.bias", "BF16", "[3]", values, 6);
    add("norm.weight", "F16", "[2]", "\0\x3C\0\x40", 4);
    add_zeros("conv.weight", "F32", "[4,2,1]", 32);
    open_with("{}");
    MX_CHECK_OK(resolve("a", &w), &err);
    MX_CHECK(w.quant.mode == MX_QUANT_NONE && w.dtype == MX_DTYPE_BF16 && w.scales == NULL && w.biases == NULL);
    MX_CHECK(w.n_experts == 1 && w.n_rows == 2 && w.n_cols == 3);
    MX_CHECK_I64(mx_weight_bytes(&w), 12);
    mx_weight_dequantize_row(&w, 0, 1, row);
    MX_CHECK(row[0] == 3.0f && row[1] == 4.0f && row[2] == 5.0f);
    const mx_weight second = mx_weight_slice_rows(&w, 1, 1);
    MX_CHECK(second.n_rows == 1 && second.data == w.data + 6);
    MX_CHECK_OK(resolve("a.bias", &w), &err);
    MX_CHECK(w.n_rows == 1 && w.n_cols == 3);
    mx_weight_dequantize_row(&w, 0, 0, row);
    MX_CHECK(row[0] == 1.0f && row[1] == -2.0f && row[2] == 0.0f);
    MX_CHECK_OK(resolve("norm", &w), &err);
    MX_CHECK(w.n_rows == 1 && w.n_cols == 2 && w.dtype == MX_DTYPE_F16);
    MX_CHECK_OK(resolve("conv", &w), &err);
    MX_CHECK(w.n_experts == 4 && w.n_rows == 2 && w.n_cols == 1);
    MX_CHECK(mx_weight_exists(f.checkpoint, MX_STR("a")) && mx_weight_exists(f.checkpoint, MX_STR("a.bias")));
    MX_CHECK(!mx_weight_exists(f.checkpoint, MX_STR("b")));
    end();
}

/* A quantised weight of 2 rows, n_words packed words and n_groups scales a row. */
static void add_quantized(const char *path, int32_t n_words, int32_t n_groups, const char *scale_type,
                          size_t scale_size)
{
    mx_arena *arena = &f.dir.arena;
    const char *groups = mx_arena_printf(arena, "[2,%d]", (int)n_groups);
    const size_t n_scale_bytes = 2 * (size_t)n_groups * scale_size;
    add_zeros(mx_arena_printf(arena, "%s.weight", path), "U32", mx_arena_printf(arena, "[2,%d]", (int)n_words),
              8 * (size_t)n_words);
    add_zeros(mx_arena_printf(arena, "%s.scales", path), scale_type, groups, n_scale_bytes);
    if (strcmp(scale_type, "U8") != 0) {
        add_zeros(mx_arena_printf(arena, "%s.biases", path), scale_type, groups, n_scale_bytes);
    }
}

static void check_resolved(const char *path, mx_quant_mode mode, int32_t bits, int32_t group_size, int64_t n_cols)
{
    mx_weight w;
    if (MX_CHECK_OK(resolve(path, &w), &err)) {
        MX_CHECK_I64(w.quant.mode, mode);
        MX_CHECK_I64(w.quant.bits, bits);
        MX_CHECK_I64(w.quant.group_size, group_size);
        MX_CHECK_I64(w.n_cols, n_cols);
    }
}

MX_TEST(width_and_group_come_from_the_shapes_where_the_configuration_is_silent)
{
    begin();
    add_quantized("four", 16, 2, "BF16", 2);  /* 256 bits a scale: 4 x 64 */
    add_quantized("eight", 32, 2, "F16", 2);  /* 512: 8 x 64 */
    add_quantized("narrow", 10, 2, "F32", 4); /* 160: only 5 x 32 */
    add_quantized("wide", 40, 2, "F32", 4);   /* 640: only 5 x 128 */
    add_quantized("mxfp4", 8, 2, "U8", 1);    /* 128 */
    add_quantized("nvfp4", 8, 4, "U8", 1);    /* 64 */
    add_quantized("mxfp8", 16, 2, "U8", 1);   /* 256 */
    open_with("{}");
    check_resolved("four", MX_QUANT_AFFINE, 4, 64, 128);
    check_resolved("eight", MX_QUANT_AFFINE, 8, 64, 128);
    check_resolved("narrow", MX_QUANT_AFFINE, 5, 32, 64);
    check_resolved("wide", MX_QUANT_AFFINE, 5, 128, 256);
    check_resolved("mxfp4", MX_QUANT_MXFP4, 4, 32, 64);
    check_resolved("nvfp4", MX_QUANT_NVFP4, 4, 16, 64);
    check_resolved("mxfp8", MX_QUANT_MXFP8, 8, 32, 64);
    end();
}

MX_TEST(the_configuration_decides_where_shapes_leave_a_choice_and_not_elsewhere)
{
    begin();
    add_quantized("own", 8, 2, "BF16", 2);     /* 128 bits a scale: 2 x 64 or 4 x 32 */
    add_quantized("global", 16, 2, "BF16", 2); /* 256: 2 x 128, 4 x 64 or 8 x 32 */
    add_quantized("wrong", 16, 2, "BF16", 2);
    add_quantized("off", 16, 2, "BF16", 2);
    open_with("{\"quantization\": {\"bits\": 8, \"group_size\": 32, \"own\": {\"bits\": 4, \"group_size\": 32},"
              "\"wrong\": {\"bits\": 8, \"group_size\": 64}, \"off\": false}}");
    check_resolved("own", MX_QUANT_AFFINE, 4, 32, 64);
    check_resolved("global", MX_QUANT_AFFINE, 8, 32, 64);
    check_resolved("wrong", MX_QUANT_AFFINE, 4, 64, 128);
    check_resolved("off", MX_QUANT_AFFINE, 4, 64, 128);
    end();
}

MX_TEST(a_weight_without_scales_is_dense_whatever_the_configuration_says)
{
    begin();
    add_zeros("a.weight", "BF16", "[2,64]", 256);
    open_with("{\"quantization\": {\"bits\": 4, \"a\": true}}");
    check_resolved("a", MX_QUANT_NONE, 0, 0, 64);
    end();
}

MX_TEST(what_does_not_fit_is_named)
{
    mx_weight w;
    begin();
    add_zeros("packed.weight", "U32", "[2,8]", 64);
    add_zeros("fp8.weight", "F8_E4M3", "[2,8]", 16);
    add_zeros("deep.weight", "F32", "[1,1,1,1]", 4);
    add_zeros("none.weight", "F32", "[0,4]", 0);
    add_quantized("lonely", 8, 1, "F16", 2);
    add_zeros("half.weight", "U32", "[2,8]", 64);
    add_zeros("half.scales", "F16", "[2,1]", 4);
    add_zeros("mixed.weight", "U32", "[2,8]", 64);
    add_zeros("mixed.scales", "F16", "[2,1]", 4);
    add_zeros("mixed.biases", "BF16", "[2,1]", 4);
    add_zeros("rows.weight", "U32", "[2,8]", 64);
    add_zeros("rows.scales", "F16", "[3,1]", 6);
    add_zeros("ratio.weight", "U32", "[1,7]", 28);
    add_zeros("ratio.scales", "F16", "[1,2]", 4);
    add_zeros("ragged.weight", "U32", "[1,8]", 32);
    add_zeros("ragged.scales", "F16", "[1,3]", 6);
    add_zeros("mx.weight", "U32", "[2,8]", 64);
    add_zeros("mx.scales", "U8", "[2,2]", 4);
    add_zeros("mx.biases", "U8", "[2,2]", 4);
    add_zeros("odd.weight", "U32", "[2,8]", 64);
    add_zeros("odd.scales", "U8", "[2,8]", 16);
    add_zeros("int.weight", "I32", "[2,8]", 64);
    add_zeros("int.scales", "F16", "[2,1]", 4);
    add_zeros("awq.qweight", "I32", "[8,1]", 32);
    open_with("{}");
    MX_CHECK_FAILS(resolve("missing", &w), MX_NOT_FOUND, &err, "has no tensor \"missing.weight\"");
    MX_CHECK_FAILS(resolve("packed", &w), MX_UNSUPPORTED, &err, "\"packed.weight\" is U32 and has no scales");
    MX_CHECK_FAILS(resolve("fp8", &w), MX_UNSUPPORTED, &err, "\"fp8.weight\" is F8_E4M3 and has no scales");
    MX_CHECK_FAILS(resolve("deep", &w), MX_FORMAT, &err, "\"deep.weight\" has shape [1, 1, 1, 1]");
    MX_CHECK_FAILS(resolve("none", &w), MX_FORMAT, &err, "\"none.weight\" has shape [0, 4]");
    MX_CHECK_OK(resolve("lonely", &w), &err);
    MX_CHECK_FAILS(resolve("half", &w), MX_FORMAT, &err, "no \"half.biases\"");
    MX_CHECK_FAILS(resolve("mixed", &w), MX_FORMAT, &err, "\"mixed.biases\" is BF16");
    MX_CHECK_FAILS(resolve("rows", &w), MX_FORMAT, &err, "\"rows.scales\" has shape [3, 1], which does not fit");
    MX_CHECK_FAILS(resolve("ratio", &w), MX_FORMAT, &err, "a scale for every 112 bits");
    MX_CHECK_FAILS(resolve("ragged", &w), MX_FORMAT, &err, "whole groups");
    MX_CHECK_FAILS(resolve("mx", &w), MX_FORMAT, &err, "mode mxfp4 has no biases");
    MX_CHECK_FAILS(resolve("odd", &w), MX_FORMAT, &err, "U8 scales for 32 bits");
    MX_CHECK_FAILS(resolve("int", &w), MX_UNSUPPORTED, &err, "\"int.weight\" has scales but is I32");
    MX_CHECK_FAILS(resolve("awq", &w), MX_UNSUPPORTED, &err, "stored by AWQ or GPTQ, which the configuration");
    end();
}

MX_TEST(stacked_experts_and_slices_of_rows_are_found_without_copies)
{
    mx_weight w;
    float row[64];
    uint8_t words[3 * 2 * 16 * 2]; /* 3 experts, 2 rows, 64 values of 4 bits */
    uint8_t scales[3 * 2 * 2 * 2]; /* bf16, group 32 */
    uint8_t biases[sizeof scales] = {0};
    for (size_t i = 0; i < sizeof words; i++) {
        words[i] = (uint8_t)(0x11 * (i / 32)); /* all values of row r are r */
    }
    for (size_t i = 0; i < sizeof scales; i += 2) {
        scales[i] = 0x80; /* 1.0 */
        scales[i + 1] = 0x3F;
        biases[i + 1] = i / 4 % 2 ? 0x40 : 0x00; /* second rows: 2.0 */
    }
    begin();
    add("e.weight", "U32", "[3,2,8]", words, sizeof words);
    add("e.scales", "BF16", "[3,2,2]", scales, sizeof scales);
    add("e.biases", "BF16", "[3,2,2]", biases, sizeof biases);
    open_with("{\"quantization\": {\"bits\": 4, \"group_size\": 32}}");
    MX_CHECK_OK(resolve("e", &w), &err);
    MX_CHECK(w.n_experts == 3 && w.n_rows == 2 && w.n_cols == 64);
    MX_CHECK_I64(mx_weight_bytes(&w), 3 * 2 * (32 + 4 + 4));
    for (int64_t e = 0; e < 3; e++) {
        const mx_weight one = mx_weight_expert(&w, e);
        const mx_weight second = mx_weight_slice_rows(&one, 1, 1);
        MX_CHECK(one.n_experts == 1 && second.n_rows == 1);
        mx_weight_dequantize_row(&w, e, 0, row);
        MX_CHECK(row[0] == (float)(2 * e) && row[63] == (float)(2 * e));
        mx_weight_dequantize_row(&second, 0, 0, row);
        MX_CHECK(row[0] == (float)(2 * e + 1) + 2.0f && row[63] == (float)(2 * e + 1) + 2.0f);
    }
    end();
}

MX_TEST(nvfp4_takes_one_global_scale)
{
    const uint8_t words[8] = {0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22}; /* 1.0 */
    const float amax = 1344.0f;
    mx_weight w;
    float row[16];
    begin();
    add("a.weight", "U32", "[1,2]", words, 8);
    add("a.scales", "U8", "[1,1]", "\x38", 1); /* 1.0 */
    add("a.global_scale", "F32", "[]", &amax, 4);
    add("b.weight", "U32", "[1,2]", words, 8);
    add("b.scales", "U8", "[1,1]", "\x38", 1);
    add_zeros("b.global_scale", "F32", "[2]", 8);
    open_with("{\"quantization\": {\"mode\": \"nvfp4\"}}");
    MX_CHECK_OK(resolve("a", &w), &err);
    mx_weight_dequantize_row(&w, 0, 0, row);
    MX_CHECK(row[0] == 0.5f && row[15] == 0.5f);
    MX_CHECK_FAILS(resolve("b", &w), MX_UNSUPPORTED, &err, "\"b.global_scale\" is read only for nvfp4, as one F32");
    end();
}

MX_TEST_MAIN(MX_CASE(affine_groups_are_packed_and_read_as_mlx_does),
             MX_CASE(float_groups_are_packed_and_read_as_mlx_does), MX_CASE(every_format_equals_mlx),
             MX_CASE(a_dense_weight_keeps_its_type_and_shape),
             MX_CASE(width_and_group_come_from_the_shapes_where_the_configuration_is_silent),
             MX_CASE(the_configuration_decides_where_shapes_leave_a_choice_and_not_elsewhere),
             MX_CASE(a_weight_without_scales_is_dense_whatever_the_configuration_says),
             MX_CASE(what_does_not_fit_is_named), MX_CASE(stacked_experts_and_slices_of_rows_are_found_without_copies),
             MX_CASE(nvfp4_takes_one_global_scale))
