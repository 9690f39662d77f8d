#!/usr/bin/env python3
"""Makes model.safetensors: random weights, and what mlx.core.quantize makes of them on the CPU in every format.

    make.py      (needs the Python packages mlx with its CPU back end, and numpy)

Tensors: "<dtype>.w" [4, 256], and "<dtype>.<mode>.<bits>.<group>.{weight,scales,biases}" for each format.
"""
import pathlib

import mlx.core as mx
import numpy as np

mx.set_default_device(mx.cpu)
rng = np.random.default_rng(7)
w = rng.normal(0, 0.05, (4, 256)).astype(np.float32)
w[1] *= np.exp(rng.normal(0, 1.5, 256))  # outliers
w[2, :128] = np.abs(w[2, :128])          # groups of one sign
w[2, 128:] = -np.abs(w[2, 128:])
w[3, :64] = 0.3                          # constant, zero, ties
w[3, 64:128] = 0
w[3, 128:192] = np.arange(64) / 32 - 1
w[3, 192:] = np.round(w[3, 192:] * 64) / 64
out = {}
for name, dtype in (("f32", mx.float32), ("f16", mx.float16), ("bf16", mx.bfloat16)):
    x = mx.array(w).astype(dtype)
    out[f"{name}.w"] = x
    formats = [("affine", b, g) for b in (2, 3, 4, 5, 6, 8) for g in (32, 64, 128)]
    for mode, bits, group in formats + [("mxfp4", 4, 32), ("nvfp4", 4, 16), ("mxfp8", 8, 32)]:
        parts = mx.quantize(x, group_size=group, bits=bits, mode=mode)
        for part, array in zip(("weight", "scales", "biases"), parts):
            out[f"{name}.{mode}.{bits}.{group}.{part}"] = array
mx.save_safetensors(str(pathlib.Path(__file__).parent / "model.safetensors"), out, metadata={"format": "mlx"})
