"""Command R and Cohere 2: attention and MLP side by side, layer norms, neighbours that rotate, layers without positions."""
from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, as_published, every

COHERE = {**BASE, "model_type": "cohere", "architectures": ["CohereForCausalLM"], "rope_theta": 10000.0,
          "layer_norm_eps": 1e-5, "logit_scale": 0.25, "use_qk_norm": False, "tie_word_embeddings": True}
COHERE2 = {**COHERE, "model_type": "cohere2", "architectures": ["Cohere2ForCausalLM"], "num_hidden_layers": 4,
           "rope_theta": 50000.0, "sliding_window": 10, "sliding_window_pattern": 4, "head_dim": 8}
for table in (COHERE, COHERE2):
    table.pop("rms_norm_eps")
    table.pop("use_qk_norm") if table is COHERE2 else None

CASES = {
    "cohere": dict(config={**COHERE, "attention_bias": True}, runs=[60], weights=as_published(gain=1.5), dtype="BF16"),
    "cohere-plus": dict(config={**COHERE, "use_qk_norm": True}, runs=[40], weights=as_published(gain=1.5), dtype="BF16",
                        check_mlx=True),
    "cohere-q4": dict(config={**COHERE, **WIDE, "quantization": SMALL_GROUP}, runs=[40], dtype="BF16",
                      weights=as_published(gain=1.5), quant=every(**SMALL_GROUP), layout="mlx", check_mlx=True),
    "cohere2": dict(config=COHERE2, runs=[60], weights=as_published(gain=1.5), dtype="BF16", check_mlx=True),
    "cohere2-q4": dict(config={**COHERE2, **WIDE, "num_hidden_layers": 2, "sliding_window_pattern": 2, "head_dim": 16,
                               "quantization": SMALL_GROUP}, runs=[40], weights=as_published(gain=1.5), dtype="BF16",
                       quant=every(**SMALL_GROUP), layout="mlx", check_mlx=True),
}
