"""A model directory small enough to make in a test: a random Llama of two layers over bytes.

Its tokenizer is byte-level BPE without merges (a token for each byte, then <s>, <end> and <turn>), its chat template
writes "<turn>role: content<end>" for each message. The weights are f32, from a fixed seed. The embeddings of the three special
tokens are zero, so their logits are too and the default top-k of 40 never draws them: texts are long.
"""
import json
import pathlib
import random
import struct

D_MODEL, N_HEADS, N_KV_HEADS, D_FF, N_LAYERS, N_CTX = 64, 4, 2, 96, 2, 4096
BOS, END, TURN = 256, 257, 258
N_VOCAB = 259

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": D_MODEL,
    "intermediate_size": D_FF,
    "num_attention_heads": N_HEADS,
    "num_key_value_heads": N_KV_HEADS,
    "num_hidden_layers": N_LAYERS,
    "max_position_embeddings": N_CTX,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
    "vocab_size": N_VOCAB,
    "bos_token_id": BOS,
    "eos_token_id": END,
}

TEMPLATE = ("{% for m in messages %}{{ '<turn>' + m['role'] + ': ' + m['content'] + '<end>' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<turn>assistant: ' }}{% endif %}")


def byte_letters():
    """The printable letter that byte-level vocabularies have for each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters, n = {}, 0
    for byte in range(256):
        if byte in plain:
            letters[byte] = chr(byte)
        else:
            letters[byte] = chr(256 + n)
            n += 1
    return letters


def tokenizer():
    def added(token, content):
        return {"id": token, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
                "normalized": False, "special": True}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    bos_first = {"type": "TemplateProcessing",
                 "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                 "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                 "special_tokens": {"<s>": {"id": "<s>", "ids": [BOS], "tokens": ["<s>"]}}}
    vocab = {letter: byte for byte, letter in byte_letters().items()}
    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [added(BOS, "<s>"), added(END, "<end>"), added(TURN, "<turn>")],
            "normalizer": None, "pre_tokenizer": byte_level, "post_processor": bos_first, "decoder": byte_level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "vocab": vocab,
                      "merges": []}}


def tensors():
    """name -> (shape, bytes), in the order of the file."""
    rng = random.Random(1)
    shapes = {"model.embed_tokens.weight": (N_VOCAB, D_MODEL), "model.norm.weight": (D_MODEL,)}
    for i in range(N_LAYERS):
        layer = f"model.layers.{i}."
        kv = D_MODEL // N_HEADS * N_KV_HEADS
        shapes.update({
            layer + "input_layernorm.weight": (D_MODEL,),
            layer + "self_attn.q_proj.weight": (D_MODEL, D_MODEL),
            layer + "self_attn.k_proj.weight": (kv, D_MODEL),
            layer + "self_attn.v_proj.weight": (kv, D_MODEL),
            layer + "self_attn.o_proj.weight": (D_MODEL, D_MODEL),
            layer + "post_attention_layernorm.weight": (D_MODEL,),
            layer + "mlp.gate_proj.weight": (D_FF, D_MODEL),
            layer + "mlp.up_proj.weight": (D_FF, D_MODEL),
            layer + "mlp.down_proj.weight": (D_MODEL, D_FF),
        })
    out = {}
    for name, shape in shapes.items():
        n = shape[0] * (shape[1] if len(shape) > 1 else 1)
        values = [1.0] * n if len(shape) == 1 else [rng.gauss(0.0, 0.2) for _ in range(n)]
        if "embed" in name:
            values[BOS * D_MODEL:] = [0.0] * (n - BOS * D_MODEL)
        out[name] = (shape, struct.pack(f"<{n}f", *values))
    return out


def safetensors(parts):
    header, payload = {}, b""
    for name, (shape, data) in parts.items():
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [len(payload), len(payload) + len(data)]}
        payload += data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + payload


def write(folder, **changes):
    """Makes the model in a new folder; changes replace fields of config.json (None: removes them)."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    config = {key: value for key, value in {**CONFIG, **changes}.items() if value is not None}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"bos_token": "<s>", "eos_token": "<end>", "chat_template": TEMPLATE}))
    (folder / "model.safetensors").write_bytes(safetensors(tensors()))
    return folder


