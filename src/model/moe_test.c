/* moe_test.c - published configurations of families with experts, and what absent fields mean. */
#include "model/moe.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/rope_scaling.h"
#include "tests/config_reading.h"
#include "tests/test.h"

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

/* A row a model: its published file, and one line that a person can check. */
typedef struct published {
    const char *json;
    const char *wanted;
} published;

static const published models[] = {
    /* zai-org/GLM-4.5-Air */
    {"{\"model_type\": \"glm4_moe\", \"attention_bias\": true, \"eos_token_id\": [151329, 151336, 151338], "
     "\"head_dim\": 128, \"hidden_act\": \"silu\", \"hidden_size\": 4096, \"partial_rotary_factor\": 0.5, "
     "\"moe_intermediate_size\": 1408, \"max_position_embeddings\": 131072, \"n_group\": 1, "
     "\"n_routed_experts\": 128, \"n_shared_experts\": 1, \"norm_topk_prob\": true, "
     "\"num_attention_heads\": 96, \"num_experts_per_tok\": 8, \"first_k_dense_replace\": 1, "
     "\"num_hidden_layers\": 46, \"num_key_value_heads\": 8, \"rms_norm_eps\": 1e-05, \"rope_scaling\": "
     "null, \"rope_theta\": 1000000, \"routed_scaling_factor\": 1.0, \"topk_group\": 1, \"use_qk_norm\": "
     "false, \"intermediate_size\": 10944, \"vocab_size\": 151552, \"num_nextn_predict_layers\": 1}",
     "glm4_moe 46 x 4096/10944, 96 heads of 128 on 8, 8 of 128 experts of 1408 in 45 layers, 1 extra, 64 columns turn "
     "by 1000000"},
    /* deepseek-ai/DeepSeek-V3 */
    {"{\"model_type\": \"deepseek_v3\", \"attention_bias\": false, \"bos_token_id\": 0, \"eos_token_id\": "
     "1, \"ep_size\": 1, \"first_k_dense_replace\": 3, \"hidden_act\": \"silu\", \"hidden_size\": 7168, "
     "\"intermediate_size\": 18432, \"kv_lora_rank\": 512, \"max_position_embeddings\": 163840, "
     "\"moe_intermediate_size\": 2048, \"moe_layer_freq\": 1, \"n_group\": 8, \"n_routed_experts\": 256, "
     "\"n_shared_experts\": 1, \"norm_topk_prob\": true, \"num_attention_heads\": 128, "
     "\"num_experts_per_tok\": 8, \"num_hidden_layers\": 61, \"num_key_value_heads\": 128, "
     "\"num_nextn_predict_layers\": 1, \"q_lora_rank\": 1536, \"qk_nope_head_dim\": 128, "
     "\"qk_rope_head_dim\": 64, \"rms_norm_eps\": 1e-06, \"rope_scaling\": {\"beta_fast\": 32, "
     "\"beta_slow\": 1, \"factor\": 40, \"mscale\": 1.0, \"mscale_all_dim\": 1.0, "
     "\"original_max_position_embeddings\": 4096, \"type\": \"yarn\"}, \"rope_theta\": 10000, "
     "\"routed_scaling_factor\": 2.5, \"scoring_func\": \"sigmoid\", \"topk_group\": 4, \"topk_method\": "
     "\"noaux_tc\", \"v_head_dim\": 128, \"vocab_size\": 129280}",
     "deepseek_v3 61 x 7168/18432, 128 heads of 576 on 1, 8 of 256 experts of 2048 in 58 layers, 1 extra, 64 columns "
     "turn by 10000"},
    /* deepseek-ai/DeepSeek-V2-Lite-Chat */
    {"{\"model_type\": \"deepseek_v2\", \"attention_bias\": false, \"bos_token_id\": 100000, "
     "\"eos_token_id\": 100001, \"first_k_dense_replace\": 1, \"hidden_act\": \"silu\", \"hidden_size\": "
     "2048, \"intermediate_size\": 10944, \"kv_lora_rank\": 512, \"max_position_embeddings\": 163840, "
     "\"moe_intermediate_size\": 1408, \"moe_layer_freq\": 1, \"n_group\": 1, \"n_routed_experts\": 64, "
     "\"n_shared_experts\": 2, \"norm_topk_prob\": false, \"num_attention_heads\": 16, "
     "\"num_experts_per_tok\": 6, \"num_hidden_layers\": 27, \"num_key_value_heads\": 16, \"q_lora_rank\": "
     "null, \"qk_nope_head_dim\": 128, \"qk_rope_head_dim\": 64, \"rms_norm_eps\": 1e-06, "
     "\"rope_scaling\": {\"beta_fast\": 32, \"beta_slow\": 1, \"factor\": 40, \"mscale\": 0.707, "
     "\"mscale_all_dim\": 0.707, \"original_max_position_embeddings\": 4096, \"type\": \"yarn\"}, "
     "\"rope_theta\": 10000, \"routed_scaling_factor\": 1.0, \"scoring_func\": \"softmax\", "
     "\"topk_group\": 1, \"topk_method\": \"greedy\", \"v_head_dim\": 128, \"vocab_size\": 102400}",
     "deepseek_v2 27 x 2048/10944, 16 heads of 576 on 1, 6 of 64 experts of 1408 in 26 layers, 0 extra, 64 columns "
     "turn by 10000"},
    /* deepseek-ai/deepseek-moe-16b-chat */
    {"{\"model_type\": \"deepseek\", \"attention_bias\": false, \"bos_token_id\": 100000, "
     "\"eos_token_id\": 100001, \"first_k_dense_replace\": 1, \"hidden_act\": \"silu\", \"hidden_size\": "
     "2048, \"intermediate_size\": 10944, \"max_position_embeddings\": 4096, \"moe_intermediate_size\": "
     "1408, \"moe_layer_freq\": 1, \"n_routed_experts\": 64, \"n_shared_experts\": 2, \"norm_topk_prob\": "
     "false, \"num_attention_heads\": 16, \"num_experts_per_tok\": 6, \"num_hidden_layers\": 28, "
     "\"num_key_value_heads\": 16, \"rms_norm_eps\": 1e-06, \"rope_scaling\": null, \"rope_theta\": 10000, "
     "\"scoring_func\": \"softmax\", \"vocab_size\": 102400}",
     "deepseek 28 x 2048/10944, 16 heads of 128 on 16, 6 of 64 experts of 1408 in 27 layers, 0 extra, 128 columns turn "
     "by 10000"},
    /* meta-llama/Llama-4-Scout-17B-16E-Instruct */
    {"{\"model_type\": \"llama4\", \"boi_token_index\": 200080, \"text_config\": {\"attention_bias\": "
     "false, \"attention_chunk_size\": 8192, \"bos_token_id\": 200000, \"eos_token_id\": [200001, 200007, "
     "200008], \"for_llm_compressor\": false, \"head_dim\": 128, \"hidden_act\": \"silu\", "
     "\"hidden_size\": 5120, \"interleave_moe_layer_step\": 1, \"intermediate_size\": 8192, "
     "\"intermediate_size_mlp\": 16384, \"max_position_embeddings\": 10485760, \"model_type\": "
     "\"llama4_text\", \"no_rope_layers\": [], \"num_attention_heads\": 40, \"num_experts_per_tok\": 1, "
     "\"num_hidden_layers\": 48, \"num_key_value_heads\": 8, \"num_local_experts\": 16, \"rms_norm_eps\": "
     "1e-05, \"rope_scaling\": {\"factor\": 8.0, \"high_freq_factor\": 4.0, \"low_freq_factor\": 1.0, "
     "\"original_max_position_embeddings\": 8192, \"rope_type\": \"llama3\"}, \"rope_theta\": 500000.0, "
     "\"use_qk_norm\": true, \"vocab_size\": 202048}, \"vision_config\": {\"model_type\": "
     "\"llama4_vision_model\"}}",
     "llama4_text 48 x 5120/16384, 40 heads of 128 on 8, 1 of 16 experts of 8192 in 48 layers, 0 extra, 128 columns "
     "turn by 500000, 12 layers do not"},
    /* ibm-granite/granite-3.1-1b-a400m-instruct */
    {"{\"model_type\": \"granitemoe\", \"attention_bias\": false, \"attention_multiplier\": 0.015625, "
     "\"embedding_multiplier\": 12.0, \"eos_token_id\": 0, \"hidden_act\": \"silu\", \"hidden_size\": "
     "1024, \"intermediate_size\": 512, \"logits_scaling\": 6.0, \"max_position_embeddings\": 131072, "
     "\"num_attention_heads\": 16, \"num_experts_per_tok\": 8, \"num_hidden_layers\": 24, "
     "\"num_key_value_heads\": 8, \"num_local_experts\": 32, \"residual_multiplier\": 0.22, "
     "\"rms_norm_eps\": 1e-06, \"rope_scaling\": null, \"rope_theta\": 1500000.0, \"tie_word_embeddings\": "
     "true, \"vocab_size\": 49155}",
     "granitemoe 24 x 1024/512, 16 heads of 64 on 8, 8 of 32 experts of 512 in 24 layers, 0 extra, 64 columns turn by "
     "1500000"},
    /* microsoft/Phi-3.5-MoE-instruct (factors shortened) */
    {"{\"model_type\": \"phimoe\", \"attention_bias\": true, \"bos_token_id\": 1, \"eos_token_id\": 32000, "
     "\"hidden_act\": \"silu\", \"hidden_size\": 32, \"input_jitter_noise\": 0.01, \"intermediate_size\": "
     "64, \"lm_head_bias\": true, \"max_position_embeddings\": 131072, \"num_attention_heads\": 8, "
     "\"num_experts_per_tok\": 2, \"num_hidden_layers\": 32, \"num_key_value_heads\": 8, "
     "\"num_local_experts\": 16, \"original_max_position_embeddings\": 4096, \"rms_norm_eps\": 1e-05, "
     "\"rope_scaling\": {\"long_factor\": [1.05, 1.31], \"long_mscale\": 1.243163121016122, "
     "\"original_max_position_embeddings\": 4096, \"short_factor\": [1.0, 1.01], \"short_mscale\": "
     "1.243163121016122, \"type\": \"longrope\"}, \"rope_theta\": 10000.0, \"router_jitter_noise\": 0.01, "
     "\"sliding_window\": 131072, \"tie_word_embeddings\": false, \"vocab_size\": 32064}",
     "phimoe 32 x 32/64, 8 heads of 4 on 8, 2 of 16 experts of 64 in 32 layers, 0 extra, 4 columns turn by 10000"},
    /* baidu/ERNIE-4.5-21B-A3B-PT */
    {"{\"model_type\": \"ernie4_5_moe\", \"bos_token_id\": 1, \"eos_token_id\": 2, \"hidden_act\": "
     "\"silu\", \"hidden_size\": 2560, \"intermediate_size\": 12288, \"max_position_embeddings\": 131072, "
     "\"num_attention_heads\": 20, \"num_hidden_layers\": 28, \"num_key_value_heads\": 4, "
     "\"rms_norm_eps\": 1e-05, \"rope_theta\": 500000.0, \"tie_word_embeddings\": true, \"use_bias\": "
     "false, \"vocab_size\": 103424, \"moe_num_experts\": 64, \"moe_num_shared_experts\": 2, "
     "\"moe_layer_start_index\": 1, \"moe_layer_end_index\": 27, \"moe_layer_interval\": 1, \"moe_k\": 6, "
     "\"moe_intermediate_size\": 1536, \"moe_use_aux_free\": true}",
     "ernie4_5_moe 28 x 2560/12288, 20 heads of 128 on 4, 6 of 64 experts of 1536 in 27 layers, 0 extra, 128 columns "
     "turn by 500000"},
    /* tencent/Hunyuan-A13B-Instruct (lists shortened to 4 layers) */
    {"{\"model_type\": \"hunyuan_v1_moe\", \"attention_bias\": false, \"attention_head_dim\": 128, "
     "\"bos_token_id\": 1, \"eos_token_id\": 127960, \"hidden_act\": \"silu\", \"hidden_size\": 4096, "
     "\"intermediate_size\": 3072, \"max_position_embeddings\": 32768, \"mlp_bias\": false, "
     "\"moe_intermediate_size\": [3072, 3072, 3072, 3072], \"moe_topk\": [8, 8, 8, 8], "
     "\"num_attention_heads\": 32, \"num_experts\": 64, \"num_hidden_layers\": 4, \"num_key_value_heads\": "
     "8, \"num_shared_expert\": [1, 1, 1, 1], \"rms_norm_eps\": 1e-05, \"rope_scaling\": {\"alpha\": "
     "1000.0, \"beta_fast\": 32, \"beta_slow\": 1, \"factor\": 1.0, \"mscale\": 1.0, \"mscale_all_dim\": "
     "1.0, \"type\": \"dynamic\"}, \"rope_theta\": 10000.0, \"tie_word_embeddings\": true, \"use_cla\": "
     "false, \"use_qk_norm\": true, \"vocab_size\": 128167}",
     "hunyuan_v1_moe 4 x 4096/3072, 32 heads of 128 on 8, 8 of 64 experts of 3072 in 4 layers, 0 extra, 128 columns "
     "turn by 11158840"},
    /* rednote-hilab/dots.llm1.inst */
    {"{\"model_type\": \"dots1\", \"attention_bias\": false, \"first_k_dense_replace\": 1, \"hidden_act\": "
     "\"silu\", \"hidden_size\": 4096, \"intermediate_size\": 10944, \"max_position_embeddings\": 32768, "
     "\"moe_intermediate_size\": 1408, \"moe_layer_freq\": 1, \"n_routed_experts\": 128, "
     "\"n_shared_experts\": 2, \"norm_topk_prob\": true, \"num_attention_heads\": 32, "
     "\"num_experts_per_tok\": 6, \"num_hidden_layers\": 62, \"num_key_value_heads\": 32, \"n_group\": 1, "
     "\"topk_group\": 1, \"rms_norm_eps\": 1e-05, \"rope_theta\": 10000000, \"routed_scaling_factor\": "
     "2.5, \"sliding_window\": null, \"scoring_func\": \"noaux_tc\", \"vocab_size\": 152064, "
     "\"eos_token_id\": 151645}",
     "dots1 62 x 4096/10944, 32 heads of 128 on 32, 6 of 128 experts of 1408 in 61 layers, 0 extra, 128 columns turn "
     "by 10000000"},
    /* MiniMaxAI/MiniMax-M2 */
    {"{\"model_type\": \"minimax_m2\", \"head_dim\": 128, \"hidden_act\": \"silu\", \"hidden_size\": 3072, "
     "\"intermediate_size\": 1536, \"max_position_embeddings\": 196608, \"mtp_transformer_layers\": 1, "
     "\"num_attention_heads\": 48, \"num_experts_per_tok\": 8, \"num_hidden_layers\": 62, "
     "\"num_key_value_heads\": 8, \"num_local_experts\": 256, \"num_mtp_modules\": 3, \"qk_norm_type\": "
     "\"per_layer\", \"rms_norm_eps\": 1e-06, \"rope_theta\": 5000000, \"rotary_dim\": 64, "
     "\"scoring_func\": \"sigmoid\", \"use_mtp\": true, \"use_qk_norm\": true, \"use_routing_bias\": true, "
     "\"vocab_size\": 200064}",
     "minimax_m2 62 x 3072/1536, 48 heads of 128 on 8, 8 of 256 experts of 1536 in 62 layers, 3 extra, 64 columns turn "
     "by 5000000"},
    /* arcee-ai/Trinity-Mini */
    {"{\"model_type\": \"afmoe\", \"attention_bias\": false, \"global_attn_every_n_layers\": 4, "
     "\"head_dim\": 128, \"hidden_act\": \"silu\", \"hidden_size\": 2048, \"intermediate_size\": 6144, "
     "\"max_position_embeddings\": 131072, \"moe_intermediate_size\": 1024, \"mup_enabled\": true, "
     "\"num_attention_heads\": 32, \"num_dense_layers\": 2, \"num_experts\": 128, \"num_experts_per_tok\": "
     "8, \"num_hidden_layers\": 32, \"num_key_value_heads\": 4, \"num_shared_experts\": 1, "
     "\"rms_norm_eps\": 1e-05, \"rope_scaling\": null, \"rope_theta\": 10000, \"route_norm\": true, "
     "\"route_scale\": 2.826, \"score_func\": \"sigmoid\", \"sliding_window\": 2048, "
     "\"tie_word_embeddings\": false, \"vocab_size\": 200192}",
     "afmoe 32 x 2048/6144, 32 heads of 128 on 4, 8 of 128 experts of 1024 in 30 layers, 0 extra, 128 columns turn by "
     "10000, 8 layers do not"},
    /* inclusionAI/Ling-mini-2.0 */
    {"{\"model_type\": \"bailing_moe\", \"architectures\": [\"BailingMoeV2ForCausalLM\"], "
     "\"first_k_dense_replace\": 1, \"head_dim\": 128, \"hidden_act\": \"silu\", \"hidden_size\": 2048, "
     "\"intermediate_size\": 5120, \"max_position_embeddings\": 32768, \"moe_intermediate_size\": 512, "
     "\"moe_router_enable_expert_bias\": true, \"moe_shared_expert_intermediate_size\": 512, \"n_group\": "
     "8, \"norm_topk_prob\": true, \"num_attention_heads\": 16, \"num_experts\": 256, "
     "\"num_experts_per_tok\": 8, \"num_hidden_layers\": 20, \"num_key_value_heads\": 4, "
     "\"num_nextn_predict_layers\": 0, \"num_shared_experts\": 1, \"partial_rotary_factor\": 0.5, "
     "\"rms_norm_eps\": 1e-06, \"rope_scaling\": null, \"rope_theta\": 600000, \"rotary_dim\": 64, "
     "\"routed_scaling_factor\": 2.5, \"score_function\": \"sigmoid\", \"tie_word_embeddings\": false, "
     "\"topk_group\": 4, \"use_bias\": false, \"use_qk_norm\": true, \"use_qkv_bias\": false, "
     "\"vocab_size\": 157184}",
     "bailing_moe 20 x 2048/5120, 16 heads of 128 on 4, 8 of 256 experts of 512 in 19 layers, 0 extra, 64 columns turn "
     "by 600000"},
    /* databricks/dbrx-instruct */
    {"{\"model_type\": \"dbrx\", \"attn_config\": {\"clip_qkv\": 8, \"kv_n_heads\": 8, \"model_type\": "
     "\"\", \"rope_theta\": 500000}, \"d_model\": 6144, \"emb_pdrop\": 0.0, \"ffn_config\": "
     "{\"ffn_hidden_size\": 10752, \"moe_jitter_eps\": 0.01, \"moe_loss_weight\": 0.05, "
     "\"moe_num_experts\": 16, \"moe_top_k\": 4}, \"max_seq_len\": 32768, \"n_heads\": 48, \"n_layers\": "
     "40, \"tie_word_embeddings\": false, \"vocab_size\": 100352}",
     "dbrx 40 x 6144/3584, 48 heads of 128 on 8, 4 of 16 experts of 10752 in 40 layers, 0 extra, 128 columns turn by "
     "500000"},
};

