#include "weights/quant.h"

#include "base/mem.h"
#include "tests/test.h"

static mx_quant_config config;
static mx_error err;

static mx_status parse(const char *text)
{
    mx_json json;
    mx_status st = mx_json_parse(mx_str_from(text), "config.json", &json, &err);
    if (st == MX_OK) {
        mx_quant_config_close(&config);
        st = mx_quant_config_parse(json.root, "config.json", &config, &err);
        mx_json_close(&json);
    }
    return st;
}

static void check_quant(const char *path, mx_quant_mode mode, int32_t bits, int32_t group_size)
{
    const mx_quant q = mx_quant_config_find(&config, mx_str_from(path));
    if (q.mode != mode || q.bits != bits || q.group_size != group_size) {
        MX_TEST_FAIL("%s: %s %d bits, group %d", path, mx_quant_mode_name(q.mode), (int)q.bits, (int)q.group_size);
    }
}

MX_TEST(a_configuration_may_say_nothing)
{
    MX_CHECK_OK(parse("{\"quantization\": null, \"text_config\": {}}"), &err);
    MX_CHECK(!config.is_present);
    check_quant("any", MX_QUANT_NONE, 0, 0);
    MX_CHECK_I64(mx_quant_config_find(NULL, MX_STR("any")).mode, MX_QUANT_NONE);
}

MX_TEST(layers_have_entries_of_their_own)
{
    MX_CHECK_OK(parse("{\"quantization\": {\"group_size\": 32, \"bits\": 3, \"quantized_by\": \"x\","
                      "\"a.gate\": {\"group_size\": 128, \"bits\": 8}, \"a.off\": false, \"a.on\": true,"
                      "\"a.mx\": {\"mode\": \"mxfp4\"}, \"a.bits\": {\"bits\": 6}, \"a.empty\": {}}}"),
                &err);
    MX_CHECK(config.is_present);
    check_quant("other", MX_QUANT_AFFINE, 3, 32);
    check_quant("a.gate", MX_QUANT_AFFINE, 8, 128);
    check_quant("a.off", MX_QUANT_NONE, 0, 0);
    check_quant("a.on", MX_QUANT_AFFINE, 3, 32);
    check_quant("a.mx", MX_QUANT_MXFP4, 4, 32);
    check_quant("a.bits", MX_QUANT_AFFINE, 6, 64); /* the mode's default group, not the global one */
    check_quant("a.empty", MX_QUANT_AFFINE, 4, 64);
}

MX_TEST(modes_have_defaults)
{
    static const struct {
        const char *mode;
        mx_quant quant;
    } cases[] = {{"affine", {MX_QUANT_AFFINE, 4, 64}},
                 {"mxfp4", {MX_QUANT_MXFP4, 4, 32}},
                 {"nvfp4", {MX_QUANT_NVFP4, 4, 16}},
                 {"mxfp8", {MX_QUANT_MXFP8, 8, 32}}};
    for (size_t i = 0; i < MX_COUNTOF(cases); i++) {
        char text[128];
        snprintf(text, sizeof text, "{\"quantization\": {\"mode\": \"%s\"}}", cases[i].mode);
        MX_CHECK_OK(parse(text), &err);
        check_quant("x", cases[i].quant.mode, cases[i].quant.bits, cases[i].quant.group_size);
    }
}

MX_TEST(the_configuration_is_found_in_its_four_places)
{
    MX_CHECK_OK(parse("{\"quantization_config\": {\"bits\": 5, \"group_size\": 32}}"), &err);
    check_quant("x", MX_QUANT_AFFINE, 5, 32);
    MX_CHECK_OK(parse("{\"text_config\": {\"quantization_config\": {\"bits\": 6}}}"), &err);
    check_quant("x", MX_QUANT_AFFINE, 6, 64);
    MX_CHECK_OK(parse("{\"text_config\": {\"quantization\": {\"bits\": 8}}}"), &err);
    check_quant("x", MX_QUANT_AFFINE, 8, 64);
    MX_CHECK_OK(parse("{\"quantization\": {\"bits\": 2}, \"quantization_config\": {\"quant_method\": \"awq\"}}"), &err);
    check_quant("x", MX_QUANT_AFFINE, 2, 64);
}

