"""Families with layer norms: StableLM, StarCoder 2, GPT-2, GPT-BigCode, GPT-NeoX, Nemotron."""
from expert_layouts import Part, whole
from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, as_published, every

STABLELM = {**BASE, "model_type": "stablelm", "architectures": ["StableLmForCausalLM"], "layer_norm_eps": 1e-5,
            "rope_theta": 10000.0, "tie_word_embeddings": False, "use_qkv_bias": True}
STARCODER2 = {**BASE, "model_type": "starcoder2", "architectures": ["Starcoder2ForCausalLM"], "norm_epsilon": 1e-5,
              "hidden_act": "gelu_pytorch_tanh", "rope_theta": 100000.0, "sliding_window": 12, "use_bias": True,
              "tie_word_embeddings": True}
GPT2 = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 32, "n_head": 4, "n_layer": 2,
        "n_positions": 64, "n_ctx": 64, "vocab_size": 61, "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new",
        "bos_token_id": 1, "eos_token_id": 2}
BIGCODE = {**GPT2, "model_type": "gpt_bigcode", "architectures": ["GPTBigCodeForCausalLM"], "multi_query": True,
           "activation_function": "gelu_pytorch_tanh", "n_inner": 96}
NEOX = {**BASE, "model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "layer_norm_eps": 1e-5,
        "hidden_act": "gelu", "rotary_pct": 0.25, "rotary_emb_base": 5000, "use_parallel_residual": True,
        "tie_word_embeddings": False, "num_attention_heads": 2, "max_position_embeddings": 64}
NEMOTRON = {**BASE, "model_type": "nemotron", "architectures": ["NemotronForCausalLM"], "norm_eps": 1e-5,
            "hidden_act": "relu2", "partial_rotary_factor": 0.5, "rope_theta": 10000.0, "tie_word_embeddings": False,
            "head_dim": 16}
for config in (STABLELM, STARCODER2, NEOX, NEMOTRON):
    del config["rms_norm_eps"]
del NEOX["num_key_value_heads"]


def mlx_gpt2(tensors):
    """MLX's names, and matrices [outputs, inputs]."""
    turned = ("attn.c_attn.weight", "attn.c_proj.weight", "mlp.c_fc.weight", "mlp.c_proj.weight")

    def part(name, a):
        if not name.endswith(turned):
            return whole(name, a)
        return Part(a.T.copy(), lambda meant, value: meant.__setitem__(name, value.T.copy()))
    return {"model." + name[len("transformer."):]: part(name, a) for name, a in tensors.items()}


def mlx_neox(tensors):
    return {name.replace("gpt_neox.layers.", "model.h.").replace("gpt_neox.", "model.")
            .replace("embed_out", "model.embed_out"): whole(name, a) for name, a in tensors.items()}


CASES = {
    "stablelm": dict(config={**STABLELM, "partial_rotary_factor": 0.5, "qk_layernorm": True,
                             "use_parallel_residual": True}, runs=[40],
                     weights=as_published(1.3), dtype="BF16"),
    "stablelm-q4": dict(config={**STABLELM, **{k: WIDE[k] for k in ("hidden_size", "intermediate_size", "vocab_size")},
                                "partial_rotary_factor": 0.25, "quantization": SMALL_GROUP},
                        runs=[40], layout="mlx", weights=as_published(1.3), dtype="BF16", quant=every(**SMALL_GROUP),
                        check_mlx=True),
    "starcoder2": dict(config=STARCODER2, runs=[50], weights=as_published(1.3, embed=0.3), dtype="BF16"),
    "starcoder2-q4": dict(config={**STARCODER2, **{k: WIDE[k] for k in ("hidden_size", "intermediate_size", "vocab_size")},
                                  "sliding_window": None, "quantization": SMALL_GROUP}, runs=[40], layout="mlx",
                          weights=as_published(1.3, embed=0.3), dtype="BF16", quant=every(**SMALL_GROUP), check_mlx=True),
    "gpt2": dict(config=GPT2, runs=[60], n_ctx=[64], weights=as_published(3, embed=0.5), dtype="BF16"),
    "gpt2-q4": dict(config={**GPT2, "n_embd": 64, "vocab_size": 64, "quantization": SMALL_GROUP}, runs=[40],
                    n_ctx=[64], layout=mlx_gpt2, weights=as_published(3, embed=0.5), dtype="BF16",
                    quant=every(**SMALL_GROUP), check_mlx=True),
    "gpt_bigcode": dict(config=BIGCODE, runs=[40], n_ctx=[64], weights=as_published(3, embed=0.5), dtype="BF16"),
    "gpt_bigcode-q4": dict(config={**BIGCODE, "multi_query": False, "n_embd": 64, "vocab_size": 64,
                                   "quantization": SMALL_GROUP},
                           runs=[40], n_ctx=[64], layout="mlx", weights=as_published(3, embed=0.5), dtype="BF16",
                           quant=every(**SMALL_GROUP)),
    "gpt_neox": dict(config=NEOX, runs=[40], weights=as_published(1.3), dtype="BF16"),
    "gpt_neox-q4": dict(config={**NEOX, **{k: WIDE[k] for k in ("hidden_size", "intermediate_size", "vocab_size")},
                                "num_attention_heads": 4, "use_parallel_residual": False, "intermediate_size": 96,
                                "quantization": SMALL_GROUP},
                        runs=[40], layout=mlx_neox, weights=as_published(1.3), dtype="BF16", quant=every(**SMALL_GROUP)),
    "nemotron": dict(config=NEMOTRON, runs=[40], weights=as_published(1.3, norm=0.0), dtype="BF16"),
    "nemotron-q4": dict(config={**NEMOTRON, **{k: WIDE[k] for k in ("hidden_size", "intermediate_size", "vocab_size")},
                                "quantization": SMALL_GROUP},
                        runs=[40], layout="mlx", weights=as_published(1.3, norm=0.0), dtype="BF16",
                        quant=every(**SMALL_GROUP), check_mlx=True),
}
