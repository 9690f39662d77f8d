#!/usr/bin/env python3
"""Makes tests/golden/logits: tiny random checkpoints and the logits that transformers computes for them.

    python3 -m venv venv && venv/bin/pip install numpy torch==2.15.0 transformers==5.24.0 safetensors==0.8.0 \
        "mlx[cpu]==0.32.4" mlx-lm==0.32.2
    venv/bin/python tests/golden/make_goldens.py [--check-mlx] [name ...]

Each folder of logits/ is a model directory as people download it (config.json, model.safetensors) plus
golden.safetensors with, for each run i,
    n_ctx.i   I32 [1]            the context that the model is opened with
    tokens.i  I32 [n]
    logits.i  F32 [n, n_vocab]   of transformers, float32, eager attention, the whole sequence at once

Weights are made under the names of the original (Hugging Face) checkpoints. The reference always loads those, so it does
its own reading of config.json and its own conversions. Quantised checkpoints are quantised by MLX's own CPU back end and
the reference runs on the values that the stored bytes mean, computed here in float32 (w = scale * q + bias); the MLX
layout's names are made by this script. With --check-mlx, mlx-lm runs the folders that it can in float32, and must agree:
two implementations that share no code.
"""
import argparse
import json
import os
import shutil
import struct
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "logits")


# ---- safetensors, written here so that a run gives the same bytes, bf16 included ----

def to_bf16(a):
    bits = np.ascontiguousarray(a, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def rounded(a, dtype):
    """The float32 values that a stored tensor means."""
    if dtype == "BF16":
        return from_bf16(to_bf16(a))
    if dtype == "F16":
        return a.astype(np.float16).astype(np.float32)
    return a.astype(np.float32)


def encode(a, dtype):
    if dtype == "BF16":
        return to_bf16(a).tobytes()
    return np.ascontiguousarray(a).astype({"F16": np.float16, "F32": np.float32, "U32": np.uint32, "U8": np.uint8,
                                           "I32": np.int32}[dtype]).tobytes()


def write_safetensors(path, tensors):
    """tensors: name -> (array, dtype)"""
    header, blobs, at = {"__metadata__": {"format": "mlx"}}, [], 0
    for name in sorted(tensors):
        array, dtype = tensors[name]
        blob = encode(array, dtype)
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


# ---- weights under the original names ----

def llama_like(cfg, rng, qkv_bias=False, o_bias=False, mlp_bias=False, head_norms=False, gemma=False, moe_layers=(),
               tied=False):
    d, ff, v = cfg["hidden_size"], cfg["intermediate_size"], cfg["vocab_size"]
    hd = cfg.get("head_dim") or d // cfg["num_attention_heads"]
    nq, nkv = cfg["num_attention_heads"] * hd, cfg["num_key_value_heads"] * hd
    t = {}

    def matrix(name, rows, cols, gain=1.0):
        t[name + ".weight"] = (rng.standard_normal((rows, cols)) * gain / np.sqrt(cols)).astype(np.float32)

    def vector(name, n, mean, std):
        t[name] = (mean + std * rng.standard_normal(n)).astype(np.float32)

    def norm(name, n):
        vector(name + ".weight", n, 0.0 if gemma else 1.0, 0.2)

    def linear(name, rows, cols, bias, gain=1.0):
        matrix(name, rows, cols, gain)
        if bias:
            vector(name + ".bias", rows, 0.0, 0.3)

    t["model.embed_tokens.weight"] = rng.standard_normal((v, d)).astype(np.float32) * (0.3 if gemma else 1.0)
    for i in range(cfg["num_hidden_layers"]):
        p = f"model.layers.{i}."
        norm(p + "input_layernorm", d)
        linear(p + "self_attn.q_proj", nq, d, qkv_bias, 1.5)
        linear(p + "self_attn.k_proj", nkv, d, qkv_bias, 1.5)
        linear(p + "self_attn.v_proj", nkv, d, qkv_bias)
        linear(p + "self_attn.o_proj", d, nq, o_bias)
        if head_norms:
            norm(p + "self_attn.q_norm", hd)
            norm(p + "self_attn.k_norm", hd)
        norm(p + "post_attention_layernorm", d)
        if gemma:
            norm(p + "pre_feedforward_layernorm", d)
            norm(p + "post_feedforward_layernorm", d)
        if i in moe_layers:
            matrix(p + "mlp.gate", cfg["num_experts"], d, 2.0)
            for e in range(cfg["num_experts"]):
                for name, rows, cols in (("gate", cfg["moe_intermediate_size"], d), ("up", cfg["moe_intermediate_size"], d),
                                         ("down", d, cfg["moe_intermediate_size"])):
                    matrix(f"{p}mlp.experts.{e}.{name}_proj", rows, cols)
        else:
            linear(p + "mlp.gate_proj", ff, d, mlp_bias)
            linear(p + "mlp.up_proj", ff, d, mlp_bias)
            linear(p + "mlp.down_proj", d, ff, mlp_bias)
    norm("model.norm", d)
    if not tied:
        matrix("lm_head", v, d, 2.0)
    return t


# ---- MLX's layout and formats ----

def stack_experts(tensors):
    """mlp.experts.N.x_proj -> mlp.switch_mlp.x_proj, stacked"""
    out, stacks = {}, {}
    for name, a in tensors.items():
        if ".mlp.experts." in name:
            head, tail = name.split(".mlp.experts.")
            number, rest = tail.split(".", 1)
            stacks.setdefault(f"{head}.mlp.switch_mlp.{rest}", {})[int(number)] = a
        else:
            out[name] = a
    for name, parts in stacks.items():
        out[name] = np.stack([parts[i] for i in range(len(parts))])
    return out


def unpack(words, bits):
    """[..., n_words] uint32 -> [..., n] codes: element i is bits [i*bits, (i+1)*bits), lowest first."""
    raw = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=-1, bitorder="little")
    raw = raw.reshape(*words.shape[:-1], -1, bits).astype(np.uint32)
    return (raw << np.arange(bits, dtype=np.uint32)).sum(-1)


