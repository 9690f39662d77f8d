#include "model/fuse.h"

#include <math.h>
#include <stdio.h>

#include "platform/file.h"
#include "tests/test.h"
#include "tests/tmpdir.h"
#include "tests/write_safetensors.h"
#include "weights/checkpoint.h"
#include "weights/quant.h"

#define LORA "{\"fine_tune_type\": \"lora\", \"lora_parameters\": {\"rank\": 1, \"scale\": 2}}"
#define DORA "{\"fine_tune_type\": \"dora\", \"lora_parameters\": {\"rank\": 1, \"scale\": 2}}"

static mx_error err;

/* Weights a [2, 3] and b [2, 3] beside a quantised q [1, 32] of 5 (all codes 1, scale 3, bias 2). */
static void write_model(mx_tmpdir *dir)
{
    static const float values[6] = {1, 2, 3, 4, 5, 6};
    static const float scale[1] = {3};
    static const float bias[1] = {2};
    uint8_t codes[16];
    mx_st_writer writer;
    memset(codes, 0x11, sizeof codes);
    mx_tmpdir_open(dir);
    mx_st_writer_init(&writer);
    mx_st_writer_add(&writer, "a.weight", "F32", "[2,3]", values, 24);
    mx_st_writer_add(&writer, "b.weight", "F32", "[2,3]", values, 24);
    mx_st_writer_add(&writer, "q.weight", "U32", "[1,4]", codes, 16);
    mx_st_writer_add(&writer, "q.scales", "F32", "[1,1]", scale, 4);
    mx_st_writer_add(&writer, "q.biases", "F32", "[1,1]", bias, 4);
    mx_tmpdir_write(dir, "model.safetensors", mx_st_writer_finish(&writer));
    mx_tmpdir_write(dir, "config.json", MX_STR("{\"quantization\": {\"bits\": 4, \"group_size\": 32}}"));
    mx_tmpdir_write(dir, "tokenizer.json", MX_STR("{}"));
    mx_st_writer_deinit(&writer);
}

/* Of a: lora_a (1, 0, -1), lora_b (1, 10), m (7, 8). With `quantised`, of q too: what takes 1 from each even column. */
static void write_adapter(mx_tmpdir *dir, const char *config, const char *module, bool is_quantised)
{
    static const float down[3] = {1, 0, -1};
    static const float up[2] = {1, 10};
    static const float m[2] = {7, 8};
    static const float minus[1] = {-0.5f};
    float even[32];
    char name[32];
    mx_st_writer writer;
    for (int32_t i = 0; i < 32; i++) {
        even[i] = i % 2 == 0 ? 1.0f : 0.0f;
    }
    mx_tmpdir_open(dir);
    mx_st_writer_init(&writer);
    snprintf(name, sizeof name, "%s.lora_a", module);
    mx_st_writer_add(&writer, name, "F32", "[3,1]", down, 12);
    snprintf(name, sizeof name, "%s.lora_b", module);
    mx_st_writer_add(&writer, name, "F32", "[1,2]", up, 8);
    if (strcmp(config, DORA) == 0) {
        mx_st_writer_add(&writer, "a.m", "F32", "[2]", m, 8);
    }
    if (is_quantised) {
        mx_st_writer_add(&writer, "q.lora_a", "F32", "[32,1]", even, 128);
        mx_st_writer_add(&writer, "q.lora_b", "F32", "[1,1]", minus, 4);
    }
    mx_tmpdir_write(dir, "adapters.safetensors", mx_st_writer_finish(&writer));
    mx_tmpdir_write(dir, "adapter_config.json", mx_str_from(config));
    mx_st_writer_deinit(&writer);
}

/* Row `row` of a weight of the fused model. */
static void read_row(const char *dir, const char *path, int64_t row, float *out)
{
    mx_checkpoint *checkpoint = NULL;
    const mx_quant_config quant = {.global = {MX_QUANT_AFFINE, 4, 32}};
    mx_weight w;
    if (MX_CHECK_OK(mx_checkpoint_open(dir, &checkpoint, &err), &err) &&
        MX_CHECK_OK(mx_weight_resolve(checkpoint, &quant, mx_str_from(path), &w, &err), &err)) {
        mx_weight_dequantize_row(&w, 0, row, out);
    }
    mx_checkpoint_close(checkpoint);
}

/* The adapter's folder, in which the new model is, is the caller's to remove. */
static mx_status fuse(const mx_tmpdir *model, const char *config, const char *module, bool is_quantised,
                      mx_tmpdir *adapter, char out[600], int32_t *n_fused)
{
    write_adapter(adapter, config, module, is_quantised);
    snprintf(out, 600, "%s/fused", adapter->path);
    return mx_fuse(model->path, adapter->path, out, n_fused, &err);
}

