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
