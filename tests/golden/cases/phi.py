"""Phi: Phi-1 to 2 with parts beside each other, Phi-3 to 4 with fused matrices, longrope and heads that turn in part."""
from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, as_published, every

PHI = {**BASE, "model_type": "phi", "architectures": ["PhiForCausalLM"], "hidden_act": "gelu_new", "layer_norm_eps": 1e-5,
       "partial_rotary_factor": 0.5, "rope_theta": 10000.0, "tie_word_embeddings": False, "qk_layernorm": False}
PHI3 = {**BASE, "model_type": "phi3", "architectures": ["Phi3ForCausalLM"], "rope_theta": 10000.0, "sliding_window": 20,
        "original_max_position_embeddings": 32, "pad_token_id": None, "tie_word_embeddings": False}
LONGROPE = {"type": "longrope", "short_factor": [1.0, 1.1, 1.3], "long_factor": [1.2, 2.0, 3.5]}
PHI4 = {**PHI3, "sliding_window": None, "partial_rotary_factor": 0.75, "rope_scaling": LONGROPE, "tie_word_embeddings": True}
for config in (PHI, PHI3):
    del config["rms_norm_eps"]
PHI3["rms_norm_eps"] = PHI4["rms_norm_eps"] = 1e-5

CASES = {
    "phi": dict(config={**PHI, "qk_layernorm": True}, runs=[40], weights=as_published(1.3), dtype="BF16"),
    "phi-q4": dict(config={**PHI, **WIDE, "rms_norm_eps": 1e-5, "quantization": SMALL_GROUP}, runs=[40], layout="mlx",
                   weights=as_published(1.3), dtype="BF16", quant=every(**SMALL_GROUP), check_mlx=True),
    "phi3": dict(config=PHI3, runs=[50], weights=as_published(1.3), dtype="BF16"),
    "phi3-q4": dict(config={**PHI3, **WIDE, "sliding_window": None, "quantization": SMALL_GROUP}, runs=[40], layout="mlx",
                    weights=as_published(1.3), dtype="BF16", quant=every(**SMALL_GROUP), check_mlx=True),
    "phi4-longrope": dict(config={**PHI4, "tie_word_embeddings": False}, runs=[50, 30], n_ctx=[128, 32],
                          weights=as_published(1.3), dtype="BF16"),
    "phi4-longrope-q4": dict(config={**PHI4, **WIDE, "num_attention_heads": 8, "quantization": SMALL_GROUP}, runs=[40],
                             weights=as_published(1.3), dtype="BF16", layout="mlx", quant=every(**SMALL_GROUP)),
}
