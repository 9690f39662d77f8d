#!/usr/bin/env python3
"""Makes greedy.json: what an independent implementation writes, greedily, with the demo model.

    tools/fetch-demo-model.py
    python3 -m venv VENV && VENV/bin/pip install torch transformers numpy     (outside the repository)
    VENV/bin/python tests/smollm2/make_greedy.py > tests/smollm2/greedy.json

transformers runs the Llama class in float32 on the checkpoint's weights, dequantised here by the definition of MLX's
affine format (w = scale * q + bias, in float32). Prompts go through the model's chat template by transformers' tokenizer.
For each step the file has the token, and by how much its logit exceeds the second best: where that margin is smaller
than the numeric difference of two right implementations, either token is right.
"""
import json
import os
import pathlib
import struct
import sys

import numpy as np
import torch
import transformers

N_TOKENS = 64
PROMPTS = [
    "What is the capital of France?",
    "Write two sentences about the sea.",
    "Explain why the sky is blue to a child.",
    "List five fruits.",
    "Write a Python function that adds two numbers.",
    "Translate to French: Good morning, my friend.",
    "What is 17 + 25?",
    "Who wrote Romeo and Juliet?",
    "Give me a recipe for pancakes.",
    "Summarise the plot of Cinderella in one sentence.",
    "Why do cats purr?",
    "Write a haiku about autumn.",
    "What are the three states of matter?",
    "Correct the grammar: she go to school yesterday",
    "Name a planet with rings, and describe them.",
    "How do I boil an egg?",
    "Was ist Photosynthese?",
    "日本の首都はどこですか？",
    "Write a short poem with an emoji 🙂 in it.",
    "Text with code: `for (int i = 0; i < n; i++) { sum += a[i]; }` What does it do?",
]


def read_safetensors(path):
    """name -> numpy array; bf16 widened to float32."""
    data = path.read_bytes()
    (n_header,) = struct.unpack_from("<Q", data)
    tensors = {}
    for name, info in json.loads(data[8:8 + n_header]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + n_header + offset for offset in info["data_offsets"])
        dtype = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "U32": "<u4"}[info["dtype"]]
        values = np.frombuffer(data[begin:end], dtype).reshape(info["shape"])
        if info["dtype"] == "BF16":
            values = (values.astype(np.uint32) << 16).view(np.float32)
        tensors[name] = values
    return tensors


def dequantise(packed, scales, biases, bits, group):
    """MLX's affine format: value i of a row in bits [i*bits, (i+1)*bits) of it, lowest first."""
    n_rows = packed.shape[0]
    n_cols = packed.shape[1] * 32 // bits
    stream = np.unpackbits(packed.view(np.uint8), axis=1, bitorder="little").reshape(n_rows, n_cols, bits)
    q = (stream.astype(np.float32) * (2.0 ** np.arange(bits, dtype=np.float32))).sum(axis=2, dtype=np.float32)
    q = q.reshape(n_rows, n_cols // group, group)
    w = scales.astype(np.float32)[:, :, None] * q + biases.astype(np.float32)[:, :, None]
    return w.reshape(n_rows, n_cols)


def load(folder):
    config = json.loads((folder / "config.json").read_text())
    tensors = {}
    for file in sorted(folder.glob("*.safetensors")):
        tensors.update(read_safetensors(file))
    default = config["quantization"]
    weights = {}
    for name, values in tensors.items():
        path, kind = name.rsplit(".", 1)
        if kind in ("scales", "biases"):
            continue
        if f"{path}.scales" in tensors:
            how = default.get(path, default)
            values = dequantise(values, tensors[f"{path}.scales"], tensors[f"{path}.biases"], how["bits"],
                                how["group_size"])
        weights[name] = torch.from_numpy(np.array(values, dtype=np.float32))
    config.pop("quantization"), config.pop("quantization_config")
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**config)).to(torch.float32)
    missing, unexpected = model.load_state_dict(weights, strict=False)
    assert not unexpected and set(missing) <= {"lm_head.weight"}, (missing, unexpected)
    model.tie_weights()
    return model.eval()


@torch.no_grad()
def greedy(model, ids, end_ids):
    """Tokens and margins; the end token is the last one where it comes."""
    tokens, margins, cache = [], [], None
    step = torch.tensor([ids])
    while len(tokens) < N_TOKENS and not (tokens and tokens[-1] in end_ids):
        out = model(step, past_key_values=cache, use_cache=True)
        cache = out.past_key_values
        best = torch.topk(out.logits[0, -1].float(), 2)
        tokens.append(int(best.indices[0]))
        margins.append(round(float(best.values[0] - best.values[1]), 4))
        step = torch.tensor([[tokens[-1]]])
    return tokens, margins


def main():
    cache = pathlib.Path(os.environ.get("MLXCEL_CACHE_DIR") or pathlib.Path.home() / ".cache/mlxcel")
    folder = cache / "demo/SmolLM2-135M-Instruct-4bit"
    if not folder.is_dir():
        sys.exit(f"make_greedy: {folder} is not there: run tools/fetch-demo-model.py first")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    tokenizer.chat_template = json.loads((folder / "tokenizer_config.json").read_text())["chat_template"]
    model = load(folder)
    end_ids = {2}
    cases = []
    for text in PROMPTS:
        prompt = tokenizer.apply_chat_template([{"role": "user", "content": text}], add_generation_prompt=True,
                                               tokenize=False)
        ids = tokenizer.encode(prompt, add_special_tokens=False)
        tokens, margins = greedy(model, ids, end_ids)
        cases.append({"text": text, "prompt": ids, "tokens": tokens, "margins": margins})
        print(text, "->", tokenizer.decode(tokens), f"[least margin {min(margins)}]", file=sys.stderr)
    print("[")
    print(",\n".join(json.dumps(case, ensure_ascii=False) for case in cases))
    print("]")


if __name__ == "__main__":
    main()
