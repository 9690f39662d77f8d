#!/usr/bin/env python3
"""Writes one small checkpoint a tool and variant: weights as AutoAWQ, GPTQ and compressed-tensors store them.

    python3 -m venv env && env/bin/pip install 'mlx[cpu]' mlx-lm numpy && env/bin/python make.py

Each weight starts as integers q, zero points z and scales s, so that its value (q - z) * s is known without any of the
tools; `<path>.expected` holds it in f32. The packing is written here from the tools' descriptions, and AutoAWQ's is held
against mlx-lm's reader of it (0.32.2).
"""
import json
import pathlib
import struct

import numpy as np

here = pathlib.Path(__file__).parent
rng = np.random.default_rng(4041)
NAMES = {"int32": "I32", "float16": "F16", "float32": "F32", "uint8": "U8", "int64": "I64"}


def save(folder, tensors, config):
    folder = here / folder
    folder.mkdir(exist_ok=True)
    header, at, payload = {}, 0, b""
    for name, value in tensors.items():
        dtype = None
        if isinstance(value, tuple):
            dtype, value = value
        data = np.ascontiguousarray(value).tobytes()
        header[name] = {"dtype": dtype or NAMES[value.dtype.name], "shape": list(value.shape),
                        "data_offsets": [at, at + len(data)]}
        at += len(data)
        payload += data
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + payload)
    (folder / "config.json").write_text(json.dumps({"quantization_config": config}, indent=1) + "\n")


def pack(values, bits, axis, order=None):
    """Values along an axis into int32 words, the first lowest; `order` lists which value goes where."""
    n = 32 // bits
    values = np.moveaxis(values.astype(np.uint32), axis, -1)
    values = values.reshape(values.shape[:-1] + (-1, n))
    if order:
        values = values[..., order]
    words = np.zeros(values.shape[:-1], np.uint32)
    for i in range(n):
        words |= values[..., i] << np.uint32(bits * i)
    return np.moveaxis(words, -1, axis).view(np.int32)


def draw(n_rows, n_cols, bits, group):
    q = rng.integers(0, 2**bits, (n_rows, n_cols))
    z = rng.integers(1, 2**bits, (n_rows, n_cols // group))
    s = rng.uniform(0.001, 0.1, z.shape).astype(np.float16)
    return q, z, s


def value(q, z, s, group):
    return ((q - np.repeat(z, group, 1)) * np.repeat(s.astype(np.float64), group, 1)).astype(np.float32)


def awq(path, tensors, n_rows, n_cols, group, has_zeros):
    q, z, s = draw(n_rows, n_cols, 4, group)
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    tensors[path + ".qweight"] = pack(q.T, 4, 1, order)
    tensors[path + ".scales"] = s.T
    if has_zeros:
        tensors[path + ".qzeros"] = pack(z.T, 4, 1, order)
    tensors[path + ".expected"] = value(q, z if has_zeros else np.full_like(z, 8), s, group)


def gptq(path, tensors, n_rows, n_cols, bits, group, less):
    q, z, s = draw(n_rows, n_cols, bits, group)
    tensors[path + ".qweight"] = pack(q.T, bits, 0)
    tensors[path + ".qzeros"] = pack(z.T - less, bits, 1)
    tensors[path + ".scales"] = s.T
    tensors[path + ".g_idx"] = (np.arange(n_cols) // group).astype(np.int32)
    tensors[path + ".expected"] = value(q, z, s, group)


def compressed(path, tensors, n_rows, n_cols, bits, group, has_zeros):
    q, z, s = draw(n_rows, n_cols, bits, group)
    tensors[path + ".weight_packed"] = pack(q, bits, 1)
    tensors[path + ".weight_scale"] = s
    tensors[path + ".weight_shape"] = np.array([n_rows, n_cols], np.int64)
    if has_zeros:
        tensors[path + ".weight_zero_point"] = pack(z, bits, 0)
    tensors[path + ".expected"] = value(q, z if has_zeros else np.full_like(z, 2 ** (bits - 1)), s, group)


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def e4m3(code):
    exponent, mantissa = code >> 3 & 15, code & 7
    return np.where(exponent == 0, mantissa / 8 * 2.0**-6, (1 + mantissa / 8) * 2.0 ** (exponent - 7.0))


def fp4(path, tensors, n_rows, n_cols, is_nv):
    q = rng.integers(0, 16, (n_rows, n_cols))
    codes = rng.integers(1, 126, (n_rows, n_cols // 16)) if is_nv else rng.integers(110, 130, (n_rows, n_cols // 32))
    codes = codes.astype(np.uint8)
    tensors[path + ".weight_packed"] = (q[:, 0::2] | q[:, 1::2] << 4).astype(np.uint8)
    if is_nv:
        factor = np.float32(123.5)
        tensors[path + ".weight_scale"] = ("F8_E4M3", codes)
        tensors[path + ".weight_global_scale"] = np.array([factor])
        tensors[path + ".input_global_scale"] = np.array([factor])
        scale = e4m3(codes.astype(int)) / float(factor)
    else:
        tensors[path + ".weight_scale"] = codes
        scale = 2.0 ** (codes.astype(int) - 127)
    tensors[path + ".expected"] = (E2M1[q] * np.repeat(scale, n_cols // codes.shape[1], 1)).astype(np.float32)


def check_against_mlx_lm(tensors, group):
    import mlx.core as mx
    from mlx_lm.utils import _transform_awq_weights

    mx.set_default_device(mx.cpu)
    theirs, _ = _transform_awq_weights(
        {k: mx.array(v.view(np.uint32) if v.dtype == np.int32 else v) for k, v in tensors.items() if "expected" not in k},
        {"bits": 4, "group_size": group},
    )
    for name, expected in tensors.items():
        if name.endswith(".expected"):
            path = name[: -len(".expected")]
            parts = [theirs[path + suffix] for suffix in (".weight", ".scales", ".biases")]
            read = np.array(mx.dequantize(parts[0], *[p.astype(mx.float32) for p in parts[1:]], group, 4))
            # mlx-lm rounds biases to f16
            assert np.abs(read - expected).max() < 2e-3, path


tensors = {}
awq("model.a", tensors, 16, 128, 64, True)
awq("model.b", tensors, 8, 64, 64, False)
tensors["model.norm.weight"] = np.ones(8, np.float16)
check_against_mlx_lm(tensors, 64)
save("awq", tensors, {"quant_method": "awq", "bits": 4, "group_size": 64, "version": "gemm", "zero_point": True})
for variant, less in (("gptq", 1), ("gptq_v2", 0)):
    for bits in (4, 8):
        tensors = {}
        gptq("model.a", tensors, 16, 128, bits, 32, less)
        config = {"quant_method": "gptq", "bits": bits, "group_size": 32, "desc_act": False}
        if less == 0:
            config["checkpoint_format"] = "gptq_v2"
        save(f"{variant}_{bits}", tensors, config)
for bits in (4, 8):
    tensors = {}
    compressed("model.a", tensors, 8, 128, bits, 64, False)
    compressed("model.b", tensors, 16, 64, bits, 64, True)
    weights = {"num_bits": bits, "group_size": 64, "type": "int", "strategy": "group"}
    save(f"compressed_{bits}", tensors, {"quant_method": "compressed-tensors", "format": "pack-quantized",
                                         "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}})
for mode in ("nvfp4", "mxfp4"):
    tensors = {}
    fp4("model.a", tensors, 3, 64, mode == "nvfp4")
    save(f"compressed_{mode}", tensors, {"quant_method": "compressed-tensors", "format": f"{mode}-pack-quantized"})
