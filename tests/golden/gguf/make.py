#!/usr/bin/env python3
"""Makes blocks.gguf, random blocks of every format that is converted, and values.f32, what they stand for.

    make.py      (needs the Python packages gguf and numpy)

The values are those of the gguf package's own dequantisation, tensor after tensor in the order of the file.
"""
import pathlib

import gguf
import numpy as np

folder = pathlib.Path(__file__).parent
rng = np.random.default_rng(5)
writer = gguf.GGUFWriter(folder / "blocks.gguf", "llama")
values = b""
for name in ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"):
    kind = gguf.GGMLQuantizationType[name]
    n_values, n_bytes = gguf.GGML_QUANT_SIZES[kind]
    n_blocks = 512 // n_values
    raw = rng.integers(0, 256, (2, n_blocks, n_bytes), dtype=np.uint8)
    scales = {"Q4_1": (0, 2), "Q5_1": (0, 2), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,)}.get(name, (0,))
    for at in scales:  # random bytes as numbers may be NaN
        raw[:, :, at:at + 2] = rng.normal(0, 0.02, (2, n_blocks, 1)).astype(np.float16).view(np.uint8)
    raw = raw.reshape(2, -1)
    writer.add_tensor(name, raw, raw_dtype=kind)
    values += gguf.quants.dequantize(raw, kind).astype("<f4").tobytes()
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
(folder / "values.f32").write_bytes(values)