static const char *describe(const mx_model_config *c, char text[256])
{
    const mx_rope_config *rope = &c->ropes[MX_LAYER_ROPE_GLOBAL];
    int32_t n_moe = 0;
    int32_t n_still = 0;
    for (int32_t i = 0; i < c->n_layers; i++) {
        n_moe += c->layers[i].is_moe;
        n_still += c->layers[i].rope == MX_LAYER_ROPE_NONE;
    }
    const int n =
        snprintf(text, 256,
                 "%s %d x %lld/%lld, %d heads of %d on %d, %d of %lld experts of %lld in %d layers, %d extra, "
                 "%d columns turn by %.0f",
                 c->model_type, c->n_layers, (long long)c->d_model, (long long)c->d_ff, c->n_heads, c->head_dim,
                 c->n_kv_heads, c->top_k, (long long)c->n_experts, (long long)c->d_ff_expert, n_moe, c->n_extra_layers,
                 mx_rope_rot_dim(rope), rope->theta);
    if (n_still > 0) {
        (void)snprintf(text + n, 256 - (size_t)n, ", %d layers do not", n_still);
    }
    return text;
}

MX_TEST(published_models_with_experts_are_read_as_they_are)
{
    for (size_t i = 0; i < MX_COUNTOF(models); i++) {
        reading r = {0};
        char text[256];
        read_json(&r, models[i].json);
        MX_CHECK_OK(r.st, &r.err);
        if (r.st == MX_OK && strcmp(describe(&r.config, text), models[i].wanted) != 0) {
            MX_TEST_FAIL("found  %s\n  wanted %s", text, models[i].wanted);
        }
        mx_arena_deinit(&r.arena);
    }
}