MX_TEST(changed_weights_are_merged_and_the_rest_is_copied)
{
    mx_tmpdir model;
    mx_tmpdir adapter;
    char out[600];
    char path[700];
    float row[32];
    int32_t n_fused = 0;
    write_model(&model);
    MX_CHECK_OK(fuse(&model, LORA, "a", true, &adapter, out, &n_fused), &err);
    MX_CHECK_I64(n_fused, 2);
    read_row(out, "a", 1, row);
    MX_CHECK(row[0] == 24.0f && row[1] == 5.0f && row[2] == -14.0f);
    read_row(out, "b", 1, row);
    MX_CHECK(row[0] == 4.0f && row[1] == 5.0f && row[2] == 6.0f);
    read_row(out, "q", 0, row);
    MX_CHECK_NEAR(row[0], 4.0, 1e-6);
    MX_CHECK_NEAR(row[31], 5.0, 1e-6);
    snprintf(path, sizeof path, "%s/tokenizer.json", out);
    MX_CHECK(mx_file_kind_at(path) == MX_FILE_REGULAR);
    MX_CHECK_FAILS(mx_fuse(model.path, "unused", out, &n_fused, &err), MX_NOT_FOUND, &err, "adapter_config.json");
    MX_CHECK_OK(mx_file_remove_tree(out, &err), &err);
    mx_tmpdir_close(&adapter);
    mx_tmpdir_close(&model);
}

MX_TEST(rows_of_a_dora_adapter_get_their_magnitudes)
{
    mx_tmpdir model;
    mx_tmpdir adapter;
    char out[600];
    float row[3];
    int32_t n_fused = 0;
    write_model(&model);
    MX_CHECK_OK(fuse(&model, DORA, "a", false, &adapter, out, &n_fused), &err);
    read_row(out, "a", 0, row); /* (3, 2, 1) of length sqrt(14), brought to 7 */
    MX_CHECK_NEAR(row[0], 3.0 * 7.0 / sqrt(14.0), 1e-5);
    MX_CHECK_NEAR(row[2], 1.0 * 7.0 / sqrt(14.0), 1e-5);
    MX_CHECK_OK(mx_file_remove_tree(out, &err), &err);
    mx_tmpdir_close(&adapter);
    mx_tmpdir_close(&model);
}

/* Nothing of a fusion that failed is left. */
static void check_absent(const char *out)
{
    char partial[620];
    snprintf(partial, sizeof partial, "%s.partial", out);
    MX_CHECK(mx_file_kind_at(out) == MX_FILE_MISSING && mx_file_kind_at(partial) == MX_FILE_MISSING);
}

MX_TEST(what_cannot_be_fused_is_named)
{
    mx_tmpdir model;
    mx_tmpdir adapter;
    char out[600];
    int32_t n_fused = 0;
    write_model(&model);
    MX_CHECK_FAILS(fuse(&model, LORA, "c", false, &adapter, out, &n_fused), MX_UNSUPPORTED, &err,
                   "\"c.lora_a\" has no place");
    check_absent(out);
    mx_tmpdir_close(&adapter);
    MX_CHECK_FAILS(fuse(&model, LORA, "q", false, &adapter, out, &n_fused), MX_FORMAT, &err, "does not fit \"q\"");
    check_absent(out);
    mx_tmpdir_close(&adapter);
    mx_tmpdir_close(&model);
}

MX_TEST(folders_with_anything_in_them_are_left_alone)
{
    mx_tmpdir model;
    mx_tmpdir adapter;
    char out[600];
    char path[700];
    int32_t n_fused = 0;
    write_model(&model);
    write_adapter(&adapter, LORA, "a", false);
    MX_CHECK_FAILS(mx_fuse(model.path, adapter.path, model.path, &n_fused, &err), MX_INVALID, &err, "is not empty");
    snprintf(out, sizeof out, "%s/new", adapter.path);
    MX_CHECK_OK(mx_dir_create(out, &err), &err);
    snprintf(path, sizeof path, "%s/model.safetensors", out);
    MX_CHECK_OK(mx_file_write(path, MX_STR("mine"), &err), &err);
    MX_CHECK_FAILS(mx_fuse(model.path, adapter.path, out, &n_fused, &err), MX_INVALID, &err, "is not empty");
    int64_t n_bytes = 0;
    MX_CHECK_OK(mx_file_size(path, &n_bytes, &err), &err);
    MX_CHECK_I64(n_bytes, 4);
    MX_CHECK_FAILS(mx_fuse(model.path, adapter.path, path, &n_fused, &err), MX_INVALID, &err, "is there already");
    MX_CHECK_FAILS(mx_fuse(model.path, adapter.path, "", &n_fused, &err), MX_INVALID, &err, "name a new folder");
    MX_CHECK_OK(mx_file_remove(path, &err), &err);
    snprintf(path, sizeof path, "%s/new/", adapter.path); /* empty now */
    MX_CHECK_OK(mx_fuse(model.path, adapter.path, path, &n_fused, &err), &err);
    MX_CHECK_I64(n_fused, 1);
    MX_CHECK_OK(mx_file_remove_tree(out, &err), &err);
    check_absent(out);
    snprintf(path, sizeof path, "%s.partial", out);
    MX_CHECK_OK(mx_dir_create(path, &err), &err);
    MX_CHECK_FAILS(mx_fuse(model.path, adapter.path, out, &n_fused, &err), MX_INVALID, &err, ".partial is in the way");
    MX_CHECK_OK(mx_file_remove_tree(path, &err), &err);
    mx_tmpdir_close(&adapter);
    mx_tmpdir_close(&model);
}

MX_TEST_MAIN(MX_CASE(changed_weights_are_merged_and_the_rest_is_copied),
             MX_CASE(rows_of_a_dora_adapter_get_their_magnitudes), MX_CASE(what_cannot_be_fused_is_named),
             MX_CASE(folders_with_anything_in_them_are_left_alone))
