"""GLM-4: half of a head rotates, by neighbours; gate and up in one matrix; norms before and behind."""
from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, as_published, every

GLM = {**BASE, "model_type": "glm", "architectures": ["GlmForCausalLM"], "head_dim": 16, "partial_rotary_factor": 0.5,
       "rope_theta": 10000.0, "attention_bias": True, "eos_token_id": [2, 3], "pad_token_id": 0,
       "tie_word_embeddings": False}
GLM4 = {**GLM, "model_type": "glm4", "architectures": ["Glm4ForCausalLM"]}

CASES = {
    "glm": dict(config=GLM, runs=[50], weights=as_published(gain=1.5), dtype="BF16"),
    "glm-q4": dict(config={**GLM, **WIDE, "intermediate_size": 96, "quantization": SMALL_GROUP}, runs=[30],
                   weights=as_published(gain=1.5), dtype="BF16", quant=every(**SMALL_GROUP), layout="mlx"),
    "glm4": dict(config={**GLM4, "attention_bias": False}, runs=[50], weights=as_published(gain=1.5), dtype="BF16",
                 check_mlx=True),
    "glm4-q4": dict(config={**GLM4, **WIDE, "intermediate_size": 96, "quantization": SMALL_GROUP}, runs=[30],
                    weights=as_published(gain=1.5), dtype="BF16", quant=every(**SMALL_GROUP), layout="mlx",
                    check_mlx=True),
}
