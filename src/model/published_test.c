/* published_test.c - what published config.json files say, against what their authors say of the models. Fields that no
 * reader of ours looks at are left out. A row a model: its file, and one line that a person can check. */
#include <inttypes.h>
#include <stdio.h>

#include "model/config.h"
#include "model/family.h"
#include "tests/test.h"

typedef struct published {
    const char *json;
    const char *wanted;
} published;

static const published models[] = {
    /* google/gemma-2b-it */
    {"{\"model_type\": \"gemma\", \"head_dim\": 256, \"hidden_act\": \"gelu\", \"hidden_activation\": null,"
     "\"hidden_size\": 2048, \"intermediate_size\": 16384, \"max_position_embeddings\": 8192, \"eos_token_id\": 1,"
     "\"num_attention_heads\": 8, \"num_hidden_layers\": 18, \"num_key_value_heads\": 1, \"rms_norm_eps\": 1e-06,"
     "\"rope_theta\": 10000.0, \"vocab_size\": 256000}",
     "gemma 18 x 2048/16384, 8 heads of 256 on 1, 0 slide by 0, rope 10000, act 2, tied 1, eos 1"},
    /* google/gemma-2-9b-it */
    {"{\"model_type\": \"gemma2\", \"attn_logit_softcapping\": 50.0, \"final_logit_softcapping\": 30.0, \"head_dim\": "
     "256,"
     "\"hidden_act\": \"gelu_pytorch_tanh\", \"hidden_activation\": \"gelu_pytorch_tanh\", \"hidden_size\": 3584,"
     "\"eos_token_id\": [1, 107], \"intermediate_size\": 14336, \"max_position_embeddings\": 8192,"
     "\"num_attention_heads\": 16, \"num_hidden_layers\": 42, \"num_key_value_heads\": 8, \"query_pre_attn_scalar\": "
     "256,"
     "\"rms_norm_eps\": 1e-06, \"rope_theta\": 10000.0, \"sliding_window\": 4096, \"vocab_size\": 256000}",
     "gemma2 42 x 3584/14336, 16 heads of 256 on 8, 21 slide by 4096, rope 10000, act 2, tied 1, eos 1 107"},
    /* HuggingFaceTB/SmolLM3-3B */
    {"{\"model_type\": \"smollm3\", \"attention_bias\": false, \"eos_token_id\": 128012, \"hidden_act\": \"silu\","
     "\"hidden_size\": 2048, \"intermediate_size\": 11008, \"max_position_embeddings\": 65536, \"max_window_layers\": "
     "28,"
     "\"mlp_bias\": false, \"no_rope_layer_interval\": 4, \"no_rope_layers\": [1,1,1,0,1,1,1,0,1,1,1,0,1,1,1,0,1,1,1,0,"
     "1,1,1,0,1,1,1,0,1,1,1,0,1,1,1,0], \"num_attention_heads\": 16, \"num_hidden_layers\": 36, "
     "\"num_key_value_heads\": 4,"
     "\"rms_norm_eps\": 1e-06, \"rope_scaling\": null, \"rope_theta\": 5000000.0, \"sliding_window\": null,"
     "\"use_sliding_window\": false, \"vocab_size\": 128256}",
     "smollm3 36 x 2048/11008, 16 heads of 128 on 4, 0 slide by 0, rope 5000000, 9 without, act 0, tied 1, eos 128012"},
    /* mistralai/Mistral-Small-3.1-24B-Instruct-2503 */
    {"{\"model_type\": \"mistral3\", \"image_token_index\": 10, \"text_config\": {\"attention_dropout\": 0.0, "
     "\"head_dim\": 128,"
     "\"hidden_act\": \"silu\", \"hidden_size\": 5120, \"intermediate_size\": 32768, \"max_position_embeddings\": "
     "131072,"
     "\"model_type\": \"mistral\", \"num_attention_heads\": 32, \"num_hidden_layers\": 40, \"num_key_value_heads\": 8,"
     "\"rms_norm_eps\": 1e-05, \"rope_theta\": 1000000000.0, \"sliding_window\": null, \"vocab_size\": 131072},"
     "\"vision_config\": {\"model_type\": \"pixtral\"}}",
     "mistral 40 x 5120/32768, 32 heads of 128 on 8, 0 slide by 0, rope 1000000000, act 0, tied 0, eos 2"},
    /* mistralai/Ministral-3-3B-Instruct-2512 */
    {"{\"model_type\": \"mistral3\", \"text_config\": {\"head_dim\": 128, \"hidden_act\": \"silu\", \"hidden_size\": "
     "3072,"
     "\"intermediate_size\": 9216, \"max_position_embeddings\": 262144, \"model_type\": \"ministral3\","
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 26, \"num_key_value_heads\": 8, \"rms_norm_eps\": 1e-05,"
     "\"rope_parameters\": {\"beta_fast\": 32.0, \"beta_slow\": 1.0, \"factor\": 16.0, \"llama_4_scaling_beta\": 0.1,"
     "\"mscale\": 1.0, \"mscale_all_dim\": 1.0, \"original_max_position_embeddings\": 16384, \"rope_theta\": 1000000.0,"
     "\"rope_type\": \"yarn\", \"type\": \"yarn\"}, \"sliding_window\": null, \"tie_word_embeddings\": true,"
     "\"vocab_size\": 131072}}",
     "ministral3 26 x 3072/9216, 32 heads of 128 on 8, 0 slide by 0, rope 1000000, act 0, tied 1, eos 2"},
    /* ibm-granite/granite-3.3-2b-instruct */
    {"{\"model_type\": \"granite\", \"attention_bias\": false, \"attention_multiplier\": 0.015625,"
     "\"embedding_multiplier\": 12.0, \"eos_token_id\": 0, \"hidden_act\": \"silu\", \"hidden_size\": 2048,"
     "\"intermediate_size\": 8192, \"logits_scaling\": 8.0, \"max_position_embeddings\": 131072, \"mlp_bias\": false,"
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 40, \"num_key_value_heads\": 8, \"residual_multiplier\": "
     "0.22,"
     "\"rms_norm_eps\": 1e-05, \"rope_theta\": 10000000.0, \"tie_word_embeddings\": true, \"vocab_size\": 49159}",
     "granite 40 x 2048/8192, 32 heads of 64 on 8, 0 slide by 0, rope 10000000, act 0, tied 1, eos 0"},
    /* allenai/OLMo-2-0425-1B-Instruct */
    {"{\"model_type\": \"olmo2\", \"attention_bias\": false, \"eos_token_id\": 100257, \"hidden_act\": \"silu\","
     "\"hidden_size\": 2048, \"intermediate_size\": 8192, \"max_position_embeddings\": 4096, \"num_attention_heads\": "
     "16,"
     "\"num_hidden_layers\": 16, \"num_key_value_heads\": 16, \"rms_norm_eps\": 1e-06, \"rope_scaling\": null,"
     "\"rope_theta\": 500000, \"tie_word_embeddings\": false, \"vocab_size\": 100352}",
     "olmo2 16 x 2048/8192, 16 heads of 128 on 16, 0 slide by 0, rope 500000, act 0, tied 0, eos 100257"},
    /* allenai/Olmo-3-7B-Instruct */
    {"{\"model_type\": \"olmo3\", \"attention_bias\": false, \"eos_token_id\": 100257, \"hidden_act\": \"silu\","
     "\"hidden_size\": 4096, \"intermediate_size\": 11008, \"max_position_embeddings\": 65536, "
     "\"num_attention_heads\": 32,"
     "\"num_hidden_layers\": 32, \"num_key_value_heads\": 32, \"rms_norm_eps\": 1e-06, \"rope_scaling\": {"
     "\"attention_factor\": 1.2079441541679836, \"beta_fast\": 32.0, \"beta_slow\": 1.0, \"factor\": 8.0,"
     "\"original_max_position_embeddings\": 8192, \"rope_type\": \"yarn\"}, \"rope_theta\": 500000, "
     "\"sliding_window\": 4096,"
     "\"tie_word_embeddings\": false, \"vocab_size\": 100278}",
     "olmo3 32 x 4096/11008, 32 heads of 128 on 32, 24 slide by 4096, rope 500000 and 500000, act 0, tied 0, eos "
     "100257"},
    /* CohereLabs/c4ai-command-r-v01 */
    {"{\"model_type\": \"cohere\", \"attention_bias\": false, \"eos_token_id\": 255001, \"hidden_act\": \"silu\","
     "\"hidden_size\": 8192, \"intermediate_size\": 22528, \"layer_norm_eps\": 1e-05, \"logit_scale\": 0.0625,"
     "\"max_position_embeddings\": 8192, \"model_max_length\": 131072, \"num_attention_heads\": 64,"
     "\"num_hidden_layers\": 40, \"num_key_value_heads\": 64, \"rope_theta\": 8000000.0, \"use_qk_norm\": false,"
     "\"vocab_size\": 256000}",
     "cohere 40 x 8192/22528, 64 heads of 128 on 64, 0 slide by 0, rope 8000000, act 0, tied 1, eos 255001"},
    /* CohereLabs/c4ai-command-r7b-12-2024 */
    {"{\"model_type\": \"cohere2\", \"attention_bias\": false, \"cache_implementation\": \"hybrid\", \"eos_token_id\": "
     "255001,"
     "\"head_dim\": 128, \"hidden_act\": \"silu\", \"hidden_size\": 4096, \"intermediate_size\": 14336,"
     "\"layer_norm_eps\": 1e-05, \"layer_switch\": 4, \"logit_scale\": 0.25, \"max_position_embeddings\": 8192,"
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"num_key_value_heads\": 8, \"rope_theta\": 50000,"
     "\"sliding_window\": 4096, \"sliding_window_pattern\": 4, \"vocab_size\": 256000}",
     "cohere2 32 x 4096/14336, 32 heads of 128 on 8, 24 slide by 4096, rope 50000, 8 without, act 0, tied 1, eos "
     "255001"},
    /* zai-org/GLM-4-9B-0414 */
    {"{\"model_type\": \"glm4\", \"attention_bias\": false, \"eos_token_id\": [151329, 151336, 151338], \"head_dim\": "
     "128,"
     "\"hidden_act\": \"silu\", \"hidden_size\": 4096, \"intermediate_size\": 13696, \"max_position_embeddings\": "
     "32768,"
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 40, \"num_key_value_heads\": 2, \"partial_rotary_factor\": "
     "0.5,"
     "\"rms_norm_eps\": 1e-05, \"rope_theta\": 10000.0, \"tie_word_embeddings\": false, \"vocab_size\": 151552}",
     "glm4 40 x 4096/13696, 32 heads of 128 on 2, 0 slide by 0, rope 10000, act 0, tied 0, eos 151329 151336 151338"},
    /* LGAI-EXAONE/EXAONE-3.5-2.4B-Instruct */
    {"{\"model_type\": \"exaone\", \"activation_function\": \"silu\", \"eos_token_id\": 361, \"head_dim\": 80,"
     "\"hidden_size\": 2560, \"intermediate_size\": 7168, \"layer_norm_epsilon\": 1e-05, \"max_position_embeddings\": "
     "32768,"
     "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"num_layers\": 30, \"rope_scaling\": {\"factor\": 8.0,"
     "\"high_freq_factor\": 4.0, \"low_freq_factor\": 1.0, \"original_max_position_embeddings\": 8192,"
     "\"rope_type\": \"llama3\"}, \"rope_theta\": 1000000, \"tie_word_embeddings\": true, \"vocab_size\": 102400}",
     "exaone 30 x 2560/7168, 32 heads of 80 on 8, 0 slide by 0, rope 1000000, act 0, tied 1, eos 361"},
    /* LGAI-EXAONE/EXAONE-4.0-32B, shortened to four layers */
    {"{\"model_type\": \"exaone4\", \"attention_dropout\": 0.0, \"eos_token_id\": 361, \"head_dim\": 128,"
     "\"hidden_act\": \"silu\", \"hidden_size\": 5120, \"intermediate_size\": 27392, \"max_position_embeddings\": "
     "131072,"
     "\"num_attention_heads\": 40, \"num_hidden_layers\": 4, \"num_key_value_heads\": 8, \"rms_norm_eps\": 1e-05,"
     "\"layer_types\": [\"sliding_attention\", \"sliding_attention\", \"sliding_attention\", \"full_attention\"],"
     "\"rope_theta\": 1000000, \"sliding_window\": 4096, \"sliding_window_pattern\": \"LLLG\","
     "\"tie_word_embeddings\": false, \"vocab_size\": 102400}",
     "exaone4 4 x 5120/27392, 40 heads of 128 on 8, 3 slide by 4096, rope 1000000, 1 without, act 0, tied 0, eos 361"},
    /* ByteDance-Seed/Seed-OSS-36B-Instruct */
    {"{\"model_type\": \"seed_oss\", \"attention_bias\": true, \"attention_out_bias\": false, \"eos_token_id\": 2,"
     "\"head_dim\": 128, \"hidden_act\": \"silu\", \"hidden_size\": 5120, \"intermediate_size\": 27648,"
     "\"max_position_embeddings\": 524288, \"mlp_bias\": false, \"num_attention_heads\": 80, \"num_hidden_layers\": 64,"
     "\"num_key_value_heads\": 8, \"rms_norm_eps\": 1e-06, \"rope_scaling\": {\"rope_type\": \"default\"},"
     "\"rope_theta\": 10000000.0, \"tie_word_embeddings\": false, \"vocab_size\": 155136}",
     "seed_oss 64 x 5120/27648, 80 heads of 128 on 8, 0 slide by 0, rope 10000000, act 0, tied 0, eos 2"},
    /* baidu/ERNIE-4.5-0.3B-PT */
    {"{\"model_type\": \"ernie4_5\", \"eos_token_id\": 2, \"head_dim\": 128, \"hidden_act\": \"silu\","
     "\"hidden_size\": 1024, \"intermediate_size\": 3072, \"max_position_embeddings\": 131072, "
     "\"num_attention_heads\": 16,"
     "\"num_hidden_layers\": 18, \"num_key_value_heads\": 2, \"rms_norm_eps\": 1e-05, \"rope_scaling\": null,"
     "\"rope_theta\": 500000.0, \"tie_word_embeddings\": true, \"use_bias\": false, \"vocab_size\": 103424}",
     "ernie4_5 18 x 1024/3072, 16 heads of 128 on 2, 0 slide by 0, rope 500000, act 0, tied 1, eos 2"},
    /* tencent/Hunyuan-1.8B-Instruct: the base is stretched by alpha^(128 / 126) */
    {"{\"model_type\": \"hunyuan_v1_dense\", \"attention_bias\": false, \"eos_token_id\": 120020, \"head_dim\": 128,"
     "\"hidden_act\": \"silu\", \"hidden_size\": 2048, \"intermediate_size\": 6144, \"max_position_embeddings\": "
     "262144,"
     "\"num_attention_heads\": 16, \"num_hidden_layers\": 32, \"num_key_value_heads\": 4, \"rms_norm_eps\": 1e-05,"
     "\"rope_scaling\": {\"alpha\": 1000.0, \"beta_fast\": 32, \"beta_slow\": 1, \"factor\": 1.0, \"mscale\": 1.0,"
     "\"mscale_all_dim\": 0.0, \"type\": \"dynamic\"}, \"rope_theta\": 10000.0, \"tie_word_embeddings\": true,"
     "\"use_qk_norm\": true, \"vocab_size\": 120818}",
     "hunyuan_v1_dense 32 x 2048/6144, 16 heads of 128 on 4, 0 slide by 0, rope 11158840, act 0, tied 1, eos 120020"},
    /* kyutai/helium-1-2b */
    {"{\"model_type\": \"helium\", \"attention_bias\": false, \"eos_token_id\": 2, \"head_dim\": 128,"
     "\"hidden_act\": \"silu\", \"hidden_size\": 2048, \"intermediate_size\": 8192, \"max_position_embeddings\": 4096,"
     "\"mlp_bias\": false, \"num_attention_heads\": 16, \"num_hidden_layers\": 28, \"num_key_value_heads\": 8,"
     "\"rms_norm_eps\": 1e-08, \"rope_theta\": 20000.0, \"tie_word_embeddings\": false, \"vocab_size\": 64000}",
     "helium 28 x 2048/8192, 16 heads of 128 on 8, 0 slide by 0, rope 20000, act 0, tied 0, eos 2"},
    /* microsoft/Phi-3-mini-4k-instruct */
    {"{\"model_type\": \"phi3\", \"bos_token_id\": 1, \"eos_token_id\": 32000, \"hidden_act\": \"silu\", "
     "\"hidden_size\": 3072, \"intermediate_size\": 8192, \"max_position_embeddings\": 4096, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"num_key_value_heads\": 32, "
     "\"original_max_position_embeddings\": 4096, \"rms_norm_eps\": 1e-05, \"rope_scaling\": null, "
     "\"rope_theta\": 10000.0, \"sliding_window\": 2047, \"tie_word_embeddings\": false, "
     "\"attention_bias\": false, \"vocab_size\": 32064}",
     "phi3 32 x 3072/8192, 32 heads of 96 on 32, 32 slide by 2047, rope 10000, act 0, tied 0, eos 32000"},
    /* microsoft/phi-4 */
    {"{\"model_type\": \"phi3\", \"eos_token_id\": 100265, \"hidden_act\": \"silu\", \"hidden_size\": "
     "5120, \"intermediate_size\": 17920, \"max_position_embeddings\": 16384, "
     "\"num_attention_heads\": 40, \"num_hidden_layers\": 40, \"num_key_value_heads\": 10, "
     "\"original_max_position_embeddings\": 16384, \"rms_norm_eps\": 1e-05, \"rope_scaling\": null, "
     "\"rope_theta\": 250000, \"sliding_window\": null, \"tie_word_embeddings\": false, "
     "\"vocab_size\": 100352}",
     "phi3 40 x 5120/17920, 40 heads of 128 on 10, 0 slide by 0, rope 250000, act 0, tied 0, eos 100265"},
    /* microsoft/phi-2 */
    {"{\"model_type\": \"phi\", \"eos_token_id\": 50256, \"hidden_act\": \"gelu_new\", \"hidden_size\": "
     "2560, \"intermediate_size\": 10240, \"layer_norm_eps\": 1e-05, \"max_position_embeddings\": "
     "2048, \"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"num_key_value_heads\": 32, "
     "\"partial_rotary_factor\": 0.4, \"qk_layernorm\": false, \"rope_scaling\": null, \"rope_theta\":"
     " 10000.0, \"tie_word_embeddings\": false, \"vocab_size\": 51200}",
     "phi 32 x 2560/10240, 32 heads of 80 on 32, 0 slide by 0, rope 10000, act 2, tied 0, eos 50256"},
    /* stabilityai/stablelm-2-zephyr-1_6b */
    {"{\"model_type\": \"stablelm\", \"eos_token_id\": 100257, \"hidden_act\": \"silu\", \"hidden_size\": "
     "2048, \"intermediate_size\": 5632, \"layer_norm_eps\": 1e-05, \"max_position_embeddings\": "
     "4096, \"num_attention_heads\": 32, \"num_hidden_layers\": 24, \"num_key_value_heads\": 32, "
     "\"partial_rotary_factor\": 0.25, \"rope_theta\": 10000, \"tie_word_embeddings\": false, "
     "\"use_qkv_bias\": true, \"vocab_size\": 100352}",
     "stablelm 24 x 2048/5632, 32 heads of 64 on 32, 0 slide by 0, rope 10000, act 0, tied 0, eos 100257"},
    /* bigcode/starcoder2-3b */
    {"{\"model_type\": \"starcoder2\", \"eos_token_id\": 0, \"hidden_act\": \"gelu_pytorch_tanh\", "
     "\"hidden_size\": 3072, \"intermediate_size\": 12288, \"max_position_embeddings\": 16384, "
     "\"norm_epsilon\": 1e-05, \"num_attention_heads\": 24, \"num_hidden_layers\": 30, "
     "\"num_key_value_heads\": 2, \"rope_theta\": 999999.4420358813, \"sliding_window\": 4096, "
     "\"use_bias\": true, \"vocab_size\": 49152}",
     "starcoder2 30 x 3072/12288, 24 heads of 128 on 2, 30 slide by 4096, rope 999999, act 2, tied 1, eos 0"},
    /* openai-community/gpt2 */
    {"{\"model_type\": \"gpt2\", \"activation_function\": \"gelu_new\", \"bos_token_id\": 50256, "
     "\"eos_token_id\": 50256, \"layer_norm_epsilon\": 1e-05, \"n_ctx\": 1024, \"n_embd\": 768, "
     "\"n_head\": 12, \"n_layer\": 12, \"n_positions\": 1024, \"vocab_size\": 50257}",
     "gpt2 12 x 768/3072, 12 heads of 64 on 12, 0 slide by 0, rope 10000, 12 without, act 2, tied 1, eos 50256"},
    /* bigcode/starcoder */
    {"{\"model_type\": \"gpt_bigcode\", \"activation_function\": \"gelu\", "
     "\"attention_softmax_in_fp32\": true, \"eos_token_id\": 0, \"layer_norm_epsilon\": 1e-05, "
     "\"multi_query\": true, \"n_embd\": 6144, \"n_head\": 48, \"n_inner\": 24576, \"n_layer\": 40, "
     "\"n_positions\": 8192, \"scale_attn_weights\": true, \"vocab_size\": 49152}",
     "gpt_bigcode 40 x 6144/24576, 48 heads of 128 on 1, 0 slide by 0, rope 10000, 40 without, act 1, tied 1, eos 0"},
    /* EleutherAI/pythia-1.4b */
    {"{\"model_type\": \"gpt_neox\", \"eos_token_id\": 0, \"hidden_act\": \"gelu\", \"hidden_size\": 2048,"
     " \"intermediate_size\": 8192, \"layer_norm_eps\": 1e-05, \"max_position_embeddings\": 2048, "
     "\"num_attention_heads\": 16, \"num_hidden_layers\": 24, \"rotary_emb_base\": 10000, "
     "\"rotary_pct\": 0.25, \"tie_word_embeddings\": false, \"use_parallel_residual\": true, "
     "\"vocab_size\": 50304}",
     "gpt_neox 24 x 2048/8192, 16 heads of 128 on 16, 0 slide by 0, rope 10000, act 1, tied 0, eos 0"},
    /* nvidia/Nemotron-Mini-4B-Instruct */
    {"{\"model_type\": \"nemotron\", \"attention_bias\": false, \"eos_token_id\": 3, \"head_dim\": 128, "
     "\"hidden_act\": \"relu2\", \"hidden_size\": 3072, \"intermediate_size\": 9216, "
     "\"max_position_embeddings\": 4096, \"mlp_bias\": false, \"norm_eps\": 1e-05, "
     "\"num_attention_heads\": 24, \"num_hidden_layers\": 32, \"num_key_value_heads\": 8, "
     "\"partial_rotary_factor\": 0.5, \"rope_theta\": 10000.0, \"tie_word_embeddings\": false, "
     "\"vocab_size\": 256000}",
     "nemotron 32 x 3072/9216, 24 heads of 128 on 8, 0 slide by 0, rope 10000, act 5, tied 0, eos 3"},
    /* internlm/internlm2_5-7b-chat */
    {"{\"model_type\": \"internlm2\", \"bias\": false, \"eos_token_id\": 2, \"hidden_act\": \"silu\", "
     "\"hidden_size\": 4096, \"intermediate_size\": 14336, \"max_position_embeddings\": 32768, "
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"num_key_value_heads\": 8, "
     "\"rms_norm_eps\": 1e-05, \"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 2.0}, \"rope_theta\":"
     " 1000000, \"tie_word_embeddings\": false, \"vocab_size\": 92544}",
     "internlm2 32 x 4096/14336, 32 heads of 128 on 8, 0 slide by 0, rope 1000000, act 0, tied 0, eos 2"},
    /* internlm/internlm3-8b-instruct */
    {"{\"model_type\": \"internlm3\", \"bias\": false, \"eos_token_id\": [2, 128131], \"head_dim\": 128,"
     " \"hidden_act\": \"silu\", \"hidden_size\": 4096, \"intermediate_size\": 10240, "
     "\"max_position_embeddings\": 32768, \"num_attention_heads\": 32, \"num_hidden_layers\": 48, "
     "\"num_key_value_heads\": 2, \"qkv_bias\": false, \"rms_norm_eps\": 1e-05, \"rope_scaling\": "
     "{\"factor\": 6.0, \"rope_type\": \"dynamic\"}, \"rope_theta\": 50000000, \"vocab_size\": 128512}",
     "internlm3 48 x 4096/10240, 32 heads of 128 on 2, 0 slide by 0, rope 50000000, act 0, tied 0, eos 2 128131"},
    /* openbmb/MiniCPM-2B-sft-bf16 */
    {"{\"model_type\": \"minicpm\", \"bos_token_id\": 1, \"eos_token_id\": 2, \"hidden_act\": \"silu\", "
     "\"hidden_size\": 2304, \"intermediate_size\": 5760, \"max_position_embeddings\": 4096, "
     "\"num_attention_heads\": 36, \"num_hidden_layers\": 40, \"num_key_value_heads\": 36, "
     "\"rms_norm_eps\": 1e-05, \"rope_scaling\": null, \"scale_emb\": 12, \"dim_model_base\": 256, "
     "\"scale_depth\": 1.4, \"vocab_size\": 122753}",
     "minicpm 40 x 2304/5760, 36 heads of 64 on 36, 0 slide by 0, rope 10000, act 0, tied 1, eos 2"},
    /* apple/OpenELM-270M */
    {"{\"model_type\": \"openelm\", \"activation_fn_name\": \"swish\", \"bos_token_id\": 1, "
     "\"eos_token_id\": 2, \"ffn_dim_divisor\": 256, \"ffn_multipliers\": [0.5, 0.73, 0.97, 1.2, "
     "1.43, 1.67, 1.9, 2.13, 2.37, 2.6, 2.83, 3.07, 3.3, 3.53, 3.77, 4.0], \"ffn_with_glu\": "
     "true, \"head_dim\": 64, \"max_context_length\": 2048, \"model_dim\": 1280, "
     "\"normalization_layer_name\": \"rms_norm\", \"normalize_qk_projections\": true, "
     "\"num_gqa_groups\": 4, \"num_kv_heads\": [3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5], "
     "\"num_query_heads\": [12, 12, 12, 12, 12, 16, 16, 16, 16, 16, 16, 16, 20, 20, 20, 20], "
     "\"num_transformer_layers\": 16, \"qkv_multipliers\": [0.5, 1.0], \"rope_freq_constant\": "
     "10000, \"rope_max_length\": 4096, \"share_input_output_layers\": true, \"vocab_size\": 32000}",
     "openelm 16 x 1280/1, 1 heads of 64 on 1, 0 slide by 0, rope 10000, act 0, tied 1, eos 2"},
    /* microsoft/bitnet-b1.58-2B-4T */
    {"{\"model_type\": \"bitnet\", \"bos_token_id\": 128000, \"eos_token_id\": 128001, \"hidden_act\": "
     "\"relu2\", \"hidden_size\": 2560, \"intermediate_size\": 6912, \"max_position_embeddings\": "
     "4096, \"num_attention_heads\": 20, \"num_hidden_layers\": 30, \"num_key_value_heads\": 5, "
     "\"quantization_config\": {\"quant_method\": \"bitnet\", \"linear_class\": \"autobitlinear\", "
     "\"quantization_mode\": \"offline\"}, \"rms_norm_eps\": 1e-05, \"rope_theta\": 500000.0, "
     "\"tie_word_embeddings\": true, \"vocab_size\": 128256}",
     "bitnet 30 x 2560/6912, 20 heads of 128 on 5, 0 slide by 0, rope 500000, act 5, tied 1, eos 128001"},
    /* google/gemma-4-E2B-it, shortened to ten layers */
    {"{\"model_type\": \"gemma4\", \"eos_token_id\": [1, 106], \"tie_word_embeddings\": true, \"text_config\": {"
     "\"attention_bias\": false, \"attention_k_eq_v\": false, \"enable_moe_block\": false, "
     "\"final_logit_softcapping\": 30.0,"
     "\"global_head_dim\": 512, \"head_dim\": 256, \"hidden_activation\": \"gelu_pytorch_tanh\", \"hidden_size\": 1536,"
     "\"hidden_size_per_layer_input\": 256, \"intermediate_size\": 6144, \"layer_types\": [\"sliding_attention\","
     "\"sliding_attention\", \"sliding_attention\", \"sliding_attention\", \"full_attention\", \"sliding_attention\","
     "\"sliding_attention\", \"sliding_attention\", \"sliding_attention\", \"full_attention\"], "
     "\"max_position_embeddings\": 131072,"
     "\"model_type\": \"gemma4_text\", \"num_attention_heads\": 8, \"num_global_key_value_heads\": null,"
     "\"num_hidden_layers\": 10, \"num_key_value_heads\": 1, \"num_kv_shared_layers\": 5, \"rms_norm_eps\": 1e-06,"
     "\"rope_parameters\": {\"full_attention\": {\"partial_rotary_factor\": 0.25, \"rope_theta\": 1000000.0,"
     "\"rope_type\": \"proportional\"}, \"sliding_attention\": {\"rope_theta\": 10000.0, \"rope_type\": \"default\"}},"
     "\"sliding_window\": 512, \"top_k_experts\": null, \"use_bidirectional_attention\": null, "
     "\"use_double_wide_mlp\": true,"
     "\"vocab_size\": 262144, \"vocab_size_per_layer_input\": 262144}}",
     "gemma4_text 10 x 1536/6144, 8 heads of 256 on 1, 8 slide by 512, rope 1000000 and 10000, act 2, tied 1, eos 1 "
     "106"},
    /* allenai/OLMo-1B-hf */
    {"{\"model_type\": \"olmo\", \"attention_bias\": false, \"clip_qkv\": null, \"eos_token_id\": 50279, "
     "\"hidden_act\": \"silu\","
     "\"hidden_size\": 2048, \"intermediate_size\": 8192, \"max_position_embeddings\": 2048, \"num_attention_heads\": "
     "16,"
     "\"num_hidden_layers\": 16, \"num_key_value_heads\": 16, \"rope_scaling\": null, \"rope_theta\": 10000.0,"
     "\"tie_word_embeddings\": true, \"vocab_size\": 50304}",
     "olmo 16 x 2048/8192, 16 heads of 128 on 16, 0 slide by 0, rope 10000, act 0, tied 1, eos 50279"},
    /* swiss-ai/Apertus-8B-Instruct-2509 */
    {"{\"model_type\": \"apertus\", \"attention_bias\": false, \"eos_token_id\": [68, 72], \"hidden_act\": \"xielu\","
     "\"hidden_size\": 4096, \"intermediate_size\": 21504, \"max_position_embeddings\": 65536, \"mlp_bias\": false,"
     "\"num_attention_heads\": 32, \"num_hidden_layers\": 32, \"num_key_value_heads\": 8, \"qk_norm\": true,"
     "\"rms_norm_eps\": 1e-05, \"rope_scaling\": {\"factor\": 8.0, \"high_freq_factor\": 4.0, \"low_freq_factor\": 1.0,"
     "\"original_max_position_embeddings\": 8192, \"rope_type\": \"llama3\"}, \"rope_theta\": 12000000,"
     "\"tie_word_embeddings\": false, \"vocab_size\": 131072}",
     "apertus 32 x 4096/21504, 32 heads of 128 on 8, 0 slide by 0, rope 12000000, act 0, tied 0, eos 68 72"},
    /* google/gemma-3n-E2B-it, shortened to ten layers */
    {"{\"model_type\": \"gemma3n\", \"eos_token_id\": [1, 106], \"text_config\": {\"activation_sparsity_pattern\": "
     "[0.95, 0.95,"
     "0.95, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95], \"altup_active_idx\": 0, \"altup_coef_clip\": 120.0,"
     "\"altup_correct_scale\": true, \"altup_lr_multiplier\": 1.0, \"altup_num_inputs\": 4, \"attention_bias\": false,"
     "\"final_logit_softcapping\": 30.0, \"head_dim\": 256, \"hidden_activation\": \"gelu_pytorch_tanh\", "
     "\"hidden_size\": 2048,"
     "\"hidden_size_per_layer_input\": 256, \"intermediate_size\": [8192, 8192, 8192, 8192, 8192, 8192, 8192, 8192, "
     "8192,"
     "8192], \"laurel_rank\": 64, \"layer_types\": [\"sliding_attention\", \"sliding_attention\", "
     "\"sliding_attention\","
     "\"sliding_attention\", \"full_attention\", \"sliding_attention\", \"sliding_attention\", \"sliding_attention\","
     "\"sliding_attention\", \"full_attention\"], \"max_position_embeddings\": 32768, \"model_type\": \"gemma3n_text\","
     "\"num_attention_heads\": 8, \"num_hidden_layers\": 10, \"num_key_value_heads\": 2, \"num_kv_shared_layers\": 5,"
     "\"rms_norm_eps\": 1e-06, \"rope_local_base_freq\": 10000.0, \"rope_scaling\": null, \"rope_theta\": 1000000.0,"
     "\"sliding_window\": 512, \"vocab_size\": 262400, \"vocab_size_per_layer_input\": 262144}}",
     "gemma3n_text 10 x 2048/16384, 8 heads of 256 on 2, 8 slide by 512, rope 1000000 and 10000, act 2, tied 1, eos 1 "
     "106"},
};

