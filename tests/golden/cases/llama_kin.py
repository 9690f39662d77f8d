"""Families that are Llama with a switch or two: Seed-OSS, ERNIE 4.5, Helium, Hunyuan, MiMo."""
import numpy as np

from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, as_published, every, from_mlx

SEED = {**BASE, "model_type": "seed_oss", "architectures": ["SeedOssForCausalLM"], "head_dim": 16, "rope_theta": 1e7,
        "attention_bias": True, "attention_out_bias": False, "mlp_bias": False, "tie_word_embeddings": False}
ERNIE = {**BASE, "model_type": "ernie4_5", "architectures": ["Ernie4_5ForCausalLM"], "head_dim": 16,
         "rope_theta": 500000.0, "use_bias": False, "tie_word_embeddings": True}
HELIUM = {**BASE, "model_type": "helium", "architectures": ["HeliumForCausalLM"], "head_dim": 8, "rope_theta": 100000.0,
          "rms_norm_eps": 1e-8, "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": False}
HUNYUAN = {**BASE, "model_type": "hunyuan_v1_dense", "architectures": ["HunYuanDenseV1ForCausalLM"], "head_dim": 16,
           "rope_theta": 10000.0, "attention_bias": False, "use_qk_norm": True, "tie_word_embeddings": True,
           "rope_scaling": {"alpha": 1000.0, "beta_fast": 32, "beta_slow": 1, "factor": 1.0, "mscale": 1.0,
                            "mscale_all_dim": 0.0, "type": "dynamic"}}
MIMO = {**BASE, "model_type": "mimo", "architectures": ["MiMoForCausalLM"], "rope_theta": 640000.0,
        "num_nextn_predict_layers": 1, "attention_bias": True, "use_sliding_window": False, "sliding_window": 32768,
        "max_window_layers": 36, "tie_word_embeddings": False}
FILL = as_published(gain=1.5)
QUANT = dict(runs=[40], weights=FILL, dtype="BF16", quant=every(**SMALL_GROUP), layout="mlx")


def small(table, **more):
    return {**table, **WIDE, "head_dim": 16, "quantization": SMALL_GROUP, **more}


CASES = {
    "seed-oss": dict(config=SEED, runs=[50], weights=FILL, dtype="BF16", check_mlx=True),
    "seed-oss-q4": dict(config=small(SEED, attention_out_bias=True), **QUANT, check_mlx=True),
    "ernie4_5": dict(config={**ERNIE, "use_bias": True}, runs=[50], weights=FILL, dtype="BF16"),
    "ernie4_5-q4": dict(config=small(ERNIE), **QUANT, check_mlx=True),
    "helium": dict(config={**HELIUM, "attention_bias": True}, runs=[50], weights=FILL, dtype="BF16"),
    "helium-q4": dict(config=small(HELIUM), **QUANT, check_mlx=True),
    "hunyuan": dict(config=HUNYUAN, runs=[50], weights=FILL, dtype="BF16", check_mlx=True),
    "hunyuan-q4": dict(config=small(HUNYUAN), **QUANT, check_mlx=True),
    "mimo": dict(config=MIMO, runs=[50], weights=from_mlx(gain=1.5), dtype="BF16", reference="mlx",
                 extras={"model.mtp_layers.0.input_proj.weight": (np.zeros((2, 2), np.float32), "F32")}),
    "mimo-q4": dict(config=small(MIMO), **{**QUANT, "weights": from_mlx(gain=1.5)}, reference="mlx"),
}
