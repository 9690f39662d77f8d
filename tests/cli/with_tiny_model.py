#!/usr/bin/env python3
"""Runs a program with a tiny model's directory as its argument: with_tiny_model.py PROGRAM [EMULATOR ...]"""
import pathlib
import subprocess
import sys
import tempfile

import tiny_model

program, emulator = sys.argv[1], sys.argv[2:]
with tempfile.TemporaryDirectory(prefix="mlxcel-tiny-") as folder:
    model = tiny_model.write(pathlib.Path(folder) / "tiny")
    prefix = "Z:" if any("wine" in part for part in emulator) else ""
    sys.exit(subprocess.run([*emulator, program, prefix + str(model)], timeout=300).returncode)
