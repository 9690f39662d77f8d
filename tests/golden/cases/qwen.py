"""Qwen 2, 3 and 3 with experts."""
from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, by_layer, every

QWEN3 = {**BASE, "model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "head_dim": 16, "rope_theta": 1e6,
         "tie_word_embeddings": True, "attention_bias": False, "use_sliding_window": False, "sliding_window": None}
MOE = {**BASE, "model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "head_dim": 16, "rope_theta": 1e6,
       "num_hidden_layers": 3, "num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
       "norm_topk_prob": True, "decoder_sparse_step": 1, "mlp_only_layers": [1], "tie_word_embeddings": False}

CASES = {
    "qwen2": dict(config={**BASE, "model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "rope_theta": 1e6,
                          "use_sliding_window": True, "sliding_window": 20, "max_window_layers": 1,
                          "tie_word_embeddings": True}, runs=[75], weights=dict(qkv_bias=True, tied=True), dtype="BF16"),
    "qwen2-yarn": dict(config={**BASE, "model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"],
                               "rope_theta": 1e6, "use_sliding_window": False, "tie_word_embeddings": False,
                               "rope_scaling": {"type": "yarn", "factor": 2.0, "original_max_position_embeddings": 64}},
                       runs=[75], weights=dict(qkv_bias=True), dtype="BF16", check_mlx=True),
    "qwen2-q4": dict(config={**BASE, **WIDE, "model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"],
                             "rope_theta": 1e6, "use_sliding_window": False, "tie_word_embeddings": True,
                             "quantization": SMALL_GROUP}, runs=[40], weights=dict(qkv_bias=True, tied=True),
                     dtype="BF16", layout="mlx", quant=every(**SMALL_GROUP), check_mlx=True),
    "qwen3": dict(config=QWEN3, runs=[75], weights=dict(head_norms=True, tied=True), check_mlx=True),
    "qwen3-q4": dict(config={**QWEN3, **WIDE, "quantization": SMALL_GROUP}, runs=[40], layout="mlx",
                     weights=dict(head_norms=True, tied=True), quant=every(**SMALL_GROUP), check_mlx=True),
    "qwen3-moe": dict(config=MOE, runs=[50], weights=dict(head_norms=True, moe_layers=(0, 2)), dtype="BF16",
                      check_mlx=True),
    "qwen3-moe-q4": dict(config={**MOE, "hidden_size": 64, "mlp_only_layers": [], "num_hidden_layers": 2,
                                 "norm_topk_prob": False}, runs=[40],
                         weights=dict(head_norms=True, moe_layers=(0, 1)), layout="mlx", default=SMALL_GROUP,
                         quant=by_layer({"mlp.gate": {"group_size": 64, "bits": 8}}, SMALL_GROUP), check_mlx=True),
}
