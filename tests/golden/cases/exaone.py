"""EXAONE 3, which mlx-lm alone has, and 4: norms behind the blocks, layers that see everything without positions."""
from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, as_published, every, from_mlx

EXAONE = {**BASE, "model_type": "exaone", "architectures": ["ExaoneForCausalLM"], "num_layers": 2,
          "activation_function": "silu", "layer_norm_epsilon": 1e-5, "rope_theta": 1e6, "head_dim": 8,
          "tie_word_embeddings": False,
          "rope_scaling": {"factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                           "original_max_position_embeddings": 32, "rope_type": "llama3"}}
for key in ("num_hidden_layers", "rms_norm_eps", "hidden_act"):
    EXAONE.pop(key)
EXAONE4 = {**BASE, "model_type": "exaone4", "architectures": ["Exaone4ForCausalLM"], "num_hidden_layers": 4,
           "rope_theta": 1e6, "head_dim": 8, "sliding_window": 10, "sliding_window_pattern": "LLLG",
           "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"],
           "tie_word_embeddings": True}

CASES = {
    "exaone": dict(config=EXAONE, runs=[60], weights=from_mlx(gain=1.5), dtype="BF16", reference="mlx"),
    "exaone-q4": dict(config={**EXAONE, "hidden_size": 64, "intermediate_size": 128, "vocab_size": 64, "head_dim": 16,
                              "tie_word_embeddings": True, "quantization": SMALL_GROUP}, runs=[40], dtype="BF16",
                      weights=from_mlx(gain=1.5), quant=every(**SMALL_GROUP), layout="mlx", reference="mlx"),
    "exaone4": dict(config=EXAONE4, runs=[60], weights=as_published(gain=1.5), dtype="BF16"),
    "exaone4-q4": dict(config={**EXAONE4, **WIDE, "num_hidden_layers": 2, "head_dim": 16, "sliding_window": None,
                               "sliding_window_pattern": None, "layer_types": ["full_attention"] * 2,
                               "quantization": SMALL_GROUP}, runs=[40], weights=as_published(gain=1.5), dtype="BF16",
                       quant=every(**SMALL_GROUP), layout="mlx"),
}
