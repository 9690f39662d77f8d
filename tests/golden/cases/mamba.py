"""Mamba 1 and 2 alone, and with attention: Falcon-Mamba, Jamba, Granite 4, Nemotron-H."""
from expert_layouts import layout, rename, split, stacked
from recurrent_layouts import turned
from tiny_checkpoint import BASE, SMALL_GROUP, as_published, by_layer

DECAYS = [("A_log", 0.3, 0.6), ("dt_bias", 0.0, 0.5), ("dt_proj.bias", 0.0, 0.5), (".D", 1.0, 0.3)]
WEIGHTS = as_published(special=DECAYS)
ROUTED = as_published(special=DECAYS + [("router", 0.0, 0.5), ("mixer.gate.weight", 0.0, 0.5),
                                        ("e_score_correction_bias", 0.0, 0.2)])
CONV = turned("conv1d.weight")
QUANT = by_layer({"conv1d": None, "norm": None, "A_log": None, "dt_proj": None}, SMALL_GROUP)
GATE_QUANT = by_layer({"conv1d": None, "norm": None, "A_log": None, "mixer.gate": None}, SMALL_GROUP)


def only(config, *keys):
    return {k: config[k] for k in keys}


TOKENS = only(BASE, "vocab_size", "bos_token_id", "eos_token_id")
MAMBA = {**TOKENS, "model_type": "mamba", "architectures": ["MambaForCausalLM"], "hidden_size": 32, "state_size": 16,
         "num_hidden_layers": 3, "expand": 2, "conv_kernel": 4, "use_bias": False, "use_conv_bias": True,
         "time_step_rank": "auto", "layer_norm_epsilon": 1e-5, "tie_word_embeddings": True, "intermediate_size": 64}
FALCON_MAMBA = {**MAMBA, "model_type": "falcon_mamba", "architectures": ["FalconMambaForCausalLM"], "time_step_rank": 4,
                "mixer_rms_eps": 1e-6, "tie_word_embeddings": False}
MAMBA2 = {**TOKENS, "model_type": "mamba2", "architectures": ["Mamba2ForCausalLM"], "hidden_size": 32, "num_heads": 4,
          "head_dim": 16, "state_size": 12, "n_groups": 2, "num_hidden_layers": 2, "expand": 2, "conv_kernel": 4,
          "use_bias": False, "use_conv_bias": True, "layer_norm_epsilon": 1e-5, "chunk_size": 16,
          "time_step_limit": [0.0, float("inf")], "tie_word_embeddings": False,
          "intermediate_size": 64, "time_step_rank": 2}
JAMBA = {**BASE, "model_type": "jamba", "architectures": ["JambaForCausalLM"], "num_hidden_layers": 3,
         "attn_layer_period": 3, "attn_layer_offset": 1, "expert_layer_period": 2, "expert_layer_offset": 1,
         "num_experts": 3, "num_experts_per_tok": 2, "intermediate_size": 24, "mamba_d_state": 8, "mamba_d_conv": 4, "mamba_expand": 2,
         "mamba_dt_rank": 4, "mamba_conv_bias": True, "mamba_proj_bias": False, "rms_norm_eps": 1e-6,
         "use_mamba_kernels": False, "tie_word_embeddings": True}
GRANITE = {**BASE, "model_type": "granitemoehybrid", "architectures": ["GraniteMoeHybridForCausalLM"],
           "num_hidden_layers": 3, "layer_types": ["mamba", "attention", "mamba"], "mamba_n_heads": 4,
           "mamba_n_groups": 1, "mamba_d_state": 12, "mamba_d_head": 16, "mamba_d_conv": 4, "mamba_expand": 2,
           "mamba_chunk_size": 16, "num_local_experts": 3, "num_experts_per_tok": 2, "intermediate_size": 12,
           "shared_intermediate_size": 24, "position_embedding_type": "nope", "attention_multiplier": 0.3,
           "embedding_multiplier": 1.5, "residual_multiplier": 0.7, "logits_scaling": 2.0, "tie_word_embeddings": True}
