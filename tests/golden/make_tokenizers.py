#!/usr/bin/env python3
"""Makes small tokenizers, and what the Rust library `tokenizers` makes of texts with them, for golden-tokenizers.

    pip install tokenizers
    make_tokenizers.py tiny tests/golden/tokenizers     the committed set: each feature of the format at least once
    make_tokenizers.py random DIR [SEED [COUNT]]        COUNT random combinations of everything, for a differential test:
                                                        golden-tokenizers DIR then names what differs

What the library refuses or fails on is left out.
"""
import base64
import json
import os
import pathlib
import random
import resource
import struct
import sys

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

WORDS = """the of and to in is that it was for on are as with his they at be this from have or by one had not but what all
 were when we there can an your which their said if do will each about how up out them then she many some so these would
 other into has more her two like him see time could no make than first been its who now people my made over did down only
 Hello World tokenizer don't can't I'm you're he'll they've she'd IT'S WE'LL camelCase HTMLParser snake_case x2y3
 naïve café résumé Straße Москва привет мир 東京 日本語 テスト ひらがな 中文字符 你好世界 한국어 테스트 สวัสดี नमस्ते שלום مرحبا ﬁne""".split()
ODD = ["  ", "   ", "\n", "\n\n", "\r\n", "\t", " \n ", "\u00a0", "\u3000", "\u0085", "\u2028", "\ufeff", "\u180e", "\u200b",
       "\u200d", "\u001c", "\0", "\x07", "\x7f", "'s", "'S", "'\u017f", "'ll", "'LL", "'", "\u2019s", "1", "12", "123", "1234567",
       "3.14", "\u00bd", "\u00b2", "\u2167", "\u0663\u0664", "\U0001d7d8", "!", "?!", "...", "--", "/", "//\n", "(a)", "[b]", "{c}",
       "#$%", "\u00bf", "\u3002", "\u300c", "e\u0301", "\u00e9", "a\u0308\u0301", "\u0327\u0301", "\u0301", "\u1e9b\u0323",
       "\u212b", "\u00c5", "\ufb01", "\u2460", "\uff21", "\u32ff", "\u0130", "\u01c5", "\u03a3", "\u0345", "\uac00", "\u1100\u1161\u11a8",
       "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "\u2764\ufe0f", "\ue000", "\ufdd0", "\uffff",
       "\U0010ffff", "\ufffd", "\u2581", "\u2581\u2581", "\u0120", "\u0915\u094d\u0937", "\u0e01\u0e33", "\U00010400", "\U0001d400",
       "<s>", "</s>", "<unk>", "[UNK]", "<0x41>", "<tok>", "<tok", "<TOK>", "<a>", "<ab>", "ab", "abc", "##", "</w>", "zz", " zz", "zz ", "azzb",
       "\U00020000", "\u4e00", "\u3007", "\u30fb", "\u30fc", "\u309b", "_", "a_b", "\u203f", "\u24b6", "do not", " n't", " 'm", "aaaaaaaaaaaa"]


def random_text(rng):
    n = rng.choice([0, 1, 2, 3, 5, 8, 13, 30])
    parts = []
    for _ in range(n):
        kind = rng.random()
        if kind < 0.5:
            parts.append(rng.choice(WORDS))
        elif kind < 0.9:
            parts.append(rng.choice(ODD))
        elif kind < 0.95:
            parts.append(chr(rng.choice([rng.randrange(0x20, 0x3000), rng.randrange(0x3000, 0xd800), rng.randrange(0x10000, 0x20000)])))
        else:
            parts.append(rng.choice("abzAB ") * rng.randrange(1, 80))
        if rng.random() < 0.5:
            parts.append(rng.choice([" ", " ", " ", "  ", "\n", "\t"]))
    return "".join(parts)


# Models. Each is trained once on the words above; the combinations share them.

