"""SmolLM3: layers without positions."""
from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, as_published, every

SMOLLM3 = {**BASE, "model_type": "smollm3", "architectures": ["SmolLM3ForCausalLM"], "rope_theta": 5e6,
           "num_hidden_layers": 4, "num_key_value_heads": 2, "use_sliding_window": False, "sliding_window": None, "pad_token_id": 0,
           "tie_word_embeddings": True}

CASES = {
    "smollm3": dict(config=SMOLLM3, runs=[60], weights=as_published(gain=1.5), dtype="BF16", check_mlx=True),
    "smollm3-window": dict(config={**SMOLLM3, "num_hidden_layers": 3, "no_rope_layers": [0, 1, 0], "sliding_window": 9,
                                   "use_sliding_window": True}, runs=[40], weights=as_published(gain=1.5), dtype="BF16"),
    "smollm3-q4": dict(config={**SMOLLM3, **WIDE, "num_hidden_layers": 2, "no_rope_layers": [1, 0],
                               "no_rope_layer_interval": 2, "quantization": SMALL_GROUP}, runs=[40],
                       weights=as_published(gain=1.5), dtype="BF16", quant=every(**SMALL_GROUP), layout="mlx",
                       check_mlx=True),
}
