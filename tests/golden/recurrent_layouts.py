"""Rules for layouts (expert_layouts.py) of what MLX stores otherwise in recurrent layers."""
import re

import numpy as np

from expert_layouts import Part


def turned(pattern, to=None):
    """Convolutions [channels, 1, width] become [channels, width, 1], under another name where there is one."""
    def rule(name, a, tensors):
        if not re.search(pattern, name):
            return None
        stored = re.sub(pattern, to, name) if to else name
        return {stored: Part(np.moveaxis(a, 1, 2), lambda meant, value: meant.__setitem__(name, np.moveaxis(value, 1, 2)))}
    return rule


def raised(pattern):
    """Weights of norms that the original stores as w - 1 become w."""
    def rule(name, a, tensors):
        if not re.search(pattern, name):
            return None
        return {name: Part(a + np.float32(1), lambda meant, value: meant.__setitem__(name, value - np.float32(1)))}
    return rule


def fused_experts(block):
    """Experts as newer originals store them: <block>.experts.gate_up_proj and .down_proj, stacked, without ".weight"."""
    def rule(name, a, tensors):
        found = re.search(rf"^(.*{block}\.experts)\.(\d+)\.(gate|up|down)_proj\.weight$", name)
        if not found:
            return None
        head, expert, kind = found.groups()
        if expert != "0" or kind == "up":
            return {}
        names = [[f"{head}.{e}.{k}_proj.weight" for k in (("gate", "up") if kind == "gate" else ("down",))]
                 for e in range(sum(n.startswith(head) and n.endswith(".down_proj.weight") for n in tensors))]

        def put(meant, value):
            for e, parts in enumerate(names):
                for n, part in zip(parts, np.split(value[e], len(parts))):
                    meant[n] = part
        stacked = np.stack([np.concatenate([tensors[n] for n in parts]) for parts in names])
        return {f"{head}.{'gate_up' if kind == 'gate' else 'down'}_proj": Part(stacked, put)}
    return rule


def times(pattern, factor):
    """Factors that MLX folds into weights when it converts: numbers, or an array that is broadcast."""
    def rule(name, a, tensors):
        if not re.search(pattern, name):
            return None
        return {name: Part((a * factor).astype(np.float32),
                           lambda meant, value: meant.__setitem__(name, (value / factor).astype(np.float32)))}
    return rule
