#include "model/config.h"

#include "base/mem.h"
#include "model/family.h"
#include "model/rope_scaling.h"
#include "tests/config_reading.h"
#include "tests/test.h"

MX_TEST(reads_a_llama_3_2)
{
    reading r = {0};
    read_json(&r, "{\"architectures\": [\"LlamaForCausalLM\"], \"attention_bias\": false, \"bos_token_id\": 128000,"
                  "\"eos_token_id\": [128001, 128008, 128009], \"head_dim\": 64, \"hidden_act\": \"silu\","
                  "\"hidden_size\": 2048, \"intermediate_size\": 8192, \"max_position_embeddings\": 131072,"
                  "\"mlp_bias\": false, \"model_type\": \"llama\", \"num_attention_heads\": 32,"
                  "\"num_hidden_layers\": 16, \"num_key_value_heads\": 8, \"rms_norm_eps\": 1e-05,"
                  "\"rope_scaling\": {\"factor\": 32.0, \"high_freq_factor\": 4.0, \"low_freq_factor\": 1.0,"
                  "\"original_max_position_embeddings\": 8192, \"rope_type\": \"llama3\"}, \"rope_theta\": 500000.0,"
                  "\"tie_word_embeddings\": true, \"torch_dtype\": \"bfloat16\", \"vocab_size\": 128256}");
    MX_CHECK_OK(r.st, &r.err);
    MX_CHECK_I64(r.config.n_layers, 16);
    MX_CHECK_I64(r.config.n_kv_heads, 8);
    MX_CHECK_I64(r.config.head_dim, 64);
    MX_CHECK_I64(r.config.n_vocab, 128256);
    MX_CHECK_I64(r.config.n_eos_ids, 3);
    MX_CHECK_I64(r.config.eos_ids[2], 128009);
    MX_CHECK_I64(r.config.ropes[0].kind, MX_ROPE_LLAMA3);
    MX_CHECK_I64(r.config.ropes[0].original_n_ctx, 8192);
    MX_CHECK(r.config.is_tied && !r.config.has_qkv_bias && r.config.window == 0);
    mx_arena_deinit(&r.arena);
}

MX_TEST(fills_absent_fields_from_the_family)
{
    reading r = {0};
    read_json(&r, "{\"model_type\": \"llama\"}");
    MX_CHECK_OK(r.st, &r.err);
    MX_CHECK_I64(r.config.n_kv_heads, 32);
    MX_CHECK_I64(r.config.head_dim, 128);
    MX_CHECK_I64(r.config.layers[31].head_dim, 128);
    MX_CHECK_NEAR(r.config.ropes[0].theta, 1e4, 0);
    MX_CHECK_I64(r.config.eos_ids[0], 2);
    MX_CHECK(!r.config.is_tied);
    mx_arena_deinit(&r.arena);
}

MX_TEST(reads_the_text_model_inside_of_a_gemma_3)
{
    reading r = {0};
    read_json(&r,
              "{\"model_type\": \"gemma3\", \"eos_token_id\": [1, 106], \"vision_config\": {\"hidden_size\": 1152},"
              "\"text_config\": {\"hidden_size\": 2560, \"intermediate_size\": 10240, \"model_type\": \"gemma3_text\","
              "\"num_hidden_layers\": 34, \"rope_scaling\": {\"factor\": 8.0, \"rope_type\": \"linear\"},"
              "\"sliding_window\": 1024}}");
    MX_CHECK_OK(r.st, &r.err);
    MX_CHECK_I64(r.config.d_model, 2560);
    MX_CHECK_I64(r.config.n_heads, 8);
    MX_CHECK_I64(r.config.head_dim, 256);
    MX_CHECK_I64(r.config.n_vocab, 262208);
    MX_CHECK_I64(r.config.window, 1024);
    MX_CHECK_I64(r.config.n_eos_ids, 2);
    MX_CHECK_I64(r.config.ropes[MX_LAYER_ROPE_GLOBAL].kind, MX_ROPE_LINEAR);
    MX_CHECK_NEAR(r.config.ropes[MX_LAYER_ROPE_GLOBAL].theta, 1e6, 0);
    MX_CHECK_I64(r.config.ropes[MX_LAYER_ROPE_LOCAL].kind, MX_ROPE_DEFAULT);
    MX_CHECK_NEAR(r.config.ropes[MX_LAYER_ROPE_LOCAL].theta, 1e4, 0);
    MX_CHECK(r.config.layers[4].is_sliding && !r.config.layers[5].is_sliding && r.config.layers[6].is_sliding);
    MX_CHECK(r.config.is_tied && r.config.act == MX_ACT_GELU_TANH);
    mx_arena_deinit(&r.arena);
}

