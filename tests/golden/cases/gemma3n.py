"""Gemma 3n: streams side by side, products of low rank, gates that keep few, shared keys, small embeddings."""
import numpy as np

from tiny_checkpoint import BASE, SMALL_GROUP, as_published, by_layer

GEMMA3N = {**BASE, "model_type": "gemma3n_text", "architectures": ["Gemma3nForCausalLM"], "hidden_size": 36,
           "intermediate_size": [40, 40, 24, 24], "num_hidden_layers": 4, "num_attention_heads": 2,
           "num_key_value_heads": 1, "head_dim": 8, "hidden_activation": "gelu_pytorch_tanh", "sliding_window": 7,
           "rms_norm_eps": 1e-6, "num_kv_shared_layers": 2, "hidden_size_per_layer_input": 16,
           "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
           "vocab_size_per_layer_input": 50, "altup_num_inputs": 3, "altup_active_idx": 0, "altup_correct_scale": True,
           "altup_coef_clip": 120.0,
           "laurel_rank": 6, "activation_sparsity_pattern": [0.8, 0.5, 0.0, 0.0], "rope_theta": 1e6,
           "rope_local_base_freq": 10000.0, "final_logit_softcapping": 5.0, "pad_token_id": 0,
           "eos_token_id": [1, 106]}
GEMMA3N.pop("hidden_act")
FILL = as_published(gain=1.0, embed=0.3, special=(("correct_output_scale", 0.8, 0.2), ("q_norm", 0.5, 0.1),
                                                  ("k_norm", 0.7, 0.1)))

CASES = {
    "gemma3n": dict(config=GEMMA3N, runs=[50], weights=FILL, dtype="BF16"),
    "gemma3n-q4": dict(
        config={**GEMMA3N, "hidden_size": 64, "intermediate_size": 64, "vocab_size": 64, "head_dim": 16,
                "num_hidden_layers": 2, "num_kv_shared_layers": 0, "vocab_size_per_layer_input": 64,
                "altup_num_inputs": 2, "laurel_rank": 32, "activation_sparsity_pattern": [0.9, 0.0],
                "layer_types": ["sliding_attention", "full_attention"]},
        runs=[40], weights=FILL, dtype="BF16", layout="mlx", default=SMALL_GROUP,
        quant=by_layer({"per_layer_projection": None, "_coefs": None}, SMALL_GROUP),
        prefix=lambda name: name.replace("model.", "model.language_model.", 1), check_mlx=True,
        extras={"model.vision_tower.timm_model.conv_stem.bn.weight": (np.zeros((2, 2), np.float32), "F32"),
                "model.embed_audio.embedding.weight": (np.zeros((2, 2), np.float32), "F32")},
        wrap=lambda c: {"model_type": "gemma3n", "architectures": ["Gemma3nForConditionalGeneration"],
                        "eos_token_id": c.pop("eos_token_id"), "quantization": c.pop("quantization"),
                        "text_config": {k: v for k, v in c.items() if k != "quantization_config"},
                        "vision_config": {"hidden_size": 8}}),
}
