"""Mistral, whose window is in every layer."""
from tiny_checkpoint import BASE

CASES = {
    "mistral": dict(config={**BASE, "model_type": "mistral", "architectures": ["MistralForCausalLM"], "head_dim": None,
                            "rope_theta": 10000.0, "sliding_window": 16, "tie_word_embeddings": False}, runs=[75],
                    dtype="BF16"),
}