MX_TEST(reads_rotary_parameters_by_type_of_layer)
{
    reading r = {0};
    read_json(&r, "{\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 2, \"layer_types\": [\"full_attention\","
                  "\"sliding_attention\"], \"rope_parameters\": {\"full_attention\": {\"rope_type\": \"linear\","
                  "\"factor\": 8.0, \"rope_theta\": 5000.0}, \"sliding_attention\": {\"rope_type\": \"default\","
                  "\"rope_theta\": 300.0}}}");
    MX_CHECK_OK(r.st, &r.err);
    MX_CHECK_NEAR(r.config.ropes[MX_LAYER_ROPE_GLOBAL].theta, 5000, 0);
    MX_CHECK_NEAR(r.config.ropes[MX_LAYER_ROPE_LOCAL].theta, 300, 0);
    MX_CHECK(!r.config.layers[0].is_sliding && r.config.layers[1].is_sliding);
    mx_arena_deinit(&r.arena);
}

MX_TEST(reads_rotary_parameters_of_the_newer_plain_form)
{
    reading r = {0};
    read_json(&r, "{\"model_type\": \"qwen3\", \"rope_parameters\": {\"rope_theta\": 7e6, \"rope_type\": \"yarn\","
                  "\"factor\": 4.0, \"original_max_position_embeddings\": 32768, \"beta_fast\": 24}}");
    MX_CHECK_OK(r.st, &r.err);
    MX_CHECK_NEAR(r.config.ropes[0].theta, 7e6, 0);
    MX_CHECK_NEAR(r.config.ropes[0].beta_fast, 24, 0);
    MX_CHECK_NEAR(r.config.ropes[0].beta_slow, 1, 0);
    MX_CHECK_I64(r.config.head_dim, 128);
    MX_CHECK_I64(mx_rope_max_ctx(&r.config.ropes[0], r.config.n_ctx), 131072);
    mx_arena_deinit(&r.arena);
}

MX_TEST(a_window_that_is_null_is_none_and_one_that_is_absent_is_the_default)
{
    reading r = {0};
    read_json(&r, "{\"model_type\": \"mistral\", \"sliding_window\": null, \"head_dim\": null}");
    MX_CHECK_OK(r.st, &r.err);
    MX_CHECK_I64(r.config.window, 0);
    MX_CHECK(!r.config.layers[0].is_sliding);
    mx_arena_deinit(&r.arena);
    read_json(&r, "{\"model_type\": \"mistral\"}");
    MX_CHECK_I64(r.config.window, 4096);
    MX_CHECK(r.config.layers[31].is_sliding);
    mx_arena_deinit(&r.arena);
}

MX_TEST(qwen_slides_behind_its_full_layers_if_it_is_told_to)
{
    reading r = {0};
    read_json(&r, "{\"model_type\": \"qwen2\", \"sliding_window\": 32768, \"use_sliding_window\": false,"
                  "\"max_window_layers\": 21}");
    MX_CHECK_OK(r.st, &r.err);
    MX_CHECK_I64(r.config.window, 0);
    MX_CHECK(r.config.has_qkv_bias && !r.config.has_o_bias);
    mx_arena_deinit(&r.arena);
    read_json(&r, "{\"model_type\": \"qwen2\", \"sliding_window\": 99, \"use_sliding_window\": true,"
                  "\"max_window_layers\": 21}");
    MX_CHECK_I64(r.config.window, 99);
    MX_CHECK(!r.config.layers[20].is_sliding && r.config.layers[21].is_sliding);
    mx_arena_deinit(&r.arena);
}

MX_TEST(experts_are_in_every_step_th_layer_but_those_listed)
{
    reading r = {0};
    read_json(&r, "{\"model_type\": \"qwen3_moe\", \"num_hidden_layers\": 6, \"decoder_sparse_step\": 2,"
                  "\"mlp_only_layers\": [3], \"num_experts\": 64}");
    MX_CHECK_OK(r.st, &r.err);
    for (int32_t i = 0; i < 6; i++) {
        MX_CHECK_I64(r.config.layers[i].is_moe, i == 1 || i == 5);
    }
    MX_CHECK_I64(r.config.n_experts, 64);
    mx_arena_deinit(&r.arena);
}