MX_TEST(other_tools_methods_are_translated_or_named)
{
    MX_CHECK_OK(parse("{\"quantization_config\": {\"quant_method\": \"mxfp4\", \"modules_to_not_convert\": []}}"),
                &err);
    check_quant("x", MX_QUANT_MXFP4, 4, 32);
    MX_CHECK_OK(parse("{\"quantization_config\": {\"quant_method\": \"compressed-tensors\","
                      "\"format\": \"nvfp4-pack-quantized\"}}"),
                &err);
    check_quant("x", MX_QUANT_NVFP4, 4, 16);
    MX_CHECK_OK(parse("{\"quantization_config\": {\"quant_method\": \"compressed-tensors\","
                      "\"format\": \"pack-quantized\", \"config_groups\": {\"group_0\": {\"weights\":"
                      "{\"num_bits\": 8, \"group_size\": 32}}}}}"),
                &err);
    check_quant("x", MX_QUANT_AFFINE, 8, 32);
    MX_CHECK_I64(config.foreign, MX_FOREIGN_COMPRESSED);
    MX_CHECK_OK(parse("{\"quantization_config\": {\"quant_method\": \"awq\", \"bits\": 4, \"group_size\": 64}}"), &err);
    check_quant("x", MX_QUANT_AFFINE, 4, 64);
    MX_CHECK_I64(config.foreign, MX_FOREIGN_AWQ);
    MX_CHECK_OK(parse("{\"quantization_config\": {\"quant_method\": \"gptq\"}}"), &err);
    MX_CHECK_I64(config.foreign, MX_FOREIGN_GPTQ);
    MX_CHECK_OK(parse("{\"quantization_config\": {\"quant_method\": \"gptq\", \"checkpoint_format\": \"gptq_v2\"}}"),
                &err);
    MX_CHECK_I64(config.foreign, MX_FOREIGN_GPTQ_V2);
    static const char *const refused[] = {"hqq", "fp8", "bitsandbytes"};
    for (size_t i = 0; i < MX_COUNTOF(refused); i++) {
        char text[128];
        snprintf(text, sizeof text, "{\"quantization_config\": {\"quant_method\": \"%s\"}}", refused[i]);
        MX_CHECK_FAILS(parse(text), MX_UNSUPPORTED, &err, refused[i]);
    }
    MX_CHECK_FAILS(parse("{\"quantization_config\": {\"quant_method\": \"compressed-tensors\","
                         "\"format\": \"float-quantized\"}}"),
                   MX_UNSUPPORTED, &err, "variant float-quantized");
    MX_CHECK_FAILS(parse("{\"quantization_config\": {\"quant_method\": \"compressed-tensors\"}}"), MX_UNSUPPORTED, &err,
                   "by \"compressed-tensors\" are not read");
    MX_CHECK_FAILS(parse("{\"quantization_config\": {\"quant_method\": \"awq\", \"version\": \"gemv\"}}"),
                   MX_UNSUPPORTED, &err, "\"awq\", variant gemv");
    MX_CHECK_FAILS(parse("{\"quantization_config\": {\"quant_method\": \"gptq\", \"bits\": 3}}"), MX_UNSUPPORTED, &err,
                   "3 bits in groups of 128 by another tool");
    MX_CHECK_FAILS(parse("{\"quantization_config\": {\"quant_method\": \"gptq\", \"group_size\": -1}}"), MX_UNSUPPORTED,
                   &err, "in groups of -1");
    MX_CHECK_FAILS(parse("{\"quantization_config\": {\"quant_method\": \"compressed-tensors\", \"format\":"
                         "\"pack-quantized\", \"config_groups\": {\"a\": {}, \"b\": {}}}}"),
                   MX_UNSUPPORTED, &err, "2 \"config_groups\"");
}

MX_TEST(wrong_values_are_named)
{
    MX_CHECK_FAILS(parse("{\"quantization\": 4}"), MX_FORMAT, &err, "\"quantization\" must be an object");
    MX_CHECK_FAILS(parse("{\"quantization\": {\"bits\": \"4\"}}"), MX_FORMAT, &err, "\"bits\" must be a whole number");
    MX_CHECK_FAILS(parse("{\"quantization\": {\"bits\": 7}}"), MX_UNSUPPORTED, &err, "7 bits in groups of 64");
    MX_CHECK_FAILS(parse("{\"quantization\": {\"group_size\": 48}}"), MX_UNSUPPORTED, &err, "groups of 48");
    MX_CHECK_FAILS(parse("{\"quantization\": {\"mode\": \"fp3\"}}"), MX_UNSUPPORTED, &err, "mode \"fp3\"");
    MX_CHECK_FAILS(parse("{\"quantization\": {\"mode\": \"mxfp4\", \"bits\": 8}}"), MX_UNSUPPORTED, &err, "mode mxfp4");
    MX_CHECK_FAILS(parse("{\"quantization\": {\"a.b\": {\"bits\": 1}}}"), MX_UNSUPPORTED, &err,
                   "config.json: \"a.b\": quantisation with 1 bits");
    mx_quant_config_close(&config);
    MX_CHECK_OK(parse("[]"), &err);
}

MX_TEST(each_failing_allocation_is_reported)
{
    mx_json json;
    mx_status st = MX_NO_MEMORY;
    MX_CHECK_OK(mx_json_parse(MX_STR("{\"quantization\": {\"bits\": 4, \"a\": false, \"b\": {\"bits\": 8}}}"),
                              "config.json", &json, &err),
                &err);
    for (int64_t n = 1; st != MX_OK && n < 50; n++) {
        mx_quant_config_close(&config);
        mx_mem_fail_at(n);
        st = mx_quant_config_parse(json.root, "config.json", &config, &err);
        mx_mem_fail_at(0);
        MX_CHECK(st == MX_OK || st == MX_NO_MEMORY);
    }
    MX_CHECK_I64(st, MX_OK);
    mx_json_close(&json);
    mx_quant_config_close(&config);
}

MX_TEST_MAIN(MX_CASE(a_configuration_may_say_nothing), MX_CASE(layers_have_entries_of_their_own),
             MX_CASE(modes_have_defaults), MX_CASE(the_configuration_is_found_in_its_four_places),
             MX_CASE(other_tools_methods_are_translated_or_named), MX_CASE(wrong_values_are_named),
             MX_CASE(each_failing_allocation_is_reported))
