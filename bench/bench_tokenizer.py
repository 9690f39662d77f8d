#!/usr/bin/env python3
"""Our tokenizer against the Rust package `tokenizers`, one thread each, the same text, one after the other in one run.

    pip install tokenizers
    bench/bench_tokenizer.py BUILD_DIR TOKENIZERS_DIR [TEXT_FILE]

TOKENIZERS_DIR holds one folder a tokenizer, as ../shared/tokenizers/unpack makes them. Without TEXT_FILE the text is 1 MB:
a quarter each of English prose, source code, the many languages and oddities of the golden cases, and prose again with code.

Two times of the package are given. "encode" is what its users call, and also works out token strings and offsets, which
we do not make. "fast" is encode_batch_fast with one text, which leaves the offsets out. No Python lists are made: only the
length of the result is read inside the clock. Cold: the first encode after loading. Warm: the median of those after.
"""
import json
import os
import pathlib
import pydoc_data.topics
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
from tokenizers import Tokenizer  # noqa: E402 (reads the environment)

ROUNDS = 5
QUARTER = 250_000


def prose():
    return "\n".join(pydoc_data.topics.topics.values())


def code():
    folder = pathlib.Path(os.__file__).parent
    return "".join(p.read_text(encoding="utf-8", errors="replace") for p in sorted(folder.glob("*.py"))[:40])


def languages(tokenizers):
    texts = []
    for cases in sorted(tokenizers.glob("*/golden.jsonl")):
        texts += [c["text"] for c in map(json.loads, open(cases)) if c["kind"] == "encode"]
    return "\n".join(dict.fromkeys(texts))


def cut(text, n_bytes):
    return text.encode()[:n_bytes].decode("utf-8", "ignore")


def mixed(tokenizers):
    english, source = prose(), code()
    return (cut(english, QUARTER) + cut(source, QUARTER) + cut(languages(tokenizers), QUARTER)
            + cut(english[QUARTER:], QUARTER // 2) + cut(source[QUARTER:], QUARTER // 2))


def checksum(ids):
    total = 0xcbf29ce484222325
    for i in ids:
        total = ((total ^ i) * 0x100000001b3) & 0xFFFFFFFFFFFFFFFF
    return f"{total:016x}"


def timed(call):
    start = time.perf_counter()
    result = call()
    return (time.perf_counter() - start) * 1000, result


def measure_rust(path, text):
    open_ms, tok = timed(lambda: Tokenizer.from_file(str(path)))
    cold, encoding = timed(lambda: tok.encode(text))
    warm = statistics.median(timed(lambda: len(tok.encode(text)))[0] for _ in range(ROUNDS))
    fast = statistics.median(timed(lambda: len(tok.encode_batch_fast([text])[0]))[0] for _ in range(ROUNDS))
    return {"open_ms": open_ms, "cold_ms": cold, "warm_ms": warm, "fast_ms": fast, "checksum": checksum(encoding.ids)}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program = pathlib.Path(sys.argv[1]) / "bin" / "bench_tokenizer"
    tokenizers = pathlib.Path(sys.argv[2])
    text = pathlib.Path(sys.argv[3]).read_text() if len(sys.argv) > 3 else mixed(tokenizers)
    size = len(text.encode())
    print(f"{size} bytes; times in ms; x: theirs / ours")
    print(f"{'tokenizer':16} {'MB':>5} {'open':>6} {'theirs':>7} | {'cold':>7} {'theirs':>8} {'x':>6} | {'warm':>7} {'theirs':>8} {'x':>6} "
          f"{'fast':>8} {'x':>6} | {'MB/s':>6}")
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        for path in sorted(tokenizers.glob("*/tokenizer.json")):
            ours = json.loads(subprocess.run([program, path, file.name, str(ROUNDS)], check=True, capture_output=True).stdout)
            rust = measure_rust(path, text)
            same = "" if ours["checksum"] == rust["checksum"] else "  THE IDS DIFFER"
            print(f"{path.parent.name:16} {path.stat().st_size / 1e6:5.1f} {ours['open_ms']:6.0f} {rust['open_ms']:7.0f} | "
                  f"{ours['cold_ms']:7.1f} {rust['cold_ms']:8.1f} {rust['cold_ms'] / ours['cold_ms']:6.1f} | "
                  f"{ours['warm_ms']:7.1f} {rust['warm_ms']:8.1f} {rust['warm_ms'] / ours['warm_ms']:6.1f} "
                  f"{rust['fast_ms']:8.1f} {rust['fast_ms'] / ours['warm_ms']:6.1f} | {size / 1e3 / ours['warm_ms']:6.1f}{same}", flush=True)


if __name__ == "__main__":
    main()
