"""Families with experts that transformers lacks or names its own way: Bailing, Klear, DBRX."""
import numpy as np

from expert_layouts import Part, layout, stacked
from tiny_checkpoint import BASE, SMALL_GROUP, as_published, every

BAILING = {**BASE, "model_type": "bailing_moe", "architectures": ["BailingMoeV2ForCausalLM"], "rope_theta": 6e5,
           "num_experts": 6, "num_shared_experts": 1, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
           "first_k_dense_replace": 1, "norm_topk_prob": True, "use_qk_norm": True, "partial_rotary_factor": 0.5,
           "moe_router_enable_expert_bias": True, "score_function": "sigmoid", "n_group": 3, "topk_group": 2,
           "routed_scaling_factor": 2.5, "tie_word_embeddings": False}
KLEAR = {**BASE, "model_type": "Klear", "architectures": ["KlearMoeForCausalLM"], "rope_theta": 5e5, "attention_bias": False,
         "mlp_only_layers": [0], "num_experts": 5, "num_experts_per_tok": 2, "decoder_sparse_step": 1, "n_shared_experts": 1,
         "moe_intermediate_size": 16, "norm_topk_prob": True}
DBRX = {"model_type": "dbrx", "architectures": ["DbrxForCausalLM"], "d_model": 32, "n_heads": 4, "n_layers": 2,
        "max_seq_len": 128, "vocab_size": 61, "tie_word_embeddings": False, "rope_theta": 10000.0,
        "attn_config": {"clip_qkv": 1.0, "kv_n_heads": 2, "rope_theta": 10000},
        "ffn_config": {"ffn_hidden_size": 16, "moe_num_experts": 4, "moe_top_k": 2, "hidden_size": 32,
                       "moe_normalize_expert_weights": 1.0}}


def common(cfg, rng, embed):
    d, v = cfg["hidden_size"], cfg["vocab_size"]
    return {f"model.{embed}.weight": rng.standard_normal((v, d)), "lm_head.weight": rng.standard_normal((v, d)) * 2 / np.sqrt(d),
            "model.norm.weight": 1 + 0.2 * rng.standard_normal(d)}


def matrix(rng, rows, cols):
    return rng.standard_normal((rows, cols)) / np.sqrt(cols)


def mlp(t, rng, p, d, width):
    for name, rows, cols in (("gate_proj", width, d), ("up_proj", width, d), ("down_proj", d, width)):
        t[f"{p}.{name}.weight"] = matrix(rng, rows, cols)


def norms(t, rng, p, names, n):
    for name in names:
        t[f"{p}{name}.weight"] = 1 + 0.2 * rng.standard_normal(n)


def bailing(cfg, rng):
    d, ff, t = cfg["hidden_size"], cfg["moe_intermediate_size"], common(cfg, rng, "word_embeddings")
    hd = d // cfg["num_attention_heads"]
    for i in range(cfg["num_hidden_layers"]):
        p = f"model.layers.{i}."
        norms(t, rng, p, ("input_layernorm", "post_attention_layernorm"), d)
        norms(t, rng, p + "attention.", ("query_layernorm", "key_layernorm"), hd)
        t[p + "attention.query_key_value.weight"] = matrix(rng, (cfg["num_attention_heads"] + 2 * cfg["num_key_value_heads"]) * hd, d)
        t[p + "attention.dense.weight"] = matrix(rng, d, d)
        if i < cfg["first_k_dense_replace"]:
            mlp(t, rng, p + "mlp", d, cfg["intermediate_size"])
            continue
        t[p + "mlp.gate.weight"] = 3 * matrix(rng, cfg["num_experts"], d)
        t[p + "mlp.gate.expert_bias"] = 0.2 * rng.random(cfg["num_experts"])  # mlx-lm leaves groups out by a score of 0
        mlp(t, rng, p + "mlp.shared_experts", d, ff)
        for e in range(cfg["num_experts"]):
            mlp(t, rng, f"{p}mlp.experts.{e}", d, ff)
    return {name: a.astype(np.float32) for name, a in t.items()}