/* One line of what was read. */
static void describe(const mx_model_config *c, char *out, size_t size)
{
    int32_t n_sliding = 0;
    int32_t n_without = 0;
    for (int32_t i = 0; i < c->n_layers; i++) {
        n_sliding += c->layers[i].is_sliding;
        n_without += c->layers[i].rope == MX_LAYER_ROPE_NONE;
    }
    mx_buf buf = {.max = 512};
    mx_error err;
    MX_CHECK(mx_buf_printf(&buf, &err,
                           "%s %d x %" PRId64 "/%" PRId64 ", %d heads of %d on %d, %d slide by %d, rope %.0f",
                           c->model_type, (int)c->n_layers, c->d_model, c->d_ff, (int)c->n_heads, (int)c->head_dim,
                           (int)c->n_kv_heads, (int)n_sliding, (int)c->window, c->ropes[0].theta) == MX_OK);
    if (c->has_local_rope) {
        MX_CHECK(mx_buf_printf(&buf, &err, " and %.0f", c->ropes[1].theta) == MX_OK);
    }
    if (n_without) {
        MX_CHECK(mx_buf_printf(&buf, &err, ", %d without", (int)n_without) == MX_OK);
    }
    MX_CHECK(mx_buf_printf(&buf, &err, ", act %d, tied %d, eos", (int)c->act, (int)c->is_tied) == MX_OK);
    for (int32_t i = 0; i < c->n_eos_ids; i++) {
        MX_CHECK(mx_buf_printf(&buf, &err, " %d", (int)c->eos_ids[i]) == MX_OK);
    }
    snprintf(out, size, "%.*s", (int)buf.len, buf.data);
    mx_buf_deinit(&buf);
}

MX_TEST(published_configurations_are_read_as_meant)
{
    for (size_t i = 0; i < MX_COUNTOF(models); i++) {
        mx_json json = {0};
        mx_arena arena;
        mx_error err;
        mx_model_config config;
        const mx_family *family = NULL;
        char found[512] = "";
        mx_arena_init(&arena, 1 << 22);
        MX_CHECK_OK(mx_json_parse(mx_str_from(models[i].json), models[i].wanted, &json, &err), &err);
        const mx_status st = mx_model_config_read(json.root, models[i].wanted, &arena, &config, &family, &err);
        MX_CHECK_OK(st, &err);
        if (st == MX_OK) {
            describe(&config, found, sizeof found);
        }
        MX_CHECK_CSTR(found, models[i].wanted);
        mx_json_close(&json);
        mx_arena_deinit(&arena);
    }
}

MX_TEST_MAIN(MX_CASE(published_configurations_are_read_as_meant))
