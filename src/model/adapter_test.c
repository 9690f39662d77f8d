#include "model/adapter.h"

#include "tests/test.h"
#include "tests/tmpdir.h"
#include "tests/write_safetensors.h"

#define LORA "{\"fine_tune_type\": \"lora\", \"lora_parameters\": {\"rank\": 2, \"scale\": 0.5}}"
#define DORA "{\"fine_tune_type\": \"dora\", \"lora_parameters\": {\"rank\": 2, \"scale\": 0.5}}"

static mx_error err;

/* A folder with this configuration and the tensors a.lora_a [3, 2], a.lora_b [2, 4] and a.m [4], or the first of them.
 */
static mx_status open_adapter(mx_tmpdir *dir, const char *config, int32_t n_tensors, mx_adapter **out)
{
    static const float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    mx_st_writer writer;
    mx_tmpdir_open(dir);
    mx_st_writer_init(&writer);
    if (n_tensors > 0) {
        mx_st_writer_add(&writer, "a.lora_a", "F32", "[3,2]", values, 24);
    }
    if (n_tensors > 1) {
        mx_st_writer_add(&writer, "a.lora_b", "F32", "[2,4]", values, 32);
    }
    if (n_tensors > 2) {
        mx_st_writer_add(&writer, "a.m", "F32", "[4]", values, 16);
    }
    mx_tmpdir_write(dir, "adapters.safetensors", mx_st_writer_finish(&writer));
    mx_tmpdir_write(dir, "adapter_config.json", mx_str_from(config));
    mx_st_writer_deinit(&writer);
    *out = NULL;
    return mx_adapter_open(dir->path, out, &err);
}

MX_TEST(matrices_are_seen_the_way_that_products_want_them)
{
    mx_tmpdir dir;
    mx_adapter *adapter;
    mx_adaptation a;
    bool found = false;
    float row[4];
    MX_CHECK_OK(open_adapter(&dir, DORA, 3, &adapter), &err);
    MX_CHECK_OK(mx_adapter_find(adapter, MX_STR("a"), &a, &found, &err), &err);
    MX_CHECK(found && a.a.n_rows == 2 && a.a.n_cols == 3 && a.b.n_rows == 4 && a.b.n_cols == 2);
    MX_CHECK(a.factors.n_cols == 4 && a.scale == 0.5f);
    mx_weight_dequantize_row(&a.a, 0, 1, row);
    MX_CHECK(row[0] == 2.0f && row[1] == 4.0f && row[2] == 6.0f);
    MX_CHECK_OK(mx_adapter_check_unused(adapter, &err), &err);
    mx_adapter_close(adapter);
    mx_tmpdir_close(&dir);
}

MX_TEST(factors_are_magnitudes_over_lengths)
{
    static const float zeros[12] = {0};
    const mx_weight w = {
        .dtype = MX_DTYPE_F32, .n_experts = 1, .n_rows = 4, .n_cols = 3, .data = (const uint8_t *)zeros};
    mx_tmpdir dir;
    mx_adapter *adapter;
    mx_adaptation a;
    bool found = false;
    float factors[4];
    float b[8];
    float row[6];
    MX_CHECK_OK(open_adapter(&dir, DORA, 3, &adapter), &err);
    MX_CHECK_OK(mx_adapter_find(adapter, MX_STR("a"), &a, &found, &err), &err);
    mx_adapter_compute_factors(&w, &a, factors, b, row);
    /* row 0 of B A: 1 * (1, 3, 5) + 5 * (2, 4, 6), halved: (5.5, 11.5, 17.5), of length 21.6506 */
    MX_CHECK_NEAR(factors[0], 1.0 / 21.650635, 1e-7);
    MX_CHECK_NEAR(b[1], 5.0 / 21.650635, 1e-6);
    mx_adapter_close(adapter);
    mx_tmpdir_close(&dir);
}

MX_TEST(what_does_not_fit_is_named)
{
    static const struct {
        const char *config;
        int32_t n_tensors;
        mx_status status;
        const char *piece;
    } cases[] = {
        {"{\"fine_tune_type\": \"full\"}", 0, MX_UNSUPPORTED, "\"full\""},
        {"{\"lora_parameters\": {\"alpha\": 16}}", 0, MX_FORMAT, "needs a \"scale\""},
        {"[]", 0, MX_FORMAT, "not a JSON object"},
        {"{\"peft_type\": \"LORA\", \"r\": 8, \"lora_alpha\": 16}", 3, MX_UNSUPPORTED, "adapter of peft"},
        {LORA, 0, MX_FORMAT, "no tensor"},
    };
    for (size_t i = 0; i < MX_COUNTOF(cases); i++) {
        mx_tmpdir dir;
        mx_adapter *adapter;
        MX_CHECK_FAILS(open_adapter(&dir, cases[i].config, cases[i].n_tensors, &adapter), cases[i].status, &err,
                       cases[i].piece);
        mx_tmpdir_close(&dir);
    }
    mx_tmpdir dir;
    mx_adapter *adapter;
    mx_adaptation a;
    bool found = false;
    MX_CHECK_OK(open_adapter(&dir, LORA, 1, &adapter), &err);
    MX_CHECK_FAILS(mx_adapter_check_unused(adapter, &err), MX_UNSUPPORTED, &err, "\"a.lora_a\" has no place");
    MX_CHECK_FAILS(mx_adapter_find(adapter, MX_STR("a"), &a, &found, &err), MX_FORMAT, &err, "lacks \"lora_b\"");
    MX_CHECK_OK(mx_adapter_find(adapter, MX_STR("b"), &a, &found, &err), &err);
    MX_CHECK(!found);
    mx_adapter_close(adapter);
    mx_tmpdir_close(&dir);
    MX_CHECK_FAILS(mx_adapter_open("", &adapter, &err), MX_INVALID, &err, "is empty");
    MX_CHECK_FAILS(mx_adapter_open("no/such/folder", &adapter, &err), MX_NOT_FOUND, &err, "adapter_config.json");
}

MX_TEST_MAIN(MX_CASE(matrices_are_seen_the_way_that_products_want_them), MX_CASE(factors_are_magnitudes_over_lengths),
             MX_CASE(what_does_not_fit_is_named))
