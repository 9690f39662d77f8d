"""DeepSeek: plain attention, and attention over latents with every way of choosing experts."""
import numpy as np

from expert_layouts import Part, layout, rename, stacked
from tiny_checkpoint import BASE, SMALL_GROUP, as_published, by_layer, every

YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32, "beta_fast": 32, "beta_slow": 1,
        "mscale": 0.707, "mscale_all_dim": 1.0}
MLA = {"q_lora_rank": 24, "kv_lora_rank": 32, "qk_nope_head_dim": 12, "qk_rope_head_dim": 8, "v_head_dim": 10,
       "attention_bias": False}
EXPERTS = {"n_routed_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "n_shared_experts": 2,
           "first_k_dense_replace": 1, "moe_layer_freq": 1, "routed_scaling_factor": 1.5, "tie_word_embeddings": False}
V2 = {**BASE, **MLA, **EXPERTS, "model_type": "deepseek_v2", "architectures": ["DeepseekV2ForCausalLM"],
      "num_key_value_heads": 4, "rope_theta": 10000.0, "rope_scaling": YARN, "topk_method": "group_limited_greedy",
      "n_group": 3, "topk_group": 2, "norm_topk_prob": False, "scoring_func": "softmax", "rms_norm_eps": 1e-6}
V3 = {**BASE, **MLA, **EXPERTS, "model_type": "deepseek_v3", "architectures": ["DeepseekV3ForCausalLM"],
      "num_key_value_heads": 4, "rope_theta": 10000.0, "rope_scaling": YARN, "topk_method": "noaux_tc", "n_group": 3,
      "topk_group": 2, "norm_topk_prob": True, "scoring_func": "sigmoid", "n_shared_experts": 1, "rms_norm_eps": 1e-6,
      "num_nextn_predict_layers": 0}
V1 = {**BASE, **EXPERTS, "model_type": "deepseek", "architectures": ["DeepseekForCausalLM"], "rope_theta": 10000.0,
      "norm_topk_prob": False, "scoring_func": "softmax"}
del V1["routed_scaling_factor"]


def latents(n_heads, nope_dim, v_dim):
    """What mlx-lm makes of kv_b_proj: a matrix a head, that of keys turned."""
    def rule(name, a, tensors):
        if not name.endswith("self_attn.kv_b_proj.weight"):
            return None
        def view(t):
            return t.reshape(n_heads, nope_dim + v_dim, -1)
        def put_keys(meant, value):
            view(meant[name])[:, :nope_dim] = np.swapaxes(value, 1, 2)
        def put_values(meant, value):
            view(meant[name])[:, nope_dim:] = value
        head = name[:-len("kv_b_proj.weight")]
        return {head + "embed_q.weight": Part(np.ascontiguousarray(np.swapaxes(view(a)[:, :nope_dim], 1, 2)), put_keys),
                head + "unembed_out.weight": Part(np.ascontiguousarray(view(a)[:, nope_dim:]), put_values)}
    return rule


def plain_v1(cfg, rng):
    """The names of the original files, whose class is not part of transformers."""
    d, v, ff = cfg["hidden_size"], cfg["vocab_size"], cfg["moe_intermediate_size"]
    hd = d // cfg["num_attention_heads"]
    t = {"model.embed_tokens.weight": rng.standard_normal((v, d)), "lm_head.weight": rng.standard_normal((v, d)) * 2 / np.sqrt(d),
         "model.norm.weight": 1 + 0.2 * rng.standard_normal(d)}

    def mlp(p, width):
        for name, rows, cols in (("gate_proj", width, d), ("up_proj", width, d), ("down_proj", d, width)):
            t[f"{p}.{name}.weight"] = rng.standard_normal((rows, cols)) / np.sqrt(cols)

    for i in range(cfg["num_hidden_layers"]):
        p = f"model.layers.{i}."
        for name, n in (("q_proj", cfg["num_attention_heads"]), ("k_proj", cfg["num_key_value_heads"]),
                        ("v_proj", cfg["num_key_value_heads"])):
            t[f"{p}self_attn.{name}.weight"] = rng.standard_normal((n * hd, d)) / np.sqrt(d)
        t[f"{p}self_attn.o_proj.weight"] = rng.standard_normal((d, d)) / np.sqrt(d)
        for name in ("input_layernorm", "post_attention_layernorm"):
            t[f"{p}{name}.weight"] = 1 + 0.2 * rng.standard_normal(d)
        if i < cfg["first_k_dense_replace"]:
            mlp(p + "mlp", cfg["intermediate_size"])
            continue
        t[f"{p}mlp.gate.weight"] = 2 * rng.standard_normal((cfg["n_routed_experts"], d)) / np.sqrt(d)
        mlp(p + "mlp.shared_experts", ff * cfg["n_shared_experts"])
        for e in range(cfg["n_routed_experts"]):
            mlp(f"{p}mlp.experts.{e}", ff)
    return {name: a.astype(np.float32) for name, a in t.items()}


HIDDEN = {"hidden_size": 64, "intermediate_size": 64, "moe_intermediate_size": 32, "n_routed_experts": 4, "n_group": 2,
          "topk_group": 1, "kv_lora_rank": 32, "q_lora_rank": 32, "qk_nope_head_dim": 32, "v_head_dim": 32}
CASES = {
    "deepseek": dict(config=V1, runs=[50], weights=plain_v1, dtype="BF16", reference="mlx"),
    "deepseek-q4": dict(config={**V1, "hidden_size": 64, "moe_intermediate_size": 32, "intermediate_size": 64,
                                "n_routed_experts": 4, "n_shared_experts": 1, "quantization": SMALL_GROUP},
                        runs=[40], weights=plain_v1, layout=layout(*stacked("mlp")), dtype="F16", reference="mlx",
                        quant=every(**SMALL_GROUP)),
    "deepseek-v2": dict(config=V2, runs=[50], weights=as_published(gain=1.2), dtype="BF16", check_mlx=True),
    "deepseek-v2-lite-q4": dict(
        config={**V2, **HIDDEN, "q_lora_rank": None, "topk_method": "greedy", "n_group": 1, "topk_group": 1,
                "rope_scaling": None, "intermediate_size": 64, "n_shared_experts": 1, "num_attention_heads": 2, "num_key_value_heads": 2},
        runs=[40], weights=as_published(), layout=layout(*stacked("mlp")), dtype="F16", default=SMALL_GROUP,
        quant=by_layer({"mlp.gate": {"group_size": 64, "bits": 8}}, SMALL_GROUP)),
    "deepseek-v3": dict(config=V3, runs=[50], weights=as_published(gain=1.2), dtype="BF16", check_mlx=True),
    "deepseek-v3-q4": dict(
        config={**V3, **HIDDEN, "num_attention_heads": 2, "num_key_value_heads": 2, "quantization": SMALL_GROUP},
        runs=[40], weights=as_published(), layout=layout(*stacked("mlp"), latents(2, 32, 32)), dtype="F16",
        quant=lambda path: None if path.endswith("mlp.gate") else SMALL_GROUP),
}
