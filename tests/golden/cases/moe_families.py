"""Families with experts, further: GLM-4.5, dots.llm1, ERNIE 4.5, Granite, Phi-3.5-MoE, MiniMax-M2, Llama 4, AFMoE,
Hunyuan."""
from expert_layouts import layout, rename, split, stacked, swapped
from tiny_checkpoint import BASE, SMALL_GROUP, as_published, by_layer, every

V3_EXPERTS = {"n_routed_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "n_shared_experts": 1,
              "first_k_dense_replace": 1, "routed_scaling_factor": 1.5, "n_group": 3, "topk_group": 2, "norm_topk_prob": True,
              "tie_word_embeddings": False}
GLM4 = {**BASE, **V3_EXPERTS, "model_type": "glm4_moe", "architectures": ["Glm4MoeForCausalLM"], "head_dim": 16,
        "rope_theta": 1e6, "partial_rotary_factor": 0.5, "use_qk_norm": True, "attention_bias": True,
        "num_nextn_predict_layers": 0, "rope_scaling": None}
DOTS = {**BASE, **V3_EXPERTS, "model_type": "dots1", "architectures": ["Dots1ForCausalLM"], "head_dim": 16, "rope_theta": 1e6,
        "num_hidden_layers": 2, "sliding_window": 20, "max_window_layers": 1, "attention_bias": False}
ERNIE = {**BASE, "model_type": "ernie4_5_moe", "architectures": ["Ernie4_5_MoeForCausalLM"], "rope_theta": 5e5,
         "moe_num_experts": 5, "moe_k": 2, "moe_intermediate_size": 16, "moe_num_shared_experts": 1, "use_bias": False,
         "moe_layer_start_index": 1, "moe_layer_end_index": -1, "moe_layer_interval": 1, "tie_word_embeddings": True}
GRANITE = {**BASE, "model_type": "granitemoe", "architectures": ["GraniteMoeForCausalLM"], "rope_theta": 10000.0,
           "intermediate_size": 16, "num_local_experts": 5, "num_experts_per_tok": 2, "embedding_multiplier": 3.0,
           "logits_scaling": 2.0, "residual_multiplier": 0.5, "attention_multiplier": 0.2, "attention_bias": False, "tie_word_embeddings": True}
PHI = {**BASE, "model_type": "phimoe", "architectures": ["PhimoeForCausalLM"], "rope_theta": 10000.0, "intermediate_size": 16,
       "num_local_experts": 5, "num_experts_per_tok": 2, "router_jitter_noise": 0.3, "attention_bias": True,
       "lm_head_bias": True, "sliding_window": 20, "tie_word_embeddings": False}
MINIMAX = {**BASE, "model_type": "minimax_m2", "architectures": ["MiniMaxM2ForCausalLM"], "rope_theta": 5e6, "head_dim": 16,
           "rotary_dim": 8, "intermediate_size": 16, "num_local_experts": 5, "num_experts_per_tok": 2, "use_qk_norm": True,
           "tie_word_embeddings": False}