E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, 0, -.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def e4m3(codes):
    import torch
    return torch.from_numpy(codes.astype(np.uint8)).view(torch.float8_e4m3fn).float().numpy()


def quantize(a, mode, bits, group, scale_dtype):
    """(stored tensors by suffix, the float32 values they mean)"""
    import mlx.core as mx
    mx.set_default_device(mx.cpu)
    x = mx.array(rounded(a, scale_dtype if mode == "affine" else "BF16"))
    if mode == "affine":
        if scale_dtype != "F32":
            x = x.astype({"BF16": mx.bfloat16, "F16": mx.float16}[scale_dtype])
        w, s, b = mx.quantize(x, group_size=group, bits=bits)
        w, s, b = np.array(w), np.array(s.astype(mx.float32)), np.array(b.astype(mx.float32))
        q = unpack(w, bits).astype(np.float32).reshape(*s.shape, group)
        value = (s[..., None] * q + b[..., None]).astype(np.float32).reshape(a.shape)
        return {"weight": (w, "U32"), "scales": (s, scale_dtype), "biases": (b, scale_dtype)}, value
    w, s = mx.quantize(x.astype(mx.bfloat16), group_size=group, bits=bits, mode=mode)
    w, s = np.array(w), np.array(s)
    codes = unpack(w, bits)
    values = e4m3(codes) if mode == "mxfp8" else E2M1[codes]
    scales = e4m3(s) if mode == "nvfp4" else np.ldexp(np.float32(1), s.astype(np.int32) - 127)
    value = (values.reshape(*s.shape, group) * scales[..., None]).astype(np.float32).reshape(a.shape)
    return {"weight": (w, "U32"), "scales": (s, "U8")}, value


def unstack(name, value, like):
    """A stacked value back under the original names."""
    if ".mlp.switch_mlp." not in name:
        return {name: value}
    head, tail = name.split(".mlp.switch_mlp.")
    return {f"{head}.mlp.experts.{e}.{tail}": value[e] for e in range(value.shape[0])}


