/* foreign_test.c - weights of other tools, read through mx_checkpoint_import as a model does. */
#include "base/mem.h"
#include "platform/file.h"
#include "tests/test.h"
#include "tests/tmpdir.h"
#include "tests/write_safetensors.h"
#include "weights/checkpoint.h"
#include "weights/quant.h"

static mx_error err;

/* Opens a folder with its config.json and imports. What is open is to be closed by the caller. */
static mx_status open_folder(const char *dir, mx_checkpoint **checkpoint, mx_quant_config *quant)
{
    mx_buf text = {0};
    mx_json json = {0};
    mx_status st = MX_OK;
    char path[600];
    *checkpoint = NULL;
    *quant = (mx_quant_config){0};
    snprintf(path, sizeof path, "%s/config.json", dir);
    MX_TRY_OR(done, st, mx_file_read(path, 1 << 20, &text, &err));
    MX_TRY_OR(done, st, mx_json_parse(mx_buf_view(&text), path, &json, &err));
    MX_TRY_OR(done, st, mx_quant_config_parse(json.root, path, quant, &err));
    MX_TRY_OR(done, st, mx_checkpoint_open(dir, checkpoint, &err));
    MX_TRY_OR(done, st, mx_checkpoint_import(*checkpoint, quant, &err));
done:
    mx_json_close(&json);
    mx_buf_deinit(&text);
    return st;
}

static void check_weight(const mx_checkpoint *checkpoint, const mx_quant_config *quant, const mx_tensor *expected)
{
    const mx_str path = mx_str_slice(expected->name, 0, expected->name.len - strlen(".expected"));
    mx_weight w;
    float row[128];
    float wanted[128];
    if (!MX_CHECK_OK(mx_weight_resolve(checkpoint, quant, path, &w, &err), &err)) {
        return;
    }
    MX_CHECK(w.quant.mode == quant->global.mode && w.quant.bits == quant->global.bits &&
             w.quant.group_size == quant->global.group_size);
    MX_CHECK(expected->n_dims == 2 && w.n_rows == expected->shape[0] && w.n_cols == expected->shape[1]);
    for (int64_t r = 0; r < w.n_rows && w.n_cols <= 128; r++) {
        mx_weight_dequantize_row(&w, 0, r, row);
        mx_dtype_to_f32(wanted, expected->data + 4 * r * w.n_cols, MX_DTYPE_F32, w.n_cols);
        for (int64_t c = 0; c < w.n_cols; c++) {
            /* q * scale and zero * scale are exact; their sum is rounded once, the fp4 factors twice. */
            if (!(fabsf(row[c] - wanted[c]) <= 0x1p-22f * fabsf(wanted[c]))) {
                MX_TEST_FAIL("%s: %.*s [%lld, %lld] is %.9g, wanted %.9g", expected->path, MX_STR_ARG(path),
                             (long long)r, (long long)c, (double)row[c], (double)wanted[c]);
            }
        }
    }
}

MX_TEST(every_tool_and_variant_gives_the_values_that_it_stored)
{
    static const char *const folders[] = {"awq",          "gptq_4",           "gptq_8",
                                          "gptq_v2_4",    "gptq_v2_8",        "compressed_4",
                                          "compressed_8", "compressed_nvfp4", "compressed_mxfp4"};
    for (size_t i = 0; i < MX_COUNTOF(folders); i++) {
        mx_checkpoint *checkpoint;
        mx_quant_config quant;
        char dir[512];
        int32_t n_weights = 0;
        snprintf(dir, sizeof dir, "%s/foreign/%s", MX_GOLDEN_DIR, folders[i]);
        if (MX_CHECK_OK(open_folder(dir, &checkpoint, &quant), &err)) {
            for (size_t k = 0; k < mx_checkpoint_n_tensors(checkpoint); k++) {
                const mx_tensor *t = mx_checkpoint_at(checkpoint, k);
                if (mx_str_ends_with(t->name, MX_STR(".expected"))) {
                    check_weight(checkpoint, &quant, t);
                    n_weights++;
                }
            }
        }
        MX_CHECK(n_weights > 0);
        mx_checkpoint_close(checkpoint);
        mx_quant_config_close(&quant);
    }
}

