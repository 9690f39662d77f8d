"""Gemma 1 to 3: soft caps, two rotary embeddings, windows, inside of a vision model."""
import numpy as np

from tiny_checkpoint import BASE, SMALL_GROUP, as_published, every

GEMMA = {**BASE, "model_type": "gemma3_text", "architectures": ["Gemma3ForCausalLM"], "hidden_size": 64,
         "intermediate_size": 96, "num_hidden_layers": 4, "head_dim": 24, "hidden_activation": "gelu_pytorch_tanh",
         "query_pre_attn_scalar": 20, "sliding_window": 12, "sliding_window_pattern": 3, "rope_theta": 1e6,
         "rope_local_base_freq": 10000.0, "rms_norm_eps": 1e-6, "eos_token_id": [1, 106]}
GEMMA.pop("hidden_act")
GEMMA1 = {**BASE, "model_type": "gemma", "architectures": ["GemmaForCausalLM"], "hidden_size": 36, "head_dim": 12,
          "hidden_act": "gelu", "hidden_activation": None, "rope_theta": 10000.0, "num_key_value_heads": 1}
GEMMA2 = {**GEMMA1, "model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], "num_hidden_layers": 3,
          "hidden_act": "gelu_pytorch_tanh", "hidden_activation": "gelu_pytorch_tanh", "query_pre_attn_scalar": 20,
          "sliding_window": 12, "attn_logit_softcapping": 3.0, "final_logit_softcapping": 5.0, "num_key_value_heads": 2}
OFFSET = as_published(gain=1.5, embed=0.3, norm=0.0)

CASES = {
    "gemma": dict(config=GEMMA1, runs=[50], weights=OFFSET, dtype="BF16"),
    "gemma-q4": dict(config={**GEMMA1, "hidden_size": 64, "vocab_size": 64, "head_dim": 16, "intermediate_size": 96,
                             "quantization": SMALL_GROUP}, runs=[40], weights=OFFSET,
                     quant=every(**SMALL_GROUP), layout="mlx"),
    "gemma2": dict(config=GEMMA2, runs=[50], weights=OFFSET, dtype="BF16"),
    "gemma2-no-caps": dict(config={**GEMMA2, "num_hidden_layers": 2, "attn_logit_softcapping": None,
                                   "final_logit_softcapping": None,
                                   "layer_types": ["full_attention", "sliding_attention"]},
                           runs=[40], weights=OFFSET, dtype="BF16"),
    "gemma2-q4": dict(config={**GEMMA2, "hidden_size": 64, "vocab_size": 64, "head_dim": 16, "num_hidden_layers": 2,
                              "intermediate_size": 96, "quantization": SMALL_GROUP}, runs=[40], weights=OFFSET,
                      quant=every(**SMALL_GROUP), layout="mlx"),
    "gemma3": dict(config=GEMMA, runs=[75], weights=dict(head_norms=True, gemma=True, tied=True), dtype="BF16",
                   check_mlx=True),
    "gemma3-layer-types": dict(
        config={**{k: v for k, v in GEMMA.items() if k not in ("sliding_window_pattern", "rope_theta",
                                                               "rope_local_base_freq")},
                "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "full_attention"],
                "final_logit_softcapping": 5.0,
                "rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
                                    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}},
        runs=[50], weights=dict(head_norms=True, gemma=True, tied=True), dtype="BF16"),
    "gemma3-vision-q4": dict(
        config={**GEMMA, "vocab_size": 64, "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
        runs=[50], weights=dict(head_norms=True, gemma=True, tied=True), dtype="BF16", layout="mlx",
        quant=every(**SMALL_GROUP), prefix=lambda name: "language_model." + name,
        extras={"vision_tower.embeddings.weight": (np.zeros((2, 2), np.float32), "F32")},
        wrap=lambda c: {"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"],
                        "eos_token_id": c.pop("eos_token_id"), "quantization": SMALL_GROUP, "text_config": c,
                        "vision_config": {"hidden_size": 8}}),
}