NEMOTRON = {**BASE, "model_type": "nemotron_h", "architectures": ["NemotronHForCausalLM"], "head_dim": 8,
            "hybrid_override_pattern": "M-M*E", "num_hidden_layers": 5, "mamba_num_heads": 4, "mamba_head_dim": 16,
            "ssm_state_size": 12, "n_groups": 2, "conv_kernel": 4, "expand": 2, "chunk_size": 16,
            "layer_norm_epsilon": 1e-5, "mlp_hidden_act": "relu2", "n_routed_experts": 4, "n_shared_experts": 1,
            "moe_intermediate_size": 16, "moe_shared_expert_intermediate_size": 24, "num_experts_per_tok": 2,
            "routed_scaling_factor": 1.5, "n_group": 1, "topk_group": 1, "norm_topk_prob": True,
            "use_bias": False, "use_conv_bias": True, "mamba_proj_bias": False, "mlp_bias": False,
            "attention_bias": False, "tie_word_embeddings": False}
WIDE = {"hidden_size": 64, "vocab_size": 64, "quantization": SMALL_GROUP}
HALVES = {"gate_proj": lambda a: a[..., :a.shape[-2] // 2, :], "up_proj": lambda a: a[..., a.shape[-2] // 2:, :]}

CASES = {
    "mamba": dict(config=MAMBA, runs=[75], weights=WEIGHTS, dtype="BF16"),
    "mamba-q4": dict(config={**MAMBA, **WIDE, "num_hidden_layers": 2, "use_bias": True, "intermediate_size": 128}, runs=[40], weights=WEIGHTS,
                     quant=QUANT, layout=layout(CONV), dtype="BF16", check_mlx=True),
    "falcon-mamba": dict(config=FALCON_MAMBA, runs=[75], weights=WEIGHTS, dtype="BF16"),
    "falcon-mamba-q4": dict(config={**FALCON_MAMBA, **WIDE, "num_hidden_layers": 2, "intermediate_size": 128}, runs=[40], weights=WEIGHTS,
                            quant=QUANT, layout=layout(CONV), dtype="BF16", check_mlx=True),
    "mamba2": dict(config=MAMBA2, runs=[75], weights=WEIGHTS, dtype="BF16"),
    "mamba2-q4": dict(config={**MAMBA2, **WIDE, "num_heads": 8, "n_groups": 1, "intermediate_size": 128, "time_step_limit": [0.05, 0.9]}, runs=[40],
                      weights=WEIGHTS, quant=QUANT, layout=layout(CONV), dtype="BF16", check_mlx=True),
    "jamba": dict(config=JAMBA, runs=[40], weights=ROUTED, dtype="BF16"),
    "jamba-q4": dict(config={**JAMBA, **WIDE, "num_hidden_layers": 2, "intermediate_size": 32}, runs=[40],
                     weights=ROUTED, quant=QUANT, layout=layout(CONV, *stacked("feed_forward")), dtype="BF16"),
    "granite-hybrid": dict(config=GRANITE, runs=[40], weights=ROUTED, dtype="BF16"),
    "granite-hybrid-q4": dict(config={**GRANITE, **WIDE, "num_hidden_layers": 2, "layer_types": ["mamba", "attention"],
                                      "mamba_n_heads": 8, "num_local_experts": 0, "num_experts_per_tok": 0,
                                      "shared_intermediate_size": 64, "position_embedding_type": "rope"}, runs=[40],
                              weights=WEIGHTS, quant=QUANT, dtype="BF16",
                              layout=layout(CONV, rename(r"shared_mlp\.output_linear", "mlp.down_proj"),
                                            split(r"shared_mlp\.input_linear", {f"mlp.{n}": f for n, f in HALVES.items()}))),
    "nemotron-h": dict(config=NEMOTRON, runs=[60], weights=ROUTED, dtype="BF16"),
    "nemotron-h-q4": dict(config={**NEMOTRON, **WIDE, "hybrid_override_pattern": "M*E", "num_hidden_layers": 3,
                                  "mamba_num_heads": 8, "n_groups": 4, "moe_intermediate_size": 32, "head_dim": 16,
                                  "moe_shared_expert_intermediate_size": 32}, runs=[40], weights=ROUTED,
                          quant=GATE_QUANT, dtype="BF16", check_mlx=True,
                          layout=layout(CONV, *stacked("mixer", names=(("up_proj", "fc1"), ("down_proj", "fc2"))))),
}