MX_TEST(only_mlx_names_are_left_and_other_tensors_stay)
{
    static const char *const gone[] = {"model.a.qweight", "model.a.qzeros"};
    mx_checkpoint *checkpoint;
    mx_quant_config quant;
    MX_CHECK_OK(open_folder(MX_GOLDEN_DIR "/foreign/awq", &checkpoint, &quant), &err);
    for (size_t i = 0; checkpoint && i < MX_COUNTOF(gone); i++) {
        MX_CHECK(mx_checkpoint_find(checkpoint, mx_str_from(gone[i])) == NULL);
    }
    MX_CHECK(checkpoint && mx_checkpoint_find(checkpoint, MX_STR("model.norm.weight")) != NULL);
    MX_CHECK(checkpoint && mx_weight_exists(checkpoint, MX_STR("model.a")));
    mx_checkpoint_close(checkpoint);
    mx_quant_config_close(&quant);
}

MX_TEST(a_checkpoint_of_mlx_is_left_as_it_is)
{
    const mx_quant_config nothing = {0};
    mx_checkpoint *checkpoint;
    MX_CHECK_OK(mx_checkpoint_open(MX_GOLDEN_DIR "/foreign/awq", &checkpoint, &err), &err);
    const size_t n = mx_checkpoint_n_tensors(checkpoint);
    MX_CHECK_OK(mx_checkpoint_import(checkpoint, &nothing, &err), &err);
    MX_CHECK_I64(mx_checkpoint_n_tensors(checkpoint), n);
    MX_CHECK(mx_checkpoint_find(checkpoint, MX_STR("model.a.qweight")) != NULL);
    mx_checkpoint_close(checkpoint);
}

typedef struct part {
    const char *name, *dtype, *shape;
    size_t n_bytes;
} part;

typedef struct bad_case {
    const char *config;
    part parts[4];
    mx_status status;
    const char *piece;
} bad_case;

#define AWQ        "{\"quantization_config\":{\"quant_method\":\"awq\",\"group_size\":32}}"
#define GPTQ       "{\"quantization_config\":{\"quant_method\":\"gptq\",\"group_size\":32}}"
#define COMPRESSED "{\"quantization_config\":{\"quant_method\":\"compressed-tensors\",\"format\":\"pack-quantized\"}}"
#define NVFP4      "{\"quantization_config\":{\"quant_method\":\"compressed-tensors\",\"format\":\"nvfp4-pack-quantized\"}}"

#define BITNET "{\"quantization_config\":{\"quant_method\":\"bitnet\"}}"
#define ONLINE "{\"quantization_config\":{\"quant_method\":\"bitnet\",\"quantization_mode\":\"online\"}}"

static const bad_case bad_cases[] = {
    {BITNET,
     {{"a.weight", "F32", "[1,32]", 128}, {"a.weight_scale", "F32", "[1]", 4}},
     MX_FORMAT,
     "\"a.weight\" (F32, 2 dimensions)"},
    {BITNET, {{"a.weight", "U8", "[1,33]", 33}, {"a.weight_scale", "F32", "[1]", 4}}, MX_FORMAT, "multiple of 32"},
    {BITNET, {{"a.weight", "U8", "[1,32]", 32}, {"a.weight_scale", "F32", "[2]", 8}}, MX_FORMAT, "wanted one float"},
    {BITNET, {{"a.weight_scale", "F32", "[1]", 4}}, MX_FORMAT, "\"a.weight_scale\" (F32, 1 dimensions)"},
    {ONLINE, {{"a.weight", "U8", "[1,32]", 32}}, MX_UNSUPPORTED, "\"online\""},
    {AWQ, {{"a.qweight", "F32", "[32,1]", 128}}, MX_FORMAT, "\"a.qweight\" (F32, 2 dimensions)"},
    {AWQ, {{"a.qweight", "I32", "[32]", 128}}, MX_FORMAT, "\"a.qweight\" (I32, 1 dimensions)"},
    {AWQ, {{"a.qweight", "I32", "[0,5]", 0}}, MX_FORMAT, "wanted whole groups and words"},
    {AWQ, {{"a.qweight", "I32", "[5,0]", 0}}, MX_FORMAT, "wanted whole groups and words"},
    {AWQ, {{"a.qweight", "I32", "[0,4611686018427387904]", 0}}, MX_FORMAT, "wanted whole groups and words"},
    {GPTQ, {{"a.qweight", "I32", "[2305843009213693951,0]", 0}}, MX_FORMAT, "wanted whole groups and words"},
    {NVFP4, {{"a.weight_packed", "U8", "[0,4611686018427387904]", 0}}, MX_FORMAT, "whole groups"},
    {AWQ, {{"a.qweight", "I32", "[33,1]", 132}}, MX_FORMAT, "wanted whole groups and words"},
    {AWQ, {{"a.qweight", "I32", "[32,1]", 128}}, MX_FORMAT, "wanted a float scale for each group"},
    {AWQ,
     {{"a.qweight", "I32", "[32,1]", 128}, {"a.scales", "F16", "[8,1]", 16}},
     MX_FORMAT,
     "\"a.scales\" (F16, 2 dimensions) does not fit"},
    {AWQ,
     {{"a.qweight", "I32", "[32,1]", 128}, {"a.scales", "F16", "[1,8]", 16}, {"a.qzeros", "I32", "[1,2]", 8}},
     MX_FORMAT,
     "\"a.qzeros\""},
    {GPTQ,
     {{"a.qweight", "I32", "[4,8]", 128}, {"a.scales", "F16", "[1,8]", 16}, {"a.g_idx", "I32", "[31]", 124}},
     MX_FORMAT,
     "\"a.g_idx\""},
    {GPTQ,
     {{"a.qweight", "I32", "[8,8]", 256}, {"a.scales", "F16", "[2,8]", 32}, {"a.g_idx", "I32", "[64]", 256}},
     MX_UNSUPPORTED,
     "ordered by activation"},
    {COMPRESSED, {{"a.weight_packed", "I32", "[8,8]", 256}}, MX_FORMAT, "whole groups"},
    {NVFP4, {{"a.weight_packed", "U8", "[2,7]", 14}}, MX_FORMAT, "whole groups"},
    {NVFP4,
     {{"a.weight_packed", "U8", "[2,8]", 16}, {"a.weight_scale", "U8", "[2,1]", 2}},
     MX_FORMAT,
     "\"a.weight_scale\""},
    {NVFP4,
     {{"a.weight_packed", "U8", "[2,8]", 16},
      {"a.weight_scale", "F8_E4M3", "[2,1]", 2},
      {"a.weight_global_scale", "F32", "[2]", 8}},
     MX_FORMAT,
     "\"a.weight_global_scale\""},
};

