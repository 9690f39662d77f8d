"""LFM2: short convolutions and attention."""
from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, as_published, conv_to_mlx

LFM2 = {**BASE, "model_type": "lfm2", "architectures": ["Lfm2ForCausalLM"], "num_hidden_layers": 3, "norm_eps": 1e-5,
        "rope_theta": 1e6, "conv_bias": False, "conv_L_cache": 3, "block_dim": 32, "block_ff_dim": 64,
        "block_auto_adjust_ff_dim": True, "block_ffn_dim_multiplier": 1.25, "block_multiple_of": 16,
        "layer_types": ["conv", "full_attention", "conv"], "tie_word_embeddings": True}
LFM2.pop("intermediate_size")


def quant(path):
    return None if path.endswith("conv.conv") or "norm" in path else SMALL_GROUP


CASES = {
    "lfm2": dict(config=LFM2, runs=[75], weights=as_published(), dtype="BF16"),
    "lfm2-q4": dict(config={**LFM2, **{k: WIDE[k] for k in ("hidden_size", "vocab_size")}, "block_dim": 64,
                            "conv_bias": True, "conv_L_cache": 4, "block_auto_adjust_ff_dim": False,
                            "quantization": SMALL_GROUP}, runs=[40],
                    weights=as_published(), quant=quant, check_mlx=True, **conv_to_mlx("conv.conv.weight")),
}
