"""Mistral, whose window is in every layer, and its kin."""
import numpy as np

from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, as_published, every

MISTRAL = {**BASE, "model_type": "mistral", "architectures": ["MistralForCausalLM"], "head_dim": None,
           "rope_theta": 10000.0, "sliding_window": 16, "tie_word_embeddings": False}
MINISTRAL3 = {**BASE, "model_type": "ministral3", "architectures": ["Ministral3ForCausalLM"], "head_dim": 16,
              "sliding_window": None, "tie_word_embeddings": True,
              "rope_parameters": {"rope_type": "yarn", "type": "yarn", "rope_theta": 1e6, "factor": 8.0,
                                  "original_max_position_embeddings": 16, "max_position_embeddings": 128,
                                  "beta_fast": 32.0, "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0,
                                  "llama_4_scaling_beta": 0.4}}


def in_vision_model(text, **root):
    return lambda c: {"model_type": "mistral3", "architectures": ["Mistral3ForConditionalGeneration"],
                      "image_token_index": 10, "text_config": {k: v for k, v in c.items() if not k.startswith("quant")},
                      "vision_config": {"model_type": "pixtral", "hidden_size": 8},
                      **{k: v for k, v in c.items() if k.startswith("quant")}, **root}


VISION = {"vision_tower.patch_conv.weight": (np.zeros((2, 2), np.float32), "F32"),
          "multi_modal_projector.linear_1.weight": (np.zeros((2, 2), np.float32), "F32")}

CASES = {
    "mistral": dict(config=MISTRAL, runs=[75], dtype="BF16"),
    "mistral3-q4": dict(config={**MISTRAL, **WIDE, "sliding_window": None, "quantization": SMALL_GROUP}, runs=[40],
                        dtype="BF16", quant=every(**SMALL_GROUP), layout="mlx", weights=as_published(gain=1.5),
                        prefix=lambda name: "language_model." + name, extras=VISION, wrap=in_vision_model("mistral")),
    "ministral": dict(config={**MISTRAL, "model_type": "ministral", "architectures": ["MinistralForCausalLM"],
                              "num_hidden_layers": 3, "head_dim": 8,
                              "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}, runs=[50],
                      dtype="BF16", weights=as_published(gain=1.5)),
    "ministral-q4": dict(config={**MISTRAL, **WIDE, "model_type": "ministral", "head_dim": 16,
                                 "architectures": ["MinistralForCausalLM"], "quantization": SMALL_GROUP}, runs=[40],
                         dtype="BF16", quant=every(**SMALL_GROUP), layout="mlx", weights=as_published(gain=1.5)),
    "ministral3": dict(config=MINISTRAL3, runs=[75], weights=as_published(gain=1.5), dtype="BF16", check_mlx=True),
    "ministral3-q4": dict(config={**MINISTRAL3, **WIDE, "quantization": SMALL_GROUP}, runs=[40],
                          quant=every(**SMALL_GROUP), layout="mlx", weights=as_published(gain=1.5), dtype="BF16",
                          prefix=lambda name: name.replace("model.", "model.language_model.", 1), extras={
                              "model." + k: v for k, v in VISION.items()}, wrap=in_vision_model("ministral3")),
}
