#!/usr/bin/env python3
"""Writes model.safetensors and config.json beside itself: small weights quantised by MLX, and what MLX reads back.

    python3 -m venv env && env/bin/pip install 'mlx[cpu]' numpy && env/bin/python make.py

Made with mlx 0.32.4. For each case NAME there are NAME.weight, NAME.scales, NAME.biases (affine) and NAME.expected, the
dequantised weight in f32. Scales and biases are turned into f32 before MLX dequantises, so that it computes in f32 and
not in their type. config.json holds the modes, as a converted model's would.
"""
import json
import pathlib

import mlx.core as mx
import numpy as np

mx.set_default_device(mx.cpu)
here = pathlib.Path(__file__).parent
rng = np.random.default_rng(20260)
tensors = {}
quantization = {"group_size": 64, "bits": 4}
DTYPES = {"f32": mx.float32, "f16": mx.float16, "bf16": mx.bfloat16}


def add(name, shape, mode, bits, group, dtype):
    # Groups differ in size and in sign, and one is constant.
    w = rng.standard_normal(shape) * np.exp(rng.uniform(-4, 2, shape[:-1] + (1,)))
    w[..., :group] += 3.0
    w[..., 0, -group:] = 0.3
    packed, scales, *biases = mx.quantize(mx.array(w).astype(DTYPES[dtype]), group_size=group, bits=bits, mode=mode)
    tensors[name + ".weight"], tensors[name + ".scales"] = packed, scales
    parameters = {"group_size": group, "bits": bits}
    if biases:
        tensors[name + ".biases"] = biases[0]
        wide = [scales.astype(mx.float32), biases[0].astype(mx.float32)]
    else:
        parameters["mode"] = mode
        wide = [scales]
    expected = mx.dequantize(packed, *wide, group_size=group, bits=bits, mode=mode, dtype=mx.float32)
    tensors[name + ".expected"] = expected
    quantization[name] = parameters


for bits in (2, 3, 4, 5, 6, 8):
    for group in (32, 64, 128):
        dtypes = DTYPES if bits == 4 else [list(DTYPES)[bits % 3]]
        for dtype in dtypes:
            add(f"affine_{bits}_{group}_{dtype}", (2, 128 if group < 128 else 256), "affine", bits, group, dtype)
for mode, bits, group in (("mxfp4", 4, 32), ("nvfp4", 4, 16), ("mxfp8", 8, 32)):
    add(mode, (3, 64), mode, bits, group, "bf16")
add("experts", (3, 2, 64), "affine", 4, 32, "bf16")
add("experts_mxfp4", (3, 2, 64), "mxfp4", 4, 32, "bf16")

mx.save_safetensors(str(here / "model.safetensors"), tensors, metadata={"format": "mlx"})
(here / "config.json").write_text(json.dumps({"quantization": quantization}, indent=1) + "\n")
