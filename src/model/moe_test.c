/* moe_test.c - published configurations of families with experts, and what absent fields mean. */
#include "model/moe.h"

#include "base/mem.h"
#include "tests/test.h"

typedef struct reading {
    mx_arena arena; /* owned */
    mx_model_config config;
    const mx_family *family;
    mx_error err;
    mx_status st;
} reading;

static void read_json(reading *r, const char *text)
{
    mx_json json = {0};
    mx_arena_init(&r->arena, 1 << 22);
    r->st = mx_json_parse(mx_str_from(text), "config.json", &json, &r->err);
    if (r->st == MX_OK) {
        r->st = mx_model_config_read(json.root, "config.json", &r->arena, &r->config, &r->family, &r->err);
    }
    mx_json_close(&json); /* the configuration must not point into it */
}

static void check_fails(const char *text, mx_status wanted, const char *piece)
{
    reading r = {0};
    read_json(&r, text);
    MX_CHECK_FAILS(r.st, wanted, &r.err, piece);
    mx_arena_deinit(&r.arena);
}

MX_TEST(reads_a_mixtral_8x7b)
{
    reading r = {0};
    read_json(&r, "{\"architectures\": [\"MixtralForCausalLM\"], \"bos_token_id\": 1, \"eos_token_id\": 2,"
                  "\"hidden_act\": \"silu\", \"hidden_size\": 4096, \"intermediate_size\": 14336,"
                  "\"max_position_embeddings\": 32768, \"model_type\": \"mixtral\", \"num_attention_heads\": 32,"
                  "\"num_experts_per_tok\": 2, \"num_hidden_layers\": 32, \"num_key_value_heads\": 8,"
                  "\"num_local_experts\": 8, \"output_router_logits\": false, \"rms_norm_eps\": 1e-05,"
                  "\"rope_theta\": 1000000.0, \"router_aux_loss_coef\": 0.02, \"sliding_window\": null,"
                  "\"tie_word_embeddings\": false, \"torch_dtype\": \"bfloat16\", \"vocab_size\": 32000}");
    MX_CHECK_OK(r.st, &r.err);
    MX_CHECK_I64(r.config.n_experts, 8);
    MX_CHECK_I64(r.config.d_ff_expert, 14336);
    MX_CHECK(r.config.layers[0].is_moe && r.config.layers[31].is_moe && r.config.window == 0);
    const mx_moe_settings s = mx_moe_settings_of(&r.config);
    MX_CHECK(s.route.score == MX_SCORE_SOFTMAX && s.route.normalize && s.route.top_k == 2);
    mx_arena_deinit(&r.arena);
}

MX_TEST(reads_a_qwen_1_5_moe_a2_7b)
{
    reading r = {0};
    read_json(&r, "{\"architectures\": [\"Qwen2MoeForCausalLM\"], \"bos_token_id\": 151643, \"eos_token_id\": 151643,"
                  "\"hidden_act\": \"silu\", \"hidden_size\": 2048, \"intermediate_size\": 5632,"
                  "\"max_position_embeddings\": 8192, \"max_window_layers\": 21, \"model_type\": \"qwen2_moe\","
                  "\"num_attention_heads\": 16, \"num_hidden_layers\": 24, \"num_key_value_heads\": 16,"
                  "\"rms_norm_eps\": 1e-06, \"rope_theta\": 1000000.0, \"sliding_window\": 32768,"
                  "\"tie_word_embeddings\": false, \"use_sliding_window\": false, \"vocab_size\": 151936,"
                  "\"decoder_sparse_step\": 1, \"moe_intermediate_size\": 1408,"
                  "\"shared_expert_intermediate_size\": 5632, \"num_experts_per_tok\": 4, \"num_experts\": 60,"
                  "\"norm_topk_prob\": false, \"output_router_logits\": false, \"router_aux_loss_coef\": 0.001}");
    MX_CHECK_OK(r.st, &r.err);
    MX_CHECK_I64(r.config.n_experts, 60);
    MX_CHECK_I64(r.config.d_ff_expert, 1408);
    MX_CHECK(r.config.has_qkv_bias && !r.config.has_o_bias && !r.config.normalize_top_k && r.config.window == 0);
    MX_CHECK(r.config.layers[23].is_moe);
    mx_arena_deinit(&r.arena);
}