class Float64(float):
    pass


def gguf(kind=0, changes=None, extra=None, without=()):
    """The model as the bytes of a GGUF file: matrices as f32 (kind 0) or Q8_0 (kind 8).

    changes: keys of the metadata (a float's value is written with 64 bits where it is a Float64). extra: more tensors,
    as in tensors(). without: tensors that are left out."""
    names = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
             "self_attn.o_proj": "attn_output", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
             "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
             "model.embed_tokens": "token_embd", "model.norm": "output_norm"}

    def text(s):
        return struct.pack("<Q", len(s.encode())) + s.encode()

    def value(key, v):
        if isinstance(v, list):
            item = (8, text) if not v or isinstance(v[0], str) else (5, lambda x: struct.pack("<i", x))
            return text(key) + struct.pack("<IIQ", 9, item[0], len(v)) + b"".join(map(item[1], v))
        if isinstance(v, str):
            return text(key) + struct.pack("<I", 8) + text(v)
        if isinstance(v, bool):
            return text(key) + struct.pack("<IB", 7, v)
        if isinstance(v, Float64):
            return text(key) + struct.pack("<Id", 12, v)
        if isinstance(v, int) and v < 0:
            return text(key) + struct.pack("<Ii", 5, v)
        return text(key) + (struct.pack("<If", 6, v) if isinstance(v, float) else struct.pack("<II", 4, v))

    def interleave(data, n_rows, n_heads):
        """llama.cpp's order of the rows of queries and keys."""
        row, head = len(data) // n_rows, n_rows // n_heads
        order = [h * head + half * (head // 2) + i for h in range(n_heads) for i in range(head // 2) for half in (0, 1)]
        return b"".join(data[r * row:(r + 1) * row] for r in order)

    def q8_0(data):
        numbers, out = struct.unpack(f"<{len(data) // 4}f", data), b""
        for at in range(0, len(numbers), 32):
            block = numbers[at:at + 32]
            scale = struct.unpack("<e", struct.pack("<e", max(map(abs, block)) / 127 or 1.0))[0]
            out += struct.pack("<e32b", scale, *(max(-127, min(127, round(x / scale))) for x in block))
        return out

    vocab = tokenizer()["model"]["vocab"]
    tokens = sorted(vocab, key=vocab.get) + ["<s>", "<end>", "<turn>"]
    values = {"general.architecture": "llama", "llama.embedding_length": D_MODEL, "llama.block_count": N_LAYERS,
              "llama.feed_forward_length": D_FF, "llama.attention.head_count": N_HEADS,
              "llama.attention.head_count_kv": N_KV_HEADS, "llama.context_length": N_CTX,
              "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.rope.freq_base": 10000.0,
              "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.tokens": tokens,
              "tokenizer.ggml.merges": [], "tokenizer.ggml.token_type": [1] * 256 + [3] * 3,
              "tokenizer.ggml.bos_token_id": BOS, "tokenizer.ggml.eos_token_id": END,
              "tokenizer.ggml.add_bos_token": True, "tokenizer.chat_template": TEMPLATE}
    values = {key: v for key, v in {**values, **(changes or {})}.items() if v is not None}
    infos, payload = b"", b""
    parts = {name: part for name, part in {**tensors(), **(extra or {})}.items() if name not in without}
    for name, (shape, data) in parts.items():
        for long, short in names.items():
            name = name.replace(long, short)
        name = name.replace("model.layers.", "blk.")
        if "attn_q." in name or "attn_k." in name:
            data = interleave(data, shape[0], N_HEADS if "attn_q." in name else N_KV_HEADS)
        is_matrix = kind == 8 and len(shape) == 2
        data = q8_0(data) if is_matrix else data
        infos += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in reversed(shape))
        infos += struct.pack("<IQ", 8 if is_matrix else 0, len(payload))
        payload += data + bytes(-len(data) % 32)
    header = b"GGUF" + struct.pack("<IQQ", 3, len(parts), len(values)) + b"".join(value(k, v) for k, v in values.items())
    header += infos
    return header + bytes(-len(header) % 32) + payload