def store(tensors, case):
    """(tensors to write, the float32 values that they mean under the original names)"""
    dtype, plan, stored, meant = case.get("dtype", "F32"), case.get("quant"), {}, {}
    source = stack_experts(tensors) if case.get("layout") == "mlx" else tensors
    for name, a in source.items():
        path = name[:-len(".weight")] if name.endswith(".weight") else None
        how = plan(path) if plan and path and a.ndim > 1 else None
        if how:
            parts, value = quantize(a, how.get("mode", "affine"), how["bits"], how["group_size"], dtype)
            stored.update({f"{path}.{suffix}": part for suffix, part in parts.items()})
        else:
            stored[name] = (a, dtype)
            value = rounded(a, dtype)
        meant.update(unstack(name, value, tensors))
    prefix = case.get("prefix")
    if prefix:
        stored = {prefix(name): part for name, part in stored.items()}
    stored.update(case.get("extras", {}))
    return stored, meant


# ---- the reference ----

def run_reference(config, meant, runs):
    import torch
    import transformers
    transformers.logging.set_verbosity_error()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, "config.json"), "w") as f:
            json.dump({**config, "dtype": "float32"}, f)
        write_safetensors(os.path.join(d, "model.safetensors"), {n: (a, "F32") for n, a in meant.items()})
        with open(os.path.join(d, "model.safetensors"), "rb") as f:
            assert f.read(8)
        out = []
        for tokens in runs:  # a fresh model for each, as dynamic rotary embeddings keep state
            model, info = transformers.AutoModelForCausalLM.from_pretrained(
                d, dtype=torch.float32, attn_implementation="eager", output_loading_info=True)
            assert not info["missing_keys"] and not info["unexpected_keys"], info
            model.eval()
            with torch.no_grad():
                logits = model(torch.tensor([tokens]), use_cache=False).logits[0]
            out.append(logits.float().numpy())
        return out


def run_mlx(folder, runs):
    import mlx.core as mx
    from pathlib import Path
    from mlx_lm.utils import load_model
    mx.set_default_device(mx.cpu)
    model, _ = load_model(Path(folder), lazy=False)
    model.set_dtype(mx.float32)
    return [np.array(model(mx.array([tokens]))[0].astype(mx.float32)) for tokens in runs]


# ---- the cases ----

BASE = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "vocab_size": 61, "max_position_embeddings": 128, "rms_norm_eps": 1e-5,
        "hidden_act": "silu", "bos_token_id": 1, "eos_token_id": 2}
WIDE = {**BASE, "hidden_size": 64, "intermediate_size": 128, "vocab_size": 64}
LLAMA = {**BASE, "model_type": "llama", "architectures": ["LlamaForCausalLM"], "rope_theta": 10000.0,
         "tie_word_embeddings": False}
QWEN3 = {**BASE, "model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "head_dim": 16, "rope_theta": 1e6,
         "tie_word_embeddings": True, "attention_bias": False, "use_sliding_window": False, "sliding_window": None}
MOE = {**BASE, "model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "head_dim": 16, "rope_theta": 1e6,
       "num_hidden_layers": 3, "num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
       "norm_topk_prob": True, "decoder_sparse_step": 1, "mlp_only_layers": [1], "tie_word_embeddings": False}
GEMMA = {**BASE, "model_type": "gemma3_text", "architectures": ["Gemma3ForCausalLM"], "hidden_size": 64,
         "intermediate_size": 96, "num_hidden_layers": 4, "head_dim": 24, "hidden_activation": "gelu_pytorch_tanh",
         "query_pre_attn_scalar": 20, "sliding_window": 12, "sliding_window_pattern": 3, "rope_theta": 1e6,
         "rope_local_base_freq": 10000.0, "rms_norm_eps": 1e-6, "eos_token_id": [1, 106]}
GEMMA.pop("hidden_act")


def every(**how):
    return lambda path: how


def quant_key(global_, **layers):
    return {"group_size": global_["group_size"], "bits": global_["bits"], "mode": global_.get("mode", "affine"),
            **{k.replace("__", "."): v for k, v in layers.items()}}