MX_TEST(reads_an_olmoe_1b_7b)
{
    reading r = {0};
    read_json(&r,
              "{\"architectures\": [\"OlmoeForCausalLM\"], \"attention_bias\": false, \"clip_qkv\": null,"
              "\"eos_token_id\": 50279, \"hidden_act\": \"silu\", \"hidden_size\": 2048, \"intermediate_size\": 1024,"
              "\"max_position_embeddings\": 4096, \"model_type\": \"olmoe\", \"norm_topk_prob\": false,"
              "\"num_attention_heads\": 16, \"num_experts\": 64, \"num_experts_per_tok\": 8,"
              "\"num_hidden_layers\": 16, \"num_key_value_heads\": 16, \"rms_norm_eps\": 1e-05,"
              "\"rope_scaling\": null, \"rope_theta\": 10000.0, \"tie_word_embeddings\": false,"
              "\"vocab_size\": 50304}");
    MX_CHECK_OK(r.st, &r.err);
    MX_CHECK_I64(r.config.d_ff_expert, 1024);
    MX_CHECK_I64(r.config.top_k, 8);
    mx_arena_deinit(&r.arena);
    check_fails("{\"model_type\": \"olmoe\", \"clip_qkv\": 8.0}", MX_UNSUPPORTED, "clip_qkv");
}

MX_TEST(reads_a_gpt_oss_20b)
{
    reading r = {0};
    read_json(&r, "{\"architectures\": [\"GptOssForCausalLM\"], \"attention_bias\": true, \"eos_token_id\": 200002,"
                  "\"experts_per_token\": 4, \"head_dim\": 64, \"hidden_act\": \"silu\", \"hidden_size\": 2880,"
                  "\"initial_context_length\": 4096, \"intermediate_size\": 2880, \"layer_types\": null,"
                  "\"max_position_embeddings\": 131072, \"model_type\": \"gpt_oss\", \"num_attention_heads\": 64,"
                  "\"num_experts_per_tok\": 4, \"num_hidden_layers\": 24, \"num_key_value_heads\": 8,"
                  "\"num_local_experts\": 32, \"rms_norm_eps\": 1e-05, \"rope_scaling\": {\"beta_fast\": 32.0,"
                  "\"beta_slow\": 1.0, \"factor\": 32.0, \"original_max_position_embeddings\": 4096,"
                  "\"rope_type\": \"yarn\", \"truncate\": false}, \"rope_theta\": 150000, \"sliding_window\": 128,"
                  "\"swiglu_limit\": 7.0, \"tie_word_embeddings\": false, \"vocab_size\": 201088}");
    MX_CHECK_OK(r.st, &r.err);
    MX_CHECK_I64(r.config.n_experts, 32);
    MX_CHECK_I64(r.config.d_ff_expert, 2880);
    MX_CHECK(r.config.layers[0].is_sliding && !r.config.layers[1].is_sliding && r.config.layers[22].is_sliding);
    MX_CHECK(r.config.act == MX_ACT_SWIGLU_OAI && r.config.sinks && !r.config.ropes[0].truncate);
    mx_arena_deinit(&r.arena);
    check_fails("{\"model_type\": \"gpt_oss\", \"swiglu_limit\": 5.0}", MX_UNSUPPORTED, "swiglu_limit");
}

MX_TEST(gpt_oss_is_stretched_where_nothing_is_said)
{
    reading r = {0};
    read_json(&r, "{\"model_type\": \"gpt_oss\"}");
    MX_CHECK_OK(r.st, &r.err);
    MX_CHECK_I64(r.config.ropes[0].kind, MX_ROPE_YARN);
    MX_CHECK_NEAR(r.config.ropes[0].factor, 32, 0);
    MX_CHECK_I64(r.config.n_layers, 36);
    MX_CHECK_I64(r.config.n_experts, 128);
    mx_arena_deinit(&r.arena);
}

MX_TEST_MAIN(MX_CASE(reads_a_mixtral_8x7b), MX_CASE(reads_a_qwen_1_5_moe_a2_7b), MX_CASE(reads_an_olmoe_1b_7b),
             MX_CASE(reads_a_gpt_oss_20b), MX_CASE(gpt_oss_is_stretched_where_nothing_is_said))
