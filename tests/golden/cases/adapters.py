"""LoRA and DoRA adapters: on plain and quantised weights, with biases, and on fused matrices."""
from phi import PHI3
from tiny_checkpoint import BASE, SMALL_GROUP, WIDE, as_published, every

LLAMA = {**BASE, "model_type": "llama", "architectures": ["LlamaForCausalLM"], "rope_theta": 10000.0,
         "tie_word_embeddings": False, "attention_bias": True}
ATTENTION = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"]
MLP = ["mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"]

CASES = {
    "llama-lora": dict(config=LLAMA, runs=[40], weights=dict(qkv_bias=True, o_bias=True), dtype="BF16",
                       adapter=dict(type="lora", rank=4, scale=2.0, keys=ATTENTION + MLP + ["lm_head"], num_layers=1)),
    "llama-dora": dict(config=LLAMA, runs=[40], weights=dict(qkv_bias=True, o_bias=True), dtype="BF16",
                       adapter=dict(type="dora", rank=3, scale=1.5, keys=ATTENTION + MLP, num_layers=2)),
    "llama-dora-q4": dict(config={**LLAMA, **WIDE, "attention_bias": False, "quantization": SMALL_GROUP}, runs=[30],
                          layout="mlx", dtype="BF16", quant=every(**SMALL_GROUP),
                          adapter=dict(type="dora", rank=4, scale=1.5, keys=["self_attn.q_proj", "mlp.down_proj"],
                                       num_layers=2)),
    "phi3-lora-q4": dict(config={**PHI3, **WIDE, "sliding_window": None, "quantization": SMALL_GROUP}, runs=[30],
                         layout="mlx", weights=as_published(1.3), dtype="BF16", quant=every(**SMALL_GROUP),
                         adapter=dict(type="lora", rank=4, scale=1.0, num_layers=2,
                                      keys=["self_attn.qkv_proj", "mlp.gate_up_proj"])),
}
