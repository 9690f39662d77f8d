"""Granite: multipliers of embedding, scores, residuals and logits."""
from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, as_published, every

GRANITE = {**BASE, "model_type": "granite", "architectures": ["GraniteForCausalLM"], "rope_theta": 1e7,
           "attention_multiplier": 0.2, "embedding_multiplier": 12.0, "residual_multiplier": 0.22,
           "logits_scaling": 8.0, "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": True}

CASES = {
    "granite": dict(config={**GRANITE, "attention_bias": True, "mlp_bias": True}, runs=[60],
                    weights=as_published(gain=1.5), dtype="BF16", check_mlx=True),
    "granite-q4": dict(config={**GRANITE, **WIDE, "tie_word_embeddings": False, "quantization": SMALL_GROUP}, runs=[40],
                       weights=as_published(gain=1.5), dtype="BF16", quant=every(**SMALL_GROUP), layout="mlx",
                       check_mlx=True),
}
