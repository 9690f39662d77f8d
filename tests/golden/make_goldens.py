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

What is made is said by the tables CASES of cases/*.py: by name
    config      config.json, without "quantization" where `default` gives it
    runs, n_ctx lengths of the token sequences, and the context of each (max_position_embeddings without)
    weights     a function of (config, rng) that makes the tensors, or arguments for llama_like
    dtype       F32, BF16 or F16, of tensors that are not quantised, and of scales
    layout      "mlx": experts stacked; or a function of expert_layouts.py
    publish, unpublish   what else MLX's layout changes: functions of a dictionary of tensors, and the way back
    quant       a function from a path to how it is quantised; default: "quantization" without the entries by path
    finish      a function that changes the tensors to write
    prefix, extras, wrap   the tensors' names, further tensors, and the configuration as they are published
    reference   "mlx": mlx-lm is the independent implementation, where transformers lacks the family
    check_mlx   mlx-lm can run the folder
    adapter     type ("lora", "dora"), rank, scale, keys and num_layers of an adapter in the folder "adapter", with which
                mlx-lm computes the logits

Weights are made under the names of the original (Hugging Face) checkpoints. The reference always loads those, so it does
its own reading of config.json and its own conversions. Quantised checkpoints are quantised by MLX's own CPU back end and
the reference runs on the values that the stored bytes mean, computed here in float32 (w = scale * q + bias); the MLX
layout's names are made by this script. With --check-mlx, mlx-lm runs the folders that it can in float32, and must agree:
two implementations that share no code.
"""
import argparse
import importlib
import json
import os
import shutil
import sys
import tempfile

import numpy as np

from tiny_checkpoint import laid_out, llama_like, per_layer, store, write_safetensors

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "logits")
sys.path.insert(0, os.path.join(HERE, "cases"))


# ---- the reference ----

def run_reference(config, meant, runs):
    import torch
    import transformers
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
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


def run_mlx_plain(config, meant, runs):
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, "config.json"), "w") as f:
            json.dump(config, f)
        write_safetensors(os.path.join(d, "model.safetensors"), {n: (a, "F32") for n, a in meant.items()})
        return run_mlx(d, runs)


def make_adapter(folder, adapter, rng, runs):
    """Writes folder/adapter as mlx-lm does and gives mlx-lm's logits with it."""
    import mlx.core as mx
    from mlx.utils import tree_flatten
    from pathlib import Path
    from mlx_lm.tuner.utils import linear_to_lora_layers, load_adapters
    from mlx_lm.utils import load_model
    mx.set_default_device(mx.cpu)
    config = {"fine_tune_type": adapter["type"], "num_layers": adapter["num_layers"],
              "lora_parameters": {"rank": adapter["rank"], "scale": adapter["scale"], "dropout": 0.0,
                                  "keys": adapter["keys"]}}
    shaped, _ = load_model(Path(folder), lazy=False)
    linear_to_lora_layers(shaped, config["num_layers"], config["lora_parameters"], use_dora=adapter["type"] == "dora")
    tensors = {}
    for name, value in tree_flatten(shaped.parameters()):
        leaf = name.rsplit(".", 1)[-1]
        noise = rng.standard_normal(value.shape)
        if leaf in ("lora_a", "lora_b"):
            tensors[name] = ((noise / np.sqrt(value.shape[0])).astype(np.float32), "F32")
        elif leaf == "m":
            tensors[name] = (np.array(value.astype(mx.float32)) * (1 + 0.3 * noise).astype(np.float32), "F32")
    os.makedirs(os.path.join(folder, "adapter"))
    with open(os.path.join(folder, "adapter", "adapter_config.json"), "w") as f:
        json.dump(config, f, indent=1)
        f.write("\n")
    write_safetensors(os.path.join(folder, "adapter", "adapters.safetensors"), tensors)
    model, _ = load_model(Path(folder), lazy=False)
    model.set_dtype(mx.float32)
    model = load_adapters(model, os.path.join(folder, "adapter"))
    return [np.array(model(mx.array([tokens]))[0].astype(mx.float32)) for tokens in runs]


def all_cases():
    cases = {}
    for file in sorted(os.listdir(os.path.join(HERE, "cases"))):
        if file.endswith(".py"):
            cases.update(importlib.import_module(file[:-3]).CASES)
    return cases


def make(name, case, check_mlx):
    rng = np.random.default_rng(sum(map(ord, name)))
    config = dict(case["config"])
    weights = case.get("weights", {})
    tensors = weights(config, rng) if callable(weights) else llama_like(config, rng, **weights)
    stored, meant = store(tensors, case)
    runs = [[int(t) for t in rng.integers(3, config["vocab_size"], n)] for n in case["runs"]]
    plain_config = {k: v for k, v in config.items() if k not in ("quantization", "quantization_config")}
    logits = (run_mlx_plain if case.get("reference") == "mlx" else run_reference)(plain_config, meant, runs)

    if "default" in case:
        source = laid_out(tensors, case)
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
    if "adapter" in case:
        logits = make_adapter(folder, case["adapter"], rng, runs)
    golden = {}
    for i, (tokens, found) in enumerate(zip(runs, logits)):
        n_ctx = case["n_ctx"][i] if "n_ctx" in case else config.get("max_position_embeddings", 128)
        golden[f"n_ctx.{i}"] = (np.array([n_ctx]), "I32")
        golden[f"tokens.{i}"] = (np.array(tokens), "I32")
        golden[f"logits.{i}"] = (found, "F32")
    write_safetensors(os.path.join(folder, "golden.safetensors"), golden)

    size = sum(os.path.getsize(os.path.join(d, f)) for d, _, names in os.walk(folder) for f in names)
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
    cases = all_cases()
    unknown = set(args.names) - set(cases)
    if unknown:
        sys.exit(f"no such case: {', '.join(sorted(unknown))}")
    for name, case in cases.items():
        if not args.names or name in args.names:
            make(name, case, args.check_mlx)


main()
