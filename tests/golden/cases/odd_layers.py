"""Families whose layers differ from Llama's by numbers, by layer or by weights: MiniCPM 1 to 3, TeleChat 3, OpenELM, Nemotron-NAS,
Mellum, BitNet."""
import numpy as np

from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, as_published, by_layer, every, from_mlx

MINICPM = {**BASE, "model_type": "minicpm", "architectures": ["MiniCPMForCausalLM"], "scale_emb": 12, "scale_depth": 1.4,
           "dim_model_base": 16, "rope_theta": 10000.0, "tie_word_embeddings": False}
MINICPM3 = {**MINICPM, "model_type": "minicpm3", "architectures": ["MiniCPM3ForCausalLM"], "num_key_value_heads": 4,
            "q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": None,
            "rope_scaling": {"type": "longrope", "original_max_position_embeddings": 32,
                             "short_factor": [1.0, 1.1, 1.3, 1.5], "long_factor": [1.2, 2.0, 3.5, 4.0]}}
TELECHAT3 = {**BASE, "model_type": "telechat3", "architectures": ["TeleChat3ForCausalLM"], "rope_theta": 1e6,
             "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": False,
             "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}}
OPENELM = {"model_type": "openelm", "architectures": ["OpenELMForCausalLM"], "head_dim": 8, "num_transformer_layers": 3,
           "model_dim": 32, "vocab_size": 61, "ffn_dim_divisor": 8, "num_query_heads": [2, 4, 4], "num_kv_heads": [1, 1, 2],
           "ffn_multipliers": [0.5, 1.3, 2.0], "ffn_with_glu": True, "normalize_qk_projections": True,
           "share_input_output_layers": True, "rope_freq_constant": 10000, "max_context_length": 128, "bos_token_id": 1,
           "eos_token_id": 2}
NAS = {**BASE, "model_type": "nemotron-nas", "architectures": ["DeciLMForCausalLM"], "rope_theta": 500000.0,
       "num_key_value_heads": None, "num_hidden_layers": 4, "intermediate_size": None, "tie_word_embeddings": False,
       "block_configs": [{"attention": {"n_heads_in_group": 2}, "ffn": {"no_op": True}},
                         {"attention": {"no_op": True}, "ffn": {"ffn_mult": 1.0}},
                         {"attention": {"replace_with_linear": True}, "ffn": {"replace_with_linear": True}},
                         {"attention": {"n_heads_in_group": 4}, "ffn": {"replace_with_linear": True}}]}
MELLUM = {**BASE, "model_type": "mellum", "architectures": ["MellumForCausalLM"], "head_dim": 12, "sliding_window": 12,
          "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "norm_topk_prob": True,
          "layer_types": ["sliding_attention", "full_attention"], "mlp_layer_types": ["dense", "sparse"],
          "rope_parameters": {"full_attention": {"rope_type": "yarn", "rope_theta": 500000.0, "factor": 4.0,
                                                 "original_max_position_embeddings": 32},
                              "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}},
          "tie_word_embeddings": False}
BITNET = {**BASE, "model_type": "bitnet", "architectures": ["BitNetForCausalLM"], "hidden_act": "relu2",
          "rope_theta": 500000.0, "tie_word_embeddings": True}


def ternary(fill):
    """Layers of -1, 0 and 1 times one bf16 factor a matrix."""
    def make(cfg, rng):
        tensors = fill(cfg, rng)
        for name, a in tensors.items():
            if "layers" in name and a.ndim == 2:
                scale = np.float32(0.5 + 0.125 * (len(name) % 5)) / 8
                tensors[name] = np.clip(np.round(a * np.sqrt(a.shape[1])), -1, 1).astype(np.float32) * scale
        return tensors
    return make


def pack_ternary(divides):
    """As transformers stores them: four rows, a quarter of the matrix apart, in a byte."""
    def finish(stored):
        out = {}
        for name, (a, dtype) in stored.items():
            if "layers" not in name or a.ndim != 2 or dtype == "U32":
                out[name] = (a, dtype)
                continue
            scale = np.abs(a).max()
            quarters = (np.round(a / scale) + 1).astype(np.uint8).reshape(4, a.shape[0] // 4, a.shape[1])
            packed = quarters[0] | quarters[1] << 2 | quarters[2] << 4 | quarters[3] << 6
            out[name] = (packed, "U8")
            out[name + "_scale"] = (np.array([1 / scale if divides else scale], np.float32), "F32" if divides else dtype)
        return out
    return finish


def bitnet_config(linear_class):
    how = {"quant_method": "bitnet", "linear_class": linear_class, "quantization_mode": "offline",
           "modules_to_not_convert": None}
    return lambda c: {**c, "quantization_config": how}


CASES = {
    "minicpm": dict(config=MINICPM, runs=[40], weights=from_mlx(1.3, embed=0.1), dtype="BF16", reference="mlx"),
    "minicpm-q4": dict(config={**MINICPM, **WIDE, "quantization": SMALL_GROUP,
                               "rope_scaling": {"rope_type": "longrope", "original_max_position_embeddings": 32,
                                                "short_factor": [1.0, 1.1, 1.3, 1.5, 1.6, 1.7, 1.8, 2.0],
                                                "long_factor": [1.2, 2.0, 3.5, 4.0, 4.0, 4.5, 5.0, 6.0]}},
                       runs=[40], layout="mlx", weights=from_mlx(1.3, embed=0.1), dtype="BF16", quant=every(**SMALL_GROUP),
                       reference="mlx"),
    "minicpm3": dict(config=MINICPM3, runs=[50, 30], n_ctx=[128, 32], weights=as_published(1.3, embed=0.1), dtype="BF16"),
    "minicpm3-q4": dict(config={**MINICPM3, **WIDE, "num_key_value_heads": 4, "q_lora_rank": 32, "kv_lora_rank": 32,
                                "qk_nope_head_dim": 32, "quantization": SMALL_GROUP},
                        runs=[40], layout="mlx", weights=as_published(1.3, embed=0.1), dtype="BF16",
                        quant=every(**SMALL_GROUP), check_mlx=True),
    "telechat3": dict(config=TELECHAT3, runs=[40], weights=from_mlx(1.3), dtype="BF16", reference="mlx"),
    "telechat3-q4": dict(config={**TELECHAT3, **WIDE, "attention_bias": False, "mlp_bias": False, "rope_scaling": None,
                                 "quantization": SMALL_GROUP}, runs=[40], layout="mlx", weights=from_mlx(1.3), dtype="BF16",
                         quant=every(**SMALL_GROUP), reference="mlx"),
    "openelm": dict(config=OPENELM, runs=[40], weights=from_mlx(1.3), dtype="BF16", reference="mlx"),
    "openelm-q4": dict(config={**OPENELM, "model_dim": 64, "head_dim": 16, "ffn_dim_divisor": 32, "vocab_size": 64,
                               "num_transformer_layers": 2, "num_query_heads": [2, 4], "num_kv_heads": [1, 2],
                               "ffn_multipliers": [1.0, 1.5], "share_input_output_layers": False,
                               "quantization": SMALL_GROUP},
                       runs=[40], layout="mlx", weights=from_mlx(1.3), dtype="BF16", quant=every(**SMALL_GROUP),
                       reference="mlx"),
    "nemotron-nas": dict(config=NAS, runs=[40], weights=from_mlx(1.3), dtype="BF16", reference="mlx"),
    "nemotron-nas-q4": dict(config={**NAS, "hidden_size": 64, "vocab_size": 64, "num_hidden_layers": 2,
                                    "block_configs": [NAS["block_configs"][0], NAS["block_configs"][2]],
                                    "quantization": SMALL_GROUP},
                            runs=[40], layout="mlx", weights=from_mlx(1.3), dtype="BF16", quant=every(**SMALL_GROUP),
                            reference="mlx"),
    "mellum": dict(config=MELLUM, runs=[50], weights=as_published(1.3), dtype="BF16"),
    "mellum-q4": dict(config={**MELLUM, "hidden_size": 64, "vocab_size": 64, "head_dim": 16, "moe_intermediate_size": 32,
                              "mlp_layer_types": ["sparse", "sparse"]},
                      runs=[40], layout="mlx", weights=as_published(1.3), dtype="BF16", default=SMALL_GROUP,
                      quant=by_layer({"mlp.gate": {"group_size": 64, "bits": 8}}, SMALL_GROUP), check_mlx=True),
    "bitnet": dict(config=BITNET, runs=[40], weights=as_published(1.3, embed=0.5), dtype="BF16"),
    "bitnet-ternary": dict(config={**BITNET, "hidden_size": 64, "intermediate_size": 96, "vocab_size": 64}, runs=[40],
                           weights=ternary(as_published(1.3, embed=0.5)), dtype="BF16", finish=pack_ternary(False),
                           wrap=bitnet_config("autobitlinear")),
    "bitnet-mlx": dict(config={**BITNET, "hidden_size": 64, "intermediate_size": 96, "vocab_size": 64,
                               "quantization": {"group_size": 64, "bits": 4}}, runs=[30],
                       weights=ternary(as_published(1.3, embed=0.5)), dtype="BF16", finish=pack_ternary(False),
                       quant=lambda path: {"group_size": 64, "bits": 4} if "embed" in path else None),
    "bitnet-divided": dict(config={**BITNET, "hidden_size": 128, "intermediate_size": 64, "vocab_size": 64}, runs=[30],
                           weights=ternary(as_published(1.3, embed=0.5)), dtype="BF16", finish=pack_ternary(True),
                           wrap=bitnet_config("bitlinear")),
}
