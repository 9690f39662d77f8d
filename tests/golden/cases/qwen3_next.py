"""Qwen3-Next and Qwen 3.5: the gated delta rule, attention with gates, experts."""
from expert_layouts import layout, stacked
from recurrent_layouts import fused_experts, raised, turned
from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, as_published, by_layer

DELTA = {"vocab_size": 44, "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 8,
         "linear_conv_kernel_dim": 4, "head_dim": 16, "rope_theta": 1e6, "partial_rotary_factor": 0.25,
         "rms_norm_eps": 1e-6, "num_hidden_layers": 3,
         "layer_types": ["linear_attention", "full_attention", "linear_attention"]}
EXPERTS = {"num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "norm_topk_prob": True,
           "shared_expert_intermediate_size": 24, "decoder_sparse_step": 1}
NEXT = {**BASE, **DELTA, **EXPERTS, "model_type": "qwen3_next", "architectures": ["Qwen3NextForCausalLM"],
        "mlp_only_layers": [1], "tie_word_embeddings": False}
QWEN35 = {**BASE, **DELTA, "model_type": "qwen3_5_text", "architectures": ["Qwen3_5ForCausalLM"],
          "rope_parameters": {"mrope_interleaved": True, "mrope_section": [1, 1, 0], "partial_rotary_factor": 0.25,
                              "rope_theta": 1e6, "rope_type": "default"}, "tie_word_embeddings": True}
QWEN35_MOE = {**QWEN35, **EXPERTS, "model_type": "qwen3_5_moe_text", "architectures": ["Qwen3_5MoeForCausalLM"],
              "tie_word_embeddings": False}
for config in (QWEN35, QWEN35_MOE):
    config.pop("rope_theta"), config.pop("partial_rotary_factor")
WEIGHTS = as_published(norm=0.0, special=[("linear_attn.norm", 1.0, 0.2), ("A_log", 0.3, 0.6), ("dt_bias", 0.0, 0.5),
                                          ("mlp.gate.", 0.0, 0.5)])  # routers far from ties
TWO = {"num_hidden_layers": 2, "full_attention_interval": 2, "linear_value_head_dim": 16, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32,
       "intermediate_size": 64, "layer_types": None, "hidden_size": 64,
       "vocab_size": 64}
NORMS = r"(input_layernorm|post_attention_layernorm|model\.norm|q_norm|k_norm)\.weight"
MLX = (turned("conv1d.weight"), raised(NORMS))
QUANT = by_layer({"conv1d": None, "norm": None, "mlp.gate": {"group_size": 64, "bits": 8},
                  "shared_expert_gate": {"group_size": 64, "bits": 8}}, SMALL_GROUP)


def in_vision_model(kind):
    def wrap(config):
        quantization = config.pop("quantization", None)
        config.pop("quantization_config", None)
        outer = {"model_type": kind, "architectures": [kind], "text_config": config, "vision_config": {"depth": 2}}
        if not quantization:
            return outer
        return {**outer, "quantization": {f"language_model.{k}" if "." in k else k: v for k, v in quantization.items()}}
    return wrap


CASES = {
    "qwen3-next": dict(config=NEXT, runs=[44], weights=WEIGHTS, dtype="BF16"),
    "qwen3-next-q4": dict(config={**NEXT, **TWO, "mlp_only_layers": []}, runs=[40], weights=WEIGHTS, quant=QUANT,
                          default=SMALL_GROUP, layout=layout(*MLX, *stacked("mlp")), dtype="BF16", check_mlx=True),
    "qwen3.5": dict(config=QWEN35, runs=[44], weights=WEIGHTS, dtype="BF16",
                    prefix=lambda name: name.replace("model.", "model.language_model.", 1), wrap=in_vision_model("qwen3_5")),
    "qwen3.5-q4": dict(config={**QWEN35, **TWO, "quantization": SMALL_GROUP}, runs=[40],
                       weights=WEIGHTS, quant=QUANT, layout=layout(*MLX),
                       prefix=lambda name: "language_model." + name, wrap=in_vision_model("qwen3_5"), check_mlx=True),
    "qwen3.5-moe": dict(config=QWEN35_MOE, runs=[44], weights=WEIGHTS, dtype="BF16", layout=layout(fused_experts("mlp"))),
    "qwen3.5-moe-q4": dict(config={**QWEN35_MOE, **TWO}, runs=[40], weights=WEIGHTS, quant=QUANT, default=SMALL_GROUP,
                           layout=layout(*MLX, *stacked("mlp")), dtype="BF16", check_mlx=True,
                           prefix=lambda name: "language_model." + name, wrap=in_vision_model("qwen3_5_moe")),
}
