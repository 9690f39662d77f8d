/* recurrent_config_test.c - published configurations of recurrent and hybrid models: shapes, and what each layer is. */
#include "base/mem.h"
#include "model/config.h"
#include "model/family.h"
#include "tests/test.h"

typedef struct published {
    const char *text;
    const char *model_type;
    int32_t n_layers;
    int64_t d_model;
    int64_t d_ff;
    int64_t n_vocab;
    int32_t head_dim;
    const char *kinds; /* of the first layers: r is recurrent, a attends; capitals have experts */
} published;

static const published all[] = {
    {"{\"model_type\":\"lfm2\",\"architectures\":[\"Lfm2ForCausalLM\"],\"block_auto_adjust_ff_dim\":true,"
     "\"block_dim\":1024,\"block_ff_dim\":6656,\"block_ffn_dim_multiplier\":1.0,\"block_mlp_init_scale\":1.0,"
     "\"block_multiple_of\":256,\"block_norm_eps\":1e-05,\"block_use_swiglu\":true,\"conv_L_cache\":3,"
     "\"conv_bias\":false,\"conv_dim\":1024,\"conv_use_xavier_init\":true,\"eos_token_id\":7,"
     "\"full_attn_idxs\":[2,5,8,10,12,14],\"hidden_size\":1024,\"max_position_embeddings\":128000,"
     "\"norm_eps\":1e-05,\"num_attention_heads\":16,\"num_heads\":16,\"num_hidden_layers\":16,"
     "\"num_key_value_heads\":8,\"rope_theta\":1000000.0,\"use_pos_enc\":true,\"vocab_size\":65536}",
     "lfm2", 16, 1024, 4608, 65536, 64, "rrarrarrararar"},
    {"{\"model_type\":\"lfm2_moe\",\"conv_L_cache\":3,\"conv_bias\":false,\"eos_token_id\":7,\"hidden_size\":2048,"
     "\"intermediate_size\":7168,\"layer_types\":[\"conv\",\"conv\",\"full_attention\",\"conv\",\"conv\",\"conv\","
     "\"full_attention\",\"conv\",\"conv\",\"conv\",\"full_attention\",\"conv\",\"conv\",\"conv\",\"full_attention\","
     "\"conv\",\"conv\",\"conv\",\"full_attention\",\"conv\",\"conv\",\"full_attention\",\"conv\",\"conv\"],"
     "\"max_position_embeddings\":128000,\"moe_intermediate_size\":1792,\"norm_eps\":1e-05,\"norm_topk_prob\":true,"
     "\"num_attention_heads\":32,\"num_dense_layers\":2,\"num_experts\":32,\"num_experts_per_tok\":4,"
     "\"num_hidden_layers\":24,\"num_key_value_heads\":8,\"rope_theta\":1000000.0,\"routed_scaling_factor\":1.0,"
     "\"use_expert_bias\":true,\"vocab_size\":65536}",
     "lfm2_moe", 24, 2048, 7168, 65536, 64, "rrARRRARRRARRRARRRARRARR"},
    {"{\"model_type\":\"qwen3_next\",\"decoder_sparse_step\":1,\"full_attention_interval\":4,\"head_dim\":256,"
     "\"hidden_act\":\"silu\",\"hidden_size\":2048,\"intermediate_size\":5120,\"linear_conv_kernel_dim\":4,"
     "\"linear_key_head_dim\":128,\"linear_num_key_heads\":16,\"linear_num_value_heads\":32,"
     "\"linear_value_head_dim\":128,\"max_position_embeddings\":262144,\"mlp_only_layers\":[],"
     "\"moe_intermediate_size\":512,\"norm_topk_prob\":true,\"num_attention_heads\":16,\"num_experts\":512,"
     "\"num_experts_per_tok\":10,\"num_hidden_layers\":48,\"num_key_value_heads\":2,\"partial_rotary_factor\":0.25,"
     "\"rms_norm_eps\":1e-06,\"rope_scaling\":null,\"rope_theta\":10000000,\"shared_expert_intermediate_size\":512,"
     "\"tie_word_embeddings\":false,\"vocab_size\":151936}",
     "qwen3_next", 48, 2048, 5120, 151936, 256, "RRRARRRARRRA"},
    {"{\"model_type\":\"qwen3_5\",\"image_token_id\":248056,\"tie_word_embeddings\":false,\"text_config\":{"
     "\"attn_output_gate\":true,\"full_attention_interval\":4,\"head_dim\":256,\"hidden_size\":5120,"
     "\"intermediate_size\":17408,\"linear_num_key_heads\":16,\"linear_num_value_heads\":48,"
     "\"max_position_embeddings\":262144,\"model_type\":\"qwen3_5_text\",\"mtp_num_hidden_layers\":1,"
     "\"num_attention_heads\":24,\"num_hidden_layers\":64,\"num_key_value_heads\":4,\"rms_norm_eps\":1e-06,"
     "\"rope_parameters\":{\"mrope_interleaved\":true,\"mrope_section\":[11,11,10],\"partial_rotary_factor\":0.25,"
     "\"rope_theta\":10000000,\"rope_type\":\"default\"},\"vocab_size\":248320},\"vision_config\":{\"depth\":27}}",
     "qwen3_5", 64, 5120, 17408, 248320, 256, "rrrarrrarrra"},
    {"{\"model_type\":\"qwen3_5_moe\",\"text_config\":{\"full_attention_interval\":4,\"model_type\":"
     "\"qwen3_5_moe_text\",\"rope_parameters\":{\"mrope_interleaved\":true,\"mrope_section\":[11,11,10],"
     "\"partial_rotary_factor\":0.25,\"rope_theta\":10000000,\"rope_type\":\"default\"}}}",
     "qwen3_5_moe", 40, 2048, 512, 248320, 256, "RRRARRRA"},
    {"{\"model_type\":\"granitemoehybrid\",\"attention_bias\":false,\"attention_multiplier\":0.007"
     "8125,\"embedding_multiplier\":12,\"hidden_act\":\"silu\",\"hidden_size\":1536,\"intermediate_"
     "size\":512,\"layer_types\":[\"mamba\",\"mamba\",\"mamba\",\"mamba\",\"mamba\",\"attention\",\"mamba\""
     ",\"mamba\",\"mamba\",\"mamba\",\"mamba\",\"mamba\",\"mamba\",\"mamba\",\"mamba\",\"attention\",\"mamba\""
     ",\"mamba\",\"mamba\",\"mamba\",\"mamba\",\"mamba\",\"mamba\",\"mamba\",\"mamba\",\"attention\",\"mamba\""
     ",\"mamba\",\"mamba\",\"mamba\",\"mamba\",\"mamba\",\"mamba\",\"mamba\",\"mamba\",\"attention\",\"mamba\""
     ",\"mamba\",\"mamba\",\"mamba\"],\"logits_scaling\":6,\"mamba_chunk_size\":256,\"mamba_conv_bias"
     "\":true,\"mamba_d_conv\":4,\"mamba_d_head\":64,\"mamba_d_state\":128,\"mamba_expand\":2,\"mamb"
     "a_n_groups\":1,\"mamba_n_heads\":48,\"mamba_proj_bias\":false,\"max_position_embeddings\":1"
     "31072,\"num_attention_heads\":12,\"num_experts_per_tok\":6,\"num_hidden_layers\":40,\"num_k"
     "ey_value_heads\":4,\"num_local_experts\":64,\"position_embedding_type\":\"nope\",\"residual_"
     "multiplier\":0.22,\"rms_norm_eps\":1e-05,\"shared_intermediate_size\":1024,\"tie_word_embe"
     "ddings\":true,\"vocab_size\":100352}",
     "granitemoehybrid", 40, 1536, 1024, 100352, 128, "RRRRRARRRRRRRRRA"},
    {"{\"model_type\":\"mamba\",\"bos_token_id\":0,\"conv_kernel\":4,\"expand\":2,\"hidden_size\":768,"
     "\"intermediate_size\":1536,\"layer_norm_epsilon\":1e-05,\"num_hidden_layers\":24,\"state_si"
     "ze\":16,\"time_step_rank\":48,\"use_bias\":false,\"use_conv_bias\":true,\"vocab_size\":50280}",
     "mamba", 24, 768, 1536, 50280, 64, "rrrr"},
    {"{\"model_type\":\"mamba2\",\"conv_kernel\":4,\"expand\":2,\"head_dim\":64,\"hidden_size\":4096,\""
     "n_groups\":8,\"norm_before_gate\":true,\"num_heads\":128,\"num_hidden_layers\":64,\"state_si"
     "ze\":128,\"time_step_limit\":[0.0,Infinity],\"vocab_size\":32768}",
     "mamba2", 64, 4096, 0, 32768, 64, "rr"},
    {"{\"model_type\":\"falcon_mamba\",\"conv_kernel\":4,\"expand\":16,\"hidden_size\":4096,\"interme"
     "diate_size\":8192,\"mixer_rms_eps\":1e-06,\"num_hidden_layers\":64,\"state_size\":16,\"time_"
     "step_rank\":256,\"vocab_size\":65024}",
     "falcon_mamba", 64, 4096, 8192, 65024, 64, "rr"},
    {"{\"model_type\":\"nemotron_h\",\"attention_head_dim\":128,\"head_dim\":128,\"hidden_size\":409"
     "6,\"hybrid_override_pattern\":\"M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-\",\""
     "intermediate_size\":21504,\"layer_norm_epsilon\":1e-05,\"mamba_head_dim\":64,\"mamba_num_h"
     "eads\":128,\"mlp_hidden_act\":\"relu2\",\"n_groups\":8,\"num_attention_heads\":32,\"num_hidden"
     "_layers\":52,\"num_key_value_heads\":8,\"ssm_state_size\":128,\"vocab_size\":131072}",
     "nemotron_h", 52, 4096, 21504, 131072, 128, "rarararaa"},
    {"{\"model_type\":\"falcon_h1\",\"embedding_multiplier\":5.656854249492381,\"head_dim\":64,\"hi"
     "dden_size\":1024,\"intermediate_size\":2048,\"key_multiplier\":0.390625,\"lm_head_multipli"
     "er\":0.0390625,\"mamba_d_conv\":4,\"mamba_d_head\":64,\"mamba_d_ssm\":1536,\"mamba_d_state\":"
     "128,\"mamba_n_groups\":1,\"mamba_n_heads\":24,\"mamba_norm_before_gate\":false,\"mamba_rms_"
     "norm\":false,\"max_position_embeddings\":16384,\"mlp_multipliers\":[0.8838834764831844,0."
     "5859375],\"num_attention_heads\":8,\"num_hidden_layers\":36,\"num_key_value_heads\":2,\"rop"
     "e_theta\":100000000000.0,\"ssm_multipliers\":[0.3535533905932738,0.25,0.353553390593273"
     "8,0.5,0.3535533905932738],\"vocab_size\":32784}",
     "falcon_h1", 36, 1024, 2048, 32784, 64, "rr"},
    {"{\"model_type\":\"kimi_linear\",\"first_k_dense_replace\":1,\"head_dim\":72,\"hidden_act\":\"si"
     "lu\",\"hidden_size\":2304,\"intermediate_size\":9216,\"kv_lora_rank\":512,\"linear_attn_conf"
     "ig\":{\"full_attn_layers\":[4,8,12,16,20,24,27],\"head_dim\":128,\"kda_layers\":[1,2,3,5,6,"
     "7,9,10,11,13,14,15,17,18,19,21,22,23,25,26],\"num_heads\":32,\"short_conv_kernel_size\":"
     "4},\"mla_use_nope\":true,\"model_max_length\":1048576,\"moe_intermediate_size\":1024,\"moe_"
     "layer_freq\":1,\"moe_renormalize\":true,\"moe_router_activation_func\":\"sigmoid\",\"num_att"
     "ention_heads\":32,\"num_expert_group\":1,\"num_experts\":256,\"num_experts_per_token\":8,\"n"
     "um_hidden_layers\":27,\"num_key_value_heads\":32,\"num_shared_experts\":1,\"q_lora_rank\":n"
     "ull,\"qk_nope_head_dim\":128,\"qk_rope_head_dim\":64,\"rms_norm_eps\":1e-05,\"rope_scaling\""
     ":null,\"rope_theta\":10000.0,\"routed_scaling_factor\":2.446,\"tie_word_embeddings\":false"
     ",\"topk_group\":1,\"use_grouped_topk\":true,\"v_head_dim\":128,\"vocab_size\":163840}",
     "kimi_linear", 27, 2304, 9216, 163840, 576, "rRRARRRARRRARRRARRRARRRARRA"},
    {"{\"model_type\":\"recurrent_gemma\",\"attention_window_size\":2048,\"block_types\":[\"recurre"
     "nt\",\"recurrent\",\"attention\"],\"conv1d_width\":4,\"head_dim\":256,\"hidden_activation\":\"ge"
     "lu_pytorch_tanh\",\"hidden_size\":2560,\"intermediate_size\":15360,\"logits_soft_cap\":30.0"
     ",\"lru_width\":2560,\"num_attention_heads\":10,\"num_hidden_layers\":26,\"num_key_value_hea"
     "ds\":1,\"partial_rotary_factor\":0.5,\"rms_norm_eps\":1e-06,\"rope_theta\":10000.0,\"vocab_s"
     "ize\":256000}",
     "recurrent_gemma", 26, 2560, 7680, 256000, 256, "rrarrarra"},
    {"{\"model_type\":\"jamba\",\"attn_layer_offset\":4,\"attn_layer_period\":8,\"expert_layer_offs"
     "et\":1,\"expert_layer_period\":2,\"hidden_size\":4096,\"intermediate_size\":14336,\"mamba_d_"
     "state\":16,\"mamba_dt_rank\":256,\"num_attention_heads\":32,\"num_experts\":16,\"num_experts"
     "_per_tok\":2,\"num_hidden_layers\":32,\"num_key_value_heads\":8,\"vocab_size\":65536}",
     "jamba", 32, 4096, 14336, 65536, 128, "rRrRaRrRrRrR"},
};

