"""Apertus: a trained activation, no gate, norms on heads."""
from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, as_published, every

APERTUS = {**BASE, "model_type": "apertus", "architectures": ["ApertusForCausalLM"], "hidden_act": "xielu",
           "pad_token_id": 0, "tie_word_embeddings": False, "rope_theta": 12000000.0,
           "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                            "original_max_position_embeddings": 32}}
# the four numbers are stored in bfloat16, and an eps of another size shows that it is read
FILL = as_published(gain=1.5, special=(("act_fn.eps", -0.05, 0.0), ("act_fn.beta", 0.5, 0.1), ("act_fn.alpha", 0.2, 0.3)))

CASES = {
    "apertus": dict(config=APERTUS, runs=[50], weights=FILL, dtype="BF16"),
    "apertus-q4": dict(config={**APERTUS, **WIDE, "hidden_act": "xielu", "quantization": SMALL_GROUP}, runs=[40],
                       weights=FILL, dtype="BF16", quant=every(**SMALL_GROUP), layout="mlx"),
}