def by_layer(table, default):
    """The first piece of a path that is in the table decides."""
    return lambda path: next((how for piece, how in table.items() if piece in path), default)


def per_layer(case_tensors, plan, default):
    """Entries of "quantization" for the layers that differ from the default."""
    entries = {}
    for name in case_tensors:
        path = name[:-len(".weight")] if name.endswith(".weight") else None
        if path and case_tensors[name].ndim > 1 and plan(path) != default:
            entries[path] = plan(path) or False
    return entries


YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}
SMALL_GROUP = {"group_size": 32, "bits": 4}
MIXED = {"embed_tokens": {"group_size": 64, "bits": 8}, "q_proj": {"group_size": 32, "bits": 2},
         "k_proj": {"group_size": 32, "bits": 3}, "v_proj": {"group_size": 64, "bits": 6},
         "o_proj": {"group_size": 64, "bits": 5}, "down_proj": {"group_size": 128, "bits": 4}, "lm_head": None}
FLOATS = {"q_proj": {"group_size": 16, "bits": 4, "mode": "nvfp4"}, "k_proj": {"group_size": 32, "bits": 8, "mode": "mxfp8"},
          "v_proj": {"group_size": 32, "bits": 8, "mode": "mxfp8"}, "embed_tokens": None, "lm_head": None}