MX_TEST(an_unknown_family_is_told_with_the_nearest_known)
{
    check_fails("{\"model_type\": \"qwen33\"}", MX_UNSUPPORTED,
                "\"qwen33\" is not supported; the nearest that is is \"qwen3\"");
    check_fails("{\"model_type\": \"lama\"}", MX_UNSUPPORTED, "nearest that is is \"llama\"");
    check_fails("{\"model_type\": \"x\"}", MX_UNSUPPORTED, "mlxcel arch");
    check_fails("{}", MX_FORMAT, "no \"model_type\"");
    check_fails("{\"model_type\": 3}", MX_FORMAT, "must be a string");
    check_fails("[]", MX_FORMAT, "not a JSON object");
}

MX_TEST(numbers_that_cannot_be_are_refused_by_name)
{
    static const struct {
        const char *fields;
        const char *piece;
    } cases[] = {
        {"\"num_hidden_layers\": 0", "\"num_hidden_layers\" is 0"},
        {"\"num_hidden_layers\": 100000", "\"num_hidden_layers\" is 100000"},
        {"\"num_hidden_layers\": \"two\"", "\"num_hidden_layers\" must be a whole number"},
        {"\"hidden_size\": -5", "\"hidden_size\" is -5"},
        {"\"hidden_size\": 99999999999", "\"hidden_size\""},
        {"\"num_key_value_heads\": 5", "not a multiple of \"num_key_value_heads\""},
        {"\"num_attention_heads\": 7", "not a multiple of 7 heads"},
        {"\"head_dim\": 1000000", "\"head_dim\" is 1000000"},
        {"\"rms_norm_eps\": 0", "\"rms_norm_eps\" is 0, must be above 0 and at most 1"},
        {"\"rms_norm_eps\": -1", "\"rms_norm_eps\" is -1, must be above 0 and at most 1"},
        {"\"rope_theta\": -1", "\"rope_theta\""},
        {"\"eos_token_id\": \"</s>\"", "\"eos_token_id\""},
        {"\"eos_token_id\": [-1]", "\"eos_token_id\""},
        {"\"eos_token_id\": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]", "17 ids"},
        {"\"tie_word_embeddings\": 1", "true or false"},
        {"\"text_config\": 5", "must be an object"},
        {"\"partial_rotary_factor\": 0.001", "too few columns rotate"},
        {"\"final_logit_softcapping\": -3", "final_logit_softcapping"},
        {"\"rope_scaling\": {\"type\": \"linear\"}", "\"factor\""},
        {"\"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 0}", "\"factor\""},
        {"\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4, \"beta_fast\": -1}", "\"beta_fast\""},
        {"\"rope_scaling\": {\"type\": \"yarn\"}", "type yarn needs a \"factor\""},
        {"\"rope_scaling\": {\"type\": \"llama3\", \"factor\": 8, \"low_freq_factor\": 4, \"high_freq_factor\": 4}",
         "\"high_freq_factor\""},
        {"\"rope_scaling\": {\"type\": \"longrope\", \"short_factor\": [1], \"long_factor\": [1]}", "needs 64 entries"},
        {"\"rope_scaling\": {\"type\": \"longrope\", \"short_factor\": [0]}", "entry 0 of \"short_factor\""},
        {"\"rope_scaling\": {\"type\": \"longrope\", \"short_factor\": [\"a\"]}", "entry 0 of \"short_factor\""},
        {"\"rope_scaling\": \"linear\"", "must be an object"},
    };
    for (size_t i = 0; i < MX_COUNTOF(cases); i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"model_type\": \"llama\", %s}", cases[i].fields);
        check_fails(text, MX_FORMAT, cases[i].piece);
        check_fails(text, MX_FORMAT, "config.json: ");
    }
}

MX_TEST(features_that_we_do_not_have_are_told)
{
    check_fails("{\"model_type\": \"llama\", \"hidden_act\": \"crelu\"}", MX_UNSUPPORTED, "\"crelu\"");
    check_fails("{\"model_type\": \"llama\", \"rope_scaling\": {\"type\": \"mrope\"}}", MX_UNSUPPORTED, "\"mrope\"");
    check_fails("{\"model_type\": \"gemma3_text\", \"use_bidirectional_attention\": true}", MX_UNSUPPORTED,
                "bidirectional");
    check_fails("{\"model_type\": \"gemma3_text\", \"layer_types\": [\"full_attention\"]}", MX_FORMAT,
                "has 1 entries, but there are 26 layers");
    check_fails("{\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 1, \"layer_types\": [\"chunked\"]}",
                MX_UNSUPPORTED, "layer 0");
    check_fails("{\"model_type\": \"qwen3_moe\", \"mlp_only_layers\": [24]}", MX_FORMAT, "from 0 to 23");
    check_fails("{\"model_type\": \"qwen3_moe\", \"num_experts_per_tok\": 129}", MX_FORMAT, "there are 128 experts");
}

