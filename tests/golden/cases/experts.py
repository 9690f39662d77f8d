"""Families with experts whose attention is plain: Qwen 2, Mixtral, OLMoE, GPT-OSS."""
import numpy as np

from expert_layouts import layout, rename, split, stacked, swapped
from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, as_published, by_layer, every

QWEN2 = {**BASE, "model_type": "qwen2_moe", "architectures": ["Qwen2MoeForCausalLM"], "rope_theta": 1e6,
         "num_hidden_layers": 3, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "intermediate_size": 32,
         "shared_expert_intermediate_size": 24, "norm_topk_prob": False, "decoder_sparse_step": 1, "mlp_only_layers": [1],
         "use_sliding_window": True, "sliding_window": 20, "max_window_layers": 2, "tie_word_embeddings": False}
MIXTRAL = {**BASE, "model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "rope_theta": 1e6,
           "num_local_experts": 4, "num_experts_per_tok": 2, "intermediate_size": 20, "sliding_window": 20, "tie_word_embeddings": False}
OLMOE = {**BASE, "model_type": "olmoe", "architectures": ["OlmoeForCausalLM"], "rope_theta": 10000.0, "num_experts": 6,
         "intermediate_size": 16, "num_experts_per_tok": 3, "norm_topk_prob": False, "clip_qkv": None, "tie_word_embeddings": False}
GPT_OSS = {**BASE, "model_type": "gpt_oss", "architectures": ["GptOssForCausalLM"], "head_dim": 16, "rope_theta": 150000,
           "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_local_experts": 4,
           "num_experts_per_tok": 2, "sliding_window": 12, "attention_bias": True, "swiglu_limit": 7.0,
           "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
                            "original_max_position_embeddings": 32}, "tie_word_embeddings": False}
ROUTER_8 = by_layer({"gate.": {"group_size": 64, "bits": 8}, "router": {"group_size": 64, "bits": 8}}, SMALL_GROUP)
W123 = (("w1", "gate_proj"), ("w2", "down_proj"), ("w3", "up_proj"))

MXFP4 = {"group_size": 32, "bits": 4, "mode": "mxfp4"}
GPT_OSS_GAIN = as_published(gain=1.5, special=[("sinks", 0.5, 1.0), ("proj_bias", 0.0, 1.0)])
GPT_OSS_MLX = layout(
    split(r"experts\.gate_up_proj$", {"experts.gate_proj.weight": lambda a: swapped(a)[:, ::2],
                                      "experts.up_proj.weight": lambda a: swapped(a)[:, 1::2]}),
    split(r"experts\.gate_up_proj_bias$", {"experts.gate_proj.bias": lambda a: a[:, ::2],
                                           "experts.up_proj.bias": lambda a: a[:, 1::2]}),
    split(r"experts\.down_proj$", {"experts.down_proj.weight": swapped}),
    rename(r"experts\.down_proj_bias$", "experts.down_proj.bias"))



def as_blocks(stored):
    """mxfp4 under the original names: the words as bytes, 16 a group, and gate and up in turns."""
    out = {}
    for name, (a, dtype) in stored.items():
        if ".experts." in name and name.endswith(".weight"):
            a = a.view(np.uint8).reshape(*a.shape[:-1], -1, 16)
            out[name[:-len(".weight")] + "_blocks"] = (a, "U8")
        elif ".experts." in name and name.endswith(".scales"):
            out[name[:-len(".scales")] + "_scales"] = (a, dtype)
        else:
            out[name] = (a, dtype)
    return out


GPT_OSS_BLOCKS = layout(
    split(r"experts\.gate_up_proj$", {"experts.gate_up_proj.weight": swapped}),
    split(r"experts\.down_proj$", {"experts.down_proj.weight": swapped}))

CASES = {
    "qwen2-moe": dict(config=QWEN2, runs=[50], weights=as_published(), dtype="BF16", check_mlx=False),
    "qwen2-moe-q4": dict(config={**QWEN2, "hidden_size": 64, "moe_intermediate_size": 32, "intermediate_size": 64,
                                 "shared_expert_intermediate_size": 64, "num_hidden_layers": 2, "mlp_only_layers": [],
                                 "use_sliding_window": False, "quantization": SMALL_GROUP},
                         runs=[40], weights=as_published(), layout=layout(*stacked("mlp")), dtype="F16",
                         quant=every(**SMALL_GROUP), check_mlx=True),
    "mixtral": dict(config=MIXTRAL, runs=[50], weights=as_published(), dtype="BF16"),
    "mixtral-q4": dict(config={**MIXTRAL, "hidden_size": 64, "intermediate_size": 32, "sliding_window": None,
                               "quantization": SMALL_GROUP},
                       runs=[40], weights=as_published(), layout=layout(*stacked("block_sparse_moe", names=W123)),
                       quant=every(**SMALL_GROUP), dtype="F16", check_mlx=True),
    "olmoe": dict(config=OLMOE, runs=[50], weights=as_published(), dtype="BF16", check_mlx=True),
    "olmoe-q4": dict(config={**OLMOE, "hidden_size": 64, "intermediate_size": 32, "num_key_value_heads": 4,
                             "quantization": SMALL_GROUP},
                     runs=[40], weights=as_published(), layout=layout(*stacked("mlp")), dtype="F16",
                     quant=every(**SMALL_GROUP), check_mlx=True),
    "gpt-oss": dict(config={**GPT_OSS, "intermediate_size": 24}, runs=[40], weights=GPT_OSS_GAIN, dtype="BF16"),
    "gpt-oss-blocks": dict(config={**GPT_OSS, "quantization_config": {
                               "quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn", "lm_head"]}},
                           runs=[50], weights=GPT_OSS_GAIN, layout=GPT_OSS_BLOCKS, finish=as_blocks, dtype="BF16",
                           quant=by_layer({"experts": MXFP4}, None), check_mlx=False),
    "gpt-oss-mlx": dict(config={**GPT_OSS, "hidden_size": 64}, runs=[50], weights=GPT_OSS_GAIN, layout=GPT_OSS_MLX, dtype="BF16",
                        default=MXFP4, quant=by_layer({"router": {"group_size": 64, "bits": 8}, "experts": MXFP4},
                                                      {"group_size": 64, "bits": 8})),  # mlx-lm ignores "truncate"
}
