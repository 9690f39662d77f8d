#include "weights/weight.h"

#include "base/bytes.h"
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
    add_zeros("deep.weight", "F32", "[2,1,1,1]", 8);
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
    MX_CHECK_FAILS(resolve("missing.bias", &w), MX_NOT_FOUND, &err, "has no tensor \"missing.bias\"");
    MX_CHECK_FAILS(resolve("packed", &w), MX_UNSUPPORTED, &err, "\"packed.weight\" is U32 and has no scales");
    MX_CHECK_FAILS(resolve("fp8", &w), MX_UNSUPPORTED, &err, "\"fp8.weight\" is F8_E4M3 and has no scales");
    MX_CHECK_FAILS(resolve("deep", &w), MX_FORMAT, &err, "\"deep.weight\" has shape [2, 1, 1, 1]");
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

/* Rows of a matrix [12, 32]: two groups of {two rows of a query, one of a key, one of a value}, thrice. */
MX_TEST(rows_in_runs_and_transposes_are_seen_without_copies)
{
    float values[2][6][4];
    uint8_t words[12 * 16];
    uint8_t scales[12 * 4];
    uint8_t biases[12 * 4] = {0};
    for (int32_t i = 0; i < 48; i++) {
        values[i / 24][i / 4 % 6][i % 4] = (float)i;
    }
    for (size_t i = 0; i < sizeof words; i++) {
        words[i] = (uint8_t)(0x11 * (i / 16));
    }
    for (uint32_t i = 0; i < 12; i++) {
        const uint32_t scale = mx_f32_bits((float)(i + 1));
        memcpy(scales + 4 * i, &scale, 4);
    }
    mx_weight w;
    float row[32];
    begin();
    add("turned.weight", "F32", "[2,6,4]", values, sizeof values);
    add("q.weight", "U32", "[12,4]", words, sizeof words);
    add("q.scales", "F32", "[12,1]", scales, sizeof scales);
    add("q.biases", "F32", "[12,1]", biases, sizeof biases);
    open_with("{\"quantization\": {\"bits\": 4, \"group_size\": 32}}");

    MX_CHECK_OK(resolve("turned", &w), &err);
    const mx_weight whole = mx_weight_transpose(&w);
    const mx_weight turned = mx_weight_slice_rows(&whole, 1, 2); /* rows 1 and 2 of 4, of each of two stacked */
    MX_CHECK(turned.n_experts == 2 && turned.n_rows == 2 && turned.n_cols == 6);
    mx_weight_dequantize_row(&turned, 1, 1, row);
    for (int32_t c = 0; c < 6; c++) {
        MX_CHECK(row[c] == values[1][c][2]);
    }

    MX_CHECK_OK(resolve("q", &w), &err);
    const mx_weight runs = mx_weight_slice_runs(&w, 1, 3, 2, 4); /* rows 1, 2, 5, 6, 9, 10 */
    uint8_t gathered[6 * 16];
    uint8_t gathered_scales[6 * 4];
    uint8_t gathered_biases[6 * 4];
    MX_CHECK(runs.n_rows == 6 && mx_weight_is_scattered(&runs) && !mx_weight_is_scattered(&w));
    mx_weight_gather(&runs, gathered, gathered_scales, gathered_biases);
    for (int32_t r = 0; r < 6; r++) {
        const int32_t place = r / 2 * 4 + r % 2 + 1;
        mx_weight_dequantize_row(&runs, 0, r, row);
        MX_CHECK(row[31] == (float)(place * (place + 1)));
        MX_CHECK(gathered[16 * r] == words[16 * place] && memcmp(gathered_scales + 4 * r, scales + 4 * place, 4) == 0);
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

/* ---- any shapes ---- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

typedef struct random_tensor {
    mx_dtype dtype;
    int64_t n_dims;
    int64_t shape[4];
} random_tensor;

static void draw_tensor(random_tensor *t, uint64_t *random)
{
    static const int64_t sizes[] = {0, 1, 1, 2, 2, 2, 3, 4, 4, 6, 8, 8, 16};
    static const mx_dtype types[] = {MX_DTYPE_U32, MX_DTYPE_U32, MX_DTYPE_U32, MX_DTYPE_U32, MX_DTYPE_U8,
                                     MX_DTYPE_F16, MX_DTYPE_F16, MX_DTYPE_F32, MX_DTYPE_BF16};
    t->dtype = types[next_random(random) % MX_COUNTOF(types)];
    t->n_dims = next_random(random) % 8 == 0 ? (int64_t)(next_random(random) % 5) : 2;
    for (int i = 0; i < 4; i++) {
        t->shape[i] = sizes[next_random(random) % MX_COUNTOF(sizes)];
    }
}

static void add_tensor(const char *name, const random_tensor *t)
{
    size_t n_bytes = mx_dtype_size(t->dtype);
    const char *shape = "";
    for (int64_t i = 0; i < t->n_dims; i++) {
        shape = mx_arena_printf(&f.dir.arena, "%s%s%d", shape, i ? "," : "", (int)t->shape[i]);
        n_bytes *= (size_t)t->shape[i];
    }
    add_zeros(name, mx_dtype_name(t->dtype), mx_arena_printf(&f.dir.arena, "[%s]", shape), n_bytes);
}

/* A weight, and mostly scales and biases that differ from what fits in one thing or in none. */
static void add_random_weight(uint64_t *random)
{
    random_tensor weight;
    random_tensor scales;
    draw_tensor(&weight, random);
    draw_tensor(&scales, random);
    add_tensor("a.weight", &weight);
    if (next_random(random) % 8) {
        const int64_t n_groups = scales.shape[3];
        memcpy(scales.shape, weight.shape, sizeof scales.shape);
        scales.n_dims = weight.n_dims;
        scales.shape[weight.n_dims ? weight.n_dims - 1 : 0] = n_groups;
    }
    if (next_random(random) % 4) {
        add_tensor("a.scales", &scales);
    }
    if (next_random(random) % 8 == 0) {
        draw_tensor(&scales, random);
    }
    if (scales.dtype != MX_DTYPE_U8) {
        add_tensor("a.biases", &scales);
    }
}

static bool is_inside(const uint8_t *part, int64_t n_bytes, const char *name)
{
    const mx_tensor *t = mx_checkpoint_find(f.checkpoint, mx_str_from(name));
    return part ? t && part == t->data && n_bytes == (int64_t)t->n_bytes : n_bytes == 0;
}

MX_TEST(whatever_is_accepted_covers_its_tensors_exactly)
{
    uint64_t random = 42;
    int32_t n_accepted[2] = {0};
    for (int i = 0; i < 600; i++) {
        mx_weight w;
        begin();
        add_random_weight(&random);
        open_with("{\"quantization\": {}}");
        if (resolve("a", &w) == MX_OK) {
            const bool is_dense = w.quant.mode == MX_QUANT_NONE;
            const int64_t n_rows = w.n_experts * w.n_rows;
            const int64_t row_bits = w.n_cols * (is_dense ? 8 * (int64_t)mx_dtype_size(w.dtype) : w.quant.bits);
            const int64_t n_scale_bytes =
                is_dense ? 0 : n_rows * (w.n_cols / w.quant.group_size) * (int64_t)mx_dtype_size(w.dtype);
            MX_CHECK(is_inside(w.data, n_rows * row_bits / 8, "a.weight"));
            MX_CHECK(is_inside(w.scales, n_scale_bytes, "a.scales"));
            MX_CHECK(is_inside(w.biases, w.biases ? n_scale_bytes : 0, "a.biases"));
            MX_CHECK_I64(mx_weight_bytes(&w), n_rows * row_bits / 8 + (w.biases ? 2 : 1) * n_scale_bytes);
            float *row = mx_arena_array(&f.dir.arena, float, w.n_cols);
            mx_weight_dequantize_row(&w, w.n_experts - 1, w.n_rows - 1, row);
            n_accepted[!is_dense]++;
        }
        end();
    }
    MX_CHECK(n_accepted[0] > 10 && n_accepted[1] > 10);
}

MX_TEST_MAIN(MX_CASE(a_dense_weight_keeps_its_type_and_shape),
             MX_CASE(width_and_group_come_from_the_shapes_where_the_configuration_is_silent),
             MX_CASE(the_configuration_decides_where_shapes_leave_a_choice_and_not_elsewhere),
             MX_CASE(a_weight_without_scales_is_dense_whatever_the_configuration_says),
             MX_CASE(what_does_not_fit_is_named), MX_CASE(stacked_experts_and_slices_of_rows_are_found_without_copies),
             MX_CASE(rows_in_runs_and_transposes_are_seen_without_copies), MX_CASE(nvfp4_takes_one_global_scale),
             MX_CASE(whatever_is_accepted_covers_its_tensors_exactly))
