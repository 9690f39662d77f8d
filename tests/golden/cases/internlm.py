"""InternLM 2 (which transformers lacks) and 3."""
from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, from_mlx, as_published, every

INTERNLM2 = {**BASE, "model_type": "internlm2", "architectures": ["InternLM2ForCausalLM"], "rope_theta": 1e6, "bias": False,
             "tie_word_embeddings": False}
INTERNLM3 = {**BASE, "model_type": "internlm3", "architectures": ["InternLM3ForCausalLM"], "rope_theta": 50000.0,
             "qkv_bias": True, "bias": True, "head_dim": 12, "tie_word_embeddings": False,
             "rope_scaling": {"rope_type": "dynamic", "factor": 6.0}}

CASES = {
    "internlm2": dict(config={**INTERNLM2, "bias": True, "rope_scaling": {"type": "linear", "factor": 2.0}}, runs=[40],
                      weights=from_mlx(1.3), dtype="BF16", reference="mlx"),
    "internlm2-q4": dict(config={**INTERNLM2, **WIDE, "quantization": SMALL_GROUP}, runs=[40], layout="mlx",
                         weights=from_mlx(1.3), dtype="BF16", quant=every(**SMALL_GROUP), reference="mlx"),
    "internlm3": dict(config={**INTERNLM3, "max_position_embeddings": 64}, runs=[75, 30], n_ctx=[75, 64],
                      weights=as_published(1.3), dtype="BF16"),
    "internlm3-q4": dict(config={**INTERNLM3, **WIDE, "head_dim": 16, "quantization": SMALL_GROUP}, runs=[40], layout="mlx",
                         weights=as_published(1.3), dtype="BF16", quant=every(**SMALL_GROUP)),
}