def corpus():
    rng = random.Random(7)
    return [" ".join(rng.choice(WORDS) for _ in range(12)) + rng.choice(["", ".", "!\n", "  12 345"]) for _ in range(300)]


def trained(model, trainer, normalizer=None, pre_tokenizer=None):
    tok = Tokenizer(model)
    if normalizer:
        tok.normalizer = normalizer
    if pre_tokenizer:
        tok.pre_tokenizer = pre_tokenizer
    tok.train_from_iterator(corpus(), trainer)
    return json.loads(tok.to_str())["model"]


def byte_tokens():
    return [f"<0x{b:02X}>" for b in range(256)]


def add_tokens(model, tokens):
    """Gives a vocabulary more tokens behind those it has."""
    if isinstance(model["vocab"], list):
        have = {t for t, _ in model["vocab"]}
        model["vocab"] += [[t, -20.0 - i / 8] for i, t in enumerate(tokens) if t not in have]
    else:
        for t in tokens:
            model["vocab"].setdefault(t, len(model["vocab"]))
    return model


def make_models():
    small = dict(vocab_size=330, show_progress=False)
    metaspace = pre_tokenizers.Metaspace()
    whitespace = pre_tokenizers.WhitespaceSplit()
    made = {}
    made["bytes"] = trained(models.BPE(), trainers.BpeTrainer(**small, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()),
                            pre_tokenizer=pre_tokenizers.ByteLevel())
    made["bytes_small"] = trained(models.BPE(), trainers.BpeTrainer(vocab_size=290, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet()), pre_tokenizer=pre_tokenizers.ByteLevel())
    made["bytes_ignore_merges"] = add_tokens(json.loads(json.dumps(made["bytes"])), ["Hello", "\u0120World", "123", "zz"])
    made["bytes_ignore_merges"]["ignore_merges"] = True
    spm = trained(models.BPE(), trainers.BpeTrainer(**small), pre_tokenizer=metaspace)
    made["chars"] = spm
    made["chars_unk"] = add_tokens(json.loads(json.dumps(spm)), ["<unk>"]) | {"unk_token": "<unk>"}
    made["chars_fuse"] = made["chars_unk"] | {"fuse_unk": True}
    made["fallback"] = add_tokens(json.loads(json.dumps(spm)), ["<unk>", *byte_tokens()]) | {
        "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True}
    made["fallback_half"] = add_tokens(json.loads(json.dumps(spm)), ["<unk>", *byte_tokens()[:200]]) | {
        "unk_token": "<unk>", "byte_fallback": True}
    made["suffix"] = trained(models.BPE(unk_token="<unk>"), trainers.BpeTrainer(
        **small, special_tokens=["<unk>"], end_of_word_suffix="</w>"), pre_tokenizer=whitespace)
    made["prefix"] = trained(models.BPE(unk_token="<unk>", continuing_subword_prefix="##"), trainers.BpeTrainer(
        **small, special_tokens=["<unk>"], continuing_subword_prefix="##"), pre_tokenizer=whitespace)
    made["unigram"] = trained(models.Unigram(), trainers.UnigramTrainer(
        vocab_size=300, show_progress=False, unk_token="<unk>", special_tokens=["<unk>", "<s>"]), pre_tokenizer=metaspace)
    made["unigram_bytes"] = add_tokens(json.loads(json.dumps(made["unigram"])), byte_tokens()) | {"byte_fallback": True}
    made["wordpiece"] = trained(models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer(
        **small, special_tokens=["[UNK]", "[CLS]", "[SEP]"]), pre_tokenizer=whitespace)
    made["wordpiece_short"] = made["wordpiece"] | {"max_input_chars_per_word": 6}
    made["words"] = trained(models.WordLevel(unk_token="[UNK]"), trainers.WordLevelTrainer(
        vocab_size=120, show_progress=False, special_tokens=["[UNK]", "<s>"]), pre_tokenizer=whitespace)
    for model in made.values():
        model.pop("dropout", None)
    return made


# The sentencepiece map: a double-array trie, and strings.

def charsmap(pairs):
    strings = b""
    values = {}
    for key, to in pairs.items():
        values[key.encode()] = len(strings)
        strings += to.encode() + b"\0"
    units = {}
    used = set()

    def place(prefix, at, root):
        children = sorted({k[len(prefix)] for k in values if k.startswith(prefix) and len(k) > len(prefix)})
        leaf = prefix in values
        labels = ([0] if leaf else []) + children
        base = 1
        while any(base ^ c in used for c in labels):
            base += 1
        used.update(base ^ c for c in labels)
        units[at] = (0 if root else prefix[-1]) | (256 if leaf else 0) | (at ^ base) << 10
        if leaf:
            units[base] = values[prefix] | 1 << 31
        for c in children:
            place(prefix + bytes([c]), base ^ c, False)

    used.add(0)
    place(b"", 0, True)
    trie = b"".join(struct.pack("<I", units.get(i, 0)) for i in range(max(units) + 256))
    return base64.b64encode(struct.pack("<I", len(trie)) + trie + strings).decode()


CHARSMAP = charsmap({"\u00c5": "A\u030a", "\ufb01": "fi", "\uff21": "A", "\t": " ", "\n": " ", "\x07": "", "\u2460": "1", "e\u0301": "\u00e9",
                     "\u200b": "", "\u3000": " ", "\r\n": "\n", "\u0301": "", "\u00bd": "1/2", "A": "a", "\u0e33": "\u0e4d\u0e32"})


# Parts, each as a function of a random generator; `tiny` names them, `random` mixes them.

PATTERNS = [
    {"String": " "}, {"String": "a"}, {"String": "zz"}, {"String": "\u2581"}, {"String": ""}, {"String": ".*"},
    {"Regex": r"\s+"}, {"Regex": r"\d"}, {"Regex": r"\w+"}, {"Regex": r"\W"}, {"Regex": r"[^\s\p{L}\p{N}]+"}, {"Regex": r" {2,}"}, {"Regex": r"x*"},
    {"Regex": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"},
    {"Regex": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"},
    {"Regex": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"},
    {"Regex": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"},
    {"Regex": r"\p{N}{1,3}"}, {"Regex": "[一-龥\u3040-ゟ゠-ヿ]+"},
    {"Regex": "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"},
    {"Regex": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"},
    {"Regex": r" ?[^(\s|[.,!?…。，、।۔،])]+"},
    {"Regex": r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}|\s+|."},
    {"Regex": r"\d{1,3}(?=(?:\d{3})*\b)"}, {"Regex": r"(?<=[a-z])(?=[A-Z])"}, {"Regex": r"\b"}, {"Regex": r"^."}, {"Regex": r".$"}, {"Regex": r"(?m:.+)"},
    {"Regex": r"\p{N}{2}+"}, {"Regex": r"a{2}?"}, {"Regex": r"a++b?"}, {"Regex": r"[[:punct:]]|[[:space:]]+"}, {"Regex": r"[^\S\n]+"}, {"Regex": r"\h+"}, {"Regex": r"[\w&&[^_\d]]+"},
    {"Regex": r"\p{Alnum}+"}, {"Regex": r"\p{^L}"}, {"Regex": r"[\p{Katakana}\p{Hiragana}]+"}, {"Regex": r"\u4e00|\x{1F600}|\x41"}, {"Regex": r"(a|b)\1"}, {"Regex": r"(?<x>z)\k<x>"}, {"Regex": r"a(?i)b|c"},
    {"Regex": r"\X"}, {"Regex": r"\R"}, {"Regex": r"[\x00-\x1f]"}, {"Regex": r"[\]\-\\^]"}, {"Regex": r"[a-c-z]"}, {"Regex": r"{"}, {"Regex": r"a{,2}"}, {"Regex": r"(?>a+)b"}, {"Regex": r"[^[:alpha:]]"},
]
ZERO_WIDTH = [{"String": ""}, {"Regex": r"x*"}, {"Regex": r"(?<=[a-z])(?=[A-Z])"}, {"Regex": r"\b"}, {"Regex": r"a{,2}"}, {"Regex": r"a{2}?"},
              {"Regex": r"\d{1,3}(?=(?:\d{3})*\b)"}]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


def seq(kind, key, parts):
    return {"type": "Sequence", key: parts}


def a_normalizer(rng):
    kind = rng.choice(["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "Strip", "BertNormalizer", "Precompiled", "Replace",
                       "Prepend", "ByteLevel", "Replace", "Prepend"])
    flag = lambda: rng.random() < 0.5
    return {"type": kind} | {
        "Strip": lambda: {"strip_left": flag(), "strip_right": flag()},
        "BertNormalizer": lambda: {"clean_text": flag(), "handle_chinese_chars": flag(), "strip_accents": rng.choice([None, True, False]),
                                   "lowercase": flag()},
        "Precompiled": lambda: {"precompiled_charsmap": CHARSMAP},
        # Text that is put where nothing was, at the very start, comes out of the library twice when it is cut and made bytes.
        "Replace": lambda: {"pattern": rng.choice([p for p in PATTERNS if p not in ZERO_WIDTH]),
                            "content": rng.choice(["\u2581", "", " ", "<a>", "xyz"])},
        "Prepend": lambda: {"prepend": rng.choice(["\u2581", "ab", " "])},
    }.get(kind, dict)()


def a_pre_tokenizer(rng):
    kind = rng.choice(["BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Metaspace", "Whitespace", "WhitespaceSplit", "Split", "Split", "Split",
                       "Punctuation", "Digits", "FixedLength"])
    flag = lambda: rng.random() < 0.5
    return {"type": kind} | {
        "ByteLevel": lambda: {"add_prefix_space": flag(), "trim_offsets": True, "use_regex": flag()},
        "CharDelimiterSplit": lambda: {"delimiter": rng.choice(["a", " ", "\u2581"])},
        "Metaspace": lambda: {"replacement": rng.choice(["\u2581", "_"]), "prepend_scheme": rng.choice(["always", "first", "never"]), "split": flag()},
        "Split": lambda: {"pattern": rng.choice(PATTERNS), "behavior": rng.choice(BEHAVIORS), "invert": flag()},
        "Punctuation": lambda: {"behavior": rng.choice(BEHAVIORS)},
        "Digits": lambda: {"individual_digits": flag()},
        "FixedLength": lambda: {"length": rng.choice([1, 3, 7])},
    }.get(kind, dict)()


def a_decoder(rng):
    kind = rng.choice(["ByteLevel", "ByteFallback", "Fuse", "Replace", "Strip", "Metaspace", "WordPiece", "BPEDecoder", "CTC", "Fuse", "Replace"])
    flag = lambda: rng.random() < 0.5
    return {"type": kind} | {
        "ByteLevel": lambda: {"add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "Replace": lambda: {"pattern": rng.choice(PATTERNS), "content": rng.choice([" ", "", "<b>"])},
        "Strip": lambda: {"content": rng.choice([" ", "a", "\u2581"]), "start": rng.choice([0, 1, 2]), "stop": rng.choice([0, 0, 1])},
        "Metaspace": lambda: {"replacement": "\u2581", "prepend_scheme": rng.choice(["always", "first", "never"]), "split": True},
        "WordPiece": lambda: {"prefix": rng.choice(["##", "a"]), "cleanup": flag()},
        "BPEDecoder": lambda: {"suffix": rng.choice(["</w>", "e"])},
        "CTC": lambda: {"pad_token": rng.choice(["<pad>", "a"]), "word_delimiter_token": "|", "cleanup": flag()},
    }.get(kind, dict)()


def a_post_processor(rng):
    piece = lambda name: {"SpecialToken": {"id": name, "type_id": 0}}
    text = {"Sequence": {"id": "A", "type_id": 0}}
    tokens = {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}, "<e>": {"id": "<e>", "ids": [2, 3], "tokens": ["<e>", "<f>"]}}
    single = rng.choice([[piece("<s>"), text], [text, piece("<e>")], [piece("<s>"), text, piece("<e>"), piece("<s>")], [text], [text, text], [piece("<s>")]])
    template = {"type": "TemplateProcessing", "single": single, "pair": [text, {"Sequence": {"id": "B", "type_id": 1}}], "special_tokens": tokens}
    bytes_ = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
    return rng.choice([None, template, template, bytes_, seq("", "processors", [bytes_, template]),
                       {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
                       {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True, "add_prefix_space": True}])


def some_added_tokens(rng):
    names = ["<s>", "</s>", "<tok>", "<a>", "<ab>", "ab", "abc", "zz", "\u2581", " ", "  ", "\n", "Hello", "the", "É", "TOK", "[UNK]", "<0x41>", "日本", "ﬁ", "a"]
    flag = lambda p: rng.random() < p
    return [{"id": 1000 + i, "content": name, "special": flag(0.4), "normalized": flag(0.5), "lstrip": flag(0.3), "rstrip": flag(0.3),
             "single_word": flag(0.3)} for i, name in enumerate(rng.sample(names, rng.choice([0, 1, 3, 6, 12])))]


def some(rng, make, key, counts):
    n = rng.choice(counts)
    parts = [make(rng) for _ in range(n)]
    return None if n == 0 else parts[0] if n == 1 else {"type": "Sequence", key: parts}


# Cases.

def cases_of(tok, texts, rng, n_decode):
    cases = []
    all_ids = list(range(tok.get_vocab_size() + 3))
    seen = []
    for text in texts:
        for plain in (False, True) if tok.get_added_tokens_decoder() else (False,):
            add = rng.random() < 0.5
            tok.encode_special_tokens = plain
            try:
                ids = tok.encode(text, add_special_tokens=add).ids
            except BaseException:  # a panic of the library is not an Exception
                continue
            seen.append(ids)
            cases.append({"kind": "encode_plain" if plain else "encode", "text": text, "add_special_tokens": add, "ids": ids})
    for i in range(n_decode):
        ids = rng.choice(seen) if seen and i % 2 == 0 else [rng.choice(all_ids) for _ in range(rng.choice([0, 1, 2, 5, 12]))]
        skip = rng.random() < 0.5
        try:
            text = tok.decode(ids, skip_special_tokens=skip)
        except BaseException:
            continue
        cases.append({"kind": "decode", "ids": ids, "skip_special_tokens": skip, "text": text})
    return cases


def write(folder, config, texts, rng, n_decode):
    """False when the library refuses the tokenizer."""
    try:
        tok = Tokenizer.from_str(json.dumps(config))
    except BaseException:
        return False
    cases = cases_of(tok, texts, rng, n_decode)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(config, ensure_ascii=False, separators=(",", ":")), encoding="utf-8", errors="surrogatepass")
    (folder / "golden.jsonl").write_text("".join(json.dumps(c, separators=(",", ":")) + "\n" for c in cases))
    return True


def searchable(added, normalizer):
    """Without tokens whose normalized form is empty or another's too: there the library's result is an accident."""
    try:
        norm = Tokenizer.from_str(json.dumps(config_of({"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}, normalizer=normalizer))).normalizer
        forms = [(norm.normalize_str(t["content"]) if norm else t["content"]) for t in added]
    except BaseException:
        return []
    return [t for i, t in enumerate(added) if not t["normalized"] or (forms[i] and forms[i] not in forms[:i])]


def config_of(model, **parts):
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "pre_tokenizer": None,
            "post_processor": None, "decoder": None} | parts | {"model": model}


def in_child(work):
    """The library aborts on some combinations, or takes all memory."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        work()
        os._exit(0)
    os.waitpid(child, 0)


def make_random(out, seed, count):
    made = make_models()
    n = 0
    while n < count:
        rng = random.Random(f"{seed}/{n}")
        n += 1
        byte_level = {"type": "ByteLevel", "add_prefix_space": rng.random() < 0.3, "trim_offsets": True, "use_regex": rng.random() < 0.5}
        name = rng.choice(sorted(made))
        pre = some(rng, a_pre_tokenizer, "pretokenizers", [0, 1, 1, 2, 3])
        if name.startswith("bytes") and rng.random() < 0.8:
            pre = byte_level if pre is None else {"type": "Sequence", "pretokenizers": [pre, byte_level]}
        normalizer = some(rng, a_normalizer, "normalizers", [0, 0, 1, 2])
        config = config_of(made[name], added_tokens=searchable(some_added_tokens(rng), normalizer), normalizer=normalizer, pre_tokenizer=pre, 
                           post_processor=a_post_processor(rng), decoder=some(rng, a_decoder, "decoders", [0, 1, 1, 2, 3]))
        texts = [random_text(rng) for _ in range(20)]
        in_child(lambda: write(out / f"{n:05d}-{name}", config, texts, rng, 20))


def tiny_configs(made):
    """name -> config; each part of the format at least once, most alone."""
    bytes_ = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    split = lambda pattern, behavior="Isolated", invert=False: {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}
    sequence = lambda key, *parts: {"type": "Sequence", key: list(parts)}
    special = lambda content, **on: {"id": 0, "content": content, "special": True, "normalized": False, "lstrip": False, "rstrip": False,
                                     "single_word": False} | on
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    spm_decoder = sequence("decoders", {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
                           {"type": "Strip", "content": " ", "start": 1, "stop": 0})
    spm_normalizer = sequence("normalizers", {"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"})
    tags = [special("<s>"), special("<tok>"), special("<ab>", special=False), special("zz", special=False, normalized=True)]
    configs = {
        "gpt2": config_of(made["bytes"], pre_tokenizer=bytes_ | {"use_regex": True}, decoder=bytes_, added_tokens=tags),
        "gpt2_prefix_space": config_of(made["bytes"], pre_tokenizer=bytes_ | {"use_regex": True, "add_prefix_space": True}, decoder=bytes_),
        "ignore_merges": config_of(made["bytes_ignore_merges"], pre_tokenizer=sequence("pretokenizers", split(PATTERNS[13]), bytes_), decoder=bytes_),
        "llama2": config_of(made["fallback"], normalizer=spm_normalizer, decoder=spm_decoder, added_tokens=tags),
        "unk": config_of(made["chars_unk"], pre_tokenizer=metaspace), "unk_fused": config_of(made["chars_fuse"], pre_tokenizer=metaspace),
        "no_unk": config_of(made["chars"], pre_tokenizer=metaspace), "half_fallback": config_of(made["fallback_half"], pre_tokenizer=metaspace, decoder={"type": "ByteFallback"}),
        "suffix": config_of(made["suffix"], pre_tokenizer={"type": "WhitespaceSplit"}, decoder={"type": "BPEDecoder", "suffix": "</w>"}),
        "prefix": config_of(made["prefix"], pre_tokenizer={"type": "Whitespace"}, decoder={"type": "WordPiece", "prefix": "##", "cleanup": False}),
        "unigram": config_of(made["unigram"], normalizer={"type": "Precompiled", "precompiled_charsmap": CHARSMAP}, pre_tokenizer=metaspace, decoder=metaspace),
        "unigram_bytes": config_of(made["unigram_bytes"], pre_tokenizer=metaspace | {"prepend_scheme": "first", "split": False}, decoder=spm_decoder, added_tokens=tags),
        "bert": config_of(made["wordpiece"], normalizer={"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
                          pre_tokenizer={"type": "BertPreTokenizer"}, decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
                          post_processor={"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
                          added_tokens=[special("[CLS]"), special("[SEP]"), special("[MASK]", lstrip=True)]),
        "word_level": config_of(made["words"], pre_tokenizer={"type": "Punctuation", "behavior": "Isolated"}),
        "short_words": config_of(made["wordpiece_short"], pre_tokenizer={"type": "WhitespaceSplit"}),
        "ctc": config_of(made["words"], decoder={"type": "CTC", "pad_token": "<s>", "word_delimiter_token": "a", "cleanup": True}),
        "added_flags": config_of(made["bytes"], pre_tokenizer=bytes_, decoder=bytes_, normalizer={"type": "Lowercase"}, added_tokens=[
            special("<tok>", lstrip=True, rstrip=True), special("ab", single_word=True), special("TOK", special=False, normalized=True),
            special("zz", rstrip=True, special=False), special(" ", special=False), special("<a>", normalized=True)]),
        "templates": config_of(made["words"], pre_tokenizer={"type": "Whitespace"}, post_processor=a_post_processor(random.Random(3))),
        "roberta": config_of(made["bytes"], pre_tokenizer=bytes_, post_processor={
            "type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True, "add_prefix_space": True}),
        "bytes_in_the_middle": config_of(made["bytes"], pre_tokenizer=sequence("pretokenizers", bytes_, split({"String": "\u0120"}, "MergedWithNext"))),
        "digits": config_of(made["bytes"], pre_tokenizer=sequence("pretokenizers", {"type": "Digits", "individual_digits": True}, bytes_ | {"use_regex": True})),
        "delimiter": config_of(made["chars_unk"], pre_tokenizer={"type": "CharDelimiterSplit", "delimiter": "a"}),
        "fixed_length": config_of(made["chars_unk"], pre_tokenizer={"type": "FixedLength", "length": 3}),
        "byte_normalizer": config_of(made["bytes"], normalizer={"type": "ByteLevel"}, decoder=bytes_, added_tokens=[special("É", special=False, normalized=True)]),
    }
    for kind in ("NFC", "NFD", "NFKC", "NFKD", "StripAccents", "Nmt"):
        configs[f"normalizer_{kind.lower()}"] = config_of(made["fallback"], normalizer={"type": kind}, decoder=spm_decoder)
    configs["normalizer_strip"] = config_of(made["fallback"], normalizer={"type": "Strip", "strip_left": True, "strip_right": True},
                                            pre_tokenizer=metaspace | {"prepend_scheme": "first"})
    for behavior in BEHAVIORS:
        for invert in (False, True):
            configs[f"split_{behavior.lower()}{'_inverted' if invert else ''}"] = config_of(
                made["words"], pre_tokenizer=split({"Regex": r"\s+|[.,!]"}, behavior, invert))
    for i, pattern in enumerate(PATTERNS):
        if "Regex" in pattern:
            configs[f"pattern_{i:02d}"] = config_of(made["bytes_small"], pre_tokenizer=sequence("pretokenizers", split(pattern), bytes_))
    return configs


def make_tiny(out):
    made = make_models()
    for i, (name, config) in enumerate(tiny_configs(made).items()):
        rng = random.Random(i)
        few = name.startswith(("pattern", "split"))
        texts = ["", " ", "a", "Hello World, don't  stop\n 123 4567"] + [random_text(rng) for _ in range(4 if few else 12)]
        if not write(out / name, config, texts, rng, 4 if few else 16):
            sys.exit(f"{name}: the library refuses it")


def main():
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if len(sys.argv) < 3 or sys.argv[1] not in ("tiny", "random"):
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "tiny":
        make_tiny(out)
    else:
        make_random(out, sys.argv[3] if len(sys.argv) > 3 else "0", int(sys.argv[4]) if len(sys.argv) > 4 else 200)


if __name__ == "__main__":
    main()