CASES = {
    "llama": dict(config=LLAMA, runs=[75], check_mlx=True),
    "llama-biases": dict(config={**LLAMA, "attention_bias": True, "mlp_bias": True, "num_key_value_heads": 4}, runs=[40],
                         weights=dict(qkv_bias=True, o_bias=True, mlp_bias=True), dtype="BF16"),
    "llama-linear": dict(config={**LLAMA, "rope_scaling": {"type": "linear", "factor": 4.0}, "tie_word_embeddings": True},
                         runs=[75], weights=dict(tied=True), dtype="BF16", check_mlx=True),
    "llama-dynamic": dict(config={**LLAMA, "max_position_embeddings": 32,
                                  "rope_scaling": {"type": "dynamic", "factor": 3.0}},
                          runs=[75, 30], n_ctx=[75, 32], dtype="BF16"),
    "llama-yarn": dict(config={**LLAMA, "rope_scaling": YARN}, runs=[75], dtype="BF16", check_mlx=True),
    "llama-llama3": dict(config={**LLAMA, "rope_theta": 500000.0,
                                 "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                                  "original_max_position_embeddings": 32, "rope_type": "llama3"}},
                         runs=[75], dtype="F16", check_mlx=True),
    "llama-longrope": dict(config={**LLAMA, "max_position_embeddings": 128,
                                   "rope_scaling": {"type": "longrope", "original_max_position_embeddings": 32,
                                                    "short_factor": [1.0, 1.1, 1.3, 1.5],
                                                    "long_factor": [1.2, 2.0, 3.5, 4.0]}},
                           runs=[75, 30], n_ctx=[128, 32], dtype="BF16"),
    "llama-q4": dict(config={**LLAMA, **WIDE, "quantization": {"group_size": 64, "bits": 4}}, runs=[75], dtype="BF16",
                     quant=every(group_size=64, bits=4), layout="mlx"),
    "llama-mixed-bits": dict(config={**LLAMA, **WIDE}, runs=[40], dtype="F16", layout="mlx",
                             quant=by_layer(MIXED, SMALL_GROUP), default=SMALL_GROUP),
    "llama-float-modes": dict(config={**LLAMA, **WIDE}, runs=[40], dtype="BF16", layout="mlx",
                              quant=by_layer(FLOATS, {"group_size": 32, "bits": 4, "mode": "mxfp4"}),
                              default={"group_size": 32, "bits": 4, "mode": "mxfp4"}),
    "mistral": dict(config={**BASE, "model_type": "mistral", "architectures": ["MistralForCausalLM"], "head_dim": None,
                            "rope_theta": 10000.0, "sliding_window": 16, "tie_word_embeddings": False}, runs=[75],
                    dtype="BF16"),
    "qwen2": dict(config={**BASE, "model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "rope_theta": 1e6,
                          "use_sliding_window": True, "sliding_window": 20, "max_window_layers": 1,
                          "tie_word_embeddings": True}, runs=[75], weights=dict(qkv_bias=True, tied=True), dtype="BF16"),
    "qwen2-yarn": dict(config={**BASE, "model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"],
                               "rope_theta": 1e6, "use_sliding_window": False, "tie_word_embeddings": False,
                               "rope_scaling": {"type": "yarn", "factor": 2.0, "original_max_position_embeddings": 64}},
                       runs=[75], weights=dict(qkv_bias=True), dtype="BF16", check_mlx=True),
    "qwen3": dict(config=QWEN3, runs=[75], weights=dict(head_norms=True, tied=True), check_mlx=True),
    "qwen3-q4": dict(config={**QWEN3, **WIDE, "quantization": SMALL_GROUP}, runs=[40], layout="mlx",
                     weights=dict(head_norms=True, tied=True), quant=every(**SMALL_GROUP), check_mlx=True),
    "qwen3-moe": dict(config=MOE, runs=[50], weights=dict(head_norms=True, moe_layers=(0, 2)), dtype="BF16",
                      check_mlx=True),
    "qwen3-moe-q4": dict(config={**MOE, "hidden_size": 64, "mlp_only_layers": [], "num_hidden_layers": 2,
                                 "norm_topk_prob": False}, runs=[40],
                         weights=dict(head_norms=True, moe_layers=(0, 1)), layout="mlx", default=SMALL_GROUP,
                         quant=by_layer({"mlp.gate": {"group_size": 64, "bits": 8}}, SMALL_GROUP), check_mlx=True),
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


def make(name, case, check_mlx):
    rng = np.random.default_rng(sum(map(ord, name)))
    config = dict(case["config"])
    tensors = llama_like(config, rng, **case.get("weights", {}))
    stored, meant = store(tensors, case)
    runs = [[int(t) for t in rng.integers(3, config["vocab_size"], n)] for n in case["runs"]]
    reference_config = {k: v for k, v in config.items() if k != "quantization"}
    logits = run_reference(reference_config, meant, runs)

    if "default" in case:
        source = stack_experts(tensors)
        config["quantization"] = {**case["default"], **per_layer(source, case["quant"], case["default"])}
    if "quantization" in config:
        config["quantization_config"] = config["quantization"]
    config = case["wrap"](config) if "wrap" in case else config

    folder = os.path.join(OUT, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump(config, f, indent=1)
        f.write("\n")
    write_safetensors(os.path.join(folder, "model.safetensors"), stored)
    golden = {}
    for i, (tokens, found) in enumerate(zip(runs, logits)):
        n_ctx = case["n_ctx"][i] if "n_ctx" in case else config.get("max_position_embeddings", 128)
        golden[f"n_ctx.{i}"] = (np.array([n_ctx]), "I32")
        golden[f"tokens.{i}"] = (np.array(tokens), "I32")
        golden[f"logits.{i}"] = (found, "F32")
    write_safetensors(os.path.join(folder, "golden.safetensors"), golden)

    size = sum(os.path.getsize(os.path.join(folder, f)) for f in os.listdir(folder))
    spread = max(float(x.std()) for x in logits)
    line = f"{name:20} {size / 1000:7.0f} kB  logits' spread {spread:.2f}"
    if check_mlx and case.get("check_mlx"):
        for a, b in zip(run_mlx(folder, runs), logits):
            line += f"  mlx-lm differs by {np.abs(a - b).max() / np.abs(b).max():.1e} of the range"
    print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="cases to make; all without")
    parser.add_argument("--check-mlx", action="store_true", help="run mlx-lm too, where it can")
    args = parser.parse_args()
    unknown = set(args.names) - set(CASES)
    if unknown:
        sys.exit(f"no such case: {', '.join(sorted(unknown))}")
    for name, case in CASES.items():
        if not args.names or name in args.names:
            make(name, case, args.check_mlx)


main()