LLAMA4 = {**BASE, "model_type": "llama4_text", "architectures": ["Llama4ForCausalLM"], "rope_theta": 5e5, "head_dim": 16,
          "intermediate_size": 8, "intermediate_size_mlp": 24, "num_hidden_layers": 4, "num_local_experts": 3,
          "num_experts_per_tok": 1, "interleave_moe_layer_step": 2, "no_rope_layer_interval": 4, "attention_chunk_size": 14,
          "attn_temperature_tuning": True, "floor_scale": 8, "attn_scale": 0.3, "use_qk_norm": True,
          "tie_word_embeddings": False,
          "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                           "original_max_position_embeddings": 32, "rope_type": "llama3"}}
AFMOE = {**BASE, "model_type": "afmoe", "architectures": ["AfmoeForCausalLM"], "rope_theta": 10000.0, "head_dim": 16,
         "num_hidden_layers": 3, "moe_intermediate_size": 16, "intermediate_size": 32, "num_dense_layers": 1, "num_experts": 3,
         "num_experts_per_tok": 2, "num_shared_experts": 1, "route_scale": 1.7, "global_attn_every_n_layers": 3,
         "sliding_window": 14, "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
         "mup_enabled": True, "tie_word_embeddings": False}
HUNYUAN = {**BASE, "model_type": "hunyuan_v1_moe", "architectures": ["HunYuanMoEV1ForCausalLM"], "rope_theta": 10000.0,
           "head_dim": 16, "intermediate_size": 16, "num_experts": 5, "moe_topk": 2, "tie_word_embeddings": True,
           "rope_scaling": {"type": "dynamic", "alpha": 100.0, "factor": 1.0}}
W123 = (("w1", "gate_proj"), ("w2", "down_proj"), ("w3", "up_proj"))
WIDE = {"hidden_size": 64, "intermediate_size": 32, "moe_intermediate_size": 32}
Q4 = dict(dtype="F16", quant=every(**SMALL_GROUP), runs=[40])
SPREAD = as_published(special=[("correction_bias", 0.0, 0.2), ("expert_bias", 0.0, 0.2)])

GRANITE_MLX = layout(split(r"block_sparse_moe\.input_linear", {
    "block_sparse_moe.switch_mlp.gate_proj": lambda a: a[:, :a.shape[1] // 2],
    "block_sparse_moe.switch_mlp.up_proj": lambda a: a[:, a.shape[1] // 2:]}),
    rename(r"block_sparse_moe\.output_linear", "block_sparse_moe.switch_mlp.down_proj"))
LLAMA4_MLX = layout(split(r"experts\.gate_up_proj$", {
    "experts.gate_proj.weight": lambda a: swapped(a)[:, :a.shape[2] // 2],
    "experts.up_proj.weight": lambda a: swapped(a)[:, a.shape[2] // 2:]}),
    split(r"experts\.down_proj$", {"experts.down_proj.weight": swapped}))

CASES = {
    "glm4-moe": dict(config=GLM4, runs=[50], weights=SPREAD, dtype="BF16", check_mlx=True),
    "glm4-moe-q4": dict(config={**GLM4, **WIDE, "n_routed_experts": 4, "n_group": 1, "topk_group": 1, "use_qk_norm": False,
                                "attention_bias": False, "quantization": SMALL_GROUP},
                        weights=SPREAD, layout=layout(*stacked("mlp")), **{**Q4, "quant": by_layer({"mlp.gate.": None}, SMALL_GROUP)}),
    "dots1": dict(config=DOTS, runs=[50], weights=SPREAD, dtype="BF16"),
    "dots1-q4": dict(config={**DOTS, **WIDE, "n_routed_experts": 4, "n_group": 2, "topk_group": 1, "sliding_window": None,
                             "quantization": SMALL_GROUP}, weights=SPREAD, layout=layout(*stacked("mlp")), **Q4),
    "ernie4-5-moe": dict(config=ERNIE, runs=[50], weights=SPREAD, dtype="BF16"),
    "ernie4-5-moe-q4": dict(config={**ERNIE, **WIDE, "moe_num_experts": 4, "quantization": SMALL_GROUP},
                            weights=as_published(special=[("correction_bias", 0.0, 0.0)]),
                            layout=layout(*stacked("mlp")),
                            finish=lambda t: {n: a for n, a in t.items() if "correction_bias" not in n}, **Q4),
    "granitemoe": dict(config=GRANITE, runs=[50], weights=as_published(embed=0.5), dtype="BF16", check_mlx=True),
    "granitemoe-q4": dict(config={**GRANITE, "hidden_size": 64, "intermediate_size": 32, "num_local_experts": 4,
                                  "quantization": SMALL_GROUP},
                          weights=as_published(embed=0.5), layout=GRANITE_MLX, check_mlx=True, **Q4),
    "phimoe": dict(config=PHI, runs=[50], weights=as_published(), dtype="BF16"),
    "phimoe-q4": dict(config={**PHI, "hidden_size": 64, "intermediate_size": 32, "num_local_experts": 4,
                              "max_position_embeddings": 128, "sliding_window": None,
                              "rope_scaling": {"type": "longrope", "original_max_position_embeddings": 32,
                                               "short_factor": [1.0, 1.1, 1.3, 1.5, 1.6, 1.7, 1.8, 2.0],
                                               "long_factor": [1.2, 2.0, 3.5, 4.0, 4.1, 4.2, 4.3, 4.4],
                                               "short_mscale": 1.1, "long_mscale": 1.2}, "quantization": SMALL_GROUP},
                      weights=as_published(), layout=layout(*stacked("block_sparse_moe", names=W123)), n_ctx=[32],
                      **{**Q4, "runs": [32]}),
    "minimax-m2": dict(config=MINIMAX, runs=[50], weights=SPREAD, dtype="BF16"),
    "minimax-m2-q4": dict(config={**MINIMAX, "hidden_size": 64, "intermediate_size": 32, "num_local_experts": 4,
                                  "quantization": SMALL_GROUP},
                          weights=SPREAD, layout=layout(*stacked("block_sparse_moe", names=W123)), **Q4),
    "llama4": dict(config=LLAMA4, runs=[40], weights=as_published(gain=1.2), dtype="BF16"),
    "llama4-q4": dict(config={**LLAMA4, "hidden_size": 64, "intermediate_size": 32, "num_hidden_layers": 2,
                              "num_local_experts": 4, "interleave_moe_layer_step": 1, "no_rope_layer_interval": 2,
                              "attention_chunk_size": 20, "quantization": SMALL_GROUP},
                      weights=as_published(), layout=LLAMA4_MLX, prefix=lambda name: "language_model." + name,
                      extras={}, wrap=lambda c: {"model_type": "llama4", "architectures": ["Llama4ForConditionalGeneration"],
                                                 "quantization": SMALL_GROUP, "text_config": c,
                                                 "vision_config": {"hidden_size": 8}}, **Q4),
    "afmoe": dict(config={**AFMOE, "intermediate_size": 24, "moe_intermediate_size": 8}, runs=[40], weights=SPREAD, dtype="BF16", check_mlx=True),
    "afmoe-q4": dict(config={**AFMOE, "hidden_size": 64, "moe_intermediate_size": 32, "num_hidden_layers": 2, "num_experts": 4,
                             "global_attn_every_n_layers": 2, "layer_types": ["sliding_attention", "full_attention"],
                             "quantization": SMALL_GROUP},
                     weights=SPREAD, layout=layout(*stacked("mlp", mlx_block="experts")), check_mlx=True, **Q4),
    "hunyuan-moe": dict(config=HUNYUAN, runs=[50], weights=as_published(), dtype="BF16"),
    "hunyuan-moe-q4": dict(config={**HUNYUAN, "hidden_size": 64, "intermediate_size": 32, "num_experts": 4,
                                   "moe_topk": [2, 2], "rope_scaling": None, "quantization": SMALL_GROUP},
                           weights=as_published(), layout=layout(*stacked("mlp")), **Q4),
}
