"""Gemma 4: wide heads in some layers, keys that layers share, values that are keys, small embeddings for each layer."""
import numpy as np

from expert_layouts import layout, rename, split
from tiny_checkpoint import BASE, SMALL_GROUP, as_published, by_layer

GEMMA4 = {**BASE, "model_type": "gemma4_text", "architectures": ["Gemma4ForCausalLM"], "hidden_size": 36,
          "intermediate_size": 24, "num_hidden_layers": 5, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8,
          "global_head_dim": 16, "hidden_activation": "gelu_pytorch_tanh", "sliding_window": 7, "rms_norm_eps": 1e-6,
          "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
                          "full_attention"], "num_kv_shared_layers": 2,
          "use_double_wide_mlp": True, "hidden_size_per_layer_input": 16, "vocab_size_per_layer_input": 61,
          "final_logit_softcapping": 5.0, "pad_token_id": 0, "eos_token_id": [1, 106]}
GEMMA4.pop("hidden_act")
KEYS_AS_VALUES = {**GEMMA4, "num_attention_heads": 4, "num_key_value_heads": 2, "num_global_key_value_heads": 1,
                  "attention_k_eq_v": True, "num_kv_shared_layers": 0, "use_double_wide_mlp": False,
                  "hidden_size_per_layer_input": 0, "num_hidden_layers": 3,
                  "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
                  "rope_parameters": {"full_attention": {"rope_type": "proportional", "rope_theta": 1e6,
                                                         "partial_rotary_factor": 0.5},
                                      "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}}
EXPERTS = {**KEYS_AS_VALUES, "enable_moe_block": True, "num_experts": 5, "top_k_experts": 2, "moe_intermediate_size": 24}
FILL = as_published(gain=1.2, embed=0.3, special=(("layer_scalar", 0.8, 0.1), ("q_norm", 0.5, 0.1), ("k_norm", 0.7, 0.1), ("router.scale", 1.0, 0.2), ("per_expert_scale", 1.0, 0.3)))
MLX_EXPERTS = layout(
    split(r"experts\.gate_up_proj$", {"experts.switch_glu.gate_proj.weight": lambda a: a[:, :a.shape[1] // 2],
                                      "experts.switch_glu.up_proj.weight": lambda a: a[:, a.shape[1] // 2:]}),
    rename(r"experts\.down_proj$", "experts.switch_glu.down_proj.weight"))

CASES = {
    "gemma4": dict(config=GEMMA4, runs=[50], weights=FILL, dtype="BF16", check_mlx=True),
    "gemma4-keys-as-values": dict(  # with the configuration as newer versions save it
        config=KEYS_AS_VALUES, runs=[40], weights=FILL, dtype="BF16",
        wrap=lambda c: {**{k: v for k, v in c.items() if k not in ("global_head_dim", "num_global_key_value_heads")},
                        "per_layer_config": {"2": {"head_dim": 16, "num_key_value_heads": 1}}}),
    "gemma4-experts": dict(config={**EXPERTS, "num_hidden_layers": 2, "layer_types": ["sliding_attention", "full_attention"]},
                           runs=[40], weights=FILL, dtype="BF16"),
    "gemma4-experts-q4": dict(
        config={**EXPERTS, "hidden_size": 64, "intermediate_size": 32, "moe_intermediate_size": 32, "vocab_size": 64,
                "num_hidden_layers": 1, "layer_types": ["full_attention"]},
        runs=[40], weights=FILL, dtype="BF16", layout=MLX_EXPERTS, default=SMALL_GROUP,
        quant=by_layer({"router.proj": {"group_size": 64, "bits": 8}}, SMALL_GROUP), check_mlx=True),
    "gemma4-q4": dict(
        config={**GEMMA4, "hidden_size": 64, "intermediate_size": 64, "vocab_size": 64, "head_dim": 16,
                "global_head_dim": 32, "num_hidden_layers": 4, "num_kv_shared_layers": 2,
                "hidden_size_per_layer_input": 16, "vocab_size_per_layer_input": 64,
                "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"]},
        runs=[40], weights=FILL, dtype="BF16", layout="mlx", default=SMALL_GROUP,
        quant=by_layer({"per_layer_projection": None}, SMALL_GROUP),
        prefix=lambda name: "language_model." + name,
        extras={"vision_tower.embeddings.weight": (np.zeros((2, 2), np.float32), "F32"),
                "embed_vision.embedding_projection.weight": (np.zeros((2, 2), np.float32), "F32")},
        wrap=lambda c: {"model_type": "gemma4", "architectures": ["Gemma4ForConditionalGeneration"],
                        "eos_token_id": c.pop("eos_token_id"), "quantization": c.pop("quantization"),
                        "text_config": {k: v for k, v in c.items() if k != "quantization_config"},
                        "vision_config": {"hidden_size": 8}}),
}
