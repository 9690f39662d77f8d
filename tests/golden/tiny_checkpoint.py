"""What make_goldens.py and its cases are made of: random weights under the original names, MLX's layout and formats."""
import json
import os
import struct
import tempfile

import numpy as np


# ---- safetensors, written here so that a run gives the same bytes, bf16 included ----

def to_bf16(a):
    bits = np.ascontiguousarray(a, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def rounded(a, dtype):
    """The float32 values that a stored tensor means."""
    if dtype == "BF16":
        return from_bf16(to_bf16(a)).reshape(a.shape)
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


def as_published(gain=1.0, embed=1.0, norm=1.0, special=()):
    """A function that makes random weights under the names and shapes in which transformers saves a model of this
    configuration. Vectors called norm are around `norm`, other vectors around 0; `special` has (piece of a name, mean,
    standard deviation) of what needs other numbers."""
    def fill(cfg, rng):
        import torch
        import transformers
        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        with tempfile.TemporaryDirectory() as d:
            with open(os.path.join(d, "config.json"), "w") as f:
                json.dump(cfg, f)
            config = transformers.AutoConfig.from_pretrained(d)
            model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
            model.save_pretrained(d)
            shapes = read_shapes(os.path.join(d, "model.safetensors"))
        return {name: random_tensor(name, shapes[name], rng, gain, embed, norm, special) for name in sorted(shapes)}
    return fill


def from_mlx(gain=1.0, embed=1.0, norm=1.0, special=()):
    """The same under the names that mlx-lm's model has, for families that transformers lacks."""
    def fill(cfg, rng):
        from mlx.utils import tree_flatten
        from mlx_lm.utils import _get_classes
        model_class, args_class = _get_classes(cfg)
        parameters = tree_flatten(model_class(args_class.from_dict(cfg)).parameters())
        shapes = {name: tuple(value.shape) for name, value in parameters}
        return {name: random_tensor(name, shapes[name], rng, gain, embed, norm, special) for name in sorted(shapes)}
    return fill


def random_tensor(name, shape, rng, gain, embed, norm, special):
    noise = rng.standard_normal(shape)
    for piece, mean, std in special:
        if piece in name:
            return (mean + std * noise).astype(np.float32)
    if ("embed" in name or "wte" in name) and len(shape) == 2:
        return (embed * noise).astype(np.float32)
    if len(shape) >= 2 and "_norm" not in name:
        return (gain / np.sqrt(shape[-1]) * (2.0 if "lm_head" in name else 1.0) * noise).astype(np.float32)
    is_norm = name.endswith("weight") and any(piece in name for piece in ("norm", "ln_"))
    return ((norm if is_norm else 0.0) + (0.2 if is_norm else 0.3) * noise).astype(np.float32)


def read_shapes(path):
    with open(path, "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
    return {name: tuple(info["shape"]) for name, info in header.items() if name != "__metadata__"}


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


def laid_out(tensors, case):
    """The tensors under the names that the case stores; a layout of its own (expert_layouts.py) gives parts of tensors
    with functions that put their values back."""
    layout = case.get("layout")
    if callable(layout):
        return {name: part.array for name, part in layout(tensors).items()}
    return stack_experts(tensors) if layout == "mlx" else tensors


def store(tensors, case):
    """(tensors to write, the float32 values that they mean under the original names)"""
    dtype, plan, stored, meant = case.get("dtype", "F32"), case.get("quant"), {}, {}
    source = laid_out(tensors, case)
    parts_of = case["layout"](tensors) if callable(case.get("layout")) else None
    if parts_of:
        meant = {name: np.zeros_like(a) for name, a in tensors.items()}
    for name, a in source.items():
        path = name[:-len(".weight")] if name.endswith(".weight") else None
        how = plan(path) if plan and path and a.ndim > 1 else None
        if how:
            parts, value = quantize(a, how.get("mode", "affine"), how["bits"], how["group_size"], dtype)
            stored.update({f"{path}.{suffix}": part for suffix, part in parts.items()})
        else:
            stored[name] = (a, dtype)
            value = rounded(a, dtype)
        if parts_of:
            parts_of[name].put(meant, value)
        else:
            meant.update(unstack(name, value, tensors))
    if "finish" in case:
        stored = case["finish"](stored)
    prefix = case.get("prefix")
    if prefix:
        stored = {prefix(name): part for name, part in stored.items()}
    stored.update(case.get("extras", {}))
    return stored, meant


# ---- what cases are written with ----

BASE = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "vocab_size": 61, "max_position_embeddings": 128, "rms_norm_eps": 1e-5,
        "hidden_act": "silu", "bos_token_id": 1, "eos_token_id": 2}
WIDE = {**BASE, "hidden_size": 64, "intermediate_size": 128, "vocab_size": 64}
SMALL_GROUP = {"group_size": 32, "bits": 4}


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