def klear(cfg, rng):
    d, ff, t = cfg["hidden_size"], cfg["moe_intermediate_size"], common(cfg, rng, "embed_tokens")
    hd = d // cfg["num_attention_heads"]
    for i in range(cfg["num_hidden_layers"]):
        p = f"model.layers.{i}."
        norms(t, rng, p, ("input_layernorm", "post_attention_layernorm"), d)
        norms(t, rng, p + "self_attn.", ("q_norm", "k_norm"), hd)
        for name, n in (("q_proj", cfg["num_attention_heads"]), ("k_proj", cfg["num_key_value_heads"]),
                        ("v_proj", cfg["num_key_value_heads"]), ("o_proj", cfg["num_attention_heads"])):
            t[f"{p}self_attn.{name}.weight"] = matrix(rng, n * hd, d)
        if i in cfg["mlp_only_layers"]:
            mlp(t, rng, p + "mlp", d, cfg["intermediate_size"])
            continue
        t[p + "mlp.gate.weight"] = 2 * matrix(rng, cfg["num_experts"], d)
        t[p + "mlp.expert_bias"] = 0.2 * rng.standard_normal(cfg["num_experts"])
        t[p + "mlp.coefficient.weight"] = matrix(rng, 2, d)
        t[p + "mlp.coefficient.bias"] = 0.3 * rng.standard_normal(2)
        mlp(t, rng, p + "mlp.shared_experts", d, ff * cfg["n_shared_experts"])
        for e in range(cfg["num_experts"]):
            mlp(t, rng, f"{p}mlp.experts.{e}", d, ff)
    return {name: a.astype(np.float32) for name, a in t.items()}


def dbrx_experts(n_experts):
    """mlx-lm's conversion: one tensor an expert, w2 turned."""
    def rule(name, a, tensors):
        if ".experts.mlp." not in name:
            return None
        head, tail = name.split(".mlp.")
        out = {}
        for e in range(n_experts):
            def put(meant, value, e=e):
                part = meant[name].reshape(n_experts, -1, a.shape[1])[e]
                part[...] = value.T if tail == "w2" else value
            part = a.reshape(n_experts, -1, a.shape[1])[e]
            out[f"{head}.{e}.{tail}.weight"] = Part(np.ascontiguousarray(part.T if tail == "w2" else part), put)
        return out
    return rule


def gate_of_bailing(name, a, tensors):
    if not name.endswith("mlp.gate.weight"):
        return None
    return {name.replace("mlp.gate.", "mlp.gate.gate_proj."): Part(a, lambda meant, value: meant.__setitem__(name, value))}


Q4 = dict(dtype="F16", quant=every(**SMALL_GROUP), runs=[40])
WIDE = {"hidden_size": 64, "intermediate_size": 64, "moe_intermediate_size": 32, "num_experts": 4, "quantization": SMALL_GROUP}
CASES = {
    "bailing-moe": dict(config=BAILING, runs=[46], weights=bailing, dtype="BF16", reference="mlx"),
    "bailing-moe-q4": dict(config={**BAILING, **WIDE, "num_experts_per_tok": 3, "n_group": 1, "topk_group": 1, "score_function": "softmax",
                                   "moe_router_enable_expert_bias": False},
                           weights=lambda c, r: {n: a * (2 if n.endswith("mlp.gate.weight") else 1)
                                                 for n, a in bailing(c, r).items() if "expert_bias" not in n},
                           layout=layout(gate_of_bailing, *stacked("mlp")), reference="mlx",
                           **{**Q4, "quant": lambda path: None if "mlp.gate" in path[-17:] and "mlp.gate_proj" not in path
                              else SMALL_GROUP}),
    "klear": dict(config=KLEAR, runs=[50], weights=klear, dtype="BF16", reference="mlx"),
    "klear-q4": dict(config={**KLEAR, **WIDE}, weights=klear, layout=layout(*stacked("mlp", mlx_block="experts")),
                     reference="mlx", **Q4),
    "dbrx": dict(config=DBRX, runs=[50], weights=as_published(gain=1.3), dtype="BF16"),
    "dbrx-q4": dict(config={**DBRX, "d_model": 64, "vocab_size": 64, "quantization": SMALL_GROUP,
                            "ffn_config": {**DBRX["ffn_config"], "ffn_hidden_size": 32, "hidden_size": 64}},
                    weights=as_published(), layout=layout(dbrx_experts(4)), **Q4),
}
