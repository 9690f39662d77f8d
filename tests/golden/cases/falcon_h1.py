"""Falcon-H1: Mamba 2 and attention side by side, with factors."""
import numpy as np

from expert_layouts import layout
from recurrent_layouts import times, turned
from tiny_checkpoint import BASE, SMALL_GROUP, as_published, by_layer

FACTORS = {"lm_head_multiplier": 0.4, "embedding_multiplier": 1.6, "key_multiplier": 0.6, "attention_in_multiplier": 1.2,
           "attention_out_multiplier": 0.9, "ssm_in_multiplier": 1.3, "ssm_out_multiplier": 0.7,
           "mlp_multipliers": [0.8, 1.4], "ssm_multipliers": [0.7, 0.9, 1.1, 1.2, 0.6]}
FALCON = {**BASE, **FACTORS, "model_type": "falcon_h1", "architectures": ["FalconH1ForCausalLM"], "rope_theta": 1e5,
          "mamba_d_ssm": 48, "mamba_n_heads": 4, "mamba_d_head": 12, "mamba_n_groups": 1, "mamba_d_state": 8,
          "mamba_d_conv": 4, "mamba_expand": 2, "mamba_chunk_size": 16, "mamba_conv_bias": True,
          "mamba_proj_bias": False, "mamba_rms_norm": False, "mamba_norm_before_gate": False, "projectors_bias": False,
          "tie_word_embeddings": False}
WIDE = {**FALCON, "hidden_size": 64, "intermediate_size": 64, "vocab_size": 64, "mamba_d_ssm": 64, "mamba_d_head": 16,
        "mamba_n_groups": 2, "mamba_rms_norm": True, "num_hidden_layers": 1, "tie_word_embeddings": True,
        "quantization": SMALL_GROUP}
WEIGHTS = as_published(special=[("A_log", 0.3, 0.6), ("dt_bias", 0.0, 0.5), (".D", 1.0, 0.3)])
PARTS = np.repeat(FACTORS["ssm_multipliers"], [64, 64, 16, 16, 4])[:, None] * FACTORS["ssm_in_multiplier"]
FOLDED = layout(turned("conv1d.weight"), times("embed_tokens", FACTORS["embedding_multiplier"]),
                times("(q_proj|k_proj)", FACTORS["attention_in_multiplier"]),
                times("o_proj", FACTORS["attention_out_multiplier"]), times("out_proj", FACTORS["ssm_out_multiplier"]),
                times("gate_proj", FACTORS["mlp_multipliers"][0]), times("down_proj", FACTORS["mlp_multipliers"][1]),
                times("in_proj", PARTS))

CASES = {
    "falcon-h1": dict(config=FALCON, runs=[60], weights=WEIGHTS, dtype="BF16"),
    "falcon-h1-q4": dict(config=WIDE, runs=[40], weights=WEIGHTS, layout=FOLDED, dtype="F16",
                         quant=by_layer({"conv1d": None, "norm": None, "A_log": None}, SMALL_GROUP)),
}