static void write_case(mx_tmpdir *dir, const char *config, const part *parts, size_t n_parts)
{
    static const uint8_t zeros[512];
    mx_st_writer writer;
    mx_st_writer_init(&writer);
    for (size_t i = 0; i < n_parts && parts[i].name; i++) {
        mx_st_writer_add(&writer, parts[i].name, parts[i].dtype, parts[i].shape, zeros, parts[i].n_bytes);
    }
    mx_tmpdir_write(dir, "model.safetensors", mx_st_writer_finish(&writer));
    mx_tmpdir_write(dir, "config.json", mx_str_from(config));
    mx_st_writer_deinit(&writer);
}

MX_TEST(parts_that_do_not_fit_are_named)
{
    mx_tmpdir dir;
    mx_tmpdir_open(&dir);
    for (size_t i = 0; i < MX_COUNTOF(bad_cases); i++) {
        const bad_case *c = &bad_cases[i];
        mx_checkpoint *checkpoint;
        mx_quant_config quant;
        write_case(&dir, c->config, c->parts, MX_COUNTOF(c->parts));
        MX_CHECK_FAILS(open_folder(dir.path, &checkpoint, &quant), c->status, &err, c->piece);
        mx_checkpoint_close(checkpoint);
        mx_quant_config_close(&quant);
    }
    mx_tmpdir_close(&dir);
}

MX_TEST(each_failing_allocation_is_reported_and_nothing_leaks)
{
    mx_status st = MX_NO_MEMORY;
    for (int64_t n = 1; st != MX_OK && n < 200; n++) {
        mx_checkpoint *checkpoint;
        mx_quant_config quant;
        mx_mem_fail_at(n);
        st = open_folder(MX_GOLDEN_DIR "/foreign/gptq_4", &checkpoint, &quant);
        mx_mem_fail_at(0);
        MX_CHECK(st == MX_OK || st == MX_NO_MEMORY);
        mx_checkpoint_close(checkpoint);
        mx_quant_config_close(&quant);
    }
    MX_CHECK_I64(st, MX_OK);
}

MX_TEST_MAIN(MX_CASE(every_tool_and_variant_gives_the_values_that_it_stored),
             MX_CASE(only_mlx_names_are_left_and_other_tensors_stay), MX_CASE(a_checkpoint_of_mlx_is_left_as_it_is),
             MX_CASE(parts_that_do_not_fit_are_named), MX_CASE(each_failing_allocation_is_reported_and_nothing_leaks))
