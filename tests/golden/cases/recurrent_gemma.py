"""RecurrentGemma: gated linear recurrences and attention in a window."""
from expert_layouts import layout
from recurrent_layouts import turned
from tiny_checkpoint import BASE, SMALL_GROUP, as_published, by_layer

GRIFFIN = {k: BASE[k] for k in ("vocab_size", "hidden_size", "num_attention_heads", "bos_token_id", "eos_token_id")}
GRIFFIN = {**GRIFFIN, "model_type": "recurrent_gemma", "architectures": ["RecurrentGemmaForCausalLM"],
           "num_hidden_layers": 3, "intermediate_size": 96, "num_key_value_heads": 1, "lru_width": 32,
           "attention_window_size": 20, "conv1d_width": 4, "logits_soft_cap": 5.0, "rms_norm_eps": 1e-6,
           "rope_theta": 10000.0, "partial_rotary_factor": 0.5, "hidden_activation": "gelu_pytorch_tanh",
           "attention_bias": False, "block_types": ["recurrent", "recurrent", "attention"], "head_dim": 8}
WIDE = {**GRIFFIN, "hidden_size": 64, "lru_width": 64, "vocab_size": 64, "intermediate_size": 128, "head_dim": 16,
        "num_hidden_layers": 2, "block_types": ["recurrent", "attention"], "quantization": SMALL_GROUP}
WEIGHTS = as_published(norm=0.0, embed=0.3, special=[("recurrent_param", 0.5, 0.5), ("gate_weight", 0.0, 0.4)])

CASES = {
    "recurrent-gemma": dict(config=GRIFFIN, runs=[60], weights=WEIGHTS, dtype="BF16"),
    "recurrent-gemma-q4": dict(config=WIDE, runs=[40], weights=WEIGHTS, dtype="BF16", check_mlx=True,
                               quant=by_layer({"conv_1d": None, "norm": None, "rg_lru": None}, SMALL_GROUP),
                               layout=layout(turned("conv_1d.weight"))),
}
