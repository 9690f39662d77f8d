"""OLMo 1 to 3: norms without weights and clipped queries; norms behind the blocks, on whole queries and keys, and windows."""
from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, as_published, every

OLMO = {**BASE, "model_type": "olmo", "architectures": ["OlmoForCausalLM"], "rope_theta": 10000.0, "clip_qkv": 0.8,
        "tie_word_embeddings": False, "attention_bias": False}
OLMO.pop("rms_norm_eps")
OLMO2 = {**BASE, "model_type": "olmo2", "architectures": ["Olmo2ForCausalLM"], "rope_theta": 500000.0,
         "tie_word_embeddings": False, "attention_bias": False}
OLMO3 = {**OLMO2, "model_type": "olmo3", "architectures": ["Olmo3ForCausalLM"], "num_hidden_layers": 4,
         "sliding_window": 10, "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "attention_factor": 1.2,
                                                "original_max_position_embeddings": 32, "beta_fast": 32.0,
                                                "beta_slow": 1.0}}

CASES = {
    "olmo": dict(config=OLMO, runs=[50], weights=as_published(gain=1.5), dtype="BF16"),
    "olmo-q4": dict(config={**OLMO, **WIDE, "clip_qkv": None, "tie_word_embeddings": True,
                            "quantization": SMALL_GROUP}, runs=[40], weights=as_published(gain=1.5), dtype="BF16",
                    quant=every(**SMALL_GROUP), layout="mlx"),
    "olmo2": dict(config=OLMO2, runs=[60], weights=as_published(gain=1.5), dtype="BF16", check_mlx=True),
    "olmo2-q4": dict(config={**OLMO2, **WIDE, "quantization": SMALL_GROUP}, runs=[40], weights=as_published(gain=1.5),
                     dtype="BF16", quant=every(**SMALL_GROUP), layout="mlx", check_mlx=True),
    "olmo3": dict(config=OLMO3, runs=[60], weights=as_published(gain=1.5), dtype="BF16"),
    "olmo3-q4": dict(config={**OLMO3, **WIDE, "num_hidden_layers": 2, "rope_scaling": None,
                             "layer_types": ["sliding_attention", "full_attention"],
                             "quantization": SMALL_GROUP}, runs=[40], weights=as_published(gain=1.5), dtype="BF16",
                     quant=every(**SMALL_GROUP), layout="mlx"),
}
