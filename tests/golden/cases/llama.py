"""Llama: every rotary scaling, biases, every storage format."""
from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, by_layer, every

LLAMA = {**BASE, "model_type": "llama", "architectures": ["LlamaForCausalLM"], "rope_theta": 10000.0,
         "tie_word_embeddings": False}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}
MIXED = {"embed_tokens": {"group_size": 64, "bits": 8}, "q_proj": {"group_size": 32, "bits": 2},
         "k_proj": {"group_size": 32, "bits": 3}, "v_proj": {"group_size": 64, "bits": 6},
         "o_proj": {"group_size": 64, "bits": 5}, "down_proj": {"group_size": 128, "bits": 4}, "lm_head": None}
FLOATS = {"q_proj": {"group_size": 16, "bits": 4, "mode": "nvfp4"}, "k_proj": {"group_size": 32, "bits": 8, "mode": "mxfp8"},
          "v_proj": {"group_size": 32, "bits": 8, "mode": "mxfp8"}, "embed_tokens": None, "lm_head": None}

CASES = {
    "llama": dict(config=LLAMA, runs=[75], check_mlx=True),
    "llama-biases": dict(config={**LLAMA, "attention_bias": True, "mlp_bias": True, "num_key_value_heads": 4}, runs=[40],
                         weights=dict(qkv_bias=True, o_bias=True, mlp_bias=True), dtype="BF16"),
    "llama-linear": dict(config={**LLAMA, "rope_scaling": {"type": "linear", "factor": 4.0}, "tie_word_embeddings": True},
                         runs=[75], weights=dict(tied=True), dtype="BF16", check_mlx=True),
    "llama-dynamic": dict(config={**LLAMA, "max_position_embeddings": 32,
                                  "rope_scaling": {"type": "dynamic", "factor": 3.0}},
                          runs=[75, 30], n_ctx=[75, 32], dtype="BF16"),
    "llama-yarn": dict(config={**LLAMA, "rope_scaling": YARN}, runs=[75], dtype="BF16", check_mlx=True),
    "llama-llama3": dict(config={**LLAMA, "rope_theta": 500000.0,
                                 "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                                  "original_max_position_embeddings": 32, "rope_type": "llama3"}},
                         runs=[75], dtype="F16", check_mlx=True),
    "llama-longrope": dict(config={**LLAMA, "max_position_embeddings": 128,
                                   "rope_scaling": {"type": "longrope", "original_max_position_embeddings": 32,
                                                    "short_factor": [1.0, 1.1, 1.3, 1.5],
                                                    "long_factor": [1.2, 2.0, 3.5, 4.0]}},
                           runs=[75, 30], n_ctx=[128, 32], dtype="BF16"),
    "llama-q4": dict(config={**LLAMA, **WIDE, "quantization": {"group_size": 64, "bits": 4}}, runs=[75], dtype="BF16",
                     quant=every(group_size=64, bits=4), layout="mlx"),
    "llama-mixed-bits": dict(config={**LLAMA, **WIDE}, runs=[40], dtype="F16", layout="mlx",
                             quant=by_layer(MIXED, SMALL_GROUP), default=SMALL_GROUP),
    "llama-float-modes": dict(config={**LLAMA, **WIDE}, runs=[40], dtype="BF16", layout="mlx",
                              quant=by_layer(FLOATS, {"group_size": 32, "bits": 4, "mode": "mxfp4"}),
                              default={"group_size": 32, "bits": 4, "mode": "mxfp4"}),
}