MX_TEST(what_families_with_experts_do_not_have_is_told)
{
    check_fails("{\"model_type\": \"llama4_text\", \"num_experts_per_tok\": 2}", MX_UNSUPPORTED, "num_experts_per_tok");
    check_fails("{\"model_type\": \"llama4_text\", \"num_hidden_layers\": 2, \"moe_layers\": [2]}", MX_FORMAT,
                "moe_layers");
    check_fails("{\"model_type\": \"llama4_text\", \"num_hidden_layers\": 2, \"no_rope_layers\": [1]}", MX_FORMAT,
                "no_rope_layers");
    check_fails("{\"model_type\": \"deepseek_v2\", \"topk_method\": \"noaux_tc\"}", MX_UNSUPPORTED, "topk_method");
    check_fails("{\"model_type\": \"deepseek_v2\"}", MX_FORMAT, "num_experts_per_tok");
    check_fails("{\"model_type\": \"deepseek_v3\", \"qk_rope_head_dim\": 63}", MX_FORMAT, "qk_rope_head_dim");
    check_fails("{\"model_type\": \"hunyuan_v1_moe\", \"moe_topk\": [1, 2]}", MX_UNSUPPORTED, "moe_topk");
    check_fails("{\"model_type\": \"bailing_moe\", \"norm_head\": true}", MX_UNSUPPORTED, "norm_head");
    check_fails("{\"model_type\": \"dbrx\", \"ffn_config\": {\"moe_normalize_expert_weights\": 2.0}}", MX_UNSUPPORTED,
                "moe_normalize_expert_weights");
    check_fails("{\"model_type\": \"minimax_m2\", \"rotary_dim\": 4000}", MX_FORMAT, "rotary_dim");
}

MX_TEST_MAIN(MX_CASE(reads_a_mixtral_8x7b), MX_CASE(reads_a_qwen_1_5_moe_a2_7b), MX_CASE(reads_an_olmoe_1b_7b),
             MX_CASE(reads_a_gpt_oss_20b), MX_CASE(gpt_oss_is_stretched_where_nothing_is_said),
             MX_CASE(published_models_with_experts_are_read_as_they_are),
             MX_CASE(what_families_with_experts_do_not_have_is_told))
