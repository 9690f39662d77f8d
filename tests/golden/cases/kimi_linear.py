"""Kimi Linear: the delta rule with a gate a channel, latent attention without positions, experts."""
from expert_layouts import layout, rename, split, stack, swapped
from recurrent_layouts import turned
from tiny_checkpoint import BASE, SMALL_GROUP, as_published, by_layer

KIMI = {**BASE, "model_type": "kimi_linear", "architectures": ["KimiLinearForCausalLM"], "num_hidden_layers": 3,
        "intermediate_size": 32, "moe_intermediate_size": 16, "num_attention_heads": 2, "num_key_value_heads": 2,
        "kv_lora_rank": 16, "q_lora_rank": None, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8, "v_head_dim": 8,
        "num_experts": 3, "num_experts_per_token": 2, "num_shared_experts": 1, "moe_renormalize": True,
        "num_expert_group": 1, "topk_group": 1, "routed_scaling_factor": 1.5, "first_k_dense_replace": 1,
        "moe_layer_freq": 1, "moe_router_activation_func": "sigmoid", "model_max_length": 128, "head_dim": 12,
        "mla_use_nope": True, "use_grouped_topk": True,
        "pad_token_id": 0, "linear_attn_config": {"full_attn_layers": [2], "kda_layers": [1, 3], "head_dim": 8, "num_heads": 4,
                               "short_conv_kernel_size": 4}, "tie_word_embeddings": False}
W123 = (("w1", "gate_proj"), ("w3", "up_proj"), ("w2", "down_proj"))
WEIGHTS = as_published(special=[("A_log", 0.3, 0.6), ("dt_bias", 0.0, 0.5), ("gate.weight", 0.0, 0.5),
                                ("e_score_correction_bias", 0.0, 0.2)])

WIDE = {**KIMI, "hidden_size": 64, "vocab_size": 64, "num_hidden_layers": 2, "kv_lora_rank": 32, "qk_nope_head_dim": 32,
        "qk_rope_head_dim": 32, "v_head_dim": 32, "head_dim": 64, "moe_intermediate_size": 32, "quantization": SMALL_GROUP, "rope_theta": 10000.0,
        "linear_attn_config": {"full_attn_layers": [2], "kda_layers": [1], "head_dim": 32, "num_heads": 1,
                               "short_conv_kernel_size": 4}}
QUANT = by_layer({"conv": None, "norm": None, "A_log": None, "mlp.gate": None}, SMALL_GROUP)


def heads(a):
    return a.reshape(2, 64, 32)


MLX = layout(
    *(turned(f"{n}_conv1d", f"{n}_conv.conv") for n in "qkv"),
    rename(r"block_sparse_moe\.gate\.e_score", "mlp.e_score"), *(stack(rf"block_sparse_moe\.experts\.(?P<e>\d+)\.{a}\.", f"mlp.switch_mlp.{b}.") for a, b in W123),
    rename(r"block_sparse_moe\.", "mlp."),
    split(r"self_attn\.kv_b_proj", {"self_attn.embed_q": lambda a: swapped(heads(a)[:, :32]),
                                    "self_attn.unembed_out": lambda a: heads(a)[:, 32:]}))

CASES = {
    "kimi-linear": dict(config=KIMI, runs=[44], weights=WEIGHTS, dtype="BF16"),
    "kimi-linear-q4": dict(config=WIDE, runs=[40], weights=WEIGHTS, dtype="BF16", quant=QUANT, layout=MLX, check_mlx=True),
}