MX_TEST(end_ids_of_the_generation_config_replace_the_others)
{
    mx_json json = {0};
    mx_error err;
    mx_model_config config = {.eos_ids = {2}, .n_eos_ids = 1};
    mx_sampling_defaults sampling;
    MX_CHECK_OK(mx_json_parse(MX_STR("{\"eos_token_id\": [7, 9], \"do_sample\": true, \"temperature\": 0.6,"
                                     "\"top_p\": 0.95, \"top_k\": 20}"),
                              "g", &json, &err),
                &err);
    MX_CHECK_OK(mx_generation_config_read(json.root, "g", &config, &sampling, &err), &err);
    MX_CHECK_I64(config.n_eos_ids, 2);
    MX_CHECK_I64(config.eos_ids[1], 9);
    MX_CHECK(sampling.do_sample && sampling.top_k == 20 && sampling.min_p < 0);
    MX_CHECK_NEAR(sampling.temperature, 0.6, 0);
    mx_json_close(&json);
}

MX_TEST(settings_that_no_sampler_takes_are_refused_by_name)
{
    static const struct {
        const char *text;
        const char *piece;
    } cases[] = {
        {"{\"temperature\": -3}", "g: \"temperature\" is -3"},
        {"{\"temperature\": 1000}", "\"temperature\" is 1000"},
        {"{\"top_p\": 7}", "\"top_p\" is 7"},
        {"{\"min_p\": -0.5}", "\"min_p\" is -0.5"},
        {"{\"repetition_penalty\": 0}", "\"repetition_penalty\" is 0"},
        {"{\"top_k\": -7}", "\"top_k\" is -7"},
    };
    for (size_t i = 0; i < MX_COUNTOF(cases); i++) {
        mx_json json = {0};
        mx_error err;
        mx_model_config config = {0};
        mx_sampling_defaults sampling;
        MX_CHECK_OK(mx_json_parse(mx_str_from(cases[i].text), "g", &json, &err), &err);
        MX_CHECK_FAILS(mx_generation_config_read(json.root, "g", &config, &sampling, &err), MX_FORMAT, &err,
                       cases[i].piece);
        mx_json_close(&json);
    }
}

MX_TEST(every_failing_allocation_is_reported)
{
    mx_json json = {0};
    reading r = {0};
    MX_CHECK_OK(mx_json_parse(MX_STR("{\"model_type\": \"llama\", \"head_dim\": 4, \"rope_scaling\": {\"type\": \"su\","
                                     "\"short_factor\": [1, 2], \"long_factor\": [3, 4]}}"),
                              "c", &json, &r.err),
                &r.err);
    for (int64_t n = 1;; n++) {
        mx_arena_init(&r.arena, 1 << 20);
        mx_mem_fail_at(n);
        r.st = mx_model_config_read(json.root, "c", &r.arena, &r.config, &r.family, &r.err);
        const int64_t n_made = mx_mem_count();
        mx_mem_fail_at(0);
        mx_arena_deinit(&r.arena);
        MX_CHECK(r.st == (n_made >= n ? MX_NO_MEMORY : MX_OK));
        if (n_made < n) {
            break;
        }
    }
    mx_json_close(&json);
}

MX_TEST_MAIN(MX_CASE(reads_a_llama_3_2), MX_CASE(fills_absent_fields_from_the_family),
             MX_CASE(reads_the_text_model_inside_of_a_gemma_3), MX_CASE(reads_rotary_parameters_by_type_of_layer),
             MX_CASE(reads_rotary_parameters_of_the_newer_plain_form),
             MX_CASE(a_window_that_is_null_is_none_and_one_that_is_absent_is_the_default),
             MX_CASE(qwen_slides_behind_its_full_layers_if_it_is_told_to),
             MX_CASE(experts_are_in_every_step_th_layer_but_those_listed),
             MX_CASE(an_unknown_family_is_told_with_the_nearest_known),
             MX_CASE(numbers_that_cannot_be_are_refused_by_name), MX_CASE(features_that_we_do_not_have_are_told),
             MX_CASE(end_ids_of_the_generation_config_replace_the_others),
             MX_CASE(settings_that_no_sampler_takes_are_refused_by_name), MX_CASE(every_failing_allocation_is_reported))