static void check(const published *p)
{
    mx_json json = {0};
    mx_arena arena;
    mx_model_config config;
    const mx_family *family = NULL;
    mx_error err;
    mx_arena_init(&arena, 1 << 22);
    mx_status st = mx_json_parse(mx_str_from(p->text), "config.json", &json, &err);
    st = st == MX_OK ? mx_model_config_read(json.root, "config.json", &arena, &config, &family, &err) : st;
    if (MX_CHECK_OK(st, &err)) {
        MX_CHECK_CSTR(config.model_type, p->model_type);
        MX_CHECK_I64(config.n_layers, p->n_layers);
        MX_CHECK_I64(config.d_model, p->d_model);
        MX_CHECK_I64(config.layers[0].d_ff, p->d_ff);
        MX_CHECK_I64(config.n_vocab, p->n_vocab);
        MX_CHECK_I64(config.head_dim, p->head_dim);
        for (int32_t i = 0; p->kinds[i]; i++) {
            const char kind = config.layers[i].is_recurrent ? 'r' : 'a';
            const char found = config.layers[i].is_moe ? (char)(kind - 'a' + 'A') : kind;
            if (found != p->kinds[i]) {
                MX_TEST_FAIL("%s, layer %d: is %c, not %c", p->model_type, (int)i, found, p->kinds[i]);
            }
        }
    }
    mx_json_close(&json);
    mx_arena_deinit(&arena);
}

MX_TEST(published_configurations_are_read)
{
    for (size_t i = 0; i < MX_COUNTOF(all); i++) {
        check(&all[i]);
    }
}

MX_TEST_MAIN(MX_CASE(published_configurations_are_read))
