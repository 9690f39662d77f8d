"""LFM2: short convolutions and attention; with experts."""
from expert_layouts import layout, rename, stacked
from recurrent_layouts import turned
from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, as_published

LFM2 = {**BASE, "model_type": "lfm2", "architectures": ["Lfm2ForCausalLM"], "num_hidden_layers": 3, "norm_eps": 1e-5,
        "rope_theta": 1e6, "conv_bias": False, "conv_L_cache": 3, "block_dim": 32, "block_ff_dim": 64,
        "block_auto_adjust_ff_dim": True, "block_ffn_dim_multiplier": 1.25, "block_multiple_of": 16,
        "layer_types": ["conv", "full_attention", "conv"], "tie_word_embeddings": True}
LFM2.pop("intermediate_size")
MOE = {**BASE, "model_type": "lfm2_moe", "architectures": ["Lfm2MoeForCausalLM"], "num_hidden_layers": 3,
       "norm_eps": 1e-5, "rope_theta": 1e6, "conv_bias": False, "conv_L_cache": 3, "num_dense_layers": 1,
       "num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "norm_topk_prob": True,
       "use_expert_bias": True, "routed_scaling_factor": 1.25, "tie_embedding": True,
       "layer_types": ["conv", "full_attention", "conv"]}
W123 = (("w1", "gate_proj"), ("w3", "up_proj"), ("w2", "down_proj"))


def quant(path):
    return None if path.endswith("conv.conv") or "norm" in path else SMALL_GROUP


def moe_quant(path):
    return {"group_size": 64, "bits": 8} if path.endswith("feed_forward.gate") else quant(path)


CASES = {
    "lfm2": dict(config=LFM2, runs=[75], weights=as_published(), dtype="BF16"),
    "lfm2-q4": dict(config={**LFM2, **{k: WIDE[k] for k in ("hidden_size", "vocab_size")}, "block_dim": 64,
                            "conv_bias": True, "conv_L_cache": 4, "block_auto_adjust_ff_dim": False,
                            "quantization": SMALL_GROUP}, runs=[40],
                    weights=as_published(), quant=quant, check_mlx=True, layout=layout(turned("conv.conv.weight"))),
    "lfm2-moe": dict(config=MOE, runs=[50], weights=as_published(special=[("expert_bias", 0.0, 0.3)]), dtype="BF16"),
    "lfm2-moe-q4": dict(config={**MOE, **{k: WIDE[k] for k in ("hidden_size", "vocab_size")}, "num_hidden_layers": 2, "intermediate_size": 64,
                                "moe_intermediate_size": 32,
                                "layer_types": ["conv", "full_attention"], "norm_topk_prob": False},
                        runs=[40], weights=as_published(special=[("expert_bias", 0.0, 0.3)]), quant=moe_quant,
                        default=SMALL_GROUP, check_mlx=True,
                        layout=layout(turned("conv.conv.weight"), *stacked("feed_forward", names=W123),
                                       *(rename(rf"feed_forward\.{a}\.", f"feed_forward.{b}.") for a, b in W123))),
}
